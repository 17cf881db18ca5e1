//! Which endpoint and model to talk to.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::time::Duration;

use futures::future::join_all;

use crate::base::{Failure, output, words::near};
use crate::front::Frontend;
use crate::screen::{excerpt::names as shown_names, visible::word};
use crate::servers::app::runtime;
use crate::settings::{self, Place, Settings, learned, variable};
use toolgraft::OpenAi;
use toolgraft::dialect::Profile;
use toolgraft::http::Trust;
use toolgraft::model::{CONNECT_TIMEOUT, ModelError, ModelInfo, NativeFault, Tracer};
use toolgraft::secrets::{Secrets, shown_url, url_secrets};

/// Names and URLs of inference servers that commonly run on the user's computer, by their default ports.
const LOCAL: [(&str, &str); 4] = [
    ("LM Studio", "http://localhost:1234/v1"),
    ("Ollama", "http://localhost:11434/v1"),
    ("llama.cpp", "http://localhost:8080/v1"),
    // Its default port from 2027 on.
    ("llama.cpp", "http://localhost:9931/v1"),
];

/// Maximum time to connect to the endpoint when `serve` starts.
const SERVED_CONNECT: Duration = Duration::from_secs(2);

/// Maximum time for a local server to send its list of models, for which it has to load nothing.
const PROBE: Duration = Duration::from_millis(1500);

/// Time between two requests to a server that is still loading its model, followed by the maximum number of requests: a
/// large model takes minutes to load from a slow disk.
const LOADING: Duration = Duration::from_secs(1);
const LOADING_TIMES: usize = 600;

/// An endpoint and one of its models.
#[derive(Clone)]
pub(crate) struct Endpoint {
    /// Base URL as given, with `/v1` added if the endpoint needs it.
    pub(crate) url: String,
    /// Name of the endpoint in `config.toml`; `None` if it was given by its URL or found by its port.
    pub(crate) called: Option<String>,
    /// Name of the server software, such as `Ollama`, if the endpoint was found by its default port.
    pub(super) found: Option<&'static str>,
    pub(crate) key: Option<String>,
    /// Certificates with which the endpoint's TLS certificate is verified.
    pub(crate) trust: Trust,
    /// HTTP client shared by all models of the endpoint, so that cached information is not requested twice.
    client: OpenAi,
    /// The models that the endpoint lists; empty if they were not requested.
    pub(crate) listed: Vec<ModelInfo>,
    /// Id of the chosen model; empty until one is chosen.
    pub(crate) model: String,
    /// Properties of the chosen model, as the endpoint reports them.
    pub(crate) info: ModelInfo,
}

impl Endpoint {
    /// Returns the endpoint and model that are configured; without a URL, searches the local default ports, and lets
    /// the user choose between several models.
    pub(crate) async fn choose(place: &Place, front: &dyn Frontend) -> Result<Self, Failure> {
        if place.url.is_none() {
            warn_of_variables();
            return Ok(Endpoint::local(place, front).await?.learned().await);
        }
        // Whether the URL is one is said before anything is asked.
        let mut endpoint = Endpoint::at(place)?;
        match &place.model {
            Some(model) => {
                endpoint.model.clone_from(model);
                endpoint.warn_unlisted().await?;
            }
            None => {
                endpoint.list(true).await?;
                endpoint = Endpoint::pick(&[endpoint], front).await?;
            }
        }
        Ok(endpoint.learned().await)
    }

    /// Creates the endpoint for a place with a URL.
    fn at(place: &Place) -> Result<Self, Failure> {
        let key = place.key_or("OPENAI_API_KEY");
        let url = place.url.clone().unwrap_or_default();
        Ok(Endpoint { called: place.called.clone(), ..Endpoint::new(url, None, (key, &place.trust), CONNECT_TIMEOUT)? })
    }

    /// Warns if the endpoint does not list the chosen model: it may still accept the name, as a server with one model
    /// does. Adds `/v1` to the URL if only that lists models.
    pub(super) async fn warn_unlisted(&mut self) -> Result<(), Failure> {
        if self.listed.is_empty() {
            // What the client learns of the model looks into the same list.
            self.listed = match tokio::time::timeout(PROBE, self.client.models()).await {
                Ok(Ok(models)) => models,
                Ok(Err(_)) if self.go_below_v1().await? => self.client.models().await.unwrap_or_default(),
                // Without a list in time nothing is known of its models, and nothing is warned of.
                _ => return Ok(()),
            };
        }
        if self.listed.len() > 1 && self.listed.iter().all(|known| known.id != self.model) {
            let remedy = match near(&self.model, self.listed.iter().map(|known| known.id.as_str())) {
                Some(near) => format!("nearest: {near}"),
                None => "`toolgraft models` shows what it lists".to_owned(),
            };
            output::warn(&format!("the endpoint does not list {}; {remedy}", self.model));
        }
        Ok(())
    }

