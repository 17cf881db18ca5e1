//! Schemas that ask for work without end.

use serde_json::json;

use super::generate::Dice;
use super::*;

/// Returns a value inside this number of nested objects with the member `x`.
fn nested(depth: usize, inner: Value) -> Value {
    (0..depth).fold(inner, |value, _| json!({"x": value}))
}

/// Returns the checked arguments or the message, and the number of steps, which is within the limit.
#[track_caller]
fn counted(schema: &Value, arguments: Value) -> (Result<Value, String>, usize) {
    let limit = max_steps(&arguments);
    let (checked, steps) = validator(schema).check_counted(call("t", arguments), "");
    assert!(steps <= limit, "{steps} steps of {limit}");
    (checked.map(|call| call.arguments).map_err(|rejected| rejected.message), steps)
}

/// Returns a recursive schema each level of which doubles the branches that a value is compared with.
fn doubling(keyword: &str) -> Value {
    let level = |also: &str| json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/n"}, also: {"type": "string"}}, "required": ["x", also]});
    json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/n"}},
        "$defs": {"n": {keyword: [{"type": "integer"}, level("a"), level("b")]}}})
}

/// Returns a schema without recursion, in which each of `depth` parts refers to the next one twice.
fn shared(depth: usize, leaf: Value) -> Value {
    let mut parts: serde_json::Map<String, Value> = (0..depth)
        .map(|n| {
            let next = json!({"properties": {"x": {"$ref": format!("#/$defs/n{}", n + 1)}}});
            (format!("n{n}"), json!({"type": "object", "required": ["x"], "anyOf": [next, next]}))
        })
        .collect();
    parts.insert(format!("n{depth}"), leaf);
    json!({"type": "object", "$ref": "#/$defs/n0", "$defs": parts})
}

const TOO_MUCH: &str = "checking this against the schema takes more work than is allowed (";

/// Checks that arguments whose check would be too much work are accepted as they are.
#[track_caller]
fn unchecked(schema: &Value, arguments: Value) {
    let (checked, steps) = counted(schema, arguments.clone());
    assert_eq!(checked, Ok(arguments));
    assert!(steps < 200_000, "{steps} steps");
}

#[test]
fn branches_of_a_recursive_schema_that_share_a_key_are_given_up_before_they_explode() {
    for keyword in ["anyOf", "oneOf"] {
        let message = counted(&doubling(keyword), nested(5, json!("no"))).0.unwrap_err();
        assert!(message.starts_with("/x: fits none of"), "{message}");
        for depth in [17, 100] {
            unchecked(&doubling(keyword), nested(depth, json!("no")));
        }
    }
}

/// Tests a document of blocks, as editors of rich text have it: each kind of block may contain any, and a member with a
/// fixed value determines the kind.
#[test]
fn blocks_of_rich_text_are_checked_as_deep_as_documents_are() {
    let block = |kind: &str| {
        json!({"type": "object", "required": ["kind"], "properties": {"kind": {"const": kind},
        "content": {"type": "array", "items": {"$ref": "#/$defs/block"}}, "level": {"type": "integer"}}})
    };
    let kinds = ["paragraph", "heading", "list", "item", "quote"].map(block);
    let schema = json!({"type": "object", "properties": {"doc": {"$ref": "#/$defs/block"}},
        "$defs": {"block": {"anyOf": kinds}}});
    let document = |depth: usize, level: Value| {
        let leaf = json!({"kind": "heading", "level": level});
        json!({"doc": (0..depth).fold(leaf, |inner, _| json!({"kind": "list", "content": [inner]}))})
    };
    for depth in 0..5 {
        coerces_somehow(&schema, document(depth, json!("2")), document(depth, json!(2)));
        assert!(check(&schema, document(depth, json!("two"))).is_err());
    }
    for depth in [7, 30] {
        unchecked(&schema, document(depth, json!(2)));
    }
}

