//! Leaked tokens of chat templates.

use super::{Found, Scanner};
use crate::dialect::{ROLES, SENTENCE_END, STRIKE_OPEN, TEMPLATE_TOKENS, TemplateToken};
use crate::event::MarkerKind;
use crate::parse::emit::Sink;
use crate::parse::window::{Match, Window, begins, leading_space};

impl Scanner {
    /// At a `<` that opens nothing else: a token, which is taken off.
    pub(super) fn token(&mut self, text: &str, more: bool, window: &Window<'_>, sink: &mut Sink<'_>) -> Found {
        if !self.tables.tokens || self.fence.is_some() {
            return Found::Text;
        }
        // `</` is frequent, and few tokens share the second byte.
        let second = text.as_bytes().get(1);
        let tokens = TEMPLATE_TOKENS.iter().filter(|token| token.text.as_bytes().get(1) == second);
        let template = || tokens.fold(Match::No, |found, token| found.or_else(|| begins_token(text, token, more)));
        let length = match self.sentence_end(text, more, window).or_else(template) {
            Match::Undecided => return Found::Hold,
            Match::No => return Found::Text,
            Match::Yes(length) => length,
        };
        self.at += length as u64;
        self.emitter.marker(MarkerKind::Token, false, window, self.at, sink);
        self.line_start = true;
        Found::Taken
    }

    /// `</s>` with nothing but white space behind it, in a text without `<s>`.
    fn sentence_end(&mut self, text: &str, more: bool, window: &Window<'_>) -> Match<usize> {
        match begins(text, STRIKE_OPEN, more) {
            Match::Undecided => return Match::Undecided,
            Match::Yes(()) => self.saw_strike = true,
            Match::No => {}
        }
        if self.saw_strike {
            return Match::No;
        }
        match begins(text, SENTENCE_END, more) {
            Match::Yes(()) => {
                let rest = &text[SENTENCE_END.len()..];
                match leading_space(rest) == rest.len() {
                    true if more => Match::Undecided,
                    true if !window.more && text == window.from(self.at) => Match::Yes(SENTENCE_END.len()),
                    _ => Match::No,
                }
            }
            Match::Undecided => Match::Undecided,
            Match::No => Match::No,
        }
    }
}

/// Whether `text` begins with this token, a role behind it included; yields the length.
fn begins_token(text: &str, token: &TemplateToken, more: bool) -> Match<usize> {
    let (length, end) = match (begins(text, token.text, more), token.role_end) {
        (Match::Yes(()), Some(end)) => (token.text.len(), end),
        (found, _) => return found.map(|()| token.text.len()),
    };
    let role = |role: &&str| match begins(&text[length..], role, more) {
        Match::Yes(()) => role_end(&text[length + role.len()..], end, more).map(|end| length + role.len() + end),
        Match::Undecided => Match::Undecided,
        Match::No => Match::No,
    };
    ROLES.iter().fold(Match::No, |found, name| found.or_else(|| role(name))).or_else(|| Match::Yes(length))
}

/// Whether a role's name is over; yields what of its end belongs to it. A token
/// that ends it is one of its own.
fn role_end(text: &str, end: &str, more: bool) -> Match<usize> {
    if text.is_empty() && !more {
        return Match::Yes(0);
    }
    begins(text, end, more).map(|()| if end == "\n" { end.len() } else { 0 })
}
