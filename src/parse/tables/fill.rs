//! Where something may begin, and how long it is waited for: from what a
//! configuration knows.

use super::{Marker, Owner, Tables};
use crate::dialect::{
    BlockForm, NamedArguments, OTHERS_LINES, QUOTING_BLOCKS, RESULT_TAGS, ReasoningMark, SENTENCE_END, STRIKE_OPEN,
    THINK_TAGS, USER_LINES,
};
use crate::parse::config::HOLD_SLACK;
use crate::parse::marks::channel::{CHANNEL, START};
use crate::parse::marks::fence::FENCE_TAGS;
use crate::parse::marks::head::longest_head;
use crate::parse::marks::tokens::tokens_at;
use crate::parse::marks::triggers::Triggers;

/// Names of tools that are not known are waited for to this length, in bytes:
/// the longest that OpenAI's interface takes.
const LONG_NAME: usize = 64;

/// The same of a parameter's name.
const LONG_PARAMETER: usize = 32;

impl Tables {
    pub(crate) fn fill_triggers(&mut self) {
        let length = |tag: &str| tag.len() + "</>".len();
        for (_, block) in &self.blocks {
            // One that breaks off is told to whoever asks why it is no call (`Tables::mark`).
            if let [first, second, ..] = *block.tag.as_bytes() {
                self.triggers.add_tags(first, second);
            }
        }
        let blocks = self.blocks.iter().map(|(_, b)| {
            let child = b.children.iter().map(|child| length(&child.tag)).max();
            (b.tag.as_str(), child)
        });
        let tools = self.tools.iter().filter(|_| self.tags.is_some()).map(|t| {
            let child = t.parameters.iter().map(|parameter| length(&parameter.name)).max();
            (t.tag.as_str(), child)
        });
        let blocks = blocks.map(|(tag, child)| (tag, child, Owner::Block));
        for (tag, child, owner) in blocks.chain(tools.map(|(tag, child)| (tag, child, Owner::ToolTag))) {
            let mark = format!("<{tag}>");
            self.triggers.add_mark(&mark);
            self.triggers.add_mark(&format!("</{tag}>"));
            self.openers.add_mark(&mark, owner.bit());
            // The gate waits for the child behind the opener: both are one marker.
            self.hold = self.hold.max(length(tag) + child.unwrap_or(0) + HOLD_SLACK);
        }
        for tag in THINK_TAGS {
            self.hold = self.hold.max(length(tag) + HOLD_SLACK);
        }
        for mark in self.marks.clone() {
            for text in [mark.open, mark.close] {
                match *text.as_bytes() {
                    _ if ReasoningMark::is_marker(text) => self.reasoning_marks.add_mark(text, 0),
                    [first, second, ..] => self.reasoning_leads.add(first, second),
                    _ => {}
                }
                self.hold = self.hold.max(text.len() + HOLD_SLACK);
            }
        }
        for (wrapper, marked) in &self.wrapped {
            self.triggers.add_mark(&wrapper.open);
            wrapper.close.iter().for_each(|close| self.triggers.add_mark(close));
            self.openers.add_mark(&wrapper.open, Owner::Marker.bit());
            let longest = wrapper.open.len().max(marked.closer().map_or(0, str::len));
            self.hold = self.hold.max(longest + HOLD_SLACK);
        }
        if self.tokens {
            let longest = OTHERS_LINES.iter().map(|line| line.text.len()).max();
            self.hold = self.hold.max(longest.unwrap_or(0) + HOLD_SLACK);
        }
        add_around_calls(&self.marks, self.tokens, &mut self.triggers);
        self.fill_named();
        self.fill_lined();
    }

    /// All marks are added.
    pub(crate) fn seal(&mut self) {
        self.triggers.seal();
        self.openers.seal();
        self.reasoning_marks.seal();
    }

    /// Where something may begin that is no call.
    pub(super) fn around_calls(&self) -> Triggers {
        let mut triggers = Triggers::default();
        add_around_calls(&self.marks, self.tokens, &mut triggers);
        triggers.seal();
        triggers
    }

    fn fill_lined(&mut self) {
        for marked in &self.lined {
            let lines = match marked.marker {
                Marker::Lines(lines) => lines,
                Marker::Wrapper(word) => {
                    if let [first, second, ..] = *word.open.as_bytes() {
                        self.triggers.line.add(first, second);
                    }
                    self.hold = self.hold.max(word.open.len() + HOLD_SLACK);
                    continue;
                }
            };
            for lead in [lines.call.lead, lines.answer.lead].map(str::as_bytes) {
                self.triggers.line.add_any_case(lead[0], lead[1]);
                for emphasis in *b"*_" {
                    for second in [b'*', b'_', lead[0]] {
                        self.triggers.line.add_any_case(emphasis, second);
                    }
                }
            }
        }
    }

