//! What a careful reader accepts of a damaged message.
//!
//! It knows nothing of repairs. Arguments that were meant are right. Others are
//! right where the text that the call gives for them is JSON and says just
//! that. Where it is no JSON, every letter and digit of the text is in the
//! arguments, in order, and no other; and no bracket was supplied. If the damage
//! is small, it spoils one member at most: none is swallowed by another.

use serde_json::Value;
use toolgraft::event::{Assembled, RejectedKind, Repair};
use toolgraft::{Call, Dialect};

use super::call::MeantCall;
use super::damage::Damaged;
use super::meant::Meant;

/// Whether all that is found in a damaged message may run.
///
/// # Errors
/// What may not, and why.
pub(crate) fn accepts(meant: &Meant, damaged: &Damaged, found: &Assembled) -> Result<(), String> {
    let mut left: Vec<_> = meant.calls.iter().collect();
    for (call, raw) in found.entries.iter().filter_map(|entry| Some((entry.result.as_ref().ok()?, &entry.raw))) {
        if let Some(n) = left.iter().position(|meant| meant.is(call)) {
            left.remove(n);
        } else if damaged.cut {
            return Err(format!("a call that was cut off runs: {call:?}"));
        } else if call.dialect != Dialect::KimiK3 {
            // How Kimi K3's elements are read when they are damaged is not judged yet.
            let read = reads(call, &damaged.text).and_then(|()| loses_nothing(call, raw, meant, damaged));
            read.map_err(|why| format!("{why}: {call:?}"))?;
        }
    }
    // A stray `</think>` makes reasoning of all that stands before it.
    // What is behind a fence decides about the calls in it.
    let is_before =
        |call: &&&MeantCall| call.span.end < damaged.at && !call.fenced && !is_in_series(meant, call, damaged.at);
    // What closes an earlier call once more withdraws the calls since (law 7).
    let is_withdrawn = |lost: &&&MeantCall| {
        let withdrawn = found.rejected().filter(|rejected| rejected.kind == RejectedKind::BehindDamage);
        withdrawn.filter_map(|rejected| rejected.call.as_deref()).any(|call| lost.is(call))
    };
    let lost = left.iter().find(|call| is_before(call) && !is_withdrawn(call));
    let before = lost.filter(|_| !damaged.text.contains("think>"));
    before.map_or(Ok(()), |lost| Err(format!("a call before the damage is lost: {lost:?}")))
}

/// Whether a call stands in a series in Python's syntax with what was damaged: all of it is
/// read or nothing.
fn is_in_series(meant: &Meant, call: &MeantCall, damaged_at: usize) -> bool {
    let mut end = call.span.end;
    let behind = meant.calls.iter().filter(|next| next.span.start >= call.span.end);
    for next in behind {
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

/// Whether all members but one are as they were meant, where the damage was small
/// and what was read is no JSON as it stands. (Python's literals are read exactly or
/// not at all. And a call that the damage closed before its arguments, or before
/// further ones in tags, has none of them: nothing of them is in its text.)
fn loses_nothing(call: &Call, raw: &str, meant: &Meant, damaged: &Damaged) -> Result<(), String> {
    let is_bare = call.raw_arguments.is_empty() && !raw.contains(['{', '}', '`', '"']);
    let is_closed = in_tags(call) && behind(raw, &damaged.text).trim_start().starts_with('<');
    if is_closed || call.dialect == Dialect::Python || is_bare {
        return Ok(());
    }
    let strict =
        serde_json::from_str::<Value>(&call.raw_arguments).is_ok() && damaged.text.contains(&call.raw_arguments);
    let of_tool = meant.calls.iter().filter(|meant| meant.names(call));
    let ignored = call.repairs.iter().any(|repair| repair.to_string().starts_with("ignored_key:"));
    let strict = strict && !ignored && !member_behind(raw, &damaged.text);
    match of_tool.filter_map(|meant| meant.differing(call)).min() {
        Some(2..) if damaged.small && !strict => Err("a small damage spoils several members".to_owned()),
        _ => Ok(()),
    }
}

/// Whether a further member follows a call that ends with its JSON.
fn member_behind(raw: &str, text: &str) -> bool {
    let behind = behind(raw, text).trim_start();
    let key = behind.strip_prefix(',').unwrap_or(behind).trim_start().strip_prefix('"');
    let colon = key.and_then(|key| key.split_once('"')).map(|(_, behind)| behind.trim_start().starts_with(':'));
    raw.ends_with('}') && colon.unwrap_or_default()
}

/// What stands behind a call.
fn behind<'t>(raw: &str, text: &'t str) -> &'t str {
    text.split_once(raw).map_or("", |(_, behind)| behind)
}

