//! What takes long, away from the threads that serve: other requests are answered meanwhile.

use std::sync::Arc;

use tokio::sync::Semaphore;

use super::fault::Fault;
use toolgraft::spans::Span;

/// Bytes of a body from which on it is read elsewhere: below, that takes less than a millisecond, and
/// each handing over takes some of it.
pub(super) const LARGE_BODY: usize = 64 << 10;

/// The same where its tools are new, whose schemas are compiled.
pub(super) const LARGE_WITH_NEW_TOOLS: usize = 16 << 10;

/// Threads for that: as many as there are processors. More would only hold more at once.
#[derive(Clone)]
pub(super) struct Work(Arc<Semaphore>);

impl Default for Work {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Work(Arc::new(Semaphore::new(threads)))
    }
}

impl Work {
    /// What the job gives, once a thread was free for it.
    ///
    /// # Errors
    /// The job broke.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        span: Span,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Fault> {
        // It is never closed.
        let place = self.0.clone().acquire_owned().await.ok();
        let done = tokio::task::spawn_blocking(move || {
            let _place = place;
            span.in_scope(job)
        });
        done.await.map_err(|_| Fault::broken())
    }
}
