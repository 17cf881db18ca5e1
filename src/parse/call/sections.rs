//! Sections of XML that are in calls: comments, and CDATA.

use crate::json::window::{No, begins};
use crate::parse::marks::fence::think_close;

pub(crate) const CDATA_OPEN: &str = "<![CDATA[";
pub(crate) const CDATA_CLOSE: &str = "]]>";
pub(crate) const COMMENT_OPEN: &str = "<!--";
pub(crate) const COMMENT_CLOSE: &str = "-->";

/// The text of CDATA sections with nothing but white space between them, as XML reads it:
/// `inner` is between the first opening and the last closing of one. `None` where it is
/// one section.
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

/// Reads on in a comment between tags: how far, and whether it is over there.
/// `think_ends`: `</think>` ends it too, being where the call ends.
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
