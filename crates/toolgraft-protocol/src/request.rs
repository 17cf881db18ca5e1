//! A request of Chat Completions: reads it, checks it, and turns it into a rendered request.
//!
//! Requests that need nothing of this server are passed through. In others the tools are removed
//! and described in the prompt; fields that this server does not consume are forwarded.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value};

use super::body;
use crate::ask_settings::{AskSettings, ModelFacts};
use crate::codecs::shape::{DEFERRED, Hosted, Places, Read, Shape, Writer, flag};
use crate::exchange::RenderedRequest;
use crate::fault::Fault;
use crate::history;
use crate::native;
use crate::prepared::{Cache, Key, Offered, Prepared, Wanted};
use crate::settings::{Settings, WITH_TOOLS};
use crate::store::ClientStore;
use crate::tool_names::ToolNames;
use toolgraft::Tool;
use toolgraft::tools::{ToolChoice, matches};
use toolgraft::turn::RoundModel;
use toolgraft::validate::{OutputSchema, fits_nothing};
use toolgraft::wire::content::text_of;
use toolgraft::wire::roles::rename_developer;
use toolgraft::wire::{set_member, take_member};

/// Size in bytes of a list of tools above which the size of the model's context is queried: the list's share
/// ([`tool_budget`](toolgraft::prompt::tool_budget)) of the smallest context that servers use, 2,048 tokens, at four
/// bytes a token.
const LONG_LIST: usize = 2_048;

/// Size of a body in bytes from which on it is read on a thread apart from those that serve, so that other requests are
/// answered meanwhile. A smaller one takes less than a millisecond, and each handover takes a part of that.
pub const LARGE_BODY: usize = 64 << 10;

/// Size of a body in bytes from which on it is read on a separate thread if it has tools that are not cached, whose
/// schemas have to be compiled.
const LARGE_WITH_NEW_TOOLS: usize = 16 << 10;

/// Request fields that this server consumes instead of forwarding them: they mean nothing to the endpoint once the
/// prompt describes the tools.
const OURS: [&str; 12] = [
    "messages", "tools", "tool_choice", "parallel_tool_calls", "functions", "function_call", "stream",
    "stream_options", "n", "logprobs", "top_logprobs", "model",
];

/// Request fields that mean nothing if the request has no tools.
const OF_TOOLS: [&str; 5] = ["tools", "tool_choice", "parallel_tool_calls", "functions", "function_call"];

/// Returns `true` if a tool is deferred: it is listed only once the history or the tool choice names it.
fn is_deferred(tool: &Value) -> bool {
    tool[DEFERRED] == true
}

/// Returns `true` if the tools include a `tool_search`, with which the vendor's service would search the deferred
/// tools.
fn are_searched(tools: &[Value]) -> bool {
    tools.iter().filter_map(service).any(|kind| kind.starts_with("tool_search"))
}

/// Returns the names of tools in a message: those that the model called, and those that a search of the client found.
fn named_in(message: &Value) -> impl Iterator<Item = &str> {
    let calls = message["tool_calls"].as_array().into_iter().flatten();
    let called = calls.filter_map(|call| call["function"]["name"].as_str());
    let parts = message["content"].as_array().into_iter().flatten();
    called.chain(parts.filter_map(|part| part["tool_name"].as_str()))
}

/// Maximum length, in characters, of the text that lists the types of tools left out, since clients choose these
/// types.
const LEFT_OUT: usize = 200;

/// Returns the type of a tool that runs at the API vendor's service; `None` for one that the client runs.
fn service(tool: &Value) -> Option<&str> {
    let kind = tool["type"].as_str().filter(|kind| !matches!(*kind, "function" | "custom"));
    // A function of an unknown type is a mistake to report, no tool to leave out.
    kind.filter(|_| tool.get("function").is_none())
}

/// Returns the distinct types of the tools that run at the vendor's service, separated by commas, as text for a
/// header.
fn services(tools: &[Value]) -> String {
    let types: BTreeSet<&str> = tools.iter().filter_map(service).collect();
    let types = Vec::from_iter(types).join(", ");
    types.chars().filter(|c| c.is_ascii_graphic() || *c == ' ').take(LEFT_OUT).collect()
}

