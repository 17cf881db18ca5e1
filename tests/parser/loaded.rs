//! Dialects from files: those in the documentation.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgraft::dialect::{DialectSet, write_call};
use toolgraft::message::FinishReason;
use toolgraft::outcome::Neutraliser;
use toolgraft::parse::Config;
use toolgraft::{Call, Catalog, Dialect, Parser, Tool};
use toolgraft_testkit::laws::{self, Input};

const PAGE: &str = include_str!("../../docs/dialects.md");

/// Returns the files in the documentation.
fn files() -> Vec<&'static str> {
    PAGE.split("```json\n").skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

fn loaded() -> Vec<Dialect> {
    files().into_iter().map(|file| Dialect::from_json(file).unwrap()).collect()
}

fn catalog() -> Arc<Catalog> {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}}});
    Arc::new(Catalog::from_tools([Tool::new("read_file").with_server("fs").with_schema(schema)]))
}

fn config(dialects: DialectSet) -> Config {
    Config::default().with_catalog(Some(catalog())).with_dialects(dialects)
}

#[test]
fn what_a_file_says_is_written_and_read_back_at_every_cut() {
    let arguments = json!({"path": "a \"b\" </c>\nd", "limit": 3});
    for dialect in loaded() {
        let call = write_call(dialect, None, "read_file", arguments.as_object().unwrap());
        for text in [call.clone(), format!("I read it.\n{call}\n"), format!("{call}\n{call}")] {
            for dialects in [dialect.into(), DialectSet::AUTO.with(dialect)] {
                let input = Input {
                    reasoning_field: String::new(),
                    text: text.clone(),
                    reason: FinishReason::Stop,
                    config: config(dialects),
                };
                let cuts: Vec<_> = text.char_indices().map(|(at, _)| vec![at]).collect();
                let message = laws::check(&input, &cuts).unwrap();
                let found: Vec<_> = message.calls().collect();
                assert_eq!(found.len(), text.matches("read_file").count(), "{dialect}: {text}\n{message:?}");
                for call in found {
                    assert_eq!((call.dialect, call.tool.as_str()), (dialect, "read_file"), "{text}");
                    assert!(call.provenance.is_plain() && call.repairs.is_empty(), "{call:?}");
                    // A value in a tag is text until the schema is applied.
                    let limit = &call.arguments["limit"];
                    assert!(*limit == json!(3) || *limit == json!("3"), "{call:?}");
                    assert_eq!(call.arguments["path"], arguments["path"], "{text}");
                }
            }
        }
    }
}

#[test]
fn a_call_of_a_file_that_is_cut_off_is_none() {
    for dialect in loaded() {
        let call = write_call(dialect, None, "read_file", json!({"path": "a"}).as_object().unwrap());
        for (end, _) in call.char_indices() {
            let message = Parser::new(config(dialect.into())).parse(&call[..end]);
            // If only the closing delimiter is missing, the call is complete.
            let is_whole = |found: &Call| found.arguments == json!({"path": "a"}) && !found.repairs.is_empty();
            assert!(message.calls().all(is_whole), "{}", &call[..end]);
        }
    }
}

#[test]
fn a_file_is_read_where_it_is_asked_for_and_known_by_its_name() {
    let [moon, comet] = loaded()[..] else { panic!("two files are on the page") };
    assert_eq!(Dialect::from_json(files()[0]), Ok(moon), "the same file is the same dialect");
    assert_ne!(moon, comet);
    assert_eq!(("moon".parse(), moon.to_string()), (Ok(moon), "moon".to_owned()));
    assert_eq!(serde_json::from_value::<Dialect>(Value::from("moon")).unwrap(), moon);
    let set = DialectSet::AUTO.with(moon);
    assert_eq!((set.to_string().as_str(), "auto,moon".parse()), ("auto,moon", Ok(set)));
    assert!(!DialectSet::AUTO.contains(moon) && set.iter().next() == Some(moon));
    let call = write_call(moon, None, "read_file", &serde_json::Map::new());
    let message = Parser::new(config(DialectSet::AUTO)).parse(&call);
    assert_eq!((message.calls().count(), message.content.as_str()), (0, call.as_str()));
}

#[test]
fn a_name_of_this_programs_is_refused() {
    let error = Dialect::from_json(&files()[0].replace("moon", "hermes")).unwrap_err();
    assert_eq!(error.path, "name");
}

#[test]
fn foreign_text_cannot_hold_what_a_file_says() {
    for dialect in loaded() {
        let call = write_call(dialect, None, "read_file", json!({"path": "a"}).as_object().unwrap());
        let neutral = Neutraliser::new(&catalog()).neutralise(&call).into_owned();
        let message = Parser::new(config(dialect.into())).parse(&neutral);
        assert!(neutral != call && message.calls().count() == 0, "{neutral}");
    }
}
