//! Sends an answer over HTTP, either as a stream or as one body.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::{FutureExt, StreamExt, stream};
use tokio::time::Sleep;

use super::drive::{Driver, Next};
use super::shared::Shared;
use crate::inspection::inspector::Watch;
use crate::metrics::log::LogEntry;
use toolgraft::message::Usage;
use toolgraft_protocol::{Collected, Fault, Out, Progress, Shape, Writer, usage_text};

/// HTTP header with the number of requests to the endpoint that an answer took, as far as it is known when the answer
/// begins.
pub const ROUNDS_HEADER: &str = "x-toolgraft-rounds";

/// HTTP header with the summed token usage of all rounds that were over when the answer began. The `usage` of the
/// answer itself is that of the last round alone, since clients measure their context by it.
pub const USAGE_HEADER: &str = "x-toolgraft-usage";

/// HTTP header with the types of tools that were left out of a request because only their vendor's service can run
/// them.
pub const LEFT_OUT_HEADER: &str = "x-toolgraft-left-out";

/// Size in bytes at which a piece of the stream is sent even if more output is ready.
const PIECE: usize = 8 << 10;

/// Number of times that the task yields before a piece is sent, so that the connection to the endpoint
/// can hand over a chunk that it has already read. Found by trial: one yield is not enough, more
/// than two gain nothing.
const HAND_OVER: usize = 2;

/// An answer in progress, with its metrics, log line and inspector entry.
pub(crate) struct Running {
    shared: Arc<Shared>,
    driver: Box<Driver>,
    /// Name of the model at the endpoint.
    model: String,
    /// The inspector's entry for this request, if the server has an inspector.
    watch: Option<Watch>,
    /// The log line for this request, if the server has a log.
    line: Option<LogEntry>,
    calls: u64,
    failed: bool,
    /// `true` once a piece of the answer was sent to the client.
    begun: bool,
}

impl Running {
    pub(crate) fn new(
        shared: Arc<Shared>,
        driver: Box<Driver>,
        model: String,
        watch: Option<Watch>,
        line: Option<LogEntry>,
    ) -> Self {
        Running { shared, driver, model, watch, line, calls: 0, failed: false, begun: false }
    }

    async fn next(&mut self) -> Option<Next> {
        let next = self.driver.next().await;
        match &next {
            Some(Next::Out(Out::Call(_))) => self.calls += 1,
            Some(Next::Out(Out::Failed(fault))) => self.fails(fault),
            _ => {}
        }
        next
    }

    /// Returns the next output of the driver, or `None` if it does not come within `time`. `timer` is reset for the
    /// measurement.
    async fn within(&mut self, time: Duration, timer: &mut Pin<Box<Sleep>>) -> Option<Option<Next>> {
        // For a time beyond the clock's range the timer stays far in the future, where `sleep` has
        // set it.
        if let Some(until) = tokio::time::Instant::now().checked_add(time) {
            timer.as_mut().reset(until);
        }
        tokio::select! {
            biased;
            next = self.next() => Some(next),
            () = timer.as_mut() => None,
        }
    }

    /// Returns the answer as a response with one body, once it is complete.
    ///
    /// # Errors
    /// Fails if the answer failed.
    pub(crate) async fn whole(mut self, mut writer: Box<dyn Writer>) -> Result<Response, Fault> {
        let mut all = Collected::default();
        while let Some(next) = self.next().await {
            if let Next::Out(out) = next {
                all.push(&out)?;
            }
        }
        let finish = all.finish.take().unwrap_or_default();
        let body = writer.whole(all.pieces(), finish).to_string();
        let response = (StatusCode::OK, [(header::CONTENT_TYPE, "application/json")], body).into_response();
        Ok(with_cost(response, self.driver.progress()))
    }

