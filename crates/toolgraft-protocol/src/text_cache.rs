//! A cache of rendered history messages, by their hash.
//!
//! A client sends its whole history with each request. A message is rendered the same way each
//! time, so it is rendered once and found again; texts that are not used any more are dropped.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum size, in bytes, of all cached texts together.
const TOLD_BYTES: usize = 16 << 20;

/// Estimated bytes that an entry of the cache takes in addition to its text.
const ENTRY_BYTES: usize = 64;

/// Cache of rendered texts, by the hash of the value from which each was rendered.
#[derive(Default)]
pub struct TextCache {
    /// Two hashers with random keys make a hash of 128 bits, so that no two inputs share one by
    /// chance.
    hashers: [RandomState; 2],
    kept: Mutex<Generations>,
}

/// The cached texts in two generations: those that were used recently, and older ones, which are dropped next.
#[derive(Default)]
struct Generations {
    late: HashMap<[u64; 2], Arc<str>>,
    bytes: usize,
    before: HashMap<[u64; 2], Arc<str>>,
}

impl Generations {
    fn find(&mut self, key: [u64; 2]) -> Option<Arc<str>> {
        if let Some(text) = self.late.get(&key) {
            return Some(text.clone());
        }
        let text = self.before.remove(&key)?;
        self.keep(key, text.clone());
        Some(text)
    }

    fn keep(&mut self, key: [u64; 2], text: Arc<str>) {
        let bytes = text.len() + ENTRY_BYTES;
        // A text that fills a generation alone would drop all others.
        if bytes > TOLD_BYTES / 2 {
            return;
        }
        if self.bytes + bytes > TOLD_BYTES / 2 {
            self.before = std::mem::take(&mut self.late);
            self.bytes = 0;
        }
        self.bytes += bytes;
        self.late.insert(key, text);
    }
}

impl TextCache {
    /// Returns the 128-bit hash of a value, the key of its text in the cache.
    pub(crate) fn hash(&self, of: impl Hash) -> [u64; 2] {
        self.hashers.each_ref().map(|hasher| hasher.hash_one(&of))
    }

    /// Returns the cached text for this hash; if there is none, makes and stores it.
    ///
    /// # Errors
    /// Fails with the error of `make`.
    pub(crate) fn text<E>(&self, key: [u64; 2], make: impl FnOnce() -> Result<String, E>) -> Result<Arc<str>, E> {
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(text) = kept().find(key) {
            return Ok(text);
        }
        let text: Arc<str> = make()?.into();
        kept().keep(key, text.clone());
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(told: &TextCache, of: &str, made: &mut usize) -> Arc<str> {
        let make = || {
            *made += 1;
            Ok::<_, ()>(of.repeat(1_000))
        };
        told.text(told.hash(of), make).unwrap()
    }

    #[test]
    fn a_text_is_made_once_while_it_is_asked_for_and_what_is_kept_is_bounded() {
        let (told, mut made) = (TextCache::default(), 0);
        for round in 0..5 {
            for of in 0..9_000 {
                text(&told, &format!("{round}.{of}"), &mut made);
                if of % 1_000 == 0 {
                    assert_eq!(&*text(&told, "kept", &mut made), "kept".repeat(1_000));
                }
            }
        }
        assert_eq!(made, 5 * 9_000 + 1, "the one that is asked for stays");
        let kept = told.kept.lock().unwrap();
        let bytes: usize = kept.late.values().chain(kept.before.values()).map(|text| text.len() + ENTRY_BYTES).sum();
        assert!(bytes <= TOLD_BYTES && kept.bytes <= TOLD_BYTES / 2, "{bytes}");
    }
}
