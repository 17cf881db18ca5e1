//! JSON helpers of the reader: error positions, and tolerance of broken surrogates.

use serde::de::DeserializeOwned;

/// Reads one JSON text.
pub(super) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    serde_json::from_str(text)
}

/// Returns the message of a serde error without its position, which is reported relative to the file.
pub(super) fn words(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).map_or(text.clone(), str::to_owned)
}
