//! `toolgraft mcp add`.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::base::{Failure, output, programs::found};
use crate::screen::excerpt::names;
use crate::servers;
use crate::servers::config_file::{ConfigFile, Entry, checked, target};
use toolgraft::secrets::names_secret;
use toolgraft_files as files;

/// Options of `toolgraft mcp add`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("../help/mcp-add.txt").trim_end())]
pub(super) struct AddArgs {
    /// Name of the server
    name: String,

    /// Endpoint of a server over HTTP
    #[arg(conflicts_with = "command")]
    url: Option<String>,

    /// Program and arguments of the server, after --
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,

    /// Set a variable for the program; NAME alone passes yours
    ///
    /// May be given several times. NAME alone is written as ${NAME}: the value stays out
    /// of the file.
    #[arg(long, value_name = "NAME[=VALUE]")]
    env: Vec<String>,

    /// Folder that the program works in
    #[arg(long, value_name = "FOLDER")]
    cwd: Option<String>,

    /// Send a header with every request; ${VAR} in it stands for your variable
    #[arg(long, value_name = "NAME: VALUE")]
    header: Vec<String>,

    /// Use only this transport over HTTP: http (streamable), sse (legacy)
    #[arg(long = "type", value_name = "TYPE", value_parser = ["http", "sse"])]
    kind: Option<String>,

    /// Replace the server of this name, if there is one
    #[arg(long)]
    replace: bool,

    /// File to write to [default: ~/.config/toolgraft/mcp.json]
    #[arg(long, value_name = "FILE")]
    mcp_config: Option<PathBuf>,
}

/// Runs `toolgraft mcp add`.
pub(super) fn run(args: AddArgs) -> Result<(), Failure> {
    let entry = entry(&args)?;
    let (problem, unset) = checked(&args.name, &entry);
    if let Some(problem) = problem {
        return Err(Failure::usage(format!("server {:?}: {problem}", args.name)));
    }
    let file = ConfigFile::open(target(args.mcp_config.as_deref())?)?;
    let known = file.entry(&args.name).is_some();
    if known && !args.replace {
        return Err(Failure::usage(format!(
            "{} has a server {:?} already: add --replace, or use another name",
            file.path.display(),
            args.name
        )));
    }
    file.set(&args.name, &entry);
    file.write()?;
    let (name, path) = (format!("{:?}", args.name), file.path.display());
    let done = if known { format!("replaced {name} in {path}") } else { format!("added {name} in {path}") };
    output::tell(&done)?;
    advise(&args, &file.path, &unset);
    Ok(())
}

/// Warns of secrets written into the file, a program that is not found, variables that are not set, and a configuration
/// file of the project that takes precedence.
fn advise(args: &AddArgs, file: &Path, unset: &[String]) {
    let literal = |pair: &&String| {
        // `--env NAME` alone is written as a reference, so it has no value to warn of.
        let (name, value) = pair.split_once(['=', ':']).unwrap_or((pair, "${"));
        names_secret(name) && !value.contains("${")
    };
    if let Some(pair) = args.env.iter().chain(&args.header).find(literal) {
        let name = pair.split(['=', ':']).next().unwrap_or_default();
        let reference = format!("${{{}}}", name.to_uppercase().replace('-', "_"));
        output::warn(&format!("the value of {name} is in the file; a reference such as {reference} keeps it out"));
        if files::others_may_read(file) {
            output::warn(&format!("other users can read {}: chmod 600 prevents that", file.display()));
        }
    }
    if let Some(program) = args.command.first().filter(|program| !is_there(program, args.cwd.as_deref())) {
        output::warn(&format!("the program {program:?} is not found: install it, or name it by its whole path"));
    }
    warn_unset(unset);
    servers::note_shadowed(file);
}

/// Returns `true` if a program can be found, relative to `cwd` or in `PATH`. A name that contains a variable is not
/// checked.
pub(super) fn is_there(program: &str, cwd: Option<&str>) -> bool {
    if program.contains("${") {
        return true;
    }
    if program.contains('/') {
        return Path::new(cwd.unwrap_or(".")).join(program).is_file();
    }
    found(program).is_some()
}

