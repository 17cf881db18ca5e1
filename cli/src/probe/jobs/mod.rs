//! Whole jobs: questions that are put to the model and run to their end.
//!
//! The first message of a task says whether a model decides well. A job says whether it is of
//! use: each has tools of a server or a program as they are described there, a world that they
//! act on, calls that are right, and what the answer and the world have to be at the end. The
//! tools run in memory; no server is started and no file is touched.
//!
//! ```text
//! jobs.json ─▶ job ──▶ agent (as chat runs it) ──▶ world ──▶ score
//! ```

mod job;
mod score;
mod servers;
mod world;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use serde_json::Value;

use super::cell::{Cell, How};
use super::trial::{Bench, Unasked, ask};
use toolgraft::agent::ApprovalRequest;
use toolgraft::constrain::{Constrain, Way};
use toolgraft::model::{ContextWindow, ModelError, ModelEvent, Request};
use toolgraft::turn::TurnConfig;
use toolgraft::{Agent, Functions, Model, OpenAi, Outcome};

use self::job::Job;
pub(super) use self::job::{Half, Jobs};
use self::score::counted;
pub(super) use self::score::{JobRow, JobTrial, JobsReport};
use self::world::World;

/// Maximum number of requests for one job, not counting corrections: three steps, the answer and four spare ones.
const ROUNDS: u32 = 8;

/// Maximum time for one job. Its rounds and tokens have limits of their own, so that only a stuck endpoint takes as
/// long.
const JOB_LIMIT: Duration = Duration::from_secs(900);

/// Maximum number of characters of an answer that are stored.
const KEPT: usize = 1_000;

/// A model client that counts the requests that reach the endpoint.
struct Counting {
    client: OpenAi,
    requests: Arc<AtomicUsize>,
}

impl Model for Counting {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        // Where the structure leaves only one answer, the endpoint is not asked.
        if request.only_answer().is_none() {
            self.requests.fetch_add(1, Ordering::Relaxed);
        }
        self.client.stream(request)
    }

    fn native_tools(&self, model: Option<&str>) -> BoxFuture<'static, Option<bool>> {
        self.client.native_tools(model)
    }

    fn constrains(&self) -> bool {
        self.client.constrains()
    }

    fn context_window(&self, model: Option<&str>) -> BoxFuture<'static, Option<ContextWindow>> {
        self.client.context_window(model)
    }
}

impl Bench {
    /// Runs a job to its end. Returns `None` if `left`, the remaining time of the whole probe, ended first.
    pub(super) async fn job(
        &self,
        way: (Cell, Option<f64>),
        job: &Job,
        left: Option<Duration>,
    ) -> Result<Option<JobTrial>, Unasked> {
        let begun = Instant::now();
        let limit = left.unwrap_or(JOB_LIMIT).min(JOB_LIMIT);
        if limit.is_zero() {
            return Ok(None);
        }
        let world = Arc::new(Mutex::new(job.world.clone()));
        let requests = Arc::new(AtomicUsize::new(0));
        let agent = self.job_agent(way, job, &world, &requests);
        let seen = ask(&agent, (&job.question, false), limit, |_| false).await?;
        // The time of the probe was over and not that of the job, which says nothing of the way.
        if seen.timed_out && limit < JOB_LIMIT {
            return Ok(None);
        }
        let world = world.lock().unwrap_or_else(PoisonError::into_inner);
        let (wanted, right, repeats) = counted(job, &seen.calls);
        let ran = seen.calls.iter().map(|(tool, args)| format!("{tool} {}", Value::Object(args.clone())));
        Ok(Some(JobTrial {
            job: job.id.clone(),
            kind: job.kind,
            threshold: way.1,
            likely: seen.likely,
            wanted,
            right,
            calls: seen.calls.len(),
            repeats,
            requests: requests.load(Ordering::Relaxed),
            // An answer without the call that it needs is invented, even where it is right.
            answered: (wanted == 0 || !seen.calls.is_empty()) && job.is_answered(&seen.answer),
            state: job.is_done(&world),
            tokens: seen.tokens,
            ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
            ran: ran.collect(),
            answer: match seen.timed_out {
                true => format!("(longer than {} s)", JOB_LIMIT.as_secs()),
                false => seen.answer.chars().take(KEPT).collect(),
            },
        }))
    }

    /// Returns an agent configured as in `chat` for this way to offer tools, with tools that act on the simulated
    /// world.
    fn job_agent(
        &self,
        (cell, threshold): (Cell, Option<f64>),
        job: &Job,
        world: &Arc<Mutex<World>>,
        requests: &Arc<AtomicUsize>,
    ) -> Agent {
        let mut config: TurnConfig = self.config(cell);
        config.max_rounds = ROUNDS + config.max_corrections;
        match cell.how() {
            How::Free | How::Told => {}
            How::Measured => {
                (config.constrain, config.way) = (Constrain::Auto, Way::Measured);
                config.call_threshold = threshold;
            }
        }
        let tools = job.tools.iter().fold(Functions::unnamed(), |tools, (tool, operation)| {
            let (tool, operation, world) = (tool.clone(), operation.clone(), world.clone());
            let name = tool.name.clone();
            tools.with(tool, move |arguments| {
                let mut world = world.lock().unwrap_or_else(PoisonError::into_inner);
                let result = world.call(&name, operation.as_ref(), &arguments).map(Outcome::result);
                async move { result }
            })
        });
        let model = Counting { client: self.client.clone(), requests: requests.clone() };
        // Whatever the model writes may run, also where a user would be asked.
        self.agent(cell, config, (model, tools)).approver(|_: ApprovalRequest| async { true }).build()
    }
}
