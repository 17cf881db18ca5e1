//! When a start is given up.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use crate::transport::stdio::ChildState;

/// The end of a wait for a server. One that writes to standard error meanwhile (`npx` and `uvx` may
/// have to download first) is waited for anew from then on, but not beyond `last`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline<'a> {
    at: Instant,
    silence: Duration,
    last: Instant,
    child: Option<&'a ChildState>,
}

impl<'a> Deadline<'a> {
    /// This moment, whatever comes.
    pub(super) fn at(at: Instant) -> Self {
        Deadline { at, silence: Duration::ZERO, last: at, child: None }
    }

    /// So much time from now on and after each output of the child, but not beyond `last`.
    pub(super) fn after(silence: Duration, last: Instant, child: &'a ChildState) -> Self {
        Deadline { at: (Instant::now() + silence).min(last), silence, last, child: Some(child) }
    }

    /// The moment, by what has been heard so far.
    fn now(&self) -> Instant {
        let heard = self.child.and_then(ChildState::last_heard);
        heard.map_or(self.at, |heard| (heard + self.silence).clamp(self.at, self.last))
    }

    /// The time that is left.
    pub(super) fn left(&self) -> Duration {
        self.now().saturating_duration_since(Instant::now())
    }

    /// Waits for it.
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
                child.hear();
            }
        };
        let (without_end, short, strict, ()) = tokio::join!(waited(30, 600), waited(30, 100), waited(30, 30), talks);
        assert_eq!((without_end, short, strict), (190, 100, 30));
    }
}
