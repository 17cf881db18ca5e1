//! One conversation of the page: what is said, its turn, and what it was kept as.

use std::sync::{Arc, Mutex};

use futures::StreamExt;
use serde_json::{Value, json};
use tokio::sync::{Mutex as Held, OwnedMutexGuard, mpsc};
use tokio_util::sync::CancellationToken;

use super::common::{Common, Refusal};
use super::person::AtPage;
use crate::base::{Failure, lock, written::Written};
use crate::chat::{Attached, Talk};
use crate::front::Frontend;
use crate::labels;
use crate::servers::starting::{self, StartingServers};
use crate::sessions::{
    Kept,
    said::{Line, words},
};
use crate::view::{Step, history, pictures_of};
use toolgraft::agent::{Run, StopReason};
use toolgraft::conversation::HistoryEntry;
use toolgraft::transcript::{self, Recorder, Recording};
use toolgraft::{AgentEvent, Conversation};
use toolgraft_mcp::Hub;

/// A conversation of the page.
pub(super) struct Chat {
    /// Id of the conversation, by which the command line names it if it is stored.
    pub(super) id: String,
    /// The conversation; a running turn holds the lock.
    talk: Arc<Held<Talk>>,
    pub(super) person: AtPage,
    /// Cancels the running turn; `None` if there is none.
    cancel: Mutex<Option<CancellationToken>>,
    /// Recorder of the turns with their times and its output; `None` if the conversation was not begun in this run.
    recorded: Mutex<Option<(Recorder, Written)>>,
    /// JSON step with the model, its endpoint and profile, the title and the system text.
    about: Mutex<Value>,
    note: Option<String>,
    /// The hub, if servers were still starting when the conversation was opened; `None` after the first turn waited.
    early: Mutex<Option<Arc<Hub>>>,
}

impl Chat {
    pub(super) fn new((id, talk, note): (String, Talk, Option<String>), person: AtPage, common: &Common) -> Self {
        person.settle(history(&talk.conversation), &Value::Null);
        talk.conversation.entries().iter().for_each(|entry| keep_pictures(&person, entry));
        let is_new = talk.conversation.entries().is_empty();
        let recorded = is_new.then(|| {
            let written = Written::default();
            (talk.recorder(written.clone(), &common.secrets), written)
        });
        Chat {
            id,
            about: Mutex::new(about(&talk)),
            talk: Arc::new(Held::new(talk)),
            person,
            cancel: Mutex::default(),
            recorded: Mutex::new(recorded),
            note,
            early: Mutex::new(starting::goes_on(&common.hub).then(|| common.hub.clone())),
        }
    }

    /// Returns `true` if a turn is running or a browser window shows the conversation.
    pub(super) fn is_in_use(&self) -> bool {
        lock(&self.cancel).is_some() || self.person.is_there()
    }

    /// Returns the page with the windows that show the running turn; `None` if there is no turn or no window.
    pub(super) fn window(&self) -> Option<AtPage> {
        (lock(&self.cancel).is_some() && self.person.is_there()).then(|| self.person.clone())
    }

    /// Returns the state of the conversation as one JSON step, and a receiver of the steps that follow.
    pub(super) fn look(&self) -> (Value, mpsc::Receiver<String>) {
        // In this order: the end of a turn that ends meanwhile is told, too.
        let (steps, told) = self.person.look();
        (self.state(&steps), told)
    }

    fn state(&self, steps: &[Step]) -> Value {
        let about = lock(&self.about).clone();
        let is_busy = lock(&self.cancel).is_some();
        let steps: Vec<Value> = steps.iter().map(Step::for_page).collect();
        json!({
            "step": "state", "chat": self.id, "busy": is_busy, "steps": steps, "note": self.note, "model": about["model"],
            "about": about["about"], "title": about["title"], "system": about["system"],
        })
    }

    /// Sends a message with files to the model and starts its turn in a task. With `at`, the message replaces the
    /// question of that index, counted from 0, and everything after it.
    pub(super) fn ask(self: &Arc<Self>, line: Line, files: Attached, at: Option<usize>) -> Result<(), Refusal> {
        let Line { said, typed, .. } = line;
        self.begin_turn((at.is_none(), typed), |talk| {
            talk.attach(files);
            if at.is_some() { talk.say_anew(at, Some(said)) } else { talk.say(said) }
        })
    }

