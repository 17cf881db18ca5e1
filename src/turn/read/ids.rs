//! Identifiers of a message's calls.

use crate::conversation::Conversation;

/// Longest identifier of an endpoint that is used, in bytes.
const MAX_ID: usize = 64;

/// The identifiers of a message's calls, by their index. A call keeps its identifier in the events about it, its result
/// and the history.
#[derive(Debug, Default)]
pub(super) struct Ids(Vec<(u32, String)>);

impl Ids {
    /// Returns the identifier of a call: the endpoint's own if it can be sent back, since some endpoints require their
    /// own form; otherwise a new one.
    pub(super) fn of(&mut self, index: u32, wanted: Option<&str>, conversation: &Conversation) -> String {
        if let Some((_, id)) = self.0.iter().find(|(known, _)| *known == index) {
            return id.clone();
        }
        let plain = |id: &&str| (1..=MAX_ID).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_graphic());
        let given = |id: &str| self.0.iter().any(|(_, given)| given == id);
        // The conversation demands a new id for each call; an endpoint may use one again.
        let id = match wanted.filter(plain).filter(|id| !conversation.has_id(id) && !given(id)) {
            Some(id) => id.to_owned(),
            None => (0..).map(|n| conversation.fresh_id(n)).find(|id| !given(id)).unwrap_or_default(),
        };
        self.0.push((index, id.clone()));
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoints_id_is_kept_unless_it_is_taken_or_strange() {
        let (conversation, mut ids) = (Conversation::from("Hi"), Ids::default());
        let long = "x".repeat(65);
        let wanted = [Some("call_1"), None, Some("call_1"), Some(""), Some("a b"), Some(&long), Some("abc")];
        let mut all = || -> Vec<String> {
            (0..).zip(wanted).map(|(index, wanted)| ids.of(index, wanted, &conversation)).collect()
        };
        let given = all();
        assert_eq!(given, ["call_1", "call_2", "call_3", "call_4", "call_5", "call_6", "abc"]);
        assert_eq!(given, all(), "a call that is asked for again has the same");
    }
}
