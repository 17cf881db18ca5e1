//! Every text that the program can show to a user or a model, in `messages.txt`, to be read from first to last.
//!
//! The test reads the string literals of the sources, and the help of options and commands, which is in doc comments.
//! `UPDATE=1 cargo test --test project messages` writes the file anew.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::architecture::collect;

/// The source folders of everything that users run.
const PRODUCT: [&str; 10] = [
    "src",
    "crates/toolgraft-files/src",
    "crates/toolgraft-mcp/src",
    "crates/toolgraft-protocol/src",
    "crates/toolgraft-raster/src",
    "crates/toolgraft-serve/src",
    "cli/src",
    "bindings/common/src",
    "bindings/python/src",
    "bindings/node/src",
];
/// Files whose texts are those of others: tokens and prompts of models, messages of endpoints and of servers that a
/// probe imitates, and words that users write.
const FOREIGN: [&str; 9] = [
    "cli/src/probe/jobs/servers.rs",
    "crates/toolgraft-protocol/src/own_words.rs",
    "src/dialect/contexts.rs",
    "src/dialect/reasoning.rs",
    "src/dialect/tokens.rs",
    "src/dialect/turns.rs",
    "src/model/refusal.rs",
    "src/turn/decide/greeting.rs",
    "src/turn/decide/mentions.rs",
];
/// Attributes whose texts are shown: errors of thiserror, and options of clap.
const SHOWN: [&str; 5] = ["error", "arg", "command", "value", "group"];
/// The derives of clap, whose doc comments are the help.
const HELP: [&str; 4] = ["Args", "Parser", "Subcommand", "ValueEnum"];

/// The tokens of Rust that matter here. White space, numbers, lifetimes and comments match no group.
static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
    let parts = [
        r"///(?P<doc>(?:[^/\n][^\n]*)?)\n",
        r"//[^\n]*",
        r"/\*.*?\*/",
        r##"[bc]?r#"(?P<hashed>.*?)"#"##,
        r#"[bc]?r"(?P<raw>[^"]*)""#,
        r#"[bc]?"(?P<text>(?:[^"\\]|\\.)*)""#,
        r"b?'(?:\\(?:u\{[^}]*\}|x..|.)|[^\\'])'",
        r"(?P<word>[A-Za-z_]\w*)",
        r"\d\w*",
        r"(?P<sign>[#\[\](){};])",
    ];
    Regex::new(&format!("(?s){}", parts.join("|"))).unwrap()
});
static ESCAPE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?s)\\(\n\s*|x..|u\{[^}]*\}|.)").unwrap());
static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\{[^{}]*\}").unwrap());
static WORDS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[A-Za-z'’]+[,.:;)]*\s+\(?[A-Za-z]|(?s)\p{Han}.*\p{Han}").unwrap());
/// Statements of SQL, and the policy of a page.
static CODE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b(SELECT|INSERT INTO|DELETE FROM|CREATE|PRAGMA|JOIN|MATCH)\b|default-src").unwrap());

#[derive(Debug, PartialEq)]
enum Token {
    Text(String),
    Doc(String),
    Word(String),
    Sign(char),
}

fn tokens(code: &str) -> Vec<Token> {
    let token = |found: Captures<'_>| {
        let group = |name| found.name(name).map(|group| group.as_str());
        let raw = group("raw").or(group("hashed")).map(str::to_owned);
        let text = raw.or_else(|| group("text").map(unescaped)).map(Token::Text);
        let doc = || group("doc").map(|text| Token::Doc(text.trim().to_owned()));
        let word = || group("word").map(|word| Token::Word(word.to_owned()));
        text.or_else(doc).or_else(word).or_else(|| group("sign")?.chars().next().map(Token::Sign))
    };
    TOKEN.captures_iter(code).filter_map(token).collect()
}

/// Returns the text of a literal, where a backslash joins lines.
fn unescaped(literal: &str) -> String {
    let character = |code: &str| {
        let number = u32::from_str_radix(code.trim_matches(['u', 'x', '{', '}']), 16);
        char::from_u32(number.unwrap()).unwrap().to_string()
    };
    let replaced = |found: &Captures<'_>| match &found[1] {
        "n" => "\n".to_owned(),
        "t" => "\t".to_owned(),
        "r" => "\r".to_owned(),
        "0" => "\0".to_owned(),
        join if join.starts_with('\n') => String::new(),
        code if code.len() > 1 => character(code),
        sign => sign.to_owned(),
    };
    ESCAPE.replace_all(literal, replaced).into_owned()
}

