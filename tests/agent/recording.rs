//! The recording format: it is read back as written, and truncated, foreign or broken recordings
//! are reported with the fault and its place.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::error::Error as _;

use proptest::prelude::*;
use serde_json::json;
use toolgraft::event::{Rejected, RejectedKind, Repair};
use toolgraft::message::{DeltaKind, FinishReason, Image, NativeCall, ReasoningCalls, ReasoningMode, Usage};
use toolgraft::outcome::Status;
use toolgraft::tools::Server;
use toolgraft::transcript::{
    CutReason, Finish, ReadError, RecordedCall, RecordedNotice, RecordedOutcome, Recording, Round, Sent, Session,
    TimedDelta, parse, read,
};
use toolgraft::{Call, Dialect, Message, Outcome, Tool};

const DOC: &str = include_str!("../../docs/replay.md");

const SESSION: &str = "{\"type\":\"session\",\"toolgraft\":1}\n";

fn after_session(lines: &str) -> String {
    format!("{SESSION}{lines}")
}

fn written(recording: &Recording) -> String {
    let mut bytes = Vec::new();
    recording.write(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn doc_example() -> &'static str {
    let (_, rest) = DOC.split_once("```jsonl\n").expect("the page has an example");
    rest.split_once("```").expect("the example ends").0
}

#[test]
fn the_documented_example_is_read_without_notes_and_written_back_as_it_stands() {
    let recording = parse(doc_example()).unwrap();
    assert!(recording.notes.is_empty(), "{:?}", recording.notes);
    assert!(recording.cut.is_none());
    assert_eq!(recording.rounds.len(), 2);
    assert_eq!(written(&recording), doc_example());
}

#[test]
fn every_line_type_is_documented_and_stands_in_the_example() {
    for kind in [
        "session", "request", "tools", "message", "delta", "native_call", "usage", "finish", "call", "rejected",
        "outcome", "notice",
    ] {
        assert!(DOC.contains(&format!("\n## `{kind}`\n")), "{kind} has a section");
        assert!(doc_example().contains(&format!("{{\"type\":\"{kind}\"")), "{kind} stands in the example");
    }
}

#[test]
fn every_field_of_the_example_is_documented_in_its_section() {
    for line in doc_example().lines() {
        let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(line).unwrap();
        let kind = object["type"].as_str().unwrap();
        let (_, section) = DOC.split_once(&format!("\n## `{kind}`\n")).unwrap();
        let section = section.split("\n## ").next().unwrap();
        for field in object.keys().filter(|k| *k != "type") {
            assert!(section.contains(&format!("| `{field}` |")), "{kind}: {field}");
        }
    }
}

fn odd_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<String>(),
        any::<char>().prop_map(String::from),
        "[a-z<>/{}\"\\\\ \n]{0,12}",
        prop::sample::select(vec![
            "\u{2028}", "\u{2029}", "\u{feff}", "\0", "\u{7f}", "\u{85}", "\r\n", "\r", "\\ud83d", "\u{fffd}", "😀",
            "武汉", "e\u{301}", "\u{202e}",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat())
}

fn delta() -> impl Strategy<Value = TimedDelta> {
    let kind = prop_oneof![Just(DeltaKind::Content), Just(DeltaKind::Reasoning)];
    (kind, odd_text(), any::<Option<u64>>()).prop_map(|(kind, text, ms)| TimedDelta::new(kind, text).with_ms(ms))
}

fn finish() -> impl Strategy<Value = Finish> {
    (odd_text(), any::<Option<u64>>()).prop_map(|(word, ms)| Finish::new(FinishReason::from(word.as_str())).with_ms(ms))
}

fn recorded_call() -> impl Strategy<Value = RecordedCall> {
    (any::<u32>(), prop::option::of(odd_text()), odd_text(), any::<bool>()).prop_map(|(index, id, text, good)| {
        let arguments = json!({ text.clone(): [text, 1, null] });
        let mut call = Call::new(Dialect::ToolTag, text.clone(), arguments).with_server(text.clone());
        call.raw_arguments.clone_from(&text);
        call.repairs = vec![Repair::Cdata, Repair::Coerced("/a".into())];
        let result = if good {
            Ok(call)
        } else {
            let mut rejected =
                Rejected::new(RejectedKind::Quoted, Dialect::UseMcpTool, text.clone(), text).with_call(call);
            (rejected.server, rejected.tool, rejected.nearest) = (None, Some("t".into()), vec!["u".into()]);
            Err(rejected)
        };
        RecordedCall::new(index, result).with_id(id)
    })
}

fn round() -> impl Strategy<Value = Round> {
    let message = (odd_text(), any::<bool>()).prop_map(|(t, u)| if u { Message::user(t) } else { Message::system(t) });
    let native = (prop::option::of(odd_text()), odd_text(), odd_text())
        .prop_map(|(id, name, arguments)| NativeCall::reported(name, arguments).with_id(id));
    let outcome = (odd_text(), odd_text(), any::<Option<u64>>()).prop_map(|(id, text, at)| {
        let outcome = Outcome::new(Status::TimedOut, text.clone()).with_structured(json!([text]));
        let mut recorded = RecordedOutcome::new(id, outcome);
        recorded.at = at;
        recorded
    });
    let tools = prop::option::of(
        odd_text()
            .prop_map(|text| vec![Server::new("s").with_tools(vec![Tool::new(text.clone()).with_description(text)])]),
    );
    let notice = (odd_text(), odd_text(), any::<Option<u64>>()).prop_map(|(kind, text, at)| {
        let mut recorded = RecordedNotice::new(kind, text);
        recorded.at = at;
        recorded
    });
    let sent =
        prop::option::of((any::<Option<u64>>(), prop::option::of(odd_text()), any::<Option<u32>>(), any::<bool>()))
            .prop_map(|sent| {
                let (at, model, max_tokens, native) = sent?;
                let kept = at.map(|at| usize::try_from(at % 7).unwrap());
                let mut sent = Sent::default();
                (sent.at, sent.model, sent.kept, sent.dropped) = (at, model, kept, kept);
                sent.temperature = max_tokens.map(|n| f64::from(n) / 8.0);
                (sent.max_tokens, sent.native) = (max_tokens, native);
                Some(sent)
            });
    let usage = any::<Option<(u64, u64, Option<u64>)>>().prop_map(|usage| {
        let (prompt_tokens, completion_tokens, reasoning_tokens) = usage?;
        Some(
            Usage::default()
                .with_prompt_tokens(prompt_tokens)
                .with_completion_tokens(completion_tokens)
                .with_reasoning_tokens(reasoning_tokens),
        )
    });
    (
        (sent, usage, prop::collection::vec(notice, 0..2)),
        tools,
        prop::collection::vec(message, 0..3),
        prop::collection::vec(delta(), 0..6),
        prop::collection::vec(native, 0..2),
        finish(),
        prop::collection::vec(recorded_call(), 0..3),
        prop::collection::vec(outcome, 0..2),
    )
        .prop_map(|((sent, usage, notices), tools, messages, deltas, native_calls, finish, calls, outcomes)| {
            let mut round = Round::default().with_messages(messages).with_deltas(deltas).with_finish(finish);
            (round.sent, round.usage, round.notices, round.tools) = (sent, usage, notices, tools);
            (round.native_calls, round.calls, round.outcomes) = (native_calls, calls, outcomes);
            round
        })
}

fn recording() -> impl Strategy<Value = Recording> {
    let session = (prop::option::of(odd_text()), any::<bool>()).prop_map(|(model, all)| {
        Session::default()
            .with_title(model.clone())
            .with_profile(model.clone())
            .with_model(model)
            .with_dialect(all.then(|| Dialect::TypeMarker.into()))
            .with_reasoning(all.then_some(ReasoningMode::Open))
            .with_reasoning_calls(all.then_some(ReasoningCalls::Allow))
    });
    (session, prop::collection::vec(round(), 1..4)).prop_map(|(session, rounds)| {
        let mut recording = of_rounds(rounds);
        recording.session = session;
        recording
    })
}

fn of_rounds(rounds: Vec<Round>) -> Recording {
    let mut recording = Recording::default();
    recording.rounds = rounds;
    recording
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn what_is_read_back_equals_what_was_written(recording in recording()) {
        prop_assert_eq!(parse(&written(&recording)).unwrap(), recording);
    }

    #[test]
    fn every_prefix_of_a_recording_is_read_up_to_the_cut(recording in recording(), at in any::<prop::sample::Index>()) {
        let text = written(&recording);
        let first = text.find('\n').unwrap() + 1;
        let at = first + at.index(text.len() - first + 1);
        let half = read(&text.as_bytes()[..at]).unwrap();
        for (part, whole) in half.rounds.iter().zip(&recording.rounds) {
            prop_assert!(whole.deltas.starts_with(&part.deltas));
            prop_assert!(whole.messages.starts_with(&part.messages));
            prop_assert!(whole.calls.starts_with(&part.calls));
        }
        if half.rounds.len() < recording.rounds.len() || half.rounds.last().unwrap().finish.is_none() {
            // Between two rounds, nothing shows that another one was planned.
            let between = half.rounds.last().is_some_and(|r| r.finish.is_some()) && text.as_bytes()[at - 1] == b'\n';
            let complete_line = text[..].is_char_boundary(at) && text[..at].ends_with('}');
            prop_assert!(half.cut.is_some() || between || complete_line);
        }
    }
}

#[test]
fn a_last_line_that_breaks_off_is_a_cut() {
    let text = after_session(
        "{\"type\":\"delta\",\"kind\":\"content\",\"text\":\"a\"}\n{\"type\":\"delta\",\"kind\":\"content\",\"text\":\"武",
    );
    // Even within a character.
    let recording = read(&text.as_bytes()[..text.len() - 1]).unwrap();
    let cut = recording.cut.unwrap();
    assert_eq!((cut.line, cut.reason), (3, CutReason::IncompleteLine));
    assert_eq!(cut.to_string(), "cut off in line 3: it breaks off");
    assert_eq!(recording.rounds[0].said(DeltaKind::Content), "a");
}

#[test]
fn an_answer_without_a_finish_line_is_a_cut() {
    let recording = parse(&after_session("{\"type\":\"delta\",\"kind\":\"content\",\"text\":\"a\"}\n")).unwrap();
    assert_eq!(recording.cut.unwrap().to_string(), "cut off in line 2: the answer has no `finish` line");
}

#[test]
fn a_recording_that_ends_before_the_answer_is_a_cut() {
    let recording = parse(&after_session("{\"type\":\"message\",\"role\":\"user\",\"content\":\"a\"}\n")).unwrap();
    assert_eq!(recording.cut.unwrap().reason, CutReason::NoAnswer);
    assert_eq!(parse(SESSION).unwrap().cut.unwrap().reason, CutReason::NoAnswer);
}

#[test]
fn a_broken_line_before_the_end_is_an_error_with_its_place() {
    let text = after_session(
        "{\"type\":\"delta\",\"kind\":\"content\",\"text\":12}\n{\"type\":\"finish\",\"reason\":\"stop\"}\n",
    );
    let error = parse(&text).unwrap_err();
    assert!(matches!(error, ReadError::Json { line: 2, column: 42, .. }), "{error:?}");
    assert_eq!(error.to_string(), "line 2, column 42: invalid type: integer `12`, expected a string");
    assert!(error.source().is_some_and(|source| source.is::<serde_json::Error>()));

    let mut bytes = after_session("{\"type\":\"x\"}\n").into_bytes();
    bytes.extend_from_slice(b"{\"type\":\"\xff\"}\n");
    let error = read(&*bytes).unwrap_err();
    assert!(matches!(error, ReadError::Utf8 { line: 3, column: 10, .. }), "{error:?}");
    assert!(error.source().is_some_and(|source| source.is::<std::str::Utf8Error>()));
}

#[test]
fn an_unknown_version_is_refused_by_name() {
    for version in ["2", "\"1\"", "1.5"] {
        let error = parse(&format!("{{\"type\":\"session\",\"toolgraft\":{version}}}\n")).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("line 1: recordings of version {version} cannot be read here; readable: version 1")
        );
    }
}

