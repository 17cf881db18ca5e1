//! `docs/models.md` against the program: its profiles, its commands, its ports.

use crate::process::Place;
use toolgraft::dialect::Profile;

const DOC: &str = include_str!("../../../docs/models.md");

/// The cells of a row whose first cell is code.
fn cells(line: &str) -> Option<Vec<&str>> {
    let line = line.strip_prefix("| `")?;
    Some(line.trim_end_matches(" |").split(" | ").map(|cell| cell.trim_matches('`')).collect())
}

#[test]
fn every_profile_is_listed_in_order_and_its_examples_get_it() {
    let (_, section) = DOC.split_once("\n## Profiles\n").unwrap();
    let rows: Vec<_> = section.lines().filter_map(cells).collect();
    let listed: Vec<&str> = rows.iter().map(|row| row[0]).collect();
    let known: Vec<&str> = Profile::all().iter().map(|profile| profile.name).collect();
    assert_eq!(listed, known);
    for row in rows {
        for model in row[2].split("`, `") {
            assert_eq!(Profile::for_model(model).name, row[0], "{model}");
        }
    }
}

#[test]
fn every_command_is_one_that_the_program_takes() {
    let place = Place::new();
    let mut checked = 0;
    for line in DOC.lines().filter_map(|line| line.strip_prefix("toolgraft ").filter(|l| l.starts_with("chat "))) {
        // With `--help` after them the flags are parsed, and nothing is done.
        let args: Vec<&str> = line.split_whitespace().chain(["--help"]).collect();
        assert!(place.run(&args).ok().out.contains("--base-url"), "{line}");
        checked += 1;
    }
    assert!(checked >= 7, "{checked}");
}

#[test]
fn every_model_of_a_command_has_the_profile_that_its_section_is_about() {
    let named = DOC.lines().filter(|line| line.starts_with("toolgraft chat")).filter_map(|line| {
        let mut words = line.split_whitespace().skip_while(|word| *word != "--model");
        words.nth(1).filter(|name| *name != "NAME")
    });
    let mut checked = 0;
    for model in named {
        assert_ne!(Profile::for_model(model).name, "default", "{model}");
        checked += 1;
    }
    assert!(checked >= 5, "{checked}");
}

#[test]
fn every_local_port_is_one_that_chat_looks_at() {
    let help = Place::new().run(&["chat", "--help-all"]).ok().out;
    for (name, port) in [("LM Studio", "1234"), ("Ollama", "11434"), ("llama.cpp", "8080")] {
        let row = DOC.lines().find(|line| line.starts_with(&format!("| [{name}]"))).unwrap();
        assert!(row.contains(&format!("localhost:{port}/v1")) && help.contains(port), "{name}");
    }
}

#[test]
fn every_flag_that_the_page_names_is_there() {
    let help = ["chat", "probe"].map(|command| Place::new().run(&[command, "--help-all"]).ok().out).concat();
    let named = DOC.split('`').skip(1).step_by(2).filter_map(|code| code.split_whitespace().next());
    // Those of the endpoints' own programs.
    let foreign = [
        "--reasoning-format", "--reasoning-parser", "--max-model-len", "--enable-auto-tool-choice",
        "--tool-call-parser", "--jinja",
    ];
    for flag in named.filter(|code| code.starts_with("--") && !foreign.contains(code)) {
        assert!(help.split_whitespace().any(|word| word == flag), "{flag}");
    }
}

/// Returns the results of `make e2e SUITES=evidence` for the models whose name contains `model`: rows of first
/// messages, or of jobs.
fn found(model: &str, rows: &str) -> Vec<serde_json::Value> {
    let results: serde_json::Value = serde_json::from_str(include_str!("../../../e2e/evidence/results.json")).unwrap();
    let results = results.as_array().unwrap().iter().filter(|result| result["model"].as_str().unwrap().contains(model));
    results.flat_map(|result| result[rows].as_array().cloned().unwrap_or_default()).collect()
}

