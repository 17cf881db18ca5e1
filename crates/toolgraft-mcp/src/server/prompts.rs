//! Prompts of servers: texts that the user chooses and sends to the model.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::content;
use toolgraft::message::Role;

/// A prompt that a server offers to users.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct McpPrompt {
    /// The server's name in the configuration.
    pub server: String,
    /// Name of the prompt, unique on its server.
    pub name: String,
    /// Description of the prompt by the server. Untrusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The arguments of the prompt, in the server's order.
    #[serde(deserialize_with = "list_or_null")]
    pub arguments: Vec<PromptArgument>,
}

/// An argument of a [`McpPrompt`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct PromptArgument {
    /// Name of the argument.
    pub name: String,
    /// Description of the argument by the server. Untrusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// `true` if the prompt requires the argument.
    pub required: bool,
}

/// A message of a server's prompt with its arguments filled in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PromptMessage {
    /// The role of the message's author: user or assistant.
    pub role: Role,
    /// The text of the message. Content of another kind is replaced by a note.
    pub text: String,
    /// The URI of the resource that the text is read from, so that the text is data and not the user's; `None` if the
    /// message has its own text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
}

fn list_or_null<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<PromptArgument>, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Returns the messages in a result of `prompts/get`; `None` if it has no array of them.
pub(super) fn messages(result: &Value) -> Option<Vec<PromptMessage>> {
    let messages = result.get("messages")?.as_array()?;
    let message = |message: &Value| PromptMessage {
        role: match message.get("role").and_then(Value::as_str) {
            Some("assistant") => Role::Assistant,
            // MCP knows only these two roles.
            _ => Role::User,
        },
        text: message.get("content").map(content::block).unwrap_or_default(),
        resource: message.get("content").and_then(content::resource_uri).map(str::to_owned),
    };
    Some(messages.iter().map(message).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_are_read_with_their_roles() {
        let result = json!({"messages": [
            {"role": "user", "content": {"type": "text", "text": "Plan my day"}},
            {"role": "assistant", "content": {"type": "image", "mimeType": "image/png", "data": "QUJD"}},
        ]});
        let said = messages(&result).unwrap();
        assert_eq!(said[0], PromptMessage { role: Role::User, text: "Plan my day".to_owned(), resource: None });
        assert_eq!(said[1].role, Role::Assistant);
        assert!(said[1].text.starts_with("[image image/png"), "{said:?}");
        assert_eq!(messages(&json!({})), None);
    }

    #[test]
    fn arguments_may_be_null_or_missing() {
        for entry in [json!({"name": "x", "arguments": null}), json!({"name": "x"})] {
            assert_eq!(serde_json::from_value::<McpPrompt>(entry).unwrap().arguments, []);
        }
    }
}
