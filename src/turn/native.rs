//! Reads calls from an endpoint's own field (`tool_calls`) like any other call.
//!
//! The input is a name and the text of the arguments; the output is a call or the reason why it must not run. The name
//! is looked up as a name in requests, or otherwise as a model wrote it; the arguments are repaired as in a call in
//! text, and the same limits apply. The call is not written as text to be parsed again.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::dialect::{ByName, Dialect, named_by_element, write_call, write_tool_call};
use crate::event::{Call, Provenance, Rejected, RejectedKind, Repair};
use crate::json::outside;
use crate::message::NativeCall;
use crate::parse::{FoundValue, Limits, read_value};
use crate::tools::{ACCESS_RESOURCE, Catalog};
use crate::wire::{Names, ToolDefinition};

/// Reader of native calls, which an endpoint reports in its field `tool_calls`, for the tools of one catalog.
pub(super) struct Natives {
    catalog: Arc<Catalog>,
    names: Names,
    limits: Limits,
    /// Dialect that the prompt teaches.
    dialect: Dialect,
}

/// Native call after its name and arguments were read.
#[derive(Debug)]
pub(super) struct NativeRead {
    /// Native call as the endpoint reported it.
    pub(super) native: NativeCall,
    /// Call that was read, or the reason why it must not run.
    pub(super) result: Result<Call, Rejected>,
    /// Text of the call in the prompt's dialect, for a history in text.
    pub(super) raw: String,
}

/// Tool that the name in a native call refers to.
struct Target {
    server: Option<String>,
    tool: String,
    /// Repair that was needed to find the tool, if the name is not the one in requests.
    repair: Option<Repair>,
}

impl Natives {
    pub(super) fn new(dialect: Dialect, limits: Limits, catalog: &Arc<Catalog>) -> Self {
        let names = Names::new(catalog);
        Natives { catalog: catalog.clone(), names, limits, dialect }
    }

    /// Returns the definitions of all tools for a request that carries them.
    pub(super) fn definitions(&self) -> Vec<ToolDefinition> {
        ToolDefinition::all(&self.catalog)
    }

    /// Returns `true` if there is no tool to offer.
    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Reads a native call: finds its tool and parses its arguments.
    pub(super) fn read(&self, native: NativeCall) -> NativeRead {
        let arguments = match native.arguments.trim() {
            // Endpoints send an empty text if there are no arguments.
            "" => "{}",
            text => text,
        };
        let name = native.name.trim();
        // A model that was taught an element in text may call the element's name, with the call in the arguments.
        let inner = self.by_element(name, arguments);
        let (server, name, arguments) = match &inner {
            Some((inner, arguments)) => (inner.server.as_deref(), inner.tool.as_str(), arguments.as_str()),
            None => (None, name, arguments),
        };
        let target = self.target(server, name);
        let (server, tool) = match &target {
            Ok(found) => (found.server.clone(), found.tool.clone()),
            Err(_) => (server.map(str::to_owned), name.to_owned()),
        };
        let result = self.arguments(arguments).and_then(|value| {
            let mut call = self.call(value, target?, arguments);
            call.repairs.extend(inner.as_ref().map(|_| Repair::NameMatched(native.name.trim().to_owned())));
            Ok(call)
        });
        let raw = match &result {
            Ok(call) => self.written(call.server.as_deref(), &call.tool, arguments, Some(&call.arguments)),
            Err(_) => self.written(server.as_deref(), &tool, arguments, serde_json::from_str(arguments).ok().as_ref()),
        };
        let tool = Some(tool).filter(|tool| !tool.is_empty());
        let result = result.map_err(|rejected| Rejected { server, tool, raw: raw.clone(), ..rejected });
        NativeRead { native, result, raw }
    }

