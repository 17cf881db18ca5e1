//! `toolgraft probe`: which way to offer tools helps this model most.
//!
//! In: an endpoint and a model. Out: a table, or JSON, and the best way as a profile that `chat`
//! and `prompt` read. The tools are made up and answered here: nothing is run.
//!
//! ```text
//! tasks (data) ─┐
//! cell ─────────┴─▶ trial (one task, one way) ─▶ score ─▶ plan: who goes on? ─┐
//!      ▲                        │                                            │
//!      │                        └─▶ store: a stopped probe goes on           │
//!      └────────────────────────────────────────────────────────────────────┘
//!                                   report ─▶ table, JSON ─▶ saved_profiles
//! ```
//!
//! With `--diagnose` one call is asked for in each way instead (`diagnose`). With `--jobs` whole jobs are put instead, each run to its end (`jobs`).

mod cell;
mod diagnose;
mod jobs;
mod plan;
mod report;
mod score;
mod store;
mod tasks;
mod threshold;
mod trial;

use std::io::{IsTerminal, stderr};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use self::cell::{Cell, How};
use self::jobs::{Half, JobRow, JobTrial, Jobs, JobsReport};
use self::plan::{Plan, Split};
use self::report::{Best, Report, ReportRow, within};
use self::score::{Score, Trial, ranked};
use self::store::ProbeStore;
use self::tasks::{Task, Tasks};
use self::trial::{Bench, Unasked};
use crate::base::{Failure, input, output};
use crate::chat::{Endpoint, EndpointOrUrl};
use crate::dialog::ask::Asker;
use crate::front::Terminal;
use crate::screen::live::{Live, ScreenPlace};
use crate::servers::app::App;
use crate::settings::saved_profiles::{self, SavedProfile};
use crate::settings::{self, Reader, Settings, Source, profiles::known_profile, set_args::SetArgs};
use crate::terminal::columns;
use toolgraft::Dialect;
use toolgraft::constrain::{Constrain, Way};
use toolgraft::dialect::Profile;
use toolgraft::tools::ToolsMode;

/// Default time limit of a probe, in minutes.
const MINUTES: f64 = 10.0;

/// Minimum time between two lines of progress where no progress bar can be drawn.
const LINE_EACH: Duration = Duration::from_secs(60);

/// Options of `toolgraft probe`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("../help/probe.txt").trim_end())]
pub(crate) struct ProbeArgs {
    /// Ask for one call in each way: report what works, known faults and remedies
    #[arg(long, conflicts_with_all = ["time", "full", "only", "jobs", "tasks", "yes"])]
    diagnose: bool,

    /// Profile to take instead of the one for the model's name
    #[arg(long, value_name = "NAME", value_parser = known_profile)]
    profile: Option<&'static Profile>,

    /// Time limit in minutes, after which it ends with the results so far
    ///
    /// 10 without this, and no limit with --full and --jobs.
    #[arg(long, value_name = "MINUTES", value_parser = minutes)]
    time: Option<Duration>,

    /// Run every task in every way
    #[arg(long)]
    full: bool,

    /// Try only ways whose name contains this text, such as "compact"
    ///
    /// May be given several times.
    /// A name is "native", or dialect, style and listing, as "tool_tag, compact, signature",
    /// with ", measured" or ", constrained" after it or not. A way that contains any of the texts is tried.
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,

    /// Run whole jobs to their end instead
    ///
    /// In the ways of --only, or in the best that an earlier probe found.
    /// 30 jobs with tools of seven servers and programs, run in memory. `report` is the half that nothing was
    /// tuned on, `tune` the other one.
    #[arg(long, value_name = "HALF", num_args = 0..=1, default_missing_value = "report",
        conflicts_with_all = ["full", "tasks", "yes"])]
    jobs: Option<Half>,

    /// Use the tasks of this file, with your own tools (docs/models.md)
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    tasks: Option<PathBuf>,

    #[command(flatten)]
    set: SetArgs,

    /// The settings of all sources.
    #[arg(skip)]
    settings: Settings,

    /// Save the best way for this model without asking
    #[arg(long)]
    yes: bool,

    /// Print one JSON object (docs/models.md)
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    endpoint: EndpointOrUrl,
}

