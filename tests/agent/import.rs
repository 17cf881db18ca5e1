//! Recordings of other programs are converted, with their chunk boundaries and calls.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::error::Error as _;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use toolgraft::message::DeltaKind::{Content, Reasoning};
use toolgraft::message::{FinishReason, Role};
use toolgraft::outcome::Status;
use toolgraft::transcript::import::{Format, ImportError, import};
use toolgraft::transcript::{CutReason, ReadError, Recording};

fn stream(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/streams").join(name)
}

#[derive(Debug)]
struct Imported {
    format: Format,
    recordings: Vec<Recording>,
}

fn load(path: &Path) -> Imported {
    let source = fs::read_to_string(path).unwrap();
    text(&source, &path.display().to_string()).unwrap()
}

fn text(source: &str, name: &str) -> Result<Imported, ImportError> {
    let format = Format::detect(source, name)?;
    Ok(Imported { format, recordings: import(source, format)? })
}

fn one(imported: Imported) -> Recording {
    let [recording] = imported.recordings.try_into().unwrap();
    recording
}

#[test]
fn our_own_recording_is_recognised() {
    let imported = load(&stream("weather.recording.jsonl"));
    assert_eq!(imported.format, Format::Recording);
    let recording = one(imported);
    assert_eq!(recording.rounds.len(), 3);
    assert!(recording.notes.is_empty() && recording.cut.is_none());
}

#[test]
fn a_reasoning_field_and_native_calls_in_pieces_are_taken() {
    let imported = load(&stream("deepseek-tool-call.chunks.jsonl"));
    assert_eq!(imported.format, Format::Chunks);
    let recording = one(imported);
    assert_eq!(recording.session.model.as_deref(), Some("deepseek-reasoner"));
    let [round] = recording.rounds.as_slice() else { panic!("one round") };
    assert!(round.said(Reasoning).starts_with("The user is asking for"), "{}", round.said(Reasoning));
    assert!(round.deltas.len() > 20);
    assert_eq!(round.said(Content), "");
    let [call] = round.native_calls.as_slice() else { panic!("one call") };
    assert_eq!((call.name.as_str(), call.arguments.as_str()), ("weather", "{\"location\": \"San Francisco\"}"));
    assert_eq!(round.finish.as_ref().unwrap().reason, FinishReason::ToolCalls);
}

#[test]
fn an_empty_name_in_a_later_piece_does_not_replace_the_name() {
    let recording = one(load(&stream("mistral-incremental-tool-call.chunks.jsonl")));
    let [call] = recording.rounds[0].native_calls.as_slice() else { panic!("one call") };
    assert_eq!(call.name, "webSearchTool");
    assert_eq!(call.arguments, "{\"query\": \"current Berlin weather\"}");
}

#[test]
fn each_line_with_a_text_is_a_recording() {
    let imported = load(&stream("pydantic_ai.jsonl"));
    assert_eq!(imported.format, Format::Lines);
    assert_eq!(imported.recordings.len(), 5);
    let thinking = &imported.recordings[0];
    assert_eq!(thinking.session.model.as_deref(), Some("qwen/qwen3-32b"));
    assert!(thinking.rounds[0].said(Content).starts_with("<think>"));
    let streamed = &imported.recordings[2].rounds[0];
    assert!(streamed.deltas.len() > 10);
    assert!(streamed.said(Reasoning).starts_with("We need to call"));
}

#[test]
fn clines_history_has_a_round_for_each_message_of_the_assistant() {
    let imported = load(&stream("api_conversation_history.json"));
    assert_eq!(imported.format, Format::Cline);
    let recording = one(imported);
    assert_eq!(recording.session.model.as_deref(), Some("qwen3-coder:30b"));
    let [first, second, third] = recording.rounds.as_slice() else { panic!("three rounds") };
    assert_eq!(first.messages[0].role, Role::User);
    assert!(first.messages[0].content.starts_with("<task>") && first.messages[0].content.ends_with("details>"));
    assert_eq!(first.said(Reasoning), "First the weather, then the files.");
    assert!(first.said(Content).ends_with("</use_mcp_tool>"));
    assert_eq!(second.native_calls[0].name, "list_files");
    assert_eq!(second.native_calls[0].arguments, "{\"path\":\"notes\",\"recursive\":false}");
    assert_eq!(second.finish.as_ref().unwrap().reason, FinishReason::ToolCalls);
    assert_eq!(second.outcomes[0].outcome.status, Status::Result);
    assert_eq!(second.outcomes[0].outcome.text, "a.md\nb.md");
    assert_eq!(third.messages[0].content, "a.md\nb.md\n[image]");
    assert!(third.said(Content).starts_with("There are"));
    assert!(recording.cut.is_none());
}

