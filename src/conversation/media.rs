//! Images and sound of results that a request shows, within its budget.

use super::shape::push;
use crate::message::{Audio, Image, Message, Reads, Role};
use crate::outcome::{MODEL_MEDIA, MODEL_MEDIA_BYTES, Outcome};

/// What goes with the results of one message of the model.
#[derive(Debug, Default, Clone)]
pub(super) struct Media {
    images: Vec<Image>,
    audio: Vec<Audio>,
}

impl Media {
    /// Adds it to the message with the results, or to one of its own.
    pub(super) fn go_with(self, messages: &mut Vec<Message>) {
        let is_told = messages.last().is_some_and(|last| last.role == Role::User);
        let text = if is_told { String::new() } else { self.shown() };
        let Media { images, audio } = self;
        push(messages, Message { images, audio, ..Message::user(text) });
    }

    /// A line for each, for a message that says nothing else.
    fn shown(&self) -> String {
        let images = self.images.iter().map(Image::to_string);
        images.chain(self.audio.iter().map(Audio::to_string)).collect::<Vec<_>>().join("\n")
    }
}

/// For the results of each piece of a history what goes with them, the newest first as long as
/// the request has room.
pub(super) fn of(results: &[Vec<&Outcome>], reads: Reads) -> Vec<Media> {
    let mut all = vec![Media::default(); results.len()];
    if reads == Reads::default() {
        return all;
    }
    let (mut left, mut bytes) = (MODEL_MEDIA, MODEL_MEDIA_BYTES);
    let mut takes = |size: usize| {
        let fits = left > 0 && size <= bytes;
        // One that does not fit ends it: a gap in the middle would be taken for the whole.
        (left, bytes) = if fits { (left - 1, bytes - size) } else { (0, 0) };
        fits
    };
    for (outcomes, media) in results.iter().zip(&mut all).rev() {
        for outcome in outcomes.iter().rev() {
            if reads.images {
                let images: Vec<Image> = outcome.images().collect();
                let fit = images.into_iter().rev().take_while(|image| takes(image.bytes()));
                media.images.extend(fit);
            }
            if reads.audio {
                let audio: Vec<Audio> = outcome.audio().collect();
                media.audio.extend(audio.into_iter().rev().take_while(|audio| takes(audio.bytes())));
            }
        }
        media.images.reverse();
        media.audio.reverse();
    }
    all
}
