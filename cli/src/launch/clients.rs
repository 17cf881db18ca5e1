//! The programs that `launch` starts. A further one is one table of `clients.toml`.
//!
//! Every text is a template (minijinja) over these values; a variable or an argument whose text
//! comes out empty is left out, so that what depends on the context is in `{% if context %}`.
//!
//! | value | what it is |
//! |---|---|
//! | `root`, `v1` | the door's URL, without and with `/v1` |
//! | `key` | what the door wants to be shown |
//! | `model` | the model's name, as the endpoint has it |
//! | `context` | tokens of its context, where they are known; `output` and `compact` are there then too |
//! | `output` | most tokens of an answer |
//! | `compact` | tokens from which on a history is to be made shorter |
//! | `folder` | the folder of the files |
//! | `patience` | seconds that the program waits for an answer, where it has a setting for it |

use std::sync::LazyLock;

use serde::Deserialize;

/// A program with one of the APIs that `serve` provides, and the settings for starting it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Client {
    /// Name of the client on the command line.
    pub(super) name: String,
    /// Name of the executable, which is searched in `PATH`.
    pub(super) program: String,
    /// Shell command that installs the client.
    pub(super) install: String,
    /// Number of tokens (o200k) of the client's first request with a context of 32,768 tokens; see docs/clients.md.
    pub(super) first_request: u64,
    /// Environment variables to set, each with the template of its value.
    #[serde(default)]
    pub(super) set: Vec<(String, String)>,
    /// Names of the client's own variables to inherit from the user's environment; a trailing `*` matches any suffix.
    #[serde(default)]
    pub(super) passes: Vec<String>,
    /// Names of variables to remove, since they would direct the client to another endpoint.
    #[serde(default)]
    pub(super) unset: Vec<String>,
    /// Files in the temporary directory of the session, each with the template of its content.
    #[serde(default)]
    pub(super) files: Vec<(String, String)>,
    /// Templates of arguments that precede those of the user.
    #[serde(default)]
    pub(super) arguments: Vec<String>,
}

impl Client {
    /// Returns the client with this name.
    pub(super) fn named(name: &str) -> Option<&'static Client> {
        CLIENTS.iter().find(|client| client.name == name)
    }

    /// Returns the templates of the client's variables, files and arguments.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.set.iter().chain(&self.files).map(|(_, text)| text).chain(&self.arguments).map(String::as_str)
    }
}

/// The content of `clients.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClientTable {
    client: Vec<Client>,
}

/// The clients of `clients.toml`; a test checks that the file can be parsed.
pub(super) static CLIENTS: LazyLock<Vec<Client>> = LazyLock::new(|| read().unwrap_or_default().client);

fn read() -> Result<ClientTable, toml_edit::de::Error> {
    toml_edit::de::from_str(include_str!("clients.toml"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_table_of_clients_can_be_read() {
        let read = super::read().unwrap();
        assert!(!read.client.is_empty());
    }
}
