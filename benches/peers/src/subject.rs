//! A common interface to the compared parsers.

use std::hint::black_box;

use dynamo_parsers_v2::{UnifiedParser, UnifiedParserEvent, UnifiedParserOutput};
use futures::FutureExt;
use openai_protocol::common::Tool;
use reasoning_parser::{Qwen3Parser, ReasoningParser};
use serde_json::json;
use tool_parser::parsers::{DeepSeekParser, QwenParser, QwenXmlParser};
use tool_parser::{StreamingParseResult, ToolParser};
use toolgraft::message::FinishReason;
use toolgraft::parse::{Config, Limits};
use toolgraft::{Event, Parser};
use toolgraft_benches::corpus;

use crate::syntax::Syntax;

/// Counts of the output of a parser.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Found {
    /// Calls that were begun.
    pub(crate) calls: usize,
}

impl Found {
    /// Looks at a piece of text, as a program that hands it on would.
    fn piece(&mut self, text: &str) {
        black_box(text);
    }

    /// The same of a piece of a call, the first of which has the tool's name.
    fn call(&mut self, name: Option<&String>, arguments: &str) {
        self.calls += usize::from(name.is_some());
        self.piece(arguments);
    }
}

/// A parser of one message.
pub(crate) trait Subject {
    fn push(&mut self, chunk: &str, found: &mut Found);
    fn finish(&mut self, found: &mut Found);
}

/// A parser under its name, and the syntax that it is fed.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) syntax: Syntax,
    pub(crate) make: fn() -> Box<dyn Subject>,
}

/// All parsers; of each syntax ours comes first.
pub(crate) const SUBJECTS: &[Entry] = &[
    Entry { name: "toolgraft (all dialects)", syntax: Syntax::Hermes, make: || Box::new(ours()) },
    Entry {
        name: "reasoning-parser + tool-parser: Qwen",
        syntax: Syntax::Hermes,
        make: || Box::new(Chain::new(Some(Qwen3Parser::new()), QwenParser::new())),
    },
    Entry {
        name: "tool-parser alone: Qwen",
        syntax: Syntax::Hermes,
        make: || Box::new(Chain::new(None, QwenParser::new())),
    },
    Entry { name: "reasoning-parser alone: Qwen", syntax: Syntax::Hermes, make: || Box::new(Qwen3Parser::new()) },
    Entry { name: "toolgraft (all dialects), Qwen Coder", syntax: Syntax::QwenCoder, make: || Box::new(ours()) },
    Entry {
        name: "dynamo-parsers-v2 unified: qwen3",
        syntax: Syntax::QwenCoder,
        make: || Box::new(Unified::new("qwen3")),
    },
    Entry {
        name: "dynamo-parsers-v2 tools alone: qwen3_coder",
        syntax: Syntax::QwenCoder,
        make: || Box::new(ToolsAlone::new("qwen3_coder")),
    },
    Entry {
        name: "reasoning-parser + tool-parser: Qwen XML",
        syntax: Syntax::QwenCoder,
        make: || Box::new(Chain::new(Some(Qwen3Parser::new()), QwenXmlParser::new())),
    },
    Entry { name: "toolgraft (all dialects), DeepSeek", syntax: Syntax::DeepSeek, make: || Box::new(ours()) },
    Entry {
        name: "reasoning-parser + tool-parser: DeepSeek",
        syntax: Syntax::DeepSeek,
        make: || Box::new(Chain::new(Some(Qwen3Parser::new()), DeepSeekParser::new())),
    },
];

/// The entry of this name.
pub(crate) fn named(name: &str) -> &'static Entry {
    SUBJECTS.iter().find(|entry| entry.name == name).expect("the parent names a parser")
}

fn ours() -> Parser {
    let limits = Limits::default().with_calls(usize::MAX);
    Parser::new(Config::default().with_catalog(corpus::catalog(1)).with_limits(limits))
}

impl Subject for Parser {
    fn push(&mut self, chunk: &str, found: &mut Found) {
        Parser::push(self, chunk, &mut |event| note(event, found));
    }

    fn finish(&mut self, found: &mut Found) {
        Parser::finish(self, &FinishReason::Stop, &mut |event| note(event, found));
    }
}

/// Taken apart where it is handed over, as by a program that says there what to do with each.
#[inline(always)]
fn note(event: Event<'_>, found: &mut Found) {
    match event {
        Event::Text { text, .. } | Event::Reasoning { text, .. } | Event::ArgsDelta { text, .. } => found.piece(text),
        Event::CallStart { tool, .. } => found.piece(tool),
        Event::CallEnd { result, .. } => found.calls += usize::from(black_box(result).is_ok()),
        other => _ = black_box(other),
    }
}

