//! Detects a passage that a message repeats again and again.
//!
//! Small models fall into such a loop at temperature 0 and continue until the context is full. The last bytes of the
//! text are checked at fixed intervals, so that the chunks of the stream do not matter: the earlier positions of these
//! bytes give the possible lengths of the passage.

use memchr::memmem;

use crate::event::Region;
use crate::turn::config::{REPEATED_BYTES, REPEATED_BYTES_IN_CALL};

/// Number of bytes of text between two checks for a repetition.
const STEP: usize = 64;

/// Number of bytes of text that are kept for a check.
const WINDOW: usize = 48 << 10;

/// Number of bytes at the end of the text that are searched for before it.
const TAIL: usize = 24;

/// Number of earlier positions of these bytes that are tried: a passage may contain its own end.
const PLACES: usize = 16;

/// Limit on the length of a passage, in bytes.
const LONGEST: usize = 4_000;

/// Detector of repetitions in the text of a message since its last call, in one region; or in the arguments of a call.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    in_call: bool,
    region: Option<Region>,
    /// Last bytes of the text.
    window: Vec<u8>,
    /// Number of bytes of the region, up to the window's end.
    total: usize,
}

/// A passage that is repeated too often at the end of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Repeated {
    pub(super) region: Region,
    /// Number of bytes of the text up to the end of the passage's first occurrence.
    pub(super) keep: usize,
    /// Number of consecutive occurrences of the passage.
    pub(super) times: u32,
}

impl Repeats {
    /// Creates the detector for the arguments of a call.
    pub(super) fn in_call() -> Self {
        Repeats { in_call: true, ..Repeats::default() }
    }

    /// Appends text of a region. Returns the passage that now occurs at least `most` times in a row; 0 means no limit.
    pub(super) fn push(&mut self, region: Region, text: &str, most: u32) -> Option<Repeated> {
        if most == 0 {
            return None;
        }
        if self.region != Some(region) {
            *self = Repeats { region: Some(region), in_call: self.in_call, ..Repeats::default() };
        }
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            let (more, after) = rest.split_at(rest.len().min(STEP - self.total % STEP));
            rest = after;
            self.total += more.len();
            self.window.extend_from_slice(more);
            // Half of it goes at once, so that the bytes are moved seldom.
            if self.window.len() > 2 * WINDOW {
                self.window.drain(..self.window.len() - WINDOW);
            }
            if self.total.is_multiple_of(STEP)
                // One occurrence is no repetition, whatever the limit.
                && let Some((length, passage)) = repeated(&self.window, most.max(2) as usize, self.in_call)
            {
                let (keep, times) = (self.total - length + passage, (length / passage) as u32);
                return Some(Repeated { region, keep, times });
            }
        }
        None
    }
}

