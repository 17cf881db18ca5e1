//! A conversation at a terminal: prompt, answer, prompt.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::commands::{self, ChatCommand};
use super::session::{Ended, Session};
use crate::base::{Failure, output, signals::Signals, words};
use crate::dialog::ask::{Asker, Choice};
use crate::dialog::editor;
use crate::dialog::line::{Prompt, Typed};
use crate::screen::visible::{plain, word};
use crate::screen::{BAD, DIM};
use crate::servers::starting;
use crate::sessions::said::Line;
use crate::terminal::{columns, counted, shortened};
use toolgraft::Conversation;
use toolgraft::agent::StopReason;
use toolgraft::conversation::{Assistant, HistoryEntry, User};
use toolgraft::message::Role;
use toolgraft_mcp::{Hub, McpPrompt, PromptMessage};

/// Returns the line editor of a conversation, with its completions and optional history.
pub(super) fn prompt(hub: &Arc<Hub>, keeps_history: bool) -> Result<Prompt, Failure> {
    let (hub, runtime) = (hub.clone(), tokio::runtime::Handle::current());
    let following =
        Box::new(move |before: &[String], begun: &str| commands::following(before, begun, (&hub, &runtime)));
    Prompt::new(following, keeps_history)
}

/// Reads the first line while servers are still being started, and then waits for them; Ctrl-C continues without those
/// that are not ready. Returns `None` if the user leaves.
pub(super) async fn first_line(
    hub: &Hub,
    prompt: &mut Prompt,
    (asker, signals): (Option<&Asker>, &Signals),
    is_shown: bool,
) -> Result<Option<Typed>, Failure> {
    if is_shown {
        let still = starting::still(&hub.servers());
        output::note(&format!(
            "still starting: {still}; what you type waits for them, and Ctrl-C then continues without them"
        ));
    }
    let mut ahead = asker.map(Asker::typed_ahead).unwrap_or_default();
    let line = loop {
        match prompt.read(std::mem::take(&mut ahead)).await {
            Typed::Line(line) if line.is_empty() => {}
            // Leaving waits for no server.
            Typed::Line(line) if matches!(commands::read(&line, &[]), Ok(ChatCommand::Quit)) => return Ok(None),
            Typed::Line(line) => break Typed::Line(line),
            Typed::Dropped => {}
            Typed::Interrupted | Typed::Ended => return Ok(None),
        }
    };
    let interrupts = signals.take_interrupts();
    if !starting::over(hub, is_shown, interrupts.next()).await {
        output::note(&format!("continuing without {}", starting::still(&hub.servers())));
    }
    Ok(Some(line))
}

/// Reads lines and answers them until the user leaves. `first` is a line that was typed before.
pub(super) async fn run(
    session: &mut Session,
    (mut prompt, mut first): (Prompt, Option<Typed>),
) -> Result<(), Failure> {
    // Ctrl-C pressed in a row, without a line between.
    let mut interrupts = 0;
    loop {
        // A question that was taken back still waits for its line.
        let mut ahead = String::new();
        if let Some(asker) = &session.front.asker {
            drop(asker.floor().await);
            ahead = asker.typed_ahead();
        }
        let typed = match first.take() {
            Some(typed) => typed,
            None => prompt.read(ahead).await,
        };
        let line = match typed {
            Typed::Ended => return Ok(()),
            Typed::Interrupted if interrupts > 0 => return Ok(()),
            // Who drops a line never leaves by it.
            Typed::Interrupted | Typed::Dropped => {
                interrupts = 1;
                session.note(DIM, "(Ctrl-C again leaves, as Ctrl-D does)")?;
                continue;
            }
            Typed::Line(line) => line,
        };
        interrupts = 0;
        if line.is_empty() {
            continue;
        }
        match answer(session, &line, prompt.take_pasted()).await {
            Ok(Next::Prompt) => {}
            Ok(Next::Cancelled) => interrupts = 1,
            Ok(Next::Leave) => return Ok(()),
            // What is wrong with a line does not end the conversation.
            Err(Failure::Usage(message) | Failure::Job(message) | Failure::Interrupted(message)) => {
                session.note(BAD, &message)?
            }
            Err(failure @ (Failure::Reported | Failure::ReaderGone)) => return Err(failure),
        }
    }
}

