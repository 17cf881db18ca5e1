//! Texts that are made to be slow: what may begin a call or end one, again and again.
//! Under the usual limits, so that what follows the first 65 calls is text.

use std::fmt::Write;
use std::hint::black_box;
use std::sync::Arc;

use serde_json::json;
use toolgraft::parse::Config;
use toolgraft::{Catalog, Parser, Tool};

use crate::corpus;
use crate::pass::{cut, parsed};

/// Lengths at which each is counted, in bytes.
pub const LENGTHS: [usize; 2] = [64 << 10, 256 << 10];

/// Bytes of a chunk.
const CHUNK: usize = 16;

/// A text of any length, and what the parser knows.
pub struct Repetition {
    /// Name, in tables and in `limits.toml`.
    pub name: &'static str,
    text: fn(usize) -> String,
    catalog: fn() -> Arc<Catalog>,
}

impl Repetition {
    /// The repetition of this name.
    pub fn named(name: &str) -> Option<&'static Repetition> {
        REPETITIONS.iter().find(|repetition| repetition.name == name)
    }

    /// One pass over so many bytes of it.
    pub fn run(&self, bytes: usize) {
        let text = (self.text)(bytes);
        let mut parser = Parser::new(Config::default().with_catalog((self.catalog)()));
        black_box(parsed(&mut parser, &cut(&text, Some(CHUNK))));
    }
}

/// A repetition of a text, with a few tools.
const fn of(name: &'static str, text: fn(usize) -> String) -> Repetition {
    Repetition { name, text, catalog: few }
}

/// All of them.
pub const REPETITIONS: &[Repetition] = &[
    of("lines", |bytes| repeated("", "f(a=1)\n", "", bytes)),
    of("lines-with-commas", |bytes| repeated("", "f(a=1),\n", "", bytes)),
    of("series-on-a-line", |bytes| repeated("", "f(a=1); ", "", bytes)),
    of("series-then-prose", |bytes| repeated("f(a=1)\n", "f(a=1), ", "x\n", bytes)),
    of("unreadable-lines", |bytes| repeated("", "f(x)\n", "", bytes)),
    of("unreadable-after-a-call", |bytes| repeated("f(a=1)\n", "f(x, [<\n", "", bytes)),
    of("lines-in-a-fence", |bytes| repeated("```\n", "f(a=1)\n", "```\n", bytes)),
    of("fences-with-a-call", |bytes| repeated("", "```\nf(a=1)\n```\n", "", bytes)),
    of("numbered-fences", |bytes| repeated("", "1. ```\nf(a=1)\n```\n", "", bytes)),
    of("one-line-fences", |bytes| repeated("", "```[f(a=1)]```\n", "", bytes)),
    of("lists-in-prose", |bytes| repeated("", "x [f(a=1)] y", "", bytes)),
    of("lists", |bytes| repeated("", "[f(a=1)]\n", "", bytes)),
    of("escaped-lists", |bytes| repeated("", "\\[f(a=1)\\]\n", "", bytes)),
    of("open-list", |bytes| repeated("[", "f(a=1), ", "", bytes)),
    of("quoted-list", |bytes| repeated("[", "\"f(a=1)\", ", "\"f(a=1)\"]", bytes)),
    of("quoted-series", |bytes| repeated("['", "f(a=1), ", "f(a=x)']", bytes)),
    of("unquoted-words", |bytes| repeated("['g(b=", "a, a=", "')]", bytes)),
    of("apostrophes", |bytes| repeated("g(b='", "a'a", "')", bytes)),
    of("brackets", |bytes| repeated("", "[f(", "", bytes)),
    of("tool-tags", |bytes| repeated("", "<g><b>x</b></g>", "", bytes)),
    of("objects", |bytes| repeated("", "{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n", "", bytes)),
    of("array-of-objects", |bytes| repeated("[", "{\"name\": \"f\", \"arguments\": {\"a\": 1}}, ", "", bytes)),
    of("elements", |bytes| repeated("", "<use_mcp_tool><tool_name>", "", bytes)),
    of("angles-in-a-value", |bytes| repeated("<g><b>", "<", "", bytes)),
    of("closers-in-a-value", |bytes| repeated("<g><b>", "</", "", bytes)),
    of("closers", |bytes| repeated("", "</", "", bytes)),
    of("fence-lines", |bytes| repeated("", "```\n", "", bytes)),
    of("marker-lines", |bytes| repeated("", "TYPE: MCP\n", "", bytes)),
    of("quotes", |bytes| repeated("", "\"", "", bytes)),
    of("single-quotes", |bytes| repeated("", "'", "", bytes)),
    of("backticks", |bytes| repeated("", "`", "", bytes)),
    of("backslashes", |bytes| repeated("", "\\", "", bytes)),
    of("quotes-in-a-call", |bytes| repeated("<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": ", "\"", "", bytes)),
    of("backslashes-in-a-call", |bytes| {
        repeated("<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"", "\\", "", bytes)
    }),
    of("closers-in-a-call", |bytes| {
        repeated("<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"", "</", "", bytes)
    }),
    Repetition { name: "half-open-tags", text: |bytes| repeated("", "<search_", "", bytes), catalog: many },
    Repetition { name: "unknown-tags", text: |bytes| numbered("<search_files_", ">", bytes), catalog: many },
    Repetition {
        name: "unknown-names",
        text: |bytes| numbered("<tool_call>{\"name\": \"search_", "\", \"arguments\": {}}</tool_call>", bytes),
        catalog: many,
    },
    Repetition {
        name: "near-names",
        text: |bytes| numbered("<tool_call>{\"name\": \"read_fil_", "\", \"arguments\": {}}</tool_call>", bytes),
        catalog: most,
    },
];

/// The same piece again and again between two others, of so many bytes.
fn repeated(before: &str, piece: &str, after: &str, bytes: usize) -> String {
    let times = bytes.saturating_sub(before.len() + after.len()) / piece.len();
    [before, &piece.repeat(times), after].concat()
}

/// A piece with a number in it that is another each time.
fn numbered(before: &str, after: &str, bytes: usize) -> String {
    let mut out = String::with_capacity(bytes + 100);
    for n in 0.. {
        if out.len() >= bytes {
            break;
        }
        write!(out, "{before}{n}{after}").expect("a string takes all");
    }
    out
}

fn few() -> Arc<Catalog> {
    let tool = |name: &str, parameter: &str, kind: &str| {
        let schema = json!({"type": "object", "properties": {parameter: {"type": kind}}});
        Tool::new(name).with_schema(schema)
    };
    Arc::new(Catalog::from_tools([tool("f", "a", "integer"), tool("g", "b", "string")]))
}

fn many() -> Arc<Catalog> {
    corpus::catalog(200)
}

fn most() -> Arc<Catalog> {
    corpus::catalog(2_000)
}
