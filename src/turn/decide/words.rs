//! Splits a text into words.

/// Returns the words of a text, in lower case.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
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
