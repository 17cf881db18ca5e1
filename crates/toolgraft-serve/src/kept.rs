//! What rounds that a client did not see brought, for as long as the client may come back.
//!
//! Where the toolbox's calls ran before a call of the client's own, the client's history
//! holds only the latter. What stood before it is kept under its identifier, and told to
//! the model again when the same client brings the result.
//!
//! A message with calls is kept as the model wrote it, under the first call's identifier: told
//! again so, a request begins with the one before it, and the endpoint need not read it anew.
//!
//! That a conversation holds words that may be anybody's is not left to what is kept, which is
//! bounded and this instance's own: the identifier says it ([`seal`](super::seal)). Of an answer
//! without a call the opposite is kept, that it stood behind no such words; where that is gone
//! or was never known, it counts as if it did. A client that begins anew may bring such words in the
//! text of its question, as agents do that make their history shorter: for a time after such words
//! each of its conversations counts as one with them.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use super::seal::{Client, Seal};
use toolgraft::model::ClientError;
use toolgraft::turn::Withheld;
use toolgraft::wire::content::text_of;

/// Time for which that is kept.
pub const KEPT_FOR: Duration = Duration::from_secs(600);

/// Bytes of all that is kept.
pub const KEPT_BYTES: usize = 32 << 20;

/// Bytes of all messages that are kept as the model wrote them.
const WRITTEN_BYTES: usize = 16 << 20;

/// Bytes that such a message takes beside its text and its arguments: identifiers, names, and the maps
/// that they stand in. Counted with 24,000 short messages.
const WRITTEN_ENTRY: usize = 800;

/// Answers of which is known that they stood behind no words that may be anybody's.
const MAX_CLEAN: usize = 1 << 16;

/// What stood between the client's history and a call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Before {
    pub(super) messages: Vec<Value>,
    /// What the model looked for, of tools that requests are to carry.
    pub(super) searched: Vec<String>,
    /// Results that may be anybody's words are among them, or were before.
    pub(super) untrusted: bool,
}

/// A message of the model with calls.
#[derive(Debug, PartialEq)]
pub(super) struct Written {
    /// Names and arguments, by which a client's history is known to be the same still.
    pub(super) calls: Vec<(String, Map<String, Value>)>,
    /// The endpoint's identifiers of those that it made itself: some take no others (Mistral's templates), and Kimi
    /// reads in its own which tool was called.
    pub(super) ids: Vec<Option<String>>,
    pub(super) text: String,
    /// What the model is told of it beside the results of these calls.
    pub(super) withheld: Withheld,
}

/// What is kept of all clients, and the key that identifiers are signed with.
pub(super) struct Store {
    seal: Seal,
    inner: Mutex<Inner>,
}

/// What is kept of one client: what stood between its history and a call, by the call's
/// identifier.
#[derive(Clone)]
pub(super) struct Kept {
    store: Arc<Store>,
    client: Client,
}

#[derive(Default)]
struct Inner {
    messages: HashMap<String, Arc<Before>>,
    /// Items of Responses as they were sent, with whom they were sent to.
    items: HashMap<String, (Client, Value)>,
    /// Messages as they were written, by their first call; the oldest in front.
    written: HashMap<String, Arc<Written>>,
    writing: VecDeque<(String, usize)>,
    written_bytes: usize,
    /// The oldest in front.
    ages: VecDeque<Age>,
    bytes: usize,
    /// Answers behind no untrusted words; the oldest in front.
    clean: HashSet<u64>,
    /// Clients that words were sent to that may be anybody's, and when that was.
    marked: HashMap<Client, Instant>,
    said: VecDeque<u64>,
}

struct Age {
    since: Instant,
    ids: Vec<String>,
    bytes: usize,
}

