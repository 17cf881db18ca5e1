//! A benchmark case: a text, how it is cut, and how the parser is set up.

use toolgraft::event::Collector;
use toolgraft::message::FinishReason;
use toolgraft::parse::{Config, Limits};
use toolgraft::{Dialect, Parser};

use crate::corpus;
use crate::pass::{cut, parsed, parsed_and_collected};

/// Length of a text unless its name says another, in bytes.
pub const LENGTH: usize = 100 << 10;

/// Sizes of the chunks in which a text is fed; `None` is the whole text.
pub const CHUNKS: &[Option<usize>] = &[Some(1), Some(4), Some(16), Some(64), None];

/// A text and a parser's configuration, under a name.
pub struct Case {
    /// Name, in tables and in `limits.toml`.
    pub name: &'static str,
    /// Sizes of the chunks at which it is counted; its time is taken at all.
    pub chunks: &'static [Option<usize>],
    /// Calls that the text holds.
    calls: usize,
    /// The pass over the chunks.
    pub pass: fn(&mut Parser, &[&str]) -> usize,
    text: fn() -> String,
    config: fn() -> Config,
}

/// The text that stands for all: the others are told by how they differ.
const MIX: Case = Case { name: "mix", chunks: CHUNKS, calls: 43, pass: parsed, text: || mix(LENGTH), config: auto };

/// All cases.
pub const CASES: &[Case] = &[
    Case { name: "prose", calls: 0, text: || corpus::prose(LENGTH), ..MIX },
    Case { name: "angles", calls: 0, text: || corpus::angles(LENGTH), ..MIX },
    Case { name: "chinese", calls: 0, text: || corpus::chinese(LENGTH), ..MIX },
    MIX,
    Case { name: "argument-256k", calls: 1, text: || corpus::large_call(256 << 10), ..MIX },
    Case { name: "mix-collected", chunks: AT_16, pass: parsed_and_collected, ..MIX },
    Case { name: "mix-one-dialect", chunks: AT_16, config: one_dialect, ..MIX },
    Case { name: "mix-1-tool", chunks: AT_16, config: || with_tools(1), ..MIX },
    Case { name: "mix-200-tools", chunks: AT_16, config: || with_tools(200), ..MIX },
    Case {
        name: "angles-200-tools",
        chunks: AT_16,
        calls: 0,
        text: || corpus::angles(LENGTH),
        config: || with_tools(200),
        ..MIX
    },
    Case { name: "mix-hermes", chunks: AT_16, calls: 44, text: || corpus::mix(LENGTH, &corpus::hermes), ..MIX },
    Case { name: "mix-qwen-coder", chunks: AT_16, text: || corpus::mix(LENGTH, &corpus::qwen_coder), ..MIX },
    Case { name: "mix-1m", chunks: AT_16, calls: 452, text: || mix(1 << 20), ..MIX },
    Case { name: "mix-10m", chunks: AT_16, calls: 4526, text: || mix(10 << 20), ..MIX },
];

const AT_16: &[Option<usize>] = &[Some(16)];

impl Case {
    /// The case of this name.
    pub fn named(name: &str) -> Option<&'static Case> {
        CASES.iter().find(|case| case.name == name)
    }

    /// The text; made anew each time.
    pub fn text(&self) -> String {
        (self.text)()
    }

    /// A parser for the text.
    pub fn parser(&self) -> Parser {
        Parser::new((self.config)())
    }

    /// Returns an error unless the parser finds the expected number of calls and rejects none: a pass that reads
    /// something else measures nothing.
    pub fn check(&self) -> Result<(), String> {
        let (text, mut parser, mut message) = (self.text(), self.parser(), Collector::new());
        for chunk in cut(&text, Some(16)) {
            parser.push(chunk, &mut |event| message.push(event));
        }
        parser.finish(&FinishReason::Stop, &mut |event| message.push(event));
        let message = message.finish();
        match (message.calls().count(), message.rejected().count()) {
            (calls, 0) if calls == self.calls => Ok(()),
            found => Err(format!("{}: {} calls expected, {found:?} calls and rejections found", self.name, self.calls)),
        }
    }
}

/// A chunk's size as a word.
pub fn chunk_name(bytes: Option<usize>) -> String {
    bytes.map_or_else(|| "whole".to_owned(), |bytes| bytes.to_string())
}

fn mix(bytes: usize) -> String {
    corpus::mix(bytes, &corpus::use_mcp_tool)
}

/// Returns the configuration of a program that configures nothing, except that the number of calls is not limited,
/// since a long text here represents many messages.
fn auto() -> Config {
    Config::default().with_limits(Limits::default().with_calls(usize::MAX))
}

fn with_tools(tools: usize) -> Config {
    auto().with_catalog(corpus::catalog(tools))
}

fn one_dialect() -> Config {
    with_tools(1).with_dialects(Dialect::UseMcpTool)
}
