//! Reads the command line, and shows help in the user's language.
//!
//! clap's help is in English, as it stands beside each command and option; what a command says
//! below them stands in `help/en`. In Chinese the whole definition is translated before anything
//! is read: a text is cut into its paragraphs, each is looked up in `help.zh.txt` (the English on
//! a line, its Chinese on the next), and what has no entry stays English, which a test does not
//! let happen. Rows are broken here: clap measures characters, not columns, and ends a row at
//! spaces only. What is wrong with a command line is said in English.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{IsTerminal, stdout};
use std::process::ExitCode;

use clap::builder::StyledStr;
use clap::error::ErrorKind;
use clap::{Arg, Command, Parser};

use crate::base::output::{emit_stderr, emit_styled, tell_stderr};
use crate::phrases::{Phrases, pairs};
use crate::screen::{boxes::width, wrap::rows};
use crate::terminal::columns;
use toolgraft::dialect::Lang;

/// Columns of help at most: longer rows are hard to read. clap has the same.
const MOST_COLUMNS: usize = 100;

/// Fewest columns beside a head that are worth a column of text.
const LEAST_ROOM: usize = 24;

/// Headings that are clap's own. Were they set in its definition, arguments would be sorted by name.
const HEADINGS: [(&str, &str); 3] = [("Arguments:", "参数："), ("Options:", "选项："), ("Commands:", "命令：")];

