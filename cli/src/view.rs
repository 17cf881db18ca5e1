//! A conversation as a front shows it, in steps: the page gets them as JSON, and the terminal draws those that it shows
//! in the same words.
//!
//! The text of a model, a tool or a user is [clean] in them: a front shows what is there, and nothing else.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde::Serialize;
use serde_json::{Value, json};

use crate::base::digest::sha256;
use crate::dialog::elicit::InWords;
use crate::labels;
use crate::pages::{block::PageBlock, text::Long};
use crate::screen::visible::{clean, clean_after, packed};
use crate::screen::{excerpt, full_name, pretty};
use crate::servers::existing::Existing;
use crate::sessions::said::words;
use toolgraft::conversation::{HistoryEntry, User};
use toolgraft::event::{Region, Rejected, RejectedKind};
use toolgraft::message::Image;
use toolgraft::model::Progress;
use toolgraft::wire::set_member;
use toolgraft::{AgentEvent, Conversation, Outcome};

/// A step of a conversation, such as a piece of text or a call, as it is displayed; serialized for the page.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "step", rename_all = "kebab-case")]
pub(crate) enum Step {
    // The words, `raw` where they are shown otherwise, and the name and number of the pictures.
    User {
        text: String,
        raw: Option<String>,
        call: Option<String>,
        pictures: usize,
        #[serde(skip)]
        block: Box<PageBlock>,
    },
    Round,
    Text {
        text: String,
    },
    Reasoning {
        text: String,
    },
    // All text of the round until now was something else.
    Switch {
        text: String,
        reasoning: String,
    },
    // All text of the round.
    Answer {
        text: String,
    },
    Call {
        call: String,
        #[serde(skip)]
        name: String,
        #[serde(skip)]
        body: String,
    },
    // What a call that needs approval would do, in `body`: its beginning, what is folded, and its end. `more` unfolds it;
    // with `once` no answer holds for later calls.
    Ask {
        call: String,
        title: String,
        why: String,
        body: [String; 3],
        more: String,
        once: bool,
        definition: String,
    },
    Answered {
        call: String,
    },
    Input {
        input: String,
        #[serde(flatten)]
        words: InWords,
    },
    InputOver {
        input: String,
    },
    Outcome {
        call: String,
        pictures: usize,
        #[serde(skip)]
        block: Box<PageBlock>,
    },
    Rejected {
        #[serde(skip)]
        title: String,
        #[serde(skip)]
        text: String,
    },
    Note {
        text: String,
    },
    // The wait that goes on; an empty text if there is none.
    Wait {
        text: String,
    },
    // The reason if the question was not answered; `again` if it is to be asked again.
    End {
        stopped: Option<String>,
        again: bool,
    },
}

impl Step {
    /// Returns the step of an event whose display does not depend on earlier events; `None` for other events.
    pub(crate) fn of(event: &AgentEvent) -> Option<Self> {
        Some(match event {
            AgentEvent::RoundStarted { .. } => Step::wait("waiting for the model"),
            AgentEvent::Progress { progress: Progress::Loading } => Step::wait("the server is loading its model"),
            AgentEvent::Progress { progress: Progress::Prompt { processed, total } } => {
                Step::wait(&format!("the model is reading the prompt: {processed} of {total} tokens"))
            }
            AgentEvent::CallStarted { server, tool, .. } => {
                Step::wait(&format!("the model is writing a call of {}", full_name(server.as_deref(), tool)))
            }
            AgentEvent::Display(shown) => {
                let body = packed(&pretty(&Value::Object(shown.arguments.clone())));
                Step::call(&shown.id, (shown.server.as_deref(), &shown.tool), body)
            }
            AgentEvent::Correcting { message, .. } => Step::told(message),
            AgentEvent::Notice { notice } => Step::note(&format!("note: {}", labels::warning(notice))),
            _ => return None,
        })
    }

    pub(crate) fn user(said: &User) -> Self {
        let words = words(&said.text);
        let text = clean(&words);
        Step::User {
            block: Box::new(PageBlock::user("You", &words, &said.text)),
            raw: (text != words).then_some(words),
            text,
            call: (!said.images.is_empty()).then(|| pictures_of(said)),
            pictures: said.images.len(),
        }
    }

    /// Returns the step of an answer; `None` if its text is blank.
    fn answer(text: &str) -> Option<Self> {
        (!text.trim().is_empty()).then(|| Step::Answer { text: clean(text) })
    }

