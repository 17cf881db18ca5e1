//! Reads the command line. Help and version are clap's; what a command says below its options is in
//! `help`.

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
        (ErrorKind::InvalidSubcommand, [first, ..]) if !first.starts_with('-') => {
            Some(format!("to ask a model: toolgraft chat {}", quoted(&[words.join(" ")])?))
        }
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
