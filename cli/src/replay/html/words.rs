//! The page's own words, in both languages.

use serde::Serialize;

use toolgraft::dialect::Lang;
use toolgraft::event::{Provenance, RejectedKind};
use toolgraft::message::Role;
use toolgraft::outcome::Status;

/// Words that the template names, and those that the view is written with.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Words {
    pub(super) lang: &'static str,
    pub(super) more: &'static str,
    pub(super) characters: &'static str,
    pub(super) note: &'static str,
    pub(super) timeline: &'static str,
    pub(super) rows: &'static str,
    pub(super) tools: &'static str,
    pub(super) schema: &'static str,
    pub(super) reasoning: &'static str,
    pub(super) answer: &'static str,
    pub(super) as_written: &'static str,
    pub(super) rejected: &'static str,
    pub(super) not_run: &'static str,
    pub(super) structured: &'static str,
    pub(super) events: &'static str,
    pub(super) made_by: &'static str,
    pub(super) kinds: Kinds,
    pub(super) model: &'static str,
    pub(super) profile: &'static str,
    pub(super) format: &'static str,
    pub(super) rounds: &'static str,
    pub(super) calls: &'static str,
    pub(super) rejections: &'static str,
    pub(super) time: &'static str,
    pub(super) tokens: &'static str,
    pub(super) recording: &'static str,
    pub(super) round: &'static str,
    pub(super) call: &'static str,
    pub(super) native_call: &'static str,
    pub(super) promoted: &'static str,
    pub(super) fenced_first: &'static str,
    pub(super) behind_prose: &'static str,
    pub(super) repaired: &'static str,
    pub(super) recorded: &'static str,
    pub(super) run_now: &'static str,
    pub(super) empty: &'static str,
    pub(super) finish: &'static str,
    pub(super) no_finish: &'static str,
    pub(super) by_bytes: &'static str,
    pub(super) given_back: &'static str,
    pub(super) as_expected: &'static str,
    pub(super) not_as_expected: &'static str,
    pub(super) answer_in_reasoning: &'static str,
    pub(super) cut: &'static str,
    pub(super) left_out: &'static str,
}

/// What a bar of the timeline stands for.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Kinds {
    pub(super) wait: &'static str,
    pub(super) reasoning: &'static str,
    pub(super) answer: &'static str,
    pub(super) call: &'static str,
    pub(super) rejected: &'static str,
    pub(super) failed: &'static str,
}

const ENGLISH: Words = Words {
    lang: "en",
    more: "Show the rest",
    characters: "characters",
    note: "Note",
    timeline: "Timeline",
    rows: "rows",
    tools: "Tools on offer",
    schema: "Schema",
    reasoning: "Reasoning",
    answer: "What the user saw",
    as_written: "As the model wrote it",
    rejected: "Rejected",
    not_run: "Not run",
    structured: "Structured content",
    events: "Events for the interface",
    made_by: "Made by",
    kinds: Kinds {
        wait: "waiting for the model",
        reasoning: "reasoning",
        answer: "answer",
        call: "call",
        rejected: "rejected call",
        failed: "failed call",
    },
    model: "Model",
    profile: "Profile",
    format: "File",
    rounds: "Rounds",
    calls: "Calls",
    rejections: "Rejected",
    time: "Time",
    tokens: "Tokens",
    recording: "Recording",
    round: "Round",
    call: "Call",
    native_call: "Native call",
    promoted: "promoted from the reasoning",
    fenced_first: "in a fence that prose follows",
    behind_prose: "behind prose",
    repaired: "repaired",
    recorded: "recorded",
    run_now: "run now",
    empty: "(empty)",
    finish: "finish",
    no_finish: "none recorded",
    by_bytes: "no times were recorded: lengths are bytes",
    given_back: "Given back as text",
    as_expected: "As expected",
    not_as_expected: "Not as expected",
    answer_in_reasoning: "No </think> came: what looked like reasoning is taken as the answer.",
    cut: "Cut off",
    left_out: "messages of the request before were left out",
};

