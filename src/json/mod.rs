//! JSON that arrives in pieces: where it ends, what is wrong with it, what it says.
//!
//! In comes the text of a call's arguments as the model streams it; out go the place
//! where the value ends, how far its text may be emitted as a preview, and in the
//! end the value itself, exact, with every fix named. What a call is, which tag closes
//! it and what its schema wants is known to others (`parse`, `validate`).
//!
//! ```text
//! chunk ─▶ Window ─▶ Lexer ─── valid so far: members, previews, the end
//!                      │ first fault
//!                      ▼
//!                    Loose ─── only the end: brackets balanced, or a Closer
//!                      │
//!                      ▼ the text after it: Trailing
//! whole text ─▶ read ─── strictly, then with repairs: the value, and the Repairs by name
//! ```
//!
//! | file | what |
//! |---|---|
//! | `window` | the piece of the stream that is at hand; answers that may have to wait for more |
//! | `bytes` | many bytes at once, in safe code |
//! | `lexer`, `loose` | the strict lexer, and the tolerant one that takes over at the first fault |
//! | `step` | what a step of either says |
//! | `trailing` | the text after a value, which may belong inside |
//! | `outside` | the bytes outside of strings, and what is missing where a value is cut off |
//! | `read/` | whole text to value: strictly, else with repairs |
//! | `repair` | the names of the repairs |
//! | `decimal` | numbers with all of their digits |
//! | `escape` | text as it is written in a string |
//! | `delimited` | an object with texts between tokens, to JSON |
//! | `texts` | the keys and texts of a value, changed |
//! | `literal` | a text that spells a value, for schemas that want one |
//! | `text_type` | types that are a text in JSON |

pub(crate) mod bytes;
mod decimal;
mod delimited;
mod escape;
mod lexer;
#[cfg(feature = "validate")]
pub(crate) mod literal;
mod loose;
mod outside;
mod read;
mod repair;
mod spaced;
mod step;
mod text_type;
mod texts;
mod trailing;
pub(crate) mod window;

pub(crate) use delimited::{Delimited, DelimitedStep};
pub(crate) use escape::{Special, escaped, push_escaped, short_escape};
pub(crate) use lexer::{Lexer, is_too_deep};
pub(crate) use loose::{Closer, Loose};
pub(crate) use outside::{outside, unclosed};
pub(crate) use read::{MAX_DEPTH, NotJson, common_prefix, read, strict, string};
pub use repair::Repair;
pub(crate) use spaced::spaced;
pub(crate) use step::JsonStep;
pub(crate) use text_type::text_type;
pub(crate) use texts::map_texts;
pub(crate) use trailing::Trailing;
