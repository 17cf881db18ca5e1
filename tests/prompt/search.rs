//! The search for tools by a question, with the tools of 318 real servers and realistic questions.

use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use toolgraft::tools::Search;
use toolgraft::{Catalog, Tool};

/// A tool in the form of the corpora.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    server: String,
    name: String,
    description: Option<String>,
    input_schema: Option<Value>,
}

/// A question, the tool that it was written for, and others that fulfil the whole request.
#[derive(Deserialize)]
struct Question {
    server: String,
    tool: String,
    question: String,
    #[serde(default)]
    also: Vec<String>,
}

fn lines<T: DeserializeOwned>(file: &str) -> Vec<T> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/catalog").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the tools of both corpora, in their order.
pub(crate) fn catalog() -> Catalog {
    let records = ["mcpm.jsonl", "livemcpbench.jsonl"].into_iter().flat_map(lines::<Record>);
    Catalog::from_tools(records.map(|record| {
        let mut tool = Tool::new(record.name).with_server(record.server);
        (tool.description, tool.input_schema) = (record.description, record.input_schema);
        tool
    }))
}

/// Returns `true` if a question for one tool is also one for the other: servers are published more
/// than once.
fn are_twins(one: &Tool, other: &Tool) -> bool {
    let words =
        |tool: &Tool| tool.description.as_ref().map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    one.name == other.name && words(one) == words(other)
}

#[test]
fn of_200_questions_the_tool_is_among_eight_of_2774_in_95_of_100() {
    let catalog = catalog();
    let offered: Vec<&Tool> = catalog.offered().collect();
    assert_eq!(offered.len(), 2_774);
    let search = Search::new(&catalog);
    let questions: Vec<Question> = lines("questions.jsonl");
    assert_eq!(questions.len(), 200);
    let named = |server: &str, name: &str| {
        let is_it = |tool: &&&Tool| tool.server.as_deref() == Some(server) && tool.name == name;
        *offered.iter().find(is_it).unwrap_or_else(|| panic!("there is no {name} of {server}"))
    };
    let (mut missed, mut answered) = (Vec::new(), 0);
    for asked in &questions {
        let found: Vec<&Tool> = search.find(&asked.question, 8).into_iter().map(|place| offered[place]).collect();
        let is_found = |wanted: &Tool| found.iter().any(|tool| are_twins(wanted, tool));
        if !is_found(named(&asked.server, &asked.tool)) {
            let names: Vec<&str> = found.iter().map(|tool| tool.name.as_str()).collect();
            missed.push(format!("{} ({} {}): {}", asked.question, asked.server, asked.tool, names.join(" ")));
            let others = asked.also.iter().map(|other| other.split_once('/').unwrap());
            answered += usize::from(others.into_iter().any(|(server, name)| is_found(named(server, name))));
        }
    }
    let missed_all = missed.join("\n");
    assert!(missed.len() <= 14, "the tool itself is missed {} times:\n{missed_all}", missed.len());
    assert!(
        missed.len() - answered <= 10,
        "nothing that does it is found {} times:\n{missed_all}",
        missed.len() - answered
    );
}
