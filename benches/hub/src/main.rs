//! What toolgraft's MCP hub costs beside bare rmcp, as a table; see docs/performance.md.
//!
//! `toolgraft-hub-bench` measures. It starts itself in two more ways: `serve VERSION
//! MILLISECONDS` is the echo server, and `idle` the process in which an idle hub is
//! weighed, since what ran before would be weighed with it.

mod server;
mod sides;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use sides::{Era, Side, hub};
use toolgraft::route::mcp::MAX_CALLS;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Turns of each side, and calls in a turn: one after another, and at once.
const TURNS: usize = 60;
const CALLS: usize = 200;
const AT_ONCE: usize = 100;

/// Start-up times of the servers that connect side by side.
const SLOWEST: Duration = Duration::from_millis(1000);
const SERVERS: u32 = 10;

/// How long the idle hub is watched, after the servers have come to rest.
const REST: Duration = Duration::from_secs(1);
const IDLE: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        [] => measured(table()),
        ["idle"] => measured(idle()),
        ["serve", version, delay] => serve(version, delay),
        _ => Err("usage: toolgraft-hub-bench".into()),
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

async fn table() -> Result<(), Failure> {
    println!("{:<36} {:>10} {:>10} {:>8}  target", "", "hub", "bare rmcp", "ratio");
    for era in [Era::Initialize, Era::Discover] {
        beside(era).await?;
    }
    connect().await?;
    // A child of its own prints the last lines.
    let status = tokio::process::Command::new(std::env::current_exe()?).arg("idle").status().await?;
    if status.success() { Ok(()) } else { Err("the idle hub could not be weighed".into()) }
}

/// Both sides in turns, in another order each time.
async fn beside(era: Era) -> Result<(), Failure> {
    let sides = [Side::hub(era).await?, Side::bare(era).await?];
    let crowds = [sides[0].clone(), sides[1].clone(), sides[1].held()];
    let mut times = [Vec::new(), Vec::new()];
    let mut rounds = [Vec::new(), Vec::new(), Vec::new()];
    let mut busy = [Duration::ZERO; 3];
    // The first turn warms both up.
    for turn in 0..=TURNS {
        for index in (turn..).take(sides.len()).map(|n| n % sides.len()) {
            let took = sides[index].times(CALLS).await?;
            times[index].extend(took.into_iter().filter(|_| turn > 0));
        }
        for index in (turn..).take(crowds.len()).map(|n| n % crowds.len()) {
            let before = cpu()?;
            let took = crowds[index].at_once(AT_ONCE).await?;
            if turn > 0 {
                busy[index] += cpu()? - before;
                rounds[index].push(took);
            }
        }
    }
    let [hub, bare] = times.map(|times| p50(times).as_secs_f64() * 1e6);
    let version = era.version();
    row(&format!("{version}: one call, p50, µs"), hub, bare, "at most 1.15");
    let [hub, bare, held] = rounds.map(|rounds| AT_ONCE as f64 / p50(rounds).as_secs_f64());
    row(&format!("{version}: {AT_ONCE} calls at once, calls/s"), hub, bare, "at least 0.90");
    row(&format!("  both sides {MAX_CALLS} at a time"), hub, held, "");
    let [hub, bare, _] = busy.map(|busy| busy.as_secs_f64() * 1e6 / (TURNS * AT_ONCE) as f64);
    row("  CPU of this side, µs a call", hub, bare, "");
    drop(crowds);
    for side in sides {
        side.close().await;
    }
    Ok(())
}

fn row(what: &str, hub: f64, bare: f64, target: &str) {
    println!("{what:<36} {hub:>10.1} {bare:>10.1} {:>8.2}  {target}", hub / bare);
}

fn p50(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
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
    row("servers connect, ms", all, slowest, "at most 1.10");
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

/// What this process holds in memory, in megabytes.
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
