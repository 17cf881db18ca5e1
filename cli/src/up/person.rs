//! The page: the windows that show a conversation, and its user, who is asked in them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};

use crate::base::{Failure, lock, secret::secret};
use crate::dialog::elicit::{InWords, field_error};
use crate::front::{Answer, Frontend, Question};
use crate::servers::existing::Existing;
use crate::view::{Step, TurnSteps};
use toolgraft::AgentEvent;
use toolgraft::message::Image;
use toolgraft_mcp::{InputAnswer, InputKind, InputRequest};

/// Maximum number of unsent steps for a window. A window that reads more slowly is disconnected; its browser
/// reconnects and gets the whole conversation again.
const MAX_LAG: usize = 1024;

/// The front end of a conversation in browser windows: its steps and open questions. Clones share the state.
#[derive(Clone, Default)]
pub(super) struct AtPage {
    desk: Arc<Mutex<AnswerDesk>>,
}

/// The steps of a conversation, the windows that show them, and the open questions.
#[derive(Default)]
struct AnswerDesk {
    /// Steps of the conversation before the running turn, whose steps are in `turn`.
    said: Vec<Step>,
    turn: Vec<Step>,
    events: TurnSteps,
    windows: Vec<mpsc::Sender<String>>,
    /// Pictures of results, by the id of the call, and of user messages, by a hash of the pictures.
    pictures: BTreeMap<String, Vec<Image>>,
    /// Pending questions for approval by call id, each with the tool's definition and the channel for the answer.
    questions: BTreeMap<String, (String, oneshot::Sender<Answer>)>,
    /// Pending requests of servers for the user's input, by id, each with the channel for the answer.
    inputs: BTreeMap<String, (InputRequest, oneshot::Sender<InputAnswer>)>,
}

impl AtPage {
    pub(super) fn new(existing: Existing) -> Self {
        AtPage { desk: Arc::new(Mutex::new(AnswerDesk { events: TurnSteps::new(existing), ..AnswerDesk::default() })) }
    }

    /// Connects a window: returns all steps until now, and a receiver of those that follow.
    pub(super) fn look(&self) -> (Vec<Step>, mpsc::Receiver<String>) {
        let (tell, told) = mpsc::channel(MAX_LAG);
        let mut desk = lock(&self.desk);
        desk.windows.push(tell);
        (desk.said.iter().chain(&desk.turn).cloned().collect(), told)
    }

    /// Returns `true` if a browser window shows the conversation.
    pub(super) fn is_there(&self) -> bool {
        lock(&self.desk).windows.iter().any(|window| !window.is_closed())
    }

    /// Sends a step of the running turn to all windows, and stores it for windows that connect later.
    pub(super) fn tell(&self, step: Step) {
        let mut desk = lock(&self.desk);
        desk.send(&step.for_page());
        let joined = desk.turn.last_mut().is_some_and(|last| join(last, &step));
        if !joined {
            desk.turn.push(step);
        }
    }

    /// Sends a step to the connected windows without adding it to the conversation.
    pub(super) fn announce(&self, step: &Value) {
        lock(&self.desk).send(step);
    }

    /// Ends the turn: `said` replaces all steps, open questions are dropped, and `last` is sent to the windows.
    pub(super) fn settle(&self, said: Vec<Step>, last: &Value) {
        let mut desk = lock(&self.desk);
        desk.said = said;
        desk.turn.clear();
        desk.events.reset();
        desk.questions.clear();
        desk.send(last);
    }

    /// Stores the pictures of a user message or of a call's result, under the id `of`, for requests of the browser.
    pub(super) fn keep_pictures(&self, of: &str, pictures: Vec<Image>) {
        if !pictures.is_empty() {
            lock(&self.desk).pictures.insert(of.to_owned(), pictures);
        }
    }

    /// Returns picture `n`, counted from 0, of a call or user message; `None` if it does not exist.
    pub(super) fn picture(&self, call: &str, n: usize) -> Option<Image> {
        lock(&self.desk).pictures.get(call)?.get(n).cloned()
    }

    /// Answers the pending question about a call. Returns `false` if there is none, or if the tool had another
    /// definition when it was asked.
    pub(super) fn answer(&self, (call, definition): (&str, &str), answer: Answer) -> bool {
        let taken = {
            let mut desk = lock(&self.desk);
            // A window may still show what was asked before the tool changed.
            let is_asked = desk.questions.get(call).is_some_and(|(asked, _)| asked == definition);
            if is_asked { desk.questions.remove(call) } else { None }
        };
        let Some((_, question)) = taken else { return false };
        // Before the turn goes on, which may ask about this call again.
        self.tell(Step::Answered { call: call.to_owned() });
        question.send(answer).is_ok()
    }

