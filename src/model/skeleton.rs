//! Reads chunks that differ from the previous one only in their text, as most chunks of a stream do.
//!
//! Parsing a chunk as JSON costs many times more than its text. The bytes around the text are kept from the last chunk
//! that was parsed; a chunk with the same bytes around it has the same fields, whatever they are. Every other chunk is
//! parsed as JSON.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::message::{Delta, DeltaKind};

/// Maximum number of bytes around the text that are stored.
const MAX_KEPT: usize = 4 << 10;

/// The bytes of a chunk before and after its text, by which the next chunk is read without parsing its JSON.
pub(super) struct Skeleton {
    /// The bytes before the text, including its opening quotation mark.
    before: String,
    /// The bytes after the text, including its closing quotation mark.
    after: String,
    kind: DeltaKind,
}

#[derive(Deserialize)]
struct BorrowedChunk<'a> {
    #[serde(borrow)]
    choices: [BorrowedChoice<'a>; 1],
}

#[derive(Deserialize)]
struct BorrowedChoice<'a> {
    #[serde(default)]
    index: u64,
    #[serde(borrow)]
    delta: BorrowedFields<'a>,
    #[serde(default, borrow)]
    finish_reason: Option<Cow<'a, str>>,
}

/// The texts of a delta. A text with an escape cannot be borrowed, so its chunk yields no skeleton.
#[derive(Deserialize)]
struct BorrowedFields<'a> {
    #[serde(default, borrow)]
    content: Option<&'a str>,
    #[serde(default, borrow)]
    reasoning_content: Option<&'a str>,
    #[serde(default, borrow)]
    reasoning: Option<&'a str>,
    #[serde(default, borrow)]
    thinking: Option<&'a str>,
    #[serde(default)]
    reasoning_details: Option<IgnoredAny>,
    #[serde(default, borrow)]
    refusal: Option<&'a str>,
    #[serde(default)]
    tool_calls: Option<Vec<IgnoredAny>>,
    #[serde(default)]
    function_call: Option<IgnoredAny>,
}

impl Skeleton {
    /// Returns the skeleton of a chunk that was parsed as JSON. `None` if it contains anything except one text, or if
    /// it is not of the choice `choice`.
    pub(super) fn of(data: &str, choice: Option<u64>) -> Option<Self> {
        let BorrowedChunk { choices: [BorrowedChoice { index, delta, finish_reason }] } =
            serde_json::from_str(data).ok()?;
        // Calls, the end of the answer and reasoning details change the state, so such a chunk must be parsed.
        if Some(index) != choice
            || finish_reason.is_some_and(|reason| !reason.is_empty())
            || delta.tool_calls.is_some_and(|calls| !calls.is_empty())
            || delta.function_call.is_some()
            || delta.reasoning_details.is_some()
        {
            return None;
        }
        let texts = [
            (DeltaKind::Content, delta.content),
            (DeltaKind::Reasoning, delta.reasoning_content),
            (DeltaKind::Reasoning, delta.reasoning),
            (DeltaKind::Reasoning, delta.thinking),
            (DeltaKind::Refusal, delta.refusal),
        ];
        let mut texts =
            texts.into_iter().filter_map(|(kind, text)| Some((kind, text.filter(|text| !text.is_empty())?)));
        let (Some((kind, text)), None) = (texts.next(), texts.next()) else { return None };
        let start = (text.as_ptr() as usize).checked_sub(data.as_ptr() as usize)?;
        let (before, after) = (data.get(..start)?, data.get(start + text.len()..)?);
        let fits = before.ends_with('"') && after.starts_with('"') && before.len() + after.len() <= MAX_KEPT;
        fits.then(|| Skeleton { before: before.to_owned(), after: after.to_owned(), kind })
    }

