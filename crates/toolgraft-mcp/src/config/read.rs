//! Parses a configuration file into servers.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::Duration;

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::error::{ConfigError, EntryError};
use super::expand::{Environment, expand};
use super::list::Config;
use super::servers::{GrantType, HttpTransport, OAuthConfig, ServerConfig, TransportConfig};
use super::url::{check_url, header_map};
use toolgraft::Cause;

/// A `timeout` above this number of seconds was probably meant in milliseconds.
const DOUBTFUL_SECONDS: f64 = 3_600.0;

/// Maximum time limit in seconds, one day; a longer one is reduced to it.
const MAX_SECONDS: f64 = 86_400.0;

/// Options of the parser of configurations: JSON with comments and trailing commas, and no other leniency.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

impl Config {
    /// Parses the text of a configuration of MCP servers.
    ///
    /// `source` is the name of the file in messages. Variables are looked up in an entry's own `env`, then in
    /// `environment`, never in the environment of the process.
    ///
    /// # Errors
    /// [`ConfigError`] if the text is not JSON, has neither `mcpServers` nor `servers`, or has one
    /// of these that is not an object.
    pub fn parse(text: &str, source: &str, environment: &Environment<'_>) -> Result<Self, ConfigError> {
        config(text, source, Some(environment))
    }

    /// Does the same as [`parse`](Self::parse), but returns each value as it is written: no variable is replaced, and
    /// no default is inserted. For programs that show a configuration before it is used.
    ///
    /// # Errors
    /// Those of [`parse`](Self::parse).
    pub fn parse_as_written(text: &str, source: &str) -> Result<Self, ConfigError> {
        config(text, source, None)
    }
}

fn config(text: &str, source: &str, environment: Option<&Environment<'_>>) -> Result<Config, ConfigError> {
    let file = File { text: text.strip_prefix('\u{feff}').unwrap_or(text), source, environment };
    let parsed = parse_to_ast(file.text, &CollectOptions::default(), &OPTIONS).map_err(|e| {
        let (range, message) = (e.range(), e.kind().to_string());
        let message = format!("{}{}: fix the JSON here", message[..1].to_lowercase(), &message[1..]);
        ConfigError { source: Some(Cause::new(e)), ..file.error(range, message) }
    })?;
    let missing = "expected an object with \"mcpServers\": { NAME: { \"command\": … } }";
    let root = match &parsed.value {
        Some(Value::Object(root)) => root,
        Some(other) => return Err(file.error(other.range(), missing.to_owned())),
        None => return Err(file.error(Range::new(0, 0), format!("the file has no JSON: {missing}"))),
    };
    let key = ["mcpServers", "servers"].into_iter().find(|key| root.get(key).is_some());
    let Some(property) = key.and_then(|key| root.get(key)) else {
        return Err(file.no_servers(root, missing));
    };
    let Value::Object(servers) = &property.value else {
        return Err(file.error(property.value.range(), format!("{:?} must be an object", property.name.as_str())));
    };
    let mut config = Config::default();
    for property in &servers.properties {
        let mut notes = Vec::new();
        let server = file.server(property.name.as_str(), property.range, &property.value, &mut notes);
        config.notes.append(&mut notes);
        config.push(server);
    }
    Ok(config)
}

struct File<'a> {
    text: &'a str,
    source: &'a str,
    /// Lookup of variables; `None` if the variables in values are not replaced.
    environment: Option<&'a Environment<'a>>,
}

/// Message about a fault in one server's entry.
type Problem = String;

