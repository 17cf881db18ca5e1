//! An answer over HTTP: as a stream, or whole.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::{FutureExt, StreamExt, stream};
use tokio::time::Sleep;

use super::chat::cost;
use super::drive::{Driver, Next};
use super::fault::Fault;
use super::inspect::Watch;
use super::log::Line;
use super::out::{Collected, Out};
use super::progress::Progress;
use super::shape::{Shape, Writer};
use super::shared::Shared;

/// The header that tells how many requests to the endpoint an answer took, as far as that
/// is known when the answer begins.
pub const ROUNDS_HEADER: &str = "x-toolgraft-rounds";

/// The header that tells what all those requests cost that were over then: the usage of an answer
/// is that of the last of them alone, which a client's context holds.
pub const USAGE_HEADER: &str = "x-toolgraft-usage";

/// The header that names the tools of a request that are left out, since the client's own service would
/// run them.
pub const LEFT_OUT_HEADER: &str = "x-toolgraft-left-out";

/// Bytes of a stream behind which a piece of it goes out, even if more is there.
const PIECE: usize = 8 << 10;

/// How often other tasks may run before a piece goes out: the connection to the endpoint
/// then hands over a chunk that it has read. By trial: once is not enough, more is of no use.
const HAND_OVER: usize = 2;

/// An answer that goes on, and is counted.
pub(super) struct Running {
    shared: Arc<Shared>,
    driver: Box<Driver>,
    /// Kept to be looked at.
    watch: Option<Watch>,
    /// To be logged.
    line: Option<Line>,
    calls: u64,
    /// What the client was told, while it may have to be known again.
    said: Option<String>,
    failed: bool,
}

impl Running {
    pub(super) fn new(shared: Arc<Shared>, driver: Box<Driver>, watch: Option<Watch>, line: Option<Line>) -> Self {
        let said = driver.clean().map(|_| String::new());
        Running { shared, driver, watch, line, calls: 0, said, failed: false }
    }

    async fn next(&mut self) -> Option<Next> {
        let next = self.driver.next().await;
        if let Some((ids, before)) = self.driver.take_kept() {
            self.driver.kept().keep(ids, before, Instant::now());
        }
        match &next {
            Some(Next::Out(Out::Text(text) | Out::Refusal(text))) => {
                self.said.iter_mut().for_each(|said| said.push_str(text));
            }
            // It is other text now, which a client may show as it likes.
            Some(Next::Out(Out::Reclassified(..))) => self.said = None,
            Some(Next::Out(Out::Finish(_))) => {
                if let (Some(kept), Some(said)) = (self.driver.clean(), self.said.take()) {
                    kept.keep_clean(&said);
                }
            }
            Some(Next::Out(Out::Call(_))) => self.calls += 1,
            Some(Next::Out(Out::Failed(fault))) => self.fails(fault),
            _ => {}
        }
        next
    }

    /// The next, if it comes within this time, which the timer measures.
    async fn within(&mut self, time: Duration, timer: &mut Pin<Box<Sleep>>) -> Option<Option<Next>> {
        // One that no clock can hold never comes.
        if let Some(until) = tokio::time::Instant::now().checked_add(time) {
            timer.as_mut().reset(until);
        }
        tokio::select! {
            biased;
            next = self.next() => Some(next),
            () = timer.as_mut() => None,
        }
    }

    /// Answers whole.
    ///
    /// # Errors
    /// The answer failed.
    pub(super) async fn whole(mut self, mut writer: Box<dyn Writer>) -> Result<Response, Fault> {
        let mut all = Collected::default();
        while let Some(next) = self.next().await {
            if let Next::Out(out) = next {
                all.push(out)?;
            }
        }
        let body = writer.whole(all).to_string();
        let response = (StatusCode::OK, [(header::CONTENT_TYPE, "application/json")], body).into_response();
        Ok(with_cost(response, self.driver.progress()))
    }

