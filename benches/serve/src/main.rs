//! Measures the costs of `toolgraft serve`: its processor time compared to that of the endpoint that it forwards to,
//! the time that it adds to a stream, and memory. `make bench BENCH=serve`; see docs/performance.md.
//!
//! ```text
//! toolgraft-serve-bench TOOLGRAFT [ROUNDS]
//! ```
//!
//! The endpoint (`mock`) is this program in a process of its own, so that its time is its own.

mod http;
mod mock;
mod process;

use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use process::Process;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Streams at once, requests of each in a round, and streams that wait.
const STREAMS: usize = 16;
const REQUESTS: usize = 100;
const WAITING: usize = 1_000;

/// Requests of each stream where there are pauses between the chunks.
const PAUSED: usize = 3;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let done = runtime.map_err(|e| e.to_string()).and_then(|runtime| {
        runtime.block_on(async {
            match arguments.as_slice() {
                ["mock"] => mock::serve().await.map_err(|e| e.to_string()),
                [program] => table(program, 10).await,
                [program, rounds] => match rounds.parse() {
                    Ok(rounds) => table(program, rounds).await,
                    Err(_) => Err(format!("{rounds:?} is no number of rounds")),
                },
                _ => Err("usage: toolgraft-serve-bench TOOLGRAFT [ROUNDS]".to_owned()),
            }
        })
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

async fn table(program: &str, rounds: usize) -> Result<(), String> {
    let me = std::env::current_exe().map_err(|e| e.to_string())?;
    let mock = Process::start(Command::new(me).arg("mock"))?;
    let base = format!("http://127.0.0.1:{}/v1", mock.said);
    let mut command = Command::new(program);
    command.args(["serve", "--listen", "127.0.0.1:0", "--base-url", &base]);
    let serve = Process::start(command.env("HOME", std::env::temp_dir()))?;
    let port = |text: &str| text.trim_end_matches("/v1").rsplit(':').next().and_then(|port| port.parse().ok());
    let (direct, through) = (port(&mock.said).ok_or("no port")?, port(&serve.said).ok_or("no port")?);

    let rest = serve.resident();
    let bodies = [
        ("16 bytes, 2 tools", body("16-0-whole", 2)),
        ("1 byte, 2 tools", body("1-0-whole", 2)),
        ("16 bytes, 100 tools", body("16-0-whole", 100)),
    ];
    for (_, body) in &bodies {
        let answer = ask(through, body, 1).await?;
        if !answer.contains("tool_calls") || !answer.contains("celsius") {
            return Err(format!("serve found no call: {answer}"));
        }
    }
    // Sides and cases take turns, so that what else the machine does falls on all of them.
    let mut spent = vec![[Duration::ZERO; 3]; bodies.len()];
    for _ in 0..rounds {
        for ((_, body), spent) in bodies.iter().zip(&mut spent) {
            let before = mock.cpu();
            load(direct, body, REQUESTS).await?;
            spent[0] += mock.cpu() - before;
            let before = (mock.cpu(), serve.cpu());
            load(through, body, REQUESTS).await?;
            spent[1] += serve.cpu() - before.1;
            spent[2] += mock.cpu() - before.0;
        }
    }
    let each = |time: Duration| time.as_secs_f64() * 1e3 / (rounds * STREAMS * REQUESTS) as f64;
    println!(
        "{:<24} {:>12} {:>12} {:>12} {:>12}",
        "CPU a request, ms", "mock alone", "serve", "over mock", "over first"
    );
    for ((name, _), [alone, served, _]) in bodies.iter().zip(&spent) {
        let ratio = |of: Duration, over: Duration| of.as_secs_f64() / over.as_secs_f64();
        let (over, first) = (ratio(*served, spent[0][0]), ratio(*served, spent[0][1]));
        println!("{name:<24} {:>12.3} {:>12.3} {over:>12.1} {first:>12.2}", each(*alone), each(*served));
    }

    let paused = body("16-20-whole", 2);
    let (mut beside, mut served) = (Vec::new(), Vec::new());
    for _ in 0..PAUSED {
        beside.extend(times(direct, &paused).await?);
        served.extend(times(through, &paused).await?);
    }
    let (beside, served) = (median(beside), median(served));
    println!(
        "\n20 ms between chunks, p50: {:.1} ms direct, {:.1} ms through serve ({:+.1} ms)",
        beside * 1e3,
        served * 1e3,
        (served - beside) * 1e3
    );

    println!(
        "\nresident at rest: {:.1} MB, after {} requests: {:.1} MB",
        rest as f64 / 1e3 * 1.024,
        rounds * bodies.len() * STREAMS * REQUESTS,
        serve.resident() as f64 / 1e3 * 1.024
    );
    let before = serve.resident();
    let waiting = wait(through, &body("16-0-wait", 2)).await?;
    let more = serve.resident().saturating_sub(before);
    println!("{WAITING} waiting streams: {:.1} KB each", more as f64 * 1.024 / WAITING as f64);
    drop(waiting);
    tokio::time::sleep(Duration::from_secs(2)).await;
    let again = wait(through, &body("16-0-wait", 2)).await?;
    let more = serve.resident().saturating_sub(before);
    println!(
        "{WAITING} more after them: {:.1} KB each over the time before the first",
        more as f64 * 1.024 / WAITING as f64
    );
    drop(again);
    Ok(())
}

/// A request with so many tools.
fn body(model: &str, tools: usize) -> String {
    let tool = |number: usize| {
        let name = if number == 0 { "weather".to_owned() } else { format!("tool_{number}") };
        format!(
            r#"{{"type":"function","function":{{"name":"{name}","description":"Tells what is asked of number {number}.","parameters":{{"type":"object","properties":{{"city":{{"type":"string","description":"A city."}},"unit":{{"type":"string","enum":["celsius","kelvin"]}},"note":{{"type":"string"}}}},"required":["city"]}}}}}}"#
        )
    };
    let tools: Vec<String> = (0..tools).map(tool).collect();
    format!(
        r#"{{"model":"{model}","stream":true,"messages":[{{"role":"system","content":"Be brief."}},{{"role":"user","content":"What is the weather in Oslo?"}}],"tools":[{}]}}"#,
        tools.join(",")
    )
}

fn request(port: u16, body: &str) -> String {
    format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Asks so often on one connection; the last answer.
async fn ask(port: u16, body: &str, requests: usize) -> Result<String, String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.map_err(|e| e.to_string())?;
    stream.set_nodelay(true).map_err(|e| e.to_string())?;
    let (request, mut buffer, mut last) = (request(port, body), Vec::with_capacity(64 << 10), String::new());
    for _ in 0..requests {
        stream.write_all(request.as_bytes()).await.map_err(|e| e.to_string())?;
        let (head, body) = http::message(&mut stream, &mut buffer).await.ok_or("an answer broke off")?;
        if !head.starts_with("HTTP/1.1 200") {
            return Err(format!("{head}{}", String::from_utf8_lossy(&body)));
        }
        last = String::from_utf8_lossy(&body).into_owned();
    }
    Ok(last)
}

async fn load(port: u16, body: &str, requests: usize) -> Result<(), String> {
    let streams: Vec<_> = (0..STREAMS)
        .map(|_| {
            let body = body.to_owned();
            tokio::spawn(async move { ask(port, &body, requests).await })
        })
        .collect();
    for stream in streams {
        stream.await.map_err(|e| e.to_string())??;
    }
    Ok(())
}

/// Seconds of single streams, so many at once.
async fn times(port: u16, body: &str) -> Result<Vec<f64>, String> {
    let streams: Vec<_> = (0..STREAMS)
        .map(|_| {
            let body = body.to_owned();
            tokio::spawn(async move {
                let begun = Instant::now();
                ask(port, &body, 1).await.map(|_| begun.elapsed().as_secs_f64())
            })
        })
        .collect();
    let mut times = Vec::new();
    for stream in streams {
        times.push(stream.await.map_err(|e| e.to_string())??);
    }
    Ok(times)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Streams that were begun and wait for more.
async fn wait(port: u16, body: &str) -> Result<Vec<TcpStream>, String> {
    let request = request(port, body);
    let mut streams = Vec::new();
    for _ in 0..WAITING {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await.map_err(|e| e.to_string())?;
        stream.write_all(request.as_bytes()).await.map_err(|e| e.to_string())?;
        streams.push(stream);
    }
    for stream in &streams {
        stream.readable().await.map_err(|e| e.to_string())?;
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    Ok(streams)
}
