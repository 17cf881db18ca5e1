//! Why a turn ended, and what is said beside it, in Chinese. The library says it in English;
//! the options that help are the command's own.

use super::Phrases;
use super::sentences::{STOPS, chinese};
use toolgraft::agent::{CallerWarning, StopReason};
use toolgraft::model::ModelError;

/// What helps where a context is too short, if nobody says more.
const LONGER: &str = "请给模型更长的上下文（llama.cpp：-c；Ollama：num_ctx）";

impl Phrases {
    /// Why there is no answer, and what may help.
    pub(crate) fn stopped(self, reason: &StopReason) -> String {
        let said = if self.is_chinese() { chinese_reason(reason, self) } else { reason.to_string() };
        match reason {
            StopReason::OutputLimit => self.more_tokens(said),
            StopReason::ContextFull { .. } => self.aside(said, "--tool-budget; /clear"),
            StopReason::Repetition { .. } => self.ask_otherwise(said),
            StopReason::SameCalls { .. } => self.ask_another(said),
            StopReason::MaxRounds { .. } => self.more_rounds(said),
            StopReason::ContextTooSmall { .. } | StopReason::ContextExceeded { .. } => {
                self.aside(said, "--tool-budget, --max-tokens")
            }
            StopReason::ModelFailed(failure) if failure.source.as_deref().is_some_and(ModelError::refuses_tools) => {
                self.aside(said, "--tools-mode prompt")
            }
            _ => said,
        }
    }

    /// A notice, and the options that help.
    pub(crate) fn noticed(self, notice: &CallerWarning) -> String {
        let said = if self.is_chinese() { chinese_notice(notice) } else { notice.to_string() };
        match notice {
            CallerWarning::PromptCut { .. } | CallerWarning::HistoryLeftOut { .. } => self.aside(said, "--tool-budget"),
            CallerWarning::ToolsRefused { .. } | CallerWarning::NativeFailed { .. } => self.so_from_the_start(said),
            CallerWarning::ConstraintRefused { .. } => self.aside(said, "--constrain off"),
            _ => said,
        }
    }
}

fn chinese_reason(reason: &StopReason, say: Phrases) -> String {
    match reason {
        StopReason::CorrectionsUsedUp { corrections, message } => {
            format!("纠正 {corrections} 次之后，模型的调用仍然有误：{}", say.reason(message))
        }
        reason => chinese(STOPS, &reason.to_string()),
    }
}

fn chinese_notice(notice: &CallerWarning) -> String {
    match notice {
        CallerWarning::HistoryLeftOut { rounds, questions, results, context, remedy } => {
            let parts = [(*rounds, "条模型消息"), (*questions, "个问题"), (*results, "个结果")];
            let parts = parts.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}"));
            format!(
                "{context} 个 token 的上下文已满：请求中从最旧的开始省略了 {}；{}、把工具列得更短，或开始新的对话",
                parts.collect::<Vec<_>>().join("、"),
                remedy.as_deref().unwrap_or(LONGER)
            )
        }
        notice => chinese(STOPS, &notice.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use toolgraft::dialect::Lang;

    #[test]
    fn a_reason_has_its_numbers_and_its_options_in_both_languages() {
        let reason = StopReason::MaxRounds { rounds: 3 };
        let english = Phrases::of(Lang::En).stopped(&reason);
        assert_eq!(english, "no answer within the limit of 3 rounds: raise --max-rounds, or ask for less at once");
        let chinese = Phrases::of(Lang::Zh).stopped(&reason);
        assert_eq!(chinese, "在 3 轮的上限内没有得到回答：请提高 --max-rounds，或一次少问一些");
        let notice = CallerWarning::HistoryLeftOut { rounds: 2, questions: 0, results: 1, context: 4096, remedy: None };
        let chinese = Phrases::of(Lang::Zh).noticed(&notice);
        assert!(
            chinese.contains("省略了 2 条模型消息、1 个结果；") && chinese.ends_with("（--tool-budget）"),
            "{chinese}"
        );
    }
    #[test]
    fn every_reason_and_every_notice_is_said_in_chinese_with_the_endpoints_own_words_as_they_are() {
        // Words of others, even where they are a sentence of ours.
        let others = "the turn was cancelled";
        let reasons = [
            json!({"kind": "output_limit"}),
            json!({"kind": "empty_answer"}),
            json!({"kind": "refused", "message": others}),
            json!({"kind": "filtered"}),
            json!({"kind": "call_missing"}),
            json!({"kind": "repetition", "times": 9}),
            json!({"kind": "same_calls", "tool": others}),
            json!({"kind": "max_rounds", "rounds": 1}),
            json!({"kind": "max_rounds", "rounds": 2}),
            json!({"kind": "corrections_used_up", "corrections": 2, "message": "no call"}),
            json!({"kind": "output_mismatch", "corrections": 2, "message": others}),
            json!({"kind": "model_failed", "message": others}),
            json!({"kind": "prompt_failed", "message": others}),
            json!({"kind": "context_full", "context": 3, "prompt": 2, "answer": 1}),
            json!({"kind": "context_too_small", "context": 4, "reply": 1, "system": 2, "request": 3}),
            json!({"kind": "context_exceeded", "message": others}),
            json!({"kind": "context_exceeded", "prompt": 1, "context": 2, "message": others}),
            json!({"kind": "context_exceeded", "prompt": 2, "context": 1, "message": others}),
            json!({"kind": "cancelled"}),
        ];
        let notices = [
            json!({"kind": "prompt_cut", "sent": 2, "read": 1}),
            json!({"kind": "tools_refused", "message": others}),
            json!({"kind": "native_failed", "message": others}),
            json!({"kind": "constraint_refused", "message": others}),
            json!({"kind": "result_mismatch", "server": "s", "tool": "t", "message": others}),
            json!({"kind": "no_probabilities"}),
            json!({"kind": "no_structure"}),
        ];
        let reasons = reasons.map(|reason| {
            let read: StopReason = serde_json::from_value(reason.clone()).unwrap();
            (reason, chinese_reason(&read, Phrases::of(Lang::Zh)))
        });
        let notices = notices.map(|notice| {
            let read: CallerWarning = serde_json::from_value(notice.clone()).unwrap();
            (notice, chinese_notice(&read))
        });
        for (given, said) in reasons.into_iter().chain(notices) {
            assert!(said.chars().any(|c| matches!(c, '\u{3400}'..='\u{9fff}')), "{said}");
            let own = said.replace(others, "");
            assert!(!own.contains(" the ") && !own.starts_with("the "), "{said}");
            assert_eq!(said.contains(others), given.to_string().contains(others), "{said}");
        }
    }
}
