//! Tools, the catalog of them, and what checks their calls.

use std::sync::Arc;

use serde_json::Value;
use toolgraft::event::{Assembled, Collector};
use toolgraft::validate::Validator;
use toolgraft::wire::{ToolDefinition, openai};
use toolgraft::{Catalog, Tool};

use crate::Mistake;

/// The tool of a value: of MCP's form (`name`, `inputSchema`, and `server` beside it), or of an
/// item of `tools` in a request to OpenAI.
///
/// # Errors
///
/// [`Mistake::Tool`] where it is none of both.
pub fn tool(value: Value) -> Result<Tool, Mistake> {
    let wrong = |error: serde_json::Error| Mistake::Tool(format!("not a tool: {error}"));
    if value.get("function").is_some_and(Value::is_object) && value.get("name").is_none() {
        let wired: openai::Tool = serde_json::from_value(value).map_err(wrong)?;
        let ToolDefinition { name, description, parameters, .. } = wired.into();
        return Ok(Tool::new(name).with_description(description).with_schema(parameters));
    }
    serde_json::from_value(value).map_err(wrong)
}

/// Tools that are known together. It is made once and used for many messages.
#[derive(Debug, Clone)]
pub struct Known {
    /// The tools.
    pub catalog: Arc<Catalog>,
    /// What checks calls of them.
    pub validator: Arc<Validator>,
}

impl Known {
    /// These tools.
    pub fn new(tools: Vec<Tool>) -> Self {
        let catalog = Arc::new(Catalog::from_tools(tools));
        Known { validator: Arc::new(Validator::new(Arc::clone(&catalog))), catalog }
    }

    /// The tools as a parser takes them: that none is known is not the same as an empty list.
    pub fn for_parser(&self) -> Option<Arc<Catalog>> {
        (!self.catalog.is_empty()).then(|| Arc::clone(&self.catalog))
    }
}

/// Checks what a message says.
pub(crate) fn check(validator: Option<&Validator>, collected: Collector) -> Assembled {
    let mut assembled = collected.finish();
    if let Some(validator) = validator {
        validator.check_all(&mut assembled);
    }
    assembled
}
