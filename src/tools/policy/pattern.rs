//! Parses a pattern into its parts for server and tool.
//!
//! ```text
//! read_file          a bare name: of which server, the catalog must say
//! files.read_file    server files, tool read_file: cut at the first dot
//! my.files/read.all  server my.files, tool read.all: cut at the first slash
//! math.\*            server math, the tool whose name is a star
//! ```
//!
//! A split pattern is matched part by part: `ev.*` does not match a tool whose own name is `ev.show`, a name that
//! another server may have chosen on purpose.

/// Element of a parsed pattern for names of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PatternPiece {
    /// `*` in a pattern, which matches any run of characters, also an empty one.
    Any,
    /// `?` in a pattern, which matches any single character.
    One,
    /// `/` or `.`, which may separate the server from the tool.
    Cut(char),
    Literal(char),
}

impl PatternPiece {
    fn takes(self, c: char) -> bool {
        match self {
            PatternPiece::Any => false,
            PatternPiece::One => true,
            PatternPiece::Cut(own) | PatternPiece::Literal(own) => own == c,
        }
    }
}

/// Characters that a backslash before them makes literal.
const ESCAPED: &[char] = &['*', '?', '.', '/', '\\', '('];

/// Parsed pattern for names of tools, with or without a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    pieces: Vec<PatternPiece>,
    /// Index of the piece that separates server and tool, if there is one.
    cut: Option<usize>,
}

impl Pattern {
    pub(super) fn read(text: &str) -> Self {
        let mut pieces = Vec::with_capacity(text.len());
        let mut rest = text.chars().peekable();
        while let Some(c) = rest.next() {
            pieces.push(match c {
                '\\' => match rest.next_if(|next| ESCAPED.contains(next)) {
                    Some(literal) => PatternPiece::Literal(literal),
                    None => PatternPiece::Literal('\\'),
                },
                '*' => PatternPiece::Any,
                '?' => PatternPiece::One,
                '/' | '.' => PatternPiece::Cut(c),
                c => PatternPiece::Literal(c),
            });
        }
        let first = |sign: char| pieces.iter().position(|piece| *piece == PatternPiece::Cut(sign));
        // In `my.files/read.all` the slash separates, so the dots belong to the names.
        let cut = first('/').or_else(|| first('.'));
        Pattern { pieces, cut }
    }

    /// Returns `true` if the pattern has no wildcard, so it matches exactly one name.
    pub(super) fn is_exact(&self) -> bool {
        !self.pieces.iter().any(|piece| matches!(piece, PatternPiece::Any | PatternPiece::One))
    }

    /// Returns the tool name that the pattern matches, if it has neither a wildcard nor a server.
    pub(super) fn bare_name(&self) -> Option<String> {
        (self.cut.is_none() && self.is_exact()).then(|| spelled(&self.pieces))
    }

    /// Returns `true` if the pattern matches this tool: server and tool part by part, or a bare pattern the tool alone.
    /// A tool without a server has a single name, which may contain a dot or a slash.
    pub(super) fn matches(&self, server: Option<&str>, tool: &str) -> bool {
        match (self.cut, server) {
            (Some(at), Some(server)) => glob(&self.pieces[..at], server) && glob(&self.pieces[at + 1..], tool),
            // A wildcard of a split pattern stays inside its part: `ev.*` does not match a tool without a
            // server whose name is `ev.show`.
            (_, None) => self.is_exact() && glob(&self.pieces, tool) || self.cut.is_none() && glob(&self.pieces, tool),
            (None, Some(_)) => glob(&self.pieces, tool),
        }
    }

    /// Returns `true` if the pattern matches this tool's name, or its server and name joined, wherever it is split.
    pub(super) fn may_match(&self, server: Option<&str>, tool: &str) -> bool {
        let joined = |sign: char| server.is_some_and(|server| glob(&self.pieces, &format!("{server}{sign}{tool}")));
        // A denial applies to everything that its author may have meant: the tool alone, or both names
        // joined.
        self.matches(server, tool) || glob(&self.pieces, tool) || joined('.') || joined('/')
    }

