use serde_json::json;

use super::*;
use crate::dialect::{Dialect, SystemPlacement};
use crate::event::{Call, MarkerKind, Rejected, RejectedKind};
use crate::message::{Image, Message};
use crate::outcome::Outcome;

mod trim;

fn call(tool: &str) -> Call {
    Call {
        server: Some("demo".into()),
        tool: tool.into(),
        arguments: json!({}),
        raw_arguments: "{}".into(),
        dialect: Dialect::UseMcpTool,
        repairs: Vec::new(),
        provenance: crate::event::Provenance::Plain,
    }
}

fn placed(id: &str, tool: &str) -> Part {
    Part::Call(HistoryCall {
        id: id.into(),
        call: Box::new(call(tool)),
        raw: format!("<call {tool}/>"),
        untagged: false,
    })
}

fn rejected(kind: RejectedKind, raw: &str, feedback: bool) -> Part {
    let rejected = Rejected {
        kind,
        raw: raw.into(),
        message: "wrong".into(),
        server: None,
        tool: None,
        nearest: Vec::new(),
        dialect: Dialect::UseMcpTool,
        call: None,
        quoted_in: None,
        in_text: false,
    };
    Part::Rejected { rejected: Box::new(rejected), feedback, native: None }
}

fn message(parts: Vec<Part>) -> Assistant {
    Assistant { parts, ..Assistant::default() }
}

fn two_calls() -> Conversation {
    let mut conversation = Conversation::from_user("Weather?");
    conversation.push_assistant(message(vec![placed("call_1", "a"), placed("call_2", "b")])).unwrap();
    conversation
}

fn system() -> Layout {
    Layout::new("Rules.", SystemPlacement::System)
}

fn told(replies: &Replies<'_>) -> Result<String, std::convert::Infallible> {
    let mut lines: Vec<String> = replies.answered.iter().map(|a| format!("{}={}", a.id, a.outcome.text)).collect();
    lines.extend(replies.rejected.iter().map(|r| format!("rejected {}", r.raw)));
    lines.extend(replies.notes.iter().map(|n| format!("note {n}")));
    lines.extend(replies.earlier.iter().map(|a| format!("earlier {}", a.id)));
    Ok(lines.join("\n"))
}

#[test]
fn every_call_is_answered_exactly_once() {
    let mut conversation = two_calls();
    let ids = |c: &Conversation| c.pending().map(|p| p.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&conversation), ["call_1", "call_2"]);
    conversation.answer("call_2", Outcome::result("two")).unwrap();
    assert_eq!(ids(&conversation), ["call_1"]);
    let again = conversation.answer("call_2", Outcome::result("two")).unwrap_err();
    assert_eq!(again, ConversationError::NotPending { id: "call_2".into() });
    conversation.answer("call_9", Outcome::result("nine")).unwrap_err();
    conversation.answer("call_1", Outcome::error("one")).unwrap();
    assert!(ids(&conversation).is_empty());
}

#[test]
fn images_go_with_the_message_that_holds_their_text() {
    let image = |name: &str| Image::new(b"GIF89a").unwrap().with_name(name);
    let mut conversation = Conversation::from_user(User::new("One").with_image(image("a")));
    conversation.push_user(User::new("").with_image(image("b"))).unwrap();
    let said = Message::user("One").with_image(image("a")).with_image(image("b"));
    assert_eq!(conversation.render(&system(), told).unwrap()[1], said);
    assert_eq!(conversation.render_native(&system(), told).unwrap()[1], said);
    conversation.push_assistant(Assistant::text("Two")).unwrap();
    conversation.push_user(User::new("").with_image(image("c"))).unwrap();
    let messages = conversation.render(&system(), told).unwrap();
    assert_eq!(messages.last(), Some(&Message::user("").with_image(image("c"))));
}

