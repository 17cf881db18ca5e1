//! Why text that may have been a call is none.

use serde::Serialize;

use crate::dialect::Dialect;
use crate::event::Span;

/// Text that looked like a call and is none: its bytes are in events like those of any text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NotACall {
    /// Dialect as which the text was read.
    pub dialect: Dialect,
    /// Byte range of the opener, or of the text that was held until it was known to be no call.
    pub span: Span,
    /// Reason why the text is no call.
    pub reason: NotACallReason,
}

/// Reason why text that looked like a call is none; `docs/parser.md` has the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NotACallReason {
    /// The text after the opener does not belong to a call.
    Gate,
    /// The opener is cut off.
    PartialOpener,
    /// No JSON object follows the marker.
    NoJson,
    /// Other text follows the call: in the message, in its fence or on its line.
    TextAfter,
    /// The text names no known tool.
    UnknownTool,
    /// The JSON object has a key that no call has, or a value that no call has under that key.
    ForeignKey,
    /// The tool's name or the arguments are missing.
    Incomplete,
    /// A JSON Schema is in place of the arguments: it defines a tool.
    Definition,
    /// The JSON is malformed, and its meaning is ambiguous.
    Damaged,
    /// A value is no literal, or the arguments are not written as Python's.
    NoLiteral,
    /// A value has no keyword, and the tool has other than one parameter.
    NoKeyword,
    /// The next item in the list is no further call.
    NoFurtherCall,
    /// The list is the text of a Markdown link.
    Link,
    /// The text is a part of the code, the comment or the heading on its line.
    CodeAround,
    /// The fence or the reasoning ended inside the text, or a further line of its dialect came.
    Unclosed,
    /// The text exceeds a limit.
    Limit,
    /// The stream ended before the text was certain to be a call.
    CutOff,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::FinishReason;
    use crate::parse::{Config, Limits, Parser};
    use crate::tools::{Catalog, Tool};

    fn config() -> Config {
        let schema = serde_json::json!({ "type": "object", "properties": { "a": { "type": "integer" } } });
        Config { catalog: Some(Catalog::from_tools([Tool::new("f").with_schema(schema)]).into()), ..Config::default() }
    }

    fn read(parser: &mut Parser, text: &str) -> Vec<(Dialect, Span, NotACallReason)> {
        parser.push(text, &mut |_| {});
        parser.finish(&FinishReason::Length, &mut |_| {});
        parser.not_calls().iter().map(|given| (given.dialect, given.span.clone(), given.reason)).collect()
    }

    #[test]
    fn a_call_by_one_reading_is_not_listed_by_another() {
        let mut parser = Parser::new(config());
        parser.keep_not_calls();
        let text = "]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name=\"g\">]<]minimax[>[<a>1";
        assert_eq!(read(&mut parser, text), []);
    }

    #[test]
    fn what_is_not_calls_is_kept_for_a_message_if_somebody_asks() {
        let text = "f(a=1)\nAnd\nf(b)\nso\nf(a=2), you see\nf(";
        let mut parser = Parser::new(config());
        assert_eq!(read(&mut parser, text), []);
        parser.reset();
        parser.keep_not_calls();
        let expected = [
            (Dialect::Python, 11..13, NotACallReason::NoLiteral),
            (Dialect::Python, 19..27, NotACallReason::TextAfter),
            (Dialect::Python, 35..37, NotACallReason::CutOff),
        ];
        assert_eq!(read(&mut parser, text), expected);
        parser.reset();
        assert_eq!(parser.not_calls(), []);
        assert_eq!(read(&mut parser, text), expected);
    }

    #[test]
    fn calls_past_a_limit_say_so() {
        let limits = Limits { call_bytes: 20, depth: 3, ..Limits::default() };
        for text in ["f(a=\"0123456789012345\")", "f(a=[[[1]]])", "{\"name\": \"f\", \"arguments\": {}}"] {
            let mut parser = Parser::new(Config { limits, ..config() });
            parser.keep_not_calls();
            let given = read(&mut parser, text);
            assert!(matches!(given[..], [(_, _, NotACallReason::Limit)]), "{text}: {given:?}");
        }
    }
}
