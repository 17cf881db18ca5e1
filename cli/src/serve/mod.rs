//! `toolgraft serve`: a server in front of a model.

mod inspect;
pub(crate) mod log;
mod probed;

use std::collections::HashMap;
use std::net::IpAddr;
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use crate::base::{
    Failure, input, output,
    signals::{self, Signals},
};
use crate::chat::{Endpoint, EndpointArgs};
use crate::pages::doors::LocalServer;
use crate::screen::visible::word;
use crate::serve::{log::RequestLog, probed::Probed};
use crate::servers::{
    ListedArgs,
    app::App,
    logins::of_this_user,
    permissions::{Permissions, warn_changed},
    refuse_ambiguous, refuse_problems, refuse_strangers, report_failed,
};
use crate::settings::{
    Images, Place, Reader, Settings, Source, learned,
    offer_args::OfferArgs,
    saved_profiles::{self, SavedProfile},
    set_args::SetArgs,
    variable,
};
use tokio::sync::oneshot;
use toolgraft::http::Trust;
use toolgraft::message::Reads;
use toolgraft::prompt::Options;
use toolgraft::route::Toolbox;
use toolgraft::secrets::shown_url;
use toolgraft::tools::Decision;
use toolgraft::{Catalog, Policy};
use toolgraft_mcp::Hub;
use toolgraft_serve::{Budgets, Config, DRAIN, Inspector, ModelSettings, SearchTool, ServeError, Server};

/// Options of `toolgraft serve`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("../help/serve.txt").trim_end())]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    endpoint: EndpointArgs,

    #[command(flatten)]
    door: DoorArgs,

    #[command(flatten)]
    model: ServeModelArgs,

    #[command(flatten)]
    set: SetArgs,

    #[command(flatten)]
    listed: ListedArgs,

    #[command(flatten)]
    calls: ServeCallArgs,
}

/// The clients that may come in.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Clients")]
struct DoorArgs {
    /// Address to listen on; one that other machines reach needs --client-key
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8787", value_parser = address)]
    listen: String,

    /// Port to listen on, for this machine alone
    #[arg(long, value_name = "PORT", conflicts_with = "listen")]
    port: Option<u16>,

    /// Further name by which clients call the server, such as host.docker.internal
    ///
    /// May be given several times. A request with any other Host is refused (403), but for
    /// the loopback's names and that of --listen.
    #[arg(long, value_name = "NAME", value_parser = host_name, hide_short_help = true)]
    host: Vec<String>,

    /// Accept requests of pages of this origin, such as http://localhost:5173 or app://obsidian.md
    ///
    /// May be given several times; '*' is every origin. Their browser is told that they may read the
    /// answers. Without it pages of other sites are refused.
    #[arg(long, value_name = "URL", value_parser = origin, hide_short_help = true)]
    origin: Vec<String>,

    /// Do not log each request to stderr
    ///
    /// A line has route, model, status, requests to the model, calls for the client, calls
    /// that ran here, and time; nothing that was said.
    #[arg(long, short, hide_short_help = true)]
    quiet: bool,

    /// Key that clients must show; better in TOOLGRAFT_CLIENT_KEY
    ///
    /// Other users can see a command line.
    #[arg(long, value_name = "KEY")]
    client_key: Option<String>,

    /// Show the last 200 requests in a browser on this machine
    ///
    /// With prompts as the model got them, answers, calls, rejections, corrections and times;
    /// each can be downloaded as a recording for `toolgraft replay`. On a port of its own, any
    /// that is free or this one. The URL that is printed lets one browser in, once.
    #[arg(long, value_name = "PORT", num_args = 0..=1, require_equals = true, default_missing_value = "0")]
    inspect: Option<u16>,
}

/// Settings that the model's profile decides, unless they are said here.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Model")]
pub(crate) struct ServeModelArgs {
    #[command(flatten)]
    pub(crate) offer: OfferArgs,

    /// Hide clients' tools from the model whose names match a glob, such as 'Cron*'
    ///
    /// May be given several times.
    #[arg(long, value_name = "GLOB", hide_short_help = true)]
    without: Vec<String>,
}

/// The calls of the MCP servers that run.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "MCP servers")]
struct ServeCallArgs {
    /// Run calls of these tools of the servers; a glob over SERVER.TOOL
    ///
    /// May be given several times. No other call runs, since no user is present to be asked. A tool
    /// that calls itself destructive must be named in full.
    #[arg(long, value_name = "GLOB")]
    allow: Vec<String>,

