//! What a model reads beside text.

use serde::{Deserialize, Serialize};

use super::setters;

/// What a model is known to read beside text. By default nothing: an endpoint whose model
/// does not know a kind refuses the whole request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Reads {
    /// Images.
    pub images: bool,
    /// Sound.
    pub audio: bool,
}

setters!(Reads, with_images => images: bool, with_audio => audio: bool);
