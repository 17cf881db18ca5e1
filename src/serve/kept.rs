//! What rounds that a client did not see brought, for as long as the client may come back.
//!
//! Where the toolbox's calls ran before a call of the client's own, the client's history
//! holds only the latter. What stood before it is kept under its identifier, and told to
//! the model again when the client brings the result.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Time for which that is kept.
pub const KEPT_FOR: Duration = Duration::from_secs(600);

/// Bytes of all that is kept.
pub const KEPT_BYTES: usize = 32 << 20;

/// What stood between the client's history and a call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Before {
    pub(super) messages: Vec<Value>,
    /// Results that may be anybody's words are among them, or were before.
    pub(super) untrusted: bool,
}

/// What stood between the client's history and the call, by the call's identifier.
#[derive(Default)]
pub(super) struct Kept(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    messages: HashMap<String, Arc<Before>>,
    /// The oldest in front.
    ages: VecDeque<Age>,
    bytes: usize,
}

struct Age {
    since: Instant,
    ids: Vec<String>,
    bytes: usize,
}

impl Kept {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps what stood before these calls.
    pub(super) fn keep(&self, ids: Vec<String>, before: Before, now: Instant) {
        let bytes = before.messages.iter().map(|message| message.to_string().len()).sum();
        let before = Arc::new(before);
        let mut inner = self.lock();
        inner.forget(now);
        inner.messages.extend(ids.iter().map(|id| (id.clone(), before.clone())));
        inner.bytes += bytes;
        inner.ages.push_back(Age { since: now, ids, bytes });
        while inner.bytes > KEPT_BYTES && inner.drop_oldest() {}
    }

    /// What stood before this call.
    pub(super) fn find(&self, id: &str, now: Instant) -> Option<Arc<Before>> {
        let mut inner = self.lock();
        inner.forget(now);
        inner.messages.get(id).cloned()
    }
}

impl Inner {
    fn forget(&mut self, now: Instant) {
        while self.ages.front().is_some_and(|age| now.duration_since(age.since) > KEPT_FOR) {
            self.drop_oldest();
        }
    }

    fn drop_oldest(&mut self) -> bool {
        let Some(oldest) = self.ages.pop_front() else { return false };
        self.bytes -= oldest.bytes;
        for id in oldest.ids {
            self.messages.remove(&id);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_bounded_in_time_and_size() {
        let (kept, start) = (Kept::default(), Instant::now());
        let before = |text: &str| Before { messages: vec![Value::from(text)], untrusted: false };
        kept.keep(vec!["a".into(), "b".into()], before("x"), start);
        assert_eq!(kept.find("b", start + KEPT_FOR).unwrap().messages.len(), 1);
        assert!(kept.find("a", start + KEPT_FOR + Duration::from_secs(1)).is_none());
        let large = || before(&"x".repeat(KEPT_BYTES / 3));
        for id in ["c", "d", "e"] {
            kept.keep(vec![id.into()], large(), start);
        }
        assert!(kept.find("c", start).is_none() && kept.find("e", start).is_some());
    }
}
