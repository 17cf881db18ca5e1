//! A request of Chat Completions: what it asks, and what of it cannot be.
//!
//! Requests that need nothing of us go on as they came. In others the tools are taken out
//! and taught by the prompt; every field that is not ours passes through.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use axum::body::Bytes;
use serde_json::{Map, Value};

use super::asked::Asked;
use super::config::{Config, WITH_TOOLS};
use super::doors;
use super::fault::Fault;
use super::history;
use super::kept::Kept;
use super::named::Named;
use super::native;
use super::prepared::{Cache, Key, Offered, Prepared, Wanted};
use super::shape::{Hosted, Shape};
use super::way::Way;
use super::work::{LARGE_BODY, LARGE_WITH_NEW_TOOLS};
use toolgraft::Tool;
use toolgraft::message::Reads;
use toolgraft::model::ModelInfo;
use toolgraft::tools::{ToolChoice, matches};
use toolgraft::turn::RoundModel;
use toolgraft::validate::{OutputSchema, fits_no_object, fits_nothing};
use toolgraft::wire::content::text_of;
use toolgraft::wire::roles::rename_developer;
use toolgraft::wire::{set_member, take_member};

/// Bytes of a list of tools above which the model's context is asked for: what it may take of the
/// smallest that servers give, 2,048 tokens ([`tool_budget`](toolgraft::prompt::tool_budget)), by four
/// bytes a token.
const LONG_LIST: usize = 2_048;

/// Fields that are ours: they mean nothing to the endpoint once the prompt teaches the tools.
const OURS: [&str; 12] = [
    "messages", "tools", "tool_choice", "parallel_tool_calls", "functions", "function_call", "stream",
    "stream_options", "n", "logprobs", "top_logprobs", "model",
];

/// Fields that say nothing where there are no tools.
const OF_TOOLS: [&str; 5] = ["tools", "tool_choice", "parallel_tool_calls", "functions", "function_call"];

/// Whether a tool is not to be listed before something names it (Messages, Responses).
fn is_deferred(tool: &Value) -> bool {
    tool[DEFERRED] == true
}

/// Whether the vendor's service would search among the tools that are deferred.
fn are_searched(tools: &[Value]) -> bool {
    tools.iter().filter_map(service).any(|kind| kind.starts_with("tool_search"))
}

/// The tools that a message names: those that the model called, and those that a search of the client's found.
fn named_in(message: &Value) -> impl Iterator<Item = &str> {
    let calls = message["tool_calls"].as_array().into_iter().flatten();
    let called = calls.filter_map(|call| call["function"]["name"].as_str());
    let parts = message["content"].as_array().into_iter().flatten();
    called.chain(parts.filter_map(|part| part["tool_name"].as_str()))
}

/// The member of a tool that defers its listing.
pub(super) const DEFERRED: &str = "defer_loading";

/// Most characters of the types of tools that are left out: clients write them.
const LEFT_OUT: usize = 200;

/// The type of a tool that runs at the vendor's service: of none that a client runs.
fn service(tool: &Value) -> Option<&str> {
    let kind = tool["type"].as_str().filter(|kind| !matches!(*kind, "function" | "custom"));
    kind.filter(|_| tool.get("function").is_none())
}

/// The types of the tools that run at the vendor's service, each once, as a header may hold them.
fn services(tools: &[Value]) -> String {
    let types: BTreeSet<&str> = tools.iter().filter_map(service).collect();
    let types = Vec::from_iter(types).join(", ");
    types.chars().filter(|c| c.is_ascii_graphic() || *c == ' ').take(LEFT_OUT).collect()
}

/// A request of Chat Completions.
pub(super) struct ChatRequest {
    pub(super) body: Map<String, Value>,
    /// The model as the endpoint names it.
    pub(super) model: String,
    /// Whether the client wants a stream.
    pub(super) stream: bool,
    /// Whether the toolbox's tools are wanted.
    with_tools: bool,
    /// The client's tools as they are written, where that is known; the body may be without them.
    pub(super) tools_text: Option<String>,
    /// What is known of its model.
    pub(super) known: Known,
}

