//! The configuration of a server.

use std::sync::Arc;
use std::time::Duration;

use crate::access::budgets::Budgets;
use crate::access::settings::AccessSettings;
use crate::inspection::inspector::Inspector;
use crate::metrics::log::{Log, Served};
use crate::upstream::endpoint_facts::Learned;
use crate::upstream::settings::UpstreamSettings;
use toolgraft::constrain::{Constrain, Way};
use toolgraft::dialect::{Lang, Profile, PromptStyle};
use toolgraft::http::Trust;
use toolgraft::message::Reads;
use toolgraft::model::ClientError;
use toolgraft::prompt::Options;
use toolgraft::route::Toolbox;
use toolgraft::tools::ToolsMode;
use toolgraft::{Dialect, OpenAi, Policy};
use toolgraft_protocol::{ModelSettings, Permissions, Settings};

/// Default time between two comments that keep a silent stream open.
pub const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// Default time that running answers get to end when the server stops.
pub const DRAIN: Duration = Duration::from_secs(30);

/// The configuration of a server in front of its endpoint. Cheap to clone.
#[derive(Clone)]
pub struct Config {
    pub(crate) access: AccessSettings,
    pub(crate) upstream: UpstreamSettings,
    /// Settings that have nothing to do with HTTP, such as those of the models and the toolbox.
    pub(crate) settings: Settings,
    pub(crate) max_time: Option<Duration>,
    pub(crate) keep_alive: Duration,
    pub(crate) drain: Duration,
    pub(crate) search: Option<String>,
    pub(crate) inspector: Option<Inspector>,
    pub(crate) log: Option<Log>,
}

impl Config {
    /// Makes the configuration of a server in front of the endpoint at `base_url`, such as
    /// `http://localhost:11434/v1`, with all defaults.
    ///
    /// # Errors
    /// Fails if the URL is not an HTTP URL.
    pub fn new(base_url: impl Into<String>) -> Result<Self, ClientError> {
        let base_url = base_url.into();
        OpenAi::new(base_url.clone(), "")?;
        Ok(Config {
            access: AccessSettings::default(),
            upstream: UpstreamSettings::of(base_url),
            settings: Settings::default(),
            max_time: None,
            keep_alive: KEEP_ALIVE,
            drain: DRAIN,
            search: None,
            inspector: None,
            log: None,
        })
    }

    /// Removes clients' tools whose names match this glob, such as `Cron*`: the model does not see
    /// them.
    #[must_use]
    pub fn with_left_out(mut self, tools: impl Into<String>) -> Self {
        self.settings.without.push(tools.into());
        self
    }

    /// Adds a host name under which the server is reached, in addition to those of the loopback. A
    /// request with another `Host` is refused, so that no web page reaches the server through a
    /// name that it lets resolve to this machine.
    #[must_use]
    pub fn with_host(mut self, host: impl Into<String>) -> Self {
        self.access.hosts.push(host.into());
        self
    }

    /// Sets a toolbox. Models named `NAME+tools` get its tools in addition to the client's; with
    /// `always` every model gets them. Its calls run on this server, if
    /// [`with_policy`](Self::with_policy) allows them.
    #[must_use]
    pub fn with_toolbox(mut self, toolbox: impl Toolbox + 'static, always: bool) -> Self {
        self.settings.toolbox = Some(Arc::new(toolbox));
        self.settings.toolbox_always = always;
        self
    }

    /// Names a server of the toolbox whose results may be text of third parties, such as a page of
    /// the web or a stranger's mail. After such a result, or with the server's own instructions or
    /// descriptions in the prompt, the model may be acting on instructions in that text. From then
    /// on, for the rest of the conversation, only those tools run that the policy names without a
    /// wildcard, and read-only tools of other servers. A history that this server did not answer
    /// itself, and that is more than a single question, counts as one with such results; so does
    /// each history of the same client within [`KEPT_FOR`](crate::KEPT_FOR) after a result.
    #[must_use]
    pub fn with_untrusted(mut self, server: impl Into<String>) -> Self {
        self.settings.untrusted.push(server.into());
        self
    }

