//! The environment of a program that is started. It is built from a list, as that of an MCP server
//! is, so that no key of this process reaches the program by accident.

use std::ffi::OsString;

use super::clients::Client;
use crate::base::Failure;
use crate::chat::Endpoint;
use toolgraft_mcp::is_inherited;

/// Variables that every program gets beside those that every MCP server gets; `*` stands for any
/// end of a name.
const PASSED: [&[&str]; 4] = [TERMINAL, TOOLS, LANGUAGES, NETWORK];

/// The terminal and the desktop.
const TERMINAL: &[&str] = &[
    "COLORFGBG", "COLORTERM", "COLUMNS", "CI", "CLICOLOR*", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "FORCE_COLOR",
    "LANGUAGE", "LINES", "NO_COLOR", "STY", "TERMINFO*", "TERM_*", "TMUX*", "WAYLAND_DISPLAY", "WSL*", "XAUTHORITY",
    "XDG_*",
];

/// Tools that agents call.
const TOOLS: &[&str] = &[
    "BROWSER", "EDITOR", "GIT_*", "GPG_TTY", "LESS", "MANPATH", "PAGER", "SSH_AGENT_PID", "SSH_AUTH_SOCK",
    "SSH_CONNECTION", "SSH_TTY", "VISUAL",
];

/// Languages and their packages.
const LANGUAGES: &[&str] = &[
    "BUN_INSTALL", "CARGO_HOME", "CONDA_*", "DENO_DIR", "GOBIN", "GOPATH", "GOROOT", "JAVA_HOME", "NODE_OPTIONS",
    "NODE_PATH", "NPM_CONFIG_PREFIX", "NVM_*", "PNPM_HOME", "PYENV_*", "PYTHONPATH", "RUSTUP_HOME", "VIRTUAL_ENV*",
    "VOLTA_HOME",
];

/// The way to the network.
const NETWORK: &[&str] = &[
    "ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "all_proxy", "https_proxy", "http_proxy", "no_proxy",
    "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "SSL_CERT_DIR", "SSL_CERT_FILE",
];

/// What `--env` asks for.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// Variables of this process.
    names: Vec<String>,
    /// Variables with their values.
    pub(super) set: Vec<(String, String)>,
}

impl Asked {
    /// Reads the options.
    pub(super) fn read(options: &[String], endpoint: &Endpoint) -> Result<Self, Failure> {
        let mut asked = Asked::default();
        for option in options {
            let (name, value) = option.split_once('=').map_or((option.as_str(), None), |(name, v)| (name, Some(v)));
            let failed = |why: &str| Err(Failure::usage(format!("--env {name}: {why}")));
            if name.is_empty() {
                return Err(Failure::usage(format!("--env {option:?}: expected NAME or NAME=VALUE")));
            }
            let Some(text) = value.map(OsString::from).or_else(|| std::env::var_os(name)) else {
                return failed(&format!("no variable of this name is set here: write {name}=VALUE"));
            };
            if text.to_str().is_some_and(|text| endpoint.has_key_in(text)) {
                return failed("it has the endpoint's key, which stays with toolgraft: leave it out");
            }
            match value {
                Some(value) => asked.set.push((name.to_owned(), value.to_owned())),
                None => asked.names.push(name.to_owned()),
            }
        }
        Ok(asked)
    }

    /// The variables of this process that the program gets. One that holds the endpoint's key is
    /// left out, whatever its name.
    pub(super) fn environment(&self, client: &Client, endpoint: &Endpoint) -> Vec<(OsString, OsString)> {
        let is_listed = |name: &str| {
            PASSED
                .concat()
                .into_iter()
                .chain(client.passes.iter().map(String::as_str))
                .any(|pattern| matches(pattern, name))
                && !client.unset.iter().any(|unset| unset == name)
        };
        std::env::vars_os()
            .filter(|(name, value)| {
                let known = |name: &str| is_listed(name) || self.names.iter().any(|asked| asked == name);
                (is_inherited(name, value) || name.to_str().is_some_and(known))
                    && !endpoint.has_key_in(&value.to_string_lossy())
            })
            .collect()
    }
}

/// Returns `true` if the pattern, which may end with `*`, has this name.
fn matches(pattern: &str, name: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == name, |begin| name.starts_with(begin))
}
