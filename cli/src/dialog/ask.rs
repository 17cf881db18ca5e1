//! Questions to the user at the terminal.

use std::io::{IsTerminal, stderr};
use std::sync::Arc;

use rustyline::error::ReadlineError;
use rustyline::history::DefaultHistory;
use rustyline::{Behavior, Config, Editor};
use tokio::sync::{Mutex, OwnedMutexGuard, oneshot};

use crate::base::{Failure, output};
use crate::screen::wrap::in_rows;
use crate::terminal::{keys, tty::Tty};

/// Asks the user questions on the terminal, even if standard input or output is a pipe. Clones share a lock, so that
/// only one question is shown at a time.
#[derive(Clone)]
pub(crate) struct Asker {
    tty: Arc<Tty>,
    floor: Arc<Mutex<()>>,
}

/// The reason that a question was not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unanswered {
    /// The user pressed Ctrl-C.
    Interrupted,
    /// The user pressed Ctrl-D, or the terminal was closed.
    Ended,
}

/// A question with a few possible answers, each typed as a word or its first letter.
pub(crate) struct Choice {
    pub(crate) question: String,
    /// The possible answers. Text after `no` is its reason.
    pub(crate) words: &'static [&'static str],
    /// Explanation of the answers, shown after an invalid one.
    pub(crate) help: &'static str,
    /// The whole text that the question is about, if only a part was shown: `s` shows it, and until then only `no` is
    /// accepted.
    pub(crate) whole: Option<String>,
}

impl Choice {
    pub(crate) fn yes_or_no(question: impl Into<String>, whole: Option<String>) -> Self {
        Choice { question: question.into(), words: &["yes", "no"], help: "answer y (yes) or n (no)", whole }
    }

    /// Parses an answer and the text after it; `None` if it is not exactly one of the possible answers. Only `no` may
    /// be followed by text.
    fn meant(&self, line: &str) -> Option<(&'static str, String)> {
        // The last three are those of a Chinese keyboard.
        const MARKS: [char; 6] = [' ', ',', ':', '，', '：', '\u{3000}'];
        let (word, rest) = line.trim().split_once(MARKS).unwrap_or((line.trim(), ""));
        let (word, rest) = (word.to_lowercase(), rest.trim_start_matches(MARKS));
        let show = self.whole.as_ref().map(|_| "show");
        let meant = self.words.iter().copied().chain(show).find(|known| word == *known || word == known[..1])?;
        (rest.is_empty() || meant == "no").then(|| (meant, rest.to_owned()))
    }
}

/// The exclusive right to ask questions, for several that belong together.
pub(crate) struct Floor {
    tty: Arc<Tty>,
    held: Arc<OwnedMutexGuard<()>>,
}

impl Asker {
    /// Creates an asker on the terminal of this process; `None` without a terminal. Dropping the last clone restores
    /// the terminal's settings.
    pub(crate) fn at_terminal() -> Option<Self> {
        Self::new(Tty::open().map(Arc::new).as_ref())
    }

    /// Creates an asker on this terminal; `None` without one, or if stderr is not a terminal, since the question would
    /// not be seen.
    pub(crate) fn new(tty: Option<&Arc<Tty>>) -> Option<Self> {
        let tty = tty.filter(|_| stderr().is_terminal())?;
        Some(Asker { tty: tty.clone(), floor: Arc::default() })
    }

    /// Asks the user for a line; `None` after Ctrl-C or Ctrl-D, or if the terminal was closed.
    ///
    /// Text that was typed before the question is discarded: each question has its own line editor, without input read
    /// ahead.
    pub(crate) async fn ask(&self, prompt: &str) -> Option<String> {
        self.floor().await.ask(prompt).await.ok()
    }

    /// Asks the user for a line; `None` after Ctrl-D or if the terminal was closed, a failure after Ctrl-C.
    pub(crate) async fn answer(&self, prompt: &str) -> Result<Option<String>, Failure> {
        or_interrupted(self.floor().await.ask(prompt).await)
    }

    /// Returns the text that was typed before questions were shown.
    pub(crate) fn typed_ahead(&self) -> String {
        self.tty.typed_ahead()
    }

    /// Waits until no other question is shown, and reserves the terminal for further ones.
    pub(crate) async fn floor(&self) -> Floor {
        let held = self.floor.clone().lock_owned().await;
        Floor { tty: self.tty.clone(), held: Arc::new(held) }
    }

    /// Asks for yes or no, blocking, before there is a runtime; Ctrl-D means no, and Ctrl-C is a failure. `whole` is as
    /// in a [`Choice`].
    pub(crate) fn agrees(&self, question: String, whole: Option<String>) -> Result<bool, Failure> {
        let answer = or_interrupted(choose(&self.tty, &Choice::yes_or_no(question, whole), || false))?;
        Ok(answer.is_some_and(|(word, _)| word == "yes"))
    }
}