#[test]
fn unknown_line_types_are_skipped_and_noted_and_unknown_fields_only_skipped() {
    let recording = parse(
        "{\"type\":\"session\",\"toolgraft\":1,\"mood\":3}\n{\"type\":\"weather\",\"sun\":true}\n{\"sun\":1}\n\
         {\"type\":\"delta\",\"kind\":\"content\",\"text\":\"a\",\"tokens\":[1]}\n{\"type\":\"finish\",\"reason\":\"stop\"}\n",
    )
    .unwrap();
    let notes: Vec<_> = recording.notes.iter().map(ToString::to_string).collect();
    assert_eq!(
        notes,
        ["line 2: unknown line type `weather` was skipped", "line 3: an object without `type` was skipped",]
    );
    assert_eq!(recording.rounds[0].said(DeltaKind::Content), "a");
}

#[test]
fn images_and_a_price_are_known() {
    let image = Image::new(b"GIF89a").unwrap();
    let usage = Usage::default().with_cost(Some(0.5));
    let mut round = Round::default().with_messages([Message::user("What is it?").with_image(image)]);
    round.usage = Some(usage);
    let recording = of_rounds(vec![round]);
    let read = parse(&written(&recording)).unwrap();
    assert_eq!((read.notes, read.rounds), (Vec::new(), recording.rounds));
}

