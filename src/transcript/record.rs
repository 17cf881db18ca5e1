//! Writes a recording while a model and its agent work.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, ready};
use std::time::Instant;

use futures::stream::{self, StreamExt};
use serde::Serialize;

use super::{Finish, RecordedCall, RecordedNotice, RecordedOutcome, Sent, Session, TimedDelta, Writer};
use crate::message::{Delta, DeltaKind, FinishReason, Message};
use crate::model::{ModelError, ModelEvent, ModelEvents, Request};
use crate::outcome::Outcome;
use crate::secrets::{Hider, Secrets};
use crate::tools::Catalog;

/// Recorder of one conversation, which writes each line as soon as it happens.
///
/// It records the [stream](Recorder::stream) of a model: the request, the events of the answer with their times, and
/// its end. The calls and outcomes of the agent are added by `Run::recorded`, or by the methods below. Clones write to
/// the same recording.
///
/// If a line cannot be written, the program goes on, later lines are omitted, and [`error`](Recorder::error) returns
/// the reason. Secrets are redacted, even if they are split between the pieces of a stream.
#[derive(Clone)]
pub struct Recorder {
    state: Arc<Mutex<RecorderState>>,
}

struct RecorderState {
    writer: LineWriter,
    secrets: Secrets,
    began: Instant,
    /// The messages of the last request, of which the next request repeats most.
    messages: Vec<Message>,
    catalog: Option<Catalog>,
    /// Number of the answer that is being written; pieces of an earlier answer are ignored.
    answer: u64,
    open: Option<OpenRound>,
    /// Lines about the answer that must be written after its end.
    after_answer: Vec<LineTask>,
    failed: Option<Arc<io::Error>>,
}

/// The answer that is being recorded.
struct OpenRound {
    sent: Instant,
    hider: Hider<(DeltaKind, u64)>,
    /// The field of the stream that the last piece came from.
    channel: Option<DeltaKind>,
}

type LineWriter = Writer<Box<dyn io::Write + Send>>;

/// Function that writes one line.
type LineTask = Box<dyn FnOnce(&mut LineWriter) -> io::Result<()> + Send>;

impl Recorder {
    /// Begins a recording and writes the `session` line at once. `to` should not be buffered, or a crash loses lines.
    pub fn new(to: impl io::Write + Send + 'static, session: &Session) -> Self {
        Recorder::with_secrets(to, session, Secrets::default())
    }

    /// Begins a recording as [`new`](Recorder::new) does, in which these secrets are redacted.
    pub fn with_secrets(to: impl io::Write + Send + 'static, session: &Session, secrets: Secrets) -> Self {
        let to: Box<dyn io::Write + Send> = Box::new(to);
        let (writer, failed) = Writer::begin(to, session, secrets.clone());
        let state = RecorderState {
            writer,
            secrets,
            began: Instant::now(),
            messages: Vec::new(),
            catalog: None,
            answer: 0,
            open: None,
            after_answer: Vec::new(),
            failed: failed.err().map(Arc::new),
        };
        Recorder { state: Arc::new(Mutex::new(state)) }
    }

    /// Records a request to a model and the events of its answer; returns these events unchanged.
    pub fn stream(&self, request: &Request, mut answer: ModelEvents) -> ModelEvents {
        let number = self.state().request(request);
        let mut recorded = RecordedStream { recorder: self.clone(), number, over: false };
        stream::poll_fn(move |context| {
            let event = ready!(answer.poll_next_unpin(context));
            recorded.saw(event.as_ref());
            Poll::Ready(event)
        })
        .boxed()
    }

    /// Records the tools that are offered from this point on, if they have changed.
    pub fn tools(&self, catalog: &Catalog) {
        self.state().tools(catalog);
    }

    /// Records a call or rejected call that was found in the answer.
    pub fn call(&self, call: RecordedCall) {
        self.state().after_answer(move |to| to.call(&call));
    }

    /// Records the outcome of a call.
    pub fn outcome(&self, id: &str, outcome: &Outcome) {
        let mut state = self.state();
        let outcome = RecordedOutcome { id: id.to_owned(), outcome: outcome.clone(), at: Some(state.now()) };
        state.after_answer(move |to| to.write("outcome", &outcome));
    }

    /// Records a notice, that is a message to the user or model besides answer and outcomes; `kind` is a word such as
    /// `correction`, `error` or `stopped`.
    pub fn notice(&self, kind: &str, text: &str) {
        self.state().notice(kind, text);
    }

    /// Returns the error of the first line that could not be written, `None` if the recording is complete.
    pub fn error(&self) -> Option<Arc<io::Error>> {
        self.state().failed.clone()
    }

    fn state(&self) -> MutexGuard<'_, RecorderState> {
        // A panic elsewhere cannot leave half a line: each is one write.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

crate::message::opaque_debug!(Recorder);

impl RecorderState {
    fn now(&self) -> u64 {
        millis(self.began)
    }

    fn write(&mut self, line: impl FnOnce(&mut LineWriter) -> io::Result<()>) {
        if self.failed.is_none()
            && let Err(error) = line(&mut self.writer)
        {
            self.failed = Some(Arc::new(error));
        }
    }

