//! A conversation at a terminal: prompt, answer, prompt.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::commands::{self, Command};
use super::said::Line;
use super::session::{Ended, Session};
use crate::base::{Failure, words};
use crate::dialog::line::{Completion, Prompt, Typed};
use crate::dialog::{ask::Asker, editor};
use crate::screen::visible::{plain, word};
use crate::screen::{BAD, DIM};
use crate::servers::{starting, watch::Watch};
use crate::terminal::{columns, shortened};
use toolgraft::Conversation;
use toolgraft::agent::StopReason;
use toolgraft::conversation::{Assistant, Entry, User};
use toolgraft::message::Role;
use toolgraft_mcp::{McpPrompt, PromptMessage};

/// Talks until somebody leaves.
pub(super) async fn run(session: &mut Session, asker: Option<&Asker>) -> Result<(), Failure> {
    let hub = session.talk.hub.clone();
    let runtime = tokio::runtime::Handle::current();
    let following =
        Box::new(move |before: &[String], begun: &str| commands::following(before, begun, (&hub, &runtime)));
    let completion = Completion {
        following,
        opener: "/",
        mention: Some('@'),
        with_files: &["/file ", "/save "],
        line: Arc::default(),
    };
    let history = (!session.place.no_history).then_some("history");
    let mut prompt = Prompt::new("> ", completion, history, session.say)?;
    // Ctrl-C pressed in a row, without a line between.
    let mut interrupts = 0;
    loop {
        let news = session.followed.news();
        if !news.is_empty() {
            let news: Vec<String> = news.iter().map(|name| word(name)).collect();
            session.note(DIM, &session.say.resources_changed(session.say.listed(&news)))?;
        }
        // A question that was taken back still waits for its line.
        let mut ahead = String::new();
        if let Some(asker) = asker {
            drop(asker.floor().await);
            ahead = asker.typed_ahead();
        }
        let line = match prompt.read(ahead).await {
            Typed::Ended => return Ok(()),
            Typed::Interrupted if interrupts > 0 => return Ok(()),
            // Who drops a line never leaves by it.
            Typed::Interrupted | Typed::Dropped => {
                interrupts = 1;
                session.note(DIM, session.say.how_to_leave())?;
                continue;
            }
            Typed::Line(line) => line,
        };
        interrupts = 0;
        if line.is_empty() {
            continue;
        }
        match answer(session, &line, prompt.take_pasted(), asker).await {
            Ok(Next::Prompt) => {}
            Ok(Next::Cancelled) => interrupts = 1,
            Ok(Next::Leave) => return Ok(()),
            // What is wrong with a line does not end the conversation.
            Err(Failure::Usage(message) | Failure::Job(message)) => session.note(BAD, &message)?,
            Err(Failure::Reported) => return Err(Failure::Reported),
        }
    }
}

/// What follows a line.
enum Next {
    Prompt,
    /// A turn was cancelled by Ctrl-C, the first of two that leave.
    Cancelled,
    Leave,
}