    /// Accepts requests of web pages with this origin, such as `http://localhost:5173` or
    /// `app://obsidian.md`, and sends browsers the CORS headers for it; `*` accepts every origin.
    /// Without this setting only pages of this machine's own names are answered, without CORS
    /// headers, and all others are refused.
    #[must_use]
    pub fn with_origin(mut self, origin: impl Into<String>) -> Self {
        self.access.origins.push(origin.into().trim_end_matches('/').to_owned());
        self
    }

    /// Returns the budgets: limits on the resources that all requests of the server take together.
    pub fn budgets(&self) -> &Budgets {
        &self.access.budgets
    }

    /// Adds facts that were learned about the endpoint earlier; each counts only while the endpoint
    /// reports the version with which it was learned.
    #[must_use]
    pub fn with_learned(mut self, learned: impl IntoIterator<Item = Learned>) -> Self {
        self.upstream.learned.extend(learned);
        self
    }

    /// Sets the API key that clients must send. It is never forwarded to the endpoint.
    #[must_use]
    pub fn with_api_key(mut self, key: impl Into<String>) -> Self {
        self.access.client_key = Some(key.into());
        self.settings.one_key = true;
        self.without_client_keys()
    }

    /// Sets the API key for the endpoint, which is sent instead of a client's key.
    #[must_use]
    pub fn with_upstream_key(mut self, key: impl Into<String>) -> Self {
        self.upstream.key = Some(key.into());
        self.without_client_keys()
    }

    /// Returns the secrets that must not appear in anything that is stored: the server's keys.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.access.client_key.iter().chain(&self.upstream.key).chain(&self.access.instance_key).map(String::as_str)
    }
}

