//! Tools, their catalog, the texts that are rendered from it, and the checks of calls.

use std::borrow::Cow;

use napi_derive::napi;
use serde_json::{Value, json};
use toolgraft::outcome::Neutraliser;
use toolgraft_bindings::ToolSet;

use crate::error::{Result, Settings, read, thrown, written};

/// Converts a tool in JSON to MCP's form with its server. Accepts MCP's form, and functions in requests to OpenAI,
/// Anthropic or Gemini.
#[napi]
pub fn tool(json: String) -> Result<String> {
    written(&toolgraft_bindings::tool(read(&json)?).map_err(thrown)?)
}

/// Returns a call in JSON, without repairs, as if the model had written it in this dialect. `arguments` is a JSON text.
#[napi]
pub fn call(tool: String, arguments: String, server: Option<String>, dialect: String) -> Result<String> {
    let dialect = toolgraft_bindings::word(&dialect).map_err(thrown)?;
    let mut call = toolgraft::Call::new(dialect, tool, read(&arguments)?);
    call.server = server;
    written(&call)
}

/// Throws unless the word is a status of a call, such as `result`.
#[napi]
pub fn status(word: String) -> Result<()> {
    toolgraft_bindings::word::<toolgraft::outcome::Status>(&word).map(drop).map_err(thrown)
}

/// A set of tools for parsers and prompts.
#[napi]
pub struct Catalog(pub(crate) ToolSet);

#[napi]
impl Catalog {
    /// Creates a catalog from a JSON array of tools, in the forms that `tool` accepts. Throws if one cannot be read.
    #[napi(constructor)]
    pub fn new(json: String) -> Result<Self> {
        let tools: Vec<Value> = read(&json)?;
        let tools = tools.into_iter().map(|tool| toolgraft_bindings::tools(tool).map_err(thrown));
        Ok(Catalog(ToolSet::new(tools.collect::<Result<Vec<_>>>()?.concat())))
    }

    /// Returns the catalog's tools as a JSON array, grouped by server.
    #[napi]
    pub fn tools(&self) -> Result<String> {
        written(&self.0.catalog.tools().collect::<Vec<_>>())
    }

    /// Returns the system text that teaches the model a call syntax and lists the tools. The settings are a JSON
    /// object.
    #[napi]
    pub fn render(&self, settings: String) -> Result<String> {
        let settings = Settings::new(&settings)?;
        let options = toolgraft_bindings::options(&settings.map).map_err(|mistake| settings.thrown(mistake))?;
        toolgraft_bindings::render(&self.0, options).map_err(thrown)
    }

    /// Returns the text of the user message that answers the calls of the model's last message. `told` is a JSON array
    /// of results and rejected calls; `request` is the user's request, which the message repeats; the settings are
    /// those of `render`.
    #[napi]
    pub fn results(&self, told: String, request: Option<String>, settings: String) -> Result<String> {
        let settings = Settings::new(&settings)?;
        let options = toolgraft_bindings::options(&settings.map).map_err(|mistake| settings.thrown(mistake))?;
        toolgraft_bindings::results(&self.0, read(&told)?, request.as_deref(), options).map_err(thrown)
    }

    /// Checks the arguments of a call in JSON against its tool's schema. Returns `{"call": …}` with arguments that the
    /// schema accepts, or `{"rejected": …}` with the reason, as JSON.
    #[napi]
    pub fn validate(&self, call: String) -> Result<String> {
        let call: toolgraft::Call = read(&call)?;
        written(&match self.0.validator.check(call, "") {
            Ok(call) => json!({ "call": call }),
            Err(rejected) => json!({ "rejected": rejected }),
        })
    }

    /// Returns the text with all syntax escaped that could be read as a call of the catalog's tools or a result; `null`
    /// if nothing had to be changed.
    #[napi]
    pub fn neutralise(&self, text: String) -> Option<String> {
        match Neutraliser::new(&self.0.catalog).neutralise(&text) {
            Cow::Borrowed(_) => None,
            Cow::Owned(safe) => Some(safe),
        }
    }
}
