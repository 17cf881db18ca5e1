//! The end of a model that says or does the same thing again and again.

use super::rounds::sent;
use super::*;

/// Plays a turn of a model that writes the same in every round and gets the same result. Returns the texts of its
/// requests' last messages, the number of calls that ran, and the end.
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
fn a_read_with_the_same_result_as_often_as_it_may_is_not_run_again() {
    let (_, ran, finished) = replayed(allowing(), &paris(), |_| "sunny".to_owned());
    assert_eq!((ran, finished.rounds), (MAX_SAME_RESULTS as usize, MAX_SAME_RESULTS + 3));
    let config = TurnConfig { max_same_results: 0, ..allowing() };
    let (_, ran, finished) = replayed(config, &paris(), |_| "sunny".to_owned());
    assert_eq!((ran, finished.reason), (11, StopReason::MaxRounds { rounds: 12 }));
    let config = TurnConfig { max_same_results: 2, ..allowing() };
    let (asked, ran, finished) = replayed(config, &paris(), |_| "sunny".to_owned());
    assert_eq!(ran, 2);
    assert_eq!(finished.reason, StopReason::SameCalls { tool: "weather".into() });
    assert_eq!((finished.rounds, finished.calls), (5, 2));
    assert!(!asked[1].contains("SameResult") && asked[1].contains("Result: sunny"), "{}", asked[1]);
    assert!(asked[2].contains("SameResult") && asked[2].contains("Result: sunny"), "{}", asked[2]);
    for text in &asked[3..] {
        assert!(text.contains("Denied: NotRunAgain(2)") && !text.contains("sunny"), "no result is told: {text}");
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
    assert!(
        asked[3].ends_with("<tool_status>LastRound</tool_status>") && !asked.concat().contains("SameResult"),
        "{asked:?}"
    );
}

/// Returns a turn with tools that read (`status`, `list`) and tools that may change something (`edit`, `test`).
fn working(config: TurnConfig) -> Turn {
    let reading = Annotations::default().with_read_only_hint(true);
    let reads = ["status", "list", "log"].map(|name| Tool { annotations: Some(reading.clone()), ..Tool::new(name) });
    let tools: Vec<Tool> = reads.into_iter().chain(["edit", "test"].map(Tool::new)).collect();
    let validator = Arc::new(Validator::new(Arc::new(Catalog::new([Server::new("demo").with_tools(tools)]))));
    let setup = Arc::new(Setup::new(config, validator, Arc::new(Plain)));
    let mut turn = Turn::new(setup, "Mend it.".into(), Granted::new()).unwrap();
    actions(&mut turn);
    turn
}

/// Writes a call as the model, and reports its result if it runs. Returns `ran`, the reason for which it needed
/// approval (which is given), or `told` if the call did not run; and the text of the following request.
fn made(turn: &mut Turn, tool: &str, arguments: &Value, result: &str) -> (String, String) {
    says(turn, &call(tool, arguments));
    let mut todo = ends(turn);
    let mut became = "ran".to_owned();
    if let Some(Action::Ask(request)) = todo.iter().find(|action| matches!(action, Action::Ask(_))) {
        became = format!("{:?}", request.reason);
        turn.handle(Input::Approval { id: request.id.clone(), approval: true.into() }).unwrap();
        todo = actions(turn);
    }
    if let [id] = calls(&todo)[..] {
        turn.handle(Input::Outcome { id: id.to_owned(), outcome: Outcome::result(result) }).unwrap();
        todo = actions(turn);
    } else {
        became = "told".to_owned();
    }
    (became, sent(&todo).messages.last().unwrap().content.clone())
}

fn unattended() -> TurnConfig {
    TurnConfig { unattended: true, max_rounds: 40, ..allowing() }
}

#[test]
fn test_and_edit_in_turn_run_each_time_and_the_newest_result_is_told() {
    let attended = TurnConfig { max_rounds: 40, ..allowing() };
    for config in [unattended(), attended] {
        let mut turn = working(config);
        for n in 0..12 {
            let (became, told) = made(&mut turn, "test", &json!({}), "1 failed");
            assert!(became == "ran" && told.contains("Result: 1 failed"), "{n}: {became} {told}");
            let (became, _) = made(&mut turn, "edit", &json!({ "line": n }), "done");
            assert_eq!(became, "ran", "{n}");
        }
        let (became, told) = made(&mut turn, "test", &json!({}), "all passed");
        assert!(became == "ran" && told.contains("Result: all passed") && !told.contains("failed"), "{told}");
    }
}

#[test]
fn an_equal_call_that_may_change_something_runs_where_nobody_can_be_asked() {
    let mut turn = working(unattended());
    let became: Vec<_> = (1..=5).map(|n| made(&mut turn, "edit", &json!({"push": 1}), &n.to_string())).collect();
    assert!(became.iter().all(|(became, _)| became == "ran"), "{became:?}");
    assert!(became[4].1.contains("Result: 5"), "{became:?}");
    // Somebody is asked about it, and not once another call came between.
    let mut turn = working(TurnConfig { max_rounds: 40, ..allowing() });
    let mut became = |tool: &str, result: &str| made(&mut turn, tool, &json!({}), result).0;
    assert_eq!([became("edit", "1"), became("edit", "2"), became("edit", "3")], ["ran", "Repeated", "Repeated"]);
    assert_eq!([became("status", "s"), became("edit", "4"), became("test", "t")], ["ran", "ran", "ran"]);
    // Cycles, once they came twice with the same results.
    let cycle: Vec<String> = (0..5).map(|n| became(["log", "test"][n % 2], "same")).collect();
    assert_eq!(cycle, ["ran", "ran", "ran", "ran", "ran"], "a read is never asked about");
    assert_eq!(became("test", "same"), "Repeated");
    let mut turn = working(TurnConfig { max_rounds: 40, ..allowing() });
    let mut became = |tool: &str, result: &str| made(&mut turn, tool, &json!({}), result).0;
    let cycle: Vec<String> = (0..7).map(|n| became(["edit", "log", "test"][n % 3], "same")).collect();
    assert_eq!(cycle, ["ran", "ran", "ran", "ran", "ran", "ran", "Repeated"]);
    // In one message as well.
    let mut turn = working(allowing());
    says(&mut turn, &call("edit", &json!({})).repeat(2));
    let todo = ends(&mut turn);
    assert_eq!(calls(&todo), ["call_1"]);
    assert!(todo.iter().any(|action| matches!(action, Action::Ask(asked) if asked.reason == AskReason::Repeated)));
}

#[test]
fn polling_goes_on_while_the_result_changes_and_up_to_the_limit_where_not() {
    let mut turn = working(unattended());
    for n in 0..20 {
        assert_eq!(made(&mut turn, "status", &json!({}), &format!("{n} %")).0, "ran", "{n}");
    }
    let became: Vec<_> = (0..9).map(|_| made(&mut turn, "status", &json!({}), "waiting").0).collect();
    assert_eq!(became.iter().filter(|became| *became == "ran").count(), 8, "{became:?}");
    // What may change something gives it a new chance.
    made(&mut turn, "edit", &json!({}), "done");
    assert_eq!(made(&mut turn, "status", &json!({}), "waiting").0, "ran");
    // Cycles of two and three reads are no way around it.
    for cycle in [&["status", "list"][..], &["status", "list", "log"]] {
        let mut turn = working(unattended());
        let rounds = cycle.len() * 8;
        let tool = |n: usize| cycle[n % cycle.len()];
        assert!((0..rounds).all(|n| made(&mut turn, tool(n), &json!({}), "same").0 == "ran"), "{cycle:?}");
        let (became, told) = made(&mut turn, cycle[0], &json!({}), "same");
        assert!(became == "told" && told.contains("NotRunAgain(8)") && !told.contains("same"), "{told}");
    }
}

#[test]
fn a_turn_that_ends_for_a_loop_names_the_call_that_was_refused() {
    let mut turn = working(TurnConfig { max_same_results: 1, ..unattended() });
    let became: Vec<_> = (0..3).map(|_| made(&mut turn, "status", &json!({}), "waiting").0).collect();
    assert_eq!(became, ["ran", "told", "told"]);
    says(&mut turn, &call("edit", &json!({})));
    let Some(Action::Finish(finished)) = ends(&mut turn).pop() else { panic!("it goes on") };
    assert_eq!(finished.reason, StopReason::SameCalls { tool: "status".into() });
}

#[test]
fn a_loop_goes_on_from_the_calls_of_a_clients_history() {
    let mut client = TurnStart::default();
    let made = Call::new(Dialect::Json, "weather", json!({"city": "Paris"})).with_server("demo");
    client.calls = vec![(made.clone(), Outcome::result("sunny")); MAX_SAME_RESULTS as usize];
    let begun = |calls: Vec<(Call, Outcome)>| {
        let client = TurnStart { calls, ..TurnStart::default() };
        let mut turn = Turn::begin(setup(allowing()), "Weather?".into(), None, client).unwrap();
        actions(&mut turn);
        says(&mut turn, &paris());
        calls_of(ends(&mut turn))
    };
    assert_eq!(begun(client.calls[1..].to_vec()), 1);
    client.calls.insert(3, (made, Outcome::result("rain")));
    assert_eq!(begun(client.calls.clone()), 1, "it was not the same in a row");
    client.calls.remove(3);
    assert_eq!(begun(client.calls), 0);
}

fn calls_of(actions: Vec<Action>) -> usize {
    calls(&actions).len()
}

#[test]
fn equal_calls_of_a_message_are_limited_and_end_it() {
    let many = paris().repeat(62);
    for chunk in [many.len(), 7] {
        let mut turn = started(TurnConfig { max_same_results: 0, ..allowing() });
        let mut said = 0;
        let mut todo = Vec::new();
        for piece in many.as_bytes().chunks(chunk) {
            if !cancels(&todo) {
                said += 1;
                todo.extend(says(&mut turn, std::str::from_utf8(piece).unwrap()));
            }
        }
        assert!(cancels(&todo) && (chunk > 7 || said < many.len() / chunk / 5), "{chunk}: {said}");
        assert_eq!(calls(&todo).len(), MAX_EQUAL_CALLS, "{chunk}");
        let ids: Vec<String> = calls(&todo).into_iter().map(str::to_owned).collect();
        for id in ids {
            turn.handle(Input::Outcome { id, outcome: Outcome::result("sunny") }).unwrap();
        }
        let todo = actions(&mut turn);
        let told = &sent(&todo).messages.last().unwrap().content;
        assert!(told.contains("EqualCalls(5)"), "{told}");
        let said = turn.shared.conversation.messages().last().unwrap().written();
        assert_eq!(said.matches("<use_mcp_tool>").count(), MAX_EQUAL_CALLS, "{said}");
    }
    // As often as they may, and beside others, they are all read.
    let mut turn = started(allowing());
    let london = call("weather", &json!({"city": "London"}));
    says(&mut turn, &format!("{}{london}", paris().repeat(MAX_EQUAL_CALLS)));
    assert_eq!(calls(&ends(&mut turn)).len(), MAX_EQUAL_CALLS + 1);
    // Calls that were rejected alike are no more than these.
    let mut turn = started(allowing());
    let todo = says(&mut turn, &call("weather", &json!({"town": "Paris"})).repeat(62));
    let rejected = todo.iter().filter(|action| matches!(action, Action::Emit(AgentEvent::CallRejected { .. })));
    assert_eq!(rejected.count(), MAX_EQUAL_CALLS);
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
        for _ in 0..200 {
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
    let text = format!("<think>Hm. {}", "Wait, let me think about that again. ".repeat(150));
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

fn ended(turn: &mut Turn) -> Finished {
    match actions(turn).pop() {
        Some(Action::Finish(finished)) => *finished,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_refusal_ends_the_turn_at_once_and_is_its_answer() {
    for before in ["", "Well. ", &paris()] {
        let mut turn = started(allowing());
        says(&mut turn, before);
        turn.handle(Input::Model(ModelEvent::Delta(Delta::refusal("I can't ")))).unwrap();
        turn.handle(Input::Model(ModelEvent::Delta(Delta::refusal("help.")))).unwrap();
        turn.handle(Input::Model(ModelEvent::Finish(FinishReason::Stop))).unwrap();
        let finished = ended(&mut turn);
        assert_eq!(finished.reason, StopReason::Refused { message: "I can't help.".into() });
        assert!(finished.answer.ends_with("I can't help."), "{}", finished.answer);
        assert_eq!((finished.rounds, finished.calls), (1, 0));
    }
}

#[test]
fn what_was_withheld_ends_the_turn_and_none_of_its_calls_runs() {
    for text in ["", "It is", &paris(), &paris()[..40]] {
        let mut turn = started(allowing());
        says(&mut turn, text);
        turn.handle(Input::Model(ModelEvent::Finish(FinishReason::Other("content_filter".into())))).unwrap();
        let finished = ended(&mut turn);
        assert_eq!((finished.reason, finished.rounds, finished.calls), (StopReason::Filtered, 1, 0), "{text}");
    }
}

#[test]
fn a_message_ends_where_no_more_of_it_is_wanted_and_none_of_its_calls_runs() {
    for text in ["It is", &paris(), &paris()[..40]] {
        let mut turn = started(allowing());
        says(&mut turn, text);
        turn.handle(Input::Enough).unwrap();
        let all = actions(&mut turn);
        assert!(all.contains(&Action::CancelStream), "{all:?}");
        let Some(Action::Finish(finished)) = all.last() else { panic!("{all:?}") };
        assert_eq!((&finished.reason, finished.calls), (&StopReason::OutputLimit, 0), "{text}");
    }
    // So does one that is longer than any may be.
    let mut turn = started(TurnConfig { max_repeats: 0, ..allowing() });
    let piece = "word ".repeat(1 << 16);
    let pieces = (0..100).take_while(|_| !says(&mut turn, &piece).contains(&Action::CancelStream)).count();
    assert!((25..32).contains(&pieces), "{pieces} pieces of {} bytes", piece.len());
}

#[test]
fn a_call_that_repeats_itself_is_stopped_and_not_asked_for_again() {
    let mut turn = started(allowing());
    says(
        &mut turn,
        "<use_mcp_tool>\n<server_name>demo</server_name>\n<tool_name>weather</tool_name>\n<arguments>\n{\"city\": \"",
    );
    let mut all = Vec::new();
    let pieces = (0..100_000).take_while(|_| {
        all = says(&mut turn, "Paris, ");
        !all.contains(&Action::CancelStream)
    });
    let pieces = pieces.count();
    assert!(pieces * "Paris, ".len() < 40 << 10, "{pieces}");
    let Some(Action::Finish(finished)) = all.last() else { panic!("{all:?}") };
    assert!(matches!(finished.reason, StopReason::Repetition { .. }), "{:?}", finished.reason);
    assert_eq!((finished.rounds, finished.calls), (1, 0));
}
