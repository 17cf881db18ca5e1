//! Damage at one place of a call, or at a few.

use super::bytes::Bytes;
use super::meant::Meant;

/// What is put in, or in the place of something.
pub(crate) const FOREIGN: &[&str] = &[
    "\"", "'", "\\", ",", ":", "{", "}", "[", "]", "<", ">", "/", "\n", " ", "0", "x", "“", "：", "#", "//", "```",
    "\n```\n", "null", "</arguments>", "</use_mcp_tool>", "<use_mcp_tool>", "</path>", "TYPE: MCP\n", "&quot;",
    "<tool_call>", "</tool_call>", "(", ")", "=", ";", "'''", "\"\"\"", "True", "</function>", "</parameter>",
    "<parameter=path>", "</invoke>", "[TOOL_CALLS]", "[END_TOOL_REQUEST]", "<｜tool▁call▁end｜>", "</arg_value>",
    "<arg_value>", "<arg_key>", "<tool_call|>", "<|tool_call>call:", "<|\"|>", "<|im_end|>", "\nObservation:",
    "\nAction: read\n", "<think>", "</think>", "<![CDATA[", "]]>", "},", ",}", "}}", "<paramter=path>",
];

/// A message after the damage.
#[derive(Debug)]
pub(crate) struct Damaged {
    pub(crate) text: String,
    /// First byte that is not as it was.
    pub(crate) at: usize,
    /// Whether the text ends there.
    pub(crate) cut: bool,
    /// Whether all the damage is something put in, or one character taken out.
    pub(crate) small: bool,
}

/// Cuts off, takes out, puts in, replaces or doubles a little of the calls.
pub(crate) fn damage(meant: &Meant, bytes: &mut Bytes<'_>) -> Damaged {
    let mut damaged = Damaged { text: meant.text.clone(), at: meant.text.len(), cut: false, small: true };
    if meant.calls.is_empty() {
        return damaged;
    }
    let count = [1, 1, 1, 2, 3][bytes.below(5)];
    let mut places: Vec<usize> = (0..count)
        .map(|_| {
            let span = &bytes.pick(&meant.calls).span;
            span.start + bytes.below(span.len())
        })
        .collect();
    // From behind, so that the places stay where they are.
    places.sort_unstable_by(|a, b| b.cmp(a));
    for at in places {
        // What is cut off besides being damaged may say something else.
        let kind = if count == 1 { bytes.below(6) } else { 1 + bytes.below(5) };
        damaged.once(at, kind, bytes);
    }
    damaged.small &= count == 1;
    damaged
}

impl Damaged {
    fn once(&mut self, at: usize, kind: usize, bytes: &mut Bytes<'_>) {
        let text = &self.text;
        let boundary = |at: usize| (at..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
        let at = boundary(at);
        let end = boundary((at + 1 + bytes.below(12)).min(text.len()));
        let foreign = *bytes.pick(FOREIGN);
        let (before, after) = text.split_at(at);
        let small = kind > 3 || kind == 1 && before.len() + 1 == end;
        let text = match kind {
            0 => before.to_owned(),
            1 => format!("{before}{}", &text[end..]),
            2 => format!("{before}{foreign}{}", &text[end..]),
            3 => format!("{before}{}{after}", &text[at..end]),
            _ => format!("{before}{foreign}{after}"),
        };
        *self = Damaged { text, at, cut: kind == 0, small };
    }
}
