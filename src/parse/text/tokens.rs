//! Leaked tokens of chat templates.

use super::tags::Here;
use super::{Recognised, Scanner};
use crate::dialect::{CALL_TOKENS, OTHER_ROLES, OWN_ROLES, SENTENCE_END, STRIKE_OPEN, TemplateToken, TokenClass};
use crate::json::window::{Answer, Match, No, Undecided, Window, begins, first_of, first_said};
use crate::parse::emit::sink::Sink;
use crate::parse::marks::fence::sentence_end;
use crate::parse::marks::tokens::tokens_at;
use crate::parse::marks::turn::RoleToken;

impl Scanner {
    /// Recognises a leaked token of a chat template at a `<` or a `[`, and removes it from the text.
    pub(super) fn token(&mut self, here: Here<'_>, sink: &mut Sink<'_>) -> Match<Recognised> {
        let Here { text, more, window, .. } = here;
        // The end of a channel is read wherever the channel is.
        let all = self.tables.tokens;
        let counts = move |token: &&&TemplateToken| all || token.class == TokenClass::EndsMessage;
        let template = || {
            let tokens = tokens_at(text).iter().filter(counts);
            first_said(
                tokens.map(|token| begins_token(text, token, more).map(|(length, role)| (token.class, role, length))),
            )
        };
        let end = self.sentence_end(text, more, window).map(|length| (TokenClass::EndsText, None, length));
        let (class, role, length) = end.else_try(template)?;
        if self.is_mention(&text[length..], more, window).decided()?.is_some() {
            return Err(No);
        }
        let (start, begins_line) = (self.at, self.context.begins_line());
        self.take_token(class, role, length, window, sink);
        self.context.new_line(window, start, self.at);
        if CALL_TOKENS.iter().any(|token| text.starts_with(token)) {
            // It announces the call that follows (`python/after_the_python_tag`).
            self.emitter.region.announce(begins_line);
        }
        Ok(Recognised::Taken)
    }

    /// Matches `</s>` with nothing but white space after it, in a text without `<s>`.
    fn sentence_end(&mut self, text: &str, more: bool, window: &Window<'_>) -> Match<usize> {
        if let Some(()) = begins(text, STRIKE_OPEN, more).decided()? {
            self.saw_strike = true;
        }
        if self.saw_strike {
            return Err(No);
        }
        sentence_end(text, more)?;
        // `text` is cut at what is held: more may follow it.
        let is_all = !window.more && text == window.from(self.at);
        if is_all { Ok(SENTENCE_END.len()) } else { Err(No) }
    }
}

/// Matches a chat template's token at the start of `text`, with the role that may follow it; returns the length of
/// both, and whose turn that role opens.
fn begins_token(text: &str, token: &TemplateToken, more: bool) -> Match<(usize, Option<RoleToken>)> {
    let (length, end) = match (begins(text, token.text, more), token.class) {
        (Ok(()), TokenClass::OpensRole(end)) => (token.text.len(), end),
        (found, _) => return found.map(|()| (token.text.len(), None)),
    };
    let role = |name: &&str, role: RoleToken| {
        begins(&text[length..], name, more)?;
        role_end(&text[length + name.len()..], end, more).map(|end| (length + name.len() + end, Some(role)))
    };
    let own = first_said(OWN_ROLES.iter().map(|name| role(name, RoleToken::Own)));
    let known = OTHER_ROLES.iter().fold(own, |found, name| found.else_try(|| role(name, RoleToken::Other)));
    known.else_try(|| match text[length..].bytes().next() {
        Some(b'<' | b'[') => Ok((length, None)),
        // The role is a tool's name (`functions.f to=assistant`).
        Some(byte) if end == "<|" && byte.is_ascii_alphanumeric() => Ok((length, Some(RoleToken::Other))),
        Some(_) => Ok((length, Some(RoleToken::Unknown))),
        None if more => Err(Undecided),
        None => Ok((length, None)),
    })
}

/// Matches the end of a role's name; returns the length of the part of that end that belongs to the role.
///
/// Only a line break belongs to the role: a token after the role is matched by itself, and so is any other text that a
/// template puts there.
fn role_end(text: &str, end: &str, more: bool) -> Match<usize> {
    if text.is_empty() && !more {
        return Ok(0);
    }
    let own = begins(text, end, more).map(|()| if end == "\n" { end.len() } else { 0 });
    let others = [begins(text, " to=", more), begins(text, " name=", more)];
    own.else_try(|| first_of(others).map(|()| 0))
}
