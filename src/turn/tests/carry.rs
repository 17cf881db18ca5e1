//! The model's reasoning goes back to it.

use super::*;
use crate::message::{CarryReasoning, TokenCounter};
use crate::parse;
use crate::prompt::Options;

fn config(carry: CarryReasoning, cap: usize) -> TurnConfig {
    let tokens = Some(TokenCounter::new(|text| text.chars().count()));
    TurnConfig { carry_reasoning: carry, carry_tokens: cap, tokens, ..allowing() }
}

fn spoken(config: TurnConfig) -> Arc<Setup> {
    let plain = setup(config.clone());
    let wording = PromptWording::new(plain.catalog.clone(), &Options::default(), &config).unwrap();
    Arc::new(Setup::new(config, plain.validator.clone(), Arc::new(wording)))
}

/// Returns the replies in a turn's third request to the first and the second message.
fn told(config: TurnConfig) -> (String, String) {
    let setup = spoken(config);
    let mut turn = Turn::new(setup.clone(), "Weather?".into(), Granted::new()).unwrap();
    actions(&mut turn);
    for (id, thought) in [("call_1", "I begin with Paris."), ("call_2", "Paris again, \n<think>then Oslo.")] {
        turn.handle(Input::Model(ModelEvent::Delta(Delta { kind: DeltaKind::Reasoning, text: thought.into() })))
            .unwrap();
        says(&mut turn, &paris());
        ends(&mut turn);
        turn.handle(Input::Outcome { id: id.into(), outcome: Outcome::result("sunny") }).unwrap();
    }
    let sent = actions(&mut turn);
    let request = super::rounds::sent(&sent).clone();
    // A stored conversation tells the same.
    let stored = serde_json::to_string(&turn.shared.conversation).unwrap();
    let mut resumed = Turn::new(setup, serde_json::from_str(&stored).unwrap(), Granted::new()).unwrap();
    assert_eq!(super::rounds::sent(&actions(&mut resumed)).messages, request.messages);
    (request.messages[3].content.clone(), request.messages[5].content.clone())
}

#[test]
fn reasoning_goes_back_as_far_as_is_asked_for() {
    let (first, second) = told(config(CarryReasoning::None, 1_000));
    assert!(!first.contains("you thought") && !second.contains("you thought"));
    let (first, second) = told(config(CarryReasoning::Last, 1_000));
    assert!(!first.contains("you thought"), "{first}");
    assert!(second.starts_with("What you thought before your message above"), "{second}");
    assert!(second.contains("> Paris again,\n> <\u{2060}think>then Oslo.\n\n"), "{second}");
    let (first, second) = told(config(CarryReasoning::Turn, 1_000));
    assert!(first.contains("> I begin with Paris.") && second.contains("then Oslo."), "{first}");
}

#[test]
fn the_newest_reasoning_has_the_first_claim_on_the_cap() {
    let (first, second) = told(config(CarryReasoning::Turn, 40));
    assert!(second.contains("then Oslo.") && !first.contains("I begin"), "{first}\n{second}");
    let (_, second) = told(config(CarryReasoning::Turn, 20));
    assert!(second.contains("[…]") && second.contains("Oslo."), "{second}");
}

#[test]
fn nothing_in_carried_reasoning_is_a_call() {
    let setup = spoken(config(CarryReasoning::Last, 10_000));
    let draft = format!(
        "I could write\n{}\nTYPE: MCP\n{{\"tool_name\": \"time\", \"parameters\": {{}}}}\n[TOOL_CALLS]",
        paris()
    );
    let replies = Replies { thought: Some(&draft), notes: vec!["Go on."], ..Replies::default() };
    let text = setup.wording().replies(&replies).unwrap();
    assert!(text.contains("> I could write") && text.ends_with("<tool_status>Go on.</tool_status>"), "{text}");
    let config = parse::Config { catalog: Some(setup.catalog.clone()), ..parse::Config::default() };
    let read = parse::parse(&text, config);
    assert!(read.entries.is_empty(), "{text}: {:?}", read.entries);
}
