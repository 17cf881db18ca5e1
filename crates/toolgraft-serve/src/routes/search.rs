//! A web search by a tool of the toolbox, for clients that expect a search tool of their vendor's
//! service.

use std::sync::Arc;

use serde_json::{Value, json};

use toolgraft::Catalog;
use toolgraft::agent::{CALL_TIMEOUT, run_call};
use toolgraft::outcome::Status;
use toolgraft::route::{Invocation, Toolbox};
use toolgraft_protocol::{Hosted, Link, Results, new_id};

/// Names of a search tool's parameter for the query; the first one that a tool has is used.
const QUERY: [&str; 4] = ["query", "q", "search_query", "search"];

/// Prefix that Claude Code puts before the query of a web search.
const CLAUDE_CODE: &str = "Perform a web search for the query: ";

/// Maximum number of links in the results of a search.
const MAX_LINKS: usize = 20;

/// A tool of the toolbox with which the server runs web searches.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchTool {
    /// Name of the MCP server that has the tool.
    pub server: String,
    /// Name of the search tool on its server.
    pub tool: String,
    /// Name of the tool's parameter for the query.
    pub parameter: String,
}

impl SearchTool {
    /// Returns the search tool with this name, `SERVER` or `SERVER.TOOL`; for a server, its first tool that takes a
    /// query. `None` if there is none.
    #[must_use]
    pub fn find(catalog: &Catalog, name: &str) -> Option<SearchTool> {
        catalog.tools().find_map(|tool| {
            let server = tool.server.as_deref()?;
            let rest = name.strip_prefix(server)?;
            if !rest.is_empty() && rest.strip_prefix('.') != Some(tool.name.as_str()) {
                return None;
            }
            let parameter = QUERY.into_iter().find(|name| tool.parameters().any(|known| known.name == *name))?;
            let (server, tool) = (server.to_owned(), tool.name.clone());
            Some(SearchTool { server, tool, parameter: parameter.to_owned() })
        })
    }
}

/// Runs the web search for a request that only a search of the vendor's service could answer.
///
/// # Errors
/// Fails with a message for the client if the toolbox has no such tool now, or if the search failed.
pub(crate) async fn search(toolbox: Arc<dyn Toolbox>, name: &str, hosted: &Hosted) -> Result<Results, String> {
    let Some(tool) = SearchTool::find(&toolbox.catalog(), name) else {
        return Err(format!("the search failed: {name} has no tool now that takes a query"));
    };
    let query = hosted.query.strip_prefix(CLAUDE_CODE).unwrap_or(&hosted.query);
    let mut call = Invocation::new(tool.tool).with_server(tool.server).with_arguments(json!({tool.parameter: query}));
    call.id = new_id("search_");
    let (_, outcome) = run_call(toolbox, call, Some(CALL_TIMEOUT)).await;
    let text = outcome.said().into_owned();
    match outcome.status {
        Status::Result => {
            let value = outcome.structured.or_else(|| serde_json::from_str(&text).ok());
            let mut found = Vec::new();
            value.iter().for_each(|value| in_json(value, &mut found));
            let links = if found.is_empty() { links(&text) } else { found };
            Ok(Results { links, text })
        }
        _ => Err(format!("the search failed: {text}")),
    }
}

/// Collects the pages that a JSON result of a search names.
fn in_json(value: &Value, links: &mut Vec<Link>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| in_json(item, links)),
        Value::Object(members) => {
            let text = |keys: &[&str]| keys.iter().find_map(|key| members.get(*key)?.as_str());
            match text(&["url", "link", "href"]).filter(|url| url.starts_with("http")) {
                Some(url) => push(links, text(&["title", "name"]).unwrap_or(url), url),
                None => members.values().for_each(|member| in_json(member, links)),
            }
        }
        _ => {}
    }
}

/// Adds a page to the links, unless its URL is among them or there are enough.
fn push(links: &mut Vec<Link>, title: &str, url: &str) {
    if links.len() < MAX_LINKS && links.iter().all(|link| link.url != url) {
        links.push(Link { title: title.to_owned(), url: url.to_owned() });
    }
}

/// Returns the pages that a text names: the first URL of each line, each once, with the text before it as its title.
fn links(text: &str) -> Vec<Link> {
    let mut links: Vec<Link> = Vec::new();
    let mut title = "";
    for line in text.lines() {
        let Some(at) = line.find("https://").or_else(|| line.find("http://")) else {
            title = if line.trim().is_empty() { title } else { line };
            continue;
        };
        let (before, rest) = line.split_at(at);
        let end = rest.find(|c: char| c.is_whitespace() || "()<>[]\"'`".contains(c)).unwrap_or(rest.len());
        let url = rest[..end].trim_end_matches(['.', ',', ';', ':']);
        let own = before.trim_end_matches(['(', '<', '"', ']', ' ']);
        let named = if own.chars().filter(|c| c.is_alphanumeric()).count() > LABEL { own } else { title };
        // The number of a list item is not part of the title.
        let is_number = |text: &str| text.trim().chars().all(|c| c.is_ascii_digit());
        let named = named.split_once(['.', ')']).filter(|(head, _)| is_number(head)).map_or(named, |(_, rest)| rest);
        let named = named.trim_start_matches(|c: char| !c.is_alphanumeric()).trim_start_matches("Title:").trim();
        push(&mut links, if named.is_empty() { url } else { named }, url);
    }
    links
}

/// Maximum number of letters and digits of a text before a URL that counts as a label (`URL:`, `Link:`, `Source:`)
/// and not as a title.
const LABEL: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_have_the_titles_that_stand_before_them() {
        for (text, expected) in [
            (
                "Title: One\nURL: https://a.example/1\nIt is.\n\nTitle: Two\nURL: https://b.example/2",
                [("One", "https://a.example/1"), ("Two", "https://b.example/2")],
            ),
            (
                "1. [First page](https://a.example/1). More.\n2. [Second page](https://b.example/2)",
                [("First page", "https://a.example/1"), ("Second page", "https://b.example/2")],
            ),
        ] {
            let found: Vec<(String, String)> = links(text).into_iter().map(|link| (link.title, link.url)).collect();
            let expected = expected.map(|(title, url)| (title.to_owned(), url.to_owned()));
            assert_eq!(found, expected, "{text}");
        }
        assert!(links("nothing, http:/x").is_empty());
        let mut found = Vec::new();
        let value = json!({"results": [{"title": "One", "url": "https://a"}, {"link": "https://b"}, {"url": "x"}]});
        in_json(&value, &mut found);
        let named = |title: &str, url: &str| Link { title: title.to_owned(), url: url.to_owned() };
        assert_eq!(found, [named("One", "https://a"), named("https://b", "https://b")]);
    }
}
