//! A `tracing` subscriber that keeps all spans and events, and links them with those of other
//! programs.
//!
//! ```text
//! use toolgraft_testkit::spans;
//! let (spans, _guard) = spans::recorded();   // those of this thread, until the guard is dropped
//! spans.of("chat")[0].fields["gen_ai.request.model"]
//! ```
//!
//! The traceparent of the span with the id 7 ends in `-0000000000000007-01`.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

use toolgraft::spans::{Propagation, Span};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Dispatch, Event, Metadata, Subscriber};
use tracing_core::span::Current;

/// Version and trace id with which every recorded `traceparent` header begins.
pub const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736";

/// A recorded span or event of `tracing`.
#[derive(Debug, Clone, Default)]
pub struct Kept {
    /// Id of the span, counted from 1; 0 for an event.
    pub id: u64,
    /// Name of the span, or message of the event.
    pub name: String,
    /// Target of the span or event: `toolgraft` for those of the library.
    pub target: String,
    /// Id of the enclosing span, if there is one.
    pub parent: Option<u64>,
    /// Headers of the request by which another program continues its trace in the span.
    pub remote: Vec<(String, String)>,
    /// Values of the fields by name; the last recorded value counts.
    pub fields: BTreeMap<String, String>,
    handles: usize,
    metadata: Option<&'static Metadata<'static>>,
}

impl Kept {
    /// Returns `true` if there is no handle of the span any more.
    pub fn is_closed(&self) -> bool {
        self.handles == 0
    }

    /// Returns the `traceparent` header for this span.
    pub fn traceparent(&self) -> String {
        format!("{TRACE}-{:016x}-01", self.id)
    }

    /// Returns the value of a field of the span or event; empty if it is missing.
    pub fn field(&self, name: &str) -> &str {
        self.fields.get(name).map(String::as_str).unwrap_or_default()
    }
}

#[derive(Default)]
struct State {
    spans: Vec<Kept>,
    events: Vec<Kept>,
    entered: Vec<u64>,
}

/// All recorded spans and events of a thread.
#[derive(Clone, Default)]
pub struct Spans(Arc<Mutex<State>>);

/// Enables all `tracing` spans of the process, for test programs in which some tests enable none. Must be called
/// before them, since a disabled call site may stay disabled.
pub fn wanted() {
    tracing::subscriber::set_global_default(Spans::default()).unwrap();
}

/// Records the spans and events of this thread until the returned guard is dropped.
pub fn recorded() -> (Spans, DefaultGuard) {
    // The first test of the process sets this for all.
    toolgraft::spans::propagate(Joined);
    let spans = Spans::default();
    (spans.clone(), tracing::subscriber::set_default(spans))
}

impl Spans {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// Returns the library's spans of this name, in order.
    pub fn of(&self, name: &str) -> Vec<Kept> {
        self.lock().spans.iter().filter(|s| s.target == "toolgraft" && s.name == name).cloned().collect()
    }

    /// Returns the library's events with this message.
    pub fn events(&self, message: &str) -> Vec<Kept> {
        self.lock().events.iter().filter(|e| e.target == "toolgraft" && e.name == message).cloned().collect()
    }

    /// Returns the debug output of all recorded spans and events of the library.
    pub fn text(&self) -> String {
        let state = self.lock();
        let own = |kept: &&Kept| kept.target == "toolgraft";
        let all: Vec<_> = state.spans.iter().filter(own).chain(state.events.iter().filter(own)).collect();
        format!("{all:#?}")
    }
}

struct Fields<'a>(&'a mut BTreeMap<String, String>);

impl Visit for Fields<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }
}

impl Subscriber for Spans {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut state = self.lock();
        let id = state.spans.len() as u64 + 1;
        let parent = attributes.parent().map(Id::into_u64);
        let parent = parent.or_else(|| state.entered.last().copied().filter(|_| attributes.is_contextual()));
        let metadata = attributes.metadata();
        let (name, target) = (metadata.name().to_owned(), metadata.target().to_owned());
        let mut kept = Kept { id, name, target, parent, handles: 1, metadata: Some(metadata), ..Kept::default() };
        attributes.record(&mut Fields(&mut kept.fields));
        state.spans.push(kept);
        Id::from_u64(id)
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        values.record(&mut Fields(&mut self.lock().spans[id.into_u64() as usize - 1].fields));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut state = self.lock();
        let parent = event.parent().map(Id::into_u64).or_else(|| state.entered.last().copied());
        let mut kept = Kept { target: event.metadata().target().to_owned(), parent, ..Kept::default() };
        event.record(&mut Fields(&mut kept.fields));
        kept.name = kept.fields.remove("message").unwrap_or_default();
        state.events.push(kept);
    }

    fn enter(&self, id: &Id) {
        self.lock().entered.push(id.into_u64());
    }

    fn exit(&self, id: &Id) {
        let mut state = self.lock();
        let at = state.entered.iter().rposition(|entered| *entered == id.into_u64());
        at.map(|at| state.entered.remove(at));
    }

    fn current_span(&self) -> Current {
        let state = self.lock();
        let kept = state.entered.last().map(|id| &state.spans[*id as usize - 1]);
        match kept.and_then(|kept| Some((kept.id, kept.metadata?))) {
            Some((id, metadata)) => Current::new(Id::from_u64(id), metadata),
            None => Current::none(),
        }
    }

    fn clone_span(&self, id: &Id) -> Id {
        self.lock().spans[id.into_u64() as usize - 1].handles += 1;
        id.clone()
    }

    fn try_close(&self, id: Id) -> bool {
        let mut state = self.lock();
        let kept = &mut state.spans[id.into_u64() as usize - 1];
        kept.handles -= 1;
        kept.handles == 0
    }
}

/// Links the recorded spans with those of other programs, by their headers.
struct Joined;

impl Joined {
    fn with(span: &Span, with: impl FnOnce(&mut Kept)) {
        span.with_subscriber(|(id, dispatch): (&Id, &Dispatch)| {
            if let Some(spans) = dispatch.downcast_ref::<Spans>() {
                with(&mut spans.lock().spans[id.into_u64() as usize - 1]);
            }
        });
    }
}

impl Propagation for Joined {
    fn inject(&self, span: &Span) -> Vec<(String, String)> {
        let mut headers = Vec::new();
        Joined::with(span, |kept| headers.push(("traceparent".to_owned(), kept.traceparent())));
        headers
    }

    fn extract(&self, span: &Span, headers: &[(String, String)]) {
        Joined::with(span, |kept| kept.remote = headers.to_vec());
    }
}
