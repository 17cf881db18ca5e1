//! `toolgraft probe`: which way to offer tools helps this model most.
//!
//! In: an endpoint and a model. Out: a table, or JSON, a page with the failures, and the
//! best way as a profile that `chat` and `prompt` read. The tools are made up and answered
//! here: nothing is run.
//!
//! ```text
//! tasks (data) ─┐
//! cell ─────────┴─▶ trial (one task, one way) ─▶ score ─▶ plan: who goes on? ─┐
//!      ▲                        │                                            │
//!      │                        └─▶ store: a stopped probe goes on           │
//!      └────────────────────────────────────────────────────────────────────┘
//!                                   report ─▶ table, JSON, page ─▶ saved_profiles
//! ```

mod cell;
mod page;
mod plan;
mod report;
mod score;
mod store;
mod tasks;
mod threshold;
mod trial;

use std::io::{IsTerminal, stderr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use self::cell::{Cell, How};
use self::plan::Plan;
use self::report::Report;
use self::score::{Score, Trial, ranked};
use self::store::Store;
use self::tasks::{FEW, Task, Tasks, Wanted};
use self::trial::{Bench, Unasked};
use crate::base::Failure;
use crate::base::input;
use crate::base::output;
use crate::chat::{Endpoint, EndpointArgs};
use crate::dialog::ask::Asker;
use crate::phrases::Phrases;
use crate::servers::runner::Runner;
use crate::settings::profiles::known_profile;
use crate::settings::saved_profiles::{self, SavedProfile};
use crate::settings::{self, Slots};
use crate::terminal::tty::Tty;
use toolgraft::constrain::{Constrain, Way};
use toolgraft::dialect::{Lang, Profile};
use toolgraft::tools::ToolsMode;

const EXAMPLES: &str = "\
Examples:
  toolgraft probe                            the model that runs on this machine, ten minutes
  toolgraft probe --quick                    eight tasks for each way
  toolgraft probe --full --html page.html    every task in every way, failures side by side
  toolgraft probe --full --only compact      every task in the ways with a compact prompt
  toolgraft probe --base-url http://localhost:11434/v1 --model qwen3:8b --save

The tools are made up and answered by the command itself. There are 70 tasks at
temperature 0: 40 with one right call, 20 that want none, 10 that need a call, its
result, and an answer that holds the result's value. First every way gets 8 tasks, the
best six get 16, the best two 40. What was tried is kept, so that the same command goes
on where it was stopped.

Exit codes: 0 done, 1 nothing worked or the model failed, 2 wrong usage, no endpoint.";

/// How long it takes, unless said otherwise.
const MINUTES: f64 = 10.0;

/// How often it says how far it is where no bar can be drawn.
const LINE_EACH: Duration = Duration::from_secs(60);

/// Options of `toolgraft probe`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    endpoint: EndpointArgs,

    /// Profile to take instead of the one for the model's name
    #[arg(long, value_name = "NAME", value_parser = known_profile)]
    profile: Option<&'static Profile>,

    /// Minutes after which it ends with what it knows [default: 10; none with --full]
    #[arg(long, value_name = "MINUTES", value_parser = minutes)]
    time: Option<Duration>,

    /// Eight tasks for each way, and no more
    #[arg(long, conflicts_with = "full")]
    quick: bool,

    /// Every task in every way
    #[arg(long)]
    full: bool,

    /// Try only ways whose name holds this text, such as "compact"; may be given several times
    ///
    /// A name is "native", or dialect, style and listing, as "tool_tag, compact, signature",
    /// with ", measured", ", chosen" or ", constrained" behind it or not. A way that holds any of the texts is tried.
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,

    /// Offer all twelve tools with each task, not three
    #[arg(long)]
    all_tools: bool,

    /// Most tokens of one answer; by itself 512, or 4096 for a model that reasons
    #[arg(long, value_name = "N")]
    max_tokens: Option<std::num::NonZeroU32>,

    /// Forget what was tried before
    #[arg(long)]
    anew: bool,

    /// Write the best way into ~/.config/toolgraft/profiles.toml without asking
    #[arg(long)]
    save: bool,

    /// Print one JSON object: endpoint, model, tools (offered), cut, rows (see docs/models.md)
    #[arg(long)]
    json: bool,

    /// Write a page with the failures of the best ways side by side
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Language of the table and the page: en, zh [default: that of the locale]
    #[arg(long, value_name = "LANG", conflicts_with = "json")]
    lang: Option<Lang>,
}

