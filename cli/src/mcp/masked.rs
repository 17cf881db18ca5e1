//! A server's entry in lines for a person, without its secrets ([`Secrecy`]).

use serde_json::Value;

use crate::screen::visible::plain;
use crate::servers::config_file::Entry;
use crate::servers::status::{command, gets};
use toolgraft::secrets::Secrecy;

/// Returns a line with a server's name and its command or URL, followed by lines for its settings, without secrets.
pub(super) fn block(name: &str, entry: &Entry) -> String {
    let mut lines = lines(entry).into_iter();
    let disabled = if entry.get("disabled") == Some(&Value::Bool(true)) { "disabled" } else { "" };
    let head = format!("  {}  {}  {disabled}", plain(name), plain(&lines.next().unwrap_or_default()));
    let below: String = lines.map(|line| format!("      {}\n", plain(&line))).collect();
    format!("{}\n{below}", head.trim_end())
}

/// Returns the command or URL of a server, followed by lines for its settings, without secrets.
pub(super) fn lines(entry: &Entry) -> Vec<String> {
    let secrecy = Secrecy::of(entry);
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    let reached = match (text("command"), &secrecy.url) {
        (Some(_), _) => command(&secrecy),
        (None, Some(url)) => url.shown.clone(),
        (None, None) => "neither \"command\" nor \"url\"".to_owned(),
    };
    [reached].into_iter().chain(gets(&secrecy, text("cwd"))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_entry_is_shown_without_its_secrets() {
        for (entry, text) in [
            (
                json!({ "command": "x", "args": ["--token", "${TOKEN}", "two words"], "cwd": "/srv" }),
                "x --token ${TOKEN} \"two words\"\nworks in /srv",
            ),
            (
                json!({ "command": "x", "args": ["--api-key", "abc"], "env": { "API_KEY": "abc", "LOG_LEVEL": "debug" } }),
                "x --api-key (hidden)\nsets API_KEY=(hidden)\nsets LOG_LEVEL=debug",
            ),
            (
                json!({ "url": "https://u:pw@h/mcp?api_key=abc", "headers": { "Authorization": "Bearer ${TOKEN}" } }),
                "https://h/mcp?…\nsends Authorization: \"Bearer ${TOKEN}\"",
            ),
            (json!({}), "neither \"command\" nor \"url\""),
        ] {
            let Value::Object(entry) = entry else { panic!("{entry}") };
            assert_eq!(lines(&entry).join("\n"), text);
        }
    }
}
