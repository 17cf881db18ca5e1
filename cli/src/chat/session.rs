//! A conversation with a model: turn after turn.

use std::io;
use std::path::Path;
use std::sync::Arc;

use anstyle::Style;
use futures::StreamExt;

use super::approve::Approvals;
use super::args::{Args, Images};
use super::attached::Attached;
use super::display::Display;
use super::endpoint::Endpoint;
use super::files::Files;
use super::kept::{self, Keeping};
use super::mentioned::{self, Followed};
use crate::base::Failure;
use crate::base::input;
use crate::base::media;
use crate::base::output;
use crate::base::reader;
use crate::base::signals::Signals;
use crate::base::tokens;
use crate::dialog::elicit::{Questions, over};
use crate::phrases::Phrases;
use crate::screen::live::Place;
use crate::screen::{BAD, DIM};
use crate::servers::watch::Watch;
use crate::sessions::by_process;
use crate::sessions::saved::Saved;
use crate::settings::profiles::teach_what_is_named;
use crate::settings::prompt_args;
use crate::settings::saved_profiles;
use crate::settings::{Folder, Settings};
use crate::terminal::grouped;
use crate::terminal::tty::Tty;
use toolgraft::agent::Finished;
use toolgraft::constrain::Constrain;
use toolgraft::conversation::{Entry, User};
use toolgraft::dialect::Profile;
use toolgraft::message::{Reads, TokenCounter, Usage};
use toolgraft::prompt::{Options, Prompt, System};
use toolgraft::route::Toolbox;
use toolgraft::tools::ToolsMode;
use toolgraft::turn::{ModelChoice, TurnConfig};
use toolgraft::validate::OutputSchema;
use toolgraft::{Agent, AgentEvent, Conversation, Outcome};
use toolgraft_mcp::{Hub, ServerEventKind};

/// Tokens of tools, or of a question, beyond which is warned: so many where the context is not known, else its
/// third part. The answer and the conversation want their room, too.
const LARGE: usize = 8_000;
const LARGE_SHARE: usize = 3;

/// How a turn came to its end.
pub(super) enum Ended {
    Finished(Box<Finished>),
    /// Ctrl-C twice: leave at once.
    Left,
}

/// A conversation with a model.
pub(super) struct Session {
    pub(super) args: Args,
    pub(super) hub: Arc<Hub>,
    pub(super) endpoint: Endpoint,
    pub(super) conversation: Conversation,
    pub(super) display: Display,
    pub(super) say: Phrases,
    pub(super) signals: Signals,
    pub(super) approvals: Arc<Approvals>,
    pub(super) folder: Folder,
    pub(super) questions: Arc<Questions>,
    agent: Agent,
    options: Options,
    offered: (ToolsMode, Constrain),
    files: Files,
    tty: Option<Arc<Tty>>,
    keeping: Option<Keeping>,
    /// What the turns of the conversation took.
    usage: Option<Usage>,
    /// Files that wait for the next question.
    pub(super) attached: Attached,
    /// Resources that were named, of which servers say when they change.
    pub(super) followed: Followed,
}

impl Session {
    /// A conversation that is new, or goes on as the flags say.
    pub(super) fn new(
        args: Args,
        (hub, endpoint): (Arc<Hub>, Endpoint),
        (display, say): (Display, Phrases),
        (approvals, questions): (Arc<Approvals>, Arc<Questions>),
        (tty, signals): (Option<Arc<Tty>>, Signals),
        files: Files,
    ) -> Result<Self, Failure> {
        let resumed = args.conversation.resume.as_deref().map(Saved::read).transpose()?;
        let (conversation, usage) = resumed.map(|saved| (saved.conversation, saved.usage)).unwrap_or_default();
        if let Some(file) = &args.conversation.save {
            Saved::check_place(file)?;
        }
        let (agent, options, offered) = agent(&args, &hub, &endpoint, &approvals, say)?;
        warn_over_budget(&options, &hub, say)?;
        let followed = Followed::begin(&hub);
        Ok(Session {
            args,
            hub,
            endpoint,
            conversation,
            display,
            say,
            signals,
            approvals,
            folder: Folder::here(),
            questions,
            agent,
            options,
            offered,
            files,
            tty,
            keeping: None,
            usage,
            attached: Attached::default(),
            followed,
        })
    }

    /// Keeps the conversation by itself from now on, and goes on with an earlier one.
    pub(super) fn keep(&mut self, keeping: Option<Keeping>, gone_on: Option<Saved>) {
        self.keeping = keeping;
        if let Some(saved) = gone_on {
            (self.conversation, self.usage) = (saved.conversation, saved.usage);
        }
        self.display.know(&self.conversation);
    }

