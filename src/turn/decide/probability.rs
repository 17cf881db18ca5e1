//! Computes the probability that a message begins with a call, from its first tokens.
//!
//! Tokens are split as the model's tokenizer likes: `<use_mcp_tool>` may be one token, or `<`, `use`, …, or ` <`, or a
//! line break and then one of these. So each alternative counts that is the beginning of a call's opener, or begins
//! with one. If the message continues with an undecided token (white space, or a beginning that a call and something
//! else share), the next token's alternatives count in proportion to that token's probability.
//!
//! Reasoning at the beginning of a message is skipped.

use super::openers::{Fits, Openers};
use crate::message::ReasoningMode;
use crate::model::TokenChoice;
use crate::turn::config::RoundModel;

/// Position of the tokens that were read in a message: in its answer, or in its reasoning.
#[derive(Debug, Clone, PartialEq)]
enum MessagePosition {
    /// At the beginning of the answer; contains the text of the answer so far.
    Answer(String),
    /// In reasoning that `close` ends; contains the text of the reasoning so far.
    Reasoning { close: String, text: String },
}

/// Result of measuring the beginning of a message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct MessageStart {
    /// `true` if the message begins with a call.
    pub(super) calls: bool,
    /// Natural logarithm of the probability of a call; `None` if it cannot be computed.
    pub(super) likely: Option<f64>,
    /// `true` if no alternative token begins anything but a call.
    pub(super) is_masked: bool,
}

/// The probability that a message begins with a call, from the tokens so far.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Probability {
    place: MessagePosition,
    /// Product of the probabilities of the answer's tokens so far.
    reached: f64,
    /// Probability of the calls that alternatives to these tokens begin.
    call: f64,
    /// `true` if a token has arrived.
    pub(super) has_begun: bool,
    /// `true` if the alternatives of some token of the answer are unknown.
    is_unknown: bool,
    /// `true` if no token so far could have begun anything but a call.
    is_masked: bool,
    /// `true` if a shared beginning of calls and reasoning counts as reasoning, because the model reasons.
    reasons: bool,
}

impl Probability {
    pub(super) fn new(openers: &Openers, model: &RoundModel) -> Self {
        let close = openers.opens_reasoning("<think>").map_or("</think>", |(close, _)| close).to_owned();
        let place = match model.reasoning {
            // The chat template has opened the reasoning.
            ReasoningMode::Open => MessagePosition::Reasoning { close, text: String::new() },
            _ => MessagePosition::Answer(String::new()),
        };
        let reasons = model.reasoning != ReasoningMode::Off && model.reasons == Some(true);
        Probability { place, reached: 1.0, call: 0.0, has_begun: false, is_unknown: false, is_masked: true, reasons }
    }

    /// Records that reasoning arrived in a field of its own, so the text after it is the answer.
    pub(super) fn reasons_apart(&mut self) {
        // Once tokens of the answer were counted, a late field must not discard them.
        if !self.has_begun {
            self.answers("");
        }
    }

    /// Handles the next tokens and returns the result of the measurement, once it is known.
    pub(super) fn push(&mut self, tokens: &[TokenChoice], openers: &Openers) -> Option<MessageStart> {
        self.has_begun |= !tokens.is_empty();
        tokens.iter().find_map(|token| self.token(token, openers))
    }

