//! Names of the known tools, for calls that no marker announces.

use std::cmp::Ordering;

use super::window::Match;
use crate::catalog::Catalog;

/// What Llama 3.1 writes behind the names of its built-in tools: `brave_search.call(…)`.
const METHOD: &str = ".call";

/// The known names, in order, as they compare: `.`, `-` and `_` are one.
#[derive(Debug, Default)]
pub(super) struct Names {
    sorted: Vec<String>,
    /// The same with [`METHOD`] behind them.
    methods: Vec<String>,
}

impl Names {
    /// The names of a catalog's tools, alone and with their servers.
    pub(super) fn new(catalog: &Catalog) -> Self {
        let with_server = |tool: &crate::tool::Tool| tool.server.as_ref().map(|s| format!("{s}.{}", tool.name));
        let names = catalog.tools().flat_map(|tool| [Some(tool.name.clone()), with_server(tool)]);
        // What ends a name in a call's text cannot stand in one.
        let mut sorted: Vec<_> = names.flatten().filter(|name| !name.is_empty() && !name.contains('(')).collect();
        sorted.iter_mut().for_each(|name| *name = name.replace(['.', '-'], "_"));
        sorted.sort_unstable();
        sorted.dedup();
        let mut methods: Vec<_> = sorted.iter().map(|name| format!("{name}{}", METHOD.replace('.', "_"))).collect();
        methods.sort_unstable();
        Names { sorted, methods }
    }

    /// The first two bytes of each name with the parenthesis behind it.
    pub(super) fn leads(&self) -> Vec<[u8; 2]> {
        let forms = |byte: u8| if byte == b'_' { b"_.-".to_vec() } else { vec![byte] };
        let pairs = self
            .sorted
            .iter()
            .chain(&self.methods)
            .map(|name| (name.as_bytes()[0], name.as_bytes().get(1).copied().unwrap_or(b'(')));
        pairs
            .flat_map(|(first, second)| {
                let seconds = forms(second);
                forms(first)
                    .into_iter()
                    .flat_map(move |first| seconds.clone().into_iter().map(move |second| [first, second]))
            })
            .collect()
    }

    /// Bytes of the longest name.
    pub(super) fn longest(&self) -> usize {
        self.methods.iter().map(String::len).max().unwrap_or(0)
    }

    /// Whether a tool has this name.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.sorted.binary_search_by(|known| compare(known, name)).is_ok()
    }

    /// Whether `text` begins with a known name, or one with [`METHOD`] behind it,
    /// and an opening parenthesis; yields the length of both.
    pub(super) fn called(&self, text: &str, more: bool) -> Match<usize> {
        match memchr::memchr(b'(', text.as_bytes()) {
            Some(end) if self.knows(&text[..end]) || self.method(&text[..end]).is_some() => Match::Yes(end),
            Some(_) => Match::No,
            None if more && [&self.sorted, &self.methods].into_iter().any(|names| begins_one(names, text)) => {
                Match::Undecided
            }
            None => Match::No,
        }
    }

    /// The known name that `written` is with [`METHOD`] behind it.
    pub(super) fn method<'t>(&self, written: &'t str) -> Option<&'t str> {
        written.strip_suffix(METHOD).filter(|name| !self.knows(written) && self.knows(name))
    }
}

/// Whether one of the names, which are in order, begins with `text`.
fn begins_one(names: &[String], text: &str) -> bool {
    let next = names.partition_point(|known| compare(known, text) == Ordering::Less);
    let fits = |known: &String| {
        known.len() >= text.len() && known.bytes().zip(text.bytes()).all(|(known, found)| known == fold(found))
    };
    names.get(next).is_some_and(fits)
}

fn fold(byte: u8) -> u8 {
    if matches!(byte, b'.' | b'-') { b'_' } else { byte }
}

/// How a known name compares with a name as it was written.
fn compare(known: &str, written: &str) -> Ordering {
    known.bytes().cmp(written.bytes().map(fold))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::Tool;

    #[test]
    fn names_are_found_by_prefix_whatever_joins_their_words() {
        let tools = ["get", "get-weather", "notes.search"].map(|name| Tool::new(name).with_server("my-server"));
        let names = Names::new(&Catalog::from_tools(tools));
        for (text, found) in [
            ("get(", Match::Yes(3)),
            ("get_weather(city", Match::Yes(11)),
            ("get-weather(", Match::Yes(11)),
            ("my_server.get_weather(", Match::Yes(21)),
            ("get_wea", Match::Undecided),
            ("", Match::Undecided),
            ("notes-s", Match::Undecided),
            ("get_weathers", Match::No),
            ("get the weather", Match::No),
            ("Get(", Match::No),
            ("get.call(", Match::Yes(8)),
            ("get-weather.call(", Match::Yes(16)),
            ("get.ca", Match::Undecided),
            ("get_call(", Match::No),
            ("got.call(", Match::No),
        ] {
            assert_eq!(names.called(text, true), found, "{text}");
        }
        assert_eq!(names.called("get_wea", false), Match::No);
        assert_eq!(
            (names.method("get.call"), names.method("get"), names.method("got.call")),
            (Some("get"), None, None)
        );
        assert_eq!(Names::default().called("", true), Match::No);
    }
}
