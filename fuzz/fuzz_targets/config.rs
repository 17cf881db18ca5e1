//! Parses any text as a configuration of MCP servers: parsing never panics, faults name their
//! place, and `Debug` shows no variable's value.

#![cfg_attr(fuzzing, no_main)]

use toolgraft_mcp::Config;

/// Longer inputs only cost the fuzzer time.
const LONGEST: usize = 8 << 10;

/// The value of variables; it cannot occur in an input by chance.
const SECRET: &str = "s3cret-af80d3be";

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz(data));

/// Tests one input.
pub(crate) fn fuzz(data: &[u8]) {
    let text = String::from_utf8_lossy(&data[..data.len().min(LONGEST)]);
    if text.contains(SECRET) {
        return;
    }
    let lookup = |name: &str| (name.len() % 2 == 1).then(|| format!("Bearer {SECRET}"));
    match Config::parse(&text, "mcp.json", &lookup) {
        Ok(mut config) => {
            for server in config.servers() {
                assert!(is_place(&server.place, &text), "{:?} is no place in the file", server.place);
                if let Some(problem) = server.problem() {
                    assert!(problem.starts_with(&server.place), "{problem}");
                    assert!(!problem.contains(SECRET), "a problem shows a secret: {problem}");
                }
                let shown = format!("{:?}", server.transport);
                let named = ["command", "url", "cwd", "args"].iter().any(|key| text.contains(&format!("\"{key}\"")));
                assert!(named || !shown.contains(SECRET), "a secret is shown: {shown}");
            }
            let names: Vec<String> = config.servers().iter().map(|server| server.name.clone()).collect();
            let notes = config.notes().len();
            config.merge(config.clone());
            assert!(config.servers().iter().map(|server| &server.name).eq(&names), "the servers' order changed");
            assert!(config.notes().len() >= notes + names.len(), "a replaced server goes unsaid");
            let _ = config.secrets();
        }
        Err(error) => {
            assert!(is_place(&error.place, &text), "{:?} is no place in the file", error.place);
            assert!(!error.message.is_empty());
        }
    }
}

/// Returns `true` for `file:line:column` of a place in the text or at its end.
fn is_place(place: &str, text: &str) -> bool {
    let numbers = place.strip_prefix("mcp.json:").and_then(|rest| rest.split_once(':'));
    let Some((Ok(line), Ok(column))) = numbers.map(|(l, c)| (l.parse::<usize>(), c.parse::<usize>())) else {
        return false;
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let found = line.checked_sub(1).and_then(|line| text.split('\n').nth(line));
    found.is_some_and(|found| (1..=found.chars().count() + 1).contains(&column))
}
