//! A conversation with a model: turn after turn.

use std::io;
use std::path::Path;
use std::sync::Arc;

use anstyle::Style;
use futures::StreamExt;

use super::approve::Approvals;
use super::args::{ChatArgs, OutputArgs};
use super::endpoint::Endpoint;
use super::files::Files;
use super::kept::Keeping;
use super::mentioned;
use super::talk::Talk;
use crate::base::output::{self, written};
use crate::base::{Failure, media, reader, signals::Signals};
use crate::front::{Frontend, Terminal};
use crate::screen::{BAD, DIM};
use crate::sessions::saved::{Saved, outcome_of};
use crate::terminal::tty::Tty;
use toolgraft::agent::Finished;
use toolgraft::conversation::User;
use toolgraft::route::Toolbox;
use toolgraft::{AgentEvent, Conversation, Outcome};
use toolgraft_mcp::{Hub, ServerEventKind};

/// The end of a turn: its result, or the wish to leave.
pub(super) enum Ended {
    Finished(Box<Finished>),
    /// The user pressed Ctrl-C twice, to leave without waiting for the end of the turn.
    Left,
}

/// A conversation at a terminal, or one question on the command line or a pipe.
pub(super) struct Session {
    pub(super) talk: Talk,
    pub(super) output: OutputArgs,
    pub(super) signals: Signals,
    pub(super) front: Arc<Terminal>,
    pub(super) files: Files,
    tty: Option<Arc<Tty>>,
    /// Id of the last call that needed the user's approval; `None` if there was none.
    pub(super) last_asked: Option<String>,
}

impl Session {
    /// Creates a session with a new conversation, and warns if its tools exceed their token budget.
    pub(super) fn new(
        args: ChatArgs,
        (hub, endpoint): (Arc<Hub>, Endpoint),
        (front, approvals): (Arc<Terminal>, Arc<Approvals>),
        (tty, signals): (Option<Arc<Tty>>, Signals),
        files: Files,
    ) -> Result<Self, Failure> {
        let ChatArgs { talk, output, .. } = args;
        let talk = Talk::new((talk, output.schema.clone()), (hub, endpoint), approvals)?;
        talk.warn_over_budget()?;
        Ok(Session { talk, output, front, signals, files, tty, last_asked: None })
    }

    /// Saves the conversation automatically from now on, and continues an earlier one if given.
    pub(super) fn keep(&mut self, keeping: Option<Keeping>, gone_on: Option<Saved>) -> Result<(), Failure> {
        self.talk.keeping = keeping;
        gone_on.into_iter().try_for_each(|saved| self.talk.go_on(saved))?;
        self.front.display().know(&self.talk.conversation);
        Ok(())
    }

    /// Returns a line with the names of the files to be sent with the next question; `None` if there are none.
    pub(super) fn attached_names(&self) -> Option<String> {
        self.talk.attached.names().map(|names| format!("with the next question: {names}"))
    }

    /// Shows the command that continues the conversation, if it was saved.
    pub(super) fn say_kept(&mut self) -> Result<(), Failure> {
        match self.talk.keeping.as_ref().and_then(|keeping| keeping.farewell()) {
            Some(farewell) => self.note(DIM, &farewell),
            None => Ok(()),
        }
    }

    /// Shows a call of the conversation with all of its arguments, given the number in its box.
    pub(super) fn open_call(&mut self, number: usize) -> Result<(), Failure> {
        let id = self.front.display().call_of(number).map(str::to_owned);
        let calls = self.talk.conversation.messages().flat_map(|message| message.calls());
        let call = calls.into_iter().find(|call| Some(&call.id) == id.as_ref()).map(|call| call.call.clone());
        let call = call.ok_or_else(|| Failure::usage(format!("no call {number} in this conversation")))?;
        written(self.front.display().open_call(number, &call))
    }

    /// Writes the media of a result (images, audio, blobs), or else its text, to files at this path, given the number
    /// in its box.
    pub(super) fn save_result(&self, number: usize, file: &Path) -> Result<(), Failure> {
        let mut outcome = self.outcome(number)?.clone();
        media::check_place("/result", file)?;
        media::write(&mut outcome, file).map(drop)
    }

