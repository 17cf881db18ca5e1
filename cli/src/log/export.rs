//! A conversation for other programs and for people: Markdown, JSON, or a page.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::spent;
use crate::base::{Failure, media::check_place, output};
use crate::labels::{self, capitalised};
use crate::replay;
use crate::screen::full_name;
use crate::sessions::{Kept, Store, saved::outcome_of};
use toolgraft::Conversation;
use toolgraft::conversation::{Assistant, HistoryCall, HistoryEntry};
use toolgraft_files as files;

/// Options of `toolgraft log export`.
#[derive(Debug, clap::Args)]
pub(super) struct ExportArgs {
    /// The beginning of its id
    id: String,

    /// Format to write [default: by the file's name, else markdown]
    #[arg(long = "as", value_name = "FORMAT")]
    format: Option<Format>,

    /// File to write to, instead of standard output; nothing is written over
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    Markdown,
    // What `chat --resume` reads.
    Json,
    Page,
}

impl Format {
    /// Returns the export format for the extension of a file name; `or` is added to the error as an alternative.
    fn of(file: &Path, or: &str) -> Result<Self, Failure> {
        match file.extension().map(|extension| extension.to_str().unwrap_or_default()) {
            None | Some("md" | "markdown" | "txt") => Ok(Format::Markdown),
            Some("json") => Ok(Format::Json),
            Some("html" | "htm") => Ok(Format::Page),
            Some(_) => Err(Failure::usage(format!(
                "{}: no format has this ending: use .md, .json or .html{or}",
                file.display()
            ))),
        }
    }
}

/// Runs `toolgraft log export`.
pub(super) fn export(store: &Store, args: &ExportArgs) -> Result<(), Failure> {
    if let Some(file) = &args.output {
        check_place("--output", file)?;
    }
    let kept = store.find(&args.id)?.kept;
    let Some(file) = &args.output else {
        return output::emit(&text_of(&kept, args.format.unwrap_or(Format::Markdown))?);
    };
    let format = args.format.map_or_else(|| Format::of(file, ", or name the format with --as"), Ok)?;
    write(&kept, format, file)?;
    output::note(&format!("the conversation is in {}", file.display()));
    Ok(())
}

/// Writes a conversation to a new file, in the format that its extension determines.
pub(crate) fn save(kept: &Kept, file: &Path) -> Result<(), Failure> {
    check_place("/save", file)?;
    write(kept, Format::of(file, "")?, file)
}

fn write(kept: &Kept, format: Format, file: &Path) -> Result<(), Failure> {
    let failed = |e: io::Error| Failure::job(format!("cannot write {}: {e}", file.display()));
    files::create(file, text_of(kept, format)?.as_bytes()).map_err(failed)
}

fn text_of(kept: &Kept, format: Format) -> Result<String, Failure> {
    match format {
        Format::Markdown => Ok(markdown(kept)),
        Format::Json => Ok(serde_json::to_string_pretty(&kept.saved).map_err(Failure::job)? + "\n"),
        Format::Page => page(kept, &[]).map_err(Failure::job),
    }
}

/// Returns a conversation as an HTML page, with these links above it, each an address and its text.
pub(crate) fn page(kept: &Kept, links: &[(&str, &str)]) -> io::Result<String> {
    let about = about(links, facts(kept));
    replay::page(&kept.id, &kept.saved.recording(), about, false)
}

/// Returns the data for the header of a page: links, each an address and its text, and facts.
pub(crate) fn about(links: &[(&str, &str)], facts: Vec<(&str, String)>) -> Value {
    json!({ "links": links, "facts": facts, "fault": null, "refresh": null })
}

/// Returns the facts for the header of a page: the time of the last message, and the tokens if known.
fn facts(kept: &Kept) -> Vec<(&'static str, String)> {
    let mut facts = vec![("Last word", httpdate::fmt_http_date(kept.used))];
    facts.extend(kept.saved.usage.map(|usage| ("Tokens", spent::full(usage))));
    facts
}

pub(super) fn markdown(kept: &Kept) -> String {
    let model = kept.saved.model.as_deref().unwrap_or("Model");
    let mut text = format!("# {}\n\n- Model: {model}\n", kept.saved.title());
    for (label, value) in facts(kept) {
        text.push_str(&format!("- {label}: {value}\n"));
    }
    for entry in kept.saved.conversation.entries() {
        match entry {
            HistoryEntry::User(said) => text.push_str(&format!("\n## User\n\n{}\n", said.shown().trim())),
            HistoryEntry::Assistant(message) => {
                text.push_str(&format!("\n## {model}\n"));
                answer(&mut text, message, &kept.saved.conversation);
            }
            HistoryEntry::Note { text: note } => text.push_str(&block("Note", "text", note)),
            // Each outcome is written after its call.
            _ => {}
        }
    }
    text
}

fn answer(text: &mut String, message: &Assistant, conversation: &Conversation) {
    if !message.reasoning.trim().is_empty() {
        text.push_str(&block(&capitalised("reasoning"), "text", &message.reasoning));
    }
    let content = message.content();
    if !content.trim().is_empty() {
        text.push_str(&format!("\n{}\n", content.trim()));
    }
    for called in message.calls() {
        let HistoryCall { call, id, .. } = called;
        let name = full_name(call.server.as_deref(), &call.tool);
        let arguments = serde_json::to_string_pretty(&call.arguments).unwrap_or_default();
        text.push_str(&block(&format!("{}: {name}", capitalised("call")), "json", &arguments));
        if let Some(outcome) = outcome_of(conversation, id) {
            text.push_str(&block(&capitalised(labels::status(outcome.status)), "text", &outcome.said()));
        }
    }
}

/// Returns Markdown of a label followed by a verbatim text, in a code fence that is longer than any run of backticks in
/// it.
fn block(label: &str, language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    format!("\n**{label}**\n\n{fence}{language}\n{}\n{fence}\n", text.trim_matches('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cannot_end_its_fence() {
        assert_eq!(block("Result", "text", "a ```b\n"), "\n**Result**\n\n````text\na ```b\n````\n");
        assert_eq!(block("Result", "text", ""), "\n**Result**\n\n```text\n\n```\n");
    }
}
