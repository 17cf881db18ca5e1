//! An answer as a value of a Rust type, from a model without `response_format`; tools may be called
//! before it. The model is a recording, so no network is needed.
//!
//! ```sh
//! cargo run --example structured_output
//! ```

use std::io::{Write, stdout};

use futures::StreamExt;
use serde_json::{Map, Value, json};
use toolgraft::agent::RunOptions;
use toolgraft::tools::Decision;
use toolgraft::transcript::{Recorded, Round};
use toolgraft::validate::OutputSchema;
use toolgraft::{Agent, AgentEvent, Functions, Policy, Tool};

#[derive(Debug, serde::Deserialize)]
#[expect(dead_code, reason = "they are printed")]
struct Trip {
    city: String,
    days: u32,
    pack: Vec<String>,
}

async fn get_weather(_: Map<String, Value>) -> Result<String, String> {
    Ok("4 °C, rain".to_owned())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tools =
        Functions::new("weather").with(Tool::new("get_weather").with_description("Weather in Oslo"), get_weather);
    let model = Recorded::new([
        Round::text(
            "<use_mcp_tool><server_name>weather</server_name><tool_name>get_weather</tool_name>\
             <arguments>{}</arguments></use_mcp_tool>",
        ),
        // Does not match the schema: the model is told, and corrects it.
        Round::text("Take an umbrella to Oslo: {\"city\": \"Oslo\", \"days\": \"three\"}"),
        Round::text("Sorry!\n```json\n{\"city\": \"Oslo\", \"days\": \"3\", \"pack\": [\"umbrella\", \"coat\"],}\n```"),
    ]);
    let agent = Agent::builder(model, tools).policy(Policy::new(Decision::Deny).allow("weather/*")).build();

    let schema = OutputSchema::new(json!({
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer", "minimum": 1},
            "pack": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["city", "days", "pack"],
    }))?;

    let mut out = stdout().lock();
    let mut run = agent.run_with("Plan a trip to Oslo.", RunOptions::default().output(schema))?;
    while let Some(event) = run.next().await {
        match event {
            AgentEvent::CallRunning { tool, .. } => writeln!(out, "calls {tool}")?,
            AgentEvent::Correcting { message, .. } => writeln!(out, "wrong: {message}")?,
            AgentEvent::Output { value, repairs } => {
                let repairs: Vec<String> = repairs.iter().map(ToString::to_string).collect();
                writeln!(out, "value: {value}\nmended: {}", repairs.join(", "))?;
            }
            AgentEvent::Finished(finished) => writeln!(out, "{:?}", finished.output_as::<Trip>()?)?,
            _ => {}
        }
    }
    Ok(())
}
