//! Keyword arguments to the library's settings.

use std::fmt::Display;
use std::str::FromStr;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use toolgraft::dialect::{DialectSet, Profile};
use toolgraft::parse::{Config, Limits};
use toolgraft::prompt::Options;

use crate::error::SettingError;

/// How a message is read, and what is kept of it.
#[derive(Default)]
pub(crate) struct Reading {
    pub(crate) config: Config,
    /// Arguments are checked against the tools' schemas.
    pub(crate) validate: bool,
    /// What the message says is kept, for `Parser.message`.
    pub(crate) collect: bool,
    /// What is no call is kept, for `Parser.not_calls`.
    pub(crate) not_calls: bool,
}

/// The value that a word stands for.
pub(crate) fn word<T: FromStr<Err: Display>>(word: &str) -> PyResult<T> {
    word.parse().map_err(|error: T::Err| SettingError::new_err(error.to_string()))
}

/// A setting that is a word.
fn named<T: FromStr<Err: Display>>(value: &Bound<'_, PyAny>) -> PyResult<T> {
    word(&value.extract::<String>()?)
}

/// Several dialects, or one, or `auto`.
fn dialects(value: &Bound<'_, PyAny>) -> PyResult<DialectSet> {
    if value.is_instance_of::<PyString>() {
        return named(value);
    }
    let names: Vec<String> = value.extract()?;
    names.iter().try_fold(DialectSet::NONE, |set, name| Ok(set.with(word(name)?)))
}

/// Strings; a lone string is a mistake, for it would count as its characters.
pub(crate) fn strings(value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    value.extract()
}

fn unknown(name: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!("there is no setting called {name}"))
}

impl Reading {
    /// The settings of a parser. Those that a model's profile knows come first, so that others count more.
    pub(crate) fn from_keywords(keywords: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut reading = Reading { validate: true, collect: true, ..Reading::default() };
        let config = &mut reading.config;
        let Some(keywords) = keywords else { return Ok(reading) };
        if let Some(model) = keywords.get_item("model")?.filter(|model| !model.is_none()) {
            let profile = Profile::for_model(&model.extract::<String>()?);
            config.reasoning = profile.reasoning;
            config.reasoning_calls = profile.reasoning_calls;
            config.reasoning_marks = profile.marks();
        }
        let mut limits = Limits::default();
        for (name, value) in keywords {
            match name.extract::<String>()?.as_str() {
                "model" => {}
                "dialects" => config.dialects = dialects(&value)?,
                "reasoning" => config.reasoning = named(&value)?,
                "reasoning_calls" => config.reasoning_calls = named(&value)?,
                "reasoning_marks" => config.reasoning_marks = strings(&value)?,
                "fenced_calls" => config.fenced_calls = named(&value)?,
                "stop" => config.stop = strings(&value)?,
                "call_bytes" => limits.call_bytes = value.extract()?,
                "depth" => limits.depth = value.extract()?,
                "calls" => limits.calls = value.extract()?,
                "validate" => reading.validate = value.extract()?,
                "collect" => reading.collect = value.extract()?,
                "keep_not_calls" => reading.not_calls = value.extract()?,
                _ => return Err(unknown(&name)),
            }
        }
        reading.config.limits = limits;
        Ok(reading)
    }
}

/// The settings of a prompt, those of a model's profile first.
pub(crate) fn options(keywords: Option<&Bound<'_, PyDict>>) -> PyResult<Options> {
    let Some(keywords) = keywords else { return Ok(Options::default()) };
    let mut options = match keywords.get_item("model")?.filter(|model| !model.is_none()) {
        None => Options::default(),
        Some(model) => {
            let model = model.extract::<String>()?;
            let profile = Profile::for_model(&model);
            Options::for_profile(profile).with_style(profile.style_for(&model, None))
        }
    };
    for (name, value) in keywords {
        match name.extract::<String>()?.as_str() {
            "model" => {}
            "dialect" => options.dialect = named(&value)?,
            "lang" => options.lang = named(&value)?,
            "style" => options.style = named(&value)?,
            "listing" => options.listing = named(&value)?,
            "system" => options.system = value.extract()?,
            "tool_choice" => options.tool_choice = named(&value)?,
            "max_calls" => options.max_calls = value.extract()?,
            "description_chars" => options.description_chars = value.extract()?,
            "result_bytes" => options.result_bytes = value.extract()?,
            _ => return Err(unknown(&name)),
        }
    }
    Ok(options)
}
