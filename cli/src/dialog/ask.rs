//! Questions to the person at the terminal.

use std::io::{IsTerminal, stderr};
use std::sync::Arc;

use rustyline::error::ReadlineError;
use rustyline::history::DefaultHistory;
use rustyline::{Behavior, Config, Editor};
use tokio::sync::{Mutex, OwnedMutexGuard, oneshot};

use crate::base::{Failure, output};
use crate::screen::wrap::in_rows;
use crate::terminal::{keys, tty::Tty};

/// Asks on the terminal, even where standard input or output is a pipe. Of those who ask,
/// clones of one asker, each waits until the others have their answers.
#[derive(Clone)]
pub(crate) struct Asker {
    tty: Arc<Tty>,
    floor: Arc<Mutex<()>>,
}

/// The reason that there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unanswered {
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D, or the terminal has gone.
    Ended,
}

/// The answer to a yes-or-no question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    Yes,
    /// All of what is asked about, please.
    Show,
}

/// The right to ask, for one question or several that belong together.
pub(crate) struct Floor {
    tty: Arc<Tty>,
    held: Arc<OwnedMutexGuard<()>>,
}

impl Asker {
    /// One at this process's terminal, which is put back as it was when the last clone is dropped.
    pub(crate) fn at_terminal() -> Option<Self> {
        Self::new(Tty::open().map(Arc::new).as_ref())
    }

    /// Returns `None` without a terminal, or where stderr is not one: nobody would see the question.
    pub(crate) fn new(tty: Option<&Arc<Tty>>) -> Option<Self> {
        let tty = tty.filter(|_| stderr().is_terminal())?;
        Some(Asker { tty: tty.clone(), floor: Arc::default() })
    }

    /// Asks; `None` for Ctrl-C, Ctrl-D, and a terminal that has gone.
    ///
    /// Text that was typed before the question is not an answer to it, so each question has an editor of its own,
    /// without anything that was read ahead.
    pub(crate) async fn ask(&self, prompt: &str) -> Option<String> {
        self.floor().await.ask(prompt).await.ok()
    }

    /// Asks before a job begins: Ctrl-C ends the command. `None` for Ctrl-D, and a terminal that has gone.
    pub(crate) async fn answer(&self, prompt: &str) -> Result<Option<String>, Failure> {
        or_interrupted(self.floor().await.ask(prompt).await)
    }

    /// Returns the text that was typed before the questions were asked.
    pub(crate) fn typed_ahead(&self) -> String {
        self.tty.typed_ahead()
    }

    /// Waits until nobody else asks.
    pub(crate) async fn floor(&self) -> Floor {
        let held = self.floor.clone().lock_owned().await;
        Floor { tty: self.tty.clone(), held: Arc::new(held) }
    }

    /// Asks for yes or no, before there is a runtime; Ctrl-D means no, and Ctrl-C ends the command. `more` gives
    /// what there is to show on request, or why yes does not count yet.
    pub(crate) fn agrees(&self, prompt: &str, more: &mut dyn FnMut(Heard) -> Option<String>) -> Result<bool, Failure> {
        loop {
            let Some(line) = or_interrupted(ask(&self.tty, prompt))? else { return Ok(false) };
            match line.trim().to_lowercase().as_str() {
                "y" | "yes" => match more(Heard::Yes) {
                    Some(why) => output::warn(&why),
                    None => return Ok(true),
                },
                "n" | "no" => return Ok(false),
                "s" | "show" => match more(Heard::Show) {
                    Some(text) => output::tell_stderr(text),
                    None => output::warn("answer y (yes) or n (no)"),
                },
                _ => output::warn("answer y (yes) or n (no)"),
            }
        }
    }
}

/// Asks for consent, unless `yes` has given it.
///
/// # Errors
/// Nobody can be asked; the user says no, and is told what that means.
pub(crate) fn demand_consent(question: &str, yes: bool, after_no: &str) -> Result<(), Failure> {
    if yes {
        return Ok(());
    }
    let nobody = || Failure::usage(format!("{question} There is no terminal to ask on: add --yes"));
    let asker = Asker::at_terminal().ok_or_else(nobody)?;
    if asker.agrees(&format!("{question} [y/n] "), &mut |_| None)? {
        return Ok(());
    }
    output::note(after_no);
    Err(Failure::Reported)
}

impl Floor {
    /// Asks. A question that is dropped still waits for a line, which nobody reads.
    pub(crate) async fn ask(&self, prompt: &str) -> Result<String, Unanswered> {
        let mut question = Question { is_open: true };
        let answer = self.ask_meanwhile(prompt).await;
        question.is_open = false;
        answer
    }

    /// As [`ask`](Self::ask), where something else may come first, after which the program ends:
    /// nothing is said of a question that is dropped.
    pub(crate) async fn ask_meanwhile(&self, prompt: &str) -> Result<String, Unanswered> {
        let (tell, answer) = oneshot::channel();
        let (tty, held, prompt) = (self.tty.clone(), self.held.clone(), prompt.to_owned());
        // Nothing waits for this thread: the program can end while it reads.
        std::thread::spawn(move || {
            let _ = tell.send(ask(&tty, &prompt));
            drop(held);
        });
        answer.await.unwrap_or(Err(Unanswered::Ended))
    }
}

/// Returns an answer at a place where Ctrl-C ends the command.
fn or_interrupted(answer: Result<String, Unanswered>) -> Result<Option<String>, Failure> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(Unanswered::Ended) => Ok(None),
        Err(Unanswered::Interrupted) => Err(Failure::interrupted("Ctrl-C")),
    }
}

/// A question that somebody may be about to answer.
struct Question {
    is_open: bool,
}

impl Drop for Question {
    fn drop(&mut self) {
        if self.is_open {
            output::note("\n(this answer is not needed any more: press Enter to continue)");
        }
    }
}

fn ask(tty: &Tty, prompt: &str) -> Result<String, Unanswered> {
    let editor = Editor::<(), DefaultHistory>::with_config(config().build());
    tty.put_typed_aside();
    let line = editor.and_then(|mut editor| {
        keys::bind(&mut editor);
        editor.readline(&question(prompt))
    });
    line.map_err(|error| match error {
        ReadlineError::Interrupted => Unanswered::Interrupted,
        _ => Unanswered::Ended,
    })
}

/// Wraps a question into rows that end between words. The answer is typed after its last space.
fn question(prompt: &str) -> String {
    let words = prompt.trim_end();
    in_rows(words) + &prompt[words.len()..]
}

/// Returns the configuration that every line editor starts from.
pub(crate) fn config() -> rustyline::config::Builder {
    Config::builder().behavior(Behavior::PreferTerm).keyseq_timeout(Some(keys::ESCAPE))
}
