//! Texts for the benches, made by code: the same on every machine, of any length.

mod chinese;
mod english;

use std::fmt::Write;
use std::sync::Arc;

use serde_json::{Value, json};
use toolgraft::{Catalog, Tool};

/// Prose before each call of [`mix`], in bytes.
const PROSE_PER_CALL: usize = 2 << 10;

/// The reasoning at the start of [`mix`], in bytes.
const THOUGHT: usize = 4 << 10;

/// Numbers that are the same in each run (SplitMix64; Steele, Lea, Flood 2014).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) as usize % end
    }
}

/// Sentences in random order, in paragraphs of three to six, until `bytes` are
/// there or just passed. Now and then a paragraph is a block of its own.
fn paragraphs(out: &mut String, bytes: usize, sentences: &[&str], blocks: &[&str], gap: &str, numbers: &mut Numbers) {
    let end = out.len() + bytes;
    while out.len() < end {
        if !blocks.is_empty() && numbers.below(6) == 0 {
            out.push_str(blocks[numbers.below(blocks.len())]);
        } else {
            for n in 0..3 + numbers.below(4) {
                if n > 0 {
                    out.push_str(gap);
                }
                out.push_str(sentences[numbers.below(sentences.len())]);
            }
        }
        out.push_str("\n\n");
    }
    let mut end = end;
    while !out.is_char_boundary(end) {
        end += 1;
    }
    out.truncate(end);
}

fn prose_into(out: &mut String, bytes: usize, numbers: &mut Numbers) {
    paragraphs(out, bytes, english::PROSE, english::BLOCKS, " ", numbers);
}

/// English as an assistant writes it: paragraphs, lists, a heading, a link.
pub fn prose(bytes: usize) -> String {
    let mut out = String::with_capacity(bytes + 8);
    prose_into(&mut out, bytes, &mut Numbers(1));
    out
}

/// English about code and markup, in which one byte in 23 is a `<`.
pub fn angles(bytes: usize) -> String {
    let mut out = String::with_capacity(bytes + 8);
    paragraphs(&mut out, bytes, english::ANGLES, &[], " ", &mut Numbers(2));
    out
}

/// Chinese as an assistant writes it.
pub fn chinese(bytes: usize) -> String {
    let mut out = String::with_capacity(bytes + 8);
    paragraphs(&mut out, bytes, chinese::PROSE, chinese::BLOCKS, "", &mut Numbers(3));
    out
}

/// A think block of 4 KiB, then 2 KiB of prose before each call, until `bytes`
/// are there or just passed. The calls are of the tools of [`catalog`]`(1)`.
pub fn mix(bytes: usize, syntax: &dyn Fn(&str, &Value) -> String) -> String {
    let mut numbers = Numbers(4);
    let mut out = String::with_capacity(bytes + (8 << 10));
    out.push_str("<think>\n");
    prose_into(&mut out, THOUGHT, &mut numbers);
    out.push_str("\n</think>\n\n");
    for n in 0.. {
        if out.len() >= bytes {
            break;
        }
        prose_into(&mut out, PROSE_PER_CALL, &mut numbers);
        out.push_str("\n\n");
        out.push_str(&syntax(TOOL, &arguments(n)));
        out.push_str("\n\n");
    }
    out
}

/// A message of about 2 KiB as `extract` reads them: reasoning, prose, in every
/// tenth in Chinese, and in four of five a call.
pub fn message(n: usize) -> String {
    let mut numbers = Numbers(n as u64);
    let mut out = String::from("<think>\n");
    prose_into(&mut out, 300 + numbers.below(400), &mut numbers);
    out.push_str("\n</think>\n\n");
    let bytes = 900 + numbers.below(800);
    match n % 10 {
        0 => paragraphs(&mut out, bytes, chinese::PROSE, chinese::BLOCKS, "", &mut numbers),
        _ => prose_into(&mut out, bytes, &mut numbers),
    }
    if !n.is_multiple_of(5) {
        out.push_str("\n\n");
        out.push_str(&use_mcp_tool(TOOL, &arguments(n)));
    }
    out
}

