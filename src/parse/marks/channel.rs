//! Headers of Harmony's channels, which classify the text after them.
//!
//! ```text
//!   [<|start|>assistant[ to=WHO]]<|channel|>NAME[ to=WHO][ <|constrain|>TYPE]<|message|>
//! ```
//!
//! Muse Glimmer names no channel but who is spoken to: `self` in its analysis, `user` in its answer
//! (`<|start|>assistant to=self<|message|>`).

use crate::json::window::{Answer, Match, No, Undecided, begins, leading_space};

/// Kind of text that a Harmony channel carries: analysis (reasoning), commentary, or the final answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Channel {
    Analysis,
    Commentary,
    Final,
}

/// A Harmony channel header that was matched at the start of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) channel: Channel,
    /// `true` if the header begins with `<|start|>assistant`, and not with `<|channel|>`.
    pub(crate) starts: bool,
    pub(crate) length: usize,
}

/// Token that begins a Harmony message.
pub(crate) const START: &str = "<|start|>";
pub(crate) const OWN: &str = "<|start|>assistant";
pub(crate) const CHANNEL: &str = "<|channel|>";
/// Recipients (`to=…`) that determine the channel of a header without a channel name, with that channel.
pub(crate) const RECIPIENTS: [(&str, Channel); 2] = [("to=self", Channel::Analysis), ("to=user", Channel::Final)];
const CONSTRAIN: &str = "<|constrain|>";
const MESSAGE: &str = "<|message|>";

/// Maximum length in bytes of a recipient or content type in a channel header.
const MAX_WORDS: usize = 64;

/// Maximum number of channel names in one header: a model may write a second one where the message should begin.
const MAX_CHANNELS: usize = 2;

/// Matches a Harmony channel header at the start of `text`, up to and including `<|message|>`.
pub(crate) fn header(text: &str, more: bool) -> Match<Header> {
    let mut at = 0;
    let starts = begins(text, OWN, more).decided()?.is_some();
    let mut channel = None;
    if starts {
        at = OWN.len() + words(&text[OWN.len()..], more)?;
        let who = text[OWN.len()..at].trim();
        channel = RECIPIENTS.iter().find(|(recipient, _)| *recipient == who).map(|(_, channel)| *channel);
    }
    for _ in 0..MAX_CHANNELS {
        if begins(&text[at..], CHANNEL, more).decided()?.is_none() {
            break;
        }
        at += CHANNEL.len();
        at += leading_space(&text[at..]);
        let name = text[at..].bytes().take_while(u8::is_ascii_lowercase).count();
        if at + name == text.len() && more {
            return Err(Undecided);
        }
        channel = match &text[at..at + name] {
            "analysis" => Some(Channel::Analysis),
            "commentary" => Some(Channel::Commentary),
            "final" => Some(Channel::Final),
            _ => return Err(No),
        };
        at += name;
        // The recipient, or the type without its token; then the type with it. All may be missing.
        for token in ["", CONSTRAIN] {
            if begins(&text[at..], token, more).decided()?.is_some() {
                at += token.len();
                at += words(&text[at..], more)?;
            }
        }
    }
    let Some(channel) = channel else { return Err(No) };
    begins(&text[at..], MESSAGE, more).map(|()| Header { channel, starts, length: at + MESSAGE.len() })
}

/// Returns the length of the text before the next `<`, which is on the same line and at most `MAX_WORDS` bytes away.
fn words(text: &str, more: bool) -> Match<usize> {
    match text.find(['<', '\n']) {
        Some(end) if end <= MAX_WORDS && text[end..].starts_with('<') => Ok(end),
        None if more && text.len() <= MAX_WORDS => Err(Undecided),
        _ => Err(No),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_found_held_and_refused_at_every_cut() {
        for (text, channel, starts) in [
            ("<|channel|>analysis<|message|>", Channel::Analysis, false),
            ("<|start|>assistant<|channel|>final<|message|>", Channel::Final, true),
            (
                "<|start|>assistant<|channel|>commentary to=python <|constrain|>code<|message|>",
                Channel::Commentary,
                true,
            ),
            ("<|start|>assistant to=user<|channel|>final json<|message|>", Channel::Final, true),
            ("<|start|>assistant to=self<|message|>", Channel::Analysis, true),
            ("<|start|>assistant to=user<|message|>", Channel::Final, true),
            ("<|channel|>commentary to=assistant<|channel|>analysis<|message|>", Channel::Analysis, false),
        ] {
            assert_eq!(header(text, true), Ok(Header { channel, starts, length: text.len() }), "{text}");
            for end in 1..text.len() {
                assert_eq!(header(&text[..end], true), Err(Undecided), "{}", &text[..end]);
                assert_eq!(header(&text[..end], false), Err(No), "{}", &text[..end]);
            }
        }
        let long = format!("<|channel|>final {}", "x".repeat(MAX_WORDS + 1));
        for text in [
            "<|channel|>finally<|message|>",
            "<|channel|>final\n<|message|>",
            "<|start|>user<|message|>",
            "<|start|>assistant to=f<|message|>",
            &long,
        ] {
            assert_eq!(header(text, true), Err(No), "{text}");
        }
    }
}
