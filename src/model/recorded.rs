//! Replays a recorded stream as a model.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Enumerator, Object, Serde, Value};
use minijinja::{Environment, UndefinedBehavior, context};

use super::{CallResult, Model, ModelError, ModelEvent, Request};
use crate::cause::Cause;
use crate::message::{Delta, DeltaKind, FinishReason};

/// A model that replays a recording, round by round, whatever the requests are.
///
/// With [`with_placeholders`](Recorded::with_placeholders) the recorded text may contain minijinja expressions over the
/// outcomes of the calls since the last message of the user, by index or by tool (its last call): `{{ results[0].text
/// }}`, `{{ results.weather_query.structured.temperature }}`. Each has `text`, `status`, `structured` and `arguments`.
/// A round whose text contains one is rendered as a whole and split again at the same places, in proportion.
#[derive(Debug)]
pub struct Recorded {
    rounds: Arc<[Round]>,
    next: AtomicUsize,
    speed: Option<f64>,
    placeholders: bool,
    requests: Mutex<Vec<Request>>,
}

/// One recorded answer.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Round {
    /// The pieces in the order in which they arrived.
    pub steps: Vec<Step>,
    /// The reason why the answer ended; `None` for one that broke off.
    pub finish: Option<FinishReason>,
}

/// A piece of a recorded answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// Time since the previous piece.
    pub wait: Duration,
    /// The piece.
    pub delta: Delta,
}

impl Round {
    /// Creates an answer that arrives at once and ends normally.
    pub fn new(deltas: impl IntoIterator<Item = Delta>) -> Self {
        let steps = deltas.into_iter().map(|delta| Step { wait: Duration::ZERO, delta }).collect();
        Round { steps, finish: Some(FinishReason::Stop) }
    }

    /// Creates an answer of one piece of content.
    pub fn text(text: impl Into<String>) -> Self {
        Round::new([Delta { kind: DeltaKind::Content, text: text.into() }])
    }

    /// Sets the reason why the answer ended; `None` for one that broke off.
    #[must_use]
    pub fn with_finish(mut self, finish: Option<FinishReason>) -> Self {
        self.finish = finish;
        self
    }
}

impl Recorded {
    /// Creates a model that replays these rounds, at once and verbatim.
    pub fn new(rounds: impl IntoIterator<Item = Round>) -> Self {
        Recorded {
            rounds: rounds.into_iter().collect(),
            next: AtomicUsize::new(0),
            speed: None,
            placeholders: false,
            requests: Mutex::new(Vec::new()),
        }
    }

    /// Waits between the pieces as recorded, divided by `speed`; 1 is the recorded pace. It needs a tokio runtime with
    /// time.
    #[must_use]
    pub fn with_speed(mut self, speed: f64) -> Self {
        self.speed = Some(speed).filter(|s| s.is_finite() && *s > 0.0);
        self
    }

    /// Fills in placeholders, as described for [`Recorded`]. Without this, text is verbatim.
    #[must_use]
    pub fn with_placeholders(mut self) -> Self {
        self.placeholders = true;
        self
    }

    /// Returns the requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.lock().clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Request>> {
        // A panic elsewhere cannot leave a half-pushed request.
        self.requests.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn answer(&self, request: &Request) -> Result<Round, ModelError> {
        let at = self.next.fetch_add(1, Ordering::Relaxed);
        let recorded = self.rounds.len();
        let round = self.rounds.get(at).ok_or(ModelError::RecordingEnded { recorded })?;
        if self.placeholders { filled(round, at + 1, &request.results) } else { Ok(round.clone()) }
    }
}

impl Model for Recorded {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let answer = self.answer(&request);
        self.lock().push(request);
        let speed = self.speed;
        match answer {
            Err(error) => stream::iter([Err(error)]).boxed(),
            Ok(round) => {
                let finish = round.finish.map(ModelEvent::Finish);
                let deltas = stream::iter(round.steps).then(move |step| async move {
                    if let Some(speed) = speed
                        && !step.wait.is_zero()
                    {
                        tokio::time::sleep(step.wait.div_f64(speed)).await;
                    }
                    ModelEvent::Delta(step.delta)
                });
                deltas.chain(stream::iter(finish)).map(Ok).boxed()
            }
        }
    }
}

/// Fills the placeholders of a round. Consecutive pieces of one channel are rendered together.
fn filled(round: &Round, number: usize, results: &[CallResult]) -> Result<Round, ModelError> {
    let mut steps = Vec::with_capacity(round.steps.len());
    for run in round.steps.chunk_by(|a, b| a.delta.kind == b.delta.kind) {
        let text: String = run.iter().map(|s| s.delta.text.as_str()).collect();
        if text.contains("{{") || text.contains("{%") {
            let rendered = render(&text, results).map_err(|e| ModelError::Placeholder {
                round: number,
                message: format!("{e:#}"),
                source: Cause::new(e),
            })?;
            recut(run, &rendered, &mut steps);
        } else {
            steps.extend_from_slice(run);
        }
    }
    Ok(Round { steps, finish: round.finish.clone() })
}