/// Makes setters from a table: a row has the setter, the field that it sets, and the value.
macro_rules! setters {
    ($($(#[$doc:meta])+ $setter:ident($($given:ident: $kind:ty),*) sets $($field:ident).+ = $value:expr;)+) => {
        impl Config {
            $(
                $(#[$doc])+
                #[must_use]
                pub fn $setter(mut self, $($given: $kind),*) -> Self {
                    self.$($field).+ = $value;
                    self
                }
            )+
        }
    };
}

setters! {
    /// Sets the model that answers every request, whatever model a client names.
    with_model(model: impl Into<String>) sets settings.model = Some(model.into());

    /// Sets a function that returns the settings of the model with this name, as the endpoint has it; they take
    /// precedence over those for all models. It is called for each request, so that the settings can change while the
    /// server runs, and must not take long.
    with_model_settings(find: impl Fn(&str) -> Option<ModelSettings> + Send + Sync + 'static) sets settings.models = Some(Arc::new(find));

    /// Sets the profile of every model. Without it the profile is chosen by the model's name.
    with_profile(profile: &'static Profile) sets settings.profile = Some(profile);

    /// Sets the dialect (call syntax) that the prompt teaches, instead of the profile's.
    with_dialect(dialect: Dialect) sets settings.dialect = Some(dialect);

    /// Sets how much the prompt says apart from the tools. The default suits the model's size,
    /// which is taken from its name or the endpoint's list of models ([`Profile::style_for`]).
    with_style(style: PromptStyle) sets settings.style = Some(style);

    /// Sets how tools are listed in the prompt. Its language, dialect and style are ignored: the
    /// model's are used, or those of [`with_lang`](Self::with_lang),
    /// [`with_dialect`](Self::with_dialect) and [`with_style`](Self::with_style).
    with_prompt(options: Options) sets settings.prompt = options;

    /// Sets the language of the prompt and of messages to the model, instead of the profile's.
    with_lang(lang: Lang) sets settings.lang = Some(lang);

    /// Sets how tools are offered to the model. With the default [`ToolsMode::Auto`] requests carry
    /// them natively where the profile or the endpoint says that this works; where it fails the
    /// same request is sent again with the tools in the prompt, and once that worked later requests
    /// are too.
    with_tools_mode(mode: ToolsMode) sets settings.tools_mode = mode;

    /// Sets whether the endpoint is asked to constrain an answer that must have a structure: a
    /// required call, an answer with a schema, or the round that corrects either. With the default
    /// [`Constrain::Auto`] the form that the endpoint accepts is used, and the same request is sent
    /// without it where it accepts none. Answers are checked here in any case.
    with_constrain(constrain: Constrain) sets settings.constrain = constrain;

    /// Sets the strategy that decides between a call and a plain answer; default [`Way::Auto`]. If the endpoint lacks
    /// what a strategy needs, this is remembered and the choice is left to the model
    /// ([`Served::way`](super::Served::way)).
    with_way(way: Way) sets settings.way = way;

    /// Sets the logarithm of the probability from which on a message becomes a call with
    /// [`Way::Measured`]; default [`CALL_THRESHOLD`](toolgraft::turn::CALL_THRESHOLD).
    with_call_threshold(threshold: f64) sets settings.call_threshold = Some(threshold);

    /// Sets the secret that identifiers of calls are signed with. Use the same for all instances of
    /// one service, so that each accepts the others' identifiers; without it an instance accepts
    /// only its own.
    with_instance_key(secret: impl Into<String>) sets access.instance_key = Some(secret.into());

    /// Stops forwarding clients' keys to the endpoint. Meant for an endpoint that nobody
    /// configured, such as one that was found by its port.
    without_client_keys() sets upstream.hands_on_key = false;

    /// Sets the TLS certificates that the endpoint is verified with, in addition to the system's.
    with_trust(trust: Trust) sets upstream.trust = trust;

    /// Sets a proxy for an endpoint whose URL begins with `https`; `except` lists hosts that are
    /// reached without it, in the form of `NO_PROXY`. Any other endpoint is reached directly, and
    /// no proxy is taken from the environment.
    with_https_proxy(url: impl Into<String>, except: impl Into<String>) sets upstream.https_proxy = Some((url.into(), except.into()));

    /// Sets which calls of the toolbox may run. Without a policy none do. A call for which the
    /// policy would ask a person does not run, nor does one of a tool that has changed since it was
    /// allowed.
    with_policy(policy: Policy) sets settings.policy = Permissions::of(policy);

    /// Sets which media, such as images, the model reads in results of the toolbox's tools; by
    /// default those that the endpoint reports. What clients send is forwarded in any case. The hub
    /// has to keep such media (`HubBuilder::keep_media` of `toolgraft-mcp`).
    with_reads(reads: Reads) sets settings.reads = reads;

    /// Keeps images and sound of the toolbox's tools from the model, even if the endpoint says that
    /// it reads them.
    without_media() sets settings.hands_on_media = false;

    /// Ends an answer with an error if the model does not correct an invalid call. Without it, a
    /// call that only violates its schema is handed to the client as it was written, since the
    /// client's own check answers the model; any other is forwarded as text.
    with_strict_calls() sets settings.strict_calls = true;

    /// Sets the maximum number of requests to the endpoint for one answer. Default
    /// [`MAX_ROUNDS`](toolgraft::turn::MAX_ROUNDS).
    with_max_rounds(rounds: u32) sets settings.max_rounds = rounds;

    /// Sets how many rounds in a row may only correct a mistake. Default
    /// [`MAX_CORRECTIONS`](toolgraft::turn::MAX_CORRECTIONS).
    with_max_corrections(corrections: u32) sets settings.max_corrections = corrections;

    /// Sets how many times in a row a message may repeat a passage; 0 is no limit. After
    /// [`REPEATED_BYTES`](toolgraft::turn::REPEATED_BYTES) of repetition the message is stopped,
    /// and the answer ends as if the output limit had cut it. Default [`MAX_REPEATS`](toolgraft::turn::MAX_REPEATS).
    with_max_repeats(repeats: u32) sets settings.max_repeats = repeats;

    /// Sets how many times in a row equal calls of a read-only tool may return the same result, in
    /// the client's history and in one answer; 0 is no limit. The model is told that the next such
    /// call did not run. Default [`MAX_SAME_RESULTS`](toolgraft::turn::MAX_SAME_RESULTS).
    with_max_same_results(times: u32) sets settings.max_same_results = times;

    /// Sets how many calls of the toolbox may run for one answer. For a call after that the model
    /// is told that no further call runs, and is asked for its answer. Default [`MAX_OWN_CALLS`](crate::MAX_OWN_CALLS).
    with_max_calls(calls: usize) sets settings.max_calls = calls;

    /// Sets how long an answer to a request with tools or a schema may take, all rounds and calls
    /// together; one that takes longer ends with an error, and its calls are cancelled. Without it
    /// there is no limit.
    with_max_time(limit: Duration) sets max_time = Some(limit);

    /// Sets the largest body of a request, in bytes. Default [`MAX_BODY`](crate::MAX_BODY).
    with_max_body(bytes: usize) sets access.max_body = bytes;

    /// Sets the limits on what all requests take together: connections, requests, memory, threads
    /// and pixels.
    with_budgets(budgets: Budgets) sets access.budgets = budgets;

    /// Sets the longest time for which a client may send nothing before its request is complete. Default
    /// [`READ_TIMEOUT`](crate::READ_TIMEOUT).
    with_read_timeout(limit: Duration) sets access.read_timeout = limit;

    /// Sets the longest time for which the endpoint may send nothing; after that its answer has failed. Default
    /// [`IDLE_TIMEOUT`](toolgraft::model::IDLE_TIMEOUT).
    with_idle_timeout(limit: Duration) sets upstream.idle_timeout = limit;

    /// Sets the number of tokens of the models' context. Otherwise the endpoint is asked for it; many do not say.
    with_context(tokens: usize) sets upstream.context = Some(tokens);

    /// Sets the time between two comments in a silent stream. If the endpoint is silent for that
    /// long at the start, the stream begins with status 200, and a later failure is reported inside
    /// it. Default [`KEEP_ALIVE`].
    with_keep_alive(time: Duration) sets keep_alive = time;

    /// Sets the time that running answers get to end when the server stops. Default [`DRAIN`].
    with_drain(time: Duration) sets drain = time;

    /// Sets the toolbox's search tool, by the name that
    /// [`SearchTool::find`](super::SearchTool::find) returns. It answers where a client's request
    /// can only be answered by a search of its vendor's service, and runs whatever the policy
    /// allows otherwise. Without it the client gets the vendor's own error.
    with_search(name: impl Into<String>) sets search = Some(name.into());

    /// Records the last requests in this inspector. Without it no text of a request is stored.
    with_inspector(inspector: Inspector) sets inspector = Some(inspector);

    /// Sets a function that is called with every finished request, except those for `/health`,
    /// `/ready` and `/metrics`. It is called on the threads that serve, and must not block.
    with_log(log: impl Fn(Served) + Send + Sync + 'static) sets log = Some(Arc::new(log));

    /// Sets a function that is called with each fact learned about the endpoint, so that it can be
    /// stored. It is called on the threads that serve, and must not block.
    with_learning(keep: impl Fn(Learned) + Send + Sync + 'static) sets upstream.learning = Some(Arc::new(keep));
}

impl std::fmt::Debug for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let url = toolgraft::secrets::shown_url(&self.upstream.base_url);
        f.debug_struct("Config").field("url", &url).field("model", &self.settings.model).finish_non_exhaustive()
    }
}
