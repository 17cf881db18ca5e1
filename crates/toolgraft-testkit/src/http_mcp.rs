//! An MCP server over streamable HTTP, with sessions, on a thread of its own.
//!
//! It has the tools `echo(text)`, which answers with the text, and `hang`, which
//! never answers. It ends when it is dropped.

use std::sync::Arc;
use std::thread::JoinHandle;

use axum::serve::ListenerExt;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolResult, ContentBlock, ServerCapabilities, ServerConfig};
use rmcp::schemars::JsonSchema;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ServerHandler, tool, tool_handler, tool_router};
use serde::Deserialize;
use tokio::sync::oneshot;

/// A running server.
pub struct HttpMcp {
    port: u16,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl HttpMcp {
    /// Starts it on any free port of the loopback interface.
    pub fn start() -> Self {
        Self::start_at(0)
    }

    /// Starts it on this port of the loopback interface.
    pub fn start_at(port: u16) -> Self {
        Self::serving(port, || Server { tool_router: Server::tool_router() })
    }

    /// Starts a server with the handlers that this makes, one for each session.
    pub fn serving<S: ServerHandler>(port: u16, handler: impl Fn() -> S + Send + Sync + 'static) -> Self {
        let listener = std::net::TcpListener::bind(("127.0.0.1", port)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                // Small writes of one answer must not wait for each other's receipt.
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                let listener = listener.tap_io(|socket| socket.set_nodelay(true).unwrap());
                let config = StreamableHttpServerConfig::default();
                let service: StreamableHttpService<S, LocalSessionManager> =
                    StreamableHttpService::new(move || Ok(handler()), Arc::default(), config);
                let router = axum::Router::new().route_service("/mcp", service);
                tokio::select! {
                    served = axum::serve(listener, router) => served.unwrap(),
                    _ = stopped => {}
                }
            });
        });
        HttpMcp { port, stop: Some(stop), thread: Some(thread) }
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }
}

impl Drop for HttpMcp {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Echo {
    text: String,
}

struct Server {
    tool_router: ToolRouter<Self>,
}

#[tool_router]
impl Server {
    #[tool(description = "Says what it is told")]
    async fn echo(&self, Parameters(Echo { text }): Parameters<Echo>) -> CallToolResult {
        CallToolResult::success(vec![ContentBlock::text(text)])
    }

    #[tool(description = "Never answers")]
    async fn hang(&self) -> CallToolResult {
        std::future::pending().await
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}
