//! `/mcp`: the servers of a conversation, how they are, and what of them takes part.

use super::session::Session;
use crate::base::{Failure, browser, output};
use crate::screen::{DIM, excerpt::names as shown_names, visible::word};
use crate::servers::{logins, remembered, status};
use toolgraft_mcp::{Hub, McpError, ServerConfig, ServerState, ServerStatus, TransportConfig};

/// Lines of a log that are shown where no number is named.
const LINES: usize = 40;

/// The word after a switch that is to hold for the next conversations, too.
const SAVE: &str = "--save";

/// A request of `/mcp`.
#[derive(Debug, PartialEq)]
pub(super) enum McpCommand {
    List,
    Switch {
        server: String,
        switch: Switch,
    },
    /// Starts a server anew, or all that have failed.
    Restart(Option<String>),
    Login(String),
    Logs(String, usize),
    Tools(String),
    SwitchTools {
        server: String,
        tools: Vec<String>,
        switch: Switch,
    },
}

/// To which side, and whether it is remembered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Switch {
    on: bool,
    save: bool,
}

const USAGE: &str = "/mcp takes nothing, or: on SERVER, off SERVER, restart [SERVER], login SERVER, logs SERVER \
     [LINES], tools SERVER [on|off TOOL …]; on and off take --save";

/// Reads the arguments of `/mcp`.
pub(super) fn read(words: &[String]) -> Result<McpCommand, String> {
    let save = words.iter().any(|word| word == SAVE);
    let words: Vec<&str> = words.iter().map(String::as_str).filter(|word| *word != SAVE).collect();
    let side = |word: &str| match word {
        "on" => Some(Switch { on: true, save }),
        "off" => Some(Switch { on: false, save }),
        _ => None,
    };
    let command = match words[..] {
        [] => McpCommand::List,
        ["restart"] => McpCommand::Restart(None),
        ["restart", server] => McpCommand::Restart(Some(server.to_owned())),
        ["login", server] => McpCommand::Login(server.to_owned()),
        ["logs", server] => McpCommand::Logs(server.to_owned(), LINES),
        ["logs", server, lines] => McpCommand::Logs(server.to_owned(), lines.parse().map_err(|_| USAGE.to_owned())?),
        ["tools", server] => McpCommand::Tools(server.to_owned()),
        ["tools", server, word, ref tools @ ..] if !tools.is_empty() => {
            let tools = tools.iter().map(|&tool| tool.to_owned()).collect();
            let switch = side(word).ok_or(USAGE)?;
            McpCommand::SwitchTools { server: server.to_owned(), tools, switch }
        }
        [word, server] => {
            let switch = side(word).ok_or(USAGE)?;
            McpCommand::Switch { server: server.to_owned(), switch }
        }
        _ => return Err(USAGE.to_owned()),
    };
    let takes_save = matches!(command, McpCommand::Switch { .. } | McpCommand::SwitchTools { .. });
    if save && !takes_save { Err(USAGE.to_owned()) } else { Ok(command) }
}

/// Returns the words that may follow these of a line that begins with `/mcp`.
pub(super) fn following(words: &[String], hub: &Hub) -> Vec<String> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let texts = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    let servers = |fits: &dyn Fn(&ServerStatus) -> bool| {
        hub.servers().into_iter().filter(fits).map(|server| server.name).collect::<Vec<_>>()
    };
    let is_off = |server: &ServerStatus| server.state == ServerState::Disabled;
    match words[..] {
        [] => texts(&["on", "off", "restart", "login", "logs", "tools"]),
        ["on"] => servers(&is_off),
        ["off" | "restart"] => servers(&|server| !is_off(server)),
        ["logs" | "tools"] => servers(&|_| true),
        ["login"] => hub.config().servers().iter().filter(|s| is_remote(s)).map(|s| s.name.clone()).collect(),
        ["tools", _] => texts(&["on", "off"]),
        ["on" | "off", _] => texts(&[SAVE]),
        ["tools", server, side @ ("on" | "off"), ref named @ ..] => {
            let tools = hub.tools(server).unwrap_or_default().into_iter();
            let open = tools.filter(|tool| tool.on == (side == "off") && !named.contains(&tool.name.as_str()));
            let save = (!named.is_empty() && !named.contains(&SAVE)).then(|| SAVE.to_owned());
            open.map(|tool| tool.name).chain(save).collect()
        }
        _ => Vec::new(),
    }
}

fn is_remote(server: &ServerConfig) -> bool {
    matches!(server.transport, Ok(TransportConfig::Http { .. }))
}

