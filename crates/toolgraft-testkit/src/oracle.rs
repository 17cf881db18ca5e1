//! The oracle: digests of the parser's events for a text, compared with recorded ones.
//!
//! While [`laws::check`](crate::laws::check) parses a text one character at a time, a digest is
//! computed of every event and the number of bytes that had arrived. `fixtures/oracle` has the
//! digests of the fixtures, of texts of other engines and of the texts of the fuzz targets. A text
//! with another digest is parsed differently than before. An intended difference is a named rule:
//! its rows have the rule's name, and the head of the table explains the rule and names the test
//! that shows it.
//!
//! A revision of earlier events counts by its effect on the message, not by the events that report
//! it. The wording of rejections does not count.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;

use toolgraft::Event;
use toolgraft::event::Collector;

thread_local! {
    /// The digest of all streams recorded on this thread since the last reset.
    static DIGEST: Cell<u64> = const { Cell::new(OFFSET) };
    /// `true` while the events of a stream are added to the digest.
    static IS_RECORDING: Cell<bool> = const { Cell::new(false) };
    /// `true` if an event revised earlier events since the message was last added to the digest.
    static IS_REVISED: Cell<bool> = const { Cell::new(false) };
}

/// Initial value of the 64-bit hash FNV-1a; the prime after it is its multiplier.
const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

fn add(bytes: &[u8]) {
    let mut digest = DIGEST.get();
    for byte in bytes.iter().chain(&[0xff]) {
        digest = (digest ^ u64::from(*byte)).wrapping_mul(PRIME);
    }
    DIGEST.set(digest);
}

/// Adds the events of the stream that is parsed in `run` to the digest.
pub(crate) fn record<T>(run: impl FnOnce() -> T) -> T {
    IS_RECORDING.set(true);
    IS_REVISED.set(false);
    let ran = run();
    IS_RECORDING.set(false);
    ran
}

/// Adds an event of the parser to the digest. `pushed` is the number of bytes that the parser had got, and `message`
/// the message before the event.
pub(crate) fn event(event: &Event<'_>, pushed: usize, message: &Collector) {
    if !IS_RECORDING.get() {
        return;
    }
    let (kind, text, about) = match event {
        Event::Text { text, .. } => ("text", *text, String::new()),
        Event::Reasoning { text, syntax, .. } => ("reasoning", *text, format!("{syntax:?}")),
        Event::Marker { kind, text, .. } => ("marker", *text, format!("{kind:?}")),
        Event::CallStart { index, server, tool, .. } => ("start", *tool, format!("{index} {server:?}")),
        Event::ArgsDelta { index, text, .. } => ("delta", *text, index.to_string()),
        Event::CallEnd { index, raw, restated, .. } => ("end", *raw, format!("{index} {restated}")),
        _ => return IS_REVISED.set(true),
    };
    if IS_REVISED.take() {
        add_message(message);
    }
    add(kind.as_bytes());
    add(text.as_bytes());
    add(about.as_bytes());
    add(&pushed.to_le_bytes());
    if let Event::CallEnd { result, .. } = event {
        let mut result = result.as_ref().clone();
        if let Err(rejected) = &mut result {
            rejected.message.clear();
        }
        add_json(&result);
    }
}

/// Adds the message at the end of its stream to the digest.
pub(crate) fn end(message: &Collector) {
    if IS_RECORDING.get() {
        add_message(message);
    }
}

fn add_message(message: &Collector) {
    let message = message.clone().finish();
    add(message.content.as_bytes());
    add(message.reasoning.as_bytes());
    add(&[u8::from(message.answer_in_reasoning)]);
    for mut entry in message.entries {
        if let Err(rejected) = &mut entry.result {
            rejected.message.clear();
        }
        add_json(&entry);
    }
}

fn add_json(value: &impl serde::Serialize) {
    add(&serde_json::to_vec(value).expect("events can be written"));
}

/// Resets the digest of this thread.
pub fn reset() {
    DIGEST.set(OFFSET);
}

/// Returns the digest of the streams recorded on this thread since the last [`reset`].
pub fn digest() -> u64 {
    DIGEST.get()
}

/// Returns the digest of a text, which is its key in a table.
pub fn digest_of(text: &[u8]) -> u64 {
    let recorded = DIGEST.replace(OFFSET);
    add(text);
    DIGEST.replace(recorded)
}

/// A table of `fixtures/oracle`: its head, and its rows by key.
struct Table {
    head: String,
    rows: BTreeMap<String, Row>,
}

struct Row {
    digest: String,
    rule: String,
}

static TABLES: Mutex<BTreeMap<String, Table>> = Mutex::new(BTreeMap::new());

/// Name of the environment variable with which new digests are written to the tables: its value is the name of the
/// rule for new differences, or `begin` for new texts.
const UPDATE: &str = "ORACLE";

fn path(table: &str) -> PathBuf {
    crate::root().join(format!("fixtures/oracle/{table}.txt"))
}

impl Table {
    fn read(name: &str) -> Table {
        let text = fs::read_to_string(path(name)).unwrap_or_default();
        let (head, rows): (Vec<_>, Vec<_>) = text.lines().partition(|line| line.starts_with('#'));
        let head: String = head.iter().map(|line| format!("{line}\n")).collect();
        let row = |line: &str| {
            let mut parts = line.split(' ');
            let (digest, key) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
            let rule = parts.next().unwrap_or_default().to_owned();
            assert!(rule.is_empty() || head.contains(&format!("# {rule}: ")), "{name}: what is the rule `{rule}`?");
            (key.to_owned(), Row { digest: digest.to_owned(), rule })
        };
        let rows = rows.into_iter().map(row).collect();
        Table { head, rows }
    }

    fn write(&self, name: &str) {
        let row = |(key, Row { digest, rule }): (&String, &Row)| {
            format!("{digest} {key} {rule}").trim_end().to_owned() + "\n"
        };
        let rows: String = self.rows.iter().map(row).collect();
        fs::write(path(name), format!("{}{rows}", self.head)).expect("the table can be written");
    }
}

/// Compares a digest with the one recorded in a table. A text that is not in the table is new and always accepted.
///
/// # Errors
/// Fails if the digests differ.
pub fn compare(table: &str, key: &str, digest: u64) -> Result<(), String> {
    let found = format!("{:08x}", digest >> 32 ^ digest & 0xffff_ffff);
    let mut tables = TABLES.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let known = tables.entry(table.to_owned()).or_insert_with(|| Table::read(table));
    let recorded = known.rows.get(key).map(|row| row.digest.clone());
    match (recorded, std::env::var(UPDATE)) {
        (Some(recorded), _) if recorded == found => Ok(()),
        (Some(_), Ok(rule)) => {
            known.rows.insert(key.to_owned(), Row { digest: found, rule });
            known.write(table);
            Ok(())
        }
        (None, Ok(rule)) if rule == "begin" => {
            known.rows.insert(key.to_owned(), Row { digest: found, rule: String::new() });
            known.write(table);
            Ok(())
        }
        (None, _) => Ok(()),
        (Some(recorded), _) => Err(format!(
            "the events of `{key}` are not those of fixtures/oracle/{table}.txt ({recorded}): {found}\n\
             An intended difference is recorded with {UPDATE}=RULE; the table's head says what the rule is."
        )),
    }
}

/// Returns the keys of a table whose texts no longer exist.
pub fn stale(table: &str, keys: &BTreeSet<String>) -> Vec<String> {
    Table::read(table).rows.into_keys().filter(|key| !keys.contains(key)).collect()
}
