//! Pictures as a terminal draws them itself: by the protocol of kitty, or by that of iTerm2. The variables
//! that a terminal sets tell which of them it knows; inside a multiplexer this is unknown.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use toolgraft::message::Image;
use toolgraft_raster::{MAX_PIXELS, Raster};

/// Maximum width in pixels of a drawn picture, followed by its maximum height; a larger picture is scaled down.
const WIDTH: u32 = 640;
const HEIGHT: u32 = 480;

/// Number of base64 characters in one escape sequence of kitty's protocol.
const CHUNK: usize = 4096;

/// The protocol by which a terminal displays pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    Kitty,
    ITerm,
}

impl Protocol {
    /// Returns the picture protocol of this terminal, by its environment variables; `None` if it is not known to have
    /// one.
    pub(crate) fn of(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let is = |name: &str, values: &[&str]| {
            let value = variable(name).unwrap_or_default();
            values.iter().any(|known| value.contains(known))
        };
        let has = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
        match () {
            // Inside a multiplexer, the terminal's own variables may be inherited, and pictures may not pass through.
            () if has("TMUX") || has("STY") || is("TERM", &["tmux", "screen"]) => None,
            () if has("KITTY_WINDOW_ID") || is("TERM", &["kitty", "ghostty"]) => Some(Protocol::Kitty),
            () if is("TERM_PROGRAM", &["iTerm", "WezTerm", "mintty"]) => Some(Protocol::ITerm),
            () => None,
        }
    }

    /// Returns the escape sequence that draws the picture at the cursor; `None` if the picture cannot be decoded.
    pub(crate) fn drawn(self, picture: &Image) -> Option<String> {
        match self {
            // It reads every kind, and fits it in.
            Protocol::ITerm => Some(format!("\x1b]1337;File=inline=1;width=auto:{}\x07", picture.base64())),
            Protocol::Kitty => kitty(&read(picture)?),
        }
    }
}

/// Decodes a PNG or JPEG picture and scales a large one down; `None` if that fails.
fn read(picture: &Image) -> Option<Raster> {
    let bytes = STANDARD.decode(picture.base64()).ok()?;
    Raster::decode_to_fit(&bytes, MAX_PIXELS, WIDTH, HEIGHT)
}

fn kitty(image: &Raster) -> Option<String> {
    let data = STANDARD.encode(image.to_png()?);
    let mut text = String::new();
    let mut rest = data.as_str();
    // Transmit and draw, as PNG, without an answer, which would be read as typed.
    let mut head = "a=T,f=100,q=2,";
    while !rest.is_empty() {
        let (chunk, more) = rest.split_at(rest.len().min(CHUNK));
        let _ = write!(text, "\x1b_G{head}m={};{chunk}\x1b\\", u8::from(!more.is_empty()));
        (rest, head) = (more, "");
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawing(width: u32, height: u32, color: impl Fn(u32, u32) -> [u8; 3]) -> Raster {
        let pixels = (0..width * height).flat_map(|n| {
            let [red, green, blue] = color(n % width, n / width);
            [red, green, blue, 255]
        });
        Raster::new(width, height, pixels.collect()).unwrap()
    }

    fn picture(width: u32, height: u32) -> Image {
        let image = drawing(width, height, |x, _| if x == 0 { [255, 0, 0] } else { [0, 0, 255] });
        Image::new(&image.to_png().unwrap()).unwrap()
    }

    #[test]
    fn a_terminal_is_known_by_its_variables_and_none_after_a_multiplexer() {
        let of = |set: &[(&str, &str)]| {
            Protocol::of(|name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
        };
        assert_eq!(of(&[("TERM", "xterm-kitty")]), Some(Protocol::Kitty));
        assert_eq!(of(&[("KITTY_WINDOW_ID", "1"), ("TERM", "xterm-256color")]), Some(Protocol::Kitty));
        assert_eq!(of(&[("TERM_PROGRAM", "iTerm.app")]), Some(Protocol::ITerm));
        assert_eq!(of(&[("TERM", "xterm-256color")]), None);
        assert_eq!(of(&[("TMUX", "/tmp/x"), ("KITTY_WINDOW_ID", "1")]), None);
    }

    #[test]
    fn kittys_data_comes_in_chunks_that_are_one_png() {
        let drawn = Protocol::Kitty.drawn(&picture(9, 7)).unwrap();
        assert!(drawn.starts_with("\x1b_Ga=T,f=100,q=2,m=0;iVBOR") && drawn.ends_with("\x1b\\"), "{drawn:?}");
        let noise = drawing(200, 200, |x, y| [(x * y) as u8, (x ^ y) as u8, (x * 7 + y) as u8]);
        let drawn = kitty(&noise).unwrap();
        let chunks: Vec<&str> = drawn.split("\x1b\\").filter(|chunk| !chunk.is_empty()).collect();
        assert!(chunks.len() > 1 && chunks.iter().all(|chunk| chunk.len() <= CHUNK + 30));
        let data: String = chunks.iter().map(|chunk| chunk.split_once(';').unwrap().1).collect();
        assert_eq!(Raster::decode(&STANDARD.decode(data).unwrap(), MAX_PIXELS), Some(noise));
        assert_eq!(chunks.iter().filter(|chunk| chunk.contains("m=0;")).count(), 1);
    }

    #[test]
    fn a_large_picture_is_made_smaller_and_what_is_none_is_not_drawn() {
        let drawn = read(&picture(1280, 320)).unwrap();
        assert_eq!((drawn.width(), drawn.height()), (640, 160));
        let broken = Image::new(b"\x89PNG\r\n\x1a\nrest").unwrap();
        assert_eq!(Protocol::Kitty.drawn(&broken), None);
        assert!(Protocol::ITerm.drawn(&broken).is_some(), "it reads more kinds than these");
    }
}
