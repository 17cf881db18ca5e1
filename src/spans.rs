//! `tracing` spans of an agent and of the server, by OpenTelemetry's conventions for generative AI.
//!
//! Nothing is collected here: a program that sets a subscriber of `tracing` gets the spans, and without one they cost
//! nothing. Their target is `toolgraft`. The conventions are still in development; those of 2026 are followed.
//!
//! | span | name of the exported span | what it is |
//! |---|---|---|
//! | `invoke_agent` | `invoke_agent` | a turn of an agent, a request of the server |
//! | `chat` | `chat MODEL` | a request to the model, its retries included |
//! | `execute_tool` | `execute_tool TOOL` | a call of a tool |
//!
//! An irregularity is an event in its span: `retry` (in `chat`), `correction` (in `invoke_agent`) and `respawn` (in
//! `execute_tool`: the server was started again for the call).
//!
//! No span and no event contains a text of a conversation, an argument, a result, a key, a header or an error's
//! message. They contain names of models, tools and servers, the host and port of the endpoint, counts, and kinds of
//! errors. Dependencies of this crate have spans and events of their own, which may contain bodies: a subscriber of
//! more than the target `toolgraft` gets those, too.
//!
//! # Traces across programs
//!
//! Only the exporter knows the identifiers of a span in a trace. [`propagate`] registers it: then requests to the model
//! have a `traceparent`, calls of MCP servers have it in their `_meta`, and the server uses that of its clients as the
//! parent of their spans. Without it the server passes a client's `traceparent` on to the model unchanged.

use std::sync::OnceLock;

use tracing::field::{Empty, display};

pub use tracing::Span;

use crate::message::{FinishReason, Usage};

/// Connects the tracing spans of this program with those of other programs. An implementation for
/// `tracing-opentelemetry` takes a dozen lines; see `examples/otlp`.
pub trait Propagation: Send + Sync + 'static {
    /// Returns the HTTP headers that identify this span to another program: `traceparent`, `tracestate`.
    fn inject(&self, span: &Span) -> Vec<(String, String)>;

    /// Sets the parent of this span to the span that these request headers identify. The span was just created and has
    /// not been entered.
    fn extract(&self, span: &Span, headers: &[(String, String)]);
}

static PROPAGATION: OnceLock<Box<dyn Propagation>> = OnceLock::new();

/// Registers the propagation of this process, once, like the subscriber of `tracing`. Returns `false` if one is
/// registered already, which remains in use.
pub fn propagate(propagation: impl Propagation) -> bool {
    PROPAGATION.set(Box::new(propagation)).is_ok()
}

/// Returns the HTTP headers that identify this span to another program; none if no [`Propagation`] is registered.
pub fn headers(span: &Span) -> Vec<(String, String)> {
    match PROPAGATION.get() {
        Some(propagation) if !span.is_disabled() => propagation.inject(span),
        _ => Vec::new(),
    }
}

/// Creates the tracing span of a turn.
pub(crate) fn turn() -> Span {
    tracing::info_span!(
        target: "toolgraft",
        "invoke_agent",
        otel.kind = "internal",
        otel.status_code = Empty,
        gen_ai.operation.name = "invoke_agent",
        gen_ai.request.model = Empty,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        toolgraft.rounds = Empty,
        error.type = Empty,
    )
}

/// Creates the tracing span of a turn that a request starts; the request's headers may identify a parent span of the
/// client.
pub fn requested_turn(model: &str, headers: &[(String, String)]) -> Span {
    let span = turn();
    span.record("gen_ai.request.model", model);
    adopt(&span, headers);
    span
}

/// Sets the parent of this span to the span that a client's headers identify, if they identify one.
pub fn adopt(span: &Span, headers: &[(String, String)]) {
    if let Some(propagation) = PROPAGATION.get().filter(|_| !span.is_disabled() && !headers.is_empty()) {
        propagation.extract(span, headers);
    }
}

/// Records the number of rounds and the token usage of a turn that has ended.
pub fn turn_ended(span: &Span, rounds: u32, usage: Option<Usage>) {
    span.record("toolgraft.rounds", i64::from(rounds));
    used(span, usage);
}

