//! Words of a text, and what is around each.

use crate::tools::Tool;

pub(super) const FENCES: [&str; 3] = ["```", "~~~", "'''"];

/// An occurrence of a known tool's name in the form of a call's name, except for one slip.
pub(super) struct Name<'t> {
    pub(super) at: usize,
    pub(super) length: usize,
    pub(super) tool: &'t Tool,
}

/// A word: letters, digits, `_`, and `.` or `-` inside.
#[derive(Debug, Clone, Copy)]
pub(super) struct NearWord<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    /// Character right before the word; `after` is the one right after it.
    pub(super) before: Option<char>,
    pub(super) after: Option<char>,
    /// Last character before the word that is no space.
    pub(super) lead: Option<char>,
    /// First character after the word that is neither space nor quotation mark.
    pub(super) sign: Option<char>,
}

impl NearWord<'_> {
    /// Returns `true` if a syntax character is right beside the word, or if the word ends its line and begins it or
    /// follows a colon.
    pub(super) fn is_structural(&self) -> bool {
        let is_sign = |c: Option<char>| {
            c.is_some_and(|c| {
                matches!(c, '"' | '\'' | '<' | '>' | '＜' | '=' | '(' | '|' | '｜' | ':' | '[' | '{' | '/' | '}')
            })
        };
        is_sign(self.before)
            || is_sign(self.after)
            || matches!((self.lead, self.after), (None | Some('\n' | ':' | '：'), Some('\r' | '\n')))
    }

    /// Returns `true` if the word is in the position of a key: it is a tag's name, or a sign for its value follows it.
    pub(super) fn is_key(&self) -> bool {
        self.is_tag() || matches!(self.sign, Some(':' | '：' | '=' | '>' | '<'))
    }

    /// Returns `true` if the word introduces a value: it is in brackets, is an option, or has a sign for one after it.
    pub(super) fn gives_value(&self) -> bool {
        let in_brackets = [
            ('<', '>'),
            ('<', ' '),
            ('<', '='),
            ('[', ']'),
            ('＜', '＞'),
            ('〈', '〉'),
            ('《', '》'),
            (';', '&'),
            ('<', '\\'),
        ];
        let is_attribute = matches!(self.before, Some('"' | '\'')) && self.sign == Some('>');
        let is_option = matches!(self.before, Some('-' | ':')) && self.after == Some(' ');
        // Brackets may be full-width, or entities (`&lt;city&gt;`), of which `;` and `&` are next to the
        // word.
        self.before.zip(self.after).is_some_and(|around| in_brackets.contains(&around))
            || matches!(self.sign, Some(':' | '：' | '='))
            || is_attribute
            || is_option
    }

    /// Returns `true` if the word is a tag's name: `<` or `/` is before it, or `>` after it.
    pub(super) fn is_tag(&self) -> bool {
        matches!((self.before, self.after), (Some('<' | '/'), _) | (_, Some('>')))
    }
}

/// Returns the words of `text`, in order.
pub(super) fn words(text: &str) -> impl Iterator<Item = NearWord<'_>> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].find(is_word)?;
        let rest = &text[start..];
        let mut end = rest.find(|c| !is_word(c) && c != '.' && c != '-').unwrap_or(rest.len());
        end = rest[..end].trim_end_matches(['.', '-']).len();
        at = start + end;
        let after = &text[at..];
        Some(NearWord {
            text: &rest[..end],
            at: start,
            before: text[..start].chars().next_back(),
            lead: text[..start].trim_end_matches(' ').chars().next_back(),
            after: after.chars().next(),
            sign: after.trim_start_matches(['"', '\'', ' ']).chars().next(),
        })
    })
}

pub(super) fn is_in_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '▁')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_know_what_stands_around_them() {
        let found: Vec<_> = words("<city>Oslo</city> \"a.b\" : 1.").collect();
        assert_eq!(found.iter().map(|word| word.text).collect::<Vec<_>>(), ["city", "Oslo", "city", "a.b", "1"]);
        assert!(found[0].is_tag() && found[2].is_tag() && !found[1].is_tag());
        assert!(found[3].is_key() && !found[4].is_key());
    }
}
