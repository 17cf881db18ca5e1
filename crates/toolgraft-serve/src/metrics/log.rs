//! The log entry of a request: its result and its cost, without anything that was said.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::response::Response;
use futures::StreamExt;

use super::prompt_cost::PromptCost;
use toolgraft::constrain::Way;
use toolgraft::secrets::Secrets;
use toolgraft::tools::ToolsMode;
use toolgraft_protocol::{Fault, Progress};

/// Maximum number of characters of a model's or tool's name in a log, since clients write them.
const MODEL: usize = 100;

/// A function that is called with the log entry of each finished request.
pub(crate) type Log = Arc<dyn Fn(Served) + Send + Sync>;

/// The log entry of a finished request, without anything that was said in it. Keys are removed from the model's name;
/// the rest of a name comes from the client and may be any text of up to 100 characters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Served {
    /// Route of the request, by its name in `/metrics`.
    pub route: &'static str,
    /// Name of the model at the endpoint; empty if none was requested, or if the request was refused before it was
    /// known.
    pub model: String,
    /// HTTP status of the answer; `None` if the client disconnected before.
    pub status: Option<u16>,
    /// Error code if the request failed; a stream may fail after the HTTP status 200.
    pub code: Option<&'static str>,
    /// Number of requests to the endpoint for the answer.
    pub rounds: u32,
    /// Number of calls that were sent to the client.
    pub calls: u64,
    /// Number of calls of the toolbox that ran on this server.
    pub own_calls: usize,
    /// Strategy that decided between a call and a plain answer; `None` if only [`Way::Free`] is configured. It may
    /// differ from the configured one if the endpoint lacks what that needs.
    pub way: Option<Way>,
    /// Mode in which the last request offered the tools, natively or by prompt; `None` if only [`ToolsMode::Prompt`]
    /// is configured.
    pub tools_mode: Option<ToolsMode>,
    /// Two counts: the listed tools whose description was cut at the start of the conversation, and all listed tools.
    pub cut_descriptions: (usize, usize),
    /// Types of the client's tools that were left out because only their vendor's service can run them, separated by
    /// commas.
    pub left_out: String,
    /// Names of the client's tools whose schemas were ignored because nothing can satisfy them; includes
    /// `response_format` if the schema of the answer was ignored. The client wrote these names.
    pub set_aside: Vec<String>,
    /// Number of times in a row that the model repeated a passage, if it was stopped for that.
    pub repeats: Option<u32>,
    /// Size and cost of the prompts of all rounds, where they were made by this server.
    pub prompt: PromptCost,
    /// Duration of the request, from its arrival to the last byte of the answer.
    pub took: Duration,
}

/// Log entry of a request in progress. It is reported when its last clone is dropped.
#[derive(Clone)]
pub(crate) struct LogEntry(Arc<OpenEntry>);

struct OpenEntry {
    about: Mutex<Served>,
    since: Instant,
    log: Log,
}

impl LogEntry {
    /// Starts the log entry for a request to this route.
    pub(crate) fn new(route: &'static str, log: Log) -> Self {
        let about = Served { route, ..Served::default() };
        LogEntry(Arc::new(OpenEntry { about: Mutex::new(about), since: Instant::now(), log }))
    }

    fn about(&self) -> MutexGuard<'_, Served> {
        self.0.about.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the name of the requested model, without secrets and with at most 100 characters.
    pub(crate) fn asks(&self, model: &str, secrets: &Secrets) {
        self.about().model = secrets.hide(model).chars().take(MODEL).collect();
    }

    /// Sets the counts of cut and of all tool descriptions, and the names of tools whose schemas are ignored.
    pub(crate) fn lists<'n>(&self, cut_descriptions: (usize, usize), set_aside: impl Iterator<Item = &'n str>) {
        let mut about = self.about();
        about.cut_descriptions = cut_descriptions;
        about.set_aside = set_aside.map(|name| name.chars().take(MODEL).collect()).collect();
    }

    /// Sets the types of tools that are left out of the request, separated by commas.
    pub(crate) fn leaves_out(&self, types: &str) {
        types.clone_into(&mut self.about().left_out);
    }

    /// Sets the HTTP status of the answer, and the error code if the request was refused.
    pub(crate) fn answered(&self, status: u16, code: Option<&'static str>) {
        let mut about = self.about();
        about.status = Some(status);
        // A refusal has its own code, or none if its status says everything.
        about.code = if status >= 400 { code } else { about.code };
    }

    /// Sets the error code of the fault with which the answer ends.
    pub(crate) fn failed(&self, fault: &Fault) {
        self.about().code = Some(fault.code.unwrap_or("failed"));
    }

    /// Sets the number of rounds and calls of the answer, and the cost of its prompts.
    pub(crate) fn took(&self, progress: Progress, calls: u64, prompt: PromptCost) {
        let Progress { rounds, own_calls, way, tools_mode, repeats, .. } = progress;
        let mut about = self.about();
        (about.rounds, about.calls, about.own_calls) = (rounds, calls, own_calls);
        (about.way, about.tools_mode, about.repeats, about.prompt) = (way, tools_mode, repeats, prompt);
    }

    /// Attaches the log entry to an answer that is passed through: the request is over with the answer's last byte.
    pub(crate) fn follow(self, response: Response) -> Response {
        self.about().rounds = 1;
        response.map(|body| {
            Body::from_stream(body.into_data_stream().inspect(move |piece| {
                if piece.is_err() {
                    self.about().code = Some("failed");
                }
            }))
        })
    }
}

impl Drop for OpenEntry {
    fn drop(&mut self) {
        let about = self.about.get_mut().unwrap_or_else(PoisonError::into_inner);
        about.took = self.since.elapsed();
        (self.log)(about.clone());
    }
}