#[test]
fn server_sent_events_are_chunks() {
    let source = ": keep-alive\n\nevent: message\ndata: {\"id\":\"a\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\n\
        data:{\"id\":\"a\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" you\"},\"finish_reason\":\"stop\"}]}\n\n\
        data: {\"id\":\"a\",\"choices\":[],\"usage\":{\"total_tokens\":3}}\n\ndata: [DONE]\n\n";
    let imported = text(source, "dump.txt").unwrap();
    assert_eq!(imported.format, Format::Chunks);
    let recording = one(imported);
    assert_eq!(recording.rounds.len(), 1);
    assert_eq!(recording.rounds[0].said(Content), "Hi you");
    assert!(recording.cut.is_none());
}

#[test]
fn of_several_choices_the_first_is_taken_and_it_is_noted_once() {
    let source = "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}},{\"index\":1,\"delta\":{\"content\":\"b\"}}]}\n\
        {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"d\"},\"finish_reason\":\"stop\"},{\"index\":0,\"delta\":{\"content\":\"c\"},\"finish_reason\":\"length\"}]}\n";
    let recording = one(text(source, "x").unwrap());
    assert_eq!(recording.rounds[0].said(Content), "ac");
    assert_eq!(recording.rounds[0].finish.as_ref().unwrap().reason, FinishReason::Length);
    let notes: Vec<_> = recording.notes.iter().map(ToString::to_string).collect();
    assert_eq!(notes, ["line 1: several choices: only that with index 0 is taken"]);
}

#[test]
fn answers_after_one_another_are_rounds() {
    let chunk = |id: &str, text: &str, end: &str| {
        format!("{{\"id\":\"{id}\",\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}},\"finish_reason\":{end}}}]}}\n")
    };
    let source = [chunk("a", "1", "null"), chunk("a", "2", "\"stop\""), chunk("b", "3", "\"stop\"")].concat();
    let recording = one(text(&source, "x").unwrap());
    assert_eq!(recording.rounds.iter().map(|r| r.said(Content)).collect::<Vec<_>>(), ["12", "3"]);

    let same_id = [&chunk("a", "1", "\"stop\""), "data: [DONE]\n", &chunk("a", "2", "\"stop\"")].concat();
    assert_eq!(one(text(&same_id, "x").unwrap()).rounds.len(), 2);
}

/// The end of the first answer must be explicit in the file.
#[test]
fn answers_without_an_end_stay_apart_when_they_are_written_and_read_again() {
    let chunk = |text: &str| format!("{{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n");
    let source = [&chunk("1"), "[DONE]\n", &chunk(""), "[DONE]\n", &chunk("2")].concat();
    let recording = one(text(&source, "x").unwrap());
    assert_eq!(recording.rounds.iter().map(|r| r.said(Content)).collect::<Vec<_>>(), ["1", "2"]);
    let mut written = Vec::new();
    recording.write(&mut written).unwrap();
    assert_eq!(toolgraft::transcript::read(&*written).unwrap().rounds, recording.rounds);
}

#[test]
fn an_answer_that_brought_nothing_is_no_round() {
    let recording = one(text("{\"model\":\"m\",\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\n", "x").unwrap());
    assert!(recording.rounds.is_empty(), "{recording:?}");
    assert_eq!(recording.cut.unwrap().reason, CutReason::NoAnswer);
}

#[test]
fn content_may_be_a_list_of_parts_and_a_completion_may_be_whole() {
    let source = "{\n  \"model\": \"m\",\n  \"choices\": [{\"index\": 0, \"finish_reason\": \"stop\", \"message\": {\"role\": \"assistant\", \"content\": [\n\
        {\"type\": \"thinking\", \"thinking\": [{\"type\": \"text\", \"text\": \"hm\"}]}, {\"type\": \"text\", \"text\": \"yes\"}]}}]\n}\n";
    let recording = one(text(source, "x.json").unwrap());
    assert_eq!(recording.rounds[0].said(Reasoning), "hm");
    assert_eq!(recording.rounds[0].said(Content), "yes");
}

#[test]
fn a_stream_without_finish_reason_is_cut_off() {
    let whole = "{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n{\"choices\":[{\"delta\":{\"content\":\"b\"}}]}\n";
    let cut = one(text(whole, "x").unwrap()).cut.unwrap();
    assert_eq!((cut.line, cut.reason), (2, CutReason::NoFinish));
    let recording = one(text(&whole[..whole.len() - 5], "x").unwrap());
    assert_eq!(recording.cut.unwrap().reason, CutReason::IncompleteLine);
    assert_eq!(recording.rounds[0].said(Content), "a");
}

#[test]
fn an_error_in_the_stream_is_noted_and_ends_the_answer() {
    let source = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"error\":{\"message\":\"overloaded\",\"code\":529}}\n";
    let recording = one(text(source, "x").unwrap());
    assert_eq!(recording.notes[0].to_string(), "line 3: the endpoint reported an error: overloaded");
    assert_eq!(recording.rounds[0].finish.as_ref().unwrap().reason.as_str(), "error");
}

