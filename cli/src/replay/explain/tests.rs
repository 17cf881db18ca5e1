use serde_json::json;

use super::*;
use crate::replay::play::play;
use crate::replay::settings::RoundSettings;
use toolgraft::message::{DeltaKind, FinishReason};
use toolgraft::parse::NotACallReason;
use toolgraft::transcript::{Finish, Round, TimedDelta};
use toolgraft::validate::Validator;
use toolgraft::{Catalog, Dialect, Tool};

fn weather() -> Catalog {
    let schema = json!({ "type": "object", "properties": { "city": { "type": "string" } } });
    Catalog::from_tools([Tool::new("get_weather").with_schema(schema)])
}

fn listed(text: &str, config: Config) -> Vec<GivenBack> {
    let pieces = text.chars().collect::<Vec<_>>();
    let deltas = pieces.chunks(3).map(|piece| TimedDelta::new(DeltaKind::Content, piece.iter().collect::<String>()));
    let deltas = deltas.collect::<Vec<_>>();
    let round = Round::default().with_deltas(deltas).with_finish(Finish::new(FinishReason::Stop));
    let validator = Validator::new(config.catalog.clone().unwrap_or_default());
    let played = play(&round, &RoundSettings { config: config.clone(), profile: None, validator });
    explain(&played, &config, true)
}

/// Returns each candidate with its rule and its position as `line:column`.
fn rules(text: &str, config: Config) -> Vec<(String, Rule, String)> {
    listed(text, config).into_iter().map(|e| (e.found, e.rule, format!("{}:{}", e.line, e.column))).collect()
}

fn one(text: &str, config: Config) -> GivenBack {
    let list = listed(text, config);
    let [entry] = <[GivenBack; 1]>::try_from(list).unwrap_or_else(|list| panic!("one entry: {list:#?}"));
    entry
}

fn known() -> Config {
    Config::default().with_catalog(Some(weather().into()))
}

#[test]
fn each_case_has_a_remedy_but_for_openers_which_have_their_own() {
    let without = rules::CASES.iter().filter(|(.., remedy)| remedy.is_empty()).map(|(case, ..)| case.as_str());
    assert_eq!(without.collect::<Vec<_>>(), ["noted gate", "noted partial_opener", "noted no_json"]);
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
    assert_eq!((entry.rule, entry.line, entry.column), (Rule::Noted(NotACallReason::Gate), 2, 1));
    assert!(entry.why.contains("“is the tag.”"), "{}", entry.why);
    assert!(entry.remedy.contains("<server_name>"), "{}", entry.remedy);
}

#[test]
fn an_opener_before_another_opener_fails_the_gate() {
    let text = "<use_mcp_tool><use_mcp_tool><server_name>a</server_name><tool_name>b</tool_name><arguments>{}</arguments></use_mcp_tool>";
    assert_eq!(
        (one(text, Config::default()).rule, one(text, Config::default()).offset),
        (Rule::Noted(NotACallReason::Gate), 0)
    );
}

#[test]
fn a_marker_of_a_draft_stands_in_the_reasoning() {
    let text =
        "<think>\n```\nTYPE: MCP\n{\"tool_name\": \"get_weather\", \"parameters\": {}}\n```\nYes.\n</think>\nSunny.";
    let list = listed(text, known());
    assert!(!list.is_empty() && list.iter().all(|e| e.rule == Rule::Rejected(RejectedKind::InReasoning)), "{list:#?}");
    assert!(list.iter().all(|e| e.region == Region::Reasoning), "{list:#?}");
}

#[test]
fn a_tools_tag_without_its_parameters_fails_the_gate() {
    let entry = one("<get_weather> is for the weather.", known());
    assert_eq!((entry.found.as_str(), entry.rule), ("<get_weather>", Rule::Noted(NotACallReason::Gate)));
    assert!(entry.remedy.contains("<city>, </get_weather>"), "{}", entry.remedy);
}

