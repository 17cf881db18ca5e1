//! Places in the arguments: JSON Pointers.

use serde_json::Value;

/// Returns `true` if the value at a JSON Pointer is an item of an array; for the whole value, returns `root`.
pub(super) fn is_item(value: &Value, path: &str, root: bool) -> bool {
    match path.rsplit_once('/') {
        Some((parent, _)) => value.pointer(parent).is_some_and(Value::is_array),
        None => root,
    }
}

/// Returns a JSON Pointer and the pointers to all enclosing values.
pub(super) fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| path.rsplit_once('/').map(|(parent, _)| parent))
}

/// Returns the JSON Pointer to the object that contains a member, and the member's key; `None` for the whole value.
pub(super) fn around(path: &str) -> Option<(&str, String)> {
    let (parent, key) = path.rsplit_once('/')?;
    Some((parent, key.replace("~1", "/").replace("~0", "~")))
}

/// Returns the JSON Pointer to an object's member.
pub(super) fn member(place: &str, key: &str) -> String {
    format!("{place}/{}", key.replace('~', "~0").replace('/', "~1"))
}