/// What the endpoint says of a request's model, as far as that counts for it.
#[derive(Default)]
pub(super) struct Known {
    /// The model that the endpoint has for the name, where that tells more than the name.
    pub(super) served: Option<ModelInfo>,
    /// Whether the endpoint takes tools for it, where it was asked and says so.
    pub(super) takes_tools: Option<bool>,
    /// What it reads beside text, as far as the endpoint says, where results of the toolbox may have it.
    pub(super) reads: Reads,
    /// Tokens of its context, where the list of tools is long enough for that to count.
    pub(super) context: Option<usize>,
}

impl ChatRequest {
    /// Reads the object; what a field must be is checked only where we use it.
    pub(super) fn read(body: Map<String, Value>, config: &Config) -> Result<Self, Fault> {
        let named = match body.get("model") {
            Some(Value::String(name)) if !name.is_empty() => Some(name.as_str()),
            None | Some(Value::Null) => None,
            Some(_) => return Err(Fault::field("model", "'model' must be the name of a model")),
        };
        let with_tools = named.is_some_and(|name| name.ends_with(WITH_TOOLS)) || config.toolbox_always;
        let model = config.model_of(named).ok_or_else(|| Fault::field("model", "you must provide a 'model'"))?;
        let stream = flag(&body, "stream")?.unwrap_or(false);
        let with_tools = with_tools && config.toolbox.is_some();
        Ok(ChatRequest { with_tools, tools_text: None, known: Known::default(), model, stream, body })
    }

    /// Whether it wants the toolbox's tools.
    pub(super) fn wants_toolbox(&self) -> bool {
        self.with_tools
    }

    /// Whether it has tools.
    pub(super) fn has_tools(&self) -> bool {
        self.with_tools || self.tools_text.is_some() || is_given(self.body.get("tools"))
    }

    /// Whether to prepare it takes long, of a body of so many bytes. Tools for which something is
    /// prepared stand beside the body ([`object`]).
    pub(super) fn is_large(&self, length: usize) -> bool {
        length >= if is_given(self.body.get("tools")) { LARGE_WITH_NEW_TOOLS } else { LARGE_BODY }
    }

    /// Whether the list of tools may take much of a context.
    pub(super) fn lists_much(&self) -> bool {
        let length = match &self.tools_text {
            Some(text) => text.len(),
            None => self.body.get("tools").map_or(0, |tools| tools.to_string().len()),
        };
        self.with_tools || length > LONG_LIST
    }

    /// The body of a request that goes to the endpoint without our words: `came`, unless a role or the
    /// model's name is another there.
    pub(super) fn passed(mut self, came: Bytes) -> Bytes {
        let messages = self.body.get_mut("messages").and_then(Value::as_array_mut).into_iter().flatten();
        let mut is_same = true;
        for message in messages.filter_map(Value::as_object_mut) {
            is_same &= !rename_developer(message);
        }
        // Some endpoints refuse an empty list of tools, and a choice among none.
        if ["tools", "functions"].iter().any(|field| self.body.contains_key(*field)) {
            is_same = false;
            OF_TOOLS.iter().for_each(|field| drop(self.body.shift_remove(*field)));
        }
        if is_same && self.body.get("model").and_then(Value::as_str) == Some(&self.model) {
            return came;
        }
        self.body.insert("model".to_owned(), self.model.into());
        Value::Object(self.body).to_string().into()
    }

    /// Whether the request can go to the endpoint as it came.
    pub(super) fn is_plain(&self) -> bool {
        let calls = |message: &Value| {
            message["role"] == "tool"
                || message["role"] == "function"
                || is_given(message.get("tool_calls"))
                || is_given(message.get("function_call"))
        };
        let has_history =
            self.body.get("messages").and_then(Value::as_array).is_some_and(|list| list.iter().any(calls));
        let is_form = |format: &Value| matches!(format["type"].as_str(), Some("json_schema" | "json_object"));
        let has_schema = self.body.get("response_format").is_some_and(is_form);
        !self.has_tools() && !has_history && !has_schema
    }

