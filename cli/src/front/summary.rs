//! The summary of a turn's costs.

use std::time::{Duration, Instant};

use crate::terminal::{counted, lasted};
use toolgraft::AgentEvent;
use toolgraft::agent::Finished;
use toolgraft::message::Usage;

/// Measures the duration of a turn for its summary.
pub(super) struct Summary {
    started: Instant,
    /// Id of the call that awaits approval, and the time since which it does.
    asked: Option<(String, Instant)>,
    /// Total time that the user took to answer questions.
    waited: Duration,
}

impl Summary {
    pub(super) fn new() -> Self {
        Summary { started: Instant::now(), asked: None, waited: Duration::ZERO }
    }

    /// Updates the measurement with an event of the turn.
    pub(super) fn take(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::ApprovalAsked(request) => self.asked = Some((request.id.clone(), Instant::now())),
            AgentEvent::CallRunning { id, .. } | AgentEvent::Outcome { id, .. } => {
                if let Some((_, since)) = self.asked.take_if(|(asked, _)| asked == id) {
                    self.waited += since.elapsed();
                }
            }
            _ => {}
        }
    }

    /// Returns a line with the turn's rounds, calls, duration and tokens; empty if no request was sent. The duration
    /// excludes the time for the user's answers.
    pub(super) fn text(&self, finished: &Finished) -> String {
        // A turn that ended before its first request cost nothing.
        if finished.rounds == 0 {
            return String::new();
        }
        let calls = match finished.calls {
            0 => "no calls".to_owned(),
            n => counted(n as usize, "call"),
        };
        let rounds = counted(finished.rounds as usize, "round");
        let took = lasted(self.started.elapsed().saturating_sub(self.waited));
        let tokens = finished.usage.map_or_else(|| "prompt -, answer -".to_owned(), tokens);
        format!("{rounds}, {calls}, {took}; tokens: {tokens}")
    }
}

/// Returns the numbers of tokens of prompt and answer, including those of reasoning; `≈` marks an estimate.
fn tokens(usage: Usage) -> String {
    let said = |tokens: u64, estimated: bool| format!("{}{tokens}", if estimated { "≈" } else { "" });
    let reasoning = usage.reasoning_tokens.filter(|tokens| *tokens > 0);
    let reasoning = reasoning.map(|tokens| format!(" ({} of them reasoning)", said(tokens, usage.reasoning_estimated)));
    let prompt = said(usage.prompt_tokens, usage.estimated);
    format!(
        "prompt {prompt}, answer {}{}",
        said(usage.completion_tokens, usage.estimated),
        reasoning.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgraft::Conversation;
    use toolgraft::agent::StopReason;

    /// Returns the summary of a turn with these numbers, in which all durations are replaced by `T`.
    fn shown(rounds: u32, calls: u32, usage: Option<Usage>) -> String {
        let mut finished = Finished::new(StopReason::Answered, Conversation::new());
        (finished.rounds, finished.calls, finished.usage) = (rounds, calls, usage);
        let times = regex::Regex::new(r" *[\d.]+ m?s\b").unwrap();
        times.replace_all(&Summary::new().text(&finished), " T").into_owned()
    }

    fn usage(prompt_tokens: u64, completion_tokens: u64, reasoning_tokens: Option<u64>) -> Usage {
        Usage::default()
            .with_prompt_tokens(prompt_tokens)
            .with_completion_tokens(completion_tokens)
            .with_reasoning_tokens(reasoning_tokens)
    }

    #[test]
    fn a_turn_without_a_request_cost_nothing() {
        assert_eq!(shown(0, 0, None), "");
    }

    #[test]
    fn a_turn_is_one_line_that_says_what_is_an_estimate() {
        let estimate = usage(800, 9, Some(2)).with_estimated(true).with_reasoning_estimated(true);
        for (rounds, calls, usage, line) in [
            (
                1,
                0,
                Some(usage(740, 52, Some(31))),
                "1 round, no calls, T; tokens: prompt 740, answer 52 (31 of them reasoning)",
            ),
            (2, 1, Some(usage(1480, 104, None)), "2 rounds, 1 call, T; tokens: prompt 1480, answer 104"),
            (1, 2, Some(estimate), "1 round, 2 calls, T; tokens: prompt ≈800, answer ≈9 (≈2 of them reasoning)"),
            (3, 1, None, "3 rounds, 1 call, T; tokens: prompt -, answer -"),
        ] {
            assert_eq!(shown(rounds, calls, usage), line);
        }
    }

    #[test]
    fn times_are_short() {
        let times = [340, 2140, 185_000].map(|ms| lasted(Duration::from_millis(ms)));
        assert_eq!(times, ["340 ms", "2.1 s", "3 min 5 s"]);
    }
}
