//! Words of a replay and of the demo: what a message holds, and what became of its calls.
//! The terminal's boxes, a page's headings and the lines of text all take them from here,
//! so that one thing has one word.

use super::{Phrases, counts, phrases};
use toolgraft::event::{Provenance, RejectedKind};
use toolgraft::outcome::Status;

phrases! {
    REPLAY:
    reasoning = "reasoning", "推理";
    answer = "answer", "回答";
    characters_in_all(n) = "({n} characters in all)", "（共 {n} 个字符）";
    call = "call", "调用";
    call_number(n) = "call {n}", "调用 {n}";
    native_call_number(n) = "native call {n}", "原生调用 {n}";
    draft = "draft, not run", "草稿，不运行";
    example = "example, not run", "示例，不运行";
    invented = "invented, not run", "虚构轮次，不运行";
    rejected = "rejected", "被拒绝";
    behind_call = "behind the call, not shown", "调用之后，不显示";
    behind_call_line =
        "[behind the call: a turn stops there, so nobody sees this and nothing of it runs]",
        "[调用之后：回合到此停止，以下内容不会显示，也不会运行]";
    result = "result", "结果";
    tool_error = "tool error", "工具出错";
    denied = "not run", "未运行";
    timed_out = "timed out", "超时";
    cancelled = "cancelled", "已取消";
    displayed = "displayed", "已显示";
    recorded = "recorded", "来自会话记录";
    fenced_first = "in a fence that prose follows: needs approval", "在后面还有正文的代码块中：需要批准";
    behind_prose = "behind prose: needs approval", "在正文之后：需要批准";
    before_prose = "before prose: needs approval", "在正文之前：需要批准";
    in_a_line = "in a line of text: needs approval", "在一行文字之中：需要批准";
    fenced_behind_prose = "in a fence behind prose: needs approval", "在正文之后的代码块中：需要批准";
    echoed = "echoed: needs approval", "出现在结果或文件中：需要批准";
    promoted = "promoted from the reasoning: needs approval", "从推理中提升：需要批准";
    untagged = "no reasoning tag came: needs approval", "没有出现推理标签：需要批准";
    headed(what, name) = "{what}: {name}", "{what}：{name}";
    aside(text, about) = "{text} ({about})", "{text}（{about}）";
    finish_line(reason, sizes) = "[finish: {reason}; {sizes}]", "[结束原因：{reason}；{sizes}]";
    repaired(list) = "repaired: {list}", "已修复：{list}";
    finish(reason) = "finish: {reason}", "结束原因：{reason}";
    no_finish = "none recorded", "未记录";
    all_was_reasoning =
        "[all of the answer so far was reasoning: </think> came without an opening tag]",
        "[到此为止的回答都是推理：出现了没有开头标签的 </think>]";
    all_was_answer =
        "[what looked like reasoning was the answer: no </think> came]",
        "[看似推理的内容其实是回答：没有出现 </think>]";
    answer_in_reasoning =
        "no </think> came: what looked like reasoning is taken as the answer",
        "没有出现 </think>：看似推理的内容按回答处理";
    restored = "[the draft stands in the answer: it is a call]", "[草稿位于回答中：它是调用]";
    restored_wrong(kind, message) =
        "[the draft stands in the answer: {kind}: {message}]", "[草稿位于回答中：{kind}：{message}]";
    first_fence = "[nothing else is a call: what stands in the first fence needs approval]",
        "[没有其他调用：第一个代码块中的调用需要批准]";
    unlisted(n) = "[calls past the limit that are not listed: {n}]", "[超出上限、未列出的调用：{n} 个]";
    settings(round, profile, dialects, reasoning, policy, tools) =
        "-- round {round}: {profile}dialect {dialects}, reasoning {reasoning}, calls in it {policy}, {tools}",
        "-- 第 {round} 轮：{profile}方言 {dialects}，推理 {reasoning}，其中的调用 {policy}，{tools}";
    profile_named(name) = "profile {name}, ", "模型配置 {name}，";
    no_tools_known = "no tools known", "没有已知工具";
    system_line(n) = "system: {n} characters", "系统提示词：{n} 个字符";
    user_line(text) = "user: {text}", "用户：{text}";
    result_line(text) = "result: {text}", "结果：{text}";
    assistant_line(text) = "assistant, before: {text}", "模型之前的消息：{text}";
    message_line(text) = "message: {text}", "消息：{text}";
    note_line(text) = "note: {text}", "提示：{text}";
    given_back = "given back as text", "按文本处理的内容";
    given_back_head = "given back as text:", "按文本处理的内容：";
    nothing_given_back = "given back as text: nothing", "按文本处理的内容：无";
    place(byte, line, column) = "byte {byte} ({line}:{column})", "第 {byte} 字节（{line}:{column}）";
    in_region(place, region, found) = "{place}, in the {region}: {found}", "{place}，在{region}中：{found}";
    rule(rule, why) = "rule: {rule}: {why}", "规则：{rule}：{why}";
    remedy(text) = "remedy: {text}", "办法：{text}";
    took(status, ms) = "{status} in {ms} ms", "{status}，用时 {ms} ms";
    recording_cut(cut) = "[the recording is {cut}; this was all of it]", "[会话记录不完整（{cut}），到此为止]";
    file_as_expected(file, against) = "{file}: as expected ({against})", "{file}：符合预期（{against}）";
    file_not_as_expected(file, against) = "{file}: not as expected ({against})", "{file}：不符合预期（{against}）";
    cut_recordings(n) = "{n} cut off", "{n} 份不完整";
    none_rejected = "none rejected", "没有被拒绝的调用";
    rejected_calls(list) = "not run: {list}", "不运行：{list}";
    page_saved(file, counts, bytes) = "{file}: {counts}, {bytes} bytes", "{file}：{counts}，{bytes} 字节";
    demo_model(model, dialect) =
        "model: {model}, recorded; it has no tool calling and is taught {dialect}",
        "模型：{model}，输出是预先记录的；它没有工具调用能力，由提示词教会 {dialect}";
    demo_tools(tools, server) =
        "tools: {tools} of the MCP server {server}, over stdio", "工具：{tools}，来自 MCP 服务器 {server}，通过 stdio 连接";
    demo_round(round, messages, bytes, tokens) =
        "round {round}: prompt of {messages}, {bytes} bytes, {tokens} tokens (o200k)",
        "第 {round} 轮：提示词含 {messages}，{bytes} 字节，{tokens} token（o200k）";
    demo_invented(text) =
        "behind its call the model invented a result, “{text}”: its stream was cancelled there, and nobody sees that",
        "模型在调用之后编造了结果“{text}”：输出流在此处取消，没有人会看到它";
    demo_wrote_on =
        "the model wrote on after its call: its stream was cancelled", "模型在调用之后继续写：输出流已取消";
    demo_running(id, name) = "running {id}: {name}", "正在运行{id}：{name}";
    in_parentheses(text) = "({text})", "（{text}）";
    demo_told(message) = "the model is told: {message}", "告知模型：{message}";
    demo_answered(rounds, calls) = "the model answered: {rounds}, {calls}", "模型已回答：{rounds}，{calls}";
    demo_stopped(reason, rounds, calls) = "{reason}: {rounds}, {calls}", "{reason}：{rounds}，{calls}";
    demo_kept(file) = "recorded in {file}: show it with `toolgraft replay {file}`",
        "会话记录已写入 {file}：用 `toolgraft replay {file}` 查看";
}

