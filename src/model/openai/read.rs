//! Reads the bytes of an answer.

use std::io::Cursor;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::stream::{self, BoxStream, StreamExt};
use sse_stream::SseByteStream;
use tokio::time::{Instant, Sleep};

use super::error::{plain, silence};
use super::guard::Guard;
use super::trace::Response;
use crate::cause::Cause;
use crate::model::ModelError;
use crate::model::decode::{Decoder, Item, MAX_EVENT};

/// Maximum time after the finish reason in which the usage and `[DONE]` may follow.
const AFTER_FINISH: Duration = Duration::from_secs(5);

/// Maximum number of consecutive bytes of a stream without content, such as comments and empty events.
const MAX_QUIET: usize = MAX_EVENT + (1 << 20);

/// The reader of a response body, whose bytes it returns as they arrive.
pub(super) struct Source {
    response: Response,
    idle: Duration,
    /// Timer that fires when the endpoint has been silent for too long. One timer serves the whole body: resetting it
    /// costs a fraction of creating one.
    silent: Pin<Box<Sleep>>,
    /// Bytes that were read ahead and not yet returned.
    ahead: Vec<u8>,
}

/// Creates the error of an answer that was cut off because of an error of a lower layer, such as HTTP.
fn cut_off(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> ModelError {
    let source = Cause::new(error);
    ModelError::CutOff { message: source.to_string(), source: Some(source) }
}

impl Source {
    pub(super) fn new(mut response: Response, idle: Duration) -> Self {
        response.drop_headers();
        Source { response, idle, silent: Box::pin(tokio::time::sleep(idle)), ahead: Vec::new() }
    }

    async fn next(&mut self) -> Result<Option<Vec<u8>>, ModelError> {
        if !self.ahead.is_empty() {
            return Ok(Some(std::mem::take(&mut self.ahead)));
        }
        // A time that no clock can represent never comes.
        if let Some(until) = Instant::now().checked_add(self.idle) {
            self.silent.as_mut().reset(until);
        }
        tokio::select! {
            biased;
            chunk = self.response.chunk() => chunk.map_err(|error| {
                let message = format!("the connection failed: {}", plain(&error));
                ModelError::CutOff { message, source: Some(Cause::new(error.without_url())) }
            }),
            () = self.silent.as_mut() => Err(ModelError::cut_off(silence(self.idle))),
        }
    }

    /// Returns the first byte of the body that is neither white space nor part of a byte-order mark, without consuming
    /// any.
    pub(super) async fn first(&mut self) -> Result<Option<u8>, ModelError> {
        let mut seen = Vec::new();
        while let Some(bytes) = self.next().await? {
            seen.extend(bytes);
            let text = seen.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&seen).trim_ascii_start();
            match *text {
                // DeepSeek sends blank lines for as long as a request waits that is not streamed
                // (api-docs.deepseek.com/quick_start/rate_limit).
                [] => seen.clear(),
                // A byte-order mark that has not arrived whole.
                [0xef] | [0xef, 0xbb] => {}
                [first, ..] => {
                    self.ahead = seen;
                    return Ok(Some(first));
                }
            }
        }
        self.ahead = seen;
        Ok(None)
    }

    /// Returns `true` if the part of the body that [`first`](Self::first) has read ahead is `null`.
    pub(super) fn is_null(&self) -> bool {
        self.ahead.trim_ascii() == b"null"
    }

    /// Returns the rest of the body, at most `most` bytes.
    pub(super) async fn collect(&mut self, most: usize) -> Result<Vec<u8>, ModelError> {
        let mut all = Vec::new();
        while all.len() < most {
            match self.next().await? {
                Some(bytes) => all.extend(bytes),
                None => break,
            }
        }
        all.truncate(most);
        Ok(all)
    }

    /// Returns the bytes of the body prepared by [`Guard`] for the parser of server-sent events, with the end of the
    /// last event added.
    fn guarded(self, quiet: Arc<AtomicUsize>) -> BoxStream<'static, Result<Cursor<String>, ModelError>> {
        // In a box, because a stream moves its state for every piece.
        let state = Some((Box::new((self, Guard::default(), quiet)), None));
        stream::unfold(state, |state| async move {
            let (mut state, failed) = state?;
            if let Some(error) = failed {
                return Some((Err(error), None));
            }
            let (source, guard, quiet) = &mut *state;
            let (text, state) = match source.next().await {
                Ok(Some(bytes)) if quiet.fetch_add(bytes.len(), Ordering::Relaxed) > MAX_QUIET => {
                    let message = format!("the endpoint sent more than {MAX_QUIET} bytes without content");
                    return Some((Err(ModelError::cut_off(message)), None));
                }
                Ok(Some(bytes)) => match guard.push(&bytes) {
                    Ok(text) => (text, Some((state, None))),
                    Err(error) => return Some((Err(error), None)),
                },
                // An event that was complete except for the blank line is valid.
                Ok(None) => (guard.finish(), None),
                Err(error) => (guard.finish(), Some((state, Some(error)))),
            };
            Some((Ok(Cursor::new(text)), state))
        })
        .boxed()
    }
}

/// Returns the model events of a streamed answer.
pub(super) fn events(source: Source, decoder: Decoder) -> BoxStream<'static, Item> {
    let quiet = Arc::<AtomicUsize>::default();
    let sse = SseByteStream::new(source.guarded(quiet.clone()));
    let reader = Box::new(AnswerReader { sse, decoder, quiet, until: None });
    stream::unfold(reader, |mut reader| async move { Some((reader.next().await?, reader)) }).boxed()
}

struct AnswerReader {
    sse: SseByteStream<BoxStream<'static, Result<Cursor<String>, ModelError>>>,
    decoder: Decoder,
    /// Number of bytes since the last content.
    quiet: Arc<AtomicUsize>,
    /// Time until which further data is waited for after the finish reason; `None` before it.
    until: Option<Instant>,
}

impl AnswerReader {
    async fn next(&mut self) -> Option<Item> {
        loop {
            if let Some(item) = self.decoder.pop() {
                self.quiet.store(0, Ordering::Relaxed);
                return Some(item);
            }
            // A piece of a call is content, although its event comes only with the whole call.
            if std::mem::take(&mut self.decoder.called) {
                self.quiet.store(0, Ordering::Relaxed);
            }
            if self.decoder.over {
                return None;
            }
            let event = match self.decoder.finish {
                None => self.sse.next().await,
                // The answer is complete; an endpoint that goes silent now loses nothing.
                Some(_) => {
                    let until = *self.until.get_or_insert_with(|| Instant::now() + AFTER_FINISH);
                    tokio::time::timeout_at(until, self.sse.next()).await.unwrap_or(None)
                }
            };
            match event {
                Some(Ok(event)) => {
                    let is_error = event.event.as_deref() == Some("error");
                    event.data.iter().for_each(|data| self.decoder.data(data, is_error));
                }
                Some(Err(sse_stream::Error::Body(error))) => match error.downcast::<ModelError>() {
                    Ok(error) => self.decoder.broken(*error),
                    Err(other) => self.decoder.broken(cut_off(other)),
                },
                Some(Err(error)) => self.decoder.broken(cut_off(error)),
                None => self.decoder.end(),
            }
        }
    }
}
