//! Every key: one table, which is the values of a source and says which commands read the key.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use toolgraft::Dialect;
use toolgraft::constrain::{Constrain, Way};
use toolgraft::dialect::{Lang, Profile, PromptStyle};
use toolgraft::message::{CarryReasoning, FencedCalls, ReasoningMode};
use toolgraft::prompt::Listing;
use toolgraft::tools::ToolsMode;

/// A settings key: its name, its effect, an example of its value, and the commands that read it.
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) does: &'static str,
    pub(super) example: &'static str,
    pub(super) read_by: &'static [Reader],
}

/// A command, or a group of commands, that reads a settings key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    /// The commands `chat` and `up`.
    Talk,
    Chat,
    /// `chat` at its start: `/set` cannot change the key.
    AtStart,
    /// The commands `serve` and `launch`.
    Served,
    Serve,
    Launch,
    Prompt,
    Probe,
    /// The commands `replay` and `extract`.
    Parse,
    Replay,
}

/// Declares the settings keys: the struct `Settings` and the table `KEYS` with their descriptions.
macro_rules! settings {
    ($($(#[$attribute:meta])* $key:ident: $type:ty = $example:literal, $does:literal [$($reader:ident)*];)*) => {
        /// The values of the settings that one source sets; `None` or an empty list for those that it does not set.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub(crate) struct Settings { $($(#[$attribute])* pub(crate) $key: $type,)* }

        pub(super) const KEYS: &[Key] = &[$(
            Key { name: stringify!($key), does: $does, example: $example, read_by: &[$(Reader::$reader),*] },
        )*];

        impl Settings {
            /// Copies the value of the key with this name from other settings.
            pub(crate) fn take(&mut self, key: &str, from: &Settings) {
                match key {
                    $(stringify!($key) => self.$key.clone_from(&from.$key),)*
                    _ => {}
                }
            }

            /// Fills in the keys that are not set from a source of lower precedence; lists are joined.
            pub(crate) fn over(&mut self, weaker: &Settings) {
                $(self.$key.over(&weaker.$key);)*
            }
        }
    };
}

settings! {
    base_url: Option<String> = "\"http://localhost:11434/v1\"", "endpoint to talk to, as --base-url" [Talk AtStart Serve];
    model: Option<String> = "\"qwen3:8b\"", "model to ask, as --model" [Talk AtStart Serve Prompt];
    #[serde(deserialize_with = "profile", serialize_with = "name")]
    profile: Option<&'static Profile> = "\"deepseek-r1\"",
        "profile to take instead of the one for the model's name" [Talk Served];
    tools_mode: Option<ToolsMode> = "\"auto\"", "strategy for offering tools: auto, native, prompt" [Talk Served];
    constrain: Option<Constrain> = "\"auto\"",
        "constraint on answers, by a grammar or a schema: auto, off, require" [Talk Served];
    way: Option<Way> = "\"auto\"",
        "strategy for deciding whether to call a tool: auto, free, measured" [Talk Served];
    call_threshold: Option<f64> = "-2.0",
        "log probability from which a call is made, for measured; lower for some requests"
        [Talk Served Probe];
    #[serde(deserialize_with = "dialect")]
    dialect: Option<Dialect> = "\"use_mcp_tool\"", "call syntax to teach" [Talk Served Prompt];
    lang: Option<Lang> = "\"en\"", "language of the prompt: en, zh" [Talk AtStart Prompt];
    prompt_style: Option<PromptStyle> = "\"full\"", "length of the prompt: full, compact" [Talk Served Prompt];
    listing: Option<Listing> = "\"signature\"",
        "form of the list of tools: schema, signature, brief, index" [Talk Served Prompt];
    tool_budget: Option<NonZeroUsize> = "4000",
        "tokens that the list of tools may take; a quarter of the context, or 8000" [Talk Served Prompt];
    describe: Option<usize> = "600",
        "characters of a tool's description at most, 2000 with whole schemas; 0 for no limit" [Talk Served Prompt];
    prompt: Option<PathBuf> = "\"mine.j2\"",
        "a template that replaces the system text, or a folder of templates (docs/prompt.md)" [Talk Served Prompt];
    reasoning: Option<ReasoningMode> = "\"open\"",
        "start of the reasoning: auto (tags decide), open (at once), off" [Talk Parse];
    fenced_calls: Option<FencedCalls> = "\"last_resort\"",
        "a call in the fence that an answer begins with, with prose after it: ignore, last_resort (asks)" [Talk Parse];
    stop: Vec<String> = "[\"User:\"]",
        "texts that end the model's answer; a call that lacks its closing tag because of one is complete" [Talk Replay];
    round_model: Option<String> = "\"qwen3:1.7b\"",
        "another model of the endpoint, from a question's second request on" [Talk];
    images: Option<Images> = "\"auto\"",
        "images of tools for the model: auto (if the endpoint reports that it reads them; sound, too), always, never" [Talk Served];
    #[serde(deserialize_with = "temperature")]
    temperature: Option<f64> = "0.7", "sampling temperature, from 0 to 2" [Talk];
    carry_reasoning: Option<CarryReasoning> = "\"none\"",
        "reasoning that is sent back to the model: none, last, turn" [Talk];
    max_rounds: Option<NonZeroU32> = "12", "most requests for one question" [Talk Served];
    max_repeats: Option<u32> = "10",
        "times in a row that the model may repeat a passage; 0 for no limit" [Talk Served];
    max_same_results: Option<u32> = "8",
        "times in a row that equal calls of a read-only tool may give the same result; 0 for no limit" [Talk Served];
    max_time: Option<NonZeroU32> = "600",
        "seconds for one answer of serve to a request with tools or a schema, all rounds together" [Served];
    strict_calls: Option<bool> = "true",
        "end an answer of serve with an error if the model does not correct its call; else the client gets the call"
        [Served];
    max_connections: Option<NonZeroUsize> = "4096", "connections of clients that serve has at once" [Serve];
    max_requests: Option<NonZeroUsize> = "2048",
        "requests that serve answers at once; one client gets three quarters" [Serve];
    max_body_bytes: Option<NonZeroUsize> = "268435456",
        "bytes of all bodies of requests that serve answers at once" [Serve];
    max_prepared_bytes: Option<NonZeroUsize> = "268435456",
        "bytes that the lists of tools of these requests take" [Serve];
    max_workers: Option<NonZeroUsize> = "2", "large requests that serve reads at once; as many as processors" [Serve];
    max_pixels: Option<NonZeroUsize> = "50000000",
        "pixels of pictures of MCP servers that serve decodes at once" [Serve];
    max_tokens: Option<NonZeroU32> = "4096", "most tokens of one message of the model" [Talk Probe];
    context: Option<NonZeroUsize> = "8192", "tokens that the model's context has" [Talk Served];
    system: Option<String> = "\"Answer briefly.\"",
        "your own system text, which comes first; @FILE reads it from a file" [Talk Prompt];
    allow: Vec<String> = "[\"files.read_*\"]",
        "tools whose calls run without a question: globs over SERVER.TOOL" [Talk AtStart Serve];
    deny: Vec<String> = "[\"*.delete_*\"]", "tools whose calls never run" [Talk AtStart Serve];
    untrusted: Vec<String> = "[\"web\"]",
        "servers whose output is untrusted: each call after it is asked about" [Talk AtStart Serve];
    search: Option<String> = "\"web\"", "the MCP server whose tool answers a client's own web search, in serve" [Serve];
    reasoning_display: Option<ReasoningDisplay> = "\"folded\"",
        "display of reasoning: folded, full, hidden" [Chat];
    call_display: Option<CallDisplay> = "\"line\"",
        "display of calls at a terminal: box, or line (/call N and /result N open it)" [Chat];
    history: Option<bool> = "true", "keep the history of your input lines" [];
    sessions: Option<bool> = "true", "save conversations automatically" [];
}

/// Returns the table entry of a settings key; `None` if there is no such key.
pub(super) fn known(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// Returns the names of the settings keys that at least one of these commands reads.
pub(crate) fn keys_of(readers: &[Reader]) -> Vec<&'static str> {
    let is_read = |key: &&Key| key.read_by.iter().any(|reader| readers.contains(reader));
    KEYS.iter().filter(is_read).map(|key| key.name).collect()
}

/// Settings by key, with their values as JSON.
pub(crate) type Values = Map<String, Value>;

impl Settings {
    /// Returns the keys that are set, with their values as JSON.
    pub(crate) fn values(&self) -> Values {
        let values = serde_json::to_value(self).ok().and_then(|values| values.as_object().cloned());
        let mut values = values.unwrap_or_default();
        values.retain(|_, value| is_set(value));
        values
    }
}

/// Returns `true` if a JSON value sets its key: it is neither `null` nor an empty list.
pub(super) fn is_set(value: &Value) -> bool {
    !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty())
}

/// Returns the names of all settings keys.
pub(crate) fn key_names() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(|key| key.name)
}

