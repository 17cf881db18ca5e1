//! The answer of the built-in tool that reads on in a long result.

use crate::dialect::Lang;
use crate::outcome::{Outcome, TextPart, TextPlaces, noted};
use crate::turn::wording::Wanted;

/// Maximum number of bytes of the note before a part of a result.
const HEADING: usize = 192;

/// Returns the outcome of reading on in a long result: the requested part or the occurrences of a text, with a note;
/// both together have at most `limit` bytes.
pub(super) fn read(lang: Lang, text: &str, wanted: Wanted<'_>, limit: usize) -> Outcome {
    // Together with the line before it, the part must not exceed the limit on results.
    let limit = limit.saturating_sub(HEADING);
    match wanted {
        Wanted::From(from) if from >= text.len() => Outcome::error(noted(&beyond(lang, text.len()))),
        Wanted::From(from) => {
            let part = TextPart::new(text, from, limit);
            Outcome::result(format!("{}\n\n{}", noted(&heading(lang, part, text.len())), part.text))
        }
        Wanted::Find(find) => {
            let places = TextPlaces::new(text, find, limit);
            Outcome::result([noted(&found(lang, find, &places)), places.lines()].join("\n").trim_end())
        }
    }
}

fn beyond(lang: Lang, total: usize) -> String {
    match lang {
        Lang::En => format!("The result has {total} bytes: `from` is less than that."),
        Lang::Zh => format!("此结果共 {total} 字节：from 必须小于这个数。"),
    }
}

fn heading(lang: Lang, part: TextPart<'_>, total: usize) -> String {
    let (from, end) = (part.from, part.end());
    match lang {
        Lang::En if end == total => format!("Bytes {from} to {end}, the end:"),
        Lang::En => format!("Bytes {from} to {end} of {total}; it continues at {end}:"),
        Lang::Zh if end == total => format!("第 {from} 到 {end} 字节，已到结尾："),
        Lang::Zh => format!("第 {from} 到 {end} 字节，共 {total} 字节；后文从 {end} 开始："),
    }
}

fn found(lang: Lang, find: &str, places: &TextPlaces<'_>) -> String {
    let (count, shown) = (places.count, places.shown.len());
    match lang {
        Lang::En if count == 0 => format!("{find:?} is not in it."),
        Lang::En if shown < count => format!("Places: {count}; the first {shown}, each with the byte to read from:"),
        Lang::En => format!("Places: {count}, each with the byte to read from:"),
        Lang::Zh if count == 0 => format!("其中没有 {find:?}。"),
        Lang::Zh if shown < count => format!("共 {count} 处，以下是前 {shown} 处及其起始字节："),
        Lang::Zh => format!("共 {count} 处，以下是各处及其起始字节："),
    }
}
