use serde_json::{Value, json};

use super::*;

fn mended(text: &str) -> Result<(Value, Vec<String>), &'static str> {
    let mended = mend(text).map_err(|stop| stop.why)?;
    // What is mended is JSON and needs no mending.
    assert_eq!(mend(&mended.text), Ok(Mended { text: mended.text.clone(), repairs: vec![] }), "{text}");
    let value = serde_json::from_str(&mended.text).unwrap_or_else(|e| panic!("{text} became {}: {e}", mended.text));
    Ok((value, mended.repairs.iter().map(ToString::to_string).collect()))
}

#[track_caller]
fn assert_mended(text: &str, value: Value, repairs: &[&str]) {
    let (got, named) = mended(text).unwrap_or_else(|why| panic!("{text}: {why}"));
    assert_eq!(
        (&got, named.as_slice()),
        (&value, repairs.iter().map(|r| (*r).to_owned()).collect::<Vec<_>>().as_slice())
    );
}

#[track_caller]
fn assert_refused(texts: &[&str], why: &str) {
    for text in texts {
        let found = mended(text).expect_err(text);
        assert!(found.contains(why), "{text}: {found}");
    }
}

#[test]
fn json_stays_as_it_is() {
    for text in ["{ \"a\" : [ 1 , \"x\\u00e9\\n\" ] }\n", "[]", "{}", "-1.5e3", "\"\"", "null"] {
        assert_eq!(mend(text), Ok(Mended { text: text.into(), repairs: vec![] }));
    }
}

#[test]
fn quotes_may_be_single_or_typographic() {
    assert_mended("{'a': 'it\\'s \"x\"'}", json!({"a": "it's \"x\""}), &["quotes"]);
    assert_mended("{“a”: ‘b’, ”c”：“d“}", json!({"a": "b", "c": "d"}), &["quotes", "full_width"]);
    assert_mended("{「a」: 「b」, 「c」: 1}", json!({"a": "b", "c": 1}), &["quotes"]);
    assert_mended("{“a”: “say \"x\" now”}", json!({"a": "say \"x\" now"}), &["quotes", "inner_quotes"]);
}

