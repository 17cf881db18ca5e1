//! `toolgraft chat`: the user, a model, and the tools of the user's MCP servers.
//!
//! In: flags; one question as an argument or on a pipe, or else lines at a terminal. Out: the
//! model's answer on standard output, all that is said about it on standard error, and the
//! files that were asked for. Not here: what a turn does (the library's agent), the servers'
//! start and the signals (`App`).
//!
//! ```text
//! args ─▶ endpoint: which model? ─▶ App: servers are connected ─▶ session
//!                                                                      │ ask
//! one question ────────────────────────────────────────────────────────┤
//! repl: dialog/line ─▶ a line ─▶ commands (`/…`) or a question ──────────────┘
//!                                                                      ▼
//!            approve ◀── may this call run? ── the agent's turn ── events ─▶ front (display, summary)
//!                                                                      └──▶ files (record, trace), saved
//! ```

mod approve;
mod args;
mod attached;
mod commands;
mod endpoint;
mod files;
mod here;
mod kept;
mod mcp;
mod mentioned;
mod repl;
mod session;
mod talk;
mod template;

use std::io::{IsTerminal, stdin};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::base::{Failure, input as texts, output};
use crate::dialog::ask::Asker;
use crate::front::{Display, Frontend, Shelf, Terminal, elicitor};
use crate::labels;
use crate::screen::{DIM, full_name};
use crate::servers;
use crate::servers::app::{App, see};
use crate::servers::{existing::Existing, starting};
use crate::sessions::{Store, said, saved::Saved};
use crate::settings::{Reader, Source};
use crate::terminal::tty::Tty;
use files::Files;
use session::{Ended, Session};
use toolgraft::Conversation;
use toolgraft::agent::StopReason;
use toolgraft::conversation::User;
use toolgraft::outcome::Status;
use toolgraft::route::Toolbox;
use toolgraft_mcp::Hub;

pub(crate) use approve::{Approvals, warn_unmatched};
pub(super) use args::ChatArgs;
use args::OutputArgs;
pub(crate) use args::{EndpointArgs, EndpointOrUrl, TalkArgs};
pub(crate) use attached::Attached;
pub(crate) use endpoint::{Endpoint, local_models};
pub(crate) use kept::Keeping;
pub(crate) use talk::Talk;

/// Minimum number of characters with which a conversation's id can be abbreviated.
const ID: usize = 4;

/// Runs `toolgraft chat`.
pub(super) fn run(mut args: ChatArgs) -> Result<(), Failure> {
    args.talk.take_options(&[Reader::Talk, Reader::Chat])?;
    if let Some(file) = args.template.take() {
        template::ask(&file, &mut args)?;
    }
    args.talk.settings = args.talk.settings.resolve(&[Source::Environment, Source::Folder])?;
    // What counts where a conversation that is continued says nothing.
    let settings = args.talk.settings.clone().resolve(&[Source::File])?;
    let question = question(&args)?;
    // Neither the pipe nor a template: nobody has typed that.
    let typed = args.question.join(" ");
    let in_conversation = question.is_none();
    if in_conversation && args.output.json {
        return Err(Failure::usage("--json takes one question: give it as an argument or on a pipe"));
    }
    files::check(&args)?;
    // A file that is not there is said before an endpoint is looked for.
    let resumed = args.conversation.resume.as_deref().map(Saved::read).transpose()?;
    refuse_lost_id(&args)?;
    let (keeping, gone_on) = Keeping::begin(&mut args, &settings)?;
    if let Some(saved) = &resumed {
        kept::take_model_of_file(saved, &mut args, &settings)?;
    }
    args.talk.settings = args.talk.settings.resolve(&[Source::File])?;
    let place = args.talk.endpoint.place(&args.talk.settings)?;
    let keeps_history = settings.history != Some(false);
    let begun = resumed.or(gone_on);
    let attached = Attached::read(&args.attached, "-f")?;
    warn_of_files(&args);
    let config = args.talk.config()?;

    // Dropped last: it puts the terminal back as it was.
    let tty = Tty::open().map(Arc::new);
    let app = App::start(Asker::new(tty.as_ref()))?.showing(!args.output.quiet && !args.output.json);
    let existing = Existing::of(&config);
    let may_keep = settings.sessions.unwrap_or(true) && !args.conversation.no_session;
    let shelf = may_keep.then(Shelf::of_user).flatten();
    let OutputArgs { quiet, json, schema } = &args.output;
    let shown = (*quiet, schema.is_some());
    let display = Display::new(shown, &args.talk.settings, (in_conversation, shelf), existing.clone());
    let front = Arc::new(Terminal::new(app.asker.clone(), display, *json));
    let endpoint = app.wait(Endpoint::choose(&place, &*front))?;
    let files = Files::begin(&args, &endpoint, &config.secrets())?;
    let endpoint = endpoint.traced(files.tracer.clone());
    let in_session = files.clone();
    let signals = app.signals.clone();
    // Where results are shown, so that nothing is lost.
    let shows = !args.output.quiet;
    let hub = Hub::builder()
        .config(config)
        .trust(&place.trust)
        .keep_media(true)
        .by_audience(shows)
        .elicitor(elicitor(front.clone()));
    // A question that is there waits for all of them.
    let patience = if in_conversation { starting::PATIENCE } else { Duration::MAX };
    let is_shown = shows && !args.output.json;
    let done = app.with_hub_within(patience, hub, async move |hub| {
        let mut prompt = None;
        if in_conversation {
            let mut lines = repl::prompt(&hub, keeps_history)?;
            let mut first = None;
            if starting::goes_on(&hub) {
                first = repl::first_line(&hub, &mut lines, (front.asker.as_ref(), &signals), is_shown).await?;
                if first.is_none() {
                    return Ok(());
                }
                // After Ctrl-C it continues without those that still start, and not all can be seen.
                if !starting::goes_on(&hub) {
                    see(&hub);
                }
            }
            prompt = Some((lines, first));
        }
        servers::report_failed(&hub.servers());
        servers::refuse_strangers(&args.talk.settings.untrusted, &hub.servers())?;
        warn_unmatched(&args.talk.settings, &hub.catalog());
        let approvals = Approvals::new(&args.talk, front.clone(), (hub.clone(), existing))?;
        let mut session = Session::new(args, (hub, endpoint), (front, approvals), (tty, signals), in_session)?;
        session.keep(keeping, begun)?;
        session.talk.attach(attached);
        match (question, prompt) {
            (Some(question), _) => one(&mut session, question, &typed).await,
            (None, Some(prompt)) => {
                repl::greet(&mut session)?;
                repl::run(&mut session, prompt).await?;
                session.say_kept()
            }
            (None, None) => Ok(()),
        }
    });
    files.end(done)
}

