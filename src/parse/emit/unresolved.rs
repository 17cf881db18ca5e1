//! The content of a call's text, before anything is looked up.

use serde_json::{Map, Value};

use crate::event::{RejectedKind, Repair};
use crate::json::{NotJson, is_too_deep, read};

/// Content of a call's text, before its tool is looked up.
#[derive(Debug, Default)]
pub(crate) struct UnresolvedCall {
    pub(crate) server: Option<String>,
    pub(crate) tool: Option<String>,
    pub(crate) arguments: Value,
    pub(crate) raw_arguments: String,
    pub(crate) repairs: Vec<Repair>,
    /// Keys of the call's object that have no meaning; one that is a parameter of the tool may belong to the arguments.
    pub(crate) ignored_keys: Vec<String>,
    /// The fault of the call, if any.
    pub(crate) fault: Option<Fault>,
    /// `true` if the call's text continues, or may continue, after the offset at which it was ended.
    pub(crate) goes_on: bool,
    /// `true` if a sentence continues on the call's line: the text may only speak of the call.
    pub(crate) prose_follows: bool,
    /// `true` if the final arguments do not continue the streamed deltas.
    pub(crate) restated: bool,
}

impl UnresolvedCall {
    /// Creates a call with its server and tool, as far as they are known.
    pub(crate) fn of((server, tool): (Option<String>, Option<String>)) -> Self {
        UnresolvedCall { server, tool, ..UnresolvedCall::default() }
    }

    /// Returns the call's server and tool, as far as they are known.
    pub(crate) fn called(&self) -> (Option<String>, Option<String>) {
        (self.server.clone(), self.tool.clone())
    }

    /// Adds a repair to the call, unless it has it already.
    pub(crate) fn note(&mut self, repair: Repair) {
        repair.note(&mut self.repairs);
    }

    /// Reads the arguments from `json`, as which the text `written` was understood. Returns the length of the prefix of
    /// `json` that needed no repair; `None` if they cannot be read, with the fault set.
    pub(crate) fn take_json(&mut self, written: &str, json: &str, max_depth: usize) -> Option<usize> {
        written.clone_into(&mut self.raw_arguments);
        if is_too_deep(json, max_depth) {
            self.fault = Some(Fault::too_deep(max_depth));
            return None;
        }
        match read(json) {
            Ok(found) => {
                self.arguments = found.value;
                self.repairs.extend(found.repairs);
                Some(found.unchanged)
            }
            Err(error) => {
                self.fault = Some(Fault::not_json(&error));
                None
            }
        }
    }

    /// Removes all of `keys` from the object, and returns the value of the first one that was there. A key other
    /// than `keys[0]` is a repair; values that differ are a fault.
    pub(crate) fn take(&mut self, object: &mut Map<String, Value>, keys: &[String]) -> Option<Value> {
        let mut taken: Option<(&str, Value)> = None;
        for key in keys {
            let Some(value) = remove(object, key) else { continue };
            if *key != keys[0] {
                self.repairs.push(Repair::KeyAlias(key.clone()));
            }
            match &taken {
                None => taken = Some((key, value)),
                Some((_, first)) if *first == value => {}
                Some((first, _)) => {
                    self.fault.get_or_insert(Fault::disagree(first, key));
                }
            }
        }
        taken.map(|(_, value)| value)
    }
}

/// Returns `true` if the object has this key.
///
/// The objects of calls have few keys, and comparing those costs less than hashing one of the many keys that are asked
/// for.
pub(crate) fn holds(object: &Map<String, Value>, key: &str) -> bool {
    object.keys().any(|own| own == key)
}

/// Removes a member from an object and returns its value, comparing keys as [`holds`] does.
fn remove(object: &mut Map<String, Value>, key: &str) -> Option<Value> {
    let mut removed = None;
    object.retain(|own, value| {
        let stays = own != key;
        if !stays {
            removed = Some(value.take());
        }
        stays
    });
    removed
}

/// The reason why a call cannot be read.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    pub(crate) kind: RejectedKind,
    pub(crate) message: String,
}

impl Fault {
    pub(crate) fn malformed(message: impl Into<String>) -> Self {
        Fault { kind: RejectedKind::Malformed, message: message.into() }
    }

    pub(crate) fn not_json(error: &NotJson) -> Self {
        Fault::malformed(format!("the arguments are not valid JSON: {error}"))
    }

    /// Returns the fault of two keys that mean the same and have different values.
    pub(crate) fn disagree(first: &str, second: &str) -> Self {
        Fault::malformed(format!("`{first}` and `{second}` mean the same and have different values"))
    }

    pub(crate) fn truncated(message: impl Into<String>) -> Self {
        Fault { kind: RejectedKind::Truncated, message: message.into() }
    }

    pub(crate) fn too_deep(max_depth: usize) -> Self {
        Fault::limit(format!("JSON may be nested {max_depth} deep; this is deeper"))
    }

    pub(crate) fn limit(message: impl Into<String>) -> Self {
        Fault { kind: RejectedKind::Limit, message: message.into() }
    }
}
