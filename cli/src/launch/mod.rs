//! `toolgraft launch`: a program for coding or chat, in front of a model without tools.
//!
//! ```text
//! flags, environment, config.toml ─▶ endpoint, model, context ─▶ plan ─▶ door on a free port ─▶ program
//!                                                                └─▶ --print
//! ```
//!
//! The door lives as long as the program; what was written for it goes with it.

mod clients;
mod environment;
mod plan;
mod session;

use std::num::NonZeroUsize;
use std::path::Path;
use std::process::ExitCode;

use crate::base::{Failure, input, output, programs::found, secret::secret, signals::Signals};
use crate::chat::{Endpoint, EndpointArgs};
use crate::dialog::ask::Asker;
use crate::front::Terminal;
use crate::screen::visible::word;
use crate::serve::{self, ServeModelArgs};
use crate::servers::app::App;
use crate::settings::{Reader, Settings, Source, set_args::SetArgs};
use clients::{CLIENTS, Client};
use environment::Asked;
use plan::{LaunchPlan, PlanValues};
use session::SessionFolder;
use toolgraft::prompt::tool_budget;
use toolgraft::secrets::shown_url;
use toolgraft_serve::Server;

/// Multiple of the size of a client's first request that the context should have, to leave space for work.
const ROOM: u64 = 2;

/// Options of `toolgraft launch`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("../help/launch.txt").trim_end())]
pub(crate) struct LaunchArgs {
    /// Program to start: claude, codex, gemini, opencode, qwen, cline, continue, copilot, vibe
    #[arg(value_name = "CLIENT", value_parser = client)]
    client: &'static Client,

    /// Arguments for the program
    #[arg(value_name = "ARGS", last = true)]
    arguments: Vec<String>,

    /// Show what would be set and started, without starting it
    #[arg(long)]
    print: bool,

    /// Set a variable for the program; NAME alone passes yours
    #[arg(long, value_name = "NAME[=VALUE]")]
    env: Vec<String>,

    #[command(flatten)]
    endpoint: EndpointArgs,

    #[command(flatten)]
    model: ServeModelArgs,

    #[command(flatten)]
    set: SetArgs,
}

fn client(name: &str) -> Result<&'static Client, String> {
    Client::named(name).ok_or_else(|| input::expected_one_of(CLIENTS.iter().map(|client| client.name.as_str())))
}

/// Runs `toolgraft launch`.
pub(crate) fn run(args: LaunchArgs) -> Result<ExitCode, Failure> {
    let options = Settings { profile: args.model.offer.profile, ..Settings::default() };
    let mut settings = args.set.under(options, &[Reader::Served, Reader::Launch])?.resolve(&Source::EVERYWHERE)?;
    let program = found(&args.client.program);
    // `--print` starts nothing, so it needs no program.
    if program.is_none() && !args.print {
        return Err(Failure::usage(format!(
            "{} is not installed (PATH has no program of that name): {}",
            args.client.program, args.client.install
        )));
    }
    // The key that servers have for their endpoint, where one was named and no other key.
    let mut place = args.endpoint.place(&settings)?;
    place.key = place.key_or("TOOLGRAFT_UPSTREAM_KEY");
    let mut app = App::start(Asker::at_terminal())?;
    let endpoint = app
        .wait(async { Endpoint::choose(&place, &Terminal::without_turns(app.asker.clone())).await?.reached().await })?;
    let asked = Asked::read(&args.env, &endpoint)?;
    // The program has the terminal from here on.
    app.asker = None;
    let context = settings.context.map(NonZeroUsize::get).or_else(|| endpoint.context()).map(|tokens| tokens as u64);
    warn_of(args.client, context, &endpoint);
    if let Some(tokens) = context {
        let budget = NonZeroUsize::new(tool_budget(usize::try_from(tokens).ok()));
        settings.tool_budget = settings.tool_budget.or(budget);
    }
    match program.filter(|_| !args.print) {
        None => {
            let folder = Path::new("FOLDER");
            let values =
                PlanValues { root: "http://127.0.0.1:PORT", key: "KEY", model: &endpoint.model, context, folder };
            let plan = LaunchPlan::new(args.client, &values, &asked.set, &args.arguments).map_err(Failure::job)?;
            told(args.client, &settings, &endpoint, &values);
            output::emit(&plan.text(folder))?;
            Ok(ExitCode::SUCCESS)
        }
        Some(program) => app.wait_out(launched((args, settings), asked, &endpoint, context, &program, &app.signals)),
    }
}

/// Serves the model to the program until it exits, and returns its exit code.
async fn launched(
    (args, settings): (LaunchArgs, Settings),
    asked: Asked,
    endpoint: &Endpoint,
    context: Option<u64>,
    program: &Path,
    signals: &Signals,
) -> Result<ExitCode, Failure> {
    let key = secret()?;
    let config = serve::in_front_of(endpoint, &args.model, settings.clone())?.with_api_key(key.as_str());
    let server = Server::bind(config, "127.0.0.1:0").await.map_err(Failure::job)?;
    let root = format!("http://{}", server.local_addr().map_err(Failure::job)?);
    let folder = SessionFolder::new()?;
    let values = PlanValues { root: &root, key: &key, model: &endpoint.model, context, folder: folder.path() };
    let plan = LaunchPlan::new(args.client, &values, &asked.set, &args.arguments).map_err(Failure::job)?;
    folder.fill(&plan)?;
    told(args.client, &settings, endpoint, &values);
    let mark = session::mark();
    let child = session::command(program, &plan, asked.environment(args.client, endpoint), &mark)
        .spawn()
        .map_err(|error| Failure::job(format!("cannot start {}: {error}", program.display())))?;
    let ended = tokio::select! {
        ended = session::ended(child, signals) => ended,
        () = server.run(std::future::pending()) => Err(Failure::job("the server has ended before the program")),
    };
    session::end_left(&mark, &args.client.name).await;
    ended
}

/// Prints a line with the client, the model and the limits that are set.
fn told(client: &Client, settings: &Settings, endpoint: &Endpoint, values: &PlanValues<'_>) {
    let mut line = format!(
        "{}: {} of {}, served at {}",
        client.name,
        word(&endpoint.model),
        shown_url(&endpoint.url),
        values.root
    );
    // A client that has no setting for a limit is not said to keep it.
    let mentions = |what: &str| client.texts().any(|text| text.contains(what));
    match (values.context, values.output(), values.compact()) {
        (Some(context), Some(output), Some(compact)) => {
            line += &format!("; context {context} tokens");
            line +=
                &settings.tool_budget.map(|budget| format!(", the list of tools at most {budget}")).unwrap_or_default();
            line += &if mentions("output") { format!(", an answer at most {output}") } else { String::new() };
            line +=
                &if mentions("compact") { format!(", history made shorter from {compact} on") } else { String::new() };
        }
        _ => line += "; the endpoint does not say how long the context is (--set context=TOKENS)",
    }
    output::tell_stderr(line);
}

/// Warns if the context is hardly larger than the client's first request.
fn warn_of(client: &Client, context: Option<u64>, endpoint: &Endpoint) {
    let Some(context) = context.filter(|context| *context < client.first_request * ROOM) else { return };
    let longer = endpoint.longer_context().map(|how| format!(": {how}")).unwrap_or_default();
    output::warn(&format!(
        "the first request of {} takes about {} tokens, and the context has {context}{longer}",
        client.name, client.first_request
    ));
}
