//! Words of the pages of `serve --inspect`.

use serde_json::{Value, json};

use super::{Phrases, phrases};
use crate::terminal::counted;

phrases! {
    INSPECT:
    requests_title = "Requests", "请求";
    request_number(n) = "request {n}", "请求 {n}";
    some_of(some, all) = "{some} of {all}", "{all}中的 {some} 个";
    stop_loading = "Stop loading it again", "停止自动刷新";
    load_again = "Reload by itself", "自动刷新";
    all_requests = "All requests", "全部请求";
    download_recording = "Download the recording", "下载会话记录";
    recording_too_large =
        "The recording is larger than what is kept of all: its end is missing.",
        "会话记录超过了全部记录可保留的大小：缺少结尾部分。";
    failed_behind = "200, failed behind it", "200，之后出错";
    client_went = "the client went", "客户端已离开";
    goes_on = "goes on", "进行中";
    search = "Search", "搜索";
    how_text = "Text of prompts, answers, results and errors;", "搜索提示词、回答、结果和错误中的文本；";
    how_call = "for a tool that was called,", "搜索调用过的工具；";
    how_rejected = "for a reason or a tool of what was rejected.", "搜索被拒绝的原因或工具。";
    show_all = "Show all", "显示全部";
    column_request = "Request", "请求";
    column_came = "Came", "到达";
    column_interface = "Interface", "接口";
    column_status = "Status", "状态";
    column_rejected = "Rejected", "被拒绝";
    column_took = "Took", "用时";
    prompts = "Prompts", "提示词";
    prompt_tokens(n) = "{n} tokens", "{n} 个 token";
    said_before(percent) = "{percent} % as in an earlier request", "{percent} % 与之前的请求相同";
    taught = "Learned of the endpoint", "对端点的了解";
    nothing_taught = "nothing that it refuses", "没有发现它拒绝什么";
    server_version(version) = "version {version}", "版本 {version}";
    by_prompt_since(fault) = "tools by prompt, since native calls fail ({fault})", "用提示词提供工具，因为原生调用会失败（{fault}）";
    nothing_here = "Nothing here", "没有内容";
    none_found_here = "No request that is kept has all of that.", "保留的请求中没有同时符合这些条件的。";
    none_came = "No request came so far.", "还没有收到请求。";
    just_now = "just now", "刚刚";
    minutes_ago(n) = "{n} min ago", "{n} 分钟前";
    hours_ago(n) = "{n} h ago", "{n} 小时前";
    days_ago(n) = "{n} d ago", "{n} 天前";
}

impl Phrases {
    /// `3 requests`.
    pub(crate) fn requests(self, n: usize) -> String {
        if self.is_chinese() { format!("{n} 个请求") } else { counted(n, "request") }
    }

    /// What the list's template names.
    pub(crate) fn for_inspect(self) -> Value {
        json!({
            "lang": self.pick("en", "zh"),
            "made_by": self.made_by(),
            "search": self.search(),
            "how_text": self.how_text(),
            "how_call": self.how_call(),
            "how_rejected": self.how_rejected(),
            "show_all": self.show_all(),
            "request": self.column_request(),
            "came": self.column_came(),
            "interface": self.column_interface(),
            "status": self.column_status(),
            "rounds": self.rounds_label(),
            "calls": self.calls_label(),
            "rejected": self.column_rejected(),
            "took": self.column_took(),
            "taught": self.taught(),
            "nothing": self.nothing_here(),
            "none_found": self.none_found_here(),
            "none_came": self.none_came(),
        })
    }
}
