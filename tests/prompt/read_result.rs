//! Long results, and the built-in tool that reads the rest: the whole way through an agent.

use std::sync::Arc;

use futures::StreamExt;
use serde_json::{Map, Value, json};
use toolgraft::dialect::{Lang, PromptStyle, write_call};
use toolgraft::model::Request;
use toolgraft::prompt::{COMPACT_RESULT_BYTES, Options};
use toolgraft::tools::{Decision, READ_RESULT, ToolsMode};
use toolgraft::transcript::{Recorded, Round};
use toolgraft::turn::TurnConfig;
use toolgraft::{Agent, Dialect, Functions, Policy, Tool};

/// Returns a text longer than any message shows; each line has its number.
fn book() -> String {
    (0..20_000).map(|line| format!("line {line} 行\n")).collect()
}

fn library() -> Functions {
    let tool = Tool::new("get_book").with_description("Gets a book.");
    Functions::new("library").with(tool, |_: Map<String, Value>| async { Ok::<_, String>(book()) })
}

fn read(dialect: Dialect, arguments: &Value) -> String {
    write_call(dialect, None, READ_RESULT, arguments.as_object().unwrap())
}

/// Returns the request before each round.
async fn played(options: Options, mode: ToolsMode, rounds: Vec<Round>) -> Vec<Request> {
    let model = Arc::new(Recorded::new(rounds));
    let policy = Policy::new(Decision::Deny).allow("library/*");
    let mut config = TurnConfig::default().with_policy(policy);
    config.tools_mode = mode;
    let agent = Agent::builder(model.clone(), library()).config(config).prompt(options).build();
    let _: Vec<_> = agent.run("What is in the book?").unwrap().collect().await;
    model.requests()
}

fn told(request: &Request) -> &str {
    &request.messages.last().unwrap().content
}

/// Returns the offset at which a call in the text continues to read.
fn from(text: &str) -> usize {
    let digits = |rest: &str| {
        rest.trim_start_matches(|c: char| !c.is_ascii_digit()).split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    };
    let call = text.find(READ_RESULT).map(|at| &text[at..]).unwrap_or_else(|| panic!("no call: {text:.3000}"));
    call.split("from").skip(1).find_map(digits).unwrap_or_else(|| panic!("no byte: {call}"))
}

#[tokio::test]
async fn what_is_left_out_of_a_result_is_read_on_in_every_dialect() {
    for dialect in Dialect::taught() {
        for (lang, style) in
            [(Lang::En, PromptStyle::Full), (Lang::Zh, PromptStyle::Full), (Lang::En, PromptStyle::Compact)]
        {
            let options = Options::default().with_dialect(dialect).with_lang(lang).with_style(style);
            let server = (dialect == Dialect::UseMcpTool).then_some("library");
            let get = write_call(dialect, server, "get_book", &Map::new());
            let asked = read(dialect, &json!({ "result": "call_1", "from": 150_000 }));
            let found = read(dialect, &json!({ "find": "LINE 12345 " }));
            let rounds = [get, asked, found].map(Round::text).into_iter().chain([Round::text("Lines.")]).collect();
            let requests = played(options, ToolsMode::Prompt, rounds).await;
            let limit = if style == PromptStyle::Compact { COMPACT_RESULT_BYTES } else { 50 * 1024 };

            let first = told(&requests[1]);
            let at = from(first);
            assert!(at <= limit && at > limit / 2 && first.contains(READ_RESULT), "{dialect}: {first:.2000}");
            assert!(
                first.contains(&read(dialect, &json!({ "result": "call_1", "from": at }))),
                "the very call: {first}"
            );
            assert!(!requests[0].messages.iter().any(|message| message.content.contains(READ_RESULT)), "not before");

            let part = told(&requests[2]);
            let (book, begin) = (book(), book().as_bytes()[..150_000].iter().rposition(|b| *b == b'\n').unwrap());
            let next = book[begin + 1..].lines().nth(3).unwrap();
            assert!(part.contains(next) && part.contains("150000") && part.len() < limit * 2, "{dialect}: {part}");

            let places = told(&requests[3]);
            let at = book.find("line 12345 ").unwrap();
            assert!(places.contains(&format!("{at}: line 12345 行")), "{dialect}: {places}");
        }
    }
}

#[tokio::test]
async fn the_parts_of_a_result_are_the_result() {
    let dialect = Dialect::Hermes;
    let (book, mut at, mut read_on) = (book(), 0, String::new());
    while at < book.len() {
        let get = write_call(dialect, None, "get_book", &Map::new());
        let asked = read(dialect, &json!({ "from": at }));
        let rounds = [get, asked, "Done.".to_owned()].map(Round::text).to_vec();
        let requests = played(Options::default().with_dialect(dialect), ToolsMode::Prompt, rounds).await;
        let part = told(&requests[2]).split_once("</tool_status>\n\n").unwrap().1;
        let part = part.split_once("\n</tool_result").unwrap().0;
        read_on += part;
        at += part.len();
        assert!(!part.is_empty());
    }
    assert!(read_on == book);
}

#[tokio::test]
async fn a_model_that_asks_for_no_result_is_told_which_there_are() {
    let dialect = Dialect::Hermes;
    let get = write_call(dialect, None, "get_book", &Map::new());
    let rounds = |asked: Value| [get.clone(), read(dialect, &asked), "Done.".to_owned()].map(Round::text).to_vec();
    for (asked, says) in [
        (json!({ "result": "call_7" }), "call_1"),
        (json!({ "from": 10_000_000 }), &*book().len().to_string()),
        (json!({ "find": "nowhere" }), "is not in it"),
    ] {
        let requests = played(Options::default().with_dialect(dialect), ToolsMode::Prompt, rounds(asked.clone())).await;
        assert!(told(&requests[2]).contains(says), "{asked}: {}", told(&requests[2]));
    }
}

#[tokio::test]
async fn natively_the_tool_is_offered_once_there_is_something_to_read() {
    // A server that does not parse calls passes them on as text.
    let call = |name: &str, arguments: Value| {
        Round::text(format!("<tool_call>{}</tool_call>", json!({ "name": name, "arguments": arguments })))
    };
    let rounds = vec![
        call("library__get_book", json!({})),
        call(READ_RESULT, json!({ "result": "call_1", "from": 150_000 })),
        Round::text("Lines."),
    ];
    let requests = played(Options::default(), ToolsMode::Native, rounds).await;
    let offered = |at: usize| requests[at].tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>();
    assert_eq!(offered(0), ["library__get_book"]);
    assert_eq!(offered(1), ["library__get_book", READ_RESULT]);
    assert!(told(&requests[1]).contains("read_result {\"result\":\"call_1\",\"from\":"), "{}", told(&requests[1]));
    assert!(told(&requests[2]).contains("150000"), "{}", told(&requests[2]));
}
