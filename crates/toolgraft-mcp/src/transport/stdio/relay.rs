//! Between a client and a child process: what either writes goes on as it came, and is shown.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use futures::{Stream, StreamExt};
use tokio::io::{AsyncWrite, AsyncWriteExt};

use super::child::{ChildState, StdioTransport};
use super::lines::MAX_MESSAGE;
use crate::transport::scan::one_line;
use crate::transport::wire::{Tap, WireSide};

/// Hands on lines of the client's, and the bytes of the child's, until the child has written all
/// that it will, or the client reads no more. Where the client writes no more, the child is told so
/// by the end of its standard input. Returns whether the client was still there at the end.
pub(crate) async fn carry(
    (transport, state): (&mut StdioTransport, &ChildState),
    tap: &Tap,
    mut lines: impl Stream<Item = String> + Unpin,
    mut out: impl AsyncWrite + Unpin,
) -> bool {
    let (sender, is_there) = (transport.sender(), AtomicBool::new(true));
    let to_child = async {
        while let Some(line) = lines.next().await {
            tap.tell(WireSide::Client, &line);
            // A child that has gone is known by the end of its output.
            let _ = sender.send(&line).await;
        }
        is_there.store(false, Relaxed);
        sender.close().await;
        std::future::pending::<()>().await;
    };
    let to_client = async {
        let mut said = Said { begun: Vec::new(), tap, state };
        while let Some(bytes) = transport.read().await {
            // Shown first: what was read is known, whatever becomes of the client.
            said.push(&bytes);
            if out.write_all(&bytes).await.is_err() || out.flush().await.is_err() {
                return is_there.store(false, Relaxed);
            }
        }
        said.end();
    };
    // Side by side: a client may write on while it does not read.
    tokio::select! {
        () = to_child => {}
        () = to_client => {}
    }
    is_there.into_inner()
}

/// The child's output on its way: the pieces in which it comes to lines.
struct Said<'a> {
    begun: Vec<u8>,
    tap: &'a Tap,
    state: &'a ChildState,
}

impl Said<'_> {
    fn push(&mut self, mut piece: &[u8]) {
        while let Some(end) = memchr::memchr(b'\n', piece) {
            self.keep(&piece[..end]);
            self.end();
            piece = &piece[end + 1..];
        }
        self.keep(piece);
    }

    /// A line that is too long is cut, and so is no message that is shown.
    fn keep(&mut self, piece: &[u8]) {
        let room = MAX_MESSAGE.saturating_sub(self.begun.len());
        self.begun.extend_from_slice(&piece[..piece.len().min(room)]);
    }

    fn end(&mut self) {
        let line = String::from_utf8_lossy(&self.begun);
        if !line.trim().is_empty() && !self.tap.tell(WireSide::Server, line.trim()) {
            self.state.noise.add(format!("{:?}", one_line(&line)));
        }
        drop(line);
        self.begun.clear();
    }
}
