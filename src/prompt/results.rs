//! The values for the results template, from a round: cut to limits, in frames, with control tokens escaped.

use minijinja::{Value, context};
use serde_json::Value as Json;

use super::dialogue::{by_worth, dialogue_of};
use super::example::{call_with, display_name, harmless, read_call, read_on};
use super::listing::{NAMES, choice_word, named, readable};
use super::options::{NOTE_CHARS, Options};
use super::reasons::{failure_in, reason_in};
use crate::conversation::{Answered, Replies};
use crate::dialect::Lang;
use crate::event::{Provenance, Rejected, RejectedKind};
use crate::outcome::{Neutraliser, RESULT, STATUS, Status, boundary, break_tokens, cut, shortened};
use crate::tools::{ACCESS_RESOURCE, Catalog, Tool};

/// Maximum length in characters of a call's arguments, which identify it among the calls of its message.
const ARGUMENTS_CHARS: usize = 100;

/// Maximum length in characters of the user's request.
const REQUEST_CHARS: usize = 400;

/// Maximum number of earlier calls that the message lists, and maximum length in characters of their arguments; older
/// calls are only counted. All of them are in the history, too.
const RECALLED: (usize, usize) = (8, 60);

/// Values in place of [`RECALLED`] if some of the calls' messages are not in the request.
const RECALLED_ALONE: (usize, usize) = (30, 160);

/// Maximum number of bytes of a rejected call that are shown.
const RAW_BYTES: usize = 600;

/// Maximum length in characters of the reason why a call was rejected.
const PROBLEM_CHARS: usize = 1_500;

/// Number of earlier calls, and number of characters of the request, from which a frame's code is computed.
const DIGEST: (usize, usize) = (4, 1_000);

/// A text that is cut to a limit: whole, or its head and tail with the number of missing bytes between.
struct BoundedText {
    head: String,
    /// Number of bytes of the original text that the head contains.
    from: usize,
    missing: usize,
    tail: String,
    /// `true` if the text is a single line, which needs no closing frame.
    is_line: bool,
}

impl From<BoundedText> for Value {
    fn from(text: BoundedText) -> Self {
        let BoundedText { head, missing, tail, is_line, .. } = text;
        context! { head, missing, tail, is_line }
    }
}

/// Returns the template variables of the results message, with at most `result_bytes` bytes of each result.
pub(super) fn view(catalog: &Catalog, options: &Options, replies: &Replies<'_>, result_bytes: usize) -> Value {
    let writer = RepliesWriter { catalog, options, neutraliser: Neutraliser::new(catalog), replies, result_bytes };
    let Replies { answered, rejected, earlier, request, unmet, later, .. } = replies;
    let (unmet, followed) = (*unmet, *later > 0);
    // Only the newest message recalls earlier calls and the request, so that older ones stay as they were
    // sent.
    let recalled = if followed { &[] } else { &**earlier };
    let (most, limit) = if replies.left_out { RECALLED_ALONE } else { RECALLED };
    let forgotten = recalled.len().saturating_sub(most);
    let request = request.filter(|_| !followed).map(|request| writer.request(request));
    let (question, example) = writer.example_tool().filter(|_| unmet).map(|tool| writer.shown(tool)).unzip();
    // A call whose arguments were shown to the user is only acknowledged, as it has no result.
    let is_shown = |answered: &&Answered<'_>| answered.outcome.status == Status::Displayed;
    let (shown, answered): (Vec<&Answered<'_>>, Vec<_>) = answered.iter().partition(is_shown);
    context! {
        earlier => recalled.iter().skip(forgotten).map(|earlier| writer.earlier(earlier, limit)).collect::<Value>(),
        forgotten,
        request => request.filter(|request| !request.is_empty()),
        shown => shown
            .iter()
            .map(|shown| context! { id => writer.word(shown.id), tool => writer.word(&shown.call.tool) })
            .collect::<Value>(),
        answered => answered.iter().map(|answered| writer.answered(answered)).collect::<Value>(),
        rejected => rejected.iter().map(|rejected| writer.rejected(rejected)).collect::<Value>(),
        unmet,
        // Messages of the model follow, so the text has nothing that applies only now.
        followed,
        // A call may come next: no message of the model follows, there are tools, and the choice admits one.
        may_call => writer.may_call(),
        // The status of the tools' calls is known.
        tells_status => !replies.without_status,
        dialect => options.dialect.name(),
        named => writer.named().map(|tool| writer.name(tool)),
        example,
        // The question that the example answers.
        question,
    }
}

struct RepliesWriter<'a> {
    catalog: &'a Catalog,
    options: &'a Options,
    neutraliser: Neutraliser,
    replies: &'a Replies<'a>,
    result_bytes: usize,
}

