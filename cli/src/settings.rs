//! Defaults of `toolgraft chat`: `~/.config/toolgraft/config.toml`, and `toolgraft config`.
//!
//! Flags come first, then the environment, then this file, then what is built in. The file
//! is TOML; what is written into it keeps its comments and order.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::json;
use toml_edit::{DocumentMut, Item, Value};

use crate::phrases::Phrases;
use crate::{Failure, input, output, words};
use toolgraft::Dialect;
use toolgraft::dialect::{Lang, Profile, PromptStyle};
use toolgraft::prompt::Listing;
use toolgraft::tools::ToolsMode;
use toolgraft_mcp::files::{self, Mode};

/// Where the file lies below the home directory.
const FILE: &str = ".config/toolgraft/config.toml";

const EXAMPLES: &str = "\
Examples:
  toolgraft config                                     every key, its value, what it does
  toolgraft config set model qwen3:8b
  toolgraft config set allow '[\"files.read_*\"]'
  toolgraft config unset model
  toolgraft config path

Flags count before this file, and so do OPENAI_BASE_URL and OPENAI_API_KEY. Keys of an API
are not kept here: set OPENAI_API_KEY. What `toolgraft probe` found best is in profiles.toml
beside it.

Exit codes: 0 done, 1 the file cannot be written, 2 wrong usage or configuration.";

/// What a key does, in a language.
type Does = fn(Phrases) -> &'static str;

/// Every key: what it does, and a value that it may have.
const KEYS: &[(&str, Does, &str)] = &[
    ("base_url", Phrases::key_base_url, "\"http://localhost:11434/v1\""),
    ("model", Phrases::key_model, "\"qwen3:8b\""),
    ("profile", Phrases::key_profile, "\"deepseek-r1\""),
    ("tools_mode", Phrases::key_tools_mode, "\"auto\""),
    ("dialect", Phrases::key_dialect, "\"use_mcp_tool\""),
    ("lang", Phrases::key_lang, "\"en\""),
    ("prompt_style", Phrases::key_prompt_style, "\"full\""),
    ("listing", Phrases::key_listing, "\"signature\""),
    ("tool_budget", Phrases::key_tool_budget, "4000"),
    ("temperature", Phrases::key_temperature, "0.7"),
    ("max_rounds", Phrases::key_max_rounds, "12"),
    ("max_tokens", Phrases::key_max_tokens, "4096"),
    ("context", Phrases::key_context, "8192"),
    ("system", Phrases::key_system, "\"Answer briefly.\""),
    ("allow", Phrases::key_allow, "[\"files.read_*\"]"),
    ("deny", Phrases::key_deny, "[\"*.delete_*\"]"),
    ("reasoning_display", Phrases::key_reasoning_display, "\"folded\""),
    ("history", Phrases::key_history, "true"),
    ("sessions", Phrases::key_sessions, "true"),
    ("session_days", Phrases::key_session_days, "30"),
];

/// The file's values.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Settings {
    pub(crate) base_url: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) profile: Option<String>,
    pub(crate) tools_mode: Option<ToolsMode>,
    pub(crate) dialect: Option<Dialect>,
    pub(crate) lang: Option<Lang>,
    pub(crate) prompt_style: Option<PromptStyle>,
    pub(crate) listing: Option<Listing>,
    pub(crate) tool_budget: Option<NonZeroUsize>,
    pub(crate) temperature: Option<f64>,
    pub(crate) max_rounds: Option<NonZeroU32>,
    pub(crate) max_tokens: Option<NonZeroU32>,
    pub(crate) context: Option<NonZeroUsize>,
    pub(crate) system: Option<String>,
    pub(crate) allow: Vec<String>,
    pub(crate) deny: Vec<String>,
    pub(crate) reasoning_display: Option<ReasoningDisplay>,
    pub(crate) history: Option<bool>,
    pub(crate) sessions: Option<bool>,
    pub(crate) session_days: Option<NonZeroU32>,
}

/// How reasoning is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReasoningDisplay {
    Folded,
    Full,
    Hidden,
}

/// Options of `toolgraft config`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Show every key, its value and what it does
    Show {
        /// Print one JSON object: the file, and per key its value and what it does
        #[arg(long)]
        json: bool,
    },
    /// Set a key
    Set {
        /// One of the keys that `toolgraft config` shows
        key: String,
        /// Its value; lists as in TOML
        value: String,
    },
    /// Take a key out, so that what is built in counts again
    Unset {
        /// One of the keys that `toolgraft config` shows
        key: String,
    },
    /// Print where the file lies
    Path,
}

/// The file; `None` where there is no home.
fn path() -> Option<PathBuf> {
    Some(std::env::home_dir()?.join(FILE))
}