async fn answer(
    session: &mut Session,
    line: &str,
    pasted: Vec<String>,
    asker: Option<&Asker>,
) -> Result<Next, Failure> {
    if !line.starts_with('/') {
        let Line { said, typed, files } = Line::of(line, pasted);
        session.mention(&typed).await?;
        if files > 0 {
            session.note(DIM, &session.say.pasted_as_files(session.say.pasted_texts(files)))?;
        }
        return session.ask(said).await.map(next);
    }
    match commands::read(line, &session.talk.hub.prompts(), session.say).map_err(Failure::usage)? {
        Command::Quit => Ok(Next::Leave),
        Command::Retry => match session.talk.take_back() {
            Some(question) => session.send(question).await.map(next),
            None => Err(Failure::usage(session.say.nothing_asked())),
        },
        Command::Edit(text) => {
            // Ctrl-C in the editor is the editor's.
            let interrupts = session.signals.take_interrupts();
            let floor = match asker {
                Some(asker) => Some(asker.floor().await),
                None => None,
            };
            let question = editor::edited(&text, session.say).await?;
            drop((interrupts, floor));
            if question.is_empty() {
                session.note(DIM, session.say.empty_question())?;
                return Ok(Next::Prompt);
            }
            session.note(DIM, &question)?;
            session.mention(&question).await?;
            session.ask(User::new(question)).await.map(next)
        }
        Command::McpPrompt(at, typed) => {
            let prompt = session.talk.hub.prompts()[at].clone();
            server_prompt(session, &prompt, &typed, asker).await
        }
        command => {
            let interrupts = session.signals.take_interrupts();
            tokio::select! {
                biased;
                () = interrupts.next() => Ok(Next::Cancelled),
                done = session.command(command) => done.map(|()| Next::Prompt),
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

/// Sends a server's prompt to the model.
async fn server_prompt(
    session: &mut Session,
    prompt: &McpPrompt,
    typed: &[String],
    asker: Option<&Asker>,
) -> Result<Next, Failure> {
    let mut arguments = words::of_prompt(prompt, typed).map_err(Failure::usage)?;
    for missing in prompt.arguments.iter().filter(|a| a.required) {
        if arguments.contains_key(&missing.name) {
            continue;
        }
        let what = missing.description.as_ref().map(|d| format!(" ({d})")).unwrap_or_default();
        let asked = match asker {
            Some(asker) => asker.ask(&word(&format!("{}{what}: ", missing.name))).await,
            None => None,
        };
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
        .map_err(|e| Failure::job(session.say.prompt_does_not_fit(e)))?;
    }
    let said = show(session, &before)?;
    session.talk.warn_long(&said);
    if !session.talk.conversation.awaits_model() {
        return Ok(Next::Prompt);
    }
    session.turn(before).await.map(next)
}

/// A server's prompt with these arguments; `None` after Ctrl-C.
async fn filled(
    session: &Session,
    prompt: &McpPrompt,
    arguments: Map<String, Value>,
) -> Result<Option<Vec<PromptMessage>>, Failure> {
    let (hub, say) = (&session.talk.hub, session.say);
    let what = say.filling_in(format!("{}.{}", prompt.server, prompt.name));
    let interrupts = session.signals.take_interrupts();
    let watch = Watch { questions: &session.questions, say };
    tokio::select! {
        biased;
        () = interrupts.next() => Ok(None),
        messages = watch.over(hub, what, hub.prompt(&prompt.server, &prompt.name, arguments)) => {
            messages.map(Some).map_err(Failure::job)
        }
    }
}

/// Shows what a prompt says, and returns it.
fn show(session: &mut Session, before: &Conversation) -> Result<String, Failure> {
    let said: Vec<String> = session.talk.conversation.entries()[before.entries().len()..]
        .iter()
        .filter_map(|entry| match entry {
            Entry::User(said) => Some(said.shown().into_owned()),
            Entry::Assistant(message) => Some(session.say.said_by_model(message.content())),
            _ => None,
        })
        .collect();
    let said = said.join("\n");
    session.note(DIM, &said)?;
    Ok(said)
}

/// The last question and what was answered to it, each in a line.
fn last_said(session: &Session) -> Vec<String> {
    let (entries, say) = (session.talk.conversation.entries(), session.say);
    let line = |text: &str| format!("  {}", shortened(&plain(text.trim()), columns().saturating_sub(3)));
    let asked = entries.iter().rposition(|entry| matches!(entry, Entry::User(_)));
    let Some((at, Entry::User(question))) = asked.map(|at| (at, &entries[at])) else { return Vec::new() };
    let answer = entries[at..].iter().rev().find_map(|entry| match entry {
        Entry::Assistant(message) => Some(message.content()).filter(|content| !content.trim().is_empty()),
        _ => None,
    });
    let asked = line(&say.last_question(question.shown()));
    [asked].into_iter().chain(answer.map(|answer| line(&say.last_answer(answer)))).collect()
}

/// Says what takes part.
pub(super) fn greet(session: &mut Session, has_config: bool) -> Result<(), Failure> {
    let about = session.talk.about();
    let tools = session.tools_line();
    session.note(DIM, &about)?;
    session.note(DIM, &tools)?;
    if let Some(took) = starting::took(&session.talk.hub.servers(), session.say) {
        session.note(DIM, &took)?;
    }
    session.talk.warn_large()?;
    if !has_config {
        session.note(DIM, session.say.no_servers())?;
    }
    if let Some(here) = session.set_here().ok().flatten() {
        session.note(DIM, &session.say.holds_here(here.replace('\n', ", ")))?;
    }
    let entries = session.talk.conversation.entries().len();
    if entries > 0 {
        session.note(DIM, &session.say.going_on(session.say.messages(entries)))?;
        for line in last_said(session) {
            session.note(DIM, &line)?;
        }
    }
    if let Some(files) = session.attached_names() {
        session.note(DIM, &files)?;
    }
    session.note(DIM, &format!("{}\n", session.say.how_to_help()))?;
    Ok(())
}