fn minutes(text: &str) -> Result<Duration, String> {
    // `Duration::from_secs_f64` panics on a number that is too large for it.
    let number = text.parse::<f64>().ok().filter(|minutes| *minutes > 0.0 && *minutes <= 10_000.0);
    number.map(|minutes| Duration::from_secs_f64(minutes * 60.0)).ok_or_else(|| "expected minutes above 0".to_owned())
}

/// Runs `toolgraft probe`.
pub(crate) fn run(mut args: ProbeArgs) -> Result<(), Failure> {
    let options = Settings { profile: args.profile, ..Settings::default() };
    args.settings = args.set.under(options, &[Reader::Probe])?.resolve(&Source::EVERYWHERE)?;
    let place = args.endpoint.flags().place(&args.settings)?;
    let app = App::start(Asker::at_terminal())?;
    let endpoint = app.wait(Endpoint::choose(&place, &Terminal::without_turns(app.asker.clone())))?;
    if args.diagnose {
        return diagnose::run(&endpoint, &app, endpoint.profile(&args.settings), args.json);
    }
    let mut probe = Probe::new(&args, &endpoint)?;
    if let Some(half) = args.jobs {
        return run_jobs(&mut probe, half, &args, &app);
    }
    let stopped = app.wait(probe.run());
    probe.end(&stopped);
    stopped?;
    let report = probe.report();
    output::emit_either(args.json, &report, || report.table())?;
    let Some(best) = &report.best else {
        // With more than one way that works when it is told to, it is the decision that is missing.
        let is_told = report.rows.iter().any(|row| !row.cell.decides() && row.score.fully_right > 0);
        return Err(Failure::job(if is_told {
            "It writes calls when told to, and does not decide by itself: a required tool (tool_choice) works, a chat \
             does not."
        } else {
            "no way to offer tools led to one correct call: this model may be too small, or the endpoint changes its \
             text"
        }));
    };
    offer(&args, &endpoint, best, app.asker.as_ref())
}

/// Runs whole jobs with the ways to offer tools of `--only`, or with the best known one, and prints the report.
fn run_jobs(probe: &mut Probe, half: Half, args: &ProbeArgs, app: &App) -> Result<(), Failure> {
    let jobs = Jobs::of(half).map_err(Failure::job)?;
    probe.cells.retain(|cell| cell.decides());
    if args.only.is_empty() {
        let unknown = "no probe of this model is known here: run `toolgraft probe` first, or name ways with --only";
        let best = probe.best().ok_or_else(|| Failure::usage(unknown))?;
        probe.cells = vec![best];
    }
    if probe.cells.is_empty() {
        return Err(Failure::usage(
            "--only: a way with a forced call cannot do jobs, since a chat does not know when \
            to force one",
        ));
    }
    let report = app.wait(probe.jobs(&jobs, half));
    probe.end(&report);
    let report = report?;
    output::emit_either(args.json, &report, || report.table())
}

/// Returns the score of the best way to offer tools, and advice on its use, in a few sentences.
fn advice(best: &Best) -> String {
    let ReportRow { score, .. } = &best.row;
    let tasks = score.tasks.max(1);
    let of = if best.apart {
        format!("On {} tasks that were not used to choose it", score.tasks)
    } else {
        format!("On the {} tasks that it was chosen by, so the figures are optimistic", score.tasks)
    };
    let text = format!(
        "{of}: {} calls right, {} calls where none was wanted; {} tokens and {:.1} s a task.",
        within(score.fully_right, score.wanted),
        within(score.false_calls, score.unwanted),
        score.tokens / tasks as u64,
        score.seconds / tasks as f64
    );
    let advice = match score {
        score if score.false_calls * 10 > score.unwanted => {
            "It calls tools when no call is needed: keep the question before each call, or raise call_threshold \
             (--set)."
        }
        score if score.fully_right * 3 < score.wanted * 2 => {
            "More than a third of its calls are wrong: keep the question before each call, and try a larger model."
        }
        _ => "Once it is saved, chat, launch and serve use it.",
    };
    format!("{text} {advice}")
}