    /// Returns the answer as a response that streams its events.
    ///
    /// # Errors
    /// Fails if the answer failed before anything of it was sent, within the first `keep_alive`
    /// interval: the response then has the fault's status.
    pub(crate) async fn streamed(
        mut self,
        shape: &'static dyn Shape,
        mut writer: Box<dyn Writer>,
    ) -> Result<Response, Fault> {
        // One timer for all pieces: resetting a timer costs a fraction of making one.
        let mut silent = Box::pin(tokio::time::sleep(self.shared.config.keep_alive));
        // An endpoint that thinks for long sends nothing, not even headers, and the client or a load balancer
        // before it would give up. So after `keep_alive` the stream begins; a later failure is reported inside it.
        let first = self.piece(shape, &mut *writer, &mut silent).await?;
        self.begun = true;
        let progress = self.driver.progress();
        // In a box, since `unfold` moves its state for every piece.
        let rest = (!first.is_last).then(|| Box::new((self, writer, silent)));
        let rest = stream::unfold(rest, move |state| async move {
            let mut state = state?;
            let (running, writer, silent) = &mut *state;
            let shared = running.shared.clone();
            let piece = shared.caught(running.piece(shape, &mut **writer, silent)).await;
            let piece = piece.flatten().unwrap_or_else(|fault| running.broken(fault, &mut **writer));
            // The last piece of a normal end is empty; that after a panic has the error.
            let is_over = piece.is_last && piece.text.is_empty();
            (!is_over).then(|| (Ok::<_, Infallible>(Bytes::from(piece.text)), (!piece.is_last).then_some(state)))
        });
        let first = stream::once(async move { Ok::<_, Infallible>(Bytes::from(first.text)) });
        let body = Body::from_stream(first.chain(rest));
        let headers = [(header::CONTENT_TYPE, shape.stream_type()), (header::CACHE_CONTROL, "no-cache")];
        Ok(with_cost((StatusCode::OK, headers, body).into_response(), progress))
    }
}

/// The text of one piece of a response stream.
struct StreamPiece {
    text: String,
    is_last: bool,
}

impl Running {
    /// Returns the next piece of the response stream: waits for one output of the driver and, once the stream has
    /// begun, appends those that are ready by then.
    ///
    /// # Errors
    /// Fails if the answer failed before anything of it was sent.
    async fn piece(
        &mut self,
        shape: &'static dyn Shape,
        writer: &mut dyn Writer,
        silent: &mut Pin<Box<Sleep>>,
    ) -> Result<StreamPiece, Fault> {
        let keep_alive = self.shared.config.keep_alive;
        let mut text = String::new();
        let mut next = self.within(keep_alive, silent).await;
        loop {
            match next {
                None | Some(Some(Next::Busy)) => text.push_str(shape.busy()),
                // Nothing was sent yet, so the response can still have the fault's own status.
                Some(Some(Next::Out(Out::Failed(fault)))) if text.is_empty() && !self.begun => return Err(fault),
                Some(Some(Next::Out(out))) => writer.write(out, &mut text),
                Some(None) => return Ok(StreamPiece { text, is_last: true }),
            }
            next = if text.is_empty() {
                self.within(keep_alive, silent).await
            // The response begins with its first piece, which therefore waits for nothing else.
            } else if text.len() >= PIECE || !self.begun {
                return Ok(StreamPiece { text, is_last: false });
            } else {
                // Output that is ready already goes into the same piece; this includes chunks that
                // the task of the endpoint's connection has read and hands over one at a time.
                let mut there = self.next().now_or_never();
                for _ in 0..HAND_OVER {
                    if there.is_none() {
                        tokio::task::yield_now().await;
                        there = self.next().now_or_never();
                    }
                }
                if there.is_none() {
                    return Ok(StreamPiece { text, is_last: false });
                }
                there
            };
        }
    }

    /// Returns the last piece of a response stream during which the program panicked: the error for the client.
    fn broken(&mut self, fault: Fault, writer: &mut dyn Writer) -> StreamPiece {
        self.fails(&fault);
        let mut text = String::new();
        writer.write(Out::Failed(fault), &mut text);
        StreamPiece { text, is_last: true }
    }

    /// Records the fault with which the answer ends, in metrics, inspector and log.
    fn fails(&mut self, fault: &Fault) {
        self.failed = true;
        self.watch.iter().for_each(|watch| watch.failed(fault));
        self.line.iter().for_each(|line| line.failed(fault));
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let (progress, prompt) = (self.driver.progress(), self.driver.prompt_cost());
        self.shared.metrics.ended(progress.rounds, self.calls, self.failed, prompt);
        self.line.iter().for_each(|line| line.took(progress, self.calls, prompt));
        self.watch.iter().for_each(|watch| watch.over(prompt, self.shared.taught(&self.model)));
    }
}

fn with_cost(mut response: Response, progress: Progress) -> Response {
    let headers = response.headers_mut();
    headers.insert(HeaderName::from_static(ROUNDS_HEADER), progress.rounds.into());
    // At the beginning of a stream the usage is known only if a round is over.
    if let (true, Ok(sum)) = (progress.usage != Usage::default(), HeaderValue::try_from(usage_text(progress.usage))) {
        headers.insert(HeaderName::from_static(USAGE_HEADER), sum);
    }
    response
}