    /// Sends the last question again; the messages after it are removed.
    pub(super) fn retry(self: &Arc<Self>) -> Result<(), Refusal> {
        self.begin_turn((false, String::new()), |talk| talk.say_anew(None, None))
    }

    /// Adds a question to the conversation with `say` and starts its turn in a task. The resources that the `typed`
    /// text mentions are sent with it.
    fn begin_turn(
        self: &Arc<Self>,
        (is_new, typed): (bool, String),
        say: impl FnOnce(&mut Talk) -> Result<Conversation, Failure>,
    ) -> Result<(), Refusal> {
        let mut talk = self.idle()?;
        let before = say(&mut talk).map_err(Refusal::wrong)?;
        let stop = CancellationToken::new();
        *lock(&self.cancel) = Some(stop.clone());
        let last = talk.conversation.entries().last();
        last.iter().for_each(|entry| keep_pictures(&self.person, entry));
        match last {
            Some(HistoryEntry::User(said)) if is_new => self.person.tell(Step::user(said)),
            _ => self.show(&talk),
        }
        tokio::spawn(self.clone().turn(talk, (before, typed), stop));
        Ok(())
    }

    /// Removes a question, counted from 0, or the last one, with everything after it. Returns its text.
    pub(super) fn take_back(&self, at: Option<usize>) -> Result<String, Refusal> {
        let mut talk = self.idle()?;
        let said = talk.take_back(at).map_err(Refusal::wrong)?;
        self.show(&talk);
        Ok(words(&said.text))
    }

    /// Sets the title of the conversation; an empty one restores the default, its first question.
    pub(super) fn rename(&self, title: &str) -> Result<(), Refusal> {
        let mut talk = self.idle()?;
        talk.rename(title);
        self.tell_about(&talk);
        Ok(())
    }

    /// Sets a setting as `/set` does, also for new conversations.
    pub(super) fn set(&self, key: &str, value: &str, common: &Common) -> Result<(), Refusal> {
        let mut talk = self.idle()?;
        talk.set(key, value).map_err(Refusal::wrong)?;
        lock(&common.args).settings.take(key, &talk.args.settings);
        self.tell_about(&talk);
        Ok(())
    }

    /// Deletes the conversation from the store; all windows close it.
    pub(super) fn forget(&self) -> Result<(), Refusal> {
        self.idle()?.forget()?;
        self.person.announce(&json!({"step": "gone"}));
        Ok(())
    }

    /// Sends the current state of the conversation to all windows.
    fn show(&self, talk: &Talk) {
        let steps = history(&talk.conversation);
        let state = self.state(&steps);
        self.person.settle(steps, &state);
    }

    /// Sends the model, its endpoint, the title and the system text to all windows.
    fn tell_about(&self, talk: &Talk) {
        let about = about(talk);
        self.person.announce(&about);
        *lock(&self.about) = about;
    }

    /// Locks the conversation; an error while a turn is running.
    fn idle(&self) -> Result<OwnedMutexGuard<Talk>, Refusal> {
        self.talk.clone().try_lock_owned().map_err(|_| Refusal::busy())
    }

    /// Prepares a turn and starts it; `stop` cancels the preparation and the turn.
    async fn begin(&self, talk: &mut Talk, typed: &str, stop: CancellationToken) -> Result<Run, Failure> {
        tokio::select! {
            biased;
            () = stop.cancelled() => return Err(Failure::job(labels::stopped(&StopReason::Cancelled))),
            ready = self.prepare(talk, typed) => ready?,
        }
        let run = talk.begin(lock(&self.recorded).as_ref().map(|(recorder, _)| recorder))?;
        let cancel = run.cancellation();
        *lock(&self.cancel) = Some(cancel.clone());
        // It may have been stopped before there was a run to cancel.
        if stop.is_cancelled() {
            cancel.cancel();
        }
        Ok(run)
    }

    /// Waits for the servers that are still starting, and adds the resources that the `typed` text mentions.
    async fn prepare(&self, talk: &mut Talk, typed: &str) -> Result<(), Failure> {
        let early = lock(&self.early).clone();
        if let Some(hub) = early {
            tokio::select! {
                () = hub.settled() => {}
                () = self.show_start(&hub) => {}
            }
            talk.servers_are_there()?;
            *lock(&self.early) = None;
        }
        if talk.add_mentioned(typed).await? {
            self.show(talk);
        }
        Ok(())
    }

