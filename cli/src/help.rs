//! Reads the command line. Help and version are clap's; what a command says below its options is in
//! `help`.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::error::{ContextKind, ErrorKind};
use clap::{Arg, ArgAction, Command, Parser};

use crate::base::output::tell_stderr;
use crate::settings::set_args::{is_key, keys_text};

/// Parses the command line. The error is the exit code, after help, version or the mistake was shown.
pub(crate) fn parse<P: Parser>() -> Result<P, ExitCode> {
    let mut words: Vec<OsString> = std::env::args_os().collect();
    let parsed = loop {
        match of(P::command()).try_get_matches_from(&words) {
            Err(error) => match as_set(&error, &words) {
                Some(set) => words = set,
                None => break Err(error),
            },
            Ok(matches) => break P::from_arg_matches(&matches),
        }
    };
    parsed.map_err(|error| {
        // A reader that has gone is no failure.
        let _ = error.print();
        let words: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
        if let Some(remedy) = remedy(&error, &words) {
            tell_stderr(format_args!("\n  tip: {remedy}"));
        }
        ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
    })
}

/// The command line with an option that a command lacks, and that is a key of `--set`, as that: whoever knows a
/// key may write it as an option.
fn as_set(error: &clap::Error, words: &[OsString]) -> Option<Vec<OsString>> {
    if error.kind() != ErrorKind::UnknownArgument
        || !words.get(1).is_some_and(|word| HAVE_SET.iter().any(|command| word == command))
    {
        return None;
    }
    let option = error.get(ContextKind::InvalidArg)?.to_string();
    let option = option.split('=').next()?;
    let key = option.strip_prefix("--")?.replace('-', "_");
    let at = words.iter().position(|word| word.to_str().is_some_and(|word| word.split('=').next() == Some(option)))?;
    let own = words[at].to_str()?.split_once('=').map(|(_, value)| value.to_owned());
    let (value, behind) = match own {
        Some(value) => (value, at + 1),
        None => (words.get(at + 1)?.to_str()?.to_owned(), at + 2),
    };
    let set = [OsString::from("--set"), format!("{key}={value}").into()];
    is_key(&key).then(|| [&words[..at], &set, &words[behind..]].concat())
}

/// The command with two helps: `--help`, which begins with examples, has what is needed most and fits on one screen,
/// and `--help-all`. Of what a command says below its options the former has the examples alone.
pub(crate) fn of(command: Command) -> Command {
    let short = Arg::new("help").short('h').long("help").action(ArgAction::HelpShort).help_heading("Help");
    let long = Arg::new("help-all").long("help-all").action(ArgAction::HelpLong).help_heading("Help");
    let command = command
        .disable_help_flag(true)
        .arg(short.help("Print the most important options"))
        .arg(long.help("Print all options, with details"))
        .help_template(TEMPLATE);
    let said = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (examples, rest): (Vec<&str>, Vec<&str>) = said.split("\n\n").partition(|part| part.starts_with("Examples:"));
    let command = match examples.first() {
        Some(&examples) => {
            let keys =
                if command.get_arguments().any(|arg| arg.get_id() == "set") { keys_text() } else { String::new() };
            let more = "--help-all lists further options, and explains all of them.";
            let rest = [&rest[..], &[keys.as_str()]].concat().join("\n\n");
            command.before_help(examples.to_owned()).after_help(more).after_long_help(rest)
        }
        None => command,
    };
    command.mut_subcommands(of)
}

/// Commands that set keys.
const HAVE_SET: [&str; 8] = ["chat", "up", "serve", "launch", "probe", "replay", "extract", "prompt"];

/// About, examples, usage, options.
const TEMPLATE: &str = "{about-with-newline}\n{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";

/// Suggests the command that the user may have meant, where clap cannot know.
fn remedy(error: &clap::Error, words: &[String]) -> Option<String> {
    let quoted = |words: &[String]| shlex::try_join(words.iter().map(String::as_str)).ok();
    match (error.kind(), words) {
        (ErrorKind::InvalidSubcommand, [first, rest @ ..]) if !first.starts_with('-') => match here(first, rest) {
            Some(command) => Some(format!("here that is: toolgraft {}", quoted(&command)?)),
            None => Some(format!("to ask a model: toolgraft chat {}", quoted(&[words.join(" ")])?)),
        },
        (ErrorKind::UnknownArgument, [mcp, add, name, program @ ..])
            if (mcp.as_str(), add.as_str()) == ("mcp", "add")
                && program.len() > 1
                && !program.iter().any(|word| word == "--")
                && !name.starts_with('-')
                && !program[0].starts_with('-') =>
        {
            Some(format!(
                "a program is given after --: toolgraft mcp add {} -- {}",
                quoted(std::slice::from_ref(name))?,
                quoted(program)?
            ))
        }
        _ => None,
    }
}

/// The command for a word that another program has for it (`ollama run MODEL`), or that this one had.
fn here(word: &str, rest: &[String]) -> Option<Vec<String>> {
    let begin: &[&str] = match word {
        "tools" | "call" | "read" | "get" => &["mcp", word],
        "doctor" => &["probe", "--diagnose"],
        "run" if rest.first().is_some_and(|file| Path::new(file).exists()) => &["chat", "--template"],
        "run" if rest.is_empty() => &["chat"],
        "run" => &["chat", "--model"],
        "logs" | "history" | "sessions" => &["log"],
        // What is listed there is all that there is here.
        "list" | "ls" | "ps" => return Some(vec!["models".to_owned()]),
        _ => return None,
    };
    Some(begin.iter().map(|&word| word.to_owned()).chain(rest.iter().cloned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_another_program_is_answered_with_the_command_for_it() {
        for (words, command) in [
            (&["run", "qwen3:8b", "Hello there"][..], "chat --model qwen3:8b 'Hello there'"),
            (&["run", "Cargo.toml", "a=b"], "chat --template Cargo.toml 'a=b'"),
            (&["run"], "chat"),
            (&["list"], "models"),
            (&["call", "time", "now"], "mcp call time now"),
            (&["doctor", "http://h/v1"], "probe --diagnose http://h/v1"),
        ] {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            let found = here(&words[0], &words[1..]).unwrap();
            assert_eq!(shlex::try_join(found.iter().map(String::as_str)).unwrap(), command);
        }
        assert_eq!(here("Hello", &[]), None);
    }
}
