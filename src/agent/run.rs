//! One turn of an agent: its options, its events and its end.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::stream::{BoxStream, Stream, StreamExt};
use tokio_util::sync::CancellationToken;

use crate::transcript::Recorder;
use crate::turn::{AgentEvent, Finished};
use crate::validate::OutputSchema;

/// Options of one turn of an agent.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct RunOptions {
    /// The schema that the answer has to match; `None` for the agent's own.
    pub output: Option<Arc<OutputSchema>>,
    /// The recorder that the turn is recorded with, if any.
    pub recorder: Option<Recorder>,
    /// Extra HTTP headers of the turn's requests, for a model that is reached over HTTP.
    pub headers: Vec<(String, String)>,
}

impl RunOptions {
    /// Sets the schema that the answer has to match.
    #[must_use]
    pub fn output(mut self, schema: impl Into<Arc<OutputSchema>>) -> Self {
        self.output = Some(schema.into());
        self
    }

    /// Sets the recorder that the turn is recorded with.
    #[must_use]
    pub fn recorder(mut self, recorder: &Recorder) -> Self {
        self.recorder = Some(recorder.clone());
        self
    }

    /// Adds a header to the turn's requests, such as an identifier for the endpoint's log. Its value appears in no
    /// message.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }
}

/// Stream of the events of one turn; [`AgentEvent::Finished`] is the last one.
pub struct Run {
    pub(super) events: BoxStream<'static, AgentEvent>,
    pub(super) cancel: CancellationToken,
    pub(super) suspend: CancellationToken,
}

impl Run {
    /// Cancels the turn: its stream continues to the last event, and running calls get the status `Cancelled`. Dropping
    /// the stream cancels the turn without further events.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// Returns a token that cancels the turn when it is cancelled.
    pub fn cancellation(&self) -> CancellationToken {
        self.cancel.clone()
    }

    /// Suspends the turn, so that it can go on later, perhaps in another process:
    /// while somebody thinks for hours about an approval, or before a shutdown.
    ///
    /// Nothing new begins. The stream goes on to its end: a message that streams
    /// is read to its end, calls that run are waited for, the open question is
    /// withdrawn. Unless the message was an answer, the turn then ends with
    /// [`StopReason::Suspended`](super::StopReason::Suspended); its conversation is
    /// stored like any other, and [`Agent::run`](crate::Agent::run) goes on with it:
    /// calls that have not begun are decided about and asked about again, under the
    /// same ids.
    pub fn suspend(&self) {
        self.suspend.cancel();
    }

    /// Returns a token that suspends the turn when it is cancelled.
    pub fn suspension(&self) -> CancellationToken {
        self.suspend.clone()
    }

    /// Runs the turn to its end and returns its result.
    ///
    /// # Panics
    /// [`AgentEvent::Finished`] was taken from the stream before.
    pub async fn finish(mut self) -> Finished {
        while let Some(event) = self.next().await {
            if let AgentEvent::Finished(finished) = event {
                return *finished;
            }
        }
        panic!("the turn is over: `AgentEvent::Finished` was taken from the stream before")
    }
}

impl Stream for Run {
    type Item = AgentEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        self.events.poll_next_unpin(cx)
    }
}

crate::message::opaque_debug!(Run);