    /// Never run calls of these tools, whatever else allows them
    #[arg(long, value_name = "GLOB")]
    deny: Vec<String>,

    /// Treat this server's output as untrusted, such as pages of the web
    ///
    /// May be given several times. After one of its results, and with its instructions or
    /// descriptions in the prompt, only tools of other servers
    /// run that call themselves read-only, or those that --allow names without a wildcard.
    #[arg(long, value_name = "SERVER", hide_short_help = true)]
    untrusted: Vec<String>,

    /// Server, or SERVER.TOOL, that answers requests for a vendor's own web search
    ///
    /// The tool takes what is searched for, and what it finds goes out in the vendor's form, without the
    /// model: Anthropic's web_search and Gemini's googleSearch. It runs without --allow. Without the flag
    /// such a request gets the vendor's own error.
    #[arg(long, value_name = "SERVER", hide_short_help = true)]
    search: Option<String>,

    /// Maximum number of calls of the servers' tools for one answer [default: 64]
    ///
    /// After them no further one runs, and the model is asked for its answer.
    #[arg(long, value_name = "N", value_parser = input::above_zero::<NonZeroUsize>, hide_short_help = true)]
    max_calls: Option<NonZeroUsize>,

    /// Offer the servers' tools with every model; else with those named NAME+tools
    #[arg(long, hide_short_help = true)]
    mcp_always: bool,
}

impl ServeArgs {
    /// Returns the settings of the options and of `--set`.
    ///
    /// # Errors
    /// `--set` has a key that `serve` does not use, or an option requires MCP servers but none are configured.
    fn settings(&self) -> Result<Settings, Failure> {
        let (EndpointArgs { base_url, model, .. }, profile) = (self.endpoint.clone(), self.model.offer.profile);
        let ServeCallArgs { allow, deny, untrusted, search, max_calls, mcp_always } = &self.calls;
        let (allow, deny, untrusted, search) = (allow.clone(), deny.clone(), untrusted.clone(), search.clone());
        let options = Settings { base_url, model, profile, allow, deny, untrusted, search, ..Settings::default() };
        let said = self.set.under(options, &[Reader::Served, Reader::Serve])?;
        let has_names = [&said.allow, &said.deny, &said.untrusted].iter().any(|names| !names.is_empty());
        // An option without effect is refused: somebody might rely on it, as on `--deny`.
        match *mcp_always || max_calls.is_some() || said.search.is_some() || has_names {
            true if !self.listed.servers.is_given() => Err(Failure::usage(
                "--allow, --deny, --untrusted, --search, --max-calls and --mcp-always are about MCP servers: name their configuration with --mcp-config",
            )),
            _ => Ok(said),
        }
    }
}

/// Returns the limits on the resources of all requests together.
fn budgets(settings: &Settings) -> Budgets {
    let given = |amount: Option<NonZeroUsize>| amount.map(NonZeroUsize::get);
    let budgets = set(Budgets::default(), given(settings.max_connections), Budgets::with_max_connections);
    let budgets = set(budgets, given(settings.max_requests), Budgets::with_max_requests);
    let budgets = set(budgets, given(settings.max_body_bytes), Budgets::with_max_body_bytes);
    let budgets = set(budgets, given(settings.max_prepared_bytes), Budgets::with_max_prepared_bytes);
    let budgets = set(budgets, given(settings.max_workers), Budgets::with_max_workers);
    set(budgets, given(settings.max_pixels), Budgets::with_max_pixels)
}

/// Parses an origin, a scheme and a host with an optional port, or `*` for all.
fn origin(text: &str) -> Result<String, String> {
    // Browsers send an origin without a path: one that has one would never match.
    let is_origin = text.split_once("://").is_some_and(|(scheme, host)| {
        !scheme.is_empty() && !host.is_empty() && !host.trim_end_matches('/').contains(['/', ' '])
    });
    match is_origin || text == "*" {
        true => Ok(text.to_owned()),
        false => Err("expected an origin such as http://localhost:5173, or '*'".to_owned()),
    }
}

/// Parses an address `HOST:PORT`; a port alone means the loopback address.
fn address(text: &str) -> Result<String, String> {
    match text.parse::<u16>() {
        Ok(port) => Ok(format!("127.0.0.1:{port}")),
        Err(_) if text.contains(':') => Ok(text.to_owned()),
        Err(_) => Err("expected HOST:PORT, such as 127.0.0.1:8787".to_owned()),
    }
}

