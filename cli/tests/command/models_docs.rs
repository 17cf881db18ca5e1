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
        // With `--help` behind them the flags are parsed, and nothing is done.
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
    let help = Place::new().run(&["chat", "--help"]).ok().out;
    for (name, port) in [("LM Studio", "1234"), ("Ollama", "11434"), ("llama.cpp", "8080")] {
        let row = DOC.lines().find(|line| line.starts_with(&format!("| [{name}]"))).unwrap();
        assert!(row.contains(&format!("localhost:{port}/v1")) && help.contains(port), "{name}");
    }
}

#[test]
fn every_flag_that_the_page_names_is_there() {
    let help = ["chat", "probe"].map(|command| Place::new().run(&[command, "--help"]).ok().out).concat();
    let named = DOC.split('`').skip(1).step_by(2).filter_map(|code| code.split_whitespace().next());
    // Those of the endpoints' own programs.
    let foreign = [
        "--reasoning-format",
        "--reasoning-parser",
        "--max-model-len",
        "--enable-auto-tool-choice",
        "--tool-call-parser",
        "--jinja",
    ];
    for flag in named.filter(|code| code.starts_with("--") && !foreign.contains(code)) {
        assert!(help.split_whitespace().any(|word| word == flag), "{flag}");
    }
}
