//! A server asks the person at the terminal for input while a tool runs: forms field by field,
//! and pages to open.
//!
//! In: requests of the hub's servers. Out: answers. All that a server wrote is [clean], stands in
//! a box that names the server, or in a prompt of one line. Nothing is sent before the person has
//! seen what; nothing is opened.

mod form;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Map;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use form::line;

use super::ask::{Asker, Floor, Unanswered};
use super::output;
use super::screen::Frame;
use super::screen::boxes::{self, clean};
use super::terminal;
use toolgraft::route::mcp::{Form, InputAnswer, InputKind, InputRequest};

/// Most characters of a request that are shown.
const SHOWN: usize = 8_000;

/// Answers the servers' questions.
pub(crate) struct Questions {
    asker: Option<Asker>,
    turn: Mutex<Option<Turn>>,
}

/// What goes on meanwhile.
struct Turn {
    cancel: CancellationToken,
    display: mpsc::UnboundedSender<Pause>,
}

/// Whatever is shown makes room for a question, from `begun` until `over` is told or dropped.
pub(crate) struct Pause {
    pub(crate) begun: oneshot::Sender<()>,
    pub(crate) over: oneshot::Receiver<()>,
}

impl Questions {
    pub(crate) fn new(asker: Option<Asker>) -> Arc<Self> {
        Arc::new(Questions { asker, turn: Mutex::default() })
    }

    /// A turn begins: Ctrl-C at a question cancels it, and what it shows makes room for
    /// questions, as long as the receiver is there.
    pub(crate) fn begin(&self, cancel: CancellationToken) -> mpsc::UnboundedReceiver<Pause> {
        let (display, pauses) = mpsc::unbounded_channel();
        *self.turn() = Some(Turn { cancel, display });
        pauses
    }

    /// Answers a question of a server.
    pub(crate) async fn answer(self: Arc<Self>, request: InputRequest) -> InputAnswer {
        let Some(asker) = &self.asker else {
            output::warn(&nobody(&request));
            return InputAnswer::Decline;
        };
        let floor = asker.floor().await;
        let _pause = self.pause().await;
        let answer = match &request.kind {
            InputKind::Form(form) => ask_form(&floor, &request, form).await,
            InputKind::Url { url, host, .. } => ask_page(&floor, &request, (url, host)).await,
            _ => return InputAnswer::Decline,
        };
        answer.unwrap_or_else(|unanswered| {
            if let (Unanswered::Interrupted, Some(turn)) = (unanswered, &*self.turn()) {
                turn.cancel.cancel();
            }
            output::note(&format!("({} is told that you put its question away)", line(&request.server)));
            InputAnswer::Cancel
        })
    }

    /// Waits until there is room for a question.
    async fn pause(&self) -> Option<oneshot::Sender<()>> {
        let display = self.turn().as_ref().map(|turn| turn.display.clone())?;
        let ((begun, has_begun), (end, over)) = (oneshot::channel(), oneshot::channel());
        display.send(Pause { begun, over }).ok()?;
        has_begun.await.ok()?;
        Some(end)
    }

    fn turn(&self) -> MutexGuard<'_, Option<Turn>> {
        // Nothing is done under the lock that could panic half-way.
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn nobody(request: &InputRequest) -> String {
    let (server, message) = (line(&request.server), line(&request.message));
    format!("{server} asks for input ({message:?}), and there is no terminal to ask on: it was declined")
}

/// Shows in a box what a server says.
fn show(title: &str, body: &str) {
    let shown: String = body.chars().take(SHOWN).collect();
    let more = body.chars().count() - shown.chars().count();
    let shown = if more > 0 { format!("{shown}\n… {more} characters more") } else { shown };
    for line in boxes::draw(title, &shown, Frame::Drawn, terminal::columns()) {
        anstream::eprintln!("{line}");
    }
}

/// Asks until the answer is one of these letters, or a word that begins with it.
async fn choose(floor: &Floor, question: &str, (letters, help): (&[char], &str)) -> Result<char, Unanswered> {
    loop {
        let typed = floor.ask(question).await?.trim().to_lowercase();
        let is_meant = |letter: &&char| {
            let word = match letter {
                'y' => "yes",
                'n' => "no",
                _ => "edit",
            };
            typed == word || typed == letter.to_string()
        };
        match letters.iter().find(is_meant) {
            Some(letter) => return Ok(*letter),
            None => output::warn(help),
        }
    }
}

/// Asks for a form, and shows what was filled in before it is sent.
async fn ask_form(floor: &Floor, request: &InputRequest, form: &Form) -> Result<InputAnswer, Unanswered> {
    let server = line(&request.server);
    show(&format!("{server} asks for input"), &form::overview(&request.message, form));
    if form::wants_secret(form) {
        output::warn("it seems to ask for a password or key, which no server should do by a form");
    }
    let help = "answer y (yes), n (decline), or press Ctrl-D (put it away)";
    let question = if form.fields.is_empty() { "Say yes to" } else { "Fill this in for" };
    if choose(floor, &format!("{question} {server}? [y/n] "), (&['y', 'n'], help)).await? == 'n' {
        return Ok(InputAnswer::Decline);
    }
    let mut content = Map::new();
    if form.fields.is_empty() {
        return Ok(InputAnswer::Accept(content));
    }
    loop {
        for field in &form.fields {
            let before = content.shift_remove(&field.name);
            let field = form::proposing(field, before);
            let prompt = form::prompt(&field);
            let value = loop {
                match field.read(&floor.ask(&prompt).await?) {
                    Ok(value) => break value,
                    Err(error) => output::warn(&error.to_string()),
                }
            };
            content.extend(value.map(|value| (field.name.clone(), value)));
        }
        output::note(&form::review(form, &content));
        let help = "answer y (send it), n (decline), e (fill it in again), or press Ctrl-D (put it away)";
        match choose(floor, &format!("Send this to {server}? [y/n/e] "), (&['y', 'n', 'e'], help)).await? {
            'y' => return Ok(InputAnswer::Accept(content)),
            'n' => return Ok(InputAnswer::Decline),
            _ => {}
        }
    }
}

/// Shows a page and asks for consent.
async fn ask_page(floor: &Floor, request: &InputRequest, (url, host): (&str, &str)) -> Result<InputAnswer, Unanswered> {
    let (server, host) = (line(&request.server), line(host));
    show(&format!("{server} asks you to open a page"), &request.message);
    // Whole and in one piece, so that it can be copied.
    output::note(&clean(url).replace('\n', " "));
    if host.split('.').any(|label| label.starts_with("xn--")) {
        output::warn(&format!("the host has letters that may only look like others: {host}"));
    }
    output::note(&format!("It is at {host}. Nothing is opened for you: open it yourself, if you trust that host."));
    let help = "answer y (you will open it), n (decline), or press Ctrl-D (put it away)";
    match choose(floor, &format!("Tell {server} that you open it? [y/n] "), (&['y', 'n'], help)).await? {
        'y' => Ok(InputAnswer::Accept(Map::new())),
        _ => Ok(InputAnswer::Decline),
    }
}
