//! Sections of XML that are in calls: comments, and CDATA.

use crate::json::window::{No, begins};
use crate::parse::marks::fence::think_close;

pub(crate) const CDATA_OPEN: &str = "<![CDATA[";
pub(crate) const CDATA_CLOSE: &str = "]]>";
pub(crate) const COMMENT_OPEN: &str = "<!--";
pub(crate) const COMMENT_CLOSE: &str = "-->";

/// Returns the text of adjacent CDATA sections, as XML joins them, and the white space between them; `inner` is the
/// text between the first opening and the last closing delimiter. `None` if that is one section, or has other text.
pub(crate) fn joined_cdata(inner: &str) -> Option<String> {
    let (first, rest) = inner.split_once(CDATA_CLOSE)?;
    let mut text = first.to_owned();
    for piece in rest.split(CDATA_CLOSE) {
        let (space, section) = piece.split_once(CDATA_OPEN)?;
        if !space.trim_ascii().is_empty() {
            return None;
        }
        text.extend([space, section]);
    }
    Some(text)
}

/// Reads a comment between tags: returns the number of bytes read, and `true` if the comment ends there. `think_ends`:
/// `</think>` ends it too, as it ends the call.
pub(crate) fn comment(rest: &str, think_ends: bool, more: bool) -> (usize, bool) {
    for i in memchr::memchr2_iter(b'-', b'<', rest.as_bytes()) {
        let close = begins(&rest[i..], COMMENT_CLOSE, more);
        let think = if think_ends { think_close(&rest[i..], more) } else { Err(No) };
        match (close, think) {
            (Ok(()), _) => return (i + COMMENT_CLOSE.len(), true),
            (_, Ok(_)) => return (i, true),
            (Err(No), Err(No)) => {}
            _ => return (i, false),
        }
    }
    (rest.len(), false)
}