/// The next step of the conversation after a line.
enum Next {
    Prompt,
    /// Prompt again after Ctrl-C cancelled a turn; a second Ctrl-C leaves.
    Cancelled,
    Leave,
}

async fn answer(session: &mut Session, line: &str, pasted: Vec<String>) -> Result<Next, Failure> {
    if !line.starts_with('/') {
        let Line { said, typed, files } = Line::of(line, pasted);
        session.mention(&typed).await?;
        if files > 0 {
            session.note(DIM, &format!("sent as files, not as your words: {}", counted(files, "pasted text")))?;
        }
        return session.ask(said).await.map(next);
    }
    match commands::read(line, &session.talk.hub.prompts()).map_err(Failure::usage)? {
        ChatCommand::Quit => Ok(Next::Leave),
        ChatCommand::Retry => {
            let before = session.talk.say_anew(None, None)?;
            session.turn(before).await.map(next)
        }
        ChatCommand::Delete => {
            let id = session.talk.keeping.as_ref().map(|keeping| keeping.id.clone());
            let id = id.ok_or_else(|| Failure::usage("this conversation is not kept: /clear begins a new one"))?;
            let nobody = || Failure::usage(format!("nobody can be asked here: `toolgraft log remove {id}` deletes it"));
            let asker = session.front.asker.as_ref().ok_or_else(nobody)?;
            let choice = Choice::yes_or_no("Delete this conversation, for good? [y/n] ", None);
            let is_agreed = matches!(asker.floor().await.choose(choice).await, Ok(("yes", _)));
            if is_agreed {
                session.talk.forget()?;
            }
            session.note(DIM, if is_agreed { "deleted; a new conversation" } else { "nothing is deleted" })?;
            Ok(Next::Prompt)
        }
        ChatCommand::Edit(text) => {
            // Ctrl-C in the editor is the editor's.
            let interrupts = session.signals.take_interrupts();
            let floor = match &session.front.asker {
                Some(asker) => Some(asker.floor().await),
                None => None,
            };
            let question = editor::edited(&text).await?;
            drop((interrupts, floor));
            if question.is_empty() {
                session.note(DIM, "nothing was written: no question is sent")?;
                return Ok(Next::Prompt);
            }
            session.note(DIM, &question)?;
            session.mention(&question).await?;
            session.ask(User::new(question)).await.map(next)
        }
        ChatCommand::McpPrompt(at, typed) => {
            let prompt = session.talk.hub.prompts()[at].clone();
            server_prompt(session, &prompt, &typed).await
        }
        ChatCommand::Other(words) => {
            let interrupts = session.signals.take_interrupts();
            tokio::select! {
                biased;
                () = interrupts.next() => Ok(Next::Cancelled),
                done = session.command(&words) => done.map(|()| Next::Prompt),
            }
        }
    }
}

fn next(ended: Ended) -> Next {
    match ended {
        Ended::Left => Next::Leave,
        Ended::Finished(finished) if finished.reason == StopReason::Cancelled => Next::Cancelled,
        Ended::Finished(_) => Next::Prompt,
    }
}

