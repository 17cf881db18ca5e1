//! Makes the requests to the model: the turn's messages, with the client's history inserted.

use serde_json::Value;

use super::{Exchange, Step, is_held};
use toolgraft::Message;
use toolgraft::conversation::shape::Spoken;
use toolgraft::message::{FinishReason, Role};
use toolgraft::model::Request;
use toolgraft::outcome::break_tokens;
use toolgraft::wire::roles::{join, shape};
use toolgraft::wire::{set_member, take_member};

impl Exchange {
    /// Queues the turn's request with the client's history inserted, or ends the answer if its token limit allows no
    /// further round.
    pub(super) fn send(&mut self, mut request: Request) {
        // The limit that cut the message off would cut its correction off, too.
        if self.text.is_correcting() && !self.costs.may_mend() {
            return self.end(FinishReason::Length);
        }
        let mut body = self.asked.body.clone();
        if let Some((field, most)) = self.asked.max_tokens {
            let left = self.costs.left(most, self.text.shown());
            if left == 0 {
                return self.end(FinishReason::Length);
            }
            body.insert(field.to_owned(), left.into());
        }
        // The turn's temperature is the profile's default; the client's own counts.
        if let Some(temperature) = request.temperature.take()
            && !body.contains_key("temperature")
        {
            body.insert("temperature".to_owned(), temperature.into());
        }
        request.constraint = request.constraint.filter(|_| !is_held(&body));
        self.native = !request.tools.is_empty();
        if std::mem::replace(&mut self.awaits, true) {
            // The answer so far of the request that this one replaces costs as well.
            self.costs.replaced(&self.spoken);
        }
        self.spoken.clear();
        let messages = self.messages(std::mem::take(&mut request.messages));
        self.costs.sends(&messages, &request.tools);
        body.insert("messages".to_owned(), Value::Array(messages));
        // What is learned about an endpoint is stored for each model.
        request.model = body.get("model").and_then(Value::as_str).map(str::to_owned);
        self.steps.push_back(Step::Send(body, request));
    }

    /// Returns the messages of a request to the endpoint: system text and examples, the client's history, and the
    /// turn's messages since.
    fn messages(&mut self, own: Vec<Message>) -> Vec<Value> {
        if self.turn.is_alone() {
            self.since.clear();
            let history = self.asked.history.messages.iter();
            let system = history.take_while(|message| message["role"] == "system").cloned();
            let own = own.into_iter().map(|message| Value::said(message.role, message.content));
            return shape(system.chain(own).collect(), None, self.prepared.placement);
        }
        let mut own = own.into_iter().peekable();
        let system = own.next_if(|message| message.role == Role::System).map(|system| system.content);
        let examples = own.by_ref().take(self.turn.examples());
        let examples: Vec<Value> = examples.map(|message| Value::said(message.role, message.content)).collect();
        let since = self.since(own);
        if self.native {
            // If a request by prompt follows, it needs the same messages as text, including a
            // client's call of this round with its result.
            self.since =
                if self.progress.own_calls > 0 { self.since(self.turn.by_prompt().into_iter()) } else { Vec::new() };
            let mut messages = self.asked.native.clone().unwrap_or_default();
            messages.extend(since);
            return shape(messages, system, self.prepared.placement);
        }
        self.since = since;
        let mut messages = self.asked.history.messages.clone();
        if let (true, Some(told), Some(last)) = (self.since.is_empty(), &self.asked.history.newest, messages.last_mut())
        {
            last.clone_from(told);
            self.close(last);
        }
        let at = messages.iter().take_while(|message| message["role"] == "system").count();
        messages.splice(at..at, examples);
        messages.extend(self.since.iter().cloned());
        shape(messages, system, self.prepared.placement)
    }

    /// Appends to a message with the newest results the line that says what the model has to do next, if the turn has
    /// one.
    fn close(&self, message: &mut Value) {
        let text = match message.get_mut("content") {
            Some(Value::Array(parts)) => parts.iter_mut().rev().find_map(|part| part.get_mut("text")),
            content => content,
        };
        if let Some(text) = text
            && let Some(closed) = text.as_str().and_then(|text| self.turn.closed(text))
        {
            *text = closed.into();
        }
    }

    /// Returns the turn's messages that follow the client's history, in the form of Chat Completions.
    fn since(&self, messages: impl Iterator<Item = Message>) -> Vec<Value> {
        let question = break_tokens(&self.asked.history.question);
        let mut since = Vec::new();
        for (at, mut message) in messages.enumerate() {
            if !message.calls.is_empty() || message.call_id.is_some() {
                since.push(message.chat(false));
                continue;
            }
            // The first message is the user's question, which the client's history holds; only
            // text after it is new, with which the model is told about an empty message.
            let text = match at {
                0 => message.content.strip_prefix(&*question).unwrap_or_default().trim().to_owned(),
                _ => std::mem::take(&mut message.content),
            };
            if !text.is_empty() {
                let mut said = Value::said(message.role, text);
                if !(message.images.is_empty() && message.audio.is_empty()) {
                    // Images and sound that tools of the toolbox returned.
                    message.content.clear();
                    let joined = join(take_member(&mut said, "content"), message.chat_content());
                    set_member(&mut said, "content", joined);
                }
                since.push(said);
            }
        }
        since
    }
}
