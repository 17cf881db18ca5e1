//! Schemas that ask for work without end.

use serde_json::json;

use super::generate::Dice;
use super::*;

/// A value inside so many objects with the member `x`.
fn nested(depth: usize, inner: Value) -> Value {
    (0..depth).fold(inner, |value, _| json!({"x": value}))
}

/// The checked call and the steps, which are within the limit.
#[track_caller]
fn counted(schema: &Value, arguments: Value) -> (Result<Value, String>, usize) {
    let limit = max_steps(&arguments);
    let (checked, steps) = validator(schema).check_counted(call("t", arguments), "");
    assert!(steps <= limit, "{steps} steps of {limit}");
    (checked.map(|call| call.arguments).map_err(|rejected| rejected.message), steps)
}

/// Each level of it doubles the branches that a value is held against.
fn doubling(keyword: &str) -> Value {
    let level = |also: &str| json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/n"}, also: {"type": "string"}}, "required": ["x", also]});
    json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/n"}},
        "$defs": {"n": {keyword: [{"type": "integer"}, level("a"), level("b")]}}})
}

/// The same without recursion: each of `depth` parts refers to the next one twice.
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

#[test]
fn branches_of_a_recursive_schema_that_share_a_key_take_few_steps() {
    for keyword in ["anyOf", "oneOf"] {
        for depth in [17, 100] {
            let (checked, steps) = counted(&doubling(keyword), nested(depth, json!("no")));
            let message = checked.unwrap_err();
            assert!(message.starts_with("/x: fits none of"), "{message}");
            assert!(steps < 1_500_000, "{keyword}, {depth} levels: {steps} steps");
        }
    }
}

/// "Not what I say of this value": whatever is judged first, no place refuses anything.
#[test]
fn a_schema_that_denies_itself_is_said_to_be_a_circle() {
    let part = json!({"not": {"$ref": "#/$defs/a", "type": "integer"}, "type": "integer"});
    let schema = json!({"properties": {"x": {"$ref": "#/$defs/a", "anyOf": [{"$ref": "#/$defs/a"}]}},
        "$defs": {"a": part}});
    let (checked, _) = counted(&schema, json!({"x": 5}));
    let message = checked.unwrap_err();
    assert!(message.contains("in a circle"), "{message}");
}

#[test]
fn parts_that_are_shared_without_recursion_take_few_steps() {
    for depth in [17, 60] {
        let (checked, steps) = counted(&shared(depth, json!({"type": "integer"})), nested(depth, json!("no")));
        assert!(checked.is_err() && steps < 1_500_000, "{depth} levels: {steps} steps");
        let (checked, _) = counted(&shared(depth, json!({"type": "integer"})), nested(depth, json!(5)));
        assert_eq!(checked, Ok(nested(depth, json!(5))));
    }
}

/// References that lead back to where they came from say nothing, but the
/// validator passes what stands on the circle once for each way into it.
#[test]
fn what_stands_on_a_circle_of_references_takes_few_steps() {
    let schema = json!({"properties": {"x": {"$ref": "#/$defs/a"}}, "$defs": {
        "a": {"$ref": "#/$defs/b"},
        "b": {"$ref": "#/$defs/a", "properties": {"x": {"$ref": "#/$defs/b", "maxLength": 1}}},
    }});
    let (checked, steps) = counted(&schema, nested(60, json!("no")));
    let message = checked.unwrap_err();
    assert!(message.ends_with("expected at most 1 characters, found 2"), "{message}");
    assert!(steps < 200_000, "{steps} steps");
    assert!(counted(&schema, nested(60, json!("n"))).0.is_ok());
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
        for depth in [7, 9, 100] {
            let checked = counted(&filter(keyword), nested(depth, json!("5"))).0;
            assert_eq!(checked, Ok(nested(depth, json!(5))), "{keyword}, {depth} levels");
        }
    }
    for depth in [9, 30] {
        let checked = counted(&shared(depth, json!({"type": "integer"})), nested(depth, json!("5"))).0;
        assert_eq!(checked, Ok(nested(depth, json!(5))), "{depth} levels");
    }
}