    /// Answers a server's request for input with the values of its form; `None` declines it. Returns `false` if the
    /// request is not pending. An invalid value is an error that names the field; the request then stays pending.
    pub(super) fn fill_in(&self, id: &str, values: Option<&Map<String, Value>>) -> Result<bool, String> {
        let mut desk = lock(&self.desk);
        let Some((request, _)) = desk.inputs.get(id) else { return Ok(false) };
        let answer = match values {
            None => InputAnswer::Decline,
            Some(values) => InputAnswer::Accept(content(request, values)?),
        };
        Ok(desk.inputs.remove(id).is_some_and(|(_, tell)| tell.send(answer).is_ok()))
    }
}

fn content(request: &InputRequest, values: &Map<String, Value>) -> Result<Map<String, Value>, String> {
    let InputKind::Form(form) = &request.kind else { return Ok(Map::new()) };
    let mut content = Map::new();
    for field in &form.fields {
        let typed = values.get(&field.name).and_then(Value::as_str).unwrap_or_default();
        let value = field.read(typed).map_err(|error| field_error(field, &error))?;
        content.extend(value.map(|value| (field.name.clone(), value)));
    }
    Ok(content)
}

/// Guard of a pending request for input that removes the request from the windows when dropped.
struct OpenInput<'a>(String, &'a AtPage);

impl Drop for OpenInput<'_> {
    fn drop(&mut self) {
        lock(&self.1.desk).inputs.remove(&self.0);
        self.1.tell(Step::InputOver { input: self.0.clone() });
    }
}

impl AnswerDesk {
    fn send(&mut self, step: &Value) {
        let text = step.to_string();
        self.windows.retain(|window| window.try_send(text.clone()).is_ok());
    }
}

/// Appends a step to the last one if both are answer text or both are reasoning; else returns `false`.
fn join(last: &mut Step, step: &Step) -> bool {
    match (last, step) {
        (Step::Text { text }, Step::Text { text: more })
        | (Step::Reasoning { text }, Step::Reasoning { text: more }) => {
            text.push_str(more);
            true
        }
        _ => false,
    }
}

/// Maximum columns and rows of a question for approval that is shown unfolded in the page.
const ROOM: (usize, usize) = (100, 40);

impl Frontend for AtPage {
    fn event(&self, event: AgentEvent) -> Result<(), Failure> {
        if let AgentEvent::Outcome { id, outcome } = &event {
            self.keep_pictures(id, outcome.images().collect());
        }
        let steps = lock(&self.desk).events.take(&event);
        steps.into_iter().for_each(|step| self.tell(step));
        Ok(())
    }

    fn room(&self) -> Option<(usize, usize)> {
        Some(ROOM)
    }

    fn approve<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        let (tell, told) = oneshot::channel();
        let Question { id, name, why, body, is_doubtful, definition, .. } = question.clone();
        lock(&self.desk).questions.insert(id.clone(), (definition.clone(), tell));
        self.tell(Step::Ask {
            call: id,
            title: format!("Run {name}?"),
            why,
            more: format!("Show {} characters more", body.hidden.chars().count()),
            body: [body.head, body.hidden, body.tail],
            once: is_doubtful,
            definition,
        });
        Box::pin(async {
            match told.await {
                Ok(answer) => answer,
                Err(_) => std::future::pending().await,
            }
        })
    }

    fn fill<'a>(&'a self, request: &'a InputRequest) -> BoxFuture<'a, InputAnswer> {
        Box::pin(async {
            // Without random numbers nobody else can be kept from answering.
            let Ok(id) = secret() else { return InputAnswer::Cancel };
            let (tell, told) = oneshot::channel();
            lock(&self.desk).inputs.insert(id.clone(), (request.clone(), tell));
            self.tell(Step::Input { input: id.clone(), words: InWords::of(request) });
            let _open = OpenInput(id, self);
            told.await.unwrap_or(InputAnswer::Cancel)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Step {
        Step::Text { text: text.to_owned() }
    }

    #[test]
    fn a_window_that_comes_later_sees_the_same_in_fewer_steps() {
        let page = AtPage::default();
        let (before, mut told) = page.look();
        assert_eq!(before, []);
        let wait = Step::wait("b");
        for step in [text("a"), text("b"), wait.clone(), text("c")] {
            page.tell(step);
        }
        let steps: Vec<String> = std::iter::from_fn(|| told.try_recv().ok()).collect();
        assert_eq!(steps, [text("a"), text("b"), wait.clone(), text("c")].map(|step| step.for_page().to_string()));
        assert_eq!(steps[0], r#"{"step":"text","text":"a"}"#);
        assert_eq!(page.look().0, [text("ab"), wait, text("c")]);
    }

    #[test]
    fn a_window_that_does_not_read_is_cut_off_and_the_others_are_not() {
        let page = AtPage::default();
        let (_, slow) = page.look();
        let (_, mut quick) = page.look();
        for _ in 0..=MAX_LAG {
            page.tell(text("x"));
            assert!(quick.try_recv().is_ok());
        }
        drop(slow);
        assert!(page.is_there());
        assert_eq!(lock(&page.desk).windows.len(), 1);
    }
}
