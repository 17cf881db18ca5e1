//! Mistakes of the caller as errors whose `code` names their class, and what is read of JSON.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use toolgraft_bindings::Mistake;

/// A result whose error has the name of a class in its `code`.
pub(crate) type Result<T> = std::result::Result<T, napi::Error<String>>;

/// The error for a mistake.
pub(crate) fn thrown(mistake: Mistake) -> napi::Error<String> {
    let class = match &mistake {
        Mistake::Type(_) | Mistake::Setting(_) => "SettingError",
        Mistake::Tool(_) => "ToolError",
        Mistake::Prompt(_) => "PromptError",
        Mistake::State(_) => "StateError",
    };
    napi::Error::new(class.to_owned(), mistake.to_string())
}

/// A description that a caller gave, in JSON.
pub(crate) fn read<T: DeserializeOwned>(json: &str) -> Result<T> {
    serde_json::from_str(json).map_err(|error| thrown(Mistake::Tool(error.to_string())))
}

/// A value in JSON.
pub(crate) fn written(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| thrown(Mistake::Tool(error.to_string())))
}

/// Settings under the names that JavaScript has for them: `callBytes` is `call_bytes`.
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

    /// The error for a mistake in the settings, which calls them as the caller does.
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

/// `callBytes` as `call_bytes`. A name that is written so already is not JavaScript's, and comes
/// out as one that no setting has.
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
