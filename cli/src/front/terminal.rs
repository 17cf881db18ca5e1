//! The terminal, and a pipe: turns are drawn, and questions are asked in a line; one about a call is below its box.

use std::pin::pin;
use std::sync::{Mutex, MutexGuard};

use futures::StreamExt;
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::display::{Display, ShownCall};
use super::{Answer, Frontend, Question};
use crate::base::output::{self, written};
use crate::base::{Failure, lock};
use crate::dialog::ask::{Asker, Choice, Unanswered};
use crate::dialog::elicit;
use crate::screen::visible::word;
use crate::screen::{CALL, Frame, boxes, room};
use crate::servers::existing::Existing;
use crate::settings::Settings;
use crate::terminal::{columns, grouped, shortened};
use toolgraft::AgentEvent;
use toolgraft_mcp::{Hub, InputAnswer, InputRequest, ServerEventKind};

/// Maximum width in columns of the arguments in a question; the box above contains all of them.
const ARGUMENTS: usize = 60;

/// Minimum width in columns of the arguments in a question, after a long tool name.
const LEAST_ARGUMENTS: usize = 16;

/// The user interface on a terminal or a pipe.
pub(crate) struct Terminal {
    /// Asks the user questions; `None` without a terminal.
    pub(crate) asker: Option<Asker>,
    display: Mutex<Display>,
    /// `true` if events are printed as JSON objects.
    is_json: bool,
    /// Cancels the current turn.
    cancel: Mutex<CancellationToken>,
}

impl Terminal {
    pub(crate) fn new(asker: Option<Asker>, display: Display, is_json: bool) -> Self {
        Terminal { asker, display: Mutex::new(display), is_json, cancel: Mutex::default() }
    }

    /// Creates the user interface of a command without turns.
    pub(crate) fn without_turns(asker: Option<Asker>) -> Self {
        let display = Display::new((false, false), &Settings::default(), (false, None), Existing::default());
        Terminal::new(asker, display, false)
    }

    pub(crate) fn display(&self) -> MutexGuard<'_, Display> {
        lock(&self.display)
    }

    /// Starts a turn, until the returned guard is dropped; Ctrl-C at a question cancels it.
    pub(crate) fn begin(&self, cancel: CancellationToken) -> impl Drop {
        *lock(&self.cancel) = cancel;
        DisplayGuard(self, Display::stop)
    }

    /// Waits for a future that uses the hub's servers. The terminal shows `what` with a spinner meanwhile.
    pub(crate) async fn watch<T>(&self, hub: &Hub, what: String, job: impl Future<Output = T>) -> T {
        let (mut events, mut job) = (hub.states(), pin!(job));
        let _ = self.display().work(what);
        let _over = DisplayGuard(self, Display::stop);
        loop {
            tokio::select! {
                biased;
                done = &mut job => return done,
                Some(event) = events.next() => {
                    let ServerEventKind::Progress { progress, total, message, .. } = event.kind else { continue };
                    let _ = self.display().progress(&event.server, progress, total, message);
                }
            }
        }
    }
}

/// Guard that calls a function on the display when it is dropped.
struct DisplayGuard<'a>(&'a Terminal, fn(&mut Display));

impl Drop for DisplayGuard<'_> {
    fn drop(&mut self) {
        self.1(&mut self.0.display());
    }
}

impl Frontend for Terminal {
    fn event(&self, event: AgentEvent) -> Result<(), Failure> {
        match event {
            event if self.is_json => output::emit_json(&event),
            AgentEvent::Finished(finished) => written(self.display().finished(&finished)),
            event => written(self.display().event(event)),
        }
    }

    fn room(&self) -> Option<(usize, usize)> {
        self.asker.as_ref().map(|_| room())
    }

