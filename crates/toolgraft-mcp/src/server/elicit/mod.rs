//! Requests of a server for input while a tool runs (elicitation): the questions, and their
//! answers.
//!
//! In: the request, and a program's [`Elicitor`]. Out: the answer in MCP's form. Not here: at what
//! time and for how long an answer is awaited (`calls`, `deadlines`).
//!
//! Until 2025-11-25 a server asks with a request of its own. Since 2026-07-28 it answers the call
//! with the question (`input_required`), and the call is sent again with the answers
//! (modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr).
//!
//! Answers are checked by `toolgraft::validate`. rmcp's types of a form refuse one with a member that they do not know,
//! so the fields are read from JSON.
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

pub use form::{FieldChoice, FieldError, FieldKind, Form, FormField};
pub use request::{Elicitor, InputAnswer, InputKind, InputRequest};
