//! Lines from the terminal at a prompt, one after the other: those of a conversation, or commands.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::{FileHistory, SearchDirection};
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Cmd, CompletionType, Context, Editor, Helper, KeyEvent};
use tokio::sync::oneshot;

use crate::base::{Failure, lock, output, state};
use crate::dialog::ask;
use crate::terminal::keys;

/// Maximum number of lines in the history.
const HISTORY: usize = 1000;

/// The result of reading a line at the prompt.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    Line(String),
    /// Ctrl-C on an empty line.
    Interrupted,
    /// Ctrl-C on a line with text, which is discarded.
    Dropped,
    /// Ctrl-D, or the terminal was closed.
    Ended,
}

/// A line editor with history and completion.
pub(crate) struct Prompt {
    editor: Option<Editor<Completion, FileHistory>>,
    /// The line being edited, shared with the completion.
    line: Arc<Mutex<Edited>>,
    history: Option<PathBuf>,
}

impl Prompt {
    /// Creates a line editor; with `keeps_history`, lines are saved in the history file.
    pub(crate) fn new(following: Following, keeps_history: bool) -> Result<Self, Failure> {
        let failed = |e: ReadlineError| Failure::job(format!("cannot read from the terminal: {e}"));
        let config = ask::config()
            .max_history_size(HISTORY)
            .map_err(failed)?
            .history_ignore_space(true)
            .completion_type(CompletionType::List)
            .build();
        let mut editor = Editor::with_config(config).map_err(failed)?;
        let line = Arc::<Mutex<Edited>>::default();
        editor.set_helper(Some(Completion { following, line: line.clone() }));
        keys::bind(&mut editor);
        editor.bind_sequence(KeyEvent::alt('\r'), Cmd::Newline);
        let history = keeps_history.then(|| state::file("history")).flatten();
        if let Some(file) = &history
            && let Err(error) = editor.load_history(file)
            // Before the first line was typed there is no file, which is no problem.
            && file.exists()
        {
            output::warn(&format!("the history {} cannot be read: {error}", file.display()));
        }
        Ok(Prompt { editor: Some(editor), line, history })
    }

    /// Reads one line from the terminal, which may contain line breaks.
    ///
    /// The line initially contains the text `ahead`.
    pub(crate) async fn read(&mut self, ahead: String) -> Typed {
        let Some(mut editor) = self.editor.take() else { return Typed::Ended };
        let (tell, typed) = oneshot::channel();
        *lock(&self.line) = Edited { text: ahead.clone(), pasted: Vec::new() };
        std::thread::spawn(move || {
            let line = editor.readline_with_initial("> ", (&ahead, ""));
            let _ = tell.send((editor, line));
        });
        let Ok((editor, line)) = typed.await else { return Typed::Ended };
        self.editor = Some(editor);
        match line {
            Ok(line) => {
                self.remember(&line);
                Typed::Line(joined(&line))
            }
            Err(ReadlineError::Interrupted) if !lock(&self.line).text.is_empty() => Typed::Dropped,
            Err(ReadlineError::Interrupted) => Typed::Interrupted,
            Err(_) => Typed::Ended,
        }
    }

    /// Returns the texts that were pasted into the last line.
    pub(crate) fn take_pasted(&mut self) -> Vec<String> {
        std::mem::take(&mut lock(&self.line).pasted)
    }

    fn remember(&mut self, line: &str) {
        let Some(editor) = &mut self.editor else { return };
        // `false`: the line begins with a space, or is the one before again.
        let Ok(true) = editor.add_history_entry(line) else { return };
        let Some(file) = &self.history else { return };
        let folder = file.parent().map_or(Ok(()), toolgraft_files::private_folder);
        let kept = folder.map_err(ReadlineError::Io).and_then(|()| editor.append_history(file));
        if let Err(error) = kept {
            output::warn(&format!("the history {} cannot be written: {error}", file.display()));
            self.history = None;
        }
    }
}

/// Removes from a line the backslashes that continued it, and trims it.
fn joined(line: &str) -> String {
    line.replace("\\\n", "\n").trim().to_owned()
}

/// Function that returns completions: the first argument has the complete words before the cursor, the second the
/// incomplete one.
pub(crate) type Following = Box<dyn Fn(&[String], &str) -> Vec<String> + Send>;

/// Completion for the line editor, which also decides whether a line continues.
struct Completion {
    following: Following,
    /// The line being edited, updated at each change.
    line: Arc<Mutex<Edited>>,
}

/// Commands whose arguments are file names.
const WITH_FILES: [&str; 2] = ["/file ", "/save "];

/// The line being edited, and the texts pasted into it.
#[derive(Debug, Default)]
struct Edited {
    text: String,
    pasted: Vec<String>,
}

impl Edited {
    /// Updates the line after a change that left the cursor at byte offset `at`. Several characters inserted at once
    /// are a paste, unless `is_known` tells that the line is from the history.
    fn take(&mut self, line: &str, at: usize, is_known: impl FnOnce() -> bool) {
        // A key types one character, of at most four bytes.
        if let Some(text) = inserted(&self.text, line, at).filter(|text| text.len() > char::MAX.len_utf8())
            && !is_known()
        {
            self.pasted.push(joined(text));
        }
        line.clone_into(&mut self.text);
    }
}

