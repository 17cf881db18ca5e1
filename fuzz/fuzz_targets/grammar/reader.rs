//! A careful reader, who decides which calls of a damaged message are acceptable.
//!
//! It has no notion of repairs. Intended arguments are accepted. Other ones are accepted if the
//! call's text for them is JSON with exactly this value. If it is not JSON, the arguments contain
//! exactly the letters and digits of the text, in order, and no bracket was added. Small damage
//! spoils one member at most, and no member absorbs another.

use serde_json::Value;
use toolgraft::event::{Assembled, RejectedKind, Repair};
use toolgraft::{Call, Dialect};

use super::call::MeantCall;
use super::damage::Damaged;
use super::meant::Meant;

/// Checks that all calls found in a damaged message may run.
///
/// # Errors
/// The call that must not run, and the reason.
pub(crate) fn accepts(meant: &Meant, damaged: &Damaged, found: &Assembled) -> Result<(), String> {
    let mut left: Vec<_> = meant.calls.iter().collect();
    for (call, raw) in found.entries.iter().filter_map(|entry| Some((entry.result.as_ref().ok()?, &entry.raw))) {
        if let Some(n) = left.iter().position(|meant| meant.is(call)) {
            left.remove(n);
        } else if damaged.cut {
            return Err(format!("a call that was cut off runs: {call:?}"));
        } else if call.dialect != Dialect::KimiK3 {
            // The rules for damaged elements of Kimi K3 are not judged yet.
            let read = reads(call, &damaged.text).and_then(|()| loses_nothing(call, raw, meant, damaged));
            read.map_err(|why| format!("{why}: {call:?}"))?;
        }
    }
    // A stray `</think>` turns all text before it into reasoning. Text after a fence decides about
    // the calls in it.
    let is_before =
        |call: &&&MeantCall| call.span.end < damaged.at && !call.fenced && !is_in_series(meant, call, damaged.at);
    // A second closing delimiter of an earlier call withdraws the calls after it (law 7).
    let is_withdrawn = |lost: &&&MeantCall| {
        let withdrawn = found.rejected().filter(|rejected| rejected.kind == RejectedKind::AfterDamage);
        withdrawn.filter_map(|rejected| rejected.call.as_deref()).any(|call| lost.is(call))
    };
    let lost = left.iter().find(|call| is_before(call) && !is_withdrawn(call));
    let before = lost.filter(|_| !damaged.text.contains("think>"));
    before.map_or(Ok(()), |lost| Err(format!("a call before the damage is lost: {lost:?}")))
}

/// Returns `true` if a call in Python's syntax is in a series with the damaged one: such a series
/// is read as a whole or not at all.
fn is_in_series(meant: &Meant, call: &MeantCall, damaged_at: usize) -> bool {
    let mut end = call.span.end;
    let later = meant.calls.iter().filter(|next| next.span.start >= call.span.end);
    for next in later {
        let joined = next.span.start < end || meant.text[end..next.span.start].trim().is_empty();
        if call.dialect != Dialect::Python || next.dialect != Dialect::Python || !joined {
            return false;
        }
        if next.span.contains(&damaged_at) {
            return true;
        }
        end = next.span.end;
    }
    false
}

/// Checks that all members but one are as intended if the damage was small and the parsed text is
/// not JSON. Exceptions: Python's literals are read exactly or not at all; and a call that the
/// damage closed before its arguments, or before further ones in tags, has none of them, since its
/// text has none.
fn loses_nothing(call: &Call, raw: &str, meant: &Meant, damaged: &Damaged) -> Result<(), String> {
    let is_bare = call.raw_arguments.is_empty() && !raw.contains(['{', '}', '`', '"']);
    let is_closed = in_tags(call) && after(raw, &damaged.text).trim_start().starts_with('<');
    if is_closed || call.dialect == Dialect::Python || is_bare {
        return Ok(());
    }
    let strict =
        serde_json::from_str::<Value>(&call.raw_arguments).is_ok() && damaged.text.contains(&call.raw_arguments);
    let of_tool = meant.calls.iter().filter(|meant| meant.names(call));
    let ignored = call.repairs.iter().any(|repair| repair.to_string().starts_with("ignored_key:"));
    let strict = strict && !ignored && !member_after(raw, &damaged.text);
    match of_tool.filter_map(|meant| meant.differing(call)).min() {
        Some(2..) if damaged.small && !strict => Err("a small damage spoils several members".to_owned()),
        _ => Ok(()),
    }
}