/// The command line; else the exit code, once help, version or what is wrong has been shown.
pub(crate) fn parse<P: Parser>() -> Result<P, ExitCode> {
    let words: Vec<OsString> = std::env::args_os().collect();
    let is_chinese = Phrases::of_user(asked(&words)).lang() == Lang::Zh;
    let mut command = if is_chinese { in_chinese(P::command()) } else { P::command() };
    let asked_words: Vec<String> = words.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let parsed = command.try_get_matches_from_mut(words).and_then(|mut matches| P::from_arg_matches_mut(&mut matches));
    parsed.map_err(|error| {
        let error = error.format(&mut command);
        let is_help =
            matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand);
        if is_chinese && is_help {
            let columns = if stdout().is_terminal() { columns().min(MOST_COLUMNS) } else { MOST_COLUMNS };
            let shown = broken(&error.render().ansi().to_string(), columns);
            if error.use_stderr() {
                emit_stderr(shown)
            } else {
                let _ = emit_styled(&shown);
            }
        } else {
            // A reader that has gone is no failure.
            let _ = error.print();
            if let Some(remedy) = remedy(&error, &asked_words) {
                tell_stderr(format_args!("\n  tip: {remedy}"));
            }
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

/// The language of `--lang`, wherever it stands: help is shown before anything is read.
fn asked(words: &[OsString]) -> Option<Lang> {
    let mut words = words.iter().map_while(|word| word.to_str().filter(|word| *word != "--"));
    let mut asked = None;
    while let Some(word) = words.next() {
        let value = if word == "--lang" { words.next() } else { word.strip_prefix("--lang=") };
        asked = value.and_then(|value| value.parse().ok()).or(asked);
    }
    asked
}

/// English and Chinese of every paragraph and heading.
fn entries() -> impl Iterator<Item = (&'static str, &'static str)> {
    pairs(include_str!("help.zh.txt"))
}

fn in_chinese(mut command: Command) -> Command {
    // What clap adds itself (--help, --version, the command `help`) is there then, too.
    command.build();
    let known: HashMap<_, _> = entries().collect();
    translated(command, &mut |english| known.get(english).copied())
}

/// What is looked up for a paragraph or a heading.
type LookUp<'a> = dyn FnMut(&str) -> Option<&'static str> + 'a;

/// A command with all that it shows, below it too.
fn translated(mut command: Command, look_up: &mut LookUp<'_>) -> Command {
    if command.is_hide_set() {
        return command;
    }
    if let Some(about) = in_words(command.get_about(), look_up) {
        command = command.about(about);
    }
    if let Some(about) = in_words(command.get_long_about(), look_up) {
        command = command.long_about(about);
    }
    if let Some(after) = in_words(command.get_after_help(), look_up) {
        command = command.after_help(after);
    }
    let heading = command.get_styles().get_usage();
    let template = format!("{{about-with-newline}}\n{heading}用法：{heading:#}{{usage}}\n\n{{all-args}}{{after-help}}");
    command = command.help_template(template).term_width(0).mut_args(|arg| argument(arg, look_up));
    for below in command.get_subcommands_mut() {
        *below = translated(std::mem::take(below), look_up);
    }
    command
}

fn argument(mut arg: Arg, look_up: &mut LookUp<'_>) -> Arg {
    if arg.is_hide_set() {
        return arg;
    }
    let values = values(&arg);
    if let Some(help) = in_words(arg.get_help(), look_up) {
        arg = arg.help(help + &values);
    }
    if let Some(help) = in_words(arg.get_long_help(), look_up) {
        arg = arg.long_help(help + &values);
    }
    if let Some(heading) = arg.get_help_heading().and_then(look_up) {
        arg = arg.help_heading(heading);
    }
    arg.hide_default_value(true).hide_possible_values(true)
}

/// Default and possible values, which clap writes in English behind a text.
fn values(arg: &Arg) -> String {
    let mut values = String::new();
    let defaults = arg.get_default_values();
    if !arg.is_hide_default_value_set() && arg.get_action().takes_values() && !defaults.is_empty() {
        let defaults: Vec<_> = defaults.iter().map(|value| value.to_string_lossy()).collect();
        values.push_str(&format!(" [默认：{}]", defaults.join(" ")));
    }
    let possible = arg.get_possible_values();
    if !arg.is_hide_possible_values_set() && !possible.is_empty() {
        let possible: Vec<_> = possible.iter().filter(|value| !value.is_hide_set()).map(|v| v.get_name()).collect();
        values.push_str(&format!(" [可选值：{}]", possible.join("、")));
    }
    values
}

fn in_words(text: Option<&StyledStr>, look_up: &mut LookUp<'_>) -> Option<String> {
    text.map(|text| chinese(&text.to_string(), look_up))
}

/// A text, paragraph by paragraph.
fn chinese(text: &str, look_up: &mut LookUp<'_>) -> String {
    let paragraphs = text.split("\n\n").map(|paragraph| {
        // Among indented lines each is for itself; else the breaks are only those of the source.
        match paragraph.lines().any(|line| line.starts_with("  ")) {
            true => paragraph.lines().map(|line| row(line, look_up)).collect::<Vec<_>>().join("\n"),
            false => entry(&paragraph.lines().collect::<Vec<_>>().join(" "), look_up),
        }
    });
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

/// A line of its own; of an indented one what stands in a second column, unless that is data.
fn row(line: &str, look_up: &mut LookUp<'_>) -> String {
    if !line.starts_with("  ") {
        return entry(line, look_up);
    }
    match column(line) {
        Some(at) if !line[at..].starts_with(['{', '"']) => line[..at].to_owned() + &entry(&line[at..], look_up),
        _ => line.to_owned(),
    }
}

fn entry(english: &str, look_up: &mut LookUp<'_>) -> String {
    look_up(english).unwrap_or(english).to_owned()
}

/// Where the second column of an indented line begins: behind two spaces at least.
fn column(line: &str) -> Option<usize> {
    let indent = line.len() - line.trim_start().len();
    let gap = indent + line[indent..].find("  ")?;
    let begins = gap + line[gap..].find(|c| c != ' ')?;
    (indent > 0).then_some(begins)
}

/// Help in rows of so many columns. What goes on stands below where its text began; a heading
/// has the colon of its language.
fn broken(help: &str, columns: usize) -> String {
    let mut text = String::new();
    for styled in help.split_inclusive('\n') {
        let styled = styled.trim_end_matches('\n');
        let plain = anstream::adapter::strip_str(styled).to_string();
        let own = HEADINGS.iter().find(|(english, _)| *english == plain);
        let is_heading = own.is_some() || !plain.starts_with(' ') && plain.ends_with(':') && !plain.is_ascii();
        let styled = match own {
            Some((english, chinese)) => styled.replacen(english, chinese, 1),
            None if is_heading => styled.replacen(':', "：", 1),
            None => styled.to_owned(),
        };
        let at = column(&plain).unwrap_or(plain.len() - plain.trim_start().len());
        let words = &plain[at..];
        let indent = width(&plain[..at]);
        match styled.strip_suffix(words) {
            // A command that is broken could not be copied.
            Some(head) if columns >= indent + LEAST_ROOM && !is_heading && !plain.is_ascii() => {
                let rows: Vec<_> = rows(words, columns - indent).into_iter().map(str::trim_end).collect();
                text.push_str(head);
                text.push_str(&rows.join(&format!("\n{:indent$}", "")));
            }
            _ => text.push_str(&styled),
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory;
    use regex::Regex;

    use super::*;
    use crate::Cli;

    fn shown(command: &mut Command, long: bool, columns: usize) -> String {
        let help = if long { command.render_long_help() } else { command.render_help() };
        broken(&help.ansi().to_string(), columns)
    }

    /// A command and all below it that are shown, each by its whole name.
    fn all(command: &Command) -> Vec<Command> {
        let below = command.get_subcommands().filter(|below| !below.is_hide_set() && below.get_name() != "help");
        [command.clone()].into_iter().chain(below.flat_map(all)).collect()
    }

    #[test]
    fn every_text_of_every_command_is_there_in_chinese_and_no_entry_is_for_nothing() {
        let mut command = Cli::command();
        command.build();
        let (mut missing, mut used) = (BTreeSet::new(), BTreeSet::new());
        translated(command, &mut |english| {
            let found = entries().find(|(known, _)| *known == english);
            match found {
                Some((known, _)) => used.insert(known),
                None => missing.insert(english.to_owned()),
            };
            found.map(|(_, chinese)| chinese)
        });
        assert!(missing.is_empty(), "without Chinese: {missing:#?}");
        let unused: Vec<_> = entries().map(|(english, _)| english).filter(|entry| !used.contains(entry)).collect();
        assert!(unused.is_empty(), "nothing has this text: {unused:#?}");
        assert_eq!(used.len(), entries().count(), "an entry is there twice");
    }

    #[test]
    fn what_is_typed_stands_in_the_chinese_as_it_is() {
        // Flags, what stands between backticks, names in capitals, paths, numbers, words with an underscore.
        let typed = Regex::new(r"`[^`]+`|--[a-z-]+|[A-Z]+_[A-Z_]+|\b(?:FILE|NAME|SERVER|TOOL|FROM|REASON)\b|[~.$]?/[\w./-]*\w|\d[\d.]*\d|\d|[a-z]+_[a-z_]+").unwrap();
        let ideograph = |c: char| matches!(c, '\u{3400}'..='\u{9fff}');
        for (english, chinese) in entries() {
            assert!(chinese.chars().any(ideograph), "{chinese:?} is not Chinese");
            assert!(!english.chars().any(ideograph), "{english:?} is not English");
            for code in typed.find_iter(english).map(|found| found.as_str()) {
                assert!(chinese.contains(code), "{code} of {english:?} is not in {chinese:?}");
            }
            assert!(!chinese.contains([',', ';']) || english.contains([',', ';']), "{chinese:?} has English marks");
        }
    }

    #[test]
    fn rows_fit_and_headings_stand_in_their_order() {
        let english =
            Regex::new("(?m)^(Usage|Commands|Arguments|Options|Examples|Exit codes)|\\[default|\\[possible").unwrap();
        for mut command in all(&in_chinese(Cli::command())) {
            let name = command.get_name().to_owned();
            for (long, columns) in [false, true].into_iter().flat_map(|long| [60, 80, 100].map(|c| (long, c))) {
                let text = anstream::adapter::strip_str(&shown(&mut command, long, columns)).to_string();
                assert!(!english.is_match(&text), "{name}: {text}");
                let place = |heading: &str| text.find(&format!("\n{heading}：\n"));
                assert!(text.contains("\n用法：") && place("选项").is_some(), "{name}: {text}");
                assert!(place("参数") < place("选项"), "{name}: {text}");
                // What is typed is broken nowhere.
                let wide = text.lines().filter(|line| width(line) > columns && !line.is_ascii());
                let wide = wide.filter(|line| columns >= column(line).unwrap_or(0) + LEAST_ROOM);
                let wide: Vec<_> = wide.filter(|line| !line.starts_with("用法")).collect();
                assert!(wide.is_empty(), "{name} at {columns}: {wide:#?}");
            }
        }
    }

    #[test]
    fn a_row_goes_on_below_the_text_that_it_is_of() {
        let help = "用法：x\n\nOptions:\n  -q, --quiet  只显示回答、询问和警告，其余一概不显示，也不写入任何文件\n";
        assert_eq!(
            broken(help, 50),
            "用法：x\n\n选项：\n  -q, --quiet  只显示回答、询问和警告，其余一概不\n               显示，也不写入任何文件\n"
        );
        let long = "      --plain\n          按模型写出的原文显示回答；否则终端上会渲染其中的 Markdown\n";
        assert_eq!(broken(long, 40).lines().nth(2), Some("          终端上会渲染其中的 Markdown"));
    }

    #[test]
    fn lang_is_read_wherever_it_stands() {
        for (line, lang) in [
            ("toolgraft chat --lang zh --help", Some(Lang::Zh)),
            ("toolgraft chat --help --lang=en", Some(Lang::En)),
            ("toolgraft mcp add x -- program --lang zh", None),
            ("toolgraft chat --lang", None),
            ("toolgraft chat --lang xx --help", None),
        ] {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            assert_eq!(asked(&words), lang, "{line}");
        }
    }
}