#[test]
fn values_below_any_of_are_coerced_in_a_schema_of_any_size() {
    let options: Vec<Value> = (0..30_000).map(Value::from).collect();
    let schema = json!({"type": "object", "properties": {"x": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "y": {"enum": options}}});
    coerces(&schema, json!({"x": "5"}), json!({"x": 5}), &["coerced:/x"]);
    refuses(&schema, json!({"x": "five"}), "/x: expected integer or null, found string \"five\"");
}

#[test]
fn what_is_judged_part_by_part_is_explained_as_ever() {
    let shape = |kind: &str, wants: &str| json!({"type": "object", "properties": {"kind": {"const": kind}, wants: {"type": "number"}}, "required": ["kind", wants]});
    let one = json!({
        "$defs": {"shape": {"oneOf": [shape("circle", "r"), shape("square", "a")]}},
        "type": "object",
        "properties": {
            "x": {"$ref": "#/$defs/shape"},
            "list": {"type": "array", "items": {"$ref": "#/$defs/shape"}, "contains": {"required": ["r"]}},
            "not": {"not": {"type": "null"}},
            "names": {"propertyNames": {"maxLength": 2}},
            "never": false,
            "if": {"if": {"required": ["a"]}, "then": {"required": ["b"]}},
            "with": {"dependentSchemas": {"a": {"required": ["b"]}}, "dependentRequired": {"c": ["d"]}},
            "pair": {"prefixItems": [{"type": "integer"}, {"type": "boolean"}], "items": false},
            "map": {"patternProperties": {"^n_": {"type": "integer"}}, "additionalProperties": {"type": "boolean"}},
        },
        "additionalProperties": false,
    });
    let circle = json!({"kind": "circle", "r": 1});
    let arguments = [
        json!({"x": circle, "list": [circle], "not": 1, "names": {"ab": 1}, "pair": [1, true], "map": {"n_a": 1, "b": true}}),
        json!({"x": {"kind": "square"}}),
        json!({"x": {"kind": "star"}}),
        json!({"x": 5}),
        json!({"list": [{"kind": "square", "a": 1}]}),
        json!({"list": [circle, {"kind": "square", "a": "wide"}]}),
        json!({"not": null}),
        json!({"names": {"abc": 1}}),
        json!({"never": 1}),
        json!({"if": {"a": 1}}),
        json!({"with": {"a": 1, "c": 1}}),
        json!({"pair": [1, true, 2]}),
        json!({"pair": ["x", true]}),
        json!({"map": {"n_a": true, "b": 1}}),
        json!({"unknown": 1}),
        json!({"list": {}, "x": []}),
    ];
    let compiled = Compiled::new(&one).unwrap();
    for arguments in arguments {
        let said = explained(&one, &compiled, &arguments, false);
        assert_eq!(explained(&one, &compiled, &arguments, true), said, "{arguments}");
        assert_eq!(said.is_empty(), compiled.validator.is_valid(&arguments), "{arguments}");
    }
}

/// What is said of arguments as they are: by the validator, or part by part.
fn explained(schema: &Value, compiled: &Compiled, arguments: &Value, by_parts: bool) -> String {
    let work = Work::on(arguments);
    let refusals = match by_parts {
        true => judge::Judge::new(compiled, schema, &work)
            .refusals("", arguments, explain::MAX_NESTING, explain::MAX_READ)
            .unwrap(),
        false => {
            compiled.validator.iter_errors(arguments).map(|e| refusal::Refusal::of(e, arguments, "", "")).collect()
        }
    };
    let mut lines: Vec<_> = explain::explain(schema, &refusals).split("; ").map(str::to_owned).collect();
    lines.sort();
    lines.join("; ")
}