    fn token(&mut self, token: &TokenChoice, openers: &Openers) -> Option<MessageStart> {
        let before = match &mut self.place {
            MessagePosition::Reasoning { close, text } => {
                let (close, text) = (std::mem::take(close), format!("{text}{}", token.text));
                self.thinks(close, text);
                return None;
            }
            MessagePosition::Answer(before) => before.clone(),
        };
        let text = format!("{before}{}", token.text);
        let text = text.trim_start();
        let fits = openers.fits(text);
        let reasoning = openers.opens_reasoning(text);
        // Blank text, a beginning that a call shares with something else, and reasoning leave it to the next token.
        let is_open = text.is_empty() || (fits.other && !openers.is_call(text));
        let goes_on = is_open && reasoning.is_none();
        let others = || token.others.iter().filter(|(other, _)| *other != token.text);
        let is_call = |other: &str| self.begins_call(&before, other, openers);
        let is_masked = others().all(|(other, p)| is_call(other) || *p == f64::NEG_INFINITY);
        let others: f64 = others().filter(|(other, _)| is_call(other)).map(|(_, p)| p.exp()).sum();
        self.is_masked &= is_masked;
        self.is_unknown |= token.others.is_empty() && !text.is_empty();
        // A beginning that is still open counts with its next token.
        let own = if fits.call && !goes_on { token.logprob.exp() } else { 0.0 };
        self.call += self.reached * (others + own);
        if let Some((close, after)) = reasoning {
            self.thinks(close.to_owned(), after.to_owned());
            return None;
        }
        if goes_on {
            self.reached *= token.logprob.exp();
            self.place = MessagePosition::Answer(text.to_owned());
            return None;
        }
        Some(MessageStart {
            calls: fits.call,
            likely: (!self.is_unknown).then(|| self.call.ln()),
            // If the message is no call, a mask would have forbidden it.
            is_masked: self.is_masked && fits.call,
        })
    }

    /// Returns `true` if an alternative token after this text begins a call.
    fn begins_call(&self, before: &str, token: &str, openers: &Openers) -> bool {
        let text = format!("{before}{token}");
        let text = text.trim_start();
        let Fits { call, other } = openers.fits(text);
        let is_whole = openers.is_call(text);
        // A shared beginning counts as the more common one: `<` begins reasoning in a model that reasons, `TYPE` begins
        // an answer.
        let is_others = other && !is_whole && (self.reasons || !text.starts_with('<'));
        !text.is_empty() && call && !is_others
    }

    /// Continues the reasoning with this text, until its closer.
    fn thinks(&mut self, close: String, text: String) {
        match text.find(close.as_str()) {
            Some(at) => self.answers(text[at + close.len()..].trim_start()),
            // Only as much of the text is kept as may begin the closer.
            None => {
                let from = text.ceil_char_boundary(text.len().saturating_sub(close.len()));
                self.place = MessagePosition::Reasoning { close, text: text[from..].to_owned() };
            }
        }
    }

