//! The MCP servers of a command: flags, configuration files, and what is said of them.

pub(crate) mod app;
pub(crate) mod config_file;
pub(crate) mod existing;
pub(crate) mod given;
pub(crate) mod known;
pub(crate) mod logins;
pub(crate) mod permissions;
pub(crate) mod proposals;
pub(crate) mod starting;
pub(crate) mod status;
pub(crate) mod tool_file;
pub(crate) mod trust;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::base::{Failure, input, output};
use crate::screen::excerpt::names as shown_names;
use crate::servers::app::App;
use toolgraft::{Catalog, Policy};
use toolgraft_mcp::{Config, Hub, ServerConfig, ServerStatus};

/// Path of the project's configuration file of MCP servers, in the working directory, used if no file is named.
pub(crate) const LOCAL: &str = "./.mcp.json";

/// Path of the user's configuration file of MCP servers below the home directory, used if there is none in the project.
const GLOBAL: &str = ".config/toolgraft/mcp.json";

/// Which MCP servers to use.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "MCP servers")]
pub(crate) struct ServerArgs {
    /// Configuration of MCP servers
    ///
    /// JSON with `mcpServers` or `servers`.
    /// May be given several times; of two servers of one name the later counts.
    /// Without it: ./.mcp.json, which is asked about before it starts anything
    /// (see `toolgraft mcp trust --help`), else ~/.config/toolgraft/mcp.json.
    #[arg(long, value_name = "FILE")]
    pub(crate) mcp_config: Vec<PathBuf>,

    /// Time limit for a server's start and each call, instead of the configured ones
    #[arg(long, value_name = "SECONDS", value_parser = seconds, hide_short_help = true)]
    pub(crate) server_timeout: Option<Duration>,

    /// Tools that are listed, for commands with [`ListedArgs`].
    #[arg(skip)]
    pub(crate) listed_tools: Vec<String>,

    /// Names of those that take part, for commands that name some; else all do.
    #[arg(skip)]
    pub(crate) only: Option<Vec<String>>,
}

/// The options of [`ServerArgs`], and the one that limits which tools are listed. It is not among those,
/// since `--tools` names a file in a command that can do without servers.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "MCP servers")]
pub(crate) struct ListedArgs {
    #[command(flatten)]
    pub(crate) servers: ServerArgs,

    /// List only these tools: a glob over SERVER.TOOL, or TOOL alone
    ///
    /// May be given several times. The others are in no prompt and cannot be called,
    /// and resources of a server that none of them fits are not listed.
    #[arg(long, value_name = "GLOB", hide_short_help = true)]
    pub(crate) tools: Vec<String>,
}

/// The text of a configuration file, and its name for messages.
type ServerSource = (String, String);

fn named(file: &Path) -> Result<ServerSource, Failure> {
    Ok((input::read_text(file)?, input::shown(file)))
}

/// Returns the configuration that is used if no file is named: the project's own if the user trusts it, else the
/// user's. `None` if there is neither.
fn usual() -> Result<Option<ServerSource>, Failure> {
    let local = Path::new(LOCAL);
    if local.exists() {
        if let Some(text) = trust::demand(local)? {
            return Ok(Some((text, LOCAL.to_owned())));
        }
        output::warn(&format!("{LOCAL} is left out"));
    }
    own_file().filter(|file| file.exists()).map(|file| named(&file)).transpose()
}

/// Returns the path of the user's own configuration of MCP servers; `None` if there is no home directory.
pub(crate) fn own_file() -> Option<PathBuf> {
    Some(std::env::home_dir()?.join(GLOBAL))
}

