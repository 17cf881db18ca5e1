//! Words of `toolgraft up`, at the terminal and in its page.

use serde_json::{Value, json};

use super::{Phrases, capitalised, phrases};

phrases! {
    UP:
    page_is_open =
        "the page is at this address, for one browser, as long as this runs; Ctrl-C ends it",
        "页面地址如下，只供一个浏览器打开，在本命令运行期间有效；按 Ctrl-C 结束";
    open_it_yourself = "no browser can be opened from here: open the address in one", "无法从这里打开浏览器：请自行用浏览器打开该地址";
    still_answers = "the model still answers: stop it first", "模型仍在回答：请先停止";
    run_this(name) = "Run {name}?", "运行 {name} 吗？";
    up_new = "New", "新建";
    up_new_label = "New conversation", "新对话";
    up_timeline = "Timeline", "时间线";
    up_share = "Save as one file", "保存为单个文件";
    up_back = "Back to the conversation", "返回对话";
    up_you = "You", "你";
    up_chats = "Conversations", "对话";
    up_search = "Search in all conversations", "在所有对话中搜索";
    up_tools = "Tools", "工具";
    up_none = "No conversation here.", "没有对话。";
    up_no_servers = "No MCP servers are configured.", "没有配置 MCP 服务器。";
    up_model = "Model", "模型";
    up_question = "Your message", "你的消息";
    up_keys =
        "Enter sends, Shift+Enter begins a line, Esc stops the answer",
        "Enter 发送，Shift+Enter 换行，Esc 停止回答";
    up_send = "Send", "发送";
    up_stop = "Stop", "停止";
    up_skip = "To the message box", "跳到消息框";
    up_said = "What was said", "对话内容";
    up_once = "Run once", "运行一次";
    up_always = "Always in this conversation", "本对话中始终允许";
    up_deny = "Do not run", "不运行";
    up_reason = "Why not? The model is told.", "为什么不运行？会告诉模型。";
    up_begin = "Ask something. The model can use the tools that are switched on.", "提个问题吧。模型可以使用已打开的工具。";
    up_picture = "A picture of the result", "结果中的图片";
    up_decline = "Decline", "拒绝";
    up_agree = "I open it", "我会打开";
    up_lost = "The connection is lost: does `toolgraft up` still run?", "连接已断开：`toolgraft up` 还在运行吗？";
    up_refused =
        "This window is not let in any more: open the address that `toolgraft up` printed last.",
        "此窗口已无权访问：请打开 `toolgraft up` 最后打印的地址。";
    up_no_scripts = "This page needs its script: allow scripts for 127.0.0.1.", "本页面需要运行脚本：请为 127.0.0.1 启用脚本。";
}

impl Phrases {
    /// What the page and its script name.
    pub(crate) fn for_up(self) -> Value {
        json!({
            "lang": self.pick("en", "zh"),
            "new": self.up_new(),
            "chats": self.up_chats(),
            "search": self.up_search(),
            "none": self.up_none(),
            "no_servers": self.up_no_servers(),
            "tools": self.up_tools(),
            "model": self.up_model(),
            "question": self.up_question(),
            "keys": self.up_keys(),
            "send": self.up_send(),
            "stop": self.up_stop(),
            "skip": self.up_skip(),
            "said": self.up_said(),
            "once": self.up_once(),
            "always": self.up_always(),
            "deny": self.up_deny(),
            "reason": self.up_reason(),
            "begin": self.up_begin(),
            "decline": self.up_decline(),
            "agree": self.up_agree(),
            "picture": self.up_picture(),
            "lost": self.up_lost(),
            "refused": self.up_refused(),
            "no_scripts": self.up_no_scripts(),
            "reasoning": capitalised(self.reasoning()),
            "user": self.up_you(),
            "new_label": self.up_new_label(),
            "timeline": self.up_timeline(),
            "share": self.up_share(),
        })
    }
}
