//! One connected server: handshake, listing, and requests that always end.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotification, CancelledNotificationParam, ClientCapabilities,
    ClientConfig, ClientRequest, ErrorCode, Implementation, ListResourceTemplatesRequest, ListResourcesRequest,
    ListToolsRequest, PaginatedRequestParams, ProgressNotificationParam, ProgressToken, ProtocolVersion,
    ReadResourceRequest, ReadResourceRequestParams, RequestId, ServerResult,
};
use rmcp::service::{ClientInitializeError, NotificationContext, PeerRequestOptions, RequestHandle, RunningService};
use rmcp::transport::Transport;
use rmcp::{ClientHandler, Peer, RoleClient, ServiceError, ServiceExt};
use serde_json::{Map, Value};
use tokio::sync::{Notify, Semaphore};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::config::TransportConfig;
use super::stdio::{self, ChildState, Program};
use super::{http, listing};
use crate::catalog;

/// Calls that run at once on one server; more wait their turn.
pub const MAX_CALLS: usize = 16;

/// A call ends after this where the program sets nothing else, however much
/// progress its server reports.
pub const MAX_CALL: Duration = Duration::from_secs(600);

/// Pages of one list that are asked for.
const MAX_PAGES: usize = 100;

/// Wait for a cancellation to be written.
const CANCEL: Duration = Duration::from_millis(500);

/// Wait for a connection to close: more than all steps of ending a child take.
const CLOSE: Duration = Duration::from_secs(15);

/// Time-outs of one server.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Start and handshake; and again for the listing.
    pub(super) connect: Duration,
    /// One call; progress starts it anew.
    pub(super) call: Duration,
    /// One call, progress or not.
    pub(super) most: Duration,
}

/// Why a request has no result.
#[derive(Debug)]
pub(super) enum RequestError {
    /// The server answered with a JSON-RPC error.
    Refused { code: i32, message: String },
    /// It did not answer within this time.
    TimedOut(Duration),
    /// The connection has broken; the text says how.
    Broken(String),
}

impl RequestError {
    /// Whether the server does not know the method at all.
    pub(super) fn is_unknown_method(&self) -> bool {
        matches!(self, RequestError::Refused { code, .. } if *code == ErrorCode::METHOD_NOT_FOUND.0)
    }
}

impl std::fmt::Display for RequestError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RequestError::Refused { code, message } => write!(f, "{message} (JSON-RPC error {code})"),
            RequestError::TimedOut(limit) => write!(f, "no answer within {}", seconds(*limit)),
            RequestError::Broken(how) => f.write_str(how),
        }
    }
}

/// `30 s`, `1.5 s`.
pub(super) fn seconds(time: Duration) -> String {
    format!("{} s", time.as_millis() as f64 / 1000.0)
}

/// Why a server could not be reached.
#[derive(Debug)]
pub(super) struct ConnectError {
    pub(super) message: String,
    /// It wants an authorization, and waiting will not bring one.
    pub(super) needs_auth: bool,
}

impl From<String> for ConnectError {
    fn from(message: String) -> Self {
        ConnectError { message, needs_auth: false }
    }
}

/// A server that has finished its handshake.
pub(super) struct Connection {
    peer: Peer<RoleClient>,
    running: Mutex<Option<Service>>,
    progress: Progress,
    /// Told when the server says that one of its lists has changed.
    changed: Arc<Notify>,
    /// A URL that may be shown, for messages.
    url: Option<String>,
    child: Option<ChildState>,
    gone: CancellationToken,
    permits: Semaphore,
    pub(super) limits: Limits,
}

/// Connects and shakes hands.
pub(super) async fn connect(
    transport: &TransportConfig,
    environment: &[(OsString, OsString)],
    limits: Limits,
) -> Result<Connection, ConnectError> {
    match transport {
        TransportConfig::Stdio { command, args, env, cwd } => {
            let program = Program { command, args, env, cwd: cwd.as_deref() };
            let (transport, child) = stdio::spawn(program, environment)?;
            match handshake(transport, limits).await {
                Ok(service) => Ok(Connection::new(service, limits, None, Some(child))),
                Err(error) => Err(format!("{}{}", error.message, child.last_words().await).into()),
            }
        }
        TransportConfig::Http { url, headers } => {
            let shown = http::shown_url(url);
            match handshake(http::transport(url, headers)?, limits).await {
                Ok(service) => Ok(Connection::new(service, limits, Some(shown), None)),
                Err(error) => Err(ConnectError { message: format!("{shown}: {}", error.message), ..error }),
            }
        }
    }
}

