//! `toolgraft_serve` with its spans sent to an OpenTelemetry collector.
//!
//! ```text
//! cargo run -- http://localhost:11434/v1
//! OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318 cargo run -- URL [LISTEN]
//! ```
//!
//! The steps of `main` between the configuration and the runtime are all that a program with an
//! agent of its own needs too.

use std::collections::HashMap;

use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::TracerProvider;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use toolgraft_serve::{Config, Server};
use toolgraft::spans::{self, Propagation, Span};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Links spans of other programs by the W3C's trace context headers.
struct TraceContext(TraceContextPropagator);

impl Propagation for TraceContext {
    fn inject(&self, span: &Span) -> Vec<(String, String)> {
        let mut headers = HashMap::new();
        self.0.inject_context(&span.context(), &mut headers);
        headers.into_iter().collect()
    }

    fn extract(&self, span: &Span, headers: &[(String, String)]) {
        let headers: HashMap<String, String> = headers.iter().cloned().collect();
        // A span that is not collected has no parent.
        let _ = span.set_parent(self.0.extract(&headers));
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let url = words.next().ok_or("usage: toolgraft-otlp-example URL [LISTEN]")?;
    let listen = words.next().unwrap_or_else(|| "127.0.0.1:8787".to_owned());
    // Before the exporter, whose client uses the process-wide TLS provider that this call installs.
    let config = Config::new(url)?;

    let exporter = opentelemetry_otlp::SpanExporter::builder().with_http().build()?;
    let provider = SdkTracerProvider::builder()
        .with_batch_exporter(exporter)
        .with_resource(Resource::builder().with_service_name("toolgraft").build())
        .build();
    // Spans of other crates may contain messages; these do not.
    let own = Targets::new().with_target("toolgraft", tracing_subscriber::filter::LevelFilter::INFO);
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("toolgraft")).with_filter(own);
    tracing_subscriber::registry().with(layer).init();
    spans::propagate(TraceContext(TraceContextPropagator::new()));

    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let server = Server::bind(config, &listen).await?;
        println!("http://{}/v1", server.local_addr()?);
        server.run(async { tokio::signal::ctrl_c().await.unwrap_or_default() }).await;
        Ok::<_, Box<dyn std::error::Error>>(())
    })?;
    // Sends the remaining spans.
    provider.shutdown()?;
    Ok(())
}
