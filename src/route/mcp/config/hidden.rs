//! What of a server's entry nobody else should read.

use super::servers::{Config, ServerConfig, TransportConfig};
use crate::secrets::{Secrets, names_secret};

/// Values shorter than this, in characters, are settings (`true`, `8080`, `en_GB`)
/// that stand in many a text.
const MIN_SECRET: usize = 8;

/// The secrets of one server, for what is made of its words.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hidden {
    /// For errors and notes: all that may be secret.
    pub(crate) in_errors: Secrets,
    /// For what it answers, of which nothing may be lost without need: only what
    /// a name calls a secret and what is no plain word.
    pub(crate) in_answers: Secrets,
}

impl Hidden {
    /// These and a login's token.
    pub(crate) fn and(&self, token: Option<&str>) -> Self {
        let token = Secrets::new(token);
        Hidden { in_errors: self.in_errors.and(&token), in_answers: self.in_answers.and(&token) }
    }
}

impl ServerConfig {
    pub(crate) fn hidden(&self) -> Hidden {
        let values = self.transport.as_ref().map(named_values).unwrap_or_default();
        let certain = |(name, value): &&(String, String)| names_secret(name) && !is_word(value);
        Hidden { in_errors: secrets(values.iter()), in_answers: secrets(values.iter().filter(certain)) }
    }
}

impl Config {
    /// What the entries hold and nobody else should read: values of variables and
    /// headers of at least 8 characters, and what stands behind a first word in
    /// them, as the token of `Bearer TOKEN`. A plain word of letters and
    /// underscores, such as `production`, counts only where its name speaks of a
    /// secret: recordings and answers are full of words. Arguments and parts of a
    /// URL count where their name speaks of one, as in `--api-key KEY`.
    pub fn secrets(&self) -> Secrets {
        self.servers.iter().map(|server| server.hidden().in_errors).fold(Secrets::default(), |all, more| all.and(&more))
    }
}

/// Values that are long enough, and what stands behind a first word in them, as the
/// token of `Bearer TOKEN`. A plain word counts only where its name speaks of a secret.
fn secrets<'a>(values: impl Iterator<Item = &'a (String, String)>) -> Secrets {
    Secrets::new(values.flat_map(|(name, value)| {
        let value = value.trim();
        let behind = value.split_once(' ').map(|(_, behind)| behind.trim());
        let secret = move |text: &&str| text.chars().count() >= MIN_SECRET && (names_secret(name) || !is_word(text));
        [Some(value), behind].into_iter().flatten().filter(secret)
    }))
}

fn is_word(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_')
}

/// Values with the names that speak of them: variables, headers, parts of the URL,
/// and arguments behind a flag that names a secret.
fn named_values(transport: &TransportConfig) -> Vec<(String, String)> {
    match transport {
        TransportConfig::Stdio { args, env, .. } => {
            let pairs = args.windows(2).filter_map(|pair| Some((pair[0].strip_prefix('-')?, pair[1].as_str())));
            let joined = args.iter().filter_map(|arg| arg.strip_prefix('-')?.split_once('='));
            let flags = pairs.chain(joined).filter(|(flag, _)| names_secret(flag));
            let flags = flags.map(|(flag, value)| (flag.to_owned(), value.to_owned()));
            env.iter().map(|(name, value)| (name.clone(), value.clone())).chain(flags).collect()
        }
        TransportConfig::Http { url, headers, oauth, .. } => {
            let mut values: Vec<_> = headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
            values.extend(oauth.client_secret.iter().map(|secret| ("clientSecret".to_owned(), secret.clone())));
            if let Ok(url) = reqwest::Url::parse(url) {
                let query = url.query_pairs().filter(|(name, _)| names_secret(name));
                values.extend(query.map(|(name, value)| (name.into_owned(), value.into_owned())));
                values.extend(url.password().map(|password| ("password".to_owned(), password.to_owned())));
            }
            values
        }
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
                   "env": { "DSN": "db://u:pw@h", "MODE": "production", "DB_PASSWORD": "letmeinnow", "PORT": "8080808" } },
            "b": { "url": "https://h/mcp", "headers": { "Authorization": "Bearer ${TOKEN}", "Accept": "json" } }
        } }"#;
        let all = "db://u:pw@h production letmeinnow 8080808 argument-1 Bearer tok-123456; tok-123456; json";
        let hidden = "[redacted] production [redacted] 8080808 argument-1 [redacted]; [redacted]; json";
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
