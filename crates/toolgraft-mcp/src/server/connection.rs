//! A connected server: our side of the protocol, its state, and its end.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{
    ClientCapabilities, ClientConfig, CustomRequest, CustomResult, ElicitRequestParams, ElicitResult,
    ElicitationCapability, ErrorCode, ErrorData, FormElicitationCapability, Implementation, JsonObject,
    ProgressNotificationParam, RequestId, TASKS_EXTENSION_ID, UrlElicitationCapability,
};
use rmcp::service::{NotificationContext, RequestContext, RunningService};
use rmcp::{ClientHandler, Peer, RoleClient};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::deadlines::Deadlines;
use super::elicit::Answers;
use super::notices::Notices;
use super::settings::Limits;
use super::states::{ServerEventKind, States};
use crate::config::ServerSecrets;
use crate::transport::log::Log;
use crate::transport::stdio::ChildState;
use crate::transport::wire::Wire;

/// Time limit for closing a server's connection: longer than all steps of ending a child process together.
const CLOSE: Duration = Duration::from_secs(15);

/// Maximum time that a finished call waits until lists that the server changed meanwhile are read again.
const SETTLE: Duration = Duration::from_secs(2);

/// A running client of rmcp with our handler of messages.
pub(super) type Service = RunningService<RoleClient, Client>;

/// Our handler of a server's requests and notifications, shared by its clones: no sampling, no roots, and elicitation
/// only if the program answers it.
#[derive(Default, Clone)]
pub(super) struct Client {
    pub(super) deadlines: Arc<Deadlines>,
    /// Ids of the requests that were passed to the transport and wait for their responses. rmcp queues requests before
    /// that: those that are still queued when the connection ends are dropped, and the server never gets them.
    pub(super) sent: watch::Sender<HashSet<RequestId>>,
    /// Counter of the server's notifications that its lists have changed.
    pub(super) noticed: Arc<Notices>,
    /// The server's name, for questions to the user and for events.
    pub(super) server: String,
    pub(super) answers: Answers,
    /// Channel for server events, which gets the progress of the server's calls.
    pub(super) states: Arc<States>,
    /// The log of the server: its log messages and its standard error.
    pub(super) log: Arc<Log>,
    /// Receiver of all MCP messages in both directions; `None` if the program wants none.
    pub(super) wire: Option<Wire>,
    pub(super) hidden: ServerSecrets,
}

impl Client {
    /// Answers a server's request for input (`elicitation/create`); the deadlines of its calls are paused meanwhile.
    /// The answer is `cancel` if no call is in progress or the server withdraws the request.
    async fn elicit(&self, params: &Value, withdrawn: &CancellationToken) -> Result<Value, ErrorData> {
        let cancelled = json!({ "action": "cancel" });
        // Outside of a call, the user would not know what the question is about.
        if self.answers.asks_somebody() && self.deadlines.calls.is_none() {
            return Ok(cancelled);
        }
        let _still = self.deadlines.stand_still();
        tokio::select! {
            // An obsolete question is cancelled, even if its answer has just arrived.
            biased;
            () = withdrawn.cancelled() => Ok(cancelled),
            () = self.deadlines.calls.none() => Ok(cancelled),
            answer = self.answers.answer(&self.server, params) => {
                answer.map_err(|why| ErrorData::invalid_params(why, None))
            }
        }
    }
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let me = Implementation::new("toolgraft", env!("CARGO_PKG_VERSION"));
        let mut can = ClientCapabilities::default();
        if self.answers.asks_somebody() {
            let forms = ElicitationCapability::new().with_form(FormElicitationCapability::default());
            can.elicitation = Some(forms.with_url(UrlElicitationCapability::default()));
        }
        can.extensions.get_or_insert_default().insert(TASKS_EXTENSION_ID.to_owned(), JsonObject::new());
        ClientConfig::new(can, me)
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let params = serde_json::to_value(request).unwrap_or_default();
        let answer = self.elicit(&params, &context.ct).await?;
        serde_json::from_value(answer).map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    /// Handles requests of a server that rmcp does not know as MCP: `elicitation/create` with members that it does not
    /// support.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleClient>,
    ) -> Result<CustomResult, ErrorData> {
        if request.method != "elicitation/create" {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None));
        }
        self.elicit(&request.params.unwrap_or_default(), &context.ct).await.map(CustomResult)
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.deadlines.progressed(&params.progress_token);
        let ProgressNotificationParam { progress, total, message, .. } = params;
        let message = message.map(|text| self.hidden.in_answers.hide(&text).into_owned());
        self.states.tell(&self.server, ServerEventKind::Progress { progress, total, message });
    }
}

