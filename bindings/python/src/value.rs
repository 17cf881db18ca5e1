//! Converts JSON values to Python values and back.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::{Map, Number, Value};

/// Maximum nesting depth of a value from Python. A deeper one may contain itself.
const MAX_DEPTH: usize = 256;

/// Converts a JSON value to a Python value.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(value) => PyBool::new(py, *value).to_owned().into_any(),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => number.into_pyobject(py)?.into_any(),
            (None, Some(number)) => number.into_pyobject(py)?.into_any(),
            // A number that is not an integer is a finite double.
            (None, None) => PyFloat::new(py, number.as_f64().unwrap_or(f64::NAN)).into_any(),
        },
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(to_python(py, item)?)?;
            }
            list.into_any()
        }
        Value::Object(members) => {
            let dict = PyDict::new(py);
            for (key, member) in members {
                dict.set_item(key, to_python(py, member)?)?;
            }
            dict.into_any()
        }
    })
}

/// Converts a Python value to a JSON value. The error names the part that has no JSON form.
pub(crate) fn from_python(value: &Bound<'_, PyAny>) -> Result<Value, String> {
    read(value, 0)
}

fn read(value: &Bound<'_, PyAny>, depth: usize) -> Result<Value, String> {
    if depth > MAX_DEPTH {
        return Err(format!("a value is nested more than {MAX_DEPTH} levels deep, or contains itself"));
    }
    let failed = |error: PyErr| error.to_string();
    if value.is_none() {
        Ok(Value::Null)
    // Before the numbers: Python's booleans are integers too.
    } else if let Ok(value) = value.cast::<PyBool>() {
        Ok(value.is_true().into())
    } else if let Ok(text) = value.cast::<PyString>() {
        Ok(text.to_cow().map_err(failed)?.into_owned().into())
    } else if value.is_instance_of::<PyInt>() {
        let number = value.extract::<i64>().map(Number::from).or_else(|_| value.extract::<u64>().map(Number::from));
        Ok(number.map_err(|_| format!("the integer {value} has more than 64 bits"))?.into())
    } else if let Ok(number) = value.cast::<PyFloat>() {
        let number = number.value();
        Ok(Number::from_f64(number).ok_or_else(|| format!("JSON has no {number}"))?.into())
    } else if let Ok(dict) = value.cast::<PyDict>() {
        let mut members = Map::new();
        for (key, member) in dict {
            let key = key.cast::<PyString>().map_err(|_| format!("the key {key} is not a string"))?;
            members.insert(key.to_cow().map_err(failed)?.into_owned(), read(&member, depth + 1)?);
        }
        Ok(members.into())
    } else if let Ok(items) = value.cast::<PyList>() {
        items.iter().map(|item| read(&item, depth + 1)).collect()
    } else if let Ok(items) = value.cast::<PyTuple>() {
        items.iter().map(|item| read(&item, depth + 1)).collect()
    } else {
        let kind = value.get_type().name().map_err(failed)?;
        Err(format!("JSON has no value of the type {kind}"))
    }
}
