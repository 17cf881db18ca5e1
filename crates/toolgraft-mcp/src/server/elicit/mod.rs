//! A server asks back for input while a tool runs (elicitation): what it asks, who answers,
//! and what it is told.
//!
//! In: the request as it came, and a program's [`Elicitor`]. Out: the answer as MCP has it.
//! Not here: when a request is waited for and how long (`calls`, `deadlines`).
//!
//! Until 2025-11-25 a server asks with a request of its own; since 2026-07-28 the answer to the
//! call is what it wants to know (`input_required`), and the call is sent again with that
//! (modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr).
//!
//! | | |
//! |---|---|
//! | [request] | the question: a form, or a page to open; the answer of a person |
//! | [form], [value] | the fields of a form, and what fits each |
//! | [answer] | from the question as it came to the answer as it goes out |

mod answer;
mod form;
mod request;
mod value;

pub(crate) use answer::Answers;
pub(super) use answer::is_question;

pub use answer::Elicitation;
pub use form::{FieldChoice, FieldKind, Form, FormField, TextFormat};
pub use request::{Elicitor, InputAnswer, InputKind, InputRequest};
pub use value::FieldError;