impl Session {
    /// Does what `/mcp` was asked for.
    pub(super) async fn mcp(&mut self, command: McpCommand) -> Result<(), Failure> {
        match command {
            McpCommand::List => output::emit_styled(&status::text(&status::reports(&self.talk.hub))),
            McpCommand::Switch { server, switch } => self.switch(&server, switch).await,
            McpCommand::Restart(server) => self.restart(server).await,
            McpCommand::Login(server) => self.log_in(&server).await,
            McpCommand::Logs(server, most) => {
                let lines = self.talk.hub.log(&server).map_err(Failure::usage)?;
                if lines.is_empty() {
                    return self.note(DIM, "the server has logged nothing, and written nothing to stderr");
                }
                let left_out = lines.len().saturating_sub(most);
                output::emit_styled(&status::log_text(&lines[left_out..]))?;
                match left_out {
                    0 => Ok(()),
                    n => self
                        .note(DIM, &format!("{n} earlier lines are kept: /mcp logs {} {}", word(&server), lines.len())),
                }
            }
            McpCommand::Tools(server) => {
                let tools = self.talk.hub.tools(&server).map_err(Failure::usage)?;
                let line = |name: &str, on: bool| format!("{} {}", if on { "*" } else { " " }, word(name));
                let lines: Vec<String> = tools.iter().map(|tool| line(&tool.name, tool.on)).collect();
                let text = if lines.is_empty() { "no tools".to_owned() } else { lines.join("\n") };
                self.note(DIM, &text)
            }
            McpCommand::SwitchTools { server, tools, switch } => self.switch_tools(&server, &tools, switch),
        }
    }

    async fn switch(&mut self, server: &str, Switch { on, save }: Switch) -> Result<(), Failure> {
        let shown = word(server);
        let done = self.talk.hub.switch(server, on).await;
        let is_there = !matches!(done, Err(McpError::UnknownServer { .. }));
        match done {
            Ok(()) if on => self.note(DIM, &format!("{shown} is ready"))?,
            Ok(()) => self.note(DIM, &format!("{shown} is off"))?,
            // What cannot be reached now is to be there next time all the same.
            Err(error) if is_there => output::warn(&error.to_string()),
            Err(error) => return Err(Failure::usage(error)),
        }
        match save {
            true => remembered::server(self.entry(server)?, on).and_then(|file| self.say_saved(&file)),
            false => Ok(()),
        }
    }

    fn switch_tools(&mut self, server: &str, tools: &[String], Switch { on, save }: Switch) -> Result<(), Failure> {
        let patterns = self.talk.hub.switch_tools(server, tools, on).map_err(Failure::usage)?;
        let names = shown_names(&patterns);
        self.note(DIM, &if on { format!("on: {names}") } else { format!("off: {names}") })?;
        if !save {
            return Ok(());
        }
        let known = self.talk.hub.tools(server).map_err(Failure::usage)?;
        let file = remembered::tools(self.entry(server)?, (&patterns, on), &known)?;
        self.say_saved(&file)
    }

    fn say_saved(&mut self, file: &std::path::Path) -> Result<(), Failure> {
        self.note(DIM, &format!("saved to {}", file.display()))
    }

    fn entry(&self, server: &str) -> Result<&ServerConfig, Failure> {
        self.talk.hub.entry(server).map_err(Failure::usage)
    }

    async fn log_in(&mut self, server: &str) -> Result<(), Failure> {
        let entry = self.entry(server)?.clone();
        let tell = |words: &str| self.note(DIM, words);
        logins::log_in(&entry, (browser::open, tell), logins::no_paste).await?;
        self.note(DIM, &format!("logged in at {server:?}"))?;
        self.restart(Some(server.to_owned())).await
    }

    /// Starts a server anew, or all that are not ready, however often they have failed.
    async fn restart(&mut self, server: Option<String>) -> Result<(), Failure> {
        let is_down = |server: &ServerStatus| !matches!(server.state, ServerState::Ready | ServerState::Disabled);
        let servers = match server {
            Some(server) => vec![server],
            None => self.talk.hub.servers().into_iter().filter(is_down).map(|server| server.name).collect(),
        };
        if servers.is_empty() {
            return self.note(DIM, "all servers are ready; name one to restart it");
        }
        for server in servers {
            match self.talk.hub.restart(&server).await {
                Ok(()) => self.note(DIM, &format!("{} is ready", word(&server)))?,
                Err(error) => output::warn(&error.to_string()),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<McpCommand, String> {
        super::read(&shlex::split(line).unwrap())
    }

    #[test]
    fn what_is_asked_for_is_read_and_what_is_wrong_says_what_it_takes() {
        let (files, on, off) =
            ("my files".to_owned(), Switch { on: true, save: false }, Switch { on: false, save: true });
        for (line, command) in [
            ("", McpCommand::List),
            ("on 'my files'", McpCommand::Switch { server: files.clone(), switch: on }),
            ("off 'my files' --save", McpCommand::Switch { server: files.clone(), switch: off }),
            ("restart", McpCommand::Restart(None)),
            ("logs 'my files' 9", McpCommand::Logs(files.clone(), 9)),
            ("tools 'my files'", McpCommand::Tools(files.clone())),
            (
                "tools 'my files' off --save a b",
                McpCommand::SwitchTools { server: files, tools: vec!["a".to_owned(), "b".to_owned()], switch: off },
            ),
        ] {
            assert_eq!(read(line), Ok(command), "{line}");
        }
        for line in
            ["on", "stop x", "tools x on", "tools x maybe a", "logs x many", "logs x --save", "--save", "on a b"]
        {
            assert!(read(line).unwrap_err().starts_with("/mcp takes"), "{line}");
        }
    }
}
