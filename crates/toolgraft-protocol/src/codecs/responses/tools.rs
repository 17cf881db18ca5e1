//! Converts the tools of a request to functions of Chat Completions, and their calls to the items
//! that the client expects.
//!
//! A tool that the client runs is offered whatever its type: a `custom` one as a function with one
//! text, a member of a `namespace` as `NAMESPACE.TOOL`, and a tool whose parameters OpenAI
//! publishes with these. Tools that OpenAI's service would run are left out by name.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::codecs::shape::DEFERRED;
use crate::fault::Fault;
use crate::ids::new_id;
use toolgraft::message::NativeCall;
use toolgraft::wire::set_member;

/// Name of the argument that holds the text of a call of a `custom` tool.
const INPUT: &str = "input";

/// A tool that OpenAI defines and the client runs; its name is its type.
#[derive(Deserialize)]
pub(super) struct Action {
    /// Type of the tool, which is also its name.
    pub(super) name: String,
    /// Type of the items of Responses that hold the tool's calls.
    pub(super) item: String,
    /// Name of the field of a call's item that holds the arguments.
    pub(super) field: String,
    /// Key and value of a constant member of a call's item: inside the field with the arguments if the key is `type`,
    /// else in the item itself.
    fixed: Option<(String, String)>,
    description: String,
    /// JSON Schema of the tool's parameters, used if the request has none.
    parameters: Value,
}

/// The tools that OpenAI defines and the client runs, from `actions.json`. Sources:
/// platform.openai.com/docs/guides/tools-local-shell, tools-shell, tools-apply-patch and tools-tool-search;
/// github.com/openai/codex, `ResponseItem`.
pub(super) static ACTIONS: LazyLock<Vec<Action>> =
    LazyLock::new(|| serde_json::from_str(include_str!("actions.json")).unwrap_or_default());

/// The form in which a client expects the calls of one tool.
#[derive(Clone)]
enum Form {
    Function(Member),
    Custom(Member),
    Action(&'static Action),
}

/// Own name of a tool and its namespace, as the client wrote them.
#[derive(Clone)]
struct Member {
    namespace: Option<String>,
    name: Value,
}

impl Member {
    /// Adds the tool's namespace to the item of a call, if it has one.
    fn within(&self, mut item: Value) -> Value {
        if let Some(namespace) = &self.namespace {
            set_member(&mut item, "namespace", namespace.as_str());
        }
        item
    }
}

/// The tools of a Responses request, converted to functions of Chat Completions.
#[derive(Default)]
pub(super) struct Tools {
    /// The tools as functions of Chat Completions; tools that run at OpenAI's service have only a type and a name.
    pub(super) functions: Vec<Value>,
    /// Place of each function in the original request, such as `tools[0]`.
    pub(super) places: Vec<String>,
    pub(super) forms: Forms,
}

/// The form in which the client expects the calls of each tool, by the function's name. A function without a
/// namespace has no entry.
#[derive(Default)]
pub(super) struct Forms(HashMap<String, Form>);

/// Returns the name of the function for a tool: `NAMESPACE.NAME`, or the name alone without a namespace.
pub(super) fn full_name(namespace: Option<&str>, name: &str) -> String {
    match namespace {
        Some(namespace) if !namespace.is_empty() => format!("{namespace}.{name}"),
        _ => name.to_owned(),
    }
}

/// Returns the arguments of a call of a `custom` tool, which consist of one text.
pub(super) fn input(text: &Value) -> Value {
    json!({ INPUT: text })
}

impl Tools {
    /// Converts and adds the list of tools of a Responses request.
    pub(super) fn read(&mut self, tools: Value) -> Result<(), Fault> {
        let Value::Array(tools) = tools else { return Err(Fault::field("tools", "'tools' must be a list")) };
        tools.into_iter().enumerate().try_for_each(|(at, tool)| self.tool(&tool, None, &format!("tools[{at}]")))
    }

    /// Converts and adds tools that a search of the client found; those that are listed already are skipped.
    pub(super) fn found(&mut self, tools: &Value, place: &str) -> Result<(), Fault> {
        let mut found = Tools::default();
        for (at, tool) in tools.as_array().into_iter().flatten().enumerate() {
            found.tool(tool, None, &format!("{place}.tools[{at}]"))?;
        }
        for (function, place) in found.functions.into_iter().zip(found.places) {
            let name = &function["function"]["name"];
            if self.functions.iter().all(|listed| listed["function"]["name"] != *name) {
                self.functions.push(function);
                self.places.push(place);
            }
        }
        self.forms.0.extend(found.forms.0);
        Ok(())
    }

