//! Elements of unknown names around text: what is in one may be a file's content, a plan or another's words.

use crate::dialect::names_no_element;

/// Longest name that counts.
const MAX_NAME: usize = 32;

/// An element that a line has opened: the first bytes of what closes it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Element {
    name: [u8; MAX_NAME],
    length: usize,
}

impl Element {
    /// The element that `line` opens, all of a line, if it is an opening tag alone.
    pub(super) fn opened(line: &[u8]) -> Option<Self> {
        let tag = line.trim_ascii().strip_prefix(b"<")?.strip_suffix(b">")?;
        if tag.ends_with(b"/") || memchr::memchr2(b'<', b'>', tag).is_some() {
            return None;
        }
        let length = tag.iter().position(|byte| byte.is_ascii_whitespace() || *byte == b'=').unwrap_or(tag.len());
        let name = std::str::from_utf8(&tag[..length]).ok()?;
        let is_name = name.starts_with(char::is_alphabetic) && !name.contains(['"', '\'', '(', '{', ';', ',']);
        if !is_name || names_no_element(name) {
            return None;
        }
        let mut element = Element { name: [0; MAX_NAME], length };
        element.name.get_mut(..length)?.copy_from_slice(name.as_bytes());
        Some(element)
    }

    /// Returns `true` if its closing tag is in `text`.
    pub(super) fn closes(&self, text: &[u8]) -> bool {
        let name = &self.name[..self.length];
        let is_closer = |at: usize| {
            let behind = text[at..].strip_prefix(b"</").and_then(|text| text.strip_prefix(name));
            behind.is_some_and(|behind| behind.trim_ascii_start().starts_with(b">"))
        };
        memchr::memchr_iter(b'<', text).any(is_closer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_opening_tag_alone_on_its_line_opens_an_element() {
        for line in [
            "<plan>", "  <write_fil>\r", "<write_file path=\"a.md\">", "<ifm|tool_calls>", "<\u{601d}\u{8003}>",
            "<fs.write:x>",
        ] {
            let element = Element::opened(line.as_bytes()).expect(line);
            let name = std::str::from_utf8(&element.name[..element.length]).unwrap();
            assert!(element.closes(format!("end</{name} >").as_bytes()), "{line}");
            assert!(!element.closes(format!("<{name}></{name}x></x>").as_bytes()), "{line}");
        }
    }

    #[test]
    fn no_other_line_does() {
        for line in [
            "<div>",
            "<DETAILS open>",
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
            assert!(Element::opened(line.as_bytes()).is_none(), "{line}");
        }
    }
}