#[test]
fn what_goes_unchecked_is_an_object_with_the_members_that_are_required() {
    let mut schema = doubling("anyOf");
    schema["required"] = json!(["x", "title"]);
    schema["properties"]["title"] = json!({"type": "string"});
    let mut deep = nested(40, json!("no"));
    let refused = |arguments: Value| counted(&schema, arguments).0.unwrap_err();
    assert_eq!(refused(deep.clone()), "missing required property \"title\" (string)");
    assert_eq!(refused(json!(deep.to_string())), "missing required property \"title\" (string)");
    deep["title"] = json!(1);
    unchecked(&schema, deep.clone());
    // The whole of the arguments as text.
    assert_eq!(counted(&schema, json!(deep.to_string())).0, Ok(deep.clone()));
    assert!(refused(json!([deep.clone(), 1])).starts_with("expected a JSON object"));
    // What was refused before the work was too much stays refused.
    let text = json!({"x": deep["x"].to_string(), "title": "a"});
    assert!(refused(text).starts_with(TOO_MUCH));
    // An answer is what its schema wants, or nothing.
    let (checked, _) = OutputSchema::new(schema.clone()).unwrap().check_counted(&deep, "");
    let message = checked.unwrap_err().message;
    assert!(message.starts_with(TOO_MUCH), "{message}");
    assert!(message.ends_with(" steps); write it with less nesting or fewer values"), "{message}");
}

#[track_caller]
fn coerces_somehow(schema: &Value, arguments: Value, expected: Value) {
    assert_eq!(counted(schema, arguments).0, Ok(expected));
}

/// Tests a schema that refers to its own negation: it cannot be evaluated, so it refuses nothing.
#[test]
fn a_schema_that_denies_itself_checks_nothing() {
    let part = json!({"not": {"$ref": "#/$defs/a", "type": "integer"}, "type": "integer"});
    let schema = json!({"properties": {"x": {"$ref": "#/$defs/a", "anyOf": [{"$ref": "#/$defs/a"}]}},
        "$defs": {"a": part}});
    unchecked(&schema, json!({"x": 5}));
    assert!(counted(&schema, json!({})).0.is_ok());
}

#[test]
fn parts_that_are_shared_without_recursion_are_checked_while_they_are_few() {
    for depth in [5, 9] {
        assert!(counted(&shared(depth, json!({"type": "integer"})), nested(depth, json!("no"))).0.is_err());
        let (checked, _) = counted(&shared(depth, json!({"type": "integer"})), nested(depth, json!(5)));
        assert_eq!(checked, Ok(nested(depth, json!(5))));
    }
    unchecked(&shared(17, json!({"type": "integer"})), nested(17, json!(5)));
}

#[test]
fn values_below_any_of_are_coerced_at_every_depth() {
    let filter = |keyword: &str| {
        json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/n"}}, "required": ["x"], "$defs": {"n": {keyword: [
            {"type": "object", "properties": {"x": {"$ref": "#/$defs/n"}}, "required": ["x"]},
            {"type": "integer"},
        ]}}})
    };
    for keyword in ["anyOf", "oneOf"] {
        for depth in [7, 9, 30] {
            let checked = counted(&filter(keyword), nested(depth, json!("5"))).0;
            assert_eq!(checked, Ok(nested(depth, json!(5))), "{keyword}, {depth} levels");
        }
    }
    let checked = counted(&shared(7, json!({"type": "integer"})), nested(7, json!("5"))).0;
    assert_eq!(checked, Ok(nested(7, json!(5))));
}

#[test]
fn values_below_any_of_are_coerced_in_a_large_schema() {
    let options: Vec<Value> = (0..1_500).map(Value::from).collect();
    let schema = json!({"type": "object", "properties": {"x": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "y": {"enum": options}}});
    coerces(&schema, json!({"x": "5"}), json!({"x": 5}), &["coerced:/x"]);
    refuses(&schema, json!({"x": "five"}), "/x: expected integer or null, found string \"five\"");
}

#[test]
fn what_has_more_forms_than_can_be_tried_goes_unchecked() {
    let level = |also: &str| json!({"type": "object", "properties": {"x": {"$ref": "#n"}}, "required": [also]});
    let schema = json!({"type": "object", "properties": {"x": {"$ref": "#n"}},
        "$defs": {"n": {"$anchor": "n", "anyOf": [{"type": "integer"}, level("a"), level("b")]}}});
    refuses(&schema, json!({"x": "five"}), "/x: expected integer or object, found string \"five\"");
    unchecked(&schema, nested(40, json!("no")));
    let forms: Vec<Value> = (0..6_000).map(|n| json!({"required": [format!("p{n}")]})).collect();
    let schema = json!({"type": "object", "properties": {"x": {"type": "array", "items": {"anyOf": forms}}}});
    unchecked(&schema, json!({"x": vec![json!({}); 100]}));
}

