//! The numbers of calls: the box of a call and that of its result show the same.
//!
//! A call is shown when the model has written it, and gets its id when it is dealt with. Until
//! then it is known by its tool and its arguments: calls that are alike in both have boxes
//! that are alike, too.

use serde_json::Value;

/// The calls of a conversation, each at the place of its number.
#[derive(Debug, Default)]
pub(super) struct Numbers(Vec<Numbered>);

#[derive(Debug, Default)]
struct Numbered {
    id: Option<String>,
    /// What was shown of it in the round that goes on.
    shown: Option<Shown>,
}

#[derive(Debug)]
struct Shown {
    index: u32,
    name: String,
    arguments: Value,
}

impl Numbers {
    /// A round begins: its calls are none of those before.
    pub(super) fn begin_round(&mut self) {
        self.0.iter_mut().for_each(|call| call.shown = None);
    }

    /// Gives a call of the conversation its number, unless it has one.
    pub(super) fn know(&mut self, id: &str) {
        if !self.0.iter().any(|call| call.id.as_deref() == Some(id)) {
            self.0.push(Numbered { id: Some(id.to_owned()), shown: None });
        }
    }

    /// The id of a number.
    pub(super) fn id_of(&self, number: usize) -> Option<&str> {
        self.0.get(number.checked_sub(1)?)?.id.as_deref()
    }

    /// The number of a call that the model has written.
    pub(super) fn ended(&mut self, index: u32, name: &str, arguments: &Value) -> usize {
        // What was undecided may be told once more.
        let again = |call: &Numbered| call.shown.as_ref().is_some_and(|shown| shown.index == index);
        let shown = Some(Shown { index, name: name.to_owned(), arguments: arguments.clone() });
        match self.0.iter().position(again) {
            Some(at) => {
                self.0[at].shown = shown;
                at + 1
            }
            None => {
                self.0.push(Numbered { id: None, shown });
                self.0.len()
            }
        }
    }

    /// The number of a call that is dealt with now.
    pub(super) fn name(&mut self, id: &str, name: &str, arguments: &Value) -> usize {
        self.with_id(id, |shown| shown.name == name && shown.arguments == *arguments)
    }

    /// The number of a call of which no more is known: one that never ran. Such calls are
    /// dealt with in the order in which they were written.
    pub(super) fn of(&mut self, id: &str) -> usize {
        self.with_id(id, |_| true)
    }

    /// The tool of a call that was shown in this round.
    pub(super) fn tool_of(&self, number: usize) -> Option<&str> {
        Some(&self.0.get(number.checked_sub(1)?)?.shown.as_ref()?.name)
    }

    fn with_id(&mut self, id: &str, fits: impl Fn(&Shown) -> bool) -> usize {
        let known = self.0.iter().position(|call| call.id.as_deref() == Some(id));
        let waits = |call: &Numbered| call.id.is_none() && call.shown.as_ref().is_some_and(&fits);
        let at = known.or_else(|| self.0.iter().position(waits)).unwrap_or_else(|| {
            self.0.push(Numbered::default());
            self.0.len() - 1
        });
        self.0[at].id.get_or_insert_with(|| id.to_owned());
        at + 1
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_and_its_result_have_one_number_whatever_is_done_first() {
        let mut numbers = Numbers::default();
        numbers.know("call_1");
        let (oslo, rome) = (json!({"city": "Oslo"}), json!({"city": "Rome"}));
        numbers.begin_round();
        let shown = [(0, "a.w", &oslo), (1, "a.w", &rome), (2, "b.x", &oslo)];
        assert_eq!(shown.map(|(index, name, arguments)| numbers.ended(index, name, arguments)), [2, 3, 4]);
        assert_eq!(numbers.ended(1, "a.w", &rome), 3, "told once more");
        // The second runs first, and the first was denied without a question.
        assert_eq!(numbers.name("call_3", "a.w", &rome), 3);
        assert_eq!(numbers.name("call_4", "b.x", &oslo), 4);
        assert_eq!((numbers.of("call_2"), numbers.of("call_3")), (2, 3));
        assert_eq!(numbers.id_of(2), Some("call_2"));
        assert_eq!((numbers.tool_of(2), numbers.tool_of(9)), (Some("a.w"), None));
        numbers.know("call_2");
        numbers.begin_round();
        assert_eq!(numbers.ended(0, "a.w", &oslo), 5);
        assert_eq!((numbers.id_of(0), numbers.id_of(5), numbers.id_of(6)), (None, None, None));
    }
}
