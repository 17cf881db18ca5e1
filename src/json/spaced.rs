//! JSON on one line with a space after each colon and comma, as models write it: without them a small model under a
//! grammar gets fewer values right (docs/prompt.md).

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// Returns a value as JSON on one line with a space after each colon and comma; members keep their order.
pub(crate) fn spaced(value: &impl Serialize) -> String {
    let mut text = Vec::new();
    // Writing to memory does not fail, and a value's keys are strings.
    let _ = value.serialize(&mut Serializer::with_formatter(&mut text, Spaced));
    String::from_utf8_lossy(&text).into_owned()
}

struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn only_what_parts_members_and_items_has_a_space() {
        let value = json!({"a": [1, "x, y: z", {}], "b": {"c": null}, "d": []});
        assert_eq!(spaced(&value), r#"{"a": [1, "x, y: z", {}], "b": {"c": null}, "d": []}"#);
        assert_eq!(serde_json::from_str::<Value>(&spaced(&value)).unwrap(), value);
    }
}
