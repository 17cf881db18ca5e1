//! Changes that run, wait, or give way to another call.

use super::*;

#[test]
fn after_a_change_that_used_all_that_was_named_the_answer_is_asked_for() {
    let arguments = json!({"title": "Dentist", "date": "2026-12-10"});
    for (question, done) in [
        ("Create the event Dentist on 2026-12-10.", true),
        ("Create the event Dentist on 2026-12-10 and tell me what else is there.", false),
        ("Create the event Dentist on 2026-12-10, and invite Tom Okafor.", false),
        ("Put it into my calendar.", true),
        ("Put it into my calendar, and invite him.", false),
    ] {
        let mut job = Job::of(question);
        job.gives("create_event", arguments.clone(), Outcome::result("ok"));
        assert_eq!(job.asks_for_the_answer(), done, "{question}");
    }
    for (question, answer) in [("Read /a.txt and tell me the city.", false), ("Read /a.txt.", true)] {
        let mut job = Job::of(question);
        job.gives("read_file", json!({"path": "/a.txt"}), Outcome::result("/b.txt"));
        assert_eq!(job.asks_for_the_answer(), answer, "what was looked up may lead on: {question}");
    }
    let mut job = Job::of("Create the event Dentist on 2026-12-10.");
    job.gives("create_event", arguments, Outcome::error("the calendar is closed"));
    assert!(!job.asks_for_the_answer(), "it failed");
}

#[test]
fn a_further_change_that_nobody_asked_for_does_not_run() {
    for (text, runs) in [("Dentist", true), ("Lunch", false)] {
        let mut job = Job::of("Create the event Dentist on 2026-12-10 and look at it.");
        job.gives("create_event", json!({"title": "Dentist", "date": "2026-12-10"}), Outcome::result("ok"));
        let ran = job.calls("write_file", json!({"path": "2026-12-10", "content": text}));
        assert_eq!(ran, runs, "{text}");
        assert!(runs || job.asks_for_the_answer());
    }
}

#[test]
fn a_change_after_a_lookup_waits_for_its_result() {
    let mut job = Job::of("Read /a.txt and write it into /b.txt in capital letters.");
    let call = |tool: &str, arguments: serde_json::Value| {
        let call = format!("<tool_name>{tool}</tool_name>\n<arguments>\n{arguments}\n</arguments>");
        format!("<use_mcp_tool>\n{call}\n</use_mcp_tool>\n")
    };
    let read = call("read_file", json!({"path": "/a.txt"}));
    let write = call("write_file", json!({"path": "/b.txt", "content": "{{output}}"}));
    job.done = says(&mut job.turn, &format!("{read}{write}"));
    assert!(cancels(&job.done), "the change is not read to its end: {:?}", job.done);
    assert_eq!(calls(&job.done), ["call_1"], "{:?}", job.done);
    job.turn.handle(Input::Outcome { id: "call_1".into(), outcome: Outcome::result("milk") }).unwrap();
    job.done = actions(&mut job.turn);
    job.gives("write_file", json!({"path": "/b.txt", "content": "MILK"}), Outcome::result("ok"));
}

#[test]
fn a_file_is_read_before_a_change_that_needs_it() {
    let mut job = Job::of("Copy /a/notes.txt into a new file /a/copy.txt.");
    let invented = json!({"path": "/a/copy.txt", "content": "The content of notes.txt."});
    assert!(!job.calls("write_file", invented.clone()), "{:?}", job.done);
    assert!(job.only().contains("read_file") && job.only().contains("/a/notes.txt"), "{}", job.only());
    for (question, arguments) in [
        ("Write milk into /a/list.txt.", json!({"path": "/a/list.txt", "content": "milk"})),
        (r"Write a poem into C:\a\list.txt.", json!({"path": r"C:\a\list.txt", "content": "Roses"})),
        ("Write a poem into /a/list.txt.", json!({"path": "/a/list.txt", "content": "Roses"})),
        ("Like in /a/x.txt write milk into /a/list.txt.", json!({"path": "/a/list.txt", "content": "milk"})),
    ] {
        assert!(Job::of(question).calls("write_file", arguments), "{question}");
    }
}

