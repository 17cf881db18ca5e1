//! A server's entry in lines for a person, without its secrets.
//!
//! What is hidden is guessed from names (`API_KEY`, `--token`, `Authorization`), from the
//! form of a value (`sk-…`, a long word of letters and digits) and from its place (user and
//! query of a URL). A reference such as `${API_KEY}` is no secret and stays.

use serde_json::Value;

use super::config_file::Entry;
use crate::phrases::Phrases;
use toolgraft::dialect::Lang;
use toolgraft::secrets::{names_secret, shown_url};

/// What stands in a secret's place.
const HIDDEN: &str = "(hidden)";

/// Values below this many characters are settings, such as `true` and `8080`.
const MIN_SECRET: usize = 8;

/// Words of more characters than this that have letters and digits are keys, not names.
const LONG: usize = 20;

/// How tokens begin that are known by it.
const TOKENS: &[&str] = &[
    "sk-",
    "sk_",
    "pk_",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "eyJ",
    "hf_",
    "AIza",
    "ntn_",
    "secret_",
    "lin_api_",
];

/// A name and its value in words.
type Says = fn(Phrases, &str, String) -> String;

/// How a server is reached, and what it gets.
pub(super) fn lines(entry: &Entry, say: Phrases) -> Vec<String> {
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    let mut lines = Vec::new();
    match (text("command"), text("url")) {
        (Some(command), _) => {
            let args = entry.get("args").and_then(Value::as_array).into_iter().flatten();
            let args: Vec<String> =
                args.map(|arg| arg.as_str().map_or_else(|| arg.to_string(), str::to_owned)).collect();
            let words = std::iter::once(command.to_owned()).chain(arguments(&args));
            lines.push(words.map(|word| quoted(&word)).collect::<Vec<_>>().join(" "));
        }
        (None, Some(url)) => lines.push(if has_default(url) { HIDDEN.to_owned() } else { shown_url(url) }),
        (None, None) => lines.push(say.no_command_nor_url().to_owned()),
    }
    lines.extend(text("cwd").map(|cwd| say.works_in(quoted(cwd))));
    let kinds: [(&str, Says); 3] = [
        ("env", |say, name, value| say.sets_variable(name, value)),
        ("headers", |say, name, value| say.sends_header(name, value)),
        ("oauth", |say, name, value| say.logs_in_with(name, value)),
    ];
    for (key, says) in kinds {
        let pairs = entry.get(key).and_then(Value::as_object).into_iter().flatten();
        lines.extend(pairs.map(|(name, value)| {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            says(say, name, setting(name, &value))
        }));
    }
    lines
}

/// How many values of an entry are hidden.
pub(super) fn secrets(entry: &Entry) -> usize {
    lines(entry, Phrases::of(Lang::En)).iter().map(|line| line.matches(HIDDEN).count()).sum()
}

/// A value of a variable or a header.
fn setting(name: &str, value: &str) -> String {
    let is_path = value.starts_with(['/', '~', '.', '$']) || value.get(1..3) == Some(":\\");
    if is_reference(value) {
        return value.to_owned();
    }
    if names_secret(name) || has_default(value) || holds_secret(value) {
        return HIDDEN.to_owned();
    }
    let is_word = value.bytes().all(|b| b.is_ascii_alphabetic() || b"_-, ".contains(&b));
    match value.contains("://") {
        true if shown_url(value) == value => value.to_owned(),
        false if value.chars().count() < MIN_SECRET || is_word || is_path => value.to_owned(),
        _ => HIDDEN.to_owned(),
    }
}

/// The arguments of a command, the values of flags that name a secret hidden.
fn arguments(args: &[String]) -> Vec<String> {
    let mut shown = Vec::with_capacity(args.len());
    let mut secret_follows = false;
    for arg in args {
        let hide = std::mem::replace(&mut secret_follows, false) && !is_reference(arg) && !arg.starts_with("--");
        secret_follows = arg.starts_with('-') && !arg.contains(['=', ' ']) && names_secret(arg);
        shown.push(if hide { HIDDEN.to_owned() } else { argument(arg) });
    }
    shown
}

fn argument(arg: &str) -> String {
    if let Some(at) = arg.find(['=', ':']).filter(|at| names_secret(&arg[..*at]) && !arg[..*at].contains(['/', ' '])) {
        let value = arg[at + 1..].trim_start();
        let kept = &arg[..arg.len() - value.len()];
        return if is_reference(value) { arg.to_owned() } else { format!("{kept}{HIDDEN}") };
    }
    if holds_secret(arg) || has_default(arg) {
        return HIDDEN.to_owned();
    }
    match arg.find("://").map(|at| arg[..at].rfind('=').map_or(0, |sign| sign + 1)) {
        Some(from) => format!("{}{}", &arg[..from], shown_url(&arg[from..])),
        None => arg.to_owned(),
    }
}

/// Whether a text looks like a secret, or a part of it is named like one.
fn holds_secret(text: &str) -> bool {
    let named = |part: &str| {
        let pair = part.split_once('=').filter(|(name, value)| names_secret(name) && !value.is_empty());
        pair.is_some_and(|(_, value)| !is_reference(value))
    };
    let is_token = |word: &str| TOKENS.iter().any(|start| word.len() > start.len() + 7 && word.starts_with(start));
    let is_opaque = |word: &str| {
        let letters = word.bytes().any(|b| b.is_ascii_alphabetic());
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_+=".contains(&b);
        word.len() >= LONG && letters && digits >= 3 && word.bytes().all(plain)
    };
    let parts = || text.split([';', '&', '?', ',', ' ']);
    parts().any(named) || parts().any(is_token) || parts().any(is_opaque)
}

