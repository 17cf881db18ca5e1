//! The database of the conversations: SQLite. Nobody else knows SQL.
//!
//! A value is one connection. Each change is one transaction that waits for those of other
//! programs, so two that write at once both have written. What is deleted is overwritten.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Row, Transaction, TransactionBehavior, params};
use serde::Serialize;

use super::kept::Listed;
use crate::sessions::saved::{Saved, questions};
use toolgraft_files::{self as files, Lock};

/// Version of the tables, stored as the database's `user_version`.
const VERSION: i64 = 1;

/// SQL that creates the tables. `used` is in nanoseconds since 1970; `said` contains the text to search, in a table of
/// its own so that lists need not read it.
const TABLES: &str = "
CREATE TABLE conversations (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    used INTEGER NOT NULL,
    model TEXT,
    questions INTEGER NOT NULL,
    title TEXT NOT NULL,
    usage TEXT,
    saved TEXT NOT NULL
) STRICT;
CREATE INDEX latest ON conversations (used);
CREATE TABLE said (n INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
PRAGMA user_version = 1;
";

/// Maximum time to wait for another process's transaction.
const PATIENCE: Duration = Duration::from_secs(30);

/// A connection to the SQLite database of conversations.
pub(super) struct Database {
    connection: Connection,
    path: PathBuf,
}

impl Database {
    /// Opens the database, and creates it if it does not exist. Only its owner may read it.
    ///
    /// # Errors
    /// The database cannot be opened, is damaged, or was created by a newer toolgraft.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        path.parent()
            .map_or(Ok(()), files::private_folder)
            .and_then(|()| files::append(path))
            .map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", path.display())))?;
        // SQLite gives the files beside it the mode of this one.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(|e| failed(path, e))?;
        let mut database = Database { connection, path: path.to_owned() };
        database.set_up().map_err(|e| failed(path, e))?;
        match database.version().map_err(|e| failed(path, e))? {
            VERSION => Ok(database),
            other => Err(io::Error::other(format!(
                "{}: format {other}; this program reads {VERSION}: use a newer toolgraft",
                path.display()
            ))),
        }
    }

    /// Opens the database, or an empty one in memory if it does not exist.
    pub(super) fn read(path: &Path) -> io::Result<Self> {
        if path.exists() {
            return Database::open(path);
        }
        let empty = || {
            let mut database = Database { connection: Connection::open_in_memory()?, path: path.to_owned() };
            database.make().map(|()| database)
        };
        empty().map_err(|e| failed(path, e))
    }

    fn set_up(&mut self) -> rusqlite::Result<()> {
        self.connection.busy_timeout(PATIENCE)?;
        self.connection.execute_batch("PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY")?;
        if self.version()? != 0 {
            return Ok(());
        }
        // SQLite does not wait where two programs change the journal's mode at once.
        let _lock = Lock::wait(&self.path.with_extension("lock")).ok();
        if self.version()? != 0 {
            return Ok(());
        }
        self.connection.execute_batch("PRAGMA journal_mode = WAL")?;
        self.make()
    }

    /// Creates the tables.
    fn make(&mut self) -> rusqlite::Result<()> {
        let change = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        change.execute_batch(TABLES)?;
        change.commit()
    }

    fn version(&self) -> rusqlite::Result<i64> {
        self.connection.pragma_query_value(None, "user_version", |row| row.get(0))
    }

    /// Runs a change in one transaction, which is rolled back on an error.
    fn change<T>(&mut self, change: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>) -> io::Result<T> {
        let in_one = || {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = change(&transaction)?;
            transaction.commit().map(|()| done)
        };
        in_one().map_err(|e| failed(&self.path, e))
    }

    /// Saves a conversation, in place of an earlier version with this id.
    pub(super) fn put(&mut self, id: &str, used: SystemTime, saved: &Saved) -> io::Result<()> {
        self.change(|transaction| put(transaction, id, used, saved))
    }

    /// Returns the time at which a conversation was last written, and its JSON text; `None` if there is none with this
    /// id.
    pub(super) fn get(&self, id: &str) -> io::Result<Option<(SystemTime, String)>> {
        one_of(&self.connection, id).map_err(|e| failed(&self.path, e))
    }

    /// Returns the ids of all conversations, each with the time at which it was last written.
    pub(super) fn ids(&self) -> io::Result<Vec<(String, SystemTime)>> {
        let ids = || -> rusqlite::Result<Vec<_>> {
            let mut all = self.connection.prepare("SELECT id, used FROM conversations")?;
            all.query_map([], |row| Ok((row.get(0)?, time(row.get(1)?))))?.collect()
        };
        ids().map_err(|e| failed(&self.path, e))
    }

    /// Returns the conversations that contain all of these words, the latest first.
    pub(super) fn list(&self, words: &[String]) -> io::Result<Vec<Listed>> {
        self.listed(words).map_err(|e| failed(&self.path, e))
    }

    fn listed(&self, words: &[String]) -> rusqlite::Result<Vec<Listed>> {
        let (text, table) = match words {
            [] => ("''", "conversations"),
            _ => ("text", "conversations JOIN said ON said.rowid = conversations.n"),
        };
        let mut all = self.connection.prepare(&format!(
            "SELECT id, used, model, questions, title, usage, octet_length(saved), {text} FROM {table} \
             ORDER BY used DESC, conversations.n DESC"
        ))?;
        // Compared here and not by SQLite, which folds the case of ASCII letters alone.
        let words: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
        let mut found = Vec::new();
        let mut rows = all.query([])?;
        while let Some(row) = rows.next()? {
            let text: String = row.get(7)?;
            if has_all(&text, &words) {
                let mut one = listed(row)?;
                one.hit = hit(&one.title, &text, &words);
                found.push(one);
            }
        }
        Ok(found)
    }

    /// Deletes those of the conversations for which `may` returns `true`; returns the ids of the deleted ones.
    pub(super) fn remove(&mut self, ids: &[String], may: impl Fn(&str) -> bool) -> io::Result<Vec<String>> {
        self.change(|transaction| {
            let mut gone = Vec::new();
            for id in ids.iter().filter(|id| may(id)) {
                let is_gone = transaction.execute("DELETE FROM conversations WHERE id = ?1", [id])? > 0;
                gone.extend(is_gone.then(|| id.clone()));
            }
            transaction.execute("DELETE FROM said WHERE rowid NOT IN (SELECT n FROM conversations)", [])?;
            Ok(gone)
        })
    }

    /// Shrinks the file by the space of deleted conversations, unless another process uses the database.
    pub(super) fn shrink(&self) {
        let _ = self.connection.execute_batch("VACUUM");
    }
}

