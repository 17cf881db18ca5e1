//! The `data` of a JSON-RPC error as text: cleaned, and of limited length.

use serde_json::Value;

use crate::transport::scan;
use toolgraft::secrets::Secrets;

/// Maximum number of characters of the `data` of a JSON-RPC error that are shown.
pub(super) const MAX_DATA: usize = 2000;

/// Returns the text of a JSON-RPC error's `data`, without these secrets and without control characters, cut to
/// [`MAX_DATA`] characters; `None` if it adds nothing to the error's message.
pub(super) fn error_data(data: Option<&Value>, message: &str, secrets: &Secrets) -> Option<String> {
    let clean = |text: &str| {
        let hidden = secrets.hide(text);
        hidden.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect::<String>()
    };
    let text = match data? {
        Value::Null => return None,
        Value::String(text) => clean(text.trim()),
        Value::Array(items) if items.is_empty() => return None,
        Value::Object(members) if members.is_empty() => return None,
        data => secrets.hide(&scan::compact(&data.to_string(), clean)).into_owned(),
    };
    if text.is_empty() || message.contains(&text) {
        return None;
    }
    // Cut after the secrets are hidden: the remainder of a secret that was cut would not be found.
    let end = text.char_indices().nth(MAX_DATA).map_or(text.len(), |(at, _)| at);
    let more = if end < text.len() { "…" } else { "" };
    Some(format!("{}{more}", &text[..end]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn data_is_shown_clean_and_only_once() {
        let secrets = Secrets::new(["key-234567"]);
        let shown = |data: Value| error_data(Some(&data), "it is wrong", &secrets);
        for (data, text) in [
            (json!("line 1\nline\u{1b}[31m 2\u{7}\n"), Some("line 1\nline[31m 2")),
            (json!({ "field": "a\u{1b}b", "key-234567": "x key-234567" }), {
                Some("{\"field\":\"ab\",\"[redacted]\":\"x [redacted]\"}")
            }),
            (json!(["a", 1, null]), Some("[\"a\",1,null]")),
            (json!(17), Some("17")),
            (json!(false), Some("false")),
            (json!("wrong"), None),
            (json!(" "), None),
            (json!(null), None),
            (json!({}), None),
            (json!([]), None),
        ] {
            assert_eq!(shown(data.clone()).as_deref(), text, "{data}");
        }
        assert_eq!(error_data(None, "", &secrets), None);
    }

    #[test]
    fn long_data_is_cut_after_its_secrets_are_hidden() {
        let secrets = Secrets::new(["key-234567"]);
        let shown = |text: String| error_data(Some(&Value::from(text)), "", &secrets).unwrap();
        assert_eq!(shown("ä".repeat(MAX_DATA)), "ä".repeat(MAX_DATA));
        assert_eq!(shown("ä".repeat(MAX_DATA + 1)), "ä".repeat(MAX_DATA) + "…");
        let cut = shown(format!("{}key-234567", "x".repeat(MAX_DATA - 4)));
        assert!(cut.ends_with("x[red…"), "{cut}");
    }
}
