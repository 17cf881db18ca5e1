//! Records an answer that is passed through, for the inspector.
//!
//! The answer is not changed or delayed. It is read as the endpoint's chunks or as one completion;
//! anything else, and lines that are too long, are not recorded.

use std::future::ready;

use axum::body::{Body, Bytes};
use axum::response::Response;
use futures::channel::mpsc;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt};
use serde_json::{Map, Value};

use super::inspector::{self, Watch};
use toolgraft::dialect::Profile;
use toolgraft::model::endpoint::Decoder;
use toolgraft::model::{ModelError, ModelEvent};
use toolgraft::transcript::{Recorder, Session};
use toolgraft_protocol::Fault;

/// Maximum size, in bytes, of a line of a stream, or of a completion that is not streamed; longer ones are not
/// recorded.
const MAX_LINE: usize = 8 << 20;

type Passed = Result<ModelEvent, ModelError>;

/// Records an answer that is passed through, while it is sent.
pub(crate) struct PassthroughRecord {
    watch: Watch,
    recorder: Recorder,
    tell: mpsc::UnboundedSender<Passed>,
    /// The recorder's stream of the answer's events; reading it records them.
    written: BoxStream<'static, Passed>,
    decoder: Decoder,
    /// Bytes of an incomplete line of the stream, or of the completion so far.
    begun: Vec<u8>,
    is_stream: bool,
}

impl PassthroughRecord {
    /// Starts the record of the answer to a request with this body, for a model with this profile.
    pub(crate) fn new(watch: &Watch, body: &Map<String, Value>, model: &str, profile: &Profile) -> Self {
        let session = Session::default()
            .with_model(model.to_owned())
            .with_profile(profile.name.to_owned())
            .with_dialect(toolgraft::dialect::DialectSet::NONE);
        let recorder = watch.record(&inspector::question(body), session);
        let (tell, told) = mpsc::unbounded();
        let written = recorder.stream(&inspector::request(body), told.boxed());
        let decoder = Decoder::new("the endpoint".to_owned());
        PassthroughRecord {
            watch: watch.clone(),
            recorder,
            tell,
            written,
            decoder,
            begun: Vec::new(),
            is_stream: false,
        }
    }

    /// Records the fault because of which there is no answer.
    pub(crate) fn refused(&self, fault: &Fault) {
        self.recorder.notice("error", &fault.message);
    }

    /// Returns the same answer, which is recorded while it is sent to the client.
    pub(crate) fn follow(mut self, response: Response) -> Response {
        self.watch.answered(response.status().as_u16());
        let kind = response.headers().get("content-type").map(|kind| kind.as_bytes().to_vec());
        self.is_stream = kind.is_some_and(|kind| kind.starts_with(b"text/event-stream"));
        response.map(|body| {
            let pieces = body.into_data_stream().map(Some).chain(stream::once(async { None }));
            Body::from_stream(pieces.filter_map(move |piece| {
                match &piece {
                    Some(Ok(bytes)) => self.push(bytes),
                    // After an error the body is dropped and not asked for its end.
                    Some(Err(_)) | None => self.end(),
                }
                ready(piece)
            }))
        })
    }

    fn push(&mut self, bytes: &Bytes) {
        if self.begun.len() + bytes.len() > MAX_LINE {
            self.begun.clear();
            return;
        }
        self.begun.extend_from_slice(bytes);
        if self.is_stream
            && let Some(end) = memchr::memrchr(b'\n', &self.begun)
        {
            let rest = self.begun.split_off(end + 1);
            let lines = std::mem::replace(&mut self.begun, rest);
            lines.split(|byte| *byte == b'\n').for_each(|line| self.read(line));
            self.write();
        }
    }

    /// Decodes a line of a streamed answer, or a whole completion.
    fn read(&mut self, text: &[u8]) {
        let data = if self.is_stream { text.strip_prefix(b"data:").unwrap_or_default() } else { text };
        // `[DONE]` is not JSON.
        if let Ok(value) = serde_json::from_slice(data) {
            self.decoder.value(value, false);
        }
    }

    /// Records the end of the answer.
    fn end(&mut self) {
        let rest = std::mem::take(&mut self.begun);
        self.read(&rest);
        self.decoder.end();
        self.write();
    }

    /// Records the events decoded so far.
    fn write(&mut self) {
        while let Some(event) = self.decoder.pop() {
            let _ = self.tell.unbounded_send(event);
        }
        while let Some(Some(_)) = self.written.next().now_or_never() {}
    }
}
