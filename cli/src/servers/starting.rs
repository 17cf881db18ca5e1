//! Which servers are being started, while they are.

use futures::StreamExt;
use futures::stream::BoxStream;
use tokio::sync::oneshot;

use crate::screen::excerpt::{bounded, names};
use crate::screen::live::{Live, Place};
use crate::terminal::{columns, counted, lasted};
use toolgraft_mcp::{ServerEvent, ServerEventKind, ServerState, ServerStatus};

/// The picture of the start. It is taken away by [`end`](Self::end).
pub(crate) struct Starting {
    stop: oneshot::Sender<()>,
    gone: oneshot::Receiver<()>,
}

impl Starting {
    /// The picture, and the job that draws it from what happens to the servers.
    pub(crate) fn new(events: BoxStream<'static, ServerEvent>) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let ((stop, stopped), (tell, gone)) = (oneshot::channel(), oneshot::channel());
        let job = async move {
            tokio::select! {
                biased;
                _ = stopped => {}
                () = draw(events) => {}
            }
            let _ = tell.send(());
        };
        (Starting { stop, gone }, job)
    }

    /// Waits until nothing moves any more.
    pub(crate) async fn end(self) {
        let _ = self.stop.send(());
        let _ = self.gone.await;
    }
}

async fn draw(mut events: BoxStream<'static, ServerEvent>) {
    let mut live = Live::new(Place::here(), columns(), false);
    let mut starting: Vec<String> = Vec::new();
    while let Some(event) = events.next().await {
        let ServerEventKind::State { state, .. } = event.kind else { continue };
        starting.retain(|name| *name != event.server);
        if matches!(state, ServerState::Idle | ServerState::Connecting) {
            starting.push(event.server);
        }
        match starting.len() {
            0 => live.clear(),
            n => live.show(&format!("starting {}: {}", counted(n, "server"), names(&starting))),
        }
    }
    // Kept until the job ends, which takes it away.
    std::future::pending::<()>().await;
}

/// Most columns of a server's name.
const NAME: usize = 60;

/// How long each server took; `None` where none was started.
pub(crate) fn took(servers: &[ServerStatus]) -> Option<String> {
    let ready = servers.iter().filter(|server| server.state == ServerState::Ready);
    let times: Vec<String> =
        ready.map(|server| format!("{} in {}", bounded(&server.name, NAME), lasted(server.connect_time))).collect();
    (!times.is_empty()).then(|| format!("started {}", times.join(", ")))
}