type Service = RunningService<RoleClient, Client>;

async fn handshake<T: Transport<RoleClient> + 'static>(transport: T, limits: Limits) -> Result<Service, ConnectError> {
    let served = tokio::time::timeout(limits.connect, Client::default().serve(transport)).await;
    let limit = seconds(limits.connect);
    served
        .map_err(|_| format!("no answer to `initialize` within {limit}: set \"connectTimeout\" if it needs longer"))?
        .map_err(|error| handshake_error(&error))
}

fn handshake_error(error: &ClientInitializeError) -> ConnectError {
    let message = match error {
        ClientInitializeError::ConnectionClosed(_) => {
            "it closed the connection before the handshake was done".to_owned()
        }
        ClientInitializeError::JsonRpcError(e) => {
            format!("it refused `initialize`: {} (JSON-RPC error {})", http::line(&e.message), e.code.0)
        }
        ClientInitializeError::TransportError { error, .. } => {
            let needs_auth = http::wants_auth(error);
            let explained = http::explain(error);
            let message = explained.unwrap_or_else(|| format!("`initialize` could not be sent: {}", error.error));
            return ConnectError { message, needs_auth };
        }
        other => format!("the handshake failed: {}", http::line(&other.to_string())),
    };
    message.into()
}

impl Connection {
    fn new(service: Service, limits: Limits, url: Option<String>, child: Option<ChildState>) -> Self {
        Connection {
            peer: service.peer().clone(),
            progress: service.service().progress.clone(),
            changed: service.service().changed.clone(),
            running: Mutex::new(Some(service)),
            // Over HTTP nothing tells that a server has gone but its next answer.
            gone: child.as_ref().map(|c| c.gone.clone()).unwrap_or_default(),
            permits: Semaphore::new(MAX_CALLS),
            url,
            child,
            limits,
        }
    }

    /// Name, version and protocol version, as the server gave them.
    pub(super) fn identity(&self) -> (Option<String>, Option<String>, Option<String>) {
        let Some(info) = self.peer.peer_info() else { return (None, None, None) };
        let server = info.server_info.as_ref();
        (server.map(|s| s.name.clone()), server.map(|s| s.version.clone()), Some(info.protocol_version.to_string()))
    }

    /// Everything the server offers, and notes about what was left out.
    pub(super) async fn list(&self, name: &str) -> Result<(catalog::Server, Vec<String>), String> {
        let listing = tokio::time::timeout(self.limits.connect, self.list_all(name)).await;
        listing.unwrap_or_else(|_| Err(format!("its lists were not complete within {}", seconds(self.limits.connect))))
    }

    async fn list_all(&self, name: &str) -> Result<(catalog::Server, Vec<String>), String> {
        let mut notes = Vec::new();
        let info = self.peer.peer_info();
        let has_resources = info.as_ref().is_some_and(|i| i.capabilities.resources.is_some());
        let mut server = catalog::Server { name: Some(name.to_owned()), ..catalog::Server::default() };
        server.instructions = info.and_then(|i| i.instructions.clone()).filter(|i| !i.trim().is_empty());

        let tools = self.pages("tools", |params| ListToolsRequest { params, ..Default::default() }.into()).await;
        server.tools = listing::tools(tools.map_err(|e| format!("tools/list: {e}"))?, &mut notes);
        if has_resources {
            let resources =
                self.pages("resources", |params| ListResourcesRequest { params, ..Default::default() }.into()).await;
            server.resources =
                listing::items("resource", "uri", optional("resources/list", resources, &mut notes), &mut notes);
            let templates = self
                .pages("resourceTemplates", |params| {
                    ListResourceTemplatesRequest { params, ..Default::default() }.into()
                })
                .await;
            server.resource_templates = listing::items(
                "resource template",
                "uriTemplate",
                optional("resources/templates/list", templates, &mut notes),
                &mut notes,
            );
        }
        Ok((server, notes))
    }

