//! The decision whether a message must be a call, by its probabilities or by a choice.

use super::*;
use crate::constrain::{Constrain, Constrained, Way};
use crate::model::{Request, TokenChoice};
use crate::tools::ToolsMode;

fn measured() -> TurnConfig {
    // The question of these tests lowers it by 0.5.
    TurnConfig { way: Way::Measured, call_threshold: Some(-1.5), ..allowing() }
}

/// Returns a token with its alternatives; probabilities are in percent.
fn token(text: &str, percent: f64, others: &[(&str, f64)]) -> TokenChoice {
    let ln = |percent: f64| (percent / 100.0).ln();
    let token = TokenChoice::new(text, ln(percent)).or(text, ln(percent));
    others.iter().fold(token, |token, (text, percent)| token.or(*text, ln(*percent)))
}

fn begins(turn: &mut Turn, tokens: &[TokenChoice]) -> Vec<Action> {
    turn.handle(Input::Model(ModelEvent::Tokens(tokens.to_vec()))).unwrap();
    actions(turn)
}

/// Returns the request that replaces the streaming one, if these actions send one.
fn instead(actions: &[Action]) -> Option<&Request> {
    match actions {
        [Action::Emit(AgentEvent::Decided { call: true, .. }), Action::CancelStream, Action::Send(request)]
        | [Action::CancelStream, Action::Send(request)] => Some(request),
        _ => None,
    }
}

fn requests(actions: &[Action]) -> Vec<&Request> {
    let mut sent = Vec::new();
    for action in actions {
        if let Action::Send(request) = action {
            sent.push(request);
        }
    }
    sent
}

fn notices(actions: &[Action]) -> Vec<&CallerWarning> {
    let mut told = Vec::new();
    for action in actions {
        if let Action::Emit(AgentEvent::Notice { notice }) = action {
            told.push(notice);
        }
    }
    told
}

fn held(request: &Request) -> Option<Constrained> {
    request.constraint.as_ref().map(|constraint| constraint.of)
}

fn first_request(config: TurnConfig) -> (Turn, Request) {
    request_for("Weather?", config)
}

/// Returns a turn whose request is constrained to calls, since the question names an id: the threshold is 4.5 lower.
fn held_request() -> (Turn, Request) {
    request_for(HELD, measured())
}

const HELD: &str = "Weather at W-1?";

fn request_for(question: &str, config: TurnConfig) -> (Turn, Request) {
    let mut turn = Turn::new(setup(config), question.into(), Granted::new()).unwrap();
    let Some(Action::Send(request)) = turn.action() else { panic!() };
    actions(&mut turn);
    (turn, request)
}

#[test]
fn where_the_request_names_nothing_the_first_stream_is_the_call_or_the_answer() {
    let (mut turn, request) = first_request(measured());
    let form = request.constraint.as_deref().unwrap();
    assert!(request.alternatives && form.of == Constrained::BegunCalls);
    let grammar = form.grammar.as_ref().unwrap();
    assert!(grammar.contains(" | [^<") && form.schema.is_none() && form.tags.is_none(), "{form:?}");
    assert!(!held_request().1.constraint.unwrap().grammar.as_ref().unwrap().contains(" | [^<"));
    let done = begins(&mut turn, &[token("<use", 60.0, &[("It", 30.0)])]);
    assert!(matches!(done[..], [Action::Emit(AgentEvent::Decided { call: true, .. })]), "{done:?}");
    says(&mut turn, &paris());
    assert_eq!(calls(&ends(&mut turn)), ["call_1"]);

    let (mut turn, _) = first_request(measured());
    let decided = begins(&mut turn, &[token("It", 90.0, &[("<", 9.0)])]);
    let [Action::Emit(AgentEvent::Decided { call: false, likely: Some(likely) })] = decided[..] else {
        panic!("{decided:?}")
    };
    assert!((likely.exp() - 0.09).abs() < 1e-9);
    let said = says(&mut turn, "It");
    assert_eq!(said, [Action::Emit(AgentEvent::Text { text: "It".into() })], "no text waits");
    assert_eq!(begins(&mut turn, &[token("<", 99.0, &[])]), [], "it is decided once");
    says(&mut turn, " rains.");
    let Some(Action::Finish(finished)) = ends(&mut turn).pop() else { panic!() };
    assert_eq!((finished.reason, &*finished.answer, finished.rounds), (StopReason::Answered, "It rains.", 1));
}

