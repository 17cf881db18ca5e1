//! Identifiers of a message's calls.

use crate::conversation::Conversation;

/// Longest identifier of an endpoint that is taken over, in bytes.
const MAX_ID: usize = 64;

/// The identifier of a message's next call, after those `given` to its earlier
/// ones: the endpoint's, if it is one that can be repeated to it, since some
/// demand the form of their own; else a new one.
pub(super) fn next_id(conversation: &Conversation, given: &mut Vec<String>, wanted: Option<&str>) -> String {
    let plain = |id: &&str| (1..=MAX_ID).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_graphic());
    let free = |id: &&str| !conversation.has_id(id) && !given.iter().any(|given| given == id);
    let id = match wanted.filter(plain).filter(free) {
        Some(id) => id.to_owned(),
        None => (0..).map(|n| conversation.fresh_id(n)).find(|id| !given.contains(id)).unwrap_or_default(),
    };
    given.push(id.clone());
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoints_id_is_kept_unless_it_is_taken_or_strange() {
        let conversation = Conversation::from("Hi");
        let mut before = Vec::new();
        let long = "x".repeat(65);
        let given: Vec<String> =
            [Some("call_1"), None, Some("call_1"), Some(""), Some("a b"), Some(&long), Some("abc")]
                .into_iter()
                .map(|id| next_id(&conversation, &mut before, id))
                .collect();
        assert_eq!(given, ["call_1", "call_2", "call_3", "call_4", "call_5", "call_6", "abc"]);
    }
}
