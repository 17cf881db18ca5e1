//! Counts every case and compares it with the limits in `limits.toml`.
//!
//! `smoke` fails where a count is past its limit; `smoke lower` writes what is
//! counted now and 5 % as the new limits where that is lower; `smoke reset`
//! writes them everywhere. Ratios, repetitions and memory have fixed limits.
//! `smoke repetitions` counts texts that are made to be slow, which takes minutes.

mod allocations;

use std::fs;
use std::process::ExitCode;
use std::sync::Mutex;
use std::thread;

use toml_edit::{DocumentMut, Item, Table, value};
use toolgraft_benches::case::{CASES, Case, chunk_name};
use toolgraft_benches::measure;
use toolgraft_benches::repetition::{LENGTHS, REPETITIONS, Repetition};
use toolgraft_benches::served::{HISTORIES, SERVED};

const LIMITS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/limits.toml");

/// Room above a count when it becomes a limit.
const ROOM: f64 = 1.05;

/// A limit that could be this much lower is worth a word.
const SLACK: f64 = 0.9;

/// Tables whose limits follow what is counted; the others hold what must hold.
const COUNTS: &[&str] = &[
    "instructions_per_byte",
    "allocations_per_chunk",
    "kilo_instructions_per_answer",
    "kilo_instructions_per_history",
];

/// Costs that are compared with each other: what, over what.
const RATIOS: &[(&str, &str)] =
    &[("mix-200-tools/16", "mix-one-dialect/16"), ("angles-200-tools/16", "angles/16"), ("mix-10m/16", "mix-1m/16")];

/// A figure, and where its limit stands.
struct Figure {
    table: &'static str,
    name: String,
    count: f64,
}

impl Figure {
    /// The count and [`ROOM`], to three places; not nothing, so that one allocation
    /// in thousands of chunks passes.
    fn as_limit(&self) -> f64 {
        ((self.count * ROOM * 1000.0).ceil() / 1000.0).max(0.001)
    }
}

fn main() -> ExitCode {
    let mode = std::env::args().nth(1);
    let counted = if mode.as_deref() == Some("repetitions") { repetitions() } else { figures() };
    let done = counted.and_then(|figures| match mode.as_deref() {
        None | Some("repetitions") => compare(&figures),
        Some("lower") => write(&figures, false),
        Some("reset") => write(&figures, true),
        Some(other) => Err(format!("expected `lower`, `reset`, `repetitions` or nothing, found {other:?}")),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn figures() -> Result<Vec<Figure>, String> {
    let passes: Vec<(&Case, Option<usize>)> =
        CASES.iter().flat_map(|case| case.chunks.iter().map(move |bytes| (case, *bytes))).collect();
    CASES.iter().try_for_each(Case::check)?;
    let instructions = counted(&passes, |(case, bytes)| measure::instructions(case, *bytes))?;
    let (mut figures, mut allocated) = (Vec::new(), Vec::new());
    for ((case, bytes), count) in passes.iter().zip(&instructions) {
        let name = format!("{}/{}", case.name, chunk_name(*bytes));
        let per_byte = *count as f64 / case.text().len() as f64;
        figures.push(Figure { table: "instructions_per_byte", name: name.clone(), count: per_byte });
        let count = allocations::per_chunk(case, *bytes);
        allocated.push(Figure { table: "allocations_per_chunk", name, count });
    }
    figures.append(&mut allocated);
    for (what, over) in RATIOS {
        let total = |name: &str| {
            let at = passes.iter().position(|(case, bytes)| format!("{}/{}", case.name, chunk_name(*bytes)) == name);
            instructions[at.expect("a ratio names cases")] as f64
        };
        let name = format!("{what} over {over}");
        figures.push(Figure { table: "instructions_ratio", name, count: total(what) / total(over) });
    }
    let answers: Vec<_> = SERVED.iter().collect();
    let counts = counted(&answers, |served| measure::instructions_of_answer(served))?;
    figures.extend(answers.iter().zip(counts).map(|(served, count)| Figure {
        table: "kilo_instructions_per_answer",
        name: served.name.to_owned(),
        count: count as f64 / 1e3,
    }));
    let histories: Vec<_> = HISTORIES.iter().collect();
    let counts = counted(&histories, |history| measure::instructions_of_history(history))?;
    figures.extend(histories.iter().zip(counts).map(|(history, count)| Figure {
        table: "kilo_instructions_per_history",
        name: history.name.to_owned(),
        count: count as f64 / 1e3,
    }));
    let peak = allocations::peak_of_a_long_stream() as f64;
    figures.push(Figure { table: "peak_bytes", name: "100 MB of prose/16".to_owned(), count: peak });
    Ok(figures)
}

/// Measures texts that are made to be slow to parse: instructions for each byte that the long text has more than the
/// short one, which is already past the limit on calls, and the ratio of the long text's count to the short one's.
fn repetitions() -> Result<Vec<Figure>, String> {
    let passes: Vec<(&Repetition, usize)> =
        REPETITIONS.iter().flat_map(|repetition| LENGTHS.map(|bytes| (repetition, bytes))).collect();
    let counts = counted(&passes, |(repetition, bytes)| measure::instructions_of(repetition, *bytes))?;
    let more = (LENGTHS[1] - LENGTHS[0]) as f64;
    let of = |table: &'static str, count: fn(f64, f64, f64) -> f64| {
        passes.chunks(LENGTHS.len()).zip(counts.chunks(LENGTHS.len())).map(move |(pass, counts)| Figure {
            table,
            name: pass[0].0.name.to_owned(),
            count: count(counts[0] as f64, counts[1] as f64, more),
        })
    };
    let per_byte = of("repetition_per_byte", |short, long, bytes| (long - short) / bytes);
    let ratio = of("repetition_ratio", |short, long, _| long / short);
    Ok(per_byte.chain(ratio).collect())
}

/// Instructions of each pass, counted by as many valgrinds at once as there are cores.
fn counted<P: Sync>(passes: &[P], count: impl Fn(&P) -> Result<u64, String> + Sync) -> Result<Vec<u64>, String> {
    // The longest last in the list, so first from its end.
    let left = Mutex::new((0..passes.len()).collect::<Vec<_>>());
    let counts = Mutex::new(vec![Ok(0); passes.len()]);
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let Some(next) = left.lock().expect("no thread panics").pop() else { return };
                    let count = count(&passes[next]);
                    counts.lock().expect("no thread panics")[next] = count;
                }
            });
        }
    });
    counts.into_inner().expect("no thread panics").into_iter().collect()
}