#[test]
fn above_the_threshold_the_call_is_asked_for_under_its_grammar_with_the_same_prefix() {
    let (mut turn, request) = first_request(measured());
    turn.handle(Input::Model(ModelEvent::Unconstrained)).unwrap();
    assert_eq!(actions(&mut turn), [], "it is measured all the same");
    let done = begins(&mut turn, &[token("It", 80.0, &[("<", 14.0)])]);
    let again = instead(&done).unwrap();
    assert_eq!(again.messages, request.messages);
    assert_eq!((held(again), again.alternatives), (Some(Constrained::Calls), false));
    says(&mut turn, &paris());
    assert_eq!(calls(&ends(&mut turn)), ["call_1"]);
    let outcome = Outcome::new(Status::Result, "sunny");
    turn.handle(Input::Outcome { id: "call_1".into(), outcome }).unwrap();
    let next = actions(&mut turn);
    let step = requests(&next)[0];
    assert!(!step.alternatives && held(step) == Some(Constrained::Calls), "what follows is the next step");
}

#[test]
fn a_held_stream_is_the_call_above_the_threshold_and_left_for_an_answer_below_it() {
    let (mut turn, request) = held_request();
    let done = begins(&mut turn, &[token("<use", 14.0, &[("It", 80.0)])]);
    assert!(matches!(done[..], [Action::Emit(AgentEvent::Decided { call: true, .. })]), "{done:?}");
    says(&mut turn, &paris());
    assert_eq!(calls(&ends(&mut turn)), ["call_1"]);

    let (mut turn, _) = held_request();
    let done = begins(&mut turn, &[token("<use", 0.1, &[("It", 80.0)])]);
    let [Action::Emit(AgentEvent::Decided { call: false, .. }), Action::CancelStream, Action::Send(answer)] = &done[..]
    else {
        panic!("{done:?}")
    };
    assert!(answer.messages == request.messages && held(answer) != Some(Constrained::Calls) && !answer.alternatives);
    says(&mut turn, "It rains.");
    let Some(Action::Finish(finished)) = ends(&mut turn).pop() else { panic!() };
    assert_eq!((&*finished.answer, finished.rounds), ("It rains.", 1));
}

#[test]
fn an_endpoint_that_tells_what_the_grammar_lets_through_is_measured_without_one_from_then_on() {
    let setup = setup(measured());
    let mut turn = Turn::new(setup.clone(), HELD.into(), Granted::new()).unwrap();
    actions(&mut turn);
    let done = begins(&mut turn, &[token("<use", 97.0, &[("<use_mcp", 3.0)])]);
    let [Action::CancelStream, Action::Send(request)] = &done[..] else { panic!("{done:?}") };
    assert!(request.alternatives && held(request) != Some(Constrained::Calls), "{request:?}");
    assert!(begins(&mut turn, &[token("It", 99.9, &[("<", 0.1)])]).len() == 1, "it streams on as the answer");
    let mut next = Turn::new(setup, HELD.into(), Granted::new()).unwrap();
    let sent = actions(&mut next);
    assert!(requests(&sent)[0].alternatives && held(requests(&sent)[0]) != Some(Constrained::Calls));
}

/// Returns a turn whose call has the result `sunny`, and the request that follows.
fn after_result(tool: &str, arguments: &serde_json::Value) -> (Turn, Request) {
    let (mut turn, _) = first_request(measured());
    begins(&mut turn, &[token("<use", 50.0, &[("It", 50.0)])]);
    says(&mut turn, &call(tool, arguments));
    let done = ends(&mut turn);
    let id = calls(&done)[0].to_owned();
    turn.handle(Input::Outcome { id, outcome: Outcome::result("sunny") }).unwrap();
    let next = requests(&actions(&mut turn))[0].clone();
    (turn, next)
}

