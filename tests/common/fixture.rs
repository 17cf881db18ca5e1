//! A parser fixture: how its text is read.

use serde_json::Value;
use toolgraft::parse::Config;
use toolgraft::{Catalog, Tool};

use crate::common::laws::Input;
use crate::expected;

/// The list of tools that an expectation gives. One that is only named stands beside the fixtures.
pub(crate) fn tools(config: &expected::Config) -> Result<Option<Value>, Box<dyn std::error::Error>> {
    match &config.tools {
        Some(Value::String(name)) => {
            let path = format!("{}/fixtures/parse/tools/{name}.json", env!("CARGO_MANIFEST_DIR"));
            Ok(Some(serde_json::from_slice(&std::fs::read(path)?)?))
        }
        listed => Ok(listed.clone()),
    }
}

/// The text and how it is read.
pub(crate) fn input(config: expected::Config, text: String) -> Result<Input, Box<dyn std::error::Error>> {
    let tools: Option<Vec<Tool>> = tools(&config)?.map(serde_json::from_value).transpose()?;
    let (dialects, limits) = (config.dialects()?, config.limits());
    let read = Config::default()
        .with_dialects(dialects)
        .with_catalog(tools.map(|tools| Catalog::from_tools(tools).into()))
        .with_reasoning(config.reasoning)
        .with_reasoning_calls(config.reasoning_calls)
        .with_reasoning_marks(config.reasoning_marks)
        .with_fenced_calls(config.fenced_calls)
        .with_limits(limits)
        .with_stop(config.stop);
    Ok(Input { reasoning_field: config.reasoning_field, text, reason: config.finish_reason, config: read })
}