    /// Sends files with the next question, too.
    pub(super) fn attach(&mut self, attached: Attached) {
        self.attached.extend(attached);
    }

    /// Which files go with the next question.
    pub(super) fn attached_names(&self) -> Option<String> {
        self.attached.names(self.say).map(|names| self.say.with_next_question(names))
    }

    /// Says how to go on with what was said.
    pub(super) fn say_kept(&mut self) -> Result<(), Failure> {
        match self.keeping.as_ref().and_then(|keeping| keeping.farewell(self.say)) {
            Some(farewell) => self.note(DIM, &farewell),
            None => Ok(()),
        }
    }

    /// Begins a new conversation; the one until now stays kept.
    pub(super) fn begin_anew(&mut self) {
        (self.conversation, self.usage) = (Conversation::new(), None);
        self.attached = Attached::default();
        if let Some(keeping) = &mut self.keeping {
            keeping.begin_anew();
        }
    }

    /// Takes the last question back, with all that followed it; `None` where nothing was asked.
    pub(super) fn take_back(&mut self) -> Option<User> {
        let entries = self.conversation.entries();
        let at = entries.iter().rposition(|entry| matches!(entry, Entry::User(_)))?;
        let Entry::User(said) = entries[at].clone() else { return None };
        // What stood there was a conversation without its end, too.
        self.conversation = Conversation::try_from(entries[..at].to_vec()).ok()?;
        self.write_kept();
        Some(said)
    }

    fn write_kept(&mut self) {
        let saved = self.saved();
        kept::keep(&mut self.keeping, &saved, self.say);
    }

    fn saved(&self) -> Saved {
        let mut saved = Saved::new(&self.endpoint.model, &self.conversation);
        saved.endpoint = self.endpoint.named_url().map(str::to_owned);
        saved.usage = self.usage;
        saved
    }