    /// Returns server and tool for each dot at which an exact pattern without a slash can be split; the tool's part is
    /// a pattern.
    pub(super) fn readings(&self) -> Vec<(String, String)> {
        let has_slash = self.pieces.contains(&PatternPiece::Cut('/'));
        let dots = self.pieces.iter().enumerate().filter(|(_, piece)| **piece == PatternPiece::Cut('.'));
        let parts = dots.map(|(at, _)| (&self.pieces[..at], &self.pieces[at + 1..]));
        let named = |server: &[PatternPiece]| {
            !server.iter().any(|piece| matches!(piece, PatternPiece::Any | PatternPiece::One))
        };
        // With a slash it is clear where the server ends.
        let named = parts.filter(|(server, _)| !has_slash && named(server));
        named.map(|(server, tool)| (spelled(server), written(tool))).collect()
    }
}

/// Returns the pattern that matches only this tool of this server.
pub(super) fn exactly(server: &str, tool: &str) -> String {
    // The first slash is the separator, so dots and later slashes are literal.
    format!("{}/{}", server_part(server), escaped(tool, &['*', '?', '\\', '(']))
}

/// Escapes a server's name for the part before the slash.
pub(super) fn server_part(name: &str) -> String {
    escaped(name, &['*', '?', '\\', '/', '('])
}

/// Returns the pattern without a server that matches exactly this tool name.
pub(super) fn bare(name: &str) -> String {
    escaped(name, ESCAPED)
}

fn escaped(name: &str, signs: &[char]) -> String {
    let mut text = String::with_capacity(name.len());
    for c in name.chars() {
        if signs.contains(&c) {
            text.push('\\');
        }
        text.push(c);
    }
    text
}

/// Returns the literal characters of the pieces of a pattern, without its wildcards.
fn spelled(pieces: &[PatternPiece]) -> String {
    let literal = |piece: &PatternPiece| match piece {
        PatternPiece::Cut(c) | PatternPiece::Literal(c) => Some(*c),
        PatternPiece::Any | PatternPiece::One => None,
    };
    pieces.iter().filter_map(literal).collect()
}

/// Returns the text of a pattern with these pieces.
fn written(pieces: &[PatternPiece]) -> String {
    let one = |piece: &PatternPiece| match piece {
        PatternPiece::Any => "*".to_owned(),
        PatternPiece::One => "?".to_owned(),
        PatternPiece::Cut(c) => c.to_string(),
        PatternPiece::Literal(c) => bare(&c.to_string()),
    };
    pieces.iter().map(one).collect()
}

/// Returns `true` if a pattern with wildcards matches the whole text.
fn glob(pattern: &[PatternPiece], text: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    let (mut p, mut t) = (0, 0);
    // The index of the last star, and the end of the text that it has consumed.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(PatternPiece::Any) => {
                star = Some((p, t));
                p += 1;
            }
            Some(piece) if piece.takes(text[t]) => {
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
    pattern[p..].iter().all(|piece| *piece == PatternPiece::Any)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            (r"\*", "*", true),
            (r"\*", "anything", false),
            (r"a\?", "a?", true),
            (r"a\?", "ab", false),
            (r"C:\x", r"C:\x", true),
        ] {
            assert_eq!(glob(&Pattern::read(pattern).pieces, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn a_name_that_is_escaped_means_itself_alone() {
        let names = ["read", "*", "a?b", "x.y", "a/b", r"a\*", r"\", "天气", ""];
        for (server, tool) in names.iter().flat_map(|server| names.iter().map(move |tool| (*server, *tool))) {
            let pattern = Pattern::read(&exactly(server, tool));
            assert!(pattern.is_exact(), "{server} {tool}");
            for (other, name) in names.iter().flat_map(|other| names.iter().map(move |name| (*other, *name))) {
                assert_eq!(pattern.matches(Some(other), name), (other, name) == (server, tool), "{server} {tool}");
            }
        }
    }

    #[test]
    fn a_pattern_with_several_dots_can_be_cut_at_each() {
        let pair = |server: &str, tool: &str| (server.to_owned(), tool.to_owned());
        assert_eq!(Pattern::read("a.b.c*").readings(), [pair("a", "b.c*"), pair("a.b", "c*")]);
        assert_eq!(Pattern::read("*.b.c").readings(), []);
        assert_eq!(Pattern::read(r"a\.b.\*").readings(), [pair("a.b", r"\*")]);
        assert_eq!(Pattern::read("a.b/c.d").readings(), []);
    }
}
