//! The smallest shape, only for the tests: `<!!NAME {JSON}!!>`.
//!
//! It shows what a further shape needs: a file like this one, a line in
//! [`OPENERS`](crate::parse::shape::OPENERS), and a variant of [`Shape`](crate::dialect::Shape) for the
//! data of its dialects, of which this one has none: its calls go by another's name.

use crate::dialect::Dialect;
use crate::json::window::{Match, No, Undecided, Window, begins, leading_space};
use crate::json::{Closer, JsonStep};
use crate::parse::call::json::{Around, CallJson};
use crate::parse::call::{CallOut, CallShape, CalledTool, OpenValue, Opened, Opening, Opens, Step};
use crate::parse::emit::unresolved::UnresolvedCall;
use crate::parse::tables::Tables;

pub(crate) const OPEN: &str = "<!!";
const CLOSE: &str = "!!>";

/// Recogniser of the test shape's calls: `<!!NAME {`.
pub(crate) struct Smallest;

/// Returns the number of bytes of the name after the opener, if a brace follows it.
fn name_length(text: &str, more: bool) -> Match<usize> {
    match text[OPEN.len()..].split_once(' ') {
        Some((name, rest)) if !name.is_empty() => begins(rest, "{", more).map(|()| name.len()),
        None if more => Err(Undecided),
        _ => Err(No),
    }
}

impl Opens for Smallest {
    fn opener(&self, _: &Tables, text: &str, more: bool) -> Match<Opening> {
        match begins(text, OPEN, more) {
            Ok(()) => name_length(text, more).map(|name| Opening { item: 0, form: 0, length: OPEN.len() + name }),
            Err(Undecided) => Err(Undecided),
            Err(No) => Err(No),
        }
    }

    fn open(&self, Opening { length, .. }: Opening, at: u64, text: &str, tables: &Tables) -> Opened {
        let call = UnresolvedCall::of((None, Some(text[OPEN.len()..length].to_owned())));
        let json = CallJson::arguments(at, tables.config.limits.depth, Around::Nothing, CLOSE);
        Opened::Call(Dialect::Hermes, Box::new(Call { call, json, state: State::Head, cursor: at + length as u64 }))
    }
}

#[derive(Debug)]
struct Call {
    call: UnresolvedCall,
    json: CallJson,
    state: State,
    cursor: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Head,
    Json,
    Tail,
}

impl CallShape for Call {
    fn step(&mut self, window: &Window<'_>, out: &mut CallOut<'_, '_>) -> Step {
        if self.state == State::Json {
            return match self.json.next_argument(window, &Close, &mut self.call, out) {
                JsonStep::More => Step::More,
                JsonStep::Passed(at) => Step::End(at),
                _ => {
                    (self.state, self.cursor) = (State::Tail, self.json.cursor);
                    Step::Next
                }
            };
        }
        self.cursor += leading_space(window.from(self.cursor)) as u64;
        let rest = window.from(self.cursor);
        let close = begins(rest, CLOSE, window.more).map(|()| CLOSE.len());
        match (self.state, close) {
            _ if rest.is_empty() => Step::More,
            (State::Tail, Err(Undecided)) => Step::More,
            (State::Tail, close) => Step::End(self.cursor + if let Ok(length) = close { length as u64 } else { 0 }),
            _ => {
                let Err(No) = self.json.lead(rest, window.more, Err(No), &mut self.call) else {
                    return Step::More;
                };
                out.start(self.cursor, None, self.call.tool.as_deref().unwrap_or_default());
                self.json.begin(self.cursor);
                self.state = State::Json;
                Step::Next
            }
        }
    }

    fn called(&self, _: &Tables) -> CalledTool {
        (None, self.call.tool.clone())
    }

    fn resolve(mut self: Box<Self>, window: &Window<'_>, _: u64, _: &Tables) -> UnresolvedCall {
        self.json.resolve(window, &mut self.call);
        self.call
    }

    fn needed_from(&self) -> u64 {
        self.cursor.max(self.json.cursor)
    }

    fn open_value(&mut self) -> Option<OpenValue<'_>> {
        (self.state == State::Json).then_some(OpenValue::Json(&mut self.json))
    }
}

struct Close;

impl Closer for Close {
    fn closes(&self, text: &str, _: bool, more: bool) -> Match<()> {
        begins(text, CLOSE, more)
    }
}

#[cfg(test)]
mod tests {
    use crate::event::RejectedKind;
    use crate::parse::shape::tests::read;

    #[test]
    fn a_further_shape_is_its_file_and_a_line_in_the_list() {
        let text = "Let me see. <!!f {\"a\": \"!!> is text\", \"b\": [1, 2]}!!>\n<!! is none.\n```\n<!!g {}!!> x\n```\n<!!h {\"a";
        let whole = read(text);
        let calls: Vec<_> = whole.calls().map(|call| (call.tool.as_str(), call.arguments.to_string())).collect();
        assert_eq!(calls, [("f", r#"{"a":"!!> is text","b":[1,2]}"#.to_owned())]);
        assert_eq!(whole.content, "Let me see. \n<!! is none.\n```\n<!!g {}!!> x\n```\n");
        let kinds: Vec<_> = whole.rejected().map(|rejected| rejected.kind).collect();
        assert_eq!(kinds, [RejectedKind::Quoted, RejectedKind::Truncated]);
    }
}
