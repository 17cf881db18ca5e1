//! One JSON object that is a call: which of its members say what.
//!
//! ```text
//!   {"name": "f", "arguments": {…}}   {"function": {…}}   {"name": "f", "a": 1}   {"f": {"a": 1}}
//!    tool         arguments            both                a flat one              keyed
//! ```
//!
//! The same reader serves an object after a marker and one that nothing announces; the latter is read strictly, since
//! it may be any object. An object that is no call is reported in both ways: as a fault of the call, or as the reason
//! why it is text.

use std::fmt::Display;

use serde_json::{Map, Value};

use super::fit::{fits, is_definition, take_flat, unwrap_function};
use crate::dialect::{ACTION, CallKeys, FUNCTION, IDLE};
use crate::event::Repair;
use crate::parse::emit::not_a_call::NotACallReason;
use crate::parse::emit::unresolved::{UnresolvedCall, holds};
use crate::parse::tables::Tables;

/// Reader of a JSON object that is a call, with the rules by which it is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallObject<'t> {
    pub(crate) keys: &'static CallKeys,
    pub(crate) tables: &'t Tables,
    /// `Some` if nothing announces the object: it must then have a known tool's name, and only keys of a call.
    pub(crate) strict: Option<Further>,
}

/// Properties of the calls before an object that nothing announces.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Further {
    /// `true` if there are calls before the object: an unknown tool's name in it is a mistake, and no sign of text.
    pub(crate) any: bool,
    /// `true` if in the calls before the object the tools' names are keys.
    pub(crate) keyed: bool,
    /// `true` if the object is no entry of a list and no call precedes it: a tool's name without arguments then calls
    /// the tool.
    pub(crate) alone: bool,
}

/// Position of the arguments in a call object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArgumentsPlace {
    /// The arguments are the value of this key.
    Under(&'static str),
    /// The arguments are members beside the tool's name.
    Flat,
    /// The arguments are the value of a key that is the tool's name.
    Keyed,
    /// The object has no arguments.
    Absent,
}

impl ArgumentsPlace {
    /// Sets the text of the call's arguments: to `written` if that is known, else to their JSON; empty without any.
    pub(crate) fn write(self, call: &mut UnresolvedCall, written: Option<&str>) {
        match written {
            Some(text) => text.clone_into(&mut call.raw_arguments),
            None if self == ArgumentsPlace::Absent => call.raw_arguments.clear(),
            None => call.raw_arguments = call.arguments.to_string(),
        }
    }
}

/// Reason why an object is no call: why it is text, and the message for a rejected call.
#[derive(Debug)]
pub(crate) struct NotCall {
    pub(crate) reason: NotACallReason,
    pub(crate) message: String,
}

fn no_call<T>(reason: NotACallReason, message: impl Into<String>) -> Result<T, NotCall> {
    Err(NotCall { reason, message: message.into() })
}

