//! The world that a job's tools act on: tables, files, a repository and a clock, in memory.
//!
//! Nothing outside of this module is read or changed. The tools of the invented sets are
//! operations on tables, which the data names; those of the official servers are in `servers`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::servers::{Clock, Repository, filesystem};

/// The simulated data of a job that calls can read or change.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct World {
    /// File contents by path. A path that ends with `/` is an empty directory.
    pub(super) files: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) git: Option<Repository>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) clock: Option<Clock>,
    /// Rows by id, for each table by its name.
    pub(super) tables: BTreeMap<String, BTreeMap<String, Map<String, Value>>>,
}

/// An operation of a tool on a table (`in`). Arguments and results name the id of a row by `key`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Operation {
    /// Returns the rows that match every argument.
    Find {
        r#in: String,
        key: String,
        /// Names of the row fields that the result contains.
        show: Vec<String>,
        /// Maps argument names to the row fields that they are compared with, if the names differ.
        #[serde(default)]
        r#match: BTreeMap<String, String>,
        /// Maps argument names to numeric row fields whose value must not exceed the argument.
        #[serde(default)]
        at_most: BTreeMap<String, String>,
    },
    /// Returns one row, or its fields in `show`.
    Get { r#in: String, key: String, show: Option<Vec<String>> },
    /// Adds the arguments as a new row; `next` is the first id to try.
    Add { r#in: String, key: String, next: String },
    /// Sets fields of a row: from the arguments, then those in `with`.
    Set {
        r#in: String,
        key: String,
        #[serde(default)]
        with: Map<String, Value>,
        /// Maps argument names to the row fields that they set, if the names differ.
        #[serde(default)]
        fields: BTreeMap<String, String>,
    },
    /// Removes a row and returns it.
    Remove { r#in: String, key: String },
}

impl World {
    /// Runs a call of a tool. `operation` is the table operation that the data declares for the tool; without one, the
    /// tool belongs to a simulated official server.
    ///
    /// # Errors
    /// The error message that the model gets instead of a result.
    pub(super) fn call(
        &mut self,
        tool: &str,
        operation: Option<&Operation>,
        arguments: &Map<String, Value>,
    ) -> Result<String, String> {
        match (operation, &mut self.git, &self.clock) {
            (Some(operation), _, _) => self.on_table(operation, arguments),
            (None, Some(git), _) if tool.starts_with("git_") => git.call(tool, arguments),
            (None, _, Some(clock)) if tool.ends_with("_time") => clock.call(tool, arguments),
            _ => filesystem(&mut self.files, tool, arguments),
        }
    }

    /// Returns the world as JSON, for comparisons.
    pub(super) fn as_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn on_table(&mut self, operation: &Operation, arguments: &Map<String, Value>) -> Result<String, String> {
        let (Operation::Find { r#in, key, .. }
        | Operation::Get { r#in, key, .. }
        | Operation::Add { r#in, key, .. }
        | Operation::Set { r#in, key, .. }
        | Operation::Remove { r#in, key }) = operation;
        let rows = self.tables.entry(r#in.clone()).or_default();
        let id = arguments.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let missing = || format!("there is no {key} {id:?}");
        let shown = match operation {
            Operation::Find { show, r#match, at_most, .. } => {
                let is_in = |row: &Map<String, Value>, (name, wanted): (&String, &Value)| match at_most.get(name) {
                    Some(field) => {
                        let found = row.get(field).and_then(Value::as_f64);
                        found.zip(wanted.as_f64()).is_some_and(|(found, most)| found <= most)
                    }
                    None => row.get(r#match.get(name).unwrap_or(name)).is_some_and(|found| holds(found, wanted)),
                };
                let found = rows.iter().filter(|(_, row)| arguments.iter().all(|argument| is_in(row, argument)));
                found.map(|(id, row)| with_id(key, id, row, Some(show))).collect()
            }
            Operation::Get { show, .. } => with_id(key, &id, rows.get(&id).ok_or_else(missing)?, show.as_deref()),
            Operation::Add { next, .. } => {
                let id = unused(next, |id| rows.contains_key(id));
                rows.insert(id.clone(), arguments.clone());
                with_id(key, &id, arguments, None)
            }
            Operation::Set { with, fields, .. } => {
                let row = rows.get_mut(&id).ok_or_else(missing)?;
                let set = arguments.iter().filter(|(name, _)| *name != key);
                let set = set.map(|(name, value)| (fields.get(name).unwrap_or(name), value)).chain(with);
                row.extend(set.map(|(name, value)| (name.clone(), value.clone())));
                with_id(key, &id, row, None)
            }
            Operation::Remove { .. } => with_id(key, &id, &rows.remove(&id).ok_or_else(missing)?, None),
        };
        Ok(shown.to_string())
    }
}

/// Returns a row as JSON: its id as member `key` first, then its fields, or only those in `show`.
fn with_id(key: &str, id: &str, row: &Map<String, Value>, show: Option<&[String]>) -> Value {
    let fields = row.iter().filter(|(name, _)| show.is_none_or(|show| show.contains(name)));
    let fields = fields.map(|(name, value)| (name.clone(), value.clone()));
    Value::Object(std::iter::once((key.to_owned(), Value::from(id))).chain(fields).collect())
}

/// Returns `true` if a row's field matches an argument: equal values, or a text that contains every word of the
/// argument, without regard to case and a plural `s`.
fn holds(found: &Value, wanted: &Value) -> bool {
    match (found, wanted) {
        (Value::String(found), Value::String(wanted)) => {
            let found = found.to_lowercase();
            // A plural finds its singular: `invoices` is asked for, and the row has `invoice`.
            wanted.to_lowercase().split_whitespace().all(|word| found.contains(word.trim_end_matches('s')))
        }
        _ => found == wanted,
    }
}

/// Returns the first unused id counting up from `next`, such as `T-7`, then `T-8`.
fn unused(next: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let (prefix, number) = next.rsplit_once('-').unwrap_or((next, "1"));
    let first: u32 = number.parse().unwrap_or(1);
    let mut ids = (first..).map(|number| format!("{prefix}-{number}"));
    ids.find(|id| !is_taken(id)).unwrap_or_else(|| next.to_owned())
}

/// Applies a JSON merge patch (RFC 7386): objects are merged member by member, `null` removes a member.
pub(super) fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else { return target.clone_from(patch) };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(target) = target else { return };
    for (name, value) in patch {
        match value {
            Value::Null => drop(target.remove(name)),
            value => merge(target.entry(name.clone()).or_insert(Value::Null), value),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn world() -> World {
        let rows = json!({"tables": {"orders": {
            "O-1": {"customer": "Mara Lindt", "total": 30, "status": "open"},
            "O-2": {"customer": "Jonas Weber", "total": 8.5, "status": "sent"},
        }}});
        serde_json::from_value(rows).unwrap()
    }

    fn run(world: &mut World, operation: &Value, arguments: Value) -> Result<Value, String> {
        let operation = serde_json::from_value(operation.clone()).unwrap();
        let text = world.call("tool", Some(&operation), arguments.as_object().unwrap())?;
        Ok(serde_json::from_str(&text).unwrap())
    }

    #[test]
    fn rows_are_found_by_words_and_numbers_and_show_only_what_they_may() {
        let find = json!({"op": "find", "in": "orders", "key": "order_id", "show": ["status"],
            "match": {"name": "customer"}, "at_most": {"most": "total"}});
        let mut world = world();
        let first = json!([{"order_id": "O-1", "status": "open"}]);
        assert_eq!(run(&mut world, &find, json!({"name": "lindt mara"})).unwrap(), first);
        assert_eq!(run(&mut world, &find, json!({"most": 30, "status": "open"})).unwrap(), first);
        assert_eq!(run(&mut world, &find, json!({"most": 5})).unwrap(), json!([]));
        let untold =
            json!({"op": "find", "in": "orders", "key": "order_id", "show": [], "at_most": {"most": "weight"}});
        assert_eq!(run(&mut world, &untold, json!({"most": 5})).unwrap(), json!([]), "no row has a weight");
        assert_eq!(run(&mut world, &find, json!({})).unwrap().as_array().unwrap().len(), 2);
    }

    #[test]
    fn rows_are_added_changed_and_removed() {
        let mut world = world();
        let add = json!({"op": "add", "in": "orders", "key": "order_id", "next": "O-2"});
        assert_eq!(run(&mut world, &add, json!({"total": 1})).unwrap(), json!({"order_id": "O-3", "total": 1}));
        let set = json!({"op": "set", "in": "orders", "key": "order_id", "with": {"status": "sent"}, "fields": {"n": "total"}});
        let changed = run(&mut world, &set, json!({"order_id": "O-3", "n": 2})).unwrap();
        assert_eq!(changed, json!({"order_id": "O-3", "total": 2, "status": "sent"}));
        let before = world.clone();
        assert_eq!(run(&mut world, &set, json!({"order_id": "O-9"})).unwrap_err(), r#"there is no order_id "O-9""#);
        assert_eq!(world, before);
        let remove = json!({"op": "remove", "in": "orders", "key": "order_id"});
        run(&mut world, &remove, json!({"order_id": "O-3"})).unwrap();
        let get = json!({"op": "get", "in": "orders", "key": "order_id"});
        assert!(run(&mut world, &get, json!({"order_id": "O-3"})).is_err());
        assert_eq!(run(&mut world, &get, json!({"order_id": "O-2"})).unwrap()["total"], 8.5);
    }

    #[test]
    fn a_patch_changes_members_and_removes_those_that_are_null() {
        let mut value = json!({"a": {"b": 1, "c": 2}, "d": 3});
        merge(&mut value, &json!({"a": {"b": null, "e": {"f": 4}}, "d": [5]}));
        assert_eq!(value, json!({"a": {"c": 2, "e": {"f": 4}}, "d": [5]}));
    }
}
