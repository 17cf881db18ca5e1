//! A call's arguments as a person reads them: JSON, but texts of several lines as lines, and what
//! changes a text as a diff.

use std::time::Duration;

use serde_json::{Map, Value};
use similar::{ChangeTag, TextDiff};

use super::visible::packed;

/// Names of parameters that contain the path of a file: in Anthropic's text editor, in the filesystem, git and desktop
/// servers of MCP, in Claude Code, opencode, Cline and Gemini CLI.
const PATHS: [&str; 7] = ["path", "file_path", "filePath", "filename", "file", "target_file", "absolute_path"];

/// Names of parameters, in the same programs, that contain the whole new text of a file.
const WHOLE: [&str; 4] = ["content", "contents", "file_text", "text"];

/// Pairs of parameter names, in the same programs, for a text to replace and its replacement.
const CHANGES: [(&str, &str); 7] = [
    ("old_string", "new_string"),
    ("oldString", "newString"),
    ("old_str", "new_str"),
    ("old_text", "new_text"),
    ("oldText", "newText"),
    ("search", "replace"),
    ("old", "new"),
];

/// Number of unchanged context lines around a change in a diff.
const AROUND: usize = 3;

/// Time limit of the search for the shortest diff; after it a longer diff is shown.
const LOOKED_FOR: Duration = Duration::from_millis(200);

/// Returns JSON in one line if that has at most 60 bytes, else indented.
pub(crate) fn pretty(value: &Value) -> String {
    let line = value.to_string();
    if line.len() <= 60 { line } else { serde_json::to_string_pretty(value).unwrap_or(line) }
}

/// Returns a call's arguments as text for its box, [packed]. `file` returns the current text of the file at a path, if
/// that can be read.
///
/// Each line of a multi-line text is prefixed: `-` removed, `+` added, `·` unchanged, `|` not the text of a file.
pub(crate) fn arguments(value: &Value, file: impl Fn(&str) -> Option<String>) -> String {
    packed(&in_blocks(value, file))
}

fn in_blocks(value: &Value, file: impl Fn(&str) -> Option<String>) -> String {
    let Value::Object(object) = value else { return pretty(value) };
    let mut rest = object.clone();
    let path = path_of(object);
    let current = path.and_then(file);
    let mut blocks = take(&mut rest, "", (path.is_some(), current.as_deref()));
    for (name, value) in &mut rest {
        let Value::Array(items) = value else { continue };
        for (n, item) in items.iter_mut().enumerate() {
            let Value::Object(item) = item else { continue };
            blocks.extend(take(item, &format!("{name}[{n}]."), (false, None)));
        }
    }
    rest.retain(|_, value| !is_taken(value));
    if blocks.is_empty() {
        return pretty(value);
    }
    let rest = (!rest.is_empty()).then(|| pretty(&Value::Object(rest)));
    rest.into_iter().chain(blocks).collect::<Vec<_>>().join("\n\n")
}

fn path_of(object: &Map<String, Value>) -> Option<&str> {
    PATHS.iter().find_map(|key| object.get(*key)?.as_str())
}

/// Returns `true` if a list is not empty and consists of empty objects, whose content is shown in separate blocks.
fn is_taken(value: &Value) -> bool {
    let is_empty = |item: &Value| item.as_object().is_some_and(Map::is_empty);
    value.as_array().is_some_and(|items| !items.is_empty() && items.iter().all(is_empty))
}

/// Removes multi-line texts and pairs of old and new text from an object, and returns them as blocks with headings.
fn take(object: &mut Map<String, Value>, under: &str, (of_a_file, current): (bool, Option<&str>)) -> Vec<String> {
    let mut blocks = Vec::new();
    for (old, new) in CHANGES {
        if let (Some(Value::String(from)), Some(Value::String(to))) = (object.get(old), object.get(new)) {
            blocks.push(format!("{under}{old} → {new}:\n{}", diff(from, to)));
            object.remove(old);
            object.remove(new);
        }
    }
    let is_long = |text: &str| text.trim_end_matches('\n').contains('\n');
    let names: Vec<String> = object.keys().cloned().collect();
    for name in names {
        let Some(Value::String(text)) = object.get(&name).filter(|value| value.as_str().is_some_and(is_long)) else {
            continue;
        };
        let is_whole = of_a_file && WHOLE.contains(&name.as_str());
        let block = match current.filter(|_| is_whole) {
            Some(current) => diff(current, text),
            None => signed(if is_whole { '+' } else { '|' }, text),
        };
        blocks.push(format!("{under}{name}:\n{block}"));
        object.remove(&name);
    }
    blocks
}

