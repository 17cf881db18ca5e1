//! Reads the input's bytes as choices.

use serde_json::{Map, Value, json};

use crate::cuts::Cuts;

/// Pieces of texts, with and without syntax.
const PIECES: &[&str] = &[
    "a",
    "two words",
    "名",
    "é😀",
    " ",
    "\n",
    "\t",
    "\"",
    "'",
    "`",
    "\\",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ",",
    ":",
    "：",
    "=",
    "<",
    ">",
    "</",
    "&lt;",
    "&",
    "//",
    "/*",
    "#",
    "null",
    "True",
    "5",
    "```",
    "\n```\n",
    "</arguments>",
    "</use_mcp_tool>",
    "</arguments></use_mcp_tool>",
    "<use_mcp_tool>",
    "TYPE: MCP",
    "\nTYPE: MCP\n",
    "TYPE: ANSWER",
    "<think>",
    "</think>",
    "<tool_call>",
    "</tool_call>",
    "</function>",
    "</parameter>",
    "</invoke>",
    "[TOOL_CALLS]",
    "[END_TOOL_REQUEST]",
    "<|im_end|>",
    "<｜tool▁call▁end｜>",
    "</arg_value>",
    "Action: x",
    "<![CDATA[",
    "]]>",
];

/// Names of members that no tool declares.
const KEYS: &[&str] = &["a", "b", "x-y", "名", "two words", ""];

/// A source of choices, one byte each. After its end the first choice is always made.
#[derive(Debug)]
pub(crate) struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    pub(crate) fn new(data: &'a [u8]) -> Self {
        Bytes(data)
    }

    pub(crate) fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// Returns a number below `count`, which is at least 1.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        let wide = if count > 256 { usize::from(self.byte()) << 8 } else { 0 };
        (wide | usize::from(self.byte())) % count
    }

    pub(crate) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == count - 1
    }

    pub(crate) fn pick<'v, T>(&mut self, of: &'v [T]) -> &'v T {
        &of[self.below(of.len())]
    }

    pub(crate) fn text(&mut self) -> String {
        (0..self.below(5)).map(|_| *self.pick(PIECES)).collect()
    }

    pub(crate) fn value(&mut self, depth: usize) -> Value {
        match self.below(if depth == 0 { 6 } else { 8 }) {
            0 | 1 => self.text().into(),
            2 => (i32::from(self.byte()) - 100).into(),
            3 => json!(f64::from(self.byte()) + 0.25),
            4 => (self.byte() & 1 == 0).into(),
            5 => Value::Null,
            6 => (0..self.below(4)).map(|_| self.value(depth - 1)).collect(),
            _ => self.members(depth - 1).into(),
        }
    }

    pub(crate) fn members(&mut self, depth: usize) -> Map<String, Value> {
        (0..self.below(3)).map(|_| ((*self.pick(KEYS)).to_owned(), self.value(depth))).collect()
    }

    /// Returns the cuts of a stream with this many bytes.
    pub(crate) fn cuts(&mut self, length: usize) -> Vec<usize> {
        let (mut cuts, widest) = (Cuts::new(self.byte()), [3, 16, 64][self.below(3)]);
        cuts.of(length, widest)
    }
}
