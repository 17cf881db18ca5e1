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
    /// Its name on the command line, if it is kept.
    pub(super) id: String,
    /// Held by the turn that goes on.
    talk: Arc<Held<Talk>>,
    pub(super) person: AtPage,
    /// Cancels the turn that goes on.
    cancel: Mutex<Option<CancellationToken>>,
    /// Its turns with their times, where it was begun here.
    recorded: Mutex<Option<(Recorder, Written)>>,
    /// The fields of a step with the model, its endpoint and profile, the title and the system text.
    about: Mutex<Value>,
    note: Option<String>,
    /// The hub, if some of its servers were still starting when this was begun.
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

    /// Returns `true` if a turn goes on, or a window shows it.
    pub(super) fn is_in_use(&self) -> bool {
        lock(&self.cancel).is_some() || self.person.is_there()
    }

    /// Returns the windows that show the turn that goes on; `None` if none does, or there is no window.
    pub(super) fn window(&self) -> Option<AtPage> {
        (lock(&self.cancel).is_some() && self.person.is_there()).then(|| self.person.clone())
    }

    /// Returns its state as one step, and the steps that follow.
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

    /// Says something to the model, with these files; its turn goes on by itself. It takes the place of the question
    /// `at`, counted from 0, and of all that followed, where one is named.
    pub(super) fn ask(self: &Arc<Self>, line: Line, files: Attached, at: Option<usize>) -> Result<(), Refusal> {
        let Line { said, typed, .. } = line;
        self.begin_turn((at.is_none(), typed), |talk| {
            talk.attach(files);
            if at.is_some() { talk.say_anew(at, Some(said)) } else { talk.say(said) }
        })
    }

    /// Asks the last question once more.
    pub(super) fn retry(self: &Arc<Self>) -> Result<(), Refusal> {
        self.begin_turn((false, String::new()), |talk| talk.say_anew(None, None))
    }

    /// Begins a turn of what is said; the resources that the `typed` words name go with it.
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

    /// Gives it a title; an empty one takes it back.
    pub(super) fn rename(&self, title: &str) -> Result<(), Refusal> {
        let mut talk = self.idle()?;
        talk.rename(title);
        self.tell_about(&talk);
        Ok(())
    }

    /// Sets a key as `/set` does; new conversations begin with it.
    pub(super) fn set(&self, key: &str, value: &str, common: &Common) -> Result<(), Refusal> {
        let mut talk = self.idle()?;
        talk.set(key, value).map_err(Refusal::wrong)?;
        lock(&common.args).settings.take(key, &talk.args.settings);
        self.tell_about(&talk);
        Ok(())
    }

    /// Deletes it where it is kept; all windows leave it.
    pub(super) fn forget(&self) -> Result<(), Refusal> {
        self.idle()?.forget()?;
        self.person.announce(&json!({"step": "gone"}));
        Ok(())
    }

    /// Shows all windows the conversation as it is.
    fn show(&self, talk: &Talk) {
        let steps = history(&talk.conversation);
        let state = self.state(&steps);
        self.person.settle(steps, &state);
    }

    /// Tells all windows the model and the other settings as they are.
    fn tell_about(&self, talk: &Talk) {
        let about = about(talk);
        self.person.announce(&about);
        *lock(&self.about) = about;
    }

    /// Returns the conversation, unless a turn goes on.
    fn idle(&self) -> Result<OwnedMutexGuard<Talk>, Refusal> {
        self.talk.clone().try_lock_owned().map_err(|_| Refusal::busy())
    }

    /// Begins a turn, once it has what it needs; [`stop`](Self::stop) stops the turn from now on, too.
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

    /// Waits for the servers that are still being started, and reads the resources that the words name.
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

    /// Tells all windows what servers write while they are started, for ever.
    async fn show_start(&self, hub: &Hub) {
        let (mut servers, mut events) = (StartingServers::default(), hub.states());
        while let Some(event) = events.next().await {
            servers.take(event);
            self.person.tell(Step::wait(&servers.text().unwrap_or_default()));
        }
        std::future::pending().await
    }

    /// Talks to another model from now on, by a name as `--model` takes it, as new conversations do
    /// then; all windows are told.
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

    /// Stops the turn that goes on.
    pub(super) fn stop(&self) {
        if let Some(cancel) = &*lock(&self.cancel) {
            cancel.cancel();
        }
    }

    /// Waits until no turn goes on.
    pub(super) async fn until_idle(&self) {
        drop(self.talk.lock().await);
    }

    /// Returns its turns as they were recorded, whole and with their times; `None` where it was begun
    /// elsewhere or has become too long.
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

    /// Tells all windows the steps of a turn, and takes over its end; returns the last step.
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

/// Returns the step with the model, its endpoint and profile, the title and the system text of a conversation.
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
