//! Matches results to calls by name and order, in interfaces where neither needs an identifier.

/// Calls of a history that wait for their results.
#[derive(Default)]
pub(crate) struct PendingCalls {
    calls: Vec<PendingCall>,
    /// Number of calls added so far, from which new identifiers are made.
    count: usize,
}

struct PendingCall {
    id: String,
    /// `true` if the client sent the call's identifier.
    is_own: bool,
    name: String,
}

impl PendingCalls {
    /// Adds a call of the history and returns its identifier: the client's, or a new one.
    pub(crate) fn call(&mut self, id: Option<String>, name: &str) -> String {
        let is_own = id.is_some();
        let id = id.unwrap_or_else(|| format!("call_{}", self.count));
        self.count += 1;
        self.calls.push(PendingCall { id: id.clone(), is_own, name: name.to_owned() });
        id
    }

    /// Returns the identifier of the call that a result belongs to, and removes the call: the call with the result's
    /// identifier, else the first call of that name, or without a name the first call, unless both call and result
    /// have an identifier. If there is no such call, returns the result's own identifier, or an empty text.
    pub(crate) fn result(&mut self, id: Option<String>, name: &str) -> String {
        let has_id = |call: &PendingCall| id.as_ref() == Some(&call.id);
        // Two identifiers that differ belong to a call and a result whose counterparts were removed.
        let may_be_its = |call: &PendingCall| !(call.is_own && id.is_some()) && (name.is_empty() || call.name == name);
        // The call may have been removed from the history.
        let at = self.calls.iter().position(has_id).or_else(|| self.calls.iter().position(may_be_its));
        at.map(|at| self.calls.remove(at).id).or(id).unwrap_or_default()
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
        assert_eq!(waiting.call(own("z"), "d"), "z");
        for (id, name, its) in [
            (own("x"), "", "x"),
            (None, "a", "call_0"),
            (None, "", "call_2"),
            (None, "b", ""),
            (own("y"), "d", "y"),
            (own("y"), "c", "call_3"),
            (own("y"), "c", "y"),
            (None, "d", "z"),
        ] {
            assert_eq!(waiting.result(id, name), its);
        }
    }
}