const CHINESE: Words = Words {
    lang: "zh",
    more: "显示其余部分",
    characters: "字符",
    note: "提示",
    timeline: "时间线",
    rows: "行",
    tools: "可用工具",
    schema: "参数模式",
    reasoning: "思考过程",
    answer: "用户看到的内容",
    as_written: "模型原文",
    rejected: "被拒绝的调用",
    not_run: "未执行",
    structured: "结构化内容",
    events: "界面事件",
    made_by: "生成工具：",
    kinds: Kinds {
        wait: "等待模型",
        reasoning: "思考",
        answer: "回答",
        call: "调用",
        rejected: "被拒绝的调用",
        failed: "失败的调用",
    },
    model: "模型",
    profile: "配置",
    format: "文件",
    rounds: "轮次",
    calls: "调用",
    rejections: "被拒绝",
    time: "用时",
    tokens: "词元",
    recording: "录制",
    round: "第",
    call: "调用",
    native_call: "原生调用",
    promoted: "从思考中提升",
    fenced_first: "在后面跟有正文的代码块中",
    behind_prose: "在正文之后",
    repaired: "已修复",
    recorded: "录制时",
    run_now: "现在执行",
    empty: "（空）",
    finish: "结束原因",
    no_finish: "未记录",
    by_bytes: "没有记录时间：长度按字节计",
    given_back: "按文本处理的内容",
    as_expected: "符合预期",
    not_as_expected: "不符合预期",
    answer_in_reasoning: "没有出现 </think>：看似思考的内容按回答处理。",
    cut: "录制不完整",
    left_out: "条上一次请求的消息被省略",
};

impl Words {
    pub(super) fn of(lang: Lang) -> &'static Words {
        match lang {
            Lang::Zh => &CHINESE,
            _ => &ENGLISH,
        }
    }

    fn chinese(&self) -> bool {
        self.lang == "zh"
    }

    /// Heading of a round, from 1.
    pub(super) fn round(&self, number: usize) -> String {
        if self.chinese() { format!("第 {number} 轮") } else { format!("{} {number}", self.round) }
    }

    /// Heading of a message that was sent.
    pub(super) fn role(&self, role: Role) -> &'static str {
        match (role, self.chinese()) {
            (Role::System, false) => "System prompt",
            (Role::System, true) => "系统提示词",
            (Role::User, false) => "User",
            (Role::User, true) => "用户",
            (Role::Assistant, false) => "The model's message before, as it reads it",
            (Role::Assistant, true) => "模型之前的消息",
            (Role::Tool, false) => "Tool result, as the model reads it",
            (Role::Tool, true) => "模型读到的工具结果",
            (_, false) => "Message",
            (_, true) => "消息",
        }
    }

    /// Heading of a user's message that only carries results.
    pub(super) fn results(&self) -> &'static str {
        if self.chinese() { "模型读到的结果" } else { "Results, as the model reads them" }
    }

    /// What became of a call.
    pub(super) fn status(&self, status: Status) -> &'static str {
        match (status, self.chinese()) {
            (Status::Result, false) => "Result",
            (Status::Result, true) => "结果",
            (Status::ToolError, false) => "Tool error",
            (Status::ToolError, true) => "工具出错",
            (Status::Denied, false) => "Denied",
            (Status::Denied, true) => "未获许可",
            (Status::TimedOut, false) => "Timed out",
            (Status::TimedOut, true) => "超时",
            (Status::Cancelled, false) => "Cancelled",
            (Status::Cancelled, true) => "已取消",
            (Status::Displayed, false) => "Displayed",
            (Status::Displayed, true) => "已显示",
            (other, _) => other.as_str(),
        }
    }

    /// How a call was found, where that asks for approval.
    pub(super) fn provenance(&self, provenance: Provenance) -> Option<&'static str> {
        match provenance {
            Provenance::Plain => None,
            Provenance::FencedFirst => Some(self.fenced_first),
            Provenance::BehindProse => Some(self.behind_prose),
            _ => Some(self.promoted),
        }
    }

    /// Why a call was rejected, beside its keyword.
    pub(super) fn reason(&self, kind: RejectedKind) -> String {
        if !self.chinese() {
            return kind.as_str().to_owned();
        }
        let words = match kind {
            RejectedKind::InReasoning => "在思考中",
            RejectedKind::Invented => "虚构轮次",
            RejectedKind::Quoted => "引用",
            RejectedKind::Limit => "超出限制",
            RejectedKind::Truncated => "不完整",
            RejectedKind::Malformed => "格式错误",
            RejectedKind::UnknownTool => "未知工具",
            RejectedKind::InvalidArguments => "参数无效",
            other => return other.as_str().to_owned(),
        };
        format!("{words} {kind}")
    }

    /// Heading of a notice by its kind; other kinds stand for themselves.
    pub(super) fn notice<'a>(&self, kind: &'a str) -> &'a str {
        match (kind, self.chinese()) {
            ("correction", false) => "The model is told",
            ("correction", true) => "告知模型",
            ("warning", false) => "Warning",
            ("warning", true) => "警告",
            ("error", false) => "The model failed",
            ("error", true) => "模型出错",
            ("stopped", false) => "The turn ended",
            ("stopped", true) => "本轮对话结束",
            _ => kind,
        }
    }
}
