//! Access to members of unchecked JSON values. Writing to `value["key"]` panics if the value is not an object, and a
//! client or an endpoint may send any value.

use serde_json::Value;

/// Removes the value of a member from an object, leaving `null`, and returns it. Returns `null` if there is no such
/// member, or if the value is not an object.
pub fn take_member(value: &mut Value, key: &str) -> Value {
    value.get_mut(key).map(Value::take).unwrap_or_default()
}

/// Sets a member of an object. A value that is not an object is unchanged.
pub fn set_member(value: &mut Value, key: &str, member: impl Into<Value>) {
    if let Value::Object(object) = value {
        object.insert(key.to_owned(), member.into());
    }
}
