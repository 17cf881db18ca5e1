use serde_json::{Value, json};

use super::*;

fn mended(text: &str) -> Result<(Value, Vec<String>), Cow<'static, str>> {
    let read = Reader::new(text, true).whole().map_err(|stop| stop.why)?;
    Ok((read.value, read.repairs.iter().map(Repair::to_string).collect()))
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
fn json_needs_no_repair() {
    for text in ["{ \"a\" : [ 1 , \"x\\u00e9\\n\" ] }\n", "[]", "{}", "-1.5e3", "\"\"", "null"] {
        assert_eq!(mended(text), Ok((serde_json::from_str(text).unwrap(), vec![])));
    }
}

#[test]
fn quotes_may_be_single_typographic_or_corners() {
    assert_mended("{'a': 'it\\'s \"x\"'}", json!({"a": "it's \"x\""}), &["syntax"]);
    assert_mended("{“a”: ‘b’, ”c”:“d“}", json!({"a": "b", "c": "d"}), &["syntax"]);
    assert_mended("{「a」: 「b」, 「c」: 1}", json!({"a": "b", "c": 1}), &["syntax"]);
    assert_mended("{“a”: “say \"x\" now”}", json!({"a": "say \"x\" now"}), &["syntax", "inner_quotes"]);
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
    assert_mended("{'a': 'it's Jo's'}", json!({"a": "it's Jo's"}), &["syntax", "inner_quotes"]);
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
    assert_mended(r#"{"a": "\\server\new\ttab",}"#, json!({"a": "\\server\new\ttab"}), &["syntax"]);
}

#[test]
fn commas_too_many_are_dropped() {
    assert_mended("{\"a\": [1, {},], }", json!({"a": [1, {}]}), &["syntax"]);
    assert_refused(&[r#"{, "a": 1}"#, r#"{"a": 1,, "b": 2}"#], "a key is missing");
    let apart = ["[1 2]", "{\"a\": 1 2}", "{\"a\": 1\nb: 2}", "[{}{}]"];
    assert_refused(&apart, "neither a comma");
    assert_refused(&["[,1]", "[1,,2]"], "a value is missing");
}

#[test]
fn a_comma_is_supplied_before_a_key_in_quotes() {
    let members = json!({"a": 1, "b": {"c": "x"}, "d": "y"});
    assert_mended("{\"a\": 1\n\"b\": {\"c\": \"x\"}\"d\": \"y\"}", members, &["syntax"]);
    assert_mended(r#"{"a": "x" "b": "y"}"#, json!({"a": "x", "b": "y"}), &["syntax"]);
    for text in [
        r#"{"a" b, "c": 1}"#, r#"{"a" 2}"#, "{a 1}", r#"{"a" "b" "c"}"#, r#"{"a" "b}"#, r#"{"a", "b"}"#,
        r#"{"a" 1 2}"#, "{\"a\"", r#"{"a": "x" y": 1}"#, r#"["a" "b"]"#,
    ] {
        assert!(mended(text).is_err(), "{text}: {:?}", mended(text));
    }
}

#[test]
fn words_and_keys_of_other_languages_are_read() {
    let text = "{key-1: True, $b: None, 3: FALSE, 'c': (1, 'x')}";
    let value = json!({"key-1": true, "$b": null, "3": false, "c": []});
    assert_mended(&text.replace("(1, 'x')", "[]"), value, &["syntax"]);
    assert_refused(&["[05]", "[1__0]", "[NaN]", "[undefined]", "[abc]", "[0x1f]", "[1.1.1]"], "not a value");
    assert_refused(&["[.5]", "[5.]", "[+5]", "[1_000]"], "not a value");
    assert_refused(&[text, "[(1)]", "{\"a\":\u{3000}2}"], "a value is missing");
    assert_refused(&["{\"a\"：1}"], "not closed");
    assert_refused(&["[1 // x\n]", "[1 /* x */]", "[1 # x\n]"], "neither a comma");
}

#[test]
fn no_bracket_is_supplied_dropped_or_changed() {
    assert_refused(&["{\"a\": [1}", "[1}"], "does not close");
    assert_refused(&["{\"a\": 1", "[", "{\"a\": {}", "{\"a\":", "{\"a\"", "{a"], "");
    assert_refused(&["{}}", "{} {}", "[1]]"], "something follows");
    assert_refused(&["{\"a\": }", "{\"a\":, \"b\": 1}"], "missing");
}

#[test]
fn hostile_text_takes_linear_time() {
    // Each look ahead is bounded; quadratic work would not end in a test's time.
    for piece in
        ["\"/*", "\" ", "'\"", "\\", "{\"a\":", "\"a\" ", "[\"", "\"\"\"", "/* */", "1 ", "\", \"", "“”", "#\n"]
    {
        let _ = mended(&format!("{{\"a\": \"{}", piece.repeat(30_000)));
        let _ = mended(&piece.repeat(30_000));
    }
}

fn repairs(text: &str) -> (Value, Vec<String>) {
    let read = read(text).unwrap();
    (read.value, read.repairs.iter().map(Repair::to_string).collect())
}

#[test]
fn valid_json_is_read_as_it_is() {
    assert_eq!(repairs(r#"{"a": [1, 2.50, "&amp;", null]}"#), (json!({"a": [1, 2.5, "&amp;", null]}), vec![]));
}

#[test]
fn control_characters_commas_and_entities_are_mended_and_named() {
    assert_eq!(repairs("{\"a\": \"x\n\ty\",}"), (json!({"a": "x\n\ty"}), vec!["syntax".into()]));
    assert_eq!(
        repairs("{&quot;a&quot;: &quot;b &amp; c&quot;, }"),
        (json!({"a": "b & c"}), vec!["entities".into(), "syntax".into()])
    );
    assert_eq!(repairs("[1, [2, ], ]").1, ["syntax"]);
    assert_eq!(repairs("{\"a\": \",}\u{1}\"}").0, json!({"a": ",}\u{1}"}));
}

#[test]
fn what_cannot_be_mended_is_told_with_its_position() {
    for (text, told) in [
        ("{\"a\": 1", "the text ends before the value is closed, at line 1 column 8"),
        ("{\"a\": 1}}", "something follows the value"),
        ("{\"a\":\n \"x \"y\", \"b\": \"z\"}", "a quotation mark inside a string is not escaped, at line 2 column 6"),
        ("{\"a\": 1e999}", "is not a value, at line 1 column 7"),
        ("", "the text ends"),
        ("{'a': 1, 'a': 2}", "the key \"a\" is given twice"),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(told), "{text}: {error}");
    }
}

#[test]
fn text_that_was_escaped_once_more_is_read_where_all_of_it_was() {
    assert_eq!(repairs(r#"{\"a\": \"x\\\"y\\n\"}"#), (json!({"a": "x\"y\n"}), vec!["escaped_json".into()]));
    assert_eq!(repairs(r#"{\"a\": 1,}"#).1, ["escaped_json", "syntax"]);
    assert!(read(r#"{\"a\": "b"}"#).is_err());
}

#[test]
fn entities_inside_strings_are_data_where_the_text_needs_them_not() {
    assert_eq!(repairs(r#"{'a': '&lt;b&gt;'}"#), (json!({"a": "&lt;b&gt;"}), vec!["syntax".into()]));
    assert_eq!(repairs(r#"{&apos;a&apos;: &apos;&amp;lt;&apos;}"#).0, json!({"a": "&lt;"}));
}

#[test]
fn a_key_that_stands_twice_is_an_error_at_any_depth() {
    let error = read(r#"{"a": {"b": 1, "b": 1}}"#).unwrap_err();
    assert!(error.to_string().contains(r#"the key "b" is given twice"#), "{error}");
}

#[test]
fn a_number_is_the_nearest_float_and_is_written_as_it_was_read() {
    for text in ["0.12308785413053219", "5e-324", "1.7976931348623157e+308"] {
        let value = read(text).unwrap().value;
        assert_eq!((value.as_f64(), value.to_string().as_str()), (text.parse().ok(), text), "{text}");
    }
}

#[test]
fn a_number_that_loses_digits_is_named() {
    for (text, lossy) in [
        ("12345678901234567890", false),
        ("123456789012345678901", true),
        ("0.1", false),
        ("1.10", false),
        ("100000000000000000000000", false),
        ("3.14159265358979323846", true),
        ("1E5", false),
        ("0.000", false),
        ("-0.0", false),
        ("[\"12345678901234567890123\", 1.5]", false),
        ("1e-7", false),
        ("-9223372036854775808", false),
        ("-9223372036854775809", true),
        ("[-1, -2.5, 18446744073709551615]", false),
        ("0.001e-9223372036854775808", true),
        ("0.001e-9223372036854775809", true),
        ("0.000e9223372036854775808", false),
    ] {
        let named = read(text).unwrap().repairs.contains(&Repair::NumberPrecision);
        assert_eq!(named, lossy, "{text}");
    }
}

const TEXTS: &[&str] = &[
    r#"{"city": "Oslo", "days": 2, "at": [1, -20, 0], "deep": {"a": [], "b": {}}, "is": [true, false, null]}"#,
    r#" {"text":"line\n\t\"quoted\" \\ \/ \b\f\r end","München":"☃ 你好","":""} "#,
    "[\"\\\\\", \"\\\"\", 123456789012345678, -9]\r\n",
    r#""one""#,
    "0",
];

/// Returns `true` if the strict reader and `serde_json` agree on the text; only the reader refuses duplicate keys.
fn agrees(text: &str) -> bool {
    match (Reader::new(text, false).whole(), serde_json::from_str::<Value>(text)) {
        (Ok(read), Ok(value)) => read.value == value,
        (Err(stop), found) => stop.is_final || found.is_err(),
        (Ok(_), Err(_)) => false,
    }
}

#[test]
fn the_strict_reader_reads_what_serde_reads() {
    for text in TEXTS {
        assert!(strict(text).is_some() && agrees(text), "{text}");
    }
    for text in [
        "", " ", "1.5", "1e3", "-0", "01", "-", "1234567890123456789", "12345678901234567890123", "1e999",
        r#""\u00e9""#, r#""\ud83d\ude00""#, r#""\ud83d""#, r#""\ud83d\u0041""#, r#""\ude00""#, r#""\u12""#,
        r#""\u+123""#, "{\"a\": 1, \"a\": 2}", "[1,]", "{,}", "{\"a\" 1}", "\"a\nb\"", "\"a", "\"a\\", "truex", "tru",
        "[1 2]", "1 2", "{\"a\": 1,}", "\u{a0}1",
    ] {
        assert!(agrees(text), "{text}");
    }
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(strict(&deep(127)).is_some() && agrees(&deep(127)) && agrees(&deep(128)));
}

#[test]
fn whatever_is_changed_in_json_serde_agrees() {
    for text in TEXTS {
        for (at, c) in text.char_indices() {
            assert!(agrees(&text[..at]), "{}", &text[..at]);
            for other in [
                "", "\"", "\\", "{", "}", "[", "]", ",", ":", "0", "1", "-", ".", "e", " ", "\n", "u", "n", "é",
                "\u{1}",
            ] {
                let changed = format!("{}{other}{}", &text[..at], &text[at + c.len_utf8()..]);
                assert!(agrees(&changed), "{changed}");
                let longer = format!("{}{other}{}", &text[..at], &text[at..]);
                assert!(agrees(&longer), "{longer}");
            }
        }
    }
}
