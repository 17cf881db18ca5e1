//! A message that is the arguments of the one tool that must be called.

use super::*;

fn due(tools: Vec<Tool>, choice: ToolChoice) -> Turn {
    let validator = Arc::new(Validator::new(Arc::new(Catalog::new([Server::new("demo").with_tools(tools)]))));
    let config = TurnConfig { tool_choice: choice, ..allowing() };
    let setup = Arc::new(Setup::new(config, validator, Arc::new(Plain)));
    let mut turn = Turn::new(setup, "Weather?".into(), Granted::new()).unwrap();
    actions(&mut turn);
    turn
}

fn weather() -> Tool {
    let properties = json!({"city": {"type": "string"}, "name": {"type": "string"}});
    Tool::new("weather").with_schema(json!({"type": "object", "properties": properties, "required": ["city"]}))
}

fn named() -> ToolChoice {
    ToolChoice::Named("weather".into())
}

/// Returns the result of a message in such pieces: the arguments of its calls, and its text.
fn said(mut turn: Turn, pieces: &[&str]) -> (Vec<Value>, String) {
    let mut all: Vec<Action> = pieces.iter().flat_map(|piece| says(&mut turn, piece)).collect();
    all.extend(ends(&mut turn));
    let (mut calls, mut told) = (Vec::new(), String::new());
    for action in all {
        match action {
            Action::Call(call) => calls.push(Value::Object(call.arguments)),
            Action::Emit(AgentEvent::Text { text }) => told.push_str(&text),
            _ => {}
        }
    }
    (calls, told)
}

#[test]
fn one_object_that_the_tools_schema_takes_is_its_call_and_no_text() {
    let oslo = json!({"city": "Oslo"});
    for text in
        ["{\"city\": \"Oslo\"}", "\n```json\n{\"city\": \"Oslo\"}\n```\n", "<think>Hm.</think>\n{\"city\":\"Oslo\"}"]
    {
        for choice in [named(), ToolChoice::Required] {
            assert_eq!(
                said(due(vec![weather()], choice.clone()), &[text]),
                (vec![oslo.clone()], String::new()),
                "{text}"
            );
            let letters: Vec<String> = text.chars().map(String::from).collect();
            let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
            assert_eq!(said(due(vec![weather()], choice), &letters), (vec![oslo.clone()], String::new()), "{text}");
        }
    }
    let both = json!({"city": "Oslo", "name": "Bob"});
    assert_eq!(said(due(vec![weather()], named()), &[&both.to_string()]), (vec![both], String::new()));
}

#[test]
fn any_other_message_is_text_and_corrected() {
    for text in [
        "{\"town\": \"Oslo\"}",
        "{\"city\": 5, \"x\": [}",
        "{\"city\": {\"a\": 1}}",
        "The city: {\"city\": \"Oslo\"}",
        "{\"city\": \"Oslo\"} is it.",
        "[{\"city\": \"Oslo\"}]",
        "`city`",
    ] {
        assert_eq!(said(due(vec![weather()], named()), &[text]), (vec![], text.to_owned()), "{text}");
    }
    let text = "{\"city\": \"Oslo\"}";
    let two = || vec![weather(), Tool::new("time")];
    assert_eq!(said(due(two(), named()), &[text]).0.len(), 1);
    assert_eq!(said(due(two(), ToolChoice::Required), &[text]), (vec![], text.to_owned()));
    assert_eq!(said(due(vec![weather()], ToolChoice::Auto), &[text]), (vec![], text.to_owned()));
    // A schema that takes anything takes no object of other keys.
    let open = Tool::new("weather").with_schema(json!({"type": "object", "properties": {"city": {}}}));
    assert_eq!(said(due(vec![open.clone()], named()), &["{\"tool_input\": 1}"]).0.len(), 0);
    assert_eq!(said(due(vec![open], named()), &["{}"]).0.len(), 1);
}

#[test]
fn the_history_has_the_call_as_it_is_taught_and_the_choice_is_met() {
    let mut turn = due(vec![weather()], named());
    says(&mut turn, "{\"city\": \"Oslo\"}");
    ends(&mut turn);
    let written = turn.written().unwrap();
    assert!(written.contains("<tool_name>weather</tool_name>") && written.contains("Oslo"), "{written}");
    turn.handle(Input::Outcome { id: "call_1".into(), outcome: Outcome::result("sunny") }).unwrap();
    actions(&mut turn);
    let text = "{\"city\": \"Oslo\"}";
    assert!(says(&mut turn, text).contains(&Action::Emit(AgentEvent::Text { text: text.into() })));
}
