//! Why a turn ended, and what is said beside it, in Chinese. The library says it in English;
//! the options that help are the command's own.

use super::Phrases;
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
    let longer = |remedy: &Option<String>| remedy.clone().unwrap_or_else(|| LONGER.to_owned());
    match reason {
        StopReason::OutputLimit => "回答达到输出上限，被截断".to_owned(),
        StopReason::EmptyAnswer => "模型给出了空回答".to_owned(),
        StopReason::Refused { message } => format!("模型拒绝回答：{}", message.trim()),
        StopReason::Filtered => "端点的内容过滤器拦下了回答".to_owned(),
        StopReason::CallMissing => "模型没有进行所要求的调用".to_owned(),
        StopReason::Repetition { times } => format!("模型连续重复了 {times} 次，已被停止"),
        StopReason::SameCalls { tool } => format!("模型一再对 {tool} 进行相同的调用，结果也相同"),
        StopReason::MaxRounds { rounds } => format!("在 {rounds} 轮的上限内没有得到回答"),
        StopReason::CorrectionsUsedUp { corrections, message } => {
            format!("纠正 {corrections} 次之后，模型的调用仍然有误：{}", say.reason(message))
        }
        StopReason::OutputMismatch { corrections, message } => {
            format!("纠正 {corrections} 次之后，回答仍不符合 schema：{message}")
        }
        StopReason::ModelFailed(failure) => format!("模型出错：{}", failure.message),
        StopReason::PromptFailed { message, .. } => format!("无法写出提示词：{message}"),
        StopReason::ContextFull { context, prompt, answer, remedy } => format!(
            "{context} 个 token 的上下文已满：提示词占 {prompt} 个，回答在 {answer} 个之后被截断；{}、把工具列得更短，\
             或开始新的对话",
            longer(remedy)
        ),
        StopReason::ContextTooSmall { context, reply, system, request, remedy } => format!(
            "{context} 个 token 的上下文太小：请求至少需要 {request} 个，其中带工具的系统提示词占 {system} 个，另为回复\
             保留 {reply} 个；{}、把工具列得更短，或允许较短的回复",
            longer(remedy)
        ),
        StopReason::ContextExceeded { message, .. } => {
            format!("提示词超出上下文，而且不能再省略什么（{message}）；或把工具列得更短、允许较短的回复、问得简短一些")
        }
        StopReason::Cancelled => "本回合已取消".to_owned(),
        other => other.to_string(),
    }
}

fn chinese_notice(notice: &CallerWarning) -> String {
    match notice {
        CallerWarning::PromptCut { sent, read } => format!(
            "提示词约 {sent} 个 token，端点只读取了 {read} 个：提示词被截断，模型可能不知道工具或问题；请给模型更长的上下文\
             （Ollama：OLLAMA_CONTEXT_LENGTH，或 Modelfile 中的 PARAMETER num_ctx；LM Studio：加载模型时的上下文长度），\
             或少发送一些：工具列得更短，对话更短"
        ),
        CallerWarning::ToolsRefused { message } => format!("端点拒绝请求中的工具（{message}）；改由提示词说明工具"),
        CallerWarning::NativeFailed { message } => format!("端点在原生工具调用上出错（{message}）；改由提示词说明工具"),
        CallerWarning::ConstraintRefused { message } => {
            format!("端点拒绝所要求的回答形式（{message}）；它会在较少的约束下回答，出错时再纠正")
        }
        CallerWarning::ResultMismatch { server, tool, message } => {
            let name: Vec<&str> = server.iter().chain([tool]).map(String::as_str).collect();
            format!(
                "{} 的结果不符合工具自己的输出 schema（{message}）；模型读到的是原样的结果；请告知服务器的作者",
                name.join(".")
            )
        }
        CallerWarning::NoProbabilities => {
            "端点不给出 token 的概率（top_logprobs）：measured 方式改为 chosen".to_owned()
        }
        CallerWarning::NoStructure => "端点不按要求的形式回答：所要求的方式改为 free".to_owned(),
        CallerWarning::HistoryLeftOut { rounds, questions, results, context, remedy } => {
            let parts = [(*rounds, "条模型消息"), (*questions, "个问题"), (*results, "个结果")];
            let parts = parts.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}"));
            format!(
                "{context} 个 token 的上下文已满：请求中从最旧的开始省略了 {}；{}、把工具列得更短，或开始新的对话",
                parts.collect::<Vec<_>>().join("、"),
                remedy.as_deref().unwrap_or(LONGER)
            )
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
}