fn minutes(text: &str) -> Result<Duration, String> {
    let number = text.parse::<f64>().ok().filter(|minutes| *minutes > 0.0 && *minutes <= 10_000.0);
    number.map(|minutes| Duration::from_secs_f64(minutes * 60.0)).ok_or_else(|| "expected minutes above 0".to_owned())
}

/// Runs `toolgraft probe`.
pub(crate) fn run(mut args: Args) -> Result<(), Failure> {
    settings::defaults()?.fill(Slots {
        profile: Some(&mut args.profile),
        lang: Some(&mut args.lang),
        ..args.endpoint.slots()
    });
    let tty = Tty::open().map(Arc::new);
    let say = Phrases::of_user(args.lang);
    let asker = Asker::new(tty.as_ref(), say);
    if let Some(path) = &args.html {
        page::check(path)?;
    }
    let runner = Runner::start()?.speaking(say);
    let endpoint = runner.wait(Endpoint::choose(&args.endpoint, asker.as_ref(), say))?;
    let mut probe = Probe::new(&args, &endpoint, say)?;
    let stopped = runner.wait(probe.run());
    if stopped.is_err() && probe.tried {
        output::warn(say.goes_on_from_here());
    }
    stopped?;
    let report = probe.report();
    if let Some(path) = &args.html {
        page::write(path, &report, &probe.bench.tasks, &probe.store, say)?;
    }
    match args.json {
        true => output::emit_json(&report)?,
        false => output::emit_styled(&plain_on_a_pipe(&report.table(say)))?,
    }
    let Some(best) = report.best() else {
        return Err(Failure::job(say.nothing_worked()));
    };
    let threshold =
        (best.cell.how() == How::Measured).then(|| threshold::fitting(probe.store.trials(best.cell).iter()));
    let threshold = threshold.flatten().map(|found| (found * 100.0).round() / 100.0);
    offer(&args, &endpoint, (best.cell, threshold), (asker.as_ref(), &runner), say)
}

/// A table with styles, as standard output takes it.
fn plain_on_a_pipe(text: &str) -> String {
    match std::io::stdout().is_terminal() {
        true => text.to_owned(),
        false => anstream::adapter::strip_str(text).to_string(),
    }
}

/// Shows the best way as a profile, and keeps it where the person wants that.
fn offer(
    args: &Args,
    endpoint: &Endpoint,
    (best, threshold): (Cell, Option<f64>),
    (asker, runner): (Option<&Asker>, &Runner),
    say: Phrases,
) -> Result<(), Failure> {
    let mut profile = SavedProfile {
        name: endpoint.model().to_owned(),
        endpoint: Some(endpoint.url().to_owned()),
        ..SavedProfile::default()
    };
    match best {
        Cell::Native => profile.tools = Some(ToolsMode::Native),
        Cell::Prompt { dialect, style, listing, how } => {
            profile.tools = Some(ToolsMode::Prompt);
            profile.way = match how {
                How::Measured => Some(Way::Measured),
                How::Chosen => Some(Way::Chosen),
                How::Free | How::Told => None,
            };
            profile.constrain = (how != How::Free).then_some(Constrain::Auto);
            profile.call_threshold = threshold;
            (profile.dialect, profile.style, profile.listing) = (Some(dialect), Some(style), Some(listing));
        }
    }
    let Some(path) = saved_profiles::path() else { return Ok(()) };
    output::note(&say.best_way(best, profile.text()));
    let wanted = args.save
        || match asker {
            Some(asker) if !args.json => {
                let question = say.write_into(input::shown(&path));
                let answer = runner.wait(async { Ok(asker.ask(&question).await) })?;
                answer.is_some_and(|answer| matches!(answer.trim(), "y" | "Y" | "yes"))
            }
            _ => false,
        };
    if wanted {
        saved_profiles::save(&path, &profile)?;
        output::note(&say.written_into(input::shown(&path)));
    }
    Ok(())
}

