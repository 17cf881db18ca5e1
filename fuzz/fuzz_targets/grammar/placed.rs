//! Calls in places where they must not run, and calls next to them that must run.
//!
//! A place quotes its content, or is the turn of another role, or the reasoning. Each message also
//! lists the model's own calls.

use toolgraft::dialect::{
    OTHER_ROLES, REASONING_MARKS, RESULT_LINES, RESULT_TAGS, TOKEN_FAMILIES, TemplateToken, TokenClass, TurnLine,
    USER_LINES,
};
use toolgraft::event::{Assembled, Rejected, RejectedKind};

use super::bytes::Bytes;
use super::call::MeantCall;
use super::damage::damage;
use super::meant::{Meant, has_fence};
use super::places::{Needs, PLAIN, Place, QUOTING};
use super::spellings::ALL;
use super::syntax::Syntax;

/// Text of another role.
const ANOTHERS: &str = "Yes, please go on.";

/// Text of the reasoning.
const THOUGHT: &str = "Is it so or not?";

/// A message with calls in their places.
#[derive(Debug)]
pub(crate) struct Placed {
    /// The message, and the calls that run.
    pub(crate) meant: Meant,
    /// The rejection of the other calls, if they are calls at all.
    others: Option<RejectedKind>,
    /// `true` if the other calls may be read differently: their text is damaged, or is no call in
    /// its place, so that the contents of its values are text.
    loose: bool,
    /// Text that must not be in the content.
    unseen: &'static str,
}

impl Placed {
    pub(crate) fn write(bytes: &mut Bytes<'_>) -> Self {
        let mut placed = Placed { meant: Meant::default(), others: None, loose: false, unseen: "\0" };
        // Most seeds end with a line break, which is 10.
        match bytes.below(16) {
            0..4 | 10 => placed.quoted(bytes),
            4..7 => placed.plain(bytes),
            7..10 | 11 => placed.turns(bytes),
            _ => placed.reasoning(bytes),
        }
        placed
    }

    /// Checks that exactly the model's own calls run.
    ///
    /// # Errors
    /// The difference.
    pub(crate) fn check(&self, found: &Assembled) -> Result<(), String> {
        // A closing delimiter in a damaged call may have belonged to one of the model's own (law
        // 7).
        let is_withdrawn = |rejected: &&Rejected| self.loose && rejected.kind == RejectedKind::AfterDamage;
        let withdrawn: Vec<_> =
            found.rejected().filter(is_withdrawn).filter_map(|rejected| rejected.call.as_deref()).collect();
        let mut own: Vec<_> = self.meant.calls.iter().collect();
        // The last ones are withdrawn: an equal call may precede them.
        for call in withdrawn.iter().rev() {
            if let Some(at) = own.iter().rposition(|own| own.is(call)) {
                own.remove(at);
            }
        }
        let calls: Vec<_> = found.calls().collect();
        if calls.len() != own.len() || !calls.iter().zip(&own).all(|(found, own)| own.is(found)) {
            return Err("other calls run than those that are meant".to_owned());
        }
        if self.loose {
            return Ok(());
        }
        for rejected in found.rejected() {
            if Some(rejected.kind) != self.others {
                return Err(format!("not {:?}: {rejected:?}", self.others));
            }
            let kept = match rejected.kind {
                RejectedKind::Quoted => found.content.contains(&rejected.raw),
                RejectedKind::InReasoning => found.reasoning.contains(&rejected.raw),
                _ => true,
            };
            if !kept {
                return Err(format!("its text is lost: {rejected:?}"));
            }
        }
        if found.content.contains(self.unseen) {
            return Err(format!("the content has {:?}", self.unseen));
        }
        Ok(())
    }

    /// Adds prose and calls of the model's own, or nothing.
    fn own(&mut self, bytes: &mut Bytes<'_>) {
        for _ in 0..bytes.below(3) {
            self.own_call(bytes);
        }
    }

    fn own_call(&mut self, bytes: &mut Bytes<'_>) {
        let syntax = in_prose(bytes);
        self.meant.prose(bytes, syntax);
        self.meant.calls(syntax, false, bytes);
    }

    /// Adds calls of the model's own after the inserted ones.
    fn own_after(&mut self, bytes: &mut Bytes<'_>) {
        if !self.loose && bytes.one_in(2) {
            self.meant.say("\n\nNow it is.\n\n");
            self.own_call(bytes);
        }
    }

    /// Adds calls that must not run; if `damaged`, some of them are damaged.
    fn others(&mut self, bytes: &mut Bytes<'_>, damaged: bool) {
        let syntax = in_prose(bytes);
        let Some((text, calls)) = syntax.some(syntax.most, bytes) else { return };
        if syntax.line_start {
            self.meant.text.push('\n');
        }
        if !damaged || bytes.one_in(2) {
            self.meant.text.push_str(&text);
            return;
        }
        // A stray `</think>` turns all text before it into reasoning.
        let text = damaged_text(text, calls, bytes);
        self.loose = true;
        self.meant.text.push_str(&text.replace("</think", "</thing"));
    }

