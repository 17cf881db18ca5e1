//! `/mcp`: the servers of a conversation, how they are, and what of them takes part.

use super::session::Session;
use crate::base::{Failure, browser, output};
use crate::screen::{DIM, excerpt::names as shown_names, visible::word};
use crate::servers::{logins, status};
use toolgraft_mcp::{Hub, ServerConfig, ServerState, ServerStatus, TransportConfig};

/// Default number of log lines that `/mcp logs` shows.
const LINES: usize = 40;

const USAGE: &str = "/mcp takes nothing, or: on SERVER, off SERVER, restart [SERVER], login SERVER, logs SERVER \
     [LINES], tools SERVER [on|off TOOL …]";

/// Returns the words that complete an `/mcp` command after these words.
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
        ["tools", server, side @ ("on" | "off"), ref named @ ..] => {
            let tools = hub.tools(server).unwrap_or_default().into_iter();
            // Tools that are named in the line already are not proposed again.
            let open = tools.filter(|tool| tool.on == (side == "off") && !named.contains(&tool.name.as_str()));
            open.map(|tool| tool.name).collect()
        }
        _ => Vec::new(),
    }
}

fn is_remote(server: &ServerConfig) -> bool {
    matches!(server.transport, Ok(TransportConfig::Http { .. }))
}

impl Session {
    /// Runs `/mcp` with these arguments.
    pub(super) async fn mcp(&mut self, words: &[&str]) -> Result<(), Failure> {
        match *words {
            [side @ ("on" | "off"), server] => self.switch(server, side == "on").await,
            ["tools", server, side @ ("on" | "off"), ref tools @ ..] if !tools.is_empty() => {
                let tools: Vec<String> = tools.iter().map(|&tool| tool.to_owned()).collect();
                self.switch_tools(server, &tools, side == "on")
            }
            [] => output::emit_styled(&status::text(&status::reports(&self.talk.hub))),
            ["restart"] => self.restart(None).await,
            ["restart", server] => self.restart(Some(server.to_owned())).await,
            ["login", server] => self.log_in(server).await,
            ["logs", server] => self.logs(server, LINES),
            ["logs", server, lines] => self.logs(server, lines.parse().map_err(|_| Failure::usage(USAGE))?),
            ["tools", server] => {
                let tools = self.talk.hub.tools(server).map_err(Failure::usage)?;
                let line = |name: &str, on: bool| format!("{} {}", if on { "*" } else { " " }, word(name));
                let lines: Vec<String> = tools.iter().map(|tool| line(&tool.name, tool.on)).collect();
                let is_off = |known: &ServerStatus| known.name == server && known.state == ServerState::Disabled;
                let text = match lines.is_empty() {
                    true if self.talk.hub.servers().iter().any(is_off) => {
                        format!("{server} is off: /mcp on {server}", server = word(server))
                    }
                    true => "no tools".to_owned(),
                    false => lines.join("\n"),
                };
                self.note(DIM, &text)
            }
            _ => Err(Failure::usage(USAGE)),
        }
    }

    fn logs(&mut self, server: &str, most: usize) -> Result<(), Failure> {
        let lines = self.talk.hub.log(server).map_err(Failure::usage)?;
        if lines.is_empty() {
            return self.note(DIM, "the server has logged nothing, and written nothing to stderr");
        }
        let left_out = lines.len().saturating_sub(most);
        output::emit_styled(&status::log_text(&lines[left_out..]))?;
        match left_out {
            0 => Ok(()),
            n => self.note(DIM, &format!("{n} earlier lines are kept: /mcp logs {} {}", word(server), lines.len())),
        }
    }

    async fn switch(&mut self, server: &str, on: bool) -> Result<(), Failure> {
        self.talk.hub.switch(server, on).await.map_err(Failure::usage)?;
        self.note(DIM, &format!("{} is {}", word(server), if on { "ready" } else { "off" }))
    }

    fn switch_tools(&mut self, server: &str, tools: &[String], on: bool) -> Result<(), Failure> {
        let patterns = self.talk.hub.switch_tools(server, tools, on).map_err(Failure::usage)?;
        let names = shown_names(&patterns);
        self.note(DIM, &if on { format!("on: {names}") } else { format!("off: {names}") })
    }

    async fn log_in(&mut self, server: &str) -> Result<(), Failure> {
        let entry = self.talk.hub.entry(server).map_err(Failure::usage)?.clone();
        let tell = |words: &str| self.note(DIM, words);
        logins::log_in(&entry, (browser::open, tell), logins::no_paste).await?;
        self.note(DIM, &format!("logged in at {server:?}"))?;
        self.restart(Some(server.to_owned())).await
    }

    /// Restarts a server, or without a name all that are neither ready nor disabled, regardless of earlier failures.
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