fn reads(call: &Call, text: &str) -> Result<(), String> {
    let raw = call.raw_arguments.as_str();
    // In a call in quotes the backslash that Markdown wants is itself escaped.
    let is_written = folded(text).contains(&folded(&call.tool))
        || (call.dialect == Dialect::Python && folded(&text.replace('\\', "")).contains(&folded(&call.tool)));
    if !is_written {
        return Err("no such tool was written".to_owned());
    }
    // Blank arguments are none.
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
    // A bare text of ReAct's is the value, out of its quotation marks.
    if call.dialect == Dialect::React && !positional.is_empty() {
        let is_text = |value: &Value| value.as_str().is_some_and(|value| signs(value) == signs(&decoded(raw, false)));
        let same = text.contains(raw) && call.arguments.get(&positional).is_some_and(is_text);
        return same.then_some(()).ok_or_else(|| "a bare text is read otherwise than written".to_owned());
    }
    // Of damaged objects, and in a list of quoted calls, it is what was read.
    if !text.contains(raw) {
        let read = signs(&said(&call.arguments));
        let read = read.strip_prefix(&signs(&positional)).unwrap_or(&read);
        // The escapes of a call in quotes are themselves escaped.
        let quoted = decoded(text, python);
        let texts = [text.to_owned(), quoted, without_comments(text, false), without_comments(text, true)];
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
    // Python's letter before a text is no part of it.
    let bare = raw.strip_prefix(['u', 'U', 'r', 'R']).filter(|text| python && text.starts_with(['"', '\'']));
    says(&format!("{positional}{}", bare.unwrap_or(raw)), &call.arguments, python)
}

/// Whether a text says just this value, in JSON, in damaged JSON, or as keywords of Python.
fn says(raw: &str, value: &Value, python: bool) -> Result<(), String> {
    if serde_json::from_str::<Value>(raw).is_ok_and(|read| read == *value) {
        return Ok(());
    }
    // Python's parentheses hold keywords, which are the outer object; a tuple is an array.
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

/// Whether an object with texts between tokens, in which a backslash is one, says just this value.
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

/// A text without what its lines hold behind `//` or `#`: that may be a member.
/// `strings`: whether neither begins a comment behind a quotation mark that is open.
fn without_comments(text: &str, strings: bool) -> String {
    let is_open = |before: &str| strings && before.matches('"').count() % 2 == 1;
    let before = |line: &str| {
        let marks = line.match_indices("//").chain(line.match_indices('#')).map(|(at, _)| at);
        let comment = marks.filter(|at| !is_open(&line[..*at])).min();
        line[..comment.unwrap_or(line.len())].to_owned()
    };
    text.lines().map(before).collect::<Vec<_>>().join("\n")
}

/// A name as it is compared.
fn folded(text: &str) -> String {
    text.replace(['-', '.'], "_")
}

/// Whether the arguments stand in tags of their own.
fn in_tags(call: &Call) -> bool {
    match call.dialect {
        Dialect::ToolTag | Dialect::Invoke | Dialect::KimiK3 => true,
        Dialect::FunctionTag | Dialect::Glm => !call.raw_arguments.trim_start().starts_with(['{', '[', '`', '"', '&']),
        _ => false,
    }
}

/// What GLM writes before a value; the value's name stands in a pair of tags before it.
const VALUE: &str = "<arg_value>";

/// Whether a text has such a tag without a whole pair before it: the rest of an argument whose
/// own tags are broken.
fn has_half_a_pair(text: &str) -> bool {
    text.match_indices(VALUE).any(|(at, _)| {
        let before = text[..at].trim_end().strip_suffix("</arg_key>");
        before.is_none_or(|before| before.rsplit_once("<arg_key>").is_none_or(|(_, name)| name.contains('<')))
    })
}

/// Whether each value stands in the text behind its name, as text or as JSON.
fn tags(call: &Call, text: &str) -> Result<(), String> {
    // LongCat's tags are GLM's by longer names.
    let text = &text.replace("longcat_arg_", "arg_");
    for (name, value) in call.arguments.as_object().into_iter().flatten() {
        let written = text.match_indices(name.as_str()).any(|(at, _)| {
            let rest = &text[at + name.len()..];
            match (value, call.dialect) {
                (Value::String(value), Dialect::Glm) => {
                    behind_pair(rest).contains(&value.replace("longcat_arg_", "arg_"))
                }
                (_, Dialect::Glm) => json_before_tag(behind_pair(rest), value),
                // A text with `]]>` stands in two sections.
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
        // Each of the two has tags by its own names alone.
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

/// Whether JSON that says `value` stands between the next `>` and a `<`.
fn json_between_tags(text: &str, value: &Value) -> bool {
    text.split_once('>').is_some_and(|(_, rest)| json_before_tag(rest, value))
}

/// What stands behind the tag that follows a name's.
fn behind_pair(text: &str) -> &str {
    text.split_once(VALUE).map_or("", |(_, rest)| rest)
}

/// Whether JSON that says `value` stands before a `<`.
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

/// All keys and values of a value, in order.
fn said(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(said).collect(),
        Value::Object(members) => members.iter().map(|(key, value)| format!("{key}{}", said(value))).collect(),
        other => other.to_string(),
    }
}

/// What escapes of one character stand for: JSON's, then those that Python has beside them.
const ESCAPES: &[(char, &str)] = &[('\\', "\\"), ('n', "\n"), ('t', "\t"), ('r', "\r"), ('b', "\u{8}"), ('f', "\u{c}")];
const PYTHON_ESCAPES: &[(char, &str)] = &[('a', "\u{7}"), ('v', "\u{b}"), ('\n', "")];

/// A text with its escapes decoded: those of one character, `\uXXXX`, and Python's `\OOO`,
/// `\xXX` and `\UXXXXXXXX`. Of others the backslash is left out.
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
        } else if let Some((c, behind)) = numbered(after).filter(|_| python) {
            decoded.push(c);
            rest = behind;
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

/// The character of one of Python's escapes by number, whose backslash stands before `text`,
/// and what follows it.
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

/// The UTF-16 units of the escapes that a text goes on with, from behind the first backslash.
fn units(text: &str) -> Vec<u16> {
    let unit = |escape: &str| u16::from_str_radix(escape.strip_prefix('u')?, 16).ok();
    let escapes = (0..).map(|n| text.get(6 * n..6 * n + 5).filter(|_| n == 0 || text[6 * n - 1..].starts_with('\\')));
    escapes.map_while(|escape| unit(escape?)).collect()
}

/// What may be syntax around values or a part of them.
const MARKUP: &[&str] = &["```json", "<![CDATA[", "&lt;", "&gt;", "&amp;", "&quot;", "&apos;"];

/// Letters and digits of what is not markup; no zeros, which a number's
/// spelling may add or drop, and Python's words as JSON's.
fn signs(text: &str) -> String {
    // A backslash in it may be text or be dropped, as an escape that is none.
    let text = MARKUP.iter().fold(text.replace('\\', ""), |text, mark| text.replace(mark, " "));
    let signs: String =
        text.chars().filter(|c| c.is_alphanumeric() && *c != '0').flat_map(char::to_lowercase).collect();
    signs.replace("none", "null")
}

fn is_within(part: &str, whole: &str) -> bool {
    let mut whole = whole.chars();
    part.chars().all(|c| whole.any(|w| w == c))
}