    /// The tool of a service that the request chooses, or offers without any other: only that service could
    /// answer it. Such a list of tools is never one that is known already.
    pub(super) fn hosted(&self) -> Option<Hosted> {
        let tools = self.body.get("tools")?.as_array()?;
        let choice = self.body.get("tool_choice").unwrap_or(&Value::Null);
        let chosen = choice["function"]["name"].as_str();
        let chosen =
            tools.iter().find(|tool| service(tool).is_some() && chosen.is_some_and(|name| tool["name"] == name));
        let alone = tools.first().filter(|_| tools.iter().all(|tool| service(tool).is_some()) && choice != "none");
        let tool = chosen.or(alone)?;
        let kind = service(tool)?.to_owned();
        let messages = self.body.get("messages").and_then(Value::as_array).into_iter().flatten();
        let last = messages.rev().find(|message| message["role"] == "user");
        let query = last.map(|message| text_of(&message["content"])).unwrap_or_default();
        let name = tool["name"].as_str().unwrap_or(&kind).to_owned();
        Some(Hosted { kind, name, query, left_out: services(tools) })
    }

    /// What is asked of the model.
    pub(super) fn ask(mut self, config: &Config, cache: &Cache, kept: Kept) -> Result<(Arc<Prepared>, Asked), Fault> {
        self.refuse()?;
        self.list_named();
        let own = config.toolbox.as_ref().filter(|_| self.with_tools).map(|toolbox| toolbox.catalog());
        let max_calls = (flag(&self.body, "parallel_tool_calls")? == Some(false)).then_some(1);
        let Known { served, takes_tools, reads, context } = std::mem::take(&mut self.known);
        let served = served.as_ref();
        let profile = config.profile_of(served.map_or(&self.model, |served| &served.id));
        let way = Way::of(config, &self.model, served, profile).within(context);
        let way = if config.hands_on_media { way.reading(reads) } else { way };
        let key = Key {
            way,
            tools: match self.tools_text.take() {
                Some(text) => text,
                None => self.body.get("tools").map(Value::to_string).unwrap_or_default(),
            },
            choice: self.body.get("tool_choice").map(Value::to_string).unwrap_or_default(),
            with_tools: self.with_tools,
            max_calls,
        };
        // Tools that were read once and are the same are not read again.
        // Whoever shows the one key that lets clients in cannot be told apart.
        let client = config.client_key.is_none().then(|| kept.client());
        let prepared = cache.get(key, own, client.as_deref(), |written, own| {
            let Offered { mut tools, named, set_aside, left_out } = self.tools(written, &config.without)?;
            let choice = self.choice(&mut tools, &named)?;
            let offered = Offered { tools, named, set_aside, left_out };
            Prepared::new(config, Wanted { profile, way, offered, own, choice, max_calls, ways: cache.ways() })
        })?;
        let asks_for_a_form = self.body.get("response_format").is_some_and(|format| format["type"] == "json_schema");
        let output = self.output()?;
        let no_form = asks_for_a_form && output.is_none();
        let max_tokens = self.max_tokens()?;
        let messages = match self.body.get_mut("messages").map(Value::take) {
            Some(Value::Array(messages)) if !messages.is_empty() => messages,
            Some(Value::Array(_)) => return Err(Fault::field("messages", "'messages' is empty")),
            _ => return Err(Fault::field("messages", "'messages' must be a list of messages")),
        };
        check_arguments(&messages)?;
        let may_be =
            prepared.watches() && (prepared.hears_untrusted() || kept.may_be_untrusted(&messages, Instant::now()));
        let entries = history::read(messages, &prepared)?;
        let own = RoundModel::own(prepared.setup.config());
        let native = prepared.setup.natively(&own, &Some(self.model.clone()));
        let native = native.unwrap_or_else(|| prepared.setup.takes_tools(&own, takes_tools)).then(|| entries.clone());
        let native = native.map(|entries| native::history(entries, &prepared, &kept)).transpose()?;
        let mut history = history::render(entries, &prepared, &kept)?;
        history.untrusted |= may_be;
        OURS.iter().for_each(|field| {
            self.body.shift_remove(*field);
        });
        self.body.insert("model".to_owned(), self.model.into());
        self.body.retain(|_, value| !value.is_null());
        Ok((prepared, Asked { body: self.body, history, native, max_tokens, output, no_form, kept, context }))
    }

