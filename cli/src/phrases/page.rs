//! Words that stand on pages only.

use serde_json::{Value, json};

use super::{Phrases, phrases};

phrases! {
    PAGE:
    more = "Show the rest", "显示其余部分";
    characters = "characters", "个字符";
    note = "Note", "提示";
    timeline = "Timeline", "时间线";
    contents = "Contents", "目录";
    tools_on_offer = "Tools on offer", "可用工具";
    schema = "Schema", "参数 schema";
    as_written = "As the model wrote it", "模型原文";
    structured = "Structured content", "结构化内容";
    events = "Events for the interface", "给界面的事件";
    made_by = "Made by", "生成工具：";
    waiting = "waiting for the model", "等待模型";
    not_results = "failed, not run or cancelled", "失败、未运行或已取消";
    model = "Model", "模型";
    profile = "Profile", "模型配置";
    rounds_label = "Rounds", "轮次";
    calls_label = "Calls", "调用";
    not_run_label = "Not run", "不运行";
    time = "Time", "用时";
    tokens = "Tokens", "token 数";
    tokens_cached(n) = "{n} cached", "已缓存 {n} 个";
    tokens_unit(prompt, completion) = "{prompt} + {completion} tokens", "{prompt} + {completion} 个 token";
    recording_of(n, of) = "Recording {n}/{of}", "会话记录 {n}/{of}";
    run_now = "run now", "现在运行";
    empty = "(empty)", "（空）";
    by_bytes = "no times were recorded: lengths are bytes", "没有记录时间：长度按字节计";
    as_expected = "As expected", "符合预期";
    not_as_expected = "Not as expected", "不符合预期";
    cut_off = "Cut off", "会话记录不完整";
    left_out(n) = "{n} messages of the request before were left out", "省略了上一次请求中的 {n} 条消息";
    left_out_behind(n) =
        "of the request before, only the first {n} messages were kept", "上一次请求的消息只保留了前 {n} 条";
    system_prompt = "System prompt", "系统提示词";
    user = "User", "用户";
    message = "Message", "消息";
    model_before = "The model's message before, as it reads it", "模型读到的它之前的消息";
    result_read = "Tool result, as the model reads it", "模型读到的工具结果";
    results_read = "Results, as the model reads them", "模型读到的结果";
    model_is_told = "The model is told", "告知模型";
    warning = "Warning", "警告";
    model_failed = "The model failed", "模型出错";
    turn_ended = "The turn ended", "本回合结束";
    rounds_range(first, last) = "Rounds {first}–{last}", "第 {first}–{last} 轮";
}

impl Phrases {
    /// What the templates name.
    pub(crate) fn for_page(self) -> Value {
        json!({
            "lang": self.pick("en", "zh"),
            "more": self.more(),
            "characters": self.characters(),
            "note": self.note(),
            "timeline": self.timeline(),
            "contents": self.contents(),
            "tools": self.tools_on_offer(),
            "schema": self.schema(),
            "reasoning": capitalised(self.reasoning()),
            "answer": capitalised(self.answer()),
            "behind_call": capitalised(self.behind_call()),
            "as_written": self.as_written(),
            "structured": self.structured(),
            "events": self.events(),
            "made_by": self.made_by(),
        })
    }

    /// Heading of a notice by its kind; other kinds stand for themselves.
    pub(crate) fn notice(self, kind: &str) -> &str {
        match kind {
            "note" => self.note(),
            "correction" => self.model_is_told(),
            "warning" => self.warning(),
            "error" => self.model_failed(),
            "stopped" => self.turn_ended(),
            _ => kind,
        }
    }
}

/// A phrase as a heading.
pub(crate) fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