#[test]
fn a_text_that_is_a_copy_of_a_result_is_written_as_a_message_of_its_own() {
    let copies = [
        "milk\neggs\n",
        "<tool_result end=\"ab\">milk\neggs</tool_result ab>",
        "<tool_result end=\"ab\">milk and eggs</tool_result>",
    ];
    for (copied, said, written) in [
        (copies[0], "```\n\neggs\nmilk\n```", "eggs\nmilk\n"),
        (copies[1], "Here it is:\n```text\neggs\nmilk\n```", "eggs\nmilk"),
        (copies[2], "eggs, milk", "milk and eggs"),
        (copies[0], "```\neggs\n```\nor\n```\nmilk\n```", copies[0]),
    ] {
        let mut job = Job::of("Read /a.txt and write /b.txt with its lines in order.");
        job.gives("read_file", json!({"path": "/a.txt"}), Outcome::result("milk\neggs"));
        assert!(!job.calls("write_file", json!({"path": "/b.txt", "content": copied})), "{:?}", job.done);
        let request = job.request().clone();
        assert!(job.grammar().starts_with("root ::= \"```"), "{}", job.grammar());
        let asked = &request.messages.last().unwrap().content;
        assert!(asked.contains("milk\neggs") && asked.ends_with("text of /b.txt:"), "{asked}");
        let events = says(&mut job.turn, said);
        assert!(!events.iter().any(|action| matches!(action, Action::Emit(AgentEvent::Text { .. }))), "{events:?}");
        job.done = ends(&mut job.turn);
        assert!(job.only().contains(&json!(written).to_string()), "{}", job.only());
        assert!(job.calls("write_file", json!({"path": "/b.txt", "content": written})), "it is not asked for again");
    }
    for result in ["O-1042", "12 candles"] {
        let mut job = Job::of("Read /a.txt and write /b.txt with what it says.");
        job.gives("read_file", json!({"path": "/a.txt"}), Outcome::result(result));
        assert!(job.calls("write_file", json!({"path": "/b.txt", "content": result})), "a value: {:?}", job.done);
    }
}

#[test]
fn what_was_done_is_not_taken_back() {
    let mut job = Job::of("Switch light-2 and light-3 off and look whether they are.");
    job.gives("set_light", json!({"device_id": "light-2", "on": false}), Outcome::result("ok"));
    job.gives("set_light", json!({"device_id": "light-3", "on": false}), Outcome::result("ok"));
    assert!(!job.calls("set_light", json!({"device_id": "light-2", "on": true})), "{:?}", job.done);
    let mut job = Job::of("Switch light-2 on.");
    job.gives("set_light", json!({"device_id": "light-2", "on": true}), Outcome::error("there is no such light"));
    assert!(job.calls("set_light", json!({"device_id": "light-2", "on": false})), "nothing was done: {:?}", job.done);
}

#[test]
fn in_the_place_of_a_change_that_failed_comes_the_one_that_the_request_means() {
    let mut job = Job::of("Create the event Dentist on 2026-12-03.");
    let wrong = json!({"path": "Dentist", "content": "2026-12-03"});
    job.gives("write_file", wrong.clone(), Outcome::error("not below an allowed folder"));
    assert!(!job.calls("write_file", wrong), "it fails alike");
    assert!(job.grammar().contains("create_event") && !job.grammar().contains("write_file"), "{}", job.grammar());
    job.gives("create_event", json!({"title": "Dentist", "date": "2026-12-03"}), Outcome::result("ok"));
    // What failed may succeed after a change.
    let mut job = Job::of("Create the event Dinner on 2026-12-03 and switch light-2 on and look whether all is well.");
    let light = json!({"device_id": "light-2", "on": true});
    job.gives("set_light", light.clone(), Outcome::error("there is no event"));
    job.gives("create_event", json!({"title": "Dinner", "date": "2026-12-03"}), Outcome::result("ok"));
    assert!(job.calls("set_light", light), "{:?}", job.done);
    // What was called fits best: what it needs is looked up.
    let mut job = Job::of("Invite P-08 to my event E-99.");
    job.gives("invite", json!({"event_id": "E-99", "contact_id": "P-08"}), Outcome::error("no such event"));
    assert!(!job.calls("invite", json!({"event_id": "E-99", "contact_id": "P-08"})));
    assert!(!job.grammar().contains("create_event") && job.grammar().contains("list_events"), "{}", job.grammar());
}

