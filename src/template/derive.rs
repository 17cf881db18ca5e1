//! Derives a dialect's file from written calls: the text that all of them share is the syntax.

use serde_json::{Value, json};

use super::render::{KEY, OTHER_KEY, RenderedCalls, TOOL, VALUE, common_end};

/// Returns the dialect file, with this name, that describes the syntax of the written calls; `None` if none can be
/// derived.
pub(super) fn file(written: &RenderedCalls, name: &str) -> Option<String> {
    let row = object(&written.one).or_else(|| named(written))?;
    let mut file = json!({"name": name, "source": "the chat template of a model"});
    for (key, value) in row {
        file[key] = value;
    }
    Some(file.to_string())
}

/// The members of a dialect file that describe its syntax.
type FileFields = Vec<(&'static str, Value)>;

/// Derives a syntax in which calls are JSON objects with the tool's name, after a marker; `None` if the call is not
/// one.
fn object(one: &str) -> Option<FileFields> {
    let at = one.find(TOOL)?;
    // The innermost object that contains the name: braces before it belong to the text around.
    let (start, length, call) = one[..at].rmatch_indices('{').find_map(|(start, _)| {
        let (value, length) = json_at(&one[start..])?;
        (start + length > at).then_some((start, length, value))
    })?;
    let is_name = |value: &Value| value.as_str() == Some(TOOL);
    let is_arguments =
        |value: &Value| value.get(KEY).is_some() || value.as_str().is_some_and(|text| text.contains(KEY));
    let inner = call.as_object()?;
    let key_of = |is: &dyn Fn(&Value) -> bool| inner.iter().find(|(_, value)| is(value)).map(|(key, _)| key.clone());
    let mut keys = json!({});
    for (field, key) in [("tool", key_of(&is_name)), ("arguments", key_of(&is_arguments))] {
        if let Some(key) = key {
            keys[field] = key.into();
        }
    }
    let is_blank = |c: char| c.is_whitespace() || matches!(c, '[' | ',');
    let open = one[..start].trim_end_matches(is_blank).trim();
    // The bracket that was trimmed may belong to the marker: `[CALLS][{`.
    let close = one[start + length..].trim_start_matches(|c: char| c.is_whitespace() || c == ']').trim();
    let mut marker = json!({"open": open});
    if !close.is_empty() {
        marker["close"] = close.into();
    }
    Some(vec![("markers", json!([marker])), ("keys", keys)])
}

/// Derives a syntax in which the tool's name is before the arguments, outside them; `None` if the calls are not so.
fn named(written: &RenderedCalls) -> Option<FileFields> {
    let RenderedCalls { one, two_arguments, two_calls } = written;
    let name = one.find(TOOL)?;
    let after_name = &one[name + TOOL.len()..];
    let (between, arguments, rest) = json_arguments(after_name).or_else(|| tags(after_name, two_arguments))?;
    let two_calls = two_calls.as_deref();
    let (opener, group_open) = opener(one, two_calls)?;
    let (close, group_close) = match group_open.is_empty() {
        true => (rest.trim(), ""),
        false => closer(rest.trim(), two_calls)?,
    };
    let header = format!("{}{{name}}{}", literal(&opener), literal(between));
    let mut call = json!({"header": header, "args": arguments});
    if !close.is_empty() {
        call["close"] = close.into();
    }
    let mut fields = vec![("calls", json!([call]))];
    if !group_open.is_empty() {
        fields.push(("groups", json!([{"open": group_open, "close": group_close}])));
    }
    Some(fields)
}

/// Reads arguments that are one JSON value after the tool's name. Returns the text before it, its syntax as a dialect
/// file names it, and the text after it; `None` if there is no such value.
fn json_arguments(after_name: &str) -> Option<(&str, Value, &str)> {
    let (start, length) = after_name.match_indices('{').find_map(|(start, _)| {
        let (value, length) = json_at(&after_name[start..])?;
        value.get(KEY).map(|_| (start, length))
    })?;
    let (between, rest) = (&after_name[..start], &after_name[start + length..]);
    // The arguments may be in a code fence.
    match (between.rfind("```"), rest.trim_start().strip_prefix("```")) {
        (Some(fence), Some(rest)) => Some((&between[..fence], "fenced_json".into(), rest)),
        _ => Some((between, "json".into(), rest)),
    }
}

/// Reads arguments that are one tag each, with the same result as [`json_arguments`]. `after_name` is the text after
/// the tool's name of a call with one argument, `two` the text of a whole call with two arguments.
fn tags<'t>(after_name: &'t str, two: &str) -> Option<(&'t str, Value, &'t str)> {
    let key = after_name.find(KEY)?;
    let value = key + after_name[key..].find(VALUE)?;
    let (before, inside, rest) =
        (&after_name[..key], &after_name[key + KEY.len()..value], &after_name[value + VALUE.len()..]);
    let next = two.split_once(VALUE)?.1.split_once(OTHER_KEY)?.0;
    // The text that is before each key opens its tag; the rest of the text between two arguments closes the first.
    let open = from_token(common_end(before, next))?;
    let close = next[..next.len() - open.len()].trim();
    let broken = |text: &str| text.starts_with('\n');
    // A template that gives each value its own lines breaks the line on both sides of it.
    let is_broken = inside.ends_with('\n') && broken(next);
    let inside = if is_broken { inside.trim_end() } else { inside };
    let tags = json!({
        "open": format!("{}{{name}}{}", literal(open), literal(inside)), "close": close, "verbatim": !is_broken,
    });
    let rest = rest.trim_start().strip_prefix(close)?;
    Some((before[..before.len() - open.len()].trim_end(), json!({"tags": tags}), rest))
}