fn compare(figures: &[Figure]) -> Result<(), String> {
    let limits = limits()?;
    let (mut table, mut past, mut low) = ("", 0, 0);
    for figure in figures {
        if table != figure.table {
            table = figure.table;
            println!("\n{table:<44} {:>10} {:>10}", "count", "limit");
        }
        let limit = limit(&limits, figure).ok_or_else(|| {
            format!(
                "limits.toml has no limit for {:?} in [{}]: `make instructions HOW=lower` writes it",
                figure.name, figure.table
            )
        })?;
        let note = match figure.count {
            count if count > limit => {
                past += 1;
                "  PAST ITS LIMIT"
            }
            _ if COUNTS.contains(&figure.table) && figure.as_limit() < limit * SLACK => {
                low += 1;
                "  far below"
            }
            _ => "",
        };
        println!("{:<44} {:>10.3} {limit:>10.3}{note}", figure.name, figure.count);
    }
    if low > 0 {
        println!("\n{low} far below their limits: `make instructions HOW=lower` lowers them");
    }
    match past {
        0 => Ok(()),
        n => Err(format!(
            "\n{n} past their limits: make them cheaper, or raise the limit in benches/limits.toml and say why"
        )),
    }
}

fn limits() -> Result<DocumentMut, String> {
    let text = fs::read_to_string(LIMITS).map_err(|e| format!("cannot read {LIMITS}: {e}"))?;
    text.parse().map_err(|e| format!("{LIMITS}: {e}"))
}

fn limit(limits: &DocumentMut, figure: &Figure) -> Option<f64> {
    let table = limits.get(figure.table)?;
    // One limit may hold for all of a table.
    let item = table.get(&figure.name).or_else(|| table.get("all"))?;
    item.as_float().or_else(|| item.as_integer().map(|n| n as f64))
}

fn write(figures: &[Figure], all: bool) -> Result<(), String> {
    let mut limits = limits()?;
    for figure in figures.iter().filter(|figure| COUNTS.contains(&figure.table)) {
        let new = figure.as_limit();
        if all || limit(&limits, figure).is_none_or(|old| new < old) {
            let table = limits.entry(figure.table).or_insert_with(|| Item::Table(Table::new()));
            table[&figure.name] = value(new);
        }
    }
    fs::write(LIMITS, limits.to_string()).map_err(|e| format!("cannot write {LIMITS}: {e}"))
}