impl RepliesWriter<'_> {
    /// Returns the user's request on one line. Of a long request only its beginning and end are used, since a request
    /// about a long text is usually there.
    fn request(&self, text: &str) -> String {
        let length = text.chars().count();
        if length <= REQUEST_CHARS {
            return line(text, REQUEST_CHARS);
        }
        let half = |text: &str| line(text, REQUEST_CHARS / 2);
        let tail: String = text.chars().skip(length - REQUEST_CHARS / 2).collect();
        format!("{} {}", half(text), half(&tail))
    }

    /// Returns the code of a result's frame, a hash of the call, its output and the preceding conversation: the
    /// request, the number of earlier calls, and the last of them.
    fn code(&self, call: [&str; 3], output: &BoundedText) -> String {
        let Replies { earlier, request, .. } = self.replies;
        let request = request.unwrap_or_default();
        let request = request.char_indices().nth(DIGEST.1).map_or(request, |(end, _)| &request[..end]);
        let last = earlier[earlier.len().saturating_sub(DIGEST.0)..].iter();
        let told: Vec<String> = last
            .map(|earlier| format!("{}{}", earlier.call.tool, earlier.call.arguments))
            .chain([earlier.len().to_string()])
            .collect();
        let before = told.iter().map(String::as_str).chain([request]).chain(call);
        boundary(before, &format!("{}\n{}", output.head, output.tail))
    }

    fn answered(&self, answered: &Answered<'_>) -> Value {
        let Answered { id, call, outcome, .. } = *answered;
        let frame = if matches!(outcome.status, Status::Result | Status::ToolError) { RESULT } else { STATUS };
        let said = outcome.said();
        // The text of a tool is never translated.
        let ours = failure_in(self.options.lang, &said).filter(|_| outcome.status != Status::Result);
        let said = match ours {
            Some(failure) => failure.into(),
            None if frame == STATUS => reason_in(self.options.lang, &said),
            None => said,
        };
        let (arguments, output) = (arguments(&call.arguments, ARGUMENTS_CHARS), bounded(&said, self.result_bytes));
        context! {
            // The code that closes the frame around the output and does not occur in it.
            code => self.code([id, &call.tool, &arguments], &output),
            id => self.word(id),
            server => call.server.as_ref().map(|server| self.word(server)),
            tool => self.word(&call.tool),
            arguments,
            status => outcome.status.as_str(),
            // The tag around the output: of a result, or of a note about a call that gave none.
            frame,
            // A call that shows the part that the output leaves out.
            read_on => self.read_on(id, &output),
            output,
        }
    }

    fn may_call(&self) -> bool {
        let choice = choice_word(self.catalog, &self.options.tool_choice);
        self.replies.later == 0 && !matches!(choice, "none" | "nothing")
    }

    fn read_on(&self, id: &str, output: &BoundedText) -> Option<String> {
        // Where no call may follow, the way to read on is of no use.
        let is_told = output.missing > 0 && self.may_call();
        is_told.then(|| read_on(self.catalog, self.options.dialect, id, output.from)).flatten()
    }

    fn earlier(&self, earlier: &Answered<'_>, limit: usize) -> Value {
        let server = earlier.call.server.as_ref().map(|server| format!("{server}.")).unwrap_or_default();
        context! {
            call => self.word(&format!("{server}{}", earlier.call.tool)),
            arguments => arguments(&earlier.call.arguments, limit),
            status => earlier.outcome.status.as_str(),
        }
    }

    fn rejected(&self, rejected: &Rejected) -> Value {
        let unknown = rejected.kind == RejectedKind::UnknownTool;
        let is_reading = rejected.tool.as_deref() == Some(ACCESS_RESOURCE);
        // An example of the form at least, if the form was wrong or if no name is similar.
        let form =
            matches!(rejected.kind, RejectedKind::Malformed | RejectedKind::Truncated | RejectedKind::UnknownTool);
        let tool = self.meant(rejected).or_else(|| self.example_tool().filter(|_| form && !is_reading));
        let all = self.catalog.offered().map(|tool| self.name(tool));
        let (question, correct) = tool.map(|tool| self.shown(tool)).unzip();
        // A call that is not inside quoted text may be an example for other reasons.
        let kind = match rejected.kind {
            RejectedKind::Quoted if rejected.quoted_in.is_none() => {
                match rejected.call.as_ref().map(|call| call.provenance) {
                    Some(Provenance::Echoed | Provenance::InsteadOfRead) => "unapproved",
                    _ => "doubtful",
                }
            }
            kind => kind.as_str(),
        };
        context! {
            kind,
            tool => rejected.tool.as_ref().map(|tool| self.word(tool)),
            problem => problem(self.options.lang, &rejected.message),
            raw => bounded(rejected.raw.trim(), RAW_BYTES),
            nearest => rejected.nearest.iter().map(|name| self.word(name)).collect::<Value>(),
            names => all.take(if unknown && rejected.nearest.is_empty() { NAMES } else { 0 }).collect::<Value>(),
            correct => correct.or_else(|| self.reading(rejected.server.as_deref()).filter(|_| is_reading)),
            // The question that the correct call answers.
            question,
        }
    }

    /// Returns the tool that a rejected call meant: the one it names, or the one with the nearest name; `None` if there
    /// is neither.
    fn meant(&self, rejected: &Rejected) -> Option<&Tool> {
        let name = rejected.tool.as_deref()?;
        // The server's name may be the only thing that is wrong.
        let own = self.catalog.resolve(rejected.server.as_deref(), name).or_else(|_| self.catalog.resolve(None, name));
        let nearest = || self.catalog.named(rejected.nearest.first()?).ok()?.into_iter().next();
        own.ok().map(|found| found.tool).or_else(nearest)
    }

    fn reading(&self, server: Option<&str>) -> Option<String> {
        let servers = self.catalog.servers().iter();
        let named = servers.clone().filter(|s| s.name.as_deref() == server);
        let (server, uri) = named.chain(servers).find_map(readable)?;
        Some(read_call(self.options.dialect, &self.neutraliser, server, uri))
    }

    /// Returns the tool that the tool choice names, `None` if it names none or an unknown one.
    fn named(&self) -> Option<&Tool> {
        named(self.catalog, &self.options.tool_choice).ok().flatten()
    }

    fn example_tool(&self) -> Option<&Tool> {
        let harmless = || harmless(self.catalog, self.catalog.offered());
        let best = || Some(by_worth(&harmless(), self.options, &self.neutraliser).first()?.steps.first()?.tool);
        self.named().or_else(best)
    }

    /// Returns an example of the tool: a question, and the calls that answer it.
    fn shown(&self, tool: &Tool) -> (String, String) {
        let dialogue = dialogue_of(tool, self.options, &self.neutraliser);
        let call =
            |(tool, arguments)| call_with(self.catalog, self.options.dialect, &self.neutraliser, (tool, arguments));
        let calls: String = dialogue.steps.iter().map(|step| call((step.tool, &step.arguments))).collect();
        (dialogue.question, calls)
    }

    fn name(&self, tool: &Tool) -> String {
        self.word(&display_name(self.catalog, self.options.dialect, tool))
    }

    fn word(&self, word: &str) -> String {
        self.neutraliser.describe(word, NOTE_CHARS)
    }
}