    /// Returns the configured endpoint; or without a URL the `usual` one, all named ones and all local servers. Each
    /// has its list of models; with several, those without a list are omitted with a warning.
    pub(crate) async fn all(place: &Place, usual: Option<String>) -> Result<Vec<Self>, Failure> {
        if place.url.is_some() {
            let mut endpoint = Endpoint::at(place)?;
            endpoint.list(false).await?;
            return Ok(vec![endpoint]);
        }
        warn_of_variables();
        let names = settings::file()?.names;
        // One that has a name is among the named ones already.
        let usual = usual.filter(|usual| names.endpoints().all(|name| name != usual));
        let urls: Vec<String> = usual.into_iter().chain(names.endpoints().map(str::to_owned)).collect();
        let listed = join_all(urls.iter().map(|url| async {
            let place =
                names.resolve(Place { url: Some(url.clone()), trust: place.trust.clone(), ..Place::default() })?;
            let mut endpoint = Endpoint::at(&place)?;
            endpoint.list(false).await.map(|()| endpoint)
        }));
        let (listed, local) = futures::join!(listed, Endpoint::all_local(place));
        let (mut all, mut without): (Vec<Endpoint>, Vec<Failure>) = (Vec::new(), Vec::new());
        for endpoint in listed {
            match endpoint {
                Ok(endpoint) => all.push(endpoint),
                Err(error) => without.push(error),
            }
        }
        match local {
            Ok(local) => all.extend(local),
            // That nothing runs on this machine is told only where nothing else was named.
            Err(error) => without.extend(urls.is_empty().then_some(error)),
        }
        if all.is_empty()
            && let Some(error) = without.drain(..).next()
        {
            return Err(error);
        }
        without.iter().for_each(|error| output::warn(error.message()));
        let mut seen = BTreeSet::new();
        all.retain(|endpoint| seen.insert(endpoint.url.clone()));
        Ok(all)
    }

    /// Returns the URL of the endpoint to which `serve` forwards, reachable or not, and its name for messages: the
    /// configured one, with `/v1` added if only that lists models; else a local server.
    ///
    /// # Errors
    /// The URL is invalid; or none is configured and no local server answers.
    pub(crate) async fn served(place: &Place) -> Result<(String, String), Failure> {
        let Some(url) = &place.url else {
            warn_of_variables();
            let there = Endpoint::all_local(&Place::default()).await?;
            let endpoint = there.iter().find(|endpoint| !endpoint.listed.is_empty()).unwrap_or(&there[0]);
            return Ok((endpoint.url.clone(), endpoint.name()));
        };
        let by = (place.key.clone(), &place.trust);
        let mut endpoint = Endpoint::new(url.clone(), None, by, SERVED_CONNECT)?;
        match endpoint.client.models().await {
            Ok(listed) => {
                endpoint.listed = listed;
                if let Some(model) = &place.model {
                    endpoint.with_model(model).warn_unlisted().await?;
                }
            }
            Err(error @ ModelError::Unreachable { .. }) => {
                output::warn(&format!("{error} (requests are answered with 502 until it is reachable)"));
            }
            Err(error) => {
                if !endpoint.go_below_v1().await? {
                    let own = if place.key.is_none() { ", or let each client send it" } else { "" };
                    warn_refused(&error, own);
                }
            }
        }
        let name = endpoint.name();
        Ok((endpoint.url, name))
    }

    fn new(
        url: String,
        found: Option<&'static str>,
        (key, trust): (Option<String>, &Trust),
        connect: Duration,
    ) -> Result<Self, Failure> {
        let builder = OpenAi::builder(url.as_str(), "").connect_timeout(connect).trust(trust.clone());
        let builder = builder.native_trials(learned::trials(&url));
        let builder = match &key {
            Some(key) => builder.api_key(key.as_str()),
            None => builder,
        };
        let client = builder.build().map_err(Failure::usage)?;
        Ok(Endpoint {
            url,
            called: None,
            found,
            key,
            trust: trust.clone(),
            client,
            listed: Vec::new(),
            model: String::new(),
            info: ModelInfo::default(),
        })
    }

