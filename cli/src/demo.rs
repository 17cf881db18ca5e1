//! `toolgraft demo`.

mod show;

use std::io::{self, IsTerminal};
use std::sync::Arc;

use futures::StreamExt;

use super::replay::play::Speed;
use super::runner::Runner;
use super::screen::Frame;
use super::{Failure, prompt, servers, terminal};
use show::Show;
use toolgraft::agent::Finished;
use toolgraft::dialect::{Lang, Profile};
use toolgraft::message::Role;
use toolgraft::model::{Recorded, Round};
use toolgraft::prompt::Options;
use toolgraft::route::Toolbox;
use toolgraft::route::mcp::{Config, ServerConfig};
use toolgraft::tools::DefaultDecision;
use toolgraft::transcript::{self, Recording};
use toolgraft::{Agent, AgentEvent, Dialect, Hub, Policy};

/// Name of the bundled server in the configuration, and so in the prompt.
const SERVER: &str = "demo";

const ABOUT: &str = "\
The model's text is recorded: a reasoning model that thinks, drafts a call
inside its thinking, and then makes it. Everything else is real: the prompt, the
parser, and the calls, which go to a bundled MCP server that is started as a
process of its own. The values in the answer are the ones that the server gave;
its weather is made up.

Examples:
  toolgraft demo
  toolgraft demo --lang zh --dialect use_mcp_tool
  toolgraft demo --speed max | less

Exit codes: 0 done, 1 something in the loop failed, 2 wrong usage.";

/// Options of `toolgraft demo`.
#[derive(Debug, clap::Args)]
#[command(after_help = ABOUT)]
pub(super) struct Args {
    /// Language of the prompt and of the model: en, zh
    #[arg(long, default_value_t = Lang::En)]
    lang: Lang,

    /// Call syntax that is taught: use_mcp_tool, tool_tag, type_marker
    #[arg(long, default_value_t = Dialect::TypeMarker, value_parser = prompt::dialect)]
    dialect: Dialect,

    /// How fast the model speaks: max, or a factor [default: 1 at a terminal, else max]
    #[arg(long, value_name = "FACTOR")]
    speed: Option<Speed>,
}

/// Runs `toolgraft demo`.
pub(super) fn run(args: Args) -> Result<(), Failure> {
    let recording = recording(args.lang, args.dialect)?;
    let program = std::env::current_exe()
        .map_err(|e| Failure::job(format!("cannot find this program to start its bundled server: {e}")))?;
    let server = ServerConfig::stdio(SERVER, program.to_string_lossy(), ["demo-server"]);
    let config: Config = [server].into_iter().collect();
    match Runner::start()?.with_hub(&config, |hub| async move { show(&args, &recording, hub).await }) {
        // Whoever read the output has seen enough.
        Err(Failure::Reported) => Ok(()),
        done => done,
    }
}

/// The recording for a language and dialect.
fn recording(lang: Lang, dialect: Dialect) -> Result<Recording, Failure> {
    let text = match (lang, dialect) {
        (Lang::En, Dialect::UseMcpTool) => include_str!("../demo/en/use_mcp_tool.jsonl"),
        (Lang::En, Dialect::ToolTag) => include_str!("../demo/en/tool_tag.jsonl"),
        (Lang::En, Dialect::TypeMarker) => include_str!("../demo/en/type_marker.jsonl"),
        (Lang::Zh, Dialect::UseMcpTool) => include_str!("../demo/zh/use_mcp_tool.jsonl"),
        (Lang::Zh, Dialect::ToolTag) => include_str!("../demo/zh/tool_tag.jsonl"),
        (Lang::Zh, Dialect::TypeMarker) => include_str!("../demo/zh/type_marker.jsonl"),
        (_, dialect) => return Err(Failure::usage(format!("there is no recording of {dialect}, which is only read"))),
    };
    transcript::parse(text).map_err(|e| Failure::job(format!("the bundled recording {lang}/{dialect}: {e}")))
}