/// The tool list in the form that `tool-parser` takes.
fn openai_tools() -> Vec<Tool> {
    let tool = |tool: &toolgraft::Tool| {
        let function = json!({"name": tool.name, "parameters": tool.input_schema});
        serde_json::from_value(json!({"type": "function", "function": function})).expect("the tool is one")
    };
    corpus::catalog(1).tools().map(tool).collect()
}

/// `reasoning-parser` before `tool-parser`, as their server joins them.
struct Chain<T> {
    reasoning: Option<Qwen3Parser>,
    tools: T,
    list: Vec<Tool>,
}

impl<T: ToolParser> Chain<T> {
    fn new(reasoning: Option<Qwen3Parser>, tools: T) -> Self {
        Chain { reasoning, tools, list: openai_tools() }
    }

    fn text(&mut self, text: &str, found: &mut Found) {
        if text.is_empty() {
            return;
        }
        // Its futures never wait.
        let result = self.tools.parse_incremental(text, &self.list).now_or_never().expect("it waits for nothing");
        if let Ok(StreamingParseResult { normal_text, calls }) = &result {
            found.piece(normal_text);
            calls.iter().for_each(|call| found.call(call.name.as_ref(), &call.parameters));
        }
    }
}

impl<T: ToolParser> Subject for Chain<T> {
    fn push(&mut self, chunk: &str, found: &mut Found) {
        let Some(reasoning) = &mut self.reasoning else { return self.text(chunk, found) };
        let result = reasoning.parse_reasoning_streaming_incremental(chunk).expect("the text is short");
        found.piece(&result.reasoning_text);
        self.text(&result.normal_text, found);
    }

    fn finish(&mut self, found: &mut Found) {
        if let Some(reasoning) = &mut self.reasoning {
            let rest = reasoning.flush().expect("the text is short").normal_text;
            self.text(&rest, found);
        }
        black_box(self.tools.get_unstreamed_tool_args());
        black_box(self.tools.take_unstreamed_normal_text());
    }
}

impl Subject for Qwen3Parser {
    fn push(&mut self, chunk: &str, found: &mut Found) {
        let result = self.parse_reasoning_streaming_incremental(chunk).expect("the text is short");
        found.piece(&result.reasoning_text);
        found.piece(&result.normal_text);
    }

    fn finish(&mut self, found: &mut Found) {
        found.piece(&self.flush().expect("the text is short").normal_text);
    }
}

fn dynamo_tools() -> Vec<dynamo_parsers_v2::Tool> {
    let tool = |tool: &toolgraft::Tool| dynamo_parsers_v2::Tool {
        name: tool.name.clone(),
        description: None,
        parameters: tool.input_schema.clone().unwrap_or_default(),
        strict: None,
    };
    corpus::catalog(1).tools().map(tool).collect()
}

/// A parser of `dynamo-parsers-v2` for reasoning, text and calls.
struct Unified {
    parser: Box<dyn UnifiedParser>,
    output: UnifiedParserOutput,
}

impl Unified {
    fn new(family: &str) -> Self {
        let parser = dynamo_parsers_v2::create_unified_parser_for_family(family, &dynamo_tools());
        Unified { parser: parser.expect("the family is known"), output: UnifiedParserOutput::default() }
    }
}

fn take(events: &[UnifiedParserEvent], found: &mut Found) {
    for event in events {
        match event {
            UnifiedParserEvent::Text(text) | UnifiedParserEvent::Reasoning(text) => found.piece(text),
            UnifiedParserEvent::ToolCall(delta) => found.call(delta.name.as_ref(), &delta.arguments),
            other => _ = black_box(other),
        }
    }
}

impl Subject for Unified {
    fn push(&mut self, chunk: &str, found: &mut Found) {
        self.output.events.clear();
        self.parser.parse_into(chunk, &mut self.output).expect("the text is well-formed");
        take(&self.output.events, found);
    }

    fn finish(&mut self, found: &mut Found) {
        let output = self.parser.finish().expect("the text is well-formed");
        take(&output.events, found);
    }
}

/// A parser of `dynamo-parsers-v2` that knows no reasoning.
struct ToolsAlone(Box<dyn dynamo_parsers_v2::ToolParser>);

impl ToolsAlone {
    fn new(family: &str) -> Self {
        let parser = dynamo_parsers_v2::create_tool_parser_for_family(family, &dynamo_tools());
        ToolsAlone(parser.expect("the family is known"))
    }

    fn take(result: anyhow::Result<dynamo_parsers_v2::ToolParseResult>, found: &mut Found) {
        let result = result.expect("the text is well-formed");
        found.piece(&result.normal_text);
        result.calls.iter().for_each(|call| found.call(call.name.as_ref(), &call.arguments));
    }
}

impl Subject for ToolsAlone {
    fn push(&mut self, chunk: &str, found: &mut Found) {
        Self::take(self.0.push(chunk), found);
    }

    fn finish(&mut self, found: &mut Found) {
        Self::take(self.0.finish(), found);
    }
}
