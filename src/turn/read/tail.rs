//! What is left of a broken call behind it: brackets, quotation marks, closing tags. A call that
//! cannot be read ends where its brackets do, and these stand behind that; they are no answer.

use crate::conversation::{Assistant, Part};
use crate::event::{Rejected, RejectedKind};
use crate::turn::rejected::row;

/// Longest rest of a call, in bytes; what is longer is told.
const MOST: usize = 1024;

/// Whether what stands behind such a call may be its rest.
pub(super) fn leaves_a_tail(rejected: &Rejected) -> bool {
    row(rejected.kind).meant || rejected.kind == RejectedKind::InReasoning
}

/// Whether nobody knows where such a call ends, so that any text behind it may be its own: a file's, say, in
/// which the call's closer stands.
pub(super) fn has_no_end(rejected: &Rejected) -> bool {
    matches!(rejected.kind, RejectedKind::Malformed | RejectedKind::BehindDamage)
}

/// Whether a text holds nothing but signs that end something. A tag that is cut off counts: the
/// rest of it may follow.
pub(super) fn is_tail(text: &str) -> bool {
    if text.len() > MOST {
        return false;
    }
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || "}])\"'`,;:".contains(c));
        if rest.is_empty() || rest == "<" {
            return true;
        }
        let Some(tag) = rest.strip_prefix("</") else { return false };
        let name = tag.trim_start_matches(|c: char| c.is_alphanumeric() || "_-.:|｜▁ ".contains(c));
        match name.strip_prefix('>') {
            Some(behind) => rest = behind,
            None => return name.is_empty(),
        }
    }
}

/// What a message says to the user, without the rests of its broken calls.
pub(super) fn answer_of(message: &Assistant) -> String {
    let mut said = String::new();
    // The text behind a broken call.
    let mut behind: Option<String> = None;
    for part in &message.parts {
        let text = match part {
            Part::Text { text } => text.as_str(),
            Part::Rejected { rejected, .. } if rejected.kind == RejectedKind::Quoted || rejected.in_text => {
                rejected.raw.as_str()
            }
            Part::Rejected { rejected, .. } if leaves_a_tail(rejected) => {
                said.extend(behind.take().filter(|text| !is_tail(text)));
                behind = Some(String::new());
                continue;
            }
            _ => continue,
        };
        behind.as_mut().unwrap_or(&mut said).push_str(text);
    }
    said.extend(behind.filter(|text| !is_tail(text)));
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_that_end_something_are_told_from_words() {
        for tail in ["", "}\n```", "\"}}\n</arguments>\n</use_mcp_tool>", "]}\n</argum", "\n<", "</tool_call> \n"] {
            assert!(is_tail(tail), "{tail:?}");
        }
        for text in ["}\nThe weather", "</b>x", "<b>", "a", "{", "1", "} 天"] {
            assert!(!is_tail(text), "{text:?}");
        }
    }
}