/// Returns `true` if another member follows a call that ends with its JSON.
fn member_after(raw: &str, text: &str) -> bool {
    let rest = after(raw, text).trim_start();
    let key = rest.strip_prefix(',').unwrap_or(rest).trim_start().strip_prefix('"');
    let colon = key.and_then(|key| key.split_once('"')).map(|(_, rest)| rest.trim_start().starts_with(':'));
    raw.ends_with('}') && colon.unwrap_or_default()
}

/// Returns the text after a call.
fn after<'t>(raw: &str, text: &'t str) -> &'t str {
    text.split_once(raw).map_or("", |(_, rest)| rest)
}

fn reads(call: &Call, text: &str) -> Result<(), String> {
    let raw = call.raw_arguments.as_str();
    if !folded(text).contains(&folded(&call.tool)) {
        return Err("no such tool was written".to_owned());
    }
    // Blank arguments count as none.
    if raw.trim().is_empty() && call.arguments.as_object().is_some_and(|members| members.is_empty()) {
        return Ok(());
    }
    if in_tags(call) {
        return tags(call, text);
    }
    let python = call.dialect == Dialect::Python;
    // A value without a keyword gets the name of the only parameter.
    let positional =
        call.repairs.iter().find_map(|repair| Some(repair.to_string().strip_prefix("positional:")?.to_owned()));
    let positional = positional.unwrap_or_default();
    // Plain text of ReAct is the value, without its quotation marks.
    if call.dialect == Dialect::React && !positional.is_empty() {
        let is_text = |value: &Value| value.as_str().is_some_and(|value| signs(value) == signs(&decoded(raw, false)));
        let same = text.contains(raw) && call.arguments.get(&positional).is_some_and(is_text);
        return same.then_some(()).ok_or_else(|| "a bare text is read otherwise than written".to_owned());
    }
    // For damaged objects, the raw arguments are the parsed text.
    if !text.contains(raw) {
        let read = signs(&said(&call.arguments));
        let read = read.strip_prefix(&signs(&positional)).unwrap_or(&read);
        let texts = [text.to_owned(), without_comments(text, false), without_comments(text, true)];
        let is_there = texts.iter().any(|text| signs(&decoded(text, python)).contains(read));
        return is_there.then_some(()).ok_or_else(|| format!("{read:?} is not in the message"));
    }
    if call.dialect == Dialect::Gemma {
        return delimited(raw, &call.arguments);
    }
    if call.repairs.is_empty() && !python {
        let same = serde_json::from_str::<Value>(raw).is_ok_and(|value| value == call.arguments);
        return same.then_some(()).ok_or_else(|| "read otherwise than written, and no repair is named".to_owned());
    }
    // The prefix letter of a Python string is not part of it.
    let bare = raw.strip_prefix(['u', 'U', 'r', 'R']).filter(|text| python && text.starts_with(['"', '\'']));
    says(&format!("{positional}{}", bare.unwrap_or(raw)), &call.arguments, python)
}

/// Checks that a text has exactly this value: as JSON, as damaged JSON, or as Python keywords.
fn says(raw: &str, value: &Value, python: bool) -> Result<(), String> {
    if serde_json::from_str::<Value>(raw).is_ok_and(|read| read == *value) {
        return Ok(());
    }
    // Python's parentheses contain keywords, which are the outer object; a tuple is an array.
    let objects = raw.matches('}').count() + usize::from(python);
    let arrays = raw.matches(']').count() + if python { raw.matches(')').count() } else { 0 };
    if brackets(value, '{') > objects || brackets(value, '[') > arrays {
        return Err("a bracket was supplied".to_owned());
    }
    let (written, read) = (signs(&decoded(raw, python)), signs(&said(value)));
    let commented = ["//", "/*", "#"].iter().any(|mark| raw.contains(mark));
    if written == read || (commented && is_within(&read, &written)) {
        return Ok(());
    }
    Err(format!("{written:?} was written and {read:?} read"))
}