/// The endpoint and model that answer a request, as spans name them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Peer {
    /// Name of the model.
    pub model: Option<String>,
    /// The provider's name in OpenTelemetry's conventions.
    pub provider: Option<&'static str>,
    /// The host name of the endpoint.
    pub address: Option<String>,
    /// The port of the endpoint.
    pub port: Option<u16>,
}

/// Creates the tracing span of a request to `model`, or to the peer's own model if it is `None`.
pub fn chat(peer: impl FnOnce() -> Peer, model: Option<&str>) -> Span {
    let span = tracing::info_span!(
        target: "toolgraft",
        "chat",
        otel.name = Empty,
        otel.kind = "client",
        otel.status_code = Empty,
        gen_ai.operation.name = "chat",
        gen_ai.provider.name = Empty,
        gen_ai.request.model = Empty,
        gen_ai.request.stream = true,
        gen_ai.response.finish_reasons = Empty,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        gen_ai.usage.cache_read.input_tokens = Empty,
        gen_ai.usage.reasoning.output_tokens = Empty,
        server.address = Empty,
        server.port = Empty,
        error.type = Empty,
    );
    if span.is_disabled() {
        return span;
    }
    // Only now: the peer costs some copies, which nobody needs without a subscriber.
    let peer = peer();
    if let Some(model) = model.map(str::to_owned).or(peer.model).filter(|model| !model.is_empty()) {
        span.record("otel.name", display(format_args!("chat {model}")));
        span.record("gen_ai.request.model", model);
    }
    span.record("gen_ai.provider.name", peer.provider);
    span.record("server.address", peer.address);
    span.record("server.port", peer.port.map(i64::from));
    span
}

/// Records the token usage of a request or a turn in its span.
pub(crate) fn used(span: &Span, usage: Option<Usage>) {
    let Some(usage) = usage else { return };
    span.record("gen_ai.usage.input_tokens", count(usage.prompt_tokens));
    span.record("gen_ai.usage.output_tokens", count(usage.completion_tokens));
    span.record("gen_ai.usage.cache_read.input_tokens", usage.cached_tokens.map(count));
    span.record("gen_ai.usage.reasoning.output_tokens", usage.reasoning_tokens.map(count));
}

/// Converts a count to a signed integer, as OpenTelemetry requires; exporters turn unsigned ones into text.
fn count(tokens: u64) -> i64 {
    i64::try_from(tokens).unwrap_or(i64::MAX)
}

/// Records the finish reason of a model's answer; an endpoint's own word is recorded as `other`.
pub(crate) fn finished(span: &Span, reason: &FinishReason) {
    let word = match reason {
        FinishReason::Other(_) => "other",
        known => known.as_str(),
    };
    span.record("gen_ai.response.finish_reasons", word);
}

/// Creates the tracing span of a call of a tool.
pub fn tool(server: Option<&str>, tool: &str, id: &str) -> Span {
    let span = tracing::info_span!(
        target: "toolgraft",
        "execute_tool",
        otel.name = Empty,
        otel.kind = "internal",
        otel.status_code = Empty,
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = tool,
        gen_ai.tool.call.id = id,
        gen_ai.tool.type = "function",
        toolgraft.server = server,
        error.type = Empty,
    );
    if !span.is_disabled() {
        span.record("otel.name", display(format_args!("execute_tool {tool}")));
    }
    span
}

/// Records that the work of a span failed with an error of this kind.
pub fn failed(span: &Span, kind: &str) {
    span.record("error.type", kind);
    span.record("otel.status_code", "ERROR");
}

/// Records that a request is retried after this wait, as an event of the current span.
#[cfg(feature = "client")]
pub(crate) fn retry(kind: &str, wait: std::time::Duration) {
    tracing::warn!(target: "toolgraft", { error.type = kind, toolgraft.wait_s = wait.as_secs_f64() }, "retry");
}

/// Records that the model is informed of a mistake of this kind, as an event of the span.
pub fn correction(span: &Span, kind: Option<&'static str>) {
    let kind = kind.unwrap_or("message");
    tracing::info!(target: "toolgraft", parent: span, { toolgraft.correction = kind }, "correction");
}