/// Whether all that could be secret in a text is a variable's name: `Bearer ${TOKEN}`.
fn is_reference(text: &str) -> bool {
    let mut rest = text;
    let mut found = false;
    let mut literal = String::new();
    while let Some((before, behind)) = rest.split_once("${") {
        let Some((inside, after)) = behind.split_once('}') else { return false };
        if inside.contains(":-") {
            return false;
        }
        literal.push_str(before);
        found = true;
        rest = after;
    }
    literal.push_str(rest);
    found && literal.bytes().all(|b| b.is_ascii_alphabetic() || b" _-".contains(&b)) && literal.len() < LONG
}

/// Whether a variable has a default that could be secret.
fn has_default(text: &str) -> bool {
    text.split("${").skip(1).any(|behind| {
        let default = behind.split('}').next().and_then(|inside| inside.split_once(":-"));
        default.is_some_and(|(name, default)| names_secret(name) && !default.is_empty())
    })
}

/// A word as a shell would want it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:@=+,~${}*()?…".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.to_owned() } else { format!("{word:?}") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(entry: Value) -> String {
        let Value::Object(entry) = entry else { panic!("{entry}") };
        lines(&entry, Phrases::of(Lang::En)).join("\n")
    }

    #[test]
    fn secrets_are_hidden_wherever_they_stand() {
        for (entry, secret) in [
            (json!({ "command": "x", "env": { "API_KEY": "abc" } }), "abc"),
            (json!({ "command": "x", "env": { "DSN": "postgres://ada:pw@h/db" } }), "pw"),
            (json!({ "command": "x", "env": { "GH": "ghp_0123456789abcdef" } }), "ghp_"),
            (json!({ "command": "x", "env": { "V": "${MY_TOKEN:-tok123}" } }), "tok123"),
            (json!({ "command": "x", "args": ["--api-key", "abc"] }), "abc"),
            (json!({ "command": "x", "args": ["--token=abc"] }), "abc"),
            (json!({ "command": "docker", "args": ["run", "-e", "DB_PASSWORD=abc"] }), "abc"),
            (json!({ "command": "x", "args": ["--header", "Authorization: Bearer abc"] }), "abc"),
            (json!({ "command": "x", "args": ["--header", "Authorization:Bearer abc"] }), "abc"),
            (json!({ "command": "x", "args": ["postgresql://u:pw@localhost/db"] }), "pw"),
            (json!({ "command": "x", "args": ["--db=postgresql://u:pw@localhost/db"] }), "pw"),
            (json!({ "command": "x", "args": ["Server=h;Password=abc"] }), "abc"),
            (json!({ "command": "x", "args": ["0123456789abcdef0123456789abcdef"] }), "0123"),
            (json!({ "command": "x", "args": ["sk-proj-abcdefghij"] }), "sk-"),
            (json!({ "command": "x", "args": ["--key", "sk-abc"] }), "sk-"),
            (json!({ "url": "https://u:pw@h/mcp?api_key=abc" }), "abc"),
            (json!({ "url": "https://u:pw@h/mcp?api_key=abc" }), "pw"),
            (json!({ "url": "https://h", "headers": { "X-Anything": "0a1b2c3d4e5f" } }), "0a1b"),
            (json!({ "url": "https://h", "headers": { "Authorization": "Bearer abc" } }), "abc"),
        ] {
            let text = shown(entry.clone());
            assert!(!text.contains(secret), "{secret} stands in {text:?} of {entry}");
        }
    }

    #[test]
    fn what_is_no_secret_is_shown() {
        for (entry, text) in [
            (
                json!({ "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/ada"] }),
                "npx -y @modelcontextprotocol/server-filesystem /home/ada",
            ),
            (
                json!({ "command": "uvx", "args": ["mcp-server-time==2025.9.1", "--local-timezone=Europe/Berlin"] }),
                "uvx mcp-server-time==2025.9.1 --local-timezone=Europe/Berlin",
            ),
            (
                json!({ "command": "x", "env": { "API_KEY": "${API_KEY}", "LOG_LEVEL": "debug" } }),
                "x\nsets API_KEY=${API_KEY}\nsets LOG_LEVEL=debug",
            ),
            (
                json!({ "url": "https://h/mcp", "headers": { "Authorization": "Bearer ${TOKEN}" } }),
                "https://h/mcp\nsends Authorization: Bearer ${TOKEN}",
            ),
            (
                json!({ "command": "x", "args": ["--token", "${TOKEN}", "two words"], "cwd": "/srv" }),
                "x --token ${TOKEN} \"two words\"\nworks in /srv",
            ),
            (
                json!({ "command": "x", "env": { "ROOT": "/home/ada/notes", "BASE": "https://example.org/api" } }),
                "x\nsets ROOT=/home/ada/notes\nsets BASE=https://example.org/api",
            ),
        ] {
            assert_eq!(shown(entry), text);
        }
    }
}