/// A client's request, converted to Chat Completions.
pub struct ChatRequest {
    /// Fields of the request's body.
    pub body: Map<String, Value>,
    /// Name of the model at the endpoint.
    pub model: String,
    /// `true` if the client wants a stream.
    pub stream: bool,
    /// `true` if the toolbox's tools are offered in addition to the client's.
    pub with_tools: bool,
    /// JSON text of the client's list of tools, if it is known; `body` may then lack the list.
    tools_text: Option<String>,
    /// Facts about the request's model.
    pub known: ModelFacts,
}

impl ChatRequest {
    /// Parses the body of a request of a client's API. Returns the request, the places of its tools in the body, and
    /// the writer for its answer. `beside` are further fields, for example from the URL's path.
    ///
    /// # Errors
    /// Fails if the body cannot be read; the error names the field that is wrong.
    pub fn parse(
        shape: &dyn Shape,
        body: &[u8],
        beside: Map<String, Value>,
        settings: &Settings,
        cache: &Cache,
        kept: &ClientStore,
    ) -> Result<(Self, Places, Box<dyn Writer>), Fault> {
        let (mut body, tools) = object(body, shape, cache)?;
        body.extend(beside);
        ChatRequest::read(shape, body, tools, settings, kept)
    }

    /// Reads the parsed body of a request of a client's API. Returns the request, the places of its tools in the
    /// body, and the writer for its answer. `tools_text` is the JSON text of its tools, which may be missing in
    /// `body`.
    pub(crate) fn read(
        shape: &dyn Shape,
        body: Map<String, Value>,
        tools_text: Option<String>,
        settings: &Settings,
        kept: &ClientStore,
    ) -> Result<(Self, Places, Box<dyn Writer>), Fault> {
        let Read { chat, places, writer } = shape.read(body, kept)?;
        let request = ChatRequest::of_chat(chat, settings).map_err(|fault| places.translate(shape, fault))?;
        Ok((ChatRequest { tools_text, ..request }, places, writer))
    }

    /// Reads the body of Chat Completions. Fields are checked only where they are used here.
    fn of_chat(body: Map<String, Value>, settings: &Settings) -> Result<Self, Fault> {
        let named = match body.get("model") {
            Some(Value::String(name)) if !name.is_empty() => Some(name.as_str()),
            None | Some(Value::Null) => None,
            Some(_) => return Err(Fault::field("model", "'model' must be the name of a model")),
        };
        let with_tools = named.is_some_and(|name| name.ends_with(WITH_TOOLS)) || settings.toolbox_always;
        let model = settings.model_of(named).ok_or_else(|| Fault::field("model", "you must provide a 'model'"))?;
        let stream = flag(&body, "stream")?.unwrap_or(false);
        // Without a toolbox the suffix belongs to the model's own name (`Settings::model_of`).
        let with_tools = with_tools && settings.toolbox.is_some();
        Ok(ChatRequest { with_tools, tools_text: None, known: ModelFacts::default(), model, stream, body })
    }

    /// Returns `true` if the request has tools: the client's or the toolbox's.
    pub fn has_tools(&self) -> bool {
        self.with_tools || self.tools_text.is_some() || is_given(self.body.get("tools"))
    }

    /// Returns `true` if preparing the request takes long; `length` is that of its body in bytes.
    /// Tools that are in the cache are not part of the body (`object`).
    pub fn is_large(&self, length: usize) -> bool {
        length >= if is_given(self.body.get("tools")) { LARGE_WITH_NEW_TOOLS } else { LARGE_BODY }
    }

    /// Returns `true` if the list of tools may take a large part of the model's context.
    pub fn lists_much(&self) -> bool {
        let length = match &self.tools_text {
            Some(text) => text.len(),
            None => self.body.get("tools").map_or(0, |tools| tools.to_string().len()),
        };
        // The length of the toolbox's own list is not known here.
        self.with_tools || length > LONG_LIST
    }

    /// Returns the changed body of a request that is passed through, if a role, the model's name or an empty list of
    /// tools has to be changed; `None` if the body stays as it came.
    pub fn passed(mut self) -> Option<String> {
        let messages = self.body.get_mut("messages").and_then(Value::as_array_mut).into_iter().flatten();
        let mut is_same = true;
        for message in messages.filter_map(Value::as_object_mut) {
            is_same &= !rename_developer(message);
        }
        // Some endpoints refuse an empty list of tools, and a choice without tools.
        if ["tools", "functions"].iter().any(|field| self.body.contains_key(*field)) {
            is_same = false;
            OF_TOOLS.iter().for_each(|field| drop(self.body.shift_remove(*field)));
        }
        if is_same && self.body.get("model").and_then(Value::as_str) == Some(&self.model) {
            return None;
        }
        self.body.insert("model".to_owned(), self.model.into());
        Some(Value::Object(self.body).to_string())
    }

