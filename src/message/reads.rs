//! The kinds of input that a model reads besides text.

use serde::{Deserialize, Serialize};

use super::setters;

/// The kinds of input that a model is known to read besides text. By default none: an endpoint refuses the whole
/// request if its model does not support a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Reads {
    /// The model reads images.
    pub images: bool,
    /// The model reads audio.
    pub audio: bool,
}

setters!(Reads, with_images => images: bool, with_audio => audio: bool);
