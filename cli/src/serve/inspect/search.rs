//! Searches the stored requests for the words as one phrase, in
//! questions, answers, calls and texts.

use crate::pages::doors;
use toolgraft::message::DeltaKind;
use toolgraft::transcript::{self, Round};
use toolgraft_serve::Inspected;

/// The query string of an inspection page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Query {
    /// The query as typed.
    pub(super) typed: String,
    /// `true` if the page is to be reloaded automatically.
    pub(super) is_live: bool,
    /// The query in lower case, with normalized white space.
    text: String,
}

impl Query {
    /// Parses the query string of a URL.
    pub(super) fn read(query: &str) -> Self {
        let typed = doors::value(Some(query), "q").unwrap_or_default().trim().to_owned();
        let is_live = form_urlencoded::parse(query.as_bytes()).any(|(name, value)| name == "live" && value == "1");
        Query { text: small(&typed), typed, is_live }
    }

    /// Returns `true` if a request matches the query; its recording is read only if necessary.
    pub(super) fn matches(&self, about: &Inspected, recording: impl FnOnce() -> Option<String>) -> bool {
        let heads = [&about.title, &about.model].into_iter().chain(&about.fault);
        let is_in = |text: &str| small(text).contains(&self.text);
        self.text.is_empty()
            || heads.into_iter().any(|head| is_in(head))
            || recording()
                .and_then(|text| transcript::parse(&text).ok())
                .is_some_and(|recording| recording.rounds.iter().any(|round| texts(round).any(|text| is_in(&text))))
    }
}

/// Returns a text in lower case, with one space between words.
fn small(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns all texts of a round that can be searched: messages, answer, reasoning, calls, results and notices.
fn texts(round: &Round) -> impl Iterator<Item = String> + '_ {
    let said = [DeltaKind::Content, DeltaKind::Reasoning].into_iter().map(|kind| round.said(kind));
    let told = round.messages.iter().map(|message| message.shown().into_owned());
    let native = round.native_calls.iter().map(|call| format!("{} {}", call.name, call.arguments));
    let calls = round.calls.iter().map(|call| match &call.result {
        Ok(call) => format!("{} {}", call.tool, call.arguments),
        Err(rejected) => format!("{} {}", rejected.kind.as_str(), rejected.message),
    });
    let results = round.outcomes.iter().map(|outcome| outcome.outcome.text.clone());
    let notices = round.notices.iter().map(|notice| notice.text.clone());
    said.chain(told).chain(native).chain(calls).chain(results).chain(notices)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_together() {
        let query = Query::read("q=++in++OSLO&live=1");
        assert_eq!((query.typed.as_str(), query.text.as_str(), query.is_live), ("in  OSLO", "in oslo", true));
        assert_eq!(Query::read(""), Query::default());
        assert_eq!(Query::read("q=http%3A//x").text, "http://x");
    }
}
