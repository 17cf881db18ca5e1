//! `toolgraft mcp shell`: one server, for as long as somebody wants to look into it.
//!
//! ```text
//! a terminal (dialog/line) ─┐
//!                           ├─▶ a line ─▶ command ─▶ tools, call, read, get ─▶ the server
//! a pipe, line by line ─────┘                 └ wire on|off ─▶ servers/wire
//! ```

mod command;

use std::io::{IsTerminal, stdin};
use std::sync::Arc;

use tokio::runtime::Handle;

use self::command::ShellCommand;
use crate::base::{Failure, input::piped_lines, output, signals::Signals};
use crate::dialog::line::{Completion, Prompt, Typed};
use crate::dialog::{ask::Asker, elicit::Questions};
use crate::phrases::Phrases;
use crate::screen::visible::word;
use crate::servers::status::{self, head};
use crate::servers::wire::{Wire, WireArgs};
use crate::servers::{self, ServerArgs, runner::Runner, watch::Watch};
use crate::tools::{self, call, get, read};
use toolgraft_mcp::{Config, Hub};

/// The file that keeps the lines that were typed.
const HISTORY: &str = "mcp-history";

/// Options of `toolgraft mcp shell`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("../help/en/mcp-shell.txt").trim_end())]
pub(super) struct Args {
    /// Server, as the configuration names it
    server: String,

    /// Where the tool asks back for input, accept the defaults that it proposes
    ///
    /// Where a required field has no default, it is declined. Without this you are asked; where
    /// there is no terminal, it is declined.
    #[arg(long)]
    accept_defaults: bool,

    /// Forget the lines that are typed
    #[arg(long)]
    no_history: bool,

    #[command(flatten)]
    servers: ServerArgs,

    #[command(flatten)]
    wire: WireArgs,
}

/// Runs `toolgraft mcp shell`.
pub(super) fn run(args: Args) -> Result<(), Failure> {
    let config = servers::only(args.servers.load()?, &args.server)?;
    let wire = args.wire.begin()?;
    open(config, wire, (args.accept_defaults, !args.no_history))
}

/// A session with the one server of a configuration, which `wire` looks at.
pub(super) fn open(config: Config, wire: Wire, (accepts, keeps): (bool, bool)) -> Result<(), Failure> {
    let server = config.servers().first().map(|server| server.name.clone()).unwrap_or_default();
    let say = Phrases::of_user(None);
    let asker = Asker::at_terminal(say);
    let questions = Questions::new(asker.clone(), say);
    let hub = call::answered(wire.tap_for_later(Hub::builder().config(config)), &questions, accepts);
    let runner = Runner::start()?;
    let signals = runner.signals();
    let in_shell = wire.clone();
    let done = runner.with_hub_of(hub, |hub| async move {
        servers::demand_ready(&hub)?;
        let shell = Shell { hub, server, questions, wire: in_shell, say };
        match stdin().is_terminal() {
            true => shell.typed(asker.as_ref(), &signals, keeps).await,
            false => shell.piped().await,
        }
    });
    wire.end(done)
}

/// A session with one server.
struct Shell {
    hub: Arc<Hub>,
    server: String,
    questions: Arc<Questions>,
    wire: Wire,
    say: Phrases,
}

impl Shell {
    /// Commands from a terminal.
    async fn typed(&self, asker: Option<&Asker>, signals: &Signals, keeps: bool) -> Result<(), Failure> {
        let (hub, server, say) = (self.hub.clone(), self.server.clone(), self.say);
        let runtime = Handle::current();
        let following = Box::new(move |before: &[String], begun: &str| {
            command::following(before, begun, (&hub, &server, &runtime))
        });
        let completion = Completion { following, opener: "", mention: None, with_files: &[], has_text: Arc::default() };
        let mut prompt = Prompt::new(&format!("{}> ", word(&self.server)), completion, keeps.then_some(HISTORY), say)?;
        for status in self.hub.servers() {
            output::emit_styled(&head(&status, say))?;
        }
        output::tell(say.shell_help())?;
        loop {
            let mut ahead = String::new();
            if let Some(asker) = asker {
                drop(asker.floor().await);
                ahead = asker.typed_ahead();
            }
            // What comes meanwhile stands above the line that is typed.
            self.wire.show_by(prompt.printer());
            let typed = prompt.read(ahead).await;
            self.wire.show_by(None);
            match typed {
                Typed::Ended => return Ok(()),
                Typed::Dropped => {}
                Typed::Interrupted => output::tell(say.shell_leave())?,
                Typed::Line(line) => {
                    let interrupts = signals.take_interrupts();
                    let done = tokio::select! {
                        biased;
                        () = interrupts.next() => Ok(true),
                        done = self.answer(&line) => done,
                    };
                    match done {
                        Ok(true) => {}
                        Ok(false) => return Ok(()),
                        Err(failure) => drop(failure.report()),
                    }
                }
            }
        }
    }

    /// Commands from a pipe. One that fails ends nothing.
    async fn piped(&self) -> Result<(), Failure> {
        let mut lines = piped_lines();
        let mut failed = false;
        while let Some(line) = lines.recv().await {
            let line = line.map_err(|e| Failure::usage(format!("cannot read standard input: {e}")))?;
            match self.answer(&line).await {
                Ok(true) => {}
                Ok(false) => break,
                Err(failure) => {
                    failure.report();
                    failed = true;
                }
            }
        }
        if failed { Err(Failure::Reported) } else { Ok(()) }
    }

    /// Does what a line says; `false` where it leaves.
    async fn answer(&self, line: &str) -> Result<bool, Failure> {
        let Some(command) = command::read(line, self.say)? else { return Ok(true) };
        let (hub, server, say) = (&*self.hub, self.server.as_str(), self.say);
        match command {
            ShellCommand::Quit => return Ok(false),
            ShellCommand::Help => output::emit_styled(&command::help(say)),
            ShellCommand::Tools { json } => tools::list(hub, json, say),
            ShellCommand::Describe { name, json } => tools::describe(hub, (server, &name), json),
            ShellCommand::Call { tool, given, json } => {
                let outcome = call::called(hub, (server, &tool), given, self.watch()).await?;
                call::show(outcome, (json, None), &[("server", server), ("tool", &tool)])
            }
            ShellCommand::Read { uri, json } => {
                let outcome = read::resource(hub, (server, &uri), self.watch()).await;
                call::show(outcome, (json, None), &[("server", server), ("uri", &uri)])
            }
            ShellCommand::Get { prompt, words, json } => {
                let messages = get::filled(hub, (server, &prompt), &words, self.watch()).await?;
                get::show(&messages, (server, &prompt), json)
            }
            ShellCommand::Logs(most) => {
                let lines = hub.log(server).map_err(Failure::job)?;
                match lines.len().saturating_sub(most) {
                    _ if lines.is_empty() => output::tell(say.log_is_empty()),
                    first => output::emit_styled(&status::log_text(&lines[first..])),
                }
            }
            ShellCommand::Status => output::emit_styled(&status::text(&status::reports(hub, 0), say)),
            ShellCommand::Restart => {
                hub.restart(server).await.map_err(Failure::job)?;
                output::tell(&say.restarted(word(server)))
            }
            ShellCommand::Wire(form) => {
                self.wire.show(form);
                Ok(())
            }
        }
        .map(|()| true)
    }

    fn watch(&self) -> Watch<'_> {
        Watch { questions: &self.questions, say: self.say, place: self.wire.place() }
    }
}
