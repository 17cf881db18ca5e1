//! Replays a recorded stream as a model.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::{self, BoxStream};

use super::{Round, TimedDelta};
use crate::message::Delta;
use crate::model::{Model, ModelError, ModelEvent, Request};

/// A model that replays the texts of recorded rounds, one after another, whatever the requests are.
#[derive(Debug)]
pub struct Recorded {
    rounds: Arc<[Round]>,
    next: AtomicUsize,
    speed: Option<f64>,
    requests: Mutex<Vec<Request>>,
}

impl Recorded {
    /// Creates a model that replays these rounds without waiting.
    pub fn new(rounds: impl IntoIterator<Item = Round>) -> Self {
        Recorded {
            rounds: rounds.into_iter().collect(),
            next: AtomicUsize::new(0),
            speed: None,
            requests: Mutex::new(Vec::new()),
        }
    }

    /// Sets the speed of the replay: the waits between pieces are those of the recording divided by `speed`, so 1 is
    /// the recorded speed. The model then needs a tokio runtime with time.
    #[must_use]
    pub fn with_speed(mut self, speed: f64) -> Self {
        self.speed = Some(speed).filter(|s| s.is_finite() && *s > 0.0);
        self
    }

    /// Returns the requests that the model has received so far.
    pub fn requests(&self) -> Vec<Request> {
        self.lock().clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Request>> {
        // A panic elsewhere cannot leave a half-pushed request.
        self.requests.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Model for Recorded {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        self.lock().push(request);
        let Some(round) = self.rounds.get(self.next.fetch_add(1, Ordering::Relaxed)).cloned() else {
            return stream::iter([Err(ModelError::RecordingEnded { recorded: self.rounds.len() })]).boxed();
        };
        let (speed, mut last) = (self.speed, 0);
        let pieces = stream::iter(round.deltas).then(move |TimedDelta { kind, text, ms }| {
            let ms = ms.unwrap_or(last);
            let wait = Duration::from_millis(ms.saturating_sub(last));
            last = last.max(ms);
            async move {
                if let Some(speed) = speed
                    && !wait.is_zero()
                {
                    tokio::time::sleep(wait.div_f64(speed)).await;
                }
                ModelEvent::Delta(Delta { kind, text })
            }
        });
        let finish = round.finish.map(|finish| ModelEvent::Finish(finish.reason));
        pieces.chain(stream::iter(finish)).map(Ok).boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::FinishReason;

    async fn said(model: &Recorded) -> Result<Vec<String>, ModelError> {
        let events: Vec<_> = model.stream(Request::default()).collect().await;
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
        let model = Recorded::new([Round::new(["a", "b"].map(Delta::content)), Round::text("{{ c }}")]);
        assert_eq!(said(&model).await.unwrap(), ["a", "b"]);
        assert_eq!(said(&model).await.unwrap(), ["{{ c }}"]);
        assert_eq!(said(&model).await.unwrap_err(), ModelError::RecordingEnded { recorded: 2 });
        assert_eq!(model.requests().len(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn the_recorded_pace_is_kept_and_divided() {
        let lines = [
            r#"{"type":"session","toolgraft":1}"#,
            r#"{"type":"message","role":"user","content":"Hi"}"#,
            r#"{"type":"delta","kind":"content","text":"a","ms":100}"#,
            r#"{"type":"delta","kind":"content","text":"b","ms":130}"#,
            r#"{"type":"finish","reason":"stop","ms":131}"#,
            r#"{"type":"delta","kind":"content","text":"c"}"#,
        ];
        let rounds = crate::transcript::parse(&lines.join("\n")).unwrap().rounds;
        assert_eq!(rounds[1], Round { finish: None, ..Round::text("c") });
        for (speed, took) in [(1.0, 130), (2.0, 65)] {
            let model = Recorded::new(rounds.clone()).with_speed(speed);
            let start = tokio::time::Instant::now();
            assert_eq!(said(&model).await.unwrap(), ["a", "b"]);
            assert_eq!(said(&model).await.unwrap(), ["c"]);
            assert_eq!(start.elapsed(), Duration::from_millis(took));
        }
    }
}