    /// Requests the list of models, with `/v1` added to the URL if necessary. `is_needed` adds to an error that no
    /// model was named.
    async fn list(&mut self, is_needed: bool) -> Result<(), Failure> {
        let why = if is_needed { "no model was named, and " } else { "" };
        let cannot = |error| Failure::job(format!("{why}the list of models could not be read: {error}"));
        self.listed = self.fetched().await?.map_err(cannot)?;
        Ok(())
    }

    /// Returns the endpoint with its list of models and the properties of the chosen model; an error if nothing answers
    /// at its URL.
    pub(crate) async fn reached(mut self) -> Result<Self, Failure> {
        if !self.listed.is_empty() {
            return Ok(self);
        }
        match self.fetched().await? {
            Ok(models) => self.listed = models,
            Err(error @ ModelError::Unreachable { .. }) => return Err(Failure::job(error)),
            // It may have no list and answer all the same.
            Err(error) => warn_refused(&error, ""),
        }
        Ok(self.learned().await)
    }

    /// Requests the list of models, with `/v1` added to the URL if necessary.
    async fn fetched(&mut self) -> Result<Result<Vec<ModelInfo>, ModelError>, Failure> {
        let mut models = self.once_loaded().await;
        if models.is_err() && self.go_below_v1().await? {
            models = self.client.models().await;
        }
        Ok(models)
    }

    /// Adds `/v1` to the URL, with a warning, if models are listed only there; returns `true` if so.
    async fn go_below_v1(&mut self) -> Result<bool, Failure> {
        let Some(url) = self.client.add_v1().await else { return Ok(false) };
        let (name, shown) = (self.name(), shown_url(&url));
        output::warn(&format!("{name} has no list of models, but {shown} has one: using that"));
        let (called, model) = (self.called.take(), std::mem::take(&mut self.model));
        let by = (self.key.clone(), &self.trust);
        *self = Endpoint { called, model, ..Endpoint::new(url, self.found, by, CONNECT_TIMEOUT)? };
        Ok(true)
    }

    /// Requests the list of models, and repeats that while the server is loading its model.
    async fn once_loaded(&self) -> Result<Vec<ModelInfo>, ModelError> {
        let mut models = self.client.models().await;
        for asked in 0..LOADING_TIMES {
            if !models.as_ref().is_err_and(is_loading) {
                break;
            }
            if asked == 0 {
                output::tell_stderr(format!("{} is still loading its model: waiting for it", self.name()));
            }
            tokio::time::sleep(LOADING).await;
            models = self.client.models().await;
        }
        models
    }

    /// Returns the endpoint with the properties of the chosen model, as it reports them for the model or in its list.
    pub(crate) async fn learned(self) -> Self {
        let listed = || self.listed.iter().find(|listed| listed.id == self.model).cloned();
        let info = self.client().model_info().await.or_else(listed).unwrap_or_default();
        Endpoint { info, ..self }
    }

    /// Returns advice on a longer context for the server's software; `None` if that is unknown.
    pub(crate) fn longer_context(&self) -> Option<String> {
        Some(self.info.server?.longer_context().to_owned())
    }

    /// Returns the saved result of testing the model's native calls: `None` if there is none, `Some(None)` if they
    /// work.
    pub(super) fn found_natively(&self) -> Option<Option<NativeFault>> {
        learned::found(&self.url, &self.model, self.info.version.as_deref()?)
    }

    /// Returns the endpoint with its traffic recorded, if there is a tracer.
    pub(super) fn traced(self, tracer: Option<Tracer>) -> Self {
        match tracer {
            Some(tracer) => Endpoint { client: self.client.with_trace(tracer), ..self },
            None => self,
        }
    }

    /// Returns the secrets (the API key and those in the URL) that are removed from recordings.
    pub(super) fn secrets(&self) -> Secrets {
        Secrets::new(self.key.iter().cloned().chain(url_secrets(&self.url)))
    }

    /// Returns the size of the model's context in tokens; `None` if the endpoint does not report it.
    pub(crate) fn context(&self) -> Option<usize> {
        usize::try_from(self.info.context?).ok()
    }

