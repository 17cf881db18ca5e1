//! What the READMEs say is so, and both say the same.

#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use toolgraft::assemble::Assembled;
use toolgraft::call::RejectedKind;
use toolgraft::catalog::Catalog;
use toolgraft::dialect::{Dialect, DialectSet};
use toolgraft::parse::{Config, parse};
use toolgraft::reasoning::{ReasoningCalls, ReasoningMode};
use toolgraft::tool::Tool;

fn read(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

fn toolgraft(args: &[&str]) -> String {
    let out = Command::new(env!("CARGO_BIN_EXE_toolgraft")).args(args).env_clear().output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

/// Fenced blocks: language and text.
fn blocks(text: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let body: Vec<_> = lines.by_ref().take_while(|l| *l != "```").collect();
            blocks.push((language.to_owned(), body.join("\n")));
        }
    }
    blocks
}

/// Text with every time (`2.3 ms`) made the same.
fn without_times(text: &str) -> String {
    let times = regex::Regex::new(r"\d+(\.\d+)? m?s\b").unwrap();
    times.replace_all(text, "T").into_owned()
}

#[test]
fn the_demo_prints_what_the_readmes_show() {
    for (name, args) in [("README.md", &["demo"][..]), ("README.zh-CN.md", &["demo", "--lang", "zh"])] {
        let text = read(name);
        let (_, shown) = blocks(&text).into_iter().find(|(language, _)| language == "console").unwrap();
        let (command, shown) = shown.split_once('\n').unwrap();
        assert_eq!(command, format!("$ toolgraft {}", args.join(" ")));
        assert_eq!(without_times(shown.trim_end()), without_times(toolgraft(args).trim_end()), "{name}");
    }
}

/// Cells of the table of `text` whose header begins with `header`, row by row.
fn rows<'t>(text: &'t str, header: &str) -> Vec<Vec<&'t str>> {
    let rows =
        text.lines().skip_while(|line| !line.starts_with(header)).skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| row.trim_matches('|').split(" | ").map(str::trim).collect()).collect()
}

/// The text that an example stands for.
fn example(literal: &str) -> String {
    const DEEP: usize = 121;
    let nested = format!("{}{}", "[".repeat(DEEP), "]".repeat(DEEP));
    let call = r#"{"name": "f", "arguments": {}}"#;
    literal.replace("{…}", call).replace("[…]", &nested).replace('↵', "\n").replace("\\|", "|")
}

