//! Requests of servers for input while a tool runs: forms and pages to open, in the windows of the
//! conversations whose turns go on.

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde_json::{Map, Value, json};
use tokio::sync::oneshot;

use super::person::AtPage;
use crate::base::{lock, secret::secret};
use crate::dialog::elicit::{InWords, field_error};
use crate::view::Step;
use toolgraft_mcp::{InputAnswer, InputKind, InputRequest};

/// The questions of servers that are open.
#[derive(Default)]
pub(super) struct Inputs {
    open: Mutex<BTreeMap<String, (InputRequest, oneshot::Sender<InputAnswer>)>>,
}

impl Inputs {
    /// Asks in all of these windows; the first answer counts. Where this is dropped the question is
    /// withdrawn.
    pub(super) async fn ask(&self, request: &InputRequest, windows: Vec<AtPage>) -> InputAnswer {
        // Without random numbers nobody else can be kept from answering.
        let Ok(id) = secret() else { return InputAnswer::Cancel };
        let (tell, told) = oneshot::channel();
        lock(&self.open).insert(id.clone(), (request.clone(), tell));
        let InWords { title, text, warning, fields, url } = InWords::of(request);
        let step = Step::Input(json!({
            "input": id, "title": title, "text": text, "warning": warning, "fields": fields, "url": url,
        }));
        windows.iter().for_each(|window| window.tell(step.clone()));
        let _over = Over { id, inputs: self, windows };
        told.await.unwrap_or(InputAnswer::Cancel)
    }

    /// Answers a question with what was filled in, or declines it; what is wrong with a field leaves
    /// it open. Returns whether it was open.
    pub(super) fn answer(&self, id: &str, values: Option<&Map<String, Value>>) -> Result<bool, String> {
        let mut open = lock(&self.open);
        let Some((request, _)) = open.get(id) else { return Ok(false) };
        let answer = match values {
            None => InputAnswer::Decline,
            Some(values) => InputAnswer::Accept(self.content(request, values)?),
        };
        Ok(open.remove(id).is_some_and(|(_, tell)| tell.send(answer).is_ok()))
    }

    fn content(&self, request: &InputRequest, values: &Map<String, Value>) -> Result<Map<String, Value>, String> {
        let InputKind::Form(form) = &request.kind else { return Ok(Map::new()) };
        let mut content = Map::new();
        for field in &form.fields {
            let typed = values.get(&field.name).and_then(Value::as_str).unwrap_or_default();
            let value = field.read(typed).map_err(|error| field_error(field, &error))?;
            content.extend(value.map(|value| (field.name.clone(), value)));
        }
        Ok(content)
    }
}

/// Takes a question out of the windows, however it ends.
struct Over<'a> {
    id: String,
    inputs: &'a Inputs,
    windows: Vec<AtPage>,
}

impl Drop for Over<'_> {
    fn drop(&mut self) {
        lock(&self.inputs.open).remove(&self.id);
        let step = Step::InputOver { input: self.id.clone() };
        self.windows.iter().for_each(|window| window.tell(step.clone()));
    }
}
