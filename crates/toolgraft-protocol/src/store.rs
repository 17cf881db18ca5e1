//! Stores, for a limited time, the messages of rounds that a client did not see.
//!
//! If calls of the toolbox ran before a call of the client, the client's history holds only its own
//! call. The messages before it are stored under the call's identifier and inserted again when the
//! same client sends the result.
//!
//! A message with calls is stored as the model wrote it, under the first call's identifier:
//! repeated literally, it makes a request begin with the one before it, so that the endpoint can
//! reuse its prompt cache.
//!
//! The mark that a conversation holds text of third parties does not depend on this store, which is
//! bounded and belongs to one instance: the identifier says it ([`seal`](super::seal)). For an
//! answer without a call the store records the opposite, that it followed no such text; an answer
//! that was dropped or is unknown counts as one that did. A client may begin a new conversation and
//! quote such text in its question, as agents do that compact their history: so for a time after
//! such text each conversation of that client counts as one with it.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use crate::fault::Fault;
use crate::seal::{Client, Seal};
use toolgraft::turn::Withheld;
use toolgraft::wire::content::text_of;

/// Time for which the store holds messages of rounds that a client did not see, items of Responses, and the marks of
/// clients that were sent text of third parties.
pub const KEPT_FOR: Duration = Duration::from_secs(600);

/// Maximum size, in bytes, of all stored messages of unseen rounds and all items of Responses together.
pub const KEPT_BYTES: usize = 32 << 20;

/// Maximum size, in bytes, of all messages that are stored as the model wrote them.
const WRITTEN_BYTES: usize = 16 << 20;

/// Memory, in bytes, that a stored message of the model takes in addition to its text and arguments: identifiers,
/// names and the entries of the maps. Measured with 24,000 short messages.
const WRITTEN_ENTRY: usize = 800;

/// Maximum number of answers that are recorded as following no text of third parties.
const MAX_CLEAN: usize = 1 << 16;

/// Messages of rounds that a client did not see: they are between its history and a call that it was sent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct UnseenRounds {
    pub(crate) messages: Vec<Value>,
    /// Queries with which the model searched for tools; later requests must carry the tools found.
    pub(crate) searched: Vec<String>,
    /// `true` if results with possible text of third parties are among the messages, or came before
    /// them.
    pub(crate) untrusted: bool,
}

/// A message of the model with calls, as it was written.
#[derive(Debug, PartialEq)]
pub(crate) struct WrittenMessage {
    /// Names and arguments of the calls, by which the message is recognized in a client's history.
    pub(crate) calls: Vec<(String, Map<String, Value>)>,
    /// The endpoint's identifiers of the calls that it made natively: some accept no others
    /// (Mistral's templates), and Kimi reads from its own which tool was called.
    pub(crate) ids: Vec<Option<String>>,
    pub(crate) text: String,
    /// Notes for the model about this message in addition to the results of its calls.
    pub(crate) withheld: Withheld,
}

/// The stored messages and items of all clients, and the key that signs identifiers of calls.
pub struct Store {
    seal: Seal,
    inner: Mutex<Inner>,
}

/// The store as seen by one client: it reads and writes only that client's entries.
#[derive(Clone)]
pub struct ClientStore {
    store: Arc<Store>,
    client: Client,
}

#[derive(Default)]
struct Inner {
    messages: HashMap<String, Arc<UnseenRounds>>,
    /// Items of Responses, each with the client that it was sent to.
    items: HashMap<String, (Client, Value)>,
    /// Messages as they were written, by the identifier of their first call; `writing` lists them
    /// with their bytes, the oldest first.
    written: HashMap<String, Arc<WrittenMessage>>,
    writing: VecDeque<(String, usize)>,
    written_bytes: usize,
    /// Age and size of the entries of `messages` and `items`, the oldest first.
    ages: VecDeque<Age>,
    bytes: usize,
    /// Hashes of answers that followed no text of third parties; `said` lists them, the oldest
    /// first.
    clean: HashSet<u64>,
    /// Clients in whose conversations possible text of third parties was read, each with the time.
    marked: HashMap<Client, Instant>,
    said: VecDeque<u64>,
}

