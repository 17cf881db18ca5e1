//! How likely a message begins with a call, by the tokens with which it begins.
//!
//! Tokens are cut as the model's tokeniser likes: `<use_mcp_tool>` may come whole, as `<`, `use`,
//! …, as ` <`, or as a line break and then one of these. So each alternative counts that is a
//! beginning of a call's opener, or begins with one, and where the message goes on with a token
//! that decides nothing (white space; a beginning that a call and something else share) the next
//! token's alternatives count by how likely that token was.
//!
//! Reasoning that a message begins with is passed over.

use super::openers::{Fits, Openers};
use crate::message::ReasoningMode;
use crate::model::TokenChoice;
use crate::turn::config::RoundModel;

/// How far the message is.
#[derive(Debug, Clone, PartialEq)]
enum Place {
    /// Where the answer begins, behind this text of it.
    Answer(String),
    /// In reasoning that this closes, behind this text of it.
    Reasoning { close: String, text: String },
}

/// How a message begins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Begun {
    /// With a call.
    pub(super) calls: bool,
    /// How likely that was, as a logarithm; nothing where it cannot be told.
    pub(super) likely: Option<f64>,
    /// No token that could have stood there begins anything else.
    pub(super) is_masked: bool,
}

/// How likely a message begins with a call, as far as it has come.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Probability {
    place: Place,
    /// Of the tokens of the answer so far.
    reached: f64,
    /// Of the beginnings of a call beside them.
    call: f64,
    /// A token came.
    begun: bool,
    /// Alternatives of some token of the answer are unknown.
    is_unknown: bool,
    /// No token so far could have been the beginning of anything but a call.
    is_masked: bool,
    /// A beginning of a call that may be reasoning is reasoning, for all that is known.
    reasons: bool,
}

impl Probability {
    pub(super) fn new(openers: &Openers, model: &RoundModel) -> Self {
        let close = openers.opens_reasoning("<think>").map_or("</think>", |(close, _)| close).to_owned();
        let place = match model.reasoning {
            // The chat template opened it.
            ReasoningMode::Open => Place::Reasoning { close, text: String::new() },
            _ => Place::Answer(String::new()),
        };
        let reasons = model.reasoning != ReasoningMode::Off && model.reasons == Some(true);
        Probability { place, reached: 1.0, call: 0.0, begun: false, is_unknown: false, is_masked: true, reasons }
    }

    /// Whether a token came.
    pub(super) fn has_begun(&self) -> bool {
        self.begun
    }

    /// The text behind what comes in the field of reasoning is the answer.
    pub(super) fn reasons_apart(&mut self) {
        if !self.begun {
            self.answers("");
        }
    }

    /// Takes the next tokens; how the message begins, once it does.
    pub(super) fn push(&mut self, tokens: &[TokenChoice], openers: &Openers) -> Option<Begun> {
        self.begun |= !tokens.is_empty();
        tokens.iter().find_map(|token| self.token(token, openers))
    }

    fn token(&mut self, token: &TokenChoice, openers: &Openers) -> Option<Begun> {
        let before = match &mut self.place {
            Place::Reasoning { close, text } => {
                let (close, text) = (std::mem::take(close), format!("{text}{}", token.text));
                self.thinks(close, text);
                return None;
            }
            Place::Answer(before) => before.clone(),
        };
        let text = format!("{before}{}", token.text);
        let text = text.trim_start();
        let fits = openers.fits(text);
        let reasoning = openers.opens_reasoning(text);
        // What is blank, or begins a call and something else alike, or reasoning: the next token tells.
        let is_open = text.is_empty() || (fits.other && !openers.is_call(text));
        let goes_on = is_open && reasoning.is_none();
        let others = || token.others.iter().filter(|(other, _)| *other != token.text);
        let is_call = |other: &str| self.begins_call(&before, other, openers);
        let is_masked = others().all(|(other, p)| is_call(other) || *p == f64::NEG_INFINITY);
        let others: f64 = others().filter(|(other, _)| is_call(other)).map(|(_, p)| p.exp()).sum();
        self.is_masked &= is_masked;
        self.is_unknown |= token.others.is_empty() && !text.is_empty();
        let own = if fits.call && !goes_on { token.logprob.exp() } else { 0.0 };
        self.call += self.reached * (others + own);
        if let Some((close, behind)) = reasoning {
            self.thinks(close.to_owned(), behind.to_owned());
            return None;
        }
        if goes_on {
            self.reached *= token.logprob.exp();
            self.place = Place::Answer(text.to_owned());
            return None;
        }
        Some(Begun {
            calls: fits.call,
            likely: (!self.is_unknown).then(|| self.call.ln()),
            is_masked: self.is_masked && fits.call,
        })
    }

    /// Whether a token that could have stood behind this text begins a call.
    fn begins_call(&self, before: &str, token: &str, openers: &Openers) -> bool {
        let text = format!("{before}{token}");
        let text = text.trim_start();
        let Fits { call, other } = openers.fits(text);
        let is_whole = openers.is_call(text);
        // Of two beginnings that are alike the commoner one is meant: `<` begins reasoning of a model
        // that reasons, `TYPE` an answer.
        let is_others = other && !is_whole && (self.reasons || !text.starts_with('<'));
        !text.is_empty() && call && !is_others
    }

    /// Reasoning goes on with this text, until what closes it.
    fn thinks(&mut self, close: String, text: String) {
        match text.find(close.as_str()) {
            Some(at) => self.answers(text[at + close.len()..].trim_start()),
            // Of what came before only as much counts as may begin its closer.
            None => {
                let from = text.ceil_char_boundary(text.len().saturating_sub(close.len()));
                self.place = Place::Reasoning { close, text: text[from..].to_owned() };
            }
        }
    }

    /// The answer begins, with this text of it.
    fn answers(&mut self, text: &str) {
        self.place = Place::Answer(text.to_owned());
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

    /// A token with others beside it; probabilities in percent.
    fn token(text: &str, percent: f64, others: &[(&str, f64)]) -> TokenChoice {
        let ln = |percent: f64| (percent / 100.0).ln();
        let token = TokenChoice::new(text, ln(percent)).or(text, ln(percent));
        others.iter().fold(token, |token, (text, percent)| token.or(*text, ln(*percent)))
    }

    /// How likely a message that begins with these tokens begins a call, in percent; `None` while
    /// that is open.
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