#[test]
fn nothing_is_said_while_calls_wait() {
    let mut conversation = two_calls();
    let pending = ConversationError::Pending { ids: vec!["call_1".into(), "call_2".into()] };
    assert_eq!(conversation.push_user("Well?").unwrap_err(), pending);
    assert_eq!(conversation.push_assistant(Assistant::text("Well.")).unwrap_err(), pending);
    assert!(!conversation.awaits_model());
}

#[test]
fn an_id_is_taken_once() {
    let mut conversation = two_calls();
    for id in ["call_1", "call_2"] {
        conversation.answer(id, Outcome::result("")).unwrap();
    }
    assert_eq!(conversation.fresh_id(0), "call_3");
    assert_eq!(conversation.fresh_id(1), "call_4");
    let taken = ConversationError::DuplicateId { id: "call_1".into() };
    assert_eq!(conversation.push_assistant(message(vec![placed("call_1", "a")])).unwrap_err(), taken);
    let twice = message(vec![placed("x", "a"), placed("x", "b")]);
    conversation.push_assistant(twice).unwrap_err();
    conversation.push_assistant(message(vec![placed("call_3", "a")])).unwrap();
    assert_eq!(conversation.fresh_id(0), "call_4");
}

#[test]
fn the_model_speaks_only_when_asked() {
    let mut conversation = Conversation::new();
    assert_eq!(conversation.push_assistant(Assistant::text("Hi")).unwrap_err(), ConversationError::NothingToAnswer);
    assert_eq!(conversation.push_note("No.").unwrap_err(), ConversationError::NothingToNote);
    conversation.push_user("Hi").unwrap();
    conversation.push_assistant(Assistant::text("Hi")).unwrap();
    assert!(!conversation.awaits_model());
    conversation.push_note("Call a tool.").unwrap();
    assert!(conversation.awaits_model());
}

#[test]
fn feedback_asks_the_model_again() {
    let mut conversation = Conversation::from_user("Weather?");
    conversation.push_assistant(message(vec![rejected(RejectedKind::Malformed, "<call", true)])).unwrap();
    assert!(conversation.awaits_model());
}

#[test]
fn a_conversation_survives_json() {
    let mut conversation = two_calls();
    conversation.answer("call_2", Outcome::result("two")).unwrap();
    let text = serde_json::to_string(&conversation).unwrap();
    let back: Conversation = serde_json::from_str(&text).unwrap();
    assert_eq!(back, conversation);
    assert_eq!(back.pending().count(), 1);
}

#[test]
fn a_stored_conversation_with_an_answer_to_no_call_is_refused() {
    let stored = json!({"version": 1, "entries": [
        {"type": "user", "text": "Hi"},
        {"type": "outcome", "id": "call_1", "outcome": {"status": "result", "text": "one"}},
    ]});
    let error = serde_json::from_value::<Conversation>(stored).unwrap_err();
    assert_eq!(error.to_string(), "no call \"call_1\" waits for an outcome");
}

#[test]
fn results_are_in_the_order_of_the_calls_whatever_order_they_came_in() {
    let mut conversation = two_calls();
    conversation.answer("call_2", Outcome::result("two")).unwrap();
    conversation.answer("call_1", Outcome::result("one")).unwrap();
    let messages = conversation.render(&system(), told).unwrap();
    assert_eq!(messages[2], Message::assistant("<call a/><call b/>"));
    assert_eq!(messages[3], Message::user("call_1=one\ncall_2=two"));
}

