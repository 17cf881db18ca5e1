//! Pictures as a terminal draws them itself: by the protocol of kitty, by that of iTerm2, or as sixels. The variables
//! that a terminal sets tell which of them it knows; inside a multiplexer this is unknown.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use toolgraft::message::Image;
use toolgraft_raster::{MAX_PIXELS, Raster};

/// Largest width and height that a picture is drawn with, in pixels: a larger one is made smaller.
const WIDTH: u32 = 640;
const HEIGHT: u32 = 480;

/// Characters of kitty's data in one sequence.
const CHUNK: usize = 4096;

/// The protocol by which a terminal draws pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    Kitty,
    ITerm,
    Sixel,
}

impl Protocol {
    /// That of this terminal, by its variables; `None` where it is not known to have one.
    pub(crate) fn of(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let is = |name: &str, values: &[&str]| {
            let value = variable(name).unwrap_or_default();
            values.iter().any(|known| value.contains(known))
        };
        let has = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
        match () {
            () if has("TMUX") || has("STY") || is("TERM", &["tmux", "screen"]) => None,
            () if has("KITTY_WINDOW_ID") || is("TERM", &["kitty", "ghostty"]) => Some(Protocol::Kitty),
            () if is("TERM_PROGRAM", &["iTerm", "WezTerm", "mintty"]) => Some(Protocol::ITerm),
            () if is("TERM", &["foot", "mlterm", "contour"]) => Some(Protocol::Sixel),
            () => None,
        }
    }

    /// Returns the sequence that draws the picture at the cursor; `None` if the picture cannot be read.
    pub(crate) fn drawn(self, picture: &Image) -> Option<String> {
        match self {
            // It reads every kind, and fits it in.
            Protocol::ITerm => Some(format!("\x1b]1337;File=inline=1;width=auto:{}\x07", picture.base64())),
            Protocol::Kitty => kitty(&read(picture)?),
            Protocol::Sixel => Some(sixels(&read(picture)?)),
        }
    }
}

/// Returns a PNG or JPEG, made smaller where it is large.
fn read(picture: &Image) -> Option<Raster> {
    let bytes = STANDARD.decode(picture.base64()).ok()?;
    Raster::decode_to_fit(&bytes, MAX_PIXELS, WIDTH, HEIGHT)
}

fn kitty(image: &Raster) -> Option<String> {
    let data = STANDARD.encode(image.to_png()?);
    let mut text = String::new();
    let mut rest = data.as_str();
    let mut head = "a=T,f=100,q=2,";
    while !rest.is_empty() {
        let (chunk, more) = rest.split_at(rest.len().min(CHUNK));
        let _ = write!(text, "\x1b_G{head}m={};{chunk}\x1b\\", u8::from(!more.is_empty()));
        (rest, head) = (more, "");
    }
    Some(text)
}

/// Steps of each of the three colours.
const STEPS: u32 = 6;

/// Rows that one line of sixels has.
const BAND: u32 = 6;

/// The thresholds by which a colour between two steps becomes one of them.
const BAYER: [[u32; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];

fn sixels(image: &Raster) -> String {
    let (width, height) = (image.width(), image.height());
    let mut text = format!("\x1bPq\"1;1;{width};{height}");
    for colour in 0..STEPS.pow(3) {
        let percent = |step: u32| step * 100 / (STEPS - 1);
        let [red, green, blue] = [colour / 36, colour / 6 % 6, colour % 6].map(percent);
        let _ = write!(text, "#{colour};2;{red};{green};{blue}");
    }
    for top in (0..height).step_by(BAND as usize) {
        band(image, top, &mut text);
    }
    text.push_str("\x1b\\");
    text
}

/// Six rows: for each colour in them, where it stands.
fn band(image: &Raster, top: u32, text: &mut String) {
    let (width, height) = (image.width(), image.height());
    let rows: Vec<Vec<u32>> =
        (top..height.min(top + BAND)).map(|y| (0..width).map(|x| colour(image, x, y)).collect()).collect();
    let mut colours: Vec<u32> = rows.iter().flatten().copied().collect();
    colours.sort_unstable();
    colours.dedup();
    for colour in colours {
        let _ = write!(text, "#{colour}");
        let bits = |x: usize| {
            let set = |(n, row): (usize, &Vec<u32>)| u8::from(row[x] == colour) << n;
            b'?' + rows.iter().enumerate().map(set).sum::<u8>()
        };
        let all: Vec<u8> = (0..width as usize).map(bits).collect();
        for run in all.chunk_by(|a, b| a == b) {
            let _ = write!(text, "!{}{}", run.len(), char::from(run[0]));
        }
        text.push('$');
    }
    text.push('-');
}

/// Returns the number of the colour at a place.
fn colour(image: &Raster, x: u32, y: u32) -> u32 {
    let threshold = BAYER[(y % 4) as usize][(x % 4) as usize];
    let step = |value: u8| {
        let scaled = u32::from(value) * (STEPS - 1);
        (scaled + threshold * 255 / 16).div_euclid(255).min(STEPS - 1)
    };
    let at = 4 * (y as usize * image.width() as usize + x as usize);
    let [red, green, blue] = [0, 1, 2].map(|channel| step(image.pixels()[at + channel]));
    red * 36 + green * 6 + blue
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
        assert_eq!(of(&[("TERM", "foot-extra")]), Some(Protocol::Sixel));
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
    fn sixels_have_each_colour_where_it_stands() {
        let drawn = Protocol::Sixel.drawn(&picture(3, 7)).unwrap();
        assert!(drawn.starts_with("\x1bPq\"1;1;3;7#0;2;0;0;0") && drawn.ends_with("\x1b\\"), "{drawn:?}");
        // Six rows and one: red is 180, blue 5; all six bits, then the first.
        let rows = drawn.split("#215;2;100;100;100").nth(1).unwrap();
        assert_eq!(rows, "#5!1?!2~$#180!1~!2?$-#5!1?!2@$#180!1@!2?$-\x1b\\");
    }

    #[test]
    fn a_large_picture_is_made_smaller_and_what_is_none_is_not_drawn() {
        let drawn = Protocol::Sixel.drawn(&picture(1280, 320)).unwrap();
        assert!(drawn.starts_with("\x1bPq\"1;1;640;160"));
        let broken = Image::new(b"\x89PNG\r\n\x1a\nrest").unwrap();
        assert_eq!((Protocol::Kitty.drawn(&broken), Protocol::Sixel.drawn(&broken)), (None, None));
        assert!(Protocol::ITerm.drawn(&broken).is_some(), "it reads more kinds than these");
    }
}