    /// Whether the server says that it has prompts.
    pub(super) fn has_prompts(&self) -> bool {
        self.peer.peer_info().is_some_and(|info| info.capabilities.prompts.is_some())
    }

    /// All entries of a paged list. "Method not found" means that there are none.
    pub(super) async fn pages(
        &self,
        key: &str,
        request: impl Fn(Option<PaginatedRequestParams>) -> ClientRequest,
    ) -> Result<Vec<Value>, RequestError> {
        let mut entries = Vec::new();
        let mut seen = HashSet::new();
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let params = cursor.take().map(|c| PaginatedRequestParams::default().with_cursor(Some(c)));
            let mut result = match self.request(request(params), self.limits.connect).await {
                Err(error) if error.is_unknown_method() => return Ok(entries),
                other => other?,
            };
            match result.get_mut(key).map(Value::take) {
                Some(Value::Array(page)) => entries.extend(page),
                _ => return Err(RequestError::Broken(format!("the answer has no array {key:?}"))),
            }
            cursor = result.get("nextCursor").and_then(Value::as_str).filter(|c| !c.is_empty()).map(str::to_owned);
            match &cursor {
                Some(next) if !seen.insert(next.clone()) => {
                    return Err(RequestError::Broken(format!("its list never ends: nextCursor {next:?} came twice")));
                }
                Some(_) => {}
                None => return Ok(entries),
            }
        }
        Err(RequestError::Broken(format!("its list has more than {MAX_PAGES} pages")))
    }

    /// Runs a tool.
    pub(super) async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<Value, RequestError> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let _permit = self.permits.acquire().await;
        self.request(CallToolRequest::new(params).into(), self.limits.call).await
    }

    /// Reads a resource.
    pub(super) async fn read(&self, uri: &str) -> Result<Value, RequestError> {
        let params = ReadResourceRequestParams::new(uri);
        let _permit = self.permits.acquire().await;
        self.request(ReadResourceRequest::new(params).into(), self.limits.call).await
    }

    /// Sends a request and waits for its result, its time-out or the connection's
    /// end. A request that is given up, by time or by dropping this future, is
    /// cancelled at the server.
    pub(super) async fn request(&self, request: ClientRequest, limit: Duration) -> Result<Value, RequestError> {
        if self.is_gone() {
            return Err(self.broken("the connection is closed").await);
        }
        let started = Instant::now();
        let handle = match self.peer.send_request_with_option(request, PeerRequestOptions::no_options()).await {
            Ok(handle) => handle,
            Err(error) => return Err(self.service_error(error).await),
        };
        let mut pending = Pending::new(handle, &self.peer, &self.progress);
        let mut deadline = started + limit;
        let last = started + self.limits.most.max(limit);
        let answer = loop {
            tokio::select! {
                biased;
                answer = &mut pending.handle.rx => break answer.unwrap_or(Err(ServiceError::TransportClosed)),
                () = pending.moved.notified() => deadline = (Instant::now() + limit).min(last),
                () = self.gone.cancelled() => break Err(ServiceError::TransportClosed),
                () = sleep_until(deadline) => {
                    pending.cancel().await;
                    return Err(RequestError::TimedOut(deadline - started));
                }
            }
        };
        pending.answered = true;
        match answer {
            Ok(result) => raw(result).map_err(|e| RequestError::Broken(format!("its answer cannot be read: {e}"))),
            Err(error) => Err(self.service_error(error).await),
        }
    }

    async fn service_error(&self, error: ServiceError) -> RequestError {
        match error {
            ServiceError::McpError(e) => RequestError::Refused { code: e.code.0, message: e.message.into_owned() },
            ServiceError::TransportClosed => {
                self.mark_gone();
                self.broken("the connection broke").await
            }
            ServiceError::TransportSend(e) => {
                let what = http::explain(&e).unwrap_or_else(|| format!("the request could not be sent: {}", e.error));
                self.broken(&what).await
            }
            other => self.broken(&other.to_string()).await,
        }
    }

    async fn broken(&self, what: &str) -> RequestError {
        let more = match (&self.child, &self.url) {
            (Some(child), _) => child.last_words().await,
            (None, Some(url)) => format!(" ({url})"),
            (None, None) => String::new(),
        };
        RequestError::Broken(format!("{what}{more}"))
    }

    /// Waits until no further request can be answered.
    pub(super) async fn gone(&self) {
        self.gone.cancelled().await;
    }

    /// Notes that the connection is of no more use, where that was only found by trying.
    pub(super) fn mark_gone(&self) {
        if self.peer.is_transport_closed() {
            self.gone.cancel();
        }
    }

    /// Waits until the server says that one of its lists has changed.
    pub(super) async fn lists_changed(&self) {
        self.changed.notified().await;
    }

    /// Forgets what it said so far: all lists are read after this.
    pub(super) fn forget_changes(&self) {
        let mut said = std::pin::pin!(self.changed.notified());
        said.as_mut().enable();
    }

    /// How it ended.
    pub(super) async fn epitaph(&self) -> String {
        self.broken("the connection is closed").await.to_string()
    }

    /// Whether no further request can be answered.
    pub(super) fn is_gone(&self) -> bool {
        self.gone.is_cancelled() || self.peer.is_transport_closed()
    }

    /// Closes the connection and ends the child.
    pub(super) async fn close(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut running) = running {
            // What outlasts this limit is killed when the runtime drops the transport.
            let _ = running.close_with_timeout(CLOSE).await;
        }
    }
}

