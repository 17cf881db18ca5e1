//! Splits a text into words.

use std::collections::HashSet;

use crate::tools::name_words;
use crate::tools::search::significant_words;

/// Number of letters that two words with the same meaning share at their start: `cancel`, `cancelled`.
pub(super) const STEM: usize = 4;

/// Returns the words of a text, in lower case.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Minimum length of a word in a phrase, that is a pair of neighbouring words.
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

/// Returns the value of a number that is written as a word.
pub(super) fn number_word(word: &str) -> Option<usize> {
    const ENGLISH: &[&str] =
        &["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    const CHINESE: &[&str] = &["一", "二", "三", "四", "五", "六", "七", "八", "九", "十"];
    let place = |words: &[&str]| words.iter().position(|own| *own == word).map(|place| place + 1);
    match word {
        "twenty" => Some(20),
        "hundred" => Some(100),
        "两" => Some(2),
        _ => place(ENGLISH).or_else(|| place(CHINESE)),
    }
}
