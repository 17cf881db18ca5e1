//! The blocks of a conversation on a page: one template, `pages/block.html`, for recordings, requests and the
//! conversation that goes on.

use serde::Serialize;
use serde_json::{Value, json};

use super::file;
use super::markdown;
use super::text::{Long, visible_in};
use toolgraft::outcome::named_files;

/// A block of a conversation. Its `kind` chooses the element that the template writes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum PageBlock {
    /// Descriptions and schemas of tools, folded.
    Tools { tools: Vec<Value> },
    /// A message that most readers skip.
    Folded { label: String, size: usize, text: Long },
    /// Text of a user message, and its attached files, folded.
    User { label: &'static str, text: Long, files: Vec<Value> },
    /// Reasoning of the model, folded. A `size` of 0 is not shown: the text may still grow.
    Reasoning { size: usize, text: Long },
    /// An answer as Markdown in `page`, with its source in `text`; as the plain `text` if `page` is `None`.
    Answer { label: &'static str, page: Option<Vec<Value>>, text: Option<Long> },
    /// A call; `raw` has its arguments as the model wrote them, if they were read otherwise.
    Call { label: String, name: String, about: String, arguments: Long, raw: Option<Long> },
    /// Text of the model after a call, which is not read.
    Unread { text: Long },
    /// A rejected call; `draft` is `true` if the surrounding text shows the call as well.
    Rejected {
        label: String,
        name: Option<String>,
        draft: bool,
        reason: &'static str,
        message: String,
        raw: Option<Long>,
    },
    /// The outcome of a call; if `folded`, only its status is visible at first.
    Outcome {
        label: String,
        name: Option<String>,
        about: String,
        good: bool,
        folded: bool,
        text: Long,
        structured: Option<Long>,
        events: Option<Long>,
    },
    /// A remark of this program about the conversation.
    Notice { label: String, text: Long },
}

impl PageBlock {
    /// Returns the block of a text that most readers skip.
    pub(crate) fn folded(label: &str, text: &str) -> Self {
        PageBlock::Folded { label: label.to_owned(), size: text.chars().count(), text: Long::new(text) }
    }

    /// Returns the block of a user message `said`: `words` are its visible text, and the files in it are folded.
    pub(crate) fn user(label: &'static str, words: &str, said: &str) -> Self {
        let files = named_files(said).map(|(name, text)| {
            let name = name.filter(|name| !name.is_empty()).unwrap_or_else(|| "file".into());
            json!({"name": name, "size": text.chars().count(), "text": Long::new(text)})
        });
        PageBlock::User { label, text: Long::new(words), files: files.collect() }
    }

    /// Returns the block of the model's reasoning.
    pub(crate) fn reasoning(text: &str) -> Self {
        PageBlock::Reasoning { size: text.chars().count(), text: Long::new(text) }
    }

    /// Returns the block of an answer as plain text, without a label, for an answer that is being received.
    pub(crate) fn said(text: &str) -> Self {
        PageBlock::Answer { label: "", page: None, text: Some(Long::new(text)) }
    }

    /// Returns the block of an answer without a label, of which only the Markdown is shown.
    pub(crate) fn answer(text: &str) -> Self {
        PageBlock::Answer { label: "", page: Some(markdown::tree(text)), text: None }
    }

    /// Returns the block of a call, labelled without a number. `arguments` may be a diff, whose lines are coloured.
    pub(crate) fn call(name: &str, arguments: &str) -> Self {
        let (name, arguments) = (name.to_owned(), Long::new(arguments));
        PageBlock::Call { label: "Call".to_owned(), name, about: String::new(), arguments, raw: None }
    }

    /// Returns the block of a rejected call whose reason and text are in its `message`.
    pub(crate) fn rejected(label: &str, message: &str) -> Self {
        let (label, message) = (label.to_owned(), message.to_owned());
        PageBlock::Rejected { label, name: None, draft: false, reason: "", message, raw: None }
    }

    /// Returns the block of a remark of this program.
    pub(crate) fn notice(label: &str, text: &str) -> Self {
        PageBlock::Notice { label: label.to_owned(), text: Long::new(text) }
    }

    /// Returns the block as HTML: one element, in which every text is escaped.
    pub(crate) fn html(&self) -> String {
        let mut values = json!({ "part": self });
        visible_in(&mut values);
        // The template is this program's own, and has a case for every block.
        file::filled(file::ONE_BLOCK, &values).expect("the template shows every block")
    }
}
