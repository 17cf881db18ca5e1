//! Deadlines of a server's start.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use crate::transport::stdio::ChildState;

/// The end of a wait for a server. If the server writes to standard error meanwhile (`npx` and
/// `uvx` may have to download first), the wait begins anew, but never extends beyond `last`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline<'a> {
    at: Instant,
    silence: Duration,
    last: Instant,
    child: Option<&'a ChildState>,
}

impl<'a> Deadline<'a> {
    /// Creates a deadline at this time, which no output extends.
    pub(super) fn at(at: Instant) -> Self {
        Deadline { at, silence: Duration::ZERO, last: at, child: None }
    }

    /// Creates a deadline `silence` from now, and again from each output of the child on standard error, but not beyond
    /// `last`.
    pub(super) fn after(silence: Duration, last: Instant, child: &'a ChildState) -> Self {
        Deadline { at: (Instant::now() + silence).min(last), silence, last, child: Some(child) }
    }

    /// Returns the time of the deadline, extended by the child's output so far.
    fn now(&self) -> Instant {
        let heard = self.child.and_then(|child| *child.heard.borrow());
        heard.map_or(self.at, |heard| (heard + self.silence).clamp(self.at, self.last))
    }

    /// Returns the time that remains until the deadline, zero if it has passed.
    pub(super) fn left(&self) -> Duration {
        self.now().saturating_duration_since(Instant::now())
    }

    /// Waits until the deadline has passed.
    pub(super) async fn passed(&self) {
        while !self.left().is_zero() {
            sleep_until(self.now()).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn output_extends_a_start_up_to_its_last_moment() {
        let (child, begun) = (ChildState::default(), Instant::now());
        let waited = |silence: u64, last: u64| {
            let (child, begun) = (child.clone(), begun);
            async move {
                let last = begun + Duration::from_secs(last);
                Deadline::after(Duration::from_secs(silence), last, &child).passed().await;
                begun.elapsed().as_secs()
            }
        };
        let talks = async {
            for _ in 0..8 {
                tokio::time::sleep(Duration::from_secs(20)).await;
                child.heard.send_replace(Some(Instant::now()));
            }
        };
        let (without_end, short, strict, ()) = tokio::join!(waited(30, 600), waited(30, 100), waited(30, 30), talks);
        assert_eq!((without_end, short, strict), (190, 100, 30));
    }
}
