//! The table of client interfaces, and which of them a path belongs to.

use super::chat::Chat;
use super::gemini::Gemini;
use super::messages::Messages;
use super::ollama::Ollama;
use super::responses::Responses;
use super::shape::Shape;

/// Path prefix of Ollama's interface.
pub const OLLAMA_PATHS: &str = "/api/";

/// HTTP header in which Google's clients send their API key.
pub const GOOGLE_KEY: &str = "x-goog-api-key";

/// A client API in which all requests for an answer go to one path.
pub struct Interface {
    /// URL path of the API's requests for an answer.
    pub path: &'static str,
    /// Name of the API in the metrics and the log.
    pub name: &'static str,
    shape: &'static dyn Shape,
}

/// All client APIs whose requests for an answer go to one path. Errors at or below that path are in the format of the
/// API.
pub const INTERFACES: &[Interface] = &[
    Interface { path: "/v1/chat/completions", name: "chat_completions", shape: &Chat },
    Interface { path: "/v1/messages", name: "messages", shape: &Messages },
    Interface { path: "/v1/responses", name: "responses", shape: &Responses },
    Interface { path: "/api/chat", name: "ollama_chat", shape: &Ollama::Chat },
    Interface { path: "/api/generate", name: "ollama_generate", shape: &Ollama::Generate },
    #[cfg(test)]
    Interface { path: "/small", name: "small", shape: &crate::tests::Small },
];

/// Returns the API format in which the client of a request to this path reads errors and lists of models.
/// `has_header` returns `true` if the request has a header of that name.
pub fn shape_of(is_post: bool, path: &str, has_header: impl Fn(&str) -> bool) -> &'static dyn Shape {
    // Clients that add the version to a base URL that has one.
    let path = path.strip_prefix("/v1").filter(|_| is_doubled(path)).unwrap_or(path);
    if let Some(interface) = INTERFACES.iter().find(|interface| path.starts_with(interface.path)) {
        return interface.shape;
    }
    // Below `/v1/models/` Google's clients POST requests for answers, and OpenAI's clients GET a
    // model.
    if path.starts_with("/v1beta/") || is_post && path.starts_with("/v1/models/") {
        return &Gemini;
    }
    let is_models = path.starts_with("/v1/models");
    match path.starts_with(OLLAMA_PATHS) {
        true => &Ollama::Chat,
        false if is_models && has_header("anthropic-version") => &Messages,
        false if is_models && has_header(GOOGLE_KEY) => &Gemini,
        false => &Chat,
    }
}

/// Returns `true` if a path begins with two of the prefixes that clients add to their base URL.
pub fn is_doubled(path: &str) -> bool {
    let mut begin = path.split('/').skip(1).map(|segment| matches!(segment, "v1" | "v1beta" | "api"));
    begin.next() == Some(true) && begin.next() == Some(true)
}
