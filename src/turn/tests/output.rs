//! Answers that have to match a schema.

use super::*;
use crate::event::Repair;
use crate::turn::read::find;
use crate::validate::OutputSchema;

fn schema() -> Arc<OutputSchema> {
    let schema = json!({"type": "object", "properties": {"days": {"type": "integer"}}, "required": ["days"]});
    Arc::new(OutputSchema::new(schema).unwrap())
}

fn started(config: TurnConfig) -> Turn {
    started_with(config, schema())
}

fn started_with(config: TurnConfig, schema: Arc<OutputSchema>) -> Turn {
    let mut turn = Turn::begin(setup(config), "Weather?".into(), Some(schema), TurnStart::default()).unwrap();
    actions(&mut turn);
    turn
}

/// Returns the last message to the model in these actions.
fn told(actions: &[Action]) -> &str {
    let sent = actions.iter().find_map(|a| match a {
        Action::Send(request) => request.messages.last(),
        _ => None,
    });
    &sent.unwrap_or_else(|| panic!("{actions:?}")).content
}

fn finished(actions: &[Action]) -> &Finished {
    let Some(Action::Finish(finished)) = actions.last() else { panic!("{actions:?}") };
    finished
}

#[test]
fn the_first_value_that_the_schema_accepts_is_taken_and_fenced_ones_go_first() {
    let repairs = |words: &[&str]| words.iter().map(|w| Repair::from(*w)).collect::<Vec<_>>();
    for (answer, days, expected) in [
        (r#"{"days": 1}"#, 1, repairs(&[])),
        ("Sure!\n{\"days\": 1}", 1, repairs(&["prose"])),
        ("```json\n{\"days\": 1}\n```", 1, repairs(&["fence"])),
        ("Sure:\n```json\n{\"days\": 1,}\n```\nBye.", 1, repairs(&["fence", "prose", "syntax"])),
        (r#"{"days": "2"}"#, 2, repairs(&["coerced:/days"])),
        ("[0] {\"n\": 1} {\"days\": 3} {\"days\": 4}", 3, repairs(&["prose"])),
        ("{\"days\": 3}\n```\n{\"days\": 5}\n```", 5, repairs(&["fence", "prose"])),
        ("```\n{\"n\": 5}\n```\n{\"days\": 3}", 3, repairs(&["prose"])),
    ] {
        assert_eq!(find(&schema(), answer), Ok((json!({"days": days}), expected)), "{answer}");
    }
}

#[test]
fn what_is_wrong_is_said_of_what_was_meant() {
    for (answer, problem) in [
        ("Three days.", "there is no JSON value in the answer"),
        (r#"[] {"days": "three"}"#, "/days: expected integer, found string \"three\""),
        (r#"{"days": 3"#, "the JSON is not complete: the text ends before the value is closed"),
        (
            "{} and {\"days\": 3 n}",
            "the JSON cannot be read: neither a comma nor the closing bracket follows the value, at line 1 column 12",
        ),
    ] {
        assert_eq!(find(&schema(), answer).unwrap_err(), problem, "{answer}");
    }
}

#[test]
fn an_answer_that_matches_ends_the_turn_with_its_value() {
    let mut turn = started(allowing());
    let streamed = says(&mut turn, "Here: {\"days\": 2}");
    assert!(streamed.iter().any(|a| matches!(a, Action::Emit(AgentEvent::Text { .. }))), "the text streams");
    let end = ends(&mut turn);
    let event = AgentEvent::Output { value: json!({"days": 2}), repairs: vec![Repair::Prose] };
    assert!(end.contains(&Action::Emit(event)));
    let finished = finished(&end);
    assert_eq!((&finished.reason, &finished.output), (&StopReason::Answered, &Some(json!({"days": 2}))));
    assert_eq!((finished.answer.as_str(), &finished.repairs[..]), ("Here: {\"days\": 2}", &[Repair::Prose][..]));
    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Plan {
        days: u8,
    }
    assert_eq!(finished.output_as::<Plan>().unwrap(), Plan { days: 2 });
    assert!(finished.output_as::<Vec<u8>>().unwrap_err().to_string().contains("do not fit the program's type"));
    let stored = serde_json::to_string(finished).unwrap();
    assert_eq!(&serde_json::from_str::<Finished>(&stored).unwrap(), finished);
}

#[test]
fn one_that_does_not_is_corrected_and_then_given_up() {
    let mut turn = started(allowing());
    says(&mut turn, "{\"days\": \"x\"}");
    assert_eq!(told(&ends(&mut turn)), r#"OutputMismatch("/days: expected integer, found string \"x\"")"#);
    says(&mut turn, "Soon.");
    assert_eq!(told(&ends(&mut turn)), r#"OutputMismatch("there is no JSON value in the answer")"#);
    says(&mut turn, "Never.");
    let end = ends(&mut turn);
    let mismatch =
        StopReason::OutputMismatch { corrections: 2, message: "there is no JSON value in the answer".into() };
    assert_eq!((&finished(&end).reason, finished(&end).answer.as_str()), (&mismatch, "Never."));
    assert!(finished(&end).output_as::<Value>().unwrap_err().to_string().contains("there is no JSON value"));

    let mut turn = started(TurnConfig { max_corrections: 0, ..allowing() });
    says(&mut turn, "Soon.");
    assert!(matches!(finished(&ends(&mut turn)).reason, StopReason::OutputMismatch { corrections: 0, .. }));
}

#[test]
fn a_line_without_json_is_the_only_text_of_the_schema_the_second_time() {
    let title = |more: Value| {
        let mut schema = json!({"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]});
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        Arc::new(OutputSchema::new(schema).unwrap())
    };
    for second in ["Fix the login", "\"Fix the login\"\n"] {
        let mut turn = started_with(allowing(), title(json!({})));
        says(&mut turn, "Login fixed");
        assert_eq!(told(&ends(&mut turn)), r#"OutputMismatch("there is no JSON value in the answer")"#);
        says(&mut turn, second);
        let end = ends(&mut turn);
        let (output, repairs) = (&finished(&end).output, &finished(&end).repairs);
        assert_eq!(output, &Some(json!({"title": "Fix the login"})));
        assert_eq!(repairs, &[Repair::from("positional:title")]);
    }
    let number = json!({"properties": {"title": {"type": "integer"}}});
    let two = json!({"properties": {"title": {"type": "string"}, "text": {"type": "string"}}});
    let short = json!({"properties": {"title": {"type": "string", "maxLength": 3}}});
    for (schema, second) in [
        (json!({}), "Fix it.\nThen rest."),
        (json!({}), "{\"name\": \"Fix it\"}"),
        (json!({}), "{\"title\": \"Fix it"),
        (number, "3"),
        (two, "Fix it"),
        (short, "Fix it"),
    ] {
        let mut turn = started_with(allowing(), title(schema.clone()));
        says(&mut turn, "Login fixed");
        ends(&mut turn);
        says(&mut turn, second);
        assert!(told(&ends(&mut turn)).starts_with("OutputMismatch("), "{schema} {second}");
    }
}

#[test]
fn tools_come_first_and_the_form_is_recalled_after_their_results() {
    let mut turn = started(allowing());
    says(&mut turn, &paris());
    assert_eq!(calls(&ends(&mut turn)), ["call_1"]);
    turn.handle(Input::Outcome { id: "call_1".into(), outcome: Outcome::result("{\"days\": 9}") }).unwrap();
    assert_eq!(told(&actions(&mut turn)), "call_1 Result: {\"days\": 9}\n\n<tool_status>OutputDue</tool_status>");
    says(&mut turn, "{\"days\": 3}");
    assert_eq!(finished(&ends(&mut turn)).output, Some(json!({"days": 3})));
}

#[test]
fn the_output_limit_is_named_and_a_complete_value_counts_all_the_same() {
    let ends = |turn: &mut Turn| {
        turn.handle(Input::Model(ModelEvent::Finish(FinishReason::Length))).unwrap();
        actions(turn)
    };
    let mut turn = started(allowing());
    says(&mut turn, "{\"days\": 3");
    assert!(told(&ends(&mut turn)).contains("the output limit was hit; the JSON is not complete"));
    says(&mut turn, "{\"days\": 3} and");
    assert_eq!(finished(&ends(&mut turn)).reason, StopReason::Answered);
    let mut turn = started(TurnConfig { max_corrections: 0, ..allowing() });
    says(&mut turn, "{\"days\": 3");
    assert_eq!(finished(&ends(&mut turn)).reason, StopReason::OutputLimit);
}

#[test]
fn the_system_text_ends_with_the_form_of_the_answer() {
    let mut turn = Turn::begin(setup(allowing()), "Weather?".into(), Some(schema()), TurnStart::default()).unwrap();
    let actions = actions(&mut turn);
    let Some(Action::Send(request)) = actions.first() else { panic!("{actions:?}") };
    let system = &request.messages[0].content;
    assert!(system.starts_with("tools: auto\n\nYour final answer") && system.contains("\"days\""), "{system}");
}
