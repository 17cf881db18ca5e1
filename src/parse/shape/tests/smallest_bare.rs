//! The smallest shape without a marker, only for the tests: a line `%% NAME {JSON}`.
//!
//! It shows what a further one needs: a file like this one and a line in
//! [`MARKERLESS`](crate::parse::shape::MARKERLESS), and a variant of [`Shape`](crate::dialect::Shape) for the
//! data of its dialects, of which this one has none: its calls go by another's name.

use crate::dialect::Dialect;
use crate::json::JsonStep;
use crate::json::window::{Match, No, Undecided, Window, begins};
use crate::parse::call::json::{Around, CallJson};
use crate::parse::call::{CallOut, CallShape, CalledTool, Markerless, Place, Stands, Step};
use crate::parse::emit::not_a_call::NotACallReason;
use crate::parse::emit::unresolved::UnresolvedCall;
use crate::parse::marks::kinds::Kinds;
use crate::parse::shape::message::fence_closer;
use crate::parse::tables::Tables;

const OPEN: &str = "%% ";

/// Recogniser of the test shape's calls: `%% NAME {`.
pub(crate) struct Smallest;

/// Returns the number of bytes before the brace, which a name precedes.
fn head(text: &str, more: bool) -> Match<usize> {
    begins(text, OPEN, more)?;
    match text[OPEN.len()..].split_once(' ') {
        Some((name, rest)) => begins(rest, "{", more).map(|()| OPEN.len() + name.len() + 1),
        None if more => Err(Undecided),
        None => Err(No),
    }
}

impl Markerless for Smallest {
    fn add_leads(&self, tables: &mut Tables) {
        tables.lexicon.line.add(b"%%", Kinds::BARE);
    }

    fn stands(&self) -> Stands {
        Stands::Line
    }

    fn ahead(&self, text: &str, _: &Tables, more: bool) -> Match<()> {
        head(text, more).map(|_| ())
    }

    fn open(&self, text: &str, place: Place, tables: &Tables) -> Option<(Dialect, Box<dyn CallShape>)> {
        let length = head(text, false).ok()?;
        let call = UnresolvedCall::of((None, Some(text[OPEN.len()..length - 1].to_owned())));
        let at = place.at + length as u64;
        let mut json = CallJson::arguments(at, tables.config.limits.depth, Around::Nothing, "");
        json.begin(at);
        Some((Dialect::Hermes, Box::new(Call { call, json, place, end: None })))
    }
}

#[derive(Debug)]
struct Call {
    call: UnresolvedCall,
    json: CallJson,
    place: Place,
    /// The offset after the object, once it is closed.
    end: Option<u64>,
}

impl CallShape for Call {
    fn step(&mut self, window: &Window<'_>, out: &mut CallOut<'_, '_>) -> Step {
        let closer = fence_closer(self.place.fence, out.think_ends);
        if let Some(end) = self.end {
            return match window.from(end).as_bytes() {
                [] if window.more => Step::More,
                [] | [b'\n', ..] => Step::End(end),
                _ => Step::Text(end, NotACallReason::TextAfter),
            };
        }
        match self.json.next(window, &closer, out) {
            JsonStep::More => Step::More,
            JsonStep::Closed(at) | JsonStep::Passed(at) => Step::Text(at, NotACallReason::Unclosed),
            JsonStep::End(at) => {
                self.end = Some(at);
                self.json.resolve(window, &mut self.call);
                match self.call.fault {
                    Some(_) => Step::Text(at, NotACallReason::Damaged),
                    None => Step::Call(self.place.at..at, Box::new(std::mem::take(&mut self.call))),
                }
            }
            JsonStep::Fault(_) | JsonStep::Key(_) | JsonStep::ValueStart(_) | JsonStep::ValueEnd(_) => Step::Next,
        }
    }

    fn ending(&mut self, _: &Window<'_>, _: &Tables) -> Step {
        self.end.map_or(Step::More, Step::End)
    }

    fn called(&self, _: &Tables) -> CalledTool {
        self.call.called()
    }
}

#[cfg(test)]
mod tests {
    use crate::event::{Provenance, RejectedKind};
    use crate::parse::shape::tests::read;

    #[test]
    fn a_further_shape_without_a_marker_is_its_file_and_a_line_in_the_list() {
        let text = "See:\n%% f {\"a\": [1]}\n  %% g {}\n%% none\n%% h {} x\nIn %% i {}\n    %% j {}\n%% k {\"a";
        let whole = read(text);
        let calls: Vec<_> = whole.calls().map(|call| (call.tool.as_str(), call.arguments.to_string())).collect();
        assert_eq!(calls, [("f", r#"{"a":[1]}"#.to_owned()), ("g", "{}".to_owned())]);
        assert!(whole.calls().all(|call| call.provenance == Provenance::AfterProse));
        assert_eq!(whole.content, "See:\n\n  \n%% none\n%% h {} x\nIn %% i {}\n    %% j {}\n");
        let kinds: Vec<_> = whole.rejected().map(|rejected| rejected.kind).collect();
        assert_eq!(kinds, [RejectedKind::Truncated]);
    }

    #[test]
    fn it_keeps_to_the_rules_of_fences_without_a_word_of_its_own() {
        for (text, calls, kinds) in [
            ("```\n%% f {}\n```\n", 1, vec![]),
            ("```\n%% f {}\n```\nThat is how.", 0, vec![RejectedKind::Quoted]),
            ("> %% f {}\n", 0, vec![]),
        ] {
            let message = read(text);
            let found: Vec<_> = message.rejected().map(|rejected| rejected.kind).collect();
            assert_eq!((message.calls().count(), found), (calls, kinds), "{text}");
        }
    }
}
