//! `toolgraft mcp check`.

use std::collections::BTreeMap;
use std::io::{IsTerminal, stdout};

use anstyle::{AnsiColor, Style};
use serde::Serialize;
use serde_json::Value;

use super::suspect;
use crate::base::{Failure, output, tokens};
use crate::mcp::tools;
use crate::screen::{boxes::aligned, visible::plain, wrap::in_rows};
use crate::servers::permissions::{Permissions, change_line};
use crate::servers::{ListedArgs, app::App, status::state};
use crate::terminal::{counted, grouped};
use toolgraft::message::TokenCounter;
use toolgraft::prompt::{Options, Prompt, TOOL_BUDGET};
use toolgraft::route::Toolbox;
use toolgraft::tools::{Server, exact_pattern};
use toolgraft::validate::{Validator, fits_nothing};
use toolgraft::{Catalog, Tool};
use toolgraft_mcp::{Hub, McpPrompt, ServerState, ServerStatus};

/// Size of a schema in bytes above which it is warned of: models make mistakes with such schemas, which also fill a
/// large part of a small context.
const LARGE_SCHEMA: usize = 32 * 1024;

/// Number of characters of a description above which it is warned of.
const LONG_DESCRIPTION: usize = 4_000;

/// Options of `toolgraft mcp check`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("../help/mcp-check.txt").trim_end())]
pub(super) struct CheckArgs {
    /// Print one JSON object: per server its state, figures and warnings, and the totals
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    listed: ListedArgs,
}

/// The report of `mcp check` on one server.
#[derive(Debug, Serialize)]
struct CheckReport {
    #[serde(flatten)]
    status: ServerStatus,
    tools: usize,
    resources: usize,
    prompts: usize,
    /// Sum of the sizes of the tools' schemas, in bytes of JSON without white space.
    schema_bytes: usize,
    /// Number of tokens (o200k) of the server's tools as the prompt lists them.
    prompt_tokens: usize,
    warnings: Vec<String>,
}

/// Runs `toolgraft mcp check`.
pub(super) fn run(args: CheckArgs) -> Result<(), Failure> {
    let config = args.listed.servers().load()?;
    let reports = App::start(None)?.with_hub(&config, async |hub| reports(&hub))?;
    let statuses: Vec<ServerStatus> = reports.iter().map(|report| report.status.clone()).collect();
    output::emit_either(args.json, &as_json(&reports), || table(&reports))?;
    tools::verdict(&statuses)
}

fn reports(hub: &Hub) -> Result<Vec<CheckReport>, Failure> {
    let validator = Validator::new(hub.catalog());
    let permissions = Permissions::of(hub.config().servers());
    let catalog = validator.catalog();
    let prompts = hub.prompts();
    let report = |status: ServerStatus| {
        let server = catalog.server(&status.name);
        let tools = server.map(|server| server.tools.as_slice()).unwrap_or_default();
        let prompts: Vec<&McpPrompt> = prompts.iter().filter(|prompt| prompt.server == status.name).collect();
        let prompt_tokens = server.map_or(Ok(0), prompt_tokens)?;
        let mut warnings = warnings(&status, (server, &prompts, prompt_tokens), &validator);
        warnings.extend(tools.iter().filter_map(|tool| changed(tool, &permissions)));
        Ok(CheckReport {
            tools: tools.len(),
            resources: server.map_or(0, |server| server.resources.len() + server.resource_templates.len()),
            prompts: prompts.len(),
            schema_bytes: tools.iter().map(schema_bytes).sum(),
            prompt_tokens,
            warnings,
            status,
        })
    };
    hub.servers().into_iter().map(report).collect()
}

/// Returns a warning with the changes in a tool since it was allowed; `None` if there are none.
fn changed(tool: &Tool, permissions: &Permissions) -> Option<String> {
    let changes = permissions.changes(tool);
    let line = change_line(tool.server.as_deref(), &tool.name, &changes);
    (!changes.is_empty()).then(|| format!("{}: {line}", tool.name))
}

fn schema_bytes(tool: &Tool) -> usize {
    tool.input_schema.as_ref().map_or(0, |schema| schema.to_string().len())
}

/// Returns the number of tokens of the list of this server's tools in a prompt with default options.
fn prompt_tokens(server: &Server) -> Result<usize, Failure> {
    let options = Options::default().with_tokens(TokenCounter::new(tokens::count));
    let prompt = Prompt::new(options).map_err(Failure::usage)?;
    let system = prompt.compose(&Catalog::new([server.clone()]), &[]).map_err(Failure::usage)?;
    Ok(system.listed.tokens)
}

