//! More tools than fit a budget: those relevant to a conversation are listed, and the built-in tool
//! finds the others.

use std::sync::Arc;

use futures::StreamExt;
use serde_json::{Map, json};
use toolgraft::agent::StopReason;
use toolgraft::dialect::{Lang, PromptStyle, write_call};
use toolgraft::message::TokenCounter;
use toolgraft::prompt::{Listing, Options, Prompt};
use toolgraft::tools::{BuiltIn, Decision, Said, Server};
use toolgraft::transcript::{Recorded, Round};
use toolgraft::turn::TurnConfig;
use toolgraft::{Agent, AgentEvent, Catalog, Conversation, Dialect, Functions, Policy, Tool};

use crate::search::catalog as real;

/// Returns the 21 servers with most tools, without those with more than 24: over 300 tools, as on a
/// well-equipped desk.
fn desk() -> Catalog {
    let real = real();
    let mut servers: Vec<Server> = real.servers().iter().filter(|server| server.tools.len() <= 24).cloned().collect();
    servers.sort_by_key(|server| std::cmp::Reverse(server.tools.len()));
    servers.truncate(21);
    Catalog::new(servers)
}

fn prompt(options: &Options) -> Prompt {
    Prompt::new(options.clone()).unwrap()
}

#[test]
fn hundreds_of_tools_fit_a_budget_that_their_names_do_not() {
    for (dialect, lang) in Dialect::taught().flat_map(|d| Lang::ALL.iter().map(move |l| (d, *l))) {
        let options = Options::default().with_dialect(dialect).with_lang(lang).with_tool_budget(1_500);
        let catalog = options.callable(Arc::new(desk()));
        assert!(catalog.offered().count() >= 367, "{}", catalog.offered().count());
        let said = [Said::Question("Which issues of octocat/hello-world are open on GitHub?")];
        let system = prompt(&options).compose(&catalog, &said).unwrap();
        let listed = &system.listed;
        assert!(listed.tokens <= 1_500 && !listed.is_over_budget(), "{listed:?}");
        assert!(listed.count(Listing::Signature) >= 6, "{listed:?}");
        assert_eq!(
            listed.count(Listing::Signature) + listed.count(Listing::Brief) + listed.unlisted,
            catalog.offered().count()
        );
        assert!(system.text.contains("list_issues(") && system.text.contains("find_tool"), "{}", system.text);
        assert!(!system.text.contains("describe_tool"), "{}", system.text);
        // By the estimate, the whole prompt is a few pages.
        assert!(TokenCounter::estimate().count(&system.text) < 2_500);
    }
}

#[test]
fn what_is_listed_only_grows_within_a_conversation() {
    let options = Options::default().with_tool_budget(2_500);
    let catalog = options.callable(Arc::new(desk()));
    let said = [
        Said::Question("Which issues of octocat/hello-world are open on GitHub?"),
        Said::Called { server: Some("github"), tool: "list_issues" },
        Said::Question("Thanks!"),
        Said::Question("And how much free memory does the docker container have?"),
        Said::Called { server: Some("docker"), tool: "list_containers" },
        Said::Question("What were they again?"),
    ];
    let text = |upto: usize| prompt(&options).compose(&catalog, &said[..upto]).unwrap().text;
    let names = |text: &str| -> Vec<String> {
        catalog.offered().map(|tool| format!("{}(", tool.name)).filter(|name| text.contains(name.as_str())).collect()
    };
    let texts: Vec<String> = (0..=said.len()).map(text).collect();
    assert!(names(&texts[0]).is_empty());
    for pair in texts.windows(2) {
        let (before, after) = (names(&pair[0]), names(&pair[1]));
        assert!(before.iter().all(|name| after.contains(name)), "{before:?} {after:?}");
    }
    assert_eq!(texts[1], texts[3], "neither a call of what is listed nor thanks change it");
    assert!(names(&texts[4]).len() > names(&texts[3]).len());
}

#[test]
fn of_more_than_eight_tools_a_small_model_sees_the_likeliest_eight() {
    let compact = Options::default().with_style(PromptStyle::Compact);
    let large = Options::default().within(Some(131_072));
    let listed = |options: &Options, tools: usize, said: &[Said<&str>]| {
        let catalog = options.callable(Arc::new(Catalog::from_tools(farm(tools))));
        let system = prompt(options).compose(&catalog, said).unwrap();
        let offered = prompt(options).offer(&catalog, said).unwrap();
        assert_eq!(offered.listed.unlisted, system.listed.unlisted, "the same rule natively");
        (system.listed.count(Listing::Signature), system.listed.unlisted)
    };
    let said = [Said::Question("Please feed the sheep of field 11.")];
    for small in [compact.within(None), Options::default().within(Some(16_384))] {
        assert_eq!(listed(&small, 8, &said), (8, 0));
        assert_eq!(listed(&small, 20, &said), (8, 12));
        assert_eq!(listed(&small, 20, &[Said::Question("?!")]), (20, 0), "nothing is meant");
        let called = [said[0], Said::Called { server: Some("farm"), tool: "feed_sheep_19" }];
        assert_eq!(listed(&small, 20, &called), (9, 11));
        let later = [Said::Question("?!"), said[0]];
        assert_eq!(listed(&small, 20, &later), (8, 12));
    }
    assert_eq!(listed(&large, 20, &said), (20, 0));
}

/// Returns this many tools of a farm, whose descriptions share few words with a question.
fn farm(count: usize) -> impl Iterator<Item = Tool> {
    (0..count).map(|n| {
        let about = if n < 12 { "Counts the cows in a field." } else { "Feeds the sheep of a field." };
        Tool::new(if n < 12 { format!("count_cows_{n}") } else { format!("feed_sheep_{n}") })
            .with_server("farm")
            .with_description(about)
    })
}

