//! Reads the command line. Help and version are clap's; what a command says below its options is in
//! `help`.

use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use crate::base::output::tell_stderr;

/// Parses the command line. The error is the exit code, after help, version or the mistake was shown.
pub(crate) fn parse<P: Parser>() -> Result<P, ExitCode> {
    P::try_parse().map_err(|error| {
        // A reader that has gone is no failure.
        let _ = error.print();
        let words: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
        if let Some(remedy) = remedy(&error, &words) {
            tell_stderr(format_args!("\n  tip: {remedy}"));
        }
        ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
    })
}

/// What a person may have meant, where clap cannot know.
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
                "a program stands behind --: toolgraft mcp add {} -- {}",
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
            (&["run", "Cargo.toml", "a=b"], "chat --template Cargo.toml a=b"),
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