/// One call whose `content` is `bytes` of code, a line in two with a `<` in it.
pub fn large_call(bytes: usize) -> String {
    let mut content = String::with_capacity(bytes + 80);
    for n in 0.. {
        if content.len() >= bytes {
            break;
        }
        writeln!(content, "    if table[{n}].len() < {} {{ return Err(\"row {n} is too short\"); }}", n % 97)
            .expect("a string takes all");
        writeln!(content, "    total += table[{n}].iter().map(|cell| cell.width()).sum::<usize>(); // 第 {n} 行")
            .expect("a string takes all");
    }
    use_mcp_tool(TOOL, &json!({"query": "a file to write", "content": content}))
}

/// A call as the syntax `use_mcp_tool` writes it.
pub fn use_mcp_tool(tool: &str, arguments: &Value) -> String {
    // Written here, so that the text stays what it is whatever the library writes.
    format!(
        "<use_mcp_tool>\n<server_name>{SERVER}</server_name>\n<tool_name>{tool}</tool_name>\n<arguments>\n{arguments}\n\
         </arguments>\n</use_mcp_tool>"
    )
}

/// A call as Hermes and Qwen write it: JSON in `<tool_call>`.
pub fn hermes(tool: &str, arguments: &Value) -> String {
    format!("<tool_call>\n{{\"name\":\"{tool}\",\"arguments\":{arguments}}}\n</tool_call>")
}

/// A call as Qwen Coder writes it: `<function=…>` with `<parameter=…>` in `<tool_call>`.
pub fn qwen_coder(tool: &str, arguments: &Value) -> String {
    let arguments = arguments.as_object().expect("arguments are an object");
    let parameter = |(name, value): (&String, &Value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("<parameter={name}>\n{text}\n</parameter>\n")
    };
    let parameters: String = arguments.iter().map(parameter).collect();
    format!("<tool_call>\n<function={tool}>\n{parameters}</function>\n</tool_call>")
}

/// Tools, the one that [`mix`] and [`large_call`] call among them.
pub fn catalog(tools: usize) -> Arc<Catalog> {
    let others = (1..tools).map(|n| tool_named(&format!("{}_{}_{n}", VERBS[n % VERBS.len()], NOUNS[n % NOUNS.len()])));
    Arc::new(Catalog::from_tools(std::iter::once(tool_named(TOOL)).chain(others)))
}

/// The tool that is called.
pub const TOOL: &str = "search_documents";

const SERVER: &str = "archive";
const VERBS: &[&str] =
    &["read", "write", "list", "search", "create", "delete", "get", "send", "update", "move", "count"];
const NOUNS: &[&str] = &[
    "file", "issue", "message", "event", "forecast", "page", "table", "branch", "contact", "order", "route", "image",
    "note",
];

fn tool_named(name: &str) -> Tool {
    let mut tool = Tool::new(name).with_schema(json!({
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "Words to look for."},
            "limit": {"type": "integer"},
            "folders": {"type": "array", "items": {"type": "string"}},
            "content": {"type": "string"},
        },
        "required": ["query"],
    }));
    tool.server = Some(SERVER.to_owned());
    tool
}

/// Arguments as calls have them, of 80 to 250 bytes: some words and a number, a
/// path and a text, words and a list.
fn arguments(n: usize) -> Value {
    match n % 3 {
        0 => json!({
            "query": format!("minutes of the {}. meeting, \"rail < road\", and what followed from them", n + 1),
            "limit": n % 50,
        }),
        1 => json!({
            "path": format!("notes/2025/spring/{n}.md"),
            "content": format!("# Meeting {n}\n\nInes asked why `rows <= 4`.\n- Tomás: the table is older\n- next: 第 {n} 次会议\n\nNothing was decided, and the question comes back in May.\n"),
        }),
        _ => json!({
            "query": format!("who paid for bridge {n}"),
            "folders": ["notes/2024", format!("archive/box {n}")],
            "limit": 5,
        }),
    }
}
