//! Members of JSON values whose form nobody has checked. Writing to `value["key"]` panics where the
//! value is no object, and a client or an endpoint may send any value.

use serde_json::Value;

/// Takes a member out of an object and leaves `null` in its place. Returns `null` where there is no
/// such member, or the value is no object.
pub fn take_member(value: &mut Value, key: &str) -> Value {
    value.get_mut(key).map(Value::take).unwrap_or_default()
}

/// Sets a member of an object. A value that is no object stays as it is.
pub fn set_member(value: &mut Value, key: &str, member: impl Into<Value>) {
    if let Value::Object(object) = value {
        object.insert(key.to_owned(), member.into());
    }
}