    /// Returns the text of a chunk that otherwise equals this skeleton; `None` for any other chunk.
    pub(super) fn read(&self, data: &str) -> Option<Delta> {
        let text = data.strip_prefix(&self.before)?.strip_suffix(&self.after)?;
        let mut bytes = text.bytes();
        let plain = loop {
            match bytes.next() {
                None => break true,
                Some(b'\\') => break false,
                // The text ended earlier, so the rest differs, or it is not a valid string.
                Some(b'"' | ..0x20) => return None,
                Some(_) => {}
            }
        };
        let text = match plain {
            true => text.to_owned(),
            // Parsed with its quotation marks; an invalid string is left to the JSON parser.
            false => serde_json::from_str(&data[self.before.len() - 1..=self.before.len() + text.len()]).ok()?,
        };
        Some(Delta { kind: self.kind, text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHUNK: &str = r#"{"id":"c","choices":[{"index":0,"delta":{"content":"Hi"},"logprobs":null,"finish_reason":null}],"x":{"y":[1]}}"#;

    fn read(data: &str) -> Option<String> {
        Skeleton::of(CHUNK, Some(0)).unwrap().read(data).map(|delta| delta.text)
    }

    #[test]
    fn a_chunk_that_differs_in_its_text_is_read_by_what_stands_around_it() {
        for (text, read_as) in
            [("", ""), ("ä 天", "ä 天"), (r#"a\"b\\"#, "a\"b\\"), (r"\u00e4\n", "ä\n"), (r"\ud83e\udd80", "🦀")]
        {
            assert_eq!(read(&CHUNK.replace("Hi", text)).as_deref(), Some(read_as), "{text}");
        }
    }

    #[test]
    fn every_other_chunk_is_left_to_be_read_as_json() {
        for (from, to) in [
            (r#""Hi""#, r#""Hi","role":"assistant""#),
            (r#""Hi""#, "null"),
            ("Hi", r#"","content":""#),
            ("Hi", "a\nb"),
            ("Hi", r"\ud83e"),
            ("Hi", r"\q"),
            // The mark that seems to close the text is escaped.
            ("Hi", r"Hi\"),
            (r#""finish_reason":null"#, r#""finish_reason":"stop""#),
            (r#""id":"c""#, r#""id":"d""#),
            ("[1]", "[2]"),
        ] {
            assert_eq!(read(&CHUNK.replace(from, to)), None, "{to}");
        }
        assert_eq!(read(r#"{"id":"c","choices":[{"index":0,"delta":{"content":""#), None);
    }

    #[test]
    fn only_a_chunk_that_brings_one_text_says_what_stands_around_it() {
        assert!(Skeleton::of(CHUNK, Some(1)).is_none(), "another choice was taken");
        for (from, to) in [
            ("Hi", ""),
            ("Hi", r"a\nb"),
            (r#""Hi""#, r#"[{"text":"Hi"}]"#),
            (r#""Hi""#, r#""Hi","reasoning":"so""#),
            (r#""Hi""#, r#""Hi","tool_calls":[{}]"#),
            (r#""Hi""#, r#""Hi","content":"Ho""#),
            (r#""finish_reason":null"#, r#""finish_reason":"stop""#),
            (r#"}],"x""#, r#"},{}],"x""#),
        ] {
            let chunk = CHUNK.replace(from, to);
            assert!(Skeleton::of(&chunk, Some(0)).is_none(), "{chunk}");
        }
        let empty = CHUNK.replace(r#""Hi""#, r#""Hi","reasoning":"","reasoning_content":null,"tool_calls":[]"#);
        assert_eq!(Skeleton::of(&empty, Some(0)).map(|skeleton| skeleton.kind), Some(DeltaKind::Content));
        let reasoning = CHUNK.replace("content", "reasoning");
        assert_eq!(Skeleton::of(&reasoning, Some(0)).map(|skeleton| skeleton.kind), Some(DeltaKind::Reasoning));
        assert!(Skeleton::of(&CHUNK.replace("[1]", &format!("{:?}", "x".repeat(MAX_KEPT))), Some(0)).is_none());
    }
}
