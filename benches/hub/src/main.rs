//! Measures what toolgraft's MCP hub costs compared to bare rmcp, and prints a table; see docs/performance.md.
//!
//! `toolgraft-hub-bench` measures. `toolgraft-hub-bench calls hub|bare VERSION ROUNDS`
//! runs one side alone, for a profiler. It starts itself in two more ways: `serve VERSION
//! MILLISECONDS` is the echo server, and `idle` the process in which an idle hub is
//! weighed, since what ran before would be weighed with it.

mod server;
mod sides;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use sides::{Era, Side, hub};
use toolgraft_mcp::MAX_CALLS;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Rounds, and calls of each side in a round: one after another, and at once. Rounds
/// are short, so that what else the machine does falls on both sides of one alike.
const ROUNDS: usize = 400;
const CALLS: usize = 40;
const AT_ONCE: usize = 100;

/// Start-up times of the servers that connect side by side.
const SLOWEST: Duration = Duration::from_millis(1000);
const SERVERS: u32 = 10;

/// Time before the idle hub is measured, in which the servers come to rest, and time for which it is measured.
const REST: Duration = Duration::from_secs(1);
const IDLE: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        [] => measured(table()),
        ["idle"] => measured(idle()),
        ["calls", side, version, rounds] => calls(side, version, rounds),
        ["serve", version, delay] => serve(version, delay),
        _ => Err("usage: toolgraft-hub-bench [calls hub|bare VERSION ROUNDS]".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn serve(version: &str, delay: &str) -> Result<(), Failure> {
    server::serve(Era::parse(version)?.version(), Duration::from_millis(delay.parse()?))
}

/// Runs on a worker, where calls of programs run.
fn measured(measure: impl Future<Output = Result<(), Failure>> + Send + 'static) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async { tokio::spawn(measure).await? })
}

/// One side alone, with calls at once.
fn calls(side: &str, version: &str, rounds: &str) -> Result<(), Failure> {
    let (era, rounds, hub) = (Era::parse(version)?, rounds.parse::<usize>()?, side == "hub");
    measured(async move {
        let side = if hub { Side::hub(era).await? } else { Side::bare(era).await? };
        let before = cpu()?;
        for _ in 0..rounds {
            side.at_once(AT_ONCE).await?;
        }
        println!("{:.1} µs of CPU a call", (cpu()? - before).as_secs_f64() * 1e6 / (rounds * AT_ONCE) as f64);
        side.close().await;
        Ok(())
    })
}

async fn table() -> Result<(), Failure> {
    println!("{:<36} {:>10} {:>10} {:>8} {:>10}  target", "", "hub", "bare rmcp", "ratio", "by round");
    for era in [Era::Initialize, Era::Discover] {
        beside(era).await?;
    }
    connect().await?;
    // A child of its own prints the last lines.
    let status = tokio::process::Command::new(std::env::current_exe()?).arg("idle").status().await?;
    if status.success() { Ok(()) } else { Err("the idle hub could not be weighed".into()) }
}

/// One side's measurements in seconds, one for each round.
type Rounds = Vec<f64>;

/// Both sides in turns, in another order each round.
async fn beside(era: Era) -> Result<(), Failure> {
    let sides = [Side::hub(era).await?, Side::bare(era).await?];
    let crowds = [sides[0].clone(), sides[1].clone(), sides[1].held()];
    let mut one: [Rounds; 2] = Default::default();
    let mut many: [Rounds; 3] = Default::default();
    let mut busy: [Rounds; 3] = Default::default();
    // The first round warms both up.
    for round in 0..=ROUNDS {
        for index in (round..).take(sides.len()).map(|n| n % sides.len()) {
            let took = sides[index].times(CALLS).await?;
            one[index].extend((round > 0).then(|| median(took.iter().map(Duration::as_secs_f64))));
        }
        for index in (round..).take(crowds.len()).map(|n| n % crowds.len()) {
            let before = cpu()?;
            let took = crowds[index].at_once(AT_ONCE).await?;
            let used = cpu()? - before;
            many[index].extend((round > 0).then_some(took.as_secs_f64()));
            busy[index].extend((round > 0).then_some(used.as_secs_f64()));
        }
    }
    let version = era.version();
    let (microseconds, calls) = (|time: f64| time * 1e6, |time: f64| AT_ONCE as f64 / time);
    row(&format!("{version}: one call, p50, µs"), &one[0], &one[1], microseconds, "at most 1.15");
    row(&format!("{version}: {AT_ONCE} calls at once, calls/s"), &many[0], &many[1], calls, "at least 0.90");
    row(&format!("  both sides {MAX_CALLS} at a time"), &many[0], &many[2], calls, "");
    row("  CPU of this side, µs a call", &busy[0], &busy[1], |time| time * 1e6 / AT_ONCE as f64, "");
    drop(crowds);
    for side in sides {
        side.close().await;
    }
    Ok(())
}

/// The medians of both sides with their ratio, and the median of the ratios of one
/// round's: neighbours, which share what else the machine does.
fn row(what: &str, hub: &Rounds, bare: &Rounds, shown: impl Fn(f64) -> f64, target: &str) {
    let by_round = median(hub.iter().zip(bare).map(|(hub, bare)| shown(*hub) / shown(*bare)));
    let [hub, bare] = [hub, bare].map(|rounds| shown(median(rounds.iter().copied())));
    println!("{what:<36} {hub:>10.1} {bare:>10.1} {:>8.2} {by_round:>10.2}  {target}", hub / bare);
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}
/// Ten servers beside the slowest of them alone.
async fn connect() -> Result<(), Failure> {
    let delays: Vec<_> = (1..=SERVERS).map(|n| SLOWEST * n / SERVERS).collect();
    let mut times = [Duration::ZERO; 2];
    for (delays, time) in [delays.as_slice(), &[SLOWEST]].into_iter().zip(&mut times) {
        let started = Instant::now();
        let hub = hub(Era::Initialize, delays).await?;
        *time = started.elapsed();
        hub.shutdown().await;
    }
    let [all, slowest] = times.map(|time| time.as_secs_f64() * 1e3);
    println!("{:<36} {:>10} {:>10}", "", "ten", "slowest");
    println!(
        "{:<36} {all:>10.1} {slowest:>10.1} {:>8.2}             at most 1.10",
        "servers connect, ms",
        all / slowest
    );
    Ok(())
}

/// An idle hub of ten servers, in a process where nothing else was.
async fn idle() -> Result<(), Failure> {
    let before = Memory::now()?;
    let hub = hub(Era::Initialize, &[Duration::ZERO; SERVERS as usize]).await?;
    tokio::time::sleep(REST).await;
    let after = Memory::now()?;
    let (busy, started) = (cpu()?, Instant::now());
    tokio::time::sleep(IDLE).await;
    let (busy, watched) = (cpu()? - busy, started.elapsed());
    let used = busy.as_secs_f64() * 1e3;
    println!("{:<36} {used:>10.1}  in {:.0} s; target: none", "ten servers idle, CPU, ms", watched.as_secs_f64());
    println!("{:<36} {:>10.1}  target: under 5", "its resident memory, MB", after.all - before.all);
    println!("{:<36} {:>10.1}", "  without the program's own pages, MB", after.anonymous - before.anonymous);
    hub.shutdown().await;
    Ok(())
}

/// The memory that this process uses, in megabytes.
struct Memory {
    all: f64,
    /// Without pages of the program file, which are read in as they are first run.
    anonymous: f64,
}

impl Memory {
    fn now() -> Result<Self, Failure> {
        let status = std::fs::read_to_string("/proc/self/status")?;
        let read = |key: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
            let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<f64>().ok());
            kilobytes.map(|k| k * 1024.0 / 1e6).ok_or_else(|| Failure::from(format!("/proc/self/status has no {key}")))
        };
        Ok(Memory { all: read("VmRSS")?, anonymous: read("RssAnon")? })
    }
}

/// Time that all threads of this process have run. Finer than the hundredths of a
/// second in `/proc/self/stat`.
fn cpu() -> Result<Duration, Failure> {
    let mut nanoseconds = 0;
    for thread in std::fs::read_dir("/proc/self/task")? {
        let ran = std::fs::read_to_string(thread?.path().join("schedstat"))?;
        nanoseconds += ran.split(' ').next().unwrap_or_default().parse::<u64>()?;
    }
    Ok(Duration::from_nanos(nanoseconds))
}
