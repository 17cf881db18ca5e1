//! Where something may begin, and how long it is waited for: from what a
//! configuration knows.

use super::{Marked, MarkedLead, THINK_TAGS, Tables};
use crate::dialect::{NamedArguments, SENTENCE_END, STRIKE_OPEN, TEMPLATE_TOKENS};
use crate::parse::config::HOLD_SLACK;
use crate::parse::head::longest_head;

/// Names of tools that are not known are waited for to this length, in bytes:
/// the longest that OpenAI's interface takes.
const LONG_NAME: usize = 64;

/// The same of a parameter's name.
const LONG_PARAMETER: usize = 32;

impl Tables {
    pub(super) fn fill_signs(&mut self) {
        let length = |tag: &str| tag.len() + "</>".len();
        let blocks = self.blocks.iter().map(|(_, b)| {
            let child = b.children.iter().map(|child| length(child.tag)).max();
            (b.tag, child)
        });
        let tools = self.tools.iter().filter(|_| self.tags.is_some()).map(|t| {
            let child = t.parameters.iter().map(|parameter| length(&parameter.name)).max();
            (t.tag.as_str(), child)
        });
        for (tag, child) in blocks.chain(tools).chain(THINK_TAGS.map(|tag| (tag, None))) {
            self.signs.add_mark(&format!("<{tag}>"));
            // The gate waits for the child behind the opener: both are one marker.
            self.hold = self.hold.max(length(tag) + child.unwrap_or(0) + HOLD_SLACK);
        }
        for tag in THINK_TAGS {
            self.signs.add_mark(&format!("</{tag}>"));
        }
        for (wrapper, marked) in &self.wrapped {
            self.signs.add_mark(wrapper.open);
            let longest = wrapper.open.len().max(marked.closer().map_or(0, str::len));
            self.hold = self.hold.max(longest + HOLD_SLACK);
        }
        if self.tokens {
            for mark in TEMPLATE_TOKENS.iter().map(|token| token.text).chain([SENTENCE_END, STRIKE_OPEN]) {
                self.signs.add_mark(mark);
            }
        }
        self.fill_named();
        for byte in *b"`~'" {
            self.signs.line.add(byte, byte);
        }
        self.fill_bare();
        self.fill_react();
        if let Some(Marked { lead: MarkedLead::Lines(lines), .. }) = self.marked {
            for lead in [lines.call.lead, lines.answer.lead].map(str::as_bytes) {
                self.signs.line.add_any_case(lead[0], lead[1]);
                for emphasis in *b"*_" {
                    for second in [b'*', b'_', lead[0]] {
                        self.signs.line.add_any_case(emphasis, second);
                    }
                }
            }
        }
    }

    fn fill_bare(&mut self) {
        const SPACE: &[u8] = b" \t\r\n";
        if self.python.is_some() {
            for [first, second] in self.names.leads() {
                self.signs.line.add(first, second);
                self.signs.bracket.add(first, second);
                for lead in [b"\"'", SPACE].concat() {
                    self.signs.bracket.add(lead, first);
                }
            }
            for space in SPACE {
                for lead in [b"\"'", SPACE].concat() {
                    self.signs.bracket.add(*space, lead);
                }
            }
        }
        if self.json.is_some() {
            for lead in [b"\"{", SPACE].concat() {
                self.signs.line.add(b'{', lead);
                self.signs.line.add(b'[', lead);
            }
        }
        self.hold = self.hold.max(self.names.longest() + HOLD_SLACK);
    }

    fn fill_react(&mut self) {
        let Some((_, react)) = self.react else { return };
        self.signs.line.add(b'A', b'c');
        for emphasis in *b"*_" {
            b"A*_".iter().for_each(|second| self.signs.line.add(emphasis, *second));
        }
        self.hold = self.hold.max(longest_head(react.head, self.longest_name(0)) + HOLD_SLACK);
    }

    /// Bytes of the longest name of a tool with its server before it; at least `least`.
    fn longest_name(&self, least: usize) -> usize {
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
            for mark in dialect.marks() {
                self.signs.add_mark(&mark);
                if let [_, second, third, ..] = *mark.as_bytes() {
                    self.named_leads.add(second, third);
                }
            }
            for call in dialect.named.calls {
                let child = match &call.arguments {
                    NamedArguments::Tags { open, .. } => longest_head(open, parameter),
                    NamedArguments::Json { .. } => call.close.len(),
                };
                self.hold = self.hold.max(longest_head(call.head, tool) + child + HOLD_SLACK);
            }
        }
    }
}
