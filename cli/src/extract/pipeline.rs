//! Blocks of lines through worker threads, and out again in order.
//!
//! The reader and the workers are threads of their own and not joined: a
//! reader may wait for input for ever when nobody wants the output any more.

use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::sync::{Arc, Mutex};
use std::thread;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::blocks::{Block, Blocks, MAX_LINE};
use super::record::write_error;
use crate::base::lock;

/// Maximum number of input bytes being processed at once; a single block may be larger.
const MAX_BYTES: usize = 32 << 20;

/// Maximum number of blocks being processed at once, per worker.
const BLOCKS_PER_WORKER: usize = 8;

/// Numbers of lines that were read, without blank lines, and of those that are not valid records.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) lines: u64,
    pub(super) bad: u64,
}

/// The reason that the pipeline ended early.
#[derive(Debug)]
pub(super) enum Error {
    Read(io::Error),
    Write(io::Error),
}

/// The output of a processed block. Its bytes count towards the limit until this value is dropped.
struct Done {
    output: Vec<u8>,
    counts: Counts,
    _in_flight: OwnedSemaphorePermit,
}

/// A block to process, its share of the limit on bytes, and the channel for its output.
type RecordTask = (Block, OwnedSemaphorePermit, Sender<Done>);

/// Processes every line of `input` on worker threads and writes the outputs in the order of the input.
///
/// `worker` creates one function per thread, which gets a line, its number and a buffer to which it appends an output
/// line; it returns `true` if the line was valid.
pub(super) fn run<R, W, M>(input: R, output: &mut impl Write, jobs: usize, worker: M) -> Result<Counts, Error>
where
    R: Read + Send + 'static,
    M: Fn() -> W + Send + Clone + 'static,
    W: FnMut(&[u8], u64, &mut Vec<u8>) -> bool,
{
    let (to_workers, tasks) = mpsc::channel();
    let (to_writer, outputs) = mpsc::sync_channel(jobs * BLOCKS_PER_WORKER);
    let reading = thread::spawn(move || read(Blocks::new(input, MAX_LINE), &to_workers, &to_writer));
    let tasks = Arc::new(Mutex::new(tasks));
    for _ in 0..jobs {
        let (tasks, worker) = (Arc::clone(&tasks), worker.clone());
        thread::spawn(move || work(&tasks, &worker));
    }
    let counts = write(&outputs, output)?;
    // All outputs have come, so the reader has ended: nothing else ends them.
    match reading.join() {
        Ok(Err(error)) => Err(Error::Read(error)),
        Ok(Ok(())) => Ok(counts),
        // Lines are missing in the output, so this must not look like its end.
        Err(panic) => resume_unwind(panic),
    }
}

/// Sends blocks to the workers while the limit on bytes allows it. The writer gets the channels of their outputs in the
/// order of the input.
fn read<R: Read>(
    mut blocks: Blocks<R>,
    to_workers: &Sender<RecordTask>,
    to_writer: &SyncSender<Receiver<Done>>,
) -> io::Result<()> {
    let (room, waiting) = (Arc::new(Semaphore::new(MAX_BYTES)), tokio::runtime::Builder::new_current_thread().build()?);
    while let Some(block) = blocks.next()? {
        // A block that is larger than the limit goes alone; asked for in full, the permit would never
        // come.
        let taken = room.clone().acquire_many_owned(size(&block).min(MAX_BYTES) as u32);
        let taken = waiting.block_on(taken).map_err(io::Error::other)?;
        let (done, output) = mpsc::channel();
        // The writer first: its channel is the bounded one, and it gets the outputs in the order of the
        // input.
        if to_writer.send(output).is_err() || to_workers.send((block, taken, done)).is_err() {
            break;
        }
    }
    Ok(())
}

fn size(block: &Block) -> usize {
    block.lines.as_ref().map_or(0, Vec::len)
}

