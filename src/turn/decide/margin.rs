//! Estimates from a request how likely it needs a call, before the model has written anything.

use serde_json::Value;

use super::greeting::is_question;
use super::mentions::Mentions;
use super::words::phrases;
use crate::tools::Tool;

/// Amount by which a question lowers the threshold of a call: a small model is less ready to call for one than for an
/// instruction.
const QUESTION: f64 = 0.5;

/// Amount by which the threshold of a call is lower for a request that names an identifier, a path, an address or a
/// time, which indicates a tool: of 200 tasks and jobs, 60 of the 143 that need a call name such an object and none of
/// the 57 others, while the least likely of these calls had the logarithm -6.0 (Qwen2.5-Coder of half a billion
/// parameters, docs/appendix/measured.md).
const REFERENCE: f64 = 4.5;

/// Amount by which the threshold of a call is lower for a request with two neighbouring words of a tool: "outdoor
/// humidity". Of these 200, 8 requests of the 143 and one of the 57 have such words; the one's logarithm was -7.3.
const PHRASE: f64 = 2.0;

/// Returns the amount by which this request lowers the threshold of a call of these tools, as a natural logarithm.
pub fn call_margin<'t>(request: &str, mut tools: impl Iterator<Item = &'t Tool>) -> f64 {
    let said = phrases(request);
    let has_phrase =
        !said.is_empty() && tools.any(|tool| texts(tool).iter().any(|text| !said.is_disjoint(&phrases(text))));
    let phrase = if has_phrase { PHRASE } else { 0.0 };
    let question = if is_question(request) { QUESTION } else { 0.0 };
    let reference = if Mentions::of(request).have_reference() { REFERENCE } else { 0.0 };
    question + reference + phrase
}

/// Returns the texts of a tool: its name and description, and those of its parameters with their `enum` values.
fn texts(tool: &Tool) -> Vec<&str> {
    let own = [Some(&*tool.name), tool.description.as_deref()];
    let of_parameters = tool.parameters().flat_map(|parameter| {
        let description = parameter.schema.get("description").and_then(Value::as_str);
        let choices = parameter.schema.get("enum").and_then(Value::as_array).into_iter().flatten();
        let name = [Some(parameter.name), description];
        name.into_iter().flatten().chain(choices.filter_map(Value::as_str)).collect::<Vec<_>>()
    });
    own.into_iter().flatten().chain(of_parameters).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_request_that_names_what_only_a_tool_knows_is_a_call_sooner() {
        let sensor = json!({"properties": {"sensor": {"enum": ["outdoor_humidity", "living_room_temperature"]}}});
        let tools = [Tool::new("read_it").with_schema(sensor)];
        for (request, margin) in [
            ("Close the ticket.", 0.0),
            ("Who is on call?", QUESTION),
            ("Close T-198.", REFERENCE),
            ("Which priority does ticket T-204 have?", QUESTION + REFERENCE),
            ("2026-12-03 我有什么安排？", QUESTION + REFERENCE),
            ("12 加 30 等于多少？", QUESTION),
            ("What is 3.5 % of 1,200?", QUESTION),
            ("What is the outdoor humidity?", QUESTION + PHRASE),
            ("How warm is the living room?", QUESTION + PHRASE),
            ("Is there a room for living?", QUESTION),
            ("Read it.", 0.0),
        ] {
            assert_eq!(call_margin(request, tools.iter()), margin, "{request}");
        }
    }
}
