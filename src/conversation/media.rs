//! Images and sound of results that a request includes, within a budget.

use super::shape::push;
use crate::message::{Audio, Image, Message, Reads, Role};
use crate::outcome::{MODEL_MEDIA, MODEL_MEDIA_BYTES, Outcome};

/// The images and sound of the results of one message of the model.
#[derive(Debug, Default, Clone)]
pub(super) struct Media {
    images: Vec<Image>,
    audio: Vec<Audio>,
}

impl Media {
    /// Adds the media to the last message if that is a user message, which then has the results, otherwise to a user
    /// message of their own.
    pub(super) fn go_with(self, messages: &mut Vec<Message>) {
        let is_told = messages.last().is_some_and(|last| last.role == Role::User);
        let text = if is_told { String::new() } else { self.shown() };
        let Media { images, audio } = self;
        push(messages, Message { images, audio, ..Message::user(text) });
    }

    /// Returns one line for each image and sound, as the text of a message that has only these media.
    fn shown(&self) -> String {
        let images = self.images.iter().map(Image::to_string);
        images.chain(self.audio.iter().map(Audio::to_string)).collect::<Vec<_>>().join("\n")
    }
}

/// Returns the media of the results of each piece of a history. The newest results come first, as long as the request
/// has room: at most [`MODEL_MEDIA`] media and [`MODEL_MEDIA_BYTES`].
pub(super) fn of(results: &[Vec<&Outcome>], reads: Reads) -> Vec<Media> {
    let mut all = vec![Media::default(); results.len()];
    if reads == Reads::default() {
        return all;
    }
    let (mut left, mut bytes) = (MODEL_MEDIA, MODEL_MEDIA_BYTES);
    let mut takes = |size: usize| {
        let fits = left > 0 && size <= bytes;
        // The first that does not fit ends the selection: a gap in the middle would make the rest look complete.
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
