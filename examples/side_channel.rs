//! A chart next to the text: a display-only tool. The model is a recording, so no network is
//! needed.
//!
//! ```sh
//! cargo run --example side_channel
//! ```

use std::io::{Write, stdout};

use futures::StreamExt;
use serde_json::{Map, Value, json};
use toolgraft::message::Delta;
use toolgraft::tools::Decision;
use toolgraft::transcript::{Recorded, Round};
use toolgraft::turn::TurnConfig;
use toolgraft::{Agent, AgentEvent, Functions, Outcome, Policy, Tool};

/// The arguments of `show_chart`.
#[derive(serde::Deserialize)]
struct Chart {
    title: String,
    points: Vec<usize>,
}

/// The text is for the model, the event for the user interface.
async fn read_sales(_: Map<String, Value>) -> Result<Outcome, String> {
    let source = json!({"title": "Sales database", "rows": 3});
    Ok(Outcome::result("Mon 3, Tue 5, Wed 8").with_event("source", source))
}

fn tools() -> Functions {
    let schema = json!({
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "points": {"type": "array", "items": {"type": "integer", "minimum": 0}},
        },
        "required": ["title", "points"],
    });
    Functions::new("office")
        .with(Tool::new("read_sales").with_description("Sales of this week"), read_sales)
        .display(Tool::new("show_chart").with_description("Draws a bar chart").with_schema(schema))
}

/// Returns an answer in pieces, as a live model sends it.
fn says(text: &str) -> Round {
    let pieces = text.split_inclusive(' ');
    Round::new(pieces.map(Delta::content))
}

fn model() -> Recorded {
    let call = |tool: &str, arguments: Value| {
        format!(
            "<use_mcp_tool><server_name>office</server_name><tool_name>{tool}</tool_name>\
             <arguments>{arguments}</arguments></use_mcp_tool>"
        )
    };
    let chart = call("show_chart", json!({"title": "Sales", "points": [3, 5, 8]}));
    Recorded::new([
        says(&call("read_sales", json!({}))),
        says(&format!("Sales rise:\n{chart}\nWednesday was the best day.")),
        says("You are welcome."),
    ])
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The recorded model does not reason, so a chart can be shown at once.
    let mut config = TurnConfig::default().with_policy(Policy::new(Decision::Deny).allow("office/read_*"));
    config.reasons = Some(false);
    let agent = Agent::builder(model(), tools()).config(config).build();

    let mut conversation = "How are sales?".into();
    for question in ["Thanks!", ""] {
        let mut out = stdout().lock();
        let mut run = agent.run(conversation)?;
        conversation = loop {
            match run.next().await.ok_or("the turn did not end")? {
                AgentEvent::Text { text } => write!(out, "{text}")?,
                AgentEvent::Display(call) if call.tool == "show_chart" => {
                    let chart: Chart = call.decode()?;
                    writeln!(out, "[{}]", chart.title)?;
                    chart.points.iter().try_for_each(|n| writeln!(out, "{} {n}", "#".repeat(*n)))?;
                }
                AgentEvent::Outcome { outcome, .. } => {
                    outcome.events.iter().try_for_each(|event| writeln!(out, "[{}: {}]", event.kind, event.data))?;
                }
                AgentEvent::Finished(finished) => break finished.conversation,
                _ => {}
            }
        };
        writeln!(out)?;
        if !question.is_empty() {
            writeln!(out, "> {question}")?;
            // The model then reads that the chart was shown.
            conversation.push_user(question)?;
        }
    }
    Ok(())
}