    /// Returns `true` if the request can be passed through: it has no tools, no calls or results in
    /// its history, no schema for its answer, and requires no call.
    pub fn is_plain(&self) -> bool {
        let calls = |message: &Value| {
            // Calls and results, each in the current and in the older form of the interface.
            message["role"] == "tool"
                || message["role"] == "function"
                || is_given(message.get("tool_calls"))
                || is_given(message.get("function_call"))
        };
        let has_history =
            self.body.get("messages").and_then(Value::as_array).is_some_and(|list| list.iter().any(calls));
        let is_form = |format: &Value| matches!(format["type"].as_str(), Some("json_schema" | "json_object"));
        let has_schema = self.body.get("response_format").is_some_and(is_form);
        // A choice that only a tool could fit is refused.
        let leaves_open = |choice: &Value| matches!(choice.as_str(), Some("auto" | "none"));
        let needs_tool = self.body.get("tool_choice").is_some_and(|choice| !choice.is_null() && !leaves_open(choice));
        // Each of these takes a turn: to describe, to render, to check or to correct.
        !self.has_tools() && !has_history && !has_schema && !needs_tool
    }

    /// Returns the tool of the API vendor's service that the request chooses, or offers without any other: only that
    /// service could answer the request. A cached list never consists of such tools.
    pub fn hosted(&self) -> Option<Hosted> {
        let tools = self.body.get("tools")?.as_array()?;
        let choice = self.body.get("tool_choice").unwrap_or(&Value::Null);
        let chosen = choice["function"]["name"].as_str();
        let chosen =
            tools.iter().find(|tool| service(tool).is_some() && chosen.is_some_and(|name| tool["name"] == name));
        // With `none` the model answers without the tool.
        let alone = tools.first().filter(|_| tools.iter().all(|tool| service(tool).is_some()) && choice != "none");
        let tool = chosen.or(alone)?;
        let kind = service(tool)?.to_owned();
        let messages = self.body.get("messages").and_then(Value::as_array).into_iter().flatten();
        let last = messages.rev().find(|message| message["role"] == "user");
        let query = last.map(|message| text_of(&message["content"])).unwrap_or_default();
        let name = tool["name"].as_str().unwrap_or(&kind).to_owned();
        let (model, stream) = (self.model.clone(), self.stream);
        Some(Hosted { kind, name, query, left_out: services(tools), model, stream })
    }

    /// Converts the request to a rendered request, and returns it with the prepared list of its tools.
    pub fn ask(
        mut self,
        settings: &Settings,
        cache: &Cache,
        kept: ClientStore,
    ) -> Result<(Arc<Prepared>, RenderedRequest), Fault> {
        self.refuse()?;
        // Before the key is made, which has the list of tools as it is offered.
        self.list_named();
        let own = settings.toolbox.as_ref().filter(|_| self.with_tools).map(|toolbox| toolbox.catalog());
        let max_calls = (flag(&self.body, "parallel_tool_calls")? == Some(false)).then_some(1);
        let known = std::mem::take(&mut self.known);
        let profile = settings.profile_of(known.served.as_ref().map_or(&self.model, |served| &served.id));
        let way = AskSettings::of(settings, &self.model, &known, profile);
        let key = Key {
            way,
            tools: match self.tools_text.take() {
                Some(text) => text,
                None => self.body.get("tools").map(Value::to_string).unwrap_or_default(),
            },
            choice: self.body.get("tool_choice").map(Value::to_string).unwrap_or_default(),
            max_calls,
        };
        let client = (!settings.one_key).then(|| kept.client());
        // A list of tools in the cache is not parsed again.
        let prepared = cache.get(key, own, client.as_deref(), |written, own| {
            let mut offered = self.tools(written, &settings.without)?;
            let choice = self.choice(&mut offered, &settings.without)?;
            Prepared::new(settings, Wanted { profile, way, offered, own, choice, max_calls, ways: cache.ways() })
        })?;
        let asks_for_a_form = self.body.get("response_format").is_some_and(|format| format["type"] == "json_schema");
        let output = self.output()?;
        let no_form = asks_for_a_form && output.is_none();
        let max_tokens = self.max_tokens()?;
        let messages = match self.body.get_mut("messages").map(Value::take) {
            Some(Value::Array(messages)) if !messages.is_empty() => messages,
            Some(Value::Array(_)) => return Err(Fault::field("messages", "there is no message with content")),
            _ => return Err(Fault::field("messages", "'messages' must be a list of messages")),
        };
        check_arguments(&messages)?;
        let may_be =
            // The prompt itself or the history may hold such text; without a watched server neither
            // matters.
            prepared.watches() && (prepared.hears_untrusted() || kept.may_be_untrusted(&messages, Instant::now()));
        let entries = history::read(messages, &prepared)?;
        let own = RoundModel::own(prepared.setup.config());
        let native = prepared.setup.natively(&own, &Some(self.model.clone()));
        let takes = || prepared.setup.takes_tools(&own, known.takes_tools);
        let native = native.unwrap_or_else(takes).then(|| entries.clone());
        let native = native.map(|entries| native::history(entries, &prepared, &kept)).transpose()?;
        let mut history = history::render(entries, &prepared, &kept)?;
        history.untrusted |= may_be;
        OURS.iter().for_each(|field| {
            self.body.shift_remove(*field);
        });
        self.body.insert("model".to_owned(), self.model.into());
        self.body.retain(|_, value| !value.is_null());
        let (body, context) = (self.body, known.context);
        Ok((prepared, RenderedRequest { body, history, native, max_tokens, output, no_form, kept, context }))
    }

