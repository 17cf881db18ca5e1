//! Tools by a question, over the tools of 331 real servers and questions as people ask them.

use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use toolgraft::tools::Search;
use toolgraft::{Catalog, Tool};

/// A tool as the corpora have it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    server: String,
    name: String,
    description: Option<String>,
    input_schema: Option<Value>,
}

/// A question, and the tool that it was written for.
#[derive(Deserialize)]
struct Question {
    server: String,
    tool: String,
    question: String,
}

fn lines<T: DeserializeOwned>(file: &str) -> Vec<T> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/catalog").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The tools of both corpora, in their order.
pub(crate) fn catalog() -> Catalog {
    let records = ["mcpm.jsonl", "livemcpbench.jsonl"].into_iter().flat_map(lines::<Record>);
    Catalog::from_tools(records.map(|record| {
        let mut tool = Tool::new(record.name).with_server(record.server);
        (tool.description, tool.input_schema) = (record.description, record.input_schema);
        tool
    }))
}

/// Whether a question for one tool is one for the other too: servers are published more than once.
fn are_twins(one: &Tool, other: &Tool) -> bool {
    let words = |tool: &Tool| tool.description.as_ref().map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
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
    let missed: Vec<String> = questions
        .iter()
        .filter_map(|asked| {
            let wanted = offered
                .iter()
                .find(|tool| tool.server.as_deref() == Some(&asked.server) && tool.name == asked.tool)
                .unwrap_or_else(|| panic!("there is no {} of {}", asked.tool, asked.server));
            let found = search.find(&asked.question, 8);
            let names = || found.iter().map(|place| &*offered[*place].name).collect::<Vec<_>>().join(" ");
            let is_found = found.iter().any(|place| are_twins(wanted, offered[*place]));
            (!is_found).then(|| format!("{} ({} {}): {}", asked.question, asked.server, asked.tool, names()))
        })
        .collect();
    assert!(missed.len() <= 10, "{} are missed:\n{}", missed.len(), missed.join("\n"));
}
