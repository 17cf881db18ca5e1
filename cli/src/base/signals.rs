//! The signals that end the program: INT, TERM and HUP.
//!
//! They are heard by one set of listeners, from before a command starts its first
//! server until the last one has ended. What comes while nobody waits is kept, so
//! that no signal is lost between two waits.
//!
//! A job that reads INT itself, as a conversation does while the model speaks,
//! [takes](Signals::take_interrupts) it for that time; at any other time it ends
//! the program as the others do.

use futures::StreamExt;
use futures::future;
use futures::stream::{self, BoxStream};
use tokio::sync::watch;

use crate::base::Failure;

/// The signals that have been received.
#[derive(Debug, Default)]
struct Heard {
    /// Number of INT signals received.
    interrupts: u64,
    /// Number of INT signals that a job has handled.
    answered: u64,
    /// `true` while a job handles INT itself.
    taken: bool,
    /// The first of the signals that always end the program.
    end: Option<&'static str>,
    /// `true` while a job has something to clean up before the program ends.
    held: bool,
}

impl Heard {
    fn stop(&self) -> Option<&'static str> {
        let interrupted = !self.taken && self.interrupts > self.answered;
        self.end.filter(|_| !self.held).or(interrupted.then_some(INTERRUPT))
    }
}

#[cfg(unix)]
pub(crate) const INTERRUPT: &str = "SIGINT";
#[cfg(windows)]
pub(crate) const INTERRUPT: &str = "Ctrl-C";

/// The state of the signals that this process received since [`listen`](Signals::listen).
#[derive(Debug, Clone)]
pub(crate) struct Signals(watch::Sender<Heard>);

/// Returns the failure of a command that a signal stopped.
pub(crate) fn stopped(by: &str) -> Failure {
    match by {
        INTERRUPT => Failure::interrupted(by),
        by => Failure::job(format!("stopped by {by}")),
    }
}

/// Returns the result of a server process that a signal ended regularly: SIGINT also ends the process by that signal,
/// so that a shell's loop stops.
pub(crate) fn ended(by: &str) -> Result<(), Failure> {
    if by == INTERRUPT { Err(Failure::Interrupted(String::new())) } else { Ok(()) }
}

impl Signals {
    /// Installs the signal handlers, which exist as long as the current runtime.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let listeners = listeners().map_err(|e| Failure::job(format!("cannot listen to the system's signals: {e}")))?;
        let heard = watch::Sender::default();
        let signals = Signals(heard.clone());
        tokio::spawn(stream::select_all(listeners).for_each(move |name| {
            heard.send_modify(|heard| match name {
                INTERRUPT => heard.interrupts += 1,
                name => heard.end = heard.end.or(Some(name)),
            });
            future::ready(())
        }));
        Ok(signals)
    }

    /// Waits for a signal that ends the program, and returns its name; returns at once if one was already received.
    pub(crate) async fn stopped(&self) -> &'static str {
        let mut heard = self.0.subscribe();
        let found = heard.wait_for(|heard| heard.stop().is_some()).await;
        match found.ok().and_then(|heard| heard.stop()) {
            Some(name) => name,
            // This holds a sender, so there is always one.
            None => std::future::pending().await,
        }
    }

    /// Waits for a future; a signal cancels it with a failure.
    pub(crate) async fn or_stopped<T>(&self, job: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        tokio::select! {
            // A signal that has come wins over a job that ends at the same moment.
            biased;
            name = self.stopped() => Err(stopped(name)),
            done = job => done,
        }
    }

    /// Returns the name of the received signal that ends the program; `None` if there is none.
    pub(crate) fn stop(&self) -> Option<&'static str> {
        self.0.borrow().stop()
    }

    /// Discards the received signals, so that only later ones count.
    pub(crate) fn forget(&self) {
        self.0.send_modify(|heard| {
            heard.answered = heard.interrupts;
            heard.end = None;
        });
    }

    /// Postpones the end of the program by signals other than SIGINT until the guard is dropped. The job waits for them
    /// by the guard, cleans up, and drops it.
    pub(crate) fn hold(&self) -> Ending {
        self.0.send_modify(|heard| heard.held = true);
        Ending(self.clone())
    }

    /// Reserves SIGINT for the caller until the guard is dropped, including one that was received before and not
    /// handled.
    pub(crate) fn take_interrupts(&self) -> Interrupts {
        self.0.send_modify(|heard| heard.taken = true);
        Interrupts(self.clone())
    }
}

/// Guard that postpones the end of the program by a signal, while a job has to clean up.
#[derive(Debug)]
pub(crate) struct Ending(Signals);

