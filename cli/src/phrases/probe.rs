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
        })
    }

    /// The table's head.
    pub(crate) fn probe_head(self) -> [&'static str; 9] {
        [
            self.way(),
            self.accepted(),
            self.right_tool(),
            self.fully_right(),
            self.right_when_told(),
            self.false_calls(),
            self.result_used(),
            self.tokens_per_task(),
            self.seconds_per_task(),
        ]
    }
}
