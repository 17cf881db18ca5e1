//! Tools, their catalog, and the checks of their calls.

use std::sync::Arc;

use serde_json::Value;
use toolgraft::event::{Assembled, Collector};
use toolgraft::validate::{OutputSchema, Validator};
use toolgraft::wire::{json_schema, parameters, set_member, take_member};
use toolgraft::{Catalog, Tool};

use crate::Mistake;

/// Names of the member with the JSON Schema of a tool's arguments: in Anthropic's API, in OpenAI's and Gemini's, and in
/// both spellings of Gemini's second form.
const SCHEMAS: [&str; 4] = ["input_schema", "parameters", "parametersJsonSchema", "parameters_json_schema"];

/// Reads a tool in MCP's form (`name`, `inputSchema`, and also `server`), or in the form of a
/// function in a request to OpenAI, Anthropic or Gemini.
///
/// # Errors
///
/// [`Mistake::Tool`] if the value has none of these forms, if the tool runs at a vendor's service, or if its schema is
/// not usable.
pub fn tool(mut value: Value) -> Result<Tool, Mistake> {
    let is_nested = value.get("function").is_some_and(Value::is_object) && value.get("name").is_none();
    // Anthropic's form of a function may have a type of its own (`custom`).
    let kind = value["type"].as_str().filter(|kind| *kind != "function" && value.get("input_schema").is_none());
    if let Some(kind) = kind {
        return Err(Mistake::Tool(format!("not a function: a tool of the type '{kind}' runs at the vendor's service")));
    }
    if is_nested {
        value = take_member(&mut value, "function");
    }
    if value.get("inputSchema").is_none() {
        let schema = SCHEMAS.iter().map(|name| take_member(&mut value, name)).find(|schema| !schema.is_null());
        // Gemini's own schema dialect has other type names, which no value would match.
        let schema = schema.map(|schema| if schema["type"] == "OBJECT" { json_schema(&schema) } else { schema });
        if let Some(schema) = schema.or_else(|| is_nested.then(|| parameters(None))) {
            set_member(&mut value, "inputSchema", schema);
        }
    }
    if let Some(object) = value.as_object().filter(|object| !object.contains_key("name")) {
        let members = Vec::from_iter(object.keys().map(String::as_str)).join(", ");
        return Err(Mistake::Tool(format!("not a tool: it has no 'name', only: {members}")));
    }
    checked(serde_json::from_value(value).map_err(|error| Mistake::Tool(format!("not a tool: {error}")))?)
}

/// Returns the tool unchanged if the JSON Schema of its arguments can be used.
///
/// # Errors
///
/// [`Mistake::Tool`] if the schema cannot be used; the message names the place in it.
pub fn checked(tool: Tool) -> Result<Tool, Mistake> {
    let wrong = tool.input_schema.clone().and_then(|schema| OutputSchema::new(schema).err());
    match wrong {
        None => Ok(tool),
        Some(wrong) => Err(Mistake::Tool(format!(
            "the schema of the tool '{}' is not usable: {}; without a schema any object is accepted",
            tool.name, wrong.message
        ))),
    }
}

/// Reads an element of a list of tools: one [`tool`], or the functions that an element of Gemini's list declares.
///
/// # Errors
///
/// As for [`tool`].
pub fn tools(mut value: Value) -> Result<Vec<Tool>, Mistake> {
    let declared = ["functionDeclarations", "function_declarations"].map(|name| take_member(&mut value, name));
    match declared.into_iter().find(Value::is_array) {
        Some(Value::Array(functions)) => functions.into_iter().map(tool).collect(),
        _ => Ok(vec![tool(value)?]),
    }
}

/// A set of tools, prepared once for many messages.
#[derive(Debug, Clone)]
pub struct ToolSet {
    /// Catalog of the tools.
    pub catalog: Arc<Catalog>,
    /// Validator of the arguments of calls of these tools.
    pub validator: Arc<Validator>,
}

impl ToolSet {
    /// Creates a set of these tools, with their catalog and validator.
    pub fn new(tools: Vec<Tool>) -> Self {
        let catalog = Arc::new(Catalog::from_tools(tools));
        ToolSet { validator: Arc::new(Validator::new(Arc::clone(&catalog))), catalog }
    }

    /// Returns the catalog of the tools for a parser; `None` if there are no tools, since an empty catalog would mean
    /// that every name is unknown.
    pub fn for_parser(&self) -> Option<Arc<Catalog>> {
        (!self.catalog.is_empty()).then(|| Arc::clone(&self.catalog))
    }
}

/// Returns the collected message, with its calls checked if there is a validator.
pub(crate) fn check(validator: Option<&Validator>, collected: Collector) -> Assembled {
    let mut assembled = collected.finish();
    if let Some(validator) = validator {
        validator.check_all(&mut assembled);
    }
    assembled
}
