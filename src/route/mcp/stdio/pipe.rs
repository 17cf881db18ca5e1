//! The two pipes of a child: messages out, messages in.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::RoleClient;
use rmcp::model::{ErrorData, JsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStdin, ChildStdout};

use super::lines::{Lines, MAX_MESSAGE};
use crate::route::mcp::message::Heard;

/// Bytes that are read at once.
const CHUNK: usize = 64 * 1024;

/// What a server wrote to standard output that is no MCP.
#[derive(Debug, Clone, Default)]
pub(super) struct Noise(Arc<Mutex<(usize, String)>>);

impl Noise {
    fn add(&self, what: String) {
        let mut noise = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *noise = (noise.0 + 1, what);
    }

    /// How often, so far.
    pub(super) fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0
    }

    /// What it was, if it came more than so many times.
    pub(super) fn after(&self, before: usize) -> Option<String> {
        let noise = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let times = match noise.0.checked_sub(before)? {
            0 => return None,
            1 => "once".to_owned(),
            n => format!("{n} times"),
        };
        Some(format!("it wrote to stdout what is no MCP, {times}; the last was {}", noise.1))
    }
}

/// `None` once it was closed. Messages are written one after another.
type Stdin = Arc<tokio::sync::Mutex<Option<ChildStdin>>>;

/// Both pipes.
pub(super) struct Pipe {
    stdin: Stdin,
    stdout: ChildStdout,
    lines: Lines,
    noise: Noise,
}

impl Pipe {
    pub(super) fn new(stdin: ChildStdin, stdout: ChildStdout, noise: Noise) -> Self {
        let stdin = Arc::new(tokio::sync::Mutex::new(Some(stdin)));
        Pipe { stdin, stdout, lines: Lines::new(MAX_MESSAGE), noise }
    }

    /// Writes one message; waits while the server does not read.
    pub(super) fn send(
        &self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = std::io::Result<()>> + Send + 'static {
        write(self.stdin.clone(), message)
    }

    /// The next message; `None` when there will be none. Nothing is lost when the
    /// future is dropped.
    pub(super) async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let mut ended = false;
        loop {
            let heard = if ended { self.lines.last() } else { self.lines.next() };
            match heard {
                Some(Heard::Message(message)) => return Some(*message),
                Some(Heard::Senseless(id)) => {
                    let refusal = ErrorData::invalid_params("this request makes no sense", None);
                    // Not here: the server may not listen before we have read on.
                    tokio::spawn(self.send(JsonRpcMessage::error(refusal, Some(id))));
                }
                Some(Heard::Complaint(message, what)) => {
                    self.noise.add(what);
                    return Some(*message);
                }
                Some(Heard::Noise(what)) => self.noise.add(what),
                None if ended => return None,
                None => {
                    let buffer = self.lines.buffer();
                    buffer.reserve(CHUNK);
                    // What cannot be read any more has ended.
                    ended = !matches!(self.stdout.read_buf(buffer).await, Ok(1..));
                }
            }
        }
    }

    /// Closes the server's standard input, after what is being written.
    pub(super) async fn close(&self) {
        drop(self.stdin.lock().await.take());
    }
}

async fn write(stdin: Stdin, message: TxJsonRpcMessage<RoleClient>) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(&message)?;
    line.push(b'\n');
    let mut stdin = stdin.lock().await;
    let Some(stdin) = stdin.as_mut() else {
        return Err(std::io::Error::new(std::io::ErrorKind::NotConnected, "its stdin is closed"));
    };
    let written = async {
        stdin.write_all(&line).await?;
        stdin.flush().await
    };
    match written.await {
        // The server has gone, or will not listen: the end of its output, or the
        // time-out, says more than a broken pipe.
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
