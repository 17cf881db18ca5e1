//! Conversations in a list, and those with certain words.

use std::io::{IsTerminal, stdout};
use std::num::NonZeroUsize;

use serde_json::{Value, json};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::spent;
use crate::base::{Failure, input::above_zero, output};
use crate::screen::{boxes::aligned, visible::plain};
use crate::sessions::{Listed, Store, age};
use crate::terminal::{columns, counted, shortened};

/// Default maximum number of conversations listed on a terminal.
const MOST: usize = 50;

/// Maximum width in columns of a model's name in the list.
const MODEL: usize = 16;

/// Minimum width of a title in columns, after all the rest of a row; a narrower title gets a row of its own.
const TITLE: usize = 20;

/// Indent in columns of the second row of a list entry.
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
    #[arg(long, value_name = "NUMBER", value_parser = above_zero::<NonZeroUsize>)]
    limit: Option<NonZeroUsize>,

    /// Print one JSON object: per conversation its id, time, model, questions, title, usage and bytes
    #[arg(long)]
    json: bool,
}

/// Prints the conversations that contain all of these words.
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
    // Who gave a limit knows that more may follow.
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

/// Returns the list for a width in columns. If the title does not fit beside the other columns, it is in a second row,
/// below as many of them as fit.
fn lines(all: &[Listed], columns: usize) -> String {
    let rows: Vec<[String; 6]> = all.iter().map(cells).collect();
    // What it took is said where there is room.
    let short = rows.iter().map(|[id, age, model, asked, size, _]| [id, age, model, asked, size].map(String::clone));
    let heads = [aligned(&rows, 6, "  "), aligned(&short.collect::<Vec<_>>(), 5, "  ")];
    let room = |heads: &[String]| columns.saturating_sub(heads.first().map_or(0, |head| head.width() + 2));
    let fitting = heads.iter().find(|heads| room(heads) >= TITLE);
    let entry = |(n, one): (usize, &Listed)| {
        let title = plain(&one.title);
        let mut text = match fitting {
            Some(heads) => format!("{}  {}\n", heads[n], shortened(&title, room(heads))),
            None => {
                let mut parts = (1..=rows[n].len()).rev().map(|most| rows[n][..most].join("  "));
                let fits = parts.find(|row| row.width() <= columns).unwrap_or_default();
                format!("{}\n{}", fits.trim_end(), below("", &title, columns))
            }
        };
        if let Some((line, word)) = &one.hit {
            let room = columns.saturating_sub(INDENT + 2);
            text.push_str(&below("… ", &around(&plain(line), word, room), columns));
        }
        text
    };
    all.iter().enumerate().map(entry).collect()
}

/// Returns the columns of a list entry: id, age, model, questions, size and tokens.
fn cells(one: &Listed) -> [String; 6] {
    let model = shortened(&plain(one.model.as_deref().unwrap_or("-")), MODEL);
    let taken = one.usage.map(spent::short).unwrap_or_default();
    [one.id.clone(), age(one.used), model, counted(one.questions, "question"), size(one.bytes), taken]
}

/// Returns a size in bytes as text, such as `34 KiB` or `1.2 MiB`.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_048_576 => format!("{} KiB", bytes.div_ceil(1024)),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

fn below(sign: &str, text: &str, columns: usize) -> String {
    let room = columns.saturating_sub(INDENT + sign.width());
    format!("{:INDENT$}{sign}{}\n", "", shortened(text, room))
}

/// Returns a line unchanged if it fits these columns; otherwise the part from a little before the searched word.
fn around(line: &str, word: &str, columns: usize) -> String {
    if line.width() <= columns {
        return line.to_owned();
    }
    // One character for each, so that positions are the same in the line.
    let folded = |text: &str| text.chars().map(|c| c.to_lowercase().next().unwrap_or(c)).collect::<Vec<_>>();
    let (chars, word) = (folded(line), folded(word));
    let at = chars.windows(word.len().max(1)).position(|part| part == word).unwrap_or(0);
    let before: Vec<char> = line.chars().take(at).collect();
    // The word is seen after a third of the row, with what was said before it.
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
