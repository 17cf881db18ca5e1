//! Calls whose opener holds their tool's name, and what stands around them.

use super::{Found, Scanner};
use crate::dialect::{Group, Named, NamedArguments, Piece};
use crate::event::MarkerKind;
use crate::parse::emit::Sink;
use crate::parse::head::{begins_token, gate, head};
use crate::parse::named::NamedJson;
use crate::parse::open::{Body, OpenCall};
use crate::parse::tables::{NamedDialect, Opener};
use crate::parse::tool_tag::{Callee, ToolTag};
use crate::parse::window::{Match, Window, leading_space};

/// Where tags or tokens around calls may stand: behind a call, and between a
/// group's opener and its closer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Around {
    /// Index of the dialect in [`Tables::named`](crate::parse::tables::Tables::named).
    named: usize,
    /// The group's opener came, and its closer did not yet.
    is_open: bool,
    /// Only white space came since the call or the opener.
    pub(super) is_near: bool,
}

impl Scanner {
    /// An opener that holds a name, with what must follow it, or what stands
    /// around such calls; yields it and its length.
    pub(super) fn named_opener(&self, text: &str, more: bool) -> Match<(Opener, usize)> {
        if !text.as_bytes().get(1..).is_some_and(|lead| self.tables.named_leads.fit(lead)) {
            return Match::No;
        }
        for (i, dialect) in self.tables.named.iter().enumerate() {
            if !dialect.may_begin(text) {
                continue;
            }
            let named = dialect.named;
            match call_of(named, text, more) {
                Match::Yes((call, length)) => return Match::Yes((Opener::Named(i, call), length)),
                Match::Undecided => return Match::Undecided,
                Match::No => {}
            }
            for group in named.groups {
                match group_of(named, group, text, more) {
                    Match::Yes((opens, length)) => return Match::Yes((Opener::Group(i, opens), length)),
                    Match::Undecided => return Match::Undecided,
                    Match::No => {}
                }
            }
        }
        Match::No
    }

    /// A call whose head, of `length` bytes, is at hand in `text`.
    pub(super) fn named_call(&self, named: usize, call: usize, length: usize, text: &str) -> OpenCall {
        let NamedDialect { dialect, named, .. } = self.tables.named[named];
        let call = &named.calls[call];
        let name = match head(call.head, text, false) {
            Match::Yes(head) => head.name,
            _ => "",
        };
        let (server, name) = self.tables.split_name(name);
        let (inner, limits) = (self.at + length as u64, self.tables.config.limits);
        let body = match call.arguments {
            NamedArguments::Json { .. } => {
                let is_known = self.tables.catalog().is_some_and(|catalog| catalog.knows(&name));
                let tool = Some(name).filter(|name| is_known || !named.types.contains(&name.as_str()));
                Body::NamedJson(Box::new(NamedJson::new(named, call, (server, tool), inner)))
            }
            NamedArguments::Tags { .. } => {
                let callee = Callee::named(&self.tables, server.as_deref(), &name);
                Body::ToolTag(Box::new(ToolTag::named(callee, call, (server, name), inner, limits.depth)))
            }
        };
        OpenCall::new(dialect, self.at, body, limits.call_bytes)
    }

    /// Takes what opens or closes a group of calls.
    pub(super) fn take_group(
        &mut self,
        named: usize,
        opens: bool,
        length: usize,
        window: &Window<'_>,
        sink: &mut Sink<'_>,
    ) -> Found {
        self.around = opens.then_some(Around { named, is_open: true, is_near: true });
        self.take_syntax(length, window, sink)
    }

    fn take_syntax(&mut self, length: usize, window: &Window<'_>, sink: &mut Sink<'_>) -> Found {
        self.at += length as u64;
        self.line_start = false;
        self.emitter.marker(MarkerKind::Wrapper, self.is_example(), window, self.at, sink);
        Found::Taken
    }

    /// A call of a dialect ended: what closes its group may follow.
    pub(super) fn behind_call(&mut self, dialect: crate::dialect::Dialect) {
        let named =
            self.tables.named.iter().position(|known| known.dialect == dialect && !known.named.groups.is_empty());
        if let Some(named) = named {
            let is_open = self.around.is_some_and(|around| around.named == named && around.is_open);
            self.around = Some(Around { named, is_open, is_near: true });
        }
    }

    /// Right behind a call or a group's opener: the group's closer, the next
    /// call, or something else. In a group, white space before them is syntax.
    pub(super) fn around_calls(&mut self, window: &Window<'_>, sink: &mut Sink<'_>) -> Found {
        let Some(around) = self.around.filter(|around| around.is_near) else { return Found::Text };
        let (text, more) = window.candidate(self.at, self.tables.hold);
        let space = leading_space(text);
        let inner = &text[space..];
        let named = self.tables.named[around.named].named;
        match (group_close(named, inner, more), inner.is_empty() && more) {
            (Match::Yes(length), _) => {
                self.around = None;
                return self.take_syntax(space + length, window, sink);
            }
            (Match::Undecided, _) | (_, true) => return Found::Hold,
            (Match::No, false) => {}
        }
        if around.is_open && space > 0 {
            match call_of(named, inner, more) {
                Match::Yes(_) => return self.take_syntax(space, window, sink),
                Match::Undecided => return Found::Hold,
                Match::No => {}
            }
        }
        self.around = around.is_open.then_some(Around { is_near: false, ..around });
        Found::Text
    }

    /// At a `<`: the closer of the group that is open; yields its length.
    pub(super) fn closes_group(&self, text: &str, more: bool) -> Match<usize> {
        match self.around {
            Some(around) if around.is_open => group_close(self.tables.named[around.named].named, text, more),
            _ => Match::No,
        }
    }
}

/// A way to write calls of which `text` begins with one; yields its index and
/// its head's length. Of those that fit the first counts.
fn call_of(named: &Named, text: &str, more: bool) -> Match<(usize, usize)> {
    for (i, call) in named.calls.iter().enumerate() {
        let length = match head(call.head, text, more) {
            Match::Yes(head) => head.length,
            Match::Undecided => return Match::Undecided,
            Match::No => continue,
        };
        match gate(call, &text[length..], more) {
            Match::Yes(()) => return Match::Yes((i, length)),
            Match::Undecided => return Match::Undecided,
            Match::No => {}
        }
    }
    Match::No
}

/// Whether `text` begins with what opens a group, and what must follow it; a
/// special token counts anywhere, as a closer, too. Yields whether it opens,
/// and its length with the white space behind an opener.
fn group_of(named: &Named, group: &Group, text: &str, more: bool) -> Match<(bool, usize)> {
    let length = match begins_token(text, group.open, more) {
        Match::Yes(length) if group.gated => length,
        Match::Yes(length) => return Match::Yes((true, length)),
        Match::Undecided => return Match::Undecided,
        Match::No if group.gated => return Match::No,
        Match::No => {
            return begins_token(text, group.close, more).map(|length| (false, length));
        }
    };
    let length = length + leading_space(&text[length..]);
    let openers = named.calls.iter().filter_map(|call| match call.head.first() {
        Some(Piece::Text(opener)) => Some(begins_token(&text[length..], opener, more)),
        _ => None,
    });
    Match::any(openers).map(|_| (true, length))
}

fn group_close(named: &Named, text: &str, more: bool) -> Match<usize> {
    Match::any(named.groups.iter().map(|group| begins_token(text, group.close, more)))
}
