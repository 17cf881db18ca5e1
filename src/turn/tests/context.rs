//! The parts of a history that a request leaves out so that it fits the context.

use super::*;
use crate::conversation::{Assistant, HistoryCall, Part};
use crate::message::{Message, Role, TokenCounter};
use crate::prompt::Options;

/// Returns a counter of one token for four bytes.
fn counter() -> TokenCounter {
    TokenCounter::new(|text| text.len().div_ceil(4))
}

fn config(context: usize) -> TurnConfig {
    TurnConfig { context: Some(context), tokens: Some(counter()), max_tokens: Some(200), ..allowing() }
}

/// Begins a turn with the texts of the prompt templates, and returns it with its first actions.
fn begin(config: TurnConfig, conversation: Conversation) -> (Turn, Vec<Action>) {
    let mut turn = Turn::new(spoken(config), conversation, Granted::new()).unwrap();
    let actions = actions(&mut turn);
    (turn, actions)
}

fn spoken(config: TurnConfig) -> Arc<Setup> {
    let plain = setup(config.clone());
    let wording = PromptWording::new(plain.catalog.clone(), &Options::default(), &config).unwrap();
    Arc::new(Setup::new(config, plain.validator.clone(), Arc::new(wording)))
}

/// Returns a conversation of old questions, each with a call, and a new question.
fn history(questions: usize, result_bytes: usize) -> Conversation {
    let mut conversation = Conversation::new();
    for n in 0..questions {
        conversation.push_user(format!("Question {n}?")).unwrap();
        let placed = HistoryCall { id: format!("old_{n}"), call: Box::new(weather()), raw: paris(), untagged: false };
        let message = Assistant { parts: vec![Part::Call(placed)], ..Assistant::default() };
        conversation.push_assistant(message).unwrap();
        conversation.answer(&format!("old_{n}"), Outcome::result("x".repeat(result_bytes))).unwrap();
        conversation.push_assistant(Assistant::text(format!("Answer {n}."))).unwrap();
    }
    conversation.push_user("And now?").unwrap();
    conversation
}

fn weather() -> Call {
    entry(0, Ok(())).result.unwrap()
}

fn request(actions: &[Action]) -> &crate::model::Request {
    super::rounds::sent(actions)
}

fn all(messages: &[Message]) -> String {
    messages.iter().map(|m| m.content.as_str()).collect::<Vec<_>>().join("\n")
}

fn tokens(request: &crate::model::Request) -> usize {
    request.messages.iter().map(|m| counter().count(&m.content) + 4).sum()
}

