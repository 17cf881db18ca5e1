//! The stored form of a history: a version and entries.

use std::borrow::Cow;
use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::history::{Conversation, HistoryEntry};

/// The latest version of a stored conversation that is read: the one with images. A conversation without images is
/// stored as version 1, which older programs read.
pub const CONVERSATION_VERSION: u32 = 2;

/// A conversation in its serialized form.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "typed", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "typed", schemars(rename = "Conversation"))]
struct StoredConversation<'a> {
    /// Version of the serialized form: 1, or 2 if the conversation contains images.
    // It is written first, so that a newer one is reported before its entries fail to parse.
    #[serde(deserialize_with = "readable")]
    version: u32,
    /// Entries of the conversation, oldest first.
    entries: Cow<'a, [HistoryEntry]>,
}

fn readable<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    match u32::deserialize(deserializer)? {
        found @ ..=CONVERSATION_VERSION => Ok(found),
        found => Err(D::Error::custom(format_args!(
            "a conversation of version {found} cannot be read here, only up to version {CONVERSATION_VERSION}: read it \
             with a newer version of this program"
        ))),
    }
}

impl Serialize for Conversation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let version = if self.entries().iter().any(HistoryEntry::has_images) { CONVERSATION_VERSION } else { 1 };
        StoredConversation { version, entries: self.entries().into() }.serialize(serializer)
    }
}

#[cfg(feature = "typed")]
impl schemars::JsonSchema for Conversation {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        StoredConversation::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        StoredConversation::json_schema(generator)
    }
}

impl<'de> Deserialize<'de> for Conversation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ConversationVisitor)
    }
}

/// Visitor that deserializes a conversation from an object only: a derived `Deserialize` would accept a list of the
/// members' values, too.
struct ConversationVisitor;

impl<'de> Visitor<'de> for ConversationVisitor {
    type Value = Conversation;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a conversation: an object with `version` and `entries`")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Conversation, A::Error> {
        let stored = StoredConversation::deserialize(MapAccessDeserializer::new(map))?;
        Conversation::try_from(stored.entries.into_owned()).map_err(A::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::conversation::User;
    use crate::message::Image;

    fn read(value: serde_json::Value) -> Result<Conversation, String> {
        serde_json::from_value(value).map_err(|error| error.to_string())
    }

    #[test]
    fn a_stored_conversation_carries_its_version() {
        let conversation = Conversation::from_user("Hi");
        let stored = serde_json::to_value(&conversation).unwrap();
        assert_eq!(stored, json!({"version": 1, "entries": [{"type": "user", "text": "Hi"}]}));
        assert_eq!(read(stored).unwrap(), conversation);
    }

    #[test]
    fn images_are_stored_in_a_version_that_older_programs_refuse() {
        let image = Image::new(b"GIF89a").unwrap().with_name("dot.gif");
        let conversation = Conversation::from_user(User::new("Look").with_image(image));
        let stored = serde_json::to_value(&conversation).unwrap();
        let image = json!({"name": "dot.gif", "media_type": "image/gif", "data": "R0lGODlh"});
        assert_eq!(stored, json!({"version": 2, "entries": [{"type": "user", "text": "Look", "images": [image]}]}));
        assert_eq!(read(stored).unwrap(), conversation);
    }

    #[test]
    fn a_newer_one_is_refused_by_its_version_and_not_by_what_it_holds() {
        let error = read(json!({"version": 3, "entries": [{"type": "hologram"}]})).unwrap_err();
        assert!(error.contains("version 3") && error.contains("up to version 2") && error.contains("newer"), "{error}");
        let error = read(json!({"entries": []})).unwrap_err();
        assert!(error.contains("`version`"), "{error}");
        let error = read(json!({"version": 1})).unwrap_err();
        assert!(error.contains("`entries`"), "{error}");
        for other in [json!("Hi"), json!([]), json!([1, []]), json!([{"type": "user", "text": "Hi"}])] {
            let error = read(other).unwrap_err();
            assert!(error.contains("expected a conversation"), "{error}");
        }
        let members = json!({"later": [1], "version": 1, "entries": []});
        assert_eq!(read(members).unwrap(), Conversation::new());
    }
}