/// Warns of environment variables that the server needs and that are not set.
fn warn_unset(unset: &[String]) {
    if !unset.is_empty() {
        output::warn(&format!("not set in this shell, and needed when it starts: {}", names(unset)));
    }
}

fn entry(args: &AddArgs) -> Result<Entry, Failure> {
    if args.name.trim().is_empty() {
        return Err(Failure::usage("the name is empty"));
    }
    if args.name.contains(char::is_whitespace) {
        let joined = args.name.split_whitespace().collect::<Vec<_>>().join("-");
        return Err(Failure::usage(format!(
            "the name {:?} has a space in it: use one without, such as {joined:?}",
            args.name
        )));
    }
    let unfit = |flag: &str, what: &str| Failure::usage(format!("{flag} does not apply to a server {what}"));
    let entry = match &args.url {
        Some(url) => {
            if !url.contains("://") && looks_like_host(url) {
                return Err(Failure::usage(format!("{url:?} is not a URL: write https://{url}")));
            }
            if !url.contains("://") {
                return Err(Failure::usage(format!(
                    "{url:?} is not a URL: write a program after --, as in: toolgraft mcp add {} -- {url}",
                    args.name
                )));
            }
            if !args.env.is_empty() || args.cwd.is_some() {
                return Err(unfit(if args.cwd.is_some() { "--cwd" } else { "--env" }, "over HTTP"));
            }
            let headers = args.header.iter().map(|header| pair("--header", header, ':'));
            let headers = headers.collect::<Result<Entry, _>>()?;
            [("type", json!(args.kind)), ("url", json!(url)), ("headers", json!(headers))].to_vec()
        }
        None => {
            if !args.header.is_empty() || args.kind.is_some() {
                return Err(unfit(if args.kind.is_some() { "--type" } else { "--header" }, "that is a program"));
            }
            let (command, rest) = args.command.split_first().ok_or_else(|| {
                let name = &args.name;
                Failure::usage(format!(
                    "{name:?} has neither a URL nor a program: give its URL, or the program to start after --, as \
                     in: toolgraft mcp add {name} -- npx -y PACKAGE"
                ))
            })?;
            if command.starts_with('-') {
                return Err(Failure::usage(format!(
                    "{command:?} is no program: options come before --, and after it the program"
                )));
            }
            let env = args.env.iter().map(|pair| variable(pair)).collect::<Result<Entry, _>>()?;
            [("command", json!(command)), ("args", json!(rest)), ("env", json!(env)), ("cwd", json!(args.cwd))].to_vec()
        }
    };
    let says = |value: &Value| ![Value::Null, json!([]), json!({})].contains(value);
    Ok(entry.into_iter().filter(|(_, value)| says(value)).map(|(key, value)| (key.to_owned(), value)).collect())
}

/// Returns `true` for a host followed by a path or a port, such as `example.com/mcp`, unless a file of this name
/// exists, which is then a program.
fn looks_like_host(word: &str) -> bool {
    let (host, rest) = word.split_at(word.find(['/', ':']).unwrap_or(word.len()));
    let is_name = host.contains('.') && host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-'));
    // A bare `server.py` or `example.com` may be a program, and `./server` is one: a host has a port or
    // path after it.
    (is_name && !host.starts_with('.') || host == "localhost") && rest.len() > 1 && !Path::new(word).exists()
}

/// Parses `NAME=VALUE`; `NAME` alone becomes a reference to the environment variable of that name.
fn variable(text: &str) -> Result<(String, Value), Failure> {
    match text.contains('=') {
        true => pair("--env", text, '='),
        false => pair("--env", &format!("{text}=${{{text}}}"), '='),
    }
}

fn pair(flag: &str, text: &str, sign: char) -> Result<(String, Value), Failure> {
    let pair = text.split_once(sign).filter(|(name, _)| !name.trim().is_empty());
    let (name, value) = pair.ok_or_else(|| {
        let form = if sign == '=' { "NAME=VALUE" } else { "'NAME: VALUE'" };
        Failure::usage(format!("{flag} {text:?}: expected {form}"))
    })?;
    Ok((name.trim().to_owned(), json!(value.trim())))
}
