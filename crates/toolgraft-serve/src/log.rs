//! What a log may say of a request: how it went and what it took, and nothing that was said.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::response::Response;
use futures::StreamExt;

use super::fault::Fault;
use super::progress::Progress;
use super::repeated::PromptCost;
use toolgraft::constrain::Way;
use toolgraft::secrets::Secrets;
use toolgraft::tools::ToolsMode;

/// Most characters of a model's name in a log: clients write it.
const MODEL: usize = 100;

/// Takes what is to be logged.
pub(super) type Log = Arc<dyn Fn(Served) + Send + Sync>;

/// A request that is over, without anything that was said in it. Keys are taken out of the
/// model's name; what else it holds is a client's, and may be any text of 100 characters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Served {
    /// The route as `/metrics` names it.
    pub route: &'static str,
    /// The model as the endpoint names it; empty where none was asked for, and where the
    /// request was refused before that.
    pub model: String,
    /// HTTP status of the answer; `None` where the client went before there was one.
    pub status: Option<u16>,
    /// Why it failed, as the code of the error; in a stream behind the status 200.
    pub code: Option<&'static str>,
    /// Requests to the endpoint.
    pub rounds: u32,
    /// Calls that the client was handed.
    pub calls: u64,
    /// Calls of the toolbox that ran here.
    pub own_calls: usize,
    /// The way to a call that was taken, where one but [`Way::Free`] is configured: the endpoint may
    /// not give what that needs.
    pub way: Option<Way>,
    /// How the last of those requests offered the tools, where another way but
    /// [`ToolsMode::Prompt`] is configured: natively, or by the prompt.
    pub tools_mode: Option<ToolsMode>,
    /// Listed tools whose description is cut, before anything was said, and all tools.
    pub cut_descriptions: (usize, usize),
    /// Types of the client's tools that are left out, since its own service would run them; with
    /// commas between.
    pub left_out: String,
    /// The client's tools whose schema nothing fits, and is set aside; so is a
    /// `response_format`. A client wrote the names.
    pub set_aside: Vec<String>,
    /// Times in a row that the model repeated a passage, where it was stopped for that.
    pub repeats: Option<u32>,
    /// What the prompts of those requests took, where they are made here.
    pub prompt: PromptCost,
    /// How long it took, to the last byte.
    pub took: Duration,
}

/// A request that will be logged. It is over when the last clone is gone.
#[derive(Clone)]
pub(super) struct Line(Arc<Open>);

struct Open {
    about: Mutex<Served>,
    since: Instant,
    log: Log,
}

impl Line {
    /// A request for this route begins.
    pub(super) fn new(route: &'static str, log: Log) -> Self {
        let about = Served { route, ..Served::default() };
        Line(Arc::new(Open { about: Mutex::new(about), since: Instant::now(), log }))
    }

    fn about(&self) -> MutexGuard<'_, Served> {
        self.0.about.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// This model is asked.
    pub(super) fn asks(&self, model: &str, secrets: &Secrets) {
        self.about().model = secrets.hide(model).chars().take(MODEL).collect();
    }

    /// The prompt lists tools, of whose descriptions it cut some, and sets these schemas aside.
    pub(super) fn lists(&self, cut_descriptions: (usize, usize), set_aside: Vec<String>) {
        let mut about = self.about();
        let names = set_aside.iter().map(|name| name.chars().take(MODEL).collect());
        (about.cut_descriptions, about.set_aside) = (cut_descriptions, names.collect());
    }

    /// These tools are left out.
    pub(super) fn leaves_out(&self, types: &str) {
        types.clone_into(&mut self.about().left_out);
    }

    /// It is answered with this status; refused with this code.
    pub(super) fn answered(&self, status: u16, code: Option<&'static str>) {
        let mut about = self.about();
        about.status = Some(status);
        // A refusal is told by its own code, which the status may say alone.
        about.code = if status >= 400 { code } else { about.code };
    }

    /// The answer ends with this fault.
    pub(super) fn failed(&self, fault: &Fault) {
        self.about().code = Some(fault.code.unwrap_or("failed"));
    }

    /// What the answer took, and how it came about.
    pub(super) fn took(&self, progress: Progress, calls: u64, prompt: PromptCost) {
        let Progress { rounds, own_calls, way, tools_mode, repeats, .. } = progress;
        let mut about = self.about();
        (about.rounds, about.calls, about.own_calls) = (rounds, calls, own_calls);
        (about.way, about.tools_mode, about.repeats, about.prompt) = (way, tools_mode, repeats, prompt);
    }

    /// The same answer; the request is over with it.
    pub(super) fn follow(self, response: Response) -> Response {
        self.about().rounds = 1;
        response.map(|body| {
            let pieces = futures::stream::unfold((body.into_data_stream(), self), |(mut pieces, line)| async {
                let next = pieces.next().await;
                if let Some(Err(_)) = next {
                    line.about().code = Some("failed");
                }
                Some((next?, (pieces, line)))
            });
            Body::from_stream(pieces)
        })
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let about = self.about.get_mut().unwrap_or_else(PoisonError::into_inner);
        about.took = self.since.elapsed();
        (self.log)(about.clone());
    }
}
