//! One line in, one line out.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::base::{chunk::Chunk, input};
use crate::reading::{Message, Problems};
use toolgraft::event::{Assembled, Collector};
use toolgraft::message::FinishReason;
use toolgraft::parse::Config;
use toolgraft::validate::Validator;
use toolgraft::{Catalog, Parser, Tool};

/// Maximum number of tool lists for which one worker caches a parser.
const MAX_KEPT: usize = 8;

/// Maximum size in bytes of JSON of a tool list for which a parser is cached.
const MAX_KEPT_BYTES: usize = 4 << 20;

/// An input record, one per line. Other fields are ignored.
#[derive(Deserialize)]
struct Record<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    text: Cow<'a, str>,
    #[serde(borrow, default)]
    reasoning: Option<Cow<'a, str>>,
    #[serde(default)]
    finish_reason: Option<FinishReason>,
    #[serde(default)]
    stop: Vec<String>,
    #[serde(borrow, default)]
    tools: Option<&'a RawValue>,
}

/// The output line for a record: the calls and texts of the message.
#[derive(Serialize)]
struct Extracted<'a> {
    id: Option<&'a RawValue>,
    #[serde(flatten)]
    message: Message<'a>,
}

/// The output line for an input line that is not a valid record.
#[derive(Serialize)]
struct Bad {
    id: (),
    error: String,
}

/// Converts input lines to output lines, on one thread.
pub(super) struct Extractor {
    config: Config,
    chunk: Chunk,
    /// Parser and validator for records without tools.
    bare: RecordReader,
    /// Recent tool lists as JSON text, each with its parser and validator, the most recent first.
    kept: VecDeque<(Box<str>, RecordReader)>,
    problems: Problems,
}

/// The parser and validator for one list of tools.
struct RecordReader {
    parser: Parser,
    validator: Validator,
}

impl RecordReader {
    fn new(config: &Config, tools: Vec<Tool>) -> Self {
        let catalog = Arc::new(Catalog::from_tools(tools));
        // Without a list of tools the parser takes a call of any name.
        let known = (!catalog.is_empty()).then(|| Arc::clone(&catalog));
        let parser = Parser::new(config.clone().with_catalog(known));
        RecordReader { parser, validator: Validator::new(catalog) }
    }
}

impl Extractor {
    pub(super) fn new(config: Config, chunk: Chunk, problems: Problems) -> Self {
        let bare = RecordReader::new(&config, Vec::new());
        Extractor { config, chunk, bare, kept: VecDeque::new(), problems }
    }

    /// Appends the output line for an input line; returns `true` if the input is a valid record.
    pub(super) fn line(&mut self, line: &[u8], number: u64, out: &mut Vec<u8>) -> bool {
        match self.record(line, number, out) {
            Ok(()) => true,
            Err(error) => {
                write_error(&error, number, out);
                false
            }
        }
    }

    fn record(&mut self, line: &[u8], number: u64, out: &mut Vec<u8>) -> Result<(), String> {
        let text = std::str::from_utf8(line).map_err(|e| {
            let at = e.valid_up_to();
            format!("byte 0x{:02x} at column {} is not valid UTF-8", line[at], at + 1)
        })?;
        let record: Record<'_> = object(text)?;
        let chunk = self.chunk;
        let problems = self.problems.clone();
        let reader = self.reader(record.tools)?;
        let assembled = reader.read(&record, chunk, number);
        problems.report(&reader.validator, &assembled);
        let message = Message::of(&assembled, |rejected| {
            let (server, tool) = (rejected.server.as_deref(), rejected.tool.as_deref()?);
            reader.validator.correct_call(rejected.dialect, server, tool)
        });
        write_line(&Extracted { id: record.id, message }, out);
        Ok(())
    }

    /// Returns the parser and validator for a record's tools; cached, since successive records mostly have the same
    /// tools.
    fn reader(&mut self, tools: Option<&RawValue>) -> Result<&mut RecordReader, String> {
        let Some(tools) = tools.map(RawValue::get) else { return Ok(&mut self.bare) };
        let place = self.kept.iter().position(|(kept, _)| **kept == *tools);
        let entry = match place.and_then(|place| self.kept.remove(place)) {
            Some(entry) => entry,
            None => {
                let list: Vec<Tool> =
                    serde_json::from_str(tools).map_err(|e| format!("`tools`: {}", json_error(&e)))?;
                let key = if tools.len() <= MAX_KEPT_BYTES { tools } else { "" };
                (key.into(), RecordReader::new(&self.config, list))
            }
        };
        // An entry without its key is never found, and goes with the next one.
        self.kept.retain(|(key, _)| !key.is_empty());
        self.kept.truncate(MAX_KEPT - 1);
        self.kept.push_front(entry);
        Ok(&mut self.kept[0].1)
    }
}

impl RecordReader {
    /// Parses a record's text, after the reasoning of its separate field, and validates the calls.
    fn read(&mut self, record: &Record<'_>, chunk: Chunk, salt: u64) -> Assembled {
        let mut collector = Collector::new();
        let sink = &mut |event: toolgraft::Event<'_>| {
            // What its schema refuses stays an example.
            if self.validator.admits(&event, &collector) {
                collector.push(event);
            }
        };
        // Reasoning and text of one record are cut at different places.
        for piece in chunk.pieces(record.reasoning.as_deref().unwrap_or_default(), !salt) {
            self.parser.push_reasoning(piece, sink);
        }
        for piece in chunk.pieces(&record.text, salt) {
            self.parser.push(piece, sink);
        }
        self.parser.set_stop(&record.stop);
        self.parser.finish(record.finish_reason.as_ref().unwrap_or(&FinishReason::Stop), sink);
        if let Some(near) = self.parser.near_call(&collector) {
            collector.push(near);
        }
        self.parser.reset();
        let mut assembled = collector.finish();
        self.validator.check_all(&mut assembled);
        assembled
    }
}

/// Deserializes a JSON object. An array, which a derived implementation would accept as well, is an error.
fn object<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, String> {
    if text.trim_start().starts_with('{') {
        return serde_json::from_str(text).map_err(|e| json_error(&e));
    }
    let found = serde_json::from_str(text).map_or("text that is not JSON", |value| input::kind(&value));
    Err(format!("expected a JSON object, found {found}"))
}

/// Returns the message of a JSON error with its column; the line number is added by the caller.
fn json_error(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        // serde_json counts no column where the value itself is of the wrong type, as with `"tools": {}`.
        Some(end) if error.column() > 0 => format!("{} (column {})", &text[..end], error.column()),
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// Appends the output line for an input line that is not a valid record.
pub(super) fn write_error(error: &str, number: u64, out: &mut Vec<u8>) {
    write_line(&Bad { id: (), error: format!("line {number}: {error}") }, out);
}

fn write_line(value: &impl Serialize, out: &mut Vec<u8>) {
    serde_json::to_writer(&mut *out, value).expect("strings, numbers and JSON always serialise into memory");
    out.push(b'\n');
}