    /// Answers with a stream of events.
    ///
    /// # Errors
    /// The answer failed before anything of it was sent, within the time between two comments:
    /// it then has a status of its own.
    pub(super) async fn streamed(
        mut self,
        shape: &'static dyn Shape,
        mut writer: Box<dyn Writer>,
    ) -> Result<Response, Fault> {
        let mut first = String::new();
        let keep_alive = self.shared.config.keep_alive;
        // One for all pieces: a timer that is moved costs a fraction of one that is made.
        let mut silent = Box::pin(tokio::time::sleep(keep_alive));
        while first.is_empty() {
            // An endpoint that thinks for long says nothing, not even that it takes the request.
            // Its client, or a balancer before it, would give up: so the answer begins, and what
            // fails from here on is told in the stream.
            let Some(next) = self.within(keep_alive, &mut silent).await else {
                first.push_str(shape.busy());
                break;
            };
            match next {
                Some(Next::Out(Out::Failed(fault))) => return Err(fault),
                Some(Next::Out(out)) => writer.write(out, &mut first),
                Some(Next::Busy) => first.push_str(shape.busy()),
                None => break,
            }
        }
        let progress = self.driver.progress();
        // In a box: a stream moves its state for every piece.
        let rest = stream::unfold(Some(Box::new((self, writer, silent))), move |state| async move {
            let mut state = state?;
            let (running, writer, silent) = &mut *state;
            let shared = running.shared.clone();
            let piece = match shared.caught(running.piece(shape, &mut **writer, silent)).await {
                Ok(piece) => piece,
                Err(fault) => running.broken(fault, &mut **writer),
            };
            let is_over = piece.is_last && piece.text.is_empty();
            (!is_over).then(|| (Ok::<_, Infallible>(Bytes::from(piece.text)), (!piece.is_last).then_some(state)))
        });
        let first = stream::once(async move { Ok::<_, Infallible>(Bytes::from(first)) });
        let body = Body::from_stream(first.chain(rest));
        let headers = [(header::CONTENT_TYPE, shape.stream_type()), (header::CACHE_CONTROL, "no-cache")];
        Ok(with_cost((StatusCode::OK, headers, body).into_response(), progress))
    }
}

/// A piece of a stream.
struct Piece {
    text: String,
    is_last: bool,
}

impl Running {
    /// The next piece: what comes next, and what is there by then.
    async fn piece(
        &mut self,
        shape: &'static dyn Shape,
        writer: &mut dyn Writer,
        silent: &mut Pin<Box<Sleep>>,
    ) -> Piece {
        let keep_alive = self.shared.config.keep_alive;
        let mut text = String::new();
        let mut next = self.within(keep_alive, silent).await;
        loop {
            match next {
                None | Some(Some(Next::Busy)) => text.push_str(shape.busy()),
                Some(Some(Next::Out(out))) => writer.write(out, &mut text),
                Some(None) => return Piece { text, is_last: true },
            }
            next = if text.is_empty() {
                self.within(keep_alive, silent).await
            } else if text.len() >= PIECE {
                return Piece { text, is_last: false };
            } else {
                // What is there already goes in the same piece; also what the task of the
                // endpoint's connection has read and hands over one chunk at a time.
                let mut there = self.next().now_or_never();
                for _ in 0..HAND_OVER {
                    if there.is_none() {
                        tokio::task::yield_now().await;
                        there = self.next().now_or_never();
                    }
                }
                if there.is_none() {
                    return Piece { text, is_last: false };
                }
                there
            };
        }
    }

    /// The end of a stream at which the program broke.
    fn broken(&mut self, fault: Fault, writer: &mut dyn Writer) -> Piece {
        self.fails(&fault);
        let mut text = String::new();
        writer.write(Out::Failed(fault), &mut text);
        Piece { text, is_last: true }
    }

    /// The answer ends with this fault.
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
        if let Some(watch) = &self.watch {
            watch.over(prompt, watch.model().map(|model| self.shared.taught(model)).unwrap_or_default());
        }
    }
}

fn with_cost(mut response: Response, progress: Progress) -> Response {
    let headers = response.headers_mut();
    headers.insert(HeaderName::from_static(ROUNDS_HEADER), progress.rounds.into());
    if let Ok(sum) = HeaderValue::try_from(cost(progress.usage)) {
        headers.insert(HeaderName::from_static(USAGE_HEADER), sum);
    }
    response
}
