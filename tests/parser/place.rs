//! The position of a call on its line and next to prose determines its provenance, in every dialect
//! that allows the position and at every split.
use toolgraft::Dialect;
use toolgraft::event::Provenance::{self, AfterProse, BeforeProse, FencedAfterProse, Hedged, InALine, Plain};
use toolgraft::message::ReasoningMode;
use toolgraft::parse::Config;
use toolgraft_testkit::laws::{self, Input};

use super::context::{CATALOG, call};

/// Returns the provenance of the calls in a text, at every split; `{}` is a call in this dialect.
fn found(text: &str, dialect: Dialect) -> Vec<Provenance> {
    let text = text.replace("{}", &call(dialect));
    let cuts = (1..text.len()).map(|at| vec![at]).collect::<Vec<_>>();
    let config = Config::default().with_catalog(CATALOG.clone()).with_reasoning(ReasoningMode::Auto);
    let input = Input { text: text.clone(), config, ..Input::default() };
    let message = laws::check(&input, &cuts).unwrap_or_else(|law| panic!("{dialect}: {text}\n{law}"));
    let rejected: Vec<_> = message.rejected().collect();
    assert!(rejected.is_empty(), "{dialect}: {text}\n{rejected:?}");
    message.calls().map(|call| call.provenance).collect()
}

/// Returns dialects whose calls have a marker and may be anywhere on a line.
fn marked() -> impl Iterator<Item = Dialect> {
    let at_a_line = [Dialect::TypeMarker, Dialect::React, Dialect::Json, Dialect::Python];
    Dialect::ALL.iter().copied().filter(move |dialect| !at_a_line.contains(dialect))
}

#[test]
fn a_marked_call_begins_its_line_or_is_in_it() {
    for (text, expected) in [
        ("{}", &[Plain][..]),
        ("Sure.\n{}", &[Plain]),
        ("Sure.\n  {}", &[Plain]),
        ("Sure.\n\n{} That is all.", &[Plain]),
        ("Sure: {}", &[InALine]),
        ("1. {}", &[InALine]),
        ("- {}\n{}", &[InALine, Plain]),
        ("<think>So I look.</think>{}", &[Plain]),
        ("Sure: {} and\n{}", &[InALine, Hedged]),
        ("Sure.\n{}\nNow the next one:\n{}", &[Plain, Plain]),
        ("Shall I?\n{}", &[Hedged]),
        // A special token ends the text before it.
        ("Sure.<|im_end|>\n{}", &[Plain]),
        ("<|im_start|>assistant\n{}", &[Plain]),
    ] {
        for dialect in marked() {
            assert_eq!(found(text, dialect), expected, "{dialect}: {text}");
        }
    }
}

#[test]
fn calls_beside_each_other_begin_their_line() {
    for dialect in [Dialect::ToolTag, Dialect::Hermes, Dialect::UseMcpTool, Dialect::FunctionTag, Dialect::Invoke] {
        assert_eq!(found("{} {}", dialect), [Plain, Plain], "{dialect}");
        assert_eq!(found("So {} {}", dialect), [InALine, InALine], "{dialect}");
        assert_eq!(found("{} and {} {}", dialect), [Plain, InALine, InALine], "{dialect}");
    }
}

#[test]
fn a_call_alone_in_its_fence_says_whether_prose_stands_before() {
    for dialect in Dialect::ALL.iter().copied().filter(|dialect| *dialect != Dialect::TypeMarker) {
        for (text, expected) in [
            ("```\n{}\n```", &[Plain][..]),
            ("\n```xml\n{}\n```\n", &[Plain]),
            ("Sure:\n```\n{}\n```", &[FencedAfterProse]),
            ("Sure:\n\n~~~\n{}\n~~~\n\n```\n{}\n```\n", &[FencedAfterProse, FencedAfterProse]),
            ("<think>So I look.</think>```\n{}\n```", &[Plain]),
        ] {
            assert_eq!(found(text, dialect), expected, "{dialect}: {text}");
        }
    }
}

#[test]
fn a_call_that_nothing_announces_says_whether_prose_stands_beside_it() {
    for (text, expected) in [
        ("{}", &[Plain][..]),
        ("{}\n\n", &[Plain]),
        ("Sure:\n{}", &[AfterProse]),
        ("So {}", &[InALine]),
        ("{}\nThat is all.", &[BeforeProse]),
        ("{}\n\n\nThat is all.", &[BeforeProse]),
        ("{} That is all.", &[BeforeProse]),
        ("So {} is all.", &[InALine]),
        ("Sure:\n{}\nThat is all.", &[AfterProse]),
        (
            "{}\n<tool_call>{\"name\": \"delete_it\", \"arguments\": {\"path\": \"a\"}}</tool_call>\nBoth.",
            &[BeforeProse, Plain],
        ),
        ("<think>So I look.</think>{}", &[Plain]),
        ("{}<think>That was it.</think>", &[Plain]),
        ("{}\nObservation: gone", &[Plain]),
        ("So <|tool_call_start|>{}<|tool_call_end|>", &[InALine]),
        ("Sure.\n<|tool_call_start|>{}<|tool_call_end|> It is done.", &[Plain]),
    ] {
        assert_eq!(found(text, Dialect::Python), expected, "{text}");
    }
}
