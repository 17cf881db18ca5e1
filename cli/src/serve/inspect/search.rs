//! The search in the requests that are kept.
//!
//! `call:NAME` and `rejected:NAME` are about calls; the words beside them are looked for as
//! they stand together, in whatever was asked, answered or said.

use crate::pages::doors;
use toolgraft::Call;
use toolgraft::event::Rejected;
use toolgraft::message::DeltaKind;
use toolgraft::transcript::{self, RecordedCall, Recording, Round};
use toolgraft_serve::Inspected;

/// The query in the address of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Query {
    /// As it was typed.
    pub(super) typed: String,
    /// The page is to be loaded again by itself.
    pub(super) is_live: bool,
    /// In small letters.
    text: String,
    calls: Vec<String>,
    rejected: Vec<String>,
}

impl Query {
    /// The query of a URL.
    pub(super) fn read(query: &str) -> Self {
        let typed = doors::value(Some(query), "q").unwrap_or_default().trim().to_owned();
        let is_live = form_urlencoded::parse(query.as_bytes()).any(|(name, value)| name == "live" && value == "1");
        let mut found = Query { is_live, ..Query::default() };
        let small = typed.to_lowercase();
        let mut words = Vec::new();
        for word in small.split_whitespace() {
            match word.split_once(':') {
                Some(("call", name)) => found.calls.push(name.to_owned()),
                Some(("rejected", name)) => found.rejected.push(name.to_owned()),
                _ => words.push(word),
            }
        }
        Query { text: words.join(" "), typed, ..found }
    }

    /// Returns `true` if this request matches; its recording is read only if needed.
    pub(super) fn matches(&self, about: &Inspected, recording: impl FnOnce() -> Option<String>) -> bool {
        let heads = [&about.title, &about.model].into_iter().chain(&about.fault);
        let in_head = self.text.is_empty() || heads.into_iter().any(|head| self.is_in(head));
        if in_head && self.calls.is_empty() && self.rejected.is_empty() {
            return true;
        }
        if !self.calls.is_empty() && about.calls == 0 || !self.rejected.is_empty() && about.rejections == 0 {
            return false;
        }
        let Some(recording) = recording().and_then(|text| transcript::parse(&text).ok()) else { return false };
        let has = |wanted: &[String], found: &[String]| {
            wanted.iter().all(|name| found.iter().any(|found| found.to_lowercase().contains(name.as_str())))
        };
        (in_head || self.is_said(&recording))
            && has(&self.calls, &calls(&recording))
            && has(&self.rejected, &rejections(&recording))
    }

    fn is_in(&self, text: &str) -> bool {
        text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ").contains(&self.text)
    }

    fn is_said(&self, recording: &Recording) -> bool {
        recording.rounds.iter().any(|round| texts(round).any(|text| self.is_in(&text)))
    }
}

/// Returns all texts of a round.
fn texts(round: &Round) -> impl Iterator<Item = String> + '_ {
    let said = [DeltaKind::Content, DeltaKind::Reasoning].into_iter().map(|kind| round.text(kind));
    let told = round.messages.iter().map(|message| message.shown().into_owned());
    let native = round.native_calls.iter().map(|call| format!("{} {}", call.name, call.arguments));
    let calls = round.calls.iter().map(|call| match &call.result {
        Ok(call) => format!("{} {}", call.tool, call.arguments),
        Err(rejected) => rejected.message.clone(),
    });
    let results = round.outcomes.iter().map(|outcome| outcome.outcome.text.clone());
    let notices = round.notices.iter().map(|notice| notice.text.clone());
    said.chain(told).chain(native).chain(calls).chain(results).chain(notices)
}

/// Names of the tools that were called.
fn calls(recording: &Recording) -> Vec<String> {
    let name = |call: &Call| call.server.iter().chain([&call.tool]).map(String::as_str).collect::<Vec<_>>().join(".");
    let found = recorded(recording).filter_map(|call| call.result.as_ref().ok()).map(name);
    let native = recording.rounds.iter().flat_map(|round| &round.native_calls).map(|call| call.name.clone());
    found.chain(native).collect()
}

/// Returns the kinds of the rejected calls, and their tools.
fn rejections(recording: &Recording) -> Vec<String> {
    let name = |rejected: &Rejected| [Some(rejected.kind.as_str().to_owned()), rejected.tool.clone()];
    recorded(recording).filter_map(|call| call.result.as_ref().err()).flat_map(name).flatten().collect()
}

fn recorded(recording: &Recording) -> impl Iterator<Item = &RecordedCall> {
    recording.rounds.iter().flat_map(|round| &round.calls)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_together_and_filters_beside_them() {
        let query = Query::read("q=++in+Call%3AWeather+OSLO+rejected%3A&live=1");
        assert_eq!(query.typed, "in Call:Weather OSLO rejected:");
        assert_eq!((query.text.as_str(), query.is_live), ("in oslo", true));
        assert_eq!((query.calls, query.rejected), (vec!["weather".to_owned()], vec![String::new()]));
        assert_eq!(Query::read(""), Query::default());
        assert_eq!(Query::read("q=http%3A//x").text, "http://x", "a word with a colon is a word");
    }
}
