//! Recognises stale edits: an edit whose old text does not occur in anything that the conversation has shown of the
//! file.
//!
//! A model may edit a file from memory. The history contains what it was shown: results of calls that name the same
//! path, the user's files, and what the model wrote there itself. The first such edit is rejected, with the nearest
//! lines; the next edit of that file passes, and its tool decides.
//!
//! If only a part of the file was shown, or nothing, the call passes.

use serde_json::{Map, Value};

use crate::conversation::{Conversation, HistoryEntry};
use crate::event::{Call, Rejected, RejectedKind};
use crate::outcome::named_files;
use crate::tools::Tool;
use crate::turn::origin::Origins;
use crate::turn::setup::Setup;

const PATHS: &[&str] = &[
    "path", "file_path", "filePath", "file", "filename", "file_name", "target_file", "absolute_path", "relative_path",
];
const OLD: &[&str] = &["old_string", "oldString", "old_str", "oldText", "old_text", "old", "search", "find"];
const NEW: &[&str] =
    &["new_string", "newString", "new_str", "newText", "new_text", "new", "replace", "replacement", "replace_with"];

/// Words in the name of a tool, or of its command, that shows a file.
const READS: &[&str] = &["read", "view", "cat", "open", "show", "load", "fetch", "content", "contents", "display"];

/// Parts of the names of arguments with which a call shows only a part of a file.
const PARTS: &[&str] =
    &["offset", "limit", "range", "line", "start", "head", "tail", "pattern", "query", "regex", "max", "page"];

/// Words by which a result says that it is incomplete.
const CUTS: &[&str] = &[
    "truncated", "omitted", "left out", "more lines", "lines total", "showing lines", "remaining lines", "skipped",
    "use offset", "[...", "partial", "截断", "省略",
];

/// Words of a line that says that there is no such file.
const ERRORS: &[&str] = &["error", "no such file", "not found", "not exist", "denied", "错误", "不存在"];

/// Separators between the number of a line and the line.
const SEPARATORS: &[&str] = &["→", "\t", " | ", "| ", "|", ": ", ":"];

/// Limit on the lines of a file that a message shows; `COMPARED` limits the lines of the file, and the words of each
/// line, that are compared.
const NEAREST: usize = 10;
const COMPARED: (usize, usize) = (5_000, 40);

/// Number of lines from which on a result may be cut without saying so: coding agents show this many.
const CAP: usize = 2_000;

/// Part of the message to the model, by which an earlier rejection is recognised.
const NOT_SHOWN: &str = "this text is not in what the conversation has shown of";

/// State of the turn from which the texts that the model has been shown are read.
pub(super) struct ShownContext<'a> {
    pub(super) setup: &'a Setup,
    pub(super) conversation: &'a Conversation,
    pub(super) origins: &'a Origins,
}

/// Returns the call, or a rejection if it is a stale edit that was not rejected before.
pub(super) fn checked(call: Call, raw: &str, told: &ShownContext<'_>) -> Result<Call, Rejected> {
    match problem(&call, told) {
        Some(message) => Err(Rejected::of(call, RejectedKind::InvalidArguments, raw, message)),
        None => Ok(call),
    }
}

fn problem(call: &Call, told: &ShownContext<'_>) -> Option<String> {
    let tool = told.setup.catalog.find(call.server.as_deref(), &call.tool).ok()?.tool;
    let arguments = call.arguments.as_object()?;
    let path = text_of(arguments, PATHS).filter(|(name, _)| tool.has_parameter(name))?.1;
    let edits = edits(tool, arguments);
    // A model that insists may know more than the conversation: the tool has the last word.
    if edits.is_empty() || was_told(call, path, told) {
        return None;
    }
    let mut shown = FileContents::of(path, told);
    // If a part of the file was not shown, the old text may be in it.
    let whole = shown.whole.take()?;
    for (place, old, new) in edits {
        let old = plain(old).trim_matches('\n').to_owned();
        // An empty old text is in every file.
        if !old.trim().is_empty() && !shown.texts.iter().any(|text| text.contains(&old)) {
            let said = format!("{place}: {NOT_SHOWN} {}", Value::from(path));
            let lines = nearest(&whole, &old);
            return Some(match lines.is_empty() {
                true => format!("{said}; read the file again"),
                false => format!("{said}; the nearest lines are:\n{}", lines.join("\n")),
            });
        }
        // A later edit of the same call may change what this one writes.
        shown.texts.push(plain(new));
    }
    None
}

/// Returns the name and text of the first of these members of an object that is a string.
fn text_of<'a>(object: &'a Map<String, Value>, names: &[&'a str]) -> Option<(&'a str, &'a str)> {
    names.iter().find_map(|name| Some((*name, object.get(*name)?.as_str()?)))
}

