//! Fills the tables from a configuration: the places where something may begin, and how many bytes are held for it.

use super::{Marker, Tables};
use crate::dialect::{
    BlockForm, LineMarker, NamedArguments, OTHERS_LINES, QUOTING_BLOCKS, ReasoningMark, SENTENCE_END, STRIKE_OPEN,
    THINK_TAGS, USER_LINES,
};
use crate::parse::config::HOLD_SLACK;
use crate::parse::marks::channel::{CHANNEL, START};
use crate::parse::marks::fence::FENCE_TAGS;
use crate::parse::marks::head::longest_head;
use crate::parse::marks::kinds::Kinds;
use crate::parse::marks::lexicon::Lexicon;
use crate::parse::marks::tokens::tokens_at;

/// Assumed maximum length in bytes of the name of an unknown tool, for the number of bytes that are held back: the
/// longest that OpenAI's API accepts.
const LONG_NAME: usize = 64;

/// Assumed maximum length in bytes of the name of an unknown parameter, for the number of bytes that are held back.
const LONG_PARAMETER: usize = 32;

impl Tables {
    pub(crate) fn fill_lexicon(&mut self) {
        let length = |tag: &str| tag.len() + "</>".len();
        for (_, block) in &self.blocks {
            // A truncated one is reported to a caller that asks for rejected candidates (`Tables::mark`).
            if let Some(lead) = block.tag.as_bytes().first_chunk::<2>() {
                self.lexicon.tag.add(lead, Kinds::PARTIAL);
            }
        }
        let blocks = self.blocks.iter().map(|(_, b)| {
            let child = b.children.iter().map(|child| length(&child.tag)).max();
            (b.tag.as_str(), child)
        });
        // The list serves other dialects, too; a tool's own tag counts only where `tool_tag` is read.
        let tools = self.tools.iter().filter(|_| self.tags.is_some()).map(|t| {
            let child = t.parameters.iter().map(|parameter| length(&parameter.name)).max();
            (t.tag.as_str(), child)
        });
        let blocks = blocks.map(|(tag, child)| (tag, child, Kinds::ELEMENT));
        for (tag, child, kind) in blocks.chain(tools.map(|(tag, child)| (tag, child, Kinds::TOOL_TAG))) {
            self.lexicon.add_mark(&format!("<{tag}>"), kind);
            self.lexicon.add_mark(&format!("</{tag}>"), Kinds::CLOSER);
            // The gate waits for the child after the opener: both are one marker.
            self.hold = self.hold.max(length(tag) + child.unwrap_or(0) + HOLD_SLACK);
        }
        for tag in THINK_TAGS {
            self.hold = self.hold.max(length(tag) + HOLD_SLACK);
        }
        for mark in self.marks.clone() {
            for text in [mark.open, mark.close] {
                match ReasoningMark::is_marker(text) {
                    true => self.lexicon.add_mark(text, Kinds::REASONING),
                    false => self.lexicon.line.add(text.as_bytes(), Kinds::REASONING),
                }
                self.hold = self.hold.max(text.len() + HOLD_SLACK);
            }
        }
        for (wrapper, marked) in &self.wrapped {
            self.lexicon.add_mark(&wrapper.open, Kinds::MARKER);
            wrapper.close.iter().for_each(|close| self.lexicon.add_mark(close, Kinds::CLOSER));
            let longest = wrapper.open.len().max(marked.closer().map_or(0, str::len));
            self.hold = self.hold.max(longest + HOLD_SLACK);
        }
        if self.tokens {
            let longest = OTHERS_LINES.all.iter().map(|line| line.text.len()).max();
            self.hold = self.hold.max(longest.unwrap_or(0) + HOLD_SLACK);
        }
        self.fill_around_calls();
        self.fill_named();
        self.fill_lined();
    }

    /// Adds the delimiters that are not those of calls to the lexicon: think tags, fences, tokens of chat templates,
    /// turns, blocks that quote.
    fn fill_around_calls(&mut self) {
        let lexicon = &mut self.lexicon;
        for tag in THINK_TAGS {
            lexicon.tag.add_any_case(tag, Kinds::THINK);
            lexicon.tag.add_any_case(&format!("/{tag}"), Kinds::THINK);
        }
        [START, CHANNEL].iter().for_each(|mark| lexicon.add_mark(mark, Kinds::CHANNEL));
        lexicon.add_mark("<|end|>", Kinds::TOKEN);
        if self.tokens {
            for mark in tokens_at("").iter().map(|token| token.text).chain([SENTENCE_END, STRIKE_OPEN]) {
                lexicon.add_mark(mark, Kinds::TOKEN);
            }
            // Attributes may follow.
            self.result_tags.iter().for_each(|tag| lexicon.add_mark(&format!("<{tag}"), Kinds::RESULT));
            add_turns(lexicon);
        }
        add_fences(lexicon);
        add_blocks(lexicon, &self.named_blocks);
    }

    fn fill_lined(&mut self) {
        for marked in &self.lined {
            let lines = match marked.marker {
                Marker::Lines(call, answer) => [call, answer],
                Marker::Wrapper(word) => {
                    self.lexicon.line.add(word.open.as_bytes(), Kinds::MARKER);
                    self.hold = self.hold.max(word.open.len() + HOLD_SLACK);
                    continue;
                }
            };
            for LineMarker { lead, .. } in lines {
                for before in ["", "*", "_"] {
                    self.lexicon.line.add_any_case(&format!("{before}{lead}"), Kinds::MARKER);
                }
                // Any number of them may be before it.
                [b"**", b"*_", b"_*", b"__"].iter().for_each(|signs| self.lexicon.line.add(*signs, Kinds::MARKER));
            }
        }
    }

