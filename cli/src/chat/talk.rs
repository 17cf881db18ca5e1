//! A conversation with a model, wherever it is shown: with which tools, under which settings, and
//! where it is kept. Who shows a turn and asks the user drives it:
//!
//! ```text
//! say ─▶ begin ─▶ the turn's events, for whoever shows them ─▶ end: kept
//! ```

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::approve::Approvals;
use super::args::TalkArgs;
use super::attached::Attached;
use super::endpoint::Endpoint;
use super::kept::Keeping;
use super::mentioned;
use crate::base::{Failure, input, output, tokens};
use crate::screen::visible::word;
use crate::sessions::saved::{Saved, questions};
use crate::sessions::{Kept, said};
use crate::settings::{self, Folder, Images, Settings, learned, prompt_settings, saved_profiles};
use crate::terminal::{counted, grouped};
use serde_json::Value;
use toolgraft::agent::{Finished, Run};
use toolgraft::constrain::{Constrain, Way};
use toolgraft::conversation::{HistoryEntry, User};
use toolgraft::dialect::Profile;
use toolgraft::message::{Reads, TokenCounter, Usage};
use toolgraft::model::ServerKind;
use toolgraft::prompt::{Options, Prompt, System};
use toolgraft::route::Toolbox;
use toolgraft::secrets::{Secrets, kept_url};
use toolgraft::tools::ToolsMode;
use toolgraft::transcript::{self, Recorder};
use toolgraft::turn::{ModelChoice, TurnConfig};
use toolgraft::validate::OutputSchema;
use toolgraft::{Agent, Conversation, Dialect};
use toolgraft_mcp::Hub;

/// Number of tokens of a question beyond which the user is warned, if the context size is not known; the next constant
/// is the divisor of a known context size. Tools, answer and conversation need space, too.
const LARGE: usize = 8_000;
const LARGE_SHARE: usize = 3;

/// A conversation with a model, independent of the user interface.
pub(crate) struct Talk {
    pub(crate) args: TalkArgs,
    pub(super) hub: Arc<Hub>,
    pub(crate) endpoint: Endpoint,
    pub(crate) conversation: Conversation,
    pub(crate) approvals: Arc<Approvals>,
    /// File with the JSON Schema that answers must match, if requested.
    schema: Option<PathBuf>,
    asked: AskedCall,
    /// Storage in which the conversation is saved automatically; `None` if it is not saved.
    pub(crate) keeping: Option<Keeping>,
    pub(super) folder: Folder,
    /// Title that the user gave the conversation; `None` for the default, its first question.
    pub(crate) title: Option<String>,
    /// Files to be sent with the next question.
    pub(super) attached: Attached,
    /// Sum of the tokens of the turns; `None` if the endpoint reported none.
    usage: Option<Usage>,
}

/// The agent that sends requests to the model, and options that it was built with.
struct AskedCall {
    agent: Agent,
    /// The options of the agent's system prompt.
    options: Options,
    offered: (ToolsMode, Constrain),
}

impl Talk {
    /// Creates a new conversation.
    pub(crate) fn new(
        (args, schema): (TalkArgs, Option<PathBuf>),
        (hub, endpoint): (Arc<Hub>, Endpoint),
        approvals: Arc<Approvals>,
    ) -> Result<Self, Failure> {
        let asked = asked((&args, schema.as_deref()), &hub, &endpoint, &approvals)?;
        let (conversation, keeping, usage) = (Conversation::new(), None, None);
        let (folder, title, attached) = (Folder::here(), None, Attached::default());
        Ok(Talk {
            args,
            hub,
            endpoint,
            conversation,
            approvals,
            schema,
            asked,
            keeping,
            folder,
            title,
            attached,
            usage,
        })
    }

    /// Returns a recorder of turns to this writer, which removes these secrets and those of the endpoint.
    pub(crate) fn recorder(&self, to: impl io::Write + Send + 'static, secrets: &Secrets) -> Recorder {
        let secrets = self.endpoint.secrets().and(secrets);
        Recorder::with_secrets(to, &described(&self.args, &self.endpoint), secrets)
    }

    /// Returns a line with the model, the endpoint and the profile.
    pub(crate) fn about(&self) -> String {
        format!("{} · {} · profile {}", word(&self.endpoint.model), word(&self.endpoint.name()), self.profile().name)
    }

