//! A text that a person writes in an editor of their own.

use std::path::Path;
use std::process::Command;

use crate::base::{Failure, state};
use toolgraft_files as files;

/// Opens the user's editor with this text and waits until it exits. Returns the trimmed content of the file, which only
/// the user can read and which is then deleted.
pub(crate) async fn edited(text: &str) -> Result<String, Failure> {
    let named =
        ["VISUAL", "EDITOR"].iter().filter_map(|name| std::env::var(name).ok()).find(|it| !it.trim().is_empty());
    let command = named.ok_or_else(|| {
        Failure::usage("no editor is set: `export EDITOR=nano`, for example, before `toolgraft chat`")
    })?;
    let words = shlex::split(&command).filter(|words| !words.is_empty());
    let words = words.ok_or_else(|| {
        Failure::usage(format!("the editor {command} failed: a quotation mark is not closed; no question is sent"))
    })?;
    let name = format!("question-{}.md", std::process::id());
    let file = state::file(&name)
        .ok_or_else(|| Failure::job(format!("the editor {command} failed: HOME; no question is sent")))?;
    let failed =
        |why: &dyn std::fmt::Display| Failure::job(format!("the editor {command} failed: {why}; no question is sent"));
    let before = if text.is_empty() { String::new() } else { format!("{text}\n") };
    // A file that an earlier program with this process ID has left is deleted first.
    let _ = std::fs::remove_file(&file);
    files::create(&file, before.as_bytes()).map_err(|e| failed(&e))?;
    let _goes = Goes(&file);
    let mut editor = Command::new(&words[0]);
    editor.args(&words[1..]).arg(&file);
    let status = tokio::task::spawn_blocking(move || editor.status()).await.map_err(|e| failed(&e))?;
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => return Err(failed(&status)),
        Err(e) => return Err(failed(&e)),
    }
    let written = std::fs::read(&file).map_err(|e| failed(&e))?;
    Ok(String::from_utf8(written).map_err(|e| failed(&e))?.trim().to_owned())
}

/// Guard that deletes a file when it is dropped.
struct Goes<'a>(&'a Path);

impl Drop for Goes<'_> {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(self.0);
    }
}
