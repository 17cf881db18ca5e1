//! The state that all requests of a server share.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::Bytes;
use axum::http::{HeaderMap, Method, StatusCode};
use futures::FutureExt;
use serde_json::Value;

use super::ready::Ready;
use crate::config::Config;
use crate::metrics::counters::Metrics;
use crate::metrics::prompt_cost::PromptPrefixes;
use crate::upstream::endpoint::Upstream;
use crate::upstream::endpoint_facts::{self, Taught};
use toolgraft::Model;
use toolgraft::model::NativeTrials as _;
use toolgraft::model::{ClientError, ModelInfo};
use toolgraft::secrets::Secrets;
use toolgraft::spans::Span;
use toolgraft::turn::KnownWays;
use toolgraft::wire::{set_member, take_member};
use toolgraft_protocol::{AskSettings, Cache, ChatRequest, Fault, ModelFacts, ServedModel, Store, WITH_TOOLS};

/// The state that all requests of a server share: configuration, endpoint, caches and counters.
pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) upstream: Upstream,
    pub(crate) learned: Arc<endpoint_facts::TrialResults>,
    pub(crate) cache: Cache,
    pub(crate) kept: Arc<Store>,
    pub(crate) beginnings: Arc<PromptPrefixes>,
    pub(crate) metrics: Metrics,
    pub(crate) ready: Ready,
    pub(crate) draining: AtomicBool,
}

impl Shared {
    pub(crate) fn new(config: Config) -> Result<Arc<Self>, ClientError> {
        let learned =
            endpoint_facts::TrialResults::new(config.upstream.learned.clone(), config.upstream.learning.clone());
        let upstream =
            Upstream::new(&config.upstream, config.settings.model.as_deref(), Secrets::new(config.keys()), &learned)?;
        let (model, told) = (upstream.model.clone(), learned.clone());
        let cache = Cache::knowing(
            config.access.budgets.max_prepared_bytes.clone(),
            KnownWays::telling(move |name, fault| {
                if let Some(name) = name
                    && let Some(version) = model.known_version(name)
                {
                    told.keep(name, &version, Some(fault));
                }
            }),
        );
        Ok(Arc::new(Shared {
            kept: Store::new(config.access.instance_key.as_deref())
                .map_err(|fault| ClientError::new(fault.message, None))?,
            beginnings: Arc::default(),
            config,
            upstream,
            learned,
            cache,
            metrics: Metrics::default(),
            ready: Ready::default(),
            draining: AtomicBool::new(false),
        }))
    }

    /// Queries the endpoint for the facts about a request's model that the request depends on, and adds them to it.
    pub(crate) async fn known(&self, mut request: ChatRequest) -> ChatRequest {
        // Asked only if the name leaves the prompt's style open. An endpoint may serve a single model under any name.
        let served = match AskSettings::depends_on_size(&self.config.settings, &request.model) {
            true => self.upstream.model.listed_model(&request.model).await.map(served),
            false => None,
        };
        let set = self.config.upstream.context;
        let context = match request.lists_much() && set.is_none() {
            true => self.upstream.model.context_window(Some(&request.model)).await.map(|window| window.tokens),
            false => set,
        };
        let takes_tools =
            match request.has_tools() && AskSettings::asks_for_tools(&self.config.settings, &request.model) {
                true => self.upstream.model.native_tools(Some(&request.model)).await,
                false => None,
            };
        let info = match request.with_tools {
            true => self.upstream.model.with_model(&request.model).model_info().await,
            false => None,
        };
        let reads = info.as_ref().map(ModelInfo::reads).unwrap_or_default();
        if let Some(version) = self.upstream.model.known_version(&request.model) {
            let fault = self.learned.known(&request.model, &version).flatten();
            if let Some(fault) = fault {
                self.cache.ways().recalls(&Some(request.model.clone()), fault);
            }
        }
        request.known = ModelFacts { served, takes_tools, reads, context };
        request
    }

    /// Awaits a future and catches its panic.
    ///
    /// # Errors
    /// Fails with HTTP 500 if the future panicked; the panic is counted.
    pub(crate) async fn caught<T>(&self, work: impl Future<Output = T>) -> Result<T, Fault> {
        AssertUnwindSafe(work).catch_unwind().await.map_err(|_| self.broken())
    }

    /// Counts a panic, and returns the fault for the request in which it happened.
    fn broken(&self) -> Fault {
        self.metrics.broken.fetch_add(1, Ordering::Relaxed);
        let message = "the server failed at this request because of a bug in it; its stderr says where";
        Fault::internal(message).with_code("internal_error")
    }

    /// Runs a job: a small one on the current thread, a large one on a separate thread once the budget of workers
    /// allows it.
    ///
    /// # Errors
    /// Fails with HTTP 500 if a large job panicked; the panic is counted.
    pub(crate) async fn apart<T: Send + 'static>(
        &self,
        is_large: bool,
        span: Span,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Fault> {
        if !is_large {
            return Ok(job());
        }
        let worker = self.config.access.budgets.max_workers.wait(1).await;
        let done = tokio::task::spawn_blocking(move || {
            let _worker = worker;
            span.in_scope(job)
        });
        done.await.map_err(|_| self.broken())
    }

    /// Returns the facts that are known about the endpoint and this model: version, missing features and the fault of
    /// native calls.
    pub(crate) fn taught(&self, model: &str) -> Taught {
        let (client, ways, name) = (&self.upstream.model, self.cache.ways(), Some(model.to_owned()));
        let mut without = client.with_model(model).does_without();
        without.extend(ways.not_given(&name));
        Taught { version: client.known_version(model), without, native: ways.native_fault(&name) }
    }

    /// Returns the endpoint's list of models with its HTTP status; with a toolbox each model has a second entry,
    /// named with the suffix `+tools`.
    pub(crate) async fn listed(&self, headers: &HeaderMap) -> Result<(StatusCode, Value), Fault> {
        let (status, mut list) =
            self.upstream.json(Method::GET, "models", headers, Bytes::new(), "list of models").await?;
        let twice = self.config.settings.toolbox.is_some() && !self.config.settings.toolbox_always;
        if let Some(models) = list.get_mut("data").and_then(Value::as_array_mut).filter(|_| twice) {
            let named = |model: &Value| {
                let mut model = model.clone();
                let name = format!("{}{WITH_TOOLS}", model.get("id")?.as_str()?);
                set_member(&mut model, "id", name);
                Some(model)
            };
            let more: Vec<Value> = models.iter().filter_map(named).collect();
            models.extend(more);
        }
        Ok((status, list))
    }

    /// Returns the models of the endpoint's list, with second entries for the toolbox.
    ///
    /// # Errors
    /// Fails if the endpoint does not list its models.
    pub(crate) async fn models(&self, headers: &HeaderMap) -> Result<Vec<Value>, Fault> {
        let (status, mut list) = self.listed(headers).await?;
        if !status.is_success() {
            return Err(Fault::upstream(status.as_u16(), "the endpoint does not list its models"));
        }
        match take_member(&mut list, "data") {
            Value::Array(models) => Ok(models),
            _ => Ok(Vec::new()),
        }
    }
}

fn served(ModelInfo { id, parameters, dialect, .. }: ModelInfo) -> ServedModel {
    ServedModel { id, parameters, dialect }
}