/// Fails if the question is the id of a conversation, which has to follow `--continue=` in one word.
fn refuse_lost_id(args: &ChatArgs) -> Result<(), Failure> {
    let [id] = args.question.as_slice() else { return Ok(()) };
    // Of `--continue 3fa85f` the ID becomes the question, since the option takes a value only after `=`.
    // A question such as `beef` is an ID only if a conversation has it.
    let is_id = args.conversation.continued.as_deref() == Some("")
        && id.len() >= ID
        && id.bytes().all(|byte| byte.is_ascii_hexdigit())
        && Store::open().is_ok_and(|store| store.find(id).is_ok());
    match is_id {
        true => Err(Failure::usage(format!("the ID of a conversation is given after =, as in --continue={id}"))),
        false => Ok(()),
    }
}

/// Warns of file names in the question: the shell expands `-f *.md` to several words, of which `-f` takes only the
/// first.
fn warn_of_files(args: &ChatArgs) {
    let is_file = |word: &&String| Path::new(word).is_file();
    if let Some(word) = args.question.iter().find(is_file).filter(|_| !args.attached.is_empty()) {
        output::warn(&format!("{word} is a word of the question, and not sent as a file: each file takes its own -f"));
    }
}

/// Asks one question. The command fails if the last call needed approval and there was no terminal to ask on, so that a
/// script learns that the call did not run.
async fn one(session: &mut Session, question: User, typed: &str) -> Result<(), Failure> {
    if !session.output.quiet && !session.output.json {
        let about = format!("{} · {}", session.talk.about(), session.tools_line());
        session.note(DIM, &about)?;
    }
    session.mention(typed).await?;
    match session.ask(question).await? {
        Ended::Left => Err(Failure::interrupted("Ctrl-C")),
        Ended::Finished(finished) if finished.reason.is_answer() => {
            match unallowed(&finished.conversation, session.last_asked.as_deref()) {
                Some(tool) if session.front.room().is_none() => Err(Failure::job(format!(
                    "{tool} was not run, and no call followed it: the answer may be incomplete"
                ))),
                _ => Ok(()),
            }
        }
        Ended::Finished(finished) if finished.reason == StopReason::Cancelled => {
            Err(Failure::Interrupted(labels::stopped(&finished.reason)))
        }
        // The display has said why.
        Ended::Finished(_) if !session.output.json => Err(Failure::Reported),
        Ended::Finished(finished) => Err(Failure::job(labels::stopped(&finished.reason))),
    }
}

/// Returns the name of the last call since the last question, if it has the id `asked` and was denied.
fn unallowed(conversation: &Conversation, asked: Option<&str>) -> Option<String> {
    let last = conversation.answered().pop().filter(|last| asked == Some(last.id))?;
    (last.outcome.status == Status::Denied).then(|| full_name(last.call.server.as_deref(), &last.call.tool))
}

/// Returns the question from the arguments or a template, with piped input attached as a file; piped input alone is the
/// question. `None` for a conversation at a terminal.
fn question(args: &ChatArgs) -> Result<Option<User>, Failure> {
    let piped = if stdin().is_terminal() { None } else { Some(piped()?) };
    let material = piped.as_deref().filter(|text| !text.trim().is_empty());
    let asked = match &args.filled {
        Some(said) => Some(said.clone()),
        None => (!args.question.is_empty()).then(|| User::new(args.question.join(" ").trim())),
    };
    match (asked, material) {
        (Some(said), _) if said.text.is_empty() => Err(Failure::usage("the question is empty")),
        (Some(said), Some(material)) => Ok(Some(said.with_file(said::PIPE, material))),
        (Some(said), None) => Ok(Some(said)),
        (None, Some(material)) => Ok(Some(User::new(material.trim_end()))),
        (None, None) if piped.is_some() => {
            Err(Failure::usage("standard input is empty: give a question as an argument, or start it on a terminal"))
        }
        (None, None) => Ok(None),
    }
}

/// Reads standard input to its end as text.
fn piped() -> Result<String, Failure> {
    let name = "standard input";
    texts::decode(texts::read_all(stdin(), name)?, name)
}
