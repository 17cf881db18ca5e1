//! What a server is told before it runs.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::budgets::Budgets;
use super::inspect::Inspector;
use super::learned::{Learned, Learning};
use super::log::{Log, Served};
use super::permissions::Permissions;
use super::settings::{ModelSettings, SettingsTable};
use super::told::Told;
use toolgraft::constrain::{Constrain, Way};
use toolgraft::dialect::{Profile, PromptStyle};
use toolgraft::http::Trust;
use toolgraft::message::Reads;
use toolgraft::model::{ClientError, IDLE_TIMEOUT};
use toolgraft::prompt::Options;
use toolgraft::route::Toolbox;
use toolgraft::tools::ToolsMode;
use toolgraft::turn::{MAX_CORRECTIONS, MAX_REPEATS, MAX_ROUNDS, MAX_SAME_RESULTS};
use toolgraft::{Dialect, OpenAi, Policy};

/// What a model's name ends in that has the toolbox's tools.
pub(super) const WITH_TOOLS: &str = "+tools";

/// A model's name without that.
pub(super) fn without_tools(name: &str) -> &str {
    name.strip_suffix(WITH_TOOLS).unwrap_or(name)
}

/// Largest body of a request, unless configured otherwise.
pub const MAX_BODY: usize = 32 << 20;

/// Longest silence of a client within its request, head or body, unless configured otherwise.
pub const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// Time between two comments that keep a silent stream open.
pub const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// Calls of the toolbox that run for one answer, unless configured otherwise.
pub const MAX_OWN_CALLS: usize = 64;

/// Time that answers have to end once the server is told to.
pub const DRAIN: Duration = Duration::from_secs(30);

/// A proxy for an endpoint with TLS.
#[derive(Clone)]
pub(super) struct HttpsProxy {
    pub(super) url: String,
    /// Hosts that are reached without it, as `NO_PROXY` has them.
    pub(super) except: String,
}

impl Config {
    /// A server in front of the endpoint at `base_url`, such as
    /// `http://localhost:11434/v1`, with all defaults.
    ///
    /// # Errors
    /// The URL is none of HTTP.
    pub fn new(base_url: impl Into<String>) -> Result<Self, ClientError> {
        let base_url = base_url.into();
        OpenAi::new(base_url.clone(), "")?;
        Ok(Config::defaults(base_url))
    }

    /// Sets what counts for the model of this name, as the endpoint has it, before what is said
    /// for all models.
    #[must_use]
    pub fn with_model_settings(mut self, model: impl Into<String>, settings: ModelSettings) -> Self {
        self.models.insert(model.into(), settings);
        self
    }

    /// Sets what is asked for the settings of models before each request, so that they can change
    /// while the server runs: `None` where they are what they were, else all of them in place of
    /// [`with_model_settings`](Self::with_model_settings). It is called while a request waits, so
    /// that it must not take long.
    #[must_use]
    pub fn with_renewed_settings(
        mut self,
        renew: impl Fn() -> Option<HashMap<String, ModelSettings>> + Send + Sync + 'static,
    ) -> Self {
        self.models = self.models.renewed_by(Arc::new(renew));
        self
    }

    /// Leaves those of the clients' tools out whose names match this glob, such as `Cron*`: the
    /// model does not see them.
    #[must_use]
    pub fn with_left_out(mut self, tools: impl Into<String>) -> Self {
        self.without.push(tools.into());
        self
    }

    /// Adds a name by which the server is called, beside those of the loopback. A request
    /// with another `Host` is refused, so that no web page reaches the server by a name that
    /// it makes point here.
    #[must_use]
    pub fn with_host(mut self, host: impl Into<String>) -> Self {
        self.hosts.push(host.into());
        self
    }

    /// Sets a toolbox whose tools models named `NAME+tools` have beside the client's;
    /// `always` gives them to every model. Its calls run here, those that
    /// [`with_policy`](Self::with_policy) allows.
    #[must_use]
    pub fn with_toolbox(mut self, toolbox: impl Toolbox + 'static, always: bool) -> Self {
        self.toolbox = Some(Arc::new(toolbox));
        self.toolbox_always = always;
        self
    }

