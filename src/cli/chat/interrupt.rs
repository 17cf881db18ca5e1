//! Ctrl-C while a turn runs. At the prompt, the line editor reads it as a key.

use crate::cli::Failure;

#[cfg(unix)]
pub(super) struct Interrupts(tokio::signal::unix::Signal);

#[cfg(unix)]
impl Interrupts {
    pub(super) fn new() -> Result<Self, Failure> {
        let signal = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt());
        signal.map(Interrupts).map_err(|e| Failure::job(format!("cannot listen to Ctrl-C: {e}")))
    }

    /// Waits for the next one.
    pub(super) async fn next(&mut self) {
        if self.0.recv().await.is_none() {
            std::future::pending().await
        }
    }
}

#[cfg(not(unix))]
pub(super) struct Interrupts;

#[cfg(not(unix))]
impl Interrupts {
    pub(super) fn new() -> Result<Self, Failure> {
        Ok(Interrupts)
    }

    /// Waits for the next one.
    pub(super) async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}