/// Maximum number of characters of a server's name and of its version.
const MAX_IDENTITY: usize = 100;

/// A connection to a server that has finished its handshake.
pub(crate) struct Connection {
    pub(super) peer: Peer<RoleClient>,
    running: Mutex<Option<Service>>,
    /// Our handler of the server's messages, shared with the rmcp service.
    pub(super) client: Client,
    /// The task that watches the deadlines of requests; it ends with the connection.
    _watch: JoinSet<()>,
    /// URL of the server without secrets, for messages; `None` for a child process.
    pub(super) url: Option<String>,
    pub(super) child: Option<ChildState>,
    pub(super) gone: CancellationToken,
    pub(super) permits: Semaphore,
    /// `true` once the server has answered a call: a later failure then begins a new count of failures.
    pub(super) answered: AtomicBool,
    /// Names of the server's tools that only run as tasks.
    pub(super) task_tools: Mutex<HashSet<String>>,
    pub(super) limits: Limits,
}

impl Connection {
    pub(super) fn new(
        service: Service,
        limits: Limits,
        url: Option<String>,
        child: Option<ChildState>,
        gone: CancellationToken,
    ) -> Self {
        let client = service.service().clone();
        let mut watch = JoinSet::new();
        let (watched, until) = (client.deadlines.clone(), gone.clone());
        watch.spawn(async move { watched.watch(&until).await });
        Connection {
            peer: service.peer().clone(),
            client,
            _watch: watch,
            gone,
            answered: AtomicBool::new(false),
            task_tools: Mutex::default(),
            // `Semaphore::new` panics above its limit.
            permits: Semaphore::new(limits.calls.get().min(Semaphore::MAX_PERMITS)),
            running: Mutex::new(Some(service)),
            url,
            child,
            limits,
        }
    }

    /// Waits, at most [`SETTLE`], until changed lists of the server are read again, so that a tool that a call has
    /// added can be called next.
    pub(crate) async fn lists_settled(&self) {
        let _ = self.gone.run_until_cancelled(tokio::time::timeout(SETTLE, self.client.noticed.settled())).await;
    }

    /// Returns the name, version and protocol version that the server reported, without its secrets and cut to
    /// [`MAX_IDENTITY`] characters.
    pub(super) fn identity(&self) -> (Option<String>, Option<String>, Option<String>) {
        let Some(info) = self.peer.peer_info() else { return (None, None, None) };
        let server = info.server_info.as_ref();
        let said = |text: &String| {
            let hidden = self.client.hidden.in_errors.hide(text);
            (!text.is_empty()).then(|| hidden.chars().take(MAX_IDENTITY).collect())
        };
        let (name, version) = (server.and_then(|s| said(&s.name)), server.and_then(|s| said(&s.version)));
        (name, version, Some(info.protocol_version.to_string()))
    }

    /// Returns a message about the lines of the child's standard output that are not MCP; `None` if there are none
    /// after the first `before`.
    pub(super) fn noise(&self, before: usize) -> Option<String> {
        let noise = self.child.as_ref()?.noise.after(before)?;
        Some(self.client.hidden.in_errors.hide(&noise).into_owned())
    }

    /// Marks the connection as closed if its transport is, after a request has failed.
    pub(super) fn mark_gone(&self) {
        if self.peer.is_transport_closed() {
            self.gone.cancel();
        }
    }

    /// Returns a message about the end of the connection, without the server's secrets: the text `what`, and how the
    /// child exited, for which it waits.
    pub(super) async fn how_it_ended(&self, what: &str) -> String {
        if let Some(child) = &self.child {
            child.last_words().await;
        }
        self.how_it_ended_so_far(what)
    }

    /// Returns the same message as [`how_it_ended`](Self::how_it_ended), but with the facts known now, without waiting.
    pub(super) fn how_it_ended_so_far(&self, what: &str) -> String {
        let more = match (&self.child, &self.url) {
            (Some(child), _) => child.words_so_far(),
            (None, Some(url)) => format!(" ({url})"),
            (None, None) => String::new(),
        };
        self.client.hidden.in_errors.hide(&format!("{what}{more}")).into_owned()
    }

    /// Returns `true` if the connection is closed, so that no further request can be answered.
    pub(super) fn is_gone(&self) -> bool {
        self.gone.is_cancelled() || self.peer.is_transport_closed()
    }

    /// Closes the connection and ends the child process, within [`CLOSE`].
    pub(super) async fn close(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut running) = running {
            // A child that outlasts this limit is killed when the runtime drops the transport.
            let _ = running.close_with_timeout(CLOSE).await;
        }
    }
}