    /// The profile in force.
    pub(super) fn profile(&self) -> &'static Profile {
        self.endpoint.profile(&self.args.model)
    }

    /// Talks to another model of the endpoint from now on.
    pub(super) async fn change_model(&mut self, model: &str) -> Result<(), Failure> {
        let endpoint = self.endpoint.with_model(model).learned().await;
        (self.agent, self.options, self.offered) = agent(&self.args, &self.hub, &endpoint, &self.approvals, self.say)?;
        self.endpoint = endpoint;
        Ok(())
    }

    /// Goes on with the arguments and permissions as they are now.
    pub(super) fn renew(&mut self) -> Result<(), Failure> {
        (self.agent, self.options, self.offered) =
            agent(&self.args, &self.hub, &self.endpoint, &self.approvals, self.say)?;
        self.display.show_reasoning(&self.args.output);
        Ok(())
    }

    /// How the tools are offered, as far as it is known before a request.
    pub(super) fn offer(&self) -> String {
        let (_, constrain) = self.offered;
        let is_held = match constrain {
            Constrain::Require => true,
            Constrain::Auto => self.endpoint.constrains_calls(),
            _ => false,
        };
        let by_prompt = || self.say.offered_by_prompt(self.options.dialect, self.options.style);
        match (self.offers_natively(), is_held) {
            (true, _) => self.say.offered_natively().to_owned(),
            (false, true) => self.say.offered_constrained(by_prompt()),
            (false, false) => by_prompt(),
        }
    }

    /// Whether requests carry the tools, as far as it is known before one.
    fn offers_natively(&self) -> bool {
        let profile = self.profile();
        match self.offered.0 {
            ToolsMode::Native => true,
            ToolsMode::Auto if profile.native_tools == Some(false) || self.endpoint.fails_natively() => false,
            ToolsMode::Auto => self.endpoint.takes_tools().unwrap_or(profile.native_tools == Some(true)),
            _ => false,
        }
    }

    /// The system prompt as it is sent.
    pub(super) fn system(&self) -> Result<System, Failure> {
        system(&self.options, &self.hub)
    }

    /// Warns where the tools alone take much of what the model can read.
    pub(super) fn warn_large(&mut self) -> Result<(), Failure> {
        let tools = match self.offers_natively() {
            true => serde_json::to_string(&self.hub.catalog().tools().collect::<Vec<_>>()),
            false => Ok(self.system()?.text),
        };
        if let Some(tokens) = self.much(&tools.unwrap_or_default())
            && self.hub.catalog().tools().next().is_some()
        {
            output::warn_in(self.say, &self.say.tools_are_large(tokens));
        }
        Ok(())
    }

    /// Warns where what is said takes much of what the model can read.
    pub(super) fn warn_long(&self, text: &str) {
        if let Some(tokens) = self.much(text) {
            output::warn_in(self.say, &self.say.question_is_large(tokens));
        }
    }

    /// The size of a text that is large for the model.
    fn much(&self, text: &str) -> Option<String> {
        let context = self.args.limits.context.map(Into::into).or(self.endpoint.context());
        let most = context.map_or(LARGE, |context: usize| context / LARGE_SHARE);
        // No token is shorter than a byte.
        let tokens = if text.len() > most { tokens::count(text) } else { 0 };
        let shown = grouped(tokens as u64);
        (tokens > most).then(|| match context {
            Some(context) => self.say.tokens_of_context(shown, grouped(context as u64)),
            None => self.say.so_many_tokens(shown),
        })
    }

    /// A result in full, by the number in its box.
    pub(super) fn result(&self, number: usize) -> Result<String, Failure> {
        Ok(self.outcome(number)?.said().trim_end().to_owned())
    }

    /// Writes what came with a result to files: its images, audio and blobs, or its text.
    pub(super) fn save_result(&self, number: usize, file: &Path) -> Result<(), Failure> {
        let mut outcome = self.outcome(number)?.clone();
        media::check_place("/result", file)?;
        media::write(&mut outcome, file, self.say).map(drop)
    }

    fn outcome(&self, number: usize) -> Result<&Outcome, Failure> {
        let found = self.display.call_of(number).and_then(|id| {
            self.conversation.entries().iter().find_map(|entry| match entry {
                Entry::Outcome { id: other, outcome } if other == id => Some(outcome),
                _ => None,
            })
        });
        found.ok_or_else(|| Failure::usage(self.say.no_result(number)))
    }

    /// Says something to the model, with the files that wait, and shows what follows.
    pub(super) async fn ask(&mut self, question: &str) -> Result<Ended, Failure> {
        let question = std::mem::take(&mut self.attached).with(question.into());
        self.send(question).await
    }

    /// Reads the resources that a person names in a question; they go with it.
    pub(super) async fn mention(&mut self, question: &str) -> Result<(), Failure> {
        let watch = Watch { questions: &self.questions, say: self.say, place: Place::here() };
        let untrusted = self.args.calls.untrusted.as_slice();
        let interrupts = self.signals.take_interrupts();
        let (attached, found) = tokio::select! {
            biased;
            () = interrupts.next() => return Err(Failure::job("stopped by Ctrl-C")),
            read = mentioned::read(question, &self.hub, (untrusted, self.say), watch) => read?,
        };
        drop(interrupts);
        self.followed.follow(&self.hub, found).await;
        self.attach(attached);
        Ok(())
    }

    /// Says this to the model and shows what follows.
    pub(super) async fn send(&mut self, question: User) -> Result<Ended, Failure> {
        let before = self.conversation.clone();
        self.warn_long(&question.text);
        self.conversation.push_user(question).map_err(Failure::job)?;
        self.turn(before).await
    }

    /// One turn. Where the model said nothing at all, the conversation stays as
    /// it was `before`.
    pub(super) async fn turn(&mut self, before: Conversation) -> Result<Ended, Failure> {
        let conversation = self.conversation.clone();
        let run = match &self.files.recorder {
            Some(recorder) => self.agent.run_recorded(conversation, recorder),
            None => self.agent.run(conversation),
        };
        let mut run = run.map_err(Failure::job)?;
        let (interrupts, ending) = (self.signals.take_interrupts(), self.signals.hold());
        let cancel = run.cancellation();
        self.approvals.begin(cancel.clone());
        let mut pauses = self.questions.begin(cancel.clone());
        let mut servers = self.hub.states();
        let mut question_over = None;
        self.display.begin(&self.conversation, self.hub.catalog().tools().next().is_some());
        if let Some(tty) = &self.tty {
            tty.echo(false);
        }
        let echo = Echo(self.tty.clone());
        // Why nobody sees the rest. What was said until then is kept all the same.
        let mut broken: Option<Failure> = None;
        let mut is_ending = false;
        loop {
            if broken.is_some() {
                cancel.cancel();
            }
            let event = tokio::select! {
                biased;
                () = interrupts.next() => {
                    if cancel.is_cancelled() {
                        return Ok(Ended::Left);
                    }
                    cancel.cancel();
                    continue;
                }
                () = ending.begins(), if !is_ending => {
                    is_ending = true;
                    cancel.cancel();
                    continue;
                }
                () = reader::gone(), if broken.is_none() => {
                    broken = Some(Failure::Reported);
                    continue;
                }
                () = until(self.display.due()) => {
                    note_failure(&mut broken, self.display.send_words());
                    continue;
                }
                Some(pause) = pauses.recv() => {
                    note_failure(&mut broken, self.display.pause());
                    let _ = pause.begun.send(());
                    question_over = Some(pause.over);
                    continue;
                }
                () = over(&mut question_over) => {
                    note_failure(&mut broken, self.display.go_on());
                    continue;
                }
                Some(event) = servers.next() => {
                    if let ServerEventKind::Progress { progress, total, message, .. } = event.kind {
                        note_failure(&mut broken, self.display.progress(&event.server, progress, total, message));
                    }
                    continue;
                }
                event = run.next() => event,
            };
            let Some(event) = event else { return Err(Failure::job("the turn ended without a last event")) };
            let finished = match &event {
                AgentEvent::Finished(finished) => Some(finished.clone()),
                _ => None,
            };
            if broken.is_none() {
                broken = self.report_files().and_then(|()| self.show(event)).err();
            }
            let Some(finished) = finished else { continue };
            let ended = self.end(finished, before)?;
            if let Some(failure) = broken {
                return Err(failure);
            }
            if is_ending {
                drop((echo, ending));
                // Whoever listens to the signals ends the command now.
                std::future::pending::<()>().await;
            }
            return Ok(ended);
        }
    }

    fn show(&mut self, event: AgentEvent) -> Result<(), Failure> {
        match event {
            event if self.args.output.json => output::emit_json(&event),
            AgentEvent::Finished(finished) => written(self.display.finished(&finished)),
            event => written(self.display.event(event)),
        }
    }

    fn end(&mut self, finished: Box<Finished>, before: Conversation) -> Result<Ended, Failure> {
        self.usage = match (self.usage, finished.usage) {
            (Some(before), Some(now)) => Some(before.plus(now)),
            (before, now) => before.or(now),
        };
        let said = finished.conversation.messages().count() > before.messages().count();
        self.conversation = if said { finished.conversation.clone() } else { before };
        if let Some(file) = self.args.conversation.save.clone() {
            self.save(&file)?;
        }
        self.write_kept();
        Ok(Ended::Finished(finished))
    }

    /// Says once what cannot be written down.
    fn report_files(&mut self) -> Result<(), Failure> {
        for problem in self.files.news(self.say) {
            match self.args.output.json {
                true => output::warn(&problem),
                false => self.note(BAD, &self.say.warning_line(problem))?,
            }
        }
        Ok(())
    }

    /// Writes the conversation to a file, but not to one that another chat writes.
    pub(super) fn save(&self, file: &Path) -> Result<(), Failure> {
        let _lock = match kept::hold_file(file) {
            Err(holder) if holder.process != Some(std::process::id()) => {
                let (by, file) = (by_process(holder, self.say), file.display());
                return Err(Failure::usage(self.say.belongs_to_another(file, by)));
            }
            held => held,
        };
        self.saved().write(file)
    }

    /// A line of our own.
    pub(super) fn note(&mut self, style: Style, text: &str) -> Result<(), Failure> {
        written(self.display.note(style, text))
    }
}