#[test]
fn an_opener_that_breaks_off_is_named() {
    for text in ["Then <use_mcp", "Then <use_mcp\n"] {
        let entry = one(text, Config::default());
        assert_eq!((entry.found.as_str(), entry.rule), ("<use_mcp", Rule::Noted(NotACallReason::PartialOpener)));
    }
}

#[test]
fn a_marker_within_a_line_or_without_json_is_named() {
    assert_eq!(
        rules("Say TYPE: MCP now.\n\nTYPE: MCP\nplease", Config::default()),
        [
            ("TYPE: MCP".to_owned(), Rule::NotALine, "1:5".to_owned()),
            ("TYPE: MCP".to_owned(), Rule::Noted(NotACallReason::NoJson), "3:1".to_owned()),
        ]
    );
}

#[test]
fn a_dialect_that_is_not_read_is_named() {
    let text =
        "<use_mcp_tool><server_name>a</server_name><tool_name>b</tool_name><arguments>{}</arguments></use_mcp_tool>";
    let config = Config::default().with_dialects(Dialect::TypeMarker);
    let entry = one(text, config);
    assert_eq!(entry.rule, Rule::DialectOff);
    assert!(entry.remedy.contains("--dialect use_mcp_tool"), "{}", entry.remedy);
}

#[test]
fn a_tag_that_looks_like_a_tools_asks_for_the_tools() {
    let text = "<read_file><path>a</path></read_file>";
    assert_eq!(one(text, Config::default()).rule, Rule::ToolsUnknown);
    assert_eq!(one(text, known()).rule, Rule::Rejected(RejectedKind::UnknownTool));
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
    assert_eq!(kinds, [RejectedKind::InReasoning, RejectedKind::Quoted, RejectedKind::Truncated].map(Rule::Rejected));
    assert!(list.iter().all(|(found, ..)| found == "<use_mcp_tool>"), "{list:?}");
}

#[test]
fn a_call_that_runs_is_not_listed() {
    let text = "<get_weather>\n<city>Graz</city>\n</get_weather>";
    assert_eq!(rules(text, known()), []);
}

/// Returns a configuration with the tools `get_weather(city)` and `search(query, limit)`, the latter of the server
/// `web`.
fn two_tools() -> Config {
    let schema =
        json!({ "type": "object", "properties": { "query": { "type": "string" }, "limit": { "type": "integer" } } });
    let search = Tool::new("search").with_server("web").with_schema(schema);
    let weather = weather().tools().next().unwrap().clone();
    Config::default().with_catalog(Some(Catalog::from_tools([weather, search]).into()))
}

/// Returns the serialized rule and the reason of the only entry.
#[track_caller]
fn named(text: &str) -> (String, String) {
    let entry = one(text, two_tools());
    (serde_json::to_value(entry.rule).unwrap().as_str().unwrap().to_owned(), entry.why)
}