fn put(transaction: &Transaction<'_>, id: &str, used: SystemTime, saved: &Saved) -> rusqlite::Result<()> {
    let usage = saved.usage.as_ref().map(text_of).transpose()?;
    let kept = text_of(saved.for_store().as_ref())?;
    let n: i64 = transaction.query_row(
        "INSERT INTO conversations (id, used, model, questions, title, usage, saved) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (id) DO UPDATE SET used = excluded.used, model = excluded.model,
             questions = excluded.questions, title = excluded.title, usage = excluded.usage, saved = excluded.saved
         RETURNING n",
        params![id, nanoseconds(used), saved.model, questions(&saved.conversation) as i64, saved.title(), usage, kept],
        |row| row.get(0),
    )?;
    transaction.execute("DELETE FROM said WHERE rowid = ?1", [n])?;
    transaction.execute("INSERT INTO said (rowid, text) VALUES (?1, ?2)", params![n, saved.text()])?;
    Ok(())
}

fn one_of(connection: &Connection, id: &str) -> rusqlite::Result<Option<(SystemTime, String)>> {
    let one = "SELECT used, saved FROM conversations WHERE id = ?1";
    connection.query_row(one, [id], |row| Ok((time(row.get(0)?), row.get(1)?))).optional()
}

fn listed(row: &Row<'_>) -> rusqlite::Result<Listed> {
    Ok(Listed {
        id: row.get(0)?,
        used: time(row.get(1)?),
        model: row.get(2)?,
        questions: usize::try_from(row.get::<_, i64>(3)?).unwrap_or_default(),
        title: row.get(4)?,
        usage: row.get::<_, Option<String>>(5)?.and_then(|text| serde_json::from_str(&text).ok()),
        bytes: u64::try_from(row.get::<_, i64>(6)?).unwrap_or_default(),
        hit: None,
    })
}

fn text_of(value: &impl Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|e| rusqlite::Error::ToSqlConversionFailure(Box::new(e)))
}

fn has_all(text: &str, words: &[String]) -> bool {
    let text = text.to_lowercase();
    words.iter().all(|word| text.contains(word.as_str()))
}

/// Returns the first line that contains a searched word missing in the title, and that word; `None` if the title
/// contains all words.
fn hit(title: &str, text: &str, words: &[String]) -> Option<(String, String)> {
    let title = title.to_lowercase();
    let word = words.iter().find(|word| !title.contains(*word))?;
    let line = text.lines().find(|line| line.to_lowercase().contains(word))?;
    Some((line.to_owned(), word.clone()))
}

fn nanoseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

fn time(nanoseconds: i64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or_default())
}

/// Returns an I/O error with the database's path, and a remedy if there is one.
fn failed(path: &Path, error: rusqlite::Error) -> io::Error {
    let remedy: &dyn Display = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            &": move the file away, and a new one is created; `sqlite3 FILE .recover` reads the rest of it"
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => &": another program writes to it: try again",
        _ => &"",
    };
    io::Error::other(format!("{}: {error}{remedy}", path.display()))
}
