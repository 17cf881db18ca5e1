//! The values of the template.

use serde::Serialize;
use serde_json::{Value, json};

use crate::labels::{self, capitalised};
use crate::pages::{block::PageBlock, markdown, text::Long};
use crate::replay::play::{Played, Shown};
use crate::replay::view::{self, Answered};
use crate::screen::full_name;
use crate::sessions::said::words;
use crate::terminal::shortened;
use crate::view::region;
use toolgraft::event::{Region, Rejected};
use toolgraft::message::{NativeCall, Role};
use toolgraft::{Call, Catalog, Message};

/// An entry of the table of contents: a round, or all rounds of one question.
#[derive(Debug, Serialize)]
pub(super) struct PageEntry {
    anchor: String,
    heading: String,
    text: String,
    /// Names of the tools that were called.
    calls: Vec<String>,
    /// `true` if the round begins with a question of the user.
    #[serde(skip)]
    asks: bool,
}

impl PageEntry {
    pub(super) fn new(anchor: String, heading: String, question: Option<String>) -> Self {
        PageEntry { anchor, heading, asks: question.is_some(), text: question.unwrap_or_default(), calls: Vec::new() }
    }

    /// Adds the names of the called tools; if there is neither a question nor a call, the answer's first line.
    pub(super) fn answered(&mut self, calls: impl Iterator<Item = String>, played: &Played) {
        self.calls = calls.collect();
        if self.text.is_empty() && self.calls.is_empty() {
            self.text = line_of(&played.assembled.content);
        }
    }
}

/// Returns the table of contents of a session: an entry for each question, or for each round if there are fewer than
/// two questions. It is empty if there are then at most four rounds.
pub(super) fn contents(rounds: Vec<PageEntry>) -> Vec<PageEntry> {
    let questions = rounds.iter().filter(|entry| entry.asks).count();
    if questions < 2 {
        return if rounds.len() > SHORT { rounds } else { Vec::new() };
    }
    let mut entries: Vec<(PageEntry, usize, usize)> = Vec::new();
    for (at, round) in rounds.into_iter().enumerate() {
        match entries.last_mut().filter(|_| !round.asks) {
            Some((entry, _, last)) => {
                entry.calls.extend(round.calls);
                *last = at + 1;
            }
            None => entries.push((round, at + 1, at + 1)),
        }
    }
    let entries = entries.into_iter().map(|(entry, first, last)| match first == last {
        true => entry,
        false => PageEntry { heading: format!("Rounds {first}–{last}"), ..entry },
    });
    entries.collect()
}

/// Maximum number of rounds of a session with at most one question that has no table of contents.
const SHORT: usize = 4;

/// Returns the first line of the question in a user message, shortened to 90 columns.
pub(super) fn question(message: &str) -> String {
    line_of(&view::question(message).unwrap_or_else(|| words(message)))
}

fn line_of(text: &str) -> String {
    shortened(text.trim().lines().next().unwrap_or_default(), LINE)
}

/// Maximum columns of the text of an entry in the table of contents.
const LINE: usize = 90;

#[derive(Debug, Serialize)]
pub(super) struct RoundPart {
    pub(super) anchor: String,
    pub(super) heading: String,
    pub(super) meta: String,
    /// Blocks of the round, in reading order.
    pub(super) parts: Vec<PageBlock>,
}

/// Returns the block that lists the tools of a catalog with their descriptions and schemas.
pub(super) fn tools(catalog: &Catalog) -> PageBlock {
    let part = |tool: &toolgraft::Tool| {
        json!({
            "name": full_name(tool.server.as_deref(), &tool.name),
            "description": Long::new(tool.description.as_deref().unwrap_or_default()),
            "schema": tool.input_schema.as_ref().and_then(|schema| serde_json::to_string_pretty(schema).ok()),
        })
    };
    PageBlock::Tools { tools: catalog.tools().map(part).collect() }
}

/// Returns the blocks of a message of a request. With `results`, a user message contains results of calls; with
/// `prompt`, it may begin with the system prompt.
pub(super) fn message(message: &Message, results: bool, prompt: bool) -> Vec<PageBlock> {
    let label = match message.role {
        Role::System => "System prompt",
        Role::User => "User",
        Role::Assistant => "The model's previous message, as it reads it",
        Role::Tool => "Tool result, as the model reads it",
        _ => "Message",
    };
    let said = message.shown();
    match message.role {
        Role::User if results => vec![PageBlock::folded("Results, as the model reads them", &said)],
        Role::User => {
            let (words, question) = (words(&said), view::question(&said).filter(|_| prompt));
            let before = question.is_some().then(|| PageBlock::folded(&format!("System prompt + {label}"), &words));
            let asked = PageBlock::user(label, &question.unwrap_or(words), &said);
            before.into_iter().chain([asked]).collect()
        }
        _ if said.is_empty() => Vec::new(),
        _ => vec![PageBlock::folded(label, &said)],
    }
}

