//! The two pipes of a child: messages out, messages in.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleClient;
use rmcp::model::{ErrorData, JsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStdin, ChildStdout};

use super::lines::{Lines, MAX_MESSAGE};
use crate::transport::message::Heard;

/// Bytes that are read at once.
const CHUNK: usize = 64 * 1024;

/// What a server wrote to standard output that is no MCP.
#[derive(Debug, Clone, Default)]
pub(crate) struct Noise(Arc<Mutex<(usize, String)>>);

impl Noise {
    pub(super) fn add(&self, what: String) {
        let mut noise = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *noise = (noise.0 + 1, what);
    }

    /// How often, so far.
    pub(crate) fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0
    }

    /// What it was, if it came more than so many times.
    pub(crate) fn after(&self, before: usize) -> Option<String> {
        let noise = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let times = match noise.0.checked_sub(before)? {
            0 => return None,
            1 => "once".to_owned(),
            n => format!("{n} times"),
        };
        Some(format!("it wrote to stdout what is no MCP, {times}; the last was {}", noise.1))
    }
}

/// The way in. Messages that come while one is being written go together, in one
/// write: each write is a call of the system, and wakes the server.
struct Input {
    /// Whole lines, in the order of their sending.
    waiting: Mutex<Vec<u8>>,
    /// `None` once it was closed or has failed.
    stdin: tokio::sync::Mutex<Option<Stdin>>,
}

struct Stdin {
    pipe: ChildStdin,
    /// Bytes that were written.
    written: u64,
}

impl Stdin {
    /// Bytes that the server has not read yet, where that can be known.
    #[cfg(unix)]
    fn unread(&self) -> Option<u64> {
        rustix::io::ioctl_fionread(&self.pipe).ok()
    }

    #[cfg(not(unix))]
    fn unread(&self) -> Option<u64> {
        None
    }
}

impl Input {
    fn add(&self, message: &TxJsonRpcMessage<RoleClient>) -> std::io::Result<()> {
        let line = serde_json::to_vec(message)?;
        let mut waiting = self.waiting();
        waiting.extend_from_slice(&line);
        waiting.push(b'\n');
        Ok(())
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<u8>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what waits. Where another one is writing it already, there is nothing to
    /// wait for: if that fails the pipe is closed, and the server's end is all calls' end.
    async fn write(&self) -> std::io::Result<()> {
        if self.waiting().is_empty() {
            return Ok(());
        }
        let mut stdin = self.stdin.lock().await;
        let Some(Stdin { pipe, written }) = stdin.as_mut() else {
            return Err(std::io::Error::new(std::io::ErrorKind::NotConnected, "its stdin is closed"));
        };
        let lines = std::mem::take(&mut *self.waiting());
        if lines.is_empty() {
            return Ok(());
        }
        *written += lines.len() as u64;
        let writing = async {
            pipe.write_all(&lines).await?;
            pipe.flush().await
        };
        match writing.await {
            // The server has gone, or will not listen: the end of its output, or the
            // time-out, says more than a broken pipe.
            Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            Err(e) => {
                *stdin = None;
                Err(e)
            }
            Ok(()) => Ok(()),
        }
    }
}

/// Both pipes.
pub(super) struct Pipe {
    input: Arc<Input>,
    stdout: ChildStdout,
    lines: Lines,
    noise: Noise,
}

impl Pipe {
    pub(super) fn new(stdin: ChildStdin, stdout: ChildStdout, noise: Noise) -> Self {
        let input = Input {
            waiting: Mutex::default(),
            stdin: tokio::sync::Mutex::new(Some(Stdin { pipe: stdin, written: 0 })),
        };
        Pipe { input: Arc::new(input), stdout, lines: Lines::new(MAX_MESSAGE), noise }
    }

    /// Writes one message, behind those that were sent before; waits while the server
    /// does not read.
    #[expect(clippy::needless_pass_by_value, reason = "as the transports of rmcp have it")]
    pub(super) fn send(
        &self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = std::io::Result<()>> + Send + 'static {
        let added = self.input.add(&message);
        let input = self.input.clone();
        async move {
            added?;
            input.write().await
        }
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

    /// Whether the server has read nothing of what was written. `false` also where that
    /// is not known.
    pub(super) fn is_unread(&self) -> bool {
        let stdin = self.input.stdin.try_lock();
        let stdin = stdin.as_ref().ok().and_then(|stdin| stdin.as_ref());
        stdin.is_some_and(|stdin| stdin.written > 0 && stdin.unread() == Some(stdin.written))
    }

    /// Takes what has begun and not ended for noise.
    pub(super) fn give_up(&self) {
        if let Some(begun) = self.lines.unfinished() {
            self.noise.add(format!("{begun:?}, without its end"));
        }
    }

    /// Closes the server's standard input, after what is being written.
    pub(super) async fn close(&self) {
        drop(self.input.stdin.lock().await.take());
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::Stdio;

    use rmcp::model::{CancelledNotification, CancelledNotificationParam, ClientNotification, RequestId};
    use rmcp::model::{ClientJsonRpcMessage, ServerNotification};

    use super::*;

    #[tokio::test]
    async fn messages_arrive_in_the_order_of_their_sending() {
        let mut echo = tokio::process::Command::new("cat");
        let mut echo = echo.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
        let mut pipe = Pipe::new(echo.stdin.take().unwrap(), echo.stdout.take().unwrap(), Noise::default());
        let cancelled = |id| {
            let params = CancelledNotificationParam::new(Some(RequestId::Number(id)), None);
            let notification = ClientNotification::from(CancelledNotification::new(params));
            pipe.send(ClientJsonRpcMessage::notification(notification))
        };
        // Whoever is the first to run writes what the others have sent.
        let sent: Vec<_> = (0..100).map(cancelled).collect();
        let sent: Vec<_> = sent.into_iter().rev().map(tokio::spawn).collect();
        for id in 0..100 {
            let Some(JsonRpcMessage::Notification(heard)) = pipe.receive().await else { panic!("{id}") };
            let ServerNotification::CancelledNotification(heard) = heard.notification else { panic!("{id}") };
            assert_eq!(heard.params.request_id, Some(RequestId::Number(id)));
        }
        for sent in sent {
            sent.await.unwrap().unwrap();
        }
        assert!(!pipe.is_unread());
        pipe.close().await;
        assert!(pipe.receive().await.is_none());
        let late = CancelledNotification::new(CancelledNotificationParam::new(None, None));
        assert!(pipe.send(ClientJsonRpcMessage::notification(late.into())).await.is_err());
    }
}
