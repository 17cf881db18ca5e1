//! The parser compared with other engines, on texts of their tests. `fixtures/parity/README.md`
//! describes the comparison.
//!
//! ```text
//! cargo test --test parser parity                                    # numbers and lists are those of the README
//! cargo test --test parser parity -- --ignored rewrite_the_tables     # after a gain
//! TOOLGRAFT_PARITY=DIR cargo test --test parser parity -- --ignored write_what_is_wrong
//! TOOLGRAFT_CORPORA=DIR cargo test --test parser parity -- --ignored refresh_the_fixtures
//! ```

mod cases;
mod compare;
mod families;
mod record;
mod refresh;
mod tables;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use cases::{CASES, Case, Class};
use compare::outcome;
use record::Outcome;
use toolgraft_testkit::oracle;

/// Least percentage of the cases with agreeing engines that must have the same result here.
const LEAST_PERCENT: usize = 98;

/// Counts the calls of records that are parsed like the engines or as decided: those that satisfy
/// `is_counted`, and all.
pub(super) fn right_calls(is_counted: impl Fn(&toolgraft::Call) -> bool) -> (usize, usize) {
    let right = CASES.iter().filter(|case| {
        let states_calls = case.expected.as_ref().is_some_and(|expected| expected.calls.is_some());
        states_calls && case.wrong().is_empty()
    });
    let calls = || right.clone().filter_map(|case| case.ours.as_ref().ok()).flat_map(|ours| ours.auto.calls());
    (calls().filter(|call| is_counted(call)).count(), calls().count())
}

fn readme() -> String {
    fs::read_to_string(record::path("README.md")).expect("the README can be read")
}

/// Returns the tables, each with the name of its place in the README.
fn tables() -> [(&'static str, String); 5] {
    [
        ("families", tables::families()),
        ("numbers", tables::numbers(&tables::rows())),
        ("not comparable", tables::skipped()),
        ("against our rules", tables::contradictions()),
        ("disagreements", tables::disagreements()),
    ]
}

fn markers(name: &str) -> (String, String) {
    (format!("<!-- {name}: written by tests/parser/parity -->\n"), format!("<!-- end of {name} -->\n"))
}

/// Returns the README's part of this name.
fn part<'a>(readme: &'a str, name: &str) -> &'a str {
    let (open, close) = markers(name);
    let (_, rest) = readme.split_once(&open).unwrap_or_else(|| panic!("the README has no {open}"));
    rest.split_once(&close).unwrap_or_else(|| panic!("the README has no {close}")).0
}

#[test]
fn as_many_cases_are_read_alike_as_the_readme_says() {
    let (stated, now) = (tables::stated(part(&readme(), "numbers")), tables::rows());
    assert_eq!(stated.len(), now.len(), "rows of the README's table; rewrite_the_tables");
    for (stated, now) in stated.iter().zip(&now) {
        let counts = tables::Row { same: stated.same, decided: stated.decided, ..now.clone() };
        assert_eq!(*stated, counts, "the README counts other cases; rewrite_the_tables");
        assert!(now.same >= stated.same && now.decided >= stated.decided, "a number dropped: {stated:?}, now {now:?}");
    }
    let (agreed, same) = now.iter().fold((0, 0), |(a, s), row| (a + row.agreed, s + row.same));
    assert!(same * 100 >= agreed * LEAST_PERCENT, "{same} of {agreed} are less than {LEAST_PERCENT} %");
}

#[test]
fn the_readme_lists_every_case_and_explains_every_rule() {
    let readme = readme();
    for (name, table) in tables().iter().filter(|(name, _)| *name != "numbers") {
        assert_eq!(part(&readme, name), table, "{name}; rewrite_the_tables");
    }
    for decision in CASES.iter().filter_map(|case| case.decision.as_ref()) {
        let row = format!("\n| `{}` | ", decision.rule);
        assert!(readme.matches(&row).count() >= 2, "the README does not explain `{}`", decision.rule);
    }
}

