//! Which model answers a round, and what the round costs.

use super::*;
use crate::message::TokenCounter;

fn counting() -> TurnConfig {
    TurnConfig { tokens: Some(TokenCounter::new(|text| text.split_whitespace().count())), ..allowing() }
}

pub(super) fn sent(actions: &[Action]) -> &crate::model::Request {
    for action in actions {
        if let Action::Send(request) = action {
            return request;
        }
    }
    panic!("{actions:?}")
}

fn usage_of(actions: &[Action]) -> Option<Usage> {
    let usage = |action: &Action| match action {
        Action::Emit(AgentEvent::RoundFinished { usage, .. }) => Some(*usage),
        _ => None,
    };
    actions.iter().find_map(usage).unwrap_or_else(|| panic!("{actions:?}"))
}

pub(super) fn notices(actions: &[Action]) -> Vec<CallerWarning> {
    let notice = |action: &Action| match action {
        Action::Emit(AgentEvent::Notice { notice }) => Some(notice.clone()),
        _ => None,
    };
    actions.iter().filter_map(notice).collect()
}

fn answered(turn: &mut Turn, id: &str, text: &str) -> Vec<Action> {
    turn.handle(Input::Outcome { id: id.into(), outcome: Outcome::result(text) }).unwrap();
    actions(turn)
}

/// Wording that fails to write the replies to a message.
struct Speechless;

impl Wording for Speechless {
    fn system(&self, _: &crate::tools::ToolChoice) -> String {
        String::new()
    }

    fn replies(&self, _: &Replies<'_>) -> Result<String, WordingError> {
        Err(WordingError::caused("no number".parse::<u8>().unwrap_err()))
    }

    fn note(&self, _: ModelNote<'_>) -> String {
        String::new()
    }
}

#[test]
fn a_turn_that_has_no_words_ends_with_the_error_after_it() {
    let words = Setup::new(allowing(), setup(allowing()).validator.clone(), Arc::new(Speechless));
    let mut turn = Turn::new(Arc::new(words), "Weather?".into(), Granted::new()).unwrap();
    actions(&mut turn);
    says(&mut turn, &paris());
    ends(&mut turn);
    let end = answered(&mut turn, "call_1", "sunny");
    let Some(Action::Finish(finished)) = end.last() else { panic!("{end:?}") };
    let StopReason::PromptFailed { message, source: Some(source) } = &finished.reason else { panic!("{finished:?}") };
    assert_eq!(*message, "invalid digit found in string");
    assert!(source.get().is::<std::num::ParseIntError>());
    let error = finished.output_as::<Value>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "the turn gave no output: the prompt cannot be written: invalid digit found in string"
    );
    assert!(std::error::Error::source(&error).is_some());
}

#[test]
fn a_missing_output_keeps_the_models_error() {
    let mut turn = started(allowing());
    turn.handle(Input::ModelFailed(crate::model::ModelError::BrokeOff)).unwrap();
    let end = actions(&mut turn);
    let Some(Action::Finish(finished)) = end.last() else { panic!("{end:?}") };
    let error = finished.output_as::<Value>().unwrap_err();
    let cause = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<crate::Cause>()).unwrap();
    assert!(cause.get().is::<crate::model::ModelError>());
}

#[test]
fn another_model_speaks_from_the_second_round_on_as_its_profile_says() {
    let config = TurnConfig { round_model: Some("deepseek-r1:14b".into()), temperature: Some(0.1), ..allowing() };
    let mut turn = Turn::new(setup(config), "Weather?".into(), Granted::new()).unwrap();
    let first = actions(&mut turn);
    assert_eq!((sent(&first).model.as_deref(), sent(&first).temperature), (None, Some(0.1)));
    assert_eq!(sent(&first).messages[0].role, crate::message::Role::System);
    says(&mut turn, &paris());
    ends(&mut turn);
    let second = answered(&mut turn, "call_1", "sunny");
    let request = sent(&second);
    assert_eq!((request.model.as_deref(), request.temperature), (Some("deepseek-r1:14b"), Some(0.6)));
    assert_eq!(request.messages[0].role, crate::message::Role::User, "R1 has no system role");
    let started = AgentEvent::RoundStarted { round: 2, model: Some("deepseek-r1:14b".into()) };
    assert!(second.contains(&Action::Emit(started)));
    // Its text begins in the reasoning, where a call is a draft.
    let seen = says(&mut turn, &format!("Hm. {}", paris()));
    assert!(matches!(&seen[0], Action::Emit(AgentEvent::Reasoning { .. })), "{seen:?}");
    says(&mut turn, "</think>It is sunny.");
    let seen = ends(&mut turn);
    let Some(Action::Finish(finished)) = seen.last() else { panic!("{seen:?}") };
    assert_eq!((finished.reason.clone(), finished.answer.as_str()), (StopReason::Answered, "It is sunny."));
}

