//! A server's entry in lines for a person, without its secrets ([`Secrecy`]).

use serde_json::Value;

use crate::phrases::Phrases;
use crate::screen::visible::quoted;
use crate::servers::config_file::Entry;
use toolgraft::secrets::{Judged, Secrecy};

/// A name and its value in words.
type Says = fn(Phrases, &str, String) -> String;

/// How a server is reached, and what it gets.
pub(super) fn lines(entry: &Entry, say: Phrases) -> Vec<String> {
    let secrecy = Secrecy::of(entry);
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    let mut lines = Vec::new();
    match (text("command"), &secrecy.url) {
        (Some(_), _) => {
            let words = secrecy.words.iter().map(|word| quoted(&word.shown));
            lines.push(words.collect::<Vec<_>>().join(" "));
        }
        (None, Some(url)) => lines.push(url.shown.clone()),
        (None, None) => lines.push(say.no_command_nor_url().to_owned()),
    }
    lines.extend(text("cwd").map(|cwd| say.works_in(quoted(cwd))));
    let kinds: [(&[(String, Judged)], Says); 3] = [
        (&secrecy.env, |say, name, value| say.sets_variable(name, value)),
        (&secrecy.headers, |say, name, value| say.sends_header(name, value)),
        (&secrecy.oauth, |say, name, value| say.logs_in_with(name, value)),
    ];
    for (pairs, says) in kinds {
        lines.extend(pairs.iter().map(|(name, value)| says(say, name, value.shown.clone())));
    }
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolgraft::dialect::Lang;

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
                "https://h/mcp?…\nsends Authorization: Bearer ${TOKEN}",
            ),
            (json!({}), "neither \"command\" nor \"url\""),
        ] {
            let Value::Object(entry) = entry else { panic!("{entry}") };
            assert_eq!(lines(&entry, Phrases::of(Lang::En)).join("\n"), text);
        }
    }
}
