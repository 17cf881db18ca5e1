//! Words of a probe's table and page.

use serde_json::{Value, json};

use super::{Phrases, phrases};

phrases! {
    PROBE:
    way = "way to offer tools", "提供工具的方式";
    accepted = "accepted", "被接受";
    right_tool = "right tool", "工具正确";
    fully_right = "fully right by itself", "自行决定时完全正确";
    right_when_told = "when told to call", "要求调用时";
    several_right = "two calls", "两个调用";
    false_calls = "false calls", "多余的调用";
    result_used = "result used", "用到结果";
    tokens_per_task = "tokens", "token 数";
    seconds_per_task = "s/task", "秒/题";
    tools_offered = "tools offered", "提供的工具数";
    ways_tried = "ways tried", "试过的方式";
    outcome_of_each = "What came of each way", "每种方式的结果";
    right = "right", "正确";
    no_call_wanted = "no call", "不调用";
    call_wanted(tool, arguments) = "{tool} {arguments}", "调用 {tool} {arguments}";
    goes_on_from_here =
        "what was tried is kept: the same command goes on from here", "试过的结果已保存：同样的命令会从这里继续";
    nothing_worked =
        "no way to offer tools led to one right call: this model may be too small, or the endpoint changes its text",
        "没有一种提供工具的方式得到过正确的调用：模型可能太小，或端点改动了它的文本";
    best_way(way, profile) = "\nBest: {way}. As a profile:\n\n{profile}", "\n最佳：{way}。作为模型配置：\n\n{profile}";
    on_tasks_apart(tasks) = "On {tasks} tasks that were used for nothing else", "在专门留出的 {tasks} 道题上";
    on_tasks_tried(tasks) =
        "On the {tasks} tasks by which it was chosen, so rather too good", "在用来挑选的 {tasks} 道题上（因此偏高）";
    figures(where_from, right, wrong, tokens, seconds) =
        "{where_from}: {right} calls right, {wrong} calls where none was wanted; {tokens} tokens and {seconds} s a task.",
        "{where_from}：调用正确 {right}，多余的调用 {wrong}；每题 {tokens} token，{seconds} 秒。";
    run_twice(same, of) = "Asked twice, {same} of {of} came out the same.", "重复提问，{of} 题中 {same} 题结果相同。";
    rely_on_it = "Once it is written, chat, launch and serve use it.", "写入后，chat、launch 和 serve 都会使用它。";
    calls_unasked =
        "It calls where no call is due: keep the question before each call, or raise --call-threshold.",
        "它会在不需要时调用：请保留每次调用前的询问，或提高 --call-threshold。";
    often_wrong =
        "More than a third of its calls are wrong: keep the question before each call, and try a larger model.",
        "超过三分之一的调用是错的：请保留每次调用前的询问，并试试更大的模型。";
    only_when_told =
        "It writes calls when told to, and does not decide by itself: a required tool (tool_choice) works, a chat does not.",
        "只有被要求时它才会写出调用，自己不会决定：指定工具（tool_choice）可用，聊天则不行。";
    curve_head = "What another threshold would make of it", "换一个阈值会怎样";
    threshold = "threshold", "阈值";
    write_into(file) = "Write it into {file}? [y/N] ", "写入 {file}？[y/N] ";
    written_into(file) = "written into {file}", "已写入 {file}";
    way_left_out(way, why) = "{way} is left out: {why}", "略去 {way}：{why}";
    tasks_so_far(way, tasks) = "{way} · up to {tasks} tasks", "{way} · 至多 {tasks} 题";
    minutes_left(progress, minutes) = "{progress} · at most {minutes} min left", "{progress} · 至多还需 {minutes} 分钟";
    result_wanted(call, value) = "{call}, then {value}", "{call}，然后回答 {value}";
}

impl Phrases {
    /// What the page's template names.
    pub(crate) fn for_probe(self) -> Value {
        json!({
            "lang": self.pick("en", "zh"),
            "made_by": self.made_by(),
            "tools_offered": self.tools_offered(),
            "ways_tried": self.ways_tried(),
            "outcome_of_each": self.outcome_of_each(),
            "right": self.right(),
            "curve_head": self.curve_head(),
            "threshold": self.threshold(),
            "fully_right": self.fully_right(),
            "false_calls": self.false_calls(),
        })
    }

    /// The table's head.
    pub(crate) fn probe_head(self) -> [&'static str; 10] {
        [
            self.way(),
            self.accepted(),
            self.right_tool(),
            self.fully_right(),
            self.right_when_told(),
            self.several_right(),
            self.false_calls(),
            self.result_used(),
            self.tokens_per_task(),
            self.seconds_per_task(),
        ]
    }
}