/// Prints a note if the user's configuration was written but the one of the working directory takes precedence.
pub(crate) fn note_shadowed(written: &Path) {
    if own_file().is_some_and(|own| own == written) && Path::new(LOCAL).exists() {
        output::note(&format!("in this folder {LOCAL} is read instead of {}", written.display()));
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.parse::<f64>().ok().filter(|s| *s > 0.0);
    let time = number.and_then(|s| Duration::try_from_secs_f64(s).ok()).filter(|t| *t <= Duration::from_secs(86_400));
    time.ok_or_else(|| "expected a number of seconds above 0, at most 86400".to_owned())
}

impl ListedArgs {
    /// Returns the server options, extended with the globs of the tools to list.
    pub(crate) fn servers(&self) -> ServerArgs {
        ServerArgs { listed_tools: self.tools.clone(), ..self.servers.clone() }
    }
}

impl ServerArgs {
    /// Returns `true` if the command line names a configuration file.
    pub(crate) fn is_given(&self) -> bool {
        !self.mcp_config.is_empty()
    }

    /// Reads the configuration of MCP servers and prints its warnings to stderr.
    ///
    /// Fails if there is no configuration file or one cannot be read. A fault in the entry of one server is stored in
    /// that entry; see [`refuse_problems`].
    pub(crate) fn load(&self) -> Result<Config, Failure> {
        self.load_if_any()?.ok_or_else(|| {
            // One that is there was left out by the person.
            let there = match Path::new(LOCAL).exists() {
                true => format!("{LOCAL} is left out, and ~/{GLOBAL} does not exist"),
                false => format!("neither {LOCAL} nor ~/{GLOBAL} exists"),
            };
            Failure::usage(format!(
                "no configuration of MCP servers: {there}. Add a server with `toolgraft mcp add`, copy those of \
                 other programs with `toolgraft mcp import`, or name a file with --mcp-config FILE"
            ))
        })
    }

    /// Reads the configuration of MCP servers, as [`load`](Self::load), for commands that can do without servers:
    /// returns `None` if no configuration file was named and none exists.
    pub(crate) fn load_if_any(&self) -> Result<Option<Config>, Failure> {
        let sources: Vec<ServerSource> = match self.is_given() {
            true => self.mcp_config.iter().map(|file| named(file)).collect::<Result<_, _>>()?,
            false => usual()?.into_iter().collect(),
        };
        if sources.is_empty() {
            // Without a configuration there is none of those that are named.
            return some_of(Config::default(), self.only.as_deref().unwrap_or_default()).map(|_| None);
        }
        let mut config = Config::default();
        for (text, source) in sources {
            let parsed = Config::parse(&text, &source, &|name| std::env::var(name).ok());
            let parsed = parsed.map_err(Failure::usage)?;
            if parsed.servers().is_empty() {
                output::warn(&format!(
                    "{source} has no servers: add some with `toolgraft mcp add` or `toolgraft mcp import`"
                ));
            }
            config.merge(parsed);
        }
        for note in config.notes() {
            output::warn(note);
        }
        let limit = self.server_timeout;
        let servers = config.servers().iter().cloned().map(|mut server| {
            server.call_timeout = limit.or(server.call_timeout);
            server.connect_timeout = limit.or(server.connect_timeout);
            server.listed_tools.clone_from(&self.listed_tools);
            server
        });
        let config: Config = servers.collect();
        match &self.only {
            Some(names) => some_of(config, names).map(Some),
            None => Ok(Some(config)),
        }
    }

    /// Loads the configuration, connects to the servers, runs `job`, and shuts the servers down.
    ///
    /// A fault in an entry is an error before any server is started. A server that fails to start is reported on
    /// stderr, and the job runs with the others; it can look at [`Hub::servers`].
    pub(crate) fn with_hub<T>(&self, job: impl AsyncFnOnce(Arc<Hub>) -> Result<T, Failure>) -> Result<T, Failure> {
        let config = self.load()?;
        refuse_problems(&config)?;
        App::start(None)?.with_hub(&config, async move |hub| {
            report_failed(&hub.servers());
            job(hub).await
        })
    }
}

/// Fails if an entry of the configuration has a fault; the error lists the faults of all servers' entries.
pub(crate) fn refuse_problems(config: &Config) -> Result<(), Failure> {
    let problems: Vec<_> = config.servers().iter().filter_map(ServerConfig::problem).collect();
    match problems.is_empty() {
        true => Ok(()),
        false => {
            let remedy = "  (or set \"disabled\": true)".to_owned();
            Err(Failure::usages(problems.into_iter().map(|problem| problem.to_string()).chain([remedy])))
        }
    }
}

/// Fails if an `--allow` pattern matches tools of several servers, or if the condition of a pattern cannot be parsed.
pub(crate) fn refuse_ambiguous(policy: &Policy, catalog: &Catalog) -> Result<(), Failure> {
    if let Some(fault) = policy.unreadable().into_iter().next() {
        return Err(Failure::usage(format!("the pattern {fault}")));
    }
    let several = policy.ambiguous(catalog).into_iter().next();
    several.map_or(Ok(()), |several| Err(Failure::usage(format!("--allow {several}"))))
}

/// Fails if `--untrusted` names a server that does not exist, and so would protect against nothing.
pub(crate) fn refuse_strangers(untrusted: &[String], servers: &[ServerStatus]) -> Result<(), Failure> {
    let Some(name) = untrusted.iter().find(|name| servers.iter().all(|server| server.name != **name)) else {
        return Ok(());
    };
    let known = match servers {
        [] => "there are none".to_owned(),
        servers => format!("there are {}", shown_names(servers.iter().map(|server| &server.name))),
    };
    Err(Failure::usage(format!("--untrusted {name}: there is no such server; {known}")))
}

/// Prints a warning to stderr for each server that failed.
pub(crate) fn report_failed(servers: &[ServerStatus]) {
    servers.iter().filter(|server| server.has_failed()).for_each(|server| output::warn(&failed_line(server)));
}

/// Returns the message `server "x" failed: why`; for a fault in the configuration, the fault alone.
pub(crate) fn failed_line(server: &ServerStatus) -> String {
    let why = server.error.as_deref().unwrap_or("it is not available");
    match server.misconfigured {
        // The text names file and server itself.
        true => why.to_owned(),
        false => format!("server {:?} failed: {why}", server.name),
    }
}

/// Returns the configuration reduced to the servers with these names; an error if one does not exist.
fn some_of(mut config: Config, wanted: &[String]) -> Result<Config, Failure> {
    let names: Vec<&str> = config.servers().iter().map(|server| server.name.as_str()).collect();
    match wanted.iter().find(|name| !names.contains(&name.as_str())) {
        Some(name) if names.is_empty() => {
            Err(Failure::usage(format!("no server {name:?}: the configuration has none")))
        }
        Some(name) => {
            let none = format!("no server {name:?} in the configuration; there are: {}", shown_names(&names));
            // Other places name a tool with its server: `--allow files.read_file`.
            let apart = name.split_once('.').filter(|(server, _)| names.contains(server));
            let apart = apart.map(|(server, tool)| format!(". Write server and tool apart: {server} {tool}"));
            Err(Failure::usage(none + &apart.unwrap_or_default()))
        }
        None => {
            config.retain(|server| wanted.contains(&server.name));
            Ok(config)
        }
    }
}

/// Returns the configuration reduced to one server; an error if it does not exist, is disabled or has a fault.
pub(crate) fn only(config: Config, name: &str) -> Result<Config, Failure> {
    let config = some_of(config, &[name.to_owned()])?;
    match config.servers() {
        [server, ..] if server.disabled => {
            Err(Failure::usage(format!("the server {name:?} is disabled: remove \"disabled\" at {}", server.place)))
        }
        _ => refuse_problems(&config).map(|()| config),
    }
}

/// Fails if a server could not be started or reached.
pub(crate) fn demand_ready(hub: &Hub) -> Result<(), Failure> {
    match hub.servers().iter().find(|s| s.has_failed()) {
        Some(server) => Err(Failure::job(failed_line(server))),
        None => Ok(()),
    }
}

/// Returns the text of an argument (literal, `@FILE`, or `-` for standard input), and a name of its source for errors.
pub(crate) fn argument_text(argument: &str) -> Result<(String, String), Failure> {
    match argument.strip_prefix('@') {
        Some(path) => Ok((input::read_text(Path::new(path))?, path.to_owned())),
        None if argument == "-" => Ok((input::read_text(Path::new("-"))?, "standard input".to_owned())),
        None => Ok((argument.to_owned(), "the arguments".to_owned())),
    }
}