#[test]
fn after_a_result_the_next_call_is_held_and_one_that_was_answered_asks_for_the_answer() {
    let (mut turn, step) = after_result("weather", &json!({"city": "Paris"}));
    let grammar = step.constraint.as_ref().unwrap().grammar.clone().unwrap();
    assert!(!step.alternatives && !grammar.contains("{0,"), "one step at a time: {grammar}");
    says(&mut turn, &call("weather", &json!({"city": "Paris"})));
    let done = ends(&mut turn);
    assert!(calls(&done).is_empty(), "{done:?}");
    let answer = requests(&done)[0];
    assert!(held(answer) == Some(Constrained::Prose) && !answer.alternatives, "{answer:?}");
    let told = &answer.messages.last().unwrap().content;
    assert!(!told.contains("LastRound"), "{told}");
    says(&mut turn, "It is sunny.");
    let Some(Action::Finish(finished)) = ends(&mut turn).pop() else { panic!() };
    assert_eq!((finished.reason, &*finished.answer, finished.calls), (StopReason::Answered, "It is sunny.", 1));
    assert_eq!(finished.conversation.messages().flat_map(|message| message.calls()).count(), 1);

    let (mut turn, _) = after_result("weather", &json!({"city": "Paris"}));
    says(&mut turn, &call("weather", &json!({"city": "Oslo"})));
    assert_eq!(calls(&ends(&mut turn)), ["call_2"], "another call runs");
}

#[test]
fn a_model_that_reasons_decides_after_results_by_itself() {
    let (mut turn, _) = first_request(TurnConfig { reasons: Some(true), ..measured() });
    begins(&mut turn, &[token("It", 50.0, &[("<use", 50.0)])]);
    says(&mut turn, &paris());
    let done = ends(&mut turn);
    let id = calls(&done)[0].to_owned();
    turn.handle(Input::Outcome { id, outcome: Outcome::result("sunny") }).unwrap();
    assert!(requests(&actions(&mut turn))[0].alternatives);
}

#[test]
fn what_a_message_says_that_is_left_is_not_in_the_history() {
    let (mut turn, _) = first_request(TurnConfig { reasons: Some(true), ..measured() });
    begins(&mut turn, &[token("<think>Hm.</think>", 100.0, &[("Hi", 0.0)])]);
    says(&mut turn, "<think>Hm.</think>");
    let done = begins(&mut turn, &[token("It", 50.0, &[("<use", 50.0)])]);
    assert!(instead(&done).is_some(), "{done:?}");
    says(&mut turn, &paris());
    assert_eq!(calls(&ends(&mut turn)), ["call_1"]);
    turn.handle(Input::Cancel).unwrap();
    let Some(Action::Finish(finished)) = actions(&mut turn).pop() else { panic!() };
    let kept = format!("{:?}", finished.conversation);
    assert!(!kept.contains("Hm.") && kept.contains("Paris"), "{kept}");
}

#[test]
fn reasoning_in_a_field_of_its_own_is_passed_over() {
    let config = TurnConfig { reasoning: ReasoningMode::Open, reasons: Some(true), ..measured() };
    let (mut turn, _) = first_request(config);
    turn.handle(Input::Model(ModelEvent::Delta(Delta::reasoning("So.")))).unwrap();
    actions(&mut turn);
    assert!(instead(&begins(&mut turn, &[token("It", 50.0, &[("<use", 50.0)])])).is_some());
}

#[test]
fn what_is_decided_elsewhere_is_not_measured() {
    for choice in [ToolChoice::Required, ToolChoice::Named("weather".into()), ToolChoice::None] {
        let (_, request) = first_request(TurnConfig { tool_choice: choice.clone(), ..measured() });
        assert!(!request.alternatives, "{choice:?}");
    }
    for config in [
        TurnConfig { constrain: Constrain::Off, ..measured() },
        TurnConfig { max_rounds: 1, ..measured() },
        TurnConfig { tools_mode: ToolsMode::Native, ..measured() },
        allowing(),
    ] {
        assert!(!first_request(config.clone()).1.alternatives, "{config:?}");
    }
}