    /// Marks as listed the deferred tools that the history or the tool choice names. If the vendor's service would
    /// search among them, they stay deferred, and the model finds them through
    /// [`FIND_TOOL`](toolgraft::tools::FIND_TOOL).
    fn list_named(&mut self) {
        let tools = self.body.get("tools").and_then(Value::as_array);
        let Some(tools) = tools.filter(|tools| tools.iter().any(is_deferred) && !are_searched(tools)) else { return };
        let messages = self.body.get("messages").and_then(Value::as_array).into_iter().flatten();
        let choice = self.body.get("tool_choice").unwrap_or(&Value::Null);
        let chosen = choice["function"]["name"].as_str();
        let named: HashSet<&str> = messages.flat_map(named_in).chain(chosen).chain(allowed_by(choice)).collect();
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

    /// Refuses options that an answer of several rounds cannot honour: several choices (`n`) and probabilities
    /// (`logprobs`).
    fn refuse(&self) -> Result<(), Fault> {
        let is_given = |field: &str, default: u64| {
            let is_default = |value: &Value| matches!(value, Value::Null | Value::Bool(false)) || *value == default;
            self.body.get(field).is_some_and(|value| !is_default(value))
        };
        let wrong = [("n", 1, "be 1"), ("logprobs", 0, "be left out"), ("top_logprobs", 0, "be left out")];
        let wrong = wrong.into_iter().find(|(field, default, _)| is_given(field, *default));
        wrong.map_or(Ok(()), |(field, _, must)| {
            let message = format!(
                "'{field}' must {must}: only a request of Chat Completions without tools and schema is passed to the \
                 endpoint as it is"
            );
            Err(Fault::field(field, message))
        })
    }

    /// Converts the tools that the client offers. They are removed from the body, or parsed from `written` if the
    /// body lacks them.
    fn tools(&mut self, written: &str, without: &[String]) -> Result<Offered, Fault> {
        let list: Vec<Value> = match self.body.get_mut("tools").map(Value::take) {
            Some(Value::Array(list)) => list,
            None if !written.is_empty() => serde_json::from_str(written).map_err(body::not_json)?,
            None | Some(Value::Null) => return Ok(Offered::default()),
            Some(_) => return Err(Fault::field("tools", "'tools' must be a list")),
        };
        let (mut tools, mut named, mut set_aside): (Vec<Tool>, _, _) = (Vec::new(), ToolNames::default(), Vec::new());
        let names = named_once(&list, without)?;
        let left_out = services(&list);
        let mut taken: HashSet<String> = HashSet::new();
        let are_searched = are_searched(&list);
        // A deferred tool is only offered if the model can find it by a search.
        let is_offered = |item: &Value| service(item).is_none() && (are_searched || !is_deferred(item));
        for (at, item) in list.into_iter().enumerate().filter(|(_, item)| is_offered(item)) {
            let (tool, is_set_aside) = tool(at, item)?;
            // A tool that is listed twice counts once; one that the server leaves out has no entry.
            if names.get(&tool.name) == Some(&at) {
                set_aside.extend(is_set_aside.then(|| tool.name.clone()));
                tools.push(tool);
            }
        }
        // Sorted, so that the prompt does not depend on their order.
        tools.sort_by(|one, other| one.name.cmp(&other.name));
        for tool in &mut tools {
            // A name is also taken if another tool, which comes later, has it as its own.
            let is_taken = |name: &str| taken.contains(name) || name != tool.name && names.contains_key(name);
            tool.name = named.add(&tool.name, is_taken);
            taken.insert(tool.name.clone());
        }
        Ok(Offered { tools, named, set_aside, left_out })
    }

    /// Returns the tool choice of the request. A choice that allows some of the tools removes the others from
    /// `offered`.
    fn choice(&self, offered: &mut Offered, without: &[String]) -> Result<ToolChoice, Fault> {
        let choice = self.body.get("tool_choice").unwrap_or(&Value::Null);
        let Offered { tools, named, .. } = &*offered;
        let named = |name: &Value| match name.as_str() {
            Some(name) if tools.iter().any(|tool| tool.name == named.shown(name)) => {
                Ok(ToolChoice::Named(named.shown(name).to_owned()))
            }
            Some(name) => {
                Err(Fault::field("tool_choice", format!("'tool_choice' names '{name}', and no tool has that name")))
            }
            None => Err(Fault::field("tool_choice", "'tool_choice' must name a function")),
        };
        match (choice, choice["type"].as_str()) {
            (Value::Null, _) => Ok(ToolChoice::Auto),
            (Value::String(word), _) => self.worded(word, tools),
            // Responses' form has the name beside the type.
            (Value::Object(object), Some("function") | None) => {
                let nested = object.get("function").map(|function| &function["name"]);
                named(nested.or(object.get("name")).unwrap_or(&Value::Null))
            }
            (Value::Object(_), Some("allowed_tools")) => self.allowed(choice, offered, without),
            (Value::Object(_), Some(word @ ("auto" | "none" | "required" | "any"))) => self.worded(word, tools),
            (Value::Object(_), Some(other)) => {
                let message = format!("'tool_choice' of the type '{other}' is not known here: expected 'function'");
                Err(Fault::field("tool_choice", message))
            }
            _ => Err(Fault::field("tool_choice", "'tool_choice' must be a word or an object")),
        }
    }

    /// Returns the tool choice for a list of allowed tools, and removes all others from `offered`. A namespace allows
    /// all its members.
    ///
    /// # Errors
    /// Fails if no tool of the request has one of the names.
    fn allowed(&self, choice: &Value, offered: &mut Offered, without: &[String]) -> Result<ToolChoice, Fault> {
        let Offered { tools, named, .. } = offered;
        let list = list_of_allowed(choice);
        if !list["tools"].is_array() {
            return Err(Fault::field("tool_choice.tools", "'allowed_tools' needs a list 'tools'"));
        }
        let is_of = |tool: &Tool, name: &str| {
            let rest = named.given(&tool.name).strip_prefix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let is_known = |name: &str| {
            tools.iter().any(|tool| is_of(tool, name)) || without.iter().any(|glob| matches(glob, None, name))
        };
        if let Some(name) = allowed_by(choice).find(|name| !is_known(name)) {
            let message = format!("the choice allows '{name}', and no tool has that name");
            return Err(Fault::field("tool_choice.tools", message));
        }
        tools.retain(|tool| allowed_by(choice).any(|name| is_of(tool, name)));
        self.worded(list["mode"].as_str().unwrap_or("auto"), tools)
    }

    /// Returns the tool choice for one of the words `auto`, `none`, `required` and `any`.
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

    /// Returns the schema that the answer must match, if there is one. It is removed from the body: an endpoint that
    /// enforces it in every round could make no calls, so each request of the turn sets it itself.
    fn output(&mut self) -> Result<Option<Arc<OutputSchema>>, Fault> {
        let place = "response_format.json_schema.schema";
        let schema = match self.body.shift_remove("response_format") {
            None | Some(Value::Null) => None,
            Some(format) => match format["type"].as_str() {
                Some("text") => None,
                Some("json_object") => Some(serde_json::json!({"type": "object"})),
                Some("json_schema") => match format["json_schema"].get("schema") {
                    // A schema that nothing satisfies is set aside.
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
        // `max_tokens` is the older name, so the other one counts if a client sends both.
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

/// Returns the object with the list of allowed tools of a tool choice: in Chat Completions it is nested, in Responses
/// it is not.
fn list_of_allowed(choice: &Value) -> &Value {
    choice.get("allowed_tools").unwrap_or(choice)
}

/// Returns the names of the tools that a tool choice allows; none if it has no list of allowed tools.
fn allowed_by(choice: &Value) -> impl Iterator<Item = &str> {
    let list = list_of_allowed(choice)["tools"].as_array();
    list.into_iter().flatten().filter_map(|tool| tool["function"]["name"].as_str().or(tool["name"].as_str()))
}

/// Refuses a history whose calls hold more JSON values than a request may: arguments are JSON
/// inside strings.
fn check_arguments(messages: &[Value]) -> Result<(), Fault> {
    let calls = messages.iter().filter_map(|message| message["tool_calls"].as_array()).flatten();
    let texts = calls.filter_map(|call| call["function"]["arguments"].as_str()).map(str::as_bytes);
    body::check_values(texts)
}

/// Parses a request's body, and returns it with the JSON text of its list of tools. A list that is in the cache is
/// not parsed, and missing in the returned body.
pub(crate) fn object(
    body: &[u8],
    shape: &dyn Shape,
    cache: &Cache,
) -> Result<(Map<String, Value>, Option<String>), Fault> {
    body::check_values(std::iter::once(body))?;
    // Other APIs convert their tools, so the text of these is not the list that is prepared.
    let apart = shape.passes_to().and_then(|_| body::object_and_tools(body));
    // An empty list is no list of tools: such a request may be passed through. Which deferred tools are listed depends on
    // the history, so their text alone finds no prepared list.
    let is_list = |tools: &str| {
        tools.strip_prefix('[').is_some_and(|rest| !rest.trim_start().starts_with(']')) && !tools.contains(DEFERRED)
    };
    match apart.filter(|(_, tools)| is_list(tools)) {
        Some((object, tools)) if cache.knows(tools) => Ok((object, Some(tools.to_owned()))),
        Some((_, tools)) => Ok((body::parse(body)?, Some(tools.to_owned()))),
        None => Ok((body::parse(body)?, None)),
    }
}

/// Returns `true` if the value of a field is present and neither null nor an empty list.
fn is_given(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => false,
        Some(Value::Array(list)) => !list.is_empty(),
        Some(_) => true,
    }
}

/// Returns the index of each tool in the list by name, without the tools to leave out. Of equal tools the first
/// counts; two that differ are an error.
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

/// Reads one entry of the request's list of tools; the returned flag is `true` if its schema is ignored because
/// nothing satisfies it.
fn tool(at: usize, mut item: Value) -> Result<(Tool, bool), Fault> {
    let place = |field: &str| format!("tools[{at}]{field}");
    match item["type"].as_str() {
        Some("function") => {}
        None if item.get("type").is_none() && item.is_object() => {}
        Some(other) => {
            let message = format!("tools of the type '{other}' are not known here: expected 'function'");
            return Err(Fault::field(place(".type"), message));
        }
        None => return Err(Fault::field(place(""), "a tool must be an object with 'type' and 'function'")),
    }
    let mut function = take_member(&mut item, "function");
    let Some(name) = function["name"].as_str().filter(|name| !name.trim().is_empty()) else {
        return Err(Fault::field(place(".function.name"), "a function needs a name"));
    };
    let mut tool = Tool::new(name);
    tool.deferred = is_deferred(&item);
    // A client that forwards the tools of MCP servers may forward their hints as well.
    tool.annotations = function.get("annotations").and_then(|hints| serde_json::from_value(hints.clone()).ok());
    match &function["description"] {
        Value::Null => {}
        Value::String(text) => tool = tool.with_description(text),
        _ => return Err(Fault::field(place(".function.description"), "a description must be a text")),
    }
    let mut set_aside = false;
    match take_member(&mut function, "parameters") {
        Value::Null => {}
        schema @ (Value::Object(_) | Value::Bool(_)) => {
            set_aside = fits_nothing(&schema, true);
            if !set_aside {
                tool = tool.with_schema(schema);
            }
        }
        _ => {
            return Err(Fault::field(
                place(".function.parameters"),
                "parameters must be a JSON Schema, which is an object",
            ));
        }
    }
    Ok((tool, set_aside))
}
