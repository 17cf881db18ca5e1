//! An MCP server over streamable HTTP, with sessions, on a thread of its own.
//!
//! It has the tools `echo(text)`, which returns the text, and `hang`, which never answers. It ends
//! when it is dropped.

use std::sync::Arc;
use std::thread::JoinHandle;

use axum::serve::ListenerExt;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::sync::oneshot;

/// A running MCP server over HTTP, which ends when it is dropped.
pub struct HttpMcp {
    port: u16,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl HttpMcp {
    /// Starts an MCP server on any free port of the loopback interface.
    pub fn start() -> Self {
        Self::start_at(0)
    }

    /// Starts an MCP server on this port of the loopback interface.
    pub fn start_at(port: u16) -> Self {
        Self::serving(port, || EchoServer)
    }

    /// Starts an MCP server with handlers from this function, one for each session.
    pub fn serving<S: ServerHandler>(port: u16, handler: impl Fn() -> S + Send + Sync + 'static) -> Self {
        let listener = std::net::TcpListener::bind(("127.0.0.1", port)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                // Several small writes of one answer must not wait for acknowledgements.
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

    /// Returns the TCP port of the server.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the URL of the MCP server, `http://127.0.0.1:PORT/mcp`.
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

/// Returns the server's tools as a JSON list in MCP's form.
fn tools() -> Value {
    json!([
        {
            "name": "echo", "description": "Says what it is told",
            "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        },
        {"name": "hang", "description": "Never answers", "inputSchema": {"type": "object", "properties": {}}},
    ])
}

struct EchoServer;

impl ServerHandler for EchoServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools: Vec<Tool> = serde_json::from_value(tools()).unwrap();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = request.arguments.as_ref().and_then(|arguments| arguments.get("text")?.as_str());
        match (request.name.as_ref(), text) {
            ("echo", Some(text)) => Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into()),
            ("hang", _) => std::future::pending().await,
            (name, _) => Err(ErrorData::invalid_params(format!("no tool {name:?} with these arguments"), None)),
        }
    }
}