/// Prints the best way to offer tools as a profile, and saves it in `config.toml` with `--yes` or if the user agrees.
fn offer(args: &ProbeArgs, endpoint: &Endpoint, best: &Best, asker: Option<&Asker>) -> Result<(), Failure> {
    let mut profile =
        SavedProfile { name: endpoint.model.clone(), endpoint: Some(endpoint.url.clone()), ..SavedProfile::default() };
    match best.row.cell {
        Cell::Native | Cell::ToolCalls => profile.tools_mode = Some(ToolsMode::Native),
        Cell::Prompt { dialect, style, listing, how } => {
            profile.tools_mode = Some(ToolsMode::Prompt);
            profile.way = match how {
                How::Measured => Some(Way::Measured),
                How::Free | How::Told => None,
            };
            profile.constrain = (how != How::Free).then_some(Constrain::Auto);
            profile.call_threshold = best.threshold;
            (profile.dialect, profile.prompt_style, profile.listing) = (Some(dialect), Some(style), Some(listing));
        }
    }
    output::note(&format!("\nBest: {}. As a profile:\n\n{}", best.row.cell, profile.text()));
    output::note(&advice(best));
    let Some(path) = settings::path() else { return Ok(()) };
    let wanted = args.yes
        || match asker.filter(|_| !args.json) {
            Some(asker) => asker.agrees(format!("Write it into {}? [y/n] ", input::shown(&path)), None)?,
            None => false,
        };
    if wanted {
        saved_profiles::save(&path, &profile)?;
        output::note(&format!("written into {}", input::shown(&path)));
    }
    Ok(())
}

/// Returns the ways to offer tools that are tried, the most promising first. Those that require a call can never be the
/// best, so that they are tried only if named or with `--full`.
fn tried(args: &ProbeArgs, own: Option<Dialect>) -> Result<Vec<Cell>, Failure> {
    let is_usual = |cell: &Cell| cell.decides() || args.full;
    let named = |text: &String| {
        let of = |cells: Vec<Cell>| cells.into_iter().filter(|cell| cell.to_string().contains(text.trim())).collect();
        // A dialect that is not the model's own is tried where it is named.
        let found: Vec<Cell> = of(Cell::all(own));
        if found.is_empty() { of(Cell::any()) } else { found }
    };
    let mut cells: Vec<Cell> = match args.only.is_empty() {
        true => Cell::all(own).into_iter().filter(is_usual).collect(),
        false => {
            let named: Vec<Cell> = args.only.iter().flat_map(named).collect();
            // In the usual order, and each once, though several texts may name it.
            Cell::any().into_iter().filter(|cell| named.contains(cell)).collect()
        }
    };
    // The most promising first: the time may be over before all had their turn.
    cells.sort_by_key(|cell| match cell.how() {
        How::Measured => 0,
        How::Free => 1,
        How::Told => 2,
    });
    if cells.is_empty() {
        let names: Vec<String> = Cell::all(own).iter().map(|cell| format!("  {cell}")).collect();
        return Err(Failure::usage(format!("--only: no way contains that text; there are\n{}", names.join("\n"))));
    }
    Ok(cells)
}

/// Returns `true` if a task is tried with a way to offer tools: one that requires a call is not tried with tasks that
/// want no call.
fn is_asked(cell: Cell, task: &Task) -> bool {
    cell.decides() || !task.wanted.is_empty()
}

/// Returns a text progress bar, followed by `done/all`.
fn bar(done: usize, all: usize) -> String {
    const COLUMNS: usize = 30;
    let filled = (done * COLUMNS).checked_div(all).unwrap_or(0);
    format!("{}{} {done}/{all}", "█".repeat(filled), "░".repeat(COLUMNS - filled))
}

/// A running probe.
struct Probe {
    bench: Bench,
    store: ProbeStore,
    plan: Plan,
    cells: Vec<Cell>,
    endpoint: String,
    model: String,
    deadline: Option<Instant>,
    begun: Instant,
    /// Number of trials that this run completed and stored.
    done: u32,
    /// `true` if the time limit ended the probe before all was tried.
    cut: bool,
    bar: Live,
    /// Time of the last progress line, where no bar is drawn.
    said: Instant,
}