    fn call(id: &str, (server, tool): (Option<&str>, &str), body: String) -> Self {
        Step::Call { call: id.to_owned(), name: full_name(server, tool), body }
    }

    fn outcome(id: &str, outcome: &Outcome) -> Self {
        let good = labels::is_good(outcome.status);
        let block = PageBlock::Outcome {
            label: labels::capitalised(labels::status(outcome.status)),
            name: None,
            about: String::new(),
            good,
            folded: good,
            text: Long::new(outcome.said().trim_end()),
            structured: None,
            events: None,
        };
        Step::Outcome { call: id.to_owned(), pictures: outcome.images().count(), block: Box::new(block) }
    }

    /// Returns the step of a rejected call, with the reason and an excerpt of its text.
    pub(crate) fn rejected(rejected: &Rejected) -> Self {
        let title = format!("rejected call of {} ({})", tool_of(rejected), rejected.kind);
        Step::Rejected { title, text: clean(&format!("{}\n\n{}", rejected.message, excerpt(&rejected.raw))) }
    }

    fn told(message: &str) -> Self {
        Step::note(&format!("the model is told: {message}"))
    }

    fn note(text: &str) -> Self {
        Step::Note { text: clean(text) }
    }

    pub(crate) fn wait(text: &str) -> Self {
        Step::Wait { text: clean(text) }
    }

    pub(crate) fn end(stopped: Option<&str>, again: bool) -> Self {
        Step::End { stopped: stopped.map(clean), again }
    }

    /// Returns the step as JSON for the page. Steps that show a [`PageBlock`] have it in the field `html`.
    pub(crate) fn for_page(&self) -> Value {
        let block = match self {
            Step::User { block, .. } | Step::Outcome { block, .. } => Some(Cow::Borrowed(&**block)),
            Step::Answer { text } => Some(Cow::Owned(PageBlock::answer(text))),
            Step::Call { name, body, .. } => Some(Cow::Owned(PageBlock::call(name, body))),
            Step::Rejected { title, text } => Some(Cow::Owned(PageBlock::rejected(title, text))),
            _ => None,
        };
        let mut step = json!(self);
        if let Some(block) = block {
            set_member(&mut step, "html", block.html());
        }
        step
    }
}

/// Returns the id under which the pictures of a user message are requested: the SHA-256 of their data.
pub(crate) fn pictures_of(said: &User) -> String {
    let all: String = said.images.iter().map(Image::base64).collect();
    sha256(all.as_bytes())
}

/// Returns the region whose text contains a rejected call; `None` if the call is removed from the text.
pub(crate) fn region(rejected: &Rejected) -> Option<Region> {
    match rejected.kind {
        RejectedKind::InReasoning => Some(Region::Reasoning),
        _ => rejected.stays_in_text().then_some(Region::Content),
    }
}

/// Returns the full name of the tool that a rejected call names; `a tool` if it names none.
pub(crate) fn tool_of(rejected: &Rejected) -> String {
    let name = rejected.tool.as_deref().map(|tool| full_name(rejected.server.as_deref(), tool));
    name.unwrap_or_else(|| "a tool".to_owned())
}

/// Converts the events of a turn to steps.
#[derive(Default)]
pub(crate) struct TurnSteps {
    existing: Existing,
    /// Text of the current round outside its reasoning, which is in `thought`.
    said: String,
    thought: String,
    /// Steps of completed calls that are not shown yet, by call id.
    written: HashMap<String, Step>,
    /// Ids of the calls that were shown.
    shown: HashSet<String>,
}

impl TurnSteps {
    pub(crate) fn new(existing: Existing) -> Self {
        TurnSteps { existing, ..TurnSteps::default() }
    }

    /// Discards the state of the turn, after its end.
    pub(crate) fn reset(&mut self) {
        *self = TurnSteps::new(std::mem::take(&mut self.existing));
    }

    /// Returns the steps that show an event; none for events that are not shown.
    pub(crate) fn take(&mut self, event: &AgentEvent) -> Vec<Step> {
        let mut steps = self.steps(event);
        steps.extend(Step::of(event));
        steps
    }

