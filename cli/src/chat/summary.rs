//! The summary of a turn's costs.

use std::time::{Duration, Instant};

use crate::screen::boxes::aligned;
use crate::terminal::{counted, lasted};
use toolgraft::AgentEvent;
use toolgraft::agent::Finished;
use toolgraft::message::Usage;

/// Counts a turn while it goes.
pub(super) struct Summary {
    started: Instant,
    rounds: Vec<Round>,
    /// The question that is open, and since when.
    asked: Option<(String, Instant)>,
    /// Time that somebody took to answer questions.
    waited: Duration,
}

/// One request and its answer.
struct Round {
    started: Instant,
    took: Duration,
    usage: Option<Usage>,
}

impl Summary {
    pub(super) fn new() -> Self {
        Summary { started: Instant::now(), rounds: Vec::new(), asked: None, waited: Duration::ZERO }
    }

    /// Takes an event of the turn.
    pub(super) fn take(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::RoundStarted { .. } => {
                self.rounds.push(Round { started: Instant::now(), took: Duration::ZERO, usage: None });
            }
            AgentEvent::RoundFinished { usage, .. } => {
                if let Some(round) = self.rounds.last_mut() {
                    round.usage = *usage;
                    round.took = round.started.elapsed();
                }
            }
            AgentEvent::ApprovalAsked(request) => self.asked = Some((request.id.clone(), Instant::now())),
            AgentEvent::CallRunning { id, .. } | AgentEvent::Outcome { id, .. } => {
                if let Some((_, since)) = self.asked.take_if(|(asked, _)| asked == id) {
                    self.waited += since.elapsed();
                }
            }
            _ => {}
        }
    }

    /// Returns a line for the turn, and one for each of several rounds; nothing where no
    /// request was sent. Its time is without that of questions.
    pub(super) fn text(&self, finished: &Finished) -> String {
        let calls = match finished.calls {
            0 => "no calls".to_owned(),
            n => counted(n as usize, "call"),
        };
        let rounds = counted(self.rounds.len(), "round");
        let head = format!("{rounds}, {calls}, {}", lasted(self.started.elapsed().saturating_sub(self.waited)));
        match self.rounds.as_slice() {
            [] => String::new(),
            [round] => {
                let [prompt, answer, reasoning] = round.tokens();
                let cost = format!("{head}; tokens: prompt {prompt}, answer {answer}");
                match reasoning.as_str() {
                    "-" | "0" => cost,
                    some => format!("{cost} ({some} of them reasoning)"),
                }
            }
            several => {
                let heads = ["round", "prompt", "answer", "reasoning", "time"];
                let heads = heads.map(str::to_owned);
                let rows = several.iter().enumerate().map(|(n, round)| {
                    let [prompt, answer, reasoning] = round.tokens();
                    [(n + 1).to_string(), prompt, answer, reasoning, lasted(round.took)]
                });
                // A narrow terminal has room for them.
                let rows = aligned(&[heads].into_iter().chain(rows).collect::<Vec<_>>(), 0, " ");
                format!("{head}; tokens per round:\n{}", rows.join("\n"))
            }
        }
    }
}

impl Round {
    /// Prompt, answer with its reasoning, reasoning; `≈` where we counted
    /// ourselves, `-` where nobody knows.
    fn tokens(&self) -> [String; 3] {
        let Some(usage) = self.usage else { return ["-", "-", "-"].map(str::to_owned) };
        let said = |tokens: u64, estimated: bool| format!("{}{tokens}", if estimated { "≈" } else { "" });
        [
            said(usage.prompt_tokens, usage.estimated),
            said(usage.completion_tokens, usage.estimated),
            usage.reasoning_tokens.map_or_else(|| "-".to_owned(), |n| said(n, usage.reasoning_estimated)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgraft::Conversation;
    use toolgraft::agent::StopReason;

    fn finished(calls: u32) -> Finished {
        let mut finished = Finished::new(StopReason::Answered, Conversation::new());
        (finished.rounds, finished.calls) = (1, calls);
        finished
    }

    fn round(summary: &mut Summary, usage: Option<Usage>) {
        summary.take(&AgentEvent::RoundStarted { round: 1, model: None });
        summary.take(&AgentEvent::RoundFinished { round: 1, finish: None, usage });
    }

    fn usage(prompt_tokens: u64, completion_tokens: u64, reasoning_tokens: Option<u64>) -> Usage {
        Usage::default()
            .with_prompt_tokens(prompt_tokens)
            .with_completion_tokens(completion_tokens)
            .with_reasoning_tokens(reasoning_tokens)
    }

    /// Returns the text with all times made the same.
    fn shown(summary: &Summary, calls: u32) -> String {
        let times = regex::Regex::new(r" *[\d.]+ m?s\b").unwrap();
        times.replace_all(&summary.text(&finished(calls)), " T").into_owned()
    }

    #[test]
    fn a_turn_without_a_request_cost_nothing() {
        assert_eq!(shown(&Summary::new(), 0), "");
    }

    #[test]
    fn one_round_is_one_line() {
        let mut summary = Summary::new();
        round(&mut summary, Some(usage(740, 52, Some(31))));
        let line = "1 round, no calls, T; tokens: prompt 740, answer 52 (31 of them reasoning)";
        assert_eq!(shown(&summary, 0), line);
    }

    #[test]
    fn several_rounds_are_a_table_that_says_what_is_an_estimate() {
        let mut summary = Summary::new();
        let estimate = usage(800, 9, Some(2)).with_estimated(true).with_reasoning_estimated(true);
        round(&mut summary, Some(usage(740, 52, None)));
        round(&mut summary, Some(estimate));
        round(&mut summary, None);
        let table = "3 rounds, 1 call, T; tokens per round:
round prompt answer reasoning time
    1    740     52         - T
    2   ≈800     ≈9        ≈2 T
    3      -      -         - T";
        assert_eq!(shown(&summary, 1), table);
    }

    #[test]
    fn times_are_short() {
        let times = [340, 2140, 185_000].map(|ms| lasted(Duration::from_millis(ms)));
        assert_eq!(times, ["340 ms", "2.1 s", "3 min 5 s"]);
    }
}
