//! Shows on the terminal that a server works for a command, what it reports, and its questions.

use std::pin::pin;

use futures::StreamExt;
use tokio_util::sync::CancellationToken;

use crate::dialog::elicit::{Questions, over};
use crate::labels;
use crate::screen::live::{Live, ScreenPlace};
use crate::terminal::columns;
use toolgraft_mcp::{Hub, ServerEventKind};

impl Questions {
    /// Waits for a job on the hub's servers. The terminal shows `what` meanwhile.
    pub(crate) async fn watch<T>(&self, hub: &Hub, what: String, job: impl Future<Output = T>) -> T {
        let mut live = Live::new(ScreenPlace::here(), columns(), false);
        let (mut events, mut pauses) = (hub.states(), self.begin(CancellationToken::new()));
        let (mut job, mut asked, mut shown) = (pin!(job), None, what.clone());
        live.show(&shown);
        loop {
            tokio::select! {
                biased;
                Some(pause) = pauses.recv() => {
                    live.clear();
                    let _ = pause.begun.send(());
                    asked = Some(pause.over);
                }
                () = over(&mut asked) => live.show(&shown),
                done = &mut job => return done,
                Some(event) = events.next() => {
                    let ServerEventKind::Progress { progress, total, message, .. } = event.kind else { continue };
                    shown = format!("{what}: {}", labels::progress(progress, total, message.as_deref()));
                    if asked.is_none() {
                        live.show(&shown);
                    }
                }
            }
        }
    }
}
