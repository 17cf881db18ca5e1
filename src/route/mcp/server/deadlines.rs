//! When requests are given up.
//!
//! One task watches over all requests of a connection. A timer for each would cost more
//! than the rest of our part in a call: to set one wakes the thread that waits for input.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::ProgressToken;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// The requests of a connection that wait for their answers.
#[derive(Default)]
pub(super) struct Deadlines {
    requests: Mutex<Requests>,
    /// Told when one ends before the next look.
    sooner: Notify,
}

#[derive(Default)]
struct Requests {
    waiting: HashMap<ProgressToken, Waiting>,
    /// When the next look is taken; `None` where nothing waits.
    look: Option<Instant>,
    /// No answer will come any more.
    gone: bool,
}

struct Waiting {
    /// Progress gives it so much time anew, but not beyond `last`.
    limit: Duration,
    last: Instant,
    deadline: Instant,
    over: Arc<Notify>,
}

impl Deadlines {
    /// Adds a request that began at `started` and ends after `limit`, or after `most` in
    /// all if progress is reported. What is returned is told when its time is over or the
    /// connection is gone.
    pub(super) fn add(
        &self,
        token: ProgressToken,
        started: Instant,
        (limit, most): (Duration, Duration),
    ) -> Arc<Notify> {
        let (deadline, over) = (started + limit, Arc::<Notify>::default());
        let waiting = Waiting { limit, last: started + most.max(limit), deadline, over: over.clone() };
        let mut requests = self.requests();
        if requests.gone {
            over.notify_one();
        }
        requests.waiting.insert(token, waiting);
        if requests.look.is_none_or(|look| deadline < look) {
            requests.look = Some(deadline);
            self.sooner.notify_one();
        }
        over
    }

    /// The server has reported progress.
    pub(super) fn progressed(&self, token: &ProgressToken) {
        if let Some(waiting) = self.requests().waiting.get_mut(token) {
            waiting.deadline = (Instant::now() + waiting.limit).min(waiting.last);
        }
    }

    /// Forgets a request; its deadline, as it was at the end.
    pub(super) fn remove(&self, token: &ProgressToken) -> Option<Instant> {
        self.requests().waiting.remove(token).map(|waiting| waiting.deadline)
    }

    /// Watches until the connection is gone.
    pub(super) async fn watch(&self, gone: &CancellationToken) {
        loop {
            let next = self.look();
            tokio::select! {
                () = gone.cancelled() => break,
                () = self.sooner.notified() => {}
                () = sleep_until(next.unwrap_or_else(Instant::now)), if next.is_some() => {}
            }
        }
        let mut requests = self.requests();
        requests.gone = true;
        requests.waiting.values().for_each(|waiting| waiting.over.notify_one());
    }

    /// Tells those whose time is over; when the next one's will be.
    fn look(&self) -> Option<Instant> {
        let now = Instant::now();
        let mut requests = self.requests();
        let (over, waiting): (Vec<_>, Vec<_>) = requests.waiting.values().partition(|one| one.deadline <= now);
        over.iter().for_each(|one| one.over.notify_one());
        let next = waiting.iter().map(|one| one.deadline).min();
        requests.look = next;
        next
    }

    fn requests(&self) -> MutexGuard<'_, Requests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::NumberOrString;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn token(number: i64) -> ProgressToken {
        ProgressToken(NumberOrString::Number(number))
    }

    /// Deadlines with their watch.
    fn watched() -> (Arc<Deadlines>, CancellationToken) {
        let (deadlines, gone) = (Arc::<Deadlines>::default(), CancellationToken::new());
        let (watching, until) = (deadlines.clone(), gone.clone());
        tokio::spawn(async move { watching.watch(&until).await });
        (deadlines, gone)
    }

    #[tokio::test(start_paused = true)]
    async fn each_ends_in_its_own_time() {
        let (deadlines, _gone) = watched();
        let start = Instant::now();
        let late = deadlines.add(token(1), start, (3 * SECOND, SECOND));
        // Not before the watch sleeps for the late one.
        tokio::time::sleep(SECOND).await;
        let soon = deadlines.add(token(2), Instant::now(), (SECOND, SECOND));
        soon.notified().await;
        assert_eq!(start.elapsed().as_secs(), 2);
        late.notified().await;
        assert_eq!(start.elapsed().as_secs(), 3);
        assert_eq!(deadlines.remove(&token(1)), Some(start + 3 * SECOND));
        assert_eq!(deadlines.remove(&token(1)), None);
    }

    #[tokio::test(start_paused = true)]
    async fn progress_starts_the_time_anew_up_to_the_most() {
        let (deadlines, _gone) = watched();
        let start = Instant::now();
        let over = deadlines.add(token(1), start, (2 * SECOND, 4 * SECOND));
        for _ in 0..3 {
            tokio::time::sleep(SECOND).await;
            deadlines.progressed(&token(1));
        }
        deadlines.progressed(&token(2));
        over.notified().await;
        assert_eq!((start.elapsed().as_secs(), deadlines.remove(&token(1))), (4, Some(start + 4 * SECOND)));
    }

    #[tokio::test(start_paused = true)]
    async fn all_are_told_that_the_connection_is_gone() {
        let (deadlines, gone) = watched();
        let start = Instant::now();
        let before = deadlines.add(token(1), start, (SECOND, SECOND));
        gone.cancel();
        before.notified().await;
        deadlines.add(token(2), start, (SECOND, SECOND)).notified().await;
        assert_eq!(start.elapsed(), Duration::ZERO);
    }
}