impl Probe {
    fn new(args: &ProbeArgs, endpoint: &Endpoint) -> Result<Self, Failure> {
        let tasks = match &args.tasks {
            Some(path) => Tasks::read(path)?,
            None => Tasks::built_in()?,
        };
        let profile = endpoint.profile(&args.settings);
        // Reasoning comes before the call, and an answer that is cut off in it has none.
        let usual = if profile.reasons == Some(true) { 4096 } else { 512 };
        let plan = match args.full {
            true => Plan::full(tasks.tasks.len()),
            false => Plan::usual(tasks.tasks.len()),
        };
        let usual_time = (!args.full && args.jobs.is_none()).then_some(Duration::from_secs_f64(MINUTES * 60.0));
        let cells = tried(args, endpoint.info.dialect)?;
        let place = if stderr().is_terminal() { ScreenPlace::Stderr } else { ScreenPlace::Nowhere };
        let bar = Live::new(place, columns(), false);
        let bench = Bench {
            client: endpoint.client(),
            profile,
            tasks,
            call_threshold: args.settings.call_threshold,
            max_tokens: args.settings.max_tokens.map_or(usual, Into::into),
        };
        let store = ProbeStore::open(&endpoint.url, &endpoint.model, &bench.conditions());
        Ok(Probe {
            bench,
            store,
            plan,
            cells,
            endpoint: endpoint.url.clone(),
            model: endpoint.model.clone(),
            deadline: args.time.or(usual_time).map(|time| Instant::now() + time),
            begun: Instant::now(),
            done: 0,
            cut: false,
            bar,
            said: Instant::now(),
        })
    }

    /// Runs all jobs with each way to offer tools, and returns the report.
    ///
    /// # Errors
    /// The endpoint cannot be reached, refuses every way to offer tools, or a result cannot be stored.
    async fn jobs(&mut self, jobs: &Jobs, half: Half) -> Result<JobsReport, Failure> {
        let conditions = format!("{}\n{}\n{half:?}", self.bench.conditions(), jobs.source);
        let mut store = ProbeStore::open(&self.endpoint, &self.model, &conditions);
        let ways = self.cells.clone();
        let all = ways.iter().flat_map(|cell| jobs.jobs.iter().map(|job| (*cell, job)));
        for (done, (cell, job)) in all.enumerate() {
            // The threshold is the one that the tasks have set, unless another one is given.
            let threshold = self.threshold(cell).filter(|_| cell.how() == How::Measured);
            let is_same = |known: &JobTrial| known.job == job.id && known.threshold == threshold;
            // The time is over, the endpoint has refused the way, or an earlier run of the probe did the
            // job.
            if self.cut || !self.cells.contains(&cell) || store.trials(cell).iter().any(is_same) {
                continue;
            }
            let (all, next) = (ways.len() * jobs.jobs.len(), format!("{cell} · {}", job.id));
            self.show((done, all), &next, &format!("{done}/{all} jobs · {next}"));
            let trial = self.bench.job((cell, threshold), job, self.left()).await;
            if let Some(trial) = self.taken(cell, trial)? {
                store.add(cell, trial)?;
                self.done += 1;
            }
        }
        let rows = ways.iter().map(|cell| (cell, store.trials(*cell))).filter(|(_, trials)| !trials.is_empty());
        let rows = rows.map(|(cell, trials)| JobRow::new(*cell, trials)).collect();
        let (endpoint, model) = (self.endpoint.clone(), self.model.clone());
        Ok(JobsReport { endpoint, model, half, cut: self.cut, rows })
    }

    /// Returns a completed trial. `None` if the time limit came first, or if the endpoint refuses this way to offer
    /// tools, which is then dropped with a warning; an error if no other remains.
    fn taken<T>(&mut self, cell: Cell, trial: Result<Option<T>, Unasked>) -> Result<Option<T>, Failure> {
        let failure = match trial {
            Ok(trial) => {
                self.cut |= trial.is_none();
                return Ok(trial);
            }
            Err(Unasked::Endpoint(failure)) => return Err(failure),
            Err(Unasked::Way(failure)) => failure,
        };
        self.cells.retain(|other| *other != cell);
        if self.cells.is_empty() {
            return Err(failure);
        }
        self.bar.suspend(|| output::warn(&format!("{cell} is left out: {}", failure.message())));
        Ok(None)
    }