    /// Returns the profile of the settings, or else that of the model.
    pub(crate) fn profile(&self, settings: &Settings) -> &'static Profile {
        settings.profile.unwrap_or_else(|| Profile::for_model(&self.model))
    }

    /// Returns a local server with the configured model, or lets the user choose a model of the local servers.
    async fn local(place: &Place, front: &dyn Frontend) -> Result<Self, Failure> {
        // A key of the environment belongs to somebody else's endpoint.
        let there = Endpoint::all_local(place).await?;
        let Some(model) = &place.model else { return Endpoint::pick(&there, front).await };
        let first =
            there.iter().find(|endpoint| endpoint.listed.iter().any(|info| info.id == *model)).unwrap_or(&there[0]);
        Ok(first.with_model(model))
    }

    /// Returns the local servers that answer on their default ports; an error if there are none.
    async fn all_local(place: &Place) -> Result<Vec<Self>, Failure> {
        let by = || (place.key.clone(), &place.trust);
        let new = |(name, url): (_, &str)| Endpoint::new(url.to_owned(), Some(name), by(), PROBE);
        let probes = LOCAL.into_iter().map(new).collect::<Result<Vec<_>, _>>()?;
        let answers = join_all(probes.iter().map(Endpoint::probe)).await;
        let mut there: Vec<Endpoint> = Vec::new();
        let (mut tried, mut answered) = (Vec::new(), false);
        for (endpoint, answer) in probes.iter().zip(answers) {
            let why = match answer {
                Ok(listed) => {
                    there.push(Endpoint { listed, ..endpoint.clone() });
                    continue;
                }
                Err(why) => {
                    answered |= why.is_some();
                    why.unwrap_or_else(|| "nothing there".to_owned())
                }
            };
            tried.push(format!("  {} at {}: {why}", endpoint.found.unwrap_or_default(), endpoint.url));
        }
        if there.is_empty() { Err(nobody(&tried, answered)) } else { Ok(there) }
    }

    /// Returns the only model of these endpoints, or lets the user choose one.
    async fn pick(there: &[Endpoint], front: &dyn Frontend) -> Result<Self, Failure> {
        let of = |endpoint: &Endpoint| endpoint.listed.iter().map(|info| endpoint.with_model(&info.id)).collect();
        let all: Vec<Endpoint> = there.iter().flat_map::<Vec<_>, _>(of).collect();
        let Some(first) = all.first() else {
            return Err(Failure::usage(format!(
                "{} has no model: load one (LM Studio), pull one (`ollama pull NAME`), or name one with --model",
                there[0].name()
            )));
        };
        if all.len() == 1 {
            return Ok(first.clone());
        }
        let is_one_server = all.iter().all(|one| one.is_where(first));
        let (title, several) = match is_one_server {
            true => (
                format!("{} has these models:", first.name()),
                format!("{} has several models: name one with --model", first.name()),
            ),
            false => (
                format!("{} servers run on this machine, with these models:", there.len()),
                "several servers run on this machine: name a model with --model, or one of them with --base-url URL"
                    .to_owned(),
            ),
        };
        let name = |one: &Endpoint| match one.found.filter(|_| !is_one_server) {
            Some(server) => format!("{} ({server})", one.model),
            None => one.model.clone(),
        };
        let names: Vec<String> = all.iter().map(name).collect();
        if front.room().is_none() {
            return Err(Failure::usage(format!("{several}; there are: {}", shown_names(&names))));
        }
        let at = front.choose(&title, &names).await?;
        at.map(|at| all[at].clone()).ok_or_else(|| Failure::usage("no model was chosen: name one with --model"))
    }

    /// Returns the models of a local server; else the problem with it, or `None` if nothing listens on its port.
    async fn probe(&self) -> Result<Vec<ModelInfo>, Option<String>> {
        let mut models = tokio::time::timeout(PROBE, self.client.models()).await;
        if let Ok(Err(error)) = &models
            && is_loading(error)
        {
            models = Ok(self.once_loaded().await);
        }
        // Connections to this machine are refused at once where nobody listens.
        let Ok(models) = models else {
            let seconds = PROBE.as_secs_f64();
            return Err(Some(format!("busy: it accepted the connection and sent nothing for {seconds} seconds")));
        };
        models.map_err(|error| match error {
            ModelError::Unreachable { .. } => None,
            ModelError::Refused { status: 401 | 403, .. } => Some("it requires a key: --api-key KEY".to_owned()),
            ModelError::Refused { status, .. } => Some(format!("another program: HTTP {status}, no list of models")),
            ModelError::BadAnswer { message, .. } => Some(format!("another program: {message}")),
            other => Some(other.to_string()),
        })
    }

    /// Returns the same endpoint with another model.
    pub(crate) fn with_model(&self, model: &str) -> Self {
        Endpoint { model: model.to_owned(), info: ModelInfo::default(), ..self.clone() }
    }

    /// Returns `true` if another endpoint has the same URL.
    pub(crate) fn is_where(&self, other: &Endpoint) -> bool {
        self.url == other.url
    }

    /// Returns another model, by a name as for `--model`: of this endpoint, or of one that `config.toml` names, whose
    /// API key is then read. With `stays`, a model of another endpoint is an error.
    ///
    /// # Errors
    /// The endpoint's name is unknown or its API key cannot be read; the name is that of an endpoint without a model;
    /// or `stays` excludes it.
    pub(crate) fn other(&self, name: &str, stays: bool) -> Result<Self, Failure> {
        let names = settings::file()?.names;
        let wanted = Place { model: Some(name.to_owned()), trust: self.trust.clone(), ..Place::default() };
        let place = names.locate(wanted.clone())?;
        let Some(model) = &place.model else {
            let name = name.trim_end_matches(':');
            return Err(Failure::usage(format!("{name} names an endpoint: name a model of it, as in {name}:MODEL")));
        };
        // A name without an endpoint is a model of this one.
        let is_here = place.url.as_ref().is_none_or(|url| *url == self.url);
        if stays && !is_here {
            return Err(Failure::usage(format!(
                "{name} is at another endpoint, whose key --record and --trace could not remove: start toolgraft \
                 chat -m {name}",
                name = word(name)
            )));
        }
        let there = if is_here { self.clone() } else { Endpoint::at(&names.resolve(wanted)?)? };
        Ok(there.with_model(model))
    }

    /// Returns a client for the chosen model.
    pub(crate) fn client(&self) -> OpenAi {
        self.client.with_model(self.model.as_str())
    }

    /// Returns `true` if a text is or contains the API key or a secret of the URL.
    pub(crate) fn has_key_in(&self, text: &str) -> bool {
        self.key.as_deref() == Some(text) || matches!(self.secrets().hide(text), Cow::Owned(_))
    }

    /// Returns the ids of the endpoint's models; they are requested once.
    pub(crate) async fn models(&mut self) -> Result<Vec<String>, Failure> {
        if self.listed.is_empty() {
            self.list(true).await?;
        }
        Ok(self.listed.iter().map(|info| info.id.clone()).collect())
    }

    /// Returns the name of the endpoint for messages, without secrets.
    pub(crate) fn name(&self) -> String {
        let url = shown_url(&self.url);
        self.called.as_deref().or(self.found).map_or_else(|| url.clone(), |found| format!("{found} at {url}"))
    }
}

