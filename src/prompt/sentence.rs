//! The first sentence of a description.

/// Abbreviations in lower case, after which a full stop does not end a sentence.
const ABBREVIATIONS: &[&str] =
    &["e.g", "i.e", "etc", "vs", "cf", "approx", "incl", "excl", "resp", "no", "dr", "mr", "mrs", "ms", "st", "al"];

/// Returns the text up to the end of its first sentence, or of its first paragraph.
///
/// `。！？` end a sentence anywhere; `.!?` end one before white space, unless the stop belongs to an abbreviation or a
/// lower-case letter follows. A line that begins a list or a heading ends the paragraph, too.
pub(super) fn first_sentence(text: &str) -> &str {
    let paragraph = first_paragraph(text.trim_start());
    let end = paragraph.char_indices().find_map(|(at, c)| {
        let after = at + c.len_utf8();
        let ends = match c {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' => ends_here(&paragraph[..at], &paragraph[after..]),
            _ => false,
        };
        // A closing quotation mark or bracket belongs to its sentence.
        ends.then(|| after + paragraph[after..].len() - paragraph[after..].trim_start_matches(CLOSERS).len())
    });
    paragraph[..end.unwrap_or(paragraph.len())].trim_end()
}

const CLOSERS: &[char] = &['"', '\'', ')', ']', '”', '’', '」', '』', '）', '*', '_', '`'];

fn ends_here(before: &str, after: &str) -> bool {
    let after = after.trim_start_matches(CLOSERS);
    let Some(gap) = after.chars().next() else { return true };
    let word = before.rsplit(|c: char| c.is_whitespace() || matches!(c, '(' | '"')).next().unwrap_or_default();
    // A stop before white space ends no sentence if a lower-case word follows, or if it belongs to an abbreviation.
    gap.is_whitespace()
        && !after.trim_start().starts_with(char::is_lowercase)
        && !ABBREVIATIONS.contains(&word.to_lowercase().as_str())
}

fn first_paragraph(text: &str) -> &str {
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        let content = line.trim();
        let marks = ["- ", "* ", "+ ", "#", "```", "|", "1. ", "1) "];
        // A text may begin with a heading or an empty line.
        if end > 0 && (content.is_empty() || marks.iter().any(|mark| content.starts_with(mark))) {
            break;
        }
        end += line.len();
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_ends_where_people_see_its_end() {
        for (text, sentence) in [
            ("Reads a file. Returns text.", "Reads a file."),
            ("Reads a file", "Reads a file"),
            ("  Reads a file.\n", "Reads a file."),
            ("Reads version 1.2 of a file.txt. Then more", "Reads version 1.2 of a file.txt."),
            ("Searches (e.g. Rust). More.", "Searches (e.g. Rust)."),
            ("Uses e.g. Rust, i.e. Cargo. More.", "Uses e.g. Rust, i.e. Cargo."),
            ("Takes files vs. folders. More.", "Takes files vs. folders."),
            ("Says \"done.\" Then more.", "Says \"done.\""),
            ("Is it there? Says so.", "Is it there?"),
            ("查询天气。返回温度。", "查询天气。"),
            ("天气如何？返回温度", "天气如何？"),
            ("危险！不要用", "危险！"),
            ("说“好。”然后结束。", "说“好。”"),
            ("Reads a\nfile that is long. More", "Reads a\nfile that is long."),
            ("Get weather\n\nArgs:\n  city", "Get weather"),
            ("Get weather\n- city: where\n", "Get weather"),
            ("# Title\ntext", "# Title\ntext"),
            ("", ""),
            ("...", "..."),
        ] {
            assert_eq!(first_sentence(text), sentence, "{text:?}");
        }
    }
}
