//! One connected server: what it offers, calls, its end.

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, ClientRequest, ListResourceTemplatesRequest, ListResourcesRequest, ListToolsRequest,
    PaginatedRequestParams, ReadResourceRequestParams,
};
use rmcp::{Peer, RoleClient};
use serde_json::{Map, Value};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::answer::{Answer, Entry};
use super::config::Hidden;
use super::deadlines::Deadlines;
use super::elicit::Elicitation;
use super::handshake::Service;
use super::listing;
use super::prompts::McpPrompt;
use super::request::{RequestError, seconds};
use super::stdio::ChildState;
use crate::catalog;

/// Calls that run at once on one server where nothing else is set; more wait their
/// turn. As many as a message may hold ([`parse::MAX_CALLS`](crate::parse::MAX_CALLS)),
/// so that one message's calls never wait for each other.
pub const MAX_CALLS: NonZeroUsize = NonZeroUsize::new(64).expect("above zero");

/// A call ends after this where the program sets nothing else, however much
/// progress its server reports.
pub const MAX_CALL: Duration = Duration::from_secs(600);

/// Pages of one list that are asked for.
const MAX_PAGES: usize = 100;

/// Wait for a connection to close: more than all steps of ending a child take.
const CLOSE: Duration = Duration::from_secs(15);

/// Limits of one server.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Start and handshake; and again for the listing.
    pub(super) connect: Duration,
    /// One call; progress starts it anew.
    pub(super) call: Duration,
    /// One call, progress or not.
    pub(super) most: Duration,
    /// Calls at once.
    pub(super) calls: NonZeroUsize,
}

/// A server that has finished its handshake.
pub(super) struct Connection {
    pub(super) peer: Peer<RoleClient>,
    running: Mutex<Option<Service>>,
    pub(super) deadlines: Arc<Deadlines>,
    /// The watch over them, which ends with the connection.
    _watch: JoinSet<()>,
    /// Told when the server says that one of its lists has changed.
    pub(super) changed: Arc<Notify>,
    /// A URL that may be shown, for messages.
    pub(super) url: Option<String>,
    pub(super) child: Option<ChildState>,
    pub(super) gone: CancellationToken,
    permits: Semaphore,
    pub(super) elicitation: Elicitation,
    pub(super) limits: Limits,
    pub(super) hidden: Hidden,
}

impl Connection {
    pub(super) fn new(
        service: Service,
        (limits, hidden): (Limits, Hidden),
        url: Option<String>,
        child: Option<ChildState>,
        gone: CancellationToken,
    ) -> Self {
        let deadlines = service.service().deadlines.clone();
        let mut watch = JoinSet::new();
        let (watched, until) = (deadlines.clone(), gone.clone());
        watch.spawn(async move { watched.watch(&until).await });
        Connection {
            peer: service.peer().clone(),
            deadlines,
            _watch: watch,
            changed: service.service().changed.clone(),
            elicitation: service.service().elicitation,
            running: Mutex::new(Some(service)),
            gone,
            permits: Semaphore::new(limits.calls.get().min(Semaphore::MAX_PERMITS)),
            url,
            child,
            limits,
            hidden,
        }
    }

    /// Name, version and protocol version, as the server gave them.
    pub(super) fn identity(&self) -> (Option<String>, Option<String>, Option<String>) {
        let Some(info) = self.peer.peer_info() else { return (None, None, None) };
        let server = info.server_info.as_ref();
        let said = |text: &String| (!text.is_empty()).then(|| text.clone());
        let (name, version) = (server.and_then(|s| said(&s.name)), server.and_then(|s| said(&s.version)));
        (name, version, Some(info.protocol_version.to_string()))
    }

