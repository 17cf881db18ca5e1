//! Any bytes as a recording: reading never panics, an error names its place, and the recording
//! stays the same when it is written and read again.

#![cfg_attr(fuzzing, no_main)]

use toolgraft::transcript::import::{Format, import};
use toolgraft::transcript::{ReadError, Recording, read};

/// Longer inputs only cost the fuzzer time.
const LONGEST: usize = 16 << 10;

/// A valid first line, so that the fuzzer need not find one.
const SESSION: &[u8] = b"{\"type\":\"session\",\"toolgraft\":1}\n";

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz(data));

/// Tests one input.
pub(crate) fn fuzz(data: &[u8]) {
    let [how, data @ ..] = data else { return };
    let data = &data[..data.len().min(LONGEST)];
    let bytes = if how & 1 == 0 { data.to_vec() } else { [SESSION, data].concat() };
    match read(bytes.as_slice()) {
        Ok(recording) => is_stable(&recording),
        Err(ReadError::Io(error)) => panic!("bytes in memory cannot fail: {error}"),
        Err(error) => {
            let message = error.to_string();
            assert!(message.contains("line ") || matches!(error, ReadError::Empty), "no place: {message}");
        }
    }
    if how & 2 != 0 {
        imported(&String::from_utf8_lossy(data), if how & 4 == 0 { "a.jsonl" } else { "a" });
    }
}

/// Imports recordings of other programs, and checks that the result can be written.
fn imported(text: &str, name: &str) {
    let Ok(format) = Format::detect(text, name) else { return };
    let Ok(imported) = import(text, format) else { return };
    imported.iter().for_each(is_stable);
}

/// Checks that a written recording is read back as the same, and written with the same bytes. The
/// only note then is about an answer without an end.
fn is_stable(recording: &Recording) {
    let written = write(recording);
    let again = read(written.as_slice()).unwrap_or_else(|error| panic!("not read back: {error}\n{recording:?}"));
    let odd = again.notes.iter().find(|note| !note.text.contains("no `finish` line"));
    assert!(odd.is_none(), "written so that it is noted: {odd:?}\n{recording:?}");
    let mut kept = recording.clone();
    (kept.notes, kept.cut) = (again.notes.clone(), again.cut);
    assert_eq!(again, kept, "read back otherwise");
    assert_eq!(write(&again), written, "written otherwise");
}

fn write(recording: &Recording) -> Vec<u8> {
    let mut bytes = Vec::new();
    recording.write(&mut bytes).expect("a vector takes all bytes");
    bytes
}