counts! {
    rounds = "round", "轮";
    calls = "call", "次调用";
    native_calls = "native call", "次原生调用";
    files = "file", "个文件";
    recordings = "recording", "份会话记录";
    messages = "message", "条消息";
    tools = "tool", "个工具";
    deltas = "delta", "个片段";
    bytes = "byte", "字节";
}

impl Phrases {
    /// Heading of a round, from 1.
    pub(crate) fn round(self, number: usize) -> String {
        if self.is_chinese() { format!("第 {number} 轮") } else { format!("Round {number}") }
    }

    /// What a call that does not run is.
    pub(crate) fn not_run(self, kind: RejectedKind) -> &'static str {
        match kind {
            RejectedKind::InReasoning => self.draft(),
            RejectedKind::Quoted => self.example(),
            RejectedKind::Invented => self.invented(),
            _ => self.rejected(),
        }
    }

    /// What became of a call.
    pub(crate) fn status(self, status: Status) -> &'static str {
        match status {
            Status::Result => self.result(),
            Status::ToolError => self.tool_error(),
            Status::Denied => self.denied(),
            Status::TimedOut => self.timed_out(),
            Status::Cancelled => self.cancelled(),
            Status::Displayed => self.displayed(),
            other => other.as_str(),
        }
    }

    /// How a call was found, where that asks for approval; `untagged`: no reasoning tag came
    /// in its answer.
    pub(crate) fn provenance(self, provenance: Provenance, untagged: bool) -> Option<&'static str> {
        match provenance {
            Provenance::Plain => None,
            Provenance::FencedFirst => Some(self.fenced_first()),
            Provenance::BehindProse => Some(self.behind_prose()),
            Provenance::BeforeProse => Some(self.before_prose()),
            Provenance::InALine => Some(self.in_a_line()),
            Provenance::FencedBehindProse => Some(self.fenced_behind_prose()),
            Provenance::Echoed => Some(self.echoed()),
            _ if untagged => Some(self.untagged()),
            _ => Some(self.promoted()),
        }
    }

    /// Words in a row.
    pub(crate) fn listed(self, words: &[String]) -> String {
        words.join(self.pick(", ", "，"))
    }
}
