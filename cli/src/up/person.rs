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

/// Maximum number of steps that wait for a window; a window that is further back is cut off, and its browser asks for
/// all of it again.
const MAX_LAG: usize = 1024;

/// The users who look at a conversation, and what they see of it. Clones are of the same one.
#[derive(Clone, Default)]
pub(super) struct AtPage {
    desk: Arc<Mutex<AnswerDesk>>,
}

/// The steps that are shown, and the open questions.
#[derive(Default)]
struct AnswerDesk {
    /// The steps of what was said before the turn that goes on, and of that turn.
    said: Vec<Step>,
    turn: Vec<Step>,
    events: TurnSteps,
    windows: Vec<mpsc::Sender<String>>,
    /// Pictures of results, by the ids of their calls, and of questions, by a hash.
    pictures: BTreeMap<String, Vec<Image>>,
    /// Questions by the id of their calls, each with the definition of the tool that it is about.
    questions: BTreeMap<String, (String, oneshot::Sender<Answer>)>,
    /// Questions of servers.
    inputs: BTreeMap<String, (InputRequest, oneshot::Sender<InputAnswer>)>,
}

impl AtPage {
    pub(super) fn new(existing: Existing) -> Self {
        AtPage { desk: Arc::new(Mutex::new(AnswerDesk { events: TurnSteps::new(existing), ..AnswerDesk::default() })) }
    }

    /// Returns all steps until now, and those that follow.
    pub(super) fn look(&self) -> (Vec<Step>, mpsc::Receiver<String>) {
        let (tell, told) = mpsc::channel(MAX_LAG);
        let mut desk = lock(&self.desk);
        desk.windows.push(tell);
        (desk.said.iter().chain(&desk.turn).cloned().collect(), told)
    }

    /// Returns `true` if a window shows it.
    pub(super) fn is_there(&self) -> bool {
        lock(&self.desk).windows.iter().any(|window| !window.is_closed())
    }

    /// Shows a step of the turn that goes on.
    pub(super) fn tell(&self, step: Step) {
        let mut desk = lock(&self.desk);
        desk.send(&step.for_page());
        let joined = desk.turn.last_mut().is_some_and(|last| join(last, &step));
        if !joined {
            desk.turn.push(step);
        }
    }

    /// Tells something to whoever looks now, which is no part of what was said.
    pub(super) fn announce(&self, step: &Value) {
        lock(&self.desk).send(step);
    }

    /// No turn goes on: these steps show all that was said. `last` is told to whoever looks.
    pub(super) fn settle(&self, said: Vec<Step>, last: &Value) {
        let mut desk = lock(&self.desk);
        desk.said = said;
        desk.turn.clear();
        desk.events.reset();
        desk.questions.clear();
        desk.send(last);
    }

    /// Keeps the pictures of a question or of a call's result for whoever looks.
    pub(super) fn keep_pictures(&self, of: &str, pictures: Vec<Image>) {
        if !pictures.is_empty() {
            lock(&self.desk).pictures.insert(of.to_owned(), pictures);
        }
    }

    /// One of these pictures, counted from 0.
    pub(super) fn picture(&self, call: &str, n: usize) -> Option<Image> {
        lock(&self.desk).pictures.get(call)?.get(n).cloned()
    }

    /// Answers the question about a call of a tool with this definition; whether there was one.
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

    /// Answers a question of a server with what was filled in, or declines it; what is wrong with a field leaves
    /// it open. Returns whether it was open.
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

/// Takes a question out of the windows, however it ends.
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

/// Joins a step to the last one, where both are text of the same kind.
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

/// Columns and rows of a question that is not folded in the page; it scrolls if the window has fewer.
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
