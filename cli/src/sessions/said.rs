//! A user's message: the typed words, with pasted and attached texts at their places.
//!
//! Every way in ends at [`User::with_file`]: a pipe, `-f` and `/file`, `@SERVER:URI`, `NAME=@FILE` of
//! a template, and large pastes at the terminal and in the browser.

use toolgraft::conversation::User;
use toolgraft::outcome::named_files;

/// Name of the attached file that contains piped input.
pub(crate) const PIPE: &str = "standard input";

/// Name of an attached file that contains pasted text.
const PASTED: &str = "pasted text";

/// Minimum size in bytes, and minimum number of lines, from which pasted text becomes an attached file.
const LARGE: (usize, usize) = (1_000, 10);

/// A text to insert as an attached file, and the mark in the message that it replaces.
#[derive(Debug, Clone)]
pub(crate) struct Placed {
    pub(crate) mark: String,
    pub(crate) name: String,
    pub(crate) text: String,
}

/// Returns the message with each text inserted as a file in place of its mark. A text whose mark does not occur is
/// added at the end.
pub(crate) fn with_placed(words: &str, mut placed: Vec<Placed>) -> User {
    let (mut said, mut rest) = (User::default(), words);
    while let Some((at, next)) = placed.iter().enumerate().filter_map(|(n, one)| Some((rest.find(&one.mark)?, n))).min()
    {
        let Placed { mark, name, text } = placed.remove(next);
        said = said.with_words(rest[..at].trim()).with_file(&name, &text);
        rest = &rest[at + mark.len()..];
    }
    let said = said.with_words(rest.trim());
    placed.iter().fold(said, |said, one| said.with_file(&one.name, &one.text))
}

/// Returns the text of a message without its attached files.
pub(crate) fn words(text: &str) -> String {
    let (mut words, mut after) = (User::default(), 0);
    for (_, file) in named_files(text) {
        // The files are parts of the text, so the difference of the addresses is the offset.
        let start = file.as_ptr() as usize - text.as_ptr() as usize;
        let end = start + file.len();
        // The frame's opening line precedes the file, its closing line follows it.
        let open = text[..start.saturating_sub(1)].rfind('\n').map_or(0, |at| at + 1);
        words = words.with_words(text.get(after..open).unwrap_or_default().trim());
        after = text[end + 1..].find('\n').map_or(text.len(), |at| end + 1 + at);
    }
    words.with_words(text[after..].trim()).text
}

/// Returns the message with the files and pictures of another message added.
pub(crate) fn with_files_of(words: User, other: User) -> User {
    let files = named_files(&other.text);
    let mut said = files.fold(words, |said, (name, text)| said.with_file(&name.unwrap_or_default(), text));
    said.images.extend(other.images);
    said
}

/// A typed line, in which large pasted texts became attached files.
#[derive(Debug)]
pub(crate) struct Line {
    /// The message to send.
    pub(crate) said: User,
    /// The typed part of the line, without the pasted files.
    pub(crate) typed: String,
    /// Number of pasted texts that became files.
    pub(crate) files: usize,
}

impl Line {
    /// Creates the message for a line, with each large pasted text as a file, unless the line consists of it alone.
    pub(crate) fn of(line: &str, pasted: impl IntoIterator<Item = String>) -> Self {
        let is_there = |text: &String| is_large(text) && line.contains(text.as_str());
        let pasted: Vec<String> = pasted.into_iter().filter(is_there).collect();
        let typed = pasted.iter().fold(line.to_owned(), |typed, text| typed.replacen(text, " ", 1));
        if pasted.is_empty() || typed.trim().is_empty() {
            return Line { said: User::new(line), typed: line.to_owned(), files: 0 };
        }
        let file = |text: String| Placed { mark: text.clone(), name: PASTED.to_owned(), text };
        Line { files: pasted.len(), said: with_placed(line, pasted.into_iter().map(file).collect()), typed }
    }
}

/// Returns `true` if a pasted text is so long that it becomes a file.
pub(crate) fn is_large(text: &str) -> bool {
    text.len() >= LARGE.0 || text.lines().count() >= LARGE.1
}

#[cfg(test)]
mod tests {
    use toolgraft::outcome::{FILE, foreign_in_frames};

    use super::*;

    fn framed(said: &User) -> Vec<&str> {
        foreign_in_frames(FILE, &said.text).collect()
    }

    #[test]
    fn a_large_paste_beside_typed_words_is_a_file() {
        let log = "failed\n".repeat(20).trim().to_owned();
        let both = Line::of(&format!("Why? {log} Be brief."), [log.clone(), "gone".repeat(500)]);
        assert_eq!((framed(&both.said), both.files), (vec![log.as_str()], 1));
        assert_eq!(both.typed.split_whitespace().collect::<Vec<_>>(), ["Why?", "Be", "brief."]);
        assert!(both.said.text.starts_with("Why?\n\n<file name=\"pasted text\" end=\""), "{}", both.said.text);
        assert!(both.said.text.ends_with("\n\nBe brief."), "{}", both.said.text);
        let twice = Line::of(&format!("Twice: {log}\n{log}"), [log.clone(), log.clone()]);
        assert_eq!(framed(&twice.said), [log.as_str(), log.as_str()]);
        for (line, pasted) in [(log.as_str(), log.as_str()), ("Look: a\nb", "a\nb"), ("Look", "gone")] {
            let line = Line::of(line, [pasted.to_owned()]);
            assert_eq!((line.files, line.said.text.as_str()), (0, line.typed.as_str()));
        }
    }

    #[test]
    fn words_and_files_of_a_message_are_told_apart() {
        let said =
            User::new("Sum\nit.").with_file("a\n\"><file", "one\n</file>\n").with_words("Be brief.").with_file("b", "");
        assert_eq!(words(&said.text), "Sum\nit.\n\nBe brief.");
        assert_eq!(words("a <file b"), "a <file b");
        let edited = with_files_of(User::new("List it."), said);
        assert_eq!((words(&edited.text).as_str(), framed(&edited)), ("List it.", vec!["one\n</file>\n", ""]));
    }

    #[test]
    fn a_text_replaces_its_mark_and_one_without_a_mark_comes_last() {
        let placed = |mark: &str, text: &str| Placed { mark: mark.into(), name: mark.into(), text: text.into() };
        let said = with_placed(
            "Sum (1) and (0) up.",
            vec![placed("(0)", "nought (1)"), placed("(1)", "one"), placed("(2)", "x")],
        );
        assert_eq!(framed(&said), ["one", "nought (1)", "x"]);
        assert!(said.text.starts_with("Sum\n\n<file") && said.text.contains("\n\nup.\n\n<file"), "{}", said.text);
    }
}
