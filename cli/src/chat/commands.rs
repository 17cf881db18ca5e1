//! The commands of a conversation: `/help`, `/tools` and the others.

use std::path::PathBuf;

use super::session::Session;
use crate::screen::DIM;
use crate::terminal::counted;
use crate::{Failure, output, prompt_args, tokens, tools};
use toolgraft::route::Toolbox;
use toolgraft::route::mcp::McpPrompt;

/// The commands, how they are written, and what they do.
const COMMANDS: [(&str, &str, &str); 12] = [
    ("/help", "", "this list"),
    ("/tools", "", "the servers and their tools"),
    ("/prompt", "", "the system prompt, and its size"),
    ("/think", "", "the reasoning of the last answer"),
    ("/result", "N", "a result in full, by the number in its box"),
    ("/retry", "", "ask the last question once more"),
    ("/undo", "", "take the last question and its answer back"),
    ("/model", "[NAME]", "the models of the endpoint; with a name, that one from now on"),
    ("/save", "FILE", "the conversation to a file; --resume FILE goes on with it"),
    ("/clear", "", "a new conversation"),
    ("/SERVER:PROMPT", "[NAME=VALUE …]", "a prompt of an MCP server, sent to the model"),
    ("/quit", "", "leave"),
];

/// What a line asks for.
#[derive(Debug, PartialEq)]
pub(super) enum Command {
    Help,
    Tools,
    Prompt,
    Think,
    Result(usize),
    Model(Option<String>),
    Save(PathBuf),
    Clear,
    Retry,
    Undo,
    Quit,
    /// A server's prompt: its place in the list, and its arguments as they were written.
    McpPrompt(usize, Vec<String>),
}

/// Reads a line that begins with `/`.
pub(super) fn read(line: &str, prompts: &[McpPrompt]) -> Result<Command, String> {
    let words = shlex::split(line).ok_or("a quotation mark is not closed")?;
    let (name, rest) = words.split_first().ok_or("a command is missing")?;
    let alone = |command: Command| match rest {
        [] => Ok(command),
        _ => Err(format!("{name} takes nothing behind it")),
    };
    match (name.as_str(), rest) {
        ("/help" | "/?", _) => alone(Command::Help),
        ("/tools", _) => alone(Command::Tools),
        ("/prompt", _) => alone(Command::Prompt),
        ("/think", _) => alone(Command::Think),
        ("/clear" | "/new", _) => alone(Command::Clear),
        ("/retry", _) => alone(Command::Retry),
        ("/undo", _) => alone(Command::Undo),
        ("/quit" | "/exit" | "/q", _) => alone(Command::Quit),
        ("/result", [number]) => match number.trim_start_matches('#').parse() {
            Ok(number) => Ok(Command::Result(number)),
            Err(_) => Err(format!("/result {number}: expected the number of a result, such as 2")),
        },
        ("/result", _) => Err("/result takes the number in a result's box".to_owned()),
        ("/model", []) => Ok(Command::Model(None)),
        ("/model", [model]) => Ok(Command::Model(Some(model.clone()))),
        ("/model", _) => Err("/model takes one name".to_owned()),
        ("/save", [file]) => Ok(Command::Save(file.into())),
        ("/save", _) => Err("/save takes one file; put a name with spaces in quotation marks".to_owned()),
        _ => match prompts.iter().position(|prompt| command_of(prompt) == *name) {
            Some(at) => Ok(Command::McpPrompt(at, rest.to_vec())),
            None => Err(unknown(name, prompts)),
        },
    }
}

fn unknown(name: &str, prompts: &[McpPrompt]) -> String {
    let mut near: Vec<(f64, String)> = words(prompts)
        .into_iter()
        .map(|word| (strsim::jaro_winkler(name.trim_start_matches('/'), word.trim_start_matches('/')), word))
        .filter(|(likeness, _)| *likeness > 0.75)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let near: Vec<_> = near.into_iter().take(3).map(|(_, word)| word).collect();
    match near.is_empty() {
        true => format!("no command {name}; /help lists them (a space before it makes it a question)"),
        false => format!("no command {name}; nearest: {}", near.join(", ")),
    }
}

