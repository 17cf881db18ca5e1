//! The READMEs and their tables in `docs/` are true, and both languages say the same.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use toolgraft::dialect::DialectSet;
use toolgraft::event::{Assembled, RejectedKind};
use toolgraft::message::{ReasoningCalls, ReasoningMode};
use toolgraft::parse::{Config, parse};
use toolgraft::{Catalog, Dialect, Tool};

fn read(name: &str) -> String {
    std::fs::read_to_string(Path::new(crate::process::ROOT).join(name)).unwrap()
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
        Tool::new(name).with_schema(serde_json::from_str(&schema).unwrap())
    });
    parse(text, config.with_catalog(Arc::new(Catalog::from_tools(tools))))
}

/// Names what a text's only call is parsed as.
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

/// Checks the rows of a table against one configuration for each column after the first.
fn assert_becomes(header: &str, count: usize, configs: [Config; 3]) {
    let page = read("docs/dialects.md");
    let rows = rows(&page, header);
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
            let entries = parsed(&text, config.clone()).entries;
            let needs_approval = entries.iter().any(|entry| entry.result.is_ok() && !entry.provenance().is_plain());
            assert_eq!(needs_approval, promoted, "{config:?}: {row:?}");
        }
    }
}

#[test]
fn calls_become_what_the_table_of_policies_says() {
    let policies = [ReasoningCalls::Ignore, ReasoningCalls::LastResort, ReasoningCalls::Allow];
    let configs = policies.map(|reasoning_calls| Config::default().with_reasoning_calls(reasoning_calls));
    assert_becomes("| where, for example |", 18, configs);
}

#[test]
fn calls_become_what_the_table_of_modes_says() {
    let modes = [ReasoningMode::Auto, ReasoningMode::Open, ReasoningMode::Off];
    let configs = modes.map(|reasoning| Config::default().with_reasoning(reasoning));
    assert_becomes("| text, for example |", 4, configs);
}

#[test]
fn every_example_of_a_dialect_is_a_call_of_that_dialect() {
    let page = read("docs/dialects.md");
    let rows: Vec<_> = ["| dialect | written as | for |", "| dialect | written as |\n"]
        .into_iter()
        .flat_map(|header| rows(&page[page.find(header).unwrap()..], header.trim_end()))
        .collect();
    assert_eq!(rows.len(), Dialect::ALL.len());
    for row in rows {
        let dialect: Dialect = row[0].trim_matches('`').parse().unwrap();
        // Remarks follow the examples.
        let literals: Vec<_> = row[1].split("`; ").next().unwrap().split('`').skip(1).step_by(2).collect();
        assert!(!literals.is_empty(), "{row:?}");
        for literal in literals {
            let dialects = DialectSet::NONE.with(dialect);
            let message = parsed(&example(literal), Config::default().with_dialects(dialects));
            assert!(message.calls().count() > 0, "{literal}: {message:?}");
            assert!(message.content.is_empty() && message.rejected().count() == 0, "{literal}: {message:?}");
        }
    }
}

#[test]
fn the_figures_are_those_that_were_counted() {
    let dialects = Dialect::ALL.len();
    let parity = read("fixtures/parity/README.md");
    let counted = regex::Regex::new(r"Of (\d+) cases on which the engines agree, (\d+) give the same here\.").unwrap();
    let [all, same] = counted.captures(&parity).unwrap().extract().1;
    for (page, figures) in [
        ("README.md", format!("[{dialects} call syntaxes]")),
        ("README.zh-CN.md", format!("[{dialects} 种调用语法]")),
        ("bindings/python/README.md", format!("({dialects} syntaxes,")),
        ("bindings/node/README.md", format!("({dialects} syntaxes,")),
        ("docs/dialects.md", format!("Of {all} texts on which other engines agree, {same} give the same")),
        ("docs/dialects.zh-CN.md", format!("{all} 段文本中，{same} 段")),
    ] {
        assert!(read(page).contains(&figures), "{page}: {figures}");
    }
    // "Over a thousand texts", of which each is a line.
    assert!(read("fixtures/conformance.jsonl").lines().count() > 1000);
}

