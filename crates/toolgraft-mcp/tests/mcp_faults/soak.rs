//! Twelve servers for minutes: continuous calls, processes killed at random, changing lists of
//! tools. At the same time the program itself gets signals at random moments, including SIGKILL.
//!
//! `mcp_faults soak SECONDS` (`make e2e SUITES=soak`). It fails if a call has neither a result nor
//! an error, if a result belongs to another call, if a signal is lost, if a process remains, or if
//! memory grows.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;
use toolgraft::outcome::Status;
use toolgraft_mcp::Hub;

use toolgraft::route::{Invocation, Toolbox};

use crate::case::{Case, builder, connect, retry, soon};

const SERVERS: usize = 12;
/// Concurrent calls over all servers.
const CALLERS: usize = 40;
/// Growth of memory from the first tenth to the end that does not count as a leak, in bytes.
const GROWTH: u64 = 16 << 20;

/// Random numbers (xorshift64*, Vigna 2016), good enough to choose which server to kill.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        usize::try_from(self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33).unwrap() % limit
    }
}

/// Runs for this time and returns a summary. An `Err` describes the failure.
pub(crate) fn run(seconds: u64, dir: &Path) -> Result<String, String> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let told = runtime.block_on(soak(Duration::from_secs(seconds), &Case::at(dir)))?;
    drop(runtime);
    let left = Case::at(dir).running();
    // The command line of this process contains the folder too.
    match left.len() {
        0 | 1 => Ok(told),
        _ => Err(format!("left over: {left:?}")),
    }
}

async fn soak(time: Duration, case: &Case) -> Result<String, String> {
    let faults = ["none", "banner", "pretty", "modern", "has-children"];
    let servers = (0..SERVERS)
        .map(|n| case.named(&format!("s{n}"), faults[n % faults.len()]).with_call_timeout(Duration::from_secs(5)));
    // Servers are killed so often that the limit on failures must not apply.
    let retry = retry(|retry| (retry.failures, retry.longest) = (u32::MAX, Duration::from_millis(200)));
    let hub = connect(builder().retry(retry), servers).await;
    let end = Instant::now() + time;
    let callers = futures::future::join_all((0..CALLERS).map(|n| calls(&hub, n, end)));
    let (counts, Havoc { kills, restarts, changes }, memory, signals) =
        futures::join!(callers, havoc(&hub, case, end), memory(time, end), signals(case, end));
    let signals = signals?;
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for counted in counts {
        for (what, count) in counted? {
            *sums.entry(what).or_default() += count;
        }
    }
    hub.shutdown().await;
    let (early, late) = memory;
    if late > early + GROWTH {
        return Err(format!("memory grew from {early} to {late} bytes"));
    }
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    Ok(format!(
        "{} s: {} results, {} errors, {} time-outs; {kills} kills, {restarts} restarts, {changes} changed lists, \
         {signals} signals; {:.1} MiB, then {:.1} MiB",
        time.as_secs(),
        sums.get("result").unwrap_or(&0),
        sums.get("error").unwrap_or(&0),
        sums.get("time-out").unwrap_or(&0),
        mib(early),
        mib(late)
    ))
}

/// Calls one server after another. Each call must be answered, and with its own text.
async fn calls(hub: &Hub, caller: usize, end: Instant) -> Result<BTreeMap<&'static str, u64>, String> {
    let mut counts = BTreeMap::new();
    let mut n = 0;
    while Instant::now() < end {
        n += 1;
        let text = format!("{caller}-{n}");
        let call = Invocation::new("echo").with_server(format!("s{}", (caller + n) % SERVERS));
        let call = hub.call(call.with_arguments(json!({ "text": text })));
        let Ok(outcome) = tokio::time::timeout(Duration::from_secs(60), call).await else {
            return Err(format!("the call {text} was never answered"));
        };
        let what = match outcome.status {
            Status::Result if outcome.text == text => "result",
            Status::TimedOut => "time-out",
            Status::ToolError if !outcome.text.is_empty() => "error",
            _ => return Err(format!("the call {text} was answered with {outcome:?}")),
        };
        *counts.entry(what).or_default() += 1;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    Ok(counts)
}

/// The numbers of disturbances of the servers.
#[derive(Default)]
struct Havoc {
    kills: u64,
    restarts: u64,
    changes: u64,
}

/// Kills servers, restarts some, and changes the lists of some.
async fn havoc(hub: &Hub, case: &Case, end: Instant) -> Havoc {
    let mut random = Random(0x5EED);
    let mut done = Havoc::default();
    while Instant::now() < end {
        tokio::time::sleep(Duration::from_millis(200)).await;
        let server = random.below(SERVERS);
        match random.below(10) {
            0 => {
                // A server that was just killed may fail to start; the next call tries again.
                let _ = hub.restart(&format!("s{server}")).await;
                done.restarts += 1;
            }
            1..=3 => {
                let grown = hub.call(Invocation::new("grow").with_server(format!("s{server}"))).await;
                done.changes += u64::from(grown.status == Status::Result);
            }
            _ => {
                let Some(pid) = case.process(&format!("s{server}")) else { continue };
                let killed = tokio::process::Command::new("kill").args(["-9", &pid]).status().await;
                done.kills += u64::from(killed.is_ok_and(|status| status.success()));
            }
        }
    }
    done
}

/// Repeatedly starts the program with its own servers and sends it a signal. The program and all
/// processes that it started must end. Returns the number of signals.
async fn signals(case: &Case, end: Instant) -> Result<u64, String> {
    let program =
        std::env::var_os("TOOLGRAFT").ok_or("TOOLGRAFT names no program: run it by `make e2e SUITES=soak`")?;
    // A folder of its own distinguishes its servers from those of the hub.
    let dir = Path::new(case.path()).join("signals");
    std::fs::create_dir(&dir).unwrap();
    let case = Case::at(&dir);
    let me = std::env::current_exe().unwrap();
    let server = |fault: &str, name: &str| json!({ "command": me, "args": ["serve", fault, case.path(), name] });
    let servers = json!({ "a": server("none", "a"), "b": server("has-children", "b"), "c": server("modern", "c") });
    let config = dir.join("mcp.json");
    std::fs::write(&config, json!({ "mcpServers": servers }).to_string()).unwrap();
    let mut random = Random(0x516);
    let mut sent = 0;
    while Instant::now() < end {
        let mut command = tokio::process::Command::new(&program);
        command.args(["mcp", "check", "--mcp-config"]).arg(&config).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut running = command.spawn().unwrap();
        tokio::time::sleep(Duration::from_millis(random.below(1500) as u64)).await;
        let signal = ["INT", "TERM", "HUP", "KILL"][random.below(4)];
        let Some(pid) = running.id() else { continue };
        if running.try_wait().unwrap().is_none() {
            let _ = tokio::process::Command::new("kill").args(["-s", signal, &pid.to_string()]).status().await;
            sent += 1;
        }
        let Ok(_) = tokio::time::timeout(Duration::from_secs(60), running.wait()).await else {
            return Err(format!("SIG{signal} was lost"));
        };
        if !soon(|| case.running().is_empty()).await {
            return Err(format!("SIG{signal} has left over: {:?}", case.running()));
        }
    }
    Ok(sent)
}

/// Returns the resident memory after a tenth of the time and at the end, in bytes; zero without
/// `/proc`.
async fn memory(time: Duration, end: Instant) -> (u64, u64) {
    tokio::time::sleep(time / 10).await;
    let early = resident();
    tokio::time::sleep_until(end.into()).await;
    (early, resident())
}

fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4096
}
