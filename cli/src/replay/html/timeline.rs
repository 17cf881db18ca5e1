//! When what came, as bars: in milliseconds where they were recorded, else in bytes.

use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use crate::replay::play::Played;
use crate::terminal::{grouped, lasted};
use crate::view::region;
use toolgraft::Outcome;
use toolgraft::event::{OwnedEvent, Piece, Region};
use toolgraft::outcome::Status;
use toolgraft::transcript::{Recording, Round};

/// Meaning of a bar of the timeline; its name is also the CSS class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
enum TimelineKind {
    Wait,
    Reasoning,
    Answer,
    Call,
    Rejected,
    Unread,
    Failed,
    /// Section of several rounds on the scale of the whole timeline.
    Part,
}

impl TimelineKind {
    fn words(self) -> &'static str {
        match self {
            TimelineKind::Wait => "waiting for the model",
            TimelineKind::Reasoning => "reasoning",
            TimelineKind::Answer => "answer",
            TimelineKind::Call => "call",
            TimelineKind::Rejected => "rejected",
            TimelineKind::Unread => "after the call, not shown",
            TimelineKind::Failed => "failed, not run or cancelled",
            TimelineKind::Part => "Rounds",
        }
    }
}

/// Maximum number of rows of a timeline with one scale; a longer one is split into sections with a scale each.
const ROWS: usize = 40;

/// Minimum number of rows of a section of the timeline, except for the last; each section begins at a round.
const PART: usize = 20;

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Ms,
    #[default]
    Bytes,
}

/// Collects the rows of the timeline, round by round.
#[derive(Debug, Default)]
pub(super) struct Rows {
    unit: Unit,
    /// Time of the first request in milliseconds, plus the idle time before later questions, which the timeline leaves
    /// out.
    began: u64,
    /// `true` if the next round answers a question of the user.
    is_asked: bool,
    rows: Vec<TimelineLine>,
    /// Position on the timeline at which the last round and its calls end, in milliseconds or bytes.
    cursor: u64,
}

/// Row of the timeline: its label, the anchor of its round (`None` for the outcome of a call), and its bars.
type TimelineLine = (String, Option<String>, Vec<Stretch>);

#[derive(Debug, Clone, Copy, PartialEq)]
struct Stretch {
    kind: TimelineKind,
    start: u64,
    end: u64,
}

impl Rows {
    pub(super) fn new(recording: &Recording) -> Self {
        let timed = |round: &Round| round.deltas.iter().all(|d| d.ms.is_some());
        // Of no deltas all have a time, and a recording without any has none.
        let any =
            recording.rounds.iter().any(|r| !r.deltas.is_empty() || r.finish.as_ref().is_some_and(|f| f.ms.is_some()));
        let unit = if any && recording.rounds.iter().all(timed) { Unit::Ms } else { Unit::Bytes };
        let began = recording.rounds.first().and_then(|r| r.sent.as_ref()?.at).unwrap_or(0);
        Rows { unit, began, ..Rows::default() }
    }

    /// Notes that the next round answers a question of the user.
    pub(super) fn question(&mut self) {
        self.is_asked = true;
    }

    /// Adds a row for the answer of a round.
    pub(super) fn round(&mut self, label: String, anchor: String, round: &Round, played: &Played) {
        let mut start = self.since(round.sent.as_ref().and_then(|s| s.at)).unwrap_or(self.cursor);
        if std::mem::take(&mut self.is_asked) && start > self.cursor {
            self.began += start - self.cursor;
            start = self.cursor;
        }
        let clock = TimeAxis::new(round);
        let mut pieces: Vec<Stretch> = Vec::new();
        if self.unit == Unit::Ms && clock.first > 0 {
            pieces.push(Stretch { kind: TimelineKind::Wait, start, end: start + clock.first });
        }
        for (kind, span) in parts(played) {
            let (from, to) = match self.unit {
                Unit::Ms => (clock.time(span.start), clock.time(span.end)),
                Unit::Bytes => (span.start, span.end),
            };
            // What came all at once took no time of its own.
            if from < to {
                pieces.push(Stretch { kind, start: start + from, end: start + to });
            }
        }
        let end = pieces.last().map_or(start, |p| p.end);
        self.cursor = end.max(start + clock.last.filter(|_| self.unit == Unit::Ms).unwrap_or(0));
        self.rows.push((label, Some(anchor), pieces));
    }