    /// Returns the model's id, and a text with its endpoint and profile.
    pub(crate) fn model_and_place(&self) -> (String, String) {
        let place = format!("{} · profile {}", word(&self.endpoint.name()), self.profile().name);
        (self.endpoint.model.clone(), place)
    }

    /// Sets the title of the conversation; an empty one restores the default, its first question.
    pub(crate) fn rename(&mut self, title: &str) {
        self.title = Some(title.split_whitespace().collect::<Vec<_>>().join(" ")).filter(|title| !title.is_empty());
        self.write_kept();
    }

    /// Deletes the saved conversation and starts a new one.
    pub(crate) fn forget(&mut self) -> Result<(), Failure> {
        self.keeping.as_ref().map_or(Ok(()), Keeping::forget)?;
        self.begin_anew();
        Ok(())
    }

    /// Continues an earlier conversation. Servers that were untrusted in it stay untrusted.
    pub(crate) fn go_on(&mut self, saved: Saved) -> Result<(), Failure> {
        (self.conversation, self.usage, self.title) = (saved.conversation, saved.usage, saved.title);
        let untrusted = &mut self.args.settings.untrusted;
        let known = untrusted.len();
        untrusted.extend(saved.untrusted);
        untrusted.sort();
        untrusted.dedup();
        // The agent has the list of untrusted servers from when it was built.
        if untrusted.len() > known { self.renew() } else { Ok(()) }
    }

    /// Starts a new conversation; the present one remains saved.
    pub(super) fn begin_anew(&mut self) {
        (self.conversation, self.usage, self.title) = (Conversation::new(), None, None);
        self.attached = Attached::default();
        if let Some(keeping) = &mut self.keeping {
            keeping.begin_anew();
        }
    }

    /// Adds files to those to be sent with the next question.
    pub(crate) fn attach(&mut self, attached: Attached) {
        self.attached.extend(attached);
    }

    /// Removes the question with this index, or the last one, and everything after it. Returns the question.
    ///
    /// # Errors
    /// There is no such question.
    pub(crate) fn take_back(&mut self, at: Option<usize>) -> Result<User, Failure> {
        let said = self.cut(at)?;
        self.write_kept();
        Ok(said)
    }

    fn cut(&mut self, at: Option<usize>) -> Result<User, Failure> {
        let entries = self.conversation.entries();
        let mut asked = entries.iter().enumerate().filter_map(|(place, entry)| match entry {
            HistoryEntry::User(said) => Some((place, said)),
            _ => None,
        });
        let found = match at {
            Some(at) => asked.nth(at),
            None => asked.next_back(),
        };
        let none = || match questions(&self.conversation) {
            0 => Failure::usage("nothing was asked yet"),
            n => Failure::usage(format!("only {} can be taken back", counted(n, "question"))),
        };
        let (place, said) = found.map(|(place, said)| (place, said.clone())).ok_or_else(none)?;
        // What stood there was a conversation without its end, too.
        self.conversation = Conversation::try_from(entries[..place].to_vec()).map_err(Failure::job)?;
        Ok(said)
    }

    /// Saves the conversation. If that fails, warns and saves nothing from then on.
    pub(crate) fn write_kept(&mut self) {
        let Some(mut keeping) = self.keeping.take() else { return };
        match self.saved().and_then(|saved| keeping.write(&saved)) {
            Ok(()) => self.keeping = Some(keeping),
            Err(problem) => output::warn(&format!("the conversation is not kept: {problem}")),
        }
    }

    /// Returns the conversation in the form in which the store lists it.
    ///
    /// # Errors
    /// A secret cannot be removed from the conversation; the message gives the reason.
    pub(crate) fn kept(&self) -> Result<Kept, String> {
        let id = self.keeping.as_ref().map(|keeping| keeping.id.clone()).unwrap_or_default();
        Ok(Kept { id, used: SystemTime::now(), saved: self.saved()? })
    }

    /// Returns the conversation in the form in which it is stored: without the secrets of the endpoint and the servers.
    ///
    /// # Errors
    /// A secret cannot be removed; the message gives the reason.
    fn saved(&self) -> Result<Saved, String> {
        let mut saved = Saved::new(&self.endpoint.model, &self.conversation);
        // An endpoint that was found by its port is looked for anew next time.
        saved.endpoint = self.endpoint.found.is_none().then(|| kept_url(&self.endpoint.url));
        (saved.usage, saved.title) = (self.usage, self.title.clone());
        saved.untrusted.clone_from(&self.args.settings.untrusted);
        saved.without(&self.endpoint.secrets().and(&self.hub.config().secrets()))
    }

