//! The lists of a server, read page by page. Unreadable entries are skipped, with a note.

use std::collections::HashSet;
use std::sync::PoisonError;

use rmcp::model::{
    ClientRequest, ListPromptsRequest, ListResourceTemplatesRequest, ListResourcesRequest, ListToolsRequest,
    PaginatedRequestParams,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::connection::Connection;
use super::prompts::McpPrompt;
use super::request::{RequestError, seconds};
use crate::transport::answer::{Entry, Unread};
use toolgraft::Tool;
use toolgraft::tools::{self, ToolExample};

/// Maximum number of pages of one list of a server; a longer list is an error.
const MAX_PAGES: usize = 100;

impl Connection {
    /// Reads the server's lists of tools, resources, resource templates and prompts, with notes about skipped entries.
    /// A failed list of tools is an error; another list that fails is only noted.
    pub(super) async fn list(&self, name: &str) -> Result<(tools::Server, Vec<McpPrompt>, Vec<String>), String> {
        let info = self.peer.peer_info();
        let can = info.as_ref().map(|info| &info.capabilities);
        let has_resources = can.is_some_and(|can| can.resources.is_some());
        let has_prompts = can.is_some_and(|can| can.prompts.is_some());
        let mut server = tools::Server::new(name);
        let instructions =
            info.as_ref().and_then(|info| info.instructions.as_ref()).filter(|text| !text.trim().is_empty());
        server.instructions = instructions.map(|text| self.client.hidden.in_answers.hide(text).into_owned());

        let mut notes = Vec::new();
        let tools = self.pages(("tools", "name"), |params| ListToolsRequest { params, ..Default::default() }.into());
        let tools = tokio::time::timeout(self.limits.connect, tools).await;
        let incomplete = || format!("its lists were not complete within {}", seconds(self.limits.connect));
        let tools = tools.map_err(|_| incomplete())?.map_err(|e| format!("tools/list: {e}"))?;
        let names = tools.iter().flatten().filter_map(task_tool).map(str::to_owned).collect();
        *self.task_tools.lock().unwrap_or_else(PoisonError::into_inner) = names;
        server.tools = read_tools(tools, &mut notes);

        let (resources, templates, prompts) = tokio::join!(
            self.optional(("resources/list", has_resources), ("resources", "uri"), |params| {
                ListResourcesRequest { params, ..Default::default() }.into()
            }),
            self.optional(
                ("resources/templates/list", has_resources),
                ("resourceTemplates", "uriTemplate"),
                |params| { ListResourceTemplatesRequest { params, ..Default::default() }.into() }
            ),
            self.optional(("prompts/list", has_prompts), ("prompts", "name"), |params| {
                ListPromptsRequest { params, ..Default::default() }.into()
            }),
        );
        notes.extend([resources.1, templates.1, prompts.1].into_iter().flatten());
        server.resources = items("resource", "uri", resources.0, &mut notes);
        server.resource_templates = items("resource template", "uriTemplate", templates.0, &mut notes);
        let mut prompts: Vec<McpPrompt> = items("prompt", "name", prompts.0, &mut notes);
        prompts.retain(|prompt| !prompt.name.is_empty());
        prompts.iter_mut().for_each(|prompt| name.clone_into(&mut prompt.server));
        Ok((server, prompts, notes))
    }

    /// Reads an optional list of the server (`has` is `true` if the server declares it), and returns a note if that
    /// fails. The time limit is lower than for the tools, so that a list that hangs does not cost them.
    async fn optional(
        &self,
        (method, has): (&str, bool),
        keys: (&str, &str),
        request: impl Fn(Option<PaginatedRequestParams>) -> ClientRequest,
    ) -> (Vec<Entry>, Option<String>) {
        if !has {
            return (Vec::new(), None);
        }
        let limit = self.limits.connect / 3;
        let listed = tokio::time::timeout(limit, self.pages(keys, request)).await;
        match listed.unwrap_or(Err(RequestError::TimedOut { limit, noise: None })) {
            Ok(entries) => (entries, None),
            Err(error) => (Vec::new(), Some(format!("{method}: {error}, so this list is left out"))),
        }
    }

    /// Returns all entries of a paged list of the server. `key` is the member with the list, `name` the member that
    /// names an entry. The response "method not found" counts as an empty list.
    async fn pages(
        &self,
        (key, name): (&str, &str),
        request: impl Fn(Option<PaginatedRequestParams>) -> ClientRequest,
    ) -> Result<Vec<Entry>, RequestError> {
        let mut entries = Vec::new();
        let mut seen = HashSet::new();
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let params = cursor.take().map(|c| PaginatedRequestParams::default().with_cursor(Some(c)));
            let answer = match self.request(request(params), self.limits.connect).await {
                Err(error) if error.is_unknown_method() => return Ok(entries),
                other => other?,
            };
            let (page, next) = answer.entries(key, name).map_err(RequestError::Broken)?;
            entries.extend(page);
            cursor = next;
            match &cursor {
                Some(next) if !seen.insert(next.clone()) => {
                    let next = self.client.hidden.in_errors.hide(next);
                    return Err(RequestError::Broken(format!("its list never ends: nextCursor {next:?} came twice")));
                }
                Some(_) => {}
                None => return Ok(entries),
            }
        }
        Err(RequestError::Broken(format!("its list has more than {MAX_PAGES} pages")))
    }
}

