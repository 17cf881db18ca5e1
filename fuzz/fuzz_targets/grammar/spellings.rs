//! The syntaxes of calls: those of the dialects, and those that `write_call` does not write.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};
use toolgraft::Dialect;
use toolgraft::dialect::write_call;

use super::bytes::Bytes;
use super::call::MeantCall;
use super::syntax::{Syntax, json, members, objects, own};

/// All syntaxes, those of the dialects first.
pub(crate) static ALL: LazyLock<Vec<Syntax>> =
    LazyLock::new(|| Dialect::ALL.iter().copied().map(own).chain(others()).collect());

/// Returns the syntaxes that `write_call` does not write.
fn others() -> impl Iterator<Item = Syntax> {
    let several = |dialect, write| Syntax { most: 3, ..Syntax::new(dialect, write) };
    [
        Syntax::new(Dialect::UseMcpTool, element),
        Syntax { line_start: true, ..several(Dialect::TypeMarker, type_marker) },
        several(Dialect::Hermes, hermes),
        several(Dialect::ToolCalls, tool_calls),
        several(Dialect::ToolCalls, mistral_names),
        several(Dialect::ToolRequest, tool_request),
        several(Dialect::PythonTag, python_tag),
        several(Dialect::FunctionTag, function_json),
        Syntax { tags: true, ..several(Dialect::FunctionTag, function_tags) },
        Syntax { tags: true, ..several(Dialect::Invoke, invoke) },
        several(Dialect::DeepSeek, deepseek),
        several(Dialect::Kimi, kimi),
        Syntax { tags: true, ..several(Dialect::Glm, glm) },
        Syntax { tags: true, alone: true, ..Syntax::new(Dialect::Glm, glm_line) },
        several(Dialect::Python, python_list),
        several(Dialect::Python, python_nested),
        Syntax { line_start: true, line_end: true, ..Syntax::new(Dialect::Python, python_line) },
        Syntax { alone: true, ..several(Dialect::Json, json_message) },
        Syntax { alone: true, tags: true, ..several(Dialect::Json, json_keyed) },
        Syntax { tags: true, ..several(Dialect::Hermes, hermes_keyed) },
        Syntax { line_start: true, line_end: true, ..Syntax::new(Dialect::React, react) },
    ]
    .into_iter()
}

/// Writes `<use_mcp_tool>` with its children in any order, and the arguments with or without a
/// fence.
fn element(_: &Syntax, calls: &[MeantCall], bytes: &mut Bytes<'_>) -> Option<String> {
    let [call] = calls else { return None };
    let gap = *bytes.pick(&["", "\n", "\n  "]);
    let arguments = json(&call.arguments, bytes);
    let arguments = match bytes.below(4) {
        0 => format!("\n{arguments}\n"),
        1 => format!("\n```json\n{arguments}\n```\n"),
        _ => arguments,
    };
    let mut children =
        vec![format!("<tool_name>{}</tool_name>", call.tool), format!("<arguments>{arguments}</arguments>")];
    children.extend(call.written_server().map(|server| format!("<server_name> {server} </server_name>")));
    let first = bytes.below(children.len());
    children.rotate_left(first);
    let children: String = children.iter().map(|child| format!("{gap}{child}")).collect();
    Some(format!("<use_mcp_tool>{children}{gap}</use_mcp_tool>"))
}

/// Writes `TYPE: MCP` and objects: bare, in an array or fenced.
fn type_marker(_: &Syntax, calls: &[MeantCall], bytes: &mut Bytes<'_>) -> Option<String> {
    let objects = objects(calls, ["tool_name", "parameters", "server_name"], bytes);
    let line = bytes.pick(&["TYPE: MCP", "type: mcp", "**TYPE: MCP**", "TYPE：MCP"]);
    Some(match bytes.below(4) {
        0 => format!("{line}\n```json\n{}\n```", objects.join("\n")),
        1 => format!("{line}\n[{}]", objects.join(", ")),
        2 => format!("{line}\n{}", objects.join(",\n")),
        _ => format!("{line}\n{}", objects.join("\n")),
    })
}

fn hermes(_: &Syntax, calls: &[MeantCall], bytes: &mut Bytes<'_>) -> Option<String> {
    let tag = bytes.pick(&["tool_call", "tool_calls", "TOOLCALL", "function_call", "functioncall"]);
    let gap = bytes.pick(&["\n", "", " "]);
    let close = if bytes.one_in(8) { String::new() } else { format!("{gap}</{tag}>") };
    Some(format!("<{tag}>{gap}{}{close}", run(calls, "arguments", bytes)))
}

