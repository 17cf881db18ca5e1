//! No dialect finds a call in defused text.

use std::sync::{Arc, LazyLock};

use proptest::prelude::*;
use serde_json::json;
use toolgraft::event::{Assembled, RejectedKind};
use toolgraft::message::{ReasoningCalls, ReasoningMode};
use toolgraft::outcome::Neutraliser;
use toolgraft::parse::Config;
use toolgraft::{Catalog, Tool};
use toolgraft_testkit::laws;

use crate::fixtures::{FIXTURES, Fixture};

static CATALOG: LazyLock<Arc<Catalog>> = LazyLock::new(|| Arc::new(catalog()));

static NEUTRALISER: LazyLock<Neutraliser> = LazyLock::new(|| Neutraliser::new(&CATALOG));

fn catalog() -> Catalog {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}});
    let tool = |name: &str, server: &str| Tool::new(name).with_server(server).with_schema(schema.clone());
    Catalog::from_tools([
        tool("get_weather", "weather"),
        tool("search", "web"),
        tool("search", "files"),
        tool("查询天气", "weather"),
        tool("p", "web"),
    ])
}

fn read(text: &str, reasoning: ReasoningMode) -> Assembled {
    let config = Config::default()
        .with_catalog(CATALOG.clone())
        .with_reasoning(reasoning)
        .with_reasoning_calls(ReasoningCalls::Allow);
    laws::read(text, &config)
}

/// The syntax of calls, whole and in pieces.
const PIECES: &[&str] = &[
    "<use_mcp_tool>",
    "</use_mcp_tool>",
    "<server_name>",
    "</server_name>",
    "<tool_name>",
    "</tool_name>",
    "<arguments>",
    "</arguments>",
    "<access_mcp_resource>",
    "</access_mcp_resource>",
    "<uri>",
    "</uri>",
    "weather",
    "get_weather",
    "search",
    "{\"city\": \"Berlin\"}",
    "{}",
    "<get_weather>",
    "</get_weather>",
    "<weather.get_weather>",
    "</weather.get_weather>",
    "<city>",
    "</city>",
    "Berlin",
    "<查询天气>",
    "</查询天气>",
    "<p>",
    "</p>",
    "<web.search>",
    "</web.search>",
    "TYPE: MCP",
    "functools",
    "TYPE: ANSWER",
    "**Type：mcp**",
    "type:mcp",
    "\n",
    "\n\n",
    " ",
    "\t",
    "\r\n",
    "{\"tool_name\": \"get_weather\", \"parameters\": {\"city\": \"Berlin\"}}",
    "<think>",
    "</think>",
    "<thinking>",
    "</thinking>",
    "```",
    "```json",
    "~~~",
    "'''",
    "\"",
    "'",
    "`",
    "\\",
    "\\]",
    ",",
    "<",
    ">",
    "/",
    "[",
    "]",
    "&lt;",
    "&",
    "<tool_call>",
    "</tool_call>",
    "<function=get_weather>",
    "<parameter=city>",
    "</parameter>",
    "</function>",
    "<invoke name=\"get_weather\">",
    "</invoke>",
    "<tool_calls>",
    "<TOOLCALL>",
    "<function_call>",
    "<|python_tag|>",
    "<|im_end|>",
    "<|im_start|>assistant\n",
    "<end_of_turn>",
    "<s>",
    "</s>",
    "{\"name\": \"get_weather\", \"arguments\": {}}",
    "[TOOL_CALLS]",
    "[TOOL_REQUEST]",
    "[END_TOOL_REQUEST]",
    "get_weather(city=\"Berlin\")",
    "[get_weather(city=\"Berlin\")]",
    "Action: get_weather\nAction Input: {}",
    "<|tool_call|>",
    "<｜tool▁calls▁begin｜>",
    "TYPE",
    ":",
    " MCP",
    "<use_",
    "mcp_tool>",
    "天气",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
];

