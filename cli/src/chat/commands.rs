//! The commands of a conversation: `/help`, `/tools` and the others.

use std::path::PathBuf;
use std::sync::LazyLock;

use tokio::runtime::Handle;

use super::attached::Attached;
use super::here;
use super::mcp;
use super::mentioned;
use super::session::Session;
use crate::base::{Failure, output, table::rows, tokens};
use crate::log;
use crate::mcp::tools;
use crate::screen::visible::{plain, word};
use crate::screen::{DIM, excerpt::names as shown_names, wrap::hanging};
use crate::servers::proposals;
use crate::sessions::saved::questions as asked;
use crate::settings::prompt_settings;
use crate::terminal::{columns, counted};
use toolgraft::route::Toolbox;
use toolgraft::tools::nearest;
use toolgraft_mcp::{Hub, McpPrompt};

/// The commands of `commands.toml`: name, arguments, description.
static COMMANDS: LazyLock<Vec<(String, String, String)>> = LazyLock::new(|| rows(include_str!("commands.toml")));

/// Alternative names of commands.
const ALIASES: [&str; 4] = ["/?", "/new", "/exit", "/q"];

/// A command from a line that begins with `/`.
#[derive(Debug, PartialEq)]
pub(super) enum ChatCommand {
    /// `/edit`: write the question in an editor, which starts with this text.
    Edit(String),
    Retry,
    Delete,
    Quit,
    /// A prompt of a server: its index in the list of prompts, and its arguments as typed.
    McpPrompt(usize, Vec<String>),
    /// Any other command, split into words.
    Other(Vec<String>),
}