    fn tools(&mut self, catalog: &Catalog) {
        if self.catalog.as_ref().is_none_or(|known| known.servers() != catalog.servers()) {
            self.catalog = Some(catalog.clone());
            self.write(|to| to.tools(catalog.servers()));
        }
    }

    /// Writes the lines of a request and returns the number of its answer.
    fn request(&mut self, request: &Request) -> u64 {
        self.finish(&FinishReason::Other("cancelled".to_owned()));
        // A history is sent whole each time, and is recorded as the difference to the last one.
        let (kept, dropped) = common(&self.messages, &request.messages);
        let stays = kept + dropped.map_or(0, |dropped| self.messages.len() - kept - dropped);
        let all = kept == self.messages.len();
        let sent = Sent {
            at: Some(self.now()),
            model: request.model.clone(),
            kept: (!all).then_some(kept),
            dropped: if all { None } else { dropped },
            temperature: request.temperature,
            max_tokens: request.max_tokens,
            stop: request.stop.clone(),
            native: !request.tools.is_empty(),
        };
        self.write(|to| to.write("request", &sent));
        for message in &request.messages[stays..] {
            self.write(|to| to.write("message", message));
        }
        self.messages.clone_from(&request.messages);
        self.open = Some(OpenRound { sent: Instant::now(), hider: Hider::new(self.secrets.clone()), channel: None });
        self.answer += 1;
        self.answer
    }

    fn delta(&mut self, delta: &Delta) {
        let Some(open) = &mut self.open else { return };
        let ms = millis(open.sent);
        // The channels are read one after the other: at a change, the text of the other one is complete.
        let is_same = open.channel.replace(delta.kind) == Some(delta.kind);
        let mut ready = if is_same { Vec::new() } else { open.hider.rest() };
        ready.extend(open.hider.push((delta.kind, ms), delta.text.as_bytes()));
        self.deltas(ready);
    }

    fn deltas(&mut self, pieces: Vec<((DeltaKind, u64), Vec<u8>)>) {
        for ((kind, ms), text) in pieces {
            let delta = TimedDelta { kind, text: String::from_utf8_lossy(&text).into_owned(), ms: Some(ms) };
            self.write(|to| to.write("delta", &delta));
        }
    }

    /// Writes the text of the current answer that was buffered because it may begin a secret.
    fn release(&mut self) {
        let Some(open) = &mut self.open else { return };
        let rest = open.hider.rest();
        self.deltas(rest);
    }

    /// Writes a line of the current answer that is not text, after the buffered text.
    fn part(&mut self, kind: &'static str, part: &impl Serialize) {
        self.release();
        self.write(|to| to.write(kind, part));
    }

    /// Writes the end of the current answer, if there is one, and the lines that follow it.
    fn finish(&mut self, reason: &FinishReason) {
        self.release();
        let Some(open) = self.open.take() else { return };
        let finish = Finish { reason: reason.clone(), ms: Some(millis(open.sent)) };
        self.write(|to| to.write("finish", &finish));
        for line in std::mem::take(&mut self.after_answer) {
            self.write(line);
        }
    }

    fn notice(&mut self, kind: &str, text: &str) {
        let notice = RecordedNotice { kind: kind.to_owned(), text: text.to_owned(), at: Some(self.now()) };
        self.after_answer(move |to| to.write("notice", &notice));
    }

    fn after_answer(&mut self, line: impl FnOnce(&mut LineWriter) -> io::Result<()> + Send + 'static) {
        if self.open.is_some() { self.after_answer.push(Box::new(line)) } else { self.write(line) }
    }
}

fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// Returns the number of messages with which both requests begin, and the number of messages after them that the new
/// request lacks, if the rest of the old request follows in it; `None` if the rest does not follow.
fn common(old: &[Message], new: &[Message]) -> (usize, Option<usize>) {
    let kept = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[kept..], &new[kept..]);
    (kept, (1..old.len()).find(|gone| new.starts_with(&old[*gone..])))
}

/// The stream of an answer that is recorded while its events are passed on.
struct RecordedStream {
    recorder: Recorder,
    number: u64,
    over: bool,
}

impl RecordedStream {
    fn saw(&mut self, event: Option<&Result<ModelEvent, ModelError>>) {
        let mut state = self.recorder.state();
        if self.over || state.answer != self.number {
            return;
        }
        let broken = || FinishReason::Other("broken off".to_owned());
        match event {
            Some(Ok(ModelEvent::Delta(delta))) => state.delta(delta),
            Some(Ok(ModelEvent::Call(call))) => state.part("native_call", call),
            Some(Ok(ModelEvent::Usage(usage))) => state.part("usage", usage),
            Some(Ok(ModelEvent::Finish(reason))) => state.finish(reason),
            // A replay needs no other events.
            Some(Ok(_)) => {}
            Some(Err(error)) => {
                state.notice("error", &error.to_string());
                state.finish(&broken());
            }
            None => state.finish(&broken()),
        }
        self.over = ModelEvent::is_last(event);
    }
}

impl Drop for RecordedStream {
    fn drop(&mut self) {
        let mut state = self.recorder.state();
        if !self.over && state.answer == self.number {
            state.finish(&FinishReason::Other("cancelled".to_owned()));
        }
    }
}