#[test]
fn of_an_endpoint_without_probabilities_the_message_is_what_it_is_and_it_is_asked_no_more_for_them() {
    for (way, told) in [(Way::Measured, true), (Way::Auto, false)] {
        let setup = setup(TurnConfig { way, ..measured() });
        let mut turn = Turn::new(setup.clone(), "Weather?".into(), Granted::new()).unwrap();
        assert!(requests(&actions(&mut turn))[0].alternatives, "{way}");
        turn.handle(Input::Model(ModelEvent::Unconstrained)).unwrap();
        let done = says(&mut turn, "It rains.");
        assert_eq!(notices(&done).contains(&&CallerWarning::NoProbabilities), told, "{done:?}");
        assert!(requests(&done).is_empty() && !cancels(&done), "{done:?}");
        let Some(Action::Finish(finished)) = ends(&mut turn).pop() else { panic!() };
        assert_eq!(&*finished.answer, "It rains.");
        let mut next = Turn::new(setup, "Weather?".into(), Granted::new()).unwrap();
        assert!(!requests(&actions(&mut next))[0].alternatives, "{way}");
    }
    // What the grammar held says nothing.
    let (mut turn, _) = held_request();
    let done = says(&mut turn, "<use");
    assert!(cancels(&done) && held(requests(&done)[0]) != Some(Constrained::Calls), "{done:?}");
}

#[test]
fn tokens_without_alternatives_are_no_probabilities() {
    let (mut turn, _) = first_request(measured());
    let done = begins(&mut turn, &[TokenChoice::new("It", -0.1)]);
    assert_eq!(notices(&done), [&CallerWarning::NoProbabilities]);
    let (mut turn, _) = held_request();
    let done = begins(&mut turn, &[TokenChoice::new("<use_mcp_tool>", -0.1)]);
    assert_eq!(notices(&done), [&CallerWarning::NoProbabilities], "a call that is held says nothing");
    let (mut turn, _) = first_request(measured());
    turn.handle(Input::Model(ModelEvent::Unconstrained)).unwrap();
    let done = begins(&mut turn, &[TokenChoice::new("<use_mcp_tool>", -0.1)]);
    assert!(instead(&done).is_some(), "a call that is written is one: {done:?}");
}

#[test]
fn an_endpoint_that_holds_to_no_structure_is_asked_freely_from_then_on() {
    let setup = setup(measured());
    let mut turn = Turn::new(setup.clone(), "Weather?".into(), Granted::new()).unwrap();
    actions(&mut turn);
    begins(&mut turn, &[token("<use", 90.0, &[("It", 10.0)])]);
    says(&mut turn, "I would call weather.");
    assert_eq!(notices(&ends(&mut turn)), [&CallerWarning::NoStructure]);
    let mut next = Turn::new(setup, "Weather?".into(), Granted::new()).unwrap();
    let next = actions(&mut next);
    assert!(!requests(&next)[0].alternatives && held(requests(&next)[0]) != Some(Constrained::Calls));

    let (mut turn, _) = first_request(measured());
    begins(&mut turn, &[token("<use", 90.0, &[("It", 10.0)])]);
    assert!(turn.handle(Input::Model(ModelEvent::Unconstrained)).is_ok());
    let done = actions(&mut turn);
    assert!(!cancels(&done) && notices(&done) == [&CallerWarning::NoStructure], "{done:?}");
    says(&mut turn, "It rains.");
    let Some(Action::Finish(finished)) = ends(&mut turn).pop() else { panic!() };
    assert_eq!(&*finished.answer, "It rains.");

    let (mut turn, _) = first_request(measured());
    begins(&mut turn, &[token("<use", 90.0, &[("It", 10.0)])]);
    says(&mut turn, "It rains.");
    assert_eq!(notices(&ends(&mut turn)), [&CallerWarning::NoStructure]);
}

#[test]
fn a_turn_that_is_suspended_or_cancelled_while_it_decides_ends() {
    for (input, reason) in [(Input::Suspend, StopReason::Suspended), (Input::Cancel, StopReason::Cancelled)] {
        let (mut turn, _) = first_request(measured());
        turn.handle(input.clone()).unwrap();
        let mut done = actions(&mut turn);
        if input == Input::Suspend {
            done = begins(&mut turn, &[token("<use", 1.0, &[("It", 80.0)])]);
        }
        let Some(Action::Finish(finished)) = done.pop() else { panic!("{done:?}") };
        assert_eq!((finished.reason, finished.conversation.messages().count()), (reason, 0));
    }
}

