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

/// A program that speaks an interface that `serve` has, and what it wants to be set.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Client {
    /// Its name on the command line.
    pub(super) name: String,
    /// The program, as it is found in `PATH`.
    pub(super) program: String,
    /// The command that installs the client.
    pub(super) install: String,
    /// Tokens of its first request in a context of 32,768 (o200k; docs/clients.md).
    pub(super) first_request: u64,
    /// Variables and their texts.
    #[serde(default)]
    pub(super) set: Vec<(String, String)>,
    /// Variables of its own that it gets from the user's environment; `*` stands for any end.
    #[serde(default)]
    pub(super) passes: Vec<String>,
    /// Variables that would lead it elsewhere.
    #[serde(default)]
    pub(super) unset: Vec<String>,
    /// Files in a folder of the session's own, and their texts.
    #[serde(default)]
    pub(super) files: Vec<(String, String)>,
    /// Arguments before those of the user.
    #[serde(default)]
    pub(super) arguments: Vec<String>,
}

impl Client {
    /// Returns the client of a name.
    pub(super) fn named(name: &str) -> Option<&'static Client> {
        CLIENTS.iter().find(|client| client.name == name)
    }

    /// Returns its texts.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.set.iter().chain(&self.files).map(|(_, text)| text).chain(&self.arguments).map(String::as_str)
    }
}

/// The file of them.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClientTable {
    client: Vec<Client>,
}

/// All of them. That the file can be read is a test.
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
