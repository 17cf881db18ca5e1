//! The names of endpoints and models in `config.toml`.
//!
//! ```toml
//! [endpoints.openrouter]
//! url = "https://openrouter.ai/api/v1"
//! key_command = "pass show openrouter"   # or key_variable = "OPENROUTER_API_KEY"
//! model = "qwen/qwen3-32b"               # where none is named
//!
//! [models]
//! r1 = "openrouter:deepseek/deepseek-r1"
//! small = "qwen3:0.6b"
//! ```
//!
//! An endpoint's name stands for its URL, or with a colon before a model's: `openrouter:NAME`.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use toolgraft::http::Trust;

use serde::Deserialize;
use toml_edit::Item;

use super::variables::variable;
use super::wrong::{Fault, Wrong, read_item};
use crate::base::{Failure, words::near};

/// Names of the tables in the configuration file that define names for endpoints and models.
pub(super) const TABLES: [&str; 2] = ["endpoints", "models"];

/// The names for endpoints and models in the configuration file.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Names {
    endpoints: BTreeMap<String, Named>,
    models: BTreeMap<String, String>,
}

/// The definition of a named endpoint.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    url: String,
    /// Shell command that prints the endpoint's API key in its first line, such as a password manager.
    key_command: Option<String>,
    /// Name of the environment variable that contains the endpoint's API key.
    key_variable: Option<String>,
    /// Default model of this endpoint, if none is requested.
    model: Option<String>,
}

/// An endpoint and a model, after names are resolved to a URL and a model id.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Place {
    /// Name of the endpoint in the configuration file; `None` if it was given by its URL or not at all.
    pub(crate) called: Option<String>,
    pub(crate) url: Option<String>,
    pub(crate) model: Option<String>,
    /// API key: the given one, or that of the named endpoint.
    pub(crate) key: Option<String>,
    /// Certificates with which the endpoint's TLS certificate is verified.
    pub(crate) trust: Trust,
}

impl Place {
    /// Returns the API key: the known one; else, if the endpoint was given by a URL, that of this environment variable.
    /// `None` for a named endpoint without a key of its own.
    pub(crate) fn key_or(&self, name: &str) -> Option<String> {
        // An endpoint with a name has its own key or none: the variable's is that of another.
        self.key.clone().or_else(|| variable(name).filter(|_| self.url.is_some() && self.called.is_none()))
    }
}

impl Names {
    /// Resolves the names of an endpoint and a model, and reads the API key of a named endpoint. An endpoint in the
    /// model's name (`NAME:MODEL`) takes precedence over the URL.
    ///
    /// # Errors
    /// No endpoint has this name, or its API key cannot be read.
    pub(crate) fn resolve(&self, place: Place) -> Result<Place, Failure> {
        let mut place = self.locate(place)?;
        if let Some(called) = place.called.as_deref().filter(|_| place.key.is_none()) {
            place.key = self.endpoints[called].key(called)?;
        }
        Ok(place)
    }

    /// Resolves the names of an endpoint and a model without reading the API key.
    ///
    /// # Errors
    /// No endpoint has this name.
    pub(crate) fn locate(&self, place: Place) -> Result<Place, Failure> {
        let Place { url, model, key, trust, .. } = place;
        let (endpoint, model) = self.of_model(model.as_deref());
        let (url, model) = (endpoint.map(str::to_owned).or(url), model.map(str::to_owned));
        let Some(name) = url.as_deref().filter(|url| is_name(url)) else {
            return Ok(Place { called: None, url, model, key, trust });
        };
        let Some(named) = self.endpoints.get(name) else { return Err(self.unknown(name)) };
        Ok(Place {
            called: Some(name.to_owned()),
            url: Some(named.url.clone()),
            model: model.or_else(|| named.model.clone()),
            key,
            trust,
        })
    }

    /// Splits a model's name, after resolving a short name, into the name of an endpoint, if it has such a prefix, and
    /// the model id.
    fn of_model<'a>(&'a self, model: Option<&'a str>) -> (Option<&'a str>, Option<&'a str>) {
        let model = model.map(|name| self.models.get(name).map_or(name, String::as_str));
        match model.and_then(|model| model.split_once(':')) {
            // `qwen3:8b` has a colon, too: what is before it has to be an endpoint's name.
            Some((endpoint, model)) if self.endpoints.contains_key(endpoint) => {
                (Some(endpoint), Some(model).filter(|model| !model.is_empty()))
            }
            _ => (None, model),
        }
    }

    /// Returns the names of all named endpoints.
    pub(crate) fn endpoints(&self) -> impl Iterator<Item = &str> {
        self.endpoints.keys().map(String::as_str)
    }

    /// Returns the short names that mean this model at this endpoint.
    pub(crate) fn of<'a>(&'a self, endpoint: Option<&'a str>, model: &'a str) -> impl Iterator<Item = &'a str> {
        let is_meant = move |meant: &str| match self.of_model(Some(meant)) {
            (None, meant) => meant == Some(model),
            (named, meant) => named == endpoint && meant == Some(model),
        };
        self.models.iter().filter(move |(_, meant)| is_meant(meant)).map(|(name, _)| name.as_str())
    }

    /// Returns the short names of all models.
    pub(crate) fn models(&self) -> impl Iterator<Item = &str> {
        self.models.keys().map(String::as_str)
    }

    fn unknown(&self, name: &str) -> Failure {
        let remedy = match near(name, self.endpoints()) {
            Some(near) => format!("did you mean {near:?}?"),
            None => format!("write a URL, or `toolgraft config set endpoints.{name}.url URL`"),
        };
        Failure::usage(format!("no endpoint is called {name:?}: {remedy}"))
    }
}