/// Setting for sending images from tool results to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Images {
    Auto,
    Always,
    Never,
}

/// Display mode of the model's reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReasoningDisplay {
    Folded,
    Full,
    Hidden,
}

/// Display mode of calls and their results at a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CallDisplay {
    /// Each call and result in a box.
    Box,
    /// Each call and result in one line, which a command expands; failures and calls that need approval are in boxes.
    Line,
}

/// A setting that is filled in from a source of lower precedence.
trait Layer: Sized {
    fn over(&mut self, weaker: &Self);
}

impl<T: Clone> Layer for Option<T> {
    fn over(&mut self, weaker: &Self) {
        if self.is_none() {
            self.clone_from(weaker);
        }
    }
}

/// Lists are joined: the patterns of the source of lower precedence come first.
impl Layer for Vec<String> {
    fn over(&mut self, weaker: &Self) {
        self.splice(0..0, weaker.iter().cloned());
    }
}

fn profile<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'static Profile>, D::Error> {
    let name = String::deserialize(deserializer)?;
    super::profiles::known_profile(&name).map(Some).map_err(serde::de::Error::custom)
}

fn name<S: Serializer>(profile: &Option<&'static Profile>, serializer: S) -> Result<S::Ok, S::Error> {
    profile.map(|profile| profile.name).serialize(serializer)
}

fn dialect<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Dialect>, D::Error> {
    let name = String::deserialize(deserializer)?;
    super::profiles::taught_dialect(&name).map(Some).map_err(serde::de::Error::custom)
}

fn temperature<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let number = f64::deserialize(deserializer)?;
    match (0.0..=2.0).contains(&number) {
        true => Ok(Some(number)),
        false => Err(serde::de::Error::custom("not from 0 to 2")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_fills_what_stronger_ones_left_open() {
        let weaker = Settings {
            model: Some("weaker".to_owned()),
            max_rounds: NonZeroU32::new(3),
            allow: vec!["a.*".to_owned()],
            ..Settings::default()
        };
        let mut settings =
            Settings { model: Some("flag".to_owned()), allow: vec!["b.*".to_owned()], ..Settings::default() };
        settings.over(&weaker);
        assert_eq!((settings.model.as_deref(), settings.max_rounds), (Some("flag"), NonZeroU32::new(3)));
        assert_eq!(settings.allow, ["a.*", "b.*"]);
    }
}
