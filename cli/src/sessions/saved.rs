//! A conversation as it is stored: in a file that `/save` writes, and in the store.

use std::borrow::Cow;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::cut::cut;
use crate::base::{Failure, input};
use toolgraft::conversation::HistoryEntry;
use toolgraft::message::Usage;
use toolgraft::secrets::Secrets;
use toolgraft::transcript::Recording;
use toolgraft::{Conversation, Outcome};

/// A saved conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Saved {
    /// Version of the format.
    toolgraft: u32,
    /// Model that was talked to last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// Title that the user gave it, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    /// Endpoint that was named then, without the keys in its URL; none where it was found on the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) endpoint: Option<String>,
    /// Usage of all turns of the conversation, including those that were taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) usage: Option<Usage>,
    /// Servers whose output is untrusted, for as long as the conversation is gone on with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) untrusted: Vec<String>,
    /// All that was said.
    pub(crate) conversation: Conversation,
}

/// The only version there is.
const VERSION: u32 = 1;

impl Saved {
    pub(crate) fn new(model: &str, conversation: &Conversation) -> Self {
        let model = Some(model.to_owned());
        let (untrusted, conversation) = (Vec::new(), conversation.clone());
        Saved { toolgraft: VERSION, model, title: None, endpoint: None, usage: None, untrusted, conversation }
    }

    /// The same without these secrets, as a recording has it.
    ///
    /// # Errors
    /// A secret is one of the format's own words: what is left could not be read.
    pub(crate) fn without(self, secrets: &Secrets) -> Result<Self, String> {
        if secrets.is_empty() {
            return Ok(self);
        }
        let mut value = serde_json::to_value(&self).map_err(|error| error.to_string())?;
        secrets.hide_in(&mut value);
        serde_json::from_value(value).map_err(|_| {
            "a key or password in use is also a word of the file's format, and would be left out of it: choose another one"
                .to_owned()
        })
    }

    /// Reads a file; a bare conversation is taken too.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let text = input::read_text(path)?;
        Saved::parse(input::without_bom(&text), &input::shown(path))
    }

    /// Reads what a file or the store holds; `name` says where it is.
    pub(crate) fn parse(text: &str, name: &str) -> Result<Self, Failure> {
        let saved = match serde_json::from_str::<Conversation>(text) {
            Ok(conversation) => Saved { model: None, ..Saved::new("", &conversation) },
            Err(_) => serde_json::from_str(text).map_err(|e| {
                let problem = input::json_problem(&e);
                Failure::usage(format!(
                    "{name}: not a saved conversation ({problem}): name a .json file of /save or `toolgraft log export`"
                ))
            })?,
        };
        match saved.toolgraft {
            VERSION => Ok(saved),
            other => Err(Failure::usage(format!(
                "{name}: format {other}; this program reads {VERSION}: use a newer toolgraft"
            ))),
        }
    }

    /// Returns the same without the middle of results that are too large for the store.
    pub(super) fn for_store(&self) -> Cow<'_, Saved> {
        match cut(&self.conversation) {
            Some(conversation) => Cow::Owned(Saved { conversation, ..self.clone() }),
            None => Cow::Borrowed(self),
        }
    }

    /// Returns the conversation as a recording, which can be replayed.
    pub(crate) fn recording(&self) -> Recording {
        let mut recording = Recording::from(&self.conversation);
        recording.session.title = Some(self.title());
        recording.session.model.clone_from(&self.model);
        recording
    }

    /// Returns the title that the user gave it, else the first question, in one line.
    pub(crate) fn title(&self) -> String {
        if let Some(title) = &self.title {
            return title.clone();
        }
        let asked = self.conversation.entries().iter().find_map(|entry| match entry {
            HistoryEntry::User(said) => Some(said.shown()),
            _ => None,
        });
        asked.as_deref().unwrap_or("(nothing was asked)").split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Returns the title, and all that person and model have said, each from a line of its own.
    pub(super) fn text(&self) -> String {
        let texts = self.conversation.entries().iter().filter_map(|entry| match entry {
            HistoryEntry::User(said) => Some(said.shown().into_owned()),
            HistoryEntry::Assistant(message) => Some(message.content()),
            _ => None,
        });
        self.title.iter().cloned().chain(texts).collect::<Vec<_>>().join("\n")
    }
}

/// Returns the outcome of a call.
pub(crate) fn outcome_of<'a>(conversation: &'a Conversation, call: &str) -> Option<&'a Outcome> {
    conversation.entries().iter().find_map(|entry| match entry {
        HistoryEntry::Outcome { id, outcome } if id == call => Some(outcome),
        _ => None,
    })
}

/// Questions that were asked.
pub(crate) fn questions(conversation: &Conversation) -> usize {
    conversation.entries().iter().filter(|entry| matches!(entry, HistoryEntry::User(_))).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgraft::conversation::Assistant;

    fn conversation() -> Conversation {
        let mut conversation = Conversation::from_user("Hi");
        conversation.push_assistant(Assistant::text("Hello")).unwrap();
        conversation
    }

    #[test]
    fn a_conversation_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("c.json");
        let saved = Saved::new("m", &conversation());
        std::fs::write(&file, serde_json::to_string(&saved).unwrap()).unwrap();
        assert_eq!(Saved::read(&file).unwrap(), saved);
        std::fs::write(&file, serde_json::to_string(&conversation()).unwrap()).unwrap();
        assert_eq!(Saved::read(&file).unwrap().conversation, conversation());
    }

    #[test]
    fn a_file_of_another_kind_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("notes.txt");
        std::fs::write(&file, "my notes").unwrap();
        let Err(Failure::Usage(message)) = Saved::read(&file) else { panic!("it was read") };
        assert!(message.contains("notes.txt") && message.contains("/save"), "{message}");
    }
}
