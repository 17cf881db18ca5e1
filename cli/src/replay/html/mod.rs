//! A replay as one self-contained page.
//!
//! In comes what each [`View`] is told, round by round; out goes one file without scripts, and without
//! links to elsewhere but those of an answer, by the template `pages/replay.html`. `page` holds what the template is
//! given, `timeline` the bars of what came when. The page of
//! `serve --inspect` extends the same `pages/page.html`.

mod page;
mod timeline;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use self::page::{PageEntry as Listed, RoundPart};
use self::timeline::Rows;
use super::explain::GivenBack;
use super::play::Played;
use super::settings::RoundSettings;
use super::view::{AGAINST, Answered, At, Totals, View};
use crate::base::{Failure, browser, input};
use crate::labels;
use crate::pages::{self, block::PageBlock, text::Long};
use crate::screen::full_name;
use crate::terminal::{counted, grouped};
use toolgraft::message::Role;
use toolgraft::transcript::{Recording, Round, import::Format};

const TEMPLATE: &str = include_str!("../../../pages/replay.html");

/// File name that means standard output.
const STDOUT: &str = "-";

/// Returns the path of the page for a recording: the same with the extension `html`. Standard input is an error.
pub(super) fn beside(file: &Path) -> Result<PathBuf, Failure> {
    match file.to_str() {
        Some("-") => Err(Failure::usage("a page of standard input needs a file name: give one with --html PAGE")),
        _ => Ok(file.with_extension("html")),
    }
}

/// Fails if a page may not be written to this path, or is to be opened but goes to standard output.
pub(super) fn check(page: &Path, open: bool) -> Result<(), Failure> {
    match page == Path::new(STDOUT) {
        true if open => Err(Failure::usage("--open needs a file: --html PAGE names one")),
        true => Ok(()),
        false => pages::file::writable(page),
    }
}

/// View that collects the replayed recordings and writes them as one HTML page at the end.
pub(super) struct Pages {
    /// File of the page, and `true` to open it in a browser; `None` if the caller gets the page as a string.
    target: Option<(PathBuf, bool)>,
    /// `true` if a user message may begin with the system prompt.
    has_prompt: bool,
    recordings: Vec<Taken>,
}

/// Data of one recording for the page.
#[derive(Default)]
struct Taken {
    session: Vec<Value>,
    title: String,
    source: String,
    notes: Vec<PageBlock>,
    rows: Rows,
    rounds: Vec<RoundPart>,
    contents: Vec<Listed>,
    endings: Vec<PageBlock>,
    totals: Totals,
    tokens: u64,
    /// Arrival times of the round's outcomes by call id; `None` if not recorded.
    times: Vec<(String, Option<u64>)>,
    /// Notices of the current round, which are shown after its outcomes.
    notices: Vec<PageBlock>,
    /// `true` if the previous round has outcomes of calls or a correction, which the next user message then contains.
    answered: bool,
    asked: bool,
}

impl Pages {
    pub(super) fn new(target: Option<(PathBuf, bool)>, has_prompt: bool) -> Self {
        Pages { target, has_prompt, recordings: Vec::new() }
    }

    /// Returns the HTML page of all collected recordings, with the header data `about`.
    pub(super) fn page(self, about: Value) -> io::Result<String> {
        render(self.recordings, about)
    }

    fn taken(&mut self) -> &mut Taken {
        self.recordings.last_mut().expect("a replay names the recording before what is in it")
    }

    fn part(&mut self, part: PageBlock) {
        if let Some(round) = self.taken().rounds.last_mut() {
            round.parts.push(part);
        }
    }
}

impl Taken {
    fn new(at: At<'_>, of: usize, format: Format, recording: &Recording) -> Self {
        let session = &recording.session;
        let which = if of > 1 { format!(" · Recording {}/{of}", at.recording) } else { String::new() };
        let named = [("Model", &session.model), ("Profile", &session.profile)];
        let facts = named.into_iter().filter_map(|(label, value)| Some(json!([label, value.as_ref()?])));
        Taken {
            session: facts.collect(),
            title: session.title.clone().unwrap_or_else(|| file_name(at.file).to_owned()),
            source: format!("{}{which} · {format}", at.file),
            notes: recording.notes.iter().map(|note| PageBlock::notice("Note", &note.to_string())).collect(),
            rows: Rows::new(recording),
            ..Taken::default()
        }
    }

    /// Appends the notices of the previous round after its outcomes.
    fn end_round(&mut self) {
        let notices = std::mem::take(&mut self.notices);
        if let Some(round) = self.rounds.last_mut() {
            round.parts.extend(notices);
        }
    }

