//! An agent with the tools of an MCP server. It asks for approval before the first run of each tool.
//!
//! ```sh
//! cargo run --example agent_mcp -- http://localhost:11434/v1 qwen3:8b "What is on the disk?" \
//!     npx -y @modelcontextprotocol/server-filesystem .
//! ```
//!
//! The words after the question are the command line of the server.

use std::io::{Write, stdin, stdout};
use std::sync::Arc;

use futures::StreamExt;
use serde_json::Value;
use toolgraft::agent::ApprovalRequest;
use toolgraft::dialect::Profile;
use toolgraft::route::Toolbox;
use toolgraft::tools::Decision;
use toolgraft::{Agent, AgentEvent, OpenAi, Policy};
use toolgraft_mcp::Hub;
use toolgraft_mcp::ServerConfig;

/// Asks for approval at the terminal. Reading a line blocks, so it happens on a blocking thread.
async fn ask(request: ApprovalRequest) -> bool {
    let question = format!("run {} {}? [y/N] ", request.tool, Value::Object(request.arguments));
    let answer = tokio::task::spawn_blocking(move || {
        let mut line = String::new();
        write!(stdout(), "{question}").and_then(|()| stdout().flush())?;
        stdin().read_line(&mut line).map(|_| line.trim().eq_ignore_ascii_case("y"))
    });
    matches!(answer.await, Ok(Ok(true)))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, name, question, program, rest @ ..] = arguments.as_slice() else {
        return Err("usage: agent_mcp BASE_URL MODEL QUESTION COMMAND [ARGUMENTS...]".into());
    };

    let server = ServerConfig::stdio("server", program, rest);
    let hub = Arc::new(Hub::builder().server(server).inherit_env().require_all().connect().await?);
    writeln!(stdout(), "{} tools", hub.catalog().tools().count())?;

    let agent = Agent::builder(OpenAi::new(url, name)?, hub.clone())
        .profile(Profile::for_model(name))
        .policy(Policy::new(Decision::AskOnce))
        .approver(ask)
        .build();
    let outcome = show(&agent, question).await;
    // Returns only after the server's process has exited.
    hub.shutdown().await;
    outcome
}

async fn show(agent: &Agent, question: &str) -> Result<(), Box<dyn std::error::Error>> {
    let mut out = stdout();
    let mut run = agent.run(question)?;
    while let Some(event) = run.next().await {
        match event {
            AgentEvent::Text { text } => write!(out, "{text}")?,
            AgentEvent::Outcome { outcome, .. } => writeln!(out, "< {}", outcome.text)?,
            AgentEvent::Notice { notice } => writeln!(out, "note: {notice}")?,
            AgentEvent::Finished(finished) if finished.reason.is_answer() => writeln!(out)?,
            AgentEvent::Finished(finished) => return Err(finished.reason.to_string().into()),
            _ => {}
        }
        out.flush()?;
    }
    Ok(())
}
