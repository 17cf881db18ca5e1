//! A replay as one self-contained page.

mod page;
mod timeline;
mod words;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde_json::{Value, json};

use self::page::{Ending, Fact, Part, RecordingPart, RoundPart};
use self::timeline::{Rows, Timeline};
use self::words::Words;
use super::explain::GivenBack;
use super::play::Played;
use super::settings::Settings;
use super::view::{Answered, At, Totals, View};
use crate::page_text::Long;
use crate::terminal::{counted, grouped};
use crate::{Failure, input, page_file};
use toolgraft::dialect::Lang;
use toolgraft::event::{Entry, OwnedEvent, Provenance};
use toolgraft::message::Role;
use toolgraft::transcript::import::Format;
use toolgraft::transcript::{Recording, Round};

const TEMPLATE: &str = include_str!("../../../pages/replay.html");

/// Where pages go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    /// A page for each file, beside it.
    Beside,
    /// One page for all of them, on standard output.
    Stdout,
    /// One page for all of them.
    File(PathBuf),
}

impl FromStr for Target {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "" => Target::Beside,
            "-" => Target::Stdout,
            path => Target::File(path.into()),
        })
    }
}

impl Target {
    /// Looks before the work whether the pages of these files can be written.
    pub(super) fn check(&self, files: &[PathBuf]) -> Result<(), Failure> {
        match self {
            Target::Stdout => Ok(()),
            Target::File(path) => page_file::writable(path),
            Target::Beside => files.iter().try_for_each(|file| match file.to_str() {
                Some("-") => Err(Failure::usage("a page of standard input has no place: name one with --html=PAGE")),
                _ => page_file::writable(&beside(file)),
            }),
        }
    }
}

fn beside(file: &Path) -> PathBuf {
    file.with_extension("html")
}

/// Collects a replay and writes pages at its end.
pub(super) struct Pages {
    target: Target,
    /// Language that was asked for.
    lang: Option<Lang>,
    /// Files with their recordings.
    files: Vec<(String, Vec<Taken>)>,
}

/// A recording with all that is said about it.
struct Taken {
    words: &'static Words,
    session: Vec<Fact>,
    title: String,
    source: String,
    notes: Vec<String>,
    rows: Rows,
    rounds: Vec<RoundPart>,
    endings: Vec<Ending>,
    calls: usize,
    rejected: usize,
    tokens: u64,
    /// Times of outcomes that are still to be shown, by id.
    times: Vec<(String, Option<u64>)>,
    /// Notices stand behind the outcomes.
    notices: Vec<Part>,
    /// The last round's calls were answered, or it was corrected.
    answered: bool,
    asked: bool,
}

impl Pages {
    pub(super) fn new(target: Target, lang: Option<Lang>) -> Self {
        Pages { target, lang, files: Vec::new() }
    }

    /// The page of all that was taken, with this above it.
    pub(super) fn page(self, about: Value) -> io::Result<String> {
        render(self.files.into_iter().flat_map(|(_, taken)| taken).collect(), about)
    }

    fn taken(&mut self) -> &mut Taken {
        let taken = self.files.last_mut().and_then(|(_, taken)| taken.last_mut());
        taken.expect("a replay names the recording before what is in it")
    }

    fn part(&mut self, part: Part) {
        if let Some(round) = self.taken().rounds.last_mut() {
            round.parts.push(part);
        }
    }
}

impl Taken {
    fn new(words: &'static Words, at: At<'_>, of: usize, format: Format, recording: &Recording) -> Self {
        let session = &recording.session;
        let which = if of > 1 { format!(" · {} {}/{of}", words.recording, at.recording) } else { String::new() };
        let named = [(words.model, &session.model), (words.profile, &session.profile)];
        let facts = named.into_iter().filter_map(|(label, value)| Some(Fact { label, value: value.clone()? }));
        Taken {
            words,
            session: facts.collect(),
            title: session.title.clone().unwrap_or_else(|| file_name(at.file).to_owned()),
            source: format!("{}{which} · {format}", at.file),
            notes: recording.notes.iter().map(ToString::to_string).collect(),
            rows: Rows::new(recording),
            rounds: Vec::new(),
            endings: Vec::new(),
            calls: 0,
            rejected: 0,
            tokens: 0,
            times: Vec::new(),
            notices: Vec::new(),
            answered: false,
            asked: false,
        }
    }

    /// The notices of the round before have their place behind its outcomes.
    fn end_round(&mut self) {
        let notices = std::mem::take(&mut self.notices);
        if let Some(round) = self.rounds.last_mut() {
            round.parts.extend(notices);
        }
    }

