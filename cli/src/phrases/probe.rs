//! Words of a probe's table and page.

use serde_json::{Value, json};

use super::Phrases;

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