/// Asks the user for consent, unless `yes` already grants it.
///
/// # Errors
/// There is no terminal to ask on, or the user answers no, after which the message `after_no` is shown.
pub(crate) fn demand_consent(question: &str, yes: bool, after_no: &str) -> Result<(), Failure> {
    if yes {
        return Ok(());
    }
    let nobody = || Failure::usage(format!("{question} There is no terminal to ask on: add --yes"));
    let asker = Asker::at_terminal().ok_or_else(nobody)?;
    if asker.agrees(format!("{question} [y/n] "), None)? {
        return Ok(());
    }
    output::note(after_no);
    Err(Failure::Reported)
}

impl Floor {
    /// Asks the user for a line. If the future is dropped, a note asks the user to press Enter, and that line is
    /// discarded.
    pub(crate) async fn ask(&self, prompt: &str) -> Result<String, Unanswered> {
        noted(self.ask_meanwhile(prompt)).await
    }

    /// Asks until the answer is one of the possible ones. Returns it with the text after it.
    pub(crate) async fn choose(&self, choice: Choice) -> Result<(&'static str, String), Unanswered> {
        noted(self.on_a_thread(move |tty, is_dropped| choose(tty, &choice, is_dropped))).await
    }

    /// Asks for a line, as [`ask`](Self::ask), but without a note if the future is dropped, for questions after which
    /// the program ends.
    pub(crate) async fn ask_meanwhile(&self, prompt: &str) -> Result<String, Unanswered> {
        let prompt = prompt.to_owned();
        self.on_a_thread(move |tty, _| ask(tty, &prompt)).await
    }

    async fn on_a_thread<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&Tty, &dyn Fn() -> bool) -> Result<T, Unanswered> + Send + 'static,
    ) -> Result<T, Unanswered> {
        let (tell, answer) = oneshot::channel();
        let (tty, held) = (self.tty.clone(), self.held.clone());
        // Nothing waits for this thread: the program can end while it reads.
        std::thread::spawn(move || {
            let answer = ask(&tty, &|| tell.is_closed());
            let _ = tell.send(answer);
            drop(held);
        });
        answer.await.unwrap_or(Err(Unanswered::Ended))
    }
}

/// Waits for an answer, and prints a note if the future is dropped before it.
async fn noted<T>(asked: impl Future<Output = T>) -> T {
    let mut question = LineQuestion { is_open: true };
    let answer = asked.await;
    question.is_open = false;
    answer
}

/// Converts the result of a question where Ctrl-C ends the command with a failure and Ctrl-D returns `None`.
fn or_interrupted<T>(answer: Result<T, Unanswered>) -> Result<Option<T>, Failure> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(Unanswered::Ended) => Ok(None),
        Err(Unanswered::Interrupted) => Err(Failure::interrupted("Ctrl-C")),
    }
}

/// Guard that prints a note if it is dropped while its question is unanswered.
struct LineQuestion {
    is_open: bool,
}

impl Drop for LineQuestion {
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

/// Asks until the answer is valid, or until `is_dropped` returns `true`.
fn choose(tty: &Tty, choice: &Choice, is_dropped: impl Fn() -> bool) -> Result<(&'static str, String), Unanswered> {
    let mut is_seen = choice.whole.is_none();
    loop {
        match (choice.meant(&ask(tty, &choice.question)?), &choice.whole) {
            // The line that a dropped question waited for is an answer to nothing.
            _ if is_dropped() => return Err(Unanswered::Ended),
            (Some(("show", _)), Some(whole)) => {
                is_seen = true;
                output::tell_stderr(whole);
            }
            (Some((word, _)), _) if word != "no" && !is_seen => {
                output::warn("some of it was not shown yet: type s to see it, then answer");
            }
            (Some(meant), _) => return Ok(meant),
            (None, _) => output::warn(choice.help),
        }
    }
}

/// Wraps a question into rows between words, and preserves its final space, after which the answer is typed.
fn question(prompt: &str) -> String {
    let words = prompt.trim_end();
    in_rows(words) + &prompt[words.len()..]
}

/// Returns the configuration that all line editors share.
pub(crate) fn config() -> rustyline::config::Builder {
    Config::builder().behavior(Behavior::PreferTerm).keyseq_timeout(Some(keys::ESCAPE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_taken_only_where_it_is_one() {
        let choice = |words, whole| Choice { words, whole, ..Choice::yes_or_no("", None) };
        let approval = choice(&["yes", "always", "no"], None);
        for (line, expected) in [
            ("y", Some(("yes", ""))),
            (" YES ", Some(("yes", ""))),
            ("a", Some(("always", ""))),
            ("n", Some(("no", ""))),
            ("no, ask me first", Some(("no", "ask me first"))),
            ("n: too far", Some(("no", "too far"))),
            ("n，太远了", Some(("no", "太远了"))),
            ("", None),
            ("yes please", None),
            ("and what about Oslo?", None),
            ("s", None),
        ] {
            assert_eq!(approval.meant(line), expected.map(|(word, rest)| (word, rest.to_owned())), "{line}");
        }
        assert_eq!(Choice::yes_or_no("", None).meant("a"), None);
        let long = choice(&["yes", "no"], Some("all of it".to_owned()));
        assert_eq!(long.meant("s"), Some(("show", String::new())));
    }
}
