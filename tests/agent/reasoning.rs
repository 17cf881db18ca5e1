//! Answers of reasoning models from recordings of other projects, each in a whole loop: the
//! reasoning and a call, its result, and the recorded answer.

use serde_json::Value;
use toolgraft::agent::{Finished, StopReason};
use toolgraft::dialect::write_call;
use toolgraft::message::{Delta, DeltaKind, FinishReason};
use toolgraft::tools::Decision;
use toolgraft::transcript::Finish;
use toolgraft::transcript::{Recorded, Round};
use toolgraft::turn::TurnConfig;
use toolgraft::{Agent, Dialect, Functions, Outcome, Policy, Tool};

/// A recorded answer.
struct Answer {
    name: String,
    deltas: Vec<Delta>,
    /// The reasoning; and below, the answer.
    reasoning: String,
    text: String,
}

fn delta(kind: DeltaKind, text: &str) -> Delta {
    Delta::new(kind, text)
}

fn recorded() -> Vec<Answer> {
    let text = include_str!("../../fixtures/reasoning.jsonl");
    let answers = text.lines().map(|line| {
        let line: Value = serde_json::from_str(line).expect("each line is JSON");
        let pieces = line["pieces"].as_array().expect("pieces").iter().map(|piece| {
            let kind = if piece[0] == "r" { DeltaKind::Reasoning } else { DeltaKind::Content };
            delta(kind, piece[1].as_str().expect("text"))
        });
        let deltas: Vec<Delta> = pieces.collect();
        let of = |kind| deltas.iter().filter(|delta| delta.kind == kind).map(|delta| &*delta.text).collect::<String>();
        let (mut reasoning, mut text) = (of(DeltaKind::Reasoning), of(DeltaKind::Content));
        if let Some(thought) = text.trim_start().strip_prefix("<think>").map(str::to_owned) {
            let (thought, said) = thought.split_once("</think>").unwrap_or((&thought, ""));
            (reasoning, text) = (thought.to_owned(), said.to_owned());
        }
        Answer {
            name: format!("{} ({})", line["name"], line["model"]),
            deltas,
            reasoning,
            text: text.trim().to_owned(),
        }
    });
    answers.collect()
}

impl Answer {
    /// Returns a round with the same reasoning, and this text.
    fn with(&self, text: &str) -> Round {
        let in_text = self.deltas.iter().all(|delta| delta.kind == DeltaKind::Content);
        let thought = match in_text {
            true => vec![delta(DeltaKind::Content, &format!("<think>{}</think>\n\n", self.reasoning))],
            false => self.deltas.iter().filter(|delta| delta.kind == DeltaKind::Reasoning).cloned().collect(),
        };
        Round::new(thought.into_iter().chain([delta(DeltaKind::Content, text)]))
    }

    fn round(&self) -> Round {
        let is_cut_off = self.name.contains("max_completion_tokens");
        let round = Round::new(self.deltas.clone());
        if is_cut_off { round.with_finish(Finish::new(FinishReason::Length)) } else { round }
    }
}

async fn run(rounds: Vec<Round>) -> Finished {
    let schema =
        serde_json::json!({"type": "object", "properties": {"topic": {"type": "string"}}, "required": ["topic"]});
    let tool = Tool::new("look_up").with_schema(schema);
    let answer = |_| async { Ok::<_, std::convert::Infallible>(Outcome::result("it is known")) };
    let mut config = TurnConfig::default();
    config.max_rounds = 6;
    let agent = Agent::builder(Recorded::new(rounds), Functions::unnamed().with(tool, answer))
        .config(config)
        .policy(Policy::new(Decision::Allow))
        .build();
    agent.run("Tell me of it.").expect("the prompt can be made").finish().await
}

#[tokio::test]
async fn recorded_reasoning_is_no_answer_and_a_call_after_it_runs() {
    let answers = recorded();
    assert!(answers.len() >= 20 && answers.iter().filter(|answer| answer.name.contains("DeepSeek-R1")).count() >= 7);
    for answer in answers {
        assert!(!answer.reasoning.trim().is_empty(), "{}", answer.name);
        let arguments = serde_json::json!({"topic": "it"});
        let call = write_call(Dialect::UseMcpTool, None, "look_up", arguments.as_object().expect("an object"));
        if answer.text.is_empty() {
            // Without text the turn still ends, and the reasoning is no answer.
            let finished = run(vec![answer.round(), Round::text("Done.")]).await;
            assert!(matches!(finished.answer.as_str(), "" | "Done."), "{}: {}", answer.name, finished.answer);
            continue;
        }
        let alone = run(vec![answer.round()]).await;
        assert_eq!((alone.answer.trim(), alone.calls), (answer.text.as_str(), 0), "{}", answer.name);
        let finished = run(vec![answer.with(&call), answer.round()]).await;
        assert_eq!(finished.reason, StopReason::Answered, "{}", answer.name);
        assert_eq!(
            (finished.answer.trim(), finished.calls, finished.rounds),
            (answer.text.as_str(), 1, 2),
            "{}",
            answer.name
        );
        let said: Vec<String> =
            finished.conversation.messages().map(|message| message.reasoning.trim().to_owned()).collect();
        assert_eq!(said, [answer.reasoning.trim(), answer.reasoning.trim()], "{}", answer.name);
    }
}
