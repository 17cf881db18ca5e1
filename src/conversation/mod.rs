//! The history of a conversation: append-only, and every call answered once.
//!
//! Messages are kept structurally (text, reasoning, calls with their ids, rejected calls, outcomes), so that a
//! conversation can continue with another model or in another mode. [`Conversation::render`] turns it into the plain
//! messages that a model without tool calling reads. The text about results is the prompt's; it is passed in as a
//! function.
//!
//! ```
//! use toolgraft::Conversation;
//! use toolgraft::conversation::{Assistant, ConversationError, Layout};
//! use toolgraft::dialect::SystemPlacement;
//!
//! let mut conversation = Conversation::new();
//! conversation.push_user("What is 2 + 2?")?;
//! conversation.push_assistant(Assistant::text("4"))?;
//! let layout = Layout::new("Be brief.", SystemPlacement::System);
//! let messages = conversation.render(&layout, |_| Ok::<_, ConversationError>(String::new()))?;
//! assert_eq!(messages[2].content, "4");
//! # Ok::<(), ConversationError>(())
//! ```

pub(crate) mod history;
mod media;
mod message;
mod native;
mod render;
pub mod shape;
mod stored;
mod trim;

pub(crate) use history::Conversation;
use history::answered;
pub use history::{Answered, ConversationError, HistoryEntry};
use message::push_bounded;
pub use message::{Assistant, HistoryCall, MAX_REJECTED_BYTES, Part, User};
pub use render::{Layout, Replies, Shown};
pub use stored::CONVERSATION_VERSION;
pub use trim::{SHORT_RESULT_BYTES, Trim};

#[cfg(test)]
mod tests;
