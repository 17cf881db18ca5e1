//! Questions to the person at the terminal.

use std::io::{IsTerminal, stderr};
use std::sync::Arc;

use rustyline::history::DefaultHistory;
use rustyline::{Behavior, Config, Editor};
use tokio::sync::oneshot;

use super::tty::Tty;

/// Asks on the terminal, even where standard input or output is a pipe.
pub(crate) struct Asker {
    tty: Arc<Tty>,
}

impl Asker {
    /// Nobody can be asked where nobody would see it.
    pub(crate) fn new(tty: Option<&Arc<Tty>>) -> Option<Self> {
        let tty = tty.filter(|_| stderr().is_terminal())?;
        Some(Asker { tty: tty.clone() })
    }

    /// Asks; `None` for Ctrl-C, Ctrl-D, and a terminal that has gone.
    ///
    /// What was typed before the question is no answer to it, so each question
    /// has an editor of its own, without anything that was read ahead.
    pub(crate) async fn ask(&self, prompt: &str) -> Option<String> {
        let (tell, answer) = oneshot::channel();
        let (tty, prompt) = (self.tty.clone(), prompt.to_owned());
        // Nothing waits for this thread: the program can end while it reads.
        std::thread::spawn(move || {
            let _ = tell.send(ask(&tty, &prompt));
        });
        answer.await.ok().flatten()
    }

    /// As [`ask`](Self::ask), before there is a runtime.
    pub(crate) fn ask_blocking(&self, prompt: &str) -> Option<String> {
        ask(&self.tty, prompt)
    }
}

fn ask(tty: &Tty, prompt: &str) -> Option<String> {
    let editor = Editor::<(), DefaultHistory>::with_config(config().build());
    tty.forget_typed();
    editor.and_then(|mut editor| editor.readline(prompt)).ok()
}

/// What every editor of lines begins with.
pub(crate) fn config() -> rustyline::config::Builder {
    Config::builder().behavior(Behavior::PreferTerm)
}
