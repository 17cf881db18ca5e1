//! Splits a text into words.

use std::collections::HashSet;

use crate::tools::name_words;
use crate::tools::search::significant_words;

/// Returns the words of a text, in lower case.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Shorter words make no phrase.
const LEAST_PHRASED: usize = 3;

/// Returns the pairs of neighbouring significant words of a text, `snake_case` and `camelCase` included; no sign is
/// between the two.
pub(super) fn phrases(text: &str) -> HashSet<(String, String)> {
    let significant = |word: &str| {
        let is_so = word.len() >= LEAST_PHRASED && word.chars().all(char::is_alphabetic);
        significant_words(word).into_iter().next().filter(|_| is_so)
    };
    let parts = text.split(|c: char| !c.is_alphanumeric() && !matches!(c, ' ' | '_'));
    let pairs = parts.flat_map(|part| {
        let words: Vec<Option<String>> =
            name_words(part).iter().map(|word| significant(&word.to_lowercase())).collect();
        words.windows(2).filter_map(|pair| Some((pair[0].clone()?, pair[1].clone()?))).collect::<Vec<_>>()
    });
    pairs.collect()
}

/// Numbers as words, with their digits.
const NUMBERS: [(&str, &str); 25] = [
    ("one", "1"),
    ("two", "2"),
    ("three", "3"),
    ("four", "4"),
    ("five", "5"),
    ("six", "6"),
    ("seven", "7"),
    ("eight", "8"),
    ("nine", "9"),
    ("ten", "10"),
    ("eleven", "11"),
    ("twelve", "12"),
    ("twenty", "20"),
    ("hundred", "100"),
    ("一", "1"),
    ("二", "2"),
    ("两", "2"),
    ("三", "3"),
    ("四", "4"),
    ("五", "5"),
    ("六", "6"),
    ("七", "7"),
    ("八", "8"),
    ("九", "9"),
    ("十", "10"),
];

/// Returns the digits of a number that is written as a word.
pub(super) fn number_word(word: &str) -> Option<&'static str> {
    NUMBERS.iter().find(|(own, _)| *own == word).map(|(_, figures)| *figures)
}