    /// Adds a row for the outcome of a call, which arrived at time `at` if that was recorded. Without it, the row
    /// begins at the end of the previous ones.
    pub(super) fn outcome(&mut self, label: String, outcome: &Outcome, at: Option<u64>) {
        let length = match self.unit {
            Unit::Ms => outcome.took.and_then(|t| u64::try_from(t.as_millis()).ok()).unwrap_or(0),
            Unit::Bytes => outcome.text.len() as u64,
        };
        let end = self.since(at).unwrap_or(self.cursor + length);
        let good = matches!(outcome.status, Status::Result | Status::Displayed);
        let kind = if good { TimelineKind::Call } else { TimelineKind::Failed };
        self.cursor = self.cursor.max(end);
        self.rows.push((label, None, vec![Stretch { kind, start: end.saturating_sub(length), end }]));
    }

    /// Converts a recorded time to milliseconds on the timeline; `None` if the timeline is in bytes.
    fn since(&self, at: Option<u64>) -> Option<u64> {
        at.filter(|_| self.unit == Unit::Ms).map(|at| at.saturating_sub(self.began))
    }

    /// Returns the duration of the timeline as text; `None` if it is in bytes or has no bars.
    pub(super) fn total(&self) -> Option<String> {
        let end = self.rows.iter().flat_map(|(_, _, pieces)| pieces).map(|p| p.end).max()?;
        (self.unit == Unit::Ms).then(|| self.words(end.max(self.cursor)))
    }

