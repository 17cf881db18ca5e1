//! Whose turn a text is in: what each token of a chat template does to it.

use crate::dialect::TokenClass;

/// Whose turn the text is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum TextTurn {
    /// The model's.
    #[default]
    Own,
    /// A token ended the model's, and only white space came since. `resumes`: a header
    /// of its own may follow.
    Ended { resumes: bool },
    /// More text came after the end, or a role that nobody knows.
    Over,
    /// Another's, by a token: nobody sees it.
    Hidden,
    /// Another's, by a line or a result: it stays content.
    Spoken,
}

/// Whose turn a role token opens, unless the next token says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RoleToken {
    Own,
    Other,
    /// A name that is no role's, or none.
    Unknown,
}

impl TextTurn {
    /// Returns `true` if a call in this turn is not the model's.
    pub(crate) fn invents(self) -> bool {
        self != TextTurn::Own
    }

    /// Returns the turn after a token of this class; `role` is the one after a token that opens a role's turn.
    pub(crate) fn after(self, class: TokenClass, role: Option<RoleToken>) -> TextTurn {
        match (self, class, role) {
            (TextTurn::Hidden, ..) => TextTurn::Hidden,
            (_, TokenClass::OpensOther, _) | (_, _, Some(RoleToken::Other)) => TextTurn::Hidden,
            // Harmony's `<|start|>assistant` after its `<|end|>`.
            (TextTurn::Ended { resumes: true }, TokenClass::OpensRole("<|"), Some(RoleToken::Own)) => TextTurn::Own,
            (TextTurn::Own, TokenClass::EndsText, _) => TextTurn::Ended { resumes: false },
            (TextTurn::Own, TokenClass::EndsMessage, _) => TextTurn::Ended { resumes: true },
            (TextTurn::Own, _, Some(RoleToken::Unknown)) => TextTurn::Over,
            // A header of the model's own after the end is more of its text.
            (TextTurn::Ended { .. }, TokenClass::OpensOwn | TokenClass::OpensRole(_), _) => TextTurn::Over,
            _ => self,
        }
    }

    /// Returns the turn after the end of the reasoning.
    pub(crate) fn after_reasoning(self) -> TextTurn {
        // Other tokens in the reasoning hold there alone.
        if self == TextTurn::Hidden { self } else { TextTurn::Own }
    }
}
