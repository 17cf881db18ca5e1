//! Blocks of lines through worker threads, and out again in order.
//!
//! The reader and the workers are threads of their own and not joined: a
//! reader may wait for input for ever when nobody wants the output any more.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};

use crate::base::lock;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

use super::blocks::{Block, Blocks, MAX_LINE};
use super::record::write_error;

/// Bytes of input that are in flight at most, or one block if it is larger.
const MAX_BYTES: usize = 32 << 20;

/// Blocks in flight at most, per worker.
const BLOCKS_PER_WORKER: usize = 8;

/// Lines that were read; blank ones are not counted.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) lines: u64,
    pub(super) bad: u64,
}

/// Why the pipeline ended early.
#[derive(Debug)]
pub(super) enum Error {
    Read(io::Error),
    Write(io::Error),
}

/// The output of a block.
struct Done {
    place: u64,
    bytes: usize,
    output: Vec<u8>,
    counts: Counts,
}

/// Puts every line of `input` through a worker and writes the output in order.
///
/// `worker` makes one function per thread, which takes a line, its number and
/// the buffer to append an output line to, and says whether the line was valid.
pub(super) fn run<R, W, M>(input: R, output: &mut impl Write, jobs: usize, worker: M) -> Result<Counts, Error>
where
    R: Read + Send + 'static,
    M: Fn() -> W + Send + Clone + 'static,
    W: FnMut(&[u8], u64, &mut Vec<u8>) -> bool,
{
    let budget = Arc::new(Budget::new(jobs * BLOCKS_PER_WORKER, MAX_BYTES));
    let (to_workers, blocks) = mpsc::channel();
    let (to_writer, done) = mpsc::channel();
    let reading = {
        let budget = Arc::clone(&budget);
        thread::spawn(move || read(Blocks::new(input, MAX_LINE), &to_workers, &budget))
    };
    let blocks = Arc::new(Mutex::new(blocks));
    for _ in 0..jobs {
        let (blocks, to_writer, worker) = (Arc::clone(&blocks), to_writer.clone(), worker.clone());
        thread::spawn(move || work(&blocks, &to_writer, &worker));
    }
    drop(to_writer);
    let counts = write(&done, output, &budget)?;
    // All workers have ended, so the reader has: nothing else ends them.
    match reading.join() {
        Ok(Err(error)) => Err(Error::Read(error)),
        Ok(Ok(())) | Err(_) => Ok(counts),
    }
}

/// Hands on blocks, numbered from 0, while the budget allows.
fn read<R: Read>(mut blocks: Blocks<R>, to_workers: &Sender<(u64, Block)>, budget: &Budget) -> io::Result<()> {
    for place in 0.. {
        let Some(block) = blocks.next()? else { break };
        budget.take(size(&block));
        if to_workers.send((place, block)).is_err() {
            break;
        }
    }
    Ok(())
}

fn size(block: &Block) -> usize {
    block.lines.as_ref().map_or(0, Vec::len)
}

fn work<M, W>(blocks: &Mutex<Receiver<(u64, Block)>>, to_writer: &Sender<Done>, worker: &M)
where
    M: Fn() -> W,
    W: FnMut(&[u8], u64, &mut Vec<u8>) -> bool,
{
    let mut line = worker();
    loop {
        let next = lock(blocks).recv();
        let Ok((place, block)) = next else { return };
        let bytes = size(&block);
        // What comes out is mostly about as long as what went in.
        let mut done = Done { place, bytes, output: Vec::with_capacity(bytes), counts: Counts::default() };
        each_line(&block, |text, number| {
            let start = done.output.len();
            let valid = catch_unwind(AssertUnwindSafe(|| line(text, number, &mut done.output)));
            done.counts.lines += 1;
            done.counts.bad += u64::from(!matches!(valid, Ok(true)));
            if valid.is_err() {
                // A fault of ours costs one record, and what it left behind.
                done.output.truncate(start);
                write_error("internal error", number, &mut done.output);
                line = worker();
            }
        });
        if block.lines.is_none() {
            done.counts = Counts { lines: 1, bad: 1 };
            write_error(&format!("longer than {} MiB", MAX_LINE >> 20), block.first, &mut done.output);
        }
        if to_writer.send(done).is_err() {
            return;
        }
    }
}

/// Gives every line that is not blank, with its number.
fn each_line(block: &Block, mut give: impl FnMut(&[u8], u64)) {
    let lines = block.lines.as_deref().unwrap_or_default();
    let mut start = 0;
    let ends = memchr::memchr_iter(b'\n', lines).chain([lines.len()]);
    let lines = ends.map(|end| &lines[std::mem::replace(&mut start, end + 1)..end]);
    for (number, text) in (block.first..).zip(lines) {
        let text = if number == 1 { text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text) } else { text };
        if !text.trim_ascii().is_empty() {
            give(text, number);
        }
    }
}