struct Age {
    since: Instant,
    ids: Vec<String>,
    bytes: usize,
}

impl Store {
    /// Makes an empty store. Identifiers are signed with this secret, or else with a random key.
    ///
    /// # Errors
    /// Fails if the system provides no random numbers.
    pub fn new(secret: Option<&str>) -> Result<Arc<Self>, Fault> {
        Ok(Arc::new(Store { seal: Seal::new(secret)?, inner: Mutex::default() }))
    }

    /// Returns the view of the store for the client with this API key.
    pub fn of(self: &Arc<Self>, key: Option<&str>) -> ClientStore {
        ClientStore { client: self.seal.client(key), store: self.clone() }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientStore {
    /// Returns a new identifier for a call. It carries whether the conversation holds possible text
    /// of third parties.
    pub(crate) fn id(&self, untrusted: bool) -> String {
        self.store.seal.id(self.client, untrusted)
    }

    /// Stores the messages of unseen rounds under the identifiers of the calls that follow them.
    pub(crate) fn keep(&self, ids: Vec<String>, before: UnseenRounds, now: Instant) {
        let bytes = before.messages.iter().map(|message| message.to_string().len()).sum();
        let before = Arc::new(before);
        let mut inner = self.store.lock();
        inner.messages.extend(ids.iter().map(|id| (id.clone(), before.clone())));
        inner.grown(Age { since: now, ids, bytes });
    }

    /// Returns the hash of the client's API key as text, which reveals nothing of the key.
    pub(crate) fn client(&self) -> String {
        format!("{:x}", self.client.0)
    }

    /// Stores an item of Responses, to which the client may refer in a later request.
    pub(crate) fn keep_item(&self, item: &Value, now: Instant) {
        let Some(id) = item["id"].as_str().map(str::to_owned) else { return };
        let bytes = item.to_string().len();
        let mut inner = self.store.lock();
        inner.items.insert(id.clone(), (self.client, item.clone()));
        inner.grown(Age { since: now, ids: vec![id], bytes });
    }

    /// Returns the item of Responses that was sent to this client with this identifier, if it is still stored.
    pub(crate) fn item(&self, id: &str, now: Instant) -> Option<Value> {
        let mut inner = self.store.lock();
        inner.forget(now);
        inner.items.get(id).filter(|(client, _)| *client == self.client).map(|(_, item)| item.clone())
    }

    /// Returns the stored messages of unseen rounds before the call with this identifier; `None` if there are none,
    /// or if the identifier was not issued to this client.
    pub(crate) fn find(&self, id: &str, now: Instant) -> Option<Arc<UnseenRounds>> {
        self.store.seal.read(self.client, id)?;
        let mut inner = self.store.lock();
        inner.forget(now);
        inner.messages.get(id).cloned()
    }

    /// Stores a message as the model wrote it, under the first of these identifiers of its calls.
    pub(crate) fn keep_written(&self, ids: &[String], written: WrittenMessage) {
        let Some(id) = ids.first() else { return };
        // Doubled, since the arguments are also part of the text.
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

    /// Returns the stored message of the model whose first call has this identifier, if the identifier was issued to
    /// this client.
    pub(crate) fn written(&self, id: &str) -> Option<Arc<WrittenMessage>> {
        self.store.seal.read(self.client, id)?;
        self.store.lock().written.get(id).cloned()
    }

    /// Records that this answer followed no text of third parties.
    pub(crate) fn keep_clean(&self, answer: &str) {
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

    /// Records that possible text of third parties was read in a conversation of this client.
    pub(crate) fn mark(&self, now: Instant) {
        let mut inner = self.store.lock();
        inner.marked.retain(|_, since| now.duration_since(*since) <= KEPT_FOR);
        inner.marked.insert(self.client, now);
    }

    /// Returns `true` if a history may hold text of third parties. It does not if it begins with a
    /// single question, each message of the model is known to follow none, and this client read no
    /// such text within [`KEPT_FOR`].
    pub(crate) fn may_be_untrusted(&self, messages: &[Value], now: Instant) -> bool {
        let marked = self.store.lock().marked.get(&self.client).copied();
        if marked.is_some_and(|since| now.duration_since(since) <= KEPT_FOR) {
            return true;
        }
        let said = messages.iter().filter(|message| message["role"] != "system" && message["role"] != "developer");
        let said: Vec<&Value> = said.filter(|message| !is_empty_answer(message)).collect();
        let answer = said.iter().position(|message| message["role"] == "assistant");
        let begins_known = match &said[..answer.unwrap_or(said.len())] {
            // A client may have dropped the question.
            [] => answer.is_some(),
            // Several messages without an answer may be quoted from another conversation.
            [one, more @ ..] => one["role"] == "user" && more.is_empty(),
        };
        !begins_known || said.iter().any(|message| message["role"] == "assistant" && self.is_unknown(message))
    }

    /// Returns `true` unless this message of the model is known to follow no text of third parties.
    fn is_unknown(&self, message: &Value) -> bool {
        let is_marked = |call: &Value| {
            let id = call["id"].as_str().unwrap_or_default();
            self.store.seal.read(self.client, id) != Some(false)
        };
        match calls(message) {
            [] => {
                let answer = self.store.seal.answer(self.client, &text_of(&message["content"]));
                !self.store.lock().clean.contains(&answer)
            }
            calls => calls.iter().any(is_marked),
        }
    }
}

fn calls(message: &Value) -> &[Value] {
    message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Returns `true` for a message of the model without text and calls, which is ignored when a history is judged.
fn is_empty_answer(message: &Value) -> bool {
    message["role"] == "assistant" && calls(message).is_empty() && text_of(&message["content"]).trim().is_empty()
}

impl Inner {
    /// Adds an entry to the store, and drops those that are too old or exceed the limit.
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
        let before =
            |text: &str| UnseenRounds { messages: vec![Value::from(text)], searched: Vec::new(), untrusted: false };
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
                WrittenMessage { calls: Vec::new(), ids: Vec::new(), text, withheld: Withheld::default() },
            );
        }
        assert!(kept.written(&ids[0]).is_none() && kept.written(&ids[3]).is_some() && other.written(&ids[3]).is_none());
        // Short messages are bounded as well.
        let first = kept.id(false);
        let short = || WrittenMessage {
            calls: Vec::new(),
            ids: Vec::new(),
            text: String::new(),
            withheld: Withheld::default(),
        };
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
            UnseenRounds { messages: vec![Value::from("x")], searched: Vec::new(), untrusted: false },
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
        // The number of known answers is bounded; a dropped one counts as unknown.
        (0..MAX_CLEAN).for_each(|number| kept.keep_clean(&number.to_string()));
        assert!(kept.may_be_untrusted(&[said("Hello.")], now) && !kept.may_be_untrusted(&[said("7")], now));
    }

    #[test]
    fn a_client_is_marked_for_a_time_and_one_question_is_a_history_that_is_known() {
        let store = Store::new(None).unwrap();
        let (kept, now) = (store.of(Some("one")), Instant::now());
        let said = |role: &str| json!({"role": role, "content": "Hi"});
        let answer = |text: &str| json!({"role": "assistant", "content": text});
        kept.keep_clean("Hello.");
        for (history, is_unknown) in [
            (vec![said("user")], false),
            (vec![said("system"), said("developer"), said("user")], false),
            (vec![said("user"), said("user")], true),
            (vec![said("system")], true),
            (vec![said("tool")], true),
            (vec![said("user"), said("tool")], true),
            (vec![said("user"), answer("Hello."), said("user")], false),
            (vec![said("user"), said("user"), answer("Hello.")], true),
            (vec![said("user"), answer(""), said("user")], true),
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