    /// Returns the timeline as JSON for the page, in sections with a scale each. If there are several, the bar `whole`
    /// of each shows its position in the whole timeline.
    pub(super) fn finish(self) -> Value {
        let all = || self.rows.iter().flat_map(|(_, _, pieces)| pieces);
        let total = all().map(|p| p.end).max().unwrap_or(0);
        // An answer that took less than a millisecond has a row without bars.
        if total == 0 && (self.unit == Unit::Bytes || self.rows.is_empty()) {
            return json!({"parts": []});
        }
        let mut kinds: Vec<TimelineKind> = all().map(|p| p.kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let kinds: Vec<Value> = kinds.into_iter().map(|kind| json!({"kind": kind, "words": kind.words()})).collect();
        let note = if self.unit == Unit::Bytes { "no times were recorded: lengths are bytes" } else { "" };
        if self.rows.len() <= ROWS {
            let part = json!({"whole": null, "rows": self.on_scale(&self.rows, 0, total)});
            return json!({"parts": [part], "kinds": kinds, "note": note});
        }
        let mut first = 1;
        let parts = split(&self.rows).into_iter().map(|lines| {
            let rounds = lines.iter().filter(|(_, anchor, _)| anchor.is_some()).count();
            let label = format!("Rounds {first}–{}", first + rounds.max(1) - 1);
            first += rounds;
            let stretches = || lines.iter().flat_map(|(_, _, pieces)| pieces);
            let start = stretches().map(|p| p.start).min().unwrap_or(0);
            let end = stretches().map(|p| p.end).max().unwrap_or(start);
            let whole = vec![Stretch { kind: TimelineKind::Part, start, end }];
            let whole = self.on_scale(&[(label, None, whole)], 0, total).pop();
            json!({"whole": whole, "rows": self.on_scale(lines, start, end - start)})
        });
        json!({"parts": parts.collect::<Vec<_>>(), "kinds": kinds, "note": note})
    }

    /// Returns rows as JSON, with the positions and widths of bars in percent of a scale from `from` of this length.
    fn on_scale(&self, lines: &[TimelineLine], from: u64, length: u64) -> Vec<Value> {
        let bar = |piece: &Stretch| {
            json!({
                "kind": piece.kind,
                "words": piece.kind.words(),
                "left": percent(piece.start.saturating_sub(from), length),
                "width": percent(piece.end - piece.start, length),
                "size": self.words(piece.end - piece.start),
            })
        };
        let row = |(label, anchor, pieces): &TimelineLine| {
            let (start, end) = (pieces.first().map_or(0, |p| p.start), pieces.last().map_or(0, |p| p.end));
            let bars: Vec<Value> = pieces.iter().map(bar).collect();
            json!({"label": label, "anchor": anchor, "bars": bars, "size": self.words(end - start)})
        };
        lines.iter().map(row).collect()
    }

    fn words(&self, length: u64) -> String {
        match self.unit {
            Unit::Bytes => format!("{} B", grouped(length)),
            Unit::Ms => lasted(Duration::from_millis(length)),
        }
    }
}

/// Splits the rows of the timeline into sections that each begin with a round.
fn split(rows: &[TimelineLine]) -> Vec<&[TimelineLine]> {
    let mut parts = Vec::new();
    let mut begin = 0;
    for (at, (_, anchor, _)) in rows.iter().enumerate() {
        if anchor.is_some() && at - begin >= PART {
            parts.push(&rows[begin..at]);
            begin = at;
        }
    }
    parts.push(&rows[begin..]);
    parts
}

/// Formats a fraction as percent with two decimals and no percent sign; the fraction of 0 is 0.
fn percent(part: u64, whole: u64) -> String {
    let hundredths = u128::from(part) * 10_000 / u128::from(whole.max(1));
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// Returns the sections of an answer as bar kinds with byte ranges; adjacent sections of one kind are joined.
fn parts(played: &Played) -> Vec<(TimelineKind, std::ops::Range<u64>)> {
    let mut parts: Vec<(TimelineKind, std::ops::Range<u64>)> = Vec::new();
    // A call's kind is known at its end; its part begins with it.
    let mut open: Option<u64> = None;
    for event in &played.events {
        let (kind, span) = match event {
            OwnedEvent::CallStart { span, .. } | OwnedEvent::ArgsDelta { span, .. } => {
                open.get_or_insert(span.start);
                continue;
            }
            OwnedEvent::CallEnd { index, span, .. } => {
                let Some(result) = played.result(*index) else { continue };
                let kind = match result.map_err(region) {
                    Ok(_) => TimelineKind::Call,
                    Err(Some(Region::Reasoning)) => TimelineKind::Reasoning,
                    Err(Some(Region::Content)) => TimelineKind::Answer,
                    Err(None) => TimelineKind::Rejected,
                };
                (kind, open.take().unwrap_or(span.start)..span.end)
            }
            // Between other parts white space and markers are nobody's.
            OwnedEvent::Text { text, span }
            | OwnedEvent::Reasoning { text, span, .. }
            | OwnedEvent::Marker { text, span, .. } => {
                let kind = match played.piece_at(span.start) {
                    _ if text.trim().is_empty() => continue,
                    Some(Piece::Text { region: Region::Content, .. }) => TimelineKind::Answer,
                    Some(Piece::Text { .. } | Piece::Syntax { .. }) => TimelineKind::Reasoning,
                    _ => continue,
                };
                (kind, span.clone())
            }
            _ => continue,
        };
        let is_unread = played.stop.is_some_and(|stop| span.start >= stop.bytes as u64);
        let kind = if is_unread { TimelineKind::Unread } else { kind };
        match parts.last_mut() {
            Some((last, part)) if *last == kind => part.end = span.end,
            _ => parts.push((kind, span)),
        }
    }
    parts
}

/// Arrival times of the bytes of an answer, in milliseconds since the request.
struct TimeAxis {
    /// For each delta, the number of bytes up to its end, and its arrival time in milliseconds.
    deltas: Vec<(u64, u64)>,
    first: u64,
    last: Option<u64>,
}

impl TimeAxis {
    fn new(round: &Round) -> Self {
        let mut bytes = 0;
        let mut latest = 0;
        let deltas = round.deltas.iter().map(|delta| {
            bytes += delta.text.len() as u64;
            // A clock that was set back must not let the answer run backwards.
            latest = latest.max(delta.ms.unwrap_or(latest));
            (bytes, latest)
        });
        let deltas: Vec<(u64, u64)> = deltas.collect();
        let last = round.finish.as_ref().and_then(|f| f.ms).max(deltas.last().map(|d| d.1));
        TimeAxis { first: deltas.first().map_or(last.unwrap_or(0), |d| d.1), deltas, last }
    }

    /// Returns the time of a byte in milliseconds, interpolated between the arrivals of the previous delta and its own.
    fn time(&self, byte: u64) -> u64 {
        let at = self.deltas.partition_point(|(end, _)| *end < byte);
        let Some((end, ms)) = self.deltas.get(at) else { return self.last.unwrap_or(0) };
        let (start, since) = if at == 0 { (0, self.first) } else { self.deltas[at - 1] };
        let (part, whole) = (byte.saturating_sub(start), (end - start).max(1));
        since + (ms - since) * part / whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgraft::message::DeltaKind;
    use toolgraft::transcript::TimedDelta;

    fn round(deltas: &[(&str, Option<u64>)]) -> Round {
        let delta = |(text, ms): &(&str, Option<u64>)| TimedDelta::new(DeltaKind::Content, *text).with_ms(*ms);
        Round::default().with_deltas(deltas.iter().map(delta).collect::<Vec<_>>())
    }

    fn of_rounds(rounds: impl IntoIterator<Item = Round>) -> Recording {
        let mut recording = Recording::default();
        recording.rounds.extend(rounds);
        recording
    }

    #[test]
    fn a_byte_has_its_time_in_proportion() {
        let clock = TimeAxis::new(&round(&[("abcd", Some(100)), ("efgh", Some(300))]));
        let times: Vec<u64> = [0, 4, 6, 8].into_iter().map(|byte| clock.time(byte)).collect();
        assert_eq!(times, [100, 100, 200, 300]);
    }

    #[test]
    fn lengths_are_bytes_where_a_time_is_missing() {
        let timed = of_rounds([round(&[("a", Some(1))])]);
        assert_eq!(Rows::new(&timed).unit, Unit::Ms);
        let mixed = of_rounds([round(&[("a", Some(1)), ("b", None)])]);
        assert_eq!(Rows::new(&mixed).unit, Unit::Bytes);
    }

    #[test]
    fn the_clock_starts_with_the_first_request() {
        let sent = |at| {
            let mut round = round(&[("a", Some(40))]);
            round.sent.get_or_insert_default().at = Some(at);
            round
        };
        let recording = of_rounds([3_000, 3_500].map(sent));
        let mut rows = Rows::new(&recording);
        recording.rounds.iter().for_each(|r| rows.round(String::new(), String::new(), r, &Played::default()));
        let waits: Vec<(u64, u64)> = rows.rows.iter().map(|(_, _, pieces)| (pieces[0].start, pieces[0].end)).collect();
        assert_eq!(waits, [(0, 40), (500, 540)]);
        // Nobody waits while a person thinks of a question.
        rows.question();
        let later = sent(60_000);
        rows.round(String::new(), String::new(), &later, &Played::default());
        let last = rows.rows.last().unwrap().2[0];
        assert_eq!((last.start, last.end, rows.since(Some(60_050))), (540, 580, Some(590)));
    }

    #[test]
    fn lengths_are_said_in_words() {
        let rows = Rows { unit: Unit::Ms, began: 0, is_asked: false, rows: Vec::new(), cursor: 0 };
        assert_eq!([640, 12_340, 125_000].map(|ms| rows.words(ms)), ["640 ms", "12.3 s", "2 min 5 s"]);
        let rows = Rows { unit: Unit::Bytes, ..rows };
        assert_eq!(rows.words(12_345), "12,345 B");
        assert_eq!([percent(1, 3), percent(3, 3), percent(0, 0)], ["33.33", "100.00", "0.00"]);
    }
}