/// Warns if the response to the request for models shows that the API key is refused or that the URL is not an
/// endpoint. The advice names the key of `serve`, and `or` as an alternative.
fn warn_refused(error: &ModelError, or: &str) {
    match error {
        ModelError::Refused { url, status: status @ (401 | 403), .. } => {
            output::warn(&format!("{url} answered HTTP {status}: set the endpoint's key in TOOLGRAFT_UPSTREAM_KEY{or}"))
        }
        ModelError::BadAnswer { .. } => output::warn(&error.to_string()),
        _ => {}
    }
}

/// Warns of set environment variables of other programs, which are ignored.
fn warn_of_variables() {
    for name in ["OPENAI_API_BASE", "OLLAMA_HOST"] {
        if let Some(value) = variable(name) {
            // The value of the latter may be an address alone.
            let url = if value.contains("://") { value } else { format!("http://{value}") };
            let url = shown_url(&url);
            output::warn(&format!("{name} is ignored: name the endpoint with --base-url {url}, or in OPENAI_BASE_URL"));
        }
    }
}

/// Returns the ids of the models of all local servers that list them within this time.
pub(crate) fn local_models(patience: Duration) -> Vec<String> {
    let Ok(runtime) = runtime() else { return Vec::new() };
    let asked = async { tokio::time::timeout(patience, Endpoint::all_local(&Place::default())).await };
    let there = runtime.block_on(asked).ok().and_then(Result::ok).unwrap_or_default();
    there.into_iter().flat_map(|endpoint| endpoint.listed).map(|info| info.id).collect()
}

/// Returns `true` if an error means that the server is running but still loading its model.
fn is_loading(error: &ModelError) -> bool {
    // llama.cpp's answer; a 503 of another kind is not worth ten minutes of waiting.
    error.status() == Some(503) && error.to_string().to_lowercase().contains("loading model")
}

fn nobody(tried: &[String], answered: bool) -> Failure {
    let what = if answered {
        "no model endpoint answered on this machine"
    } else {
        "no model endpoint was found on this machine"
    };
    Failure::job(format!(
        "{what}; tried\n{}\n  Start one of them (LM Studio: its server is in the Developer tab; Ollama: `ollama \
         serve`; llama.cpp: `llama-server -m MODEL.gguf`), or name one with --base-url URL",
        tried.join("\n")
    ))
}
