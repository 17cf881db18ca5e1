//! Public faults of servers' own tool calling, by the words in which they come.
//!
//! A server that takes tools in a request renders a template with them and parses the model's text
//! for calls. Where one of both fails, the same request passes by prompt, and the words of the
//! failure say what would mend it at the server.

use std::sync::LazyLock;

use serde::Deserialize;

use super::server::ServerKind;

/// A fault of a server's own tool calling.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct ServerFault {
    /// The server whose fault it is, where only one says so.
    pub server: Option<ServerKind>,
    /// What goes wrong.
    pub what: String,
    /// What helps at the server; without it toolgraft goes round the fault by itself.
    #[serde(default)]
    pub remedy: String,
    /// Where it is reported.
    pub source: String,
    /// Words of its message, in lower case; each is enough.
    says: Vec<String>,
}

/// The known faults. One that another row's words are a part of is before that.
static FAULTS: LazyLock<Vec<ServerFault>> =
    LazyLock::new(|| serde_json::from_str(include_str!("faults.json")).unwrap_or_default());

impl ServerFault {
    /// The known fault that these words of an endpoint tell.
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