    /// Adds a question with the attached files to the conversation. Returns the conversation as it was before.
    pub(crate) fn say(&mut self, question: User) -> Result<Conversation, Failure> {
        let before = self.conversation.clone();
        let question = std::mem::take(&mut self.attached).with(question);
        self.push(question)?;
        Ok(before)
    }

    /// Repeats the question with this index, or the last one; everything after it is removed. With new `words`, its
    /// files are kept and newly attached ones are added. Returns the conversation as it was before.
    pub(crate) fn say_anew(&mut self, at: Option<usize>, words: Option<User>) -> Result<Conversation, Failure> {
        let before = self.conversation.clone();
        let asked = self.cut(at)?;
        let question = match words {
            Some(words) => std::mem::take(&mut self.attached).with(said::with_files_of(words, asked)),
            None => asked,
        };
        self.push(question)?;
        Ok(before)
    }

    /// Reads the resources that these words mention, and adds them to the last question. Returns `true` if there were
    /// any.
    ///
    /// # Errors
    /// A resource cannot be read, or its server is untrusted or does not exist.
    pub(crate) async fn add_mentioned(&mut self, words: &str) -> Result<bool, Failure> {
        let attached = mentioned::read(words, &self.hub, &self.args.settings.untrusted, None).await?;
        if attached.names().is_none() {
            return Ok(false);
        }
        let asked = self.cut(None)?;
        self.push(attached.with(asked))?;
        Ok(true)
    }

    fn push(&mut self, question: User) -> Result<(), Failure> {
        self.warn_long(&question.text);
        self.conversation.push_user(question).map_err(Failure::job)?;
        // Kept before it is answered: a program that is killed says nothing more.
        self.write_kept();
        Ok(())
    }

    /// Restores the conversation to `before`, after a turn could not begin.
    pub(crate) fn go_back(&mut self, before: Conversation) {
        self.conversation = before;
        self.write_kept();
    }

    /// Starts a turn of the model, which proceeds as its events are read.
    pub(crate) fn begin(&self, recorder: Option<&Recorder>) -> Result<Run, Failure> {
        let conversation = self.conversation.clone();
        let run = match recorder {
            Some(recorder) => self.asked.agent.run_recorded(conversation, recorder),
            None => self.asked.agent.run(conversation),
        };
        run.map_err(Failure::job)
    }

    /// Records the end of a turn. If the model produced no message, restores the conversation to `before` and returns
    /// `false`.
    pub(crate) fn end(&mut self, finished: &Finished, before: Conversation) -> bool {
        self.usage = match (self.usage, finished.usage) {
            (Some(before), Some(now)) => Some(before.plus(now)),
            (before, now) => before.or(now),
        };
        // A turn that failed before the first word of the model has added no message.
        let said = finished.conversation.messages().count() > self.conversation.messages().count();
        self.conversation = if said { finished.conversation.clone() } else { before };
        said
    }

