//! Words of a probe's table.

use super::Phrases;

impl Phrases {
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
