//! What the conversations of the page have in common, and one that is about to be shown.

use std::sync::Arc;

use crate::chat::{Endpoint, Existing, Talk, TalkArgs};
use crate::phrases::Phrases;
use crate::sessions::Store;
use toolgraft::secrets::Secrets;
use toolgraft_mcp::Hub;

/// What each conversation of the page begins with.
pub(super) struct Common {
    pub(super) args: TalkArgs,
    pub(super) hub: Arc<Hub>,
    pub(super) endpoint: Endpoint,
    pub(super) existing: Existing,
    /// What is written down nowhere.
    pub(super) secrets: Secrets,
    /// None where nothing is to be kept.
    pub(super) store: Option<Store>,
    pub(super) say: Phrases,
}

/// A conversation that is about to be shown.
pub(super) struct Begun {
    pub(super) id: String,
    pub(super) talk: Talk,
    /// What the person is told first.
    pub(super) note: Option<String>,
}
