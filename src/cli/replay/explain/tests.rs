use serde_json::json;

use super::*;
use crate::catalog::Catalog;
use crate::cli::replay::play::{Chunk, Speed, play};
use crate::cli::replay::settings::Settings;
use crate::dialect::Dialect;
use crate::message::{DeltaKind, FinishReason};
use crate::tool::Tool;
use crate::transcript::{Finish, Round, TimedDelta};

fn weather() -> Catalog {
    let schema = json!({ "type": "object", "properties": { "city": { "type": "string" } } });
    Catalog::from_tools([Tool::new("get_weather").with_schema(schema)])
}

fn listed(text: &str, config: Config) -> Vec<GivenBack> {
    let deltas = vec![TimedDelta { kind: DeltaKind::Content, text: text.to_owned(), ms: None }];
    let round = Round { deltas, finish: Some(Finish { reason: FinishReason::Stop, ms: None }), ..Round::default() };
    let settings = Settings { config: config.clone(), ..Settings::default() };
    let played = play(&round, &settings, Chunk::Every(3), Speed::Max, |_| {});
    explain(&played, &config, true)
}

/// What was found, the rule, and the place.
fn rules(text: &str, config: Config) -> Vec<(String, Rule, String)> {
    listed(text, config).into_iter().map(|e| (e.found, e.rule, format!("{}:{}", e.line, e.column))).collect()
}

fn one(text: &str, config: Config) -> GivenBack {
    let list = listed(text, config);
    let [entry] = <[GivenBack; 1]>::try_from(list).unwrap_or_else(|list| panic!("one entry: {list:#?}"));
    entry
}

fn known() -> Config {
    Config { catalog: Some(weather().into()), ..Config::default() }
}

#[test]
fn an_opener_after_a_backtick_is_quoted() {
    let entry = one("Write `<use_mcp_tool>` first.", Config::default());
    assert_eq!((entry.rule, entry.offset, entry.region), (Rule::Quote, 7, Region::Content));
    assert_eq!((entry.line, entry.column), (1, 8));
}

#[test]
fn an_opener_without_a_child_fails_the_gate() {
    let entry = one("武汉\n<use_mcp_tool> is the tag.", Config::default());
    assert_eq!((entry.rule, entry.line, entry.column), (Rule::Gate, 2, 1));
    assert!(entry.why.contains("“is the tag.”"), "{}", entry.why);
    assert!(entry.remedy.contains("<server_name>"), "{}", entry.remedy);
}

#[test]
fn an_opener_before_another_opener_fails_the_gate() {
    let text = "<use_mcp_tool><use_mcp_tool><server_name>a</server_name><tool_name>b</tool_name><arguments>{}</arguments></use_mcp_tool>";
    assert_eq!((one(text, Config::default()).rule, one(text, Config::default()).offset), (Rule::Gate, 0));
}

#[test]
fn a_marker_of_a_draft_stands_in_the_reasoning() {
    let text =
        "<think>\n```\nTYPE: MCP\n{\"tool_name\": \"get_weather\", \"parameters\": {}}\n```\nYes.\n</think>\nSunny.";
    let list = listed(text, known());
    assert!(!list.is_empty() && list.iter().all(|e| e.rule == Rule::InReasoning), "{list:#?}");
    assert!(list.iter().all(|e| e.region == Region::Reasoning), "{list:#?}");
}

#[test]
fn a_tools_tag_without_its_parameters_fails_the_gate() {
    let entry = one("<get_weather> is for the weather.", known());
    assert_eq!((entry.found.as_str(), entry.rule), ("<get_weather>", Rule::Gate));
    assert!(entry.remedy.contains("<city>, </get_weather>"), "{}", entry.remedy);
}

#[test]
fn an_opener_that_breaks_off_is_named() {
    for text in ["Then <use_mcp", "Then <use_mcp\n"] {
        let entry = one(text, Config::default());
        assert_eq!((entry.found.as_str(), entry.rule), ("<use_mcp", Rule::PartialOpener));
    }
}

#[test]
fn a_marker_within_a_line_or_without_json_is_named() {
    assert_eq!(
        rules("Say TYPE: MCP now.\n\nTYPE: MCP\nplease", Config::default()),
        [
            ("TYPE: MCP".to_owned(), Rule::NotALine, "1:5".to_owned()),
            ("TYPE: MCP".to_owned(), Rule::NoJson, "3:1".to_owned()),
        ]
    );
}

#[test]
fn a_dialect_that_is_not_read_is_named() {
    let text =
        "<use_mcp_tool><server_name>a</server_name><tool_name>b</tool_name><arguments>{}</arguments></use_mcp_tool>";
    let config = Config { dialects: Dialect::TypeMarker.into(), ..Config::default() };
    let entry = one(text, config);
    assert_eq!(entry.rule, Rule::DialectOff);
    assert!(entry.remedy.contains("--dialect use_mcp_tool"), "{}", entry.remedy);
}

#[test]
fn a_tag_that_looks_like_a_tools_asks_for_the_tools() {
    let text = "<read_file><path>a</path></read_file>";
    assert_eq!(one(text, Config::default()).rule, Rule::ToolsUnknown);
    assert_eq!(one(text, known()).rule, Rule::UnknownTool);
}

#[test]
fn every_mention_of_a_known_tool_is_listed_and_parts_of_words_are_not() {
    let list = rules("get_weather, then my_get_weather and get_weathers; 用get_weather吧, (get_weather)", known());
    let places: Vec<_> = list.iter().map(|(_, rule, place)| (*rule, place.as_str())).collect();
    assert_eq!(places, [(Rule::BareName, "1:1"), (Rule::BareName, "1:55"), (Rule::BareName, "1:72")]);
}

#[test]
fn rejected_calls_are_listed_with_their_kind() {
    let call =
        "<use_mcp_tool><server_name>a</server_name><tool_name>b</tool_name><arguments>{}</arguments></use_mcp_tool>";
    let text = format!("<think>{call}</think>\n```\n{call}\n```\nand <use_mcp_tool><server_name>a");
    let list = rules(&text, Config::default());
    let kinds: Vec<_> = list.iter().map(|(_, rule, _)| *rule).collect();
    assert_eq!(kinds, [Rule::InReasoning, Rule::Quoted, Rule::Truncated]);
    assert!(list.iter().all(|(found, ..)| found == "<use_mcp_tool>"), "{list:?}");
}

#[test]
fn a_call_that_runs_is_not_listed() {
    let text = "<get_weather>\n<city>Graz</city>\n</get_weather>";
    assert_eq!(rules(text, known()), []);
}
