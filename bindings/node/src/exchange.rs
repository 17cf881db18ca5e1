//! Requests of a client with tools, answered by the exchange of `toolgraft serve` without HTTP.

use napi_derive::napi;
use toolgraft_bindings::{Mistake, embedded, placed, turn};
use toolgraft_protocol::{Adapter, Embedded, Refusal};

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

    /// Begins a turn: the exchange for the body of a request to Chat Completions, in JSON.
    #[napi]
    pub fn turn(&self, body: String) -> Result<Exchange> {
        turn(&self.0, &body).map(Exchange).map_err(thrown)
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

    /// Returns the text of the answer so far.
    #[napi]
    pub fn content(&self) -> String {
        self.0.content()
    }

    /// Returns the reasoning so far.
    #[napi]
    pub fn reasoning(&self) -> String {
        self.0.reasoning().to_owned()
    }

    /// Returns a message about an answer that is not what was requested.
    #[napi]
    pub fn problem(&self) -> Option<String> {
        self.0.problem().map(str::to_owned)
    }
}
