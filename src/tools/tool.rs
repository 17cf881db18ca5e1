//! Tools, resources and resource templates as MCP servers describe them.
//!
//! The JSON forms are those of MCP's `tools/list`, `resources/list` and
//! `resources/templates/list` (camel case), with the server's name added.
//! Unknown fields are ignored; a schema is kept verbatim.

mod definition;
mod example;
#[cfg(feature = "prompt")]
mod nature;

pub use definition::Definition;
#[cfg(feature = "validate")]
pub(crate) use example::example_value;
#[cfg(feature = "prompt")]
pub(crate) use nature::is_destructive;
#[cfg(feature = "agent")]
pub(crate) use nature::{changes_nothing, lists, looks_up, may_change};

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::schema;
use crate::message::{keyword_enum, setters};

/// Name of the tool in calls that read a resource of a server.
pub const ACCESS_RESOURCE: &str = "access_mcp_resource";

/// A tool that a model may call.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Tool {
    /// Server that offers the tool; `None` for tools that need no server name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Name of the tool, unique within its server.
    pub name: String,
    /// Name of the tool to show to users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The server's description of the tool. Untrusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// JSON Schema of the tool's arguments, verbatim; `None` accepts any object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_schema: Option<Value>,
    /// JSON Schema of the tool's structured result, verbatim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Hints of the server about the tool. Untrusted: they may only tighten a policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// `true` if calls of this tool run nothing: their arguments are shown to the user in addition to the text. The
    /// program sets it; a server cannot.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub display_only: bool,
    /// `true` if the tool is listed only when the conversation suggests it, provided that the model can find it
    /// otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deferred: bool,
    /// Example questions with the calls that answer them, for prompts that show examples; if empty, the schema's
    /// examples are used. Untrusted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<ToolExample>,
}

/// A question as a user asks it, and the call of a tool that answers it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolExample {
    /// Question as a user asks it.
    pub question: String,
    /// Arguments of the call. All their values occur in the question.
    #[serde(default)]
    pub arguments: Map<String, Value>,
    /// Result of the tool for these arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Answer to the user's question, given the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
}

impl ToolExample {
    /// Creates an example from a question and the arguments of the call that answers it.
    pub fn new(question: impl Into<String>, arguments: Map<String, Value>) -> Self {
        ToolExample { question: question.into(), arguments, ..ToolExample::default() }
    }

    /// Sets the tool's result and the answer to the user.
    #[must_use]
    pub fn answered(mut self, result: impl Into<String>, answer: impl Into<String>) -> Self {
        (self.result, self.answer) = (Some(result.into()), Some(answer.into()));
        self
    }
}

/// A server's hints about one of its tools; `None` means unknown.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Annotations {
    /// `true` if the tool changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// `true` if the tool may destroy something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// `true` if repeated calls with equal arguments have the same effect as one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// `true` if the tool interacts with external entities, such as the web.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

setters!(
    Annotations,
    with_read_only_hint => read_only_hint: Option<bool>,
    with_destructive_hint => destructive_hint: Option<bool>,
    with_idempotent_hint => idempotent_hint: Option<bool>,
    with_open_world_hint => open_world_hint: Option<bool>
);

/// One parameter of a tool: an entry of its schema's `properties`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Parameter<'a> {
    /// Name of the property.
    pub name: &'a str,
    /// Schema of the property, verbatim.
    pub schema: &'a Value,
    /// `true` if the schema's `required` names it.
    pub required: bool,
}

impl Tool {
    /// Returns `true` if the tool is marked read-only by its server, which may be wrong.
    pub fn is_read_only(&self) -> bool {
        self.annotations.as_ref().and_then(|hints| hints.read_only_hint) == Some(true)
    }

    /// Creates a tool with only a name.
    pub fn new(name: impl Into<String>) -> Self {
        Tool { name: name.into(), ..Tool::default() }
    }

    /// Sets the name of the tool's server.
    #[must_use]
    pub fn with_server(mut self, server: impl Into<String>) -> Self {
        self.server = Some(server.into());
        self
    }

    /// Sets the description of the tool.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the JSON Schema of the tool's arguments.
    #[must_use]
    pub fn with_schema(mut self, schema: Value) -> Self {
        self.input_schema = Some(schema);
        self
    }

    /// Sets the schema of the tool's arguments to that of a type, and the tool's description to the type's doc comment,
    /// each unless it is set already.
    #[cfg(feature = "typed")]
    #[must_use]
    pub fn with_arguments_of<A: schemars::JsonSchema>(mut self) -> Self {
        let mut schema =
            schemars::generate::SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<A>();
        // The name of a type tells a model nothing, and endpoints refuse `$schema` with the draft's URI.
        schema.remove("$schema");
        schema.remove("title");
        let description = schema.remove("description");
        if self.description.is_none() {
            self.description = description.and_then(|text| text.as_str().map(str::to_owned));
        }
        self.input_schema.get_or_insert_with(|| schema.into());
        self
    }

