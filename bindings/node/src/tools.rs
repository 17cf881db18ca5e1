//! Tools, their catalog, the texts that are rendered from it, and the checks of calls.

use std::borrow::Cow;

use napi_derive::napi;
use serde_json::{Value, json};
use toolgraft::outcome::Neutraliser;
use toolgraft_bindings::ToolSet;

use crate::error::{Result, Settings, read, thrown, written};

/// Converts a tool from any accepted form to MCP's form with its server.
#[napi]
pub fn tool(json: String) -> Result<String> {
    written(&toolgraft_bindings::tool(read(&json)?).map_err(thrown)?)
}

/// Returns a call as a parser would report it, without repairs.
#[napi]
pub fn call(tool: String, arguments: String, server: Option<String>, dialect: String) -> Result<String> {
    let dialect = toolgraft_bindings::word(&dialect).map_err(thrown)?;
    let mut call = toolgraft::Call::new(dialect, tool, read(&arguments)?);
    call.server = server;
    written(&call)
}

/// Checks that a word is a status of a call.
#[napi]
pub fn status(word: String) -> Result<()> {
    toolgraft_bindings::word::<toolgraft::outcome::Status>(&word).map(drop).map_err(thrown)
}

/// A set of tools.
#[napi]
pub struct Catalog(pub(crate) ToolSet);

#[napi]
impl Catalog {
    /// Creates a catalog from tools in a JSON array.
    #[napi(constructor)]
    pub fn new(json: String) -> Result<Self> {
        let tools: Vec<Value> = read(&json)?;
        let tools = tools.into_iter().map(|tool| toolgraft_bindings::tools(tool).map_err(thrown));
        Ok(Catalog(ToolSet::new(tools.collect::<Result<Vec<_>>>()?.concat())))
    }

    /// Returns the tools, server by server, in JSON.
    #[napi]
    pub fn tools(&self) -> Result<String> {
        written(&self.0.catalog.tools().collect::<Vec<_>>())
    }

    /// Renders the system text.
    #[napi]
    pub fn render(&self, settings: String) -> Result<String> {
        let settings = Settings::new(&settings)?;
        let options = toolgraft_bindings::options(&settings.map).map_err(|mistake| settings.thrown(mistake))?;
        toolgraft_bindings::render(&self.0, options).map_err(thrown)
    }

    /// Renders the message with results.
    #[napi]
    pub fn results(&self, told: String, request: Option<String>, settings: String) -> Result<String> {
        let settings = Settings::new(&settings)?;
        let options = toolgraft_bindings::options(&settings.map).map_err(|mistake| settings.thrown(mistake))?;
        toolgraft_bindings::results(&self.0, read(&told)?, request.as_deref(), options).map_err(thrown)
    }

    /// Returns `{"call": …}` with arguments that the schema accepts, or `{"rejected": …}`.
    #[napi]
    pub fn validate(&self, call: String) -> Result<String> {
        let call: toolgraft::Call = read(&call)?;
        written(&match self.0.validator.check(call, "") {
            Ok(call) => json!({ "call": call }),
            Err(rejected) => json!({ "rejected": rejected }),
        })
    }

    /// Defuses syntax in a text that could be read as a call or a result. Returns `null` if nothing
    /// had to be changed.
    #[napi]
    pub fn neutralise(&self, text: String) -> Option<String> {
        match Neutraliser::new(&self.0.catalog).neutralise(&text) {
            Cow::Borrowed(_) => None,
            Cow::Owned(safe) => Some(safe),
        }
    }
}