/// Whether a task is put to a way: one that is told to call says nothing of tasks that want none.
fn is_asked(cell: Cell, task: &Task) -> bool {
    cell.decides() || task.wanted != Wanted::NoCall
}

/// How fast a run is.
struct Pace {
    begun: Instant,
    /// When it last said a line.
    said: Instant,
    /// Trials of this run.
    done: u32,
}

/// A probe that runs.
struct Probe {
    bench: Bench,
    store: Store,
    plan: Plan,
    cells: Vec<Cell>,
    endpoint: String,
    model: String,
    deadline: Option<Instant>,
    /// Something was tried in this run.
    tried: bool,
    /// The time was over before all was tried.
    cut: bool,
    /// Tasks that each cell that is reported has at most.
    bar: ProgressBar,
    say: Phrases,
}

impl Probe {
    fn new(args: &Args, endpoint: &Endpoint, say: Phrases) -> Result<Self, Failure> {
        let tasks = Tasks::built_in().map_err(Failure::job)?;
        let profile = args.profile.unwrap_or_else(|| Profile::for_model(endpoint.model()));
        let usual = if profile.reasons == Some(true) { 4096 } else { 512 };
        let plan = match (args.quick, args.full) {
            (true, _) => Plan::quick(),
            (_, true) => Plan::full(tasks.tasks.len()),
            _ => Plan::usual(),
        };
        let usual_time = (!args.full).then_some(Duration::from_secs_f64(MINUTES * 60.0));
        let is_wanted =
            |cell: &Cell| args.only.is_empty() || args.only.iter().any(|text| cell.to_string().contains(text.trim()));
        let cells: Vec<Cell> = Cell::all(true).into_iter().filter(is_wanted).collect();
        if cells.is_empty() {
            let names: Vec<String> = Cell::all(true).iter().map(|cell| format!("  {cell}")).collect();
            return Err(Failure::usage(format!("--only: no way holds that text; there are\n{}", names.join("\n"))));
        }
        let bar = match stderr().is_terminal() {
            true => ProgressBar::new(0),
            false => ProgressBar::hidden(),
        };
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}") {
            bar.set_style(style);
        }
        let bench = Bench {
            client: endpoint.client(),
            profile,
            tasks,
            all_tools: args.all_tools,
            max_tokens: args.max_tokens.map_or(usual, Into::into),
        };
        let store = Store::open(endpoint.url(), endpoint.model(), &bench.conditions(), args.anew);
        Ok(Probe {
            bench,
            store,
            plan,
            cells,
            endpoint: endpoint.url().to_owned(),
            model: endpoint.model().to_owned(),
            deadline: args.time.or(usual_time).map(|time| Instant::now() + time),
            tried: false,
            cut: false,
            bar,
            say,
        })
    }

    /// Round after round, task by task for all cells alike, so that they can be compared
    /// whenever the time is over.
    async fn run(&mut self) -> Result<(), Failure> {
        let mut pace = Pace { begun: Instant::now(), said: Instant::now(), done: 0 };
        for (round, stage) in self.plan.rounds().to_vec().into_iter().enumerate() {
            for number in 0..stage.tasks.min(self.bench.tasks.tasks.len()) {
                let task = self.bench.tasks.tasks[number].clone();
                for cell in self.cells.clone() {
                    if !is_asked(cell, &task) || self.store.has(cell, task.id) {
                        continue;
                    }
                    let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
                    self.progress(&mut pace, round, cell);
                    let trial = match left {
                        Some(Duration::ZERO) => Ok(None),
                        _ => self.bench.trial(cell, &task, left).await,
                    };
                    match trial {
                        Ok(Some(trial)) => self.store.add(cell, trial)?,
                        Ok(None) => {
                            self.cut = true;
                            self.bar.finish_and_clear();
                            return Ok(());
                        }
                        Err(Unasked::Way(failure)) => self.leave_out(cell, failure)?,
                        Err(Unasked::Endpoint(failure)) => {
                            self.bar.finish_and_clear();
                            return Err(failure);
                        }
                    }
                    self.tried = true;
                    pace.done += 1;
                }
            }
            let order: Vec<Cell> = ranked(self.scores(stage.tasks)).into_iter().map(|(cell, _)| cell).collect();
            self.cells = plan::keep(&order, stage);
        }
        self.bar.finish_and_clear();
        Ok(())
    }

    /// A way that the endpoint does not take: the others go on without it.
    fn leave_out(&mut self, cell: Cell, failure: Failure) -> Result<(), Failure> {
        self.cells.retain(|other| *other != cell);
        if self.cells.is_empty() {
            return Err(failure);
        }
        if let Failure::Job(message) | Failure::Usage(message) = failure {
            self.bar.suspend(|| output::warn(&self.say.way_left_out(cell, message)));
        }
        Ok(())
    }

    /// Says how far it is: the bar, or a line now and then where there is none.
    fn progress(&self, pace: &mut Pace, round: usize, cell: Cell) {
        let stage = self.plan.rounds()[round];
        let tasks = self.bench.tasks.tasks.iter().take(stage.tasks);
        let all = tasks.flat_map(|task| self.cells.iter().map(move |cell| (*cell, task)));
        let untried = all.filter(|(cell, task)| is_asked(*cell, task) && !self.store.has(*cell, task.id));
        let here = untried.count();
        let left = here + self.plan.trials_behind(round, self.cells.len());
        self.bar.set_length(u64::from(pace.done) + left as u64);
        self.bar.set_position(u64::from(pace.done));
        let each = pace.begun.elapsed().checked_div(pace.done).unwrap_or_default();
        let open = each.saturating_mul(u32::try_from(left).unwrap_or(u32::MAX));
        let open = self.deadline.map_or(open, |deadline| deadline.saturating_duration_since(Instant::now()).min(open));
        let mut progress = self.say.tasks_so_far(cell, stage.tasks);
        if pace.done > 0 {
            progress = self.say.minutes_left(progress, open.as_secs().div_ceil(60));
        }
        if self.bar.is_hidden() && pace.said.elapsed() >= LINE_EACH {
            pace.said = Instant::now();
            output::note(&progress);
        }
        self.bar.set_message(progress);
    }

    /// The scores of the cells that are left, over their first so many tasks.
    fn scores(&self, tasks: usize) -> Vec<(Cell, Score)> {
        self.cells.iter().map(|cell| (*cell, self.score(*cell, tasks))).collect()
    }

    /// The score of a cell over its first so many tasks.
    fn score(&self, cell: Cell, tasks: usize) -> Score {
        let trials: Vec<Trial> = self.store.trials(cell).iter().filter(|trial| trial.task < tasks).cloned().collect();
        Score::of(&threshold::counted(&trials))
    }

    fn report(&self) -> Report {
        let last = self.plan.rounds().last().map_or(0, |stage| stage.tasks);
        let cells = Cell::all(true).into_iter();
        let mut scores = ranked(cells.map(|cell| (cell, self.score(cell, last))).collect());
        // Those that were tried longer stand first: they were better when others were left out.
        scores.sort_by_key(|(_, score)| std::cmp::Reverse(score.tasks));
        let tools = if self.bench.all_tools { self.bench.tasks.tools.len() } else { FEW };
        Report::new(&self.endpoint, &self.model, tools, self.cut, scores)
    }
}
