//! A model that repeats its prompt makes no calls.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use toolgraft::conversation::Answered;
use toolgraft::dialect::{Lang, PromptStyle};
use toolgraft::event::{QuotedIn, Rejected, RejectedKind};
use toolgraft::outcome::Status;
use toolgraft::parse::{Config, parse};
use toolgraft::prompt::{Listing, Options, Prompt};
use toolgraft::tools::Server;
use toolgraft::{Catalog, Dialect, Outcome, Tool};

use crate::told::{Earlier, Item, Round, call};

fn server(name: &str) -> Server {
    let path = format!("{}/fixtures/tools/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Returns the tools of real servers: of one server, of several, and of two with a tool of the same
/// name.
fn catalogs() -> Vec<Catalog> {
    let twice = |name: &str| Tool::new("search").with_server(name).with_schema(json!({"type": "object"}));
    let bare = |name: &str| Tool::new(name).with_schema(json!({"type": "object"}));
    let with_parameter =
        Tool::new("find").with_schema(json!({"type": "object", "properties": {"a": {"type": "string"}}}));
    vec![
        Catalog::new([server("time")]),
        Catalog::new(["time", "everything", "filesystem", "memory", "git"].map(server)),
        Catalog::from_tools([twice("a"), twice("b")]),
        Catalog::from_tools([bare("look"), with_parameter, bare("wait"), bare("go")]),
    ]
}

fn repeated(text: &str, catalog: &Catalog, what: &str) {
    let config = Config::default().with_catalog(Arc::new(catalog.clone()));
    for text in [text.to_owned(), format!("You wrote this.\n{text}"), format!("{text}\n\nDone.")] {
        let message = parse(&text, config.clone());
        let calls: Vec<_> = message.calls().collect();
        assert!(calls.is_empty(), "{what}: {calls:#?}\n{text}");
    }
}

#[test]
fn the_system_text_repeated_holds_no_call() {
    for catalog in catalogs() {
        for dialect in Dialect::taught() {
            for lang in Lang::ALL.iter().copied() {
                for listing in Listing::ALL.iter().copied() {
                    let options = Options::default().with_dialect(dialect).with_lang(lang).with_listing(listing);
                    let catalog = Arc::unwrap_or_clone(options.callable(Arc::new(catalog.clone())));
                    let text = Prompt::new(options).unwrap().system(&catalog).unwrap();
                    repeated(&text, &catalog, &format!("{dialect} {lang} {listing}"));
                }
            }
        }
    }
}

#[test]
fn results_and_corrections_repeated_hold_no_call() {
    let catalog = Catalog::new([server("time")]);
    let tool = catalog.tools().next().unwrap().name.clone();
    for dialect in Dialect::taught() {
        for lang in Lang::ALL.iter().copied() {
            let prompt = Prompt::new(Options::default().with_dialect(dialect).with_lang(lang)).unwrap();
            let mut rejected = Rejected::new(RejectedKind::Malformed, dialect, "<use_mcp_tool>", "wrong");
            rejected.tool = Some(tool.clone());
            for item in [Item::Rejected(&rejected), Item::UnmetChoice] {
                let text = prompt.results(&catalog, &Round::new(&[item])).unwrap();
                repeated(&text, &catalog, &format!("{dialect} {lang}"));
            }
        }
    }
}

/// The beginning of a results message is recognised, so that a model that continues with it after
/// its call has invented the rest.
#[test]
fn what_the_results_begin_with_is_known_after_a_call() {
    let catalog = Arc::new(Catalog::new([server("time")]));
    let tool = catalog.tools().next().unwrap().clone();
    let arguments: Map<String, Value> = [("timezone".to_owned(), json!("Asia/Tokyo"))].into_iter().collect();
    let (noon, shown) = (Outcome::result("noon"), Outcome::new(Status::Displayed, "shown"));
    let made = call(Some("time"), &tool.name, &arguments);
    let answered = |id, outcome| Item::Answered(Answered::new(id, &made, outcome));
    let before = [Earlier::new(made.clone(), Status::Result)];
    for dialect in Dialect::taught() {
        let call = toolgraft::dialect::write_tool_call(dialect, &catalog, &tool, &arguments);
        let rejected = |kind| Rejected::new(kind, dialect, "x", "wrong");
        let wrong = [RejectedKind::Malformed, RejectedKind::Truncated].map(rejected);
        let [unread, cut] = [&wrong[0], &wrong[1]].map(|rejected| [Item::Rejected(rejected)]);
        for lang in Lang::ALL.iter().copied() {
            for style in [PromptStyle::Full, PromptStyle::Compact] {
                let options = Options::default().with_dialect(dialect).with_lang(lang).with_style(style);
                let prompt = Prompt::new(options).unwrap();
                let one = [answered("call_1", &noon)];
                let two = [answered("call_1", &noon), answered("call_2", &noon)];
                let display = [answered("call_1", &shown)];
                let rounds = [
                    Round::new(&one),
                    Round::new(&two),
                    Round::new(&display),
                    Round::new(&unread),
                    Round::new(&cut),
                    Round::new(&one).with_request("What time is it?"),
                    Round::new(&one).with_earlier(&before),
                ];
                for round in rounds {
                    let results = prompt.results(&catalog, &round).unwrap();
                    let first = results.lines().next().unwrap();
                    let text = format!("{call}\n{first}\n\n{call}");
                    let message = parse(&text, Config::default().with_catalog(catalog.clone()));
                    let kinds: Vec<_> = message.rejected().map(|rejected| rejected.kind).collect();
                    assert_eq!((message.calls().count(), kinds), (1, vec![RejectedKind::Invented]), "{text}");
                }
            }
        }
    }
}

#[test]
fn an_example_of_our_own_is_quoted_whatever_its_arguments() {
    let catalog = Arc::new(Catalog::new([server("time")]));
    let tool = catalog.tools().next().unwrap().clone();
    let arguments: Map<String, Value> = [("timezone".to_owned(), json!("Asia/Tokyo"))].into_iter().collect();
    for dialect in Dialect::taught() {
        let call = toolgraft::dialect::write_tool_call(dialect, &catalog, &tool, &arguments);
        let config = Config::default().with_catalog(catalog.clone());
        let message = parse(&format!("Example of a call:\n\n{call}\n"), config.clone());
        let quoted: Vec<_> = message.rejected().map(|rejected| rejected.quoted_in).collect();
        assert_eq!((message.calls().count(), quoted), (0, vec![Some(QuotedIn::OwnWords)]), "{call}");
        assert_eq!(parse(&format!("Here it is:\n\n{call}\n"), config).calls().count(), 1, "{call}");
    }
}

/// Texts of SmolLM2-135M under earlier prompts: it repeated them, or itself.
#[test]
fn no_parrot_calls_anything() {
    let path = format!("{}/fixtures/parrots.jsonl", env!("CARGO_MANIFEST_DIR"));
    let tool = |name: &str, properties: Value| {
        Tool::new(name).with_server("demo").with_schema(json!({"type": "object", "properties": properties}))
    };
    let city = json!({"city": {"type": "string"}});
    let catalog = Catalog::from_tools([
        tool("get_weather", city.clone()),
        tool("get_time", city),
        tool("add_numbers", json!({"a": {"type": "integer"}, "b": {"type": "integer"}})),
    ]);
    let text = std::fs::read_to_string(path).unwrap();
    let records: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(records.len(), 6);
    for record in records {
        for key in ["output", "system"] {
            repeated(record[key].as_str().unwrap(), &catalog, key);
        }
    }
}
