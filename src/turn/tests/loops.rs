//! What ends when a model says or does the same thing again and again.

use super::rounds::sent;
use super::*;

/// A turn of a model that says the same in every round, and gets the same result; the
/// texts of its requests' last messages, the calls that ran, and how it ended.
fn replayed(config: TurnConfig, said: &str, result: impl Fn(usize) -> String) -> (Vec<String>, usize, Finished) {
    let mut turn = Turn::new(setup(config), "Weather?".into(), Granted::new()).unwrap();
    let (mut asked, mut ran) = (Vec::new(), 0);
    let mut todo = actions(&mut turn);
    loop {
        if let Some(Action::Finish(finished)) = todo.iter().find(|a| matches!(a, Action::Finish(_))) {
            return (asked, ran, (**finished).clone());
        }
        let running: Vec<String> = calls(&todo).into_iter().map(str::to_owned).collect();
        let next = if running.is_empty() {
            asked.push(sent(&todo).messages.last().unwrap().content.clone());
            says(&mut turn, said).into_iter().chain(ends(&mut turn)).collect()
        } else {
            running
                .into_iter()
                .flat_map(|id| {
                    ran += 1;
                    turn.handle(Input::Outcome { id, outcome: Outcome::result(result(ran)) }).unwrap();
                    actions(&mut turn)
                })
                .collect()
        };
        todo = next;
    }
}

#[test]
fn a_call_with_the_same_result_is_not_run_a_third_time() {
    let (asked, ran, finished) = replayed(allowing(), &paris(), |_| "sunny".to_owned());
    assert_eq!(ran, 2);
    assert_eq!(finished.reason, StopReason::SameCalls { tool: "weather".into() });
    assert_eq!((finished.rounds, finished.calls), (5, 2));
    assert!(!asked[1].contains("SameResult") && asked[1].contains("Result: sunny"), "{}", asked[1]);
    assert!(asked[2].contains("SameResult") && asked[2].contains("Result: sunny"), "{}", asked[2]);
    for text in &asked[3..] {
        assert!(text.contains("Denied: NotRunAgain\nsunny"), "{text}");
    }
    assert_eq!(
        asked.iter().map(|text| text.contains("LastRound")).collect::<Vec<_>>(),
        [false, false, false, false, true]
    );
    assert!(finished.conversation.pending().next().is_none());
}

#[test]
fn a_call_whose_result_changes_runs_on_and_the_last_round_asks_for_the_answer() {
    let config = TurnConfig { max_rounds: 4, ..allowing() };
    let (asked, ran, finished) = replayed(config, &paris(), |n| format!("{n} °C"));
    assert_eq!((ran, finished.reason), (3, StopReason::MaxRounds { rounds: 4 }));
    assert_eq!(asked.iter().filter(|text| text.contains("LastRound")).count(), 1);
    assert!(asked[3].ends_with("LastRound") && !asked.concat().contains("SameResult"), "{asked:?}");
}

#[test]
fn another_question_may_make_the_call_again() {
    let (.., finished) = replayed(allowing(), &paris(), |_| "sunny".to_owned());
    let mut conversation = finished.conversation;
    conversation.push_user("And now?").unwrap();
    let mut turn = Turn::new(setup(allowing()), conversation, Granted::new()).unwrap();
    actions(&mut turn);
    says(&mut turn, &paris());
    assert_eq!(calls(&ends(&mut turn)).len(), 1);
}

#[test]
fn an_answer_that_repeats_itself_is_stopped_with_what_came_before() {
    let line = "- Oslo is a city in Europe.\n";
    for (max_repeats, stopped) in [(MAX_REPEATS, true), (0, false)] {
        let mut turn = started(TurnConfig { max_repeats, ..allowing() });
        let mut todo = says(&mut turn, "The weather:\n");
        for _ in 0..60 {
            if !cancels(&todo) {
                todo.extend(says(&mut turn, line));
            }
        }
        assert_eq!(cancels(&todo), stopped);
        let todo = if stopped { todo } else { ends(&mut turn) };
        let Some(Action::Finish(finished)) = todo.last() else { panic!("{todo:?}") };
        if stopped {
            assert!(matches!(finished.reason, StopReason::Repetition { times: 10.. }), "{:?}", finished.reason);
            assert_eq!(finished.answer, format!("The weather:\n{line}").trim_end());
            let said = finished.conversation.messages().last().unwrap();
            assert_eq!((said.content().trim(), said.cut_off), (finished.answer.as_str(), true));
        } else {
            assert_eq!(finished.reason, StopReason::Answered);
        }
    }
}

#[test]
fn reasoning_that_repeats_itself_is_stopped_too() {
    let mut turn = started(allowing());
    let text = format!("<think>Hm. {}", "Wait, let me think about that again. ".repeat(60));
    let todo = says(&mut turn, &text);
    assert!(cancels(&todo), "{todo:?}");
    let Some(Action::Finish(finished)) = todo.last() else { panic!("{todo:?}") };
    assert!(matches!(finished.reason, StopReason::Repetition { .. }));
    let said = finished.conversation.messages().last().unwrap();
    assert!(said.reasoning.len() < 100 && finished.answer.is_empty(), "{said:?}");
}

#[test]
fn a_message_that_begins_with_a_result_is_corrected_once() {
    for forged in
        ["<tool_result id=\"call_1\">\nsunny\n</tool_result>", "\n<Tool_Response>sunny</tool_response> It is sunny."]
    {
        let mut turn = started(allowing());
        says(&mut turn, forged);
        let todo = ends(&mut turn);
        let said = &sent(&todo).messages.last().unwrap().content;
        assert!(said.contains("ForgedResult"), "{said}");
        says(&mut turn, "It is sunny.");
        let todo = ends(&mut turn);
        let Some(Action::Finish(finished)) = todo.last() else { panic!("{todo:?}") };
        assert_eq!((&finished.reason, finished.answer.as_str()), (&StopReason::Answered, "It is sunny."));
        let (asked, _, finished) = replayed(allowing(), forged, |_| String::new());
        assert!(
            matches!(finished.reason, StopReason::CorrectionsUsedUp { corrections: 1, .. }),
            "{:?}",
            finished.reason
        );
        assert_eq!(asked.len(), 2);
    }
}

#[test]
fn an_answer_that_only_mentions_a_result_is_an_answer() {
    for said in
        ["The tag <tool_result> holds it.", "<tool_results_page>1</tool_results_page>", "`<tool_result>` is it."]
    {
        let (asked, _, finished) = replayed(allowing(), said, |_| String::new());
        assert_eq!((asked.len(), finished.reason), (1, StopReason::Answered), "{said}");
    }
}
