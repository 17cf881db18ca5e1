//! The conversations that are open in the page, and what they have in common.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::select_all;
use serde_json::{Map, Value, json};

use super::chat::Chat;
use super::common::{Common, Refusal};
use super::person::AtPage;
use crate::base::{Failure, lock, secret::secret};
use crate::chat::{Approvals, Keeping, Talk};
use crate::front::Frontend;
use crate::screen::visible::clean;
use crate::sessions::{Kept, Listed, age};
use crate::settings;
use toolgraft_mcp::{InputAnswer, InputRequest};

/// Number of open conversations at which those without a running turn or a window are closed before another is
/// opened. Closing a conversation discards the approvals given in it.
const MOST: usize = 16;

/// Maximum time to wait for an endpoint's list of models.
const PATIENCE: Duration = Duration::from_secs(5);

/// The open conversations and the state that they share.
pub(super) struct Chats {
    pub(super) common: Common,
    open: Mutex<BTreeMap<String, Arc<Chat>>>,
}

impl Chats {
    /// Creates the list without conversations, after checking that one can be begun.
    ///
    /// # Errors
    /// No conversation can be begun with the settings.
    pub(super) async fn new(common: Common) -> Result<Self, Failure> {
        let chats = Chats { common, open: Mutex::default() };
        // What is wrong is said before a page is opened.
        let first = chats.talk(&chats.page())?;
        first.warn_over_budget()?;
        Ok(chats)
    }

    /// Returns the conversation with this id: an open one, else a stored one, which is opened, else a new one.
    pub(super) fn enter(&self, id: &str) -> Result<Arc<Chat>, Failure> {
        if let Some(chat) = self.find(id) {
            return Ok(chat);
        }
        let chat = Arc::new(self.begin(id)?);
        let mut open = lock(&self.open);
        // A second window may have entered it meanwhile.
        if let Some(other) = open.get(&chat.id) {
            return Ok(other.clone());
        }
        if open.len() >= MOST {
            open.retain(|_, chat| chat.is_in_use());
        }
        open.insert(chat.id.clone(), chat.clone());
        Ok(chat)
    }

    /// Returns the open conversation with this id; `None` if there is none.
    pub(super) fn find(&self, id: &str) -> Option<Arc<Chat>> {
        lock(&self.open).get(id).cloned()
    }

    /// Deletes an open conversation, also from the store.
    pub(super) fn forget(&self, id: &str) -> Result<(), Refusal> {
        self.find(id).ok_or_else(Refusal::gone)?.forget()?;
        lock(&self.open).remove(id);
        self.announce("list");
        Ok(())
    }

    /// Sends a step without further fields to all windows: the list of conversations or the tools have changed.
    pub(super) fn announce(&self, step: &str) {
        lock(&self.open).values().for_each(|chat| chat.person.announce(&json!({ "step": step })));
    }

    /// Returns the stored conversations that contain all of these words, the latest first, as JSON for the page.
    pub(super) fn list(&self, words: &[String]) -> Result<Vec<Value>, Failure> {
        let Some(store) = &self.common.store else { return Ok(Vec::new()) };
        let listed = store.list(words).map_err(Failure::job)?;
        let entry = |one: Listed| {
            json!({
                "chat": one.id, "title": clean(&one.title), "model": one.model, "age": age(one.used),
                "hit": one.hit.map(|(line, _)| clean(&line)),
            })
        };
        Ok(listed.into_iter().map(entry).collect())
    }

    /// Returns the names of models to choose from: those defined in `config.toml`, then those that the endpoint lists
    /// (none on an error). Fails if `config.toml` cannot be read.
    pub(super) async fn models(&self) -> Result<Vec<String>, Failure> {
        let mut models: Vec<String> = settings::file()?.names.models().map(str::to_owned).collect();
        let listed = tokio::time::timeout(PATIENCE, self.common.home.clone().models()).await;
        models.extend(listed.ok().and_then(Result::ok).unwrap_or_default());
        Ok(models)
    }

    /// Returns a conversation to show: an open one in its current state, or the stored one if it is not open or a turn
    /// is running; `None` if there is none with this id.
    pub(super) fn kept(&self, id: &str) -> Option<Kept> {
        let open = self.find(id).and_then(|chat| chat.kept());
        open.or_else(|| self.common.store.as_ref()?.read(id))
    }

    /// Shows a server's request for input in the windows with a running turn and returns the first answer; `None` if
    /// there is no such window.
    pub(super) async fn input(&self, request: &InputRequest) -> Option<InputAnswer> {
        let windows: Vec<AtPage> = lock(&self.open).values().filter_map(|chat| chat.window()).collect();
        match windows.is_empty() {
            true => None,
            // The first answer counts, and the question is withdrawn elsewhere.
            false => Some(select_all(windows.iter().map(|window| window.fill(request))).await.0),
        }
    }

    /// Answers a server's request for input in the conversation that has it, as [`AtPage::fill_in`].
    pub(super) fn fill_in(&self, id: &str, values: Option<&Map<String, Value>>) -> Result<bool, String> {
        let open = lock(&self.open);
        let mut answers = open.values().map(|chat| chat.person.fill_in(id, values));
        answers.find(|answer| *answer != Ok(false)).unwrap_or(Ok(false))
    }

    /// Cancels all turns, and waits until they have ended and their conversations are stored.
    pub(super) async fn end(&self) {
        let all: Vec<Arc<Chat>> = lock(&self.open).values().cloned().collect();
        all.iter().for_each(|chat| chat.stop());
        for chat in all {
            chat.until_idle().await;
        }
    }

    /// Opens the stored conversation with this id, or begins a new one with an id of its own.
    fn begin(&self, id: &str) -> Result<Chat, Failure> {
        let person = self.page();
        let mut talk = self.talk(&person)?;
        let Some(store) = self.common.store.clone() else {
            let id = secret()?[..8].to_owned();
            return Ok(Chat::new((id, talk, None), person, &self.common));
        };
        let kept = if id.is_empty() { None } else { store.read(id) };
        let (keeping, note) = match kept {
            None => (Keeping::fresh(store), None),
            Some(mut kept) => {
                let (keeping, note) = Keeping::take_up(store, &mut kept);
                talk.go_on(kept.saved)?;
                (keeping, note)
            }
        };
        let id = keeping.id.clone();
        talk.keeping = Some(keeping);
        Ok(Chat::new((id, talk, note), person, &self.common))
    }

    fn page(&self) -> AtPage {
        AtPage::new(self.common.existing.clone())
    }

    fn talk(&self, person: &AtPage) -> Result<Talk, Failure> {
        let Common { args, hub, existing, .. } = &self.common;
        let args = lock(args).clone();
        let approvals = Approvals::new(&args, Arc::new(person.clone()), (hub.clone(), existing.clone()))?;
        Talk::new((args, None), (hub.clone(), lock(&self.common.endpoint).clone()), approvals)
    }
}
