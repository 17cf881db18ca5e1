//! A server asks the user at the terminal for input while a tool runs: forms field by field,
//! and pages to open.
//!
//! In: requests of the hub's servers. Out: answers. All that a server wrote is [packed] or clean, and is
//! in a box that names the server, or in a prompt of one line. Nothing is sent before the user has
//! seen what; nothing is opened.

mod form;

use std::sync::{Arc, Mutex};

use serde_json::Map;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use form::{PageField, line};

use crate::base::{lock, output};
use crate::dialog::ask::{Asker, Choice, Floor, Unanswered};
use crate::screen::visible::{packed, word};
use crate::screen::{Frame, beginning, boxes};
use crate::terminal;
use toolgraft_mcp::{FieldError, Form, FormField, InputAnswer, InputKind, InputRequest};

/// Most characters of a request that are shown.
const SHOWN: usize = 8_000;

/// Answers the servers' questions.
pub(crate) struct Questions {
    asker: Option<Asker>,
    turn: Mutex<Option<Turn>>,
}

/// The turn during which a server asks.
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
        *lock(&self.turn) = Some(Turn { cancel, display });
        pauses
    }

    /// Answers a question of a server.
    pub(crate) async fn answer(self: Arc<Self>, request: InputRequest) -> InputAnswer {
        let Some(asker) = &self.asker else {
            let message = format!("{:?}", line(&request.message));
            output::warn(&format!(
                "{} asks for input ({message}), and there is no terminal to ask on: it was declined",
                line(&request.server)
            ));
            return InputAnswer::Decline;
        };
        // First the right to ask: until another question is answered, the display need not stop.
        let floor = asker.floor().await;
        let _pause = self.pause().await;
        let answer = match &request.kind {
            InputKind::Form(form) => fill_in(&floor, &request, form).await,
            InputKind::Url { host, .. } => consent(&floor, &request, &line(host)).await,
            // A kind of a later version of the protocol cannot be shown.
            _ => return InputAnswer::Decline,
        };
        answer.unwrap_or_else(|unanswered| {
            if let (Unanswered::Interrupted, Some(turn)) = (unanswered, &*lock(&self.turn)) {
                turn.cancel.cancel();
            }
            output::note(&format!("({} is told that you dismissed its question)", line(&request.server)));
            InputAnswer::Cancel
        })
    }

    /// Waits until there is room for a question.
    async fn pause(&self) -> Option<oneshot::Sender<()>> {
        let display = lock(&self.turn).as_ref().map(|turn| turn.display.clone())?;
        let ((begun, has_begun), (end, over)) = (oneshot::channel(), oneshot::channel());
        display.send(Pause { begun, over }).ok()?;
        has_begun.await.ok()?;
        Some(end)
    }
}

/// A server's question, as a terminal and a page show it.
pub(crate) struct InWords {
    pub(crate) title: String,
    /// The message of the server.
    pub(crate) text: String,
    /// A warning that the user should read before an answer.
    pub(crate) warning: Option<String>,
    /// The fields; none for a page to open.
    pub(crate) fields: Vec<PageField>,
    /// The page to open.
    pub(crate) url: Option<String>,
}

impl InWords {
    pub(crate) fn of(request: &InputRequest) -> Self {
        let server = line(&request.server);
        let shown = |text: &str| beginning(&packed(text), SHOWN);
        match &request.kind {
            InputKind::Form(form) => InWords {
                title: format!("{server} asks for input"),
                text: shown(&request.message),
                warning: form::wants_secret(form)
                    .then(|| "the form seems to ask for a password or key, which a server must not do".to_owned()),
                fields: form.fields.iter().map(form::of_page).collect(),
                url: None,
            },
            InputKind::Url { url, host, .. } => InWords {
                title: format!("{server} asks you to open a page"),
                text: format!("{}\n\n{}", shown(&request.message), is_at(&line(host))),
                warning: looks_alike(host),
                fields: Vec::new(),
                url: Some(url.clone()),
            },
            _ => InWords { title: server, text: String::new(), warning: None, fields: Vec::new(), url: None },
        }
    }
}