/// Returns the text that was inserted before the cursor; `None` if the line was changed in another way.
fn inserted<'l>(before: &str, line: &'l str, at: usize) -> Option<&'l str> {
    let from = at.checked_sub(line.len().checked_sub(before.len())?)?;
    let is_same = line.get(..from)? == before.get(..from)? && line.get(at..)? == before.get(from..)?;
    is_same.then(|| &line[from..at])
}

impl Completer for Completion {
    type Candidate = Pair;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let begun = &line[..at];
        if WITH_FILES.iter().any(|command| begun.starts_with(command)) {
            let (from, mut files) = FilenameCompleter::new().complete_path(line, at)?;
            // The line editor shows candidates as they are.
            files.retain(|file| !file.display.contains(char::is_control));
            return Ok((from, files));
        }
        let from = begun.rfind(' ').map_or(0, |space| space + 1);
        let (before, word) = begun.split_at(from);
        // In quotation marks that are open nothing is completed.
        let is_command = begun.starts_with('/');
        let is_mention = !is_command && word.starts_with('@');
        let before = if is_mention { Some(Vec::new()) } else { shlex::split(before) };
        let Some(before) = before.filter(|_| is_mention || is_command) else {
            return Ok((at, Vec::new()));
        };
        let mut found = (self.following)(&before, word);
        // The line editor shows candidates as they are.
        found.retain(|found| found.starts_with(word) && !found.contains(char::is_control));
        let pair = |display: String| {
            let replacement = quoted(&display);
            // A value follows its name at once, and a URI goes on.
            let replacement = if display.ends_with(['=', ':', '/']) { replacement } else { format!("{replacement} ") };
            Pair { replacement, display }
        };
        Ok((from, found.into_iter().map(pair).collect()))
    }
}

/// Returns a completed word, quoted only if it would otherwise be parsed differently.
fn quoted(word: &str) -> String {
    let is_plain = !word.is_empty()
        && !word.starts_with('#')
        && !word.contains(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '\\'));
    // It also quotes what only a shell expands, such as `*` and `$`.
    match shlex::try_quote(word) {
        Ok(quoted) if !is_plain => quoted.into_owned(),
        _ => word.to_owned(),
    }
}

impl Validator for Completion {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let goes_on = context.input().ends_with('\\');
        Ok(if goes_on { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Hinter for Completion {
    type Hint = String;

    /// Returns no hint; the call is used to track changes of the line.
    fn hint(&self, line: &str, at: usize, context: &Context<'_>) -> Option<String> {
        let history = context.history();
        let is_known = || {
            (0..history.len()).any(|n| {
                let entry = history.get(n, SearchDirection::Forward);
                entry.is_ok_and(|found| found.is_some_and(|found| found.entry == line))
            })
        };
        lock(&self.line).take(line, at, is_known);
        None
    }
}

impl Highlighter for Completion {}

impl Helper for Completion {}

#[cfg(test)]
mod tests {
    use rustyline::history::DefaultHistory;

    use super::*;

    #[test]
    fn what_is_added_at_once_is_a_paste_and_what_the_history_brings_is_none() {
        let mut edited = Edited::default();
        for (line, at, is_known) in [
            ("W", 1, false),
            ("Why", 3, false),
            ("Why one\ntwo", 11, false),
            ("Why one\ntwo", 0, false),
            ("three Why one\ntwo", 6, false),
            // Typed, deleted, and another line of the history.
            ("three Why one\ntwo?", 18, false),
            ("three Why one", 13, false),
            ("a line of before", 16, true),
        ] {
            edited.take(line, at, || is_known);
        }
        assert_eq!(edited.pasted, ["one\ntwo", "three"]);
    }

    #[test]
    fn a_line_that_was_carried_on_keeps_its_breaks_alone() {
        assert_eq!(joined("one \\\ntwo\nthree \n"), "one \ntwo\nthree");
    }

    #[test]
    fn commands_are_completed_and_the_files_after_some() {
        let following: Following = Box::new(|before, _| {
            let words: &[&str] = match before {
                [] => &["/help", "/history", "/tools", "@demo:", "@demo:demo://cities"],
                [name] if name == "/tools" => &["one", "my own", "es\u{1b}cape", "city=", "city=Oslo"],
                _ => &[],
            };
            words.iter().map(|&word| word.to_owned()).collect()
        });
        let words = Completion { following, line: Arc::default() };
        let history = DefaultHistory::new();
        let complete = |line: &str| -> Vec<String> {
            let (_, found) = words.complete(line, line.len(), &Context::new(&history)).unwrap();
            found.into_iter().map(|pair| pair.replacement).collect()
        };
        assert_eq!(complete("/h"), ["/help ", "/history "]);
        assert!(complete("h").is_empty() && complete("/help x").is_empty() && complete("/tools 'on").is_empty());
        assert_eq!(complete("/tools "), ["one ", "'my own' ", "city=", "city=Oslo "]);
        assert_eq!(complete("/tools o"), ["one "]);
        assert_eq!(complete("what's in @d"), ["@demo:", "@demo:demo://cities "]);
        assert!(complete("/tools @d").is_empty() && complete("me@d").is_empty());
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("my notes.md"), "x").unwrap();
        let begun = format!("/file {}/my", folder.path().display());
        let whole = format!("{}/my\\ notes.md", folder.path().display());
        assert!(cfg!(windows) || complete(&begun) == [whole]);
        assert!(complete(&begun.replace("/file", "/tools")).is_empty());
    }
}