pub(super) fn call(number: usize, call: &Call, untagged: bool) -> PageBlock {
    let mut about = vec![call.dialect.to_string()];
    about.extend(labels::provenance(call.provenance, untagged).map(str::to_owned));
    about.extend(labels::repaired(call));
    // The text of the arguments is shown only where it reads otherwise than the call.
    let changed = serde_json::from_str::<Value>(&call.raw_arguments).ok().as_ref() != Some(&call.arguments);
    PageBlock::Call {
        label: capitalised(&format!("call {number}")),
        name: full_name(call.server.as_deref(), &call.tool),
        about: about.join(" · "),
        arguments: Long::json(&call.arguments),
        raw: (changed && !call.raw_arguments.trim().is_empty()).then(|| Long::new(&call.raw_arguments)),
    }
}

pub(super) fn native(number: usize, call: &NativeCall) -> PageBlock {
    let arguments =
        serde_json::from_str(&call.arguments).map_or_else(|_| Long::new(&call.arguments), |v| Long::json(&v));
    let label = capitalised(&format!("native call {number}"));
    PageBlock::Call { label, name: call.name.clone(), about: call.id.clone().unwrap_or_default(), arguments, raw: None }
}

fn rejected(rejected: &Rejected) -> PageBlock {
    let mut message = rejected.message.clone();
    // The message mostly has the names already.
    if !rejected.nearest.is_empty() && !rejected.nearest.iter().all(|name| message.contains(name.as_str())) {
        message = format!("{message} ({})", rejected.nearest.join(", "));
    }
    PageBlock::Rejected {
        label: capitalised(labels::not_run(rejected.kind)),
        name: rejected.tool.as_deref().map(|tool| full_name(rejected.server.as_deref(), tool)),
        draft: rejected.stays_in_text(),
        reason: rejected.kind.as_str(),
        message,
        raw: Some(Long::new(&rejected.raw)),
    }
}

pub(super) fn outcome(answered: &Answered<'_>) -> PageBlock {
    let outcome = answered.outcome;
    let took = outcome.took.map(|took| format!("{} ms", took.as_millis()));
    let which = answered.number.map_or_else(|| answered.id.to_owned(), |number| format!("call {number}"));
    let about = [Some(which), took, Some("recorded".to_owned())];
    let events = serde_json::to_value(&outcome.events).ok().filter(|_| !outcome.events.is_empty());
    PageBlock::Outcome {
        label: capitalised(labels::status(outcome.status)),
        name: answered.name.clone(),
        about: about.into_iter().flatten().collect::<Vec<_>>().join(" · "),
        good: labels::is_good(outcome.status),
        folded: false,
        text: Long::new(if outcome.text.is_empty() { "(empty)" } else { &outcome.text }),
        structured: outcome.structured.as_ref().map(Long::json),
        events: events.as_ref().map(Long::json),
    }
}

/// Returns the blocks of an answer in order; adjacent pieces of the same region are one block. A rejected call that
/// stays in the text is shown in it and listed after it.
pub(super) fn answer(played: &Played) -> Vec<PageBlock> {
    let mut parts = Vec::new();
    let mut text = Text::default();
    for part in played.shown() {
        match part {
            Shown::Text(region, more) => text.push(region == Region::Reasoning, more, &mut parts),
            Shown::Call(number, call) => {
                text.end(&mut parts);
                parts.push(self::call(number, call, played.assembled.answer_in_reasoning));
            }
            Shown::Rejected(rejected) => {
                let region = region(rejected);
                match region {
                    Some(region) => text.push(region == Region::Reasoning, &rejected.raw, &mut parts),
                    None => text.end(&mut parts),
                }
                text.after.push(self::rejected(rejected));
                if region.is_none() {
                    text.end(&mut parts);
                }
            }
        }
    }
    text.end(&mut parts);
    parts
}

/// Adjacent text of one region, reasoning or answer, and the blocks of rejected calls that follow it.
#[derive(Default)]
struct Text {
    reasoning: bool,
    text: String,
    after: Vec<PageBlock>,
}

impl Text {
    fn push(&mut self, reasoning: bool, more: &str, parts: &mut Vec<PageBlock>) {
        if self.reasoning != reasoning {
            self.end(parts);
            self.reasoning = reasoning;
        }
        self.text.push_str(more);
    }

    fn end(&mut self, parts: &mut Vec<PageBlock>) {
        let text = std::mem::take(&mut self.text);
        let shown = text.trim_matches(['\n', '\r', ' ']);
        if !shown.is_empty() {
            parts.push(match self.reasoning {
                true => PageBlock::reasoning(shown),
                false => {
                    let page = markdown::formatted(shown);
                    PageBlock::Answer { label: "Answer", page, text: Some(Long::new(shown)) }
                }
            });
        }
        parts.append(&mut self.after);
    }
}
