//! Matches results to calls by name and order, in interfaces where neither needs an identifier.

/// Calls of a history that wait for their results.
#[derive(Default)]
pub(super) struct PendingCalls {
    /// Identifier and name of each call.
    calls: Vec<(String, String)>,
    /// Number of calls so far.
    count: usize,
}

impl PendingCalls {
    /// Adds a call and returns its identifier: its own, or a new one.
    pub(super) fn call(&mut self, id: Option<String>, name: &str) -> String {
        let id = id.unwrap_or_else(|| format!("call_{}", self.count));
        self.count += 1;
        self.calls.push((id.clone(), name.to_owned()));
        id
    }

    /// Returns the identifier of the call that a result belongs to: the call with the result's
    /// identifier, else the first call of that name, else, without a name, the first call. If there
    /// is none, it is the result's own identifier, or empty.
    pub(super) fn result(&mut self, id: Option<String>, name: &str) -> String {
        let is_its = |(waiting, called): &(String, String)| match &id {
            Some(id) => waiting == id,
            None => name.is_empty() || called == name,
        };
        // The call may have been removed from the history.
        let at = self.calls.iter().position(is_its);
        at.map(|at| self.calls.remove(at).0).or(id).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_finds_its_call_by_identifier_name_or_order() {
        let mut waiting = PendingCalls::default();
        let own = |id: &str| Some(id.to_owned());
        assert_eq!(waiting.call(None, "a"), "call_0");
        assert_eq!(waiting.call(own("x"), "b"), "x");
        assert_eq!([waiting.call(None, "a"), waiting.call(None, "c")], ["call_2", "call_3"]);
        for (id, name, its) in
            [(own("x"), "", "x"), (None, "a", "call_0"), (None, "", "call_2"), (None, "b", ""), (own("y"), "c", "y")]
        {
            assert_eq!(waiting.result(id, name), its);
        }
    }
}
