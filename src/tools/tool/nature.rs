//! Classifies tools by their effect: by their annotations, or by their names if they have none.
//!
//! Names only affect what is shown and proposed, never what may run: the policy decides that, by annotations alone.

use super::Tool;

/// Verbs of tools that destroy something.
const DESTROYING: &[&str] =
    &["delete", "remove", "drop", "erase", "wipe", "purge", "destroy", "kill", "truncate", "uninstall", "reset"];

/// First words in the names of tools that look something up.
#[cfg(feature = "agent")]
const LOOKING: &[&str] =
    &["list", "get", "find", "search", "read", "show", "query", "fetch", "look", "describe", "view"];

/// First words in the names of tools that change something.
#[cfg(feature = "agent")]
const CHANGING: &[&str] = &[
    "add", "append", "apply", "assign", "book", "buy", "cancel", "change", "close", "commit", "create", "edit",
    "insert", "invite", "lock", "make", "merge", "move", "open", "order", "pay", "play", "post", "push", "put",
    "rename", "reply", "run", "save", "schedule", "send", "set", "start", "stop", "submit", "switch", "turn", "update",
    "upload", "write",
];

fn words(tool: &Tool) -> impl Iterator<Item = &str> {
    tool.name.split(['_', '-', '.'])
}

fn is_of(words: &[&str], part: &str) -> bool {
    words.iter().any(|word| part.eq_ignore_ascii_case(word))
}

/// Returns `true` if the tool is marked read-only, `false` if it is marked otherwise; `None` without that hint.
#[cfg(feature = "agent")]
fn says_it_reads(tool: &Tool) -> Option<bool> {
    let says = tool.annotations.as_ref().is_some_and(|hints| hints.read_only_hint.is_some());
    (says || tool.is_read_only()).then(|| tool.is_read_only())
}

/// Returns `true` if a call of the tool may destroy something, by its annotations or its name.
pub(crate) fn is_destructive(tool: &Tool) -> bool {
    let says = || tool.annotations.as_ref().is_some_and(|hints| hints.destructive_hint == Some(true));
    !tool.is_read_only() && (says() || words(tool).any(|part| is_of(DESTROYING, part)))
}

/// Returns `true` if the tool looks something up, by its annotations or its name.
#[cfg(feature = "agent")]
pub(crate) fn looks_up(tool: &Tool) -> bool {
    says_it_reads(tool).unwrap_or_else(|| words(tool).take(1).any(|part| is_of(LOOKING, part)))
}

/// Returns `true` if the tool's name says that it lists items.
#[cfg(feature = "agent")]
pub(crate) fn lists(tool: &Tool) -> bool {
    words(tool).next().is_some_and(|part| part.eq_ignore_ascii_case("list"))
}

/// Returns `true` if the tool may change something, by its annotations or its name.
#[cfg(feature = "agent")]
pub(crate) fn may_change(tool: &Tool) -> bool {
    let is_named = || is_destructive(tool) || words(tool).take(1).any(|part| is_of(CHANGING, part));
    says_it_reads(tool).map_or_else(is_named, |reads| !reads)
}

#[cfg(all(test, feature = "agent"))]
mod tests {
    use super::*;
    use crate::tools::Annotations;

    #[test]
    fn what_a_tool_says_counts_before_its_name() {
        for (name, says, looks, changes, destroys) in [
            ("get_ticket", None, true, false, false),
            ("get_ticket", Some(false), false, true, false),
            ("weather", None, false, false, false),
            ("assign_ticket", None, false, true, false),
            ("assign_ticket", Some(true), true, false, false),
            ("db-purge", None, false, true, true),
            ("delete_file", Some(true), true, false, false),
            ("playlist", None, false, false, false),
        ] {
            let annotations = Annotations { read_only_hint: says, ..Annotations::default() };
            let tool = Tool { annotations: Some(annotations), ..Tool::new(name) };
            let found = (looks_up(&tool), may_change(&tool), is_destructive(&tool));
            assert_eq!(found, (looks, changes, destroys), "{name} {says:?}");
        }
    }
}