    fn finish(self) -> RecordingPart {
        let Taken { words, session: mut facts, title, source, notes, rows, rounds, endings, .. } = self;
        let numbers = [(words.rounds, rounds.len()), (words.calls, self.calls), (words.rejections, self.rejected)];
        facts.extend(numbers.into_iter().map(|(label, n)| Fact { label, value: n.to_string() }));
        facts.extend(rows.total().map(|value| Fact { label: words.time, value }));
        if self.tokens > 0 {
            facts.push(Fact { label: words.tokens, value: grouped(self.tokens) });
        }
        let timeline: Timeline = rows.finish(words);
        RecordingPart { title, source, facts, notes, timeline, rounds, endings }
    }
}

fn file_name(file: &str) -> &str {
    Path::new(file).file_name().and_then(|name| name.to_str()).unwrap_or(file)
}

/// The language in which the prompt speaks: that of its first messages.
fn language(recording: &Recording) -> Lang {
    let messages = recording.rounds.iter().flat_map(|r| &r.messages).filter(|m| m.role != Role::Assistant);
    let texts = messages.map(|m| m.content.as_str()).chain(recording.session.title.as_deref());
    let (mut ideographs, mut letters) = (0_usize, 0_usize);
    for c in texts.take(2).flat_map(str::chars) {
        ideographs += usize::from(matches!(c, '\u{3400}'..='\u{9fff}'));
        letters += usize::from(c.is_alphabetic());
    }
    // Names of tools and their syntax are Latin in a Chinese prompt too.
    if ideographs * 5 > letters { Lang::Zh } else { Lang::En }
}

impl View for Pages {
    fn recording(&mut self, at: At<'_>, of: usize, format: Format, recording: &Recording) -> io::Result<()> {
        let words = Words::of(self.lang.unwrap_or_else(|| language(recording)));
        if self.files.last().is_none_or(|(file, _)| file != at.file) || at.recording == 1 {
            self.files.push((at.file.to_owned(), Vec::new()));
        }
        if let Some((_, taken)) = self.files.last_mut() {
            taken.push(Taken::new(words, at, of, format, recording));
        }
        Ok(())
    }

    fn round(&mut self, at: At<'_>, round: &Round, settings: &Settings) -> io::Result<()> {
        let anchor = format!("f{}-r{}-{}", self.files.len(), at.recording, at.round);
        let taken = self.taken();
        taken.end_round();
        let words = taken.words;
        let mut parts = Vec::new();
        if let Some(kept) = round.sent.as_ref().and_then(|sent| sent.kept) {
            parts.push(Part::notice(words.note, &left_out(kept, round, words)));
        }
        if round.tools.is_some() || at.round == 1 {
            parts.extend(settings.config.catalog.as_deref().filter(|c| c.tools().next().is_some()).map(Part::tools));
        }
        let mut results = taken.answered && taken.asked;
        for message in &round.messages {
            parts.extend(Part::message(message, results && message.role == Role::User, words));
            results &= message.role != Role::User;
            taken.asked |= message.role == Role::User;
        }
        taken.answered = !round.outcomes.is_empty() || round.notices.iter().any(|n| n.kind == "correction");
        taken.times = round.outcomes.iter().map(|o| (o.id.clone(), o.at)).collect();
        taken.notices = round.notices.iter().map(|n| Part::notice(words.notice(&n.kind), &n.text)).collect();
        taken.tokens += round.usage.map_or(0, |usage| usage.prompt_tokens + usage.completion_tokens);
        let heading = words.round(at.round);
        taken.rounds.push(RoundPart { anchor, heading, meta: String::new(), parts });
        Ok(())
    }

    fn event(&mut self, _: At<'_>, _: &OwnedEvent) -> io::Result<()> {
        // Nothing is live on a page.
        Ok(())
    }

    fn events(&mut self, _: At<'_>, played: &Played) -> io::Result<()> {
        let words = self.taken().words;
        for part in page::answer(played, words) {
            self.part(part);
        }
        Ok(())
    }

    fn answered(&mut self, _: At<'_>, round: &Round, played: &Played) -> io::Result<()> {
        let words = self.taken().words;
        let promoted = |entry: &&Entry| entry.provenance() == Provenance::Promoted;
        for entry in played.assembled.entries.iter().filter(promoted) {
            if let Ok(call) = &entry.result {
                self.part(Part::call(entry.index, call, words));
            }
        }
        round.native_calls.iter().for_each(|call| self.part(Part::native(call, words)));
        if played.assembled.answer_in_reasoning {
            self.part(Part::notice(words.note, words.answer_in_reasoning));
        }
        let taken = self.taken();
        taken.calls += played.assembled.calls().count() + round.native_calls.len();
        taken.rejected += played.assembled.rejected().count();
        if let Some(last) = taken.rounds.last_mut() {
            last.meta = meta(round, played, words);
            taken.rows.round(last.heading.clone(), last.anchor.clone(), round, played);
        }
        Ok(())
    }

