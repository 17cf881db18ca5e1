//! Conversations in a list, and those with certain words.

use std::io::{IsTerminal, stdout};
use std::num::NonZeroUsize;

use serde_json::{Value, json};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::spent;
use crate::base::{Failure, output};
use crate::screen::visible::plain;
use crate::sessions::{Listed, Store, age};
use crate::terminal::{columns, counted, shortened};

/// Conversations that a terminal shows where nobody says how many.
const MOST: usize = 50;

/// Columns of the longest age.
const AGE: usize = 11;

/// Columns of the longest name of a model that stands before a title.
const MODEL: usize = 16;

/// Minimum width of a title in columns, after all the rest of a row; a narrower title gets a row of its own.
const TITLE: usize = 20;

/// Columns before what stands in a second row.
const INDENT: usize = 10;

/// Options of `toolgraft log search`.
#[derive(Debug, clap::Args)]
pub(super) struct SearchArgs {
    /// Words or parts of words; one with spaces is matched as it is
    #[arg(required = true)]
    pub(super) words: Vec<String>,

    #[command(flatten)]
    pub(super) shape: Shape,
}

/// The filter, the limit and the format of the list.
#[derive(Debug, clap::Args)]
pub(super) struct Shape {
    /// Maximum number of conversations to list [default: 50 on a terminal, else all]
    #[arg(long, value_name = "NUMBER")]
    limit: Option<NonZeroUsize>,

    /// Print one JSON object: per conversation its id, time, model, questions, title, usage and bytes
    #[arg(long)]
    json: bool,
}

/// Lists the conversations with all of these words.
pub(super) fn list(store: &Store, words: &[String], shape: &Shape) -> Result<(), Failure> {
    let mut all = store.list(words).map_err(Failure::job)?;
    let usual = if stdout().is_terminal() && !shape.json { MOST } else { usize::MAX };
    let left_out = all.len().saturating_sub(shape.limit.map_or(usual, Into::into));
    all.truncate(all.len() - left_out);
    if shape.json {
        let sessions: Vec<_> = all.iter().map(entry).collect();
        return output::emit_json(&json!({ "sessions": sessions }));
    }
    if all.is_empty() {
        let what = if words.is_empty() { "no conversation was kept" } else { "no conversation contains these words" };
        return output::tell(what);
    }
    output::emit(&lines(&all, columns()))?;
    if left_out > 0 && shape.limit.is_none() {
        output::note(&format!("and {} more: `--limit NUMBER` lists more", counted(left_out, "conversation")));
    }
    Ok(())
}

fn entry(one: &Listed) -> Value {
    json!({
        "id": one.id,
        "used": httpdate::fmt_http_date(one.used),
        "model": one.model,
        "questions": one.questions,
        "title": one.title,
        "usage": one.usage,
        "bytes": one.bytes,
    })
}

/// The list in so many columns.
fn lines(all: &[Listed], columns: usize) -> String {
    let rows: Vec<[String; 6]> = all.iter().map(cells).collect();
    let mut widths = [0, 1, 2, 3, 4, 5].map(|n: usize| rows.iter().map(|row| row[n].width()).max().unwrap_or(0));
    widths[1] = widths[1].max(AGE);
    // Two columns follow each.
    let columns_of = |cell: &usize| if widths[*cell] > 0 { widths[*cell] + 2 } else { 0 };
    let room = |cells: &[usize]| columns.saturating_sub(cells.iter().map(columns_of).sum());
    // What it took and its size are said where there is room, the size first.
    let layouts: [&[usize]; 2] = [&[0, 1, 2, 3, 4, 5], &[0, 1, 2, 3, 5]];
    let fits = layouts.into_iter().find(|cells| room(cells) >= TITLE).unwrap_or(&[0, 1, 2, 3]);
    let shown: Vec<(usize, usize)> =
        fits.iter().map(|cell| (*cell, widths[*cell])).filter(|(_, width)| *width > 0).collect();
    let layout = (columns, shown.as_slice(), room(fits));
    all.iter().zip(&rows).map(|(one, cells)| line(one, cells, layout)).collect()
}

/// Id, age, model, questions, what it took, and its size.
fn cells(one: &Listed) -> [String; 6] {
    let model = shortened(&plain(one.model.as_deref().unwrap_or("-")), MODEL);
    let taken = one.usage.map(spent::short).unwrap_or_default();
    [one.id.clone(), age(one.used), model, counted(one.questions, "question"), taken, size(one.bytes)]
}

