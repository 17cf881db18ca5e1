//! The commands of a conversation: `/help`, `/tools` and the others.

use std::path::PathBuf;
use std::sync::LazyLock;

use super::attached::Attached;
use super::here;
use super::mcp;
use super::mentioned;
use super::session::Session;
use crate::base::{Failure, output, table::rows, tokens};
use crate::mcp::tools;
use crate::screen::visible::{plain, word};
use crate::screen::{DIM, excerpt::names as shown_names, wrap::hanging};
use crate::sessions::saved::{Saved, questions as asked};
use crate::settings::prompt_settings;
use crate::terminal::{columns, counted};
use toolgraft::route::Toolbox;
use toolgraft::tools::nearest;
use toolgraft_mcp::{Hub, McpPrompt};

/// The commands of `commands.toml`, how they are written, and what they do.
static COMMANDS: LazyLock<Vec<(String, String, String)>> = LazyLock::new(|| rows(include_str!("commands.toml")));

/// A command that a line contains.
#[derive(Debug, PartialEq)]
pub(super) enum Command {
    Help,
    Tools,
    Prompt,
    Think,
    File(Vec<PathBuf>),
    /// The question is written in an editor, which begins with this text.
    Edit(String),
    Call(usize),
    Result(usize, Option<PathBuf>),
    Mcp(Vec<String>),
    Set(Vec<String>),
    Allow(Vec<String>),
    Model(Option<String>),
    Save(PathBuf),
    Clear,
    Retry,
    /// So many questions are taken back, with their answers.
    Undo(usize),
    Rename(String),
    Delete,
    Quit,
    /// A server's prompt: its place in the list, and its arguments as they were written.
    McpPrompt(usize, Vec<String>),
}