#[test]
fn a_program_may_choose_the_model_of_each_round() {
    let choice = ModelChoice::new(|round| (round.corrections > 0).then(|| RoundModel::named("large")));
    let mut turn = started(TurnConfig { round_model: Some(choice), ..allowing() });
    says(&mut turn, &call("wether", &json!({})));
    assert_eq!(sent(&ends(&mut turn)).model.as_deref(), Some("large"), "a mistake was made");
    says(&mut turn, &paris());
    ends(&mut turn);
    assert_eq!(sent(&answered(&mut turn, "call_1", "sunny")).model, None);
}

#[test]
fn what_the_endpoint_does_not_count_is_counted_and_marked() {
    let mut turn = started(counting());
    says(&mut turn, "<think>one two three</think>one two");
    // A system message `tools: auto` and the question, with four tokens around each.
    let own = Usage {
        prompt_tokens: 11,
        completion_tokens: 5,
        reasoning_tokens: Some(3),
        reasoning_estimated: true,
        estimated: true,
        ..Usage::default()
    };
    let seen = ends(&mut turn);
    assert_eq!(usage_of(&seen), Some(own));
    let Some(Action::Finish(finished)) = seen.last() else { panic!("{seen:?}") };
    assert_eq!(finished.usage, Some(own));

    let mut turn = started(counting());
    turn.handle(Input::Model(ModelEvent::Usage(Usage {
        prompt_tokens: 20,
        completion_tokens: 10,
        ..Usage::default()
    })))
    .unwrap();
    says(&mut turn, "<think>one two three</think>one two");
    let usage = usage_of(&ends(&mut turn)).unwrap();
    assert_eq!((usage.prompt_tokens, usage.completion_tokens, usage.estimated), (20, 10, false));
    assert_eq!((usage.reasoning_tokens, usage.reasoning_estimated), (Some(6), true), "three of five");

    let mut turn = started(allowing());
    says(&mut turn, "one two");
    assert_eq!(usage_of(&ends(&mut turn)), None, "nobody counts");
}

#[test]
fn a_prompt_that_the_endpoint_cut_is_noticed_once() {
    let long = "word ".repeat(6_000);
    let setup = setup(counting());
    let mut turn = Turn::new(setup, long.as_str().into(), Granted::new()).unwrap();
    actions(&mut turn);
    let cut = |turn: &mut Turn| {
        turn.handle(Input::Model(ModelEvent::Usage(Usage {
            prompt_tokens: 2_050,
            completion_tokens: 10,
            ..Usage::default()
        })))
        .unwrap();
    };
    cut(&mut turn);
    says(&mut turn, &paris());
    assert_eq!(notices(&ends(&mut turn)), [CallerWarning::PromptCut { sent: 6_010, read: 2_050 }]);
    answered(&mut turn, "call_1", "sunny");
    cut(&mut turn);
    says(&mut turn, "Sunny.");
    assert!(notices(&ends(&mut turn)).is_empty());
}

#[test]
fn a_prompt_that_was_read_or_cached_is_not_called_cut() {
    let long = "word ".repeat(6_000);
    for (prompt, cached) in [(5_000, None), (0, None), (30, None), (2_000, Some(4_000))] {
        let mut turn = Turn::new(setup(counting()), long.as_str().into(), Granted::new()).unwrap();
        actions(&mut turn);
        let usage = Usage { prompt_tokens: prompt, cached_tokens: cached, ..Usage::default() };
        turn.handle(Input::Model(ModelEvent::Usage(usage))).unwrap();
        says(&mut turn, "Sunny.");
        assert!(notices(&ends(&mut turn)).is_empty(), "{prompt} {cached:?}");
    }
}
