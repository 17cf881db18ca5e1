//! The answer for a tool of Anthropic's own service, which cannot run here: the call, its error or
//! results, and a text for the user
//! (platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool).

use serde_json::{Value, json};

use super::writer::MessageStream;
use crate::codecs::shape::{Hosted, Link, Results, Writer};
use crate::codecs::vendor::MESSAGES_TOOLS;
use crate::fault::Fault;
use crate::ids::new_id;
use crate::out::{Finish, Out};

/// Returns the body of the answer to a request that only a tool of Anthropic's service could answer: the call, its
/// results or error, and a text.
///
/// # Errors
/// Fails if the tool's type has no result block.
pub(super) fn answer(hosted: &Hosted, results: Option<Result<Results, String>>) -> Result<String, Fault> {
    let Hosted { kind, name, query, model, .. } = hosted;
    let Some((_, result)) = MESSAGES_TOOLS.iter().find(|(begin, _)| kind.starts_with(begin)) else {
        let message = format!("'{kind}' is not supported here: no tool runs at a vendor's service");
        return Err(Fault::field("tools", message));
    };
    let id = new_id("srvtoolu_");
    let input = json!({"query": query});
    let call = |input: Value| json!({"type": "server_tool_use", "id": id, "name": name, "input": input});
    let error = json!({"type": format!("{result}_error"), "error_code": "unavailable"});
    let (found, text) = match results {
        Some(Ok(results)) => (results.links.iter().map(page).collect(), results.text),
        Some(Err(why)) => (error, why),
        None => (error, format!("{name} is not available here: nothing was run, and there are no results.")),
    };
    let result_block = json!({"type": result, "tool_use_id": id, "content": found});
    let mut writer = MessageStream::new(false);
    writer.begin(model, 0);
    let mut body = String::new();
    writer.open("server_tool_use", call(json!({})), &mut body);
    writer.delta(json!({"type": "input_json_delta", "partial_json": input.to_string()}), &mut body);
    writer.open(result, result_block, &mut body);
    writer.write(Out::Text(text), &mut body);
    if !hosted.stream {
        return Ok(writer.ended(&Finish::default()).to_string());
    }
    writer.write(Out::Finish(Finish::default()), &mut body);
    Ok(body)
}

fn page(link: &Link) -> Value {
    // Fields that only Anthropic's service can read are empty.
    json!({
        "type": "web_search_result", "title": link.title, "url": link.url, "encrypted_content": "", "page_age": null,
    })
}