/// Returns the text before a call's tool name that opens the call, and the text that opens a group of calls, empty if
/// there is none.
fn opener(one: &str, two: Option<&str>) -> Option<(String, String)> {
    let whole = || Some((one[..one.find(TOOL)?].trim().to_owned(), String::new()));
    let Some(two) = two else { return whole() };
    let first = &two[..two.find(TOOL)?];
    let second = &two[..two.rfind(TOOL)?];
    let Some(open) = from_token(common_end(first, second)) else { return whole() };
    Some((open.to_owned(), first[..first.len() - open.len()].trim().to_owned()))
}

/// Returns the texts that close a call and a group of calls; `rest` is the text after the arguments of the last call.
fn closer<'r>(rest: &'r str, two: Option<&str>) -> Option<(&'r str, &'r str)> {
    let two = two?;
    let between = &two[two.find(TOOL)?..two.rfind(TOOL)?];
    let ends = rest.match_indices(['>', ']']).map(|(at, _)| &rest[..=at]);
    // The longest that also occurs between two calls.
    let close = ends.filter(|close| between.contains(close)).max_by_key(|close| close.len()).unwrap_or("");
    let group_close = rest[close.len()..].trim();
    (!group_close.is_empty()).then_some((close, group_close))
}

/// Returns the JSON value at the start of a text, and its length in bytes; `None` if there is none.
fn json_at(text: &str) -> Option<(Value, usize)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some((value, values.byte_offset()))
}

/// Returns the text from its first `<` or `[` on, `None` if it has neither.
fn from_token(text: &str) -> Option<&str> {
    text.find(['<', '[']).map(|at| &text[at..])
}

/// Returns a text as a header of a dialect file: braces are doubled, white space other than spaces inside a line
/// becomes `{_}`.
fn literal(text: &str) -> String {
    let mut written = String::new();
    for c in text.chars() {
        match c {
            '{' | '}' => written.extend([c, c]),
            ' ' if !written.is_empty() && !written.ends_with("{_}") => written.push(' '),
            c if c.is_whitespace() => written += if written.ends_with("{_}") { "" } else { "{_}" },
            c => written.push(c),
        }
    }
    written
}