/// Reads a line that begins with `/`.
pub(super) fn read(line: &str, prompts: &[McpPrompt]) -> Result<Command, String> {
    // The rest of an `/edit` line is the user's text, quotation marks included.
    if let Some(text) =
        line.strip_prefix("/edit").filter(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
    {
        return Ok(Command::Edit(text.trim().to_owned()));
    }
    let words = shlex::split(line).ok_or("a quotation mark is not closed")?;
    let (name, rest) = words.split_first().ok_or("a command is missing")?;
    let alone = |command: Command| match rest {
        [] => Ok(command),
        _ => Err(format!("{name} takes no arguments")),
    };
    let number = |word: &str| {
        let number = word.trim_start_matches('#').parse();
        number.map_err(|_| format!("{name} {word}: expected a number, such as 2"))
    };
    match (name.as_str(), rest) {
        ("/help" | "/?", _) => alone(Command::Help),
        ("/tools", _) => alone(Command::Tools),
        ("/prompt", _) => alone(Command::Prompt),
        ("/think", _) => alone(Command::Think),
        ("/clear" | "/new", _) => alone(Command::Clear),
        ("/retry", _) => alone(Command::Retry),
        ("/undo", [word]) => number(word).map(Command::Undo),
        ("/undo", _) => alone(Command::Undo(1)),
        ("/rename", []) => Err("/rename takes a title".to_owned()),
        ("/rename", title) => Ok(Command::Rename(title.join(" "))),
        ("/delete", _) => alone(Command::Delete),
        ("/quit" | "/exit" | "/q", _) => alone(Command::Quit),
        // Standard input is the terminal.
        ("/file", files) if files.iter().any(|file| file == "-") => {
            Err("/file takes names of files; put a name with spaces in quotation marks".to_owned())
        }
        ("/file", files) => Ok(Command::File(files.iter().map(|file| at_home(file)).collect())),
        ("/call", [word]) => number(word).map(Command::Call),
        ("/call", _) => Err("/call takes the number of a call, such as 2".to_owned()),
        ("/result", [word]) => Ok(Command::Result(number(word)?, None)),
        ("/result", [word, file]) => Ok(Command::Result(number(word)?, Some(at_home(file)))),
        ("/result", _) => Err("/result takes the number in a result's box, and a file for its images".to_owned()),
        ("/set", words) => Ok(Command::Set(words.to_vec())),
        ("/allow", words) => Ok(Command::Allow(words.to_vec())),
        ("/mcp", words) => Ok(Command::Mcp(words.to_vec())),
        ("/model", []) => Ok(Command::Model(None)),
        ("/model", [model]) => Ok(Command::Model(Some(model.clone()))),
        ("/model", _) => Err("/model takes one name".to_owned()),
        ("/save", [file]) => Ok(Command::Save(at_home(file))),
        ("/save", _) => Err("/save takes one file; put a name with spaces in quotation marks".to_owned()),
        _ => match prompts.iter().position(|prompt| command_of(prompt) == *name) {
            Some(at) => Ok(Command::McpPrompt(at, rest.to_vec())),
            None => Err(unknown(name, prompts)),
        },
    }
}

/// A path as a shell would read it: `~/` is the home directory.
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

/// Returns the completions for the word that follows these words of a line; without any words, the commands.
pub(super) fn following(before: &[String], begun: &str, hub: &Hub) -> Vec<String> {
    match before {
        [] if begun.starts_with('@') => mentioned::following(begun, hub),
        [] => words(&hub.prompts()),
        [name, rest @ ..] if name == "/mcp" => mcp::following(rest, hub),
        [name, rest @ ..] if name == "/set" => here::following_set(rest),
        [name, given @ ..] => {
            let prompts = hub.prompts();
            let prompt = prompts.iter().find(|prompt| command_of(prompt) == *name);
            let names = prompt.into_iter().flat_map(|prompt| &prompt.arguments);
            let words = names.map(|argument| format!("{}=", argument.name));
            words.filter(|word| !given.iter().any(|given| given.starts_with(word))).collect()
        }
    }
}

/// Every command's first word.
fn words(prompts: &[McpPrompt]) -> Vec<String> {
    let own = COMMANDS.iter().map(|(name, ..)| name.clone()).filter(|name| !name.contains([':', ' ']));
    own.chain(prompts.iter().map(command_of)).collect()
}

/// `/server:prompt`.
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
    /// Does what a command says, unless it leaves or speaks to the model.
    pub(super) async fn command(&mut self, command: Command) -> Result<(), Failure> {
        match command {
            Command::Help => self.note(anstyle::Style::new(), &help(&self.talk.hub.prompts())),
            Command::Tools => output::emit_styled(&tools::listing(&self.talk.hub)),
            Command::Prompt => {
                let system = self.talk.system()?;
                let size = tokens::count(&system.text);
                let size = match prompt_settings::fitted(&system.listed) {
                    Some(fitted) => format!("{size} tokens (o200k); {fitted}"),
                    None => format!("{size} tokens (o200k)"),
                };
                self.note(anstyle::Style::new(), &system.text)?;
                self.note(DIM, &size)
            }
            Command::Think => {
                let thoughts = self.display.thoughts();
                let thoughts = if thoughts.is_empty() { "(no reasoning)".to_owned() } else { thoughts };
                self.note(DIM, &thoughts)
            }
            Command::File(files) => {
                self.talk.attach(Attached::read(&files, "/file")?);
                let waiting = self.attached_names();
                self.note(DIM, &waiting.unwrap_or_else(|| "no file is attached to the next question".to_owned()))
            }
            Command::Call(number) => self.open_call(number),
            Command::Result(number, Some(file)) => self.save_result(number, &file),
            Command::Mcp(words) => self.mcp(&words).await,
            Command::Set(words) => self.set(&words),
            Command::Allow(words) => self.allow(&words),
            Command::Result(number, None) => {
                let result = self.result(number)?;
                self.note(anstyle::Style::new(), &result)
            }
            Command::Model(None) => {
                let models = self.talk.endpoint.models().await?;
                let line = |model: &String| {
                    format!("{} {}", if *model == self.talk.endpoint.model { "*" } else { " " }, word(model))
                };
                let lines: Vec<String> = models.iter().map(line).collect();
                self.note(DIM, &format!("{}\n{}", self.talk.about(), lines.join("\n")))
            }
            Command::Model(Some(model)) => {
                // What is written down knows the key of this endpoint alone.
                self.talk.change_model(&model, self.files.are_open()).await?;
                self.note(DIM, &self.talk.about())?;
                self.talk.endpoint.warn_unlisted().await;
                Ok(())
            }
            Command::Save(file) => {
                if self.place.save.as_ref() != Some(&file) {
                    Saved::check_same(&file, &self.talk.conversation)?;
                }
                self.save(&file)?;
                self.note(DIM, &format!("saved to {}", file.display()))
            }
            Command::Clear => {
                self.talk.begin_anew();
                self.note(DIM, "a new conversation")?;
                match self.save_elsewhere() {
                    Some(file) => self.note(DIM, &format!("it is saved in {}", file.display())),
                    None => Ok(()),
                }
            }
            Command::Undo(_) if self.talk.attached.names().is_some() => {
                let files = std::mem::take(&mut self.talk.attached).names().unwrap_or_default();
                self.note(DIM, &format!("taken back: {files}"))
            }
            Command::Undo(questions) => {
                let at = || asked(&self.talk.conversation).checked_sub(questions).unwrap_or(usize::MAX);
                let at = (questions != 1).then(at);
                let question = self.talk.take_back(at)?;
                let first = question.text.lines().next().unwrap_or_default().to_owned();
                self.note(DIM, &format!("taken back: {first}"))
            }
            Command::Rename(title) => {
                self.talk.rename(&title);
                self.note(DIM, &format!("the title is: {}", word(self.talk.title.as_deref().unwrap_or_default())))
            }
            Command::Quit | Command::Delete | Command::Retry | Command::Edit(_) | Command::McpPrompt(..) => Ok(()),
        }
    }

    /// `3 tools of demo, by prompt (use_mcp_tool, full)`.
    pub(super) fn tools_line(&self) -> String {
        let catalog = self.talk.hub.catalog();
        let names: Vec<&str> = catalog.servers().iter().filter_map(|server| server.name.as_deref()).collect();
        match catalog.tools().count() {
            0 => "no tools".to_owned(),
            n => format!("{} of {}, {}", counted(n, "tool"), shown_names(names), self.talk.offer()),
        }
    }
}
