//! Damages a call in one place, or in several.

use super::bytes::Bytes;
use super::meant::Meant;

/// Text that is inserted, or replaces other text.
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
    /// Offset of the first changed byte.
    pub(crate) at: usize,
    /// `true` if the text ends there.
    pub(crate) cut: bool,
    /// `true` if the only damage is an insertion or a removed character.
    pub(crate) small: bool,
}

/// Truncates, removes, inserts, replaces or doubles a part of the calls.
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
    // From the end, so that the other offsets remain valid.
    places.sort_unstable_by(|a, b| b.cmp(a));
    for at in places {
        // Text that is truncated in addition to other damage may have another meaning.
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
        // Kinds above 3 insert text; kind 1 removes it, which is small for one character.
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
