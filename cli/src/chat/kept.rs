//! The conversation as it is kept by itself, and the one that is gone on with.

use super::args::Args;
use super::endpoint::variable;
use crate::phrases::Phrases;
use crate::saved::Saved;
use crate::sessions::Store;
use crate::settings::Settings;
use crate::{Failure, output};

/// Days that a conversation is kept where nobody says otherwise.
const DAYS: u32 = 30;

/// Where this conversation is kept.
pub(super) struct Keeping {
    store: Store,
    id: String,
    /// Whether something of it is there.
    written: bool,
}

impl Keeping {
    /// Where the conversation is kept, unless nobody wants that; and the conversation to go on
    /// with, whose model and endpoint are taken where the flags name none.
    pub(super) fn begin(args: &mut Args, settings: &Settings) -> Result<(Option<Self>, Option<Saved>), Failure> {
        let store = Store::open();
        let gone_on = match (&args.conversation.continued, &store) {
            (Some(begin), Some(store)) => Some(store.find(begin)?),
            (Some(_), None) => return Err(Failure::usage("there is no home directory: no conversation is kept")),
            (None, _) => None,
        };
        let wanted = settings.sessions.unwrap_or(true) && !args.conversation.no_session;
        // Whoever names a file keeps the conversation there.
        let wanted = wanted && args.conversation.save.is_none();
        let keeping = store.filter(|_| wanted).map(|store| {
            store.prune(settings.session_days.map_or(DAYS, Into::into));
            let id = gone_on.as_ref().map_or_else(|| store.fresh_id(), |kept| kept.id.clone());
            Keeping { store, id, written: false }
        });
        let saved = gone_on.map(|kept| kept.saved);
        if let Some(saved) = &saved {
            let named = args.endpoint.base_url.is_some() || variable("OPENAI_BASE_URL").is_some();
            if !named {
                args.endpoint.base_url.clone_from(&saved.endpoint);
            }
            args.endpoint.model = args.endpoint.model.take().or_else(|| saved.model.clone());
        }
        Ok((keeping, saved))
    }

    /// Keeps what was said until now.
    ///
    /// # Errors
    /// It cannot be written; the text says why.
    pub(super) fn write(&mut self, saved: &Saved, say: Phrases) -> Result<(), String> {
        if saved.conversation.entries().is_empty() {
            self.store.remove(&self.id).map(|_| self.written = false)
        } else {
            self.store.write(&self.id, saved).map(|()| self.written = true)
        }
        .map_err(|e| say.not_kept(e))
    }

    /// What is said from now on is another conversation.
    pub(super) fn begin_anew(&mut self) {
        (self.id, self.written) = (self.store.fresh_id(), false);
    }

    /// How to go on with it; `None` where nothing was said.
    pub(super) fn farewell(&self, say: Phrases) -> Option<String> {
        self.written.then(|| say.kept_as(&self.id))
    }
}

/// Takes the defaults of the file where no flag and no variable says otherwise.
pub(super) fn apply(settings: &Settings, args: &mut Args) {
    fn or<T: Clone>(flag: &mut Option<T>, default: Option<&T>) {
        *flag = flag.take().or_else(|| default.cloned());
    }
    if variable("OPENAI_BASE_URL").is_none() {
        or(&mut args.endpoint.base_url, settings.base_url.as_ref());
    }
    or(&mut args.endpoint.model, settings.model.as_ref());
    let profile = settings.profile.as_deref().and_then(toolgraft::dialect::Profile::named);
    or(&mut args.model.profile, profile.as_ref());
    or(&mut args.model.tools_mode, settings.tools_mode.as_ref());
    or(&mut args.model.dialect, settings.dialect.as_ref());
    or(&mut args.model.lang, settings.lang.as_ref());
    or(&mut args.model.temperature, settings.temperature.as_ref());
    or(&mut args.model.system, settings.system.as_ref());
    or(&mut args.listing.prompt_style, settings.prompt_style.as_ref());
    or(&mut args.listing.listing, settings.listing.as_ref());
    or(&mut args.listing.tool_budget, settings.tool_budget.as_ref());
    or(&mut args.limits.max_rounds, settings.max_rounds.as_ref());
    or(&mut args.limits.max_tokens, settings.max_tokens.as_ref());
    or(&mut args.limits.context, settings.context.as_ref());
    or(&mut args.output.reasoning_display, settings.reasoning_display.as_ref());
    args.calls.allow.splice(0..0, settings.allow.iter().cloned());
    args.calls.deny.splice(0..0, settings.deny.iter().cloned());
    args.conversation.no_history |= settings.history == Some(false);
}

/// Says once that nothing is kept, and keeps nothing from then on.
pub(super) fn keep(keeping: &mut Option<Keeping>, saved: &Saved, say: Phrases) {
    if let Some(Err(problem)) = keeping.as_mut().map(|keeping| keeping.write(saved, say)) {
        output::warn_in(say, &problem);
        *keeping = None;
    }
}