    /// Lists those deferred tools that the history or the choice names. Where the vendor's service would search
    /// among them, the model finds them here ([`FIND_TOOL`](toolgraft::tools::FIND_TOOL)).
    fn list_named(&mut self) {
        let tools = self.body.get("tools").and_then(Value::as_array);
        let Some(tools) = tools.filter(|tools| tools.iter().any(is_deferred) && !are_searched(tools)) else { return };
        let messages = self.body.get("messages").and_then(Value::as_array).into_iter().flatten();
        let chosen = self.body.get("tool_choice").and_then(|choice| choice["function"]["name"].as_str());
        let named: HashSet<&str> = messages.flat_map(named_in).chain(chosen).collect();
        let is_named = |tool: &Value| tool["function"]["name"].as_str().is_some_and(|name| named.contains(name));
        let listed = tools.iter().cloned().map(|mut tool| {
            if is_deferred(&tool) && is_named(&tool) {
                set_member(&mut tool, DEFERRED, false);
            }
            tool
        });
        let listed = listed.collect();
        self.body.insert("tools".to_owned(), listed);
    }

    /// What cannot be true of an answer that is put together from several.
    fn refuse(&self) -> Result<(), Fault> {
        if self.body.get("n").is_some_and(|n| !n.is_null() && n.as_u64() != Some(1)) {
            return Err(Fault::field(
                "n",
                "'n' must be 1 in a request with tools or a schema: an answer may take several rounds",
            ));
        }
        for field in ["logprobs", "top_logprobs"] {
            if self
                .body
                .get(field)
                .is_some_and(|value| !matches!(value, Value::Null | Value::Bool(false)) && *value != 0)
            {
                let message = format!(
                    "'{field}' cannot be had in a request with tools or a schema: calls are taken out of the text"
                );
                return Err(Fault::field(field, message));
            }
        }
        Ok(())
    }

    /// The tools that the client offers. They are taken out of the body, or read where it is without them:
    /// `written`.
    fn tools(&mut self, written: &str, without: &[String]) -> Result<Offered, Fault> {
        let given = match self.body.get_mut("tools").map(Value::take) {
            Some(tools) => tools,
            None if written.is_empty() => Value::Null,
            None => serde_json::from_str(written).map_err(doors::not_json)?,
        };
        let list = match given {
            Value::Null => return Ok(Offered::default()),
            Value::Array(list) => list,
            _ => return Err(Fault::field("tools", "'tools' must be a list")),
        };
        let (mut tools, mut named, mut set_aside): (Vec<Tool>, _, _) = (Vec::new(), Named::default(), Vec::new());
        let names = named_once(&list, without)?;
        let left_out = services(&list);
        // Names that fit are taken first: no other tool is called so.
        let mut taken: HashSet<String> = HashSet::new();
        let are_searched = are_searched(&list);
        let is_offered = |item: &Value| service(item).is_none() && (are_searched || !is_deferred(item));
        for (at, item) in list.into_iter().enumerate().filter(|(_, item)| is_offered(item)) {
            let (tool, is_set_aside) = tool(at, item)?;
            if names.get(&tool.name) == Some(&at) {
                set_aside.extend(is_set_aside.then(|| tool.name.clone()));
                tools.push(tool);
            }
        }
        // The prompt is the same whatever order they come in.
        tools.sort_by(|one, other| one.name.cmp(&other.name));
        for tool in &mut tools {
            let is_taken = |name: &str| taken.contains(name) || name != tool.name && names.contains_key(name);
            tool.name = named.add(&tool.name, is_taken);
            taken.insert(tool.name.clone());
        }
        Ok(Offered { tools, named, set_aside, left_out })
    }

