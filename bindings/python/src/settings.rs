//! Converts keyword arguments for the shared settings.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value};

use crate::value;

/// Converts Python's keyword arguments to settings by name, with JSON values.
pub(crate) fn map(keywords: Option<&Bound<'_, PyDict>>) -> PyResult<Map<String, Value>> {
    let Some(keywords) = keywords else { return Ok(Map::new()) };
    let setting = |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let name: String = name.extract()?;
        let wrong = |error| PyTypeError::new_err(format!("the setting `{name}`: {error}"));
        let value = value::from_python(&value).map_err(wrong)?;
        Ok((name, value))
    };
    keywords.iter().map(setting).collect()
}
