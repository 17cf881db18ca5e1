//! The user at the terminal: a question in a line, below the box that shows the call.

use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;

use super::{Answer, Person, Question};
use crate::base::{lock, output};
use crate::dialog::ask::{Asker, Choice};
use crate::screen::{CALL, Frame, boxes, room};
use crate::terminal::{columns, grouped, shortened};

/// Most columns of the arguments in a question; the box above has all of them.
const ARGUMENTS: usize = 60;

/// Fewest columns of them, however long the tool's name is.
const LEAST_ARGUMENTS: usize = 16;

/// The box of a call that the last rows of the screen show: what is in it. Clones are of the same screen.
#[derive(Clone, Default)]
pub(in crate::chat) struct LastBox(Arc<Mutex<Option<ShownCall>>>);

/// A call in a box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::chat) struct ShownCall {
    pub(in crate::chat) name: String,
    /// The text of the box, as far as it is there.
    pub(in crate::chat) body: String,
}

impl LastBox {
    /// The screen ends with this box, or with something else.
    pub(in crate::chat) fn set(&self, shown: Option<ShownCall>) {
        *lock(&self.0) = shown;
    }

    fn is(&self, shown: &ShownCall) -> bool {
        lock(&self.0).as_ref() == Some(shown)
    }
}

/// The user at the terminal.
pub(in crate::chat) struct AtTerminal {
    pub(in crate::chat) asker: Asker,
    pub(in crate::chat) above: LastBox,
}

impl Person for AtTerminal {
    fn room(&self) -> (usize, usize) {
        room()
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Option<Answer>> {
        Box::pin(self.answer(question))
    }
}

impl AtTerminal {
    /// Asks until there is an answer; `None` for Ctrl-C.
    async fn answer(&self, asked: &Question) -> Option<Answer> {
        let shown = ShownCall { name: asked.name.clone(), body: asked.body.shown() };
        // A box of another call, or one with other text after it, is not what the question is about.
        if !self.above.is(&shown) {
            output::tell_stderr(boxed(asked, &shown.body));
        }
        // What does not fit on the screen is no call that somebody has seen.
        let whole = (!asked.body.is_whole()).then(|| boxed(asked, &asked.body.whole()));
        let (words, help) = words(asked.is_doubtful);
        let choice = Choice { question: question(asked), words, help, whole };
        Some(match self.asker.floor().await.choose(choice).await.ok()? {
            ("yes", _) => Answer::Once,
            ("always", _) => Answer::Always,
            (_, reason) => Answer::No(Some(reason).filter(|reason| !reason.is_empty())),
        })
    }
}

/// Returns the answers to a question, and what they mean. A doubtful call is approved by itself alone.
fn words(is_doubtful: bool) -> (&'static [&'static str], &'static str) {
    match is_doubtful {
        true => (&["yes", "no"], "answer y (yes, once), n (no), or n REASON (no, and the model is told why)"),
        false => (
            &["yes", "always", "no"],
            "answer y (yes, once), a (yes, and every later call of this tool), n (no), or n REASON (no, and \
             the model is told why)",
        ),
    }
}

/// Returns the box of a question, with all of the body or a part of it.
fn boxed(asked: &Question, body: &str) -> String {
    let rows = boxes::draw(&asked.name, body, Frame::Drawn, columns());
    rows.iter().map(|row| format!("{CALL}{row}{CALL:#}")).collect::<Vec<_>>().join("\n")
}

fn question(asked: &Question) -> String {
    let Question { name, why, is_doubtful, .. } = asked;
    let is_long = !asked.body.is_whole();
    let keys = |keys: &str| if is_long { format!("{keys}/s") } else { keys.to_owned() };
    let (keys, keys_once) = (keys("y/a/n"), keys("y/n"));
    // The question and its answers are in one row, with room for a letter, where a little of the call fits in.
    let rest = boxes::width(&format!("Run {name}? [{keys}] ")) + 2;
    let room = columns().saturating_sub(rest).clamp(LEAST_ARGUMENTS, ARGUMENTS);
    let call = format!("{name} {}", shortened(&asked.line, room));
    let long = match is_long {
        true => format!(
            "The arguments have {} characters; s shows them whole. ",
            grouped(asked.body.whole().chars().count() as u64)
        ),
        false => String::new(),
    };
    match is_doubtful {
        true => format!("{why} {long}Run {call}? [{keys_once}] "),
        false => format!("{why}\n{long}Run {call}? [{keys}] "),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{is_asked_each_time, nobody};
    use super::*;
    use crate::screen::Folded;
    use toolgraft::agent::{ApprovalRequest, AskReason};

    #[test]
    fn a_question_says_why_a_call_may_only_be_a_draft() {
        for (reason, why) in [
            (AskReason::Promoted, "The model only drafted the call in its reasoning. Run demo.f {}? [y/n] "),
            (
                AskReason::NoReasoningTag,
                "No reasoning tag came, so the model may only have drafted the call. Run demo.f {}? [y/n] ",
            ),
            (
                AskReason::FencedFirst,
                "The call is in a code fence with prose after it and may be an example. Run demo.f {}? [y/n] ",
            ),
            (
                AskReason::AfterProse,
                "The call follows prose without a marker and may be an example. Run demo.f {}? [y/n] ",
            ),
            (AskReason::InALine, "The call does not begin its line and may be an example. Run demo.f {}? [y/n] "),
            (
                AskReason::Echoed,
                "The call, or a text in it, is a copy from a result, a file, the description of another server or a message of the program. Run demo.f {}? [y/n] ",
            ),
            (
                AskReason::InsteadOfRead,
                "The call may change what the rejected call before it only wanted to read. Run demo.f {}? [y/n] ",
            ),
            (
                AskReason::Repeated,
                "The same call has already run, and nothing new came in between. Run demo.f {}? [y/n] ",
            ),
            (
                AskReason::Policy,
                "The tool does not say whether it changes anything, and nothing allows it yet.\nRun demo.f {}? [y/a/n] ",
            ),
        ] {
            let mut request = ApprovalRequest::new("call_1", "f", serde_json::Map::new(), reason);
            request.server = Some("demo".into());
            let asked = Question {
                id: request.id.clone(),
                name: "demo.f".to_owned(),
                why: super::super::why(&request, None, false),
                body: Folded::of("{}", (80, 24)),
                line: "{}".to_owned(),
                is_doubtful: is_asked_each_time(reason),
                definition: String::new(),
            };
            assert_eq!(question(&asked), why);
            let (words, help) = words(asked.is_doubtful);
            let has_always = reason == AskReason::Policy;
            assert_eq!((words.contains(&"always"), help.contains(", a (yes")), (has_always, has_always), "{why}");
            assert_eq!(
                nobody(&request).contains("--allow"),
                matches!(reason, AskReason::Policy | AskReason::NoReasoningTag),
                "{}",
                nobody(&request)
            );
        }
    }
}