/// Shows what is typed again, however the turn ends.
struct Echo(Option<Arc<Tty>>);

impl Drop for Echo {
    fn drop(&mut self) {
        if let Some(tty) = &self.0 {
            tty.echo(true);
        }
    }
}

fn system(options: &Options, hub: &Hub) -> Result<System, Failure> {
    let catalog = options.callable(hub.catalog());
    let prompt = Prompt::new(options.clone()).map_err(Failure::usage)?;
    prompt.compose(&catalog).map_err(Failure::usage)
}

/// Says where the tools do not fit their budget. Templates that are wrong end the
/// command here, before anything is asked.
fn warn_over_budget(options: &Options, hub: &Hub, say: Phrases) -> Result<(), Failure> {
    if (options.tool_budget.is_some() || !options.templates.is_empty())
        && let Some(warning) = prompt_args::over_budget(&system(options, hub)?.listed, say)
    {
        output::warn_in(say, &warning);
    }
    Ok(())
}

/// The agent for a model, and what its prompt is written with.
fn agent(
    args: &Args,
    hub: &Arc<Hub>,
    endpoint: &Endpoint,
    approvals: &Arc<Approvals>,
    say: Phrases,
) -> Result<(Agent, Options, (ToolsMode, Constrain)), Failure> {
    let args = &probed(args, endpoint)?;
    let profile = endpoint.profile(&args.model);
    let mut config = TurnConfig::for_profile(profile).with_policy(approvals.policy());
    config.untrusted.clone_from(&args.calls.untrusted);
    config.reads = match args.model.images.unwrap_or(Images::Auto) {
        Images::Auto => endpoint.reads(),
        Images::Always => endpoint.reads().with_images(true),
        Images::Never => Reads::default(),
    };
    config.reasoning = args.model.reasoning.unwrap_or(config.reasoning);
    config.fenced_calls = args.model.fenced_calls;
    config.stop.clone_from(&args.model.stop);
    config.temperature = args.model.temperature.or(config.temperature);
    config.max_tokens = args.limits.max_tokens.map(Into::into);
    config.round_model = args.model.round_model.as_deref().map(ModelChoice::from);
    config.tokens = Some(TokenCounter::new(tokens::count));
    config.carry_reasoning = args.model.carry_reasoning.unwrap_or(config.carry_reasoning);
    config.tools_mode = args.model.tools_mode.unwrap_or(ToolsMode::Auto);
    config.constrain = args.model.constrain.unwrap_or(config.constrain);
    config.way = args.model.way.unwrap_or(config.way);
    config.call_threshold = args.model.call_threshold;
    config.context = args.limits.context.map(Into::into).or(endpoint.context());
    config.context_remedy = endpoint.longer_context();
    config.max_repeats = args.limits.max_repeats.unwrap_or(config.max_repeats);
    config.max_rounds = args.limits.max_rounds.map_or(config.max_rounds, Into::into);
    if config.tools_mode == ToolsMode::Native && endpoint.takes_tools() == Some(false) {
        output::warn_in(say, say.native_without_place());
    }
    let defaults = Options::for_profile(profile).with_style(endpoint.style(profile));
    let (dialect, lang) = (args.model.dialect.unwrap_or(defaults.dialect), args.model.lang.unwrap_or(defaults.lang));
    let options = args
        .listing
        .apply(defaults)?
        .with_dialect(dialect)
        .with_lang(lang)
        .with_system(args.model.system.as_deref().map(input::text_or_file).transpose()?);
    let (approvals, offered) = (approvals.clone(), (config.tools_mode, config.constrain));
    let mut agent = Agent::builder(endpoint.client(), hub.clone())
        .config(config)
        .prompt(options.clone())
        .known_ways(endpoint.known_ways())
        // The hub ends every call itself, and knows when a person is asked meanwhile.
        .call_timeout(None)
        .approver(move |request| approvals.clone().decide(request));
    if let Some(file) = &args.output.schema {
        agent = agent.output(schema(file)?);
    }
    Ok((agent.build(), options, offered))
}

