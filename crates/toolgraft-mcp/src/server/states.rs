//! The events of all servers, reported to all readers in the order in which they happened.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::stream::{BoxStream, StreamExt, unfold};
use serde::Serialize;
use tokio::sync::broadcast::{self, error::RecvError};

use super::status::{ServerState, millis};

/// Maximum number of events that are queued for a reader of server events; a slower reader misses the oldest.
const WAITING: usize = 1024;

/// An event in the life of a server, such as a new state.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ServerEvent {
    /// The server's name in the configuration.
    pub server: String,
    /// The kind of event, with its data.
    #[serde(flatten)]
    pub kind: ServerEventKind,
}

/// The kind of an event of a server.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ServerEventKind {
    /// The server has entered this state.
    #[non_exhaustive]
    State {
        /// The new state of the server.
        state: ServerState,
        /// The reason that the server is not ready, and the remedy if one is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// An attempt to start the server has failed, or the server has exited. The next call that needs it restarts it,
    /// but not before the time `wait` is over.
    #[non_exhaustive]
    Retry {
        /// Number of consecutive failures of the server, including this one.
        failures: u32,
        /// Time from this event during which the server is not restarted.
        #[serde(rename = "wait_ms", serialize_with = "millis")]
        wait: Duration,
    },
    /// The server had exited, or a restart was requested, and it is about to be ready again.
    #[non_exhaustive]
    Respawn {
        /// Number of restarts of the server, including this one.
        restarts: u32,
    },
    /// A line of the server's standard error during its start, such as the download progress of `npx` or `uvx`.
    #[non_exhaustive]
    StartOutput {
        /// The text of the line, without the secrets of the server's entry. Otherwise unchanged and untrusted.
        line: String,
    },
    /// The tools, resources and prompts of the server were read, and are in the hub's catalog; or its tools were
    /// switched.
    Listed,
    /// The progress of a tool call, as the server reports it. Untrusted.
    #[non_exhaustive]
    Progress {
        /// The amount of work that is done, in the server's own unit.
        progress: f64,
        /// The total amount of work, in the unit of `progress`; `None` if it is unknown.
        #[serde(skip_serializing_if = "Option::is_none")]
        total: Option<f64>,
        /// The server's text about the current activity; `None` if it sends none.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
}

/// The states of all servers of a hub, and the channel to the readers.
pub(crate) struct States {
    /// By the server's name: its last state event, and the last line of its start output if it is being started.
    known: Mutex<BTreeMap<String, Vec<ServerEventKind>>>,
    sender: broadcast::Sender<ServerEvent>,
}

impl Default for States {
    fn default() -> Self {
        States { known: Mutex::default(), sender: broadcast::Sender::new(WAITING) }
    }
}

impl States {
    /// Reports a server's state as an event if it has changed.
    pub(super) fn state(&self, server: &str, state: ServerState, error: Option<String>) {
        let kind = ServerEventKind::State { state, error };
        let mut known = self.known();
        if known.get(server).and_then(|known| known.first()) != Some(&kind) {
            known.insert(server.to_owned(), vec![kind.clone()]);
            self.send(server, kind);
        }
    }

    /// Reports an event of a server other than a new state.
    pub(super) fn tell(&self, server: &str, kind: ServerEventKind) {
        // The lock keeps the order for readers that begin at the same time.
        let _known = self.known();
        self.send(server, kind);
    }

    /// Reports a line of a server's standard error as an event if the server is being started.
    pub(super) fn start_output(&self, server: &str, line: &str) {
        let mut known = self.known();
        let Some(known) = known.get_mut(server) else { return };
        if matches!(known.first(), Some(ServerEventKind::State { state: ServerState::Connecting, .. })) {
            let kind = ServerEventKind::StartOutput { line: line.to_owned() };
            known.truncate(1);
            known.push(kind.clone());
            self.send(server, kind);
        }
    }

    /// Returns a stream of events: first the state of each server, with the last line of start output of one that is
    /// being started, then every later event.
    pub(crate) fn stream(&self) -> BoxStream<'static, ServerEvent> {
        let known = self.known();
        let event =
            |server: &str, kind: &ServerEventKind| ServerEvent { server: server.to_owned(), kind: kind.clone() };
        let now = known.iter().flat_map(|(server, kinds)| kinds.iter().map(move |kind| event(server, kind)));
        let (now, receiver) = (now.collect::<VecDeque<_>>(), self.sender.subscribe());
        drop(known);
        unfold((now, receiver), |(mut now, mut receiver)| async move {
            if let Some(event) = now.pop_front() {
                return Some((event, (now, receiver)));
            }
            loop {
                match receiver.recv().await {
                    Ok(event) => return Some((event, (now, receiver))),
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return None,
                }
            }
        })
        .boxed()
    }

    fn send(&self, server: &str, kind: ServerEventKind) {
        // An `Err` means that there is no reader.
        let _ = self.sender.send(ServerEvent { server: server.to_owned(), kind });
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<String, Vec<ServerEventKind>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_listens_late_hears_the_states_first_and_then_what_happens_until_the_hub_is_gone() {
        let states = States::default();
        states.state("a", ServerState::Idle, None);
        states.state("a", ServerState::Connecting, None);
        states.start_output("a", "looking");
        let mut events = states.stream();
        states.state("a", ServerState::Connecting, None);
        states.start_output("a", "downloading");
        states.start_output("b", "of one that nobody starts");
        states.tell("a", ServerEventKind::Retry { failures: 1, wait: Duration::from_millis(500) });
        drop(states);
        let mut heard = Vec::new();
        while let Some(event) = events.next().await {
            heard.push(serde_json::to_string(&event).unwrap());
        }
        assert_eq!(
            heard,
            [
                r#"{"server":"a","event":"state","state":"connecting"}"#,
                r#"{"server":"a","event":"start_output","line":"looking"}"#,
                r#"{"server":"a","event":"start_output","line":"downloading"}"#,
                r#"{"server":"a","event":"retry","failures":1,"wait_ms":500}"#,
            ]
        );
    }
}
