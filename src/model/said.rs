//! Parts of endpoints' messages, by what they say.

/// Returns the phrases of a section of `said.txt`, which lists parts of endpoints' messages.
pub(super) fn phrases(section: &str) -> impl Iterator<Item = &'static str> {
    let header = format!("[{section}]");
    let lines = include_str!("said.txt").lines().skip_while(move |line| *line != header);
    lines.skip(1).take_while(|line| !line.starts_with('[')).filter(|line| !line.starts_with('#'))
}

/// Returns `true` if `words`, a message in lower case, contains a phrase of this section of `said.txt`.
pub(super) fn says(section: &str, words: &str) -> bool {
    phrases(section).any(|phrase| words.contains(phrase))
}
