//! Native calls beside text, in resumed turns, at the output limit.

use super::*;
use crate::message::NativeCall;
use crate::tools::ToolsMode;
use crate::wire::wire_name;

fn native(turn: &mut Turn, arguments: &str) {
    let call = NativeCall { id: None, name: "demo__weather".into(), arguments: arguments.into() };
    turn.handle(Input::Model(ModelEvent::Call(call))).unwrap();
}

#[test]
fn two_native_calls_that_are_alike_are_two_calls() {
    let mut turn = started(allowing());
    native(&mut turn, r#"{"city": "Paris"}"#);
    native(&mut turn, r#"{"city": "Paris"}"#);
    assert_eq!(calls(&ends(&mut turn)), ["call_1", "call_2"]);
}

#[test]
fn a_call_that_the_text_makes_too_stands_for_one_native_call() {
    let mut turn = started(allowing());
    says(&mut turn, &paris());
    native(&mut turn, r#"{"city": "Paris"}"#);
    native(&mut turn, r#"{"city": "Paris"}"#);
    assert_eq!(calls(&ends(&mut turn)).len(), 2);
}

#[test]
fn a_call_that_the_text_makes_too_is_known_once_its_arguments_are_coerced() {
    let mut turn = started(allowing());
    says(&mut turn, &call("weather", &json!({"city": 7})));
    native(&mut turn, r#"{"city": 7}"#);
    assert_eq!(calls(&ends(&mut turn)), ["call_1"]);
}

#[test]
fn a_draft_in_the_reasoning_does_not_swallow_the_native_call() {
    let mut turn = started(TurnConfig { reasons: Some(true), ..allowing() });
    says(&mut turn, &format!("I could do\n{}\nor not.</think>\n", paris()));
    native(&mut turn, r#"{"city": "Paris"}"#);
    // The draft was told as a call before the tag came, so its id is no other's.
    assert_eq!(calls(&ends(&mut turn)), ["call_2"]);
}

#[test]
fn a_native_call_at_the_output_limit_runs_only_if_it_is_complete() {
    let optional = || {
        let tool = Tool::new("weather").with_server("demo");
        let validator = Arc::new(Validator::new(Arc::new(Catalog::from_tools([tool]))));
        let setup = Arc::new(Setup::new(allowing(), validator, Arc::new(Plain)));
        let mut turn = Turn::new(setup, "Weather?".into(), Granted::new()).unwrap();
        actions(&mut turn);
        turn
    };
    for (arguments, runs) in
        [("", 0), (" ", 0), (r#"{"city": "Pa"#, 0), (r#"{"city": "Paris""#, 0), ("{", 0), ("{}", 1)]
    {
        let mut turn = optional();
        native(&mut turn, arguments);
        turn.handle(Input::Model(ModelEvent::Finish(FinishReason::Length))).unwrap();
        assert_eq!(calls(&actions(&mut turn)).len(), runs, "{arguments:?}");
    }
}

#[test]
fn undecided_text_counts_as_the_beginning_of_an_answer() {
    let mut turn = started(allowing());
    assert!(!turn.read.has_begun());
    says(&mut turn, "<");
    assert!(turn.read.has_begun());
}

#[test]
fn a_required_call_that_was_made_is_not_due_again_in_the_resumed_turn() {
    let config = || TurnConfig { tool_choice: ToolChoice::Required, ..allowing() };
    let mut turn = started(config());
    says(&mut turn, &paris());
    ends(&mut turn);
    turn.handle(Input::Suspend).unwrap();
    let outcome = Outcome::new(Status::Result, "sunny");
    turn.handle(Input::Outcome { id: "call_1".into(), outcome }).unwrap();
    let ended = actions(&mut turn);
    let Some(Action::Finish(finished)) = ended.last() else { panic!("{ended:?}") };
    let mut turn = Turn::new(setup(config()), finished.conversation.clone(), Granted::new()).unwrap();
    let sent = actions(&mut turn);
    let Action::Send(request) = &sent[0] else { panic!("{sent:?}") };
    assert_eq!(request.messages[0].content, "tools: auto");
    says(&mut turn, "Sunny.");
    let Some(Action::Finish(finished)) = ends(&mut turn).pop() else { panic!() };
    assert_eq!(finished.reason, StopReason::Answered);
}

/// Returns a turn with the tools of a home: the request offers `home__control_light`, and the light of a server whose
/// name has other characters by a name that ends in a hash.
fn at_home(mode: ToolsMode) -> Turn {
    let schema = json!({"type": "object", "properties": {"room": {"type": "string"}, "on": {"type": "boolean"}},
                        "required": ["room", "on"]});
    let light = |server: &str, name: &str| Tool::new(name).with_server(server).with_schema(schema.clone());
    let tools = [light("home", "control_light"), light("花园", "lamp"), Tool::new("time").with_server("home")];
    let validator = Arc::new(Validator::new(Arc::new(Catalog::from_tools(tools))));
    let setup = Arc::new(Setup::new(TurnConfig { tools_mode: mode, ..allowing() }, validator, Arc::new(Plain)));
    let mut turn = Turn::new(setup, "Light on in the kitchen".into(), Granted::new()).unwrap();
    actions(&mut turn);
    turn
}

#[test]
fn a_message_that_is_nothing_but_a_call_by_the_name_in_the_request_is_a_call() {
    let arguments = r#"{"room": "kitchen", "on": true}"#;
    let hashed = wire_name(Some("花园"), "lamp");
    for name in ["home__control_light", &hashed, "control_light", "home.control_light"] {
        for body in [
            format!(r#"{{"name": "{name}", "arguments": {arguments}}}"#),
            format!("{{\n  \"name\": \"{name}\",\n  \"arguments\": {arguments}\n}}"),
            format!(r#"{{"name": "{name}", "parameters": {arguments}}}"#),
            format!(r#"{{"arguments": {arguments}, "name": "{name}"}}"#),
            format!(r#"{{"type": "function", "function": {{"name": "{name}", "arguments": {arguments}}}}}"#),
            format!(r#"[{{"name": "{name}", "arguments": {arguments}}}]"#),
            format!(r#"{{"tool_calls": [{{"name": "{name}", "arguments": {arguments}}}]}}"#),
            format!(r#"{{"tool_name": "{name}", "parameters": {arguments}}}"#),
            format!(r#"{{"{name}": {arguments}}}"#),
            format!(r#"{name}(room="kitchen", on=True)"#),
            format!("{name}\n{arguments}"),
        ] {
            let fenced = [format!("```json\n{body}\n```"), format!("```\n{body}\n```\n"), format!("```json\n{body}\n")];
            for said in fenced.into_iter().chain([format!("\n{body}\n\n"), body]) {
                for mode in [ToolsMode::Native, ToolsMode::Prompt] {
                    let mut turn = at_home(mode);
                    says(&mut turn, &said);
                    assert_eq!(calls(&ends(&mut turn)), ["call_1"], "{mode:?} {said:?}");
                }
            }
        }
    }
}

#[test]
fn a_message_that_is_nothing_but_a_call_is_corrected_where_its_arguments_are_wrong() {
    for said in [
        r#"{"name": "home__control_light", "arguments": {"room": "kitchen"}}"#,
        "```json\n{\"name\": \"home__control_light\", \"arguments\": {\"room\": \"kitchen\"}}\n```",
        r#"{"name": "home__control_light", "arguments": {"room": "kitchen", "on": true}"#,
    ] {
        let mut turn = at_home(ToolsMode::Native);
        says(&mut turn, said);
        let done = ends(&mut turn);
        let goes_on = !calls(&done).is_empty() || done.iter().any(|action| matches!(action, Action::Send(_)));
        assert!(goes_on, "{said:?}: {done:#?}");
    }
}