#[test]
fn half_surrogate_pairs_become_replacement_characters_and_are_noted() {
    let recording = parse(&after_session(
        "{\"type\":\"delta\",\"kind\":\"content\",\"text\":\"a\\ud83d\"}\n{\"type\":\"delta\",\"kind\":\"content\",\"text\":\"\\ud83d\\ude00\"}\n{\"type\":\"finish\",\"reason\":\"stop\"}\n",
    ))
    .unwrap();
    assert_eq!(recording.rounds[0].said(DeltaKind::Content), "a\u{fffd}😀");
    assert_eq!(recording.notes.len(), 1);
    assert_eq!(recording.notes[0].line, 2);
}

#[test]
fn a_file_that_does_not_begin_with_a_session_is_refused() {
    for (text, found) in [
        ("hello\n", "something other than a JSON object"),
        ("[1]\n", "something other than a JSON object"),
        ("{\"type\":\n", "something other than a JSON object"),
        ("{\"a\":1}\n", "an object without `type`"),
        ("{\"type\":5}\n", "an object without a valid `type`"),
        ("{\"type\":\"delta\"}\n", "a `delta` line"),
    ] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.ends_with(&format!("found {found}")), "{error}");
    }
    assert!(matches!(parse("\n\n").unwrap_err(), ReadError::Empty));
    assert!(matches!(parse(&SESSION.repeat(2)).unwrap_err(), ReadError::SecondSession { line: 2 }));
}

#[test]
fn byte_order_marks_blank_lines_and_carriage_returns_are_tolerated() {
    let text = format!("\u{feff}{}\r\n\r\n{{\"type\":\"finish\",\"reason\":\"stop\"}}\r\n", SESSION.trim_end());
    let recording = parse(&text).unwrap();
    assert!(recording.notes.is_empty() && recording.cut.is_none());
}

#[test]
fn the_tools_of_a_round_are_those_last_listed() {
    let listing = |name: &str| {
        let mut round = Round::default();
        round.tools = Some(vec![Server::default().with_tools(vec![Tool::new(name)])]);
        round
    };
    let recording = of_rounds(vec![Round::default(), listing("a"), Round::default(), listing("b")]);
    assert!(recording.catalog(0).is_none());
    assert!(recording.catalog(1).unwrap().knows("a"));
    assert!(recording.catalog(2).unwrap().knows("a"));
    assert!(recording.catalog(3).unwrap().knows("b") && !recording.catalog(3).unwrap().knows("a"));
}