/// Parses a line that begins with `/`; an error for an unclosed quotation mark or a missing command.
pub(super) fn read(line: &str, prompts: &[McpPrompt]) -> Result<ChatCommand, String> {
    // The rest of an `/edit` line is the user's text, quotation marks included.
    if let Some(text) =
        line.strip_prefix("/edit").filter(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
    {
        return Ok(ChatCommand::Edit(text.trim().to_owned()));
    }
    let words = shlex::split(line).ok_or("a quotation mark is not closed")?;
    let (name, rest) = words.split_first().ok_or("a command is missing")?;
    Ok(match (name.as_str(), rest) {
        ("/retry", []) => ChatCommand::Retry,
        ("/delete", []) => ChatCommand::Delete,
        ("/quit" | "/exit" | "/q", []) => ChatCommand::Quit,
        _ => match prompts.iter().position(|prompt| command_of(prompt) == *name) {
            Some(at) => ChatCommand::McpPrompt(at, rest.to_vec()),
            None => ChatCommand::Other(words),
        },
    })
}

fn number(name: &str, word: &str) -> Result<usize, Failure> {
    let number = word.trim_start_matches('#').parse();
    number.map_err(|_| Failure::usage(format!("{name} {word}: expected a number, such as 2")))
}

/// Returns a path in which a leading `~/` is replaced by the home directory.
fn at_home(file: &str) -> PathBuf {
    match (file.strip_prefix("~/"), std::env::home_dir()) {
        (Some(below), Some(home)) => home.join(below),
        _ => file.into(),
    }
}

fn unknown(name: &str, prompts: &[McpPrompt]) -> String {
    let words = words(prompts);
    match nearest(name, words.iter().map(String::as_str)).as_slice() {
        [] => format!("no command {name}; /help lists them (a space before it makes it a question)"),
        near => format!("no command {name}; nearest: {}", near[..near.len().min(3)].join(", ")),
    }
}

/// Returns the completions for the word that follows these words of a line, of which `begun` is typed; without words
/// before it, the commands or mentions of resources.
pub(super) fn following(before: &[String], begun: &str, (hub, runtime): (&Hub, &Handle)) -> Vec<String> {
    match before {
        [] if begun.starts_with('@') => {
            mentioned::following(begun, hub, |server, uri| proposals::of_uri((hub, runtime), server, uri))
        }
        [] => words(&hub.prompts()),
        [name, rest @ ..] if name == "/mcp" => mcp::following(rest, hub),
        [name, rest @ ..] if name == "/set" => here::following_set(rest),
        [name, given @ ..] => {
            let given: Vec<&str> = given.iter().map(String::as_str).collect();
            let prompts = hub.prompts();
            let prompt = prompts.iter().find(|prompt| command_of(prompt) == *name);
            prompt.map(|prompt| proposals::of_prompt((hub, runtime), prompt, &given, begun)).unwrap_or_default()
        }
    }
}

/// Returns the names of all commands, including those for servers' prompts.
fn words(prompts: &[McpPrompt]) -> Vec<String> {
    // `/mcp on|off` and `/SERVER:PROMPT` are lines of the help, not words that can be typed.
    let own = COMMANDS.iter().map(|(name, ..)| name.clone()).filter(|name| !name.contains([':', ' ']));
    own.chain(prompts.iter().map(command_of)).collect()
}

/// Returns the command for a server's prompt: `/SERVER:PROMPT`.
fn command_of(prompt: &McpPrompt) -> String {
    format!("/{}:{}", prompt.server, prompt.name)
}

fn help(prompts: &[McpPrompt]) -> String {
    let columns = columns();
    let mut lines: Vec<String> = COMMANDS
        .iter()
        .map(|(name, takes, does)| hanging(&format!("  {:<31}  ", format!("{name} {takes}")), does, columns))
        .collect();
    if !prompts.is_empty() {
        lines.push("prompts of the servers:".to_owned());
    }
    for prompt in prompts {
        let takes = prompt.arguments.iter().map(|a| match a.required {
            true => format!("{}=…", a.name),
            false => format!("[{}=…]", a.name),
        });
        let usage = [command_of(prompt)].into_iter().chain(takes).collect::<Vec<_>>().join(" ");
        let does = plain(prompt.description.as_deref().unwrap_or_default());
        lines.push(hanging(&format!("  {:<31}  ", word(&usage)), &does, columns));
    }
    lines.push(
        "@SERVER:URI in a question sends a resource with it. A line that ends in \\ continues on the next; so does \
         Alt-Enter."
            .to_owned(),
    );
    lines.join("\n")
}

impl Session {
    /// Runs a command that neither ends the conversation nor sends anything to the model.
    pub(super) async fn command(&mut self, words: &[String]) -> Result<(), Failure> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words[..] {
            ["/help" | "/?"] => self.note(anstyle::Style::new(), &help(&self.talk.hub.prompts())),
            ["/tools"] => output::emit_styled(&tools::listing(&self.talk.hub)),
            ["/prompt"] => {
                let system = self.talk.system()?;
                let fitted = prompt_settings::fitted(&system.listed).map(|fitted| format!("; {fitted}"));
                self.note(anstyle::Style::new(), &system.text)?;
                let size = tokens::count(&system.text);
                self.note(DIM, &format!("{size} tokens (o200k){}", fitted.unwrap_or_default()))
            }
            ["/think"] => {
                let thoughts = self.front.display().thoughts();
                let thoughts = if thoughts.is_empty() { "(no reasoning)".to_owned() } else { thoughts };
                self.note(DIM, &thoughts)
            }
            // Standard input is the terminal.
            ["/file", ref files @ ..] if files.contains(&"-") => {
                Err(Failure::usage("/file takes names of files; put a name with spaces in quotation marks"))
            }
            ["/file", ref files @ ..] => {
                let files: Vec<PathBuf> = files.iter().map(|file| at_home(file)).collect();
                self.talk.attach(Attached::read(&files, "/file")?);
                let waiting = self.attached_names();
                self.note(DIM, &waiting.unwrap_or_else(|| "no file is attached to the next question".to_owned()))
            }
            ["/call", word] => self.open_call(number("/call", word)?),
            ["/result", word, file] => self.save_result(number("/result", word)?, &at_home(file)),
            ["/mcp", ref words @ ..] => self.mcp(words).await,
            ["/set", ref words @ ..] => self.set(words),
            ["/allow", ref globs @ ..] => self.allow(globs),
            ["/result", word] => {
                let result = self.outcome(number("/result", word)?)?.said().into_owned();
                self.note(anstyle::Style::new(), result.trim_end())
            }
            ["/model"] => {
                let models = self.talk.endpoint.models().await?;
                let line = |model: &String| {
                    format!("{} {}", if *model == self.talk.endpoint.model { "*" } else { " " }, word(model))
                };
                let lines: Vec<String> = models.iter().map(line).collect();
                self.note(DIM, &format!("{}\n{}", self.talk.about(), lines.join("\n")))
            }
            ["/model", model] => {
                // What is written down knows the key of this endpoint alone.
                self.talk.change_model(model, self.files.are_open()).await?;
                self.note(DIM, &self.talk.about())
            }
            ["/save", file] => {
                let file = at_home(file);
                log::save(&self.talk.kept().map_err(Failure::job)?, &file)?;
                self.note(DIM, &format!("saved to {}", file.display()))
            }
            ["/clear" | "/new"] => {
                self.talk.begin_anew();
                self.note(DIM, "a new conversation")
            }
            // What was done last is taken back first, and files wait for a question that was not asked
            // yet.
            ["/undo"] | ["/undo", _] if self.talk.attached.names().is_some() => {
                let files = std::mem::take(&mut self.talk.attached).names().unwrap_or_default();
                self.note(DIM, &format!("taken back: {files}"))
            }
            ["/undo"] | ["/undo", _] => {
                let questions = words.get(1).map_or(Ok(1), |word| number("/undo", word))?;
                // A number that no question has: `take_back` then says how many there are.
                let at = || asked(&self.talk.conversation).checked_sub(questions).unwrap_or(usize::MAX);
                let at = (questions != 1).then(at);
                let question = self.talk.take_back(at)?;
                let first = question.text.lines().next().unwrap_or_default().to_owned();
                self.note(DIM, &format!("taken back: {first}"))
            }
            ["/rename", ref title @ ..] if !title.is_empty() => {
                self.talk.rename(&title.join(" "));
                self.note(DIM, &format!("the title is: {}", word(self.talk.title.as_deref().unwrap_or_default())))
            }
            _ => {
                let (name, prompts) = (words.first().copied().unwrap_or_default(), self.talk.hub.prompts());
                let known = COMMANDS.iter().find(|(known, ..)| known == name);
                Err(Failure::usage(match known {
                    Some((_, takes, does)) if !takes.is_empty() => format!("{name} {takes}: {does}"),
                    None if !ALIASES.contains(&name) => unknown(name, &prompts),
                    _ => format!("{name} takes no arguments"),
                }))
            }
        }
    }

    /// Returns a line such as `3 tools of demo, by prompt (use_mcp_tool, full)`; without servers, advice on adding
    /// some.
    pub(super) fn tools_line(&self) -> String {
        let catalog = self.talk.hub.catalog();
        let names: Vec<&str> = catalog.servers().iter().filter_map(|server| server.name.as_deref()).collect();
        match catalog.tools().count() {
            0 if self.talk.hub.config().servers().is_empty() => {
                "no MCP servers: `toolgraft mcp add` adds one, `toolgraft mcp import` copies those of other programs"
                    .to_owned()
            }
            0 => "no tools".to_owned(),
            n => format!("{} of {}, {}", counted(n, "tool"), shown_names(names), self.talk.offer()),
        }
    }
}
