//! The commands of `toolgraft mcp shell`: what a line asks for, and what may follow its words.

use serde_json::Value;
use tokio::runtime::Handle;

use crate::base::{Failure, words::near};
use crate::phrases::Phrases;
use crate::screen::{excerpt::names as shown_names, wrap::hanging};
use crate::servers::proposals::{self, unnamed};
use crate::servers::wire::WireForm;
use crate::terminal::columns;
use crate::tools::call::Given;
use toolgraft::route::Toolbox;
use toolgraft_mcp::Hub;

/// Lines of a log that are shown where no number is named.
const LINES: usize = 40;

/// What stands last in a line whose answer is to be JSON.
const JSON: &str = "--json";

/// What a command does, in a language.
type Does = fn(Phrases) -> &'static str;

/// The commands, what they take, and what they do.
const COMMANDS: [(&str, &str, Does); 11] = [
    ("tools", "[--json]", Phrases::shell_tools),
    ("describe", "NAME [--json]", Phrases::shell_describe),
    ("call", "TOOL [NAME=VALUE …|JSON] [--json]", Phrases::shell_call),
    ("read", "URI [--json]", Phrases::shell_read),
    ("get", "PROMPT [NAME=VALUE …] [--json]", Phrases::shell_get),
    ("logs", "[LINES]", Phrases::shell_logs),
    ("status", "", Phrases::shell_status),
    ("restart", "", Phrases::shell_restart),
    ("wire", "on|off|json", Phrases::shell_wire),
    ("help", "", Phrases::help_help),
    ("quit", "", Phrases::help_quit),
];

/// What a line asks for.
pub(super) enum ShellCommand {
    Tools { json: bool },
    Describe { name: String, json: bool },
    Call { tool: String, given: Given, json: bool },
    Read { uri: String, json: bool },
    Get { prompt: String, words: Vec<String>, json: bool },
    Logs(usize),
    Status,
    Restart,
    Wire(Option<WireForm>),
    Help,
    Quit,
}

/// Reads a line; `None` where it says nothing.
pub(super) fn read(line: &str, say: Phrases) -> Result<Option<ShellCommand>, Failure> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let (line, json) = match line.strip_suffix(JSON) {
        Some(before) if before.ends_with(char::is_whitespace) => (before.trim_end(), true),
        _ => (line, false),
    };
    let (words, object) = cut(line).ok_or_else(|| Failure::usage(say.open_quotation()))?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    Ok(Some(match words[..] {
        ["call", tool, ref rest @ ..] => {
            let arguments = object.map_or_else(|| owned(rest), |object| vec![object.to_owned()]);
            ShellCommand::Call { tool: tool.to_owned(), given: Given::read(&arguments)?, json }
        }
        ["get", prompt, ref rest @ ..] => ShellCommand::Get { prompt: prompt.to_owned(), words: owned(rest), json },
        ["tools"] => ShellCommand::Tools { json },
        ["describe", name] => ShellCommand::Describe { name: name.to_owned(), json },
        ["read", uri] => ShellCommand::Read { uri: uri.to_owned(), json },
        ["logs"] if !json => ShellCommand::Logs(LINES),
        ["logs", lines] if !json && lines.parse::<usize>().is_ok() => {
            ShellCommand::Logs(lines.parse().unwrap_or(LINES))
        }
        ["status"] if !json => ShellCommand::Status,
        ["restart"] if !json => ShellCommand::Restart,
        ["wire", "on" | "line"] if !json => ShellCommand::Wire(Some(WireForm::Line)),
        ["wire", "json"] if !json => ShellCommand::Wire(Some(WireForm::Json)),
        ["wire", "off"] if !json => ShellCommand::Wire(None),
        ["help" | "?"] if !json => ShellCommand::Help,
        ["quit" | "exit" | "q"] if !json => ShellCommand::Quit,
        [name, ..] => return Err(Failure::usage(wrong(name, say))),
        [] => return Ok(None),
    }))
}

/// The words of a line, and the JSON object that ends it: its quotation marks are its own.
fn cut(line: &str) -> Option<(Vec<String>, Option<&str>)> {
    let object = line.find(" {").filter(|_| line.starts_with("call ")).map(|at| &line[at + 1..]);
    let words = &line[..line.len() - object.map_or(0, str::len)];
    match shlex::split(words) {
        // What stands in quotation marks is one word.
        None if object.is_some() => Some((shlex::split(line)?, None)),
        Some(words) if words.len() > 2 => Some((shlex::split(line)?, None)),
        words => Some((words?, object)),
    }
}

/// What is wrong with a command of this name.
fn wrong(name: &str, say: Phrases) -> String {
    match COMMANDS.iter().find(|(known, ..)| *known == name) {
        Some((_, "", _)) => say.takes_nothing(name),
        Some((_, takes, _)) => say.shell_takes(name, takes),
        None => match near(name, COMMANDS.iter().map(|(name, ..)| *name)) {
            Some(near) => say.no_command_but(name, near),
            None => say.shell_no_command(name, shown_names(COMMANDS.iter().map(|(name, ..)| *name))),
        },
    }
}

/// What the commands are, in lines.
pub(super) fn help(say: Phrases) -> String {
    let columns = columns();
    let line = |(name, takes, does): &(&str, &str, Does)| {
        format!("{}\n", hanging(&format!("  {:<39}  ", format!("{name} {takes}")), does(say), columns))
    };
    COMMANDS.iter().map(line).collect()
}