    fn quoted(&mut self, bytes: &mut Bytes<'_>) {
        self.others = Some(RejectedKind::Quoted);
        self.own(bytes);
        let (place, syntax) = (bytes.pick(QUOTING), bytes.pick(&ALL));
        let most = if place.needs == Needs::Lines { syntax.most } else { 1 };
        let Some((text, calls)) = syntax.some(most, bytes) else { return };
        let begins_line = syntax.line_start || syntax.alone;
        // As text it is not one call.
        let exposed = syntax.is_bare()
            || (begins_line && place.needs != Needs::Lines)
            || (place.before.ends_with('`') && text.contains('`'))
            || (!place.each_line.is_empty() && text.contains('\n'));
        // Such text would end the place, or change the meaning of the text after it.
        if exposed && (text.contains("think>") || has_fence(&text) || text.contains("-->")) {
            return;
        }
        self.loose = exposed;
        let in_comment = place.before.starts_with("<!--");
        let text = if in_comment && bytes.one_in(3) {
            self.loose = true;
            damaged_text(text, calls, bytes)
        } else {
            text
        };
        if self.loose && text.contains("think>") {
            return;
        }
        self.put(place, &text);
        self.own_after(bytes);
    }

    /// Adds a call between delimiters that quote nothing.
    fn plain(&mut self, bytes: &mut Bytes<'_>) {
        self.own(bytes);
        let (place, syntax) = (bytes.pick(PLAIN), bytes.pick(&ALL));
        // The places are within a line.
        if syntax.line_start || syntax.line_end || syntax.alone {
            return;
        }
        let Some((text, mut calls)) = syntax.some(1, bytes) else { return };
        self.put(place, &text);
        self.meant.calls.append(&mut calls);
        self.own_after(bytes);
    }

    fn put(&mut self, place: &Place, text: &str) {
        let text = text.replace('\n', &format!("\n{}", place.each_line));
        self.meant.say("\n\n");
        self.meant.text.push_str(&format!("{}{text}{}", place.before, place.after));
    }

    fn turns(&mut self, bytes: &mut Bytes<'_>) {
        self.others = Some(RejectedKind::Invented);
        if bytes.one_in(4) {
            self.meant.text.push_str("<think>What is asked?</think>");
        }
        let (form, last) = (bytes.below(6), bytes.pick(&ALL));
        if last.alone && form == 1 {
            // Only special tokens may follow it.
            self.meant.calls(last, false, bytes);
        } else {
            self.own(bytes);
            if !last.alone && bytes.one_in(2) {
                let fenced = form < 2 && bytes.one_in(3);
                self.meant.say("\n");
                self.meant.calls(last, fenced, bytes);
            }
        }
        match form {
            0 | 1 => self.anothers(form == 1, bytes),
            2 => {
                let (end, _) = self.end(bytes);
                self.meant.text.push_str(end);
                self.meant.say("And so on.\n");
                self.others(bytes, false);
            }
            // Immediately after the end, a call with a marker is the model's own.
            3 => {
                let (end, gap) = self.end(bytes);
                let syntax = in_prose(bytes);
                self.meant.text.push_str(end);
                self.meant.text.push_str(if syntax.line_start { "\n" } else { gap });
                if !syntax.is_bare() {
                    self.meant.calls(syntax, false, bytes);
                }
            }
            4 if !self.meant.calls.is_empty() => {
                let result = if bytes.one_in(2) {
                    format!("\n{} sunny\n", spelled(bytes.pick(&RESULT_LINES)))
                } else {
                    let (tag, _) = bytes.pick(&RESULT_TAGS);
                    format!("\n<{tag}>\nsunny\n</{tag}>\n")
                };
                self.meant.say(&result);
                self.spoken(bytes);
            }
            _ => {
                let line = spelled(bytes.pick(&USER_LINES));
                self.meant.say(&format!("\nThat is it.\n\n{line} {ANOTHERS}\n"));
                self.spoken(bytes);
            }
        }
    }

    /// Returns a token that ends the text, and the white space after it.
    fn end(&mut self, bytes: &mut Bytes<'_>) -> (&'static str, &'static str) {
        let ends = family(bytes).iter().filter(|token| matches!(token.class, TokenClass::EndsText)).collect::<Vec<_>>();
        (if ends.is_empty() { "<|im_end|>" } else { bytes.pick(&ends).text }, *bytes.pick(&["", "\n", "\n\n"]))
    }