#[test]
fn half_surrogate_pairs_in_foreign_files_are_replaced_and_noted() {
    let source = "{\"choices\":[{\"delta\":{\"content\":\"\\ud83d\"},\"finish_reason\":\"stop\"}]}\n";
    let recording = one(text(source, "x").unwrap());
    assert_eq!(recording.rounds[0].said(Content), "\u{fffd}");
    assert_eq!(recording.notes.len(), 1);
}

#[test]
fn plain_text_is_one_answer_whatever_it_looks_like() {
    for (source, name) in [
        ("Hello.\n<use_mcp_tool>", "-"),
        ("data: is what we need", "-"),
        ("event: a party. Then home.", "-"),
        (": a colon\n\ndata: none", "-"),
        ("[TOOL_CALLS] hm", "-"),
        ("{broken", "answer"),
        ("{\"name\": \"f\", \"arguments\": {}}", "answer.txt"),
        ("[1]", "answer.md"),
    ] {
        let imported = text(source, name).unwrap();
        assert_eq!(imported.format, Format::Text, "{source}");
        assert_eq!(one(imported).rounds[0].said(Content), source);
    }
}

#[test]
fn json_of_another_kind_is_refused_with_what_was_expected() {
    for (source, name, end) in [
        ("{\"name\": \"f\", \"arguments\": {}}", "-", "found an object with `name`, `arguments`"),
        ("{}", "x.json", "found an empty object"),
        ("[{\"a\": 1}]", "x.json", "found an array of other objects"),
        ("[]", "x.json", "found an empty array"),
        ("Hello", "x.jsonl", "line 1, column 1: expected value"),
        ("{\"text\": \"a\"}\n{\"text\": \"b\n", "x.jsonl", "line 2, column 11: EOF while parsing a string"),
        ("{\"text\": \"a\"}\n{\"txet\": \"b\"}\n", "x.jsonl", "line 2, column 1: missing field `text`"),
        (
            "{\"choices\": []}\n{\"choices\": 1}\n",
            "x",
            "line 2, column 13: invalid type: integer `1`, expected a sequence",
        ),
    ] {
        let error = text(source, name).unwrap_err();
        assert!(error.to_string().ends_with(end), "{source}: {error}");
        let is_json = end.starts_with("line ");
        assert_eq!(error.source().is_some_and(|source| source.is::<serde_json::Error>()), is_json, "{source}");
    }
    // Where the format is given, an object alone is a line like any other.
    let error = import("{\n\"txet\": \"b\"}", Format::Lines).unwrap_err();
    assert!(error.to_string().ends_with("line 1, column 1: missing field `text`"), "{error}");
    assert!(matches!(text("", "x").unwrap_err(), ImportError::Recording(ReadError::Empty)));
}

#[test]
fn what_was_imported_is_written_and_read_back_the_same() {
    let files = fs::read_dir(stream("")).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<_> = files.filter(|path| path.is_file()).collect();
    assert!(files.len() > 5, "{files:?}");
    for path in files {
        for recording in load(&path).recordings {
            assert!(!recording.rounds.is_empty(), "{}", path.display());
            let mut bytes = Vec::new();
            recording.write(&mut bytes).unwrap();
            let back = toolgraft::transcript::read(&*bytes).unwrap();
            assert_eq!((back.session, back.rounds), (recording.session.clone(), recording.rounds.clone()));
        }
    }
}

proptest! {
    #[test]
    fn no_text_is_too_odd_to_be_looked_at(pieces in prop::collection::vec(prop_oneof![
        prop::sample::select(vec![
            "{", "}", "[", "]", "\"", ":", ",", "\n", "\\", "\\ud83d", "\\ude00", "data: ", "[DONE]", "\"type\":", "\"session\"",
            "\"toolgraft\":1", "\"choices\":[{\"delta\":{\"content\":", "\"text\":\"a\"", "\"role\":\"assistant\"",
            "\"content\":", "null", "1", "{\"type\":\"session\",\"toolgraft\":1}\n", "{\"type\":\"delta\",\"kind\":\"content\",\"text\":\"武\"}",
        ]).prop_map(str::to_owned),
        any::<char>().prop_map(String::from),
    ], 0..12)) {
        let source = pieces.concat();
        for name in ["-", "a.txt", "a.jsonl"] {
            if let Ok(format) = Format::detect(&source, name) {
                let imported = import(&source, format).map(|recordings| Imported { format, recordings });
                if format == Format::Text {
                    prop_assert_eq!(one(imported.unwrap()).rounds[0].said(Content), source.strip_prefix('\u{feff}').unwrap_or(&source));
                }
            }
        }
    }
}