    /// Names a server of the toolbox whose words may be anybody's: a page of the web, a
    /// stranger's mail. After a result of it, or with its instructions or descriptions in the prompt,
    /// what the model does may be what that text told it to
    /// do. So from then on, for all of the conversation, only tools run that the policy names
    /// without a wildcard, or that call themselves read-only and are another server's. A history
    /// that this server did not answer itself, and that is more than one question, counts as one with such results; so
    /// does each one of the same client for [`KEPT_FOR`](crate::KEPT_FOR) after a result.
    #[must_use]
    pub fn with_untrusted(mut self, server: impl Into<String>) -> Self {
        self.untrusted.push(server.into());
        self
    }

    /// Lets pages of this origin ask, such as `http://localhost:5173` or `app://obsidian.md`; `*` lets
    /// pages of every origin. Browsers are then told so. Without it pages of this machine's own names
    /// are answered, without leave for their browser to read it, and all others refused.
    #[must_use]
    pub fn with_origin(mut self, origin: impl Into<String>) -> Self {
        self.origins.push(origin.into().trim_end_matches('/').to_owned());
        self
    }

    /// Returns what all requests may take together.
    pub fn budgets(&self) -> &Budgets {
        &self.budgets
    }

    /// Adds what was learned of the endpoint before; it counts where the server still says that version.
    #[must_use]
    pub fn with_learned(mut self, learned: impl IntoIterator<Item = Learned>) -> Self {
        self.learned.extend(learned);
        self
    }

    /// What must stand in nothing that is kept: the server's keys.
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.client_key.iter().chain(&self.upstream_key).chain(&self.instance_key).map(String::as_str)
    }

    /// The endpoint's model for the name that a client gives, if it gives one.
    pub(super) fn model_of(&self, named: Option<&str>) -> Option<String> {
        match (&self.model, named) {
            (Some(model), _) => Some(model.clone()),
            (None, Some(name)) if self.toolbox.is_some() => Some(without_tools(name).to_owned()),
            (None, named) => named.map(str::to_owned),
        }
    }

    /// The profile of this model.
    pub(super) fn profile_of(&self, model: &str) -> &'static Profile {
        self.profile.unwrap_or_else(|| Profile::for_model(model))
    }
}