    fn finish(self) -> Value {
        let Taken { session: mut facts, title, source, notes, rows, rounds, endings, .. } = self;
        let calls = self.totals.calls + self.totals.native_calls;
        facts.extend([json!(["Rounds", rounds.len()]), json!(["Calls", calls])]);
        facts.extend(self.totals.not_run().map(|kinds| json!(["Not run", kinds])));
        facts.extend(rows.total().map(|time| json!(["Time", time])));
        if self.tokens > 0 {
            facts.push(json!(["Tokens", grouped(self.tokens)]));
        }
        json!({
            "title": title, "source": source, "facts": facts, "notes": notes,
            "contents": page::contents(self.contents), "timeline": rows.finish(), "rounds": rounds, "endings": endings,
        })
    }
}

fn file_name(file: &str) -> &str {
    Path::new(file).file_name().and_then(|name| name.to_str()).unwrap_or(file)
}

/// Returns the heading for a kind of notice; the kind itself if it is unknown.
fn notice_heading(kind: &str) -> &str {
    match kind {
        "note" => "Note",
        "correction" => "The model is told",
        "warning" => "Warning",
        "error" => "The model failed",
        "stopped" => "The turn ended",
        _ => kind,
    }
}

impl View for Pages {
    fn recording(&mut self, at: At<'_>, of: usize, format: Format, recording: &Recording) -> io::Result<()> {
        self.recordings.push(Taken::new(at, of, format, recording));
        Ok(())
    }

    fn round(&mut self, at: At<'_>, round: &Round, settings: &RoundSettings) -> io::Result<()> {
        let anchor = format!("r{}-{}", self.recordings.len(), at.round);
        let has_prompt = self.has_prompt;
        let taken = self.taken();
        taken.end_round();
        let mut parts = Vec::new();
        if let Some(kept) = round.sent.as_ref().and_then(|sent| sent.kept) {
            parts.push(PageBlock::notice("Note", &left_out(kept, round)));
        }
        // The tools are shown once, and again where they were sent anew.
        if round.tools.is_some() || at.round == 1 {
            parts.extend(settings.config.catalog.as_deref().filter(|c| c.tools().next().is_some()).map(page::tools));
        }
        // A message of the user after answered calls has their results; the first one is a question.
        let mut results = taken.answered && taken.asked;
        let mut question = None;
        for message in &round.messages {
            let is_user = message.role == Role::User;
            question = if is_user && !results { Some(page::question(&message.shown())) } else { question };
            parts.extend(page::message(message, results && is_user, has_prompt));
            results &= !is_user;
            taken.asked |= is_user;
        }
        if question.is_some() {
            taken.rows.question();
        }
        taken.answered = !round.outcomes.is_empty() || round.notices.iter().any(|n| n.kind == "correction");
        taken.times = round.outcomes.iter().map(|o| (o.id.clone(), o.at)).collect();
        taken.notices = round.notices.iter().map(|n| PageBlock::notice(notice_heading(&n.kind), &n.text)).collect();
        taken.tokens += round.usage.map_or(0, |usage| usage.prompt_tokens + usage.completion_tokens);
        let heading = labels::capitalised(&format!("Round {}", at.round));
        taken.contents.push(Listed::new(anchor.clone(), heading.clone(), question));
        taken.rounds.push(RoundPart { anchor, heading, meta: String::new(), parts });
        Ok(())
    }

    fn events(&mut self, _: At<'_>, played: &Played) -> io::Result<()> {
        page::answer(played).into_iter().for_each(|part| self.part(part));
        Ok(())
    }

    fn answered(&mut self, _: At<'_>, round: &Round, played: &Played) -> io::Result<()> {
        let natives = round.native_calls.iter().zip(&played.native_numbers);
        natives.for_each(|(call, number)| self.part(page::native(*number, call)));
        if let Some(unread) = played.unread() {
            self.part(PageBlock::Unread { text: Long::new(unread) });
        }
        if played.assembled.answer_in_reasoning {
            self.part(PageBlock::notice("Note", "no </think> came: the apparent reasoning is the answer"));
        }
        let taken = self.taken();
        taken.totals.count(round, played);
        if let Some(last) = taken.rounds.last_mut() {
            last.meta = meta(round, played);
            taken.rows.round(last.heading.clone(), last.anchor.clone(), round, played);
        }
        if let Some(listed) = taken.contents.last_mut() {
            let names = played.calls().map(|(_, call)| full_name(call.server.as_deref(), &call.tool));
            listed.answered(names.chain(round.native_calls.iter().map(|call| call.name.clone())), played);
        }
        Ok(())
    }

