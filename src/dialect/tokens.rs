//! Tokens of chat templates, by family. A server should have removed them from a model's text; each says whose turn
//! the text after it belongs to.
//!
//! The classes and the sources are those of `docs/appendix/template-tokens.md`. A token of
//! several families is listed with the first of them. Tokens are left out that are
//! not syntax by themselves: words of HTML and of prose (`<role>`, `<eos>`, `<AI>`,
//! `User:`), and those that begin with neither `<` nor `[`.

use std::sync::LazyLock;

use serde::Deserialize;

use super::table::{leaked, table};

/// The effect of a chat template's token on the text after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TokenClass {
    /// The model's output is over; servers stop at such a token.
    EndsText,
    /// A message ends; the model's turn goes on if a header of its own follows.
    EndsMessage,
    /// The text after the token belongs to a turn that is not the model's.
    OpensOther,
    /// The text after the token belongs to the model's turn.
    OpensOwn,
    /// The text after the token is the turn of the role whose name follows; the field is the text after that name. A
    /// line break in the field is part of the token, another token in it is separate.
    OpensRole(#[serde(deserialize_with = "leaked")] &'static str),
    /// The token begins or ends a section inside a turn.
    Neutral,
}

/// A token of chat templates.
#[derive(Debug, Deserialize)]
#[non_exhaustive]
pub struct TemplateToken {
    /// The token's text; begins with `<` or `[`.
    pub text: &'static str,
    /// The token's effect on the text after it.
    pub class: TokenClass,
}

/// The tokens of the chat templates of some models.
#[derive(Debug, Deserialize)]
#[non_exhaustive]
pub struct TokenFamily {
    /// The models that use the tokens.
    pub name: &'static str,
    /// The document that defines the tokens; short names as in `docs/appendix/families.md`.
    pub source: &'static str,
    /// The tokens of these models.
    pub tokens: Box<[TemplateToken]>,
}

/// Role names that chat templates use for the model.
pub(crate) const OWN_ROLES: &[&str] = &["assistant", "model", "ai", "assistant_tool_call", "Assistant"];

/// Role names that chat templates use for anyone but the model.
pub const OTHER_ROLES: &[&str] = &[
    "system", "developer", "user", "tool", "ipython", "environment", "observation", "tool_response", "available_tools",
    "document", "function", "human", "System", "User",
];

/// The token of Llama 2 and Mistral that ends a message. It is also an HTML tag, so it
/// counts only at the very end of a text without [`STRIKE_OPEN`].
pub(crate) const SENTENCE_END: &str = "</s>";

/// The opening tag whose presence means that [`SENTENCE_END`] is HTML.
pub(crate) const STRIKE_OPEN: &str = "<s>";

/// The tokens among those of the chat templates that announce calls.
pub(crate) const CALL_TOKENS: &[&str] = &["<|python_tag|>", "<|python_start|>", "<|tool_call_start|>"];

/// The tokens of chat templates, by model family. No token is a prefix of another.
pub static TOKEN_FAMILIES: LazyLock<Box<[TokenFamily]>> = LazyLock::new(|| table!("tokens"));

/// Returns the chat template tokens of all families.
pub(crate) fn template_tokens() -> impl Iterator<Item = &'static TemplateToken> {
    TOKEN_FAMILIES.iter().flat_map(|family| &family.tokens)
}

/// Control tokens of some models, besides those of [`TOKEN_FAMILIES`] and the two forms
/// `<|…|>` and `<｜…｜>`, which most families use.
#[derive(Debug, Deserialize)]
#[non_exhaustive]
pub struct ControlFamily {
    /// The models that use the tokens.
    pub name: &'static str,
    /// The document that defines the control tokens; short names as in `docs/appendix/families.md`.
    pub source: &'static str,
    /// The control tokens. They begin with `<`, `[`, `]`, `｜` or `◁`.
    pub tokens: Box<[&'static str]>,
}

/// Texts that a model's tokeniser turns into one control token wherever they occur, so that
/// a text of a tool or a user must not contain them whole; see
/// [`break_tokens`](crate::outcome::break_tokens). Their classes are those of
/// `docs/appendix/template-tokens.md`. No token begins inside another, except at its last character.
///
/// Tags that are one token of some tokenisers but do not change the turn (`<think>`,
/// `<tool_call>`) are not listed: they also occur in HTML and code.
pub static CONTROL_FAMILIES: LazyLock<Box<[ControlFamily]>> = LazyLock::new(|| table!("control_tokens"));

/// Prefixes of control tokens that go on with a number and end with the given character: `<reserved_106>` of Baichuan,
/// `<extra_id_1>` of Nemotron, `<unused7>` of Gemma, `<SPECIAL_10>` of Nemotron Nano, `[control_8]` of Mistral.
/// Sources: LLaMA-Factory template.py (baichuan2); NVIDIA/Megatron-LM
/// megatron/training/tokenizer; YE/NVIDIA-Nemotron-Nano-v2.jinja; mistral-common base.py.
pub const NUMBERED_TOKENS: &[(&str, char)] =
    &[("<reserved_", '>'), ("<extra_id_", '>'), ("<unused", '>'), ("<SPECIAL_", '>'), ("[control_", ']')];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::TokenClass::{EndsMessage, EndsText, Neutral, OpensOther, OpensOwn, OpensRole};
    use super::*;

    #[test]
    fn no_token_begins_another_and_each_stands_once() {
        let tokens: Vec<_> = template_tokens().map(|token| token.text).collect();
        assert_eq!(tokens.iter().collect::<HashSet<_>>().len(), tokens.len());
        for token in &tokens {
            assert!(token.starts_with(['<', '[']) && token.len() > 2, "{token}");
            let longer = tokens.iter().find(|other| *other != token && other.starts_with(token));
            assert_eq!(longer, None, "{token}");
        }
    }

    #[test]
    fn the_documentation_has_each_token_with_its_class() {
        let docs = include_str!("../../docs/appendix/template-tokens.md");
        for token in template_tokens() {
            let cell = format!("| `{}` | ", token.text.replace('|', "\\|"));
            let classes: Vec<_> = docs.lines().filter_map(|line| line.strip_prefix(&cell)).collect();
            let fits = |class: &&&str| match token.class {
                EndsText => class.starts_with("ends the text"),
                EndsMessage => class.starts_with("ends a message"),
                OpensOther => class.starts_with("opens another's turn"),
                OpensOwn => class.starts_with("opens its own turn"),
                OpensRole(_) => class.starts_with("opens the turn of the role"),
                // The role is then a token of its own.
                Neutral => class.starts_with("neutral") || class.contains("the role is the next token"),
            };
            assert!(classes.iter().any(|class| fits(&class)), "{}: {classes:?}", token.text);
            let is_marked = !classes.iter().any(|class| class.ends_with("| no |"));
            assert!(is_marked, "{}: docs/appendix/template-tokens.md says that it is not known", token.text);
        }
    }
}