/// Returns a call's arguments as JSON, cut to `limit` characters.
fn arguments(arguments: &Json, limit: usize) -> String {
    break_tokens(&shortened(arguments.to_string(), limit)).into_owned()
}

/// Returns a text on one line, cut to `limit` characters, with control tokens escaped.
fn line(text: &str, limit: usize) -> String {
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    break_tokens(&shortened(joined, limit)).into_owned()
}

/// Returns the reason of a rejection on one line, translated, followed by the lines of a file that it quotes.
fn problem(lang: Lang, message: &str) -> String {
    match message.split_once(":\n") {
        // The lines of a stale edit's file have to stay lines.
        Some((said, quoted)) => {
            let said = line(&reason_in(lang, &format!("{said}:")), PROBLEM_CHARS);
            format!("{said}\n{}", break_tokens(&shortened(quoted.to_owned(), PROBLEM_CHARS)))
        }
        None => line(&reason_in(lang, message), PROBLEM_CHARS),
    }
}

/// Returns the text cut to `limit` bytes, with control tokens escaped.
fn bounded(text: &str, limit: usize) -> BoundedText {
    let (head, missing, tail) = match cut(text, limit) {
        Some(cut) => (cut.head, cut.missing, cut.tail),
        None => (text, 0, ""),
    };
    // An empty text needs no frame.
    let is_line = missing == 0 && head.trim() == head && !head.contains(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']);
    let safe = |text: &str| break_tokens(text).into_owned();
    BoundedText { head: safe(head), from: head.len(), missing, tail: safe(tail), is_line }
}
