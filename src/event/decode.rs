//! Arguments as a type of the program.

use serde::Deserializer;
use serde::de::DeserializeOwned;

/// The error of a value that does not fit the program's type although the schema accepted it: either the type or the
/// schema must be changed.
#[derive(Debug, thiserror::Error)]
#[error("{what} do not fit the program's type{}: {source}", at(field))]
pub struct DecodeError {
    what: String,
    field: String,
    source: serde_json::Error,
}

impl DecodeError {
    /// Returns the path of the field that does not fit, as in `stops[1].city`; empty if the whole value does not fit,
    /// for example because a field is missing.
    pub fn field(&self) -> &str {
        &self.field
    }
}

fn at(field: &str) -> String {
    if field.is_empty() { String::new() } else { format!(" at `{field}`") }
}

/// Deserialises a value into a type of the program; `what` names the value in an error message, in the plural.
pub(crate) fn decode<'de, T: DeserializeOwned>(
    what: impl FnOnce() -> String,
    value: impl Deserializer<'de, Error = serde_json::Error>,
) -> Result<T, DecodeError> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        // `serde_path_to_error` writes `.` for the whole value.
        let field = if path == "." { String::new() } else { path };
        DecodeError { what: what(), field, source: error.into_inner() }
    })
}

/// Deserialises the arguments of a call of `tool` into a type of the program.
pub(crate) fn decode_arguments<'de, T: DeserializeOwned>(
    tool: &str,
    arguments: impl Deserializer<'de, Error = serde_json::Error>,
) -> Result<T, DecodeError> {
    decode(|| format!("the arguments of {tool}"), arguments)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::{Value, json};

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    struct Trip {
        stops: Vec<Stop>,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    struct Stop {
        city: String,
        days: u32,
    }

    #[test]
    fn an_error_names_the_field() {
        let trip = |value: &Value| decode_arguments::<Trip>("plan", value);
        let good = json!({"stops": [{"city": "Oslo", "days": 2}]});
        assert_eq!(trip(&good).unwrap().stops[0], Stop { city: "Oslo".into(), days: 2 });
        for (value, field, words) in [
            (json!({"stops": [{"city": "Oslo", "days": 2}, {"city": "Bonn", "days": "x"}]}), "stops[1].days", "u32"),
            (json!({"stops": [{"city": "Oslo"}]}), "stops[0]", "missing field `days`"),
            (json!({}), "", "missing field `stops`"),
            (json!("no"), "", "invalid type: string"),
        ] {
            let error = trip(&value).unwrap_err();
            assert_eq!(error.field(), field);
            let text = error.to_string();
            assert!(
                text.starts_with("the arguments of plan do not fit the program's type") && text.contains(words),
                "{text}"
            );
            assert!(field.is_empty() || text.contains(&format!(" at `{field}`: ")), "{text}");
            assert!(std::error::Error::source(&error).is_some());
        }
    }
}