/// The values of the file; none where there is no file.
pub(crate) fn read() -> Result<Settings, Failure> {
    match path().filter(|path| path.exists()) {
        Some(path) => parsed(&text(&path)?, &path),
        None => Ok(Settings::default()),
    }
}

/// The file's text; an empty file sets nothing.
fn text(path: &Path) -> Result<String, Failure> {
    let read = std::fs::read(path).map_err(|e| Failure::usage(format!("cannot read {}: {e}", path.display())))?;
    input::decode(read, &path.display().to_string())
}

/// Reads a text. What is wrong is said with its place, all of it at once.
fn parsed(text: &str, path: &Path) -> Result<Settings, Failure> {
    let name = path.display();
    let document: DocumentMut = text.parse().map_err(|e: toml_edit::TomlError| {
        let at = e.span().map_or(0, |span| span.start);
        Failure::usage(format!("{name}:{}: {}: mend the TOML here", line(text, at), e.message().trim_end()))
    })?;
    // Spans are only there in a document that was not made to be edited.
    let places = toml_edit::Document::parse(text).ok();
    let place = |key: &str| {
        let span = places.as_ref().and_then(|places| places.as_table().get_key_value(key)?.0.span());
        span.map_or(1, |span| line(text, span.start))
    };
    let mut problems = Vec::new();
    for (key, item) in document.iter() {
        if !KEYS.iter().any(|(known, ..)| *known == key) {
            problems.push(format!("{name}:{}: {}", place(key), unknown(key)));
        } else if let Err(problem) = fits(key, item) {
            problems.push(format!("{name}:{}: {problem}", place(key)));
        }
    }
    match problems.is_empty() {
        true => {
            toml_edit::de::from_str(text).map_err(|e| Failure::usage(format!("{name}: {}", e.message().trim_end())))
        }
        false => Err(Failure::usages(problems)),
    }
}

fn line(text: &str, at: usize) -> usize {
    text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1
}

fn unknown(key: &str) -> String {
    let near = words::near(key, KEYS.iter().map(|(known, ..)| *known));
    match near {
        Some(near) => format!("no key {key:?}: did you mean {near:?}?"),
        None => format!("no key {key:?}: `toolgraft config` shows them all"),
    }
}

/// Whether a key may have this value.
fn fits(key: &str, item: &Item) -> Result<(), String> {
    let mut document = DocumentMut::new();
    document[key] = item.clone();
    let problem = match toml_edit::de::from_document::<Settings>(document) {
        Err(e) => Some(in_plain_words(e.message().lines().next().unwrap_or_default())),
        Ok(Settings { temperature: Some(t), .. }) if !(0.0..=2.0).contains(&t) => Some("not from 0 to 2".to_owned()),
        Ok(Settings { profile: Some(name), .. }) if Profile::named(&name).is_none() => {
            let names: Vec<_> = Profile::all().iter().map(|profile| profile.name).collect();
            Some(format!("expected one of {}", names.join(", ")))
        }
        Ok(Settings { dialect: Some(dialect), .. }) if !Dialect::taught().any(|taught| taught == dialect) => {
            let names: Vec<_> = Dialect::taught().map(Dialect::name).collect();
            Some(format!("expected one of {}", names.join(", ")))
        }
        Ok(_) => None,
    };
    let example = KEYS.iter().find(|(known, ..)| *known == key).map(|(.., example)| *example).unwrap_or_default();
    problem.map_or(Ok(()), |problem| Err(format!("{key}: {problem}: write, for instance, {key} = {example}")))
}

/// What is wrong with a value, without the names of the program's own types.
fn in_plain_words(message: &str) -> String {
    let Some((found, expected)) = message.split_once("expected ") else { return message.to_owned() };
    let expected = match expected {
        "a nonzero u32" | "a nonzero usize" | "u32" | "usize" => "a whole number above 0",
        "f32" | "f64" => "a number",
        "a sequence" => "a list",
        expected => expected,
    };
    let found = ["invalid type: ", "invalid value: ", "unknown variant "]
        .iter()
        .fold(found.to_owned(), |found, words| found.replace(words, "found "));
    format!("{found}expected {expected}")
}

