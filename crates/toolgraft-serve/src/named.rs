//! What a client's tools are called in the prompt: by their own names, where those hold nothing
//! that a call's syntax may not, else by the nearest. The client gets its own names back.

use std::collections::HashMap;

use toolgraft::wire::wire_name;

/// Longest name that the prompt shows as it is, in characters: what the interfaces take.
const LONGEST: usize = 128;

/// The client's names of tools that the prompt calls otherwise.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Named {
    /// By the names in the prompt.
    given: HashMap<String, String>,
    /// By the client's own.
    shown: HashMap<String, String>,
}

impl Named {
    /// The name in the prompt of a further tool; `is_taken` says which are.
    pub(super) fn add(&mut self, given: &str, is_taken: impl Fn(&str) -> bool) -> String {
        let fits = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
        let near: String = given.chars().map(|c| if fits(c) { c } else { '_' }).collect();
        // A hash tells apart what is too long or taken; a name that the wire holds gets one by the space.
        let near = if near.chars().count() > LONGEST || is_taken(&near) {
            wire_name(None, &format!("{given} "))
        } else {
            near
        };
        if near != given {
            self.given.insert(near.clone(), given.to_owned());
            self.shown.insert(given.to_owned(), near.clone());
        }
        near
    }

    /// What the client calls a tool of the prompt.
    pub(super) fn given<'n>(&'n self, shown: &'n str) -> &'n str {
        self.given.get(shown).map_or(shown, String::as_str)
    }

    /// What the prompt calls a tool of the client's.
    pub(super) fn shown<'n>(&'n self, given: &'n str) -> &'n str {
        self.shown.get(given).map_or(given, String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn each_name_has_one_in_the_prompt_and_comes_back() {
        let (mut named, mut taken) = (Named::default(), HashSet::new());
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