/// Returns the warnings about a server: notes of its start, doubts about its tools and prompts, and the size of its
/// list.
fn warnings(
    status: &ServerStatus,
    (server, prompts, tokens): (Option<&Server>, &[&McpPrompt], usize),
    validator: &Validator,
) -> Vec<String> {
    let mut warnings = status.notes.clone();
    if let Some(server) = server.filter(|_| status.state == ServerState::Ready) {
        warnings.extend(doubts(server, validator));
        warnings.extend(prompts.iter().flat_map(|prompt| prompt_doubts(prompt)));
        if tokens > TOOL_BUDGET {
            warnings.push(format!(
                "its list has {} tokens: list its tools in a shorter form (--set tool_budget=N), or fewer of them \
                 (--tools)",
                grouped(tokens as u64)
            ));
        }
    }
    warnings
}

fn doubts(server: &Server, validator: &Validator) -> Vec<String> {
    let catalog = validator.catalog();
    let mut warnings = Vec::new();
    if server.tools.is_empty() {
        warnings.push("it lists no tool".to_owned());
    }
    for tool in &server.tools {
        let others = catalog.tools().filter(|other| other.name == tool.name && other.server != tool.server);
        let others: Vec<&str> = others.filter_map(|other| other.server.as_deref()).collect();
        if !others.is_empty() {
            warnings.push(format!("{}: {} has a tool of this name too", tool.name, others.join(", ")));
        }
        warnings.extend(reads_as_anothers(server, tool, catalog).map(|doubt| format!("{}: {doubt}", tool.name)));
        let unusable = validator.problem(server.name.as_deref(), &tool.name).map(|problem| problem.message.as_str());
        let doubts = tool_doubts(tool).into_iter().chain(schema_doubts(tool, unusable));
        warnings.extend(doubts.map(|doubt| format!("{}: {doubt}", tool.name)));
    }
    let resources = server.resources.iter().map(|r| (&r.name, r.description.as_deref()));
    let templates = server.resource_templates.iter().map(|r| (&r.name, r.description.as_deref()));
    for (name, description) in resources.chain(templates) {
        let doubts = word_doubts(name, description);
        warnings.extend(doubts.into_iter().map(|doubt| format!("resource {name}: {doubt}")));
    }
    if let Some(instructions) = &server.instructions {
        if suspect::hidden(instructions) > 0 {
            warnings.push("its instructions have hidden characters, which no prompt shows".to_owned());
        }
        warnings.extend(suspect::order(instructions).map(|order| format!("its instructions: a text {order}")));
    }
    warnings
}

/// Returns a warning if the name of a tool, such as `files.read_file`, reads as if the tool belonged to the server
/// `files`, so that a pattern that allows it must name its own server.
fn reads_as_anothers(server: &Server, tool: &Tool, catalog: &Catalog) -> Option<String> {
    let own = server.name.as_deref();
    let (before, _) = tool.name.split_once(['.', '/'])?;
    let others = catalog.servers().iter().filter_map(|other| other.name.as_deref()).filter(|other| Some(*other) != own);
    let mut starts =
        others.filter(|other| tool.name.strip_prefix(*other).is_some_and(|rest| rest.starts_with(['.', '/'])));
    let exactly = exact_pattern(own, &tool.name);
    Some(match starts.next() {
        Some(other) => format!("the name reads as a tool of the server {other}; --allow '{exactly}' means this one"),
        None => format!("the name reads as a tool of a server {before}; --allow '{exactly}' means this one"),
    })
}

fn tool_doubts(tool: &Tool) -> Vec<String> {
    let mut warnings: Vec<String> = suspect::name(&tool.name).into_iter().collect();
    // What is written for a person is visible, so these are for a model.
    let hidden: usize = texts(tool).into_iter().map(suspect::hidden).sum();
    if hidden > 0 {
        warnings.push(format!("its description has {}, which no prompt shows", counted(hidden, "hidden character")));
    }
    let description = tool.description.as_deref().unwrap_or_default();
    let length = description.chars().count();
    if length > LONG_DESCRIPTION {
        warnings.push(format!("its description has {} characters", grouped(length as u64)));
    }
    let order = texts(tool).into_iter().find_map(suspect::order);
    warnings.extend(order.map(|order| format!("a text of it {order}: read it before you allow this tool")));
    let bytes = schema_bytes(tool);
    if bytes > LARGE_SCHEMA {
        warnings.push(format!("its schema has {} bytes", grouped(bytes as u64)));
    }
    if description.trim().is_empty() {
        warnings.push("it has no description".to_owned());
    }
    warnings
}

/// Keywords of JSON Schema that endpoints reject at the top level of a tool's schema.
const CHOICES: [&str; 5] = ["oneOf", "anyOf", "allOf", "enum", "not"];

