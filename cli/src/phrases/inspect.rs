//! Words of the pages of `serve --inspect`.

use serde_json::{Value, json};

use super::Phrases;
use crate::terminal::counted;

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