    /// Returns the outcome of a call, given the number in its box; an error if there is none.
    pub(super) fn outcome(&self, number: usize) -> Result<&Outcome, Failure> {
        let found = self.front.display().call_of(number).and_then(|id| outcome_of(&self.talk.conversation, id));
        found.ok_or_else(|| Failure::usage(format!("no result {number} in this conversation")))
    }

    /// Reads the resources that a question mentions, and attaches them to it.
    pub(super) async fn mention(&mut self, question: &str) -> Result<(), Failure> {
        let untrusted = self.talk.args.settings.untrusted.as_slice();
        let interrupts = self.signals.take_interrupts();
        let attached = tokio::select! {
            biased;
            () = interrupts.next() => return Err(Failure::interrupted("Ctrl-C")),
            read = mentioned::read(question, &self.talk.hub, untrusted, Some(&self.front)) => read?,
        };
        drop(interrupts);
        self.talk.attach(attached);
        Ok(())
    }

    /// Sends a question with the attached files to the model, and shows its turn.
    pub(super) async fn ask(&mut self, question: User) -> Result<Ended, Failure> {
        let before = self.talk.say(question)?;
        self.turn(before).await
    }

    /// Runs and shows one turn. If the model produced no message, the conversation is restored to `before`.
    pub(super) async fn turn(&mut self, before: Conversation) -> Result<Ended, Failure> {
        let mut run = match self.talk.begin(self.files.recorder.as_ref()) {
            Ok(run) => run,
            Err(failure) => {
                self.talk.go_back(before);
                return Err(failure);
            }
        };
        let (interrupts, ending) = (self.signals.take_interrupts(), self.signals.hold());
        let cancel = run.cancellation();
        let front = self.front.clone();
        let _over = front.begin(cancel.clone());
        let mut servers = self.talk.hub.states();
        self.front.display().begin(&self.talk.conversation, self.talk.hub.catalog().tools().next().is_some());
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
                // Signals and the reader come before events of the model, which may be
                // ready without a pause.
                biased;
                () = interrupts.next() => {
                    // The first Ctrl-C has cancelled the turn; who presses it again does not want to
                    // wait for its end.
                    if cancel.is_cancelled() {
                        return Ok(Ended::Left);
                    }
                    cancel.cancel();
                    continue;
                }
                // It stays ready from the first signal on.
                () = ending.begins(), if !is_ending => {
                    is_ending = true;
                    cancel.cancel();
                    continue;
                }
                () = reader::gone(), if broken.is_none() => {
                    broken = Some(Failure::ReaderGone);
                    continue;
                }
                () = until(self.front.display().due()) => {
                    note_failure(&mut broken, self.front.display().send_words());
                    continue;
                }
                Some(event) = servers.next() => {
                    if let ServerEventKind::Progress { progress, total, message, .. } = event.kind {
                        note_failure(&mut broken, self.front.display().progress(&event.server, progress, total, message));
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
            // After a failed write nobody would see the event.
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
        if let AgentEvent::ApprovalAsked(request) = &event {
            self.last_asked = Some(request.id.clone());
        }
        self.front.event(event)
    }

    fn end(&mut self, finished: Box<Finished>, before: Conversation) -> Result<Ended, Failure> {
        self.talk.end(&finished, before);
        self.talk.write_kept();
        Ok(Ended::Finished(finished))
    }

    /// Reports each problem of writing the recording or trace once.
    fn report_files(&mut self) -> Result<(), Failure> {
        for problem in self.files.news() {
            match self.output.json {
                true => output::warn(&problem),
                false => self.note(BAD, &format!("warning: {problem}"))?,
            }
        }
        Ok(())
    }

    /// Shows a line of the program itself.
    pub(super) fn note(&mut self, style: Style, text: &str) -> Result<(), Failure> {
        written(self.front.display().note(style, text))
    }
}

/// Guard that turns the terminal's echo on again when it is dropped.
struct Echo(Option<Arc<Tty>>);

impl Drop for Echo {
    fn drop(&mut self) {
        if let Some(tty) = &self.0 {
            tty.echo(true);
        }
    }
}

/// Waits until this instant; forever if it is `None`.
async fn until(moment: Option<tokio::time::Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// Stores the first failure of writing to the screen.
fn note_failure(first: &mut Option<Failure>, result: io::Result<()>) {
    if let Err(failure) = written(result) {
        first.get_or_insert(failure);
    }
}
