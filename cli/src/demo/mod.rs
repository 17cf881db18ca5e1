//! `toolgraft demo`.

pub(crate) mod server;

mod show;

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;

use futures::StreamExt;

use crate::base::{Failure, media, output::written, written::Written};
use crate::replay;
use crate::screen::Frame;
use crate::servers;
use crate::servers::app::App;
use crate::terminal;
use show::DemoShow;
use toolgraft::agent::Finished;
use toolgraft::dialect::{Lang, Profile};
use toolgraft::message::Role;
use toolgraft::prompt::Options;
use toolgraft::route::Toolbox;
use toolgraft::tools::Decision;
use toolgraft::transcript::{self, Recorded, Recorder, Recording};
use toolgraft::{Agent, AgentEvent, Dialect, Policy};
use toolgraft_files::{self as files, Mode};
use toolgraft_mcp::{Config, Hub, ServerConfig};

/// Name of the demonstration server in the configuration and in the prompt.
const SERVER: &str = "demo";

/// Dialect in which the recorded model writes its calls.
const DIALECT: Dialect = Dialect::TypeMarker;

/// Options of `toolgraft demo`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("../help/demo.txt").trim_end())]
pub(crate) struct DemoArgs {
    /// Language of the prompt and the model: en, zh
    #[arg(long, value_name = "LANG", default_value_t = Lang::En)]
    lang: Lang,

    /// Show it at once; by default a terminal shows it at the model's speed
    #[arg(long)]
    fast: bool,

    /// Record the demo; `toolgraft replay` shows the recording
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

/// Runs `toolgraft demo`.
pub(crate) fn run(args: DemoArgs) -> Result<(), Failure> {
    args.record.as_deref().map_or(Ok(()), |file| media::check_new("--record", file))?;
    let recording = recording(args.lang)?;
    let program = std::env::current_exe()
        .map_err(|e| Failure::job(format!("cannot find this program to start its bundled server: {e}")))?;
    let server = ServerConfig::stdio(SERVER, program.to_string_lossy(), ["demo-server"]);
    let config: Config = [server].into_iter().collect();
    match App::start(None)?.showing(false).with_hub(&config, async |hub| show(&args, &recording, hub).await) {
        // Whoever read the output has seen enough.
        Err(Failure::ReaderGone) => Ok(()),
        done => done,
    }
}

/// Returns the bundled recording of a model in this language.
fn recording(lang: Lang) -> Result<Recording, Failure> {
    let text = match lang {
        Lang::Zh => include_str!("../../demo/zh.jsonl"),
        _ => include_str!("../../demo/en.jsonl"),
    };
    transcript::parse(text).map_err(|e| Failure::job(format!("the bundled recording {lang}: {e}")))
}

/// Runs and shows one turn of the recorded model with the demonstration server.
async fn show(args: &DemoArgs, recording: &Recording, hub: Arc<Hub>) -> Result<(), Failure> {
    servers::demand_ready(&hub)?;
    let live = io::stdout().is_terminal();
    let mut screen = DemoShow::new(anstream::stdout(), Frame::of(&io::stdout()), terminal::columns());

    let question = question(recording)?;
    let name = recording.session.model.as_deref().unwrap_or_default();
    let model = Recorded::new(recording.rounds.iter().cloned());
    let model = Arc::new(if live && !args.fast { model.with_speed(1.0) } else { model });
    let tools: Vec<String> = hub.catalog().tools().map(|t| t.name.clone()).collect();
    let catalog = Arc::new(hub.catalog().clone());
    let agent = agent(args.lang, Profile::for_model(name), model.clone(), hub);
    let kept = Written::default();
    let recorder = Recorder::new(kept.clone(), &recording.session);

    written(screen.opening(name, DIALECT, SERVER, &tools, question))?;
    let mut run = agent.run_recorded(question, &recorder).map_err(Failure::job)?;
    while let Some(event) = run.next().await {
        let shown = match &event {
            AgentEvent::RoundStarted { round, .. } => match model.requests().last() {
                Some(request) => {
                    let after = replay::after_call(recording, *round as usize - 1, &catalog);
                    screen.round(*round, &request.messages, after)
                }
                None => Ok(()),
            },
            AgentEvent::Finished(finished) => screen.finished(finished),
            event => {
                screen.invented(event).into_iter().for_each(|text| recorder.notice("note", &text));
                screen.event(event)
            }
        };
        written(shown)?;
        if let AgentEvent::Finished(finished) = event {
            verdict(&finished)?;
            return keep(args, &kept.text(), &mut screen);
        }
    }
    Err(Failure::job("the turn ended without a last event"))
}

/// Writes the recording of the demonstration to the file of `--record`, if given.
fn keep(args: &DemoArgs, text: &str, screen: &mut DemoShow<impl Write>) -> Result<(), Failure> {
    let Some(file) = &args.record else { return Ok(()) };
    files::replace(file, text.as_bytes(), Mode::Private)
        .map_err(|e| Failure::usage(format!("cannot write {}: {e}", file.display())))?;
    let file = file.display();
    written(screen.remark(&format!("recorded in {file}: show it with `toolgraft replay {file}`")))
}

fn agent(lang: Lang, profile: &Profile, model: Arc<Recorded>, hub: Arc<Hub>) -> Agent {
    let prompt = Options::for_profile(profile).with_dialect(DIALECT).with_lang(lang);
    let policy = Policy::new(Decision::Deny).allow(format!("{SERVER}/*"));
    Agent::builder(model, hub).profile(profile).prompt(prompt).policy(policy).build()
}

fn question(recording: &Recording) -> Result<&str, Failure> {
    let mut messages = recording.rounds.iter().flat_map(|r| &r.messages);
    let question = messages.find(|m| m.role == Role::User).map(|m| m.content.as_str());
    question.ok_or_else(|| Failure::job("the bundled recording has no user message"))
}

/// Fails if the demonstration ended without an answer, or if one of its calls failed.
fn verdict(finished: &Finished) -> Result<(), Failure> {
    if !finished.reason.is_answer() {
        return Err(Failure::job(format!("the demo ended without an answer: {}", finished.reason)));
    }
    let failed = finished.conversation.answered().into_iter().find(|a| !a.outcome.is_result());
    match failed {
        Some(call) => Err(Failure::job(format!("{} ({}) failed: {}", call.id, call.call.tool, call.outcome.text))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgraft::transcript::Round;
    use toolgraft::{Functions, Policy, Tool};

    async fn verdict_on(rounds: Vec<Round>) -> String {
        let tools = Functions::new(SERVER)
            .with(Tool::new("weather_query"), |_| async { Err::<String, _>("the sensor is wet") });
        let policy = Policy::new(Decision::Allow);
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
        assert!(message.starts_with("the demo ended without an answer: the model failed"), "{message}");
    }
}