    /// Returns the call inside the arguments of a native call that has the name of an XML element, such as
    /// `use_mcp_tool`, with the text of its own arguments; `None` for any other call.
    fn by_element(&self, name: &str, arguments: &str) -> Option<(ByName, String)> {
        let inner = named_by_element(name, &self.arguments(arguments).ok()?.value, Some(&self.catalog))?;
        // A call under its own name is read by the caller.
        if inner.tool == name {
            return None;
        }
        let arguments = match &inner.arguments {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        Some((inner, arguments))
    }

    /// Returns the server and tool that a name refers to: first as a name in requests, then as the model wrote it.
    fn target(&self, server: Option<&str>, name: &str) -> Result<Target, Rejected> {
        // A call inside an element names its server apart, so its tool is no name of the request.
        if let Some((server, tool)) = self.names.find(name).filter(|_| server.is_none()) {
            return Ok(Target { server: server.map(str::to_owned), tool: tool.to_owned(), repair: None });
        }
        if name.is_empty() {
            return Err(self.rejected(RejectedKind::Malformed, "the call does not name a tool"));
        }
        match self.catalog.resolve(server, name) {
            Ok(found) => Ok(Target {
                server: found.tool.server.clone(),
                tool: found.tool.name.clone(),
                repair: found.name_matched.then(|| Repair::NameMatched(name.to_owned())),
            }),
            Err(error) => {
                let rejected = self.rejected(RejectedKind::UnknownTool, error.to_string());
                Err(Rejected { nearest: error.nearest, ..rejected })
            }
        }
    }

    /// Creates the rejection of a native call; the caller adds the call's name and text.
    fn rejected(&self, kind: RejectedKind, message: impl Into<String>) -> Rejected {
        Rejected::new(kind, self.dialect, "", message)
    }

    fn arguments(&self, text: &str) -> Result<FoundValue, Rejected> {
        let Limits { call_bytes, depth, .. } = self.limits;
        if text.len() > call_bytes {
            let message = format!("a call may have {call_bytes} bytes; its arguments alone have {}", text.len());
            return Err(self.rejected(RejectedKind::Limit, message));
        }
        if is_deeper(text, depth) {
            let message = format!("JSON may be nested {depth} deep; this is deeper");
            return Err(self.rejected(RejectedKind::Limit, message));
        }
        read_value(text).map_err(|error| {
            // The model stopped inside the arguments, or the endpoint cut them off.
            let kind = if error.unfinished { RejectedKind::Truncated } else { RejectedKind::Malformed };
            self.rejected(kind, format!("the arguments are not valid JSON: {}", error.message))
        })
    }

    fn call(&self, value: FoundValue, target: Target, arguments: &str) -> Call {
        let Target { mut server, tool, repair } = target;
        let mut arguments_value = value.value;
        if tool == ACCESS_RESOURCE
            && let Value::Object(object) = &mut arguments_value
            && let Some(named) = object.shift_remove("server_name")
        {
            // The single function for the resources of all servers has the server's name in its arguments.
            server = named.as_str().map(str::to_owned).or(server);
        }
        Call {
            server,
            tool,
            arguments: arguments_value,
            raw_arguments: arguments.to_owned(),
            dialect: self.dialect,
            repairs: value.repairs.into_iter().chain(repair).collect(),
            provenance: Provenance::Plain,
        }
    }

    /// Returns the text, in the prompt's dialect, of a call that was constrained to JSON: a history in two syntaxes
    /// would teach neither.
    pub(super) fn taught(&self, call: &Call) -> String {
        self.written(call.server.as_deref(), &call.tool, &call.raw_arguments, Some(&call.arguments))
    }

    /// Returns a call as text of the prompt's dialect, with its arguments verbatim if the dialect contains JSON, so
    /// that the model reads what it wrote.
    fn written(&self, server: Option<&str>, tool: &str, arguments: &str, read: Option<&Value>) -> String {
        // The access to a resource is an element with the URI as text in this dialect, not JSON.
        let is_verbatim = self.dialect == Dialect::UseMcpTool && tool != ACCESS_RESOURCE;
        if !is_verbatim && let Some(object) = read.and_then(Value::as_object) {
            return self.with_arguments(server, tool, object);
        }
        let empty = self.with_arguments(server, tool, &Map::new());
        // In a dialect without JSON, unreadable arguments go before the closing tag.
        match (empty.rfind("{}"), empty.rfind("</")) {
            (Some(at), _) => format!("{}{arguments}{}", &empty[..at], &empty[at + 2..]),
            (None, Some(at)) => format!("{}{arguments}\n{}", &empty[..at], &empty[at..]),
            (None, None) => empty,
        }
    }

    fn with_arguments(&self, server: Option<&str>, tool: &str, arguments: &Map<String, Value>) -> String {
        match self.catalog.resolve(server, tool) {
            Ok(found) => write_tool_call(self.dialect, &self.catalog, found.tool, arguments),
            Err(_) => write_call(self.dialect, server, tool, arguments),
        }
    }
}

/// Returns `true` if the brackets of a JSON text are nested deeper than `most`; those in strings do not count.
fn is_deeper(text: &str, most: usize) -> bool {
    let mut depth = 0_usize;
    outside(text).any(|(_, byte)| {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > most
    })
}

#[cfg(test)]
mod tests;