/// Pages that there are in both languages.
const TRANSLATED: [(&str, &str); 4] = [
    ("README.md", "README.zh-CN.md"),
    ("docs/commands.md", "docs/commands.zh-CN.md"),
    ("docs/dialects.md", "docs/dialects.zh-CN.md"),
    ("docs/features.md", "docs/features.zh-CN.md"),
];

/// Returns the parts that must be the same in every language: headings, tables, links, code.
fn shape(text: &str) -> Vec<String> {
    let code = blocks(text).into_iter().map(|(l, body)| format!("{l}\n{body}"));
    let outside: Vec<&str> = text.split("```").step_by(2).collect();
    let outside = outside.join("\n");
    let headings = outside.lines().filter(|l| l.starts_with('#')).map(|l| l.split(' ').next().unwrap().to_owned());
    let items = outside.lines().filter(|l| l.starts_with("- ")).map(|_| "an item".to_owned());
    let rows = outside.lines().filter(|l| l.starts_with('|')).map(|l| format!("{} columns", l.matches('|').count()));
    let literals = outside
        .lines()
        .filter(|l| l.starts_with('|'))
        .flat_map(|l| l.split('`').skip(1).step_by(2).filter(|c| c.is_ascii()).map(str::to_owned).collect::<Vec<_>>());
    // A page may lead to its own language's.
    let links = links(text).into_iter().map(|link| link.replace(".zh-CN.", "."));
    code.chain(headings).chain(items).chain(rows).chain(literals).chain(links).collect()
}

#[test]
fn both_languages_say_the_same() {
    for (english, chinese) in TRANSLATED {
        let (e, c) = (shape(&read(english)), shape(&read(chinese)));
        for (e, c) in e.iter().zip(&c) {
            assert_eq!(e, c, "{chinese}");
        }
        assert_eq!(e.len(), c.len(), "{chinese}");
    }
}

#[test]
fn chinese_words_are_those_of_the_trade() {
    for (_, page) in TRANSLATED {
        for (word, meaning) in [("录音", "a sound recording"), ("代理", "a proxy")] {
            assert!(!read(page).contains(word), "{page}: {word} is {meaning}");
        }
    }
}

#[test]
fn a_readme_is_read_in_a_few_minutes() {
    for page in ["README.md", "README.zh-CN.md"] {
        let words = read(page).split_whitespace().count();
        assert!(words <= 900, "{page}: {words} words");
    }
}

/// Destinations of links and pictures, outside code.
fn links(text: &str) -> Vec<String> {
    let fences = regex::Regex::new(r"(?ms)^(```|~~~).*?^(```|~~~)").unwrap();
    let spans = regex::Regex::new(r"(?:``[^`]+``|`[^`\n]*`)").unwrap();
    let prose = fences.replace_all(text, "");
    let prose = spans.replace_all(&prose, "");
    let links = regex::Regex::new(r"\]\(([^)\s]+)\)").unwrap();
    links.captures_iter(&prose).map(|c| c[1].to_owned()).collect()
}

/// The anchors that a page's headings get.
fn anchors(text: &str) -> Vec<String> {
    let mut fence = None;
    let mut anchors = Vec::new();
    for line in text.lines() {
        let opens = ["```", "~~~"].into_iter().find(|f| line.starts_with(f));
        match (fence, opens) {
            (None, Some(_)) => fence = opens,
            (Some(open), Some(close)) if open == close => fence = None,
            (None, None) if line.starts_with('#') => {
                let heading = line.trim_start_matches('#').trim().to_lowercase();
                let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
                let anchor: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
                let doubles = anchors.iter().filter(|a| **a == anchor).count();
                anchors.push(if doubles == 0 { anchor } else { format!("{anchor}-{doubles}") });
            }
            _ => {}
        }
    }
    anchors
}

