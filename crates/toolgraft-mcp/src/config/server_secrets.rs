//! The secrets in a server's entry.

use serde_json::{Map, Value, json};

use super::list::Config;
use super::servers::{ServerConfig, TransportConfig};
use toolgraft::secrets::{Secrecy, Secrets, names_secret};

/// Minimum length in characters of a secret. Shorter values are settings (`true`, `8080`, `en_GB`) that occur in many
/// texts.
const MIN_SECRET: usize = 8;

/// The secrets of one server's entry, to be hidden in texts about the server and from it.
#[derive(Debug, Clone, Default)]
pub(crate) struct ServerSecrets {
    /// Secrets to hide in errors and notes: all values that may be secret.
    pub(crate) in_errors: Secrets,
    /// Secrets to hide in the server's responses, which should lose nothing without need: only values whose name says
    /// that they are secret, and that are not plain words.
    pub(crate) in_answers: Secrets,
}

impl ServerSecrets {
    /// Returns these secrets extended by the access token of a login.
    pub(crate) fn and(&self, token: Option<&str>) -> Self {
        let token = Secrets::new(token);
        ServerSecrets { in_errors: self.in_errors.and(&token), in_answers: self.in_answers.and(&token) }
    }
}

impl ServerConfig {
    pub(crate) fn hidden(&self) -> ServerSecrets {
        let entry = self.transport.as_ref().map(as_entry).unwrap_or_default();
        let named = ["env", "headers"].into_iter().filter_map(|key| entry.get(key)?.as_object()).flatten();
        let named = named.chain(entry.get("oauth").and_then(|oauth| oauth.as_object()?.get_key_value("clientSecret")));
        let mut values: Vec<_> =
            named.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect();
        // `Secrecy` recognises these as secrets by name, form or place, so the rules by name need
        // not hold.
        values.extend(self.secrecy().unnamed().map(|secret| (CERTAIN.to_owned(), secret.to_owned())));
        let certain = |(name, value): &&(String, String)| names_secret(name) && !is_word(value);
        ServerSecrets { in_errors: secrets(values.iter()), in_answers: secrets(values.iter().filter(certain)) }
    }

    /// Returns the judgement of which parts of the server's entry are secret, for programs that show it.
    pub fn secrecy(&self) -> Secrecy {
        self.transport.as_ref().map(|transport| Secrecy::of(&as_entry(transport))).unwrap_or_default()
    }
}

impl Config {
    /// Returns the secrets of all servers' entries: values of variables and headers of at least 8 characters, and the
    /// part after the first word in them, like the token of `Bearer TOKEN`. A plain word of letters and underscores,
    /// such as `production`, counts only if its name says that it is secret, since recordings and responses are full of
    /// words. Arguments and parts of a URL count only if their name says so, as in `--api-key KEY`.
    pub fn secrets(&self) -> Secrets {
        self.servers.iter().map(|server| server.hidden().in_errors).fold(Secrets::default(), |all, more| all.and(&more))
    }
}

/// Returns the secrets among pairs of name and value: values of at least [`MIN_SECRET`] characters, and the part after
/// the first word in them, like the token of `Bearer TOKEN`. A plain word counts only if its name says that it is
/// secret.
fn secrets<'a>(values: impl Iterator<Item = &'a (String, String)>) -> Secrets {
    Secrets::new(values.flat_map(|(name, value)| {
        let value = value.trim();
        let after = value.split_once(' ').map(|(_, after)| after.trim());
        let secret = move |text: &&str| text.chars().count() >= MIN_SECRET && (names_secret(name) || !is_word(text));
        [Some(value), after].into_iter().flatten().filter(secret)
    }))
}

fn is_word(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_')
}

/// Name given to values that are known to be secret, whatever their own name is; [`names_secret`] accepts it.
const CERTAIN: &str = "secret";

/// Converts a transport to a server's entry in the form of a configuration file, with the keys that may contain
/// secrets.
fn as_entry(transport: &TransportConfig) -> Map<String, Value> {
    let entry = match transport {
        TransportConfig::Stdio { command, args, env, .. } => json!({ "command": command, "args": args, "env": env }),
        TransportConfig::Http { url, headers, oauth, .. } => {
            let login = [("clientId", &oauth.client_id), ("clientSecret", &oauth.client_secret)];
            let login: Map<String, Value> =
                login.into_iter().filter_map(|(name, value)| Some((name.to_owned(), json!(value.as_ref()?)))).collect();
            json!({ "url": url, "headers": headers, "oauth": login })
        }
    };
    match entry {
        Value::Object(entry) => entry,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Config {
        let token = |name: &str| (name == "TOKEN").then(|| "tok-123456".to_owned());
        Config::parse(text, "mcp.json", &token).unwrap()
    }

    #[test]
    fn secrets_are_long_values_of_variables_and_headers_and_no_plain_words() {
        let text = r#"{ "mcpServers": {
            "a": { "command": "x", "args": ["argument-1"],
                   "env": { "DSN": "db://u:pw@h", "MODE": "production", "DB_PASSWORD": "letmeinnow", "PORT": "8080808",
                            "clientId": "id-345678" } },
            "b": { "url": "https://h/mcp", "headers": { "Authorization": "Bearer ${TOKEN}", "Accept": "json" },
                   "oauth": { "clientId": "app-45678", "clientSecret": "sec-567890" } }
        } }"#;
        let all = "db://u:pw@h production letmeinnow 8080808 argument-1 Bearer tok-123456; tok-123456; json \
                   id-345678 app-45678 sec-567890";
        let hidden = "[redacted] production [redacted] 8080808 argument-1 [redacted]; [redacted]; json \
                      [redacted] app-45678 [redacted]";
        assert_eq!(parsed(text).secrets().hide(all), hidden);
    }

    #[test]
    fn secrets_in_arguments_and_urls_are_known_by_their_names() {
        let text = r#"{ "mcpServers": {
            "a": { "command": "x", "args": ["--api-key", "key-234567", "--token=tok-234567", "--root", "/home/ada"] },
            "b": { "url": "https://u:pass-34567@h/mcp?apikey=key-456789&team=team-56789" }
        } }"#;
        let all = "key-234567 tok-234567 /home/ada pass-34567 key-456789 team-56789";
        let hidden = "[redacted] [redacted] /home/ada [redacted] [redacted] team-56789";
        assert_eq!(parsed(text).secrets().hide(all), hidden);
    }

    #[test]
    fn an_answer_loses_only_what_is_called_a_secret() {
        let text = r#"{ "mcpServers": { "a": { "command": "x",
            "env": { "ROOT": "/srv/files", "API_KEY": "key-234567", "KEY_MODE": "disabled" } } } }"#;
        let hidden = parsed(text).servers()[0].hidden();
        let all = "/srv/files key-234567 disabled";
        assert_eq!(hidden.in_answers.hide(all), "/srv/files [redacted] disabled");
        assert_eq!(hidden.in_errors.hide(all), "[redacted] [redacted] [redacted]");
    }
}