#[test]
fn what_messages_cost_that_were_left_is_counted() {
    let config = TurnConfig { tokens: Some(crate::message::TokenCounter::estimate()), ..measured() };
    let (mut turn, _) = first_request(config);
    begins(&mut turn, &[token("It", 10.0, &[("<use", 90.0)])]);
    says(&mut turn, &paris());
    turn.handle(Input::Model(ModelEvent::Usage(Usage {
        prompt_tokens: 100,
        completion_tokens: 20,
        ..Usage::default()
    })))
    .unwrap();
    let done = ends(&mut turn);
    let usage = done.iter().find_map(|action| match action {
        Action::Emit(AgentEvent::RoundFinished { usage, .. }) => *usage,
        _ => None,
    });
    let usage = usage.unwrap();
    assert!(usage.prompt_tokens > 100 && usage.completion_tokens >= 20, "{usage:?}");
}

/// Wording that shows an example in the prompt.
struct Showing;

impl Wording for Showing {
    fn system(&self, choice: &ToolChoice) -> String {
        Plain.system(choice)
    }

    fn system_apart(&self, _: &ToolChoice) -> Option<(String, Vec<crate::prompt::Example>)> {
        let tool = Tool::new("weather")
            .with_server("demo")
            .with_schema(json!({"properties": {"city": {}}, "required": ["city"]}))
            .with_example(
                crate::tools::ToolExample::new(
                    "Do I need a coat in Berlin?",
                    json!({"city": "Berlin"}).as_object()?.clone(),
                )
                .answered("4 degrees", "Yes, it is cold there."),
            );
        let options = crate::prompt::Options::default().with_style(crate::dialect::PromptStyle::Compact);
        crate::prompt::Prompt::new(options).ok()?.system_apart(&Catalog::from_tools([tool]), &[]).ok()?
    }

    fn replies(&self, replies: &Replies<'_>) -> Result<String, WordingError> {
        Plain.replies(replies)
    }

    fn note(&self, note: ModelNote<'_>) -> String {
        Plain.note(note)
    }
}

#[test]
fn a_held_call_that_repeats_an_example_beside_another_is_left_out() {
    let validator = setup(allowing()).validator.clone();
    let setup = Arc::new(Setup::new(measured(), validator, Arc::new(Showing)));
    let mut turn = Turn::new(setup, "Is it cold in Oslo?".into(), Granted::new()).unwrap();
    actions(&mut turn);
    begins(&mut turn, &[token("<use", 90.0, &[("It", 10.0)])]);
    let both = ["Oslo", "Berlin"].map(|city| call("weather", &json!({ "city": city }))).join("\n");
    let mut done = says(&mut turn, &both);
    done.extend(ends(&mut turn));
    let run = calls(&done);
    assert_eq!(run.len(), 1, "{done:?}");
    let rejected = |action: &Action| match action {
        Action::Emit(AgentEvent::CallRejected { index, rejected }) => Some((*index, rejected.kind)),
        _ => None,
    };
    assert_eq!(done.iter().find_map(rejected), Some((1, RejectedKind::Invented)), "{done:?}");
    let history = format!("{:?}", turn.shared.conversation);
    assert!(history.contains("Oslo") && !history.contains("Berlin"), "{history}");
}

#[test]
fn a_held_call_that_only_repeats_an_example_is_left_for_a_free_answer() {
    for (question, runs) in [("Tell me a joke.", false), ("Is it cold in Berlin?", true)] {
        let validator = setup(allowing()).validator.clone();
        let setup = Arc::new(Setup::new(measured(), validator, Arc::new(Showing)));
        let mut turn = Turn::new(setup, question.into(), Granted::new()).unwrap();
        actions(&mut turn);
        begins(&mut turn, &[token("<use", 90.0, &[("It", 10.0)])]);
        says(&mut turn, &call("weather", &json!({"city": "Berlin"})));
        let done = ends(&mut turn);
        assert_eq!(!calls(&done).is_empty(), runs, "{question}: {done:?}");
        if runs {
            continue;
        }
        let next = requests(&done)[0];
        assert!(!next.alternatives && held(next) != Some(Constrained::Calls), "{next:?}");
        says(&mut turn, "Knock, knock.");
        let Some(Action::Finish(finished)) = ends(&mut turn).pop() else { panic!() };
        assert_eq!((finished.answer.as_str(), finished.rounds), ("Knock, knock.", 2));
        assert_eq!(finished.conversation.messages().count(), 1, "the copy is not in the history");
    }
}