    /// The choice among the tools. One that allows some of them leaves the others out.
    fn choice(&self, tools: &mut Vec<Tool>, named: &Named) -> Result<ToolChoice, Fault> {
        if let Some(allowed) = self.body.get("tool_choice").filter(|choice| choice["type"] == "allowed_tools") {
            return self.allowed(allowed, tools, named);
        }
        let named = |name: &Value| match name.as_str() {
            Some(name) if tools.iter().any(|tool| tool.name == named.shown(name)) => {
                Ok(ToolChoice::Named(named.shown(name).to_owned()))
            }
            Some(name) => {
                Err(Fault::field("tool_choice", format!("'tool_choice' names '{name}', and no tool has that name")))
            }
            None => Err(Fault::field("tool_choice", "'tool_choice' must name a function")),
        };
        match self.body.get("tool_choice") {
            None | Some(Value::Null) => Ok(ToolChoice::Auto),
            Some(Value::String(word)) => self.worded(word, tools),
            Some(Value::Object(object)) => match object.get("type").and_then(Value::as_str) {
                // Responses' form has the name beside the type.
                Some("function") | None => {
                    let nested = object.get("function").map(|function| &function["name"]);
                    named(nested.or(object.get("name")).unwrap_or(&Value::Null))
                }
                Some(word @ ("auto" | "none" | "required" | "any")) => self.worded(word, tools),
                Some(other) => Err(Fault::field(
                    "tool_choice",
                    format!("'tool_choice' of the type '{other}' is not known here: expected 'function'"),
                )),
            },
            Some(_) => Err(Fault::field("tool_choice", "'tool_choice' must be a word or an object")),
        }
    }

    /// The choice among the tools that a request allows, in the form of Chat Completions or of Responses.
    fn allowed(&self, choice: &Value, tools: &mut Vec<Tool>, named: &Named) -> Result<ToolChoice, Fault> {
        let choice = choice.get("allowed_tools").unwrap_or(choice);
        let Some(allowed) = choice["tools"].as_array() else {
            return Err(Fault::field("tool_choice", "'tool_choice' of the type 'allowed_tools' needs a list 'tools'"));
        };
        let name = |tool: &Value| tool["function"]["name"].as_str().or(tool["name"].as_str()).map(str::to_owned);
        let allowed: HashSet<String> = allowed.iter().filter_map(name).collect();
        tools.retain(|tool| allowed.contains(named.given(&tool.name)));
        self.worded(choice["mode"].as_str().unwrap_or("auto"), tools)
    }

    /// The choice that a word is.
    fn worded(&self, word: &str, tools: &[Tool]) -> Result<ToolChoice, Fault> {
        match word {
            "auto" => Ok(ToolChoice::Auto),
            "none" => Ok(ToolChoice::None),
            "required" | "any" if tools.is_empty() && !self.with_tools => {
                Err(Fault::field("tool_choice", "'tool_choice' requires a call, and there are no tools"))
            }
            "required" | "any" => Ok(ToolChoice::Required),
            other => {
                let expected = "expected 'auto', 'none', 'required' or an object that names a function";
                Err(Fault::field("tool_choice", format!("'tool_choice' is '{other}': {expected}")))
            }
        }
    }

    /// The schema of the answer. Whether the endpoint holds it too is for each request to say:
    /// where the model may call, it would make calls impossible.
    fn output(&mut self) -> Result<Option<Arc<OutputSchema>>, Fault> {
        let place = "response_format.json_schema.schema";
        let schema = match self.body.shift_remove("response_format") {
            None | Some(Value::Null) => None,
            Some(format) => match format["type"].as_str() {
                Some("text") => None,
                Some("json_object") => Some(serde_json::json!({"type": "object"})),
                Some("json_schema") => match format["json_schema"].get("schema") {
                    // Nothing could answer it.
                    Some(schema) if fits_nothing(schema, false) => None,
                    Some(schema) => Some(schema.clone()),
                    None => {
                        return Err(Fault::field(
                            place,
                            "a 'response_format' of the type 'json_schema' needs a schema",
                        ));
                    }
                },
                _ => {
                    let message = "'response_format' must be of the type 'text', 'json_object' or 'json_schema'";
                    return Err(Fault::field("response_format.type", message));
                }
            },
        };
        let compiled = schema.map(OutputSchema::new).transpose();
        Ok(compiled.map_err(|error| Fault::field(place, error.to_string()))?.map(Arc::new))
    }

    fn max_tokens(&self) -> Result<Option<(&'static str, u64)>, Fault> {
        for field in ["max_completion_tokens", "max_tokens"] {
            match self.body.get(field) {
                None | Some(Value::Null) => {}
                Some(value) => match value.as_u64().filter(|most| *most > 0) {
                    Some(most) => return Ok(Some((field, most))),
                    None => return Err(Fault::field(field, format!("'{field}' must be a whole number above 0"))),
                },
            }
        }
        Ok(None)
    }
}

