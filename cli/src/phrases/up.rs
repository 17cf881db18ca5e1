//! Words of `toolgraft up`, at the terminal and in its page.

use serde_json::{Value, json};

use super::{Phrases, capitalised};

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
            "model": self.model(),
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
            "timeline": self.timeline(),
            "share": self.up_share(),
        })
    }
}