/// Returns the faults in the table `endpoints` or `models`; empty for any other table.
pub(super) fn wrong_in_names(table: &str, item: &Item) -> Vec<Wrong> {
    let check: fn(&Item) -> Result<(), Fault> = match table {
        "endpoints" => |item| match read_item::<Named>(item)? {
            Named { key_command: Some(_), key_variable: Some(_), .. } => {
                Err((None, "key_command and key_variable are both set: leave one out".to_owned()))
            }
            _ => Ok(()),
        },
        "models" => |item| read_item::<String>(item).map(drop),
        _ => return Vec::new(),
    };
    let Some(entries) = item.as_table_like() else {
        return vec![(
            vec![table.to_owned()],
            (None, format!("{table} has to be a table: see `toolgraft config --help`")),
        )];
    };
    let problem = |(name, item): (&str, &Item)| {
        let (at, problem) = check(item).err()?;
        Some((vec![table.to_owned(), name.to_owned()], (at, format!("{table}.{name}: {problem}"))))
    };
    entries.iter().filter_map(problem).collect()
}

/// Returns `true` if a word can be the name of an endpoint, and is neither a URL nor an address.
fn is_name(word: &str) -> bool {
    // Any other URL or address has a dot, a slash or a colon.
    word != "localhost" && !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
}

impl Named {
    /// Returns the API key of the named endpoint; `None` if none is configured.
    fn key(&self, name: &str) -> Result<Option<String>, Failure> {
        let failed = |why: String| Failure::usage(format!("endpoint {name}: {why}"));
        if let Some(command) = &self.key_command {
            return printed(command).map(Some).map_err(|why| failed(format!("key_command `{command}` {why}")));
        }
        let Some(holds_it) = &self.key_variable else { return Ok(None) };
        variable(holds_it)
            .map(Some)
            .ok_or_else(|| failed(format!("the variable {holds_it}, which should hold the key, is not set")))
    }
}

/// Runs a shell command and returns the first line of its output. The command may prompt on the terminal.
fn printed(command: &str) -> Result<String, String> {
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut run = Command::new(shell);
    run.args([flag, command]).stdin(Stdio::inherit()).stderr(Stdio::inherit());
    let output = run.output().map_err(|e| format!("cannot be run: {e}"))?;
    if !output.status.success() {
        return Err(format!("ended with {}: run it yourself to see why", output.status));
    }
    let text = String::from_utf8(output.stdout).map_err(|_| "printed no text".to_owned())?;
    // Password managers may print further lines about the entry.
    let key = text.lines().next().unwrap_or_default().trim();
    if key.is_empty() { Err("printed nothing".to_owned()) } else { Ok(key.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
        [endpoints.router]
        url = "https://router.example/v1"
        key_command = "echo KEY; echo more"
        model = "usual"

        [endpoints.mute]
        url = "https://mute.example/v1"
        key_command = "exit 3"

        [endpoints.open]
        url = "http://127.0.0.1:9/v1"

        [models]
        r1 = "router:deepseek/r1"
        small = "qwen3:0.6b"
    "#;

    fn place(url: Option<&str>, model: Option<&str>) -> Place {
        let owned = |text: &str| text.to_owned();
        Place { url: url.map(owned), model: model.map(owned), ..Place::default() }
    }

    #[test]
    fn names_mean_endpoints_with_their_keys_and_models() {
        let names: Names = toml_edit::de::from_str(FILE).unwrap();
        let meant = |url, model| names.resolve(place(url, model)).unwrap();
        let of_router = |model: &str| Place {
            called: Some("router".to_owned()),
            key: Some("KEY".to_owned()),
            ..place(Some("https://router.example/v1"), Some(model))
        };
        assert_eq!(meant(None, Some("r1")), of_router("deepseek/r1"));
        assert_eq!(meant(Some("http://x/v1"), Some("r1")), of_router("deepseek/r1"));
        assert_eq!(meant(None, Some("router:a:b")), of_router("a:b"));
        assert_eq!(meant(Some("router"), None), of_router("usual"));
        assert_eq!(meant(None, Some("router:")), of_router("usual"));
        for (url, model, other) in [
            (None, Some("small"), place(None, Some("qwen3:0.6b"))),
            (None, Some("qwen3:8b"), place(None, Some("qwen3:8b"))),
            (Some("http://x/v1"), Some("other/r1"), place(Some("http://x/v1"), Some("other/r1"))),
            (Some("localhost:8080/v1"), None, place(Some("localhost:8080/v1"), None)),
            (None, None, Place::default()),
        ] {
            assert_eq!(meant(url, model), other);
        }
        assert_eq!(meant(Some("open"), None).key_or("PATH"), None, "a variable's key is for others");
        assert!(meant(Some("http://x/v1"), None).key_or("PATH").is_some());
        assert_eq!(names.of(Some("router"), "deepseek/r1").collect::<Vec<_>>(), ["r1"]);
        assert_eq!(names.of(None, "qwen3:0.6b").collect::<Vec<_>>(), ["small"]);
    }

    #[test]
    fn what_cannot_be_resolved_is_said_with_what_to_do() {
        let names: Names = toml_edit::de::from_str(FILE).unwrap();
        for (url, said) in [
            ("ruoter", "no endpoint is called \"ruoter\": did you mean \"router\"?"),
            ("xyz", "no endpoint is called \"xyz\": write a URL, or `toolgraft config set endpoints.xyz.url URL`"),
            ("mute", "endpoint mute: key_command `exit 3` ended with exit status: 3: run it yourself to see why"),
        ] {
            let error = names.resolve(place(Some(url), None)).unwrap_err();
            assert!(matches!(&error, Failure::Usage(text) if text == said), "{error:?}");
        }
    }
}
