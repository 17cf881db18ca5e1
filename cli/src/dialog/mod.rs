//! Questions to the user at the terminal: yes or no, a choice, a form, a line.

pub(crate) mod ask;
pub(crate) mod editor;
pub(crate) mod elicit;
pub(crate) mod line;
