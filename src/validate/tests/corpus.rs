//! Tools of real servers.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::generate::{self, Damage, Dice};
use super::*;

/// Returns the tools of the fixtures.
fn fixtures() -> Vec<Tool> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/tools");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let servers = files.iter().map(|file| serde_json::from_str::<Value>(&fs::read_to_string(file).unwrap()).unwrap());
    servers.flat_map(|server| serde_json::from_value::<Vec<Tool>>(server["tools"].clone()).unwrap()).collect()
}

#[test]
fn schemas_of_real_servers_compile_and_check() {
    let tools = fixtures();
    let validator = Validator::new(Arc::new(Catalog::from_tools(tools.iter().cloned())));
    assert!(validator.problems().is_empty(), "{:?}", validator.problems());
    for tool in &tools {
        for arguments in [json!({}), json!(null), json!("{}"), json!({"query": 5, "limit": "ten"}), guess(tool)] {
            let call = Call { server: tool.server.clone(), ..call(&tool.name, arguments) };
            if let Err(rejected) = validator.check(call, "") {
                assert!(!rejected.message.is_empty() && rejected.message.len() < 4000, "{}", rejected.message);
            }
        }
        let example = Call { server: tool.server.clone(), ..call(&tool.name, tool.example_arguments().into()) };
        if let Err(rejected) = validator.check(example, "") {
            panic!("no example for {}: {}", tool.name, rejected.message);
        }
    }
    assert!(tools.len() >= 50, "{}", tools.len());
}

/// Returns each schema of the tools that compiles, with up to `each` generated arguments that it accepts.
fn valid_arguments(tools: &[Tool], each: usize) -> Vec<(&Value, CompiledSchema, Vec<Value>)> {
    let mut all = Vec::new();
    for (seed, schema) in tools.iter().filter_map(|tool| tool.input_schema.as_ref()).enumerate() {
        let Ok(compiled) = CompiledSchema::new(schema) else { continue };
        let mut dice = Dice::new(seed as u64 + 1);
        let values = (0..each).map(|_| generate::value(schema, schema, &mut dice, 6));
        let values = values.filter(|value| value.is_object() && compiled.validator.is_valid(value)).collect();
        all.push((schema, compiled, values));
    }
    all
}

#[test]
fn valid_arguments_pass_as_they_are() {
    let tools = fixtures();
    let mut passed = 0;
    for (schema, _, values) in valid_arguments(&tools, 50) {
        let validator = validator(schema);
        for value in values {
            let call = call("t", value);
            assert_eq!(validator.check(call.clone(), ""), Ok(call), "{schema}");
            passed += 1;
        }
    }
    assert!(passed > tools.len(), "{passed} of {} tools", tools.len());
}

/// Tests that damaged arguments are repaired to the original ones, or refused; they are never read as something else,
/// and never without a recorded repair.
#[test]
fn damaged_arguments_are_mended_to_what_they_were_or_refused() {
    let tools = fixtures();
    let mut counts = [(0, 0, 0); Damage::ALL.len()];
    for (schema, compiled, values) in valid_arguments(&tools, 50) {
        let validator = validator(schema);
        let mut dice = Dice::new(7);
        for (value, (n, how)) in values.iter().flat_map(|v| Damage::ALL.into_iter().enumerate().map(move |d| (v, d))) {
            let mut damaged = value.clone();
            let Some(place) = generate::damage(&mut damaged, how, &mut dice) else { continue };
            let said = || format!("{how:?} at {place}: {damaged} of {value} for {schema}");
            let accepted = damaged.is_object() && compiled.validator.is_valid(&damaged);
            let (same, mended, refused) = &mut counts[n];
            match validator.check(call("t", damaged.clone()), "") {
                Ok(call) if accepted => {
                    assert_eq!((call.arguments, call.repairs), (damaged.clone(), vec![]), "{}", said());
                    *same += 1;
                }
                // An empty text in place of an array of one says nothing.
                Ok(call) if call.repairs == [Repair::LeftOut(place.clone())] => {
                    assert!(
                        matches!(damaged.pointer(&place), Some(Value::String(text)) if text.is_empty()),
                        "{}",
                        said()
                    );
                }
                Ok(call) => {
                    assert_eq!(call.arguments, *value, "{}", said());
                    assert!(!call.repairs.is_empty(), "{}", said());
                    assert!(
                        call.repairs.iter().any(|r| r.to_string().ends_with(&place)),
                        "{:?} {}",
                        call.repairs,
                        said()
                    );
                    *mended += 1;
                }
                Err(rejected) => {
                    assert!(!accepted && !rejected.message.is_empty(), "{}", said());
                    *refused += 1;
                }
            }
        }
    }
    for (how, (same, mended, refused)) in Damage::ALL.iter().zip(counts) {
        assert!(mended > 20 && mended > 2 * refused, "{how:?}: {same} accepted, {mended} mended, {refused} refused");
    }
}

/// Returns arguments with the text `1` for every parameter of a tool.
fn guess(tool: &Tool) -> Value {
    tool.parameters().map(|p| (p.name.to_owned(), json!("1"))).collect::<serde_json::Map<_, _>>().into()
}
