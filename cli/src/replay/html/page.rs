//! What the template is given.

use serde::Serialize;
use serde_json::Value;

use super::timeline::Timeline;
use super::words::Words;
use crate::page_text::Long;
use crate::replay::play::Played;
use crate::replay::view::Answered;
use crate::screen::boxes::width;
use crate::screen::full_name;
use toolgraft::event::{Piece, Region, Rejected, RejectedKind};
use toolgraft::message::{NativeCall, Role};
use toolgraft::outcome::Status;
use toolgraft::{Call, Catalog, Message};

/// A user's message that is longer than this is taken to hold the prompt too; its last
/// paragraph is the question then. In columns: Chinese says as much in fewer characters.
const LONG_QUESTION: usize = 2000;

#[derive(Debug, Serialize)]
pub(super) struct RecordingPart {
    pub(super) title: String,
    pub(super) source: String,
    pub(super) facts: Vec<Fact>,
    pub(super) notes: Vec<String>,
    pub(super) timeline: Timeline,
    pub(super) rounds: Vec<RoundPart>,
    pub(super) endings: Vec<Ending>,
}

#[derive(Debug, Serialize)]
pub(super) struct Fact {
    pub(super) label: &'static str,
    pub(super) value: String,
}

#[derive(Debug, Serialize)]
pub(super) struct Ending {
    pub(super) label: String,
    pub(super) text: Long,
}

#[derive(Debug, Serialize)]
pub(super) struct RoundPart {
    pub(super) anchor: String,
    pub(super) heading: String,
    pub(super) meta: String,
    pub(super) parts: Vec<Part>,
}

#[derive(Debug, Serialize)]
pub(super) struct ToolPart {
    name: String,
    description: Long,
    schema: Option<String>,
}

/// A block of a round, in the order in which it is read.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Part {
    Tools {
        count: usize,
        tools: Vec<ToolPart>,
    },
    Folded {
        label: String,
        size: usize,
        text: Long,
    },
    User {
        label: String,
        text: Long,
    },
    Reasoning {
        size: usize,
        text: Long,
    },
    Answer {
        text: Long,
    },
    Call {
        label: String,
        name: String,
        about: String,
        arguments: Long,
        raw: Option<Long>,
    },
    Rejected {
        name: Option<String>,
        /// It was only thought of or quoted.
        draft: bool,
        reason: String,
        message: String,
        raw: Long,
    },
    Outcome {
        label: String,
        name: Option<String>,
        about: String,
        good: bool,
        text: Long,
        structured: Option<Long>,
        events: Option<Long>,
    },
    Notice {
        label: String,
        text: Long,
    },
}

impl Part {
    pub(super) fn tools(catalog: &Catalog) -> Part {
        let part = |tool: &toolgraft::Tool| ToolPart {
            name: full_name(tool.server.as_deref(), &tool.name),
            description: Long::new(tool.description.as_deref().unwrap_or_default()),
            schema: tool.input_schema.as_ref().and_then(|schema| serde_json::to_string_pretty(schema).ok()),
        };
        let tools: Vec<ToolPart> = catalog.tools().map(part).collect();
        Part::Tools { count: tools.len(), tools }
    }

    fn folded(label: impl Into<String>, text: &str) -> Part {
        Part::Folded { label: label.into(), size: text.chars().count(), text: Long::new(text) }
    }

    /// A message that was sent; `results` says that it may carry those of calls.
    pub(super) fn message(message: &Message, results: bool, words: &Words) -> Vec<Part> {
        let label = words.role(message.role);
        match message.role {
            Role::User if results => vec![Part::folded(words.results(), &message.content)],
            Role::User if width(&message.content) > LONG_QUESTION => {
                let question = message.content.trim_end().rsplit("\n\n").next().unwrap_or_default();
                let whole = Part::folded(format!("{} + {label}", words.role(Role::System)), &message.content);
                vec![whole, Part::User { label: label.to_owned(), text: Long::new(question) }]
            }
            Role::User => vec![Part::User { label: label.to_owned(), text: Long::new(&message.content) }],
            _ if message.content.is_empty() => Vec::new(),
            _ => vec![Part::folded(label, &message.content)],
        }
    }

    pub(super) fn call(index: u32, call: &Call, words: &Words) -> Part {
        let mut about = vec![call.dialect.to_string()];
        about.extend(words.provenance(call.provenance).map(str::to_owned));
        if !call.repairs.is_empty() {
            let repairs: Vec<_> = call.repairs.iter().map(ToString::to_string).collect();
            about.push(format!("{}: {}", words.repaired, repairs.join(", ")));
        }
        let changed = serde_json::from_str::<Value>(&call.raw_arguments).ok().as_ref() != Some(&call.arguments);
        Part::Call {
            label: format!("{} {}", words.call, index + 1),
            name: full_name(call.server.as_deref(), &call.tool),
            about: about.join(" · "),
            arguments: Long::json(&call.arguments),
            raw: (changed && !call.raw_arguments.trim().is_empty()).then(|| Long::new(&call.raw_arguments)),
        }
    }