    /// Returns the profile in use: that of the settings, or else of the model.
    pub(super) fn profile(&self) -> &'static Profile {
        self.endpoint.profile(&self.args.settings)
    }

    /// Switches to another model, by a name as for `--model`; with `stays`, only to one of this endpoint.
    pub(super) async fn change_model(&mut self, name: &str, stays: bool) -> Result<(), Failure> {
        let mut other = self.endpoint.other(name, stays)?;
        other.warn_unlisted().await?;
        self.talk_to(other.learned().await)
    }

    /// Switches to this endpoint and model; on an error the previous ones remain.
    pub(crate) fn talk_to(&mut self, other: Endpoint) -> Result<(), Failure> {
        let before = std::mem::replace(&mut self.endpoint, other);
        self.renew().inspect_err(|_| self.endpoint = before)
    }

    /// Applies the permissions and rebuilds the agent after the remaining servers have started.
    pub(crate) fn servers_are_there(&mut self) -> Result<(), Failure> {
        self.approvals.settle(&self.args.settings)?;
        self.renew()
    }

    /// Sets a settings key for this conversation and saves it for later ones in the working directory. Returns the
    /// value.
    ///
    /// # Errors
    /// The key cannot change during a conversation, has an invalid value, or cannot be saved. Nothing is changed then.
    pub(crate) fn set(&mut self, key: &str, value: &str) -> Result<Value, Failure> {
        let wanted = settings::changed(key, value)?;
        let values = serde_json::to_value(&wanted).map_err(Failure::job)?;
        let before = self.args.settings.clone();
        self.args.settings.take(key, &wanted);
        let keep = |folder: &Folder| folder.change(|kept| drop(kept.insert(key.to_owned(), values[key].clone())));
        // First the agent is built, which refuses wrong values; only then is the value kept for the
        // folder.
        if let Err(failure) = self.renew().and_then(|()| keep(&self.folder)) {
            self.args.settings = before;
            self.renew()?;
            return Err(failure);
        }
        Ok(values[key].clone())
    }

    /// Rebuilds the agent with the present settings and permissions.
    pub(super) fn renew(&mut self) -> Result<(), Failure> {
        let args = (&self.args, self.schema.as_deref());
        self.asked = asked(args, &self.hub, &self.endpoint, &self.approvals)?;
        Ok(())
    }

    /// Returns a description of how tools are offered (native, by prompt), as far as it is known before a request.
    pub(super) fn offer(&self) -> String {
        let (_, constrain) = self.asked.offered;
        let is_held = match constrain {
            Constrain::Require => true,
            Constrain::Auto => self.endpoint.info.server.is_some_and(ServerKind::constrains_calls),
            _ => false,
        };
        let by_prompt = || format!("by prompt ({}, {})", self.asked.options.dialect, self.asked.options.style);
        // Trials of native calls are kept by the server's version: without one there are none to wait
        // for.
        let is_untried = self.endpoint.info.version.is_some() && self.endpoint.found_natively().is_none();
        let is_tried = self.asked.offered.0 == ToolsMode::Native || !is_untried;
        match (self.offers_natively(), is_held) {
            (true, _) if is_tried => "native".to_owned(),
            (true, _) => "native if a first call works".to_owned(),
            (false, true) => format!("{}, constrained where due", by_prompt()),
            (false, false) => by_prompt(),
        }
    }

    /// Returns `true` if requests will contain native tools, as far as it is known before a request.
    fn offers_natively(&self) -> bool {
        let profile = self.profile();
        match self.asked.offered.0 {
            ToolsMode::Native => true,
            ToolsMode::Auto if profile.native_tools == Some(false) => false,
            ToolsMode::Auto if self.endpoint.found_natively().flatten().is_some() => false,
            ToolsMode::Auto => self.endpoint.info.tools.unwrap_or(profile.native_tools == Some(true)),
            _ => false,
        }
    }

    /// Returns the system prompt that is sent to the model.
    pub(super) fn system(&self) -> Result<System, Failure> {
        system(&self.asked.options, &self.hub)
    }

    /// Warns if the tools exceed their token budget. Faults in prompt templates are an error here, before any request.
    pub(crate) fn warn_over_budget(&self) -> Result<(), Failure> {
        if let Some(warning) = prompt_settings::over_budget(&self.system()?.listed) {
            output::warn(&warning);
        }
        Ok(())
    }

    /// Warns if a text takes a large part of the model's context.
    pub(super) fn warn_long(&self, text: &str) {
        let context = self.args.settings.context.map(Into::into).or(self.endpoint.context());
        let most = context.map_or(LARGE, |context: usize| context / LARGE_SHARE);
        // No token is shorter than a byte.
        let tokens = if text.len() > most { tokens::count(text) } else { 0 };
        if tokens > most {
            let of_all = context.map(|all| format!(" of the {} that the context has", grouped(all as u64)));
            let (tokens, of_all) = (grouped(tokens as u64), of_all.unwrap_or_default());
            output::warn(&format!("this takes about {tokens} tokens{of_all}; Ctrl-C stops it"));
        }
    }
}

/// Returns the header of a recording of the conversation.
pub(super) fn described(args: &TalkArgs, endpoint: &Endpoint) -> transcript::Session {
    let profile = endpoint.profile(&args.settings);
    transcript::Session::default()
        .with_model(endpoint.model.clone())
        .with_profile(profile.name.to_owned())
        .with_reasoning(args.settings.reasoning.unwrap_or(profile.reasoning))
        .with_reasoning_calls(profile.reasoning_calls)
}

fn system(options: &Options, hub: &Hub) -> Result<System, Failure> {
    let catalog = options.callable(hub.catalog());
    let prompt = Prompt::new(options.clone()).map_err(Failure::usage)?;
    prompt.compose(&catalog, &[]).map_err(Failure::usage)
}