fn tool_calls(_: &Syntax, calls: &[MeantCall], bytes: &mut Bytes<'_>) -> Option<String> {
    let run = run(calls, "arguments", bytes);
    Some(match bytes.below(3) {
        0 => format!("[TOOL_CALLS] {run}"),
        1 => format!("[TOOL_CALLS]{run}[/TOOL_CALLS]"),
        _ => format!("[TOOL_CALLS]{run}"),
    })
}

/// Writes Mistral's later form, with the name before the object.
fn mistral_names(_: &Syntax, calls: &[MeantCall], bytes: &mut Bytes<'_>) -> Option<String> {
    let between = *bytes.pick(&["[ARGS]", "", "[CALL_ID]a1B2c3D4e[ARGS]", " [ARGS] "]);
    let one = |call: &MeantCall, bytes: &mut Bytes<'_>| {
        format!("[TOOL_CALLS]{}{between}{}", call.full_name(), json(&call.arguments, bytes))
    };
    Some(calls.iter().map(|call| one(call, bytes)).collect())
}

fn tool_request(_: &Syntax, calls: &[MeantCall], bytes: &mut Bytes<'_>) -> Option<String> {
    let gap = bytes.pick(&["", "\n", " "]);
    let run = run(calls, "arguments", bytes);
    Some(format!("[TOOL_REQUEST]{gap}{run}{gap}[END_TOOL_REQUEST]"))
}

fn python_tag(_: &Syntax, calls: &[MeantCall], bytes: &mut Bytes<'_>) -> Option<String> {
    Some(format!("<|python_tag|>{}", objects(calls, ["name", "parameters", "server"], bytes).join(";")))
}

/// Writes consecutive objects, or an array of them.
fn run(calls: &[MeantCall], arguments: &str, bytes: &mut Bytes<'_>) -> String {
    let objects = objects(calls, ["name", arguments, "server"], bytes);
    match bytes.below(3) {
        0 => objects.join("\n"),
        1 => format!("[{}]", objects.join(", ")),
        _ => objects.join(";"),
    }
}

fn function_json(_: &Syntax, calls: &[MeantCall], bytes: &mut Bytes<'_>) -> Option<String> {
    let gap = *bytes.pick(&["", "\n"]);
    let bracket = if bytes.one_in(8) { "" } else { ">" };
    let one = |call: &MeantCall, bytes: &mut Bytes<'_>| {
        format!("<function={}{bracket}{gap}{}{gap}</function>", call.full_name(), json(&call.arguments, bytes))
    };
    let calls = calls.iter().map(|call| one(call, bytes)).collect();
    Some(grouped(calls, &[("", ""), ("<tool_call>", "</tool_call>")], bytes))
}

/// Writes Qwen3-Coder's parameters in tags.
fn function_tags(_: &Syntax, calls: &[MeantCall], bytes: &mut Bytes<'_>) -> Option<String> {
    let groups = [("", ""), ("<tool_call>", "</tool_call>"), ("<seed:tool_call>", "</seed:tool_call>")];
    let group = *bytes.pick(&groups);
    // Seed's template writes values without line breaks around them.
    let around = if group.0.starts_with("<seed") { "" } else { "\n" };
    let value =
        |(name, value): (&String, &Value)| format!("<parameter={name}>{around}{}{around}</parameter>\n", plain(value));
    let one = |call: &MeantCall| {
        let values: String = call.arguments.iter().map(value).collect();
        format!("<function={}>\n{values}</function>", call.full_name())
    };
    Some(grouped(calls.iter().map(one).collect(), &[group], bytes))
}

/// Writes tags with names in attributes, in their families.
fn invoke(_: &Syntax, calls: &[MeantCall], bytes: &mut Bytes<'_>) -> Option<String> {
    const FAMILIES: &[(&str, &str)] = &[
        ("invoke", "parameter"),
        ("antml:invoke", "antml:parameter"),
        ("steptml:invoke", "steptml:parameter"),
        ("｜DSML｜invoke", "｜DSML｜parameter"),
        ("｜｜DSML｜｜invoke", "｜｜DSML｜｜parameter"),
        ("function", "param"),
    ];
    let (call_tag, parameter) = *bytes.pick(FAMILIES);
    let quote = bytes.pick(&["\"", "'"]);
    let one = |call: &MeantCall| {
        let value = |(name, value): (&String, &Value)| {
            format!("<{parameter} name={quote}{name}{quote}>{}</{parameter}>", plain(value))
        };
        let values: Vec<_> = call.arguments.iter().map(value).collect();
        format!("<{call_tag} name={quote}{}{quote}>\n{}\n</{call_tag}>", call.full_name(), values.join("\n"))
    };
    let groups = [
        ("", ""),
        ("<function_calls>", "</function_calls>"),
        ("<function_calls>", "</function_calls>"),
        ("<minimax:tool_call>", "</minimax:tool_call>"),
        ("<｜DSML｜function_calls>", "</｜DSML｜function_calls>"),
        ("<｜DSML｜tool_calls>", "</｜DSML｜tool_calls>"),
    ];
    Some(grouped(calls.iter().map(one).collect(), &groups, bytes))
}

