//! The marks that may begin in a text, recognised by their first bytes.
//!
//! In goes what is at hand from one place on and whether more may come; out comes a
//! `Match`: what is there, mostly its length, or `No`, or `Undecided` while it fits so far.
//! Nothing here knows where the place is, or what the configuration reads: `tables` adds that.
//!
//! - `lexicon`: all that may begin at a `<`, at a `[` or at a line's start, and how far text is plain;
//! - `kinds`: what that may be, as a set;
//! - `prefixes`: the tree in which literals are looked up;
//! - `head`: openers that hold a name, piece by piece, and special tokens as they are spelt;
//! - `fence`: lines and runs of code fences, and what ends a message or its reasoning;
//! - `near`: marks by their letters alone, for what is spelt nearly so;
//! - `names`: names of known tools, for calls that no marker announces;
//! - `tokens`: tokens of chat templates, by what a text begins with;
//! - `channel`: headers of Harmony's channels;
//! - `turn`: whose turn a text is in, by its tokens.

pub(crate) mod channel;
pub(crate) mod fence;
pub(crate) mod head;
pub(crate) mod kinds;
pub(crate) mod lexicon;
pub(crate) mod names;
pub(crate) mod near;
pub(crate) mod prefixes;
pub(crate) mod tokens;
pub(crate) mod turn;