#[test]
fn quotation_marks_inside_a_string_stay_where_that_is_certain() {
    for (text, value) in [
        (r#"{"a": "He said "yes", and left", "b": 1}"#, "He said \"yes\", and left"),
        (r#"{"a": "a 24" screen"}"#, "a 24\" screen"),
        (r#"{"a": "it is 72""}"#, "it is 72\""),
        (r#"{"a": "print("x", "y")", "b": 2}"#, "print(\"x\", \"y\")"),
        (r#"{"a": "<p id="x">"y"</p>"}"#, "<p id=\"x\">\"y\"</p>"),
        (r#"{"a": "v"alue"}"#, "v\"alue"),
        (r#"{"a": "他说"你好"了"}"#, "他说\"你好\"了"),
    ] {
        let (got, named) = mended(text).unwrap_or_else(|why| panic!("{text}: {why}"));
        assert_eq!((got["a"].as_str(), named), (Some(value), vec!["inner_quotes".to_owned()]), "{text}");
    }
    assert_mended("{'a': 'it's Jo's'}", json!({"a": "it's Jo's"}), &["quotes", "inner_quotes"]);
    assert_mended(r#"["x "y" z", "w"]"#, json!(["x \"y\" z", "w"]), &["inner_quotes"]);
}

#[test]
fn a_string_whose_end_is_not_certain_is_refused() {
    let marks = [
        r#"{"a": "He said "yes", "no": "maybe"}"#,
        r#"{"a": "x", y": "z"}"#,
        r#"{"a":"b"c":"d"}"#,
        r#"{"a": ""5""}"#,
        r#"{"a": ""value"}"#,
        r#"["hello, "world"]"#,
        r#"["x" y", "z"]"#,
        r#"["print("a", "b")", "c"]"#,
        r#"{"a": "x" + "y"}"#,
        r#"{"a": "", "b"x: "]z"}"#,
        r#"{"a": "b: " , "c"x: ".d"}"#,
    ];
    for text in marks {
        assert!(mended(text).is_err(), "{text}: {:?}", mended(text));
    }
    assert_refused(&[r#"{"a": "b, "c": 1, "d": 2}"#, "{\"a\": \"b\n\"c\": 24\" x 2}"], "a member begins");
    assert_refused(&[r#"{"a": "b}"#, r#"{"a": "b"#, "{'a', 'b'}"], "not closed");
}

#[test]
fn stray_backslashes_are_data_where_the_others_are_beyond_doubt() {
    assert_mended(r#"{"a": "C:\Users\me"}"#, json!({"a": "C:\\Users\\me"}), &["backslashes"]);
    assert_mended(r#"{"a": "\d+\.\w \"x\""}"#, json!({"a": "\\d+\\.\\w \"x\""}), &["backslashes"]);
    assert_mended(r#"{"a": "x\n\n  y = \d\n\tz"}"#, json!({"a": "x\n\n  y = \\d\n\tz"}), &["backslashes"]);
    assert_mended(r#"{"a": "it\'s"}"#, json!({"a": "it's"}), &["backslashes"]);
    for text in [
        r#"{"a": "C:\Users\new"}"#,
        r#"{"a": "\\server\share"}"#,
        r#"{"a": "\alpha \times \beta"}"#,
        r#"{"a": "\(x \times y\)"}"#,
        r#"{"a": "\bword\d"}"#,
        r#"{"a": "\d\nabla"}"#,
        r#"{"a": "\u12"}"#,
        r#"{"a": "\x41"}"#,
        "{\"a\": \"x\\\ny\"}",
        r"{'a': '\a'}",
    ] {
        assert!(mended(text).is_err(), "{text}: {:?}", mended(text));
    }
    // Without a stray one all escapes are JSON's.
    assert_mended(r#"{"a": "\\server\new\ttab",}"#, json!({"a": "\\server\new\ttab"}), &["trailing_comma"]);
}

#[test]
fn commas_too_many_are_dropped() {
    assert_mended("{\"a\": [1, {},], }", json!({"a": [1, {}]}), &["trailing_comma"]);
    assert_mended(r#"{, "a": 1,, "b": 2}"#, json!({"a": 1, "b": 2}), &["extra_comma"]);
    let apart = ["[1 2]", "{\"a\": 1 2}", "{\"a\": 1\nb: 2}", "[{}{}]"];
    assert_refused(&apart, "neither a comma");
    assert_refused(&["[,1]", "[1,,2]"], "a value is missing");
}

#[test]
fn a_comma_is_supplied_before_a_key_in_quotes_and_a_colon_behind_one() {
    let members = json!({"a": 1, "b": {"c": "x"}, "d": "y"});
    assert_mended("{\"a\": 1\n\"b\": {\"c\": \"x\"}\"d\": \"y\"}", members, &["missing_comma"]);
    assert_mended(r#"{"a": "x" "b": "y"}"#, json!({"a": "x", "b": "y"}), &["missing_comma"]);
    assert_mended(r#"{"a" 2, 'b' [1], "c" "x"}"#, json!({"a": 2, "b": [1], "c": "x"}), &["missing_colon", "quotes"]);
    for text in [
        r#"{"a" b, "c": 1}"#, "{a 1}", r#"{"a" "b" "c"}"#, r#"{"a" "b}"#, r#"{"a", "b"}"#, r#"{"a" 1 2}"#, "{\"a\"",
        r#"{"a": "x" y": 1}"#, r#"["a" "b"]"#,
    ] {
        assert!(mended(text).is_err(), "{text}: {:?}", mended(text));
    }
}

#[test]
fn words_keys_comments_and_spaces_of_other_languages_are_read() {
    let text = "{// x\nkey-1: True, $b: None, 3: FALSE, # y\n'c': (1, 'x'), d: () /* z */}";
    let value = json!({"key-1": true, "$b": null, "3": false, "c": [1, "x"], "d": []});
    assert_mended(text, value, &["comments", "unquoted_keys", "python_literals", "quotes"]);
    assert_mended("[.5, -.5, 5., +5, 1_000]", json!([0.5, -0.5, 5.0, 5, 1000]), &["number_form"]);
    assert_mended("{\"a\"：1，\u{a0}\"b\":\u{3000}2}", json!({"a": 1, "b": 2}), &["full_width", "white_space"]);
    assert_mended("{\"a：\": \"b，# // /* */\",}", json!({"a：": "b，# // /* */"}), &["trailing_comma"]);
    assert_refused(&["[05]", "[1__0]", "[NaN]", "[undefined]", "[abc]", "[0x1f]", "[1.1.1]"], "no value");
    assert_refused(&["[(1)]"], "no tuple");
}

#[test]
fn no_bracket_is_supplied_dropped_or_changed() {
    assert_refused(&["{\"a\": [1}", "[1)", "[(1,]"], "does not close");
    assert_refused(&["{\"a\": 1", "[", "{\"a\": {}", "{\"a\":", "{\"a\"", "{a", "{\"a\": 1 /*"], "");
    assert_refused(&["{}}", "{} {}", "[1]]"], "something follows");
    assert_refused(&["{\"a\": }", "{\"a\":, \"b\": 1}"], "missing");
}

#[test]
fn hostile_text_takes_linear_time() {
    // Each look ahead is bounded; quadratic work would not end in a test's time.
    for piece in
        ["\"/*", "\" ", "'\"", "\\", "{\"a\":", "\"a\" ", "[\"", "\"\"\"", "/* */", "1 ", "\", \"", "“”", "#\n"]
    {
        let _ = mend(&format!("{{\"a\": \"{}", piece.repeat(30_000)));
        let _ = mend(&piece.repeat(30_000));
    }
}