/// Writes blocks in order.
fn write(done: &Receiver<Done>, output: &mut impl Write, budget: &Budget) -> Result<Counts, Error> {
    let mut waiting: BTreeMap<u64, Done> = BTreeMap::new();
    let mut counts = Counts::default();
    let mut next = 0;
    loop {
        let block = match done.try_recv() {
            Ok(block) => block,
            Err(TryRecvError::Disconnected) => break,
            Err(TryRecvError::Empty) => {
                output.flush().map_err(Error::Write)?;
                match done.recv() {
                    Ok(block) => block,
                    Err(_) => break,
                }
            }
        };
        waiting.insert(block.place, block);
        while let Some(block) = waiting.remove(&next) {
            output.write_all(&block.output).map_err(Error::Write)?;
            budget.give_back(block.bytes);
            counts.lines += block.counts.lines;
            counts.bad += block.counts.bad;
            next += 1;
        }
    }
    output.flush().map_err(Error::Write)?;
    Ok(counts)
}

/// What may still be taken into flight.
struct Budget {
    /// Blocks and bytes in flight.
    used: Mutex<(usize, usize)>,
    freed: Condvar,
    blocks: usize,
    bytes: usize,
}

impl Budget {
    fn new(blocks: usize, bytes: usize) -> Self {
        Budget { used: Mutex::default(), freed: Condvar::new(), blocks, bytes }
    }

    /// Waits until a block of this size may go; a block alone always may.
    fn take(&self, size: usize) {
        let used = lock(&self.used);
        let full = |used: &mut (usize, usize)| used.0 > 0 && (used.0 >= self.blocks || used.1 + size > self.bytes);
        let mut used = self.freed.wait_while(used, full).unwrap_or_else(PoisonError::into_inner);
        *used = (used.0 + 1, used.1 + size);
    }

    fn give_back(&self, size: usize) {
        let mut used = lock(&self.used);
        *used = (used.0.saturating_sub(1), used.1.saturating_sub(size));
        self.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn echo() -> impl FnMut(&[u8], u64, &mut Vec<u8>) -> bool {
        |line, number, out| {
            assert_ne!(line, b"die", "told to");
            out.extend_from_slice(format!("{number}:").as_bytes());
            out.extend_from_slice(line);
            out.push(b'\n');
            line != b"bad"
        }
    }

    fn piped(input: Vec<u8>, jobs: usize) -> (Result<Counts, Error>, String) {
        let mut output = Vec::new();
        let done = run(io::Cursor::new(input), &mut output, jobs, echo);
        (done, String::from_utf8(output).unwrap())
    }

    #[test]
    fn order_is_kept_and_lines_are_counted() {
        let lines: Vec<String> = (0..100_000).map(|n| format!("line {n}")).collect();
        let expected: String = lines.iter().zip(1..).map(|(line, n)| format!("{n}:{line}\n")).collect();
        for jobs in [1, 2, 7] {
            let (done, output) = piped(lines.join("\n").into_bytes(), jobs);
            assert_eq!(done.unwrap(), Counts { lines: 100_000, bad: 0 });
            assert!(output == expected, "{jobs} jobs");
        }
    }

    #[test]
    fn blank_lines_and_a_byte_order_mark_are_skipped() {
        let (done, output) = piped("\u{feff}a\n\n \r\nbad\n\n".into(), 2);
        assert_eq!(done.unwrap(), Counts { lines: 2, bad: 1 });
        assert_eq!(output, "1:a\n4:bad\n");
        assert_eq!(piped(Vec::new(), 2).1, "");
    }

    #[test]
    fn a_panic_costs_one_line() {
        let (done, output) = piped("a\ndie\nb\n".into(), 1);
        assert_eq!(done.unwrap(), Counts { lines: 3, bad: 1 });
        assert_eq!(output, "1:a\n{\"id\":null,\"error\":\"line 2: internal error\"}\n3:b\n");
    }

    #[test]
    fn a_read_error_comes_after_the_output_of_what_was_read() {
        struct Broken(bool);
        impl Read for Broken {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                if std::mem::replace(&mut self.0, true) {
                    return Err(io::Error::other("gone"));
                }
                buffer[..2].copy_from_slice(b"a\n");
                Ok(2)
            }
        }
        let mut output = Vec::new();
        let done = run(Broken(false), &mut output, 2, echo);
        assert!(matches!(done, Err(Error::Read(e)) if e.to_string() == "gone"));
        assert_eq!(output, b"1:a\n");
    }

    #[test]
    fn the_budget_bounds_what_is_in_flight() {
        let budget = Arc::new(Budget::new(2, 10));
        budget.take(100);
        let (sender, receiver) = mpsc::channel();
        let taker = Arc::clone(&budget);
        let thread = thread::spawn(move || {
            for size in [4, 4, 4] {
                taker.take(size);
                sender.send(taker.used.lock().map(|used| *used).unwrap()).unwrap();
            }
        });
        budget.give_back(100);
        assert_eq!([receiver.recv().unwrap(), receiver.recv().unwrap()], [(1, 4), (2, 8)]);
        budget.give_back(4);
        assert_eq!(receiver.recv().unwrap(), (2, 8));
        thread.join().unwrap();
    }
}