impl Store {
    /// What identifiers are signed with; without a secret with a key of its own.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub(super) fn new(secret: Option<&str>) -> Result<Arc<Self>, ClientError> {
        Ok(Arc::new(Store { seal: Seal::new(secret)?, inner: Mutex::default() }))
    }

    /// What is kept of whoever shows this key.
    pub(super) fn of(self: &Arc<Self>, key: Option<&str>) -> Kept {
        Kept { client: self.seal.client(key), store: self.clone() }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// A new identifier for a call, behind words that may be anybody's or not.
    pub(super) fn id(&self, untrusted: bool) -> String {
        self.store.seal.id(self.client, untrusted)
    }

    /// Keeps what stood before these calls.
    pub(super) fn keep(&self, ids: Vec<String>, before: Before, now: Instant) {
        let bytes = before.messages.iter().map(|message| message.to_string().len()).sum();
        let before = Arc::new(before);
        let mut inner = self.store.lock();
        inner.messages.extend(ids.iter().map(|id| (id.clone(), before.clone())));
        inner.grown(Age { since: now, ids, bytes });
    }

    /// Returns a name of the client.
    pub(super) fn client(&self) -> String {
        self.client.name()
    }

    /// Keeps an item of Responses, which the client may name in a later request.
    pub(super) fn keep_item(&self, item: &Value, now: Instant) {
        let Some(id) = item["id"].as_str().map(str::to_owned) else { return };
        let bytes = item.to_string().len();
        let mut inner = self.store.lock();
        inner.items.insert(id.clone(), (self.client, item.clone()));
        inner.grown(Age { since: now, ids: vec![id], bytes });
    }

    /// The item that was sent to this client under this identifier.
    pub(super) fn item(&self, id: &str, now: Instant) -> Option<Value> {
        let mut inner = self.store.lock();
        inner.forget(now);
        inner.items.get(id).filter(|(client, _)| *client == self.client).map(|(_, item)| item.clone())
    }

    /// What stood before this call, if it is this client's.
    pub(super) fn find(&self, id: &str, now: Instant) -> Option<Arc<Before>> {
        self.store.seal.read(self.client, id)?;
        let mut inner = self.store.lock();
        inner.forget(now);
        inner.messages.get(id).cloned()
    }

    /// Keeps a message with these calls as the model wrote it.
    pub(super) fn keep_written(&self, ids: &[String], written: Written) {
        let Some(id) = ids.first() else { return };
        // The arguments stand in the text, too.
        let bytes = 2 * written.text.len() + written.withheld.bytes() + WRITTEN_ENTRY;
        let mut inner = self.store.lock();
        inner.written.insert(id.clone(), Arc::new(written));
        inner.writing.push_back((id.clone(), bytes));
        inner.written_bytes += bytes;
        while inner.written_bytes > WRITTEN_BYTES
            && let Some((oldest, bytes)) = inner.writing.pop_front()
        {
            inner.written_bytes -= bytes;
            inner.written.remove(&oldest);
        }
    }

    /// The message whose first call has this identifier, if it is this client's.
    pub(super) fn written(&self, id: &str) -> Option<Arc<Written>> {
        self.store.seal.read(self.client, id)?;
        self.store.lock().written.get(id).cloned()
    }

    /// Keeps that this answer stood behind no words that may be anybody's.
    pub(super) fn keep_clean(&self, answer: &str) {
        let answer = self.store.seal.answer(self.client, answer);
        let mut inner = self.store.lock();
        if inner.clean.insert(answer) {
            inner.said.push_back(answer);
        }
        while inner.said.len() > MAX_CLEAN {
            if let Some(oldest) = inner.said.pop_front() {
                inner.clean.remove(&oldest);
            }
        }
    }

    /// Keeps that words which may be anybody's were read in a conversation of this client.
    pub(super) fn mark(&self, now: Instant) {
        let mut inner = self.store.lock();
        inner.marked.retain(|_, since| now.duration_since(*since) <= KEPT_FOR);
        inner.marked.insert(self.client, now);
    }

    /// Whether a history may hold words that are anybody's: unless it is one question, or each message of
    /// the model's is known to follow none, and the client had no such words for a time.
    pub(super) fn may_be_untrusted(&self, messages: &[Value], now: Instant) -> bool {
        let marked = self.store.lock().marked.get(&self.client).copied();
        if marked.is_some_and(|since| now.duration_since(since) <= KEPT_FOR) {
            return true;
        }
        let mut said = messages.iter().filter(|message| message["role"] != "system" && message["role"] != "developer");
        if !messages.iter().any(|message| message["role"] == "assistant") {
            // What stands in several messages may have been said in another conversation.
            return said.next().is_none_or(|message| message["role"] != "user") || said.next().is_some();
        }
        messages.iter().filter(|message| message["role"] == "assistant").any(|message| {
            let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
            let marked = |call: &Value| {
                let id = call["id"].as_str().unwrap_or_default();
                self.store.seal.read(self.client, id) != Some(false)
            };
            if !calls.is_empty() {
                return calls.iter().any(marked);
            }
            let text = text_of(&message["content"]);
            let answer = self.store.seal.answer(self.client, &text);
            !text.trim().is_empty() && !self.store.lock().clean.contains(&answer)
        })
    }
}

impl Inner {
    /// Something more is kept; what is too old or too much goes.
    fn grown(&mut self, age: Age) {
        self.forget(age.since);
        self.bytes += age.bytes;
        self.ages.push_back(age);
        while self.bytes > KEPT_BYTES && self.drop_oldest() {}
    }

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
            self.items.remove(&id);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_kept_is_bounded_in_time_and_size() {
        let (kept, start) = (Store::new(None).unwrap().of(None), Instant::now());
        let before = |text: &str| Before { messages: vec![Value::from(text)], searched: Vec::new(), untrusted: false };
        let ids: Vec<String> = (0..5).map(|_| kept.id(false)).collect();
        kept.keep(ids[..2].to_vec(), before("x"), start);
        assert_eq!(kept.find(&ids[1], start + KEPT_FOR).unwrap().messages.len(), 1);
        assert!(kept.find(&ids[0], start + KEPT_FOR + Duration::from_secs(1)).is_none());
        let large = || before(&"x".repeat(KEPT_BYTES / 3));
        for id in &ids[2..] {
            kept.keep(vec![id.clone()], large(), start);
        }
        assert!(kept.find(&ids[2], start).is_none() && kept.find(&ids[4], start).is_some());
    }