#[test]
fn a_schema_past_a_limit_is_named_and_takes_any_object() {
    let forms = |count: usize| -> Value {
        let forms: Vec<Value> = (0..count).map(|n| json!({"required": [format!("p{n}")]})).collect();
        json!({"type": "object", "properties": {"x": {"anyOf": forms}}})
    };
    let referred = |count: usize| -> Value {
        let parts: Map<String, Value> = (0..count).map(|n| (format!("a{n}"), json!({}))).collect();
        let all: Vec<Value> = (0..count).map(|n| json!({"$ref": format!("#/$defs/a{n}")})).collect();
        json!({"type": "object", "properties": {"x": {"allOf": all}}, "$defs": parts})
    };
    let deep = |count: usize| (0..count).fold(json!({"type": "object"}), |inner, _| json!({"allOf": [inner]}));
    for (past, within, named) in [
        (forms(7_000), forms(6_000), "more than 20000 nodes"),
        (referred(1_001), referred(1_000), "more than 1000 references"),
        (deep(50), deep(49), "more than 100 levels"),
    ] {
        let validator = validator(&past);
        assert!(validator.check(call("t", json!({"x": {}})), "").is_ok());
        assert!(validator.check(call("t", json!([])), "").is_err());
        assert!(validator.problems()[0].message.contains(named), "{:?}", validator.problems());
        assert!(super::validator(&within).problems().is_empty(), "{named}");
    }
}

#[test]
fn ordinary_arguments_take_a_few_steps_for_each_value() {
    let schema = json!({"type": "object", "properties": {"x": {"type": "array", "items": {"type": "integer"}}}});
    let (checked, steps) = counted(&schema, json!({"x": vec![1; 20_000]}));
    assert!(checked.is_ok() && steps < 60_000, "{steps}");
    let items: Vec<String> = (0..20_000).map(|n| n.to_string()).collect();
    let (checked, steps) = counted(&schema, json!({"x": items}));
    assert!(checked.is_ok() && steps < 200_000, "{steps}");
}

#[test]
fn an_answer_s_schema_has_the_same_limit() {
    let schema = OutputSchema::new(doubling("anyOf")).unwrap();
    let value = nested(30, json!("no"));
    let (checked, steps) = schema.check_counted(&value, "");
    assert!(checked.is_err() && steps <= max_steps(&value), "{steps}");
}

/// Names of the parts that test schemas refer to, each with the reference to it.
const PARTS: [(&str, &str); 3] = [("a", "#/$defs/a"), ("b", "#/$defs/b"), ("c d", "#/$defs/c%20d")];

/// Returns a random schema with references to parts, in which each object counts its visits. For the value itself only
/// the parts from `from` on are referred to, since a circle would be meaningless.
fn some_schema(dice: &mut Dice, depth: usize, from: usize) -> Value {
    let part = |dice: &mut Dice| some_schema(dice, depth - 1, from);
    let inner = |dice: &mut Dice| some_schema(dice, depth - 1, 0);
    let mut schema = json!({"counted": true});
    if depth == 0 {
        schema["type"] = json!(["integer", "string", "object", "null"][dice.roll(4)]);
        return schema;
    }
    for _ in 0..1 + dice.roll(3) {
        let (key, said) = match dice.roll(17) {
            0 if from == PARTS.len() => continue,
            0 => ("$ref", json!(PARTS[from + dice.roll(PARTS.len() - from)].1)),
            1 | 2 => (["anyOf", "oneOf", "allOf"][dice.roll(3)], json!([part(dice), part(dice)])),
            3 => ("not", part(dice)),
            4 | 5 => ("properties", json!({"x": inner(dice), "y": inner(dice)})),
            6 => ("patternProperties", json!({"^[xz]": inner(dice)})),
            7 => ("additionalProperties", [json!(false), inner(dice)][dice.roll(2)].clone()),
            8 => ("items", inner(dice)),
            9 => ("prefixItems", json!([inner(dice), false])),
            10 => ("required", json!(["x"])),
            11 => ("enum", json!([1, {"x": 1}, "s", [1]])),
            12 => ("dependentSchemas", json!({"x": part(dice)})),
            13 => ("contains", inner(dice)),
            14 => ("maxContains", json!(1)),
            15 => ("propertyNames", json!({"maxLength": 1, "anyOf": [{"const": "x"}, {"pattern": "[yz]"}]})),
            _ => (["if", "then", "else"][dice.roll(3)], part(dice)),
        };
        schema[key] = said;
    }
    schema
}

