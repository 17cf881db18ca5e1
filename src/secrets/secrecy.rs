//! Decides which parts of a server's entry are secrets, to be hidden from its readers.
//!
//! Secrets are guessed from names (`API_KEY`, `--token`, `Authorization`), from the form of a value (`sk-…`, a long
//! word of letters and digits) and from its place (user and query of a URL). A reference such as `${API_KEY}` is not a
//! secret and stays.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde_json::{Map, Value};

use super::{REDACTED, names_secret, percent_decoded};

/// The text that replaces a secret where a server's entry is shown.
pub const HIDDEN: &str = "(hidden)";

/// Minimum number of characters of a value that may be a secret; shorter ones are settings, such as `true` and `8080`.
const MIN_SECRET: usize = 8;

/// Minimum number of bytes of a word of letters and digits that counts as a key rather than a name.
const LONG: usize = 20;

/// Prefixes of access tokens, as their issuers define them.
const TOKENS: &[&str] = &[
    "sk-", "sk_", "pk_", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "AKIA", "eyJ", "hf_",
    "AIza", "ntn_", "secret_", "lin_api_",
];

/// Parts in lower case of the names of variables that decide which code a program runs: `NODE_OPTIONS`, `LD_PRELOAD`,
/// `BASH_ENV`, `PYTHONSTARTUP`, `GIT_SSH_COMMAND`, `PERL5OPT`, `DYLD_INSERT_LIBRARIES`.
const CODE_NAMES: &[&str] = &[
    "options", "5opt", "rubyopt", "preload", "bash_env", "startup", "path", "command", "insert", "shell", "editor",
    "pager", "askpass",
];

/// A value of a server's entry with its secrets hidden, and the secrets.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Judged {
    /// The value, with [`HIDDEN`] for each secret.
    pub shown: String,
    /// The secrets of the value.
    pub secrets: Vec<String>,
}

/// The values of a server's entry in the configuration, with their secrets separated.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Secrecy {
    /// The command and its arguments.
    pub words: Vec<Judged>,
    /// The URL, if the entry has one.
    pub url: Option<Judged>,
    /// Environment variables, by name.
    pub env: Vec<(String, Judged)>,
    /// HTTP headers, by name.
    pub headers: Vec<(String, Judged)>,
    /// The parameters of the server's OAuth login, by name.
    pub oauth: Vec<(String, Judged)>,
}

impl Secrecy {
    /// Separates the secrets of an entry of `mcpServers`.
    pub fn of(entry: &Map<String, Value>) -> Self {
        let text = |key: &str| entry.get(key).and_then(Value::as_str);
        let settings = |key: &str| {
            let pairs = entry.get(key).and_then(Value::as_object).into_iter().flatten();
            pairs.map(|(name, value)| (name.clone(), setting(name, &plain(value)))).collect()
        };
        let args = entry.get("args").and_then(Value::as_array).into_iter().flatten().map(plain);
        let words: Vec<String> = text("command").map(str::to_owned).into_iter().chain(args).collect();
        Secrecy {
            words: arguments(&words),
            url: text("url").map(url),
            env: settings("env"),
            headers: settings("headers"),
            oauth: settings("oauth"),
        }
    }

    /// Returns all values of the entry with their secrets.
    fn parts(&self) -> impl Iterator<Item = &Judged> {
        let named = self.env.iter().chain(&self.headers).chain(&self.oauth);
        self.words.iter().chain(&self.url).chain(named.map(|(_, judged)| judged))
    }

    /// Returns the number of secrets that are hidden in the entry.
    pub fn count(&self) -> usize {
        self.parts().map(|part| part.shown.matches(HIDDEN).count()).sum()
    }

    /// Returns the secrets of the command line and the URL, which have no names.
    pub fn unnamed(&self) -> impl Iterator<Item = &str> {
        self.words.iter().chain(&self.url).flat_map(|part| &part.secrets).map(String::as_str)
    }
}