/// Returns the index after the bracket that closes the one at `start`.
fn group_end(tokens: &[Token], start: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(start) {
        match token {
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

/// Returns the index after the attribute at `at`, if there is one.
fn attribute_end(tokens: &[Token], at: usize) -> Option<usize> {
    let is_attribute = tokens[at..].starts_with(&[Token::Sign('#'), Token::Sign('[')]);
    is_attribute.then(|| group_end(tokens, at + 1))
}

/// Returns the index after the item at `at`: after its body, or its `;`.
fn item_end(tokens: &[Token], mut at: usize) -> usize {
    while let Some(token) = tokens.get(at) {
        match token {
            Token::Sign('{') => return group_end(tokens, at),
            Token::Sign(';') => return at + 1,
            Token::Sign('(' | '[') => at = group_end(tokens, at),
            _ => at += 1,
        }
    }
    at
}

fn has_word(tokens: &[Token], words: &[&str]) -> bool {
    tokens.iter().any(|token| matches!(token, Token::Word(word) if words.contains(&word.as_str())))
}

/// Collects the texts of a source file in their order.
#[derive(Default)]
struct Texts {
    found: Vec<String>,
    /// The lines of the doc comment that is being read.
    doc: Vec<String>,
    /// `true` after a derive of clap, up to the body of its item.
    is_help: bool,
    /// The index at which the doc comments of options end.
    help_end: usize,
}

impl Texts {
    fn read(code: &str) -> Vec<String> {
        let tokens = tokens(code);
        let mut texts = Self::default();
        let mut at = 0;
        while at < tokens.len() {
            at = match attribute_end(&tokens, at) {
                Some(end) => texts.attribute(&tokens, at + 2, end),
                None => texts.token(&tokens, at),
            };
        }
        texts.found
    }

    /// Reads an attribute, and returns the index after it; after its item if that is only for tests.
    fn attribute(&mut self, tokens: &[Token], start: usize, end: usize) -> usize {
        let inside = &tokens[start..end];
        let name = &inside[..1];
        if has_word(name, &["cfg"]) && has_word(inside, &["test"]) && !has_word(inside, &["any", "not"]) {
            self.doc.clear();
            return item_end(tokens, end);
        }
        self.end_doc();
        self.is_help |= has_word(name, &["derive"]) && has_word(inside, &HELP);
        if has_word(name, &SHOWN) {
            let text = |token: &Token| if let Token::Text(text) = token { Some(text.clone()) } else { None };
            self.found.extend(inside.iter().filter_map(text));
        }
        end
    }

    fn token(&mut self, tokens: &[Token], at: usize) -> usize {
        let is_panic = at > 1 && has_word(&tokens[at - 2..at - 1], &["expect"]);
        match &tokens[at] {
            Token::Doc(line) if at < self.help_end => self.doc.push(line.clone()),
            Token::Doc(_) => {}
            other => {
                self.end_doc();
                match other {
                    Token::Text(text) if !is_panic => self.found.push(text.clone()),
                    Token::Sign('{') if std::mem::take(&mut self.is_help) => self.help_end = group_end(tokens, at),
                    _ => {}
                }
            }
        }
        at + 1
    }

    fn end_doc(&mut self) {
        if !self.doc.is_empty() {
            self.found.push(std::mem::take(&mut self.doc).join(" "));
        }
    }
}

/// Returns `true` for a text of at least two words, besides its placeholders.
fn is_message(text: &str) -> bool {
    WORDS.is_match(&PLACEHOLDER.replace_all(text, " ")) && !CODE.is_match(text)
}

fn messages() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    PRODUCT.iter().for_each(|folder| collect(&root.join(folder), &mut files));
    assert!(files.len() > 300, "only {} source files were found", files.len());
    let name = |file: &Path| {
        let names = file.strip_prefix(root).unwrap().iter();
        names.map(|name| name.to_str().unwrap()).collect::<Vec<_>>().join("/")
    };
    let files: BTreeMap<_, _> = files.iter().map(|file| (name(file), file)).collect();
    let mut out = String::new();
    for (name, file) in files.iter().filter(|(name, _)| !FOREIGN.contains(&name.as_str())) {
        let code = fs::read_to_string(file).unwrap().replace("\r\n", "\n");
        let texts: Vec<_> = Texts::read(&code).into_iter().filter(|text| is_message(text)).collect();
        if !texts.is_empty() {
            writeln!(out, "# {name}").unwrap();
        }
        for text in texts {
            writeln!(out, "{}", text.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r")).unwrap();
        }
    }
    out
}

#[test]
fn texts_are_found_where_they_are_shown() {
    let code = r##"
        //! Not a text.
        /// "Neither is this."
        #[derive(Debug, clap::Args)]
        struct Options<'a> {
            /// Say more
            ///
            /// With all details.
            #[arg(long, value_name = "two words")]
            verbose: bool, // "nor this"
        }
        /// No help any more.
        #[derive(Error)]
        #[error("the file {0} is missing")]
        #[serde(rename = "not shown")]
        struct Missing;
        fn f() -> String {
            let quote = ['"', '\'', '\u{22}'];
            let raw = (r"a \ raw one", r#"a "hashed" one"#, b"of bytes");
            x.expect("not shown"); /* "nor this" */
            format!("one line \
                     of \"two\"\u{2026} {quote:?}\n")
        }
        #[cfg(test)]
        #[allow(x)]
        mod tests { const A: &str = "not shown"; }
        const LAST: &str = "the last one";
    "##;
    let wanted = [
        "Say more  With all details.",
        "two words",
        "the file {0} is missing",
        "a \\ raw one",
        "a \"hashed\" one",
        "of bytes",
        "one line of \"two\"… {quote:?}\n",
        "the last one",
    ];
    assert_eq!(Texts::read(code), wanted);
}

#[test]
fn a_message_has_two_words() {
    for text in ["not found", "{name} is missing", "请直接回答", "no, (really)"] {
        assert!(is_message(text), "{text}");
    }
    for text in ["word", "{one} {two}", "x=1", "a-b", "SELECT id FROM conversations"] {
        assert!(!is_message(text), "{text}");
    }
}

#[test]
fn the_messages_are_those_that_were_read() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/project/messages.txt");
    let now = messages();
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &now).unwrap();
    }
    let stored = fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    let changed = now.lines().zip(stored.lines()).find(|(now, stored)| now != stored);
    let remedy = "UPDATE=1 cargo test --test project messages writes the file anew: read what changed";
    assert_eq!(changed, None, "{remedy}");
    assert_eq!(now.lines().count(), stored.lines().count(), "{remedy}");
}