/// Makes the configuration of its rows. A row is a consuming setter, the field that it sets, what
/// that is by default, and what the setter makes of it; behind `beside` stand the fields that have
/// no setter of that kind.
macro_rules! config {
    (
        $($(#[$doc:meta])+ $setter:ident($($given:ident: $kind:ty),*) sets $field:ident: $type:ty = $default:expr => $value:expr;)+
        beside { $($(#[$about:meta])* $other:ident: $other_type:ty = $other_default:expr;)+ }
    ) => {
        /// How a server stands in front of its endpoint. Cheap to clone.
        #[derive(Clone)]
        pub struct Config {
            pub(super) base_url: String,
            $(pub(super) $field: $type,)+
            $($(#[$about])* pub(super) $other: $other_type,)+
        }

        impl Config {
            /// All defaults, in front of the endpoint at this URL.
            fn defaults(base_url: String) -> Self {
                Config { base_url, $($field: $default,)+ $($other: $other_default,)+ }
            }

            $(
                $(#[$doc])+
                #[must_use]
                pub fn $setter(mut self, $($given: $kind),*) -> Self {
                    self.$field = $value;
                    self
                }
            )+
        }
    };
}

config! {
    /// Sets the model that answers, whatever model a client names.
    with_model(model: impl Into<String>) sets model: Option<String> = None => Some(model.into());

    /// Sets the profile of every model. Without one it is the one for the model's name.
    with_profile(profile: &'static Profile) sets profile: Option<&'static Profile> = None => Some(profile);

    /// Sets the call syntax that is taught, whatever the profile says.
    with_dialect(dialect: Dialect) sets dialect: Option<Dialect> = None => Some(dialect);

    /// Sets how much the prompt says beside the tools. Without it, it is what suits the model's
    /// size, as its name or the endpoint's list of models tells that ([`Profile::style_for`]).
    with_style(style: PromptStyle) sets style: Option<PromptStyle> = None => Some(style);

    /// Sets how tools are listed in the prompt. Language, dialect and style in it count for
    /// nothing: they are the model's, or those of [`with_dialect`](Self::with_dialect) and
    /// [`with_style`](Self::with_style).
    with_prompt(options: Options) sets prompt: Options = Options::default() => options;

    /// Sets how tools are offered to the model; default [`ToolsMode::Auto`]: requests carry them where
    /// the profile or the endpoint say that this works; where it fails, the same request goes out by
    /// prompt, and so do later ones once that worked.
    with_tools_mode(mode: ToolsMode) sets tools_mode: ToolsMode = ToolsMode::Auto => mode;

    /// Sets whether the endpoint is asked to hold answers to a structure where one is due: a
    /// call that is required, an answer after a schema, the round that corrects either.
    /// Default [`Constrain::Auto`]: in the form that it takes, and where it takes none the same
    /// request goes out without. What comes is checked here in any case.
    with_constrain(constrain: Constrain) sets constrain: Constrain = Constrain::Auto => constrain;

    /// Sets how it comes to a call where the model may as well answer; default [`Way::Auto`].
    /// What the endpoint does not give for it is remembered, and the call left to the model
    /// ([`Served::way`](super::Served::way)).
    with_way(way: Way) sets way: Way = Way::Auto => way;

    /// Sets the logarithm of the probability from which on a message is to be a call, for
    /// [`Way::Measured`]; default [`CALL_THRESHOLD`](toolgraft::turn::CALL_THRESHOLD).
    with_call_threshold(threshold: f64) sets call_threshold: Option<f64> = None => Some(threshold);

    /// Sets the key that clients must show. It is then never sent to the endpoint.
    with_api_key(key: impl Into<String>) sets client_key: Option<String> = None => Some(key.into());

    /// Sets the key that the endpoint gets, instead of any of a client's.
    with_upstream_key(key: impl Into<String>) sets upstream_key: Option<String> = None => Some(key.into());

    /// Sets the secret that identifiers of calls are signed with: the same for all instances of
    /// one service, so that each believes the others' identifiers. Without it an instance
    /// believes its own alone.
    with_instance_key(secret: impl Into<String>) sets instance_key: Option<String> = None => Some(secret.into());

    /// Keeps the clients' keys from the endpoint: for one that nobody named, such as one
    /// that was found by its port.
    without_client_keys() sets hands_on_key: bool = true => false;

    /// Sets the certificates that an endpoint is verified with, beside the system's.
    with_trust(trust: Trust) sets trust: Trust = Trust::default() => trust;

    /// Sets a proxy for an endpoint whose URL begins with `https`; `except` lists hosts that
    /// are reached without it, as `NO_PROXY` does. Any other endpoint is reached directly, and
    /// no proxy is taken from the environment.
    with_https_proxy(url: impl Into<String>, except: impl Into<String>) sets https_proxy: Option<HttpsProxy> = None => Some(HttpsProxy { url: url.into(), except: except.into() });

    /// Sets which calls of the toolbox run. Without one, none do; a call that the policy
    /// would ask about does not run either, nor one of a tool that has changed since it was allowed.
    with_policy(policy: Policy) sets policy: Permissions = Permissions::default() => Permissions::of(policy);

    /// Sets what the model is known to read beside text of what the toolbox's tools give, such
    /// as images; by default what the endpoint says that it reads. What clients send goes to it
    /// in any case. A hub has to keep such media (`HubBuilder::keep_media` of `toolgraft-mcp`).
    with_reads(reads: Reads) sets reads: Reads = Reads::default() => reads;

    /// Keeps images and sound of the toolbox's tools from the model, whatever the endpoint says that it reads.
    without_media() sets hands_on_media: bool = true => false;

    /// Ends an answer with an error where the model did not mend its call. Without it the client gets
    /// the call as it was written where only its schema refuses it, since its own check answers the
    /// model; else it gets the text.
    with_strict_calls() sets strict_calls: bool = false => true;

    /// Sets how many requests one answer may take. Default [`MAX_ROUNDS`].
    with_max_rounds(rounds: u32) sets max_rounds: u32 = MAX_ROUNDS => rounds;

    /// Sets how many rounds in a row may only correct a mistake. Default [`MAX_CORRECTIONS`].
    with_max_corrections(corrections: u32) sets max_corrections: u32 = MAX_CORRECTIONS => corrections;

    /// Sets how many times in a row a message may repeat a passage, 0 for any number: after
    /// [`REPEATED_BYTES`](toolgraft::turn::REPEATED_BYTES) of it the message is stopped, and the answer
    /// ends as one that the output limit cut. Default [`MAX_REPEATS`].
    with_max_repeats(repeats: u32) sets max_repeats: u32 = MAX_REPEATS => repeats;

    /// Sets how many times in a row equal calls of a tool that calls itself read-only may return the
    /// same result, in the client's history and in one answer; 0 is no limit. The model is told that
    /// the next one did not run. Default [`MAX_SAME_RESULTS`].
    with_max_same_results(times: u32) sets max_same_results: u32 = MAX_SAME_RESULTS => times;

    /// Sets how many calls of the toolbox may run for one answer. The model is told of one
    /// behind them that no further call runs, and asked for its answer. Default [`MAX_OWN_CALLS`].
    with_max_calls(calls: usize) sets max_calls: usize = MAX_OWN_CALLS => calls;

    /// Sets how long an answer to a request with tools or a schema may take, all its rounds and
    /// calls together; one that takes longer ends with an error, and its calls are cancelled.
    /// Without it there is no such limit.
    with_max_time(limit: Duration) sets max_time: Option<Duration> = None => Some(limit);

    /// Sets the largest body of a request. Default [`MAX_BODY`].
    with_max_body(bytes: usize) sets max_body: usize = MAX_BODY => bytes;

    /// Sets what all requests may take together.
    with_budgets(budgets: Budgets) sets budgets: Budgets = Budgets::default() => budgets;

    /// Sets the longest silence of a client within its request. Default [`READ_TIMEOUT`].
    with_read_timeout(limit: Duration) sets read_timeout: Duration = READ_TIMEOUT => limit;

    /// Sets the longest silence of the endpoint. Default [`IDLE_TIMEOUT`].
    with_idle_timeout(limit: Duration) sets idle_timeout: Duration = IDLE_TIMEOUT => limit;

    /// Sets the time between two comments in a silent stream. After as long without a word of the
    /// endpoint a stream begins: what fails behind that is told in it, with the status 200. Default
    /// [`KEEP_ALIVE`].
    with_keep_alive(time: Duration) sets keep_alive: Duration = KEEP_ALIVE => time;

    /// Sets the time that answers have to end once the server is told to. Default [`DRAIN`].
    with_drain(time: Duration) sets drain: Duration = DRAIN => time;

    /// Sets the tool of the toolbox, as [`SearchTool::find`](super::SearchTool::find) names it, that answers
    /// where a client's request can only be answered by a search of its vendor's service. It runs whatever
    /// the policy allows otherwise. Without it the client gets the vendor's own error.
    with_search(name: impl Into<String>) sets search: Option<String> = None => Some(name.into());

    /// Keeps the last requests there, to be looked at. Without it no request leaves a text behind.
    with_inspector(inspector: Inspector) sets inspector: Option<Inspector> = None => Some(inspector);

    /// Tells this function of every request that is over, but for `/health`, `/ready` and
    /// `/metrics`. It is called where answers are made, and must not wait.
    with_log(log: impl Fn(Served) + Send + Sync + 'static) sets log: Option<Log> = None => Some(Arc::new(log));

    /// Tells this function what is learned of the endpoint, to be kept. It is called where answers are
    /// made, and must not wait.
    with_learning(keep: impl Fn(Learned) + Send + Sync + 'static) sets learning: Option<Learning> = None => Some(Arc::new(keep));

    beside {
        models: SettingsTable = SettingsTable::default();
        without: Vec<String> = Vec::new();
        hosts: Vec<String> = Vec::new();
        toolbox: Option<Arc<dyn Toolbox>> = None;
        toolbox_always: bool = false;
        untrusted: Vec<String> = Vec::new();
        origins: Vec<String> = Vec::new();
        learned: Vec<Learned> = Vec::new();
        /// What messages of histories became, for all servers of this configuration.
        told: Arc<Told> = Arc::default();
    }
}

impl std::fmt::Debug for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let url = toolgraft::secrets::shown_url(&self.base_url);
        f.debug_struct("Config").field("url", &url).field("model", &self.model).finish_non_exhaustive()
    }
}
