//! Which servers are being started, while they are.

use std::convert::Infallible;
use std::time::Duration;

use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};

use crate::screen::excerpt::{bounded, names};
use crate::screen::live::{Live, ScreenPlace};
use crate::terminal::{columns, counted, lasted};
use toolgraft_mcp::{Hub, ServerEvent, ServerEventKind, ServerState, ServerStatus};

/// Time within which most servers have started; a conversation begins without those that take longer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(3);

/// Returns `true` if a server is still being started.
pub(crate) fn goes_on(hub: &Hub) -> bool {
    hub.settled().now_or_never().is_none()
}

/// Runs a future, and if `is_shown` shows the servers that are being started meanwhile.
pub(crate) async fn shown<T>(
    events: BoxStream<'static, ServerEvent>,
    is_shown: bool,
    job: impl Future<Output = T>,
) -> T {
    tokio::select! {
        biased;
        done = job => done,
        never = draw(events), if is_shown => match never {},
    }
}

/// Shows the servers that are being started until all have started or failed. Returns `false` if `stop` completed
/// first.
pub(crate) async fn over(hub: &Hub, is_shown: bool, stop: impl Future<Output = ()>) -> bool {
    let settled = async {
        tokio::select! {
            biased;
            () = hub.settled() => true,
            () = stop => false,
        }
    };
    shown(hub.states(), is_shown, settled).await
}

/// Draws the servers that are being started, from their events. Never returns; dropping it erases the drawing.
async fn draw(mut events: BoxStream<'static, ServerEvent>) -> Infallible {
    let mut live = Live::new(ScreenPlace::here(), columns(), false);
    let mut starting = StartingServers::default();
    while let Some(event) = events.next().await {
        starting.take(event);
        match starting.text() {
            None => live.clear(),
            Some(text) => live.show(&text),
        }
    }
    std::future::pending().await
}

/// The servers that are being started, and the last line that each wrote to standard error.
#[derive(Debug, Default)]
pub(crate) struct StartingServers {
    names: Vec<String>,
    /// Server names with their last lines of standard error, the newest first.
    lines: Vec<(String, String)>,
}

impl StartingServers {
    /// Updates the list with a state change or an output line of a server.
    pub(crate) fn take(&mut self, event: ServerEvent) {
        let ServerEvent { server, kind, .. } = event;
        match kind {
            ServerEventKind::State { state, .. } => {
                self.names.retain(|name| *name != server);
                self.lines.retain(|(name, _)| *name != server);
                if matches!(state, ServerState::Idle | ServerState::Connecting) {
                    self.names.push(server);
                }
            }
            ServerEventKind::StartOutput { line, .. } => {
                // A bar of progress writes over itself.
                let last = line.rsplit('\r').find(|part| !part.trim().is_empty());
                self.lines.retain(|(name, _)| *name != server);
                if let Some(last) = last {
                    self.lines.insert(0, (server, last.trim().to_owned()));
                }
            }
            _ => {}
        }
    }

    /// Returns one line with the servers that are being started and their last output; `None` if there are none.
    pub(crate) fn text(&self) -> Option<String> {
        if self.names.is_empty() {
            return None;
        }
        let said = self.lines.iter().map(|(name, line)| format!(" · {}: {}", bounded(name, NAME), bounded(line, LINE)));
        let starting = format!("starting {}: {}", counted(self.names.len(), "server"), names(&self.names));
        Some(starting + &said.collect::<String>())
    }
}

/// Maximum width in columns of an output line of a server.
const LINE: usize = 80;

/// Maximum width in columns of a server's name.
const NAME: usize = 60;

/// Returns the names of the servers that are still being started, as a list for messages.
pub(crate) fn still(servers: &[ServerStatus]) -> String {
    let is_starting = |server: &&ServerStatus| matches!(server.state, ServerState::Idle | ServerState::Connecting);
    names(servers.iter().filter(is_starting).map(|server| &server.name))
}

/// Returns a line with the time that each ready server took to start; `None` if there is none.
pub(crate) fn took(servers: &[ServerStatus]) -> Option<String> {
    let ready = servers.iter().filter(|server| server.state == ServerState::Ready);
    let times: Vec<String> =
        ready.map(|server| format!("{} in {}", bounded(&server.name, NAME), lasted(server.connect_time))).collect();
    (!times.is_empty()).then(|| format!("started {}", times.join(", ")))
}