/// Reads the tools of a list, with notes about those that are left out. Of two with the same name the first is kept.
fn read_tools(entries: Vec<Entry>, notes: &mut Vec<String>) -> Vec<Tool> {
    let mut seen = HashSet::new();
    let read = |entry: Value| for_models(without_broken_annotations(entry)).map(with_examples);
    let entries = entries.into_iter().map(|entry| entry.and_then(read)).collect();
    let mut tools: Vec<Tool> = items("tool", "name", entries, notes);
    // Only the program may declare that a tool runs nothing.
    tools.iter_mut().for_each(|tool| tool.display_only = false);
    tools.retain(|tool| {
        let reason = match tool.name.trim() {
            "" => "its name is empty",
            _ if !schema_is_usable(tool) => "its inputSchema is not an object",
            name if !seen.insert(name.to_owned()) => "another tool has the same name",
            _ => return true,
        };
        notes.push(format!("the tool {:?} is left out: {reason}", tool.name));
        false
    });
    tools
}

fn schema_is_usable(tool: &Tool) -> bool {
    tool.input_schema.as_ref().is_none_or(|schema| schema.is_object() || schema.is_boolean())
}

/// Removes annotations (hints) of the wrong type from a tool: they are optional, and must not make the tool unreadable.
fn without_broken_annotations(mut entry: Value) -> Value {
    if let Some(hints) = entry.get_mut("annotations") {
        match hints.as_object_mut() {
            Some(hints) => hints.retain(|name, value| !name.ends_with("Hint") || value.is_boolean()),
            None => *hints = Value::Null,
        }
    }
    entry
}

/// Returns the name of a tool that only runs as a task: a plain call of it is refused
/// (modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks, "Tool-Level Negotiation"). `None` for
/// another tool.
fn task_tool(entry: &Value) -> Option<&str> {
    let support = entry.pointer("/execution/taskSupport").and_then(Value::as_str);
    entry.get("name").and_then(Value::as_str).filter(|_| support == Some("required"))
}

/// Returns the entry of a tool, or the reason to skip it if it is only for the page of an MCP app, not for a model
/// (modelcontextprotocol.io/extensions/apps, `visibility`).
fn for_models(entry: Value) -> Entry {
    let seen_by = entry.pointer("/_meta/ui/visibility").and_then(Value::as_array);
    match seen_by {
        Some(seen_by) if !seen_by.iter().any(|who| who == "model") => {
            let name = entry.get("name").and_then(Value::as_str).map(str::to_owned);
            Err(Unread { name, why: "it is for its app's page, not for models (\"visibility\")".to_owned() })
        }
        _ => Ok(entry),
    }
}

/// Key in a tool's `_meta` with examples of its use, each in the form of a [`ToolExample`].
const EXAMPLES: &str = "toolgraft/examples";

