//! Removes secrets from recordings, traces and error messages.

mod secrecy;

use std::borrow::Cow;

use serde_json::Value;

pub use secrecy::{HIDDEN, Judged, Secrecy, kept_url, shown_url, url_secrets};

/// The text that replaces a secret in recordings, traces and messages.
pub const REDACTED: &str = "[redacted]";

/// Minimum length in bytes of a secret that is searched for; a shorter one would match too much other text.
pub const MIN_SECRET: usize = 6;

/// Parts of a name in lower case that show that its value is a secret.
const SECRET_NAMES: &[&str] = &["auth", "cookie", "key", "token", "secret", "password", "passwd", "signature", "sig"];

/// Returns `true` if the name of a header, a parameter or a variable suggests that its value is a secret.
pub fn names_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_NAMES.iter().any(|part| name.contains(part))
}

/// Compares two secrets in a time that depends only on their lengths, not on the number of equal bytes.
pub fn same(one: &str, other: &str) -> bool {
    let differences = one.bytes().zip(other.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    one.len() == other.len() && differences == 0
}

/// Set of values that must not be written down, such as an API key. The `Debug` form shows none of them.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets {
    /// The secrets in every form in which they are searched for, longest first, since a secret may contain another one.
    forms: Vec<String>,
}

impl Secrets {
    /// Creates a set of these secrets, trimmed; those shorter than [`MIN_SECRET`] are ignored. They are found verbatim,
    /// as escaped in a JSON string, as encoded in a URL's query, and percent-decoded.
    pub fn new<S: AsRef<str>>(secrets: impl IntoIterator<Item = S>) -> Self {
        let mut forms = Vec::new();
        for secret in secrets {
            let secret = secret.as_ref().trim();
            // A secret within the replacement would be found in it again.
            if secret.len() >= MIN_SECRET && !REDACTED.contains(secret) {
                let decoded = percent_decoded(secret);
                let kept = [secret, &*decoded].into_iter().filter(|form| form.len() >= MIN_SECRET);
                forms.extend(kept.flat_map(|form| [form.to_owned(), in_json(form), encoded(form)]));
            }
        }
        Secrets::sorted(forms)
    }

    /// Returns a set with the secrets of both sets.
    #[must_use]
    pub fn and(&self, other: &Secrets) -> Secrets {
        let mut forms = self.forms.clone();
        forms.extend_from_slice(&other.forms);
        Secrets::sorted(forms)
    }

    fn sorted(mut forms: Vec<String>) -> Secrets {
        forms.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        forms.dedup();
        Secrets { forms }
    }