#[test]
fn what_was_to_be_done_is_done_once_its_ids_are_looked_up() {
    let mut job = Job::of("Invite Tom Okafor to my event Planning.");
    assert!(!job.calls("invite", json!({"event_id": "event_id-1", "contact_id": "Tom"})));
    assert!(!job.grammar().contains("invite") && job.grammar().contains("find_contact"));
    job.gives("find_contact", json!({"name": "Tom Okafor"}), Outcome::result(CONTACT));
    let lookups = job.grammar();
    assert!(lookups.contains("list_events") && !lookups.contains("find_contact"), "{lookups}");
    assert!(!lookups.contains("date"), "what would narrow it down is a guess: {lookups}");
    job.gives("list_events", json!({}), Outcome::result(EVENTS));
    let values = job.grammar();
    assert!(values.contains("E-34") && values.contains("P-08") && !values.contains("E-31"), "{values}");
    job.gives("invite", json!({"event_id": "E-34", "contact_id": "P-08"}), Outcome::result("ok"));
    assert!(job.asks_for_the_answer(), "an id is used for the name that stands beside it");
}

#[test]
fn a_change_that_was_only_written_because_another_tool_was_asked_for_is_not_made_later() {
    let mut job = Job::of("Create an event Standup on 2026-12-04 for Tom.");
    job.gives("create_event", json!({"title": "Standup", "date": "2026-12-04"}), Outcome::result("ok"));
    assert!(!job.calls("create_event", json!({"title": "Standup", "date": "2026-12-04"})));
    assert!(job.grammar().contains("invite") && !job.grammar().contains("create_event"), "{}", job.grammar());
    assert!(!job.calls("invite", json!({"event_id": "event_id-1", "contact_id": "contact_id-1"})));
    assert_eq!(job.turn.shared.client.postponed, None);
}

#[test]
fn members_that_nobody_spoke_of_are_left_out_and_the_history_has_what_ran() {
    let mut job = Job::of("What is in my calendar?");
    assert!(job.calls("list_events", json!({"date": "2026-12-03"})));
    let call = job.turn.shared.conversation.pending().next().unwrap().clone();
    assert_eq!((&call.call.arguments, &*call.call.raw_arguments), (&json!({}), "{}"));
    assert_eq!(call.call.repairs, [crate::event::Repair::LeftOut("/date".into())]);
    assert!(call.raw.contains("list_events") && !call.raw.contains("2026"), "{}", call.raw);
    // What was answered without it is asked for with it: it may be the next page.
    let mut job = Job::of("What is in my calendar?");
    job.gives("list_events", json!({"date": "2026-12-03"}), Outcome::result("many"));
    assert!(job.calls("list_events", json!({"date": "2026-12-04"})));
    assert_eq!(job.turn.shared.conversation.pending().next().unwrap().call.arguments, json!({"date": "2026-12-04"}));
    let mut job = Job::of("What is in my calendar on 2026-12-03?");
    assert!(job.calls("list_events", json!({"date": "2026-12-03"})));
    assert_eq!(job.turn.shared.conversation.pending().next().unwrap().call.arguments, json!({"date": "2026-12-03"}));
}

