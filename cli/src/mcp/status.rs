//! `toolgraft mcp status`: the MCP servers of a `toolgraft serve` that runs on this machine.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::{Failure, output};
use crate::phrases::Phrases;
use crate::serve::running::Running;
use crate::servers::runner::Runner;
use crate::servers::status::{self, Report};
use crate::tools;
use toolgraft_mcp::ServerStatus;

/// Longest wait for an answer: a server that is switched on may have to be downloaded first.
const PATIENCE: Duration = Duration::from_secs(120);

/// Options of `toolgraft mcp status`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("../help/en/mcp-status.txt").trim_end())]
pub(super) struct Args {
    /// The `serve` to ask, by its URL or port; else all of yours
    #[arg(value_name = "URL")]
    serve: Option<String>,

    /// Switch an MCP server, or tools of one (SERVER.GLOB), on first
    #[arg(long, value_name = "SERVER", group = "switch")]
    on: Option<String>,

    /// Switch an MCP server off first, and its process ends; or tools of one (SERVER.GLOB), which are listed no more
    #[arg(long, value_name = "SERVER", group = "switch")]
    off: Option<String>,

    /// Start an MCP server anew first
    #[arg(long, value_name = "SERVER", group = "switch")]
    restart: Option<String>,

    /// Show so many of the last lines of each server's log
    #[arg(long, value_name = "N", default_value_t = 5)]
    log: usize,

    /// Print one JSON object: per `serve` its servers with state, error, restarts, tools, log
    #[arg(long)]
    json: bool,
}

/// What a `serve` says of its servers.
#[derive(Serialize)]
struct Instance {
    url: String,
    process: u32,
    servers: Vec<Report>,
}

/// Runs `toolgraft mcp status`.
pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let say = Phrases::of_user(None);
    let instances = Runner::start()?.wait(asked(args))?;
    let statuses: Vec<ServerStatus> =
        instances.iter().flat_map(|instance| &instance.servers).map(|report| report.status.clone()).collect();
    match args.json {
        true => output::emit_json(&serde_json::json!({ "instances": instances }))?,
        false => {
            let block = |instance: &Instance| {
                let head = say.serve_of_process(&instance.url, instance.process);
                format!("{head}\n\n{}", status::text(&instance.servers, say))
            };
            let text = instances.iter().map(block).collect::<Vec<_>>().join("\n");
            output::emit_styled(&text)?;
        }
    }
    tools::verdict(&statuses)
}

async fn asked(args: &Args) -> Result<Vec<Instance>, Failure> {
    let client = toolgraft::http::client().no_proxy().timeout(PATIENCE).build().map_err(Failure::job)?;
    let lines = args.log.to_string();
    let at = |running: &Running, more: &[(&str, &str)]| {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("log", &lines).extend_pairs(more);
        format!("{}/mcp?{}", running.control, query.finish())
    };
    let (mut instances, mut found) = (Vec::new(), Vec::new());
    for running in Running::all().into_iter().filter(|running| is_meant(running, args.serve.as_deref())) {
        match client.get(at(&running, &[])).bearer_auth(&running.key).send().await {
            Ok(answer) => {
                let (status, text) = (answer.status().as_u16(), answer.text().await.unwrap_or_default());
                instances.push(told(&running, status, &text)?);
                found.push(running);
            }
            // It was killed, or its machine has restarted.
            Err(error) if error.is_connect() => running.forget(),
            Err(error) => return Err(Failure::job(format!("{}: {error}", running.url))),
        }
    }
    let switch = [("on", &args.on), ("off", &args.off), ("restart", &args.restart)];
    let switch = switch.into_iter().find_map(|(what, server)| Some((what, server.as_ref()?)));
    match (switch, found.as_slice()) {
        (_, []) => Err(Failure::job(nobody(args.serve.as_deref()))),
        (None, _) => Ok(instances),
        (Some((what, server)), [running]) => {
            let post = client.post(at(running, &[("server", server), ("switch", what)]));
            let answer = post.bearer_auth(&running.key).send().await;
            let answer = answer.map_err(|error| Failure::job(format!("{}: {error}", running.url)))?;
            let (status, text) = (answer.status().as_u16(), answer.text().await.unwrap_or_default());
            Ok(vec![told(running, status, &text)?])
        }
        (Some(_), several) => {
            let urls: Vec<&str> = several.iter().map(|running| running.url.as_str()).collect();
            Err(Failure::usage(format!("several run here: name one of {}", urls.join(", "))))
        }
    }
}

/// Whether somebody means this one by its URL, or by its port.
fn is_meant(running: &Running, wanted: Option<&str>) -> bool {
    wanted.is_none_or(|wanted| {
        let of_url = |url: &str| url.trim_end_matches('/').trim_end_matches("/v1").to_owned();
        of_url(wanted) == of_url(&running.url) || of_url(&running.url).ends_with(&format!(":{wanted}"))
    })
}

fn nobody(wanted: Option<&str>) -> String {
    let at = wanted.map(|wanted| format!(" at {wanted}")).unwrap_or_default();
    format!("no `toolgraft serve` of yours with MCP servers runs on this machine{at}: start one with --mcp-config FILE")
}

#[derive(Deserialize)]
struct Told {
    servers: Vec<Report>,
}

fn told(running: &Running, status: u16, text: &str) -> Result<Instance, Failure> {
    let Running { url, process, .. } = running;
    if let (200, Ok(told)) = (status, serde_json::from_str::<Told>(text)) {
        return Ok(Instance { url: url.clone(), process: *process, servers: told.servers });
    }
    let why = serde_json::from_str::<Value>(text).ok();
    let why = why.and_then(|answer| answer.get("error")?.as_str().map(str::to_owned));
    match (status, why) {
        (404, Some(why)) => Err(Failure::usage(why)),
        (_, Some(why)) => Err(Failure::job(why)),
        (_, None) => {
            Err(Failure::job(format!("{url} gives no status (HTTP {status}): is it another version of toolgraft?")))
        }
    }
}
