//! Reads the command line. Help and version are clap's; what a command says below its options is in
//! `help`.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, Command, Parser};

use crate::base::{output::tell_stderr, words::near};
use crate::settings::key_names;
use crate::settings::set_args::{is_key, keys_text};

/// Parses the command line. The error is the exit code, after the help, version or error message was printed.
pub(crate) fn parse<P: Parser>() -> Result<P, ExitCode> {
    parsed::<P>(std::env::args_os().collect()).map_err(|mut error| {
        let words: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
        as_option(&mut error, &words);
        let remedy = match error.kind() {
            ErrorKind::InvalidSubcommand => other_command(&mut error, &words),
            ErrorKind::UnknownArgument => other_option(&mut error, of(P::command()), &words),
            _ => None,
        };
        // A reader that has gone is no failure.
        let _ = error.print();
        if let Some(remedy) = remedy {
            tell_stderr(format_args!("\n  tip: {remedy}"));
        }
        ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
    })
}

/// Parses the words of a command line, which begin with the program's name.
pub(crate) fn parsed<P: Parser>(mut words: Vec<OsString>) -> Result<P, clap::Error> {
    loop {
        match of(P::command()).try_get_matches_from(&words) {
            Err(error) => match as_set(&error, &words) {
                Some(set) => words = set,
                None => return Err(error),
            },
            Ok(matches) => return P::from_arg_matches(&matches),
        }
    }
}

/// Returns the command line with an unknown option that is a settings key replaced by `--set KEY=VALUE`; `None` if it
/// is none.
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
    let (value, after) = match own {
        Some(value) => (value, at + 1),
        None => (words.get(at + 1)?.to_str()?.to_owned(), at + 2),
    };
    let set = [OsString::from("--set"), format!("{key}={value}").into()];
    is_key(&key).then(|| [&words[..at], &set, &words[after..]].concat())
}

/// Changes the error for an invalid settings value to name the option that the user typed instead of `--set`.
fn as_option(error: &mut clap::Error, words: &[String]) {
    let value = error.get(ContextKind::InvalidValue).map(ToString::to_string).unwrap_or_default();
    let Some((key, value)) = value.split_once('=').filter(|_| error.kind() == ErrorKind::ValueValidation) else {
        return;
    };
    let option = format!("--{}", key.replace('_', "-"));
    if words.iter().any(|word| word.split('=').next() == Some(&option)) {
        error.insert(ContextKind::InvalidArg, ContextValue::String(option));
        error.insert(ContextKind::InvalidValue, ContextValue::String(value.to_owned()));
    }
}

/// Adds two kinds of help to the command: `--help`, with examples and the most important options, and `--help-all`.
/// Only the latter contains the text after the options.
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

/// Names of the commands with the option `--set`.
const HAVE_SET: [&str; 8] = ["chat", "up", "serve", "launch", "probe", "replay", "extract", "prompt"];

/// Template of the help: description, examples, usage, options.
const TEMPLATE: &str = "{about-with-newline}\n{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";

fn quoted(words: &[String]) -> Option<String> {
    shlex::try_join(words.iter().map(String::as_str)).ok()
}

/// Returns a suggestion for an unknown command that another program or an earlier version has, or that is a question;
/// clap's own suggestion is then removed.
fn other_command(error: &mut clap::Error, words: &[String]) -> Option<String> {
    let word = error.get(ContextKind::InvalidSubcommand)?.to_string();
    let at = words.iter().position(|other| *other == word)?;
    let (before, rest) = (&words[..at], &words[at + 1..]);
    if let Some(command) = here(before, &word, rest) {
        error.remove(ContextKind::SuggestedSubcommand);
        return Some(format!("here that is: toolgraft {}", quoted(&command)?));
    }
    // A word alone that is like a command is that; several may be a question.
    let is_question = before.is_empty() && (!rest.is_empty() || error.get(ContextKind::SuggestedSubcommand).is_none());
    if is_question { Some(format!("to ask a model: toolgraft chat {}", quoted(&[words.join(" ")])?)) } else { None }
}

/// Returns the command that corresponds to one of another program (`ollama run MODEL`) or of an earlier version.
fn here(before: &[String], word: &str, rest: &[String]) -> Option<Vec<String>> {
    let before: Vec<&str> = before.iter().map(String::as_str).collect();
    let (begin, takes_rest): (&[&str], bool) = match (before.as_slice(), word) {
        ([], "tools" | "call" | "read" | "get") => (&["mcp", word], true),
        ([], "doctor") => (&["probe", "--diagnose"], true),
        // A template is a file; any other word is a model, as in `ollama run MODEL`.
        ([], "run") if rest.first().is_some_and(|file| Path::new(file).exists()) => (&["chat", "--template"], true),
        ([], "run") if rest.is_empty() => (&["chat"], true),
        ([], "run") => (&["chat", "--model"], true),
        ([], "logs" | "history" | "sessions") => (&["log"], true),
        // What is listed there is all that there is here.
        ([], "list" | "ls" | "ps") => (&["models"], false),
        (["config"], "get" | "list" | "ls") => (&["config", "show"], false),
        (["config"], "edit") => (&["config", "path"], false),
        (["log"], "delete" | "rm") => (&["log", "remove"], true),
        (["mcp"], "delete" | "rm") => (&["mcp", "remove"], true),
        _ => return None,
    };
    let rest = if takes_rest { rest } else { &[] };
    Some(begin.iter().map(|&word| word.to_owned()).chain(rest.iter().cloned()).collect())
}