/// Prefixes each line of a text with a sign and a space.
fn signed(sign: char, text: &str) -> String {
    text.split_terminator('\n').map(|line| format!("{sign} {line}")).collect::<Vec<_>>().join("\n")
}

/// Returns a diff of two texts: removed and added lines, with a few unchanged lines around each change.
fn diff(old: &str, new: &str) -> String {
    let diff = TextDiff::configure().timeout(LOOKED_FOR).diff_lines(old, new);
    // Else two last lines that only differ in it would look the same.
    let says_break = old.ends_with('\n') != new.ends_with('\n');
    let mut rows: Vec<String> = Vec::new();
    for group in diff.grouped_ops(AROUND) {
        let is_first = group.first().is_none_or(|op| op.old_range().start == 0 && op.new_range().start == 0);
        if !is_first {
            rows.push("…".to_owned());
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let sign = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => '·',
            };
            rows.push(format!("{sign} {}", change.value().trim_end_matches('\n')));
            if says_break && change.missing_newline() {
                rows.push("  (no line break at the end)".to_owned());
            }
        }
    }
    if rows.is_empty() { "(nothing changes)".to_owned() } else { rows.join("\n") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(value: &Value, file: Option<&str>) -> String {
        arguments(value, |_| file.map(str::to_owned))
    }

    #[test]
    fn an_edit_is_shown_as_what_goes_and_what_comes() {
        let edit = json!({"path": "/a.py", "old_string": "a\nb\nc\n", "new_string": "a\nB\nc\n", "all": true});
        let text = "{\"path\":\"/a.py\",\"all\":true}\n\nold_string → new_string:\n· a\n- b\n+ B\n· c";
        assert_eq!(shown(&edit, None), text);
        let several =
            json!({"path": "/a", "edits": [{"oldText": "x", "newText": "y"}, {"oldText": "z", "newText": ""}]});
        let text = shown(&several, None);
        assert!(text.starts_with("{\"path\":\"/a\"}\n\nedits[0].oldText → newText:\n- x\n"), "{text}");
        assert!(text.contains("\n\nedits[1].oldText → newText:\n- z"), "{text}");
    }

    #[test]
    fn a_file_that_is_written_is_held_against_the_one_that_is_there() {
        let new: String = (1..=20).map(|n| if n == 10 { "ten\n".to_owned() } else { format!("{n}\n") }).collect();
        let old: String = (1..=20).map(|n| format!("{n}\n")).collect();
        let write = json!({"path": "/a", "content": new});
        let diff = "{\"path\":\"/a\"}\n\ncontent:\n…\n· 7\n· 8\n· 9\n- 10\n+ ten\n· 11\n· 12\n· 13";
        assert_eq!(shown(&write, Some(&old)), diff);
        let whole = shown(&write, None);
        assert!(whole.starts_with("{\"path\":\"/a\"}\n\ncontent:\n+ 1\n+ 2\n") && whole.ends_with("\n+ 20"), "{whole}");
        assert!(shown(&write, Some(&new)).ends_with("content:\n(nothing changes)"));
        let unbroken = shown(&json!({"path": "/a", "content": "1\n2"}), Some("1\n2\n"));
        assert!(unbroken.ends_with("- 2\n+ 2\n  (no line break at the end)"), "{unbroken}");
    }

    #[test]
    fn other_arguments_stay_json_and_no_line_of_a_text_looks_like_it() {
        for value in [json!({"city": "Oslo"}), json!({"text": "one line\n"}), json!([1]), json!({})] {
            assert_eq!(shown(&value, None), pretty(&value));
        }
        let forged = json!({"command": "ls\n{\"path\": \"/safe\"}\n\nold → new:\n+ x"});
        assert_eq!(shown(&forged, None), "command:\n| ls\n| {\"path\": \"/safe\"}\n| \n| old → new:\n| + x");
        let nested = json!({"a": {"b": "1\n2"}});
        assert_eq!(shown(&nested, None), pretty(&nested));
    }
}