/// Fills in a prompt of a server, asks for its missing required arguments, and sends it to the model.
async fn server_prompt(session: &mut Session, prompt: &McpPrompt, typed: &[String]) -> Result<Next, Failure> {
    if session.talk.args.settings.untrusted.contains(&prompt.server) {
        return Err(Failure::usage(format!(
            "{}.{}: its server is untrusted (--untrusted), and a prompt would become your own message",
            prompt.server, prompt.name
        )));
    }
    let mut arguments = words::of_prompt(prompt, typed).map_err(Failure::usage)?;
    for missing in prompt.arguments.iter().filter(|a| a.required) {
        if arguments.contains_key(&missing.name) {
            continue;
        }
        // As `toolgraft mcp get` says it.
        let unasked = || Failure::usage(format!("the prompt {:?} also needs {}=…", prompt.name, missing.name));
        let what = missing.description.as_ref().map(|d| format!(" ({d})")).unwrap_or_default();
        let asker = session.front.asker.as_ref().ok_or_else(unasked)?;
        let asked = asker.ask(&word(&format!("{}{what}: ", missing.name))).await;
        let Some(value) = asked else { return Ok(Next::Prompt) };
        arguments.insert(missing.name.clone(), Value::String(value.trim().to_owned()));
    }
    let Some(messages) = filled(session, prompt, arguments).await? else { return Ok(Next::Cancelled) };
    let before = session.talk.conversation.clone();
    for message in messages {
        let said = &mut session.talk.conversation;
        match message.role {
            Role::Assistant => said.push_assistant(Assistant::text(message.text)),
            _ => said.push_user(match message.resource {
                Some(uri) => User::default().with_file(&format!("@{}:{uri}", prompt.server), &message.text),
                None => User::new(message.text),
            }),
        }
        .map_err(|e| Failure::job(format!("the messages of the prompt do not form a conversation: {e}")))?;
    }
    let said = show(session, &before)?;
    session.talk.warn_long(&said);
    // A prompt may end with a message of the model; then it is the user's turn.
    if !session.talk.conversation.awaits_model() {
        return Ok(Next::Prompt);
    }
    session.turn(before).await.map(next)
}

/// Requests a server's prompt with these arguments; `None` if Ctrl-C cancelled it.
async fn filled(
    session: &Session,
    prompt: &McpPrompt,
    arguments: Map<String, Value>,
) -> Result<Option<Vec<PromptMessage>>, Failure> {
    let hub = &session.talk.hub;
    let what = format!("filling in {}.{}", prompt.server, prompt.name);
    let interrupts = session.signals.take_interrupts();
    tokio::select! {
        biased;
        () = interrupts.next() => Ok(None),
        messages = session.front.watch(hub, what, hub.prompt(&prompt.server, &prompt.name, arguments)) => {
            messages.map(Some).map_err(Failure::job)
        }
    }
}

/// Shows the messages that a prompt added to the conversation, and returns their text.
fn show(session: &mut Session, before: &Conversation) -> Result<String, Failure> {
    let said: Vec<String> = session.talk.conversation.entries()[before.entries().len()..]
        .iter()
        .filter_map(|entry| match entry {
            HistoryEntry::User(said) => Some(said.shown().into_owned()),
            HistoryEntry::Assistant(message) => Some(format!("(the model:) {}", message.content())),
            _ => None,
        })
        .collect();
    let said = said.join("\n");
    session.note(DIM, &said)?;
    Ok(said)
}

/// Returns the last question and its answer, each shortened to one line; empty without a question.
fn last_said(session: &Session) -> Vec<String> {
    let entries = session.talk.conversation.entries();
    let line = |text: &str| format!("  {}", shortened(&plain(text.trim()), columns().saturating_sub(3)));
    let asked = entries.iter().rposition(|entry| matches!(entry, HistoryEntry::User(_)));
    let Some((at, HistoryEntry::User(question))) = asked.map(|at| (at, &entries[at])) else { return Vec::new() };
    let answer = entries[at..].iter().rev().find_map(|entry| match entry {
        HistoryEntry::Assistant(message) => Some(message.content()).filter(|content| !content.trim().is_empty()),
        _ => None,
    });
    let asked = line(&format!("you: {}", question.shown()));
    [asked].into_iter().chain(answer.map(|answer| line(&format!("the model: {answer}")))).collect()
}

/// Shows the model, the tools and the state of the conversation at its start.
pub(super) fn greet(session: &mut Session) -> Result<(), Failure> {
    let entries = session.talk.conversation.entries().len();
    let here = session.set_here().ok().flatten();
    let parts = [
        Some(session.talk.about()),
        Some(session.tools_line()),
        starting::took(&session.talk.hub.servers()),
        here.map(|here| format!("for this folder (/set, /allow): {}", here.replace('\n', ", "))),
        (entries > 0).then(|| format!("continuing a conversation of {}", counted(entries, "message"))),
    ];
    let end = session.attached_names().into_iter().chain(["/help lists the commands, Ctrl-D leaves\n".to_owned()]);
    let lines: Vec<String> = parts.into_iter().flatten().chain(last_said(session)).chain(end).collect();
    lines.iter().try_for_each(|line| session.note(DIM, line))
}
