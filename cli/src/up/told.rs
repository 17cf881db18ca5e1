//! The events of a conversation as steps that the page takes, one after the other.
//!
//! A step is an object that names itself by `step`: `user`, `text`, `reasoning`, `answer` (the
//! text so far as a tree), `call`, `outcome`, `rejected`, `note`, `wait`, `switch` (what seemed to
//! be text was reasoning, or the other way round), `end`; `ask`, `state`, `model` (and what else is set), `gone`
//! (the conversation was deleted) and `list` (others were changed) are made elsewhere.
//!
//! The text of a model, a tool or a user is [clean] in them: a page shows what is there, and nothing else.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use crate::base::digest::sha256;
use crate::chat::Existing;
use crate::labels;
use crate::pages::markdown;
use crate::screen::visible::{clean, clean_after, packed};
use crate::screen::{arguments, full_name, pretty, turn};
use crate::sessions::said::words;
use toolgraft::agent::{Finished, StopReason};
use toolgraft::conversation::{HistoryEntry, User};
use toolgraft::event::{Region, Rejected, RejectedKind};
use toolgraft::message::Image;
use toolgraft::outcome::{Status, named_files};
use toolgraft::{AgentEvent, Call, Conversation, Outcome};

/// Makes steps of a turn's events.
pub(super) struct Teller<'a> {
    existing: &'a Existing,
    /// The text and the reasoning of this round.
    said: String,
    thought: String,
    /// Calls that were written and not shown yet: the name and the text of each, by its id.
    written: HashMap<String, (String, String)>,
    /// Ids of those that were shown.
    shown: HashSet<String>,
}

impl<'a> Teller<'a> {
    pub(super) fn new(existing: &'a Existing) -> Self {
        let (said, thought) = (String::new(), String::new());
        Teller { existing, said, thought, written: HashMap::new(), shown: HashSet::new() }
    }

    /// Returns the steps of an event.
    pub(super) fn take(&mut self, event: &AgentEvent) -> Vec<Value> {
        let waiting = turn::waiting(event).map(wait);
        let mut steps = self.steps(event);
        steps.extend(waiting);
        steps
    }

    fn steps(&mut self, event: &AgentEvent) -> Vec<Value> {
        match event {
            AgentEvent::RoundStarted { .. } => {
                (self.said, self.thought) = (String::new(), String::new());
                vec![json!({"step": "round"})]
            }
            // The first text takes the place of what was waited for.
            AgentEvent::Text { text } if self.said.is_empty() => vec![wait(""), self.text(text)],
            AgentEvent::Text { text } => vec![self.text(text)],
            AgentEvent::Reasoning { text } if self.thought.is_empty() => vec![wait("thinking"), self.think(text)],
            AgentEvent::Reasoning { text } => vec![self.think(text)],
            AgentEvent::Reclassified { to } => vec![self.switch(*to)],
            AgentEvent::CallEnded { id, call, .. } => {
                let name = full_name(call.server.as_deref(), &call.tool);
                self.written.insert(id.clone(), (name, self.body(call)));
                Vec::new()
            }
            AgentEvent::CallRejected { rejected, .. } => self.rejected(rejected),
            AgentEvent::Display(shown) => {
                let name = full_name(shown.server.as_deref(), &shown.tool);
                vec![call_step(&shown.id, &name, &packed(&pretty(&Value::Object(shown.arguments.clone()))))]
            }
            AgentEvent::RoundFinished { .. } => self.answer(),
            AgentEvent::Correcting { message, .. } => vec![note(format!("the model is told: {message}"))],
            AgentEvent::ApprovalAsked(asked) => self.call(&asked.id, asked.server.as_deref(), &asked.tool),
            AgentEvent::CallRunning { id, server, tool, .. } => {
                let mut steps = self.call(id, server.as_deref(), tool);
                steps.push(wait(format!("running {}", full_name(server.as_deref(), tool))));
                steps
            }
            AgentEvent::Outcome { id, outcome } => self.outcome(id, outcome),
            AgentEvent::Notice { notice } => vec![note(format!("note: {}", labels::warning(notice)))],
            _ => Vec::new(),
        }
    }

    fn text(&mut self, text: &str) -> Value {
        let shown = piece(&self.said, text);
        self.said.push_str(text);
        json!({"step": "text", "text": shown})
    }

    fn think(&mut self, text: &str) -> Value {
        let shown = piece(&self.thought, text);
        self.thought.push_str(text);
        json!({"step": "reasoning", "text": shown})
    }

    /// All of the round until now was something else.
    fn switch(&mut self, to: Region) -> Value {
        let all = format!("{}{}", self.thought, self.said);
        (self.said, self.thought) = match to {
            Region::Content => (all, String::new()),
            Region::Reasoning => (String::new(), all),
        };
        self.written.clear();
        json!({"step": "switch", "text": clean(&self.said), "reasoning": clean(&self.thought)})
    }

    fn answer(&mut self) -> Vec<Value> {
        let said = std::mem::take(&mut self.said);
        let answer = (!said.trim().is_empty()).then(|| answer(&said));
        answer.into_iter().chain([wait("")]).collect()
    }

