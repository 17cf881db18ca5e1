//! Converts recordings into the rounds of a model that replays them.

use std::time::Duration;

use super::Round;
use crate::message::Delta;
use crate::model::{self, Step};

/// Converts a round of a recording; its times become delays.
impl From<&Round> for model::Round {
    fn from(recorded: &Round) -> Self {
        let mut last = 0;
        let steps = recorded.deltas.iter().map(|delta| {
            let ms = delta.ms.unwrap_or(last);
            let wait = Duration::from_millis(ms.saturating_sub(last));
            last = last.max(ms);
            Step { wait, delta: Delta { kind: delta.kind, text: delta.text.clone() } }
        });
        model::Round { steps: steps.collect(), finish: recorded.finish.as_ref().map(|f| f.reason.clone()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recordings_times_become_waits() {
        let lines = [
            r#"{"type":"session","toolgraft":1}"#,
            r#"{"type":"message","role":"user","content":"Hi"}"#,
            r#"{"type":"delta","kind":"content","text":"a","ms":100}"#,
            r#"{"type":"delta","kind":"content","text":"b","ms":130}"#,
            r#"{"type":"finish","reason":"stop","ms":131}"#,
            r#"{"type":"delta","kind":"content","text":"c"}"#,
        ];
        let recording = super::super::parse(&lines.join("\n")).unwrap();
        let rounds: Vec<model::Round> = recording.rounds.iter().map(model::Round::from).collect();
        let waits: Vec<u128> = rounds[0].steps.iter().map(|s| s.wait.as_millis()).collect();
        assert_eq!(waits, [100, 30]);
        assert_eq!(rounds[1], model::Round::text("c").with_finish(None));
    }
}
