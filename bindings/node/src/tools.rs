//! Tools, the catalog of them, the texts that are made of it, and what is checked by it.

use std::borrow::Cow;

use napi_derive::napi;
use serde_json::{Value, json};
use toolgraft::outcome::Neutraliser;
use toolgraft_bindings::Known;

use crate::error::{Result, Settings, read, thrown, written};

/// The tool of a description in either form, in MCP's form with its server.
#[napi]
pub fn tool(json: String) -> Result<String> {
    written(&toolgraft_bindings::tool(read(&json)?).map_err(thrown)?)
}

/// A call as if a model had written it without a mistake: dialect, and the call's own fields.
#[napi]
pub fn call(tool: String, arguments: String, server: Option<String>, dialect: String) -> Result<String> {
    let dialect = toolgraft_bindings::word(&dialect).map_err(thrown)?;
    let mut call = toolgraft::Call::new(dialect, tool, read(&arguments)?);
    call.server = server;
    written(&call)
}

/// Whether a word says how a call ended.
#[napi]
pub fn status(word: String) -> Result<()> {
    toolgraft_bindings::word::<toolgraft::outcome::Status>(&word).map(drop).map_err(thrown)
}

/// Tools that are known together.
#[napi]
pub struct Catalog(pub(crate) Known);

#[napi]
impl Catalog {
    /// A catalog of tools in a JSON array.
    #[napi(constructor)]
    pub fn new(json: String) -> Result<Self> {
        let tools: Vec<Value> = read(&json)?;
        let tools = tools.into_iter().map(|tool| toolgraft_bindings::tool(tool).map_err(thrown));
        Ok(Catalog(Known::new(tools.collect::<Result<_>>()?)))
    }

    /// The tools, server by server, in JSON.
    #[napi]
    pub fn tools(&self) -> Result<String> {
        written(&self.0.catalog.tools().collect::<Vec<_>>())
    }

    /// What is wrong with schemas that cannot be used.
    #[napi]
    pub fn problems(&self) -> Vec<String> {
        self.0.validator.problems().iter().map(ToString::to_string).collect()
    }

    /// The system text.
    #[napi]
    pub fn render(&self, settings: String) -> Result<String> {
        let settings = Settings::new(&settings)?;
        let options = toolgraft_bindings::options(&settings.map).map_err(|mistake| settings.thrown(mistake))?;
        toolgraft_bindings::render(&self.0, options).map_err(thrown)
    }

    /// The message that carries results.
    #[napi]
    pub fn results(&self, told: String, request: Option<String>, settings: String) -> Result<String> {
        let settings = Settings::new(&settings)?;
        let options = toolgraft_bindings::options(&settings.map).map_err(|mistake| settings.thrown(mistake))?;
        toolgraft_bindings::results(&self.0, read(&told)?, request.as_deref(), options).map_err(thrown)
    }

    /// `{"call": …}` with arguments that the schema accepts, or `{"rejected": …}`.
    #[napi]
    pub fn validate(&self, call: String) -> Result<String> {
        let call: toolgraft::Call = read(&call)?;
        written(&match self.0.validator.check(call, "") {
            Ok(call) => json!({ "call": call }),
            Err(rejected) => json!({ "rejected": rejected }),
        })
    }

    /// The text with nothing in it that is taken for a call or a result; nothing where it is as it was.
    #[napi]
    pub fn neutralise(&self, text: String) -> Option<String> {
        match Neutraliser::new(&self.0.catalog).neutralise(&text) {
            Cow::Borrowed(_) => None,
            Cow::Owned(safe) => Some(safe),
        }
    }
}
