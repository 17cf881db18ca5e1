//! Requests of a client with tools, answered by the exchange of `toolgraft serve` without HTTP.

use napi_derive::napi;
use toolgraft_bindings::{Mistake, embedded, placed};
use toolgraft_serve::{Adapter, Embedded, Refusal};

use crate::error::{Result, Settings, thrown};

fn refused(refusal: Refusal) -> napi::Error<String> {
    thrown(Mistake::Tool(placed(&refusal)))
}

/// The exchanges of a client's requests, and what they share.
#[napi]
pub struct Exchanges(Embedded);

#[napi]
impl Exchanges {
    /// Creates them with settings in JSON.
    #[napi(constructor)]
    pub fn new(settings: String) -> Result<Self> {
        let mut settings = Settings::new(&settings)?;
        let map = std::mem::take(&mut settings.map);
        embedded(map).map(Exchanges).map_err(|mistake| settings.thrown(mistake))
    }

    /// Begins the exchange for the body of a request to Chat Completions, in JSON.
    #[napi]
    pub fn begin(&self, body: String) -> Result<Option<Exchange>> {
        let begun = self.0.begin("/v1/chat/completions", body.as_bytes(), false);
        Ok(begun.map_err(refused)?.map(Exchange))
    }
}

/// One request of a client on its way. The caller sends what `request` returns, and gives the answer to `push` and
/// `end`, which return events for the client.
#[napi]
pub struct Exchange(Adapter);

#[napi]
impl Exchange {
    /// Returns the body to send now, as JSON.
    #[napi]
    pub fn request(&mut self) -> Option<String> {
        self.0.request().map(|body| body.to_string())
    }

    /// Takes a chunk of the endpoint's stream, in JSON.
    #[napi]
    pub fn push(&mut self, chunk: String) -> Result<String> {
        self.0.push(&chunk).map_err(refused)
    }

    /// Ends an answer of the endpoint.
    #[napi]
    pub fn end(&mut self) -> Result<String> {
        self.0.end().map_err(refused)
    }

    /// Returns `true` while more of the endpoint's answer is wanted.
    #[napi]
    pub fn is_streaming(&self) -> bool {
        self.0.is_streaming()
    }

    /// Returns a message about an answer that is not what was requested.
    #[napi]
    pub fn problem(&self) -> Option<String> {
        self.0.problem().map(str::to_owned)
    }
}
