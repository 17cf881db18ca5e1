//! Constructs around text that are not a call's syntax: an element of an unknown name, a value outside any call, an
//! edit between conflict markers, a block of YAML. The text in one may be a file's content, a plan or another's words.

use crate::dialect::names_no_element;

/// Maximum length in bytes of an element's name; tags with longer ones are ignored.
const MAX_NAME: usize = 32;

/// Elements in which dialects write values. Outside a call one is a part of a call whose opener could not be read.
const VALUES: &[&[u8]] = &[b"arg_value", b"parameter"];

/// Markers that open and close an edit (git's markers, which aider's blocks use).
const CONFLICT: (&[u8], &[u8]) = (b"<<<<<<< ", b">>>>>>>");

/// Ends of a line whose value is the indented block below it (yaml.org/spec/1.2.2, 8.1).
const BLOCK_SCALARS: &[&[u8]] = &[b": |", b": |-", b": |+", b": >", b": >-", b": >+"];

/// An element that a line has opened, described by its closer.
#[derive(Debug, Clone, Copy)]
pub(super) enum OpenElement {
    /// The element ends at the closing tag of this name.
    Tag { name: [u8; MAX_NAME], length: usize },
    /// The element is an edit, which ends at the closing conflict marker.
    Edit,
    /// The element is a block of YAML, which ends at a line that is indented by no more columns than this.
    Indent(usize),
}

impl OpenElement {
    /// Returns the element that `line`, a whole line indented by `columns`, opens: a tag alone on it, or a value's tag
    /// whose value continues on the next line; an edit; a block of YAML. `None` if it opens none.
    pub(super) fn opened(line: &[u8], columns: usize) -> Option<Self> {
        let line = line.trim_ascii();
        if line.starts_with(CONFLICT.0) {
            return Some(OpenElement::Edit);
        }
        if BLOCK_SCALARS.iter().any(|end| line.ends_with(end)) {
            return Some(OpenElement::Indent(columns));
        }
        let tag = line.strip_prefix(b"<")?;
        let end = memchr::memchr(b'>', tag)?;
        let (tag, rest) = (&tag[..end], &tag[end + 1..]);
        // `<br/>` contains nothing.
        if tag.ends_with(b"/") || memchr::memchr(b'<', tag).is_some() {
            return None;
        }
        let length = tag.iter().position(|byte| byte.is_ascii_whitespace() || *byte == b'=').unwrap_or(tag.len());
        let name = std::str::from_utf8(&tag[..length]).ok()?;
        let is_name = name.starts_with(char::is_alphabetic) && !name.contains(['"', '\'', '(', '{', ';', ',']);
        if !is_name || names_no_element(name) {
            return None;
        }
        let mut bytes = [0; MAX_NAME];
        bytes.get_mut(..length)?.copy_from_slice(name.as_bytes());
        let element = OpenElement::Tag { name: bytes, length };
        let goes_on = rest.is_empty() || VALUES.contains(&name.as_bytes()) && !element.closes(rest);
        goes_on.then_some(element)
    }

    /// Returns `true` if `text` contains the closer of the element.
    pub(super) fn closes(&self, text: &[u8]) -> bool {
        match self {
            OpenElement::Tag { name, length } => {
                let is_closer = |at: usize| {
                    let after = text[at..].strip_prefix(b"</").and_then(|text| text.strip_prefix(&name[..*length]));
                    after.is_some_and(|after| after.trim_ascii_start().starts_with(b">"))
                };
                memchr::memchr_iter(b'<', text).any(is_closer)
            }
            OpenElement::Edit => memchr::memmem::find(text, CONFLICT.1).is_some(),
            OpenElement::Indent(_) => false,
        }
    }

    /// Returns `true` if a line of text indented by `columns` is no longer a part of the element, a block of YAML.
    pub(super) fn is_left_by(&self, columns: usize) -> bool {
        matches!(self, OpenElement::Indent(of) if columns <= *of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_opening_tag_alone_on_its_line_opens_an_element() {
        for line in [
            "<plan>", "  <write_fil>\r", "<write_file path=\"a.md\">", "<ifm|tool_calls>", "<\u{601d}\u{8003}>",
            "<fs.write:x>", "<div>", "<DETAILS open>",
        ] {
            let element = OpenElement::opened(line.as_bytes(), 0).expect(line);
            let OpenElement::Tag { name, length } = element else { panic!("{line}") };
            let name = std::str::from_utf8(&name[..length]).unwrap();
            assert!(element.closes(format!("end</{name} >").as_bytes()), "{line}");
            assert!(!element.closes(format!("<{name}></{name}x></x>").as_bytes()), "{line}");
        }
    }

    #[test]
    fn no_other_line_does() {
        for line in [
            "<li>",
            "<BR>",
            "<tools>",
            "</plan>",
            "<plan/>",
            "<plan>x",
            "a <plan>",
            "<a><b>",
            "<plan",
            "plan>",
            "<>",
            "< plan>",
            "<!-- x -->",
            "<3>",
            "<f(x)>",
            "<https://a.b>",
            "<an_element_with_a_name_that_is_far_too_long>",
        ] {
            assert!(OpenElement::opened(line.as_bytes(), 0).is_none(), "{line}");
        }
    }

    #[test]
    fn values_edits_and_blocks_of_yaml_go_on_below() {
        let opened = |line: &str| OpenElement::opened(line.as_bytes(), 2);
        for line in ["<arg_value># How to", "<parameter=content># How to", "<parameter name=\"content\">"] {
            assert!(opened(line).is_some_and(|element| matches!(element, OpenElement::Tag { .. })), "{line}");
        }
        for line in ["<arg_value>Oslo</arg_value>", "<arg_key>city", "content: |x", "a >", "<< b"] {
            assert!(opened(line).is_none(), "{line}");
        }
        let edit = opened("<<<<<<< SEARCH").unwrap();
        assert!(edit.closes(b">>>>>>> REPLACE") && !edit.closes(b"=======") && !edit.is_left_by(0));
        let block = opened("content: |-").unwrap();
        assert!(block.is_left_by(2) && !block.is_left_by(3) && !block.closes(b"</content>"));
    }
}
