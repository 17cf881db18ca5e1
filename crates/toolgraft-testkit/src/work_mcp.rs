//! MCP servers with real effects that a test can check: a folder with git and a shell, or the
//! effects of a function.
//!
//! The tools of a folder are `branch_create(name)`, `checkout(branch)`, `commit(message)`,
//! `sh(command)`, and `status(command)`, which also runs a command but declares itself read-only.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::json;

use crate::http_mcp::HttpMcp;

/// A listed tool: name, description, its one argument, and `true` if it is read-only.
pub type Listed = (&'static str, &'static str, &'static str, bool);

const TOOLS: [Listed; 5] = [
    ("branch_create", "Creates a branch", "name", false),
    ("checkout", "Switches to a branch", "branch", false),
    ("commit", "Commits all changes", "message", false),
    ("sh", "Runs a command of the shell", "command", false),
    ("status", "Looks something up with a command", "command", true),
];

/// Starts an MCP server whose tools run git and a shell in this folder.
pub fn start(folder: &Path) -> HttpMcp {
    let folder = folder.to_owned();
    let run = move |program: &str, args: &[&str]| {
        let output =
            Command::new(program).args(args).current_dir(&folder).output().map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).trim().to_owned();
        let said = if said.is_empty() { "done".to_owned() } else { said };
        if output.status.success() { Ok(said) } else { Err(said) }
    };
    acting(&TOOLS, move |tool, argument| match tool {
        "branch_create" => run("git", &["branch", argument]),
        "checkout" => run("git", &["checkout", "--quiet", argument]),
        "commit" => run("git", &["commit", "--quiet", "--allow-empty", "--all", "--message", argument]),
        _ => run("sh", &["-c", argument]),
    })
}

/// Starts an MCP server whose calls are answered by this function of a tool's name and its argument.
pub fn acting<F>(tools: &'static [Listed], act: F) -> HttpMcp
where
    F: Fn(&str, &str) -> Result<String, String> + Send + Sync + 'static,
{
    let act = Arc::new(act);
    HttpMcp::serving(0, move || Acting { tools, act: Arc::clone(&act) })
}

struct Acting<F> {
    tools: &'static [Listed],
    act: Arc<F>,
}

impl<F: Fn(&str, &str) -> Result<String, String> + Send + Sync + 'static> ServerHandler for Acting<F> {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let listed = self.tools.iter().map(|(name, description, argument, reads)| {
            let mut schema = json!({"type": "object", "required": [argument]});
            schema["properties"] = json!({*argument: {"type": "string"}});
            let mut tool = json!({"name": name, "description": description, "inputSchema": schema});
            if *reads {
                tool["annotations"] = json!({"readOnlyHint": true});
            }
            serde_json::from_value::<Tool>(tool).unwrap()
        });
        Ok(ListToolsResult::with_all_items(listed.collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let argument = self.tools.iter().find(|(name, ..)| *name == request.name).map(|(_, _, argument, _)| *argument);
        let given = request.arguments.as_ref().zip(argument).and_then(|(given, name)| given.get(name)?.as_str());
        let Some(given) = given else {
            let why = format!("no tool {:?} with these arguments", request.name);
            return Err(ErrorData::invalid_params(why, None));
        };
        let result = match (self.act)(&request.name, given) {
            Ok(said) => CallToolResult::success(vec![ContentBlock::text(said)]),
            Err(said) => CallToolResult::error(vec![ContentBlock::text(said)]),
        };
        Ok(result.into())
    }
}
