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

/// A conversation in the form in which it is saved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Saved {
    /// Version of the file format.
    toolgraft: u32,
    /// Id of the model that was used last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// Title that the user gave the conversation, in one line; `None` for the default, its first question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    /// URL of the endpoint, without secrets; `None` if it was found by its default port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) endpoint: Option<String>,
    /// Sum of the tokens of all turns of the conversation, including those that were taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) usage: Option<Usage>,
    /// Names of the servers whose output is untrusted when the conversation is continued.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) untrusted: Vec<String>,
    /// The messages of the conversation.
    pub(crate) conversation: Conversation,
}

/// The only version of the file format so far.
const VERSION: u32 = 1;

impl Saved {
    pub(crate) fn new(model: &str, conversation: &Conversation) -> Self {
        let model = Some(model.to_owned());
        let (untrusted, conversation) = (Vec::new(), conversation.clone());
        Saved { toolgraft: VERSION, model, title: None, endpoint: None, usage: None, untrusted, conversation }
    }

    /// Returns the saved conversation with these secrets removed, as in a recording.
    ///
    /// # Errors
    /// A secret equals a word of the file format, so that the result could not be read.
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

    /// Reads a saved conversation from a file; a bare list of messages is accepted, too.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let text = input::read_text(path)?;
        Saved::parse(input::without_bom(&text), &input::shown(path))
    }

    /// Parses a saved conversation; `name` is that of the file or store, for errors.
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

    /// Returns the saved conversation with its large results shortened for the store.
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

    /// Returns the title that the user gave the conversation, or else its first question, in one line.
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

    /// Returns the title, and all messages of user and model, each on a new line.
    pub(super) fn text(&self) -> String {
        let texts = self.conversation.entries().iter().filter_map(|entry| match entry {
            HistoryEntry::User(said) => Some(said.shown().into_owned()),
            HistoryEntry::Assistant(message) => Some(message.content()),
            _ => None,
        });
        self.title.iter().cloned().chain(texts).collect::<Vec<_>>().join("\n")
    }
}

/// Returns the outcome of the call with this id.
pub(crate) fn outcome_of<'a>(conversation: &'a Conversation, call: &str) -> Option<&'a Outcome> {
    conversation.entries().iter().find_map(|entry| match entry {
        HistoryEntry::Outcome { id, outcome } if id == call => Some(outcome),
        _ => None,
    })
}

/// Returns the number of questions in a conversation.
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