/// Refuses a history whose calls hold more values than a request may: their arguments are JSON
/// within text.
fn check_arguments(messages: &[Value]) -> Result<(), Fault> {
    let calls = messages.iter().filter_map(|message| message["tool_calls"].as_array()).flatten();
    let texts = calls.filter_map(|call| call["function"]["arguments"].as_str()).map(str::as_bytes);
    doors::check_values(texts)
}

/// The object of a request's body, and its list of tools as it is written. Where that is known
/// already it is not read, and not in the object.
pub(super) fn object(
    body: &[u8],
    shape: &dyn Shape,
    cache: &Cache,
) -> Result<(Map<String, Value>, Option<String>), Fault> {
    doors::check_values(std::iter::once(body))?;
    let apart = if shape.is_chat() { doors::object_and_tools(body) } else { None };
    let is_list = |tools: &str| tools.strip_prefix('[').is_some_and(|rest| !rest.trim_start().starts_with(']'));
    match apart.filter(|(_, tools)| is_list(tools)) {
        Some((object, tools)) if cache.knows(tools) => Ok((object, Some(tools.to_owned()))),
        Some((_, tools)) => Ok((doors::object(body)?, Some(tools.to_owned()))),
        None => Ok((doors::object(body)?, None)),
    }
}

/// Whether a field is there and says something.
fn is_given(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => false,
        Some(Value::Array(list)) => !list.is_empty(),
        Some(_) => true,
    }
}

/// A field that is true or false.
pub(super) fn flag(body: &Map<String, Value>, field: &str) -> Result<Option<bool>, Fault> {
    match body.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(_) => Err(Fault::field(field, format!("'{field}' must be true or false"))),
    }
}

/// Where in a list the tools stand that are not left out, by their names: the first of those that are the
/// same.
fn named_once(list: &[Value], without: &[String]) -> Result<HashMap<String, usize>, Fault> {
    let mut names: HashMap<String, usize> = HashMap::new();
    for (at, item) in list.iter().enumerate() {
        let Some(name) = item["function"]["name"].as_str() else { continue };
        match names.get(name) {
            _ if without.iter().any(|glob| matches(glob, None, name)) => {}
            None => drop(names.insert(name.to_owned(), at)),
            // A client that lists one tool twice means it once.
            Some(first) if list[*first]["function"] == item["function"] => {}
            Some(_) => {
                let message = format!("two tools are named '{name}', and they differ");
                return Err(Fault::field(format!("tools[{at}].function.name"), message));
            }
        }
    }
    Ok(names)
}

/// A tool as a client describes it, and whether its schema is set aside: one that nothing fits says
/// nothing of the arguments.
fn tool(at: usize, mut item: Value) -> Result<(Tool, bool), Fault> {
    let place = |field: &str| format!("tools[{at}]{field}");
    match item["type"].as_str() {
        Some("function") => {}
        None if item.get("type").is_none() && item.is_object() => {}
        Some(other) => {
            let message = format!("tools of the type '{other}' are not known here: expected 'function'");
            return Err(Fault::field(place(".type"), message));
        }
        None => return Err(Fault::field(place(""), "a tool is an object with 'type' and 'function'")),
    }
    let mut function = take_member(&mut item, "function");
    let Some(name) = function["name"].as_str().filter(|name| !name.trim().is_empty()) else {
        return Err(Fault::field(place(".function.name"), "a function needs a name"));
    };
    let mut tool = Tool::new(name);
    tool.deferred = is_deferred(&item);
    // A client that passes on the tools of MCP servers may pass on their hints.
    tool.annotations = function.get("annotations").and_then(|hints| serde_json::from_value(hints.clone()).ok());
    match &function["description"] {
        Value::Null => {}
        Value::String(text) => tool = tool.with_description(text),
        _ => return Err(Fault::field(place(".function.description"), "a description is a text")),
    }
    let mut set_aside = false;
    match take_member(&mut function, "parameters") {
        Value::Null => {}
        schema @ (Value::Object(_) | Value::Bool(_)) => {
            set_aside = fits_no_object(&schema);
            if !set_aside {
                tool = tool.with_schema(schema);
            }
        }
        _ => {
            return Err(Fault::field(
                place(".function.parameters"),
                "parameters are a JSON Schema, which is an object",
            ));
        }
    }
    Ok((tool, set_aside))
}