    #[test]
    fn what_was_written_is_bounded_and_the_clients_own() {
        let store = Store::new(None).unwrap();
        let (kept, other) = (store.of(Some("one")), store.of(Some("two")));
        let ids: Vec<String> = (0..4).map(|_| kept.id(false)).collect();
        for id in &ids {
            let text = "x".repeat(WRITTEN_BYTES / 6);
            kept.keep_written(
                std::slice::from_ref(id),
                Written { calls: Vec::new(), ids: Vec::new(), text, withheld: Withheld::default() },
            );
        }
        assert!(kept.written(&ids[0]).is_none() && kept.written(&ids[3]).is_some() && other.written(&ids[3]).is_none());
        // Short ones are, too.
        let first = kept.id(false);
        let short =
            || Written { calls: Vec::new(), ids: Vec::new(), text: String::new(), withheld: Withheld::default() };
        kept.keep_written(std::slice::from_ref(&first), short());
        (0..WRITTEN_BYTES / WRITTEN_ENTRY).for_each(|number| kept.keep_written(&[number.to_string()], short()));
        assert!(kept.written(&first).is_none());
    }

    #[test]
    fn an_item_is_kept_for_its_client_and_for_ten_minutes() {
        let (store, start) = (Store::new(None).unwrap(), Instant::now());
        let (one, other) = (store.of(Some("one")), store.of(Some("two")));
        let item = json!({"id": "msg_1", "type": "message"});
        one.keep_item(&item, start);
        assert_eq!(one.item("msg_1", start + KEPT_FOR), Some(item));
        assert_eq!(other.item("msg_1", start), None);
        assert_eq!(one.item("msg_1", start + KEPT_FOR + Duration::from_secs(1)), None);
        assert_eq!(store.lock().bytes, 0);
    }

    #[test]
    fn what_is_kept_is_the_clients_own() {
        let store = Store::new(None).unwrap();
        let (one, other) = (store.of(Some("one")), store.of(Some("two")));
        let id = one.id(false);
        one.keep(
            vec![id.clone()],
            Before { messages: vec![Value::from("x")], searched: Vec::new(), untrusted: false },
            Instant::now(),
        );
        assert!(one.find(&id, Instant::now()).is_some() && other.find(&id, Instant::now()).is_none());
    }

    #[test]
    fn a_history_of_which_nothing_is_known_counts_as_untrusted() {
        let store = Store::new(None).unwrap();
        let (kept, now) = (store.of(Some("one")), Instant::now());
        let said = |text: &str| json!({"role": "assistant", "content": text});
        let called = |id: &str| json!({"role": "assistant", "content": null, "tool_calls": [{"id": id}]});
        assert!(!kept.may_be_untrusted(&[json!({"role": "user", "content": "Hi"}), called(&kept.id(false))], now));
        assert!(kept.may_be_untrusted(&[called(&kept.id(true))], now));
        for id in ["", "call_1", &store.of(Some("two")).id(false), &Store::new(None).unwrap().of(Some("one")).id(false)]
        {
            assert!(kept.may_be_untrusted(&[called(id)], now), "{id}");
        }
        assert!(kept.may_be_untrusted(&[said("Hello.")], now));
        kept.keep_clean("Hello.");
        assert!(!kept.may_be_untrusted(&[said("Hello.\n"), said("")], now));
        assert!(store.of(Some("two")).may_be_untrusted(&[said("Hello.")], now));
        // What is known is bounded, and what is forgotten is not known.
        (0..MAX_CLEAN).for_each(|number| kept.keep_clean(&number.to_string()));
        assert!(kept.may_be_untrusted(&[said("Hello.")], now) && !kept.may_be_untrusted(&[said("7")], now));
    }

    #[test]
    fn a_client_is_marked_for_a_time_and_one_question_is_a_history_that_is_known() {
        let store = Store::new(None).unwrap();
        let (kept, now) = (store.of(Some("one")), Instant::now());
        let said = |role: &str| json!({"role": role, "content": "Hi"});
        for (history, is_unknown) in [
            (vec![said("user")], false),
            (vec![said("system"), said("developer"), said("user")], false),
            (vec![said("user"), said("user")], true),
            (vec![said("system")], true),
            (vec![said("tool")], true),
            (vec![said("user"), said("tool")], true),
        ] {
            assert_eq!(kept.may_be_untrusted(&history, now), is_unknown, "{history:?}");
        }
        kept.mark(now);
        let question = [said("user")];
        assert!(kept.may_be_untrusted(&question, now + KEPT_FOR));
        assert!(!kept.may_be_untrusted(&question, now + KEPT_FOR + Duration::from_secs(1)));
        assert!(!store.of(Some("two")).may_be_untrusted(&question, now), "another client");
    }
}