/// A result as the JSON it was. What rmcp does not recognise it keeps as it came.
fn raw(result: ServerResult) -> serde_json::Result<Value> {
    match result {
        ServerResult::CustomResult(custom) => Ok(custom.0),
        known => serde_json::to_value(known),
    }
}

/// The entries of a list that a server can do without; a failure becomes a note.
fn optional(method: &str, entries: Result<Vec<Value>, RequestError>, notes: &mut Vec<String>) -> Vec<Value> {
    entries.unwrap_or_else(|error| {
        notes.push(format!("{method}: {error}"));
        Vec::new()
    })
}

/// A request on its way. Dropped before its answer, it is cancelled at the server.
struct Pending {
    handle: RequestHandle<RoleClient>,
    peer: Peer<RoleClient>,
    progress: Progress,
    moved: Arc<Notify>,
    answered: bool,
}

impl Pending {
    fn new(handle: RequestHandle<RoleClient>, peer: &Peer<RoleClient>, progress: &Progress) -> Self {
        let moved = Arc::<Notify>::default();
        progress.lock().unwrap_or_else(PoisonError::into_inner).insert(handle.progress_token.clone(), moved.clone());
        Pending { handle, peer: peer.clone(), progress: progress.clone(), moved, answered: false }
    }

    /// Cancels the request and waits, not for long, until that is on its way.
    async fn cancel(&mut self) {
        self.answered = true;
        let _ = tokio::time::timeout(CANCEL, cancel(self.peer.clone(), self.handle.id.clone())).await;
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.handle.progress_token);
        // Outside a runtime there is nobody left to tell.
        if let (false, Ok(runtime)) = (self.answered, tokio::runtime::Handle::try_current()) {
            runtime.spawn(cancel(self.peer.clone(), self.handle.id.clone()));
        }
    }
}

async fn cancel(peer: Peer<RoleClient>, id: RequestId) {
    let params = CancelledNotificationParam::new(Some(id), Some("the caller gave up".to_owned()));
    // A server that cannot be told any more needs no telling.
    let _ = peer.send_notification(CancelledNotification::new(params).into()).await;
}

/// Requests that wait for news of their progress.
type Progress = Arc<Mutex<HashMap<ProgressToken, Arc<Notify>>>>;

/// Our side of the protocol: no sampling, no roots, no elicitation.
#[derive(Default)]
pub(super) struct Client {
    progress: Progress,
    changed: Arc<Notify>,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let me = Implementation::new("toolgraft", env!("CARGO_PKG_VERSION"));
        // rmcp's default is a draft that servers of today refuse.
        ClientConfig::new(ClientCapabilities::default(), me).with_protocol_version(ProtocolVersion::V_2025_11_25)
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let waiting = self.progress.lock().unwrap_or_else(PoisonError::into_inner).get(&params.progress_token).cloned();
        if let Some(waiting) = waiting {
            waiting.notify_one();
        }
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }
}