#[test]
fn held_calls_without_a_marker_are_given_back_for_a_reason() {
    for (text, rule, why) in [
        ("get_weather(city=\"Oslo\") and so on", "text_after", "python`: “and so on” follows it on its line"),
        ("get_weather(city=home)", "no_literal", "“home)” is not a literal"),
        ("get_weather(city=\"Oslo\n)", "no_literal", "its line ends in a string"),
        ("search(\"fjords\")", "no_keyword", "other than one parameter"),
        ("[get_weather(city=\"Oslo\"), 5]", "no_further_call", "“5]” is in the list"),
        ("[get_weather(city=\"Oslo\")](a.html)", "link", "link"),
        ("get_weather(", "cut_off", "the answer ended before"),
        (r#"{"name": "search", "arguments": {"query": "a"}} is it."#, "text_after", "json`: “is it.” follows it"),
        (r#"{"name": "serch", "arguments": {"query": "a"}}"#, "unknown_tool", "“serch” is not a known tool"),
        (r#"{"name": "search", "reason": "it is good"}"#, "foreign_key", "no call has “\"reason\": \"it is good\"}”"),
        (r#"[{"name": "search"}]"#, "incomplete", "missing"),
        (r#"{"name": "search", "parameters": {"type": "object", "properties": {}}}"#, "definition", "defines a tool"),
        (r#"{"name": "search", "arguments": {"query": "a" "b"}}"#, "damaged", "at line 1 column"),
        (r#"[{"name": "search", "arguments": {}} {"name" 1}]"#, "malformed", "one cannot be read, so none is run"),
        (r#"[{"name": "search", "arguments": {}}, 5]"#, "no_further_call", "“5]” is in the list"),
        (r#"{"name": "search", "argum"#, "cut_off", "the answer ended"),
        ("```json\n{\"name\": \"search\"\n```", "unclosed", "“```” came before"),
        ("Action: search\nAction Input: {\"query\": ]}", "damaged", "react`: its JSON cannot be read"),
        ("Action: search\nAction Input: {\"query\": x\nObservation: none", "unclosed", "“Observation: none” came"),
    ] {
        let (got, said) = named(text);
        assert!(got == rule && said.contains(why), "{text}\n  {got}: {said}");
    }
}

#[test]
fn calls_without_a_marker_where_none_may_stand_are_named() {
    for (text, rule, why) in [
        ("Use get_weather(city=\"Oslo\").", "not_a_line", "“Use” is before it on its line"),
        ("    get_weather(city=\"Oslo\")", "other", "where no call is read"),
        ("Use \"get_weather(city=1)\".", "quote", "follows \" directly"),
        (r"See \[get_weather(city=1)]", "quote", r"follows \ directly"),
        ("```\nx = 1\nget_weather(city=1)\n```", "fence", "fence"),
        ("my.get_weather(city=1)", "other", "where no call is read"),
        (r#"So: {"name": "search", "arguments": {}}"#, "not_a_line", "“So:” is before it"),
        ("It is:\n\n{\"name\": \"search\", \"arguments\": {}}\n\nSo.", "text_after", "“So.” follows it"),
        ("```\nx\n{\"name\": \"search\", \"arguments\": {}}\n```", "fence", "fence"),
        ("So Action: search\nAction Input: {}", "not_a_line", "“So” is before it"),
        ("Action: serch\nAction Input: {}", "unknown_tool", "no known tool"),
        ("Action: search\nAction Input: fjords", "no_json", "“fjords” follows"),
        ("Call web.search of it.", "bare_name", "without a call's syntax"),
    ] {
        let (got, said) = named(text);
        assert!(got == rule && said.contains(why), "{text}\n  {got}: {said}");
    }
}

#[test]
fn calls_without_a_marker_ask_for_the_tools() {
    let json = "{\"name\": \"search\", \"arguments\": {}}";
    for text in [json, "Action: search\nAction Input: {}"] {
        let entry = one(text, Config::default());
        assert_eq!(entry.rule, Rule::ToolsUnknown, "{text}");
        assert!(entry.remedy.contains("--tool-file"), "{}", entry.remedy);
    }
    let off = two_tools().with_dialects(Dialect::Hermes);
    for text in [json, "Action: search\nAction Input: {}", "search(query=\"a\")"] {
        assert_eq!(one(text, off.clone()).rule, Rule::DialectOff, "{text}");
    }
}

#[test]
fn what_was_held_shows_its_beginning_and_hides_the_names_in_it() {
    let text = format!("{{\"name\": \"search\", \"arguments\": {{\"query\": \"search {}\"}}}} or not", "a".repeat(99));
    let entry = one(&text, two_tools());
    assert_eq!((entry.offset, entry.found.as_str()), (0, "{\"name\": \"search\", \"arguments\": {\"query\""));
}

#[test]
fn what_was_held_in_the_reasoning_is_said_to_stand_there() {
    let entry = one("<think>\nget_weather(city=home)\n</think>\nYes.", two_tools());
    assert_eq!((entry.region, entry.rule), (Region::Reasoning, Rule::Noted(NotACallReason::NoLiteral)));
}
