//! Finds English sentences in a text that should have none.

/// Returns the first two English words in a row outside of quotation marks, code and tags; `None` if there are none.
/// An English word is any word of lower-case ASCII letters.
pub fn first_words(text: &str) -> Option<String> {
    let mut bare = String::new();
    let mut quote = None;
    for c in text.chars() {
        match quote {
            Some(end) if c == end => quote = None,
            Some(_) => {}
            None => match c {
                '"' | '`' => quote = Some(c),
                '<' => quote = Some('>'),
                c => bare.push(c),
            },
        }
    }
    let words: Vec<&str> = bare.split(' ').collect();
    let is_word = |word: &str| word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_lowercase());
    words.windows(2).find(|pair| pair.iter().all(|word| is_word(word))).map(|pair| pair.join(" "))
}