/// Whole calls, so that there is something to defuse.
const CALLS: &[&str] = &[
    "<use_mcp_tool><server_name>weather</server_name><tool_name>get_weather</tool_name><arguments>{\"city\": \"B\"}\
     </arguments></use_mcp_tool>",
    "<access_mcp_resource><server_name>weather</server_name><uri>a://b</uri></access_mcp_resource>",
    "<get_weather><city>Berlin</city></get_weather>",
    "\nfunctools[{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Berlin\"}}]\n",
    "\nTYPE: MCP\n{\"tool_name\": \"get_weather\", \"parameters\": {\"city\": \"Berlin\"}}\n",
    "<tool_call>{\"name\": \"get_weather\", \"arguments\": {}}</tool_call>",
    "<TOOLCALL>[{\"name\": \"get_weather\", \"arguments\": {}}]</TOOLCALL>",
    "[TOOL_CALLS] [{\"name\": \"get_weather\", \"arguments\": {}}]",
    "[TOOL_REQUEST]{\"name\": \"get_weather\", \"arguments\": {}}[END_TOOL_REQUEST]",
    "<|python_tag|>{\"name\": \"get_weather\", \"parameters\": {}}",
    "\nget_weather(city=\"Berlin\")\n",
    "[get_weather(city='Berlin')]",
    "\n```get_weather(city='Berlin')```\n",
    "\n~~~py [get_weather(city='Berlin')]~~~\n",
    "{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Berlin\"}}",
    "{\"tool_calls\": [{\"function\": {\"name\": \"get_weather\", \"arguments\": {}}}]}",
    "```json\n{\"arguments\": {}, \"name\": \"get_weather\"}\n```",
    "<function=get_weather>{\"city\": \"Berlin\"}</function>",
    "<tool_call>\n<function=get_weather><parameter=city>Berlin</parameter></function>\n</tool_call>",
    "<function_calls><invoke name=\"get_weather\"></invoke></function_calls>",
    "<antml:invoke name='get_weather'></antml:invoke>",
    "<steptml:invoke name='get_weather'></steptml:invoke>",
    "<function name='get_weather'></function>",
    "<｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n{}<｜tool▁call▁end｜>",
    "<|tool_call_begin|>get_weather<|tool_sep|>{}",
    "<｜DSML｜invoke name=\"get_weather\"></｜DSML｜invoke>",
    "[TOOL_CALLS]get_weather[ARGS]{}",
    "\nAction: get_weather\nAction Input: {}\n",
];

#[test]
fn the_calls_of_this_test_are_calls() {
    for call in CALLS {
        assert_eq!(read(call, ReasoningMode::Auto).calls().count(), 1, "{call}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn neutralised_text_holds_no_call(
        pieces in prop::collection::vec(
            prop_oneof![4 => prop::sample::select(PIECES), 2 => prop::sample::select(CALLS)], 0..24),
    ) {
        let text = pieces.concat();
        let safe = NEUTRALISER.neutralise(&text);
        for mode in [ReasoningMode::Auto, ReasoningMode::Open, ReasoningMode::Off] {
            let found = read(&safe, mode);
            // Text that looks like a call is reported as a near call.
            let mut others = found.rejected().filter(|rejected| rejected.kind != RejectedKind::NearCall);
            prop_assert!(found.calls().next().is_none() && others.next().is_none(), "{mode}: {:?} in {safe:?}", found.entries);
            prop_assert_eq!(format!("{}{}", found.reasoning, found.content), safe.as_ref(), "no marker is taken off");
        }
        prop_assert_eq!(NEUTRALISER.neutralise(&safe), safe.as_ref(), "twice is once");
    }
}

/// Returns the tools of a fixture.
fn catalog_of(fixture: &Fixture) -> Arc<Catalog> {
    fixture.input.config.catalog.clone().unwrap_or_default()
}

/// Returns the defused text if it is wrong: it contains a call, or defusing it again changes it.
fn wrong(text: &str, catalog: &Arc<Catalog>) -> Option<String> {
    let neutraliser = Neutraliser::new(catalog);
    let safe = neutraliser.neutralise(text).into_owned();
    let known = catalog.tools().next().is_some().then(|| catalog.clone());
    let config = Config::default().with_catalog(known).with_reasoning_calls(ReasoningCalls::Allow);
    let is_safe = laws::read(&safe, &config).calls().next().is_none() && neutraliser.neutralise(&safe) == safe;
    (!is_safe).then_some(safe)
}

#[test]
fn no_neutralised_fixture_holds_a_call() {
    let wrong = |fixture: &Fixture| {
        wrong(&fixture.input.text, &catalog_of(fixture)).map(|safe| format!("{}: {safe}", fixture.name))
    };
    let wrong: Vec<_> = FIXTURES.iter().filter_map(wrong).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), FIXTURES.len(), wrong.join("\n\n"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Parts of fixtures in any order, one inside another.
    #[test]
    fn nor_do_parts_of_fixtures(
        parts in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..4),
        joint in prop::sample::select(&["", "\n", "\n\n", " ", "```\n"][..]),
    ) {
        let fixtures: Vec<_> = parts.iter().map(|(fixture, ..)| fixture.get(&FIXTURES)).collect();
        let parts = fixtures.iter().zip(&parts).map(|(fixture, (_, from, to))| {
            let chars: Vec<char> = fixture.input.text.chars().chain(['\n']).collect();
            let (from, to) = (from.index(chars.len()), to.index(chars.len()));
            chars[from.min(to)..=from.max(to)].iter().collect::<String>()
        });
        let text = parts.collect::<Vec<_>>().join(joint);
        // With the tools of the first fixture, and without tools.
        prop_assert_eq!(wrong(&text, &catalog_of(fixtures[0])), None);
        prop_assert_eq!(wrong(&text, &Arc::new(Catalog::default())), None);
    }
}
