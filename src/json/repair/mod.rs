//! Repairs of damaged JSON, each with a name.
//!
//! In comes a text that the strict reader refused; out goes the strict JSON that it
//! can only have meant, with the [`Repair`]s that made it, or the place where no
//! reading is certain. All that is written stands in the text, but for commas, colons,
//! quotes and backslashes: no bracket and no value is supplied.
//!
//! ```text
//! text ─▶ mend ─ follows the grammar ─▶ Mended { text, repairs }
//!          ├─ strings   where a string ends; quotation marks inside it
//!          │   └─ escapes   backslashes that may be data
//!          ├─ words     literals, numbers, keys without quotes
//!          └─ ahead     what stands further on, at most 1 KiB
//! ```
//!
//! `Pass` is what all of them work on: the text, how far it was read, what was
//! written and what was mended. Time is linear in the text.
//!
//! A repair belongs here only while recordings or fixtures need it
//! (`fixtures/parity/json_repair.md` counts them). A new one is a name in `name.rs`,
//! a row in `docs/parser.md` and a test of what it must refuse.

mod ahead;
mod escapes;
mod mend;
mod name;
mod pass;
mod quotes;
mod strings;
mod words;

pub(super) use mend::{Mended, mend};
pub use name::Repair;
pub(super) use pass::Stop;
pub(super) use quotes::{closes as closes_string, opens as opens_string};

#[cfg(test)]
mod tests;
