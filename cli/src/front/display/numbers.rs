//! The numbers of calls: the box of a call and that of its result show the same.

/// Ids of the calls of a conversation in the order of their numbers, each with its tool once it was shown.
#[derive(Debug, Default)]
pub(super) struct Numbers(Vec<(String, Option<String>)>);

impl Numbers {
    /// Returns the number of the call with this id; a new one if it has none.
    pub(super) fn of(&mut self, id: &str) -> usize {
        let at = self.0.iter().position(|(known, _)| known == id).unwrap_or_else(|| {
            self.0.push((id.to_owned(), None));
            self.0.len() - 1
        });
        at + 1
    }

    /// Records the tool of the call with this id, and returns the call's number.
    pub(super) fn name(&mut self, id: &str, tool: &str) -> usize {
        let number = self.of(id);
        self.0[number - 1].1 = Some(tool.to_owned());
        number
    }

    /// Returns the id of the call with this number.
    pub(super) fn id_of(&self, number: usize) -> Option<&str> {
        Some(&self.0.get(number.checked_sub(1)?)?.0)
    }

    /// Returns the tool of the call with this number; `None` if the call was not shown.
    pub(super) fn tool_of(&self, number: usize) -> Option<&str> {
        self.0.get(number.checked_sub(1)?)?.1.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_and_its_result_have_one_number_whatever_is_done_first() {
        let mut numbers = Numbers::default();
        assert_eq!(numbers.of("call_1"), 1);
        assert_eq!(["call_2", "call_3", "call_4"].map(|id| numbers.name(id, "a.w")), [2, 3, 4]);
        assert_eq!((numbers.of("call_3"), numbers.of("call_2"), numbers.name("call_2", "a.w")), (3, 2, 2));
        assert_eq!(numbers.id_of(2), Some("call_2"));
        assert_eq!((numbers.id_of(0), numbers.id_of(5)), (None, None));
        assert_eq!((numbers.tool_of(1), numbers.tool_of(2), numbers.tool_of(9)), (None, Some("a.w"), None));
    }
}
