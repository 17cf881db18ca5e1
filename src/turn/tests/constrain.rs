//! Constraints on a round's answer.

use super::*;
use crate::constrain::{Constrain, Constrained, Constraint};
use crate::validate::OutputSchema;

fn schema() -> Arc<OutputSchema> {
    Arc::new(OutputSchema::new(json!({"type": "object", "required": ["days"]})).unwrap())
}

fn begun(config: TurnConfig, output: bool) -> (Turn, Vec<Action>) {
    let output = output.then(schema);
    let mut turn = Turn::begin(setup(config), "Weather?".into(), output, TurnStart::default()).unwrap();
    let actions = actions(&mut turn);
    (turn, actions)
}

/// Returns the constraint of the request among these actions.
fn held(actions: &[Action]) -> Option<Arc<Constraint>> {
    let request = actions.iter().find_map(|action| match action {
        Action::Send(request) => Some(request),
        _ => None,
    });
    request.unwrap_or_else(|| panic!("{actions:?}")).constraint.clone()
}

fn kind(actions: &[Action]) -> Option<Constrained> {
    held(actions).map(|constraint| constraint.of)
}

fn ends(turn: &mut Turn, text: &str) -> Vec<Action> {
    says(turn, text);
    turn.handle(Input::Model(ModelEvent::Finish(FinishReason::Stop))).unwrap();
    actions(turn)
}

fn choosing(tool_choice: ToolChoice) -> TurnConfig {
    TurnConfig { tool_choice, ..allowing() }
}

#[test]
fn a_required_or_named_tool_is_due_until_it_was_called() {
    let (mut turn, actions) = begun(choosing(ToolChoice::Required), true);
    assert_eq!(kind(&actions), Some(Constrained::Calls));
    let grammar = held(&actions).unwrap().grammar.clone().unwrap();
    assert!(grammar.contains("weather") && grammar.contains("<tool_name>time"), "{grammar}");
    // A message without the call is asked for it again, in the same form.
    assert_eq!(kind(&ends(&mut turn, "Sunny.")), Some(Constrained::Calls));

    let (_, actions) = begun(choosing(ToolChoice::Named("time".into())), false);
    let grammar = held(&actions).unwrap().grammar.clone().unwrap();
    assert!(!grammar.contains("weather") && grammar.contains("<tool_name>time"), "{grammar}");
}

#[test]
fn the_model_decides_where_nothing_is_due() {
    let (mut turn, actions) = begun(allowing(), true);
    let free = held(&actions).unwrap();
    assert_eq!((free.of, &free.grammar, &free.schema), (Constrained::BegunCalls, &None, &None));
    // The results of calls may be followed by others.
    ends(&mut turn, &call("time", &json!({"city": "Oslo"})));
    turn.handle(Input::Outcome { id: "call_1".into(), outcome: Outcome::result("noon") }).unwrap();
    assert_eq!(kind(&super::actions(&mut turn)), Some(Constrained::BegunCalls));
}

#[test]
fn the_round_that_corrects_a_call_is_held_to_calls_and_no_other() {
    let wrong = call("time", &json!({"town": 1}));
    for (text, held) in [
        (wrong.clone(), Some(Constrained::Calls)),
        (call("tame", &json!({})), Some(Constrained::Calls)),
        ("<use_mcp_tool><tool_name>time</tool_name><arguments>{\"city\": ".to_owned(), Some(Constrained::Calls)),
        // It may only have explained the syntax.
        (format!("```\n{wrong}\n```\nis how."), Some(Constrained::BegunCalls)),
    ] {
        let (mut turn, _) = begun(allowing(), false);
        let next = ends(&mut turn, &text);
        if next.iter().any(|action| matches!(action, Action::Send(_))) {
            assert_eq!(kind(&next), held, "{text}");
        } else {
            assert_eq!(held, Some(Constrained::BegunCalls), "{text}: {next:?}");
        }
    }
}

#[test]
fn an_answer_after_a_schema_is_due_where_no_call_may_be_made_and_where_it_is_corrected() {
    let (mut turn, _) = begun(allowing(), true);
    let actions = ends(&mut turn, "Three days.");
    let mending = held(&actions).unwrap();
    assert_eq!((mending.of, &mending.schema), (Constrained::Answer, &Some(schema().schema().clone())));
    assert_eq!(kind(&begun(choosing(ToolChoice::None), true).1), Some(Constrained::Answer));
    assert_eq!(kind(&begun(TurnConfig { max_rounds: 1, ..allowing() }, true).1), Some(Constrained::Answer));
    assert_eq!(kind(&begun(choosing(ToolChoice::None), false).1), None);
}

#[test]
fn off_is_never_and_required_is_said() {
    for tool_choice in [ToolChoice::Auto, ToolChoice::Required, ToolChoice::None] {
        let off = TurnConfig { constrain: Constrain::Off, ..choosing(tool_choice) };
        assert_eq!(held(&begun(off, true).1), None);
    }
    let require = |choice| TurnConfig { constrain: Constrain::Require, ..choosing(choice) };
    assert!(held(&begun(require(ToolChoice::Required), false).1).unwrap().required);
    // Nothing is due there: the model may answer in prose.
    assert!(!held(&begun(require(ToolChoice::Auto), false).1).unwrap().required);
}

#[test]
fn a_call_that_was_written_in_json_stands_in_the_history_as_it_is_taught() {
    let (mut turn, _) = begun(choosing(ToolChoice::Required), false);
    ends(&mut turn, r#"{"name": "time", "arguments": {"city": "Oslo"}}"#);
    turn.handle(Input::Outcome { id: "call_1".into(), outcome: Outcome::result("noon") }).unwrap();
    let actions = super::actions(&mut turn);
    let Some(Action::Send(request)) = actions.iter().find(|action| matches!(action, Action::Send(_))) else {
        panic!("{actions:?}")
    };
    let said = &request.messages[request.messages.len() - 2].content;
    let taught = "<use_mcp_tool>\n<server_name>demo</server_name>\n<tool_name>time</tool_name>\n<arguments>\n\
                  {\"city\": \"Oslo\"}\n</arguments>\n</use_mcp_tool>";
    assert_eq!(said, taught);
}

#[test]
fn a_refusal_is_told_and_the_message_goes_on() {
    let (mut turn, _) = begun(choosing(ToolChoice::Required), false);
    turn.handle(Input::Model(ModelEvent::ConstraintRefused("no grammar".into()))).unwrap();
    let told = actions(&mut turn);
    assert!(
        matches!(&told[..], [Action::Emit(AgentEvent::Notice { notice: CallerWarning::ConstraintRefused { message } })] if message == "no grammar")
    );
    let next = ends(&mut turn, &call("time", &json!({"city": "Oslo"})));
    assert!(next.iter().any(|action| matches!(action, Action::Call(_))), "{next:?}");
}
