//! Deadlines of requests.
//!
//! One task watches all requests of a connection. A timer for each would cost more than the rest of
//! our part in a call, since setting one wakes the thread that waits for input. rmcp has such timers, and cannot stop
//! them while a user is asked.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::ProgressToken;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::count::Count;

/// The deadlines of a connection's requests that wait for their responses.
#[derive(Default)]
pub(super) struct Deadlines {
    requests: Mutex<Requests>,
    /// Signal that wakes the watching task when a deadline is earlier than its next check, and when the clock resumes.
    sooner: Notify,
    /// Number of calls in progress, during which the server may ask for input.
    pub(super) calls: Count,
}

#[derive(Default)]
struct Requests {
    waiting: HashMap<ProgressToken, Waiting>,
    clock: Clock,
    /// Time of the next check of the deadlines, by the clock; `None` if no request waits.
    look: Option<Instant>,
    /// `true` once the connection is gone, so that no response can arrive any more.
    gone: bool,
}

/// The deadline of a request that waits for its response. All times are by the [`Clock`].
struct Waiting {
    /// Time from each progress report to the new deadline, which is never later than `last`.
    limit: Duration,
    started: Instant,
    last: Instant,
    deadline: Instant,
    over: Arc<Notify>,
}

/// A clock of deadlines that is paused while the user is asked for input.
#[derive(Default)]
struct Clock {
    /// Number of questions that the user is being asked; the clock is paused while it is above zero.
    stopped: usize,
    /// Start of the clock's current pause; `None` while the clock runs.
    since: Option<Instant>,
    /// Total length of the clock's earlier pauses.
    paused: Duration,
}

impl Clock {
    /// Converts the machine's `time` to the time of this clock.
    fn at(&self, time: Instant) -> Instant {
        let time = self.since.map_or(time, |since| since.min(time));
        time.checked_sub(self.paused).unwrap_or(time)
    }

    fn now(&self) -> Instant {
        self.at(Instant::now())
    }
}

/// Guard that pauses the clock of deadlines until it is dropped.
pub(super) struct ClockPause<'d>(&'d Deadlines);

impl Deadlines {
    /// Adds the deadline of a request that began at `started`: after `limit`, or after `most` in all if progress is
    /// reported. The returned handle is notified when the deadline has passed or the connection is gone.
    pub(super) fn add(
        &self,
        token: ProgressToken,
        started: Instant,
        (limit, most): (Duration, Duration),
    ) -> Arc<Notify> {
        let mut requests = self.requests();
        let started = requests.clock.at(started);
        let (deadline, over) = (started + limit, Arc::<Notify>::default());
        let waiting = Waiting { limit, started, last: started + most.max(limit), deadline, over: over.clone() };
        // The watch has ended, and notifies nobody any more.
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

    /// Extends the deadline of a request, because the server has reported progress.
    pub(super) fn progressed(&self, token: &ProgressToken) {
        let mut requests = self.requests();
        let now = requests.clock.now();
        if let Some(waiting) = requests.waiting.get_mut(token) {
            waiting.deadline = (now + waiting.limit).min(waiting.last);
        }
    }

    /// Removes a request's deadline, and returns the time from the request's start to it, with all extensions; `None`
    /// if it is unknown.
    pub(super) fn remove(&self, token: &ProgressToken) -> Option<Duration> {
        self.requests().waiting.remove(token).map(|waiting| waiting.deadline - waiting.started)
    }

    /// Pauses the clock of all deadlines until the returned guard is dropped.
    pub(super) fn stand_still(&self) -> ClockPause<'_> {
        let clock = &mut self.requests().clock;
        clock.stopped += 1;
        clock.since.get_or_insert_with(Instant::now);
        ClockPause(self)
    }

    /// Notifies each request at its deadline, until the connection is gone; then notifies all that still wait.
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

    /// Notifies the requests whose deadline has passed. Returns the next deadline; `None` if there is none or the clock
    /// is paused.
    fn look(&self) -> Option<Instant> {
        let mut requests = self.requests();
        let now = requests.clock.now();
        let (over, waiting): (Vec<_>, Vec<_>) = requests.waiting.values().partition(|one| one.deadline <= now);
        over.iter().for_each(|one| one.over.notify_one());
        let next = waiting.iter().map(|one| one.deadline).min();
        requests.look = next;
        next.map(|next| next + requests.clock.paused).filter(|_| requests.clock.since.is_none())
    }

    fn requests(&self) -> MutexGuard<'_, Requests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ClockPause<'_> {
    fn drop(&mut self) {
        let clock = &mut self.0.requests().clock;
        clock.stopped -= 1;
        if clock.stopped == 0 {
            clock.paused += clock.since.take().map(|since| since.elapsed()).unwrap_or_default();
            self.0.sooner.notify_one();
        }
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

    /// Returns deadlines that a spawned task watches.
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
        // The watch must already sleep for the late deadline.
        tokio::time::sleep(SECOND).await;
        let soon = deadlines.add(token(2), Instant::now(), (SECOND, SECOND));
        soon.notified().await;
        assert_eq!(start.elapsed().as_secs(), 2);
        late.notified().await;
        assert_eq!(start.elapsed().as_secs(), 3);
        assert_eq!(deadlines.remove(&token(1)), Some(3 * SECOND));
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
        assert_eq!((start.elapsed().as_secs(), deadlines.remove(&token(1))), (4, Some(4 * SECOND)));
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_stands_still_while_somebody_is_asked() {
        let (deadlines, _gone) = watched();
        let start = Instant::now();
        let before = deadlines.add(token(1), start, (2 * SECOND, 5 * SECOND));
        tokio::time::sleep(SECOND).await;
        let first = deadlines.stand_still();
        tokio::time::sleep(SECOND).await;
        let second = deadlines.stand_still();
        let meanwhile = deadlines.add(token(2), Instant::now(), (3 * SECOND, SECOND));
        drop(first);
        tokio::time::sleep(100 * SECOND).await;
        deadlines.progressed(&token(1));
        drop(second);
        before.notified().await;
        assert_eq!(start.elapsed().as_secs(), 1 + 101 + 2, "progress gave it its time anew");
        meanwhile.notified().await;
        assert_eq!(start.elapsed().as_secs(), 1 + 101 + 3);
        assert_eq!(deadlines.remove(&token(1)), Some(3 * SECOND));
        assert_eq!(deadlines.remove(&token(2)), Some(3 * SECOND));
    }

    #[tokio::test(start_paused = true)]
    async fn it_is_idle_when_the_last_call_has_ended() {
        let (deadlines, _gone) = watched();
        assert!(deadlines.calls.is_none());
        let calls = (deadlines.calls.add(), deadlines.calls.add());
        let mut idle = std::pin::pin!(deadlines.calls.none());
        drop(calls.0);
        assert!(futures::poll!(idle.as_mut()).is_pending() && !deadlines.calls.is_none());
        drop(calls.1);
        idle.await;
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