/// `3f9a1c20  2 h ago      small-model  3 questions  What is …`, and where a word stands. Where the
/// title has no room it has a row of its own.
fn line(one: &Listed, cells: &[String; 6], (columns, shown, room): (usize, &[(usize, usize)], usize)) -> String {
    let title = plain(&one.title);
    let mut text = if room >= TITLE {
        let head: String = shown.iter().map(|(cell, width)| padded(&cells[*cell], *width) + "  ").collect();
        format!("{head}{}\n", shortened(&title, room))
    } else {
        let [id, age, model, questions, taken, size] = cells;
        let head = format!("{id}  {age}  {questions}  {model}");
        let more = [format!("{head}  {size}  {taken}"), format!("{head}  {size}")];
        let fits = more.iter().map(|row| row.trim_end()).find(|row| row.width() <= columns);
        let head = fits.map_or_else(|| shortened(&head, columns), str::to_owned);
        format!("{head}\n{}", below("", &title, columns))
    };
    if let Some((line, word)) = &one.hit {
        let room = columns.saturating_sub(INDENT + 2);
        text.push_str(&below("… ", &around(&plain(line), word, room), columns));
    }
    text
}

/// `34 KiB`, `1.2 MiB`.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_048_576 => format!("{} KiB", bytes.div_ceil(1024)),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

/// Ideographs take two columns each.
fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

fn below(sign: &str, text: &str, columns: usize) -> String {
    let room = columns.saturating_sub(INDENT + sign.width());
    format!("{:INDENT$}{sign}{}\n", "", shortened(text, room))
}

/// A line from a little before the word on, where it does not fit these columns.
fn around(line: &str, word: &str, columns: usize) -> String {
    if line.width() <= columns {
        return line.to_owned();
    }
    let folded = |text: &str| text.chars().map(|c| c.to_lowercase().next().unwrap_or(c)).collect::<Vec<_>>();
    let (chars, word) = (folded(line), folded(word));
    let at = chars.windows(word.len().max(1)).position(|part| part == word).unwrap_or(0);
    let before: Vec<char> = line.chars().take(at).collect();
    let mut room = columns / 3;
    let kept = before.iter().rev().take_while(|c| {
        let width = c.width().unwrap_or(0);
        let fits = width <= room;
        room = room.saturating_sub(width);
        fits
    });
    let skipped = at - kept.count();
    line.chars().skip(skipped).collect::<String>().trim_start().to_owned()
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use toolgraft::message::Usage;

    fn one(title: &str, hit: Option<(&str, &str)>) -> Listed {
        Listed {
            id: "3f9a1c20".to_owned(),
            used: SystemTime::now(),
            model: Some("qwen3:8b".to_owned()),
            questions: 3,
            title: title.to_owned(),
            usage: Some(Usage::default().with_prompt_tokens(12_345).with_completion_tokens(678)),
            bytes: 34_816,
            hit: hit.map(|(line, word)| (line.to_owned(), word.to_owned())),
        }
    }

    #[test]
    fn no_row_is_wider_than_the_terminal() {
        let titles = [
            "What is the weather in Oslo, and will it rain tomorrow or the day after?",
            "武汉明天会下雨吗？还是后天才下雨？请查一下天气预报，然后告诉我要不要带伞。",
        ];
        let long = "before ".repeat(30) + "the hit" + &" after".repeat(30);
        let all: Vec<Listed> = titles.iter().map(|title| one(title, Some((&long, "hit")))).collect();
        for columns in [30, 40, 60, 72, 80, 120] {
            let shown = lines(&all, columns);
            assert!(shown.lines().all(|row| row.width() <= columns), "{columns}:\n{shown}");
            assert_eq!(shown.matches("hit").count(), 2, "{columns}:\n{shown}");
            assert!(shown.contains("What is the") && shown.contains("武汉明天会下"), "{columns}:\n{shown}");
        }
    }

    #[test]
    fn sizes_are_said_where_there_is_room() {
        let shown = |columns| lines(&[one("What is it?", None)], columns);
        for columns in [50, 80, 120] {
            assert!(shown(columns).contains("3 questions") && shown(columns).contains("34 KiB"), "{}", shown(columns));
        }
        assert_eq!([0, 1, 1_048_575, 1_300_000].map(size), ["0 KiB", "1 KiB", "1024 KiB", "1.2 MiB"]);
    }

    #[test]
    fn a_long_line_is_shown_from_a_little_before_the_word() {
        assert_eq!(around("short line", "line", 20), "short line");
        assert_eq!(around("one two three four five six seven", "FIVE", 18), "four five six seven");
        assert_eq!(around("天气预报说武汉明天会下雨", "武汉", 12), "报说武汉明天会下雨");
    }
}
