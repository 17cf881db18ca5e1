//! Whose turn a text is in: what each token of a chat template does to it.

use crate::dialect::TokenClass;

/// Role whose turn the text is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum TextTurn {
    /// The model's own turn.
    #[default]
    Own,
    /// A token ended the model's turn, and only white space followed. `resumes`: a header of the model's own may
    /// follow.
    Ended { resumes: bool },
    /// Text after the end of the model's turn, or a turn of an unknown role.
    Over,
    /// Another role's turn, opened by a special token; its text is not shown.
    Hidden,
    /// Another role's turn, opened by a line or a tool's result; its text stays content.
    Spoken,
}

/// Role whose turn a token opens, by the name after the token; there is none if another token follows directly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RoleToken {
    Own,
    Other,
    /// The token names no role, or one that is not known.
    Unknown,
}

impl TextTurn {
    /// Returns `true` if a call in this turn is not the model's.
    pub(crate) fn invents(self) -> bool {
        self != TextTurn::Own
    }

    /// Returns the turn after a token of this class; `role` is the role named after a token that opens a role's turn.
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
