use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Returns the values that are found in a text, each with `true` if it is in a code fence.
fn found(text: &str) -> Vec<(Value, bool)> {
    find_values(text).values.into_iter().map(|v| (v.value, v.fenced)).collect()
}

#[test]
fn a_value_is_found_whatever_stands_around_it() {
    let value = json!({"a": [1, "}"]});
    for (text, fenced) in [
        (r#"{"a": [1, "}"]}"#, false),
        ("\n {\"a\": [1, \"}\"]} \n", false),
        ("Sure! {\"a\": [1, \"}\"]} Done.", false),
        ("See [here] and {this}: {\"a\": [1, \"}\"]}", false),
        ("```json\n{\"a\": [1, \"}\"]}\n```", true),
        ("Sure:\n~~~\n{\"a\":\n[1, \"}\"]}\n~~~\nDone.", true),
        ("  ```\n  {\"a\": [1, \"}\"]}\n  ```", true),
        ("'''json\n{\"a\": [1, \"}\"]}\n'''", true),
        ("```json\n{\"a\": [1, \"}\"]}", true),
        ("`{\"a\": [1, \"}\"]}`", false),
        ("\\boxed{{\"a\": [1, \"}\"]}}", false),
        ("f({\"a\": [1, \"}\"]})", false),
    ] {
        assert_eq!(found(text), [(value.clone(), fenced)], "{text}");
    }
}

#[test]
fn several_values_come_in_order_and_nothing_from_inside_another() {
    let text = "[1] then\n```\n{\"a\": {\"b\": 1}}\n```\n{\"c\": \"```\\n{}\"} {}";
    let expected =
        [(json!([1]), false), (json!({"a": {"b": 1}}), true), (json!({"c": "```\n{}"}), false), (json!({}), false)];
    assert_eq!(found(text), expected);
}

#[test]
fn other_values_count_where_they_stand_alone() {
    for (text, expected) in [
        ("42", vec![(json!(42), false)]),
        (" \"yes\"\n", vec![(json!("yes"), false)]),
        ("```json\ntrue\n```", vec![(json!(true), true)]),
        ("It is:\n```\n-1.5\n```\nor so", vec![(json!(-1.5), true)]),
        ("The answer is 42.", vec![]),
        ("yes", vec![]),
        ("", vec![]),
    ] {
        assert_eq!(found(text), expected, "{text}");
    }
}

#[test]
fn ranges_are_the_values_own_bytes() {
    for text in ["x {\"a\": 1} y", "```\n [1, 2]\n```", "```\n  7\n```", " 7 "] {
        let value = &find_values(text).values[0];
        assert_eq!(serde_json::from_str::<Value>(&text[value.range.clone()]).unwrap(), value.value, "{text}");
    }
}

#[test]
fn faults_are_mended_as_in_arguments_and_named() {
    for (text, value, repair) in [
        ("So: {\"a\": 1,} ok", json!({"a": 1}), "syntax"),
        ("```json\n{\"a\": \"x\ny\"}\n```", json!({"a": "x\ny"}), "syntax"),
        ("{&quot;a&quot;: 1}", json!({"a": 1}), "entities"),
    ] {
        let found = find_values(text).values;
        let repairs: Vec<String> = found[0].repairs.iter().map(ToString::to_string).collect();
        assert_eq!((&found[0].value, repairs), (&value, vec![repair.to_owned()]), "{text}");
    }
}

#[test]
fn what_begins_like_a_value_and_is_none_is_told() {
    for (text, start, unfinished, words) in [
        ("So {\"a\": [1, 2", 3, true, "the text ends before"),
        ("```\n{\"a\": \"b\n```\nDone.", 4, false, "the code block ends before"),
        ("{\"a\": 1 b} [", 0, false, "line 1 column 9"),
        ("{\"a\": 1, \"a\": 2}", 0, false, "is given twice"),
    ] {
        let found = find_values(text);
        assert_eq!(found.values, [], "{text}");
        let broken = found.broken.unwrap_or_else(|| panic!("{text}"));
        assert_eq!((broken.range.start, broken.unfinished), (start, unfinished), "{text}");
        assert!(broken.message.contains(words), "{text}: {}", broken.message);
    }
    for prose in ["no brackets", "a [link] and {{ mustache }}", "x[i] = {y}", "[ ]( ) :-["] {
        let broken = find_values(prose).broken;
        assert!(broken.is_none_or(|b| !b.unfinished || prose.ends_with('[')), "{prose}");
    }
}

#[test]
fn hostile_text_takes_no_quadratic_time() {
    // Each would take minutes if every bracket were read to the end.
    for text in ["{'".repeat(40_000), "[".repeat(60_000), "{\"a\":".repeat(20_000), "{a ".repeat(40_000)] {
        assert_eq!(find_values(&text).values, []);
    }
    let mut text = "{x ".repeat(20_000);
    text.push_str("\n```json\n{\"a\": 1}\n```");
    assert_eq!(found(&text), [(json!({"a": 1}), true)]);
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        "[`{}\\[\\]\"\\\\\n~' a]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec(("[a-z`{}\"]{0,6}", inner), 0..5).prop_map(|m| m.into_iter().collect::<Value>()),
        ]
    })
}

proptest! {
    /// Any JSON object is found complete: among prose, in a fence or alone.
    #[test]
    fn a_value_is_found_at_any_place(
        members in prop::collection::vec(("[a-z]{1,6}", json_value()), 0..5),
        before in "[a-zA-Z0-9 .,;:!?()=<>&\n]{0,80}",
        after in "[a-zA-Z0-9 .,;:!?()=<>&\n{}\\[\\]]{0,80}",
        wrap in 0usize..4,
        pretty: bool,
    ) {
        let value: Value = members.into_iter().collect();
        let json = if pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() };
        let text = match wrap {
            0 => format!("{before}{json}{after}"),
            1 => format!("{before}\n```json\n{json}\n```\n{after}"),
            2 => format!("{before}\n~~~~\n{json}\n~~~~\n{after}"),
            _ => json.clone(),
        };
        let found = find_values(&text);
        let first = &found.values[0];
        prop_assert_eq!(&first.value, &value);
        prop_assert_eq!(&text[first.range.clone()], json.as_str());
        prop_assert_eq!(first.fenced, wrap == 1 || wrap == 2);
        prop_assert!(first.repairs.is_empty());
    }

    /// In any text the search does not panic, and the ranges of values are in order.
    #[test]
    fn any_text_can_be_searched(text in "([{}\\[\\]\",:`~'\n\\\\a1 é“”]|```json\n|true|\"a\":){0,60}") {
        let found = find_values(&text);
        let mut end = 0;
        for value in found.values {
            prop_assert!(value.range.start >= end && value.range.end <= text.len());
            end = value.range.end;
            prop_assert!(text.is_char_boundary(value.range.start) && text.is_char_boundary(end));
        }
    }
}

#[test]
fn a_text_that_is_to_be_one_value_has_nothing_beside_it() {
    let fenced = read_value("```json\n{\"a\": 1}\n```\n").unwrap();
    assert_eq!((fenced.value, fenced.repairs), (serde_json::json!({"a": 1}), vec![Repair::Fence]));
    assert_eq!(read_value(" 7 ").unwrap().value, serde_json::json!(7));
    for (text, unfinished) in [
        ("{\"a\": 1} {\"b\": 2}", false),
        ("so {\"a\": 1}", false),
        ("{\"a\": {\"b\": 1}", true),
        ("{\"a\": [1, {\"b\": \"c", true),
        ("none", false),
        ("", false),
    ] {
        assert_eq!(read_value(text).unwrap_err().unfinished, unfinished, "{text}");
    }
}
