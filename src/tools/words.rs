//! Words by which names, descriptions and questions are recognised.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// Words of `words.txt` by their kind, such as `noun` or `destroys`.
static WORDS: LazyLock<HashMap<&str, HashSet<&str>>> = LazyLock::new(|| {
    let mut words: HashMap<&str, HashSet<&str>> = HashMap::new();
    for (kind, line) in include_str!("words.txt").lines().filter_map(|line| line.split_once(": ")) {
        words.entry(kind).or_default().extend(line.split(' '));
    }
    words
});

/// Returns `true` if `words.txt` lists a word under this kind; the case of letters does not count.
pub(crate) fn is_of(kind: &str, word: &str) -> bool {
    WORDS.get(kind).is_some_and(|words| words.contains(&*word.to_ascii_lowercase()))
}

/// Returns the words of a tool's name: `list`, `all`, `Events` for `list_allEvents`.
#[cfg(any(feature = "prompt", feature = "validate"))]
pub(crate) fn name_words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_lower = false;
    for c in name.chars() {
        let parts = !c.is_alphanumeric();
        if parts || is_lower && c.is_uppercase() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| !parts) {
            word.push(c);
        }
        is_lower = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_words_in_small_letters() {
        let kinds = [
            "looks", "changes", "destroys", "computes", "noun", "runs", "determiner", "no_verb", "acts", "question",
            "stop", "vague",
        ];
        assert_eq!(WORDS.len(), kinds.len());
        for kind in kinds {
            assert!(WORDS[kind].iter().all(|word| is_of(kind, word) && word.bytes().all(|b| b.is_ascii_lowercase())));
        }
    }
}
