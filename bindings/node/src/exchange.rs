//! Requests of a client with tools, answered by the exchange of `toolgraft serve` without HTTP.

use napi_derive::napi;
use toolgraft_bindings::{Mistake, embedded, placed, turn};
use toolgraft_protocol::{Adapter, Embedded, Refusal};

use crate::error::{Result, Settings, thrown};

fn refused(refusal: Refusal) -> napi::Error<String> {
    thrown(Mistake::Tool(placed(&refusal)))
}

/// A converter of requests with tools for models without tool calling. It holds the settings that all its exchanges
/// share.
#[napi]
pub struct Exchanges(Embedded);

#[napi]
impl Exchanges {
    /// Creates a converter with these settings, a JSON object. Throws for an unknown setting or an invalid value.
    #[napi(constructor)]
    pub fn new(settings: String) -> Result<Self> {
        let mut settings = Settings::new(&settings)?;
        let map = std::mem::take(&mut settings.map);
        embedded(map).map(Exchanges).map_err(|mistake| settings.thrown(mistake))
    }

    /// Begins the exchange for a request to Chat Completions with this body, a JSON text. Throws if the request cannot
    /// be answered.
    #[napi]
    pub fn turn(&self, body: String) -> Result<Exchange> {
        turn(&self.0, &body).map(Exchange).map_err(thrown)
    }
}

/// The exchange for one request of a client. The caller sends the body that `request` returns to the endpoint, and
/// passes the endpoint's answer to `push` and then `end`. These return text for the client.
#[napi]
pub struct Exchange(Adapter);

#[napi]
impl Exchange {
    /// Returns the body of the next request to the endpoint as a JSON text, once, or `null` if there is nothing to send
    /// now.
    #[napi]
    pub fn request(&mut self) -> Option<String> {
        self.0.request().map(|body| body.to_string())
    }

    /// Reads one chunk of the endpoint's stream, a JSON text, and returns the text for the client, which may be empty.
    #[napi]
    pub fn push(&mut self, chunk: String) -> Result<String> {
        self.0.push(&chunk).map_err(refused)
    }

    /// Reports that the endpoint's answer has ended, and returns the text for the client. Afterwards `request` may
    /// return a further body.
    #[napi]
    pub fn end(&mut self) -> Result<String> {
        self.0.end().map_err(refused)
    }

    /// Returns `true` while more of the endpoint's current answer is expected. If it becomes `false` early, the answer
    /// can be cancelled.
    #[napi]
    pub fn is_streaming(&self) -> bool {
        self.0.is_streaming()
    }

    /// Returns the text of the answer so far, for a client that gets a stream.
    #[napi]
    pub fn content(&self) -> String {
        self.0.content()
    }

    /// Returns the reasoning of the answer so far, for a client that gets a stream.
    #[napi]
    pub fn reasoning(&self) -> String {
        self.0.reasoning().to_owned()
    }

    /// Returns a message for the user if the answer failed or is not what the client requested; otherwise `null`.
    #[napi]
    pub fn problem(&self) -> Option<String> {
        self.0.problem().map(str::to_owned)
    }
}