impl File<'_> {
    fn error(&self, range: Range, message: String) -> ConfigError {
        ConfigError { place: self.place(range), message, source: None }
    }

    /// Returns `file:line:column` of a range's start, the column in characters.
    fn place(&self, range: Range) -> String {
        let before = &self.text[..range.start.min(self.text.len())];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        format!("{}:{line}:{column}", self.source)
    }

    fn server(&self, name: &str, at: Range, value: &Value<'_>, notes: &mut Vec<String>) -> ServerConfig {
        let place = self.place(at);
        let mut server = ServerConfig { place, ..ServerConfig::broken(name, String::new()) };
        let transport = match value {
            _ if name.trim().is_empty() => Err("its name is empty: name it".to_owned().into()),
            Value::Object(entry) => self.entry(entry, &mut server, notes),
            _ => Err("expected an object with \"command\" or \"url\"".to_owned().into()),
        };
        server.transport = transport;
        server
    }

    /// Reads a server's entry, and collects all of its faults in one error.
    fn entry(
        &self,
        entry: &Object<'_>,
        server: &mut ServerConfig,
        notes: &mut Vec<String>,
    ) -> Result<TransportConfig, EntryError> {
        let mut faults = Faults::default();
        server.disabled = faults.taken(boolean(entry, "disabled")).flatten().unwrap_or(false);
        server.call_timeout = faults.taken(self.seconds(entry, "timeout", server, notes)).flatten();
        server.connect_timeout = faults.taken(self.seconds(entry, "connectTimeout", server, notes)).flatten();
        server.max_calls = faults.taken(count(entry, "maxCalls")).flatten();
        server.parallel = faults.taken(boolean(entry, "parallel")).flatten().unwrap_or(false);
        for key in ["autoApprove", "alwaysAllow"] {
            server.auto_approve.extend(faults.taken(self.strings(entry, key)).flatten().unwrap_or_default());
        }
        if let Some(enabled) = faults.taken(self.strings(entry, "enabledTools")).flatten() {
            match enabled.is_empty() {
                true => {
                    faults.0.push(EntryError::from("\"enabledTools\" is empty: name tools, or leave it out".to_owned()))
                }
                false => server.enabled_tools = enabled,
            }
        }
        server.disabled_tools = faults.taken(self.strings(entry, "disabledTools")).flatten().unwrap_or_default();
        let env = self.map(entry, "env");
        // The entry's own variables take precedence, as they do for the program that it starts.
        let own = |name: &str| {
            let own = env.as_ref().ok().and_then(|env| env.get(name).cloned());
            own.or_else(|| self.environment?(name))
        };
        let file = File { environment: self.environment.map(|_| &own as &Environment<'_>), ..*self };
        let transport = match faults.taken(self.transport_kind(entry)) {
            Some(TransportKind::Stdio) => {
                let command = faults.taken(file.required(entry, "command"));
                let args = faults.taken(file.strings(entry, "args")).flatten().unwrap_or_default();
                let cwd = faults.taken(file.string(entry, "cwd")).flatten();
                let env = faults.taken(env.clone()).unwrap_or_default();
                command.map(|command| TransportConfig::Stdio { command, args, env, cwd })
            }
            Some(TransportKind::Http(transport)) => {
                let url = faults.taken(file.required(entry, "url"));
                url.as_deref().and_then(|url| faults.taken(check_url(url)));
                let headers = faults.taken(file.map(entry, "headers")).unwrap_or_default();
                faults.taken(header_map(&headers));
                let oauth = file.oauth(entry, &mut faults);
                let ca = faults.taken(file.string(entry, "ca")).flatten();
                url.map(|url| TransportConfig::Http { url, headers, transport, oauth, ca })
            }
            None => None,
        };
        // An unknown key may be the misspelling of a missing one, so an error names it too; without
        // an error it becomes a note.
        let strays: Vec<String> =
            entry.properties.iter().filter_map(|property| stray(property.name.as_str())).collect();
        match (transport, faults.0.is_empty()) {
            (Some(transport), true) => {
                notes.extend(strays.iter().map(|stray| format!("{}: server {:?}: {stray}", server.place, server.name)));
                Ok(transport)
            }
            _ => Err(faults.joined(strays)),
        }
    }

    /// Reads the object `oauth` of a server's entry. Messages about its faults begin with `in "oauth"`.
    fn oauth(&self, entry: &Object<'_>, faults: &mut Faults) -> OAuthConfig {
        let mut read = OAuthConfig::default();
        let object = match entry.get("oauth").map(|p| &p.value) {
            None | Some(Value::NullKeyword(_)) => return read,
            Some(Value::Object(object)) => object,
            Some(_) => {
                faults.taken::<()>(Err("\"oauth\" must be an object".to_owned()));
                return read;
            }
        };
        let within = |problem: Problem| format!("in \"oauth\": {problem}");
        read.client_id = faults.taken(self.string(object, "clientId").map_err(within)).flatten();
        read.client_secret = faults.taken(self.string(object, "clientSecret").map_err(within)).flatten();
        read.scopes = faults.taken(self.strings(object, "scopes").map_err(within)).flatten().unwrap_or_default();
        let port = count(object, "callbackPort").and_then(|port| {
            port.map(|port| u16::try_from(port.get()))
                .transpose()
                .map_err(|_| "\"callbackPort\" must be a port, at most 65535".to_owned())
        });
        read.callback_port = faults.taken(port.map_err(within)).flatten();
        let grant = self.string(object, "grantType").and_then(|grant| match grant.as_deref() {
            None | Some("authorization_code") => Ok(GrantType::AuthorizationCode),
            Some("client_credentials") => Ok(GrantType::ClientCredentials),
            Some(_) => Err("\"grantType\" must be \"authorization_code\" or \"client_credentials\"".to_owned()),
        });
        read.grant_type = faults.taken(grant.map_err(within)).unwrap_or_default();
        let has_both = read.client_id.is_some() && read.client_secret.is_some();
        if read.grant_type == GrantType::ClientCredentials && !has_both {
            let why = "\"client_credentials\" wants \"clientId\" and \"clientSecret\"";
            faults.taken::<()>(Err(within(why.to_owned())));
        }
        if read.client_secret.is_some() && read.client_id.is_none() {
            faults.taken::<()>(Err(within("\"clientSecret\" is of no use without \"clientId\"".to_owned())));
        }
        for property in &object.properties {
            let name = property.name.as_str();
            if let Some(meant) = near(name, OAUTH_KEYS).filter(|meant| *meant != name) {
                faults.taken::<()>(Err(within(format!("unknown key {name:?}: did you mean {meant:?}?"))));
            }
        }
        read
    }

    /// Returns the error for a configuration without servers, and names the misspelt or misplaced key if one is found.
    fn no_servers(&self, root: &Object<'_>, missing: &str) -> ConfigError {
        for property in &root.properties {
            let name = property.name.as_str();
            if let Some(near) = near(name, &["mcpServers", "servers"]) {
                return self.error(property.range, format!("unknown key {name:?}: did you mean {near:?}?"));
            }
            let entry = match &property.value {
                Value::Object(entry) => entry.get("command").or_else(|| entry.get("url")),
                _ => None,
            };
            if entry.is_some() {
                let message = format!("the server {name:?} is at the top level: put it into \"mcpServers\": {{ … }}");
                return self.error(property.range, message);
            }
        }
        self.error(root.range, missing.to_owned())
    }

    /// Returns the transport of a server's entry: that of its key `type` (or `transport`, `transportType`), or else the
    /// one that `command` or `url` needs.
    fn transport_kind(&self, entry: &Object<'_>) -> Result<TransportKind, Problem> {
        let key = ["type", "transport", "transportType"]
            .into_iter()
            .find_map(|key| entry.get_string(key).map(|text| (key, text.value.as_ref())));
        let Some((key, written)) = key else {
            return match (entry.get("command").is_some(), entry.get("url").is_some()) {
                (true, false) => Ok(TransportKind::Stdio),
                (false, true) => Ok(TransportKind::Http(HttpTransport::Any)),
                (true, true) => Err("it has both \"command\" and \"url\": keep one, or set \"type\"".to_owned()),
                (false, false) => Err("it has neither \"command\" nor \"url\": add one of them".to_owned()),
            };
        };
        let word = self.string(entry, key)?.unwrap_or_default();
        match word.to_lowercase().replace(['-', '_'], "").as_str() {
            "stdio" | "local" | "command" => Ok(TransportKind::Stdio),
            "http" | "streamablehttp" | "httpstream" | "streamable" | "remote" => {
                Ok(TransportKind::Http(HttpTransport::Streamable))
            }
            "sse" | "httpsse" | "http+sse" => Ok(TransportKind::Http(HttpTransport::Sse)),
            // The text of the file is shown, since a variable's value may be secret.
            _ => Err(format!("{key:?}: {written:?} is not a transport: write \"stdio\", \"http\" or \"sse\"")),
        }
    }

    fn expanded(&self, key: &str, text: &str) -> Result<String, Problem> {
        let text = match self.environment {
            Some(environment) => expand(text, environment).map_err(|e| format!("{key:?}: {e}"))?,
            None => text.to_owned(),
        };
        // No argument, variable or path of a process can hold it.
        match text.contains('\0') {
            true => Err(format!("{key:?}: it holds a NUL character: take it out")),
            false => Ok(text),
        }
    }

    fn required(&self, entry: &Object<'_>, key: &str) -> Result<String, Problem> {
        match self.string(entry, key)? {
            Some(text) if !text.trim().is_empty() => Ok(text),
            Some(_) => Err(format!("{key:?} is empty")),
            None => Err(format!("{key:?} is missing")),
        }
    }

    fn string(&self, entry: &Object<'_>, key: &str) -> Result<Option<String>, Problem> {
        match entry.get(key).map(|p| &p.value) {
            None | Some(Value::NullKeyword(_)) => Ok(None),
            Some(Value::StringLit(text)) => self.expanded(key, &text.value).map(Some),
            Some(_) => Err(format!("{key:?} must be a string")),
        }
    }

    fn strings(&self, entry: &Object<'_>, key: &str) -> Result<Option<Vec<String>>, Problem> {
        let elements = match entry.get(key).map(|p| &p.value) {
            None | Some(Value::NullKeyword(_)) => return Ok(None),
            Some(Value::Array(array)) => &array.elements,
            Some(_) => return Err(format!("{key:?} must be an array of strings")),
        };
        let texts = elements.iter().enumerate().map(|(i, element)| match element {
            Value::StringLit(text) => self.expanded(&format!("{key}[{i}]"), &text.value),
            _ => Err(format!("{:?} must be a string", format!("{key}[{i}]"))),
        });
        texts.collect::<Result<_, _>>().map(Some)
    }

    /// Reads the object of strings at a key, empty if it is missing. Numbers and booleans are converted to strings.
    fn map(&self, entry: &Object<'_>, key: &str) -> Result<BTreeMap<String, String>, Problem> {
        let properties = match entry.get(key).map(|p| &p.value) {
            None | Some(Value::NullKeyword(_)) => return Ok(BTreeMap::new()),
            Some(Value::Object(object)) => &object.properties,
            Some(_) => return Err(format!("{key:?} must be an object of strings")),
        };
        let pairs = properties.iter().map(|p| {
            let name = p.name.as_str().to_owned();
            let path = format!("{key}.{name}");
            let text = match &p.value {
                Value::StringLit(text) => self.expanded(&path, &text.value)?,
                Value::NumberLit(number) => number.value.to_owned(),
                Value::BooleanLit(boolean) => boolean.value.to_string(),
                _ => return Err(format!("{path:?} must be a string")),
            };
            Ok((name, text))
        });
        pairs.collect()
    }

    fn seconds(
        &self,
        entry: &Object<'_>,
        key: &str,
        server: &ServerConfig,
        notes: &mut Vec<String>,
    ) -> Result<Option<Duration>, Problem> {
        let seconds = match entry.get(key).map(|p| &p.value) {
            None | Some(Value::NullKeyword(_)) => return Ok(None),
            Some(Value::NumberLit(number)) => number.value.parse::<f64>().ok().filter(|s| *s > 0.0 && s.is_finite()),
            Some(_) => None,
        };
        let seconds = seconds.ok_or_else(|| format!("{key:?} must be a number of seconds above 0"))?;
        if seconds > DOUBTFUL_SECONDS {
            notes.push(format!(
                "{}: server {:?}: {key:?} is read as {seconds} seconds; some clients write milliseconds",
                server.place, server.name
            ));
        }
        Ok(Some(Duration::from_secs_f64(seconds.min(MAX_SECONDS))))
    }
}

/// Known keys of a server's entry.
const KEYS: &[&str] = &[
    "type", "transport", "transportType", "command", "args", "env", "cwd", "url", "headers", "disabled", "timeout",
    "connectTimeout", "autoApprove", "alwaysAllow", "maxCalls", "parallel", "enabledTools", "disabledTools", "oauth",
    "ca",
];

/// Known keys of the object `oauth` in a server's entry.
const OAUTH_KEYS: &[&str] = &["grantType", "clientId", "clientSecret", "scopes", "callbackPort"];

/// Pairs of an alternative spelling, by other programs or users, and the known key of a server's entry that it means.
const OTHER_WORDS: &[(&str, &str)] = &[
    ("arguments", "args"),
    ("argv", "args"),
    ("cmd", "command"),
    ("executable", "command"),
    ("environment", "env"),
    ("envs", "env"),
    ("serverUrl", "url"),
    ("httpUrl", "url"),
    ("endpoint", "url"),
    ("uri", "url"),
    ("workingDirectory", "cwd"),
    ("workdir", "cwd"),
    ("httpHeaders", "headers"),
    ("enabled", "disabled"),
    ("caFile", "ca"),
    ("caCert", "ca"),
];

/// Returns a message about an unknown key of a server's entry that looks like a known one. `None` for known keys, and
/// for unrelated ones, which other programs may use.
fn stray(key: &str) -> Option<String> {
    if KEYS.contains(&key) {
        return None;
    }
    let other = OTHER_WORDS.iter().find(|(word, _)| word.eq_ignore_ascii_case(key)).map(|(_, meant)| *meant);
    let meant = other.or_else(|| near(key, KEYS))?;
    Some(format!("unknown key {key:?}: did you mean {meant:?}?"))
}

/// Returns the known key that `key` is a misspelling of, if any: it differs in case or punctuation, or in one or two
/// letters.
fn near<'k>(key: &str, known: &[&'k str]) -> Option<&'k str> {
    let folded = |text: &str| text.to_lowercase().replace(['_', '-', ' '], "");
    let key = folded(key);
    let slips = |known: &str| strsim::damerau_levenshtein(&key, &folded(known));
    let nearest = known.iter().map(|known| (slips(known), *known)).min_by_key(|(slips, _)| *slips)?;
    // In a word of up to four letters, two changes already make another word.
    let most = if key.chars().count() > 4 { 2 } else { 1 };
    // Of two letters one change makes another word: `va` would mean `ca`.
    (nearest.0 <= most && key.chars().count() > 2).then_some(nearest.1)
}

