//! In which order the calls of one message begin.

use super::*;

/// Returns a turn with the servers `files` (whose tools may have hints) and `web`.
fn over(hints: Option<Annotations>, config: TurnConfig) -> Turn {
    over_servers(hints, config, false)
}

fn over_servers(hints: Option<Annotations>, config: TurnConfig, parallel: bool) -> Turn {
    let reading = Annotations::default().with_read_only_hint(true);
    let tools = vec![
        Tool { annotations: hints, ..Tool::new("write") },
        Tool { annotations: Some(reading.clone()), ..Tool::new("read") },
        Tool { annotations: Some(reading), ..Tool::new("list") },
    ];
    let servers = [
        Server::new("files").with_tools(tools).with_parallel(parallel),
        Server::new("web").with_tools(vec![Tool::new("post")]),
    ];
    let validator = Arc::new(Validator::new(Arc::new(Catalog::new(servers))));
    let setup = Arc::new(Setup::new(config, validator, Arc::new(Plain)));
    let mut turn = Turn::new(setup, "Write.".into(), Granted::new()).unwrap();
    actions(&mut turn);
    turn
}

/// Ends a message with these calls, and returns the calls that begin.
fn made(turn: &mut Turn, tools: &[&str]) -> Vec<String> {
    let text: String = tools
        .iter()
        .enumerate()
        .map(|(n, tool)| {
            let server = if *tool == "post" { "web" } else { "files" };
            call(tool, &json!({ "n": n })).replace("demo", server)
        })
        .collect();
    says(turn, &text);
    begun(&ends(turn))
}

fn begun(actions: &[Action]) -> Vec<String> {
    calls(actions).into_iter().map(str::to_owned).collect()
}

fn over_is(turn: &mut Turn, id: &str, outcome: Outcome) -> Vec<String> {
    turn.handle(Input::Outcome { id: id.into(), outcome }).unwrap();
    begun(&actions(turn))
}

#[test]
fn writes_of_one_message_run_one_after_the_other_with_and_without_hints() {
    for hints in [None, Some(Annotations::default()), Some(Annotations::default().with_read_only_hint(false))] {
        let mut turn = over(hints, allowing());
        assert_eq!(made(&mut turn, &["write", "write", "write"]), ["call_1"]);
        assert_eq!(over_is(&mut turn, "call_1", Outcome::result("A")), ["call_2"]);
        assert_eq!(over_is(&mut turn, "call_2", Outcome::result("B")), ["call_3"]);
        turn.handle(Input::Outcome { id: "call_3".into(), outcome: Outcome::result("C") }).unwrap();
        assert!(actions(&mut turn).iter().any(|action| matches!(action, Action::Send(_))));
    }
}

#[test]
fn reads_run_together_and_keep_their_place_between_writes() {
    let mut turn = over(None, allowing());
    assert_eq!(made(&mut turn, &["read", "list", "read", "list"]), ["call_1", "call_2", "call_3", "call_4"]);
    let mut turn = over(None, allowing());
    assert_eq!(made(&mut turn, &["write", "read", "list", "write", "read"]), ["call_1"]);
    assert_eq!(over_is(&mut turn, "call_1", Outcome::result("")), ["call_2", "call_3"]);
    assert_eq!(over_is(&mut turn, "call_3", Outcome::result("")).len(), 0, "the other read has not ended");
    assert_eq!(over_is(&mut turn, "call_2", Outcome::result("")), ["call_4"]);
    assert_eq!(over_is(&mut turn, "call_4", Outcome::result("")), ["call_5"]);
}

#[test]
fn servers_run_beside_each_other_and_one_that_may_runs_its_calls_so() {
    let mut turn = over(None, allowing());
    assert_eq!(made(&mut turn, &["write", "post", "write", "post"]), ["call_1", "call_2"]);
    assert_eq!(over_is(&mut turn, "call_2", Outcome::result("")), ["call_4"]);
    let mut turn = over_servers(None, allowing(), true);
    assert_eq!(made(&mut turn, &["write", "read", "write", "post", "post"]), ["call_1", "call_2", "call_3", "call_4"]);
}

#[test]
fn a_built_in_tool_only_reads_and_answers_after_a_failure() {
    let catalog = Catalog::from_tools([Tool::new("write")]).with_built_in(crate::tools::BuiltIn::Describe);
    let setup = Setup::new(allowing(), Arc::new(Validator::new(Arc::new(catalog))), Arc::new(Plain));
    let mut turn = Turn::new(Arc::new(setup), "Write.".into(), Granted::new()).unwrap();
    actions(&mut turn);
    let text = [call("wirte", &json!({})), call("describe_tool", &json!({"tool": "write"})), call("write", &json!({}))];
    says(&mut turn, &text.concat().replace("<server_name>demo</server_name>", ""));
    let todo = ends(&mut turn);
    assert_eq!(not_run(&todo), [after("call_2", "wirte")]);
    assert!(begun(&todo).is_empty());
}