    /// A name is waited for that a call without a marker begins with.
    pub(crate) fn holds_names(&mut self) {
        self.hold = self.hold.max(self.names.longest() + HOLD_SLACK);
    }

    /// Bytes of the longest name of a tool with its server before it; at least `least`.
    pub(crate) fn longest_name(&self, least: usize) -> usize {
        let names = self.tools.iter().map(|tool| {
            let server = tool.server.as_ref().map_or(0, |server| server.len() + ".".len());
            server + tool.tool.len()
        });
        names.fold(least, usize::max)
    }

    fn fill_named(&mut self) {
        let tool = self.longest_name(LONG_NAME);
        let parameters = self.tools.iter().flat_map(|t| &t.parameters);
        let parameter = parameters.map(|p| p.name.len()).fold(LONG_PARAMETER, usize::max);
        for dialect in &self.named {
            for mark in dialect.marks().chain(dialect.closers()) {
                self.triggers.add_mark(&mark);
            }
            dialect.openers().for_each(|opener| self.openers.add_mark(opener, Owner::Named.bit()));
            for call in &dialect.named.calls {
                let child = match &call.arguments {
                    NamedArguments::Tags { open, .. } => longest_head(open, parameter),
                    NamedArguments::Json { .. } => call.close.len(),
                    NamedArguments::Delimited { .. } | NamedArguments::Arrows => "{".len(),
                    NamedArguments::None => 0,
                };
                self.hold = self.hold.max(longest_head(&call.head, tool) + child + HOLD_SLACK);
            }
        }
    }
}

/// Adds what is no call: marks of the reasoning, fences, tokens of chat templates, turns.
fn add_around_calls(marks: &[&ReasoningMark], tokens: bool, triggers: &mut Triggers) {
    for tag in THINK_TAGS {
        triggers.add_tags_any_case(tag);
        triggers.add_tags_any_case(&format!("/{tag}"));
    }
    for mark in [START, CHANNEL, "<|end|>"] {
        triggers.add_mark(mark);
    }
    for mark in marks {
        for text in [mark.open, mark.close].into_iter().filter(|text| ReasoningMark::is_marker(text)) {
            triggers.add_mark(text);
        }
        if let [first, second, ..] = *mark.open.as_bytes()
            && !ReasoningMark::is_marker(mark.open)
        {
            triggers.line.add(first, second);
        }
    }
    if tokens {
        for mark in tokens_at("").iter().map(|token| token.text).chain([SENTENCE_END, STRIKE_OPEN]) {
            triggers.add_mark(mark);
        }
        for (tag, _) in RESULT_TAGS {
            // Attributes may follow.
            triggers.add_mark(&format!("<{tag}"));
        }
        add_turns(triggers);
    }
    for byte in *b"`~'" {
        triggers.line.add(byte, byte);
    }
    for tag in FENCE_TAGS {
        triggers.line.add(b'<', tag.as_bytes()[0]);
        triggers.add_mark(&format!("</{tag}>"));
    }
    for block in QUOTING_BLOCKS {
        match (block.form, block.open.as_bytes()) {
            (BlockForm::Anywhere, _) => triggers.add_mark(block.open),
            // Attributes may follow a tag of one letter.
            (BlockForm::Tag('<'), [_]) => {
                b"> ".iter().for_each(|end| triggers.add_tags_any_case(&format!("{}{}", block.open, char::from(*end))));
            }
            (BlockForm::Tag('<'), _) => triggers.add_tags_any_case(block.open),
            (BlockForm::Tag(_), [first, second, ..]) => triggers.bracket.add_any_case(*first, *second),
            (_, [first, second, ..]) => triggers.line.add(*first, *second),
            _ => {}
        }
    }
    // A heredoc, or a here-string with its third sign: its dash, or its word, behind a quotation
    // mark or a space.
    for signs in ["<<", "<<<"] {
        ["-", "~", " -", " ~"].iter().for_each(|behind| triggers.add_mark(&format!("{signs}{behind}")));
        for before in ["", " ", "'", "\"", " '", " \""] {
            let letters = (b'A'..=b'Z').chain([b'_']).map(char::from);
            letters.for_each(|letter| triggers.add_mark(&format!("{signs}{before}{letter}")));
        }
    }
    // The first item of a list, whose fence stands behind its number.
    for end in *b".)" {
        triggers.line.add(b'1', end);
    }
}

/// Adds lines of others, the user's also behind a blank line.
fn add_turns(triggers: &mut Triggers) {
    OTHERS_LINES.iter().for_each(|line| triggers.line.add_line(line.text));
    triggers.line.add(b'\r', b'\n');
    let behind_blank = triggers.behind_blank.get_or_insert_default();
    for row in USER_LINES {
        if let [first, second, ..] = *row.text.as_bytes() {
            triggers.line.add(b'\n', first);
            behind_blank.add(first, second);
        }
    }
}