    /// Raises the number of bytes that are held back to that of the longest known tool name, with which a call without
    /// a marker may begin.
    pub(crate) fn holds_names(&mut self) {
        self.hold = self.hold.max(self.names.longest() + HOLD_SLACK);
    }

    /// Returns the length in bytes of the longest tool name as `server.tool`; at least `least`.
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
            dialect.openers().for_each(|opener| self.lexicon.add_mark(opener, Kinds::NAMED));
            dialect.closers().for_each(|closer| self.lexicon.add_mark(closer, Kinds::CLOSER));
            for call in &dialect.named.calls {
                let child = match &call.arguments {
                    NamedArguments::Tags { open, .. } => longest_head(open, parameter),
                    NamedArguments::Json | NamedArguments::FencedJson => call.close.len(),
                    NamedArguments::Delimited(_) | NamedArguments::Arrows => "{".len(),
                    NamedArguments::Elements(token) => token.len(),
                    NamedArguments::None => 0,
                };
                self.hold = self.hold.max(longest_head(&call.head, tool) + child + HOLD_SLACK);
            }
        }
    }
}

/// Adds the lines that begin code fences, and the HTML tags that close a fence, to the lexicon.
fn add_fences(lexicon: &mut Lexicon) {
    for sign in *b"`~'" {
        lexicon.line.add(&[sign, sign], Kinds::FENCE);
        // The first item of a list, whose fence is after its number.
        for number in [b"1.", b"1)"] {
            // After more space than one, whatever follows.
            for space in [&[sign][..], &[b' ', sign], &[b'\t', sign], b"  ", b" \t", b"\t ", b"\t\t"] {
                lexicon.line.add(&[number, space].concat(), Kinds::NUMBER);
            }
        }
    }
    for tag in FENCE_TAGS {
        lexicon.line.add(format!("<{tag}").as_bytes(), Kinds::FENCE);
        lexicon.add_mark(&format!("</{tag}>"), Kinds::FENCE_TAG);
    }
}

/// Adds the openers of blocks that quote, except those named in `names`, and of heredocs to the lexicon.
fn add_blocks(lexicon: &mut Lexicon, names: &[&str]) {
    for block in QUOTING_BLOCKS.iter().filter(|block| !names.contains(&block.open)) {
        match (block.form, block.open) {
            (BlockForm::Anywhere, open) => lexicon.add_mark(open, Kinds::QUOTE),
            // Attributes may follow a tag of one letter.
            (BlockForm::Tag(bracket), open) if open.len() == 1 => {
                [">", " "].iter().for_each(|end| {
                    lexicon.after(bracket == '[').add_any_case(&format!("{open}{end}"), Kinds::QUOTE);
                });
            }
            (BlockForm::Tag(bracket), open) => lexicon.after(bracket == '[').add_any_case(open, Kinds::QUOTE),
            (BlockForm::FromALine | BlockForm::Lines, open) => lexicon.line.add_any_case(open, Kinds::QUOTE),
        }
    }
    // A heredoc, or a here-string with its third sign: its dash, or its word, after a quotation
    // mark or a space.
    for signs in ["<<", "<<<"] {
        let letters = || (b'A'..=b'Z').chain([b'_']).map(char::from);
        let words =
            ["", " ", "'", "\"", " '", " \""].iter().flat_map(|before| letters().map(move |c| format!("{before}{c}")));
        let dashes = ["-", "~", " -", " ~"].map(str::to_owned);
        dashes.into_iter().chain(words).for_each(|lead| lexicon.add_mark(&format!("{signs}{lead}"), Kinds::QUOTE));
    }
}

/// Adds the lines that begin another role's turn to the lexicon, those of the user also after a blank line.
fn add_turns(lexicon: &mut Lexicon) {
    for line in &OTHERS_LINES.all {
        others_leads(line.text).iter().for_each(|lead| lexicon.line.add(lead, Kinds::TURN));
    }
    for row in USER_LINES.iter() {
        for lead in others_leads(row.text) {
            lexicon.line.add(&[b"\n", &*lead].concat(), Kinds::TURN);
            lexicon.line.add(&[b"\r\n", &*lead].concat(), Kinds::TURN);
        }
    }
    // If several blank lines come before it, the first of them begins it.
    [b"\r\n\r", b"\r\n\n"].iter().for_each(|lines| lexicon.line.add(*lines, Kinds::TURN));
}

/// Returns the beginnings of `row`, a line pattern of another role's turn. A row in square brackets is cut before its
/// number, `#`, or after the first letter of its name, `@`.
fn others_leads(row: &str) -> Vec<Vec<u8>> {
    let at = row.find(['#', '@']).filter(|_| row.starts_with('[')).unwrap_or(row.len());
    match row[at..].starts_with('@') {
        true => (b'a'..=b'z').map(|letter| [&row.as_bytes()[..at], &[letter]].concat()).collect(),
        false => vec![row.as_bytes()[..at].to_vec()],
    }
}