#[test]
fn what_is_allowed_waits_for_the_answer_about_a_call_before_it() {
    for approved in [true, false] {
        let policy = Policy::new(Decision::Ask).allow("files.read").allow("web.post");
        let mut turn = over(None, TurnConfig { policy, ..allowing() });
        assert_eq!(made(&mut turn, &["write", "read", "post"]), ["call_3"], "only the other server's runs");
        turn.handle(Input::Approval { id: "call_1".into(), approval: approved.into() }).unwrap();
        let then = begun(&actions(&mut turn));
        if approved {
            assert_eq!(then, ["call_1"]);
            assert_eq!(over_is(&mut turn, "call_1", Outcome::result("")), ["call_2"]);
        } else {
            assert_eq!(then, ["call_2"], "a denied call loses no read after it");
        }
    }
}

/// Returns the answers to calls that did not run, by their ids.
fn not_run(actions: &[Action]) -> Vec<(String, String)> {
    let told = |action: &Action| match action {
        Action::Emit(AgentEvent::Outcome { id, outcome }) if outcome.status == Status::Denied => {
            Some((id.clone(), outcome.text.clone()))
        }
        _ => None,
    };
    actions.iter().filter_map(told).collect()
}

fn after(id: &str, tool: &str) -> (String, String) {
    (id.to_owned(), format!("NotRunAfter({tool:?})"))
}

#[test]
fn after_a_call_that_failed_no_later_one_of_its_server_runs_but_reads() {
    for outcome in [Outcome::error("full"), Outcome::new(Status::TimedOut, "late")] {
        let mut turn = over(None, allowing());
        assert_eq!(made(&mut turn, &["write", "read", "write", "post", "write"]), ["call_1", "call_4"]);
        turn.handle(Input::Outcome { id: "call_1".into(), outcome: outcome.clone() }).unwrap();
        let then = actions(&mut turn);
        assert_eq!(begun(&then), ["call_2"], "{outcome:?}");
        assert_eq!(not_run(&then), [after("call_3", "write"), after("call_5", "write")]);
        assert_eq!(over_is(&mut turn, "call_4", Outcome::error("no")).len(), 0);
        turn.handle(Input::Outcome { id: "call_2".into(), outcome: Outcome::result("text") }).unwrap();
        assert!(actions(&mut turn).iter().any(|action| matches!(action, Action::Send(_))), "all are answered");
    }
    // A read that failed stops what follows as well; what comes before it is not touched.
    let mut turn = over(None, allowing());
    assert_eq!(made(&mut turn, &["write", "read", "write"]), ["call_1"]);
    over_is(&mut turn, "call_1", Outcome::result(""));
    turn.handle(Input::Outcome { id: "call_2".into(), outcome: Outcome::error("no such file") }).unwrap();
    assert_eq!(not_run(&actions(&mut turn)), [after("call_3", "read")]);
}

#[test]
fn after_a_call_that_was_denied_none_is_asked_about_that_rests_on_it() {
    let policy = Policy::new(Decision::Ask).deny("files.list");
    let mut turn = over(None, TurnConfig { policy: policy.clone(), ..allowing() });
    made(&mut turn, &["write", "post", "write"]);
    turn.handle(Input::Approval { id: "call_1".into(), approval: false.into() }).unwrap();
    let then = actions(&mut turn);
    let denied = not_run(&then);
    assert_eq!(denied[1..], [after("call_3", "write")], "{denied:?}");
    let asked = then.iter().filter_map(|action| match action {
        Action::Ask(request) => Some(request.id.as_str()),
        _ => None,
    });
    assert_eq!(asked.collect::<Vec<_>>(), ["call_2"]);
    // The policy's own no does the same.
    let mut turn = over(None, TurnConfig { policy, ..allowing() });
    says(&mut turn, &["list", "write"].map(|tool| call(tool, &json!({})).replace("demo", "files")).concat());
    assert_eq!(not_run(&ends(&mut turn))[1..], [after("call_2", "list")]);
}

