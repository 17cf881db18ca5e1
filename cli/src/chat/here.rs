//! `/set` and `/allow`: what holds for this conversation and the next ones in this folder.

use serde_json::{Value, json};

use super::session::Session;
use crate::base::Failure;
use crate::screen::{DIM, excerpt::names as shown_names, visible::word};
use crate::servers::permissions::dotted;
use crate::settings::changeable_keys;

/// The option of `/set` and `/allow` that removes a setting.
const FORGET: &str = "--forget";

/// Returns `true` if a saved pattern is the one that the user typed; a bare tool name matches that of any server.
fn is_meant(kept: &str, glob: &str) -> bool {
    let (kept, glob) = (dotted(kept), dotted(glob));
    kept == glob || !glob.contains(['.', '/']) && kept.split_once('.').is_some_and(|(_, tools)| tools == glob)
}

/// Returns the words that complete a `/set` command after these words.
pub(super) fn following_set(words: &[String]) -> Vec<String> {
    let keys = || changeable_keys().into_iter().map(str::to_owned);
    match words {
        [] => keys().chain([FORGET.to_owned()]).collect(),
        [forget] if forget == FORGET => keys().collect(),
        _ => Vec::new(),
    }
}

impl Session {
    /// Runs `/set`: shows the settings of the working directory, sets a key or removes one.
    pub(super) fn set(&mut self, words: &[&str]) -> Result<(), Failure> {
        match *words {
            [] => {
                let text = self.set_here()?;
                self.note(DIM, text.as_deref().unwrap_or("none of these keys is set for this folder"))
            }
            [forget, key] if forget == FORGET => {
                let mut was = None;
                self.talk.folder.change(|values| was = values.shift_remove(key))?;
                match was {
                    Some(_) => self.note_forgotten(&word(key)),
                    None => Err(Failure::usage("none of these keys is set for this folder")),
                }
            }
            [pair] if pair.contains('=') => {
                let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
                self.set(&[key, value])
            }
            [key, value] => {
                let value = self.talk.set(key, value)?;
                self.front.display().show_as(&self.talk.args.settings);
                self.note(DIM, &format!("{key} = {}, for this folder", word(&value.to_string())))
            }
            _ => Err(Failure::usage(
                "/set takes nothing, or a key and its value, or --forget and a key; put a value with spaces in \
                 quotation marks",
            )),
        }
    }

    /// Runs `/allow`: shows the tools allowed in the working directory, allows tools, or removes permissions.
    pub(super) fn allow(&mut self, words: &[&str]) -> Result<(), Failure> {
        match words {
            [] => {
                let globs = self.talk.folder.settings()?.allow;
                let globs: Vec<String> = globs.iter().map(|glob| dotted(glob)).collect();
                let text =
                    if globs.is_empty() { "nothing is allowed for this folder".to_owned() } else { globs.join("\n") };
                self.note(DIM, &text)
            }
            [forget, globs @ ..] if *forget == FORGET => {
                self.disallow(&globs.iter().map(|&glob| glob.to_owned()).collect::<Vec<_>>())
            }
            globs => {
                let patterns =
                    globs.iter().map(|glob| self.talk.approvals.meant(glob)).collect::<Result<Vec<_>, _>>()?;
                self.talk.approvals.allow(&patterns);
                self.talk.renew()?;
                self.note(DIM, &format!("run without a question in this folder: {}", shown_names(&patterns)))?;
                self.change_allowed(&patterns, &patterns)
            }
        }
    }

    /// Returns the settings of the working directory, a line for each key; `None` if there are none.
    pub(super) fn set_here(&self) -> Result<Option<String>, Failure> {
        let values = self.talk.folder.settings()?.values();
        let lines: Vec<String> = values.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        Ok((!lines.is_empty()).then(|| lines.join("\n")))
    }

    /// Removes patterns from those allowed for the working directory. The current conversation keeps its permissions.
    fn disallow(&mut self, globs: &[String]) -> Result<(), Failure> {
        let allowed = self.talk.folder.settings()?.allow;
        if let Some(unknown) = globs.iter().find(|glob| !allowed.iter().any(|kept| is_meant(kept, glob))) {
            return Err(Failure::usage(format!(
                "{} is not allowed for this folder; /allow lists the tools that are",
                word(unknown)
            )));
        }
        self.change_allowed(globs, &[])?;
        self.note_forgotten(&shown_names(globs))
    }

    /// Removes patterns from those allowed for the working directory, and appends others.
    fn change_allowed(&self, out: &[String], to_the_end: &[String]) -> Result<(), Failure> {
        self.talk.folder.change(|values| {
            let allowed = values.get("allow").and_then(Value::as_array).into_iter().flatten();
            let allowed = allowed.filter_map(Value::as_str).filter(|kept| !out.iter().any(|gone| is_meant(kept, gone)));
            let allowed: Vec<&str> = allowed.chain(to_the_end.iter().map(String::as_str)).collect();
            let allowed = json!(allowed);
            values.insert("allow".to_owned(), allowed);
        })
    }

    fn note_forgotten(&mut self, what: &str) -> Result<(), Failure> {
        self.note(DIM, &format!("forgotten for this folder, from the next conversation on: {what}"))
    }
}