    fn given_back(&mut self, _: At<'_>, list: &[GivenBack]) -> io::Result<()> {
        if list.is_empty() {
            return Ok(());
        }
        let lines: Vec<String> = list
            .iter()
            .map(|e| format!("{}:{}  {}\n    {}\n    {}", e.line, e.column, e.found, e.why, e.remedy))
            .collect();
        self.part(PageBlock::notice(&labels::capitalised("flushed as text"), &lines.join("\n")));
        Ok(())
    }

    fn outcome(&mut self, _: At<'_>, answered: &Answered<'_>) -> io::Result<()> {
        let taken = self.taken();
        let at = taken.times.iter().find(|(id, _)| id == answered.id).and_then(|(_, at)| *at);
        let label = answered.name.clone().unwrap_or_else(|| answered.id.to_owned());
        taken.rows.outcome(label, answered.outcome, at);
        let part = page::outcome(answered);
        self.part(part);
        Ok(())
    }

    fn recording_end(&mut self, _: At<'_>, recording: &Recording) -> io::Result<()> {
        let taken = self.taken();
        taken.end_round();
        if let Some(cut) = recording.cut {
            taken.endings.push(PageBlock::notice("Cut off", &cut.to_string()));
        }
        Ok(())
    }

    fn checked(&mut self, _: &str, differences: &[String]) -> io::Result<()> {
        let (label, text) = match differences {
            [] => ("As expected", AGAINST.to_owned()),
            differences => ("Not as expected", differences.join("\n")),
        };
        self.taken().endings.push(PageBlock::notice(label, &text));
        Ok(())
    }

    fn summary(&mut self, _: &Totals) -> io::Result<()> {
        let recordings = std::mem::take(&mut self.recordings);
        // Where no file could be read there is nothing for a page.
        let Some((path, open)) = self.target.as_ref().filter(|_| !recordings.is_empty()) else { return Ok(()) };
        if path == Path::new(STDOUT) {
            return io::stdout().lock().write_all(render(recordings, Value::Null)?.as_bytes());
        }
        save(path, recordings)?;
        if *open {
            browser::open_file(path);
        }
        Ok(())
    }
}

/// Writes the page to a file and prints its path, counts and size.
fn save(path: &Path, taken: Vec<Taken>) -> io::Result<()> {
    let recordings = taken.len();
    let rounds: usize = taken.iter().map(|t| t.rounds.len()).sum();
    let page = render(taken, Value::Null)?;
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    pages::file::write(path, &page).map_err(named)?;
    let counts = [counted(recordings, "recording"), counted(rounds, "round")].join(", ");
    let saved = format!("{}: {counts}, {} bytes", input::shown(path), grouped(page.len() as u64));
    writeln!(io::stdout().lock(), "{saved}")
}

/// Returns the line below a round's heading: the model, finish reason, size in bytes and tokens, if recorded.
fn meta(round: &Round, played: &Played) -> String {
    let reason = round.finish.as_ref().map_or("none recorded", |f| f.reason.as_str());
    let bytes = format!("{} B", grouped(played.stream.len() as u64));
    let model = round.sent.as_ref().and_then(|sent| sent.model.clone());
    let tokens = round
        .usage
        .map(|usage| format!("{} + {} tokens", grouped(usage.prompt_tokens), grouped(usage.completion_tokens)));
    let cached = round.usage.and_then(|usage| usage.cached_tokens).map(|tokens| format!("{} cached", grouped(tokens)));
    let parts = [model, Some(format!("finish: {reason}")), Some(bytes), tokens, cached];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn left_out(kept: usize, round: &Round) -> String {
    match round.sent.as_ref().and_then(|sent| sent.dropped) {
        Some(dropped) => format!("{dropped} messages of the previous request were left out"),
        None => format!("only the first {kept} messages of the previous request were kept"),
    }
}

/// Renders the HTML page of these recordings, with the header data `about`.
fn render(taken: Vec<Taken>, about: Value) -> io::Result<String> {
    let recordings: Vec<Value> = taken.into_iter().map(Taken::finish).collect();
    let title = recordings.first().and_then(|recording| recording["title"].as_str()).unwrap_or("toolgraft");
    let page = json!({
        "title": title, "recordings": recordings, "refresh": about["refresh"], "about": about,
    });
    pages::file::render(TEMPLATE, page)
}