/// One turn, shown event by event.
async fn show(args: &Args, recording: &Recording, hub: Arc<Hub>) -> Result<(), Failure> {
    servers::demand_ready(&hub)?;
    let live = io::stdout().is_terminal();
    let speed = args.speed.unwrap_or(if live { Speed::Times(1.0) } else { Speed::Max });
    let mut screen = Show::new(anstream::stdout(), Frame::of(&io::stdout()), terminal::columns());

    let question = question(recording)?;
    let name = recording.session.model.as_deref().unwrap_or_default();
    let model = Recorded::new(recording.rounds.iter().map(Round::from)).with_placeholders();
    let model = Arc::new(match speed {
        Speed::Max => model,
        Speed::Times(factor) => model.with_speed(factor),
    });
    let tools: Vec<String> = hub.catalog().tools().map(|t| t.name.clone()).collect();
    let agent = agent(args, Profile::for_model(name), model.clone(), hub);

    written(screen.opening(name, args.dialect, SERVER, &tools, question))?;
    let mut run = agent.run(question).map_err(Failure::job)?;
    while let Some(event) = run.next().await {
        let shown = match &event {
            AgentEvent::RoundStarted { round, .. } => match model.requests().last() {
                Some(request) => screen.round(*round, &request.messages),
                None => Ok(()),
            },
            AgentEvent::Finished(finished) => screen.finished(finished),
            event => screen.event(event),
        };
        written(shown)?;
        if let AgentEvent::Finished(finished) = event {
            return verdict(&finished);
        }
    }
    Err(Failure::job("the turn ended without a last event"))
}

fn agent(args: &Args, profile: &Profile, model: Arc<Recorded>, hub: Arc<Hub>) -> Agent {
    let prompt = Options { dialect: args.dialect, lang: args.lang, ..Options::for_profile(profile) };
    let policy = Policy::new(DefaultDecision::Deny).allow(format!("{SERVER}/*"));
    Agent::builder(model, hub).profile(profile).prompt(prompt).policy(policy).build()
}

fn question(recording: &Recording) -> Result<&str, Failure> {
    let mut messages = recording.rounds.iter().flat_map(|r| &r.messages);
    let question = messages.find(|m| m.role == Role::User).map(|m| m.content.as_str());
    question.ok_or_else(|| Failure::job("the bundled recording has no user message"))
}

/// Whether the loop did all that it is meant to show.
fn verdict(finished: &Finished) -> Result<(), Failure> {
    if !finished.reason.is_answer() {
        return Err(Failure::job(format!("the demo did not come to an answer: {}", finished.reason)));
    }
    let failed = finished.conversation.answered().into_iter().find(|a| !a.outcome.is_result());
    match failed {
        Some(call) => Err(Failure::job(format!("{} ({}) failed: {}", call.id, call.call.tool, call.outcome.text))),
        None => Ok(()),
    }
}

/// What became of a write to stdout. A reader that has gone is no failure to report.
fn written(result: io::Result<()>) -> Result<(), Failure> {
    result.map_err(|e| match e.kind() {
        io::ErrorKind::BrokenPipe => Failure::Reported,
        _ => Failure::job(format!("cannot write to stdout: {e}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgraft::{Functions, Policy, Tool};

    async fn verdict_on(rounds: Vec<Round>) -> String {
        let tools = Functions::new(SERVER)
            .with(Tool::new("weather_query"), |_| async { Err::<String, _>("the sensor is wet") });
        let policy = Policy::new(DefaultDecision::Allow);
        let agent = Agent::builder(Recorded::new(rounds), tools).policy(policy).build();
        match verdict(&agent.run("Rain?").unwrap().finish().await) {
            Err(Failure::Job(message)) => message,
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn a_call_that_fails_and_a_turn_without_an_answer_are_failures() {
        let call = "<use_mcp_tool><server_name>demo</server_name><tool_name>weather_query</tool_name>\
                    <arguments>{}</arguments></use_mcp_tool>";
        let message = verdict_on(vec![Round::text(call), Round::text("Maybe.")]).await;
        assert_eq!(message, "call_1 (weather_query) failed: the sensor is wet");
        let message = verdict_on(vec![Round::text(call)]).await;
        assert!(message.starts_with("the demo did not come to an answer: the model failed"), "{message}");
    }
}