/// Returns the length of the repetitions at the end of the text, and the length of the repeated passage.
fn repeated(text: &[u8], most: usize, in_call: bool) -> Option<(usize, usize)> {
    let tail = text.get(text.len().checked_sub(TAIL)?..)?;
    // The tail itself is not found, but a position that overlaps it is.
    let mut end = text.len() - 1;
    for _ in 0..PLACES {
        let oldest = (text.len() - TAIL).saturating_sub(LONGEST);
        let at = oldest + memmem::rfind(text.get(oldest..end)?, tail)?;
        let passage = text.len() - TAIL - at;
        let pairs = text.iter().rev().zip(text[..text.len() - passage].iter().rev());
        let length = passage + pairs.take_while(|(a, b)| a == b).count();
        let least = if in_call { REPEATED_BYTES_IN_CALL } else { REPEATED_BYTES };
        if length >= most * passage {
            // A longer passage would only consist of several of these.
            return (length >= least).then_some((length, passage));
        }
        end = at + TAIL - 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the repetition that is found in a text when it arrives in chunks of this many characters.
    fn found(text: &str, chunk: usize, most: u32) -> Option<Repeated> {
        let mut repeats = Repeats::default();
        let characters: Vec<char> = text.chars().collect();
        let mut chunks = characters.chunks(chunk).map(|chunk| chunk.iter().collect::<String>());
        chunks.find_map(|chunk| repeats.push(Region::Content, &chunk, most))
    }

    #[test]
    fn a_passage_is_found_at_the_same_place_however_the_text_is_cut() {
        let line = "- Oslo: Oslo is a city in Europe.\n";
        let text = format!("The weather in Oslo is:\n\n{}", line.repeat(200));
        let first = found(&text, 1, 10).unwrap();
        // The line end before the first one belongs to the passage, too.
        assert_eq!(&text[..first.keep], format!("The weather in Oslo is:\n\n{line}").trim_end());
        let least = REPEATED_BYTES / line.len();
        assert!((least..least + 5).contains(&(first.times as usize)), "{first:?}");
        for chunk in [2, 3, 7, 64, 255, 256, 257, 5_000] {
            assert_eq!(found(&text, chunk, 10), Some(first), "{chunk}");
        }
        assert_eq!(found(&text, 7, 0), None);
        assert_eq!(found(&text, 7, 201), None);
    }

    #[test]
    fn a_passage_may_hold_its_own_end_and_any_characters() {
        for passage in [
            "They would sail across the seas, and they would sail across the seas. ",
            "It's a village of mountains, and ",
            "你好！有什么可以帮我？\n\n",
            &"One paragraph that is long enough to be looked at. ".repeat(30).replacen("One", "A", 7),
        ] {
            let text = format!("Well. {}", passage.repeat(40 + REPEATED_BYTES / passage.len()));
            let found = found(&text, 5, 10).unwrap_or_else(|| panic!("{passage}"));
            // Somewhere in the first one it begins to be the same.
            assert!(found.keep <= "Well. ".len() + 2 * passage.len(), "{passage}: {found:?}");
        }
    }

    #[test]
    fn in_a_call_the_same_line_may_stand_for_longer() {
        let line = "| 0 | 0 | 0 |\n";
        let found = |lines: usize| {
            let mut repeats = Repeats::in_call();
            line.repeat(lines)
                .as_bytes()
                .chunks(7)
                .find_map(|chunk| repeats.push(Region::Content, std::str::from_utf8(chunk).unwrap(), 10))
        };
        assert_eq!(found(REPEATED_BYTES_IN_CALL / line.len() - 10), None);
        assert!(found(REPEATED_BYTES_IN_CALL / line.len() + 10).is_some());
    }

    #[test]
    fn a_passage_is_a_loop_once_its_repetitions_take_so_many_bytes() {
        let passage = "| . | . | . | . | . | . | . |\n";
        assert_eq!(passage.len(), 30);
        let repeated = |bytes: usize| passage.repeat(bytes / passage.len());
        assert_eq!(found(&passage.repeat(10), 3, 10), None);
        assert_eq!(found(&repeated(REPEATED_BYTES), 3, 10), None);
        assert!(found(&repeated(REPEATED_BYTES + 4 * STEP), 3, 10).is_some());
        // A long passage needs its number.
        let long = "One paragraph that is long enough to be looked at. ".repeat(20).replacen("One", "A", 7);
        assert!(9 * long.len() > REPEATED_BYTES);
        assert_eq!(found(&long.repeat(9), 3, 10), None);
        assert!(found(&long.repeat(11), 3, 10).is_some());
    }

    #[test]
    fn what_is_no_loop_is_left_alone() {
        let table: String = (0..200).map(|n| format!("| row {n} | yes | no |\n")).collect();
        let ruled = format!("{}\n| a | b |\n", "-".repeat(1_500));
        let haha = format!("{} and so on, for everybody who reads it.", "ha ".repeat(60));
        let nine = "It is the same sentence again and again.\n".repeat(9);
        for text in [table, ruled, haha, nine] {
            let padded = format!("{text}{}", " ".repeat(STEP));
            assert_eq!(found(&padded, 3, 10), None, "{text}");
        }
    }
}