    /// Returns `true` if the set has no secret.
    pub fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }

    /// Returns the text with each secret replaced by [`REDACTED`].
    pub fn hide<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.forms.iter().fold(Cow::Borrowed(text), |text, secret| {
            if text.contains(secret.as_str()) { Cow::Owned(text.replace(secret.as_str(), REDACTED)) } else { text }
        })
    }

    /// Replaces the secrets in all strings of a value by [`REDACTED`], keys included, except keys that consist of
    /// letters and underscores alone, which are names of the format.
    pub fn hide_in(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(hidden) = self.hide(text) {
                    *text = hidden;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.hide_in(item)),
            Value::Object(fields) => {
                let word = |key: &str| key.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_');
                if fields.keys().any(|key| !word(key) && matches!(self.hide(key), Cow::Owned(_))) {
                    let taken = std::mem::take(fields);
                    let hidden = |key: String| if word(&key) { key } else { self.hide(&key).into_owned() };
                    fields.extend(taken.into_iter().map(|(key, value)| (hidden(key), value)));
                }
                fields.values_mut().for_each(|value| self.hide_in(value));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Returns the offset and length of the first secret in the bytes, the longest if several begin there; `None`
    /// without one.
    fn find(&self, bytes: &[u8]) -> Option<(usize, usize)> {
        let found =
            self.forms.iter().filter_map(|secret| Some((memchr::memmem::find(bytes, secret.as_bytes())?, secret)));
        // Of two secrets that begin together the longer one: the rest of it would remain.
        found.map(|(at, secret)| (at, secret.len())).min_by_key(|(at, length)| (*at, std::cmp::Reverse(*length)))
    }

    /// Returns the offset of the longest suffix of the bytes that is the beginning of a secret; `None` if there is
    /// none.
    fn begun(&self, bytes: &[u8]) -> Option<usize> {
        let longest = self.forms.first()?.len() - 1;
        let from = bytes.len().saturating_sub(longest);
        (from..bytes.len()).find(|at| self.forms.iter().any(|s| s.as_bytes().starts_with(&bytes[*at..])))
    }
}

crate::message::opaque_debug!(Secrets, self => forms: self.forms.len());

/// Escapes a secret as in a JSON string.
fn in_json(secret: &str) -> String {
    let quoted = Value::from(secret).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// Decodes percent-encoded text of a URL; bytes that are not UTF-8 are replaced by U+FFFD.
pub(crate) fn percent_decoded(text: &str) -> Cow<'_, str> {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    if bytes.len() == text.len() {
        return Cow::Borrowed(text);
    }
    for part in parts {
        let byte = part.get(..2).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        // A percent sign without two digits after it is itself.
        bytes.push(byte.unwrap_or(b'%'));
        bytes.extend_from_slice(&part.as_bytes()[byte.map_or(0, |_| 2)..]);
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

/// Percent-encodes a secret as in a URL's query.
fn encoded(secret: &str) -> String {
    let mut encoded = String::with_capacity(secret.len());
    for byte in secret.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => encoded.push(char::from(byte)),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

/// Replaces the secrets in a stream that arrives in pieces by [`REDACTED`], wherever the pieces are cut.
///
/// A piece whose end may be the beginning of a secret is buffered until the next pieces arrive; all others are returned
/// at once, cut as they arrived. `T` is any value that belongs to a piece.
#[derive(Debug)]
pub struct Hider<T> {
    secrets: Secrets,
    held: Vec<(T, Vec<u8>)>,
}

impl<T> Hider<T> {
    /// Creates a hider at the start of a stream.
    pub fn new(secrets: Secrets) -> Self {
        Hider { secrets, held: Vec::new() }
    }

    /// Adds a piece and returns the pieces that are ready, in order.
    pub fn push(&mut self, of: T, piece: &[u8]) -> Vec<(T, Vec<u8>)> {
        self.held.push((of, piece.to_vec()));
        let mut all: Vec<u8> = self.held.iter().flat_map(|(_, bytes)| bytes).copied().collect();
        while let Some((at, length)) = self.secrets.find(&all) {
            all.splice(at..at + length, REDACTED.bytes());
            self.replace(at, length);
        }
        let Some(begun) = self.secrets.begun(&all) else { return self.rest() };
        let mut end = 0;
        let ready = self.held.iter().take_while(|(_, bytes)| {
            end += bytes.len();
            end <= begun
        });
        let ready = ready.count();
        self.held.drain(..ready).collect()
    }

    /// Returns the pieces that are still buffered, at the end of the stream.
    pub fn rest(&mut self) -> Vec<(T, Vec<u8>)> {
        std::mem::take(&mut self.held)
    }

    /// Replaces a range of the buffered bytes by [`REDACTED`], in the piece where the range begins.
    fn replace(&mut self, at: usize, length: usize) {
        let mut start = 0;
        let mut marked = false;
        for (_, bytes) in &mut self.held {
            let end = start + bytes.len();
            let (from, to) = (at.clamp(start, end) - start, (at + length).clamp(start, end) - start);
            if from < to {
                let mark: &[u8] = if marked { b"" } else { REDACTED.as_bytes() };
                bytes.splice(from..to, mark.iter().copied());
                marked = true;
            }
            start = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const KEY: &str = "sk-12/34\"56";

    #[test]
    fn a_shown_url_has_no_secret() {
        for (url, shown) in [
            ("https://user:pw@host:8/mcp?key=1#x", "https://host:8/mcp?…"),
            ("http://host/@scope/mcp", "http://host/@scope/mcp"),
            ("http://[::1]:80/v1", "http://[::1]:80/v1"),
            ("http://user:p@w@host/v1", "http://host/v1"),
            ("http://user:p/w@host/v1", "http://host/v1"),
            ("http://user:p?w@host/v1", "http://…"),
            ("user:pw@host/v1?key=1", "host/v1?…"),
            ("https://host:8/sk-proj-abcdefghij/v1", "https://host:8/[redacted]/v1"),
            ("https://host/mcp;token=abc;v=2", "https://host/mcp;token=[redacted];v=2"),
            (
                "http://u:p/w@0123456789abcdefghij.net/bot12:sk-proj-abcdefghij/x",
                "http://0123456789abcdefghij.net/bot12:[redacted]/x",
            ),
        ] {
            assert_eq!(shown_url(url), shown);
        }
    }

    #[test]
    fn secrets_are_found_as_they_are_in_json_and_in_queries() {
        let secrets = Secrets::new([KEY, "short", " trimmed-key\n"]);
        let text = r#"a sk-12/34"56 b {"k":"sk-12/34\"56"} ?k=sk-12%2F34%2256&s=short trimmed-key"#;
        let hidden = r#"a [redacted] b {"k":"[redacted]"} ?k=[redacted]&s=short [redacted]"#;
        assert_eq!(secrets.hide(text), hidden);
        assert!(!format!("{secrets:?}").contains("sk-"));
    }

    #[test]
    fn in_values_strings_and_foreign_keys_are_searched() {
        let secrets = Secrets::new([KEY, "arguments"]);
        let mut value = json!({"arguments": {KEY: ["arguments", KEY, 7]}});
        secrets.hide_in(&mut value);
        assert_eq!(value, json!({"arguments": {"[redacted]": ["[redacted]", "[redacted]", 7]}}));
    }

    #[test]
    fn of_two_secrets_the_longer_one_is_hidden_whole() {
        let secrets = Secrets::new(["abcdef", "abcdefgh"]);
        assert_eq!(secrets.hide("abcdefgh abcdefg"), "[redacted] [redacted]g");
    }

    #[test]
    fn a_piece_that_cannot_become_a_secret_does_not_wait() {
        let mut hider = Hider::new(Secrets::new(["secret-1"]));
        assert_eq!(hider.push(1, b"abc"), [(1, b"abc".to_vec())]);
        assert_eq!(hider.push(2, b"xse"), []);
        assert_eq!(hider.push(3, b"cond"), [(2, b"xse".to_vec()), (3, b"cond".to_vec())]);
        assert_eq!(hider.push(4, b"sec"), []);
        assert_eq!(hider.rest(), [(4, b"sec".to_vec())]);
    }

    proptest! {
        #[test]
        fn however_a_stream_is_cut_no_secret_is_left_and_nothing_else_is_lost(
            parts in prop::collection::vec(prop::sample::select(vec!["secret-1", "sec", "ret-1", "se", "-", "x", "武"]), 0..12),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        ) {
            let secrets = Secrets::new(["secret-1"]);
            let text = parts.concat();
            let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
            at.extend([0, text.len()]);
            at.sort_unstable();
            let mut hider = Hider::new(secrets.clone());
            let mut out = Vec::new();
            for pair in at.windows(2) {
                out.extend(hider.push((), &text.as_bytes()[pair[0]..pair[1]]));
            }
            out.extend(hider.rest());
            prop_assert_eq!(out.len(), at.len() - 1);
            let joined: Vec<u8> = out.into_iter().flat_map(|(_, bytes)| bytes).collect();
            prop_assert_eq!(String::from_utf8(joined).unwrap(), secrets.hide(&text));
        }
    }
}