#[test]
fn later_rounds_know_the_calls_since_the_person_spoke() {
    let mut conversation = two_calls();
    for id in ["call_1", "call_2"] {
        conversation.answer(id, Outcome::result("x")).unwrap();
    }
    conversation.push_assistant(message(vec![placed("call_3", "c")])).unwrap();
    conversation.answer("call_3", Outcome::result("y")).unwrap();
    conversation.push_assistant(Assistant::text("Sunny.")).unwrap();
    conversation.push_user("And now?").unwrap();
    conversation.push_assistant(message(vec![placed("call_4", "d")])).unwrap();
    conversation.answer("call_4", Outcome::result("z")).unwrap();
    let messages = conversation.render(&system(), told).unwrap();
    let contents: Vec<&str> = messages.iter().map(|m| m.content.as_str()).collect();
    assert_eq!(
        contents,
        [
            "Rules.",
            "Weather?",
            "<call a/><call b/>",
            "call_1=x\ncall_2=x",
            "<call c/>",
            "call_3=y\nearlier call_1\nearlier call_2",
            "Sunny.",
            "And now?",
            "<call d/>",
            "call_4=z"
        ]
    );
    assert_eq!(conversation.answered().len(), 1);
}

#[test]
fn a_model_without_a_system_role_gets_the_system_text_before_the_first_question() {
    let conversation = Conversation::from_user("Weather?");
    let messages = conversation.render(&Layout::new("Rules.", SystemPlacement::User), told).unwrap();
    assert_eq!(messages, [Message::user("Rules.\n\nWeather?")]);
}

#[test]
fn neighbours_of_one_role_are_one_message_and_empty_ones_are_left_out() {
    let mut conversation = Conversation::from_user("Weather?");
    conversation.push_assistant(message(vec![])).unwrap();
    conversation.push_note("Your answer was empty.").unwrap();
    let messages = conversation.render(&Layout::new("", SystemPlacement::System), told).unwrap();
    assert_eq!(messages, [Message::user("Weather?\n\nnote Your answer was empty.")]);
}

#[test]
fn the_model_reads_its_own_syntax_and_the_person_does_not() {
    let text = |text: &str| Part::Text { text: text.into() };
    let marker = |kind, text: &str| Part::Marker { kind, text: text.into() };
    let message = message(vec![
        marker(MarkerKind::ThinkOpen, "<think>"),
        rejected(RejectedKind::InReasoning, "<draft/>", false),
        marker(MarkerKind::ThinkClose, "</think>"),
        text("\n\nLet me look. "),
        rejected(RejectedKind::Quoted, "```<example/>```", false),
        rejected(RejectedKind::Malformed, "<broken", true),
        marker(MarkerKind::CallLine, "TYPE: MCP\n"),
        placed("call_1", "a"),
    ]);
    assert_eq!(message.written(), "Let me look. ```<example/>```<brokenTYPE: MCP\n<call a/>");
    assert_eq!(message.content(), "\n\nLet me look. ```<example/>```");
}

#[test]
fn a_huge_rejected_call_goes_back_in_part() {
    let at = message(vec![rejected(RejectedKind::Limit, &"é".repeat(MAX_REJECTED_BYTES / 2), true)]);
    assert_eq!(at.written().len(), MAX_REJECTED_BYTES);
    let past = message(vec![rejected(RejectedKind::Limit, &"é".repeat(MAX_REJECTED_BYTES / 2 + 1), true)]);
    assert_eq!(past.written().len(), MAX_REJECTED_BYTES + '…'.len_utf8());
}

#[test]
fn a_native_call_of_an_unknown_name_goes_back_under_one_that_endpoints_take() {
    use crate::message::NativeCall;
    let long = "x".repeat(100);
    for (name, shown) in
        [("", "unknown"), ("天气", "unknown"), ("web.search now", "web_search_now"), (&*long, &long[..64])]
    {
        let mut part = rejected(RejectedKind::UnknownTool, "raw", true);
        if let Part::Rejected { native, .. } = &mut part {
            *native = Some(NativeCall { id: None, name: name.into(), arguments: "{".into() });
        }
        let mut conversation = Conversation::from("Hi");
        conversation.push_assistant(message(vec![part])).unwrap();
        let messages = conversation.render_native(&system(), |_| Ok::<_, ConversationError>("wrong".into())).unwrap();
        assert_eq!(messages[2].calls[0].name, shown, "{name:?}");
    }
}