/// Sets the examples of a tool to the readable ones of its `_meta`.
fn with_examples(mut entry: Value) -> Value {
    let Some(tool) = entry.as_object_mut() else { return entry };
    tool.shift_remove("examples");
    let given = tool.get("_meta").and_then(|meta| meta.get(EXAMPLES)).and_then(Value::as_array);
    let is_read = |example: &&Value| ToolExample::deserialize(*example).is_ok();
    let given: Option<Vec<Value>> = given.map(|given| given.iter().filter(is_read).cloned().collect());
    tool.extend(given.map(|given| ("examples".to_owned(), Value::Array(given))));
    entry
}

/// Reads the entries of a list (`kind` names one in notes), and notes the unreadable ones; `key` is the member that
/// names an entry.
fn items<T: DeserializeOwned>(kind: &str, key: &str, entries: Vec<Entry>, notes: &mut Vec<String>) -> Vec<T> {
    let read = entries.into_iter().enumerate().filter_map(|(i, entry)| {
        let read = entry.and_then(|entry| {
            let name = entry.get(key).and_then(Value::as_str).map(str::to_owned);
            serde_json::from_value(entry).map_err(|error| Unread { name, why: error.to_string() })
        });
        read.map_err(|Unread { name, why }| {
            let name = name.map_or_else(|| format!("number {}", i + 1), |name| format!("{name:?}"));
            notes.push(format!("the {kind} {name} is left out: {why}"));
        })
        .ok()
    });
    read.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use toolgraft::tools::Resource;

    #[test]
    fn examples_of_a_tools_meta_are_read_one_by_one() {
        let examples = json!([{ "question": "Is it cold in Turku?", "arguments": { "city": "Turku" }, "result": "-3" },
                              { "arguments": {} }, "Turku"]);
        let entry = json!({ "name": "weather", "_meta": { "toolgraft/examples": examples } });
        let tools = read_tools(vec![Ok(entry)], &mut Vec::new());
        let [example] = &tools[0].examples[..] else { panic!("{tools:?}") };
        assert_eq!((example.question.as_str(), &example.arguments["city"]), ("Is it cold in Turku?", &json!("Turku")));
    }

    #[test]
    fn one_malformed_tool_is_left_out_by_name_and_the_rest_stay() {
        let mut notes = Vec::new();
        let entries = vec![
            json!({ "name": "good", "inputSchema": { "z": 1, "a": 2 }, "annotations": { "readOnlyHint": "yes" },
                    "examples": "of another kind" }),
            json!({ "name": "bad", "description": 5 }),
            json!({ "description": "nameless" }),
            json!({ "name": "schemaless", "annotations": [], "displayOnly": true }),
            json!({ "name": "odd", "inputSchema": "string" }),
            json!({ "name": "good" }),
            json!({ "name": "long", "execution": { "taskSupport": "required" } }),
            json!({ "name": "either", "execution": { "taskSupport": "optional" },
                    "_meta": { "ui": { "visibility": ["app", "model"] } } }),
            json!({ "name": "button", "_meta": { "ui": { "visibility": ["app"] } } }),
        ];
        let tools = read_tools(entries.into_iter().map(Ok).collect(), &mut notes);
        let names: Vec<_> = tools.iter().map(|t| t.name.as_str()).collect();
        assert_eq!(names, ["good", "schemaless", "long", "either"]);
        assert_eq!(tools[0].input_schema.as_ref().unwrap().to_string(), r#"{"z":1,"a":2}"#);
        assert!(!tools[1].display_only && tools[0].examples.is_empty());
        assert_eq!(notes.len(), 5);
        assert!(notes.iter().any(|note| note.starts_with("the tool \"button\" is left out: it is for its app's page")));
        assert!(notes[0].starts_with("the tool \"bad\" is left out: "), "{notes:?}");
        assert!(notes[1].starts_with("the tool number 3 is left out: "), "{notes:?}");
    }

    #[test]
    fn resources_without_a_uri_are_left_out() {
        let mut notes = Vec::new();
        let resources: Vec<Resource> =
            items("resource", "uri", vec![Ok(json!({ "name": "x" })), Ok(json!({ "uri": "a:b" }))], &mut notes);
        assert_eq!((resources.len(), notes.len()), (1, 1));
    }
}