    fn approve<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        Box::pin(async {
            match self.answer(question).await {
                Some(answer) => answer,
                None => {
                    lock(&self.cancel).cancel();
                    std::future::pending().await
                }
            }
        })
    }

    fn fill<'a>(&'a self, request: &'a InputRequest) -> BoxFuture<'a, InputAnswer> {
        Box::pin(async {
            let Some(asker) = &self.asker else { return elicit::decline(request) };
            // First the right to ask: until another question is answered, the display need not stop.
            let floor = asker.floor().await;
            let _ = self.display().pause();
            let _over = DisplayGuard(self, |display| drop(display.go_on()));
            elicit::ask(&floor, request).await.unwrap_or_else(|unanswered| {
                if unanswered == Unanswered::Interrupted {
                    lock(&self.cancel).cancel();
                }
                elicit::dismiss(request)
            })
        })
    }

    fn choose<'a>(&'a self, title: &'a str, models: &'a [String]) -> BoxFuture<'a, Result<Option<usize>, Failure>> {
        Box::pin(async move {
            let Some(asker) = &self.asker else { return Ok(None) };
            output::tell_stderr(title);
            for (n, model) in models.iter().enumerate() {
                output::tell_stderr(format_args!("  {:>2}  {}", n + 1, word(model)));
            }
            let prompt = format!("Which one? [1-{}] ", models.len());
            loop {
                let Some(answer) = asker.answer(&prompt).await? else { return Ok(None) };
                if let Some(place) = chosen(models, answer.trim()) {
                    return Ok(Some(place));
                }
                output::warn(&format!("a number from 1 to {}, or a model's name", models.len()));
            }
        })
    }
}

impl Terminal {
    /// Asks the user about a call until the answer is valid; `None` after Ctrl-C or without a terminal.
    async fn answer(&self, asked: &Question) -> Option<Answer> {
        let shown = ShownCall { name: asked.name.clone(), body: asked.body.shown() };
        // A box of another call, or one with other text after it, is not what the question is about.
        if !self.display().ends_with(&shown) {
            output::tell_stderr(boxed(asked, &shown.body));
        }
        // What does not fit on the screen is no call that somebody has seen.
        let whole = (!asked.body.is_whole()).then(|| boxed(asked, &asked.body.whole()));
        let (words, help) = words(asked.is_doubtful);
        let choice = Choice { question: question(asked), words, help, whole };
        Some(match self.asker.as_ref()?.floor().await.choose(choice).await.ok()? {
            ("yes", _) => Answer::Once,
            ("always", _) => Answer::Always,
            (_, reason) => Answer::No(Some(reason).filter(|reason| !reason.is_empty())),
        })
    }
}

/// Returns the index of a model, by its number from 1 or its name.
fn chosen(models: &[String], answer: &str) -> Option<usize> {
    match answer.parse::<usize>() {
        Ok(number) => number.checked_sub(1).filter(|place| *place < models.len()),
        Err(_) => models.iter().position(|model| model == answer),
    }
}

/// Returns the possible answers to a question, and an explanation of them. A doubtful call cannot be approved for later
/// calls.
pub(crate) fn words(is_doubtful: bool) -> (&'static [&'static str], &'static str) {
    match is_doubtful {
        true => (&["yes", "no"], "answer y (yes, once), n (no), or n REASON (no, and the model is told why)"),
        false => (
            &["yes", "always", "no"],
            "answer y (yes, once), a (yes, and every later call of this tool), n (no), or n REASON (no, and \
             the model is told why)",
        ),
    }
}

/// Returns the box of a question, with all of its body or the part given.
fn boxed(asked: &Question, body: &str) -> String {
    let rows = boxes::draw(&asked.name, body, Frame::Drawn, columns());
    rows.iter().map(|row| format!("{CALL}{row}{CALL:#}")).collect::<Vec<_>>().join("\n")
}

pub(crate) fn question(asked: &Question) -> String {
    let Question { name, why, is_doubtful, .. } = asked;
    let is_long = !asked.body.is_whole();
    let keys = |keys: &str| if is_long { format!("{keys}/s") } else { keys.to_owned() };
    let (keys, keys_once) = (keys("y/a/n"), keys("y/n"));
    // The question and its answers are in one row, with room for a letter, where a little of the call fits in.
    let rest = boxes::width(&format!("Run {name}? [{keys}] ")) + 2;
    let room = columns().saturating_sub(rest).clamp(LEAST_ARGUMENTS, ARGUMENTS);
    let call = format!("{name} {}", shortened(&asked.line, room));
    let long = match is_long {
        true => format!(
            "The arguments have {} characters; s shows them whole. ",
            grouped(asked.body.whole().chars().count() as u64)
        ),
        false => String::new(),
    };
    match is_doubtful {
        true => format!("{why} {long}Run {call}? [{keys_once}] "),
        false => format!("{why}\n{long}Run {call}? [{keys}] "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_chosen_by_number_or_name() {
        let models = ["a:1".to_owned(), "7".to_owned()];
        assert_eq!(chosen(&models, "2"), Some(1));
        assert_eq!(chosen(&models, "a:1"), Some(0));
        for wrong in ["0", "3", "", "a"] {
            assert_eq!(chosen(&models, wrong), None, "{wrong}");
        }
    }
}
