//! The tables of `fixtures/parity/README.md`.

use std::collections::BTreeMap;

use super::cases::{CASES, Case, Class};
use super::families::FAMILIES;
use super::record::CORPORA;

/// A row of the numbers: one family of one corpus.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) corpus: String,
    pub(crate) family: String,
    pub(crate) cases: usize,
    pub(crate) skipped: usize,
    pub(crate) contradicts: usize,
    pub(crate) agreed: usize,
    pub(crate) same: usize,
    pub(crate) disagreed: usize,
    pub(crate) decided: usize,
}

/// Returns the current numbers.
pub(crate) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for corpus in CORPORA {
        for family in FAMILIES.iter().filter(|f| f.dialects.is_some()) {
            let cases: Vec<&Case> =
                CASES.iter().filter(|c| c.corpus == corpus && c.record.family == family.name).collect();
            if cases.is_empty() {
                continue;
            }
            let count = |class: Class| cases.iter().filter(|c| c.class == class).count();
            let right = |class: Class| cases.iter().filter(|c| c.class == class && c.wrong().is_empty()).count();
            rows.push(Row {
                corpus: corpus.to_owned(),
                family: family.name.to_owned(),
                cases: cases.len(),
                skipped: count(Class::Skipped),
                contradicts: count(Class::Contradicts),
                agreed: count(Class::Agreed),
                same: right(Class::Agreed),
                disagreed: count(Class::Disagreed),
                decided: right(Class::Disagreed),
            });
        }
    }
    rows
}

const HEAD: &str = "\
| corpus | family | cases | not comparable | against our rules | engines agree | of them the same here | engines disagree | of them as decided |
|---|---|---|---|---|---|---|---|---|
";

/// Formats the numbers as a table.
pub(crate) fn numbers(rows: &[Row]) -> String {
    let mut table = HEAD.to_owned();
    for r in rows {
        table += &format!(
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
            r.corpus, r.family, r.cases, r.skipped, r.contradicts, r.agreed, r.same, r.disagreed, r.decided
        );
    }
    let sum = |of: fn(&Row) -> usize| rows.iter().map(of).sum::<usize>();
    let (agreed, same) = (sum(|r| r.agreed), sum(|r| r.same));
    table += &format!("\nOf {agreed} cases on which the engines agree, {same} give the same here.\n");
    table
}

/// Reads the numbers from a table.
pub(crate) fn stated(table: &str) -> Vec<Row> {
    let lines = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let number = |at: usize| cells[at].parse().unwrap_or_else(|_| panic!("no number in column {at}: {line}"));
        Row {
            corpus: cells[0].to_owned(),
            family: cells[1].to_owned(),
            cases: number(2),
            skipped: number(3),
            contradicts: number(4),
            agreed: number(5),
            same: number(6),
            disagreed: number(7),
            decided: number(8),
        }
    };
    lines.map(row).collect()
}

/// Returns the table of families, with their dialects and origins.
pub(crate) fn families() -> String {
    let mut table = "| family | looks like | read by | cases |\n|---|---|---|---|\n".to_owned();
    for family in FAMILIES {
        let by = match family.dialects {
            None => "not read".to_owned(),
            Some([]) => "reasoning tags".to_owned(),
            Some(names) => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
        };
        let mut cases: Vec<String> = Vec::new();
        for corpus in CORPORA {
            let count = CASES.iter().filter(|c| c.corpus == corpus && c.record.family == family.name).count();
            if count > 0 {
                cases.push(format!("{count} {corpus}"));
            }
        }
        let looks = family.looks.replace('|', "\\|");
        table += &format!("| {} | {looks} | {by} | {} |\n", family.name, cases.join(", "));
    }
    table
}

/// Returns the table of records that are not comparable, by reason.
pub(crate) fn skipped() -> String {
    let reason = |c: &Case| c.record.skip.clone().unwrap_or_else(|| "no engine reads it".to_owned());
    let mut table = "| reason | cases |\n|---|---|\n".to_owned();
    for (reason, cases) in grouped(Class::Skipped, reason) {
        table += &format!("| {reason} | {} |\n", ids(&cases));
    }
    table
}

/// Returns the table of cases that contradict our rules, by rule.
pub(crate) fn contradictions() -> String {
    let mut table = "| rule | count | cases |\n|---|---|---|\n".to_owned();
    for (rule, cases) in grouped(Class::Contradicts, rule) {
        table += &format!("| `{rule}` | {} | {} |\n", cases.len(), ids(&cases));
    }
    table
}

/// Returns the table of cases on which the engines disagree, by the reason of our decision.
pub(crate) fn disagreements() -> String {
    let mut table = "| reason | count | as | cases |\n|---|---|---|---|\n".to_owned();
    for (rule, cases) in grouped(Class::Disagreed, rule) {
        let mut sides: BTreeMap<String, usize> = BTreeMap::new();
        for case in &cases {
            for side in sides_of(case) {
                *sides.entry(side).or_default() += 1;
            }
        }
        let sides: Vec<String> = sides.iter().map(|(name, n)| format!("{name} {n}")).collect();
        table += &format!("| `{rule}` | {} | {} | {} |\n", cases.len(), sides.join(", "), ids(&cases));
    }
    table
}

/// Returns the engines whose result is ours, ignoring the ends.
fn sides_of(case: &Case) -> Vec<String> {
    let Some(expected) = &case.expected else { return vec!["undecided".to_owned()] };
    let engines = case.record.engines.iter();
    let sides: Vec<String> = engines
        .filter(|(_, said)| super::compare::differences(&case.record, said, expected).is_empty())
        .map(|(name, _)| name.clone())
        .collect();
    if sides.is_empty() { vec!["none".to_owned()] } else { sides }
}

fn rule(case: &Case) -> String {
    case.decision.as_ref().map_or("undecided", |d| d.rule.as_str()).to_owned()
}

fn grouped(class: Class, by: impl Fn(&Case) -> String) -> BTreeMap<String, Vec<&'static Case>> {
    let mut groups: BTreeMap<String, Vec<&Case>> = BTreeMap::new();
    for case in CASES.iter().filter(|c| c.class == class) {
        groups.entry(by(case)).or_default().push(case);
    }
    groups
}

/// Returns ids, grouped by source: `hermes: batch.4.b, batch.4.c`.
fn ids(cases: &[&Case]) -> String {
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for case in cases {
        let id = case.short_id();
        let (group, rest) = id.split_once(['/', ':']).unwrap_or((case.corpus, id));
        let rest = rest.replace("TOOLCALLING.", "").replace("REASONING.", "");
        let kind = if case.corpus == "dynamo_parity" && case.record.split_only { " (reasoning)" } else { "" };
        groups.entry(format!("{}{kind}", group.trim_end_matches(".py"))).or_default().push(rest);
    }
    let groups: Vec<String> = groups.into_iter().map(|(group, ids)| format!("{group}: {}", ids.join(" "))).collect();
    groups.join("; ")
}
