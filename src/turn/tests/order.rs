//! In which order the calls of one message begin.

use super::*;
use crate::tools::Annotations;

/// A turn over the servers `files` (whose tools may have hints) and `web`.
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

/// Ends a message with these calls; gives what was begun.
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
        assert_eq!(over_is(&mut turn, "call_2", Outcome::error("full")), ["call_3"], "a failure loses none after it");
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
fn what_is_allowed_waits_for_the_answer_about_a_call_before_it() {
    for approved in [true, false] {
        let policy = Policy::new(DefaultDecision::Ask).allow("files.read").allow("web.post");
        let mut turn = over(None, TurnConfig { policy, ..allowing() });
        assert_eq!(made(&mut turn, &["write", "read", "post"]), ["call_3"], "only the other server's runs");
        turn.handle(Input::Approval { id: "call_1".into(), approval: approved.into() }).unwrap();
        let then = begun(&actions(&mut turn));
        if approved {
            assert_eq!(then, ["call_1"]);
            assert_eq!(over_is(&mut turn, "call_1", Outcome::result("")), ["call_2"]);
        } else {
            assert_eq!(then, ["call_2"], "a denied call loses none after it");
        }
    }
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