/// Returns the error of a field, with its name.
pub(crate) fn field_error(field: &FormField, error: &FieldError) -> String {
    format!("{}: {error}", form::label(field))
}

/// Says where a page is, and that it is the user who opens it.
fn is_at(host: &str) -> String {
    format!("It is at {host}. Nothing is opened for you: open it yourself, if you trust that host.")
}

/// Returns a warning for a host that may look like another.
fn looks_alike(host: &str) -> Option<String> {
    host.split('.')
        // The prefix of an internationalised label, in which Cyrillic letters may imitate Latin ones.
        .any(|label| label.starts_with("xn--"))
        .then(|| format!("the host has letters that look like other letters: {host}"))
}

/// Waits until a question is over, if there is one.
pub(crate) async fn over(question: &mut Option<oneshot::Receiver<()>>) {
    match question {
        Some(over) => {
            // Dropped, it is over too.
            let _ = over.await;
            *question = None;
        }
        None => std::future::pending().await,
    }
}

/// Shows the title of a question above what the server says, in a box; then, for a page, its address, which is
/// whole and in one piece, so that it can be copied; and the warning.
fn show(request: &InputRequest, body: &str) {
    let InWords { title, warning, url, .. } = InWords::of(request);
    let rows = boxes::draw(&title, &beginning(&packed(body), SHOWN), Frame::Drawn, terminal::columns());
    rows.into_iter().chain(url.map(|url| word(&url))).for_each(output::tell_stderr);
    warning.into_iter().for_each(|warning| output::warn(&warning));
}

/// Asks for a form, and shows what was filled in before it is sent.
async fn fill_in(floor: &Floor, request: &InputRequest, form: &Form) -> Result<InputAnswer, Unanswered> {
    let server = line(&request.server);
    show(request, &form::overview(&request.message, form));
    let question = if form.fields.is_empty() {
        format!("Say yes to {server}? [y/n] ")
    } else {
        format!("Fill this in for {server}? [y/n] ")
    };
    let help = "answer y (yes), n (decline), or press Ctrl-D (dismiss it)";
    if floor.choose(Choice { help, ..Choice::yes_or_no(question, None) }).await?.0 == "no" {
        return Ok(InputAnswer::Decline);
    }
    let mut content = Map::new();
    // A form without fields asks for consent alone.
    if form.fields.is_empty() {
        return Ok(InputAnswer::Accept(content));
    }
    loop {
        for field in &form.fields {
            let before = content.shift_remove(&field.name);
            // What was typed before is proposed.
            let mut field = field.clone();
            field.default = before.or(field.default);
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
        let choice = Choice {
            question: format!("Send this to {server}? [y/n/e] "),
            words: &["yes", "no", "edit"],
            help: "answer y (send it), n (decline), e (fill it in again), or press Ctrl-D (dismiss it)",
            whole: None,
        };
        match floor.choose(choice).await?.0 {
            "yes" => return Ok(InputAnswer::Accept(content)),
            "no" => return Ok(InputAnswer::Decline),
            _ => {}
        }
    }
}

/// Shows a page and asks for consent.
async fn consent(floor: &Floor, request: &InputRequest, host: &str) -> Result<InputAnswer, Unanswered> {
    let server = line(&request.server);
    show(request, &request.message);
    output::note(&is_at(host));
    let (question, help) = (
        format!("Tell {server} that you open it? [y/n] "),
        "answer y (you will open it), n (decline), or press Ctrl-D (dismiss it)",
    );
    match floor.choose(Choice { help, ..Choice::yes_or_no(question, None) }).await?.0 {
        "yes" => Ok(InputAnswer::Accept(Map::new())),
        _ => Ok(InputAnswer::Decline),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_of_a_servers_text_is_counted() {
        let shown = beginning(&"x".repeat(SHOWN + 10), SHOWN);
        assert!(shown.ends_with("x\n… 10 characters more"), "{:?}", shown.get(SHOWN - 1..));
        assert_eq!(beginning("Yes?", SHOWN), "Yes?");
    }
}
