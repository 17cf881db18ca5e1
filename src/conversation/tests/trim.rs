//! The parts of a history that a request leaves out.

use super::*;
use crate::message::Role;

/// Returns a history of three questions: one with two calls and an answer, one that nobody answered, and the current
/// one with three rounds of a call.
fn long() -> Conversation {
    let mut conversation = Conversation::from_user("First?");
    for (id, tool) in [("call_1", "a"), ("call_2", "b")] {
        conversation.push_assistant(message(vec![placed(id, tool)])).unwrap();
        conversation.answer(id, Outcome::result("x".repeat(500))).unwrap();
    }
    conversation.push_assistant(Assistant::text("The first answer.")).unwrap();
    conversation.push_user("Unheard?").unwrap();
    conversation.push_user("Now?").unwrap();
    for (id, tool, length) in [("call_3", "c", 500), ("call_4", "d", 5), ("call_5", "e", 500)] {
        conversation.push_assistant(message(vec![placed(id, tool)])).unwrap();
        conversation.answer(id, Outcome::result("y".repeat(length))).unwrap();
    }
    conversation
}

fn rendered(conversation: &Conversation, trim: Trim) -> Vec<Message> {
    let mut layout = system();
    layout.trim = trim;
    let told = |replies: &Replies<'_>| {
        let limit = replies.result_bytes.map_or(String::new(), |bytes| format!(" at most {bytes}"));
        told(replies)
            .map(|text| format!("{}{limit}", text.replace(&"y".repeat(500), "…").replace(&"x".repeat(500), "…")))
    };
    conversation.render(&layout, told).unwrap()
}

#[test]
fn the_oldest_rounds_go_first_and_an_answer_outlives_its_calls() {
    let conversation = long();
    let users = |steps| {
        let messages = rendered(&conversation, conversation.trim(steps));
        messages.into_iter().map(|m| m.content).collect::<Vec<_>>().join("|")
    };
    let now = "Unheard?\n\nNow?|<call c/>|call_3=…|<call d/>|call_4=yyyyy\nearlier call_3|<call e/>|call_5=…\nearlier call_3\nearlier call_4";
    let first = "Rules.|First?";
    let answer = "The first answer.";
    assert_eq!(users(0), format!("{first}|<call a/>|call_1=…|<call b/>|call_2=…\nearlier call_1|{answer}|{now}"));
    assert_eq!(users(1), format!("{first}|<call b/>|call_2=…\nearlier call_1|{answer}|{now}"));
    assert_eq!(users(2), format!("{first}|{answer}|{now}"));
    assert_eq!(users(3), format!("Rules.|{now}"));
    let now = now.replace("Unheard?\n\n", "");
    assert_eq!(users(4), format!("Rules.|{now}"));
    let short = now.replace("call_3=…|", "call_3=… at most 160|");
    assert_eq!(users(5), format!("Rules.|{short}"), "the second result is short as it is");
    let fewer = now.replace("<call c/>|call_3=…|", "");
    assert_eq!(users(6).replace("Now?|", ""), format!("Rules.|{}", fewer.replace("Now?|", "")));
    assert_eq!(users(7), "Rules.|Now?|<call e/>|call_5=…\nearlier call_3\nearlier call_4");
    assert_eq!(users(usize::MAX), users(7));
    assert_eq!(conversation.trim_steps(), 7);
}

#[test]
fn a_trim_counts_what_it_leaves_out() {
    let conversation = long();
    let counts = |trim: &Trim| (trim.rounds, trim.questions, trim.results);
    let trims = [(0, (0, 0, 0)), (2, (2, 0, 0)), (3, (3, 1, 0)), (4, (3, 2, 0)), (5, (3, 2, 1)), (6, (4, 2, 0))];
    for (steps, expected) in trims {
        assert_eq!(counts(&conversation.trim(steps)), expected, "{steps}");
    }
    assert_eq!(counts(&conversation.trim_all(400)), (5, 2, 1), "the last result");
    assert_eq!(counts(&conversation.trim_all(500)), (5, 2, 0));
    let last = rendered(&conversation, conversation.trim_all(400)).pop().unwrap();
    assert!(last.content.ends_with("at most 400"), "{last:?}");
}

#[test]
fn roles_alternate_however_much_is_left_out() {
    let conversation = long();
    for placement in [SystemPlacement::System, SystemPlacement::User] {
        for steps in 0..=conversation.trim_steps() {
            let mut layout = Layout::new("Rules.", placement);
            layout.trim = conversation.trim(steps);
            layout.trim_note = "Something is missing.".to_owned();
            let messages = conversation.render(&layout, told).unwrap();
            let roles: Vec<Role> = messages.iter().map(|m| m.role).filter(|r| *r != Role::System).collect();
            assert_eq!(roles.first(), Some(&Role::User), "{steps} {messages:?}");
            assert!(roles.windows(2).all(|pair| pair[0] != pair[1]), "{steps} {roles:?}");
            let spoken: String = messages.iter().map(|m| m.content.as_str()).collect();
            assert!(spoken.contains("Something is missing.") && spoken.contains("Now?"), "{spoken}");
            for (call, id) in [("<call a/>", "call_1="), ("<call c/>", "call_3="), ("<call e/>", "call_5=")] {
                assert_eq!(spoken.contains(call), spoken.contains(id), "a call goes with its result: {spoken}");
            }
        }
    }
}

#[test]
fn nothing_can_be_left_out_of_a_single_question() {
    assert_eq!(Conversation::from_user("Hi").trim_steps(), 0);
    assert_eq!(Conversation::new().trim_steps(), 0);
    assert_eq!(two_calls().trim_steps(), 0);
}