#[test]
fn an_open_question_is_withdrawn_where_the_call_before_it_fails() {
    let policy = Policy::new(Decision::Allow).ask("files.ask");
    let tools = ["write", "ask"].map(Tool::new);
    let servers = [Server::new("files").with_tools(tools), Server::new("web").with_tools([Tool::new("ask")])];
    let validator = Arc::new(Validator::new(Arc::new(Catalog::new(servers))));
    let config = TurnConfig { policy: policy.ask("web.ask"), ..allowing() };
    let setup = Arc::new(Setup::new(config, validator, Arc::new(Plain)));
    let mut turn = Turn::new(setup, "Write.".into(), Granted::new()).unwrap();
    actions(&mut turn);
    let of = |server: &str, tool: &str| call(tool, &json!({})).replace("demo", server);
    says(&mut turn, &[of("files", "write"), of("files", "ask"), of("web", "ask")].concat());
    ends(&mut turn);
    turn.handle(Input::Outcome { id: "call_1".into(), outcome: Outcome::error("full") }).unwrap();
    let then = actions(&mut turn);
    assert!(then.contains(&Action::Withdraw { id: "call_2".into() }), "{then:?}");
    assert!(then.iter().any(|action| matches!(action, Action::Ask(request) if request.id == "call_3")), "{then:?}");
    let late = Input::Approval { id: "call_2".into(), approval: true.into() };
    assert_eq!(turn.handle(late).unwrap_err(), TurnError::NotAsked { id: "call_2".into() });
}

#[test]
fn after_a_call_that_was_rejected_no_later_one_of_its_server_runs_but_reads() {
    let of = |server: &str, tool: &str| call(tool, &json!({})).replace("demo", server);
    let broken = "<use_mcp_tool><server_name>files</server_name><tool_name>write</tool_name><arguments>{\"a\":                   </arguments></use_mcp_tool>";
    let unknown = of("files", "wriet");
    let nowhere = of("fiels", "create");
    for (parallel, rejected, name, others_run) in
        [(false, broken, "write", true), (true, &unknown, "wriet", true), (false, &nowhere, "create", false)]
    {
        let mut turn = over_servers(None, allowing(), parallel);
        let said = [rejected.to_owned(), of("files", "write"), of("files", "read"), of("web", "post")].concat();
        says(&mut turn, &said);
        let then = ends(&mut turn);
        let runs: &[&str] = if others_run { &["call_2", "call_3"] } else { &["call_2"] };
        assert_eq!(begun(&then), runs, "{rejected}");
        assert_eq!(not_run(&then)[0], after("call_1", name), "{rejected}");
    }
    // Before it they run, and a call that is only quoted stops none.
    let mut turn = over(None, allowing());
    says(&mut turn, &[of("files", "write"), unknown.clone()].concat());
    assert_eq!(begun(&ends(&mut turn)), ["call_1"]);
    let mut turn = over(None, allowing());
    says(&mut turn, &format!("As in\n\n> {unknown}\n\nI write:\n\n{}", of("files", "write")));
    assert_eq!(begun(&ends(&mut turn)), ["call_1"]);
    // A message of which nothing runs is a mistake, and those are limited.
    let mut turn = over(None, allowing());
    let mut rounds = 0;
    let reason = loop {
        says(&mut turn, &[unknown.clone(), of("files", "write")].concat());
        rounds += 1;
        if let Some(Action::Finish(finished)) = ends(&mut turn).pop() {
            break finished.reason;
        }
    };
    assert!(matches!(reason, StopReason::CorrectionsUsedUp { corrections: 2, .. }) && rounds == 3, "{reason:?}");
}

#[test]
fn a_suspended_turn_begins_nothing_and_the_next_goes_on_in_order() {
    let mut turn = over(None, allowing());
    made(&mut turn, &["write", "write", "write"]);
    turn.handle(Input::Suspend).unwrap();
    turn.handle(Input::Outcome { id: "call_1".into(), outcome: Outcome::result("A") }).unwrap();
    let last = actions(&mut turn);
    assert_eq!(calls(&last).len(), 0);
    let Some(Action::Finish(finished)) = last.into_iter().last() else { panic!("it is suspended") };
    assert_eq!(finished.reason, StopReason::Suspended);
    let mut next = Turn::new(over(None, allowing()).setup(), finished.conversation, Granted::new()).unwrap();
    assert_eq!(begun(&actions(&mut next)), ["call_2"]);
    assert_eq!(over_is(&mut next, "call_2", Outcome::result("B")), ["call_3"]);
}

#[test]
fn a_tool_that_appears_in_a_turn_can_be_called_in_it() {
    let mut turn = over(None, allowing());
    made(&mut turn, &["write"]);
    let tools = ["write", "grown"].map(Tool::new);
    let validator = Arc::new(Validator::new(Arc::new(Catalog::new([Server::new("files").with_tools(tools)]))));
    turn.retool(Arc::new(Setup::new(allowing(), validator, Arc::new(Plain))));
    assert_eq!(over_is(&mut turn, "call_1", Outcome::result("grown")).len(), 0);
    assert_eq!(made(&mut turn, &["grown"]), ["call_2"]);
}