    fn given_back(&mut self, _: At<'_>, list: &[GivenBack]) -> io::Result<()> {
        let words = self.taken().words;
        if list.is_empty() {
            return Ok(());
        }
        let lines: Vec<String> = list
            .iter()
            .map(|e| format!("{}:{}  {}\n    {}\n    {}", e.line, e.column, e.found, e.why, e.remedy))
            .collect();
        self.part(Part::notice(words.given_back, &lines.join("\n")));
        Ok(())
    }

    fn outcome(&mut self, _: At<'_>, answered: &Answered<'_>) -> io::Result<()> {
        let taken = self.taken();
        let at = taken.times.iter().find(|(id, _)| id == answered.id).and_then(|(_, at)| *at).filter(|_| !answered.now);
        let label = answered.name.clone().unwrap_or_else(|| answered.id.to_owned());
        taken.rows.outcome(label, answered.outcome, at);
        let part = Part::outcome(answered, taken.words);
        self.part(part);
        Ok(())
    }

    fn recording_end(&mut self, _: At<'_>, recording: &Recording) -> io::Result<()> {
        let taken = self.taken();
        taken.end_round();
        if let Some(cut) = recording.cut {
            taken.endings.push(Ending { label: taken.words.cut.to_owned(), text: Long::new(&cut.to_string()) });
        }
        Ok(())
    }

    fn checked(&mut self, _: &str, against: &str, differences: &[String]) -> io::Result<()> {
        let taken = self.taken();
        let words = taken.words;
        let label = if differences.is_empty() { words.as_expected } else { words.not_as_expected };
        let text = Long::new(&if differences.is_empty() { against.to_owned() } else { differences.join("\n") });
        taken.endings.push(Ending { label: label.to_owned(), text });
        Ok(())
    }

    fn summary(&mut self, _: &Totals) -> io::Result<()> {
        let files = std::mem::take(&mut self.files);
        match &self.target {
            Target::Beside => files.into_iter().try_for_each(|(file, taken)| save(&beside(Path::new(&file)), taken)),
            Target::Stdout if files.is_empty() => Ok(()),
            Target::Stdout => {
                let page = render(files.into_iter().flat_map(|(_, taken)| taken).collect(), Value::Null)?;
                io::stdout().lock().write_all(page.as_bytes())
            }
            Target::File(_) if files.is_empty() => Ok(()),
            Target::File(path) => save(path, files.into_iter().flat_map(|(_, taken)| taken).collect()),
        }
    }
}

/// How the answer ended, and how large it is.
fn meta(round: &Round, played: &Played, words: &Words) -> String {
    let reason = round.finish.as_ref().map_or(words.no_finish, |f| f.reason.as_str());
    let bytes = format!("{} B", grouped(played.stream.len() as u64));
    let model = round.sent.as_ref().and_then(|sent| sent.model.clone());
    let tokens = round.usage.map(|usage| {
        format!(
            "{} + {} {}",
            grouped(usage.prompt_tokens),
            grouped(usage.completion_tokens),
            words.tokens.to_lowercase()
        )
    });
    let parts = [model, Some(format!("{}: {reason}", words.finish)), Some(bytes), tokens];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn left_out(kept: usize, round: &Round, words: &Words) -> String {
    match round.sent.as_ref().and_then(|sent| sent.dropped) {
        Some(dropped) => format!("{dropped} {}", words.left_out),
        None => format!("{kept} → … {}", words.left_out),
    }
}

fn save(path: &Path, taken: Vec<Taken>) -> io::Result<()> {
    let recordings = taken.len();
    let rounds: usize = taken.iter().map(|t| t.rounds.len()).sum();
    let page = render(taken, Value::Null)?;
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    std::fs::write(path, &page).map_err(named)?;
    let counts = format!("{}, {}", counted(recordings, "recording"), counted(rounds, "round"));
    let shown = input::shown(path);
    writeln!(io::stdout().lock(), "{shown}: {counts}, {} bytes", grouped(page.len() as u64))
}

/// The page of these recordings; above them stands what a server has to say of a request.
fn render(taken: Vec<Taken>, about: Value) -> io::Result<String> {
    let words = taken.first().map_or(Words::of(Lang::En), |t| t.words);
    let recordings: Vec<RecordingPart> = taken.into_iter().map(Taken::finish).collect();
    let title = recordings.first().map_or("toolgraft", |r| r.title.as_str());
    let page = json!({
        "title": title, "words": words, "recordings": recordings, "refresh": about["refresh"], "about": about,
    });
    page_file::render(TEMPLATE, page)
}