/// What may stand behind these words of a line, of which another has begun.
pub(super) fn following(before: &[String], begun: &str, (hub, server, runtime): (&Hub, &str, &Handle)) -> Vec<String> {
    let before: Vec<&str> = before.iter().map(String::as_str).collect();
    let texts = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    let tools = || hub.tools(server).unwrap_or_default().into_iter().filter(|tool| tool.on).map(|tool| tool.name);
    let (prompts, catalog) = (hub.prompts(), hub.catalog());
    match before[..] {
        [] => COMMANDS.iter().map(|(name, ..)| (*name).to_owned()).collect(),
        ["call"] => tools().collect(),
        ["describe"] => tools().chain(prompts.iter().map(|prompt| prompt.name.clone())).collect(),
        ["get"] => prompts.iter().map(|prompt| prompt.name.clone()).collect(),
        ["read"] => proposals::of_uri((hub, runtime), server, begun),
        ["wire"] => texts(&["on", "off", "json"]),
        ["call", tool, ref given @ ..] => {
            let found = catalog.find(Some(server), tool).ok();
            let schema = found.as_ref().and_then(|found| found.tool.input_schema.as_ref());
            arguments(schema, given, begun)
        }
        ["get", name, ref given @ ..] => {
            let prompt = prompts.iter().find(|prompt| prompt.name == name);
            prompt.map(|prompt| proposals::of_prompt((hub, runtime), prompt, given, begun)).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// The arguments that a schema has and nobody has given yet; of one that has begun, its values.
fn arguments(schema: Option<&Value>, given: &[&str], begun: &str) -> Vec<String> {
    let Some(properties) = schema.and_then(|schema| schema.get("properties")?.as_object()) else { return Vec::new() };
    let Some((name, _)) = begun.split_once('=') else {
        return unnamed(properties.keys().map(String::as_str), given);
    };
    let Some(property) = properties.get(name) else { return Vec::new() };
    let is_yes_or_no = property.get("type").and_then(Value::as_str) == Some("boolean");
    let choices = property.get("enum").and_then(Value::as_array).into_iter().flatten();
    let choices = choices.filter_map(|choice| choice.as_str().map(str::to_owned).or_else(|| Some(choice.to_string())));
    let choices = choices.chain(["true", "false"].into_iter().filter(|_| is_yes_or_no).map(str::to_owned));
    choices.map(|choice| format!("{name}={choice}")).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use toolgraft::dialect::Lang;

    fn told(line: &str) -> String {
        match read(line, Phrases::of(Lang::En)) {
            Ok(Some(ShellCommand::Call { tool, given: Given::Words(words), json })) => {
                format!("call {tool} {words:?} {json}")
            }
            Ok(Some(ShellCommand::Call { tool, given: Given::Object(object), json })) => {
                format!("call {tool} {} {json}", Value::Object(object))
            }
            Ok(Some(ShellCommand::Get { prompt, words, json })) => format!("get {prompt} {words:?} {json}"),
            Ok(Some(ShellCommand::Logs(lines))) => format!("logs {lines}"),
            Ok(Some(_)) => "another".to_owned(),
            Ok(None) => "nothing".to_owned(),
            Err(failure) => failure.message().to_owned(),
        }
    }

    #[test]
    fn a_line_is_read_as_a_shell_would_and_an_object_as_it_stands() {
        for (line, expected) in [
            ("", "nothing"),
            ("  # a remark", "nothing"),
            ("call x a=1 'b=two words' --json", r#"call x ["a=1", "b=two words"] true"#),
            (r#"call x {"a": "it's", "b": 1} --json"#, r#"call x {"a":"it's","b":1} true"#),
            (r#"call x '{"a": 1}'"#, r#"call x {"a":1} false"#),
            (r#"call x 'a={ "b": 1 }'"#, r#"call x ["a={ \"b\": 1 }"] false"#),
            ("call 'my tool'", "call my tool {} false"),
            ("get trip city=Oslo", r#"get trip ["city=Oslo"] false"#),
            ("logs 7", "logs 7"),
            ("call x 'a", "a quotation mark is not closed"),
            ("logs many", "logs takes [LINES]"),
            ("status now", "status takes nothing behind it"),
            ("toosl", "no command toosl; nearest: tools"),
            ("wire maybe", "wire takes on|off|json"),
        ] {
            assert_eq!(told(line), expected, "{line}");
        }
        assert!(told("xyzzy").starts_with("no command xyzzy; there are: tools, "), "{}", told("xyzzy"));
        assert!(told("call x {\"a\": }").contains("no JSON value begins here"), "{}", told("call x {\"a\": }"));
    }

    #[test]
    fn arguments_and_their_values_are_completed() {
        let schema = json!({ "properties": {
            "unit": { "enum": ["c", "f", 3] }, "deep": { "type": "boolean" }, "city": { "type": "string" },
        } });
        let complete = |given: &[&str], begun: &str| arguments(Some(&schema), given, begun);
        assert_eq!(complete(&["city=Oslo"], ""), ["unit=", "deep="]);
        assert_eq!(complete(&[], "unit="), ["unit=c", "unit=f", "unit=3"]);
        assert_eq!(complete(&[], "deep=t"), ["deep=true", "deep=false"]);
        assert!(complete(&[], "city=").is_empty() && arguments(None, &[], "").is_empty());
    }
}