/// Writes consecutive calls in one of these groups.
fn grouped(calls: Vec<String>, groups: &[(&str, &str)], bytes: &mut Bytes<'_>) -> String {
    let (open, close) = *bytes.pick(groups);
    let gap = bytes.pick(&["\n", "", " "]);
    match open {
        "" => calls.join(gap),
        _ => format!("{open}{gap}{}{gap}{close}", calls.join(gap)),
    }
}

/// Writes DeepSeek's tokens in their spellings, with or without a type and a fence.
fn deepseek(_: &Syntax, calls: &[MeantCall], bytes: &mut Bytes<'_>) -> Option<String> {
    let (bar, block) = *bytes.pick(&[("｜", "▁"), ("|", "_"), ("｜", " "), ("|", "\\_")]);
    let token = |words: &str| format!("<{bar}{}{bar}>", words.replace(' ', block));
    let (begin, separator, end) = (token("tool call begin"), token("tool sep"), token("tool call end"));
    let form = bytes.below(3);
    let one = |call: &MeantCall, bytes: &mut Bytes<'_>| {
        let (name, json) = (call.full_name(), json(&call.arguments, bytes));
        match form {
            0 => format!("{begin}function{separator}{name}\n```json\n{json}\n```{end}"),
            1 => format!("{begin}{name}{separator}{json}{end}"),
            _ => format!("{begin}{name}\n{json}{end}"),
        }
    };
    let calls: Vec<_> = calls.iter().map(|call| one(call, bytes)).collect();
    let (open, close) = (token("tool calls begin"), token("tool calls end"));
    Some(grouped(calls, &[("", ""), (open.as_str(), close.as_str())], bytes))
}

/// Writes Kimi's tokens, with and without the namespace, the number and the section.
fn kimi(_: &Syntax, calls: &[MeantCall], bytes: &mut Bytes<'_>) -> Option<String> {
    let (namespace, number) = *bytes.pick(&[("functions.", ":0"), ("", ":12"), ("", "")]);
    let one = |call: &MeantCall, bytes: &mut Bytes<'_>| {
        let (name, json) = (call.full_name(), json(&call.arguments, bytes));
        format!("<|tool_call_begin|>{namespace}{name}{number}<|tool_call_argument_begin|>{json}<|tool_call_end|>")
    };
    let calls: Vec<_> = calls.iter().map(|call| one(call, bytes)).collect();
    let section = ("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>");
    Some(grouped(calls, &[("", ""), section], bytes))
}

/// Writes GLM's tags, on one line or on several.
fn glm(_: &Syntax, calls: &[MeantCall], bytes: &mut Bytes<'_>) -> Option<String> {
    let (gap, pre) = (*bytes.pick(&["\n", ""]), *bytes.pick(&["", "", "longcat_"]));
    let one = |call: &MeantCall| {
        let pair = |(name, value): (&String, &Value)| {
            format!("<{pre}arg_key>{name}</{pre}arg_key>{gap}<{pre}arg_value>{}</{pre}arg_value>{gap}", plain(value))
        };
        let pairs: String = call.arguments.iter().map(pair).collect();
        format!("<{pre}tool_call>{}\n{pairs}</{pre}tool_call>", call.full_name())
    };
    Some(calls.iter().map(one).collect::<Vec<_>>().join("\n"))
}

/// Writes GLM-4's form: the name on a line and the object on the next.
fn glm_line(_: &Syntax, calls: &[MeantCall], bytes: &mut Bytes<'_>) -> Option<String> {
    let [call] = calls else { return None };
    Some(format!("{}\n{}", call.full_name(), json(&call.arguments, bytes)))
}

fn python_list(_: &Syntax, calls: &[MeantCall], bytes: &mut Bytes<'_>) -> Option<String> {
    let gap = *bytes.pick(&[", ", ",\n", ",", "; ", "\n"]);
    let calls: Vec<_> = calls.iter().map(|call| python_call(call, bytes)).collect();
    Some(format!("[{}]", calls.join(gap)))
}

/// Writes a list of lists with one call each.
fn python_nested(_: &Syntax, calls: &[MeantCall], bytes: &mut Bytes<'_>) -> Option<String> {
    let calls: Vec<_> = calls.iter().map(|call| python_call(call, bytes)).collect();
    Some(format!("[[{}]]", calls.join("], [")))
}

/// Writes one call alone on its lines.
fn python_line(_: &Syntax, calls: &[MeantCall], bytes: &mut Bytes<'_>) -> Option<String> {
    calls.first().map(|call| python_call(call, bytes))
}