/// Checks that an object whose strings are between special tokens, with literal backslashes, has
/// exactly this value.
fn delimited(raw: &str, value: &Value) -> Result<(), String> {
    if brackets(value, '{') > raw.matches('}').count() || brackets(value, '[') > raw.matches(']').count() {
        return Err("a bracket was supplied".to_owned());
    }
    let raw = raw.replace("<escape>", "");
    let (written, read) = (signs(&raw), signs(&said(value)));
    let commented = ["//", "/*", "#"].iter().any(|mark| raw.contains(mark));
    let same = written == read || (commented && is_within(&read, &written));
    same.then_some(()).ok_or_else(|| format!("{written:?} was written and {read:?} read"))
}

/// Removes the part of each line after `//` or `#`, which may be a member. If `strings`, not within
/// an open quotation mark.
fn without_comments(text: &str, strings: bool) -> String {
    let is_open = |before: &str| strings && before.matches('"').count() % 2 == 1;
    let before = |line: &str| {
        let marks = line.match_indices("//").chain(line.match_indices('#')).map(|(at, _)| at);
        let comment = marks.filter(|at| !is_open(&line[..*at])).min();
        line[..comment.unwrap_or(line.len())].to_owned()
    };
    text.lines().map(before).collect::<Vec<_>>().join("\n")
}

/// Normalises a name for comparison.
fn folded(text: &str) -> String {
    text.replace(['-', '.'], "_")
}

/// Returns `true` if each argument is in tags of its own.
fn in_tags(call: &Call) -> bool {
    match call.dialect {
        Dialect::ToolTag | Dialect::Invoke | Dialect::KimiK3 => true,
        Dialect::FunctionTag | Dialect::Glm => !call.raw_arguments.trim_start().starts_with(['{', '[', '`', '"', '&']),
        _ => false,
    }
}

/// GLM's tag before a value; the value's name is in a pair of tags before it.
const VALUE: &str = "<arg_value>";

/// Returns `true` if a text contains such a tag without a complete pair before it: the remainder of
/// an argument with broken tags.
fn has_half_a_pair(text: &str) -> bool {
    text.match_indices(VALUE).any(|(at, _)| {
        let before = text[..at].trim_end().strip_suffix("</arg_key>");
        before.is_none_or(|before| before.rsplit_once("<arg_key>").is_none_or(|(_, name)| name.contains('<')))
    })
}

/// Checks that each value is in the text after its name, as text or as JSON.
fn tags(call: &Call, text: &str) -> Result<(), String> {
    // LongCat's tags are GLM's with a longer name.
    let text = &text.replace("longcat_arg_", "arg_");
    for (name, value) in call.arguments.as_object().into_iter().flatten() {
        let written = text.match_indices(name.as_str()).any(|(at, _)| {
            let rest = &text[at + name.len()..];
            match (value, call.dialect) {
                (Value::String(value), Dialect::Glm) => {
                    after_pair(rest).contains(&value.replace("longcat_arg_", "arg_"))
                }
                (_, Dialect::Glm) => json_before_tag(after_pair(rest), value),
                // A text with `]]>` is in two sections.
                (Value::String(value), _) if call.repairs.contains(&Repair::Cdata) => {
                    rest.replace("]]><![CDATA[", "").contains(value.as_str())
                }
                (Value::String(value), _) => rest.contains(value.as_str()),
                _ => json_between_tags(rest, value),
            }
        });
        if !written {
            return Err(format!("nothing such was written for {name:?}"));
        }
        // Each of the two dialects only has its own tag names.
        let is_longcat = call.raw_arguments.contains("<longcat_arg_key>");
        let own = |value: &str| match is_longcat {
            true => value.replace("<arg_", "<").replace("longcat_arg_", "arg_"),
            false => value.to_owned(),
        };
        if call.dialect == Dialect::Glm && value.as_str().is_some_and(|value| has_half_a_pair(&own(value))) {
            return Err(format!("{name:?} has swallowed another argument"));
        }
    }
    Ok(())
}

/// Returns `true` if there is JSON with this value between the next `>` and a `<`.
fn json_between_tags(text: &str, value: &Value) -> bool {
    text.split_once('>').is_some_and(|(_, rest)| json_before_tag(rest, value))
}

/// Returns the text after the value tag that follows a name's tags.
fn after_pair(text: &str) -> &str {
    text.split_once(VALUE).map_or("", |(_, rest)| rest)
}

