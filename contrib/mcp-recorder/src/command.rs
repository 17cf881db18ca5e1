//! The commands of `mcp-recorder shell`.

use serde_json::{Map, Value};

use crate::wire::WireForm;

/// Lines of a log that are shown where no number is named.
const LINES: usize = 40;

/// The commands, with what they take and what they do.
pub(crate) const HELP: &str = "\
tools                    list tools, resources and prompts
describe TOOL            show a tool as the server sent it
call TOOL [JSON|NAME=VALUE ...]
read URI                 read a resource
get PROMPT [NAME=VALUE ...]
logs [LINES]             show the last lines of the server's log
restart                  start the server anew
wire on|json|off         show each message, in a line or whole; stop
quit
";

/// A command that a line contains.
#[derive(Debug, PartialEq)]
pub(crate) enum Command {
    Nothing,
    Tools,
    Describe(String),
    Call(String, Arguments),
    Read(String),
    Get(String, Vec<(String, String)>),
    Logs(usize),
    Restart,
    Wire(Option<WireForm>),
    Help,
    Quit,
}

/// Arguments of a call.
#[derive(Debug, PartialEq)]
pub(crate) enum Arguments {
    Object(Map<String, Value>),
    Words(Vec<(String, String)>),
}

/// Reads a line.
pub(crate) fn read(line: &str) -> Result<Command, String> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(Command::Nothing);
    }
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    if let ("call", Some((tool, object))) = (name, rest.split_once(char::is_whitespace))
        && object.trim_start().starts_with('{')
    {
        let object = serde_json::from_str(object).map_err(|e| format!("the arguments are no JSON object: {e}"))?;
        return Ok(Command::Call(tool.to_owned(), Arguments::Object(object)));
    }
    let words = shlex::split(rest).ok_or("a quotation mark is not closed")?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    Ok(match (name, &words[..]) {
        ("tools", []) => Command::Tools,
        ("describe", [name]) => Command::Describe((*name).to_owned()),
        ("call", [tool, rest @ ..]) => Command::Call((*tool).to_owned(), Arguments::Words(pairs(rest)?)),
        ("read", [uri]) => Command::Read((*uri).to_owned()),
        ("get", [prompt, rest @ ..]) => Command::Get((*prompt).to_owned(), pairs(rest)?),
        ("logs", []) => Command::Logs(LINES),
        ("logs", [lines]) => Command::Logs(lines.parse().map_err(|_| "logs takes a number of lines")?),
        ("restart", []) => Command::Restart,
        ("wire", ["on"]) => Command::Wire(Some(WireForm::Line)),
        ("wire", ["json"]) => Command::Wire(Some(WireForm::Json)),
        ("wire", ["off"]) => Command::Wire(None),
        ("help" | "?", []) => Command::Help,
        ("quit" | "exit", []) => Command::Quit,
        _ => return Err(format!("no such command: {line}; there are\n{HELP}")),
    })
}

fn pairs(words: &[&str]) -> Result<Vec<(String, String)>, String> {
    let pair = |word: &&str| {
        let pair = word.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
        pair.ok_or_else(|| format!("{word:?}: expected NAME=VALUE"))
    };
    words.iter().map(pair).collect()
}

impl Arguments {
    /// The arguments as an object. A value is JSON where the schema wants no text and it is JSON, else a text.
    pub(crate) fn object(self, schema: Option<&Value>) -> Map<String, Value> {
        let words = match self {
            Arguments::Object(object) => return object,
            Arguments::Words(words) => words,
        };
        let value = |(name, written): (String, String)| {
            let kind = schema.and_then(|schema| schema.get("properties")?.get(&name)?.get("type"));
            let json = serde_json::from_str(&written).ok().filter(|_| kind.is_none_or(|kind| kind != "string"));
            let value = json.unwrap_or_else(|| Value::from(written));
            (name, value)
        };
        words.into_iter().map(value).collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

    #[test]
    fn a_line_is_split_as_a_shell_would_and_an_object_is_kept() {
        let words = |pairs: &[(&str, &str)]| pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        let call = |arguments| Ok(Command::Call("x".to_owned(), arguments));
        assert_eq!(read("  # a remark"), Ok(Command::Nothing));
        assert_eq!(read("call x 'b=two words'"), call(Arguments::Words(words(&[("b", "two words")]))));
        let object = json!({ "a": "it's" }).as_object().unwrap().clone();
        assert_eq!(read(r#"call x {"a": "it's"}"#), call(Arguments::Object(object)));
        assert_eq!(read("logs 7"), Ok(Command::Logs(7)));
        for (line, why) in [
            ("call x {", "no JSON object"),
            ("call x 'a", "not closed"),
            ("call x a", "expected NAME=VALUE"),
            ("fly", "no such command: fly"),
        ] {
            assert!(read(line).unwrap_err().contains(why), "{line}");
        }
    }

    #[test]
    fn a_value_is_what_the_schema_wants() {
        let schema = json!({ "properties": { "n": { "type": "integer" }, "text": { "type": "string" } } });
        let words = [("n", "3"), ("text", "3"), ("more", "[1]"), ("word", "a b")];
        let words = words.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let object = Value::Object(Arguments::Words(words).object(Some(&schema)));
        assert_eq!(object, json!({ "n": 3, "text": "3", "more": [1], "word": "a b" }));
    }
}
