//! Tokens of chat templates, found among all by what a text begins with.

use std::sync::LazyLock;

use crate::dialect::{TemplateToken, template_tokens};

/// All special tokens of chat templates, sorted by text.
static TOKENS: LazyLock<Vec<&'static TemplateToken>> = LazyLock::new(|| {
    let mut sorted: Vec<_> = template_tokens().collect();
    sorted.sort_unstable_by_key(|token| token.text);
    sorted
});

/// Returns the special token that `text` begins with, or else all special tokens that begin with `text`.
pub(crate) fn tokens_at(text: &str) -> &'static [&'static TemplateToken] {
    let sorted = &*TOKENS;
    // No token begins another: `text` can only begin with the last one that does not sort after it.
    let next = sorted.partition_point(|token| token.text < text);
    if let Some(before) = next.checked_sub(1)
        && text.starts_with(sorted[before].text)
    {
        return &sorted[before..next];
    }
    let begin = sorted[next..].iter().take_while(|token| token.text.starts_with(text)).count();
    &sorted[next..next + begin]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_tokens_are_found_as_among_all() {
        let among_all = |text: &str| {
            let fits = |token: &&TemplateToken| text.starts_with(token.text) || token.text.starts_with(text);
            let mut found: Vec<_> = template_tokens().filter(fits).map(|token| token.text).collect();
            found.sort_unstable();
            found
        };
        let found = |text: &str| tokens_at(text).iter().map(|token| token.text).collect::<Vec<_>>();
        for token in template_tokens() {
            for (end, _) in token.text.char_indices() {
                for text in
                    [&token.text[..end], &format!("{}~", &token.text[..end]), &format!("{}!", &token.text[..end])]
                {
                    assert_eq!(found(text), among_all(text), "{text}");
                }
            }
            for after in ["", " ", "x", "<|im_end|>"] {
                assert_eq!(found(&format!("{}{after}", token.text)), [token.text], "{}{after}", token.text);
            }
        }
    }
}
