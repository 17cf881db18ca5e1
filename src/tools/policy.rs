//! Which calls run, which are asked about, which are denied.
//!
//! ```
//! use toolgraft::Policy;
//! use toolgraft::tools::{Decision, DefaultDecision};
//!
//! let policy = Policy::new(DefaultDecision::Deny).allow("files/read_*").deny("files/read_secret");
//! assert_eq!(policy.decide(Some("files"), "read_file", None), Decision::Allow);
//! assert_eq!(policy.decide(Some("files"), "read_secret", None), Decision::Deny);
//! assert_eq!(policy.decide(Some("files"), "write_file", None), Decision::Deny);
//! ```

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::tools::Annotations;

/// Decides about calls by the names of server and tool.
///
/// Patterns are globs over `server/tool` or `server.tool`: `*` stands for any run
/// of characters, `?` for one. A pattern without a `/` is matched against the
/// tool's name alone too.
/// The first rule that speaks decides: `deny`, then `ask`, then `allow`, then
/// [`DefaultDecision`]. What a server says of its tools is not trusted and may only
/// tighten: a tool that calls itself destructive is asked about each time where
/// it would be asked about once, or allowed by a pattern with a wildcard.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Policy {
    allow: Vec<String>,
    ask: Vec<String>,
    deny: Vec<String>,
    otherwise: DefaultDecision,
}

/// What happens to a call that no pattern matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DefaultDecision {
    /// It is denied: the default for a program.
    #[default]
    Deny,
    /// It is asked about, each time.
    Ask,
    /// It is asked about until the tool was approved once: the default at a terminal.
    AskOnce,
    /// It runs.
    Allow,
}

/// What a [`Policy`] decides about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Decision {
    /// It runs.
    Allow,
    /// It runs if the tool was approved before; else it is asked about.
    AskOnce,
    /// It is asked about.
    Ask,
    /// It does not run.
    Deny,
}

impl Policy {
    /// A policy without patterns.
    pub fn new(otherwise: DefaultDecision) -> Self {
        Policy { otherwise, ..Policy::default() }
    }

    /// Lets calls that match the pattern run.
    #[must_use]
    pub fn allow(mut self, pattern: impl Into<String>) -> Self {
        self.allow.push(pattern.into());
        self
    }

    /// Has calls that match the pattern asked about, each time.
    #[must_use]
    pub fn ask(mut self, pattern: impl Into<String>) -> Self {
        self.ask.push(pattern.into());
        self
    }

    /// Denies calls that match the pattern.
    #[must_use]
    pub fn deny(mut self, pattern: impl Into<String>) -> Self {
        self.deny.push(pattern.into());
        self
    }

    /// Whether a `deny` pattern matches the tool: the only rule for tools that run nothing.
    pub fn denies(&self, server: Option<&str>, tool: &str) -> bool {
        self.deny.iter().any(|p| matches(p, server, tool))
    }

    /// Whether an `allow` pattern names the tool itself, without a wildcard.
    #[cfg(feature = "agent")]
    pub(crate) fn names(&self, server: Option<&str>, tool: &str) -> bool {
        self.allow.iter().any(|p| !p.contains(['*', '?']) && matches(p, server, tool))
    }

    /// Decides about a call of a tool; a resource is read by the tool
    /// [`ACCESS_RESOURCE`](crate::tools::ACCESS_RESOURCE).
    pub fn decide(&self, server: Option<&str>, tool: &str, annotations: Option<&Annotations>) -> Decision {
        let matching = |patterns: &'_ [String]| patterns.iter().any(|p| matches(p, server, tool));
        if self.denies(server, tool) {
            return Decision::Deny;
        }
        if matching(&self.ask) {
            return Decision::Ask;
        }
        let destructive = annotations.and_then(|a| a.destructive_hint) == Some(true);
        let mut allowing = self.allow.iter().filter(|p| matches(p, server, tool)).peekable();
        let decision = if allowing.peek().is_some() {
            // Whoever named the tool itself knew what it does.
            if allowing.any(|p| !p.contains(['*', '?'])) {
                return Decision::Allow;
            }
            Decision::Allow
        } else {
            match self.otherwise {
                DefaultDecision::Deny => Decision::Deny,
                DefaultDecision::Ask => Decision::Ask,
                DefaultDecision::AskOnce => Decision::AskOnce,
                DefaultDecision::Allow => return Decision::Allow,
            }
        };
        if destructive { decision.max(Decision::Ask) } else { decision }
    }
}