fn render(text: &str, results: &[CallResult]) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_syntax(SyntaxConfig::builder().keep_trailing_newline(true).build()?);
    let results = results.iter().map(|r| (r.tool.clone(), shown(r))).collect();
    environment.render_str(text, context! { results => Value::from_object(Results(results)) })
}

/// Splits `text` where the recorded pieces were split, in proportion to its characters.
fn recut(run: &[Step], text: &str, steps: &mut Vec<Step>) {
    let chars = |s: &str| s.chars().count();
    let (before, after) = (run.iter().map(|s| chars(&s.delta.text)).sum::<usize>(), chars(text));
    let mut rest = text.chars();
    let (mut seen, mut given) = (0, 0);
    for step in run {
        seen += chars(&step.delta.text);
        // The last step ends at `before`, so nothing is left over.
        let until = (seen * after).checked_div(before).unwrap_or(after);
        let text: String = rest.by_ref().take(until - given).collect();
        given = until;
        if !text.is_empty() {
            steps.push(Step { wait: step.wait, delta: Delta { kind: step.delta.kind, text } });
        }
    }
}

/// Returns the fields of a call for placeholders.
fn shown(result: &CallResult) -> Value {
    context! {
        id => result.id.as_str(),
        tool => result.tool.as_str(),
        arguments => Serde(&result.arguments),
        status => result.outcome.status.as_str(),
        text => result.outcome.text.as_str(),
        structured => result.outcome.structured.as_ref().map(Serde),
    }
}

/// Calls by index, or by tool (the last call of it).
#[derive(Debug)]
struct Results(Vec<(String, Value)>);

impl Object for Results {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        if let Some(tool) = key.as_str() {
            return self.0.iter().rev().find(|(name, _)| name == tool).map(|(_, value)| value.clone());
        }
        self.0.get(key.as_usize()?).map(|(_, value)| value.clone())
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::outcome::Outcome;

    fn content(text: &str) -> Delta {
        Delta { kind: DeltaKind::Content, text: text.into() }
    }

    fn weather() -> Request {
        let mut request = Request::new(Vec::new());
        for (id, degrees) in [("call_1", 18), ("call_2", 21)] {
            let outcome = Outcome { structured: Some(json!({ "temperature": degrees })), ..Outcome::result("fine") };
            let result =
                CallResult { id: id.into(), server: None, tool: "weather_query".into(), arguments: json!({}), outcome };
            request.results.push(result);
        }
        request
    }

    async fn said(model: &Recorded, request: Request) -> Result<Vec<String>, ModelError> {
        let events: Vec<_> = model.stream(request).collect().await;
        let mut pieces = Vec::new();
        for event in events {
            match event? {
                ModelEvent::Delta(delta) => pieces.push(delta.text),
                event => assert_eq!(event, ModelEvent::Finish(FinishReason::Stop)),
            }
        }
        Ok(pieces)
    }

    #[tokio::test]
    async fn rounds_come_in_order_and_one_more_is_an_error() {
        let model = Recorded::new([Round::new([content("a"), content("b")]), Round::text("{{ c }}")]);
        assert_eq!(said(&model, Request::default()).await.unwrap(), ["a", "b"]);
        assert_eq!(said(&model, Request::default()).await.unwrap(), ["{{ c }}"]);
        let error = said(&model, Request::default()).await.unwrap_err();
        assert_eq!(error, ModelError::RecordingEnded { recorded: 2 });
        assert_eq!(model.requests().len(), 3);
    }

    #[tokio::test]
    async fn placeholders_are_filled_by_place_and_by_tool() {
        let text = "{{ results[0].structured.temperature }} {{ results.weather_query.structured.temperature }} \
                    {{ results[1].text }} {{ results | length }}\n";
        let model = Recorded::new([Round::text(text)]).with_placeholders();
        assert_eq!(said(&model, weather()).await.unwrap(), ["18 21 fine 2\n"]);
    }

    #[tokio::test]
    async fn a_filled_round_is_cut_in_proportion_and_loses_nothing() {
        let deltas = ["It is {{ results[0].struct", "ured.temperature }}", " degrees", " 度。"].map(content);
        let model = Recorded::new([Round::new(deltas)]).with_placeholders();
        let pieces = said(&model, weather()).await.unwrap();
        assert_eq!(pieces.concat(), "It is 18 degrees 度。");
        assert_eq!(pieces.len(), 4);
    }

    #[tokio::test]
    async fn a_missing_result_is_an_error_that_names_the_round() {
        let model = Recorded::new([Round::text("{{ results.time_query.text }}")]).with_placeholders();
        let error = said(&model, weather()).await.unwrap_err();
        assert!(matches!(error, ModelError::Placeholder { round: 1, .. }), "{error}");
        assert!(std::error::Error::source(&error).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn the_recorded_pace_is_kept_and_divided() {
        let step = |wait| Step { wait: Duration::from_millis(wait), delta: content("x") };
        let round = Round { steps: vec![step(100), step(300)], finish: Some(FinishReason::Stop) };
        let model = Recorded::new([round]).with_speed(4.0);
        let start = tokio::time::Instant::now();
        said(&model, Request::default()).await.unwrap();
        assert_eq!(start.elapsed(), Duration::from_millis(100));
    }
}