    /// Returns the remaining time of the probe; `None` if it has no limit.
    fn left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Shows a progress bar with the next step; where no bar can be drawn, prints a line at intervals instead.
    fn show(&mut self, (done, all): (usize, usize), next: &str, line: &str) {
        if self.bar.is_hidden() && self.said.elapsed() >= LINE_EACH {
            self.said = Instant::now();
            output::note(line);
        }
        self.bar.show(&format!("{} {next}", bar(done, all)));
    }

    /// Removes the progress bar, and reports that results were saved if the probe ended with an error.
    fn end<T>(&mut self, ended: &Result<T, Failure>) {
        self.bar.clear();
        if ended.is_err() && self.done > 0 {
            output::warn("the results so far are saved: the same command continues from here");
        }
    }

    /// Runs the rounds of elimination. Each way to offer tools gets all tasks of a round in a row, since an endpoint
    /// with a prompt cache then reads its tools once.
    async fn run(&mut self) -> Result<(), Failure> {
        for (round, stage) in self.plan.rounds.clone().into_iter().enumerate() {
            for cell in self.cells.clone() {
                for number in 0..stage.tasks.min(self.bench.tasks.tasks.len()) {
                    self.progress(round, cell);
                    self.put(cell, number).await?;
                    if self.cut {
                        return Ok(());
                    }
                    self.narrow();
                }
            }
            let order = ranked(self.cells.iter().map(|cell| (*cell, self.choosing(*cell, stage.tasks))).collect());
            let order: Vec<Cell> = order.into_iter().map(|(cell, _)| cell).collect();
            self.cells = plan::keep(&order, stage);
        }
        Ok(())
    }

    /// Drops all ways to offer tools but the best once half of the time is over: setting its threshold and reporting
    /// its score need more tasks than choosing it does.
    fn narrow(&mut self) {
        let is_half_over = |deadline: Instant| self.begun.elapsed() > (deadline - self.begun) / 2;
        // A plan of one round (`--full`) compares all ways by all tasks.
        let has_choice = self.plan.rounds.len() > 1 && self.cells.len() > 1;
        if has_choice
            && self.deadline.is_some_and(is_half_over)
            && let Some(best) = self.best().filter(|best| self.cells.contains(best))
        {
            self.cells = vec![best];
        }
    }

    /// Runs a task with one way to offer tools and stores the result, unless it is already stored; sets `cut` if the
    /// time limit came first.
    async fn put(&mut self, cell: Cell, number: usize) -> Result<(), Failure> {
        let task = self.bench.tasks.tasks[number].clone();
        // The endpoint has refused the way, the task is not for it, or an earlier run has put it.
        if !self.cells.contains(&cell) || !is_asked(cell, &task) || self.is_known(cell, &task) {
            return Ok(());
        }
        let trial = match self.left() {
            Some(Duration::ZERO) => Ok(None),
            left => self.bench.trial(cell, &task, left).await,
        };
        if let Some(trial) = self.taken(cell, trial)? {
            self.store.add(cell, trial)?;
            self.done += 1;
        }
        Ok(())
    }

    /// Returns `true` if a result of this task with this way to offer tools is stored, made with the current threshold.
    fn is_known(&self, cell: Cell, task: &Task) -> bool {
        let before = self.store.trial(cell, task.id);
        before.is_some_and(|trial| trial.threshold == self.bench.threshold(cell, task))
    }

    /// Returns the way to offer tools with the best score on the tasks that serve to choose, among those that decide by
    /// themselves and have the most trials. `None` if there are no trials or none was fully right.
    fn best(&self) -> Option<Cell> {
        let own = || Cell::any().into_iter().filter(|cell| cell.decides());
        let most = own().map(|cell| self.store.trials(cell).len()).max().filter(|most| *most > 0)?;
        let tried = own().filter(|cell| self.store.trials(*cell).len() == most);
        let ranked = ranked(tried.map(|cell| (cell, self.choosing(cell, usize::MAX))).collect());
        ranked.into_iter().find(|(_, score)| score.fully_right > 0).map(|(cell, _)| cell)
    }

