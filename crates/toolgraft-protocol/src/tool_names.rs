//! Names of a client's tools in the prompt. A name that contains characters which a call's syntax
//! does not allow is replaced by a similar one; the client gets its own names back.

use std::collections::HashMap;

use toolgraft::wire::wire_name;

/// Maximum length, in characters, of a tool's name that the prompt shows unchanged: the limit of the client APIs.
const LONGEST: usize = 128;

/// Names of the client's tools that differ from their names in the prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ToolNames {
    /// Names in the prompt, by the client's names; only names that differ have an entry.
    shown: HashMap<String, String>,
}

impl ToolNames {
    /// Adds a client's tool and returns its name in the prompt; `is_taken` returns `true` for a name that is in use.
    pub(crate) fn add(&mut self, given: &str, is_taken: impl Fn(&str) -> bool) -> String {
        let fits = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
        let near: String = given.chars().map(|c| if fits(c) { c } else { '_' }).collect();
        // Too long or taken names get a hash, which keeps them distinct. The space makes
        // `wire_name` add one even to a name that it would otherwise return unchanged.
        let near = if near.chars().count() > LONGEST || is_taken(&near) {
            wire_name(None, &format!("{given} "))
        } else {
            near
        };
        if near != given {
            self.shown.insert(given.to_owned(), near.clone());
        }
        near
    }

    /// Returns the client's name for a tool of the prompt.
    pub(crate) fn given<'n>(&'n self, shown: &'n str) -> &'n str {
        self.shown.iter().find(|(_, near)| *near == shown).map_or(shown, |(given, _)| given)
    }

    /// Returns the name in the prompt for a client's tool.
    pub(crate) fn shown<'n>(&'n self, given: &'n str) -> &'n str {
        self.shown.get(given).map_or(given, String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn each_name_has_one_in_the_prompt_and_comes_back() {
        let (mut named, mut taken) = (ToolNames::default(), HashSet::new());
        let long = "x".repeat(300);
        let names = ["get", "a.b", "fs/read", "fs read", "fs_read", "天气", "größe", "a\nb", &long, "</tool_name>"];
        for name in names {
            let shown = named.add(name, |name| taken.contains(name));
            assert!(shown.chars().count() <= LONGEST && !shown.contains(['/', ' ', '\n', '<']), "{shown}");
            assert_eq!((named.given(&shown), named.shown(name)), (name, &*shown));
            assert!(taken.insert(shown), "{name}");
        }
        assert_eq!(named.shown("天气"), "天气");
        assert_eq!(named.shown("fs/read"), "fs_read");
        assert_ne!(named.shown("fs read"), "fs_read");
    }
}