fn work<M, W>(tasks: &Mutex<Receiver<RecordTask>>, worker: &M)
where
    M: Fn() -> W,
    W: FnMut(&[u8], u64, &mut Vec<u8>) -> bool,
{
    let mut line = worker();
    loop {
        let next = lock(tasks).recv();
        let Ok((block, permit, to_writer)) = next else { return };
        // What comes out is mostly about as long as what went in.
        let output = Vec::with_capacity(size(&block));
        let mut done = Done { output, counts: Counts::default(), _in_flight: permit };
        each_line(&block, |text, number| {
            let start = done.output.len();
            let valid = catch_unwind(AssertUnwindSafe(|| line(text, number, &mut done.output)));
            done.counts.lines += 1;
            done.counts.bad += u64::from(!matches!(valid, Ok(true)));
            if valid.is_err() {
                // A fault of ours costs one record, and the part of its output that is there.
                done.output.truncate(start);
                write_error("internal error", number, &mut done.output);
                // A panic may have left the old one half-way through a line.
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

/// Calls a function for every non-blank line of a block, with its line number.
fn each_line(block: &Block, mut give: impl FnMut(&[u8], u64)) {
    let lines = block.lines.as_deref().unwrap_or_default();
    let mut start = 0;
    let ends = memchr::memchr_iter(b'\n', lines).chain([lines.len()]);
    let lines = ends.map(|end| &lines[std::mem::replace(&mut start, end + 1)..end]);
    for (number, text) in (block.first..).zip(lines) {
        // An editor may begin the file with a byte order mark.
        let text = if number == 1 { text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text) } else { text };
        if !text.trim_ascii().is_empty() {
            give(text, number);
        }
    }
}

/// Writes the outputs of the blocks in the order of the input.
fn write(outputs: &Receiver<Receiver<Done>>, output: &mut impl Write) -> Result<Counts, Error> {
    let mut counts = Counts::default();
    while let Some(block) = next(outputs, output)? {
        let Some(done) = next(&block, output)? else { break };
        output.write_all(&done.output).map_err(Error::Write)?;
        counts.lines += done.counts.lines;
        counts.bad += done.counts.bad;
    }
    Ok(counts)
}

/// Receives the next item; `None` if the channel is closed. Before it waits, the output is flushed so that its reader
/// sees what was written.
fn next<T>(from: &Receiver<T>, output: &mut impl Write) -> Result<Option<T>, Error> {
    if let Ok(next) = from.try_recv() {
        return Ok(Some(next));
    }
    output.flush().map_err(Error::Write)?;
    Ok(from.recv().ok())
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
    #[should_panic(expected = "told to")]
    fn a_panic_of_the_reader_is_not_the_end_of_the_input() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                panic!("told to");
            }
        }
        let _ = run(Broken, &mut Vec::new(), 2, echo);
    }

    #[test]
    fn what_is_in_flight_is_bounded() {
        use std::sync::atomic::{AtomicUsize, Ordering};

        /// A reader of long lines that counts the bytes read.
        struct Lines(Arc<AtomicUsize>);
        impl Read for Lines {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let read = self.0.fetch_add(buffer.len(), Ordering::Relaxed);
                buffer.fill(b'x');
                buffer[0] = b'\n';
                Ok(if read > 2 * MAX_BYTES { 0 } else { buffer.len() })
            }
        }
        /// A writer that delays its first write and records how much input was read by then.
        struct Slow(Arc<AtomicUsize>, Option<usize>);
        impl Write for Slow {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                if self.1.is_none() {
                    thread::sleep(std::time::Duration::from_millis(500));
                    self.1 = Some(self.0.load(Ordering::Relaxed));
                }
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let read = Arc::<AtomicUsize>::default();
        let mut output = Slow(read.clone(), None);
        run(Lines(read.clone()), &mut output, 100, || |_: &[u8], _, out: &mut Vec<u8>| out.write_all(b"x").is_ok())
            .unwrap();
        assert!(output.1.unwrap() < MAX_BYTES + MAX_BYTES / 4 && read.load(Ordering::Relaxed) > 2 * MAX_BYTES);
    }
}