fn parsed(text: &str, config: Config) -> Assembled {
    let tools = [("f", "a"), ("g", "b")].map(|(name, parameter)| {
        let schema = format!(r#"{{"type": "object", "properties": {{"{parameter}": {{}}}}}}"#);
        Tool { input_schema: serde_json::from_str(&schema).unwrap(), ..Tool::new(name) }
    });
    parse(text, Config { catalog: Some(Arc::new(Catalog::from_tools(tools))), ..config })
}

/// What becomes of a text's only call.
fn becomes(text: &str, config: Config) -> String {
    let message = parsed(text, config);
    let rejected: Vec<_> = message.rejected().map(|rejected| rejected.kind).collect();
    let calls: Vec<_> = message.calls().collect();
    match (&calls[..], &rejected[..]) {
        ([call], []) if call.repairs.is_empty() => "call".to_owned(),
        ([call], []) => format!("call, repair `{}`", call.repairs[0]),
        ([], [RejectedKind::InReasoning]) => "draft".to_owned(),
        ([], [RejectedKind::Quoted]) => "example".to_owned(),
        ([], [kind]) => format!("`{kind}`"),
        ([], []) => "text".to_owned(),
        found => panic!("{text}: {found:?}"),
    }
}

/// Checks the rows of a table against one configuration for each column behind the first.
fn assert_becomes(header: &str, count: usize, configs: [Config; 3]) {
    let readme = read("README.md");
    let rows = rows(&readme, header);
    assert_eq!(rows.len(), count, "{header}");
    for row in rows {
        let literal = row[0].split('`').nth(1).unwrap_or_else(|| panic!("no example: {row:?}"));
        assert_eq!(row.len(), 4, "{row:?}");
        for (cell, config) in row[1..].iter().zip(&configs) {
            // "draft; a call, after approval, if nothing else came": here nothing else did.
            let promoted = cell.contains("call, after approval");
            let expected = if promoted { "call" } else { cell.trim_end_matches(", not run") };
            let text = example(literal);
            assert_eq!(becomes(&text, config.clone()), expected, "{config:?}: {row:?}");
            let needs_approval = parsed(&text, config.clone()).entries.iter().any(|entry| entry.promoted);
            assert_eq!(needs_approval, promoted, "{config:?}: {row:?}");
        }
    }
}

#[test]
fn calls_become_what_the_table_of_policies_says() {
    let policies = [ReasoningCalls::Ignore, ReasoningCalls::LastResort, ReasoningCalls::Allow];
    let configs = policies.map(|reasoning_calls| Config { reasoning_calls, ..Config::default() });
    assert_becomes("| where, for example |", 13, configs);
}

#[test]
fn calls_become_what_the_table_of_modes_says() {
    let modes = [ReasoningMode::Auto, ReasoningMode::Open, ReasoningMode::Off];
    let configs = modes.map(|reasoning| Config { reasoning, ..Config::default() });
    assert_becomes("| text, for example |", 4, configs);
}

#[test]
fn every_example_of_a_dialect_is_a_call_of_that_dialect() {
    let readme = read("README.md");
    let rows: Vec<_> = ["| dialect | written as | for |", "| dialect | written as |\n"]
        .into_iter()
        .flat_map(|header| rows(&readme[readme.find(header).unwrap()..], header.trim_end()))
        .collect();
    assert_eq!(rows.len(), Dialect::ALL.len());
    for row in rows {
        let dialect: Dialect = row[0].trim_matches('`').parse().unwrap();
        // Behind the examples stand remarks.
        let literals: Vec<_> = row[1].split("`; ").next().unwrap().split('`').skip(1).step_by(2).collect();
        assert!(!literals.is_empty(), "{row:?}");
        for literal in literals {
            let dialects = DialectSet::NONE.with(dialect);
            let message = parsed(&example(literal), Config { dialects, ..Config::default() });
            assert!(message.calls().count() > 0, "{literal}: {message:?}");
            assert!(message.content.is_empty() && message.rejected().count() == 0, "{literal}: {message:?}");
        }
    }
}

/// What must be the same in every language: headings, tables, links, code.
fn shape(text: &str) -> Vec<String> {
    let code =
        blocks(text).into_iter().filter(|(language, _)| language != "console").map(|(l, body)| format!("{l}\n{body}"));
    let outside: Vec<&str> = text.split("```").step_by(2).collect();
    let outside = outside.join("\n");
    let headings = outside.lines().filter(|l| l.starts_with('#')).map(|l| l.split(' ').next().unwrap().to_owned());
    let rows = outside.lines().filter(|l| l.starts_with('|')).map(|l| format!("{} columns", l.matches('|').count()));
    let literals = outside
        .lines()
        .filter(|l| l.starts_with('|'))
        .flat_map(|l| l.split('`').skip(1).step_by(2).filter(|c| c.is_ascii()).map(str::to_owned).collect::<Vec<_>>());
    let links = regex::Regex::new(r"\]\(([^)]+)\)").unwrap();
    let links =
        links.captures_iter(&outside).map(|c| c[1].to_owned()).filter(|l| !l.starts_with("README")).collect::<Vec<_>>();
    code.chain(headings).chain(rows).chain(literals).chain(links).collect()
}

#[test]
fn both_languages_say_the_same() {
    let (english, chinese) = (shape(&read("README.md")), shape(&read("README.zh-CN.md")));
    for (e, c) in english.iter().zip(&chinese) {
        assert_eq!(e, c);
    }
    assert_eq!(english.len(), chinese.len());
}

#[test]
fn every_link_leads_to_a_file() {
    let links = regex::Regex::new(r"\]\(([^)#]+)(#[^)]*)?\)").unwrap();
    for name in ["README.md", "README.zh-CN.md", "CONTRIBUTING.md"] {
        for link in links.captures_iter(&read(name)).map(|c| c[1].to_owned()).filter(|l| !l.contains("://")) {
            assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(&link).exists(), "{name}: {link}");
        }
    }
}

#[test]
fn every_command_of_the_help_stands_in_the_readme() {
    let readme = read("README.md");
    let help = toolgraft(&["--help"]);
    let commands = help.split("Commands:").nth(1).unwrap().split("Options:").next().unwrap();
    let commands: Vec<_> =
        commands.lines().filter_map(|l| l.split_whitespace().next()).filter(|c| *c != "help").collect();
    assert!(commands.len() >= 7, "{commands:?}");
    for command in commands {
        assert!(readme.contains(&format!("| `toolgraft {command}")), "{command}");
    }
}

#[test]
fn the_crate_counts_are_those_of_the_lock_file() {
    let readme = read("README.md");
    for (feature, row) in [
        ("", "| none |"),
        ("prompt", "| `prompt` |"),
        ("validate", "| `validate` |"),
        ("agent", "| `agent` |"),
        ("client", "| `client` |"),
        ("mcp", "| `mcp` |"),
        ("cli", "| `cli` (default) |"),
    ] {
        let args = [
            "tree",
            "--offline",
            "--locked",
            "-e",
            "normal",
            "--prefix",
            "none",
            "--no-dedupe",
            "--no-default-features",
        ];
        let tree = Command::new(env!("CARGO"))
            .args(args)
            .args(["--features", feature, "--target", "x86_64-unknown-linux-gnu"])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .unwrap();
        assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
        let tree = String::from_utf8(tree.stdout).unwrap();
        let crates: std::collections::BTreeSet<_> = tree
            .lines()
            .map(|l| l.trim_end_matches(" (*)").trim_end_matches(" (proc-macro)"))
            .filter(|l| !l.starts_with("toolgraft "))
            .collect();
        let line = readme.lines().find(|l| l.starts_with(row)).unwrap();
        assert!(line.ends_with(&format!("| {} |", crates.len())), "{line}: {} crates", crates.len());
    }
}