/// Returns the warnings about a tool's schema; `unusable` is the reason that it cannot be compiled, if it cannot.
fn schema_doubts(tool: &Tool, unusable: Option<&str>) -> Vec<String> {
    let Some(schema) = &tool.input_schema else {
        return vec!["it has no inputSchema, so any arguments are accepted".to_owned()];
    };
    if let Some(why) = unusable {
        return vec![format!("its schema cannot be used, so any arguments are accepted: {why}")];
    }
    if fits_nothing(schema, true) {
        return vec!["no arguments fit its schema, so no call of it can be right".to_owned()];
    }
    let choices: Vec<&str> = CHOICES.into_iter().filter(|key| schema.get(key).is_some()).collect();
    let choices_doubt = (!choices.is_empty()).then(|| {
        format!(
            "its schema has {} at the top, which endpoints refuse: \
         requests have the properties of all its parts as one list",
            choices.join(", ")
        )
    });
    // Only where nothing else of the schema may describe them.
    let is_plain = choices.is_empty() && schema.get("$ref").is_none() && schema.get("patternProperties").is_none();
    let described = |name: &&str| schema.get("properties").is_some_and(|properties| properties.get(name).is_some());
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let unknown: Vec<&str> = required.filter(|name| is_plain && !described(name)).collect();
    let unknown_doubt = (!unknown.is_empty())
        .then(|| format!("its schema requires {} and does not say what that is", unknown.join(", ")));
    choices_doubt.into_iter().chain(unknown_doubt).collect()
}

fn prompt_doubts(prompt: &McpPrompt) -> Vec<String> {
    let mut doubts = word_doubts(&prompt.name, prompt.description.as_deref());
    doubts.extend(prompt.arguments.iter().filter_map(|argument| suspect::name(&argument.name)));
    doubts.into_iter().map(|doubt| format!("prompt {}: {doubt}", prompt.name)).collect()
}

/// Returns the warnings about a name and its description: unusual characters, hidden characters, and orders to the
/// model.
fn word_doubts(name: &str, description: Option<&str>) -> Vec<String> {
    let description = description.unwrap_or_default();
    let hidden = suspect::hidden(description);
    let hidden = (hidden > 0).then(|| format!("its description has {}", counted(hidden, "hidden character")));
    let order = suspect::order(description).map(|order| format!("its description {order}"));
    suspect::name(name).into_iter().chain(hidden).chain(order).collect()
}