/// Whether the model itself wants a call approved, as prompts of Cline's style have
/// it say. It may only tighten: its word that none is needed counts for nothing.
pub fn wants_approval(arguments: &Map<String, Value>) -> bool {
    match arguments.get("requires_approval") {
        Some(Value::Bool(wants)) => *wants,
        Some(Value::String(wants)) => wants.trim().eq_ignore_ascii_case("true"),
        _ => false,
    }
}

/// Whether a pattern matches a tool.
pub fn matches(pattern: &str, server: Option<&str>, tool: &str) -> bool {
    match (pattern.contains('/'), server) {
        (true, Some(server)) => glob(pattern, &format!("{server}/{tool}")),
        (false, Some(server)) if pattern.contains('.') => {
            glob(pattern, tool) || glob(pattern, &format!("{server}.{tool}"))
        }
        _ => glob(pattern, tool),
    }
}

/// Whether a glob of `*` and `?` matches the whole text.
fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    // Where the last star stands, and how much of the text it has taken.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(c) if *c == '?' || *c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => {
                let Some((at, taken)) = star else { return false };
                star = Some((at, taken + 1));
                p = at + 1;
                t = taken + 1;
            }
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    const DESTRUCTIVE: Annotations = Annotations {
        read_only_hint: None,
        destructive_hint: Some(true),
        idempotent_hint: None,
        open_world_hint: None,
    };

    #[test]
    fn globs_match_whole_names() {
        for (pattern, text, expected) in [
            ("read_file", "read_file", true),
            ("read_*", "read_file", true),
            ("*", "", true),
            ("*_file", "read_file_now", false),
            ("*a*b*c", "xaxbxbxc", true),
            ("r?ad", "read", true),
            ("r?ad", "rad", false),
            ("", "x", false),
            ("天气*", "天气查询", true),
        ] {
            assert_eq!(glob(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn a_pattern_with_a_slash_or_a_dot_names_the_server_too() {
        for (pattern, server, expected) in [
            ("web/search", Some("web"), true),
            ("web/*", Some("web"), true),
            ("web/*", Some("files"), false),
            ("web/search", None, false),
            ("search", Some("files"), true),
            ("search", None, true),
            ("*", Some("files"), true),
            ("*/search", Some("a/b"), true),
            ("web.search", Some("web"), true),
            ("web.*", Some("files"), false),
            ("*.sea*", Some("web"), true),
            ("web.*", None, false),
        ] {
            assert_eq!(matches(pattern, server, "search"), expected, "{pattern} {server:?}");
        }
    }

    #[test]
    fn what_is_not_allowed_is_denied_by_default() {
        assert_eq!(Policy::default().decide(Some("web"), "search", None), Decision::Deny);
        assert_eq!(Policy::default().allow("web/*").decide(Some("web"), "search", None), Decision::Allow);
    }

    #[test]
    fn deny_goes_before_ask_and_ask_before_allow() {
        let policy = Policy::new(DefaultDecision::AskOnce).allow("*").ask("web/*").deny("web/post");
        assert_eq!(policy.decide(Some("web"), "post", None), Decision::Deny);
        assert_eq!(policy.decide(Some("web"), "search", None), Decision::Ask);
        assert_eq!(policy.decide(Some("files"), "read", None), Decision::Allow);
        assert_eq!(Policy::new(DefaultDecision::AskOnce).decide(None, "x", None), Decision::AskOnce);
    }

    #[test]
    fn annotations_only_tighten() {
        let hint = Some(&DESTRUCTIVE);
        let once = Policy::new(DefaultDecision::AskOnce);
        assert_eq!(once.decide(None, "wipe", hint), Decision::Ask);
        assert_eq!(once.clone().allow("*").decide(None, "wipe", hint), Decision::Ask);
        assert_eq!(once.clone().allow("wipe").decide(None, "wipe", hint), Decision::Allow);
        let read_only = Annotations { read_only_hint: Some(true), ..Annotations::default() };
        assert_eq!(once.decide(None, "look", Some(&read_only)), Decision::AskOnce);
        assert_eq!(Policy::default().decide(None, "wipe", hint), Decision::Deny);
    }
}
