//! Schemas of real tools: each gives a grammar and a schema that the real server can compile.
//!
//! `TOOLGRAFT_TOOLS` names further files, separated by `:`, with one tool in JSON per line.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use futures::StreamExt;
use serde_json::Value;
use toolgraft::constrain::{Constraint, Thinking};
use toolgraft::model::{ModelEvent, Request};
use toolgraft::tools::{Server as ToolServer, ToolChoice};
use toolgraft::{Catalog, Dialect, Message, Model, OpenAi, Tool};

use crate::server::{shared, wanted};

/// Number of tools in one request.
const AT_ONCE: usize = 25;

fn lists() -> Vec<Vec<Tool>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/tools");
    let mut lists = Vec::new();
    for file in fs::read_dir(folder).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        let server: ToolServer = serde_json::from_str(&text).unwrap();
        lists.push(server.tools);
    }
    let further = std::env::var("TOOLGRAFT_TOOLS").unwrap_or_default();
    for file in further.split(':').filter(|file| !file.is_empty()) {
        let text = fs::read_to_string(file).unwrap();
        let tools: Vec<Tool> = text.lines().map(|line| tool(&serde_json::from_str(line).unwrap())).collect();
        lists.extend(tools.chunks(AT_ONCE).map(<[Tool]>::to_vec));
    }
    lists
}

fn tool(line: &Value) -> Tool {
    let tool = Tool::new(line["name"].as_str().unwrap());
    match line.get("inputSchema").filter(|schema| !schema.is_null()) {
        Some(schema) => tool.with_schema(schema.clone()),
        None => tool,
    }
}

#[test]
fn the_server_compiles_what_real_tools_give() {
    if !wanted("the_server_compiles_what_real_tools_give") {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut sent = 0;
        for tools in lists() {
            let named = tools.iter().map(|tool| tool.clone().with_server("s"));
            let catalog = Catalog::from_tools(named);
            // The last dialect only has the schema of a single call.
            for dialect in [Dialect::UseMcpTool, Dialect::TypeMarker, Dialect::Json] {
                let calls = Constraint::calls(dialect, &catalog, &ToolChoice::Required, Thinking::Marked, 4).unwrap();
                assert_eq!(calls.grammar.is_some(), dialect != Dialect::Json);
                let mut request = Request::new(vec![Message::user("Hi")]);
                (request.max_tokens, request.constraint) = (Some(1), Some(Arc::new(calls.require())));
                let model = OpenAi::new(shared().url(), "smollm2").unwrap();
                let events: Vec<_> = model.stream(request).collect().await;
                let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
                let taken = events.iter().all(|e| !matches!(e, Err(_) | Ok(ModelEvent::ConstraintRefused(_))));
                assert!(taken && !events.is_empty(), "{dialect}, {names:?}: {events:?}");
                sent += tools.len();
            }
        }
        eprintln!("{sent} structures of tools were taken");
    });
}
