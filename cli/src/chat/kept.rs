//! The conversation as it is kept by itself, and the one that is gone on with.

use super::args::ChatArgs;
use crate::base::{Failure, output};
use crate::screen::visible::word;
use crate::sessions::{Kept, Store, by_process, saved::Saved};
use crate::settings::{self, Place, Settings};
use toolgraft::secrets::{REDACTED, kept_url};
use toolgraft_files::Lock;

/// The saved conversation to which this chat is written.
pub(crate) struct Keeping {
    store: Store,
    /// Id of the conversation, as used on the command line.
    pub(crate) id: String,
    /// `true` if the conversation has been written.
    written: bool,
    /// Lock on the conversation, which shows other processes that it is in use.
    _lock: Option<Lock>,
}

/// Returns the URL of the endpoint of a saved conversation. If a secret was removed from that URL, returns the one of
/// the settings, provided it is otherwise equal.
///
/// # Errors
/// No source provides the endpoint's URL with its secret.
fn endpoint_of(saved: &Saved, args: &mut ChatArgs, settings: &Settings) -> Result<Option<String>, Failure> {
    let Some(kept) = saved.endpoint.as_deref().filter(|url| url.contains(REDACTED)) else {
        return Ok(saved.endpoint.clone());
    };
    // The endpoint of the command line overrides that of the conversation.
    if args.talk.settings.base_url.is_some() {
        return Ok(None);
    }
    let same = settings.base_url.as_ref().filter(|url| kept_url(url) == kept);
    same.map(|url| Some(url.clone())).ok_or_else(|| {
        Failure::usage(format!(
            "the conversation was held at {}, and the key in that URL was not saved: give the URL with --base-url",
            word(kept)
        ))
    })
}

/// Uses the model of a conversation file, if its endpoint is the configured one. The file may come from somebody else,
/// and messages go to the endpoint with the user's API key, so that another endpoint is only mentioned in a note.
pub(super) fn take_model_of_file(saved: &Saved, args: &mut ChatArgs, settings: &Settings) -> Result<(), Failure> {
    let said = &mut args.talk.settings;
    let is_said = said.base_url.is_some();
    let place = Place { url: settings.base_url.clone(), model: said.model.clone(), ..Place::default() };
    let place = settings::file()?.names.locate(place)?;
    if place.url.as_deref().map(kept_url) == saved.endpoint {
        said.model = said.model.take().or_else(|| saved.model.clone());
    } else if let Some(endpoint) = saved.endpoint.as_deref().filter(|_| !is_said && !args.output.quiet) {
        let model = saved.model.as_deref().map(|model| format!(" --model {}", word(model))).unwrap_or_default();
        output::note(&format!(
            "the conversation was held elsewhere; to continue it there, add --base-url {}{model}",
            word(endpoint)
        ));
    }
    Ok(())
}

impl Keeping {
    /// Returns the storage for the conversation, unless saving is off, and the saved conversation to continue, if
    /// requested. The model and endpoint of the latter are used if the options name none. A conversation that is open
    /// in another chat is continued as a copy.
    pub(super) fn begin(args: &mut ChatArgs, settings: &Settings) -> Result<(Option<Self>, Option<Saved>), Failure> {
        let found = args.conversation.continued.as_deref().map(|begin| Store::open()?.find(begin)).transpose()?;
        let wanted = settings.sessions.unwrap_or(true) && !args.conversation.no_session;
        let mut gone_on = found.map(|found| {
            for damaged in &found.passed_over {
                output::warn(&format!("{damaged}; continuing {}, the previous one", found.kept.id));
            }
            found.kept
        });
        let keeping = Store::open().ok().filter(|_| wanted).map(|store| {
            let Some(kept) = &mut gone_on else { return Keeping::fresh(store) };
            let (keeping, note) = Keeping::take_up(store, kept);
            note.into_iter().for_each(|note| output::warn(&note));
            keeping
        });
        let saved = gone_on.map(|kept| kept.saved);
        if let Some(saved) = &saved {
            let base_url = endpoint_of(saved, args, settings)?;
            let of_saved = Settings { base_url, model: saved.model.clone(), ..Settings::default() };
            args.talk.settings.over(&of_saved);
        }
        Ok((keeping, saved))
    }

    /// Opens a saved conversation for writing, after rereading it. If it is open in another chat, returns the storage
    /// for a copy, and a message for the user.
    pub(crate) fn take_up(store: Store, kept: &mut Kept) -> (Self, Option<String>) {
        match store.hold(&kept.id) {
            Ok(lock) => {
                // What was said since it was looked for.
                if let Some(now) = store.read(&kept.id) {
                    *kept = now;
                }
                (Keeping { id: kept.id.clone(), store, written: false, _lock: lock }, None)
            }
            Err(holder) => {
                let copy = Keeping::fresh(store);
                let note = format!(
                    "the conversation {} is open in another chat{}: this one continues with a copy of it, {}",
                    kept.id,
                    by_process(holder),
                    copy.id
                );
                (copy, Some(note))
            }
        }
    }

    /// Returns the storage for a new conversation.
    pub(crate) fn fresh(store: Store) -> Self {
        loop {
            let id = store.fresh_id();
            // Another chat may begin at the same moment.
            if let Ok(lock) = store.hold(&id) {
                return Keeping { store, id, written: false, _lock: lock };
            }
        }
    }

    /// Saves the conversation; one without messages is removed from the store.
    ///
    /// # Errors
    /// The conversation cannot be written; the message gives the reason.
    pub(super) fn write(&mut self, saved: &Saved) -> Result<(), String> {
        // Nothing is left where `/undo` took the only question back.
        if saved.conversation.entries().is_empty() {
            self.store.remove(&self.id).map(|_| self.written = false)
        } else {
            self.store.write(&self.id, saved).map(|()| self.written = true)
        }
        .map_err(|e| e.to_string())
    }

    /// Deletes the saved conversation.
    pub(super) fn forget(&self) -> Result<(), Failure> {
        self.store.forget(&self.id)
    }

    /// Starts a new conversation with a new id.
    pub(super) fn begin_anew(&mut self) {
        *self = Keeping::fresh(self.store.clone());
    }

    /// Returns a message with the command that continues the conversation; `None` if it was not saved.
    pub(super) fn farewell(&self) -> Option<String> {
        self.written.then(|| format!("kept as {}: `toolgraft chat --continue` continues it", self.id))
    }
}