fn some_value(dice: &mut Dice, depth: usize) -> Value {
    match dice.roll(if depth == 0 { 4 } else { 9 }) {
        0 => json!(1),
        1 => json!("s"),
        2 => json!(null),
        3 => json!({}),
        4 => json!([some_value(dice, depth - 1), some_value(dice, depth - 1)]),
        5 => json!({"zz": some_value(dice, depth - 1)}),
        6 => json!({"y": some_value(dice, depth - 1), "z": 1}),
        _ => json!({"x": some_value(dice, depth - 1)}),
    }
}

thread_local! {
    static VISITS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Keyword that accepts every value and counts its evaluations.
struct Counted;

impl<'i> jsonschema::Keyword<'i> for Counted {
    fn validate(&self, _: &'i Value) -> Result<(), jsonschema::ValidationError<'i>> {
        VISITS.set(VISITS.get() + 1);
        Ok(())
    }

    fn is_valid(&self, _: &'i Value) -> bool {
        VISITS.set(VISITS.get() + 1);
        true
    }
}

/// Tests that the validator evaluates no more subschemas than were counted in advance.
#[test]
fn the_validator_does_no_more_than_was_counted() {
    let draft = jsonschema::Draft::Draft202012;
    let mut asked = 0;
    for seed in 1..1500 {
        let mut dice = Dice::new(seed);
        let mut schema = some_schema(&mut dice, 3, 0);
        for (from, (name, _)) in PARTS.iter().enumerate() {
            schema["$defs"][name] = some_schema(&mut dice, 2, from + 1);
        }
        let built = compile::options(draft).with_keyword("counted", |_, _, _| Ok(Box::new(Counted))).build(&schema);
        let (Ok(validator), Ok(_)) = (built, CompiledSchema::new(&schema)) else { continue };
        let value = some_value(&mut dice, 4);
        let Some(visits) = parts::visits(&schema, draft, &schema, &value, 100_000) else { continue };
        VISITS.set(0);
        let _ = validator.is_valid(&value);
        assert!(VISITS.get() <= visits, "{} of {visits} visits: {value} for {schema}", VISITS.get());
        asked += 1;
    }
    assert!(asked > 700, "{asked}");
}

/// Returns a branch that requires a member with a name of its own, which the value lacks.
fn branch(n: usize) -> Value {
    json!({"type": "object", "properties": {"kind": {"const": format!("k{n}")}, "a": {"type": "integer"}},
        "required": ["kind", format!("r{n}")]})
}

fn branches(n: usize) -> Value {
    (0..n).map(branch).collect()
}

/// Tests that the questions that each branch repeats (the keys of an object, the requirements of its keywords) are
/// answered once: the steps grow with the schema, not with its square.
#[test]
fn many_branches_take_steps_as_there_are_branches() {
    let given = json!({"kind": "no", "a": "5", "other": 7});
    let named = |n| (0..n).map(|n| (format!("n{n}"), branch(n))).collect::<Map<_, _>>();
    let references = |n| (0..n).map(|n| json!({"$ref": format!("#/$defs/n{n}")})).collect::<Value>();
    type Shape<'s> = &'s dyn Fn(usize) -> Value;
    let shapes: [(&str, Shape<'_>, Value); 4] = [
        ("anyOf", &|n| json!({"properties": {"x": {"anyOf": branches(n)}}}), given.clone()),
        ("oneOf", &|n| json!({"properties": {"x": {"items": {"oneOf": branches(n)}}}}), json!([given, given])),
        ("$ref", &|n| json!({"properties": {"x": {"anyOf": references(n)}}, "$defs": named(n)}), given.clone()),
        ("text", &|n| json!({"properties": {"x": {"anyOf": branches(n)}}}), json!(given.to_string())),
    ];
    for (name, schema, value) in shapes {
        let steps = |n: usize| {
            let (checked, steps) = counted(&schema(n), json!({"x": value}));
            assert!(checked.unwrap_err().contains("/x"), "{name}");
            steps
        };
        let (few, many) = (steps(20), steps(120));
        assert!(many < 10 * few, "{name}: {few} steps for 20 branches, {many} for 120");
    }
}

/// Tests that validators for all subschemas are compiled only if that is little work: if all refer to each other, it
/// is the square of their number.
#[test]
fn what_is_compiled_for_the_branches_is_counted_before() {
    let expression = |n: usize| {
        let operation =
            |n: usize| json!({"properties": {"op": {"const": n}, "of": {"$ref": "#/$defs/e"}}, "required": ["op"]});
        json!({"properties": {"x": {"$ref": "#/$defs/e"}},
            "$defs": {"e": {"anyOf": (0..n).map(operation).collect::<Vec<_>>()}}})
    };
    let work = compile::branch_work;
    // Each of the objects is compiled with all that it holds or may lead to.
    assert_eq!(work(&json!({"a": {"b": {}}})), 3 + 2 + 1);
    let one = json!({"$defs": {"e": {"$ref": "#/$defs/e"}}});
    assert_eq!(work(&one), (4 + 2) + (3 + 2) + (2 + 2));
    let (few, many) = (expression(20), expression(200));
    assert!(work(&many) > 50 * work(&few));
    for (schema, compiles) in [(few, true), (many, false)] {
        let compiled = CompiledSchema::new(&schema).unwrap();
        assert_eq!(compiled.branch("/$defs/e/anyOf/0").is_some(), compiles);
        refuses_somehow(&schema, json!({"x": {"op": "no"}}));
    }
}

#[track_caller]
fn refuses_somehow(schema: &Value, arguments: Value) {
    let message = counted(schema, arguments).0.unwrap_err();
    assert!(message.starts_with("/x: fits none of"), "{message}");
}

/// Returns a schema with this number of parts that refer to the next one, each inside this keyword.
fn chain(links: usize, link: impl Fn(Value) -> Value) -> Value {
    let mut parts: serde_json::Map<String, Value> =
        (0..links).map(|n| (format!("a{n}"), link(json!({"$ref": format!("#/$defs/a{}", n + 1)})))).collect();
    parts.insert(format!("a{links}"), json!({"type": "object", "required": ["z"]}));
    json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/a0"}}, "$defs": parts})
}

/// Runs `job` on a thread with a stack of 2 MiB, as threads of a server have.
fn on_a_small_stack(job: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(2 << 20).spawn(job).unwrap().join().unwrap();
}

/// Tests that the nesting of a schema or a value does not use up the stack of the calling thread.
#[test]
fn parts_that_stand_deep_in_each_other_end_no_process() {
    type Link = fn(Value) -> Value;
    let links: [Link; 5] = [
        |next| next,
        |next| json!({"allOf": [next]}),
        |next| json!({"anyOf": [next, {"type": "integer"}]}),
        |next| json!({"not": {"not": next}}),
        |next| json!({"$anchor": next["$ref"].as_str().unwrap().replace("#/$defs/", "b"), "$ref": next["$ref"]}),
    ];
    for link in links {
        for count in [20, 60, 200, 900, 3_000] {
            on_a_small_stack(move || {
                let schema = chain(count, link);
                let validator = validator(&schema);
                let problem = validator.problem(None, "t").map(|problem| problem.message.clone());
                let is_refused = validator.check(call("t", json!({"x": {}})), "").is_err();
                match problem {
                    Some(problem) => {
                        let is_past = ["levels", "references"].iter().any(|limit| problem.contains(limit));
                        assert!(count > 20 && is_past, "{count}: {problem}");
                    }
                    None => assert!(is_refused, "{count}"),
                }
            });
        }
    }
}

#[test]
fn deep_values_of_schemas_that_recur_end_no_process() {
    for (keyword, wrapped, as_text) in [("allOf", 4, false), ("anyOf", 0, true)] {
        on_a_small_stack(move || {
            let level = |also: &str| {
                let part =
                    json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/n"}}, "required": ["x", also]});
                (0..wrapped).fold(part, |part, _| json!({"allOf": [part]}))
            };
            let branches = [level("a"), level("b"), json!({"type": "array", "items": {"$ref": "#/$defs/n"}})];
            let schema = json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/n"}},
                "$defs": {"n": {keyword: branches}}});
            let value = nested(110, json!({}));
            let value = if as_text { json!({"x": value.to_string()}) } else { value };
            assert_eq!(counted(&schema, value).0.is_err(), as_text, "{keyword} {wrapped}");
        });
    }
}
