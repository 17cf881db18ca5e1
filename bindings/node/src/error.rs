//! Converts mistakes of the caller into errors whose `code` is the name of their class, and reads
//! and writes JSON.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use toolgraft_bindings::Mistake;

/// A result whose error is thrown in JavaScript; its `code` is the name of the error's class.
pub(crate) type Result<T> = std::result::Result<T, napi::Error<String>>;

/// Converts a mistake of the caller to a JavaScript error.
pub(crate) fn thrown(mistake: Mistake) -> napi::Error<String> {
    let class = match &mistake {
        Mistake::Type(_) | Mistake::Setting(_) => "SettingError",
        Mistake::Tool(_) => "ToolError",
        Mistake::Prompt(_) => "PromptError",
        Mistake::State(_) => "StateError",
    };
    napi::Error::new(class.to_owned(), mistake.to_string())
}

/// Parses JSON that the caller passed.
pub(crate) fn read<T: DeserializeOwned>(json: &str) -> Result<T> {
    serde_json::from_str(json).map_err(|error| thrown(Mistake::Tool(error.to_string())))
}

/// Serializes a value as JSON.
pub(crate) fn written(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| thrown(Mistake::Tool(error.to_string())))
}

/// Settings under their JavaScript names: `callBytes` is `call_bytes`.
pub(crate) struct Settings {
    names: Vec<(String, String)>,
    pub(crate) map: Map<String, Value>,
}

impl Settings {
    pub(crate) fn new(json: &str) -> Result<Self> {
        let given: Map<String, Value> = read(json)?;
        let (mut names, mut map) = (Vec::new(), Map::new());
        for (name, value) in given {
            let snake = snake(&name);
            names.push((snake.clone(), name));
            map.insert(snake, value);
        }
        Ok(Settings { names, map })
    }

    /// Converts a mistake in the settings to a JavaScript error, with the names that the caller used.
    pub(crate) fn thrown(&self, mistake: Mistake) -> napi::Error<String> {
        let renamed = |mut words: String| {
            for (snake, name) in &self.names {
                words = words.replace(&format!("`{snake}`"), &format!("`{name}`"));
            }
            words
        };
        thrown(match mistake {
            Mistake::Type(words) => Mistake::Type(renamed(words)),
            other => other,
        })
    }
}

/// Converts a JavaScript name such as `callBytes` to `call_bytes`. A name with an underscore is not a JavaScript
/// name, and becomes one that no setting has.
fn snake(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 2);
    for letter in name.chars() {
        match letter {
            '_' => snake.push_str("__"),
            _ if letter.is_ascii_uppercase() => snake.extend(['_', letter.to_ascii_lowercase()]),
            _ => snake.push(letter),
        }
    }
    snake
}