#[test]
fn what_takes_more_work_than_is_allowed_is_refused_and_says_so() {
    // Names for parts are not followed where the work doubles.
    let level = |also: &str| json!({"type": "object", "properties": {"x": {"$ref": "#n"}}, "required": [also]});
    let schema = json!({"type": "object", "properties": {"x": {"$ref": "#n"}},
        "$defs": {"n": {"$anchor": "n", "anyOf": [{"type": "integer"}, level("a"), level("b")]}}});
    refuses(&schema, json!({"x": "five"}), "/x: expected integer or object, found string \"five\"");
    let (checked, _) = counted(&schema, nested(40, json!("no")));
    let message = checked.unwrap_err();
    assert!(message.starts_with("checking this against the schema takes more work than is allowed ("), "{message}");
    assert!(message.ends_with(" steps); write it with less nesting or fewer values"), "{message}");
    // So is what has more forms than can be tried.
    let forms: Vec<Value> = (0..9_000).map(|n| json!({"required": [format!("p{n}")]})).collect();
    let schema = json!({"type": "object", "properties": {"x": {"type": "array", "items": {"anyOf": forms}}}});
    let (checked, _) = counted(&schema, json!({"x": vec![json!({}); 100]}));
    assert!(checked.unwrap_err().starts_with("checking this against the schema takes more work"));
}

#[test]
fn a_schema_of_too_many_parts_is_named_and_takes_any_object() {
    let forms = |count: usize| -> Value {
        let forms: Vec<Value> = (0..count).map(|n| json!({"required": [format!("p{n}")]})).collect();
        json!({"type": "object", "properties": {"x": {"anyOf": forms}}})
    };
    let large = validator(&forms(11_000));
    assert!(large.check(call("t", json!({"x": {}})), "").is_ok());
    assert!(large.check(call("t", json!([])), "").is_err());
    assert!(large.problems()[0].message.contains("more than 20000 parts"), "{:?}", large.problems());
    assert!(validator(&forms(9_000)).problems().is_empty());
    // Values that a schema lists are none of its parts.
    let listed: Vec<Value> = (0..50_000).map(|n| json!([n])).collect();
    assert!(check(&json!({"properties": {"x": {"enum": listed}}}), json!({"x": 1})).is_err());
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

/// The parts that schemas refer to, and how.
const PARTS: [(&str, &str); 3] = [("a", "#/$defs/a"), ("b", "#/$defs/b"), ("c d", "#/$defs/c%20d")];

/// A schema with references to parts; each object counts its visits. A value
/// itself is referred to the parts from `from` on only: a circle means nothing.
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

/// A keyword that takes every value and counts.
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

/// What is judged part by part is what the validator says, and the validator
/// does no more than was counted before.
#[test]
fn the_parts_say_what_the_validator_says_which_does_no_more_than_was_counted() {
    let (mut valid, mut refused) = (0, 0);
    for seed in 1..1500 {
        let mut dice = Dice::new(seed);
        let mut schema = some_schema(&mut dice, 3, 0);
        for (from, (name, _)) in PARTS.iter().enumerate() {
            schema["$defs"][name] = some_schema(&mut dice, 2, from + 1);
        }
        let built = compile::options(jsonschema::Draft::Draft202012)
            .with_keyword("counted", |_, _, _| Ok(Box::new(Counted)))
            .build(&schema);
        let (Ok(validator), Ok(compiled)) = (built, Compiled::new(&schema)) else { continue };
        let value = some_value(&mut dice, 4);
        let rules = compiled.rules(&schema);
        let Some(visits) = parts::visits(&rules, &schema, &value, 100_000) else { continue };
        VISITS.set(0);
        let says = validator.is_valid(&value);
        assert!(VISITS.get() <= visits, "{} of {visits} visits: {value} for {schema}", VISITS.get());
        let work = Work::on(&value);
        if seed % 2 == 0 {
            // As where many parts are asked.
            compiled.alone(|| rules.parts().into_iter().map(|part| judge::alone(part).into()).collect());
        }
        let mut judge = judge::Judge::new(&compiled, &schema, &work);
        assert_eq!(judge.takes(&schema, &value), Some(says), "{value} for {schema}");
        let found = judge.refusals("", &value, 4, 1000).unwrap();
        assert_eq!(found.is_empty(), says, "{value} for {schema}");
        if says { valid += 1 } else { refused += 1 }
    }
    assert!(valid > 200 && refused > 200, "{valid} valid, {refused} refused");
}

/// A branch with a name of its own, which wants a member that is not there.
fn branch(n: usize) -> Value {
    json!({"type": "object", "properties": {"kind": {"const": format!("k{n}")}, "a": {"type": "integer"}},
        "required": ["kind", format!("r{n}")]})
}

fn branches(n: usize) -> Value {
    (0..n).map(branch).collect()
}

/// What each branch asks again (which keys the place has, what its keywords say) is found out
/// once: the steps grow as the schema does, and not with its square.
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
        let (few, many) = (steps(400), steps(2_800));
        assert!(many < 10 * few, "{name}: {few} steps for 400 branches, {many} for 2,800");
    }
}