/// Returns the description of a tool, and all texts of its schema, including its keys.
fn texts(tool: &Tool) -> Vec<&str> {
    fn collect<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
        match value {
            Value::String(text) => found.push(text),
            Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
            Value::Object(fields) => fields.iter().for_each(|(key, value)| {
                found.push(key);
                collect(value, found);
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let mut found = tool.description.as_deref().into_iter().collect();
    tool.input_schema.iter().for_each(|schema| collect(schema, &mut found));
    found
}

fn as_json(reports: &[CheckReport]) -> Value {
    let total = |of: fn(&CheckReport) -> usize| reports.iter().map(of).sum::<usize>();
    let mut states: BTreeMap<String, usize> = BTreeMap::new();
    for report in reports {
        let state = serde_json::to_value(report.status.state).ok();
        *states.entry(state.and_then(|s| s.as_str().map(str::to_owned)).unwrap_or_default()).or_default() += 1;
    }
    serde_json::json!({
        "servers": reports,
        "total": {
            "servers": states, "tools": total(|r| r.tools), "schema_bytes": total(|r| r.schema_bytes),
            "prompt_tokens": total(|r| r.prompt_tokens), "warnings": total(|r| r.warnings.len()),
        },
    })
}

/// Returns a table with a row for each server, followed by the warnings.
fn table(reports: &[CheckReport]) -> String {
    if reports.is_empty() {
        return "the configuration has no servers\n".to_owned();
    }
    let head = ["server", "state", "ready in", "MCP", "tools", "schema bytes", "prompt tokens"];
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(reports.iter().map(row));
    if reports.len() > 1 {
        let total = |of: fn(&CheckReport) -> usize| grouped(reports.iter().map(of).sum::<usize>() as u64);
        let [tools, bytes, tokens] = [total(|r| r.tools), total(|r| r.schema_bytes), total(|r| r.prompt_tokens)];
        rows.push(["total".to_owned(), String::new(), String::new(), String::new(), tools, bytes, tokens]);
    }
    let mut text = String::new();
    for (n, line) in aligned(&rows, 4, "  ").into_iter().enumerate() {
        let style = if n == 0 { Style::new().bold() } else { Style::new() };
        text.push_str(&format!("{style}{}{style:#}\n", line.trim_end()));
    }
    let yellow = AnsiColor::Yellow.on_default();
    for report in reports {
        for warning in &report.warnings {
            let (name, warning) = (plain(&report.status.name), plain(warning));
            let rows = |line: &str| if stdout().is_terminal() { in_rows(line) } else { line.to_owned() };
            text.push_str(&output::headed((yellow, "warning:"), &format!("{name}: {warning}"), rows));
            text.push('\n');
        }
    }
    text
}

fn row(report: &CheckReport) -> [String; 7] {
    let status = &report.status;
    let figures = |n: usize| if status.state == ServerState::Ready { grouped(n as u64) } else { "-".to_owned() };
    let took = match status.state {
        ServerState::Ready => format!("{:.1} s", status.connect_time.as_secs_f64()),
        _ => "-".to_owned(),
    };
    [
        plain(&status.name),
        state(status).to_owned(),
        took,
        status.protocol_version.as_deref().map_or("-".to_owned(), plain),
        figures(report.tools),
        figures(report.schema_bytes),
        figures(report.prompt_tokens),
    ]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use std::sync::Arc;

    use super::*;

    fn doubts_of(server: &str, catalog: Catalog) -> Vec<String> {
        let validator = Validator::new(Arc::new(catalog));
        doubts(validator.catalog().server(server).unwrap(), &validator)
    }

    #[test]
    fn a_name_that_reads_as_another_servers_tool_is_named() {
        let evil = Server::new("evil").with_tools(
            ["files.read_file", "files/x", "filesystem.x", "repo.list", "plain"]
                .map(|name| Tool::new(name).with_description("x").with_schema(json!({})))
                .to_vec(),
        );
        let catalog = Catalog::new([evil, Server::new("files").with_tools(vec![Tool::new("read_file")])]);
        let found = doubts_of("evil", catalog);
        assert_eq!(
            found,
            [
                "files.read_file: the name reads as a tool of the server files; --allow 'evil/files.read_file' means \
                 this one",
                "files/x: the name reads as a tool of the server files; --allow 'evil/files/x' means this one",
                "filesystem.x: the name reads as a tool of a server filesystem; --allow 'evil/filesystem.x' means \
                 this one",
                "repo.list: the name reads as a tool of a server repo; --allow 'evil/repo.list' means this one",
            ]
        );
    }

    #[test]
    fn an_odd_schema_is_told() {
        let tool = |(name, schema): (&str, Value)| Tool::new(name).with_description("x").with_schema(schema);
        let schemas = [
            ("plain", json!({ "type": "object", "properties": { "a": {} }, "required": ["a"] })),
            ("pattern", json!({ "patternProperties": { "^x": {} }, "required": ["x1"] })),
            ("unknown", json!({ "type": "object", "properties": { "a": {} }, "required": ["a", "b"] })),
            ("choice", json!({ "anyOf": [{ "required": ["a"] }, { "required": ["b"] }], "required": ["c"] })),
            ("nothing", json!({ "type": "string" })),
            ("broken", json!({ "type": "sometimes" })),
        ];
        let mut tools: Vec<Tool> = schemas.into_iter().map(tool).collect();
        tools.push(Tool::new("none").with_description("x"));
        let found = doubts_of("s", Catalog::new([Server::new("s").with_tools(tools)]));
        let starts = [
            "unknown: its schema requires b and does not say what that is",
            "choice: its schema has anyOf at the top",
            "nothing: no arguments fit its schema",
            "broken: its schema cannot be used, so any arguments are accepted: ",
            "none: it has no inputSchema",
        ];
        assert_eq!(found.len(), starts.len(), "{found:#?}");
        for (found, start) in found.iter().zip(starts) {
            assert!(found.starts_with(start), "{start}: {found}");
        }
    }

    #[test]
    fn what_is_doubtful_gets_a_warning() {
        let tools = vec![
            Tool::new("same").with_description("One of two").with_schema(json!({})),
            Tool::new("hidden").with_description("Adds\u{200b}\u{200b} numbers").with_schema(json!({})),
            Tool::new("large").with_description("Many").with_schema(json!({ "description": "x".repeat(40_000) })),
            Tool::new("silent").with_schema(json!({})),
        ];
        let first = Server::new("a").with_tools(tools);
        let second = Server::new("b").with_tools(vec![Tool::new("same")]);
        let catalog = Catalog::new([first, second]);
        let found = doubts_of("a", catalog);
        assert_eq!(
            found,
            [
                "same: b has a tool of this name too",
                "hidden: its description has 2 hidden characters, which no prompt shows",
                "large: its schema has 40,018 bytes",
                "silent: it has no description",
            ]
        );
    }
}
