//! Names of the known tools, for calls that no marker announces.

use std::cmp::Ordering;

use crate::json::window::{Match, No, Undecided, leading_space};
use crate::tools::wire_name::{name_beside, own_names};
use crate::tools::{Catalog, Tool};

/// The suffix that Llama 3.1 writes after the names of its built-in tools: `brave_search.call(…)`.
const METHOD: &str = ".call";

/// Sorted names of the known tools; `.`, `-` and `_` in them compare as equal.
#[derive(Debug, Clone, Default)]
pub(crate) struct KnownNames {
    sorted: Vec<String>,
    /// Set of the ASCII bytes that a known name may begin with, one bit each; bit 0 is for all other bytes.
    firsts: u128,
    /// Sorted names of the known tools with [`METHOD`] after each.
    methods: Vec<String>,
}

impl KnownNames {
    /// Collects the names of a catalog's tools: alone, as `server.tool`, and as requests to the model name them.
    pub(crate) fn new(catalog: &Catalog) -> Self {
        let taken = own_names(catalog.tools());
        let with_server = |tool: &Tool| tool.server.as_ref().map(|s| format!("{s}.{}", tool.name));
        let names = catalog
            .tools()
            .flat_map(|tool| [Some(tool.name.clone()), with_server(tool), Some(name_beside(&taken, tool))]);
        // A name cannot contain what ends it in a call's text.
        let mut sorted: Vec<_> = names.flatten().filter(|name| !name.is_empty() && !name.contains('(')).collect();
        sorted.iter_mut().for_each(|name| *name = name.replace(['.', '-'], "_"));
        sorted.sort_unstable();
        sorted.dedup();
        let mut methods: Vec<_> = sorted.iter().map(|name| format!("{name}{}", METHOD.replace('.', "_"))).collect();
        methods.sort_unstable();
        let mut names = KnownNames { sorted, firsts: 0, methods };
        names.firsts = names.leads().iter().fold(0, |bits, [first, _]| bits | bit(*first));
        names
    }

    /// Returns `true` if a known name may begin with the first byte of `text`, or if `text` is empty.
    #[inline]
    pub(crate) fn may_begin(&self, text: &str) -> bool {
        text.bytes().next().is_none_or(|first| self.firsts & bit(first) != 0)
    }

    /// Returns the first two bytes of each known name in each spelling; after a name of one byte the second is `(`.
    pub(crate) fn leads(&self) -> Vec<[u8; 2]> {
        let forms = |byte: u8, forms: &[u8]| if byte == b'_' { forms.to_vec() } else { vec![byte] };
        let of_name = |name: &String| {
            let second = name.as_bytes().get(1).copied().unwrap_or(b'(');
            let (firsts, seconds) = (forms(name.as_bytes()[0], b"_.-"), forms(second, b"_.-"));
            firsts.into_iter().flat_map(move |first| seconds.clone().into_iter().map(move |second| [first, second]))
        };
        self.sorted.iter().chain(&self.methods).flat_map(of_name).collect()
    }

    /// Returns the length in bytes of the longest known name with [`METHOD`] after it.
    pub(crate) fn longest(&self) -> usize {
        self.methods.iter().map(String::len).max().unwrap_or(0)
    }

    /// Returns `true` if a known tool has this name.
    pub(crate) fn knows(&self, name: &str) -> bool {
        self.sorted.binary_search_by(|known| compare(known, name)).is_ok()
    }

    /// Returns `true` if `text` is the beginning of a known name.
    pub(crate) fn may_become(&self, text: &str) -> bool {
        begins_one(&self.sorted, text)
    }