/// The flags with what `toolgraft probe` found for the model where they say nothing.
fn probed(args: &Args, endpoint: &Endpoint) -> Result<Args, Failure> {
    let mut args = args.clone();
    teach_what_is_named(args.model.dialect, args.model.way, &mut args.model.tools_mode);
    if let Some(saved) = saved_profiles::find(Some(endpoint.url()), endpoint.model())? {
        Settings::from(&saved).fill(args.slots());
    }
    Ok(args)
}

/// The schema of a file.
fn schema(file: &Path) -> Result<OutputSchema, Failure> {
    let (text, name) = (input::read_text(file)?, input::shown(file));
    let schema = serde_json::from_str(input::without_bom(&text))
        .map_err(|e| Failure::usage(format!("{name}:{}: mend the JSON there", input::json_problem(&e))))?;
    OutputSchema::new(schema).map_err(|e| Failure::usage(format!("{name}: {e}")))
}

/// Waits for a moment, if there is one to wait for.
async fn until(moment: Option<tokio::time::Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// Keeps the first failure of writing to the screen.
fn note_failure(first: &mut Option<Failure>, result: io::Result<()>) {
    if let Err(failure) = written(result) {
        first.get_or_insert(failure);
    }
}

/// What became of writing to the screen. A reader that has gone ends the program quietly.
fn written(result: io::Result<()>) -> Result<(), Failure> {
    result.map_err(|e| match e.kind() {
        io::ErrorKind::BrokenPipe => Failure::Reported,
        _ => Failure::job(format!("cannot write the output: {e}")),
    })
}
