//! The words of the terminal and of the page for the events of a turn.

use super::{excerpt, full_name};
use toolgraft::AgentEvent;
use toolgraft::event::Rejected;
use toolgraft::model::Progress;

/// Returns what is waited for from an event on, where it is the model.
pub(crate) fn waiting(event: &AgentEvent) -> Option<String> {
    Some(match event {
        AgentEvent::RoundStarted { .. } => "waiting for the model".to_owned(),
        AgentEvent::Progress { progress: Progress::Loading } => "the server is loading its model".to_owned(),
        AgentEvent::Progress { progress: Progress::Prompt { processed, total } } => {
            format!("the model is reading the prompt: {processed} of {total} tokens")
        }
        AgentEvent::CallStarted { server, tool, .. } => {
            format!("the model is writing a call of {}", full_name(server.as_deref(), tool))
        }
        _ => return None,
    })
}

/// Returns the title of a call that is rejected, and its text: why, and the beginning of what was written.
pub(crate) fn rejected(rejected: &Rejected) -> (String, String) {
    let title = format!("rejected call of {} ({})", tool_of(rejected), rejected.kind);
    (title, format!("{}\n\n{}", rejected.message, excerpt(&rejected.raw)))
}

/// Returns the tool that a rejected call names.
pub(crate) fn tool_of(rejected: &Rejected) -> String {
    let name = rejected.tool.as_deref().map(|tool| full_name(rejected.server.as_deref(), tool));
    name.unwrap_or_else(|| "a tool".to_owned())
}