impl Judged {
    fn open(text: impl Into<String>) -> Self {
        Judged { shown: text.into(), secrets: Vec::new() }
    }

    fn hidden(text: &str) -> Self {
        Judged { shown: HIDDEN.to_owned(), secrets: vec![text.to_owned()] }
    }
}

/// Formats the value with its secrets hidden.
impl std::fmt::Debug for Judged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.shown.fmt(f)
    }
}

impl std::fmt::Debug for Secrecy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.parts()).finish()
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Separates the secret in the value of a variable or a header.
fn setting(name: &str, value: &str) -> Judged {
    if is_reference(value) || names_code(name) {
        return Judged::open(value);
    }
    if names_secret(name) {
        return Judged::hidden(value);
    }
    let judged = text(value);
    // Where a part of the value is a secret, the rest of it may be shown.
    match judged.secrets.is_empty() && is_odd(value) {
        true => Judged::hidden(value),
        false => judged,
    }
}

/// Separates the secrets in a command line: the value after a flag that names a secret is hidden. The program itself is
/// always shown, since its user must see what runs.
fn arguments(words: &[String]) -> Vec<Judged> {
    let mut judged = Vec::with_capacity(words.len());
    let mut secret_follows = false;
    for (n, word) in words.iter().enumerate() {
        // A flag after a flag is not its value, and what a shell would run must stay visible.
        let hide = std::mem::replace(&mut secret_follows, false) && may_hide(word) && !word.starts_with("--");
        // With `=` the value is in this word already; with a space it is a sentence.
        secret_follows = word.starts_with('-') && !word.contains(['=', ' ']) && names_secret(word);
        judged.push(match hide {
            _ if n == 0 => Judged::open(word),
            true => Judged::hidden(word),
            false => argument(word),
        });
    }
    judged
}

fn argument(word: &str) -> Judged {
    // `--token=…`, `DB_PASSWORD=…`, `Authorization: …`
    // A path or a sentence in front is no name: `/keys/a=1`.
    let named = word.find(['=', ':']).filter(|at| names_secret(&word[..*at]) && !word[..*at].contains(['/', ' ']));
    if let Some(at) = named {
        let value = word[at + 1..].trim_start();
        if may_hide(value) {
            let kept = &word[..word.len() - value.len()];
            return Judged { shown: format!("{kept}{HIDDEN}"), secrets: vec![value.to_owned()] };
        }
    }
    text(word)
}

/// Separates the secrets in a text of which some parts may be secret.
fn text(text: &str) -> Judged {
    if has_default(text) {
        return Judged::hidden(text);
    }
    let mut secrets = Vec::new();
    let shown = parted(text, &[&[';', '&', '?', ',', ' ']], &mut |secret| {
        secrets.push(secret.to_owned());
        HIDDEN
    });
    // A URL may be the value of a flag: `--db=postgres://…`.
    if let Some(at) = text.find("://").filter(|_| secrets.is_empty() && !text.contains(' ')) {
        let from = text[..at].rfind('=').map_or(0, |sign| sign + 1);
        let Judged { shown, secrets } = url(&text[from..]);
        return Judged { shown: format!("{}{shown}", &text[..from]), secrets };
    }
    Judged { shown, secrets }
}

/// Separates the secrets of a URL: user, query, fragment, and keys in its path.
fn url(url: &str) -> Judged {
    if has_default(url) {
        return Judged::hidden(url);
    }
    Judged { shown: shown_with(url, HIDDEN), secrets: without_secrets(url).1 }
}

/// Returns a URL as messages may show it: without user and password, and without query and fragment, which may contain
/// a key; `?…` shows that there was a query, and [`REDACTED`] replaces keys in the path, as in [`kept_url`]. A text
/// that is not a URL is cut at the same characters.
pub fn shown_url(url: &str) -> String {
    shown_with(url, REDACTED)
}