    pub(super) fn native(call: &NativeCall, words: &Words) -> Part {
        let arguments =
            serde_json::from_str(&call.arguments).map_or_else(|_| Long::new(&call.arguments), |v| Long::json(&v));
        let about = call.id.clone().unwrap_or_default();
        Part::Call { label: words.native_call.to_owned(), name: call.name.clone(), about, arguments, raw: None }
    }

    fn rejected(rejected: &Rejected, words: &Words) -> Part {
        let mut message = rejected.message.clone();
        if !rejected.nearest.is_empty() && !rejected.nearest.iter().all(|name| message.contains(name.as_str())) {
            message = format!("{message} ({})", rejected.nearest.join(", "));
        }
        Part::Rejected {
            name: rejected.tool.as_deref().map(|tool| full_name(rejected.server.as_deref(), tool)),
            draft: is_draft(rejected),
            reason: words.reason(rejected.kind),
            message,
            raw: Long::new(&rejected.raw),
        }
    }

    pub(super) fn outcome(answered: &Answered<'_>, words: &Words) -> Part {
        let outcome = answered.outcome;
        let took = outcome.took.map(|took| format!("{} ms", took.as_millis()));
        let when = if answered.now { words.run_now } else { words.recorded };
        let about = [Some(answered.id.to_owned()), took, Some(when.to_owned())];
        Part::Outcome {
            label: words.status(outcome.status).to_owned(),
            name: answered.name.clone(),
            about: about.into_iter().flatten().collect::<Vec<_>>().join(" · "),
            good: matches!(outcome.status, Status::Result | Status::Displayed),
            text: Long::new(if outcome.text.is_empty() { words.empty } else { &outcome.text }),
            structured: outcome.structured.as_ref().map(Long::json),
            events: serde_json::to_value(&outcome.events)
                .ok()
                .filter(|_| !outcome.events.is_empty())
                .as_ref()
                .map(Long::json),
        }
    }

    pub(super) fn notice(label: impl Into<String>, text: &str) -> Part {
        Part::Notice { label: label.into(), text: Long::new(text) }
    }
}

/// Whether a call was never meant to run: its bytes are part of the text.
fn is_draft(rejected: &Rejected) -> bool {
    rejected.stays_in_text()
}

/// The blocks of an answer: its pieces where they belong, joined. The calls of
/// the reasoning stay in its text and are listed behind it.
pub(super) fn answer(played: &Played, words: &Words) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut text = Text::default();
    for piece in &played.pieces {
        match piece {
            Piece::Text { region, text: more, .. } => text.push(*region == Region::Reasoning, more, &mut parts),
            Piece::Syntax { text: more, .. } => text.push(true, more, &mut parts),
            Piece::Marker { .. } => {}
            Piece::Call { index, .. } => match played.call_at_its_place(*index) {
                Some(Ok(call)) => {
                    text.end(&mut parts);
                    parts.push(Part::call(*index, &call, words));
                }
                Some(Err(rejected)) => {
                    match rejected.kind {
                        RejectedKind::InReasoning => text.push(true, &rejected.raw, &mut parts),
                        _ if rejected.stays_in_text() => text.push(false, &rejected.raw, &mut parts),
                        _ => text.end(&mut parts),
                    }
                    text.behind.push(Part::rejected(&rejected, words));
                    if !is_draft(&rejected) {
                        text.end(&mut parts);
                    }
                }
                None => {}
            },
        }
    }
    text.end(&mut parts);
    parts
}

/// A run of text of one kind, and what is listed behind it.
#[derive(Default)]
struct Text {
    reasoning: bool,
    text: String,
    behind: Vec<Part>,
}

impl Text {
    fn push(&mut self, reasoning: bool, more: &str, parts: &mut Vec<Part>) {
        if self.reasoning != reasoning {
            self.end(parts);
            self.reasoning = reasoning;
        }
        self.text.push_str(more);
    }

    fn end(&mut self, parts: &mut Vec<Part>) {
        let text = std::mem::take(&mut self.text);
        let shown = text.trim_matches(['\n', '\r', ' ']);
        if !shown.is_empty() {
            parts.push(if self.reasoning {
                Part::Reasoning { size: shown.chars().count(), text: Long::new(shown) }
            } else {
                Part::Answer { text: Long::new(shown) }
            });
        }
        parts.append(&mut self.behind);
    }
}
