//! What the conversations of the page have in common, and one that is about to be shown.

use std::sync::{Arc, Mutex};

use crate::base::lock;
use crate::chat::{Endpoint, Existing, Talk, TalkArgs};
use crate::sessions::Store;
use toolgraft::secrets::Secrets;
use toolgraft_mcp::Hub;

/// What each conversation of the page begins with.
pub(super) struct Common {
    pub(super) args: TalkArgs,
    pub(super) hub: Arc<Hub>,
    /// The endpoint that the command was begun with: names of models without another one are of it.
    pub(super) home: Endpoint,
    /// What a conversation begins with that is new: the model that was chosen last.
    pub(super) endpoint: Mutex<Endpoint>,
    pub(super) existing: Existing,
    /// What is written down nowhere.
    pub(super) secrets: Secrets,
    /// None where nothing is to be kept.
    pub(super) store: Option<Store>,
}

impl Common {
    /// The endpoint and the model of a new conversation.
    pub(super) fn endpoint(&self) -> Endpoint {
        lock(&self.endpoint).clone()
    }

    /// New conversations begin with these from now on.
    pub(super) fn begin_with(&self, endpoint: &Endpoint) {
        *lock(&self.endpoint) = endpoint.clone();
    }
}

/// A conversation that is about to be shown.
pub(super) struct Begun {
    pub(super) id: String,
    pub(super) talk: Talk,
    /// What the person is told first.
    pub(super) note: Option<String>,
}