/// Returns the edits of a call: the place of the old text in the arguments, the old text and the new one.
fn edits<'a>(tool: &Tool, arguments: &'a Map<String, Value>) -> Vec<(String, &'a str, &'a str)> {
    let is_pattern = |(name, value): (&String, &Value)| name.to_lowercase().contains("regex") && *value == true;
    let means_pattern = |place: &str| {
        let own = tool.parameters().find(|parameter| parameter.name == place);
        own.is_some_and(|own| ["regex", "regular expr"].iter().any(|word| own.schema.to_string().contains(word)))
    };
    let edit = |object: &'a Map<String, Value>, at: &str| {
        let ((name, old), (_, new)) = (text_of(object, OLD)?, text_of(object, NEW)?);
        Some((format!("{at}/{name}"), old, new))
    };
    // A pattern does not occur as text: `port = \d+`.
    if arguments.iter().any(is_pattern) {
        return Vec::new();
    }
    match arguments.get("edits").and_then(Value::as_array).filter(|_| tool.has_parameter("edits")) {
        Some(edits) => {
            let objects = edits.iter().enumerate().filter_map(|(at, edit)| Some((at, edit.as_object()?)));
            objects.filter_map(|(at, object)| edit(object, &format!("/edits/{at}"))).collect()
        }
        None => {
            let own = |(place, ..): &(String, _, _)| tool.has_parameter(&place[1..]) && !means_pattern(&place[1..]);
            edit(arguments, "").filter(own).into_iter().collect()
        }
    }
}

/// Returns `true` if an edit of the file by this tool was rejected since the last message of the user.
fn was_told(call: &Call, path: &str, told: &ShownContext<'_>) -> bool {
    let is_same = |rejected: &Rejected| {
        rejected.message.contains(NOT_SHOWN)
            && rejected.call.as_ref().is_some_and(|before| before.tool == call.tool && names(before, path))
    };
    let since = told.conversation.entries().iter().rev();
    let mut since = since.take_while(|entry| !matches!(entry, HistoryEntry::User(_)));
    told.origins.told.iter().any(is_same)
        || since.any(|entry| matches!(entry, HistoryEntry::Assistant(message) if message.feedback().any(is_same)))
}

/// Returns `true` if a text of the call's arguments is the path.
fn names(call: &Call, path: &str) -> bool {
    // `./a.toml` is `a.toml`.
    let bare = |path: &str| path.trim().trim_start_matches("./").to_owned();
    let mut arguments = call.arguments.as_object().into_iter().flatten();
    arguments.any(|(_, value)| value.as_str().is_some_and(|text| bare(text) == bare(path)))
}

/// The contents of a file that the conversation has shown.
#[derive(Default)]
struct FileContents {
    texts: Vec<String>,
    /// The text of the whole file when it was last shown.
    whole: Option<String>,
}

impl FileContents {
    fn of(path: &str, told: &ShownContext<'_>) -> Self {
        let mut shown = FileContents::default();
        for result in &told.origins.foreign {
            match (&result.call, &result.file) {
                (Some(call), _) if names(call, path) => shown.result(call, &result.text),
                (None, Some(file)) if file == path => shown.text(&result.text, true),
                _ => {}
            }
        }
        let mut calls: Vec<(&str, &Call)> = Vec::new();
        for entry in told.conversation.entries() {
            match entry {
                HistoryEntry::User(said) => {
                    let files = named_files(&said.text).filter(|(name, _)| name.as_deref() == Some(path));
                    files.for_each(|(_, text)| shown.text(text, true));
                }
                HistoryEntry::Assistant(message) => {
                    calls.extend(message.calls().map(|made| (made.id.as_str(), &*made.call)));
                }
                HistoryEntry::Outcome { id, outcome } if outcome.is_result() => {
                    let call = calls.iter().rfind(|(made, call)| made == id && names(call, path));
                    call.into_iter().for_each(|(_, call)| shown.result(call, &outcome.said()));
                }
                HistoryEntry::Outcome { .. } | HistoryEntry::Note { .. } => {}
            }
        }
        shown
    }

    /// Adds the texts that a call wrote and returned.
    fn result(&mut self, call: &Call, text: &str) {
        written(&call.arguments, &mut self.texts);
        self.text(text, shows_all(call));
    }

    fn text(&mut self, text: &str, is_all: bool) {
        let mut inner = Vec::new();
        if text.trim_start().starts_with(['{', '[', '"'])
            && let Ok(value) = serde_json::from_str(text)
        {
            written(&value, &mut inner);
        }
        // In `{"content": "…", "size": 70}` the file is the text that takes up most of the result.
        let content = inner.iter().find(|inner| inner.len() * 2 > text.len()).map_or(text, String::as_str);
        let numbered = without_numbers(content);
        let begins = numbered.as_ref().is_none_or(|(first, _)| *first <= 1);
        let stripped = numbered.map(|(_, text)| text);
        // Line numbers that begin after 1 are those of a part of the file.
        if is_all && begins && !is_cut(content) {
            self.whole = Some(stripped.clone().unwrap_or_else(|| plain(content)));
        }
        self.texts.extend(stripped.into_iter().chain([plain(text)]).chain(inner));
    }
}

