//! Tokens of chat templates, found among all by what a text begins with.

use std::sync::LazyLock;

use super::triggers::Leads;
use crate::dialect::{TemplateToken, template_tokens};

/// All tokens.
struct Tokens {
    /// What they begin with, behind the `<` or `[`.
    leads: Leads,
    /// In the order of their texts.
    sorted: Vec<&'static TemplateToken>,
}

static TOKENS: LazyLock<Tokens> = LazyLock::new(|| {
    let (mut leads, mut sorted) = (Leads::default(), template_tokens().collect::<Vec<_>>());
    sorted.sort_unstable_by_key(|token| token.text);
    sorted.iter().for_each(|token| leads.add_mark(token.text));
    Tokens { leads, sorted }
});

/// The token that `text` begins with, or those that begin with all of it.
pub(crate) fn tokens_at(text: &str) -> &'static [&'static TemplateToken] {
    let Tokens { leads, sorted } = &*TOKENS;
    if !text.as_bytes().get(1..).is_some_and(|behind| leads.fit(behind)) {
        return if text.is_empty() { sorted } else { &[] };
    }
    // None begins another: what `text` begins with is the last one that is not behind it.
    let next = sorted.partition_point(|token| token.text < text);
    if let Some(before) = next.checked_sub(1)
        && text.starts_with(sorted[before].text)
    {
        return &sorted[before..next];
    }
    let begin = sorted[next..].iter().take_while(|token| token.text.starts_with(text)).count();
    match sorted.get(next) {
        Some(token) if begin == 0 && text.starts_with(token.text) => &sorted[next..=next],
        _ => &sorted[next..next + begin],
    }
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
            for behind in ["", " ", "x", "<|im_end|>"] {
                assert_eq!(found(&format!("{}{behind}", token.text)), [token.text], "{}{behind}", token.text);
            }
        }
    }
}
