//! Places in the arguments: JSON Pointers.

use serde_json::Value;

/// Whether an array holds the value at a path; `root` says it of the whole value.
pub(super) fn is_item(value: &Value, path: &str, root: bool) -> bool {
    match path.rsplit_once('/') {
        Some((parent, _)) => value.pointer(parent).is_some_and(Value::is_array),
        None => root,
    }
}

/// A path and those of everything around its value.
pub(super) fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| path.rsplit_once('/').map(|(parent, _)| parent))
}

/// The path of the object around a member, and the member's key.
pub(super) fn around(path: &str) -> Option<(&str, String)> {
    let (parent, key) = path.rsplit_once('/')?;
    Some((parent, key.replace("~1", "/").replace("~0", "~")))
}

/// The place of an object's member.
pub(super) fn member(place: &str, key: &str) -> String {
    format!("{place}/{}", key.replace('~', "~0").replace('/', "~1"))
}