impl Ending {
    /// Waits for a signal that ends the program; returns at once if one was already received.
    pub(crate) async fn begins(&self) {
        let mut heard = self.0.0.subscribe();
        if heard.wait_for(|heard| heard.end.is_some()).await.is_err() {
            std::future::pending().await
        }
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.0.send_modify(|heard| heard.held = false);
    }
}

/// Guard that reserves SIGINT for a job.
#[derive(Debug)]
pub(crate) struct Interrupts(Signals);

impl Interrupts {
    /// Waits for the next SIGINT.
    pub(crate) async fn next(&self) {
        let mut heard = self.0.0.subscribe();
        if heard.wait_for(|heard| heard.interrupts > heard.answered).await.is_err() {
            std::future::pending().await
        }
        self.0.0.send_modify(|heard| heard.answered = heard.interrupts);
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        // One that came in the job's last moment was meant for the job.
        self.0.0.send_modify(|heard| {
            heard.answered = heard.interrupts;
            heard.taken = false;
        });
    }
}

/// A stream that yields the name of a signal each time that signal is received.
type Listener = BoxStream<'static, &'static str>;

#[cfg(unix)]
fn listeners() -> std::io::Result<Vec<Listener>> {
    use tokio::signal::unix::{SignalKind, signal};
    let signals =
        [(SignalKind::interrupt(), INTERRUPT), (SignalKind::terminate(), "SIGTERM"), (SignalKind::hangup(), "SIGHUP")];
    let listeners = signals.into_iter().map(|(kind, name)| {
        let mut signal = signal(kind)?;
        Ok(stream::poll_fn(move |context| signal.poll_recv(context)).map(move |()| name).boxed())
    });
    listeners.collect()
}

#[cfg(windows)]
fn listeners() -> std::io::Result<Vec<Listener>> {
    use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown};
    let (mut by_c, mut by_break, mut close, mut shutdown) = (ctrl_c()?, ctrl_break()?, ctrl_close()?, ctrl_shutdown()?);
    Ok(vec![
        stream::poll_fn(move |context| by_c.poll_recv(context)).map(|()| INTERRUPT).boxed(),
        stream::poll_fn(move |context| by_break.poll_recv(context)).map(|()| "Ctrl-Break").boxed(),
        stream::poll_fn(move |context| close.poll_recv(context)).map(|()| "the end of the console").boxed(),
        stream::poll_fn(move |context| shutdown.poll_recv(context)).map(|()| "shutdown").boxed(),
    ])
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    fn interrupt(signals: &Signals) {
        signals.0.send_modify(|heard| heard.interrupts += 1);
    }

    #[test]
    fn a_signal_that_comes_while_nobody_waits_is_kept() {
        let signals = Signals(watch::Sender::default());
        assert_eq!((signals.stop(), signals.stopped().now_or_never()), (None, None));
        interrupt(&signals);
        assert_eq!((signals.stop(), signals.stopped().now_or_never()), (Some(INTERRUPT), Some(INTERRUPT)));
        signals.forget();
        assert_eq!(signals.stop(), None);
        signals.0.send_modify(|heard| heard.end = Some("SIGTERM"));
        assert_eq!(signals.stop(), Some("SIGTERM"));
    }

    #[test]
    fn a_job_gets_the_interrupts_that_it_has_taken_and_one_from_before() {
        let signals = Signals(watch::Sender::default());
        interrupt(&signals);
        let interrupts = signals.take_interrupts();
        assert_eq!(signals.stop(), None);
        assert!(interrupts.next().now_or_never().is_some());
        assert!(interrupts.next().now_or_never().is_none(), "each is heard once");
        interrupt(&signals);
        assert_eq!(signals.stop(), None);
        drop(interrupts);
        assert_eq!(signals.stop(), None, "the last one was the job's");
        interrupt(&signals);
        assert_eq!(signals.stop(), Some(INTERRUPT));
    }

    #[test]
    fn a_job_that_has_something_to_put_away_ends_after_it() {
        let signals = Signals(watch::Sender::default());
        let ending = signals.hold();
        assert!(ending.begins().now_or_never().is_none());
        signals.0.send_modify(|heard| heard.end = Some("SIGTERM"));
        assert!(ending.begins().now_or_never().is_some());
        assert_eq!((signals.stop(), signals.stopped().now_or_never()), (None, None));
        drop(ending);
        assert_eq!(signals.stopped().now_or_never(), Some("SIGTERM"));
    }

    #[test]
    fn the_other_signals_end_the_job_too() {
        let signals = Signals(watch::Sender::default());
        let _interrupts = signals.take_interrupts();
        signals.0.send_modify(|heard| heard.end = Some("SIGHUP"));
        assert_eq!(signals.stop(), Some("SIGHUP"));
    }
}