fn host_name(text: &str) -> Result<String, String> {
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    // `[::1]` has colons and no port.
    let has_port = text.rsplit_once(':').is_some_and(|(_, port)| is_port(port)) && !text.ends_with(']');
    if text.trim_matches(['[', ']']).parse::<IpAddr>().is_ok_and(|address| address.is_unspecified()) {
        return Err(format!("--host is a name that clients use; --listen {text}:8787 listens for other machines"));
    }
    if text.is_empty() || text.contains(['/', '@', '*', ' ']) || has_port {
        return Err("expected a name without scheme and port, such as host.docker.internal".to_owned());
    }
    Ok(text.to_owned())
}

/// Runs `toolgraft serve`.
pub(crate) fn run(mut args: ServeArgs) -> Result<(), Failure> {
    if let Some(port) = args.door.port {
        args.door.listen = format!("127.0.0.1:{port}");
    }
    let mut settings = args.settings()?;
    settings.over(&defaults(&args.door.listen)?);
    let mut place = args.endpoint.place(&settings)?;
    place.key = place.key_or("TOOLGRAFT_UPSTREAM_KEY");
    if let Some(url) = place.url.as_deref().filter(|url| is_itself(url, &args.door.listen)) {
        return Err(Failure::usage(format!(
            "the base URL {} is this server's own address: name the endpoint that has the model, or choose another --port",
            shown_url(url)
        )));
    }
    settings.model.clone_from(&place.model);
    settings.teach(args.model.offer.dialect_file);
    let servers = args.listed.servers();
    let servers = if servers.is_given() { Some(servers.load()?) } else { None };
    if let Some(servers) = &servers {
        refuse_problems(servers)?;
    }
    let app = App::start(None)?;
    let signals = &app.signals;
    app.wait_out(async {
        let (config, name) = signals.or_stopped(config(&args, &settings, &place)).await?;
        let inspector = Inspector::new().with_secrets(&servers.as_ref().map(|s| s.secrets()).unwrap_or_default());
        let config = set(config, args.door.inspect, |config, _| config.with_inspector(inspector.clone()));
        let pages = match args.door.inspect {
            Some(port) => Some((LocalServer::bind(port, inspect::GUARDED).await?, inspector)),
            None => None,
        };
        let hub = match servers {
            Some(servers) => {
                let hub = Hub::builder().config(servers).trust(&place.trust).keep_media(true);
                let connecting = of_this_user(hub.pixels(config.budgets().max_pixels().clone())).connect();
                let hub = signals.or_stopped(async { connecting.await.map_err(Failure::job) }).await?;
                let known = hub.servers();
                let fits = refuse_strangers(&settings.untrusted, &known);
                let fits = fits.and_then(|()| refuse_ambiguous(&policy(&settings), &hub.catalog()));
                if let Err(failure) = fits.and_then(|()| refuse_no_search(&settings, &hub.catalog())) {
                    hub.shutdown().await;
                    return Err(failure);
                }
                report_failed(&known);
                Some(Arc::new(hub))
            }
            None => None,
        };
        // Settled now: a server that comes later takes no permission over.
        let config = set(config, hub.as_ref(), |config, hub| {
            config.with_policy(settled(&settings, hub)).with_toolbox(hub.clone(), args.calls.mcp_always)
        });
        let (log, tell) = (!args.door.quiet).then(RequestLog::start).unzip();
        let config = set(config, tell, |config, tell| config.with_log(tell));
        let served = serve(config, &args.door.listen, &name, pages, signals).await;
        log.into_iter().for_each(RequestLog::end);
        if let Some(hub) = hub {
            hub.shutdown().await;
        }
        served
    })
}

/// Returns the server's configuration, and the name of its endpoint for messages.
async fn config(args: &ServeArgs, settings: &Settings, place: &Place) -> Result<(Config, String), Failure> {
    let (url, name) = Endpoint::served(place).await?;
    let mut config = config_at(settings, &args.model, (url, place.trust.clone()))?;
    config = args.door.host.iter().fold(config, Config::with_host);
    config = args.door.origin.iter().fold(config, Config::with_origin);
    config = set(config, args.calls.max_calls.map(NonZeroUsize::get), Config::with_max_calls);
    // Without servers there is nothing for them to be about.
    if args.listed.servers.is_given() {
        config = settings.untrusted.iter().fold(config, Config::with_untrusted);
        config = set(config, settings.search.as_deref(), Config::with_search);
    }
    let key = args.door.client_key.clone().or_else(|| variable("TOOLGRAFT_CLIENT_KEY"));
    config = set(config, key, Config::with_api_key);
    // What was found by its port is nobody's to give a key to.
    let config = match place.key.clone() {
        Some(key) => config.with_upstream_key(key),
        None if place.url.is_some() => config,
        None => config.without_client_keys(),
    };
    Ok((config, name))
}