/// Returns `true` if there is JSON with this value before a `<`.
fn json_before_tag(rest: &str, value: &Value) -> bool {
    rest.match_indices('<').any(|(close, _)| says(&rest[..close], value, false).is_ok())
}

fn brackets(value: &Value, kind: char) -> usize {
    match value {
        Value::Array(items) => usize::from(kind == '[') + items.iter().map(|item| brackets(item, kind)).sum::<usize>(),
        Value::Object(members) => {
            usize::from(kind == '{') + members.values().map(|value| brackets(value, kind)).sum::<usize>()
        }
        _ => 0,
    }
}

/// Returns all keys and values of a value, in order.
fn said(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(said).collect(),
        Value::Object(members) => members.iter().map(|(key, value)| format!("{key}{}", said(value))).collect(),
        other => other.to_string(),
    }
}

/// Escapes of one character and their meaning: those of JSON, then those that only Python has.
const ESCAPES: &[(char, &str)] = &[('\\', "\\"), ('n', "\n"), ('t', "\t"), ('r', "\r"), ('b', "\u{8}"), ('f', "\u{c}")];
const PYTHON_ESCAPES: &[(char, &str)] = &[('a', "\u{7}"), ('v', "\u{b}"), ('\n', "")];

/// Decodes escapes: those of one character, `\uXXXX`, and Python's `\OOO`, `\xXX` and `\UXXXXXXXX`.
/// Of others the backslash is removed.
fn decoded(raw: &str, python: bool) -> String {
    let mut decoded = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((before, after)) = rest.split_once('\\') {
        decoded.push_str(before);
        rest = after;
        let units = units(after);
        if !units.is_empty() {
            decoded.extend(char::decode_utf16(units.iter().copied()).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)));
            rest = &after[6 * units.len() - 1..];
        } else if let Some((c, tail)) = numbered(after).filter(|_| python) {
            decoded.push(c);
            rest = tail;
        } else {
            let python: &[_] = if python { PYTHON_ESCAPES } else { &[] };
            let mut known = ESCAPES.iter().chain(python);
            if let Some((kind, meant)) = known.find(|(kind, _)| after.starts_with(*kind)) {
                decoded.push_str(meant);
                rest = &after[kind.len_utf8()..];
            }
        }
    }
    decoded + rest
}

/// Decodes a numeric escape of Python. `text` begins after its backslash. Returns the character and
/// the rest.
fn numbered(text: &str) -> Option<(char, &str)> {
    let (start, end, radix) = match text.as_bytes().first()? {
        b'0'..=b'7' => (0, text.bytes().take(3).take_while(|digit| (b'0'..=b'7').contains(digit)).count(), 8),
        b'x' => (1, 3, 16),
        b'U' => (1, 9, 16),
        _ => return None,
    };
    let number = u32::from_str_radix(text.get(start..end)?, radix).ok()?;
    Some((char::from_u32(number)?, &text[end..]))
}

/// Returns the UTF-16 units of the consecutive escapes at the beginning of a text, which begins
/// after the first backslash.
fn units(text: &str) -> Vec<u16> {
    let unit = |escape: &str| u16::from_str_radix(escape.strip_prefix('u')?, 16).ok();
    let escapes = (0..).map(|n| text.get(6 * n..6 * n + 5).filter(|_| n == 0 || text[6 * n - 1..].starts_with('\\')));
    escapes.map_while(|escape| unit(escape?)).collect()
}

/// Text that may be syntax around values or a part of them.
const MARKUP: &[&str] = &["```json", "<![CDATA[", "&lt;", "&gt;", "&amp;", "&quot;", "&apos;"];

/// Returns the letters and digits of a text without markup; without zeros, which a number's
/// spelling may add or drop, and with Python's words replaced by JSON's.
fn signs(text: &str) -> String {
    // A backslash may be text, or dropped as an invalid escape.
    let text = MARKUP.iter().fold(text.replace('\\', ""), |text, mark| text.replace(mark, " "));
    let signs: String =
        text.chars().filter(|c| c.is_alphanumeric() && *c != '0').flat_map(char::to_lowercase).collect();
    signs.replace("none", "null")
}

fn is_within(part: &str, whole: &str) -> bool {
    let mut whole = whole.chars();
    part.chars().all(|c| whole.any(|w| w == c))
}
