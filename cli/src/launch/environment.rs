//! The environment of a program that is started. It is built from a list, as that of an MCP server
//! is, so that no key of this process reaches the program by accident.

use std::ffi::OsString;

use super::clients::Client;
use crate::base::Failure;
use crate::chat::Endpoint;
use toolgraft_mcp::is_inherited;

/// Returns the names of the variables that every program inherits, in addition to those for every MCP server; a
/// trailing `*` matches any suffix.
fn passed() -> impl Iterator<Item = &'static str> {
    include_str!("passed.txt").lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace)
}

/// The variables of the option `--env`.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// Names of variables to inherit from this process.
    names: Vec<String>,
    /// Names of variables to set, with their values.
    pub(super) set: Vec<(String, String)>,
}

impl Asked {
    /// Parses the values of `--env`; an error if a variable contains the endpoint's API key.
    pub(super) fn read(options: &[String], endpoint: &Endpoint) -> Result<Self, Failure> {
        let mut asked = Asked::default();
        for option in options {
            let (name, value) = option.split_once('=').map_or((option.as_str(), None), |(name, v)| (name, Some(v)));
            let failed = |why: &str| Err(Failure::usage(format!("--env {name}: {why}")));
            if name.is_empty() {
                return Err(Failure::usage(format!("--env {option:?}: expected NAME or NAME=VALUE")));
            }
            let Some(text) = value.map(OsString::from).or_else(|| std::env::var_os(name)) else {
                return failed(&format!("the variable is not set in this environment: write {name}=VALUE"));
            };
            if text.to_str().is_some_and(|text| endpoint.has_key_in(text)) {
                return failed("the variable has the endpoint's key, which programs do not get: leave it out");
            }
            match value {
                Some(value) => asked.set.push((name.to_owned(), value.to_owned())),
                None => asked.names.push(name.to_owned()),
            }
        }
        Ok(asked)
    }

    /// Returns the variables of this process that the program inherits. A variable that contains the endpoint's API key
    /// is excluded, whatever its name.
    pub(super) fn environment(&self, client: &Client, endpoint: &Endpoint) -> Vec<(OsString, OsString)> {
        let is_listed = |name: &str| {
            let fits = |pattern: &str| matches(pattern, name);
            (passed().any(fits) || client.passes.iter().any(|pattern| fits(pattern)))
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

/// Returns `true` if a name matches a pattern, in which a trailing `*` matches any suffix.
fn matches(pattern: &str, name: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == name, |begin| name.starts_with(begin))
}