#[test]
fn a_question_changes_nothing() {
    let change = json!({"name": "cart", "replicas": 3});
    let mut job = of_a_cluster("How many replicas has cart?");
    assert!(!job.calls("scale", change.clone()));
    let values = job.grammar();
    assert!(values.contains("list_pods") && !values.contains("scale") && !values.contains("delete_pod"), "{values}");
    for request in ["Can you give cart 3 replicas?", "Give cart 3 replicas."] {
        assert!(of_a_cluster(request).calls("scale", change.clone()), "{request}");
    }
}

#[test]
fn what_is_destroyed_has_a_name_that_was_said_or_found() {
    let pod = |name: &str| json!({"pod_name": name, "namespace": "shop"});
    let mut job = of_a_cluster("Delete the pod in the namespace shop that is crashing.");
    assert!(!job.calls("delete_pod", pod("crashing-pod")));
    assert!(job.grammar().contains("list_pods") && !job.grammar().contains("delete_pod"), "{}", job.grammar());
    job.gives("list_pods", json!({"namespace": "shop"}), Outcome::result(PODS));
    let values = job.grammar();
    assert!(values.contains("delete_pod") && values.contains("pay-7d9f-x2k") && !values.contains("cart"), "{values}");
    assert!(of_a_cluster("Delete the pod crashing-pod.").calls("delete_pod", pod("crashing-pod")));
}

#[test]
fn a_change_has_the_number_that_the_request_names() {
    let whole = json!({"order_id": "ord_5502"});
    let mut job = of_a_cluster("Refund 10 of the order ord_5502.");
    assert!(!job.calls("refund", whole.clone()));
    let values = job.grammar();
    assert!(
        values.contains("refund") && values.contains(r#""\"amount\": " r"#) && !values.contains("get_order"),
        "{values}"
    );
    assert!(job.calls("refund", json!({"order_id": "ord_5502", "amount": 10})));
    assert!(of_a_cluster("Refund the order ord_5502.").calls("refund", whole.clone()), "no number is named");
    assert!(
        of_a_cluster("Refund the 2 socks of order ord_5502 to 3 people.").calls("refund", whole),
        "it may be either"
    );
}

#[test]
fn a_change_with_an_identifier_that_nobody_gave_never_runs() {
    let invented = json!({"order_id": "O-1"});
    let tool = |name: &str, member: &str| {
        Tool::new(name).with_schema(json!({"properties": {member: {"type": "string"}}, "required": [member]}))
    };
    let mut job = Job::with("Cancel it.", [tool("cancel_order", "order_id"), tool("get_order", "order_id")]);
    assert!(!job.calls("cancel_order", invented.clone()));
    assert!(job.asks_for_the_answer(), "nothing can be looked up: {:?}", job.done);
    let mut job = Job::with("Cancel it.", [tool("cancel_order", "order_id"), tool("find_person", "name")]);
    for _ in 0..2 {
        assert!(!job.calls("cancel_order", invented.clone()) && !job.asks_for_the_answer(), "{:?}", job.done);
    }
    assert!(!job.calls("cancel_order", invented) && job.asks_for_the_answer(), "{:?}", job.done);
    let mut job = Job::with("Cancel the order dinner.", [tool("cancel_order", "order_id")]);
    assert!(job.calls("cancel_order", json!({"order_id": "dinner"})), "a word may be an identifier: {:?}", job.done);
}

#[test]
fn a_change_that_failed_gives_way_to_the_one_that_was_meant() {
    let tool = |name: &str, description: &str| {
        let schema = json!({"properties": {"branch_name": {"type": "string"}}, "required": ["branch_name"]});
        Tool::new(name).with_description(description).with_schema(schema)
    };
    let tools = [tool("git_checkout", "Switch branches"), tool("git_create_branch", "Create a new branch")];
    let (mut job, branch) = (Job::with("Create the branch fix/a.", tools), json!({"branch_name": "fix/a"}));
    job.gives("git_checkout", branch.clone(), Outcome::error("there is no fix/a"));
    assert!(!job.calls("git_checkout", branch));
    let next = job.request().only_answer().unwrap();
    assert!(next.contains("git_create_branch") && next.contains("fix/a"), "{next}");
}