/// Returns sixty functions about other things, and one that rolls a die.
fn functions() -> Functions {
    let tool = |name: String, text: &str| Tool::new(name).with_description(text);
    let about = "Counts the sheep in a field. It takes a while, since sheep do not stand still.";
    (0..60)
        .fold(Functions::new("farm"), |functions, n| {
            functions.with(tool(format!("count_sheep_{n}"), about), |_: Map<String, serde_json::Value>| async {
                Ok::<_, String>("many")
            })
        })
        .with(
            tool("roll_die".to_owned(), "Rolls a die.").with_schema(json!({
                "type": "object", "properties": {"sides": {"type": "integer"}}, "required": ["sides"],
            })),
            |_: Map<String, serde_json::Value>| async { Ok::<_, String>("a four") },
        )
}

#[tokio::test]
async fn a_tool_that_is_not_listed_is_found_and_called() {
    for (dialect, lang) in Dialect::taught().flat_map(|d| Lang::ALL.iter().map(move |l| (d, *l))) {
        let server = (dialect == Dialect::UseMcpTool).then_some("farm");
        let write = |server, tool, arguments: serde_json::Value| {
            write_call(dialect, server, tool, arguments.as_object().unwrap())
        };
        let answer = if dialect == Dialect::TypeMarker { "TYPE: ANSWER\nA four." } else { "A four." };
        let rounds = [
            write(None, "find_tool", json!({"query": "roll a die"})),
            write(server, "roll_die", json!({"sides": 6})),
            answer.to_owned(),
        ];
        let model = Arc::new(Recorded::new(rounds.iter().map(|text| Round::text(text.as_str()))));
        let config = TurnConfig::default().with_policy(Policy::new(Decision::Deny).allow("farm/*"));
        let options = Options::default().with_dialect(dialect).with_lang(lang).with_tool_budget(600);
        let agent = Agent::builder(model.clone(), functions()).config(config).prompt(options).build();
        let events: Vec<AgentEvent> =
            agent.run(Conversation::from("How many sheep are there?")).unwrap().collect().await;
        let Some(AgentEvent::Finished(finished)) = events.last() else { panic!("{events:?}") };
        assert_eq!((finished.reason.clone(), finished.calls), (StopReason::Answered, 2), "{events:?}");
        let requests = model.requests();
        let system = |n: usize| requests[n].messages[0].content.clone();
        assert!(system(0).contains("count_sheep_0(") && !system(0).contains("roll_die"), "{}", system(0));
        assert!(!system(1).contains("roll_die"), "what was found stands in the history: {}", system(1));
        let found = &requests[1].messages.last().unwrap().content;
        assert!(found.contains("roll_die(sides: number)") || found.contains("roll_die(sides: integer)"), "{found}");
        assert!(system(2).contains("roll_die("), "what was called is listed: {}", system(2));
        assert!(requests[2].messages.last().unwrap().content.contains("a four"));
    }
}

#[test]
fn what_nothing_is_found_for_is_said() {
    let options = Options::default().with_tool_budget(1_500);
    let catalog = options.callable(Arc::new(desk()));
    for (query, is_result) in [("open a pull request", true), ("zzz", false), ("", false)] {
        let outcome = prompt(&options).find(&catalog, query).unwrap();
        assert_eq!(outcome.is_result(), is_result, "{}", outcome.text);
        assert_eq!(outcome.text.contains("pull_request("), is_result, "{}", outcome.text);
    }
}

#[test]
fn a_servers_own_find_tool_keeps_its_name() {
    let tools = [Tool::new("find_tool").with_server("shop"), Tool::new("buy").with_server("shop")];
    let catalog = Catalog::from_tools(tools).with_built_in(BuiltIn::Find);
    let names: Vec<&str> = catalog.tools().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["find_tool", "buy", "describe_tool", "find_further_tool"]);
    assert_eq!(catalog.as_built_in(None, "find_further_tool"), Some(BuiltIn::Find));
    assert_eq!(catalog.as_built_in(Some("shop"), "find_tool"), None);
    assert_eq!(catalog.offered().count(), 2);
    assert_eq!(catalog.clone().with_built_in(BuiltIn::Find).tools().count(), 4);
}

#[test]
fn in_a_context_of_16k_the_tools_of_an_agent_take_an_eighth_of_it() {
    let long = "It does one more thing that a person wants to know of. ".repeat(60);
    let text = |about: &str| json!({"type": "string", "description": format!("The {about}. {long}")});
    let tools = (0..25).map(|n| {
        let schema = json!({"type": "object", "properties": {"path": text("path"), "lines": text("lines"), "mode": text("mode")}});
        Tool::new(format!("edit_file_{n}")).with_description(format!("Edits a file. {long}")).with_schema(schema)
    });
    let catalog = Arc::new(Catalog::from_tools(tools));
    let said = [Said::Question("Please edit the file notes.txt.")];
    let options = Options::default().within(Some(16_384));
    let callable = options.callable(catalog);
    let (system, offered) =
        (prompt(&options).compose(&callable, &said).unwrap(), prompt(&options).offer(&callable, &said).unwrap());
    for listed in [&system.listed, &offered.listed] {
        assert!(listed.tokens <= 2_048 && listed.unlisted >= 17 && listed.unlisted < 25, "{listed:?}");
    }
    assert!(offered.definitions.iter().any(|tool| tool.name == "find_tool"));
}