    /// Matches a known name, or one with [`METHOD`] after it, and an opening parenthesis at the start of `text`.
    ///
    /// Returns the length up to the parenthesis.
    pub(crate) fn called(&self, text: &str, more: bool) -> Match<usize> {
        if !self.may_begin(text) {
            return Err(No);
        }
        match memchr::memchr(b'(', text.as_bytes()) {
            Some(end) if self.knows(&text[..end]) || self.method(&text[..end]).is_some() => Ok(end),
            Some(_) => Err(No),
            None if more && [&self.sorted, &self.methods].into_iter().any(|names| begins_one(names, text)) => {
                Err(Undecided)
            }
            None => Err(No),
        }
    }

    /// Matches a known name at the start of `text`, then white space and an object.
    ///
    /// Returns the name's length, and the offset at which the object begins.
    pub(crate) fn on_a_line(&self, text: &str, more: bool) -> Match<(usize, usize)> {
        if !self.may_begin(text) {
            return Err(No);
        }
        let undecided = |fits: bool| if more && fits { Err(Undecided) } else { Err(No) };
        let Some(end) = text.find([' ', '\t', '\r', '\n']) else { return undecided(begins_one(&self.sorted, text)) };
        let name = &text[..end];
        if !self.knows(name) {
            return Err(No);
        }
        let at = end + leading_space(&text[end..]);
        match text.as_bytes().get(at) {
            Some(b'{') => Ok((name.len(), at)),
            Some(_) => Err(No),
            None => undecided(true),
        }
    }

    /// Returns the known name before the suffix [`METHOD`] of `written`; `None` without one, or if all of `written` is
    /// a known name.
    pub(crate) fn method<'t>(&self, written: &'t str) -> Option<&'t str> {
        // A tool whose own name ends so is meant itself.
        written.strip_suffix(METHOD).filter(|name| !self.knows(written) && self.knows(name))
    }
}

/// Returns the bit of `byte` in the set of first bytes; bytes that are not ASCII share bit 0.
fn bit(byte: u8) -> u128 {
    1 << if byte.is_ascii() { byte } else { 0 }
}

/// Returns `true` if `text` is the beginning of one of the names, which are sorted.
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

/// Compares a known name with a name from the text, in which `.` and `-` count as `_`.
fn compare(known: &str, written: &str) -> Ordering {
    known.bytes().cmp(written.bytes().map(fold))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_by_prefix_whatever_joins_their_words() {
        let tools = ["get", "get-weather", "notes.search"].map(|name| Tool::new(name).with_server("my-server"));
        let names = KnownNames::new(&Catalog::from_tools(tools));
        for (text, found) in [
            ("get(", Ok(3)),
            ("get_weather(city", Ok(11)),
            ("get-weather(", Ok(11)),
            ("my_server.get_weather(", Ok(21)),
            ("get_wea", Err(Undecided)),
            ("", Err(Undecided)),
            ("notes-s", Err(Undecided)),
            ("get_weathers", Err(No)),
            ("get the weather", Err(No)),
            ("Get(", Err(No)),
            ("get\\_weather(", Err(No)),
            ("\\get(", Err(No)),
            ("get.call(", Ok(8)),
            ("get-weather.call(", Ok(16)),
            ("get.ca", Err(Undecided)),
            ("get_call(", Err(No)),
            ("got.call(", Err(No)),
        ] {
            assert_eq!(names.called(text, true), found, "{text}");
        }
        for (text, found) in [
            ("get\n{", Ok((3, 4))),
            ("get-weather \r\n\n {\"a\"", Ok((11, 16))),
            ("my_server.get\n", Err(Undecided)),
            ("get", Err(Undecided)),
            ("get ", Err(Undecided)),
            ("get x\n{", Err(No)),
            ("get\nx", Err(No)),
            ("got\n{", Err(No)),
        ] {
            assert_eq!(names.on_a_line(text, true), found, "{text}");
        }
        assert_eq!(names.called("get_wea", false), Err(No));
        assert_eq!(
            (names.method("get.call"), names.method("get"), names.method("got.call")),
            (Some("get"), None, None)
        );
        assert_eq!(KnownNames::default().called("", true), Err(No));
    }
}