    /// Everything the server offers, and notes about what was left out. Without its tools
    /// it is of no use; any other list that fails costs that list alone.
    pub(super) async fn list(&self, name: &str) -> Result<(catalog::Server, Vec<McpPrompt>, Vec<String>), String> {
        let info = self.peer.peer_info();
        let has_resources = info.as_ref().is_some_and(|i| i.capabilities.resources.is_some());
        let mut server = catalog::Server { name: Some(name.to_owned()), ..catalog::Server::default() };
        let instructions = info.and_then(|i| i.instructions.clone()).filter(|i| !i.trim().is_empty());
        server.instructions = instructions.map(|text| self.hidden.in_answers.hide(&text).into_owned());

        let mut notes = Vec::new();
        let tools = self.pages(("tools", "name"), |params| ListToolsRequest { params, ..Default::default() }.into());
        let tools = tokio::time::timeout(self.limits.connect, tools).await;
        let incomplete = || format!("its lists were not complete within {}", seconds(self.limits.connect));
        let tools = tools.map_err(|_| incomplete())?.map_err(|e| format!("tools/list: {e}"))?;
        server.tools = listing::tools(tools, &mut notes);

        let resources =
            self.pages(("resources", "uri"), |params| ListResourcesRequest { params, ..Default::default() }.into());
        let templates = self.pages(("resourceTemplates", "uriTemplate"), |params| {
            ListResourceTemplatesRequest { params, ..Default::default() }.into()
        });
        let (resources, templates, prompts) = tokio::join!(
            self.optional("resources/list", has_resources, resources),
            self.optional("resources/templates/list", has_resources, templates),
            self.optional("prompts/list", self.has_prompts(), self.prompt_entries()),
        );
        let mut known = |list: Result<Vec<Entry>, String>| {
            list.unwrap_or_else(|note| {
                notes.push(note);
                Vec::new()
            })
        };
        let (resources, templates, prompts) = (known(resources), known(templates), known(prompts));
        server.resources = listing::items("resource", "uri", resources, &mut notes);
        server.resource_templates = listing::items("resource template", "uriTemplate", templates, &mut notes);
        Ok((server, self.prompts(name, prompts, &mut notes), notes))
    }

    /// A list that the server can do without, if it says that it has it; an `Err` is a
    /// note. One that hangs must not cost the tools, so its limit is lower than theirs.
    async fn optional(
        &self,
        method: &str,
        has: bool,
        pages: impl Future<Output = Result<Vec<Entry>, RequestError>>,
    ) -> Result<Vec<Entry>, String> {
        if !has {
            return Ok(Vec::new());
        }
        let limit = self.limits.connect / 3;
        let listed = tokio::time::timeout(limit, pages).await;
        let listed = listed.unwrap_or(Err(RequestError::TimedOut(limit, None)));
        listed.map_err(|error| format!("{method}: {error}, so this list is left out"))
    }

    /// What it wrote to standard output that is no MCP, in words.
    pub(super) fn noise(&self) -> Option<String> {
        let noise = self.child.as_ref()?.noise_after(0)?;
        Some(self.hidden.in_errors.hide(&noise).into_owned())
    }

    /// Whether the server says that it has prompts.
    pub(super) fn has_prompts(&self) -> bool {
        self.peer.peer_info().is_some_and(|info| info.capabilities.prompts.is_some())
    }

    /// All entries of a paged list, by its key and that which names an entry. "Method not
    /// found" means that there are none.
    pub(super) async fn pages(
        &self,
        (key, name): (&str, &str),
        request: impl Fn(Option<PaginatedRequestParams>) -> ClientRequest,
    ) -> Result<Vec<Entry>, RequestError> {
        let mut entries = Vec::new();
        let mut seen = HashSet::new();
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let params = cursor.take().map(|c| PaginatedRequestParams::default().with_cursor(Some(c)));
            let answer = match self.request(request(params), self.limits.connect).await {
                Err(error) if error.is_unknown_method() => return Ok(entries),
                other => other?,
            };
            let (page, next) = answer.entries(key, name)?;
            entries.extend(page);
            cursor = next;
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
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<(Value, Answer<'_>), RequestError> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let _permit = self.permits.acquire().await;
        self.ask(&params).await
    }

    /// Reads a resource.
    pub(super) async fn read(&self, uri: &str) -> Result<(Value, Answer<'_>), RequestError> {
        let _permit = self.permits.acquire().await;
        self.ask(&ReadResourceRequestParams::new(uri)).await
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
