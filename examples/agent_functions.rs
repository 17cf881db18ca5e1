//! An agent whose tools are functions of this program.
//!
//! ```sh
//! cargo run --example agent_functions -- http://localhost:11434/v1 deepseek-r1:14b "Which of Oslo and Rome is warmer?"
//! ```

use std::io::{Write, stdout};

use futures::StreamExt;
use serde_json::{Map, Value, json};
use toolgraft::dialect::Profile;
use toolgraft::tools::Decision;
use toolgraft::{Agent, AgentEvent, Functions, OpenAi, Policy, Tool};

/// An error is text for the model, which reads it and may call again.
async fn get_weather(arguments: Map<String, Value>) -> Result<Value, String> {
    // The arguments are already validated, so the city is present.
    match arguments["city"].as_str() {
        Some("Oslo") => Ok(json!({"city": "Oslo", "celsius": 4, "sky": "rain"})),
        Some("Rome") => Ok(json!({"city": "Rome", "celsius": 19, "sky": "clear"})),
        other => Err(format!("no weather of {other:?}: only of \"Oslo\" and \"Rome\"")),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().ok_or("usage: agent_functions BASE_URL MODEL [QUESTION]")?;
    let name = arguments.next().ok_or("usage: agent_functions BASE_URL MODEL [QUESTION]")?;
    let question = arguments.next().unwrap_or_else(|| "Which of Oslo and Rome is warmer?".to_owned());

    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let tools = Functions::new("weather").with(
        Tool::new("get_weather").with_description("Tells the weather of a city, now").with_schema(schema),
        get_weather,
    );
    let agent = Agent::builder(OpenAi::new(url, &name)?, tools)
        .profile(Profile::for_model(&name))
        .policy(Policy::new(Decision::Deny).allow("weather/*"))
        .build();

    let mut out = stdout();
    let mut run = agent.run(question)?;
    while let Some(event) = run.next().await {
        match event {
            AgentEvent::Text { text } => write!(out, "{text}")?,
            AgentEvent::CallRunning { tool, arguments, .. } => writeln!(out, "> {tool} {}", Value::Object(arguments))?,
            AgentEvent::Outcome { outcome, .. } => writeln!(out, "< {}", outcome.text)?,
            AgentEvent::Finished(finished) if finished.reason.is_answer() => writeln!(out)?,
            AgentEvent::Finished(finished) => return Err(finished.reason.to_string().into()),
            _ => {}
        }
        out.flush()?;
    }
    Ok(())
}