/// Builds the agent that sends requests to the model, from the settings.
fn asked(
    (args, schema): (&TalkArgs, Option<&Path>),
    hub: &Arc<Hub>,
    endpoint: &Endpoint,
    approvals: &Arc<Approvals>,
) -> Result<AskedCall, Failure> {
    let settings = probed(args, endpoint)?;
    let profile = endpoint.profile(&settings);
    let mut config = TurnConfig::for_profile(profile).with_policy(approvals.policy());
    // One that was derived from the model's chat template is in no other set.
    if let Some(derived @ Dialect::Loaded(_)) = endpoint.info.dialect {
        config.dialects = config.dialects.with(derived);
    }
    config.untrusted.clone_from(&settings.untrusted);
    config.reads = match settings.images.unwrap_or(Images::Auto) {
        Images::Auto => endpoint.info.reads(),
        Images::Always => endpoint.info.reads().with_images(true),
        Images::Never => Reads::default(),
    };
    config.reasoning = settings.reasoning.unwrap_or(config.reasoning);
    config.fenced_calls = settings.fenced_calls.unwrap_or_default();
    config.stop.clone_from(&settings.stop);
    config.temperature = settings.temperature.or(config.temperature);
    config.max_tokens = settings.max_tokens.map(Into::into);
    config.round_model = settings.round_model.as_deref().map(ModelChoice::from);
    config.tokens = Some(TokenCounter::new(tokens::count));
    config.carry_reasoning = settings.carry_reasoning.unwrap_or(config.carry_reasoning);
    config.tools_mode = settings.tools_mode.unwrap_or(ToolsMode::Auto);
    config.constrain = settings.constrain.unwrap_or(config.constrain);
    config.call_threshold = settings.call_threshold;
    config.context = settings.context.map(Into::into).or(endpoint.context());
    config.context_remedy = endpoint.longer_context();
    config.max_repeats = settings.max_repeats.unwrap_or(config.max_repeats);
    config.max_same_results = settings.max_same_results.unwrap_or(config.max_same_results);
    config.max_rounds = settings.max_rounds.map_or(config.max_rounds, Into::into);
    if config.tools_mode == ToolsMode::Native && endpoint.info.tools == Some(false) {
        output::warn(
            "tools_mode=native: the endpoint reports that the model's chat template has no place for tools, so the \
             model may never see them: use --set tools_mode=prompt, or start the server with a template that has one",
        );
    }
    let style = profile.style_for(&endpoint.model, endpoint.info.parameters);
    let options = settings.prompt_options(profile, style)?.within(config.context);
    config.way = settings.way.unwrap_or(Way::Auto).for_style(options.style);
    let (approvals, offered) = (approvals.clone(), (config.tools_mode, config.constrain));
    let known_ways = learned::ways(&endpoint.url, &endpoint.model, endpoint.info.version.as_deref());
    let mut agent = Agent::builder(endpoint.client(), hub.clone())
        .config(config)
        .prompt(options.clone())
        .known_ways(known_ways)
        // The hub ends every call itself, and knows when a person is asked meanwhile.
        .call_timeout(None)
        .approver(move |request| approvals.clone().decide(request));
    if let Some(file) = schema {
        agent = agent.output(schema_of(file)?);
    }
    Ok(AskedCall { agent: agent.build(), options, offered })
}

/// Returns the settings, filled in with those that `toolgraft probe` saved for the model.
fn probed(args: &TalkArgs, endpoint: &Endpoint) -> Result<Settings, Failure> {
    let mut settings = args.settings.clone();
    settings.teach(args.model.offer.dialect_file);
    if let Some(saved) = saved_profiles::find(Some(&endpoint.url), &endpoint.model)? {
        settings.over(&Settings::from(&saved));
    }
    Ok(settings)
}

/// Reads a JSON Schema for answers from a file.
fn schema_of(file: &Path) -> Result<OutputSchema, Failure> {
    let (text, name) = (input::read_text(file)?, input::shown(file));
    let schema = serde_json::from_str(input::without_bom(&text))
        .map_err(|e| Failure::usage(format!("{name}:{}: fix the JSON there", input::json_problem(&e))))?;
    OutputSchema::new(schema).map_err(|e| Failure::usage(format!("{name}: {e}")))
}
