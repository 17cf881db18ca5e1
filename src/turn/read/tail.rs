//! Recognises the rest of a malformed call after its end: brackets, quotation marks, closing tags. A call that cannot
//! be read ends where its brackets do, and the rest is not an answer.

use crate::conversation::{Assistant, Part};
use crate::event::{Rejected, RejectedKind};
use crate::turn::rejected::{Reaction, reaction};

/// Maximum length of the rest of a call, in bytes; longer text is reported.
const MOST: usize = 1024;

/// Returns `true` if the text after this rejected call may be its rest, such as brackets.
pub(super) fn leaves_a_tail(rejected: &Rejected) -> bool {
    reaction(rejected.kind) == Reaction::Correct || rejected.kind == RejectedKind::InReasoning
}

/// Returns `true` if the end of this rejected call is unknown, so that any text after it may belong to it: that of a
/// file, say, that contains the call's closing delimiter.
pub(super) fn has_no_end(rejected: &Rejected) -> bool {
    matches!(rejected.kind, RejectedKind::Malformed | RejectedKind::AfterDamage)
}

/// Returns `true` if a text has only closing delimiters of calls. A truncated tag counts, since its rest may follow.
pub(super) fn is_tail(text: &str) -> bool {
    if text.len() > MOST {
        return false;
    }
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || "}])\"'`,;:".contains(c));
        // The rest of the closing tag may follow.
        if rest.is_empty() || rest == "<" {
            return true;
        }
        let Some(tag) = rest.strip_prefix("</") else { return false };
        let name = tag.trim_start_matches(|c: char| c.is_alphanumeric() || "_-.:|｜▁ ".contains(c));
        match name.strip_prefix('>') {
            Some(after) => rest = after,
            None => return name.is_empty(),
        }
    }
}

/// Returns the text of a message for the user, without the rests of its malformed calls.
pub(super) fn answer_of(message: &Assistant) -> String {
    let mut said = String::new();
    // The text after a malformed call.
    let mut after: Option<String> = None;
    for part in &message.parts {
        let text = match part {
            Part::Text { text } => text.as_str(),
            Part::Rejected { rejected, .. } if rejected.kind == RejectedKind::Quoted || rejected.in_text => {
                rejected.raw.as_str()
            }
            Part::Rejected { rejected, .. } if leaves_a_tail(rejected) => {
                said.extend(after.take().filter(|text| !is_tail(text)));
                after = Some(String::new());
                continue;
            }
            _ => continue,
        };
        after.as_mut().unwrap_or(&mut said).push_str(text);
    }
    said.extend(after.filter(|text| !is_tail(text)));
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