#[test]
fn in_the_place_of_an_id_that_nobody_said_it_is_looked_up_and_one_of_the_results_taken() {
    let schema = |member: &str| json!({"properties": {member: {"type": "string"}}, "required": [member]});
    let tools = [
        Tool::new("find").with_schema(schema("words")),
        Tool::new("show").with_schema(schema("ticket_id")),
        Tool::new("close").with_schema(schema("ticket_id")),
    ];
    let catalog = Arc::new(Catalog::from_tools(tools));
    let setup = Arc::new(Setup::new(measured(), Arc::new(Validator::new(catalog)), Arc::new(Plain)));
    let mut turn = Turn::new(setup, "Close the ticket about slow search.".into(), Granted::new()).unwrap();
    actions(&mut turn);
    begins(&mut turn, &[token("<use", 90.0, &[("It", 10.0)])]);
    let grammar = |done: &[Action]| requests(done)[0].constraint.as_ref().unwrap().grammar.clone().unwrap();
    let writes = |turn: &mut Turn, tool: &str, arguments: serde_json::Value| {
        let said = format!(
            "<use_mcp_tool>\n<tool_name>{tool}</tool_name>\n<arguments>\n{arguments}\n</arguments>\n</use_mcp_tool>"
        );
        says(turn, &said);
        ends(turn)
    };
    let done = writes(&mut turn, "close", json!({"ticket_id": "T-100"}));
    assert!(calls(&done).is_empty(), "{done:?}");
    let lookups = grammar(&done);
    assert!(lookups.contains("find") && !lookups.contains("show") && !lookups.contains("close"), "{lookups}");
    let done = writes(&mut turn, "find", json!({"words": "slow search"}));
    let id = calls(&done)[0].to_owned();
    let outcome = Outcome::result(r#"[{"ticket_id": "T-204"}, {"ticket_id": "T-211"}]"#);
    turn.handle(Input::Outcome { id, outcome }).unwrap();
    actions(&mut turn);
    let done = writes(&mut turn, "close", json!({"ticket_id": "T-100"}));
    assert!(calls(&done).is_empty(), "{done:?}");
    let values = grammar(&done);
    assert!(values.contains("T-204") && values.contains("T-211") && !values.contains("find"), "{values}");
    assert_eq!(calls(&writes(&mut turn, "close", json!({"ticket_id": "T-204"}))), ["call_2"]);
}

#[test]
fn a_message_that_only_repeats_a_note_or_the_answer_of_an_example_is_no_answer() {
    let note = Plain.note(ModelNote::LastRound);
    let framed = format!("<tool_status>{note}</tool_status>");
    for (copy, is_answer) in [
        ("Yes, it is cold there.", false),
        (note.as_str(), false),
        (framed.as_str(), false),
        ("Yes, it is cold there. Take a coat.", true),
    ] {
        let validator = setup(allowing()).validator.clone();
        let setup = Arc::new(Setup::new(allowing(), validator, Arc::new(Showing)));
        let mut turn = Turn::new(setup, "Is it cold in Oslo?".into(), Granted::new()).unwrap();
        actions(&mut turn);
        says(&mut turn, copy);
        let done = ends(&mut turn);
        assert_eq!(matches!(done.last(), Some(Action::Finish(_))), is_answer, "{copy}: {done:?}");
        if !is_answer {
            says(&mut turn, "It is mild.");
            let Some(Action::Finish(finished)) = ends(&mut turn).pop() else { panic!("{copy}") };
            assert_eq!(finished.reason, StopReason::Answered);
        }
    }
}