/// Writes a call like `write_call`, or with strings in either quotes.
fn python_call(call: &MeantCall, bytes: &mut Bytes<'_>) -> String {
    if bytes.one_in(3) || !call.arguments.keys().all(|key| is_keyword(key)) {
        let list = write_call(Dialect::Python, call.written_server(), call.tool, &call.arguments);
        return list[1..list.len() - 1].to_owned();
    }
    let gap = *bytes.pick(&[", ", ",\n    ", ","]);
    let arguments: Vec<_> =
        call.arguments.iter().map(|(name, value)| format!("{name}={}", python(value, bytes))).collect();
    format!("{}({})", call.full_name(), arguments.join(gap))
}

fn is_keyword(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_ascii_lowercase() || c == '_')
}

fn python(value: &Value, bytes: &mut Bytes<'_>) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quoted(text, bytes),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(|item| python(item, bytes)).collect::<Vec<_>>().join(", "))
        }
        Value::Object(members) => {
            let member = |(key, value): (&String, &Value)| format!("{}: {}", quoted(key, bytes), python(value, bytes));
            format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(", "))
        }
    }
}

/// Writes a Python string in double, single or triple quotes.
fn quoted(text: &str, bytes: &mut Bytes<'_>) -> String {
    let double = Value::from(text).to_string();
    let inner = &double[1..double.len() - 1];
    match bytes.below(3) {
        0 => single(text),
        1 => format!("\"\"\"{}\"\"\"", inner.replace("\\n", "\n").replace("\\\n", "\\\\n")),
        _ => double,
    }
}

fn single(text: &str) -> String {
    let double = Value::from(text).to_string();
    format!("'{}'", double[1..double.len() - 1].replace("\\\"", "\"").replace('\'', "\\'"))
}

/// Writes JSON as the whole message, alone in a fence or not.
fn json_message(_: &Syntax, calls: &[MeantCall], bytes: &mut Bytes<'_>) -> Option<String> {
    let keys = ["name", "arguments", "server"];
    let form = bytes.below(4);
    let mut wrap = |call: &MeantCall| match form {
        2 | 3 => Map::from_iter([("function".to_owned(), members(call, keys, bytes).into())]),
        _ => members(call, keys, bytes),
    };
    let wrapped: Vec<Map<String, Value>> = calls.iter().map(&mut wrap).collect();
    let text = match form {
        0 if calls.len() == 1 => json(&wrapped[0], bytes),
        0 => wrapped.iter().map(|object| json(object, bytes)).collect::<Vec<_>>().join("\n"),
        1 | 2 => Value::from(wrapped).to_string(),
        _ => json!({ "tool_calls": wrapped }).to_string(),
    };
    Some(match bytes.below(3) {
        0 => format!("```json\n{text}\n```"),
        _ => text,
    })
}

/// Writes such a message with the tools' names as keys.
fn json_keyed(_: &Syntax, calls: &[MeantCall], bytes: &mut Bytes<'_>) -> Option<String> {
    let objects = keyed(calls, bytes);
    Some(match bytes.below(3) {
        0 => objects.join("\n"),
        1 => format!("```json\n[{}]\n```", objects.join(", ")),
        _ => format!("[{}]", objects.join(", ")),
    })
}

/// Writes such objects after a tag, or between Apertus's tokens.
fn hermes_keyed(_: &Syntax, calls: &[MeantCall], bytes: &mut Bytes<'_>) -> Option<String> {
    let (open, close) = bytes.pick(&[("<|tools_prefix|>", "<|tools_suffix|>"), ("<tool_call>", "</tool_call>")]);
    Some(format!("{open}[{}]{close}", keyed(calls, bytes).join(", ")))
}

/// Returns objects with the tool's name as the only key.
fn keyed(calls: &[MeantCall], bytes: &mut Bytes<'_>) -> Vec<String> {
    let one = |call: &MeantCall| Map::from_iter([(call.full_name(), call.arguments.clone().into())]);
    calls.iter().map(|call| json(&one(call), bytes)).collect()
}

/// Writes ReAct's lines, plain, emphasised or with a fence, and a text that may follow them.
fn react(_: &Syntax, calls: &[MeantCall], bytes: &mut Bytes<'_>) -> Option<String> {
    let [call] = calls else { return None };
    let (name, json) = (call.full_name(), json(&call.arguments, bytes));
    Some(match bytes.below(4) {
        0 => format!("**Action:** `{name}`\n**Action Input:** {json}"),
        1 => format!("Action: {name}\nAction Input:\n```json\n{json}\n```"),
        2 => format!("Action：{name}\n\nAction Input：{json}"),
        _ => format!("Action: {name}\nAction Input: {json}"),
    })
}

/// Returns a string verbatim, any other value as JSON.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
