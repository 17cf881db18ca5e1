//! The same content through this parser and through others, each in a syntax that
//! it reads: one table.
//!
//! Times are the best of many passes that take turns, so that all meet the same
//! machine; instructions are callgrind's.

mod subject;
mod syntax;

use std::env;
use std::hint::black_box;
use std::time::{Duration, Instant};

use subject::{Found, SUBJECTS, Subject};
use toolgraft_benches::measure::callgrind;
use toolgraft_benches::pass::cut;

/// Length of the mix, in bytes.
const LENGTH: usize = 100 << 10;

/// Turns of each parser; the best pass counts.
const TURNS: usize = 25;

/// Passes in a row in a turn: the first one finds the caches full of another parser.
const PASSES: usize = 3;

/// A parser that needs longer for a pass is measured once, and its instructions,
/// which take a hundred times as long to count, are not.
const SLOW: Duration = Duration::from_millis(500);

/// Sizes of chunks, in bytes.
const CHUNKS: &[usize] = &[4, 16, 64];

fn main() -> Result<(), String> {
    let args: Vec<String> = env::args().skip(1).collect();
    if let [name, bytes] = args.as_slice() {
        let (subject, bytes) = (subject::named(name), bytes.parse().expect("the parent names a size"));
        let text = subject.syntax.mix(LENGTH);
        black_box(timed_pass((subject.make)().as_mut(), &cut(&text, Some(bytes))));
        return Ok(());
    }
    for bytes in CHUNKS {
        println!("\nthe mix, {} KB, in chunks of {bytes} bytes\n", LENGTH >> 10);
        println!("| parser | syntax | MB/s | ours is faster | instructions a byte | calls found |");
        println!("|---|---|---:|---:|---:|---:|");
        table(*bytes)?;
    }
    Ok(())
}

fn table(bytes: usize) -> Result<(), String> {
    let texts: Vec<String> = SUBJECTS.iter().map(|subject| subject.syntax.mix(LENGTH)).collect();
    let chunks: Vec<Vec<&str>> = texts.iter().map(|text| cut(text, Some(bytes))).collect();
    let mut best = vec![Duration::MAX; SUBJECTS.len()];
    let mut found = vec![Found::default(); SUBJECTS.len()];
    for _ in 0..TURNS {
        for (n, subject) in SUBJECTS.iter().enumerate() {
            for _ in 0..PASSES {
                if (SLOW..Duration::MAX).contains(&best[n]) {
                    break;
                }
                let mut parser = (subject.make)();
                let start = Instant::now();
                found[n] = black_box(timed_pass(parser.as_mut(), black_box(&chunks[n])));
                best[n] = best[n].min(start.elapsed());
            }
        }
    }
    for (n, subject) in SUBJECTS.iter().enumerate() {
        let rate = |n: usize| texts[n].len() as f64 / best[n].as_secs_f64() / 1e6;
        // Ours in the same syntax, which stands first of its syntax.
        let ours = SUBJECTS.iter().position(|other| other.syntax == subject.syntax).expect("it is there itself");
        let instructions = match best[n] < SLOW {
            true => {
                let count = callgrind(env!("CARGO_PKG_NAME"), "*timed_pass*", &[subject.name, &bytes.to_string()])?;
                count as f64 / texts[n].len() as f64
            }
            false => f64::NAN,
        };
        println!(
            "| {} | {} | {:.1} | {:.1} | {:.1} | {} of {} |",
            subject.name,
            subject.syntax,
            rate(n),
            rate(ours) / rate(n),
            instructions,
            found[n].calls,
            subject.syntax.calls(&texts[n]),
        );
    }
    Ok(())
}

/// One message through a parser; what callgrind counts.
#[inline(never)]
fn timed_pass(parser: &mut dyn Subject, chunks: &[&str]) -> Found {
    let mut found = Found::default();
    for chunk in chunks {
        parser.push(chunk, &mut found);
    }
    parser.finish(&mut found);
    found
}
