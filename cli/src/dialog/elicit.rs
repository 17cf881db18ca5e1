//! A server asks the person at the terminal for input while a tool runs: forms field by field,
//! and pages to open.
//!
//! In: requests of the hub's servers. Out: answers. All that a server wrote is [packed] or clean, stands in
//! a box that names the server, or in a prompt of one line. Nothing is sent before the person has
//! seen what; nothing is opened.

mod form;

use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::Map;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use form::{PageField, Words, line};

use crate::base::{lock, output};
use crate::dialog::ask::{Asker, Floor, Unanswered};
use crate::phrases::Phrases;
use crate::screen::visible::{packed, word};
use crate::screen::{Frame, boxes};
use crate::terminal;
use toolgraft_mcp::{FieldError, Form, FormField, InputAnswer, InputKind, InputRequest};

/// Most characters of a request that are shown.
const SHOWN: usize = 8_000;

/// Answers the servers' questions.
pub(crate) struct Questions {
    asker: Option<Asker>,
    say: Phrases,
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
    pub(crate) fn new(asker: Option<Asker>, say: Phrases) -> Arc<Self> {
        Arc::new(Questions { asker, say, turn: Mutex::default() })
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
        let say = self.say;
        let Some(asker) = &self.asker else {
            let message = format!("{:?}", line(&request.message));
            output::warn_in(say, &say.nobody_to_ask(line(&request.server), message));
            return InputAnswer::Decline;
        };
        let floor = asker.floor().await;
        let _pause = self.pause().await;
        let asking = Asking { floor: &floor, say };
        let answer = match &request.kind {
            InputKind::Form(form) => asking.form(&request, form).await,
            InputKind::Url { url, host, .. } => asking.page(&request, (url, host)).await,
            _ => return InputAnswer::Decline,
        };
        answer.unwrap_or_else(|unanswered| {
            if let (Unanswered::Interrupted, Some(turn)) = (unanswered, &*self.turn()) {
                turn.cancel.cancel();
            }
            output::note(&say.put_away(line(&request.server)));
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
        lock(&self.turn)
    }
}

/// A server's question for a page.
pub(crate) struct InWords {
    pub(crate) title: String,
    /// What the server says.
    pub(crate) text: String,
    /// What the person should know before an answer.
    pub(crate) warning: Option<String>,
    /// The fields; none for a page to open.
    pub(crate) fields: Vec<PageField>,
    /// The page to open.
    pub(crate) url: Option<String>,
}

impl InWords {
    pub(crate) fn of(request: &InputRequest, say: Phrases) -> Self {
        let server = line(&request.server);
        let shown = |text: &str| shortened(&packed(text), say);
        match &request.kind {
            InputKind::Form(form) => {
                let words = Words::of(say);
                InWords {
                    title: say.asks_for_input(&server),
                    text: shown(&request.message),
                    warning: form::wants_secret(form).then(|| say.wants_secret().to_owned()),
                    fields: form.fields.iter().map(|field| words.of_page(field)).collect(),
                    url: None,
                }
            }
            InputKind::Url { url, host, .. } => InWords {
                title: say.asks_to_open(&server),
                text: format!("{}\n\n{}", shown(&request.message), say.opened_by_you(line(host))),
                warning: looks_alike(host, say),
                fields: Vec::new(),
                url: Some(url.clone()),
            },
            _ => InWords { title: server, text: String::new(), warning: None, fields: Vec::new(), url: None },
        }
    }
}

/// A server's text as far as it is shown, and how much of it is not.
fn shortened(text: &str, say: Phrases) -> String {
    let shown: String = text.chars().take(SHOWN).collect();
    match text.chars().count() - shown.chars().count() {
        0 => shown,
        more => format!("{shown}\n{}", say.more_characters(more)),
    }
}

/// What is wrong with a field, with its name.
pub(crate) fn field_error(field: &FormField, error: &FieldError, say: Phrases) -> String {
    say.headed(form::label(field), say.field_error(error))
}

/// A warning for a host that may look like another.
fn looks_alike(host: &str, say: Phrases) -> Option<String> {
    host.split('.').any(|label| label.starts_with("xn--")).then(|| say.looks_alike(host))
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

/// One question, in a language.
struct Asking<'f> {
    floor: &'f Floor,
    say: Phrases,
}

impl Asking<'_> {
    /// Shows in a box what a server says.
    fn show(&self, title: &str, body: &str) {
        for line in boxes::draw(title, &shortened(&packed(body), self.say), Frame::Drawn, terminal::columns()) {
            output::tell_stderr(line);
        }
    }

    fn warn(&self, message: &str) {
        output::warn_in(self.say, message);
    }

    /// Asks until the answer is one of these letters, or a word that stands for it.
    async fn choose(&self, question: &str, (letters, help): (&[char], &str)) -> Result<char, Unanswered> {
        loop {
            let typed = self.floor.ask(question).await?.trim().to_lowercase();
            let is_meant = |letter: &&char| {
                let words = match letter {
                    'y' => ["y", "yes", "是"],
                    'n' => ["n", "no", "否"],
                    _ => ["e", "edit", "改"],
                };
                words.contains(&typed.as_str())
            };
            match letters.iter().find(is_meant) {
                Some(letter) => return Ok(*letter),
                None => self.warn(help),
            }
        }
    }

    /// Asks for a form, and shows what was filled in before it is sent.
    async fn form(&self, request: &InputRequest, form: &Form) -> Result<InputAnswer, Unanswered> {
        let (say, server) = (self.say, line(&request.server));
        let words = Words::of(say);
        self.show(&say.asks_for_input(&server), &words.overview(&request.message, form));
        if form::wants_secret(form) {
            self.warn(say.wants_secret());
        }
        let question = if form.fields.is_empty() { say.say_yes_to(&server) } else { say.fill_in(&server) };
        if self.choose(&question, (&['y', 'n'], say.help_yes_no())).await? == 'n' {
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
                let prompt = words.prompt(&field);
                let value = loop {
                    match field.read(&self.floor.ask(&prompt).await?) {
                        Ok(value) => break value,
                        Err(error) => self.warn(&say.field_error(&error)),
                    }
                };
                content.extend(value.map(|value| (field.name.clone(), value)));
            }
            output::note(&words.review(form, &content));
            match self.choose(&say.send_this(&server), (&['y', 'n', 'e'], say.help_send())).await? {
                'y' => return Ok(InputAnswer::Accept(content)),
                'n' => return Ok(InputAnswer::Decline),
                _ => {}
            }
        }
    }

    /// Shows a page and asks for consent.
    async fn page(&self, request: &InputRequest, (url, host): (&str, &str)) -> Result<InputAnswer, Unanswered> {
        let (say, server, host) = (self.say, line(&request.server), line(host));
        self.show(&say.asks_to_open(&server), &request.message);
        // Whole and in one piece, so that it can be copied: the terminal breaks it.
        output::tell_stderr(word(url));
        looks_alike(&host, say).into_iter().for_each(|warning| self.warn(&warning));
        output::note(&say.opened_by_you(&host));
        match self.choose(&say.tell_opened(&server), (&['y', 'n'], say.help_open())).await? {
            'y' => Ok(InputAnswer::Accept(Map::new())),
            _ => Ok(InputAnswer::Decline),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgraft::dialect::Lang;

    #[test]
    fn what_is_left_out_of_a_servers_text_is_counted() {
        let shown = shortened(&"x".repeat(SHOWN + 10), Phrases::of(Lang::En));
        assert!(shown.ends_with("x\n… 10 characters more"), "{:?}", shown.get(SHOWN - 1..));
        assert_eq!(shortened("Yes?", Phrases::of(Lang::En)), "Yes?");
    }
}
