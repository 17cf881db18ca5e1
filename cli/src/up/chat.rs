//! One conversation of the page: what is said, its turn, and what it was kept as.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::SystemTime;

use futures::StreamExt;
use serde_json::{Value, json};
use tokio::sync::{Mutex as Held, OwnedMutexGuard, mpsc};
use tokio_util::sync::CancellationToken;

use super::common::{Begun, Common};
use super::person::AtPage;
use super::told::{self, Teller, all_said};
use crate::base::{Failure, lock, written::Written};
use crate::chat::{Answer, Existing, Line, Talk};
use crate::labels;
use crate::screen::visible::clean;
use crate::servers::starting::{self, StartingServers};
use crate::sessions::Kept;
use toolgraft::agent::{Run, StopReason};
use toolgraft::conversation::Entry;
use toolgraft::message::Image;
use toolgraft::transcript::{self, Recorder, Recording};
use toolgraft::{AgentEvent, Conversation};
use toolgraft_mcp::Hub;

/// Why nothing can be said now.
pub(super) enum Refused {
    /// A turn goes on.
    Busy,
    /// What is wrong, in a sentence.
    Wrong(String),
}

/// A conversation of the page.
pub(super) struct Chat {
    id: String,
    /// Held by the turn that goes on.
    talk: Arc<Held<Talk>>,
    person: AtPage,
    /// Cancels the turn that goes on.
    cancel: Mutex<Option<CancellationToken>>,
    /// Its turns with their times, where it was begun here.
    recorded: Mutex<Option<(Recorder, Written)>>,
    /// The model, and its endpoint and profile.
    about: Mutex<(String, String)>,
    note: Option<String>,
    existing: Existing,
    /// The hub, if some of its servers were still starting when this was begun.
    early: Mutex<Option<Arc<Hub>>>,
}

impl Chat {
    pub(super) fn new(begun: Begun, person: AtPage, common: &Common) -> Self {
        let Begun { id, talk, note } = begun;
        person.settle(all_said(talk.conversation()), &Value::Null);
        for entry in talk.conversation().entries() {
            if let Entry::Outcome { id, outcome } = entry {
                person.keep_pictures(id, outcome);
            }
        }
        let is_new = talk.conversation().entries().is_empty();
        let recorded = is_new.then(|| {
            let written = Written::default();
            (talk.recorder(written.clone(), &common.secrets), written)
        });
        Chat {
            id,
            about: Mutex::new(talk.model_and_place()),
            talk: Arc::new(Held::new(talk)),
            person,
            cancel: Mutex::default(),
            recorded: Mutex::new(recorded),
            note,
            existing: common.existing.clone(),
            early: Mutex::new(starting::goes_on(&common.hub).then(|| common.hub.clone())),
        }
    }

    /// What it is called on the command line, where it is kept.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// Whether a turn goes on, or somebody looks at it.
    pub(super) fn is_in_use(&self) -> bool {
        self.cancel().is_some() || self.person.is_there()
    }

    /// Where the person sees the turn that goes on; `None` where none does, or nobody looks.
    pub(super) fn window(&self) -> Option<AtPage> {
        (self.cancel().is_some() && self.person.is_there()).then(|| self.person.clone())
    }

    /// How it is now, as one step, and the steps that follow.
    pub(super) fn look(&self) -> (Value, mpsc::Receiver<String>) {
        let is_busy = self.cancel().is_some();
        let (steps, told) = self.person.look();
        let (model, about) = lock(&self.about).clone();
        let state = json!({
            "step": "state", "chat": self.id, "model": model, "about": about, "busy": is_busy, "steps": steps, "note": self.note,
        });
        (state, told)
    }

    /// Says something to the model, in which these texts were pasted; its turn goes on by itself.
    pub(super) fn ask(self: &Arc<Self>, question: &str, pasted: Vec<String>) -> Result<(), Refused> {
        let mut talk = self.talk.clone().try_lock_owned().map_err(|_| Refused::Busy)?;
        let wrong = |failure: Failure| Refused::Wrong(failure.message().to_owned());
        let before = talk.say(Line::of(question, pasted).said).map_err(wrong)?;
        let early = lock(&self.early).clone();
        if let Some(hub) = early.filter(|hub| starting::goes_on(hub)) {
            let stop = CancellationToken::new();
            *self.cancel() = Some(stop.clone());
            self.person.tell(told::user(question));
            tokio::spawn(self.clone().turn_after_start(talk, before, (hub, stop)));
            return Ok(());
        }
        let run = match self.begin(&mut talk) {
            Ok(run) => run,
            Err(failure) => {
                talk.go_back(before);
                return Err(wrong(failure));
            }
        };
        self.person.tell(told::user(question));
        tokio::spawn(self.clone().turn(talk, run, before));
        Ok(())
    }