    /// Shows the progress of starting servers in all windows; never returns.
    async fn show_start(&self, hub: &Hub) {
        let (mut servers, mut events) = (StartingServers::default(), hub.states());
        while let Some(event) = events.next().await {
            servers.take(event);
            self.person.tell(Step::wait(&servers.text().unwrap_or_default()));
        }
        std::future::pending().await
    }

    /// Switches the conversation, and new ones, to another model, named as for `--model`, and sends it to all windows.
    pub(super) async fn change_model(&self, name: &str, common: &Common) -> Result<(), Refusal> {
        let mut talk = self.idle()?;
        let before = talk.endpoint.clone();
        let other = common.home.other(name, false).map_err(Refusal::wrong)?.learned().await;
        talk.talk_to(other).map_err(Refusal::wrong)?;
        if !talk.endpoint.is_where(&before) {
            // The recorder does not know the key of this one.
            *lock(&self.recorded) = None;
        }
        *lock(&common.endpoint) = talk.endpoint.clone();
        self.tell_about(&talk);
        Ok(())
    }

    /// Cancels the running turn, if there is one.
    pub(super) fn stop(&self) {
        if let Some(cancel) = &*lock(&self.cancel) {
            cancel.cancel();
        }
    }

    /// Waits until no turn is running.
    pub(super) async fn until_idle(&self) {
        drop(self.talk.lock().await);
    }

    /// Returns the recording of the turns with their times; `None` if there is none, since the conversation was not
    /// begun in this run, went to another endpoint or became too long.
    pub(super) fn recording(&self) -> Option<Recording> {
        let recorded = lock(&self.recorded);
        let (recorder, written) = recorded.as_ref()?;
        let text = written.text();
        let mut recording = transcript::parse(&text).ok().filter(|_| recorder.error().is_none())?;
        // A turn that goes on has no end yet.
        recording.cut = None;
        (!recording.rounds.is_empty()).then_some(recording)
    }

    /// Returns the conversation as it would be stored now; `None` during a turn.
    pub(super) fn kept(&self) -> Option<Kept> {
        let kept = self.talk.try_lock().ok()?.kept().ok()?;
        Some(Kept { id: self.id.clone(), ..kept })
    }

    async fn turn(
        self: Arc<Self>,
        mut talk: OwnedMutexGuard<Talk>,
        (before, typed): (Conversation, String),
        stop: CancellationToken,
    ) {
        let last = match self.begin(&mut talk, &typed, stop).await {
            Ok(run) => self.follow(run, &mut talk, before).await,
            Err(failure) => {
                talk.go_back(before);
                Step::end(Some(failure.message()), true)
            }
        };
        *lock(&self.cancel) = None;
        if matches!(last, Step::End { again: true, .. }) {
            self.show(&talk);
        }
        let said = history(&talk.conversation);
        // Whoever is told so may ask the next question at once.
        drop(talk);
        self.person.settle(said, &last.for_page());
    }

    /// Sends the steps of a turn to all windows and applies its result to the conversation. Returns the last step.
    async fn follow(&self, mut run: Run, talk: &mut Talk, before: Conversation) -> Step {
        while let Some(event) = run.next().await {
            if let AgentEvent::Finished(finished) = event {
                let is_taken = talk.end(&finished, before);
                talk.write_kept();
                let stopped = (finished.reason != StopReason::Answered).then(|| labels::stopped(&finished.reason));
                return Step::end(stopped.as_deref(), !is_taken);
            }
            // No window is a reason to stop.
            let _ = self.person.event(event);
        }
        // There is always a last event, unless the program is at fault.
        talk.go_back(before);
        Step::end(Some("the turn ended without a last event"), true)
    }
}

/// Returns the JSON step with the model, endpoint and profile, title and system text of a conversation.
fn about(talk: &Talk) -> Value {
    let (model, about) = talk.model_and_place();
    json!({"step": "model", "model": model, "about": about, "title": talk.title, "system": talk.args.settings.system})
}

fn keep_pictures(person: &AtPage, entry: &HistoryEntry) {
    match entry {
        HistoryEntry::Outcome { id, outcome } => person.keep_pictures(id, outcome.images().collect()),
        HistoryEntry::User(said) if !said.images.is_empty() => {
            person.keep_pictures(&pictures_of(said), said.images.clone());
        }
        _ => {}
    }
}