/// Returns the configuration of a server that provides one endpoint and model to a single program.
pub(crate) fn in_front_of(
    endpoint: &Endpoint,
    args: &ServeModelArgs,
    mut settings: Settings,
) -> Result<Config, Failure> {
    settings.teach(args.offer.dialect_file);
    settings.model = Some(endpoint.model.clone());
    let config = config_at(&settings, args, (endpoint.url.clone(), endpoint.trust.clone()))?;
    Ok(match endpoint.key.as_deref() {
        Some(key) => config.with_upstream_key(key),
        None => config.without_client_keys(),
    })
}

/// Returns the configuration without API keys, access control and MCP servers.
fn config_at(settings: &Settings, args: &ServeModelArgs, (url, trust): (String, Trust)) -> Result<Config, Failure> {
    let saved = Probed::of(&url)?;
    let mut config = Config::new(url.clone()).map_err(Failure::usage)?.with_learned(learned::at(&url));
    config = config.with_trust(trust);
    config = config.with_learning(move |found| {
        let url = url.clone();
        // A disk may be slow, and others are served here.
        std::thread::spawn(move || learned::keep(&url, found));
    });
    config = set(config, variable("TOOLGRAFT_INSTANCE_KEY"), Config::with_instance_key);
    config = set(config, settings.model.as_deref(), Config::with_model);
    config = set(config, settings.profile, Config::with_profile);
    config = set(config, settings.dialect, Config::with_dialect);
    config = set(config, settings.tools_mode, Config::with_tools_mode);
    config = set(config, settings.constrain, Config::with_constrain);
    config = set(config, settings.way, Config::with_way);
    config = set(config, settings.call_threshold, Config::with_call_threshold);
    config = set(config, settings.prompt_style, Config::with_style);
    config = set(config, settings.context.map(NonZeroUsize::get), Config::with_context);
    let (said, known) = (settings.clone(), RwLock::new(HashMap::new()));
    config = config.with_model_settings(move |model| {
        if let Some(profiles) = saved.changed() {
            let settings = profiles.into_iter().map(|kept| (kept.name.clone(), probed(said.clone(), &kept))).collect();
            *known.write().unwrap_or_else(PoisonError::into_inner) = settings;
        }
        known.read().unwrap_or_else(PoisonError::into_inner).get(model).copied()
    });
    config = args.without.iter().fold(config, Config::with_left_out);
    config = match settings.images.unwrap_or(Images::Auto) {
        Images::Auto => config,
        Images::Always => config.with_reads(Reads::default().with_images(true)),
        Images::Never => config.without_media(),
    };
    config = set(config, settings.strict_calls.filter(|is_on| *is_on), |config, _| config.with_strict_calls());
    config = set(config, settings.max_rounds.map(NonZeroU32::get), Config::with_max_rounds);
    config = set(config, settings.max_repeats, Config::with_max_repeats);
    config = set(config, settings.max_same_results, Config::with_max_same_results);
    let max_time = settings.max_time.map(|seconds| Duration::from_secs(seconds.get().into()));
    config = set(config, max_time, Config::with_max_time);
    if let Some(proxy) = variable("HTTPS_PROXY").or_else(|| variable("https_proxy")) {
        let except = variable("NO_PROXY").or_else(|| variable("no_proxy")).unwrap_or_default();
        config = config.with_https_proxy(proxy, except);
    }
    config = config.with_budgets(budgets(settings));
    Ok(config.with_prompt(settings.listed(Options::default())?))
}

/// Calls a setter of the configuration if there is a value for it.
fn set<C, T>(config: C, value: Option<T>, set: impl FnOnce(C, T) -> C) -> C {
    match value {
        Some(value) => set(config, value),
        None => config,
    }
}