#[test]
fn the_laws_hold_for_every_record() {
    let broken = CASES.iter().filter_map(|case| Some((&case.record.id, case.ours.as_ref().err()?)));
    let broken: Vec<String> = broken.map(|(id, law)| format!("{id}: {law}")).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn a_family_that_is_not_read_calls_nothing_that_its_engines_do_not_call() {
    for case in CASES.iter().filter(|case| case.class == Class::NotRead && case.record.skip.is_none()) {
        let Ok(ours) = &case.ours else { continue };
        let engines = || case.record.engines.values();
        let stated = engines().any(|said| said.calls.is_some());
        for call in ours.auto.calls().filter(|_| stated) {
            let called = engines().flat_map(|said| said.calls.iter().flatten()).any(|theirs| theirs.name == call.tool);
            assert!(called, "{}: {call:?}", case.record.id);
        }
    }
}

#[test]
#[ignore = "writes the README"]
fn rewrite_the_tables() {
    let mut readme = readme();
    for (name, table) in tables() {
        let (open, close) = markers(name);
        let old = format!("{open}{}{close}", part(&readme, name));
        readme = readme.replace(&old, &format!("{open}{table}{close}"));
    }
    fs::write(record::path("README.md"), readme).expect("the README can be written");
}

/// Writes the differences, one file for each family, into the folder named by `TOOLGRAFT_PARITY`.
#[test]
#[ignore = "writes files"]
fn write_what_is_wrong() {
    let folder = std::env::var("TOOLGRAFT_PARITY").expect("TOOLGRAFT_PARITY names a folder");
    let mut files: BTreeMap<&str, String> = BTreeMap::new();
    for case in CASES.iter().filter(|case| !matches!(case.class, Class::NotRead | Class::Skipped)) {
        let file = files.entry(&case.record.family).or_default();
        let wrong = case.wrong();
        if !wrong.is_empty() {
            write_case(file, case, &wrong);
        }
    }
    for (family, text) in files {
        fs::write(Path::new(&folder).join(format!("{family}.txt")), text).expect("the folder can be written to");
    }
}

fn write_case(file: &mut String, case: &Case, wrong: &[&str]) {
    let json = |outcome: &Outcome| serde_json::to_string(outcome).expect("an outcome is JSON");
    let class = case.class;
    let mut line = |name: &str, text: String| writeln!(file, "  {name:<10} {text}").expect("a String takes all");
    line("----", format!("{} ({class:?}): {}", case.record.id, wrong.join(", ")));
    line("text", format!("{:?}", case.record.text()));
    if let Some(tools) = &case.record.tools {
        line("tools", tools.iter().map(|t| t.name.as_str()).collect::<Vec<_>>().join(" "));
    }
    line(
        "mode",
        format!(
            "{}, calls are {}",
            case.record.mode.unwrap_or_default(),
            if case.record.split_only { "text" } else { "read" }
        ),
    );
    match &case.expected {
        Some(expected) => line("expected", json(expected)),
        None => case.record.engines.iter().for_each(|(name, said)| line(name, json(said))),
    }
    match &case.ours {
        Err(law) => line("broken", law.clone()),
        Ok(ours) => {
            line("got", json(&outcome(&ours.auto)));
            let rejected = |r: &toolgraft::event::Rejected| format!("{}: {} {:?}", r.kind, r.message, r.raw);
            ours.auto.rejected().for_each(|r| line("rejected", rejected(r)));
            ours.alone.iter().for_each(|alone| line("alone", json(&outcome(alone))));
        }
    }
}

/// Copies the records from the corpora in the folder named by `TOOLGRAFT_CORPORA`.
#[test]
#[ignore = "needs the corpora"]
fn refresh_the_fixtures() {
    let from = std::env::var("TOOLGRAFT_CORPORA").expect("TOOLGRAFT_CORPORA names the folder of the corpora");
    refresh::refresh(Path::new(&from));
}

#[test]
fn events_are_those_that_were_recorded() {
    let key = |case: &Case| format!("{}/{}", case.corpus, case.record.id.replace(' ', "_"));
    let read = |case: &Case| case.ours.as_ref().ok().map(|ours| (key(case), ours.digest));
    let cases: Vec<_> = CASES.iter().filter_map(read).collect();
    let differ: Vec<_> =
        cases.iter().filter_map(|(key, digest)| oracle::compare("parity", key, *digest).err()).collect();
    assert!(differ.is_empty(), "{} of {}\n{}", differ.len(), cases.len(), differ.join("\n"));
    let keys = cases.into_iter().map(|(key, _)| key).collect();
    assert_eq!(oracle::stale("parity", &keys), [""; 0], "recorded, and no record any more");
}