    fn steps(&mut self, event: &AgentEvent) -> Vec<Step> {
        match event {
            AgentEvent::RoundStarted { .. } => {
                (self.said, self.thought) = (String::new(), String::new());
                vec![Step::Round]
            }
            // The first text takes the place of what was waited for.
            AgentEvent::Text { text } if self.said.is_empty() => vec![Step::wait(""), self.text(text)],
            AgentEvent::Text { text } => vec![self.text(text)],
            AgentEvent::Reasoning { text } if self.thought.is_empty() => vec![Step::wait("thinking"), self.think(text)],
            AgentEvent::Reasoning { text } => vec![self.think(text)],
            AgentEvent::Reclassified { to } => vec![self.switch(*to)],
            AgentEvent::CallEnded { id, call, .. } => {
                let server = call.server.as_deref();
                let body = self.existing.arguments(server, &call.arguments);
                self.written.insert(id.clone(), Step::call(id, (server, &call.tool), body));
                Vec::new()
            }
            AgentEvent::CallRejected { rejected, .. } => vec![self.rejected(rejected)],
            AgentEvent::RoundFinished { .. } => {
                let answer = Step::answer(&std::mem::take(&mut self.said));
                answer.into_iter().chain([Step::wait("")]).collect()
            }
            AgentEvent::ApprovalAsked(asked) => self.call(&asked.id, asked.server.as_deref(), &asked.tool).collect(),
            AgentEvent::CallRunning { id, server, tool, .. } => {
                let wait = Step::wait(&format!("running {}", full_name(server.as_deref(), tool)));
                self.call(id, server.as_deref(), tool).chain([wait]).collect()
            }
            AgentEvent::Outcome { id, outcome } => {
                // A call that never ran is shown with what became of it.
                let written = self.written.remove(id).into_iter();
                written.chain([Step::outcome(id, outcome), Step::wait("")]).collect()
            }
            _ => Vec::new(),
        }
    }

    fn text(&mut self, text: &str) -> Step {
        Step::Text { text: add(&mut self.said, text) }
    }

    fn think(&mut self, text: &str) -> Step {
        Step::Reasoning { text: add(&mut self.thought, text) }
    }

    /// Reclassifies all text and reasoning of the round so far as `to`, and discards its calls.
    fn switch(&mut self, to: Region) -> Step {
        let all = format!("{}{}", self.thought, self.said);
        (self.said, self.thought) = match to {
            Region::Content => (all, String::new()),
            Region::Reasoning => (String::new(), all),
        };
        self.written.clear();
        Step::Switch { text: clean(&self.said), reasoning: clean(&self.thought) }
    }

    fn rejected(&mut self, rejected: &Rejected) -> Step {
        match region(rejected) {
            Some(Region::Reasoning) => self.think(&rejected.raw),
            Some(Region::Content) => self.text(&rejected.raw),
            None => Step::rejected(rejected),
        }
    }

    /// Returns the step of a call that is to be approved or run, unless it was already shown.
    fn call(&mut self, id: &str, server: Option<&str>, tool: &str) -> impl Iterator<Item = Step> + use<> {
        let is_new = self.shown.insert(id.to_owned());
        let written = || self.written.remove(id).unwrap_or_else(|| Step::call(id, (server, tool), String::new()));
        is_new.then(written).into_iter()
    }
}

/// Appends a piece to a text. Returns the piece with hidden characters made visible, as displayed after the text.
fn add(text: &mut String, piece: &str) -> String {
    let shown = clean_after(text.chars().next_back().unwrap_or('\0'), piece);
    text.push_str(piece);
    shown
}

/// Returns the steps that show a stored conversation.
pub(crate) fn history(conversation: &Conversation) -> Vec<Step> {
    conversation.entries().iter().flat_map(of_entry).collect()
}

fn of_entry(entry: &HistoryEntry) -> Vec<Step> {
    match entry {
        HistoryEntry::User(said) => vec![Step::user(said)],
        HistoryEntry::Assistant(message) => {
            let mut steps = vec![Step::Round];
            if !message.reasoning.trim().is_empty() {
                steps.push(Step::Reasoning { text: clean(&message.reasoning) });
            }
            steps.extend(Step::answer(&message.content()));
            steps.extend(message.calls().map(|called| {
                let server = called.call.server.as_deref();
                // The file is another one by now.
                let body = Existing::default().arguments(server, &called.call.arguments);
                Step::call(&called.id, (server, &called.call.tool), body)
            }));
            steps.extend(message.feedback().map(Step::rejected));
            steps
        }
        HistoryEntry::Outcome { id, outcome } => vec![Step::outcome(id, outcome)],
        HistoryEntry::Note { text } => vec![Step::told(text)],
        _ => Vec::new(),
    }
}