    /// Begins the answer, of which this text has arrived, and resets the probabilities.
    fn answers(&mut self, text: &str) {
        self.place = MessagePosition::Answer(text.to_owned());
        (self.reached, self.call, self.is_unknown) = (1.0, 0.0, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
    use crate::tools::{Catalog, Tool};
    use crate::turn::config::TurnConfig;

    fn taught(dialect: Dialect) -> Openers {
        let tools = ["weather", "time"].map(|name| Tool::new(name).with_server("demo"));
        Openers::new(dialect, &Catalog::from_tools(tools), &[])
    }

    /// Returns a token with its alternatives; probabilities are in percent.
    fn token(text: &str, percent: f64, others: &[(&str, f64)]) -> TokenChoice {
        let ln = |percent: f64| (percent / 100.0).ln();
        let token = TokenChoice::new(text, ln(percent)).or(text, ln(percent));
        others.iter().fold(token, |token, (text, percent)| token.or(*text, ln(*percent)))
    }

    /// Returns the probability, in percent, that a message with these first tokens begins a call; `None` while it is
    /// undecided.
    fn of(model: &RoundModel, openers: &Openers, tokens: &[TokenChoice]) -> Option<f64> {
        let found = Probability::new(openers, model).push(tokens, openers)?;
        Some((found.likely.expect("the alternatives are known").exp() * 1e6).round() / 1e4)
    }

    fn likely(reasons: Option<bool>, openers: &Openers, tokens: &[TokenChoice]) -> Option<f64> {
        of(&RoundModel { reasons, ..RoundModel::own(&TurnConfig::default()) }, openers, tokens)
    }

    #[test]
    fn an_opener_counts_however_the_tokeniser_splits_it() {
        let openers = taught(Dialect::UseMcpTool);
        for others in [
            &[("<", 30.0)][..],
            &[("<use", 30.0)],
            &[("<use_mcp_tool>", 30.0)],
            &[("<use_mcp_tool>\n", 30.0)],
            &[(" <", 30.0)],
            &[("\n<use", 30.0)],
            &[("<", 10.0), ("<u", 10.0), (" <use_mcp", 10.0), ("Hi", 5.0)],
        ] {
            assert_eq!(likely(None, &openers, &[token("It", 60.0, others)]), Some(30.0), "{others:?}");
        }
        for others in [&[("</", 30.0)][..], &[("<b", 30.0)], &[("use", 30.0)], &[("", 30.0)], &[("\n", 30.0)], &[]] {
            assert_eq!(likely(None, &openers, &[token("It", 60.0, others)]), Some(0.0), "{others:?}");
        }
    }

    #[test]
    fn the_token_that_is_written_counts_as_those_beside_it() {
        let openers = taught(Dialect::UseMcpTool);
        for tokens in [
            &[token("<use", 70.0, &[("It", 20.0), ("<", 10.0)])][..],
            // White space decides nothing: what follows counts by how likely it was.
            &[token("\n", 50.0, &[("<", 30.0), ("It", 20.0)]), token("It", 0.0, &[("<use_mcp_tool>", 100.0)])],
            // So does a beginning that may be reasoning.
            &[token("<", 80.0, &[("It", 20.0)]), token("use", 100.0, &[("think", 0.0)])],
        ] {
            assert_eq!(likely(None, &openers, tokens), Some(80.0), "{tokens:?}");
        }
        assert_eq!(likely(None, &openers, &[token("\n", 50.0, &[("<", 30.0)])]), None);
    }

    #[test]
    fn an_opener_that_an_answer_shares_in_part_is_decided_where_they_part() {
        let openers = taught(Dialect::TypeMarker);
        let marker = |mcp: f64| {
            [
                token("TYPE", 90.0, &[("Hi", 10.0)]),
                token(":", 100.0, &[("Hi", 0.0)]),
                token(" ANSWER", 100.0 - mcp, &[(" MCP", mcp)]),
            ]
        };
        assert_eq!(likely(None, &openers, &marker(50.0)), Some(45.0));
        assert_eq!(likely(None, &openers, &marker(0.0)), Some(0.0));
        assert_eq!(likely(None, &openers, &marker(50.0)[..2]), None);
        assert_eq!(likely(None, &openers, &[token("Hi", 60.0, &[("TYPE: MCP", 40.0)])]), Some(40.0));
        let openers = taught(Dialect::ToolTag);
        let tokens =
            [token("It", 60.0, &[("<weather", 10.0), ("<time>", 10.0), ("<", 10.0), ("<wea", 5.0), ("<x", 5.0)])];
        assert_eq!(likely(None, &openers, &tokens), Some(35.0));
    }

    #[test]
    fn reasoning_is_passed_over() {
        let openers = taught(Dialect::UseMcpTool);
        let end = || token("It", 60.0, &[("<use", 40.0)]);
        let thinks = |text: &str| token(text, 100.0, &[("<use_mcp_tool>", 0.0)]);
        for tokens in [
            vec![thinks("<think>"), thinks("So"), thinks("</think>"), thinks("\n\n"), end()],
            vec![thinks("<"), thinks("think"), thinks(">So </"), thinks("think>\n"), end()],
            vec![thinks("\n<think>So</think>"), end()],
        ] {
            assert_eq!(likely(Some(true), &openers, &tokens), Some(40.0), "{tokens:?}");
            assert_eq!(likely(None, &openers, &tokens), Some(40.0), "{tokens:?}");
            assert_eq!(likely(None, &openers, &tokens[..tokens.len() - 1]), None, "{tokens:?}");
        }
        let mut open = RoundModel::own(&TurnConfig::default());
        (open.reasoning, open.reasons) = (ReasoningMode::Open, Some(true));
        assert_eq!(of(&open, &openers, &[thinks("So <"), thinks("/think>"), end()]), Some(40.0));
        assert_eq!(of(&open, &openers, &[thinks("So"), end()]), None);
        // Of a model that reasons, `<` may begin that.
        assert_eq!(likely(Some(true), &openers, &[token("It", 60.0, &[("<", 40.0)])]), Some(0.0));
    }
}
