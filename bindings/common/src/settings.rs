//! Converts settings by name into the library's own.

use std::fmt::Display;
use std::str::FromStr;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use toolgraft::Dialect;
use toolgraft::dialect::{DialectSet, Profile};
use toolgraft::parse::{Config, Limits};
use toolgraft::prompt::Options;

use crate::{Mistake, word};

/// The settings of a parser, and the parts of a message that are collected.
#[derive(Debug, Clone)]
pub struct ParserSettings {
    /// Configuration of the parser.
    pub config: Config,
    /// `true` if arguments are checked against the tools' schemas.
    pub validate: bool,
    /// `true` if the parsed message is collected, so that it can be returned as a whole.
    pub collect: bool,
    /// `true` if texts that looked like calls but are none are collected.
    pub not_calls: bool,
}

/// Converts the JSON value of a setting to the setting's type.
pub(crate) fn typed<T: DeserializeOwned>(name: &str, value: &Value) -> Result<T, Mistake> {
    serde_json::from_value(value.clone()).map_err(|error| Mistake::Type(format!("the setting `{name}`: {error}")))
}

/// Parses a setting whose value is one of several words.
fn named<T: FromStr<Err: Display>>(name: &str, value: &Value) -> Result<T, Mistake> {
    word(&typed::<String>(name, value)?)
}

/// Parses a setting with dialects: one name, a list of names, or `auto`.
fn dialects(name: &str, value: &Value) -> Result<DialectSet, Mistake> {
    if value.is_string() {
        return named(name, value);
    }
    let names: Vec<String> = typed(name, value)?;
    names.iter().try_fold(DialectSet::NONE, |set, name| Ok(set.and(word(name)?)))
}

/// Registers the dialect that the JSON text `file` describes, and returns its name, by which settings can then select
/// it.
///
/// # Errors
///
/// [`Mistake::Setting`] if the description is not usable.
pub fn load_dialect(file: &str) -> Result<&'static str, Mistake> {
    Dialect::from_json(file).map(Dialect::name).map_err(|error| Mistake::Setting(error.to_string()))
}

fn unknown(name: &str) -> Mistake {
    Mistake::Type(format!("unknown setting: `{name}`"))
}

/// Returns the model's name from the setting `model`; `None` if it is not set.
///
/// # Errors
///
/// [`Mistake::Type`] if it is not a string.
pub fn model(settings: &Map<String, Value>) -> Result<Option<String>, Mistake> {
    settings.get("model").map_or(Ok(None), |model| typed("model", model))
}

impl ParserSettings {
    /// Reads the settings of a parser by their names. They override those of the profile that the setting `model`
    /// selects.
    ///
    /// # Errors
    ///
    /// Fails if a setting does not exist, or has a value that is not allowed.
    pub fn new(settings: &Map<String, Value>) -> Result<Self, Mistake> {
        let mut reading = ParserSettings { config: Config::default(), validate: true, collect: true, not_calls: false };
        let config = &mut reading.config;
        if let Some(model) = model(settings)? {
            let profile = Profile::for_model(&model);
            config.reasoning = profile.reasoning;
            config.reasoning_calls = profile.reasoning_calls;
            config.reasoning_marks = profile.marks();
        }
        let mut limits = Limits::default();
        for (name, value) in settings {
            match name.as_str() {
                "model" => {}
                "dialects" => config.dialects = dialects(name, value)?,
                "reasoning" => config.reasoning = named(name, value)?,
                "reasoning_calls" => config.reasoning_calls = named(name, value)?,
                "reasoning_marks" => config.reasoning_marks = typed(name, value)?,
                "fenced_calls" => config.fenced_calls = named(name, value)?,
                "stop" => config.stop = typed(name, value)?,
                "call_bytes" => limits.call_bytes = typed(name, value)?,
                "depth" => limits.depth = typed(name, value)?,
                "calls" => limits.calls = typed(name, value)?,
                "validate" => reading.validate = typed(name, value)?,
                "collect" => reading.collect = typed(name, value)?,
                "keep_not_calls" => reading.not_calls = typed(name, value)?,
                _ => return Err(unknown(name)),
            }
        }
        reading.config.limits = limits;
        Ok(reading)
    }
}

/// Reads the settings of a prompt by their names. They override those of the profile that the setting `model`
/// selects.
///
/// # Errors
///
/// Fails if a setting does not exist, or has a value that is not allowed.
pub fn options(settings: &Map<String, Value>) -> Result<Options, Mistake> {
    let mut options = match model(settings)? {
        None => Options::default(),
        Some(model) => {
            let profile = Profile::for_model(&model);
            Options::for_profile(profile).with_style(profile.style_for(&model, None))
        }
    };
    for (name, value) in settings {
        match name.as_str() {
            "model" => {}
            "dialect" => options.dialect = named(name, value)?,
            "lang" => options.lang = named(name, value)?,
            "style" => options.style = named(name, value)?,
            "listing" => options.listing = named(name, value)?,
            "system" => options.system = typed(name, value)?,
            "tool_choice" => options.tool_choice = named(name, value)?,
            "max_calls" => options.max_calls = typed(name, value)?,
            "description_chars" => options.description_chars = typed(name, value)?,
            "result_bytes" => options.result_bytes = typed(name, value)?,
            _ => return Err(unknown(name)),
        }
    }
    Ok(options)
}
