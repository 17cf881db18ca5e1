//! Every dialect can be taught: the prompt shows a call in it, such a call is parsed, and the
//! history repeats it.

use std::sync::Arc;

use futures::StreamExt;
use serde_json::{Map, Value, json};
use toolgraft::agent::StopReason;
use toolgraft::dialect::{DialectSet, Lang, PromptStyle, write_tool_call};
use toolgraft::parse::Config;
use toolgraft::prompt::{Options, Prompt};
use toolgraft::tools::Decision;
use toolgraft::transcript::{Recorded, Round};
use toolgraft::turn::TurnConfig;
use toolgraft::{Agent, AgentEvent, Catalog, Dialect, Functions, Parser, Policy, Tool};

fn weather() -> Tool {
    Tool::new("get_weather").with_description("Gets the weather in a city.").with_schema(json!({
        "type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"],
    }))
}

#[test]
fn the_prompt_shows_a_call_in_every_dialect() {
    let catalog = Catalog::from_tools([weather()]);
    let call = |dialect| write_tool_call(dialect, &catalog, &weather(), &weather().example_arguments());
    for dialect in Dialect::ALL.iter().copied() {
        for (lang, style) in
            Lang::ALL.iter().flat_map(|lang| [(*lang, PromptStyle::Full), (*lang, PromptStyle::Compact)])
        {
            let options = Options::default().with_dialect(dialect).with_lang(lang).with_style(style);
            let text = Prompt::new(options).unwrap().system(&catalog).unwrap();
            assert!(text.contains(&call(dialect)), "{dialect} {lang}: {text}");
        }
    }
}

#[tokio::test]
async fn a_call_in_every_dialect_runs_and_stands_in_the_history_as_it_was_written() {
    for dialect in Dialect::ALL.iter().copied() {
        let written = [json!({"city": "Oslo"}), json!({"city": "Bergen", "days": 2})].map(|arguments| {
            let catalog = Catalog::from_tools([weather()]);
            write_tool_call(dialect, &catalog, &weather(), arguments.as_object().unwrap())
        });
        let answer = if dialect == Dialect::TypeMarker { "TYPE: ANSWER\nCold." } else { "Cold." };
        let rounds = [written[0].as_str(), written[1].as_str(), answer].map(Round::text);
        let model = Arc::new(Recorded::new(rounds));
        let functions = Functions::new("").with(weather(), |_: Map<String, Value>| async { Ok::<_, String>("4 °C") });
        let config = TurnConfig::default().with_policy(Policy::new(Decision::Allow));
        let options = Options::default().with_dialect(dialect);
        let agent = Agent::builder(model.clone(), functions).config(config).prompt(options).build();
        let events: Vec<AgentEvent> = agent.run("How cold is it?").unwrap().collect().await;
        let Some(AgentEvent::Finished(finished)) = events.last() else { panic!("{events:?}") };
        assert_eq!((finished.reason.clone(), finished.calls), (StopReason::Answered, 2), "{dialect}: {events:#?}");
        let requests = model.requests();
        let last = &requests[2].messages;
        for call in &written {
            assert!(last.iter().any(|message| message.content.contains(call.as_str())), "{dialect}: {last:#?}");
        }
    }
}

/// Texts that a syntax may mistake for its own.
const NASTY: &[&str] = &[
    "plain",
    "two\nlines\n",
    "\"quoted\" and \\escaped\\",
    "{\"name\": \"get_weather\", \"arguments\": {}}",
    "a < b && c > d",
    "```rust\nfn main() {}\n```",
    "天气 – ünïcödé",
];

/// A written call is parsed unchanged, for every tool of real servers in every dialect: with its
/// example values and, if one is a text, with texts that contain any syntax.
#[test]
fn calls_of_2774_real_tools_are_read_back_in_every_dialect() {
    let catalog = Arc::new(crate::search::catalog());
    let tools: Vec<&Tool> = catalog.offered().collect();
    let config = Config::default().with_dialects(DialectSet::AUTO).with_catalog(Some(catalog.clone()));
    let parser = Parser::new(config);
    let mut wrong = Vec::new();
    // Each tool in four dialects, so that each dialect writes some 600 tools of all servers.
    for (n, tool) in tools.iter().enumerate() {
        // Names that APIs for functions do not accept either: `${PREFIX}_request`, or a server of
        // several words if the name alone is ambiguous.
        let is_name = |name: &str| name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/'));
        if !is_name(&tool.name) || !tool.server.as_deref().is_none_or(is_name) {
            continue;
        }
        let mut arguments = tool.example_arguments();
        if let Some(text) = arguments.values_mut().find(|value| value.is_string()) {
            *text = json!(NASTY[n % NASTY.len()]);
        }
        for dialect in Dialect::ALL.iter().copied().skip(n % 5).step_by(5) {
            if !holds(dialect, tool, &arguments) {
                continue;
            }
            let text = write_tool_call(dialect, &catalog, tool, &arguments);
            let found = parser.fork().parse(&text);
            let read: Vec<_> =
                found.calls().map(|call| (call.server.clone(), call.tool.clone(), call.arguments.clone())).collect();
            let is_same = matches!(&read[..], [(server, name, given)]
                if *name == tool.name && (server.is_none() || *server == tool.server) && says(given, &arguments));
            if !is_same {
                wrong.push(format!("{dialect} {}: {text}\n  {read:?}", tool.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong[..wrong.len().min(12)].join("\n"));
}

/// Returns `true` if the dialect can express the call.
fn holds(dialect: Dialect, tool: &Tool, arguments: &Map<String, Value>) -> bool {
    match dialect {
        // A tag of reasoning, and a parameter with the name of a tool.
        Dialect::ToolTag => tool.name != "think" && !arguments.contains_key("edit"),
        // Text that reads as JSON is JSON there, unless the type is text.
        Dialect::KimiK3 => !arguments.values().any(|value| value.as_str().is_some_and(|text| text.starts_with('{'))),
        _ => true,
    }
}

/// Returns `true` if values are equal after the schema has converted texts to numbers and objects.
fn says(read: &Value, written: &Map<String, Value>) -> bool {
    let Value::Object(read) = read else { return false };
    let is_same = |(key, value): (&String, &Value)| {
        read.get(key).is_some_and(|read| {
            read == value
                || read.as_str().is_some_and(|text| serde_json::from_str(text).is_ok_and(|text: Value| text == *value))
        })
    };
    read.len() == written.len() && written.iter().all(is_same)
}