    fn rejected(&mut self, rejected: &Rejected) -> Vec<Value> {
        match rejected.kind {
            RejectedKind::InReasoning => vec![self.think(&rejected.raw)],
            _ if rejected.stays_in_text() => vec![self.text(&rejected.raw)],
            _ => vec![rejected_step(rejected)],
        }
    }

    /// Returns a call that is dealt with now, unless it was shown.
    fn call(&mut self, id: &str, server: Option<&str>, tool: &str) -> Vec<Value> {
        if !self.shown.insert(id.to_owned()) {
            return Vec::new();
        }
        let written = self.written.remove(id);
        let (name, body) = written.unwrap_or_else(|| (full_name(server, tool), String::new()));
        vec![call_step(id, &name, &body)]
    }

    fn outcome(&mut self, id: &str, outcome: &Outcome) -> Vec<Value> {
        // A call that never ran is shown with what became of it.
        let written = self.written.remove(id).map(|(name, body)| call_step(id, &name, &body));
        let mut steps: Vec<Value> = written.into_iter().collect();
        steps.extend([outcome_step(id, outcome), wait("")]);
        steps
    }

    /// Returns a call's arguments as its box has them.
    fn body(&self, call: &Call) -> String {
        arguments(&call.arguments, |path| self.existing.text(call.server.as_deref(), path))
    }
}

/// Returns the last step of a turn; `again` where the question is to be asked again, as it was not taken over.
pub(super) fn finished(finished: &Finished, again: bool) -> Value {
    let stopped = (finished.reason != StopReason::Answered).then(|| labels::stopped(&finished.reason));
    end(stopped.as_deref(), again)
}

/// Returns the last step of a turn that stopped for a reason, or of one that was answered.
pub(super) fn end(stopped: Option<&str>, again: bool) -> Value {
    json!({"step": "end", "stopped": stopped.map(clean), "again": again})
}

/// Returns the steps that show a conversation.
pub(super) fn all_said(conversation: &Conversation) -> Vec<Value> {
    conversation.entries().iter().flat_map(of_entry).collect()
}

fn of_entry(entry: &HistoryEntry) -> Vec<Value> {
    match entry {
        HistoryEntry::User(said) => vec![user(said)],
        HistoryEntry::Assistant(message) => {
            let mut steps = vec![json!({"step": "round"})];
            if !message.reasoning.trim().is_empty() {
                steps.push(json!({"step": "reasoning", "text": clean(&message.reasoning)}));
            }
            let content = message.content();
            if !content.trim().is_empty() {
                steps.push(answer(&content));
            }
            steps.extend(message.calls().map(|called| {
                let name = full_name(called.call.server.as_deref(), &called.call.tool);
                // The file is another one by now.
                call_step(&called.id, &name, &arguments(&called.call.arguments, |_| None))
            }));
            steps.extend(message.feedback().map(rejected_step));
            steps
        }
        HistoryEntry::Outcome { id, outcome } => vec![outcome_step(id, outcome)],
        HistoryEntry::Note { text } => vec![note(format!("the model is told: {text}"))],
        _ => Vec::new(),
    }
}

/// Cleans a piece of text that continues the text before it.
fn piece(before: &str, text: &str) -> String {
    clean_after(before.chars().next_back().unwrap_or('\0'), text)
}

/// Returns the step of a user's message: its words, `raw` where they are shown otherwise, its files and pictures.
pub(super) fn user(said: &User) -> Value {
    let words = words(&said.text);
    let file =
        |(name, text): (Option<String>, &str)| json!({"name": clean(&name.unwrap_or_default()), "text": clean(text)});
    let files: Vec<Value> = named_files(&said.text).map(file).collect();
    let mut step = json!({"step": "user", "text": clean(&words)});
    if step["text"] != *words {
        step["raw"] = words.into();
    }
    if !files.is_empty() {
        step["files"] = files.into();
    }
    if !said.images.is_empty() {
        (step["call"], step["pictures"]) = (pictures_of(said).into(), said.images.len().into());
    }
    step
}

/// Returns the name by which the pictures of a question are asked for.
pub(super) fn pictures_of(said: &User) -> String {
    let all: String = said.images.iter().map(Image::base64).collect();
    sha256(all.as_bytes())
}

pub(super) fn wait(text: impl Into<String>) -> Value {
    json!({"step": "wait", "text": clean(&text.into())})
}

fn note(text: String) -> Value {
    json!({"step": "note", "text": clean(&text)})
}

fn answer(text: &str) -> Value {
    let text = clean(text);
    json!({"step": "answer", "tree": markdown::tree(&text), "text": text})
}

fn call_step(id: &str, name: &str, body: &str) -> Value {
    json!({"step": "call", "call": id, "name": name, "body": body})
}

fn outcome_step(id: &str, outcome: &Outcome) -> Value {
    let is_good = matches!(outcome.status, Status::Result | Status::Displayed);
    json!({
        "step": "outcome", "call": id, "good": is_good, "status": labels::status(outcome.status),
        "text": clean(outcome.said().trim_end()), "pictures": outcome.images().count(),
    })
}

fn rejected_step(rejected: &Rejected) -> Value {
    let (title, text) = turn::rejected(rejected);
    json!({"step": "rejected", "title": title, "text": clean(&text)})
}
