//! `mcp-recorder shell`: commands to one server.

use std::io::{BufRead, IsTerminal, Write, stdin, stdout};
use std::path::PathBuf;

use serde_json::json;
use tokio::sync::mpsc::{Receiver, channel};
use toolgraft::route::{Invocation, Toolbox};
use toolgraft::tools::ACCESS_RESOURCE;
use toolgraft_mcp::{Config, Hub};

use crate::command::{self, Command, HELP};
use crate::wire::{Wire, WireForm};
use crate::{ConfigArgs, Failure, clean, failed, usage};

/// Options of `mcp-recorder shell`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Server, as the configuration names it
    server: String,

    /// Show each message on stderr, in a line or whole
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "line")]
    wire: Option<WireForm>,

    /// Write the messages to a file, one as JSON a line; if it exists, to a new one with a number after its name
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    #[command(flatten)]
    config: ConfigArgs,
}

/// Runs `mcp-recorder shell`.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let config = args.config.only(&args.server)?;
    let wire = match &args.record {
        Some(file) => {
            let (wire, path) = Wire::recording(file)?;
            eprintln!("recording to {}", path.display());
            wire
        }
        None => Wire::showing(),
    };
    open(config, &args.server, &wire, args.wire)
}

/// Starts the server and does what the lines of standard input say.
pub(crate) fn open(config: Config, server: &str, wire: &Wire, form: Option<WireForm>) -> Result<(), Failure> {
    wire.show(form);
    let runtime = tokio::runtime::Runtime::new().map_err(failed)?;
    let done = runtime.block_on(async {
        let hub = wire.tap(Hub::builder().config(config).inherit_env()).connect().await.map_err(failed)?;
        let problem = hub.servers().into_iter().find(|status| status.has_failed());
        let done = match problem {
            Some(status) => Err(Failure::Failed(status.error.unwrap_or_else(|| "the server did not start".into()))),
            None => Shell { hub: &hub, server, wire }.run().await,
        };
        hub.shutdown().await;
        done
    });
    // Standard input may still be read: its thread is not waited for.
    runtime.shutdown_background();
    wire.end(done)
}

/// The lines of standard input.
pub(crate) fn lines() -> Receiver<String> {
    let (send, lines) = channel(1);
    std::thread::spawn(move || {
        let mut all = stdin().lock().lines().map_while(Result::ok);
        while all.next().is_some_and(|line| send.blocking_send(line).is_ok()) {}
    });
    lines
}

struct Shell<'a> {
    hub: &'a Hub,
    server: &'a str,
    wire: &'a Wire,
}

impl Shell<'_> {
    /// A command that fails ends nothing; the exit code tells of it.
    async fn run(&self) -> Result<(), Failure> {
        let is_terminal = stdin().is_terminal();
        let prompt = || {
            if is_terminal {
                print!("{}> ", self.server);
                let _ = stdout().flush();
            }
        };
        let (mut lines, mut all_done) = (lines(), true);
        prompt();
        while let Some(line) = lines.recv().await {
            match self.answer(&line).await {
                Ok(true) => {}
                Ok(false) => break,
                Err(Failure::Usage(message) | Failure::Failed(message)) => {
                    eprintln!("error: {}", clean(&message));
                    all_done = is_terminal;
                }
                Err(Failure::Reported) => all_done = is_terminal,
            }
            prompt();
        }
        if all_done { Ok(()) } else { Err(Failure::Reported) }
    }

    /// Does what a line says; `false` if it leaves.
    async fn answer(&self, line: &str) -> Result<bool, Failure> {
        match command::read(line).map_err(Failure::Usage)? {
            Command::Nothing => {}
            Command::Quit => return Ok(false),
            Command::Help => print!("{HELP}"),
            Command::Tools => self.list(),
            Command::Describe(name) => {
                let catalog = self.hub.catalog();
                let found = catalog.find(Some(self.server), &name).map_err(usage)?;
                println!("{}", serde_json::to_string_pretty(&found.tool).map_err(failed)?);
            }
            Command::Call(tool, arguments) => {
                let catalog = self.hub.catalog();
                let found = catalog.find(Some(self.server), &tool).map_err(usage)?;
                let arguments = arguments.object(found.tool.input_schema.as_ref());
                self.call(Invocation::new(&tool).with_arguments(arguments)).await?;
            }
            Command::Read(uri) => {
                self.call(Invocation::new(ACCESS_RESOURCE).with_arguments(json!({ "uri": uri }))).await?;
            }
            Command::Get(prompt, words) => {
                let arguments = words.into_iter().map(|(name, value)| (name, value.into())).collect();
                let messages = self.hub.prompt(self.server, &prompt, arguments).await.map_err(failed)?;
                messages.iter().for_each(|message| println!("{}", clean(message.text.trim_end())));
            }
            Command::Logs(most) => {
                let log = self.hub.log(self.server).map_err(failed)?;
                let last = &log[log.len().saturating_sub(most)..];
                last.iter().for_each(|line| println!("{}", clean(&line.text)));
            }
            Command::Restart => self.hub.restart(self.server).await.map_err(failed)?,
            Command::Wire(form) => self.wire.show(form),
        }
        Ok(true)
    }

    /// Calls a tool and prints what it returned.
    async fn call(&self, invocation: Invocation) -> Result<(), Failure> {
        let outcome = self.hub.call(invocation.with_server(self.server)).await;
        match outcome.is_result() {
            true => println!("{}", clean(outcome.text.trim_end())),
            false => return Err(Failure::Failed(outcome.text)),
        }
        Ok(())
    }

    fn list(&self) {
        let catalog = self.hub.catalog();
        for tool in catalog.tools() {
            println!("{}  {}", tool.name, clean(tool.description.as_deref().unwrap_or_default()));
        }
        for prompt in self.hub.prompts().iter() {
            let arguments: Vec<&str> = prompt.arguments.iter().map(|argument| argument.name.as_str()).collect();
            println!("prompt {}({})", prompt.name, arguments.join(", "));
        }
    }
}