    /// Adds a turn of another role, begun by a token; if `silent`, without text before it.
    fn anothers(&mut self, silent: bool, bytes: &mut Bytes<'_>) {
        let family = family(bytes);
        let class = |wanted: fn(TokenClass) -> bool| family.iter().filter(move |token| wanted(token.class));
        let ends: Vec<_> = class(|class| matches!(class, TokenClass::EndsText | TokenClass::EndsMessage))
            .map(|end| end.text)
            .collect();
        let opens: Vec<_> = class(|class| matches!(class, TokenClass::OpensOther | TokenClass::OpensRole(_))).collect();
        if !ends.is_empty() && !bytes.one_in(4) {
            self.meant.text.push_str(*bytes.pick(&ends));
            self.meant.text.push_str(*bytes.pick(&["\n", "", " "]));
        }
        let opener =
            if opens.is_empty() { "<|im_start|>user\n".to_owned() } else { opener(*bytes.pick(&opens), bytes) };
        self.unseen = ANOTHERS;
        self.meant.text.push_str(&opener);
        if !silent || bytes.one_in(2) {
            self.meant.text.push_str(*bytes.pick(&[ANOTHERS, "Yes, please go on.\n", "\n", ""]));
        }
        self.others(bytes, true);
        // If the model continues in its own role, that part is invented too.
        if bytes.one_in(2) {
            self.meant.text.push_str("<|im_end|>\n<|im_start|>assistant\n");
            self.others(bytes, true);
        }
    }

    /// Adds calls after a line of another role, which is not ended by a line with the model's role.
    fn spoken(&mut self, bytes: &mut Bytes<'_>) {
        self.others(bytes, false);
        if bytes.one_in(2) {
            self.meant.say("\nAssistant: It is done.\n\n");
            self.others(bytes, false);
        }
    }

    fn reasoning(&mut self, bytes: &mut Bytes<'_>) {
        self.others = Some(RejectedKind::InReasoning);
        let form = bytes.below(5);
        let (open, close) = match form {
            0 => *bytes.pick(&[("<think>", "</think>"), ("<thinking>", "</thinking>"), ("<Think>", "</THINK>")]),
            // In the channel `final`, everything without a marker is content.
            1 => ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>commentary<|message|>"),
            // Nothing marks the beginning.
            2 => ("", "</think>"),
            _ => {
                let mark = bytes.pick(&REASONING_MARKS);
                // A phrase can only begin a message.
                let is_phrase = mark.open.starts_with(|c: char| c.is_ascii_alphabetic());
                if is_phrase { ("<think>", "</think>") } else { (mark.open, mark.close) }
            }
        };
        if form != 2 && bytes.one_in(2) {
            self.own(bytes);
            self.meant.say("\n");
        }
        let begin = self.meant.text.len();
        self.meant.text.push_str(open);
        for _ in 0..1 + bytes.below(2) {
            self.meant.text.push_str(THOUGHT);
            self.meant.text.push_str(*bytes.pick(&["\n", "\n\n", " "]));
            self.others(bytes, false);
            self.meant.text.push('\n');
        }
        // Values between tags end where the reasoning ends.
        let thought = &self.meant.text[begin + open.len()..];
        if thought.contains("think>") {
            self.meant.text.truncate(begin);
            return;
        }
        self.unseen = THOUGHT;
        // An unclosed delimiter of the table does not turn the answer into reasoning: its text is
        // content.
        if form >= 2 || !bytes.one_in(4) {
            self.meant.text.push_str(close);
            self.own_after(bytes);
        }
    }
}

/// Returns a syntax that can be combined with prose.
fn in_prose(bytes: &mut Bytes<'_>) -> &'static Syntax {
    let syntax = bytes.pick(&ALL);
    if syntax.alone { &ALL[0] } else { syntax }
}

fn family(bytes: &mut Bytes<'_>) -> &'static [TemplateToken] {
    &bytes.pick(&TOKEN_FAMILIES).tokens
}

/// Returns the beginning of another role's turn.
fn opener(token: &TemplateToken, bytes: &mut Bytes<'_>) -> String {
    let TokenClass::OpensRole(end) = token.class else { return token.text.to_owned() };
    let end = if end == "<|" { "<|message|>" } else { end };
    format!("{}{}{end}", token.text, bytes.pick(OTHER_ROLES))
}

fn damaged_text(text: String, mut calls: Vec<MeantCall>, bytes: &mut Bytes<'_>) -> String {
    calls.iter_mut().for_each(|call| call.span = 0..text.len());
    let mut whole = Meant::default();
    (whole.text, whole.calls) = (text, calls);
    damage(&whole, bytes).text
}

/// Returns a line of the table with a number and a name for its `#` and `@`.
fn spelled(line: &TurnLine) -> String {
    if line.text.starts_with("##") { line.text.to_owned() } else { line.text.replace('#', "2").replace('@', "look") }
}