    /// Adds an example: a question and the call of the tool that answers it.
    #[must_use]
    pub fn with_example(mut self, example: ToolExample) -> Self {
        self.examples.push(example);
        self
    }

    /// Marks the tool as [display-only](Tool::display_only).
    #[must_use]
    pub fn display_only(mut self) -> Self {
        self.display_only = true;
        self
    }

    /// Returns `true` if the tool's schema has a parameter of this name.
    pub(crate) fn has_parameter(&self, name: &str) -> bool {
        self.input_schema.as_ref().is_some_and(|root| schema::property(root, name).is_some())
    }

    /// Returns the tool's parameters in the order of its schema; none if the schema has no `properties`.
    pub fn parameters(&self) -> impl Iterator<Item = Parameter<'_>> {
        self.input_schema.iter().flat_map(|root| {
            schema::properties(root).map(|(name, schema)| Parameter {
                name,
                schema,
                required: schema::required(root).any(|required| required == name),
            })
        })
    }
}

/// A resource of a server, which a model can read by its URI.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Resource {
    /// URI of the resource.
    pub uri: String,
    /// Name of the resource; may be empty.
    #[serde(default)]
    pub name: String,
    /// The server's description of the resource. Untrusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Media type of the resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
}

impl Resource {
    /// Creates a resource with only a URI.
    pub fn new(uri: impl Into<String>) -> Self {
        Resource { uri: uri.into(), ..Resource::default() }
    }
}

setters!(
    Resource,
    with_name => name: String, with_description => description: Option<String>,
    with_mime_type => mime_type: Option<String>
);

/// A family of resources: a URI with `{placeholders}` (RFC 6570).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceTemplate {
    /// URI template of the resources (RFC 6570).
    pub uri_template: String,
    /// Name of the family of resources; may be empty.
    #[serde(default)]
    pub name: String,
    /// The server's description of the resources. Untrusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Media type of the resources, if it is the same for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
}

impl ResourceTemplate {
    /// Creates a family of resources with only a URI template.
    pub fn new(uri_template: impl Into<String>) -> Self {
        ResourceTemplate { uri_template: uri_template.into(), ..ResourceTemplate::default() }
    }
}

setters!(
    ResourceTemplate,
    with_name => name: String, with_description => description: Option<String>,
    with_mime_type => mime_type: Option<String>
);

/// The way in which tools are offered to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolsMode {
    /// Tools are offered in the request if the model's profile or the endpoint supports it, otherwise in the prompt.
    Auto,
    /// Tools are offered in the request, to an endpoint with native tool calling.
    Native,
    /// Tools are described in the prompt, and calls are read from the model's text.
    #[default]
    Prompt,
}

keyword_enum!(ToolsMode, "a way to offer tools",
    "auto" => ToolsMode::Auto, "native" => ToolsMode::Native, "prompt" => ToolsMode::Prompt);

/// The rule for the model's next message: it may, must or must not call a tool.
#[derive(Debug, Clone, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model decides whether to call a tool.
    #[default]
    Auto,
    /// The model must not call a tool.
    None,
    /// The model must make at least one call, of any tool.
    Required,
    /// The model must call this tool, given as its name or as `server.tool`.
    Named(String),
}

impl ToolChoice {
    /// Returns `true` if this tool choice allows a call of the tool.
    pub fn admits(&self, server: Option<&str>, tool: &str) -> bool {
        match self {
            ToolChoice::Auto | ToolChoice::Required => true,
            ToolChoice::None => false,
            ToolChoice::Named(name) => {
                name == tool
                    || server.is_some_and(|s| name.strip_prefix(s).and_then(|n| n.strip_prefix('.')) == Some(tool))
            }
        }
    }

    /// Returns the tool choice for the rest of a turn after a call was made: no further call is required.
    #[must_use]
    pub fn after_first_call(&self) -> ToolChoice {
        match self {
            ToolChoice::None => ToolChoice::None,
            _ => ToolChoice::Auto,
        }
    }
}

/// Parses `auto`, `none` and `required`; any other text is the name of a tool.
impl FromStr for ToolChoice {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text {
            "auto" => ToolChoice::Auto,
            "none" => ToolChoice::None,
            "required" => ToolChoice::Required,
            name => ToolChoice::Named(name.to_owned()),
        })
    }
}

impl fmt::Display for ToolChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            ToolChoice::Auto => "auto",
            ToolChoice::None => "none",
            ToolChoice::Required => "required",
            ToolChoice::Named(name) => name,
        })
    }
}
