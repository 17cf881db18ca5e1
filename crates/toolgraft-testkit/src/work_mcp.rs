//! An MCP server that works in a folder, with git and a shell: a test sees there what really happened.
//!
//! Its tools are `branch_create(name)`, `checkout(branch)`, `commit(message)`, `sh(command)`, and
//! `status(command)`, which runs a command too and calls itself read-only.

use std::path::{Path, PathBuf};
use std::process::Command;

use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolResult, ContentBlock, ServerCapabilities, ServerConfig};
use rmcp::schemars::JsonSchema;
use rmcp::{ServerHandler, tool, tool_handler, tool_router};
use serde::Deserialize;

use crate::http_mcp::HttpMcp;

/// Starts it for this folder.
pub fn start(folder: &Path) -> HttpMcp {
    let folder = folder.to_owned();
    HttpMcp::serving(0, move || Work { folder: folder.clone(), tool_router: Work::tool_router() })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Name {
    name: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Branch {
    branch: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Commit {
    message: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Sh {
    command: String,
}

struct Work {
    folder: PathBuf,
    tool_router: ToolRouter<Self>,
}

impl Work {
    /// What a program says, as a result or, where it fails, as an error.
    fn run(&self, program: &str, args: &[&str]) -> CallToolResult {
        let output = match Command::new(program).args(args).current_dir(&self.folder).output() {
            Ok(output) => output,
            Err(error) => return CallToolResult::error(vec![ContentBlock::text(error.to_string())]),
        };
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).trim().to_owned();
        let said = vec![ContentBlock::text(if said.is_empty() { "done".to_owned() } else { said })];
        if output.status.success() { CallToolResult::success(said) } else { CallToolResult::error(said) }
    }
}

#[tool_router]
impl Work {
    #[tool(description = "Creates a branch")]
    async fn branch_create(&self, Parameters(Name { name }): Parameters<Name>) -> CallToolResult {
        self.run("git", &["branch", &name])
    }

    #[tool(description = "Switches to a branch")]
    async fn checkout(&self, Parameters(Branch { branch }): Parameters<Branch>) -> CallToolResult {
        self.run("git", &["checkout", "--quiet", &branch])
    }

    #[tool(description = "Commits all changes")]
    async fn commit(&self, Parameters(Commit { message }): Parameters<Commit>) -> CallToolResult {
        self.run("git", &["commit", "--quiet", "--allow-empty", "--all", "--message", &message])
    }

    #[tool(description = "Runs a command of the shell")]
    async fn sh(&self, Parameters(Sh { command }): Parameters<Sh>) -> CallToolResult {
        self.run("sh", &["-c", &command])
    }

    #[tool(description = "Looks something up with a command", annotations(read_only_hint = true))]
    async fn status(&self, Parameters(Sh { command }): Parameters<Sh>) -> CallToolResult {
        self.run("sh", &["-c", &command])
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Work {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}
