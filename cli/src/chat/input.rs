//! The prompt of a conversation: lines from the terminal.

use std::path::PathBuf;

use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Cmd, CompletionType, Context, Editor, Helper, KeyEvent};
use tokio::sync::oneshot;

use crate::base::Failure;
use crate::base::output;
use crate::base::state;
use crate::dialog::ask;
use crate::phrases::Phrases;
use crate::terminal::keys;

/// Lines that the history keeps.
const HISTORY: usize = 1000;

/// What somebody did at the prompt.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Typed {
    Line(String),
    /// Ctrl-C; whether something stood in the line.
    Interrupted,
    /// Ctrl-D, or the terminal has gone.
    Ended,
}

/// The prompt of a conversation: editing, history, completion of commands.
pub(super) struct Prompt {
    editor: Option<Editor<Words, FileHistory>>,
    history: Option<PathBuf>,
    say: Phrases,
}

impl Prompt {
    /// A prompt that completes what may follow.
    pub(super) fn new(following: Following, with_history: bool, say: Phrases) -> Result<Self, Failure> {
        let failed = |e: ReadlineError| Failure::job(format!("cannot read from the terminal: {e}"));
        let config = ask::config()
            .max_history_size(HISTORY)
            .map_err(failed)?
            .history_ignore_space(true)
            .completion_type(CompletionType::List)
            .build();
        let mut editor = Editor::with_config(config).map_err(failed)?;
        editor.set_helper(Some(Words(following)));
        keys::bind(&mut editor);
        editor.bind_sequence(KeyEvent::alt('\r'), Cmd::Newline);
        let history = if with_history { state::file("history") } else { None };
        if let Some(file) = &history
            && let Err(error) = editor.load_history(file)
            && file.exists()
        {
            output::warn_in(say, &say.history_unread(file.display(), error));
        }
        Ok(Prompt { editor: Some(editor), history, say })
    }

    /// Reads one line, which may hold line breaks.
    ///
    /// `ahead` stands in it from the start.
    pub(super) async fn read(&mut self, ahead: String) -> Typed {
        let Some(mut editor) = self.editor.take() else { return Typed::Ended };
        let (tell, typed) = oneshot::channel();
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
            Err(ReadlineError::Interrupted) => Typed::Interrupted,
            Err(_) => Typed::Ended,
        }
    }

    fn remember(&mut self, line: &str) {
        let Some(editor) = &mut self.editor else { return };
        let Ok(true) = editor.add_history_entry(line) else { return };
        let Some(file) = &self.history else { return };
        let folder = file.parent().map_or(Ok(()), toolgraft_mcp::files::private_folder);
        let kept = folder.map_err(ReadlineError::Io).and_then(|()| editor.append_history(file));
        if let Err(error) = kept {
            output::warn_in(self.say, &self.say.history_unwritten(file.display(), error));
            self.history = None;
        }
    }
}

/// The line without the backslashes that carried it on.
fn joined(line: &str) -> String {
    line.replace("\\\n", "\n").trim().to_owned()
}

/// The words that may stand behind these of a command's line.
pub(super) type Following = Box<dyn Fn(&[String]) -> Vec<String> + Send>;

/// The words that can be completed; also what makes a line go on.
struct Words(Following);

/// Commands behind which names of files stand.
const WITH_FILES: [&str; 2] = ["/file ", "/save "];

impl Completer for Words {
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
        let Some(before) = shlex::split(before).filter(|_| begun.starts_with('/')) else { return Ok((at, Vec::new())) };
        let mut found = (self.0)(&before);
        // The line editor shows candidates as they are.
        found.retain(|found| found.starts_with(word) && !found.contains(char::is_control));
        let pair = |display: String| {
            let replacement = shlex::try_quote(&display).map_or_else(|_| display.clone(), |word| word.into_owned());
            Pair { replacement: format!("{replacement} "), display }
        };
        Ok((from, found.into_iter().map(pair).collect()))
    }
}

impl Validator for Words {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let goes_on = context.input().ends_with('\\');
        Ok(if goes_on { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Hinter for Words {
    type Hint = String;
}

impl Highlighter for Words {}

impl Helper for Words {}

#[cfg(test)]
mod tests {
    use rustyline::history::DefaultHistory;

    use super::*;

    #[test]
    fn a_line_that_was_carried_on_keeps_its_breaks_alone() {
        assert_eq!(joined("one \\\ntwo\nthree \n"), "one \ntwo\nthree");
    }

    #[test]
    fn commands_are_completed_and_the_files_behind_some() {
        let words = Words(Box::new(|before| {
            let words: &[&str] = match before {
                [] => &["/help", "/history", "/tools"],
                [name] if name == "/tools" => &["one", "my own", "es\u{1b}cape"],
                _ => &[],
            };
            words.iter().map(|&word| word.to_owned()).collect()
        }));
        let history = DefaultHistory::new();
        let complete = |line: &str| -> Vec<String> {
            let (_, found) = words.complete(line, line.len(), &Context::new(&history)).unwrap();
            found.into_iter().map(|pair| pair.replacement).collect()
        };
        assert_eq!(complete("/h"), ["/help ", "/history "]);
        assert!(complete("h").is_empty() && complete("/help x").is_empty() && complete("/tools 'on").is_empty());
        assert_eq!(complete("/tools "), ["one ", "'my own' "]);
        assert_eq!(complete("/tools o"), ["one "]);
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("my notes.md"), "x").unwrap();
        let begun = format!("/file {}/my", folder.path().display());
        let whole = format!("{}/my\\ notes.md", folder.path().display());
        assert!(cfg!(windows) || complete(&begun) == [whole]);
        assert!(complete(&begun.replace("/file", "/tools")).is_empty());
    }
}
