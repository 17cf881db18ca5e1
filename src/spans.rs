//! Spans of what an agent and the server do, by `tracing`, after OpenTelemetry's conventions
//! for generative AI.
//!
//! Nothing is collected here: a program that sets a subscriber of `tracing` gets them, and
//! without one they cost nothing. Their target is `toolgraft`. The conventions are still in
//! development; those of 2026 are followed.
//!
//! | span | name of the exported span | what it is |
//! |---|---|---|
//! | `invoke_agent` | `invoke_agent` | a turn of an agent, a request of the server |
//! | `chat` | `chat MODEL` | a request to the model, its retries included |
//! | `execute_tool` | `execute_tool TOOL` | a call of a tool |
//!
//! What went otherwise than it should is an event in its span: `retry` (in `chat`),
//! `correction` (in `invoke_agent`) and `respawn` (in `execute_tool`: the server was started
//! anew for the call).
//!
//! No span and no event holds a text of a conversation, an argument, a result, a key, a
//! header or an error's message. They have names of models, tools and servers, the host and
//! port of the endpoint, counts, and kinds of errors. Other crates below this one have spans
//! and events of their own, which may hold bodies: a subscriber that takes more than the
//! target `toolgraft` gets those, too.
//!
//! # Traces over several programs
//!
//! What a span is called in a trace, only its exporter knows. [`propagate`] sets who tells
//! it: then requests to the model have a `traceparent`, calls of MCP servers have it in their
//! `_meta`, and the server takes that of its clients for the parent of their spans. Without it
//! the server hands a client's `traceparent` on to the model as it came.

use std::sync::OnceLock;

use tracing::field::{Empty, display};

pub use tracing::Span;

use crate::message::{FinishReason, Usage};

/// Joins the spans of this program with those of others: for `tracing-opentelemetry` a dozen
/// lines, which `examples/otlp` has.
pub trait Propagation: Send + Sync + 'static {
    /// The headers that tell another program of this span: `traceparent`, `tracestate`.
    fn inject(&self, span: &Span) -> Vec<(String, String)>;

    /// Makes the span that these headers of a request tell of the parent of this one, which
    /// was just made and has not been entered.
    fn extract(&self, span: &Span, headers: &[(String, String)]);
}

static PROPAGATION: OnceLock<Box<dyn Propagation>> = OnceLock::new();

/// Sets who joins the spans of this process with those of others, as the subscriber of
/// `tracing` is set: once. Says whether it was; the first one stays.
pub fn propagate(propagation: impl Propagation) -> bool {
    PROPAGATION.set(Box::new(propagation)).is_ok()
}

/// The headers that tell another program of this span: of none where no [`Propagation`] is set.
pub fn headers(span: &Span) -> Vec<(String, String)> {
    match PROPAGATION.get() {
        Some(propagation) if !span.is_disabled() => propagation.inject(span),
        _ => Vec::new(),
    }
}

/// A turn.
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

/// The turn that a request asks for, whose headers may tell of a span of the client's.
pub fn requested_turn(model: &str, headers: &[(String, String)]) -> Span {
    let span = turn();
    span.record("gen_ai.request.model", model);
    adopt(&span, headers);
    span
}

/// Makes the span that a client's headers tell of the parent of this one.
pub fn adopt(span: &Span, headers: &[(String, String)]) {
    if let Some(propagation) = PROPAGATION.get().filter(|_| !span.is_disabled() && !headers.is_empty()) {
        propagation.extract(span, headers);
    }
}

/// A turn is over.
pub fn turn_ended(span: &Span, rounds: u32, usage: Option<Usage>) {
    span.record("toolgraft.rounds", i64::from(rounds));
    used(span, usage);
}

/// What answers a request to a model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Peer {
    /// The model's name.
    pub model: Option<String>,
    /// Who provides it, in OpenTelemetry's word.
    pub provider: Option<&'static str>,
    /// Host, without what else stands in its URL.
    pub address: Option<String>,
    /// Port.
    pub port: Option<u16>,
}

impl Peer {
    /// The model of this name, in this process.
    pub fn named(model: impl Into<String>) -> Self {
        Peer { model: Some(model.into()), ..Peer::default() }
    }
}

/// A request to a model: to `model`, else to the peer's own.
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
    let peer = peer();
    if let Some(model) = model.map(str::to_owned).or(peer.model).filter(|model| !model.is_empty()) {
        span.record("otel.name", display(format_args!("chat {model}")));
        span.record("gen_ai.request.model", model);
    }
    if let Some(provider) = peer.provider {
        span.record("gen_ai.provider.name", provider);
    }
    if let Some(address) = peer.address {
        span.record("server.address", address);
    }
    if let Some(port) = peer.port {
        span.record("server.port", i64::from(port));
    }
    span
}

/// What a request, or a turn, cost.
pub(crate) fn used(span: &Span, usage: Option<Usage>) {
    let Some(usage) = usage else { return };
    span.record("gen_ai.usage.input_tokens", count(usage.prompt_tokens));
    span.record("gen_ai.usage.output_tokens", count(usage.completion_tokens));
    if let Some(tokens) = usage.cached_tokens {
        span.record("gen_ai.usage.cache_read.input_tokens", count(tokens));
    }
    if let Some(tokens) = usage.reasoning_tokens {
        span.record("gen_ai.usage.reasoning.output_tokens", count(tokens));
    }
}

/// OpenTelemetry's integers have a sign; exporters make text of those without.
fn count(tokens: u64) -> i64 {
    i64::try_from(tokens).unwrap_or(i64::MAX)
}

/// Why a model's answer ended; a word that is none of the interface's stays out.
pub(crate) fn finished(span: &Span, reason: &FinishReason) {
    let word = match reason {
        FinishReason::Other(_) => "other",
        known => known.as_str(),
    };
    span.record("gen_ai.response.finish_reasons", word);
}

/// A call of a tool.
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

/// It ended with an error of this kind.
pub fn failed(span: &Span, kind: &str) {
    span.record("error.type", kind);
    span.record("otel.status_code", "ERROR");
}

/// A request is tried again, after the wait.
#[cfg(feature = "client")]
pub(crate) fn retry(kind: &str, wait: std::time::Duration) {
    tracing::warn!(target: "toolgraft", { error.type = kind, toolgraft.wait_s = wait.as_secs_f64() }, "retry");
}

/// The model is told of a mistake of this kind.
pub fn correction(span: &Span, kind: Option<&'static str>) {
    let kind = kind.unwrap_or("message");
    tracing::info!(target: "toolgraft", parent: span, { toolgraft.correction = kind }, "correction");
}