/// Runs `toolgraft config`.
pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let path = path().ok_or_else(|| Failure::usage("there is no home directory: no defaults are kept"))?;
    let text = if path.exists() { text(&path)? } else { String::new() };
    let say = Phrases::of_user(None);
    match &args.command {
        Some(Command::Path) => output::emit(&format!("{}\n", path.display())),
        Some(Command::Show { json: true }) => output::emit_json(&as_json(&path, &document(&text, &path)?)),
        None | Some(Command::Show { .. }) => output::emit(&shown(&path, &document(&text, &path)?, say)),
        Some(Command::Set { key, value }) => {
            // A file that is wrong is mended by hand, not written over.
            let mut document = document(&text, &path)?;
            if !KEYS.iter().any(|(known, ..)| known == key) {
                return Err(Failure::usage(unknown(key)));
            }
            let value = toml_value(key, value)?;
            match document.get_mut(key).and_then(Item::as_value_mut) {
                // The comment behind it stays.
                Some(there) => {
                    let decor = there.decor().clone();
                    *there = value;
                    *there.decor_mut() = decor;
                }
                None => document[key.as_str()] = Item::Value(value),
            }
            written(&path, &document)?;
            output::tell(&say.key_is_set(key, path.display()))
        }
        Some(Command::Unset { key }) => {
            let mut document = document(&text, &path)?;
            if document.remove(key).is_none() {
                return Err(Failure::usage(format!("{} does not set {key:?}", path.display())));
            }
            written(&path, &document)?;
            output::tell(&say.key_is_unset(key, path.display()))
        }
    }
}

/// The file as it can be edited, once it is known to be right.
fn document(text: &str, path: &Path) -> Result<DocumentMut, Failure> {
    parsed(text, path)?;
    text.parse().map_err(|e: toml_edit::TomlError| Failure::usage(format!("{}: {e}", path.display())))
}

fn written(path: &Path, document: &DocumentMut) -> Result<(), Failure> {
    files::replace(path, document.to_string().as_bytes(), Mode::Kept)
        .map_err(|e| Failure::job(format!("cannot write {}: {e}", path.display())))
}

/// A value of the command line: a text needs no quotation marks.
fn toml_value(key: &str, text: &str) -> Result<Value, Failure> {
    let fits_key = |value: &Value| fits(key, &Item::Value(value.clone()));
    let as_it_is = text.parse::<Value>().ok();
    let plain = Value::from(text);
    match as_it_is.map(|value| (fits_key(&value), value)) {
        Some((Ok(()), value)) => Ok(value),
        // What is a text for TOML only.
        None | Some((Err(_), _)) if fits_key(&plain).is_ok() => Ok(plain),
        Some((Err(problem), _)) => Err(Failure::usage(problem)),
        None => fits_key(&plain).map(|()| plain).map_err(Failure::usage),
    }
}

fn shown(path: &Path, document: &DocumentMut, say: Phrases) -> String {
    let file = path.display();
    let mut text = format!("# {}\n", if path.exists() { file.to_string() } else { say.file_not_there(file) });
    for (key, does, example) in KEYS {
        let what = does(say);
        text.push_str(&match document.get(key) {
            Some(item) => format!("\n# {what}\n{key} = {}\n", item.to_string().trim()),
            None => format!("\n# {what}\n# {key} = {example}\n"),
        });
    }
    text
}

fn as_json(path: &Path, document: &DocumentMut) -> serde_json::Value {
    let key = |(key, does, _): &(&str, Does, &str)| {
        let what = does(Phrases::of(Lang::En));
        let value = document.get(key).map(|item| item.to_string().trim().to_owned());
        json!({ "key": key, "set": value, "what": what })
    };
    json!({ "file": path, "keys": KEYS.iter().map(key).collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Settings, String> {
        parsed(text, Path::new("config.toml")).map_err(|failure| match failure {
            Failure::Usage(message) => message,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn every_key_takes_its_example_and_no_other_is_known() {
        let text: String = KEYS.iter().map(|(key, _, example)| format!("{key} = {example}\n")).collect();
        let settings = read(&text).unwrap();
        let Settings { base_url, session_days, deny, .. } = settings;
        assert!(base_url.is_some() && session_days.is_some() && deny.len() == 1);
        let error = toml_edit::de::from_str::<Settings>("no_such_key = 1").unwrap_err().to_string();
        for (key, ..) in KEYS {
            assert!(error.contains(&format!("`{key}`")), "{key}: {error}");
        }
        assert_eq!(error.matches('`').count() / 2, KEYS.len() + 1, "a key is not documented: {error}");
    }

    #[test]
    fn all_that_is_wrong_is_said_at_once_with_its_line() {
        let error =
            read("# mine\nmodle = \"x\"\ntemperature = 3\nprofile = \"none\"\nsessions = \"no\"\n").unwrap_err();
        for text in [
            "config.toml:2: no key \"modle\": did you mean \"model\"?",
            "config.toml:3: temperature: not from 0 to 2",
            "config.toml:4: profile: expected one of",
            "config.toml:5: sessions: ",
        ] {
            assert!(error.contains(text), "{text}: {error}");
        }
        assert!(read("model = \n").unwrap_err().starts_with("config.toml:1: "));
    }
}