fn measured(model: &str) -> Vec<serde_json::Value> {
    found(model, "rows")
}

#[test]
fn the_table_of_whole_jobs_says_what_was_measured() {
    let (_, section) = DOC.split_once("\n### Real models, measured\n").unwrap();
    let rows = found("", "jobs");
    assert!(!rows.is_empty());
    for row in rows {
        let of = |kind: serde_json::Value, name: &str| {
            let scores = row["scores"].as_array().unwrap();
            scores.iter().find(|score| score["kind"] == kind).map(|score| score[name].as_u64().unwrap()).unwrap()
        };
        let all = |name: &str| of(serde_json::Value::Null, name);
        let kinds = ["one", "two", "dependent", "none"];
        let kinds = kinds.map(|kind| format!("{}/{}", of(kind.into(), "done"), of(kind.into(), "jobs")));
        let figures = [
            format!("| {}/30 (", all("done")),
            format!("| {} |", kinds.join(" | ")),
            format!("| {}/{} | {}, {} |", all("right"), all("wanted"), all("calls"), all("repeats")),
            format!("| {}/30 | {}/30 | {:.1} |", all("answered"), all("state"), all("requests") as f64 / 30.0),
        ];
        let has = |line: &str| figures.iter().all(|figure| line.contains(figure.as_str()));
        assert!(section.lines().any(has), "{figures:?}");
    }
}

#[test]
fn the_table_of_real_models_and_the_readmes_say_what_was_measured() {
    let (_, section) = DOC.split_once("\n### Real models, measured\n").unwrap();
    let rows = measured("");
    assert!(rows.len() >= 12, "{rows:?}");
    let of = |row: &serde_json::Value, name: &str| row[name].as_u64().unwrap();
    for row in &rows {
        let figures = [
            format!("| {}/{} (", of(row, "fully_right"), of(row, "wanted")),
            format!("| {}/{} |", of(row, "several_right"), of(row, "several")),
            match of(row, "unwanted") {
                0 => "| – |".to_owned(),
                unwanted => format!("| {}/{unwanted} (", of(row, "false_calls")),
            },
            format!("| {}/{} | {} |", of(row, "used"), of(row, "results"), of(row, "tokens") / of(row, "tasks")),
        ];
        let has = |line: &str| figures.iter().all(|figure| line.contains(figure.as_str()));
        assert!(section.lines().any(has), "{figures:?}");
    }
    // The READMEs speak of the model that half a billion parameters make.
    let rows = measured("-0.5B-");
    let row = |cell: &str| rows.iter().find(|row| row["cell"] == cell).unwrap_or_else(|| panic!("no row {cell}"));
    let ours = row("use_mcp_tool, compact, signature, measured");
    let others = ["native", "native, read by toolgraft", "others: one schema, a call or an answer"];
    let figures =
        [ours].into_iter().chain(others.map(row)).flat_map(|row| [of(row, "fully_right"), of(row, "false_calls")]);
    let figures: Vec<u64> = figures.chain([of(ours, "wanted"), of(ours, "unwanted")]).collect();
    for (page, readme) in [
        (include_str!("../../../README.md"), "README.md"),
        (include_str!("../../../README.zh-CN.md"), "README.zh-CN.md"),
    ] {
        let numbers: Vec<u64> = page
            .lines()
            .find(|line| line.contains("Qwen2.5-Coder-0.5B"))
            .and_then(|line| line.split('(').next())
            .unwrap_or_else(|| panic!("{readme} has no figure"))
            .replace("Qwen2.5-Coder-0.5B", "")
            .split(|c: char| !c.is_ascii_digit())
            .filter_map(|number| number.parse().ok())
            .collect();
        for number in &figures {
            assert!(numbers.contains(number), "{readme}: {number} is not among {numbers:?}");
        }
        assert!(page.contains("make e2e SUITES=evidence-held"), "{readme} does not name the command that checks it");
    }
}
