//! Known faults of servers' own tool calling, recognised by their messages.
//!
//! A server that accepts tools in a request renders a template with them and parses the model's text for calls. If
//! either fails, the same request succeeds with the tools in the prompt, and the error message indicates a remedy on
//! the server.

use std::sync::LazyLock;

use serde::Deserialize;

use super::server::ServerKind;

/// A fault of a server's own tool calling.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct ServerFault {
    /// The faulty server, if the message is specific to one.
    pub server: Option<ServerKind>,
    /// The description of the fault.
    pub what: String,
    /// The remedy on the server; empty if toolgraft works around the fault by itself.
    #[serde(default)]
    pub remedy: String,
    /// The bug report or issue that documents the fault.
    pub source: String,
    /// Texts in lower case, one of which occurs in the error message of the fault.
    says: Vec<String>,
}

/// The known faults. If the text of one row contains that of another, the longer one is listed first.
static FAULTS: LazyLock<Vec<ServerFault>> =
    LazyLock::new(|| serde_json::from_str(include_str!("faults.json")).unwrap_or_default());

impl ServerFault {
    /// Returns the known fault that an endpoint's error message indicates, `None` if it indicates none.
    ///
    /// ```
    /// use toolgraft::model::{ServerFault, ServerKind};
    ///
    /// let fault = ServerFault::told_by("XML syntax error on line 7: unexpected EOF").unwrap();
    /// assert_eq!(fault.server, Some(ServerKind::Ollama));
    /// ```
    pub fn told_by(words: &str) -> Option<&'static ServerFault> {
        let words = words.to_lowercase();
        FAULTS.iter().find(|fault| fault.says.iter().any(|said| words.contains(said.as_str())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_is_known_by_its_words_and_no_other_message_is_one() {
        assert!(!FAULTS.is_empty());
        for fault in FAULTS.iter() {
            for said in &fault.says {
                assert_eq!(ServerFault::told_by(&format!("Error: {}!", said.to_uppercase())), Some(fault), "{said}");
            }
        }
        for words in ["out of memory", "Invalid temperature", "model not found", "the prompt is too long"] {
            assert_eq!(ServerFault::told_by(words), None, "{words}");
        }
    }
}