/// The collected faults of one server's entry.
#[derive(Default)]
struct Faults(Vec<EntryError>);

impl Faults {
    /// Returns the value that was read, or records the fault and returns `None`.
    fn taken<T>(&mut self, read: Result<T, impl Into<EntryError>>) -> Option<T> {
        read.map_err(|fault| self.0.push(fault.into())).ok()
    }

    /// Joins all faults of an entry and the notes about unknown keys into one error.
    fn joined(mut self, strays: Vec<String>) -> EntryError {
        if self.0.len() == 1 && strays.is_empty() {
            return self.0.swap_remove(0);
        }
        let texts: Vec<String> = self.0.iter().map(ToString::to_string).chain(strays).collect();
        texts.join("; ").into()
    }
}

/// The transport that a server's entry names, without its settings.
enum TransportKind {
    Stdio,
    Http(HttpTransport),
}

fn boolean(entry: &Object<'_>, key: &str) -> Result<Option<bool>, Problem> {
    match entry.get(key).map(|p| &p.value) {
        None | Some(Value::NullKeyword(_)) => Ok(None),
        Some(Value::BooleanLit(boolean)) => Ok(Some(boolean.value)),
        Some(_) => Err(format!("{key:?} must be true or false")),
    }
}

fn count(entry: &Object<'_>, key: &str) -> Result<Option<NonZeroUsize>, Problem> {
    let count = match entry.get(key).map(|p| &p.value) {
        None | Some(Value::NullKeyword(_)) => return Ok(None),
        Some(Value::NumberLit(number)) => number.value.parse().ok(),
        Some(_) => None,
    };
    count.map(Some).ok_or_else(|| format!("{key:?} must be a whole number above 0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here(name: &str) -> Option<String> {
        (name == "TOKEN").then(|| "s3cret".to_owned())
    }

    fn parse(text: &str) -> Result<Config, ConfigError> {
        Config::parse(text, "mcp.json", &here)
    }

    fn only(entry: &str) -> ServerConfig {
        let config = parse(&format!(r#"{{ "mcpServers": {{ "s": {entry} }} }}"#)).unwrap();
        config.servers()[0].clone()
    }

    #[test]
    fn an_entry_s_own_variables_come_before_those_of_the_environment() {
        let config = parse(
            r#"{ "mcpServers": {
                "a": { "command": "${BIN}", "args": ["H:${H}", "$${H}", "${TOKEN}"], "env": { "H": "Bearer ${TOKEN}", "BIN": "x" } },
                "b": { "url": "https://h/mcp", "headers": { "A": "${TOKEN}" }, "env": { "TOKEN": "own" } },
                "c": { "command": "x", "args": ["${H}"] }
            } }"#,
        )
        .unwrap();
        let TransportConfig::Stdio { command, args, .. } = config.servers()[0].transport.as_ref().unwrap() else {
            panic!("{config:?}")
        };
        assert_eq!((command.as_str(), args.join(" ")), ("x", "H:Bearer s3cret ${H} s3cret".to_owned()));
        let TransportConfig::Http { headers, .. } = config.servers()[1].transport.as_ref().unwrap() else {
            panic!("{config:?}")
        };
        assert_eq!(headers["A"], "own");
        assert!(config.servers()[2].problem().unwrap().contains("H is not set"));
    }

    #[test]
    fn a_full_entry_of_each_transport_is_read() {
        let server = only(
            r#"{ "command": "node", "args": ["a b", "${TOKEN}"], "env": { "K": "${TOKEN}", "N": 5 }, "cwd": "/srv",
                 "timeout": 1.5, "connectTimeout": 90, "maxCalls": 3, "parallel": true, "enabledTools": ["g*", "rm_*"], "autoApprove": ["get_*"], "alwaysAllow": ["b"], "disabledTools": ["rm_*"], "unknown": { "x": 1 } }"#,
        );
        let TransportConfig::Stdio { command, args, env, cwd } = server.transport.clone().unwrap() else { panic!() };
        assert_eq!((command.as_str(), args), ("node", vec!["a b".to_owned(), "s3cret".to_owned()]));
        assert_eq!((env["K"].as_str(), env["N"].as_str(), cwd.as_deref()), ("s3cret", "5", Some("/srv")));
        assert_eq!(server.call_timeout, Some(Duration::from_millis(1500)));
        assert_eq!(server.connect_timeout, Some(Duration::from_secs(90)));
        assert_eq!(server.max_calls, NonZeroUsize::new(3));
        assert_eq!(server.approved().collect::<Vec<_>>(), ["s/get_*", "s/b"]);
        assert_eq!(server.disabled_tools, ["rm_*"]);
        assert!(server.parallel);
        assert_eq!(server.enabled_tools, ["g*", "rm_*"]);
        let none = only(r#"{ "command": "x", "enabledTools": [] }"#).problem().unwrap();
        assert!(none.contains("\"enabledTools\" is empty"), "{none}");

        let server = only(
            r#"{ "url": "https://h/mcp", "headers": { "Authorization": "Bearer ${TOKEN}" }, "alwaysAllow": ["a"] }"#,
        );
        let TransportConfig::Http { url, headers, transport: HttpTransport::Any, .. } = server.transport.unwrap()
        else {
            panic!()
        };
        assert_eq!((url.as_str(), headers["Authorization"].as_str()), ("https://h/mcp", "Bearer s3cret"));
        assert_eq!(server.auto_approve, ["a"]);
    }

    #[test]
    fn what_a_login_is_made_with_is_read_and_its_slips_are_named() {
        let server = only(
            r#"{ "url": "https://h/mcp", "oauth": { "clientId": "me", "clientSecret": "${TOKEN}", "scopes": ["a", "b"], "callbackPort": 8765, "authServerMetadataUrl": 1 } }"#,
        );
        let Ok(TransportConfig::Http { oauth, .. }) = &server.transport else { panic!() };
        assert_eq!((oauth.client_id.as_deref(), oauth.client_secret.as_deref()), (Some("me"), Some("s3cret")));
        assert_eq!((oauth.scopes.join(" ").as_str(), oauth.callback_port), ("a b", Some(8765)));
        assert!(!format!("{server:?}").contains("s3cret"), "{server:?}");
        let problem = only(
            r#"{ "url": "https://h/mcp", "oauth": { "clientID": "x", "clientSecret": "y", "callbackPort": 70000 } }"#,
        );
        let problem = problem.problem().unwrap();
        for text in ["did you mean \"clientId\"", "of no use without", "at most 65535"] {
            assert!(problem.contains(text), "{text}: {problem}");
        }
        let trusting = only(r#"{ "url": "https://h/mcp", "ca": "${TOKEN}/ca.pem" }"#);
        let Ok(TransportConfig::Http { ca, .. }) = trusting.transport else { panic!() };
        assert_eq!(ca.as_deref(), Some("s3cret/ca.pem"));
        let machine = |more: &str| {
            let oauth = format!(r#""grantType": "client_credentials", "clientId": "ci"{more}"#);
            only(&format!(r#"{{ "url": "https://h/mcp", "oauth": {{ {oauth} }} }}"#))
        };
        let Ok(TransportConfig::Http { oauth, .. }) = &machine(r#", "clientSecret": "s""#).transport else { panic!() };
        assert_eq!(oauth.grant_type, GrantType::ClientCredentials);
        assert!(machine("").problem().unwrap().contains("wants \"clientId\" and \"clientSecret\""));
        let other = only(r#"{ "url": "https://h/mcp", "oauth": { "grantType": "password" } }"#);
        assert!(other.problem().unwrap().contains("must be \"authorization_code\" or \"client_credentials\""));
        assert!(only(r#"{ "url": "https://h/mcp", "oauth": true }"#).problem().unwrap().contains("must be an object"));
    }

    #[test]
    fn all_that_is_wrong_with_an_entry_is_said_at_once() {
        let server = only(r#"{ "command": 3, "args": "x", "timeout": -1, "env": { "A": [] } }"#);
        let problem = server.problem().unwrap();
        for text in ["\"command\" must be", "\"args\" must be", "\"timeout\" must be", "\"env.A\" must be"] {
            assert!(problem.contains(text), "{text}: {problem}");
        }
    }

    #[test]
    fn a_key_that_is_a_slip_of_a_known_one_is_named() {
        for (key, meant) in [
            ("comand", "command"),
            ("Command", "command"),
            ("arguments", "args"),
            ("arg", "args"),
            ("Url", "url"),
            ("environment", "env"),
            ("header", "headers"),
            ("auto_approve", "autoApprove"),
            ("time-out", "timeout"),
            ("serverURL", "url"),
            ("disable", "disabled"),
        ] {
            let text = format!(r#"{{ "mcpServers": {{ "s": {{ "command": "x", "{key}": 1 }} }} }}"#);
            let notes = parse(&text).unwrap().notes().join("\n");
            assert_eq!(notes, format!("mcp.json:1:19: server \"s\": unknown key {key:?}: did you mean {meant:?}?"));
        }
        for key in
            ["description", "gallery", "envFile", "version", "id", "tools", "icon", "dev", "trust", "name", "note"]
        {
            let text = format!(r#"{{ "mcpServers": {{ "s": {{ "command": "x", "{key}": 1 }} }} }}"#);
            assert!(parse(&text).unwrap().notes().is_empty(), "{key}: other programs have it");
        }
        let problem = only(r#"{ "comand": "x" }"#).problem().unwrap();
        assert!(problem.contains("did you mean \"command\"?"), "{problem}");
    }

    #[test]
    fn servers_under_another_key_are_found() {
        for (text, words) in [
            (r#"{ "mcpservers": {} }"#, "mcp.json:1:3: unknown key \"mcpservers\": did you mean \"mcpServers\"?"),
            (r#"{ "mcp_servers": {} }"#, "did you mean \"mcpServers\"?"),
            (r#"{ "x": { "command": "sh" } }"#, "the server \"x\" is at the top level"),
            (r#"{ "x": 1 }"#, "expected an object with \"mcpServers\""),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn every_alias_of_a_type_is_known() {
        for word in ["http", "streamable-http", "streamableHttp", "streamable_http", "HTTP"] {
            let server = only(&format!(r#"{{ "type": "{word}", "url": "http://h/" }}"#));
            let expected = HttpTransport::Streamable;
            assert!(
                matches!(server.transport, Ok(TransportConfig::Http { transport, .. }) if transport == expected),
                "{word}"
            );
        }
        for word in ["sse", "SSE", "http+sse"] {
            let server = only(&format!(r#"{{ "type": "{word}", "url": "http://h/" }}"#));
            let expected = HttpTransport::Sse;
            assert!(
                matches!(server.transport, Ok(TransportConfig::Http { transport, .. }) if transport == expected),
                "{word}"
            );
        }
        assert!(only(r#"{ "type": "stdio", "command": "x" }"#).transport.is_ok());
        assert!(only(r#"{ "transport": "stdio", "command": "x" }"#).transport.is_ok());
        let problem = only(r#"{ "type": "carrier pigeon", "url": "http://h/" }"#).problem().unwrap();
        assert!(problem.contains("mcp.json:1:19: server \"s\"") && problem.contains("or \"sse\""), "{problem}");
    }

    #[test]
    fn what_is_no_type_is_shown_as_it_was_written() {
        let problem = only(r#"{ "type": "${TOKEN}", "url": "http://h/" }"#).problem().unwrap();
        assert!(problem.contains("\"${TOKEN}\" is not a transport") && !problem.contains("s3cret"), "{problem}");
    }

    #[test]
    fn comments_trailing_commas_and_a_byte_order_mark_are_read() {
        let text = "\u{feff}{ // one\n \"servers\": { /* two */ \"a\": { \"command\": \"x\", }, }, }";
        assert_eq!(parse(text).unwrap().servers()[0].name, "a");
    }

    #[test]
    fn a_fault_in_the_json_has_line_and_column() {
        for (text, place, is_json) in [
            ("{\n  \"mcpServers\": {\n    \"é\" {}\n  }\n}", "mcp.json:3:9", false),
            ("{ 'mcpServers': {} }", "mcp.json:1:3", false),
            ("[]", "mcp.json:1:1", true),
            ("  // nothing\n", "mcp.json:1:1", true),
            ("{ \"mcpServers\": [] }", "mcp.json:1:17", true),
            ("{ \"other\": {} }", "mcp.json:1:1", true),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(std::error::Error::source(&error).is_none(), is_json, "{text}");
            assert_eq!(error.place, place, "{text}: {error}");
        }
    }

    #[test]
    fn one_wrong_entry_leaves_the_others() {
        let config = parse(
            r#"{ "mcpServers": {
                "unset": { "command": "x", "env": { "KEY": "${NOT_THERE}" } },
                "typed": { "command": "x", "args": "-v" },
                "both": { "command": "x", "url": "http://h/" },
                "none": {},
                "ftp": { "url": "ftp://h/" },
                "time": { "command": "x", "timeout": "soon" },
                "good": { "command": "x" },
                "off": { "command": "${NOT_THERE}", "disabled": true }
            } }"#,
        )
        .unwrap();
        let problems: Vec<_> = config.servers().iter().map(ServerConfig::problem).collect();
        for (problem, expected) in problems.iter().zip([
            Some("mcp.json:2:17: server \"unset\": \"env.KEY\": the environment variable NOT_THERE is not set"),
            Some("\"args\" must be an array of strings"),
            Some("both \"command\" and \"url\""),
            Some("neither \"command\" nor \"url\""),
            Some("\"url\""),
            Some("\"timeout\" must be a number of seconds"),
            None,
            None,
        ]) {
            match expected {
                Some(text) => assert!(problem.as_deref().unwrap().contains(text), "{problem:?}"),
                None => assert_eq!(*problem, None),
            }
        }
    }

    #[test]
    fn a_later_file_replaces_a_server_with_a_note() {
        let mut config = parse(r#"{ "mcpServers": { "a": { "command": "1" }, "b": { "command": "2" } } }"#).unwrap();
        let later = r#"{ "mcpServers": { "c": { "command": "3" }, "a": { "url": "http://h/" } } }"#;
        config.merge(Config::parse(later, "later.json", &here).unwrap());
        let names: Vec<_> = config.servers().iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "c"]);
        assert!(matches!(config.servers()[0].transport, Ok(TransportConfig::Http { .. })));
        assert_eq!(config.notes(), ["server \"a\" of mcp.json:1:19 is replaced by that of later.json:1:44"]);
    }

    #[test]
    fn a_timeout_that_looks_like_milliseconds_is_noted() {
        let config = parse(r#"{ "servers": { "s": { "command": "x", "timeout": 60000 } } }"#).unwrap();
        assert!(config.notes()[0].contains("milliseconds"));
    }

    #[test]
    fn debug_output_has_no_secret() {
        let config = parse(
            r#"{ "mcpServers": {
                "a": { "command": "x", "args": ["--key", "${TOKEN}"], "env": { "K": "${TOKEN}" } },
                "b": { "url": "https://u:${TOKEN}@h/mcp?key=${TOKEN}", "headers": { "X-Key": "${TOKEN}" } }
            } }"#,
        )
        .unwrap();
        assert_eq!(config.servers().iter().filter_map(ServerConfig::problem).count(), 0);
        let shown = format!("{config:?}");
        assert!(!shown.contains("s3cret") && shown.contains("X-Key"), "{shown}");
    }
}