/// Fails if `--search` does not name a tool that can search, or names one that `--deny` forbids.
fn refuse_no_search(settings: &Settings, catalog: &Catalog) -> Result<(), Failure> {
    let Some(name) = &settings.search else { return Ok(()) };
    match SearchTool::find(catalog, name) {
        None => Err(Failure::usage(format!(
            "--search {name}: no server of this name has a tool that takes a query; name one as SERVER.TOOL"
        ))),
        Some(found) if policy(settings).denies(Some(&found.server), &found.tool) => {
            Err(Failure::usage(format!("--search {name}: --deny forbids {}.{}", found.server, found.tool)))
        }
        Some(_) => Ok(()),
    }
}

/// Returns the policy for calls of the MCP servers' tools: only allowed ones run.
fn policy(settings: &Settings) -> Policy {
    let allowed = settings.allow.iter().fold(Policy::new(Decision::Deny), Policy::allow);
    settings.deny.iter().fold(allowed, Policy::deny)
}

/// Returns the policy with the saved definitions of the MCP servers' allowed tools, and warns of those that have
/// changed.
fn settled(settings: &Settings, hub: &Hub) -> Policy {
    let catalog = hub.catalog();
    let policy = Permissions::of(hub.config().servers()).settled(policy(settings), &catalog);
    warn_changed(&policy, &catalog);
    policy
}

/// Returns the settings for a model: the given ones, filled in with those that `probe` saved for it.
fn probed(mut settings: Settings, kept: &SavedProfile) -> ModelSettings {
    settings.over(&Settings::from(kept));
    let Settings { tools_mode, dialect, prompt_style: style, listing, constrain, way, call_threshold, .. } = settings;
    ModelSettings { tools_mode, dialect, style, listing, constrain, way, call_threshold }
}

/// Returns the default settings from the environment and the configuration file. A base URL in the environment that is
/// this server's own, as for its clients, is ignored with a warning.
fn defaults(listen: &str) -> Result<Settings, Failure> {
    let mut environment = Source::Environment.settings()?;
    if let Some(url) = environment.base_url.take_if(|url| is_itself(url, listen)) {
        output::warn(&format!("OPENAI_BASE_URL ({}) is this server itself, and is ignored", shown_url(&url)));
    }
    environment.resolve(&[Source::File])
}

/// Returns `true` if a URL leads to the server that listens on this address.
fn is_itself(url: &str, listen: &str) -> bool {
    let authority = |url: &str| {
        let place = saved_profiles::place(url);
        place.split_once("://").and_then(|(_, rest)| Some(rest.split('/').next()?.to_owned()))
    };
    authority(url).is_some_and(|place| Some(place) == authority(&format!("http://{listen}")))
}

/// Serves until a signal is received, and then until the responses in progress have ended; a second signal ends those
/// at once.
async fn serve(
    config: Config,
    listen: &str,
    name: &str,
    pages: Option<(LocalServer, Inspector)>,
    signals: &Signals,
) -> Result<(), Failure> {
    let server = Server::bind(config, listen).await.map_err(|error| match error {
        ServeError::KeyMissing { .. } => Failure::usage(format!("{error}: --client-key KEY, or TOOLGRAFT_CLIENT_KEY")),
        ServeError::Bind { .. } => Failure::usage(format!("{error}: choose another --port, or --listen HOST:PORT")),
        error => Failure::usage(error),
    })?;
    let address = server.local_addr().map_err(Failure::job)?;
    // Programs that start the server read its URL.
    output::emit(&format!("http://{address}/v1\n"))?;
    output::tell_stderr(format_args!("{} is served at http://{address}/v1; Ctrl-C ends it", word(name)));
    let inspected = async {
        if let Some((pages, inspector)) = pages {
            output::tell_stderr(format_args!("requests can be inspected in one browser: {}", pages.doors.url()));
            inspect::serve(pages, inspector).await;
        }
        std::future::pending::<()>().await;
    };
    let (tell, told) = oneshot::channel();
    let ended_by = OnceLock::new();
    let stop = async {
        let _ = ended_by.set(signals.stopped().await);
        // What ends the answers in progress is another signal than this.
        signals.forget();
        let _ = tell.send(());
        output::tell_stderr(format_args!(
            "ending: answers in progress have {} seconds, or until the next signal",
            DRAIN.as_secs()
        ));
    };
    let again = async {
        match told.await {
            Ok(()) => signals.stopped().await,
            // The server has ended by itself.
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        () = server.run(stop) => {}
        _ = again => {}
        () = inspected => {}
    }
    ended_by.get().map_or(Ok(()), |by| signals::ended(by))
}
