//! JSON that arrives in pieces: where it ends, what is wrong with it, what it says.

mod behind;
mod lexer;
mod loose;
mod repair;
mod value;

pub(super) use behind::Behind;
pub(super) use lexer::{Lexed, Lexer, Special, is_short_escape};
pub(super) use loose::{Closer, Loose, LooseStep};
pub(super) use value::{escaped, push_escaped, read};