    /// A turn, which is stopped by [`stop`](Self::stop) from now on.
    fn begin(&self, talk: &mut Talk) -> Result<Run, Failure> {
        if lock(&self.early).is_some() {
            talk.servers_are_there()?;
            *lock(&self.early) = None;
        }
        let run = talk.begin(lock(&self.recorded).as_ref().map(|(recorder, _)| recorder))?;
        let cancel = run.cancellation();
        talk.approvals().begin(cancel.clone());
        *self.cancel() = Some(cancel);
        Ok(run)
    }

    /// A turn that waits for the servers that are still being started; whoever looks sees what they
    /// write meanwhile.
    async fn turn_after_start(
        self: Arc<Self>,
        mut talk: OwnedMutexGuard<Talk>,
        before: Conversation,
        (hub, stop): (Arc<Hub>, CancellationToken),
    ) {
        let shown = async {
            let (mut servers, mut events) = (StartingServers::default(), hub.states());
            while let Some(event) = events.next().await {
                servers.take(event);
                self.person.tell(told::wait(servers.text().unwrap_or_default()));
            }
            std::future::pending::<()>().await;
        };
        let is_stopped = tokio::select! {
            biased;
            () = stop.cancelled() => true,
            () = hub.settled() => false,
            () = shown => false,
        };
        let begun = match is_stopped {
            true => Err(labels::stopped(&StopReason::Cancelled)),
            false => self.begin(&mut talk).map_err(|failure| failure.message().to_owned()),
        };
        match begun {
            Ok(run) => self.turn(talk, run, before).await,
            Err(why) => {
                talk.go_back(before);
                *self.cancel() = None;
                let said = all_said(talk.conversation());
                drop(talk);
                self.person.settle(said, &json!({"step": "end", "stopped": clean(&why), "again": true}));
            }
        }
    }

    /// Talks to another model from now on, by a name as `--model` takes it, as new conversations do
    /// then; all windows are told.
    pub(super) async fn change_model(&self, name: &str, common: &Common) -> Result<(), Refused> {
        let mut talk = self.talk.clone().try_lock_owned().map_err(|_| Refused::Busy)?;
        let before = talk.endpoint().clone();
        let wrong = |failure: Failure| Refused::Wrong(failure.message().to_owned());
        let other = common.home.other(name, false).await.map_err(wrong)?;
        talk.talk_to(other).map_err(wrong)?;
        if !talk.endpoint().is_where(&before) {
            // The recorder does not know the key of this one.
            *lock(&self.recorded) = None;
        }
        common.begin_with(talk.endpoint());
        let (model, about) = talk.model_and_place();
        self.person.announce(&json!({"step": "model", "model": model, "about": about}));
        *lock(&self.about) = (model, about);
        Ok(())
    }

    /// Answers the question about a call of a tool with this definition; whether there was one.
    pub(super) fn answer(&self, asked: (&str, &str), answer: Answer) -> bool {
        self.person.answer(asked, answer)
    }

    /// A picture of a call's result, counted from 0.
    pub(super) fn picture(&self, call: &str, n: usize) -> Option<Image> {
        self.person.picture(call, n)
    }

    /// Stops the turn that goes on.
    pub(super) fn stop(&self) {
        if let Some(cancel) = &*self.cancel() {
            cancel.cancel();
        }
    }

    /// Waits until no turn goes on.
    pub(super) async fn until_idle(&self) {
        drop(self.talk.lock().await);
    }

    /// Its turns as they were recorded, whole and with their times; `None` where it was begun
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

    /// As it would be kept now; `None` while a turn goes on.
    pub(super) fn kept(&self) -> Option<Kept> {
        let saved = self.talk.try_lock().ok()?.saved().ok()?;
        Some(Kept { id: self.id.clone(), used: SystemTime::now(), saved })
    }

    async fn turn(self: Arc<Self>, mut talk: OwnedMutexGuard<Talk>, mut run: Run, before: Conversation) {
        let mut teller = Teller::new(&self.existing);
        let mut finished = None;
        while let Some(event) = run.next().await {
            if let AgentEvent::Outcome { id, outcome } = &event {
                self.person.keep_pictures(id, outcome);
            }
            teller.take(&event).into_iter().for_each(|step| self.person.tell(step));
            if let AgentEvent::Finished(last) = event {
                finished = Some(last);
            }
        }
        let last = match finished {
            Some(finished) => {
                talk.end(&finished, before);
                let was_taken = finished.conversation.entries().len() > talk.conversation().entries().len();
                teller.last(&finished, was_taken)
            }
            // There is always a last event, unless the program is at fault.
            None => {
                talk.go_back(before);
                json!({"step": "end", "stopped": "the turn ended without a last event", "again": true})
            }
        };
        talk.write_kept();
        *self.cancel() = None;
        let said = all_said(talk.conversation());
        // Whoever is told so may ask the next question at once.
        drop(talk);
        self.person.settle(said, &last);
    }

    fn cancel(&self) -> MutexGuard<'_, Option<CancellationToken>> {
        lock(&self.cancel)
    }
}