/// Validators for all subschemas are compiled only where that is little: where all refer to
/// each other it is the square of their number.
#[test]
fn what_is_compiled_for_the_branches_is_counted_before() {
    let expression = |n: usize| {
        let operation =
            |n: usize| json!({"properties": {"op": {"const": n}, "of": {"$ref": "#/$defs/e"}}, "required": ["op"]});
        json!({"properties": {"x": {"$ref": "#/$defs/e"}},
            "$defs": {"e": {"anyOf": (0..n).map(operation).collect::<Vec<_>>()}}})
    };
    let work = |schema: &Value| compile::branch_work(schema, usize::MAX).unwrap();
    // Each of the objects is compiled with all that it holds or leads to.
    assert_eq!(work(&json!({"a": {"b": {}}})), 3 + 2 + 1);
    let one = json!({"$defs": {"e": {"$ref": "#/$defs/e"}}});
    assert_eq!(work(&one), (4 + 2) + (3 + 2) + (2 + 2));
    let (few, many) = (expression(20), expression(200));
    assert!(work(&many) > 50 * work(&few));
    for (schema, compiles) in [(few, true), (many, false)] {
        let compiled = Compiled::new(&schema).unwrap();
        assert_eq!(compiled.branch(&schema, "/$defs/e/anyOf/0").is_some(), compiles);
        refuses_somehow(&schema, json!({"x": {"op": "no"}}));
    }
}

#[track_caller]
fn refuses_somehow(schema: &Value, arguments: Value) {
    let message = counted(schema, arguments).0.unwrap_err();
    assert!(message.starts_with("/x: fits none of"), "{message}");
}

/// So many parts that refer to the next one, each inside this keyword.
fn chain(links: usize, link: impl Fn(Value) -> Value) -> Value {
    let mut parts: serde_json::Map<String, Value> =
        (0..links).map(|n| (format!("a{n}"), link(json!({"$ref": format!("#/$defs/a{}", n + 1)})))).collect();
    parts.insert(format!("a{links}"), json!({"type": "object", "required": ["z"]}));
    json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/a0"}}, "$defs": parts})
}

/// As much stack as a thread of a server has, and no more.
fn on_a_small_stack(job: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(2 << 20).spawn(job).unwrap().join().unwrap();
}

/// What a schema or a value is deep in takes no stack of the thread that asks.
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
        for count in [60, 200, 900, 3_000] {
            on_a_small_stack(move || {
                let schema = chain(count, link);
                let validator = validator(&schema);
                let problem = validator.problem(None, "t").map(|problem| problem.message.clone());
                let is_refused = validator.check(call("t", json!({"x": {}})), "").is_err();
                match problem {
                    Some(problem) => assert!(count > 200 && problem.contains("levels deep"), "{count}: {problem}"),
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
            assert!(counted(&schema, value).0.is_err(), "{keyword} {wrapped}");
        });
    }
}