/// Options of other programs, for a command of this one, each with advice on the equivalent.
const OTHERS: [(&[&str], &[&str], &str); 8] = [
    (
        &["mcp", "add"],
        &["--transport", "-t"],
        "a URL needs no option (--type sse for the older transport), and a program is given after --",
    ),
    (&["mcp", "add"], &["-e"], "here that is --env NAME=VALUE"),
    (&["mcp", "add"], &["-H"], "here that is --header 'NAME: VALUE'"),
    (&["mcp", "add"], &["-s", "--scope"], "all servers are yours alone; --mcp-config FILE names another file"),
    (&["chat"], &["-p", "--print"], "the question needs no option: toolgraft chat QUESTION"),
    (&["chat"], &["-r"], "here that is --continue=ID"),
    (&[], &["--url", "--api-base"], "here that is --base-url URL"),
    (&[], &["--verbose", "-v"], "chat --trace FILE writes down what goes over the wire"),
];

/// Returns a suggestion for an unknown option, in place of clap's, which knows neither settings keys nor the options of
/// other programs.
fn other_option(error: &mut clap::Error, mut command: Command, words: &[String]) -> Option<String> {
    let option = error.get(ContextKind::InvalidArg)?.to_string();
    [ContextKind::Suggested, ContextKind::SuggestedArg].iter().for_each(|kind| drop(error.remove(*kind)));
    command.build();
    let (mut command, mut path) = (&mut command, Vec::new());
    for word in words {
        if command.find_subcommand(word).is_none() {
            break;
        }
        path.push(word.as_str());
        command = command.find_subcommand_mut(word)?;
    }
    error.insert(ContextKind::Usage, ContextValue::StyledStr(command.render_usage()));
    // `mcp add files npx -y PACKAGE`, where `-y` is the program's. With a `--`, a URL, or an option
    // before the program, the mistake is another one.
    if path == ["mcp", "add"]
        && let [name, program @ ..] = &words[path.len()..]
        && program.len() > 1
        && !program.iter().any(|word| word == "--" || word.contains("://"))
        && !name.starts_with('-')
        && !program[0].starts_with('-')
    {
        let (name, program) = (quoted(std::slice::from_ref(name))?, quoted(program)?);
        return Some(format!("a program is given after --: toolgraft mcp add {name} -- {program}"));
    }
    let is_meant = |others: &[&str]| others.contains(&option.as_str());
    let of_other = OTHERS.iter().find(|(place, others, _)| path.starts_with(place) && is_meant(others));
    if let Some((.., tip)) = of_other {
        return Some((*tip).to_owned());
    }
    if path == ["mcp", "call"] {
        let at = words.iter().position(|word| word.split('=').next() == Some(&option))?;
        let name = words[at].trim_start_matches('-');
        let value = words.get(at + 1).filter(|_| !name.contains('='));
        let argument = [name.to_owned()].into_iter().chain(value.cloned()).collect::<Vec<_>>().join("=");
        return Some(format!("an argument of the tool needs no dashes: {}", quoted(&[argument])?));
    }
    let name = option.strip_prefix("--")?;
    let keys = path.first().filter(|first| HAVE_SET.contains(first)).map_or_else(Vec::new, |_| key_names().collect());
    let own = command
        .get_arguments()
        .filter_map(Arg::get_long)
        .filter(|own| !matches!(*own, "help" | "help-all" | "version"));
    let known: Vec<String> = own.map(str::to_owned).chain(keys.iter().map(|key| key.replace('_', "-"))).collect();
    near(name, known.iter().map(String::as_str)).map(|near| format!("a similar option exists: --{near}"))
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
            (&["config", "get", "model"], "config show"),
            (&["config", "edit"], "config path"),
            (&["log", "delete", "3f9a"], "log remove 3f9a"),
            (&["mcp", "rm", "time"], "mcp remove time"),
        ] {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            let at = usize::from(matches!(words[0].as_str(), "config" | "log" | "mcp"));
            let found = here(&words[..at], &words[at], &words[at + 1..]).unwrap();
            assert_eq!(shlex::try_join(found.iter().map(String::as_str)).unwrap(), command);
        }
        assert_eq!(here(&[], "Hello", &[]), None);
    }
}