    fn tool(&mut self, tool: &Value, namespace: Option<&str>, place: &str) -> Result<(), Fault> {
        let Some(kind) = tool["type"].as_str() else {
            return Err(Fault::field(place, "a tool must be an object with a 'type'"));
        };
        let member = || Member { namespace: namespace.map(str::to_owned), name: tool["name"].clone() };
        let name = || match tool["name"].as_str() {
            Some(name) if !name.is_empty() => full_name(namespace, name).into(),
            _ => tool["name"].clone(),
        };
        match kind {
            "function" => {
                let form = namespace.map(|_| Form::Function(member()));
                self.push(name(), &tool["description"], &tool["parameters"], form, place);
                if let Some(function) = self.functions.last_mut().filter(|_| tool[DEFERRED] == true) {
                    set_member(function, DEFERRED, true);
                }
            }
            "custom" => {
                let description = with_grammar(&tool["description"], &tool["format"]);
                let parameters =
                    json!({"type": "object", "required": [INPUT], "properties": {INPUT: {"type": "string"}}});
                self.push(name(), &description.into(), &parameters, Some(Form::Custom(member())), place);
            }
            "namespace" => {
                let Some(space) = tool["name"].as_str() else {
                    return Err(Fault::field(format!("{place}.name"), "a namespace needs a name"));
                };
                let members = tool["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
                for (at, tool) in members.iter().enumerate() {
                    self.tool(tool, Some(space), &format!("{place}.tools[{at}]"))?;
                }
            }
            _ => match ACTIONS.iter().find(|action| action.name == kind && !is_hosted(tool)) {
                Some(action) => {
                    let or = |field: &str, published: Value| match &tool[field] {
                        Value::Null => published,
                        given => given.clone(),
                    };
                    let description = or("description", action.description.as_str().into());
                    let parameters = or("parameters", action.parameters.clone());
                    self.push(kind.into(), &description, &parameters, Some(Form::Action(action)), place);
                }
                None => {
                    self.functions.push(json!({"type": kind, "name": kind}));
                    self.places.push(place.to_owned());
                }
            },
        }
        Ok(())
    }

    fn push(&mut self, name: Value, description: &Value, parameters: &Value, form: Option<Form>, place: &str) {
        if let (Some(form), Some(name)) = (form, name.as_str()) {
            self.forms.0.insert(name.to_owned(), form);
        }
        let function = json!({"name": name, "description": description, "parameters": parameters});
        self.functions.push(json!({"type": "function", "function": function}));
        self.places.push(place.to_owned());
    }
}

/// Returns `true` if OpenAI's service would run the tool: a shell in a container there, or a search
/// over the tools listed there.
fn is_hosted(tool: &Value) -> bool {
    match tool["type"].as_str() {
        Some("shell") => matches!(tool["environment"]["type"].as_str(), Some("container_auto" | "container_reference")),
        Some("tool_search") => tool["execution"] != "client",
        _ => false,
    }
}

/// Returns the description of a `custom` tool with its grammar, which is only a hint here.
fn with_grammar(description: &Value, format: &Value) -> String {
    let description = description.as_str().unwrap_or_default();
    match (format["definition"].as_str(), format["syntax"].as_str()) {
        (Some(grammar), syntax) => {
            let syntax = syntax.unwrap_or("grammar");
            format!("{description}\nThe input follows this grammar ({syntax}):\n{grammar}").trim_start().to_owned()
        }
        _ => description.to_owned(),
    }
}

fn function_call(call_id: &Option<String>, name: &Value, arguments: &str, status: &str) -> Value {
    json!({
        "id": new_id("fc_"), "type": "function_call", "status": status, "call_id": call_id, "name": name,
        "arguments": arguments,
    })
}

impl Forms {
    /// Returns the name of the events with the text of a call, and the field of the call's item with this text;
    /// `None` for a call whose item has no such text.
    pub(super) fn text_of(&self, name: &str) -> Option<(&'static str, &'static str)> {
        match self.0.get(name) {
            None | Some(Form::Function(_)) => Some(("function_call_arguments", "arguments")),
            Some(Form::Custom(_)) => Some(("custom_tool_call_input", "input")),
            Some(Form::Action(_)) => None,
        }
    }

    /// Converts a call to an item of Responses, in the form in which the client expects calls of that tool.
    pub(super) fn item(&self, call: NativeCall, status: &str) -> Value {
        let NativeCall { id: call_id, name, arguments } = call;
        let object = || serde_json::from_str::<Map<String, Value>>(&arguments).unwrap_or_default();
        match self.0.get(&name) {
            None => function_call(&call_id, &name.into(), &arguments, status),
            Some(Form::Function(member)) => member.within(function_call(&call_id, &member.name, &arguments, status)),
            Some(Form::Custom(member)) => {
                // Arguments that are not an object are the text itself.
                let text = match object().shift_remove(INPUT) {
                    Some(text @ Value::String(_)) => text,
                    _ => arguments.as_str().into(),
                };
                member.within(json!({
                    "id": new_id("ctc_"), "type": "custom_tool_call", "status": status, "call_id": call_id,
                    "name": member.name, "input": text,
                }))
            }
            Some(Form::Action(action)) => {
                let mut object = object();
                let mut item = json!({"id": new_id("sh_"), "type": action.item, "status": status, "call_id": call_id});
                if let Some((key, value)) = &action.fixed {
                    match key.as_str() {
                        "type" => drop(object.insert(key.clone(), value.as_str().into())),
                        key => set_member(&mut item, key, value.as_str()),
                    }
                }
                set_member(&mut item, &action.field, object);
                item
            }
        }
    }
}