/// Every command's first word, for completion.
pub(super) fn words(prompts: &[McpPrompt]) -> Vec<String> {
    let own = COMMANDS.iter().map(|(name, ..)| (*name).to_owned()).filter(|name| !name.contains(':'));
    // The line editor shows candidates as they are.
    let safe = |word: &String| !word.contains(char::is_control);
    own.chain(prompts.iter().map(command_of).filter(safe)).collect()
}

/// `/server:prompt`.
fn command_of(prompt: &McpPrompt) -> String {
    format!("/{}:{}", prompt.server, prompt.name)
}

fn help(prompts: &[McpPrompt]) -> String {
    let mut lines: Vec<String> =
        COMMANDS.iter().map(|(name, takes, does)| format!("  {:<31}  {does}", format!("{name} {takes}"))).collect();
    if !prompts.is_empty() {
        lines.push("prompts of the servers:".to_owned());
    }
    for prompt in prompts {
        let takes = prompt.arguments.iter().map(|a| match a.required {
            true => format!("{}=…", a.name),
            false => format!("[{}=…]", a.name),
        });
        let usage = [command_of(prompt)].into_iter().chain(takes).collect::<Vec<_>>().join(" ");
        lines.push(format!("  {usage:<31}  {}", prompt.description.as_deref().unwrap_or_default()));
    }
    lines.push("A line that ends in \\ goes on in the next; Alt-Enter breaks it too.".to_owned());
    lines.join("\n")
}

impl Session {
    /// Does what a command says, unless it leaves or speaks to the model.
    pub(super) async fn command(&mut self, command: Command) -> Result<(), Failure> {
        match command {
            Command::Help => self.note(anstyle::Style::new(), &help(&self.hub.prompts())),
            Command::Tools => output::emit_styled(&tools::listing(&self.hub)),
            Command::Prompt => {
                let system = self.system()?;
                let fitted = prompt_args::fitted(&system.listed).map(|line| format!("; {line}")).unwrap_or_default();
                self.note(anstyle::Style::new(), &system.text)?;
                self.note(DIM, &format!("{} tokens (o200k){fitted}", tokens::count(&system.text)))
            }
            Command::Think => {
                let thoughts = self.display.thoughts().trim().to_owned();
                let thoughts = if thoughts.is_empty() { "(no reasoning)".to_owned() } else { thoughts };
                self.note(DIM, &thoughts)
            }
            Command::Result(number) => {
                let result = self.result(number)?;
                self.note(anstyle::Style::new(), &result)
            }
            Command::Model(None) => {
                let models = self.endpoint.models().await?;
                let line =
                    |model: &String| format!("{} {model}", if *model == self.endpoint.model { "*" } else { " " });
                let lines: Vec<String> = models.iter().map(line).collect();
                self.note(DIM, &format!("{}\n{}", self.about(), lines.join("\n")))
            }
            Command::Model(Some(model)) => {
                self.change_model(&model).await?;
                self.note(DIM, &self.about())
            }
            Command::Save(file) => {
                self.save(&file)?;
                self.note(DIM, &format!("saved to {}", file.display()))
            }
            Command::Clear => {
                self.begin_anew();
                self.note(DIM, "a new conversation")
            }
            Command::Undo => match self.take_back() {
                Some(question) => {
                    let first = question.text.lines().next().unwrap_or_default().to_owned();
                    self.note(DIM, &format!("taken back: {first}"))
                }
                None => Err(Failure::usage("nothing was asked yet")),
            },
            Command::Quit | Command::Retry | Command::McpPrompt(..) => Ok(()),
        }
    }

    /// Model, endpoint and profile.
    pub(super) fn about(&self) -> String {
        format!("{} · {} · profile {}", self.endpoint.model, self.endpoint.name(), self.profile().name)
    }

    /// `3 tools of demo, by prompt (use_mcp_tool, full)`.
    pub(super) fn tools_line(&self) -> String {
        let catalog = self.hub.catalog();
        let names: Vec<&str> = catalog.servers().iter().filter_map(|server| server.name.as_deref()).collect();
        match catalog.tools().count() {
            0 => "no tools".to_owned(),
            n => format!("{} of {}, {}", counted(n, "tool"), names.join(", "), self.offer()),
        }
    }
}