impl CallObject<'_> {
    /// Reads tool, server and arguments into `call`, out of the object that it has as its arguments. Returns their
    /// position in the object; their text is for the caller to set ([`ArgumentsPlace::write`]).
    pub(crate) fn take(self, call: &mut UnresolvedCall) -> Result<ArgumentsPlace, NotCall> {
        let Value::Object(mut object) = call.arguments.take() else {
            return no_call(NotACallReason::Damaged, "a call is a JSON object");
        };
        if self.take_keyed(&object, call)? {
            return Ok(ArgumentsPlace::Keyed);
        }
        let names = || self.keys.tool.iter().filter_map(|key| object.get(key)).filter(|name| name.is_string());
        // After a marker, another word beside the name is ignored (`hermes/function_beside_the_name`).
        let is_idle = |function: &Value| {
            self.strict.is_none()
                && function.is_string()
                && names().next().is_some()
                && names().all(|name| name != function)
        };
        // A text under a key that names the tool is that name.
        let wraps = |key: &&str, value: &Value| {
            value.is_object() || !(is_idle(value) || self.keys.tool.iter().any(|known| known == key))
        };
        let wrapper = FUNCTION.into_iter().find(|key| object.get(*key).is_some_and(|value| wraps(key, value)));
        if let Some(wrapper) = wrapper {
            call.fault = unwrap_function(&mut object, wrapper, &self.keys.tool[0]);
        }
        let under = self.keys.arguments.iter().find(|key| holds(&object, key));
        let mut held = under.map_or(ArgumentsPlace::Absent, |key| ArgumentsPlace::Under(key));
        let tool = call.take(&mut object, &self.keys.tool);
        let action = [self.keys.tool[0].clone(), ACTION.to_owned()];
        let tool = tool.or_else(|| call.take(&mut object, &action));
        // Whether the tool's own parameters are beside its name is known by its schema only
        // (`hermes/flat`, `hermes/flat_with_another_key`).
        let known = || self.tables.named_tool(tool.as_ref()?.as_str()?.trim());
        let arguments = match take_flat(&mut object, known, self.keys) {
            Some(flat) => {
                call.repairs.push(Repair::FlatArguments);
                held = ArgumentsPlace::Flat;
                Some(Value::Object(flat))
            }
            None => None,
        };
        let server = call.take(&mut object, &self.keys.server);
        let arguments = arguments.or_else(|| call.take(&mut object, &self.keys.arguments));
        if arguments.as_ref().is_some_and(|arguments| is_definition(arguments, known)) {
            return self.defines();
        }
        let (tool_key, arguments_key) = (&self.keys.tool[0], &self.keys.arguments[0]);
        let unnamed = || format!("`{tool_key}` is missing");
        let name = match &tool {
            None => return no_call(NotACallReason::Incomplete, unnamed()),
            Some(Value::String(name)) if !name.trim().is_empty() => name.trim(),
            // `hermes/name_is_no_text`
            Some(_) => return no_call(NotACallReason::UnknownTool, format!("`{tool_key}` is not a text")),
        };
        object.retain(|key, _| !IDLE.contains(&key.as_str()));
        let foreign = || self.has_foreign(object.keys());
        match self.strict {
            Some(further) if !further.any && !self.tables.names.knows(name) => {
                return no_call(NotACallReason::UnknownTool, unnamed());
            }
            // A name alone calls a tool only as the whole message (`json/no_arguments_and_another`).
            Some(further) if arguments.is_none() && !(further.alone && object.is_empty()) => {
                return no_call(NotACallReason::Incomplete, format!("`{arguments_key}` is missing"));
            }
            Some(_) if !object.is_empty() => return foreign(),
            // The other keys may be the arguments, but do not fit the tool (`hermes/flat_with_another_key`).
            None if call.fault.is_none() && arguments.is_none() && !object.is_empty() => return foreign(),
            _ => {}
        }
        call.tool = Some(name.to_owned());
        call.server = server.and_then(|server| server.as_str().map(|server| server.trim().to_owned()));
        call.server.take_if(|server| server.is_empty());
        call.repairs.extend(object.keys().map(|key| Repair::Other(format!("ignored_key:{key}"))));
        call.ignored_keys.extend(object.keys().cloned());
        call.arguments = arguments.unwrap_or_else(|| Value::Object(Map::new()));
        Ok(held)
    }

    fn defines<T>(&self) -> Result<T, NotCall> {
        let arguments = &self.keys.arguments[0];
        let message = format!("there is a schema in `{arguments}`: it defines the tool and does not call it");
        no_call(NotACallReason::Definition, message)
    }

    fn has_foreign<T>(&self, keys: impl IntoIterator<Item = impl Display>) -> Result<T, NotCall> {
        let found: Vec<_> = keys.into_iter().map(|key| format!("`{key}`")).collect();
        let (found, arguments) = (found.join(", "), &self.keys.arguments[0]);
        no_call(
            NotACallReason::ForeignKey,
            format!("{found} found beside the tool's name: arguments belong in `{arguments}`"),
        )
    }

    /// Reads an object whose only key is its tool's name, as Apertus writes it (`hermes/name_as_key`), into `call`;
    /// returns `false` if it is no such object. The first call of a message that nothing announces must be of a known
    /// tool, and its arguments must fit that.
    fn take_keyed(self, object: &Map<String, Value>, call: &mut UnresolvedCall) -> Result<bool, NotCall> {
        let mut members = object.iter();
        let (Some((name, value)), None) = (members.next(), members.next()) else { return Ok(false) };
        let arguments = match value {
            Value::Object(arguments) => Some(arguments.clone()),
            Value::String(text) => serde_json::from_str(text).ok(),
            _ => None,
        };
        let is_own = || self.keys.all().any(|known| known == name);
        let Some(arguments) = arguments.filter(|_| !is_own()) else { return Ok(false) };
        let known = self.tables.named_tool(name);
        match (known, self.strict) {
            (None, None) => return Ok(false),
            _ if is_definition(value, || known) => return self.defines(),
            (Some(_), None) => {}
            (Some(tool), Some(further)) if self.tables.names.knows(name) => {
                if !further.any && (tool.input_schema.is_none() || !fits(tool, &arguments)) {
                    return self.has_foreign([name]);
                }
            }
            (_, Some(further)) if further.keyed => {}
            _ => return no_call(NotACallReason::UnknownTool, format!("`{}` is missing", self.keys.tool[0])),
        }
        call.tool = Some(name.to_owned());
        call.arguments = value.clone();
        Ok(true)
    }
}