/// Returns `true` if a result is only a part of a file, or no file's text, such as an error.
fn is_cut(text: &str) -> bool {
    let text = text.to_lowercase();
    // A file of several lines may speak of errors.
    let is_error = text.trim().lines().count() < 2 && ERRORS.iter().any(|word| text.contains(word));
    let leaves_out = || text.lines().any(|line| matches!(line.trim(), "..." | "…"));
    // Coding agents cut a long result without saying so; others say it in words, or with a line of dots.
    text.trim().is_empty()
        || text.lines().count() >= CAP
        || is_error
        || CUTS.iter().any(|cut| text.contains(cut))
        || leaves_out()
}

/// Returns `true` if the call reads a whole file, by its tool's name and arguments.
fn shows_all(call: &Call) -> bool {
    let arguments = || call.arguments.as_object().into_iter().flatten();
    let is_part = |(name, value): (&String, &Value)| {
        let name = name.to_lowercase();
        !value.is_null() && PARTS.iter().any(|part| name.contains(part))
    };
    let reads = |name: &str| {
        // `readFile` is read as `read_file`.
        let parted: String =
            name.chars().flat_map(|c| c.is_uppercase().then_some('_').into_iter().chain([c])).collect();
        let parted = parted.to_lowercase();
        let is_read = |word: &str| READS.contains(&word) || word.starts_with("read");
        parted.split(|c: char| !c.is_alphanumeric()).any(is_read)
    };
    let is_read =
        reads(&call.tool) || arguments().any(|(_, value)| value.as_str().is_some_and(|text| READS.contains(&text)));
    is_read && !arguments().any(is_part)
}

/// Adds the texts of a JSON value, except those that an edit removed.
fn written(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(plain(text)),
        Value::Array(items) => items.iter().for_each(|item| written(item, texts)),
        Value::Object(members) => {
            let kept = members.iter().filter(|(name, _)| !OLD.contains(&name.as_str()));
            kept.for_each(|(_, member)| written(member, texts));
        }
        _ => {}
    }
}

/// Returns a text with only `\n` as line end, and without blanks at the ends of lines.
fn plain(text: &str) -> String {
    let lines: Vec<&str> = text.split('\n').map(str::trim_end).collect();
    lines.join("\n")
}

/// Returns the first line number of a text and the text without line numbers, with the separator that fits the most
/// lines; `None` if it has none.
fn without_numbers(text: &str) -> Option<(usize, String)> {
    let text = plain(text);
    let all = SEPARATORS.iter().rev().map(|separator| {
        let mut numbers = Vec::new();
        let lines: Vec<&str> = text
            .lines()
            .map(|line| match numbered(line, separator) {
                Some((number, rest))
                    // Lines of the file may begin with numbers of their own; line numbers are consecutive.
                    if numbers.last().is_none_or(|last: &usize| last.checked_add(1) == Some(number)) =>
                {
                    numbers.push(number);
                    rest
                }
                _ => line,
            })
            .collect();
        (numbers, lines.join("\n"))
    });
    // Of equal separators the last one wins, which is the first of the table: `| ` and not `|`.
    let (numbers, text) = all.max_by_key(|(numbers, _)| numbers.len())?;
    Some((*numbers.first()?, text))
}

/// Returns the number of a line and the text after its separator, if it has one.
fn numbered<'t>(line: &'t str, separator: &str) -> Option<(usize, &'t str)> {
    let line = line.trim_start();
    let (digits, rest) = line.split_at(line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len());
    // `plain` has removed the blank after the separator of an empty line.
    let is_empty = rest == separator.trim_end();
    Some((digits.parse().ok()?, if is_empty { "" } else { rest.strip_prefix(separator)? }))
}

/// Returns the lines of a file that are most similar to a text: those that share the most words.
fn nearest<'t>(file: &'t str, text: &str) -> Vec<&'t str> {
    let words = |line: &'_ str| -> Vec<String> {
        let words = line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
        words.take(COMPARED.1).map(str::to_owned).collect()
    };
    let wanted: Vec<_> = text.lines().map(words).filter(|words| !words.is_empty()).take(NEAREST).collect();
    let likeness = |line: &&str| {
        let line = words(line);
        let shared = |wanted: &Vec<String>| {
            wanted.iter().filter(|word| line.contains(word)).count() * 100 / wanted.len().max(line.len())
        };
        wanted.iter().map(shared).max().unwrap_or_default()
    };
    // A line of a frame of the program must not be copied.
    let lines: Vec<&str> = file.lines().filter(|line| !line.contains("tool_")).take(COMPARED.0).collect();
    let scores: Vec<usize> = lines.iter().map(likeness).collect();
    // One line on either side is shown, too, so the window is two lines shorter than the limit.
    let size = text.lines().count().clamp(1, NEAREST - 2).min(lines.len().max(1));
    let sums = scores.windows(size).map(|window| window.iter().sum::<usize>()).enumerate();
    // Of equal windows the last one wins, which is the first of the file.
    match sums.rev().max_by_key(|(_, sum)| *sum) {
        Some((at, sum)) if sum > 0 => lines[at.saturating_sub(1)..(at + size + 1).min(lines.len())].to_vec(),
        _ => Vec::new(),
    }
}