fn left_out(actions: &[Action]) -> Option<(usize, usize, usize)> {
    match &super::rounds::notices(actions)[..] {
        [] => None,
        [CallerWarning::HistoryLeftOut { rounds, questions, results, .. }] => Some((*rounds, *questions, *results)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_history_that_fits_is_whole() {
    let (turn, actions) = begin(config(100_000), history(5, 2_000));
    assert_eq!(left_out(&actions), None);
    let sent = all(&request(&actions).messages);
    assert!(sent.contains("Question 0?") && !sent.contains("was left out"), "{sent}");
    assert_eq!(turn.shared.conversation.entries().len(), 21);
}

#[test]
fn the_oldest_rounds_are_left_out_and_everybody_is_told() {
    let conversation = history(5, 2_000);
    let (turn, actions) = begin(config(2_700), conversation.clone());
    let sent = request(&actions);
    assert!(tokens(sent) + 200 <= 2_700);
    let text = all(&sent.messages);
    assert!(text.contains("# Tools") && text.contains("weather(city"), "the tools stay: {text}");
    assert!(!text.contains("Question 0?") && text.contains("Answer 4.") && text.contains("And now?"), "{text}");
    assert_eq!(text.matches("The oldest part of this conversation was left out").count(), 1);
    let (rounds, questions, results) = left_out(&actions).unwrap();
    assert!(rounds > questions && questions >= 1 && results == 0, "{rounds} {questions}");
    // As little as possible: one step less would not fit.
    let more = TurnConfig { context: Some(tokens(sent) + 200 - 1), ..config(0) };
    assert!(left_out(&begin(more, conversation.clone()).1).unwrap() > (rounds, questions, results));
    assert_eq!(turn.shared.conversation, conversation, "the history itself is whole");
}

/// Plays a turn that asks for the weather of city after city, with results of `bytes`. Returns its requests and
/// actions.
fn tour(config: TurnConfig, cities: usize, bytes: usize) -> Vec<(crate::model::Request, Vec<Action>)> {
    let (mut turn, first) = begin(config, "How is the weather in all of them?".into());
    let mut sent = vec![(request(&first).clone(), first)];
    for n in 1..=cities {
        says(&mut turn, &call("weather", &json!({"city": format!("City{n}")})));
        ends(&mut turn);
        let outcome = Outcome::result(format!("begin{n} {} end{n}", "y".repeat(bytes)));
        turn.handle(Input::Outcome { id: format!("call_{n}"), outcome }).unwrap();
        let actions = actions(&mut turn);
        sent.push((request(&actions).clone(), actions));
    }
    sent
}

#[test]
fn within_a_turn_old_results_shrink_then_go_and_the_recall_stays() {
    let sent = tour(config(2_400), 8, 2_000);
    for (n, (request, _)) in sent.iter().enumerate() {
        assert!(tokens(request) + 200 <= 2_400, "round {n}: {}", tokens(request));
        let text = all(&request.messages);
        assert!(text.contains("How is the weather in all of them?"), "{text}");
        // The last call is there itself.
        for city in 1..n {
            assert!(text.contains(&format!(r#"{{"city":"City{city}"}}"#)), "City{city} in round {n}: {text}");
        }
        if n > 0 {
            assert!(text.contains(&format!("begin{n} yyy")) && text.contains(&format!("yyy end{n}")), "{text}");
            assert!(!request.messages.last().unwrap().content.contains("bytes left out"), "the last result is whole");
        }
    }
    let fourth = all(&sent[4].0.messages);
    assert!(fourth.contains("begin1") && fourth.contains("bytes left out"), "shortened at first: {fourth}");
    let last = &sent[8];
    let roles: Vec<Role> = last.0.messages.iter().map(|m| m.role).collect();
    assert!(roles[1..].windows(2).all(|pair| pair[0] != pair[1]), "{roles:?}");
    assert!(left_out(&last.1).unwrap().2 > 0);
}

#[test]
fn results_that_do_not_fit_are_cut_to_what_does() {
    let sent = tour(config(2_400), 2, 40_000);
    let (request, actions) = &sent[2];
    let last = &request.messages.last().unwrap().content;
    assert!(last.contains("begin2 yyy") && last.contains("yyy end2") && last.contains("bytes left out"), "{last}");
    assert!((2_300..=2_400).contains(&(tokens(request) + 200)), "no more than needed: {}", tokens(request));
    assert_eq!(left_out(actions), Some((1, 0, 1)));
}

#[test]
fn tools_that_do_not_fit_are_an_error_with_numbers_and_remedy() {
    let (_, actions) = begin(config(500), "Weather?".into());
    let [Action::Finish(finished)] = &actions[..] else { panic!("{actions:?}") };
    let StopReason::ContextTooSmall { context: 500, reply: 200, system, request, .. } = finished.reason else {
        panic!("{:?}", finished.reason)
    };
    assert!(system > 300 && request > system, "{system} {request}");
    let text = finished.reason.to_string();
    for part in ["500", &system.to_string(), &request.to_string(), "in fewer tokens", "a longer context"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(finished.conversation, "Weather?".into(), "nothing is lost");
    let json = serde_json::to_string(&finished).unwrap();
    assert!(json.contains(r#""kind":"context_too_small""#), "{json}");
    assert_eq!(serde_json::from_str::<Finished>(&json).unwrap(), **finished);
}

#[test]
fn a_reply_without_a_limit_gets_a_quarter() {
    let open = |context| TurnConfig { max_tokens: None, ..config(context) };
    let (_, actions) = begin(open(4_000), history(5, 2_000));
    let used = tokens(request(&actions));
    assert!((2_000..=3_000).contains(&used), "{used}");
    let (_, actions) = begin(TurnConfig { max_tokens: Some(5_000), ..config(4_000) }, history(5, 2_000));
    let Some(Action::Finish(finished)) = actions.last() else { panic!("{actions:?}") };
    assert!(matches!(finished.reason, StopReason::ContextTooSmall { reply: 5_000, .. }), "{:?}", finished.reason);
}

#[test]
fn what_is_left_out_is_told_again_only_when_it_is_more() {
    let sent = tour(config(3_000), 6, 2_000);
    let told: Vec<_> = sent.iter().filter_map(|(_, actions)| left_out(actions)).collect();
    assert!(!told.is_empty() && told.windows(2).all(|pair| pair[0] != pair[1]), "{told:?}");
}

/// Returns the input by which an endpoint reports that the prompt is too long.
fn exceeded(prompt: Option<usize>, context: Option<usize>) -> Input {
    Input::ContextExceeded { prompt, context, message: "too long: try -c".into() }
}

fn refuse(turn: &mut Turn, prompt: Option<usize>, context: Option<usize>) -> Vec<Action> {
    turn.handle(exceeded(prompt, context)).unwrap();
    actions(turn)
}

/// Returns a configuration without a known length of the context.
fn unknown() -> TurnConfig {
    TurnConfig { context: None, ..config(0) }
}

#[test]
fn an_overflow_is_cut_to_the_endpoints_numbers_and_sent_once_more() {
    let conversation = history(5, 2_000);
    let (mut turn, first) = begin(unknown(), conversation.clone());
    let sent = tokens(request(&first));
    // It counts half as many again as we do.
    let (prompt, context) = (sent * 3 / 2, sent);
    let again = refuse(&mut turn, Some(prompt), Some(context));
    let less = request(&again);
    assert!(tokens(less) * 3 / 2 + 200 <= context + 1, "{} of {context}", tokens(less));
    assert!(all(&less.messages).contains("And now?") && !all(&less.messages).contains("Question 0?"));
    assert!(left_out(&again).unwrap().0 > 0);
    says(&mut turn, "Fine.");
    let end = ends(&mut turn);
    let Some(Action::Finish(finished)) = end.last() else { panic!("{end:?}") };
    assert_eq!((finished.reason.clone(), finished.rounds), (StopReason::Answered, 1));
    assert_eq!(finished.conversation.entries().len(), conversation.entries().len() + 1, "the history is whole");
}

#[test]
fn what_an_endpoint_has_refused_is_not_sent_again_in_later_rounds_and_turns() {
    let setup = spoken(unknown());
    let begin = |setup: &Arc<Setup>| {
        let mut turn = Turn::new(setup.clone(), history(5, 2_000), Granted::new()).unwrap();
        let actions = actions(&mut turn);
        (turn, actions)
    };
    let (mut turn, first) = begin(&setup);
    let context = tokens(request(&first)) / 2;
    refuse(&mut turn, Some(context * 2), Some(context));
    says(&mut turn, &paris());
    let id = calls(&ends(&mut turn))[0].to_owned();
    turn.handle(Input::Outcome { id, outcome: Outcome::result("z".repeat(400)) }).unwrap();
    let second = actions(&mut turn);
    assert!(tokens(request(&second)) + 200 <= context);
    assert!(tokens(request(&begin(&setup).1)) + 200 <= context, "the next turn knows it too");
}

#[test]
fn an_overflow_without_numbers_is_cut_too() {
    for (prompt, context) in [(None, None), (Some(3_000), None), (None, Some(2_500))] {
        let (mut turn, first) = begin(unknown(), history(5, 2_000));
        let again = refuse(&mut turn, prompt, context);
        assert!(tokens(request(&again)) < tokens(request(&first)), "{prompt:?} {context:?}");
    }
}

#[test]
fn what_is_refused_twice_ends_the_turn_with_the_numbers_and_the_servers_remedy() {
    let (mut turn, first) = begin(unknown(), history(5, 2_000));
    let context = tokens(request(&first)) / 2;
    refuse(&mut turn, Some(context * 2), Some(context));
    let end = refuse(&mut turn, Some(context + 7), Some(context));
    let Some(Action::Finish(finished)) = end.last() else { panic!("{end:?}") };
    let text = finished.reason.to_string();
    for part in [&(context + 7).to_string(), &context.to_string(), "try -c", "in fewer tokens"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(finished.conversation, history(5, 2_000), "nothing is lost");
    let json = serde_json::to_string(&finished).unwrap();
    assert!(json.contains(r#""kind":"context_exceeded""#), "{json}");
    assert_eq!(serde_json::from_str::<Finished>(&json).unwrap(), **finished);
}

#[test]
fn where_nothing_can_be_left_out_nothing_is_sent_again() {
    let (mut turn, first) = begin(unknown(), "Weather?".into());
    let sent = tokens(request(&first));
    let end = refuse(&mut turn, Some(sent), Some(sent - 10));
    assert!(!end.iter().any(|a| matches!(a, Action::Send(_))), "{end:?}");
    let Some(Action::Finish(finished)) = end.last() else { panic!("{end:?}") };
    assert!(matches!(finished.reason, StopReason::ContextExceeded { .. }), "{:?}", finished.reason);
}

#[test]
fn an_overflow_in_the_middle_of_an_answer_keeps_what_came() {
    let (mut turn, first) = begin(unknown(), history(5, 2_000));
    says(&mut turn, "It is ");
    let end = refuse(&mut turn, None, Some(tokens(request(&first)) / 2));
    let Some(Action::Finish(finished)) = end.last() else { panic!("{end:?}") };
    assert!(matches!(finished.reason, StopReason::ContextExceeded { .. }) && finished.answer == "It is", "{end:?}");
}

#[test]
fn rather_than_nothing_a_refused_prompt_leaves_the_reply_less() {
    let open = TurnConfig { max_tokens: None, ..unknown() };
    let (mut turn, first) = begin(open, history(1, 80));
    let all = tokens(request(&first));
    // A quarter for the reply would leave too little for the tools.
    let again = refuse(&mut turn, Some(all), Some(all - 20));
    let less = tokens(request(&again));
    assert!(less < all && less > (all - 20) * 3 / 4, "{less} of {all}");
}

#[test]
fn the_estimate_is_scaled_by_what_the_endpoint_counted() {
    let rounds = |counted: fn(usize) -> usize| {
        let (mut turn, first) = begin(config(3_000), "Weather?".into());
        let mut sent = vec![tokens(request(&first))];
        for n in 1..=4 {
            says(&mut turn, &call("weather", &json!({"city": format!("City{n}")})));
            let prompt_tokens = counted(sent[n - 1]) as u64;
            turn.handle(Input::Model(ModelEvent::Usage(Usage { prompt_tokens, ..Usage::default() }))).unwrap();
            ends(&mut turn);
            let outcome = Outcome::result("y".repeat(2_400));
            turn.handle(Input::Outcome { id: format!("call_{n}"), outcome }).unwrap();
            sent.push(tokens(request(&actions(&mut turn))));
        }
        sent
    };
    let (as_we_do, twice) = (rounds(|own| own), rounds(|own| own * 2));
    assert!(as_we_do[4] + 200 <= 3_000 && as_we_do[4] > 1_500, "{as_we_do:?}");
    assert!(twice[4] * 2 + 200 <= 3_000 + 8, "{twice:?}");
}

/// Returns a request of more than a thousand tokens by the counter of these tests.
fn long_question() -> String {
    "word ".repeat(1_200)
}

fn asked_window(tokens: Option<usize>) -> (Turn, Vec<Action>) {
    let config = TurnConfig { tokens: Some(TokenCounter::new(|text| text.split_whitespace().count())), ..allowing() };
    let mut turn = Turn::new(setup(config), long_question().as_str().into(), Granted::new()).unwrap();
    assert_eq!(turn.action(), Some(Action::AskContext(None)));
    assert_eq!(turn.action(), None);
    let window = tokens.map(|tokens| {
        let mut window = crate::model::ContextWindow::new(tokens);
        window.remedy = Some("start it with -c".to_owned());
        window
    });
    turn.handle(Input::ContextWindow(window)).unwrap();
    let todo = actions(&mut turn);
    (turn, todo)
}

#[test]
fn the_context_is_asked_for_before_a_long_prompt_is_sent() {
    let (_, todo) = asked_window(Some(8_192));
    assert!(matches!(todo[0], Action::Send(_)), "{todo:?}");
    let (mut turn, todo) = asked_window(None);
    assert!(matches!(todo[0], Action::Send(_)), "{todo:?}");
    // Once is enough.
    says(&mut turn, &paris());
    let running = ends(&mut turn);
    turn.handle(Input::Outcome { id: calls(&running)[0].into(), outcome: Outcome::result("sunny") }).unwrap();
    assert!(actions(&mut turn).iter().any(|action| matches!(action, Action::Send(_))));
    // A short one is sent at once.
    started(TurnConfig { tokens: Some(TokenCounter::new(|text| text.split_whitespace().count())), ..allowing() });
}

#[test]
fn a_prompt_that_cannot_fit_is_not_sent_and_the_advice_is_the_servers() {
    let (_, todo) = asked_window(Some(1_024));
    let [Action::Finish(finished)] = &todo[..] else { panic!("{todo:?}") };
    assert!(matches!(finished.reason, StopReason::ContextTooSmall { context: 1_024, .. }), "{:?}", finished.reason);
    assert!(finished.reason.to_string().contains("; start it with -c, "), "{}", finished.reason);
}

#[test]
fn a_full_context_and_an_output_limit_are_told_apart() {
    for (max_tokens, prompt, answer, full) in [
        (None, 798, 1_250, true),
        (None, 798, 256, false),
        (Some(256), 1_792, 256, false),
        (Some(256), 1_990, 58, true),
    ] {
        let mut turn = started(TurnConfig { max_tokens, context: Some(2_048), ..allowing() });
        says(&mut turn, "It is");
        let usage = Usage { prompt_tokens: prompt, completion_tokens: answer, ..Usage::default() };
        turn.handle(Input::Model(ModelEvent::Usage(usage))).unwrap();
        turn.handle(Input::Model(ModelEvent::Finish(FinishReason::Length))).unwrap();
        let todo = actions(&mut turn);
        let Some(Action::Finish(finished)) = todo.last() else { panic!("{todo:?}") };
        let expected = match full {
            true => StopReason::ContextFull { context: 2_048, prompt, answer, remedy: None },
            false => StopReason::OutputLimit,
        };
        assert_eq!(finished.reason, expected, "{max_tokens:?} {prompt} {answer}");
    }
}

#[test]
fn progress_is_handed_on() {
    let mut turn = started(allowing());
    let progress = crate::model::Progress::Prompt { processed: 512, total: 2_059 };
    turn.handle(Input::Model(ModelEvent::Progress(progress))).unwrap();
    assert_eq!(actions(&mut turn), [Action::Emit(AgentEvent::Progress { progress })]);
}
