//! A server asks the user at the terminal for input while a tool runs: forms field by field,
//! and pages to open.
//!
//! In: requests of the hub's servers. Out: answers. All that a server wrote is [packed] or clean, and is
//! in a box that names the server, or in a prompt of one line. Nothing is sent before the user has
//! seen what; nothing is opened.

mod form;

use serde::Serialize;
use serde_json::Map;

use form::{PageField, line};

use crate::base::output;
use crate::dialog::ask::{Choice, Floor, Unanswered};
use crate::screen::visible::{packed, word};
use crate::screen::{Frame, beginning, boxes};
use crate::terminal;
use toolgraft_mcp::{FieldError, Form, FormField, InputAnswer, InputKind, InputRequest};

/// Maximum number of characters shown of a server's request.
const SHOWN: usize = 8_000;

/// Declines a server's request for input with a warning, since there is no terminal.
pub(crate) fn decline(request: &InputRequest) -> InputAnswer {
    let message = format!("{:?}", line(&request.message));
    output::warn(&format!(
        "{} asks for input ({message}), and there is no terminal to ask on: it was declined",
        line(&request.server)
    ));
    InputAnswer::Decline
}

/// Shows a server's request for input and returns the user's answer.
pub(crate) async fn ask(floor: &Floor, request: &InputRequest) -> Result<InputAnswer, Unanswered> {
    match &request.kind {
        InputKind::Form(form) => fill_in(floor, request, form).await,
        InputKind::Url { host, .. } => consent(floor, request, &line(host)).await,
        // A kind of a later version of the protocol cannot be shown.
        _ => Ok(InputAnswer::Decline),
    }
}

/// Cancels a server's request that the user dismissed, with a note.
pub(crate) fn dismiss(request: &InputRequest) -> InputAnswer {
    output::note(&format!("({} is told that you dismissed its question)", line(&request.server)));
    InputAnswer::Cancel
}

/// A server's request for input as it is displayed on a terminal or a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct InWords {
    pub(crate) title: String,
    /// Message of the server, such as the purpose of the request.
    pub(crate) text: String,
    /// Warning for the user to read before an answer.
    pub(crate) warning: Option<String>,
    /// Fields of the form; empty for a request to open a page.
    pub(crate) fields: Vec<PageField>,
    /// Address of the page to open; `None` for a form.
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

/// Returns the error message of a form field, after the field's label.
pub(crate) fn field_error(field: &FormField, error: &FieldError) -> String {
    format!("{}: {error}", form::label(field))
}

/// Returns a sentence with the host of a page, which the user has to open.
fn is_at(host: &str) -> String {
    format!("It is at {host}. Nothing is opened for you: open it yourself, if you trust that host.")
}

/// Returns a warning for an internationalised host name, which may imitate another one.
fn looks_alike(host: &str) -> Option<String> {
    host.split('.')
        // The prefix of an internationalised label, in which Cyrillic letters may imitate Latin ones.
        .any(|label| label.starts_with("xn--"))
        .then(|| format!("the host has letters that look like other letters: {host}"))
}

/// Shows the title of a server's request and its text in a box, followed by the full address of a page, in one piece
/// for copying, and by the warning.
fn show(request: &InputRequest, body: &str) {
    let InWords { title, warning, url, .. } = InWords::of(request);
    let rows = boxes::draw(&title, &beginning(&packed(body), SHOWN), Frame::Drawn, terminal::columns());
    rows.into_iter().chain(url.map(|url| word(&url))).for_each(output::tell_stderr);
    warning.into_iter().for_each(|warning| output::warn(&warning));
}

/// Asks the user to fill in a server's form, and for confirmation of the values before they are sent.
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

/// Shows the address of a server's page, and asks whether the user will open it.
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