    /// Shows the progress: the current way to offer tools and an estimate of the remaining minutes.
    fn progress(&mut self, round: usize, cell: Cell) {
        let stage = self.plan.rounds[round];
        let tasks = self.bench.tasks.tasks.iter().take(stage.tasks);
        let all = tasks.flat_map(|task| self.cells.iter().map(move |cell| (*cell, task)));
        let untried = all.filter(|(cell, task)| is_asked(*cell, task) && !self.is_known(*cell, task));
        let here = untried.count();
        let left = here + self.plan.trials_after(round, self.cells.len());
        let each = self.begun.elapsed().checked_div(self.done).unwrap_or_default();
        let open = each.saturating_mul(u32::try_from(left).unwrap_or(u32::MAX));
        let open = self.left().map_or(open, |left| left.min(open));
        let mut progress = format!("{cell} · up to {} tasks", stage.tasks);
        if self.done > 0 {
            progress = format!("{progress} · at most {} min left", open.as_secs().div_ceil(60));
        }
        let done = self.done as usize;
        self.show((done, done + left), &progress, &progress);
    }

    /// Returns the stored trials of a way to offer tools on the tasks whose number fulfils the predicate.
    fn trials(&self, cell: Cell, is: impl Fn(usize) -> bool) -> Vec<Trial> {
        self.store.trials(cell).iter().filter(|trial| is(trial.task)).cloned().collect()
    }

    /// Returns the score of a way to offer tools on those of the first `tasks` tasks that serve to choose the best one
    /// ([`Split::Choose`]).
    fn choosing(&self, cell: Cell, tasks: usize) -> Score {
        let end = Split::Choose.end(self.bench.tasks.tasks.len()).min(tasks);
        Score::of(&self.counted(&self.trials(cell, |task| task < end)))
    }

    fn counted(&self, trials: &[Trial]) -> Vec<Trial> {
        threshold::counted(trials, self.bench.call_threshold)
    }

    fn report(&self) -> Report {
        let last = self.plan.rounds.last().map_or(0, |stage| stage.tasks);
        let all = |cell: Cell| Score::of(&self.counted(&self.trials(cell, |task| task < last)));
        let order = ranked(Cell::any().into_iter().map(|cell| (cell, self.choosing(cell, last))).collect());
        let best = self.best();
        let mut rows: Vec<ReportRow> = order.into_iter().map(|(cell, _)| ReportRow::new(cell, all(cell))).collect();
        rows.retain(|row| row.score.tasks > 0);
        // The ways that were tried longer come first: they were better when others were dropped.
        rows.sort_by_key(|row| (std::cmp::Reverse(row.score.tasks), Some(row.cell) != best));
        Report {
            endpoint: self.endpoint.clone(),
            model: self.model.clone(),
            tools: self.bench.tasks.tools.len(),
            cut: self.cut,
            rows,
            best: best.map(|cell| self.reported_of(cell)),
        }
    }

    /// Returns the score of the best way to offer tools on the tasks reserved for reporting; on all its tasks if none
    /// of these were tried.
    fn reported_of(&self, cell: Cell) -> Best {
        let all = self.bench.tasks.tasks.len();
        let threshold = (cell.how() == How::Measured).then(|| self.threshold(cell)).flatten();
        let mut apart = self.trials(cell, |task| Split::of(task, all) == Split::Report);
        if threshold.is_some() {
            apart = threshold::counted(&apart, threshold);
        }
        let score = match apart.is_empty() {
            true => Score::of(&self.counted(self.store.trials(cell))),
            false => Score::of(&apart),
        };
        Best { row: ReportRow::new(cell, score), apart: !apart.is_empty(), threshold }
    }

    /// Returns the call threshold to save for a `measured` strategy: that of the settings, or the one that fits the
    /// tasks that are not reserved for reporting; rounded to hundredths.
    fn threshold(&self, cell: Cell) -> Option<f64> {
        let all = self.bench.tasks.tasks.len();
        let set = self.trials(cell, |task| Split::of(task, all) != Split::Report);
        let found = self.bench.call_threshold.or_else(|| threshold::settled(&set));
        found.map(|found| (found * 100.0).round() / 100.0)
    }
}