/// Returns a URL as [`shown_url`] does, with `hidden` in place of keys in its path.
fn shown_with(url: &str, hidden: &'static str) -> String {
    let url = url.split('#').next().unwrap_or_default();
    let (url, query) = match url.split_once('?') {
        Some((url, _)) => (url, "?…"),
        None => (url, ""),
    };
    let (scheme, rest) = url.find("://").map_or(("", url), |at| url.split_at(at + "://".len()));
    let (authority, after_host) = rest.find(['/', '\\']).map_or((rest, ""), |at| rest.split_at(at));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    // After a host, `:` is followed by a port. Otherwise it may belong to a password that contains a `/`.
    let is_host = host.starts_with('[')
        || host.split_once(':').is_none_or(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    let path = |path: &str| without_keys(path, &mut |_| hidden);
    match rest.rsplit_once('@') {
        _ if is_host => format!("{scheme}{host}{}{query}", path(after_host)),
        Some((_, after)) => {
            let (host, after_host) = after.split_at(after.find('/').unwrap_or(after.len()));
            format!("{scheme}{host}{}{query}", path(after_host))
        }
        None => format!("{scheme}…"),
    }
}

/// Returns a URL as it may be stored, with [`REDACTED`] for the password or the user without one, for query values
/// whose name suggests a secret or that look like a key, and for such parts of the path. A URL without secrets is
/// unchanged.
pub fn kept_url(url: &str) -> String {
    without_secrets(url).0
}

/// Returns the secrets in a URL: password, query values and parts of the path.
pub fn url_secrets(url: &str) -> Vec<String> {
    without_secrets(url).1
}

/// Returns a URL with [`REDACTED`] for each secret, and the secrets.
fn without_secrets(url: &str) -> (String, Vec<String>) {
    let mut secrets = Vec::new();
    let mut hide = |secret: &str| {
        secrets.push(secret.to_owned());
        REDACTED
    };
    let (scheme, rest) = url.find("://").map_or(("", url), |at| url.split_at(at + "://".len()));
    let (authority, rest) = rest.find(['/', '?', '#']).map_or((rest, ""), |at| rest.split_at(at));
    let mut kept = scheme.to_owned();
    match authority.rsplit_once('@') {
        Some((user, host)) if !user.is_empty() && !is_reference(user) => {
            // The user's name is not a secret if a password follows it, except if it is the token.
            let (name, password) = user.split_once(':').unwrap_or(("", user));
            kept += &format!("{}@{host}", hide(password));
            if is_key(name) {
                hide(name);
            }
            // The same in the header that a client sends.
            let colon = if user.contains(':') { "" } else { ":" };
            hide(&STANDARD_NO_PAD.encode(percent_decoded(user).into_owned() + colon));
        }
        _ => kept += authority,
    }
    let (path, query) = rest.find(['?', '#']).map_or((rest, ""), |at| rest.split_at(at));
    kept += &without_keys(path, &mut hide);
    for pair in query.split_inclusive(['&', ';', '?', '#']) {
        let whole = pair.trim_end_matches(['&', ';', '?', '#']);
        let (name, value) = whole.split_once('=').unwrap_or(("", whole));
        // A reference (`${KEY}`) is not a secret; a value that looks like a key is one under any name.
        let is_secret = !value.is_empty() && !is_reference(value) && (names_secret(name) || is_key(value));
        kept += &if is_secret { pair.replace(value, hide(value)) } else { pair.to_owned() };
    }
    (kept, secrets)
}

/// Returns the path of a URL with the result of `hide` for each key: a segment, a parameter of one (`;token=…`) or a
/// part of one (`bot12:…`).
fn without_keys(path: &str, hide: &mut impl FnMut(&str) -> &'static str) -> String {
    parted(path, &[&['/'], &[';'], &[','], &[':'], &['='], &['.']], hide)
}

/// Returns the text with the result of `hide` for each part that is a key or has a name of a secret. The text is split
/// at the first of the separators, and each part that is not hidden at the next ones.
fn parted(text: &str, separators: &[&[char]], hide: &mut impl FnMut(&str) -> &'static str) -> String {
    let Some((separator, finer)) = separators.split_first() else { return text.to_owned() };
    let mut shown = String::with_capacity(text.len());
    for part in text.split_inclusive(*separator) {
        let word = part.strip_suffix(*separator).unwrap_or(part);
        let value = word.split_once('=').filter(|(name, value)| names_secret(name) && may_hide(value));
        match value {
            Some((name, value)) if !name.contains(';') => shown.extend([name, "=", hide(value)]),
            _ if is_key(word) => shown += hide(word),
            _ => shown += &parted(word, finer, hide),
        }
        shown += &part[word.len()..];
    }
    shown
}

/// Returns `true` if a word looks like an access key: a known prefix of tokens, or a long word of letters and digits.
fn is_key(word: &str) -> bool {
    is_token(word) || is_opaque(word)
}

/// Returns `true` if the value of a name that suggests a secret can be one. References (`${KEY}`) cannot, and shell
/// code must remain visible.
fn may_hide(value: &str) -> bool {
    !value.is_empty()
        && !is_reference(value)
        && !value.contains(['`', ';', '|', '&', '<', '>', '\n', '\r'])
        && !value.contains("$(")
}

fn is_token(word: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.+=".contains(&b);
    // A prefix with a shorter rest may begin a name: `sk-learn`.
    TOKENS.iter().any(|start| word.len() > start.len() + 7 && word.starts_with(start)) && word.bytes().all(plain)
}

fn is_opaque(word: &str) -> bool {
    let letters = word.bytes().any(|b| b.is_ascii_alphabetic());
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_+=".contains(&b);
    // Long words with three digits are unlikely to be names.
    word.len() >= LONG && letters && digits >= 3 && word.bytes().all(plain)
}

/// Returns `true` if the value of a variable or a header is not a word, a number, an option, a path or a sentence, so
/// that it may be a key.
fn is_odd(value: &str) -> bool {
    let letters = value.bytes().any(|b| b.is_ascii_alphabetic());
    let others = value.bytes().any(|b| b.is_ascii_digit() || b"!@#%^*+=~".contains(&b));
    let is_path = value.starts_with('-') || value.contains(['/', '\\', '.', ' ']);
    // A key has letters and something else. So have a flag, a path, a host, a version and a sentence, which
    // stay.
    value.chars().count() >= MIN_SECRET && letters && others && !is_path
}

/// Returns `true` if the variable of this name decides which code a program runs, so that its value must remain
/// visible.
fn names_code(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    CODE_NAMES.iter().any(|part| name.contains(part))
}

/// Returns `true` if a text consists of references to variables, and of words that cannot be a secret: `Bearer
/// ${TOKEN}`.
fn is_reference(text: &str) -> bool {
    let mut rest = text;
    let mut found = false;
    let mut literal = String::new();
    while let Some((before, reference)) = rest.split_once("${") {
        let Some((inside, after)) = reference.split_once('}') else { return false };
        if inside.contains(":-") {
            return false;
        }
        literal.push_str(before);
        found = true;
        rest = after;
    }
    literal.push_str(rest);
    // Text besides the references may only be a scheme such as `Bearer`, not a key.
    found && literal.bytes().all(|b| b.is_ascii_alphabetic() || b" _-".contains(&b)) && literal.len() < LONG
}

/// Returns `true` if a text contains a reference whose default may be secret: `${API_KEY:-abc}`.
fn has_default(text: &str) -> bool {
    text.split("${").skip(1).any(|reference| {
        let default = reference.split('}').next().and_then(|inside| inside.split_once(":-"));
        default.is_some_and(|(name, default)| names_secret(name) && !default.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn judged(entry: Value) -> Secrecy {
        let Value::Object(entry) = entry else { panic!("{entry}") };
        Secrecy::of(&entry)
    }

    #[test]
    fn secrets_are_hidden_wherever_they_stand() {
        for (entry, secret) in [
            (json!({ "command": "x", "env": { "API_KEY": "abc" } }), "abc"),
            (json!({ "command": "x", "env": { "DSN": "postgres://ada:pw@h/db" } }), "pw"),
            (json!({ "command": "x", "env": { "GH": "ghp_0123456789abcdef" } }), "ghp_0123456789abcdef"),
            (json!({ "command": "x", "env": { "V": "${MY_TOKEN:-tok123}" } }), "tok123"),
            (json!({ "command": "x", "args": ["--api-key", "abc"] }), "abc"),
            (json!({ "command": "x", "args": ["--token=abc"] }), "abc"),
            (json!({ "command": "docker", "args": ["run", "-e", "DB_PASSWORD=abc"] }), "abc"),
            (json!({ "command": "x", "args": ["--header", "Authorization: Bearer abc"] }), "Bearer abc"),
            (json!({ "command": "x", "args": ["--header", "Authorization:Bearer abc"] }), "Bearer abc"),
            (json!({ "command": "x", "args": ["postgresql://u:pw@localhost/db"] }), "pw"),
            (json!({ "command": "x", "args": ["--db=postgresql://u:pw@localhost/db"] }), "pw"),
            (json!({ "command": "x", "args": ["Server=h;Password=abc"] }), "abc"),
            (
                json!({ "command": "x", "args": ["0123456789abcdef0123456789abcdef"] }),
                "0123456789abcdef0123456789abcdef",
            ),
            (json!({ "command": "x", "args": ["-c", "run --token sk-proj-abcdefghij"] }), "sk-proj-abcdefghij"),
            (json!({ "command": "x", "args": ["sk-proj-abcdefghij"] }), "sk-proj-abcdefghij"),
            (json!({ "command": "x", "args": ["--key", "sk-abc"] }), "sk-abc"),
            (json!({ "url": "https://u:pw@h/mcp?api_key=abc" }), "abc"),
            (json!({ "url": "https://u:pw@h/mcp?api_key=abc" }), "pw"),
            (json!({ "url": "https://h/s/sk-proj-abcdefghij/mcp" }), "sk-proj-abcdefghij"),
            (json!({ "url": "https://h", "headers": { "X-Anything": "0a1b2c3d4e5f" } }), "0a1b2c3d4e5f"),
            (json!({ "url": "https://h", "headers": { "Authorization": "Bearer abc" } }), "Bearer abc"),
            (json!({ "url": "https://h", "oauth": { "clientSecret": "abc" } }), "abc"),
        ] {
            let found = judged(entry.clone());
            let shown: Vec<&str> = found.parts().map(|part| part.shown.as_str()).collect();
            assert!(!shown.concat().contains(secret), "{secret} stands in {shown:?} of {entry}");
            assert!(!format!("{found:?}").contains(secret), "{found:?}");
            let is_secret = found.parts().any(|part| part.secrets.iter().any(|found| found.contains(secret)));
            assert!(is_secret, "{secret} of {entry}");
        }
    }

    #[test]
    fn a_url_is_kept_without_its_secrets_and_else_as_it_is() {
        const KEY: &str = "sk-proj-abcdefghij";
        for (url, kept, secrets) in [
            ("https://h/v1", "https://h/v1", vec![]),
            ("http://localhost:11434/v1", "http://localhost:11434/v1", vec![]),
            ("https://h/openai/v1?api-version=2024-10-21", "https://h/openai/v1?api-version=2024-10-21", vec![]),
            ("https://ada:pw@h/v1", "https://[redacted]@h/v1", vec!["pw", "YWRhOnB3"]),
            ("https://ada:p@w@h/v1", "https://[redacted]@h/v1", vec!["p@w", "YWRhOnBAdw"]),
            ("https://ada@h/v1", "https://[redacted]@h/v1", vec!["ada", "YWRhOg"]),
            (
                "https://sk-proj-abcdefghij:x%40@h/v1",
                "https://[redacted]@h/v1",
                vec!["x%40", KEY, "c2stcHJvai1hYmNkZWZnaGlqOnhA"],
            ),
            ("https://h/v1?key=abc&x=1", "https://h/v1?key=[redacted]&x=1", vec!["abc"]),
            ("https://h/sk-proj-abcdefghij/v1", "https://h/[redacted]/v1", vec![KEY]),
            ("https://h/v1?x=sk-proj-abcdefghij#a", "https://h/v1?x=[redacted]#a", vec![KEY]),
            ("https://h/v1?a=b;token=abc", "https://h/v1?a=b;token=[redacted]", vec!["abc"]),
            ("https://h/mcp;token=abc/x;v=1", "https://h/mcp;token=[redacted]/x;v=1", vec!["abc"]),
            ("https://h/mcp;sk-proj-abcdefghij", "https://h/mcp;[redacted]", vec![KEY]),
            ("https://h/bot12:sk-proj-abcdefghij/x", "https://h/bot12:[redacted]/x", vec![KEY]),
            ("https://h/a.sk-proj-abcdefghij,b", "https://h/a.[redacted],b", vec![KEY]),
        ] {
            assert_eq!(
                (kept_url(url).as_str(), url_secrets(url)),
                (kept, secrets.into_iter().map(str::to_owned).collect())
            );
        }
    }

    #[test]
    fn what_runs_is_never_hidden() {
        for entry in [
            json!({ "command": "sk-evil1234567890" }),
            json!({ "command": "sh", "args": ["-c", "key:;evil"] }),
            json!({ "command": "sh", "args": ["-c", "TOKEN=$(evil)"] }),
            json!({ "command": "sh", "args": ["-c", "TOKEN=`evil`"] }),
            json!({ "command": "sh", "args": ["-c", "evil --token abcdef; KEY=abcdef evil"] }),
            json!({ "command": "sh", "args": ["-c", "evil sk-proj-abcdefghij"] }),
            json!({ "command": "sh", "args": ["--token", "x|evil"] }),
            json!({ "command": "python3", "args": ["sk-01234567/evil.py"] }),
            json!({ "command": "x", "env": { "NODE_OPTIONS": "--require ./evil.js" } }),
            json!({ "command": "x", "env": { "BASH_ENV": "evil0001" } }),
            json!({ "command": "x", "env": { "LD_PRELOAD": "evil0001evil0001evil0001" } }),
        ] {
            let found = judged(entry.clone());
            assert!(format!("{found:?}").contains("evil"), "{found:?} of {entry}");
        }
    }

    #[test]
    fn what_is_no_secret_is_shown() {
        for (entry, shown) in [
            (
                json!({ "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/ada"] }),
                "npx|-y|@modelcontextprotocol/server-filesystem|/home/ada",
            ),
            (
                json!({ "command": "uvx", "args": ["mcp-server-time==2025.9.1", "--local-timezone=Europe/Berlin"] }),
                "uvx|mcp-server-time==2025.9.1|--local-timezone=Europe/Berlin",
            ),
            (json!({ "command": "x", "env": { "API_KEY": "${API_KEY}", "LOG_LEVEL": "debug" } }), "x|${API_KEY}|debug"),
            (
                json!({ "url": "https://h/mcp", "headers": { "Authorization": "Bearer ${TOKEN}" } }),
                "https://h/mcp|Bearer ${TOKEN}",
            ),
            (json!({ "command": "x", "args": ["--token", "${TOKEN}", "two words"] }), "x|--token|${TOKEN}|two words"),
            (
                json!({ "command": "x", "env": { "ROOT": "/home/ada/notes", "BASE": "https://example.org/api" } }),
                "x|/home/ada/notes|https://example.org/api",
            ),
        ] {
            let found = judged(entry);
            let parts: Vec<&str> = found.parts().map(|part| part.shown.as_str()).collect();
            assert_eq!((parts.join("|").as_str(), found.count()), (shown, 0));
        }
    }
}