/// All pages of ours.
fn pages() -> Vec<String> {
    let mut pages: Vec<String> =
        ["README.md", "README.zh-CN.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(String::from).into();
    pages.extend(
        ["fixtures/README.md", "fixtures/parity/README.md", "fixtures/parity/json_repair.md", "fuzz/README.md"]
            .map(String::from),
    );
    let docs = std::fs::read_dir(Path::new(crate::process::ROOT).join("docs")).unwrap();
    let docs = docs.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    pages.extend(docs.filter(|name| name.ends_with(".md")).map(|name| format!("docs/{name}")));
    pages
}

#[test]
fn every_link_leads_to_a_file_and_to_a_heading_of_it() {
    let mut checked = 0;
    for page in pages() {
        let folder = Path::new(&page).parent().unwrap();
        for link in links(&read(&page)).into_iter().filter(|link| !link.contains("://")) {
            let (file, anchor) = link.split_once('#').map_or((link.as_str(), None), |(file, a)| (file, Some(a)));
            let target = if file.is_empty() { Path::new(&page).to_owned() } else { folder.join(file) };
            assert!(Path::new(crate::process::ROOT).join(&target).exists(), "{page}: {link}");
            if let Some(anchor) = anchor {
                let anchors = anchors(&read(target.to_str().unwrap()));
                assert!(anchors.iter().any(|a| a == anchor), "{page}: {link} is none of {anchors:?}");
            }
            checked += 1;
        }
    }
    assert!(checked > 100, "{checked}");
}

#[test]
fn every_page_of_the_docs_is_named_by_the_readme() {
    let named: Vec<String> =
        links(&read("README.md")).iter().map(|link| link.split('#').next().unwrap().to_owned()).collect();
    for page in pages().into_iter().filter(|page| page.starts_with("docs/") && !page.contains(".zh-CN.")) {
        assert!(named.contains(&page), "{page}");
    }
}

#[test]
fn a_dependency_is_one_that_cargo_can_find() {
    let manifest = read("Cargo.toml");
    let features = manifest.split("\n[features]\n").nth(1).unwrap().split("\n[").next().unwrap();
    for page in ["README.md", "README.zh-CN.md", "docs/features.md", "docs/features.zh-CN.md"] {
        let blocks = blocks(&read(page));
        let (_, toml) = blocks.iter().find(|(language, _)| language == "toml").unwrap();
        let line = toml.lines().find(|line| line.starts_with("toolgraft = ")).unwrap();
        // As long as it is on no registry, a version leads nowhere.
        assert!(line.contains("path = ") && !line.contains("version"), "{page}: {line}");
        for feature in line.split("features = [").nth(1).unwrap().split('"').skip(1).step_by(2) {
            assert!(features.contains(&format!("\n{feature} = ")), "{page}: {feature}");
        }
    }
}

#[test]
fn the_first_page_says_what_the_two_commands_need() {
    let manifest = read("Cargo.toml");
    let rust = manifest.split("rust-version = \"").nth(1).unwrap().split('"').next().unwrap();
    for page in ["README.md", "README.zh-CN.md"] {
        let text = read(page);
        let first = text.split("\n## ").take(2).collect::<String>();
        for part in ["cargo run -- demo", "make test", "cargo install --locked --path cli", "git", "npm", "venv"] {
            assert!(first.contains(part), "{page}: {part}");
        }
        for version in [format!("Rust {rust}"), "Node 20".into(), "Python 3.10".into()] {
            assert!(first.contains(&version), "{page}: {version}");
        }
    }
    // `tests/needs` asks for the same.
    let needs = read("tests/needs");
    assert!(needs.contains("Node 20") && needs.contains("Python 3.10") && needs.contains("(3, 10)"));
}

#[test]
fn every_command_of_the_help_stands_in_the_list() {
    let list = read("docs/commands.md");
    let help = toolgraft(&["--help"]);
    let commands = help.split("Commands:").nth(1).unwrap().split("Options:").next().unwrap();
    let commands: Vec<_> =
        commands.lines().filter_map(|l| l.split_whitespace().next()).filter(|c| *c != "help").collect();
    let thirteen = [
        "demo", "chat", "up", "serve", "launch", "probe", "models", "replay", "extract", "prompt", "mcp", "log",
        "config",
    ];
    assert_eq!(commands, thirteen);
    for command in commands {
        assert!(list.contains(&format!("| `toolgraft {command}")), "{command}");
    }
}

/// Each command with its own below it, by what `--help` lists.
fn commands(path: &[&str]) -> Vec<Vec<String>> {
    let help = toolgraft(&[path, &["--help"]].concat());
    let listed = help.split("\nCommands:\n").nth(1).map_or("", |rest| rest.split("\n\n").next().unwrap());
    let names = listed.lines().filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    let below = names.flat_map(|name| commands(&[path, &[name]].concat()));
    std::iter::once(path.iter().map(|&name| name.to_owned()).collect()).chain(below).collect()
}

/// The options that a command's whole help lists.
fn options(command: &[&str]) -> BTreeSet<String> {
    let help = toolgraft(&[command, &["--help-all"]].concat());
    let flags = help.lines().filter(|line| line.starts_with("  -") || line.starts_with("      --"));
    let names = flags.filter_map(|line| line.split_once("--")?.1.split([' ', '=', '[']).next());
    names.filter(|name| !["help", "help-all", "version"].contains(name)).map(str::to_owned).collect()
}

#[test]
fn the_help_fits_on_a_screen_and_options_are_few_with_one_meaning_a_name() {
    let (mut all, mut names) = (0, BTreeSet::new());
    for command in commands(&[]) {
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        let help = toolgraft(&[&words[..], &["--help"]].concat());
        assert!(help.lines().count() <= 44, "{command:?}: {} lines", help.lines().count());
        if help.contains("Examples:") {
            assert!(help.find("Examples:") < help.find("Usage:"), "{command:?} begins with the common case");
        }
        let options = options(&words);
        all += options.len();
        names.extend(options);
    }
    assert!(all <= 200 && names.len() <= 72, "{all} options with {} names: {names:?}", names.len());
}

#[test]
fn an_option_of_a_command_alone_is_above_the_headings_of_groups() {
    for (command, option, heading) in [
        ("extract", "threads", "Reading"),
        ("models", "json", "Endpoint"),
        ("probe", "diagnose", "Endpoint"),
        ("probe", "set", "Endpoint"),
    ] {
        let help = toolgraft(&[command, "--help"]);
        let at = |begin: String| help.find(&begin).unwrap_or_else(|| panic!("{command}: {begin}"));
        assert!(at(format!("\n      --{option} ")) < at(format!("\n{heading}:\n")), "{command}: {option}");
    }
}

#[test]
fn the_crate_counts_are_those_of_the_lock_file() {
    let page = read("docs/features.md");
    for (feature, row) in [
        ("", "| none |"),
        ("prompt", "| `prompt` |"),
        ("validate", "| `validate` |"),
        ("agent", "| `agent` |"),
        ("typed", "| `typed` |"),
        ("client", "| `client` |"),
        ("toolgraft-protocol", "| the package `toolgraft-protocol` |"),
        ("toolgraft-serve", "| the package `toolgraft-serve` |"),
        ("toolgraft-mcp", "| the package `toolgraft-mcp` |"),
        ("toolgraft-cli", "| the package `toolgraft-cli` |"),
    ] {
        let args = ["tree", "--offline", "--locked", "-e", "normal", "--prefix", "none", "--no-dedupe"];
        let (package, features) =
            if feature.starts_with("toolgraft-") { (feature, "") } else { ("toolgraft", feature) };
        let tree = Command::new(env!("CARGO"))
            .args(args)
            .args(["-p", package, "--features", features])
            .args(["--target", "x86_64-unknown-linux-gnu"])
            .current_dir(crate::process::ROOT)
            .output()
            .unwrap();
        assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
        let tree = String::from_utf8(tree.stdout).unwrap();
        let crates: std::collections::BTreeSet<_> = tree
            .lines()
            .map(|l| l.trim_end_matches(" (*)").trim_end_matches(" (proc-macro)"))
            .filter(|l| !l.starts_with("toolgraft"))
            .collect();
        let line = page.lines().find(|l| l.starts_with(row)).unwrap();
        assert!(line.ends_with(&format!("| {} |", crates.len())), "{line}: {} crates", crates.len());
    }
}
