//! Gemini's `generateContent` (ai.google.dev/api/generate-content): converts a request to one of
//! Chat Completions, and writes an answer as a candidate with parts.
//!
//! Gemini's URL paths name the model and whether the answer is streamed; the router puts both into
//! the body as `model` and `stream`. Fields are accepted in both spellings, `maxOutputTokens` and
//! `max_output_tokens`. Tools that run at Google's service are left out by name, cached contents
//! are refused; safety settings and labels are left out.

mod contents;
mod fields;
mod writer;

use serde_json::{Map, Value, json};

use self::contents::ContentsReader;
use self::fields::{part, take};
use self::writer::GeminiStream;
use super::shape::{Hosted, NO_THINKING, Places, Read, Results, Shape, set};
use super::vendor;
use crate::fault::Fault;
use crate::store::ClientStore;
use toolgraft::wire::json_schema;

/// The API of Gemini's `generateContent`: reads requests in its form and writes answers and errors in it.
pub(crate) struct Gemini;

/// Pairs of field names for limits and sampling: in Gemini's `generationConfig`, and in Chat Completions.
const SAME: [(&str, &str); 11] = [
    ("temperature", "temperature"),
    ("topP", "top_p"),
    ("topK", "top_k"),
    ("maxOutputTokens", "max_tokens"),
    ("stopSequences", "stop"),
    ("candidateCount", "n"),
    ("seed", "seed"),
    ("presencePenalty", "presence_penalty"),
    ("frequencyPenalty", "frequency_penalty"),
    ("responseLogprobs", "logprobs"),
    ("logprobs", "top_logprobs"),
];

impl Shape for Gemini {
    fn read(&self, mut body: Map<String, Value>, _: &ClientStore) -> Result<Read, Fault> {
        // A request to count tokens may hold a whole request for an answer.
        if let Some(Value::Object(mut inner)) = take(&mut body, "generateContentRequest") {
            // The model is in the path already, without the `models/` that clients write here.
            inner.shift_remove("model");
            body.extend(inner);
        }
        vendor::refuse(&body, &vendor::FIELDS.gemini)?;
        vendor::leave_out(&mut body, &vendor::FIELDS.gemini);
        let mut history = ContentsReader::default();
        if let Some(system) = take(&mut body, "systemInstruction") {
            history.system(system);
        }
        history.contents(take(&mut body, "contents"))?;
        let choice = choice_of(take(&mut body, "toolConfig"))?;
        let (tools, places) = tools_of(take(&mut body, "tools"))?;
        let mut config = match take(&mut body, "generationConfig") {
            None => Map::new(),
            Some(Value::Object(config)) => config,
            Some(_) => return Err(Fault::field("generationConfig", "'generationConfig' must be an object")),
        };

        let mut chat = Map::from_iter([("messages".to_owned(), history.messages.into())]);
        set(&mut chat, "tools", Some(tools).filter(|tools| !tools.is_empty()));
        set(&mut chat, "tool_choice", choice);
        for (theirs, ours) in SAME {
            set(&mut chat, ours, take(&mut config, theirs));
        }
        set(&mut chat, "response_format", format_of(&mut config)?);
        refuse(&mut config)?;
        let mut thinking = take(&mut config, "thinkingConfig").unwrap_or_default();
        let thoughts = part(&mut thinking, "includeThoughts") == Some(Value::Bool(true));
        let level = part(&mut thinking, "thinkingLevel").filter(|level| level != "THINKING_LEVEL_UNSPECIFIED");
        let budget =
            // Only a budget of 0 has a level that means the same.
            part(&mut thinking, "thinkingBudget").filter(|budget| *budget == 0).map(|_| NO_THINKING.to_owned());
        let level = level.as_ref().and_then(Value::as_str).map(str::to_ascii_lowercase).or(budget);
        set(&mut chat, "reasoning_effort", level);
        vendor::leave_out(&mut config, &vendor::FIELDS.gemini);
        config.extend(body);
        // Last, so that converted fields replace those of the same name in the request.
        config.extend(chat);
        Ok(Read { chat: config, places: Places(places), writer: Box::new(GeminiStream::new(thoughts)) })
    }

    /// Returns the JSON error object of a fault, also for a failure in mid-stream.
    fn error(&self, fault: &Fault) -> Value {
        writer::error(fault)
    }

    fn takes_results(&self) -> bool {
        true
    }

    fn hosted(&self, hosted: &Hosted, results: Option<Result<Results, String>>) -> Result<String, Fault> {
        let Hosted { kind, model, .. } = hosted;
        let why = match results {
            Some(Ok(results)) => return Ok(writer::found(hosted, &results)),
            Some(Err(why)) => why,
            None if hosted.is_search() => format!("Search Grounding is not supported with {model}."),
            None => format!("Tool '{kind}' is not supported with {model}."),
        };
        Err(Fault::field("tools", why))
    }

    fn field(&self, field: &str) -> String {
        let config = |name: &str| format!("generationConfig.{name}");
        match field {
            "messages" => "contents".to_owned(),
            "tool_choice" => "toolConfig.functionCallingConfig".to_owned(),
            "tool_choice.tools" => "toolConfig.functionCallingConfig.allowedFunctionNames".to_owned(),
            "response_format.json_schema.schema" => config("responseSchema"),
            _ => match SAME.iter().find(|(_, ours)| *ours == field) {
                Some((theirs, _)) => config(theirs),
                None => field.replace(".function", ""),
            },
        }
    }

    fn model(&self, name: &str) -> Option<Value> {
        let methods = ["generateContent", "streamGenerateContent", "countTokens"];
        Some(json!({"name": format!("models/{name}"), "displayName": name, "supportedGenerationMethods": methods}))
    }

    fn count(&self, tokens: u64) -> Value {
        json!({"totalTokens": tokens})
    }

    /// Returns an empty line as the sign of life in a stream, because Google's client for Python parses comments as
    /// data.
    fn busy(&self) -> &'static str {
        "\n"
    }
}

/// Returns an error if the request's `responseModalities` contain anything but `TEXT`.
fn refuse(config: &mut Map<String, Value>) -> Result<(), Fault> {
    let modalities = take(config, "responseModalities");
    let other = modalities.iter().flat_map(|list| list.as_array().into_iter().flatten()).find(|kind| *kind != "TEXT");
    other.map_or(Ok(()), |other| {
        let message = format!("answers are text here, not of the kind {other}");
        Err(Fault::field("generationConfig.responseModalities", message))
    })
}

/// Returns the `response_format` of Chat Completions for the media type and schema of the answer that Gemini's
/// `generationConfig` requests; `None` for plain text.
fn format_of(config: &mut Map<String, Value>) -> Result<Option<Value>, Fault> {
    let open = take(config, "responseSchema");
    // Some clients use Gemini's own dialect in this field too.
    let schema = take(config, "responseJsonSchema").or(open).map(|schema| json_schema(&schema));
    let kind = take(config, "responseMimeType");
    match kind.as_ref().and_then(Value::as_str) {
        Some("text/plain") => Ok(None),
        None if schema.is_none() => Ok(None),
        None | Some("application/json") => Ok(Some(match schema {
            Some(schema) => json!({"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}),
            None => json!({"type": "json_object"}),
        })),
        Some(other) => {
            let message = format!(
                "answers of the type '{other}' are not supported here: expected 'text/plain' or 'application/json'"
            );
            Err(Fault::field("generationConfig.responseMimeType", message))
        }
    }
}

/// Returns the functions of a request and the tools that run at Google's service, in the form of Chat Completions, and
/// their positions in the request.
fn tools_of(tools: Option<Value>) -> Result<(Vec<Value>, Vec<String>), Fault> {
    let (mut functions, mut places) = (Vec::new(), Vec::new());
    let list = match tools {
        None => Vec::new(),
        Some(Value::Array(list)) => list,
        Some(_) => return Err(Fault::field("tools", "'tools' must be a list")),
    };
    for (at, mut tool) in list.into_iter().enumerate() {
        let declared = part(&mut tool, "functionDeclarations");
        if declared.as_ref().is_some_and(|declared| !declared.is_array()) {
            return Err(Fault::field(format!("tools[{at}].functionDeclarations"), "expected a list of functions"));
        }
        let Some(others) = tool.as_object() else {
            return Err(Fault::field(format!("tools[{at}]"), "a tool must be an object with 'functionDeclarations'"));
        };
        for (name, _) in others.iter().filter(|(_, value)| !value.is_null()) {
            places.push(format!("tools[{at}]"));
            functions.push(json!({"type": name, "name": name}));
        }
        for (number, mut function) in declared.iter().flat_map(Value::as_array).flatten().cloned().enumerate() {
            let open = part(&mut function, "parameters");
            let closed = part(&mut function, "parametersJsonSchema");
            if closed.as_ref().is_some_and(|schema| !schema.is_object() && !schema.is_boolean()) {
                let place = format!("tools[{at}].functionDeclarations[{number}].parametersJsonSchema");
                return Err(Fault::field(place, "parameters must be a JSON Schema, which is an object"));
            }
            let parameters = closed.or(open).map(|schema| json_schema(&schema));
            places.push(format!("tools[{at}].functionDeclarations[{number}]"));
            functions.push(json!({"type": "function", "function": {
                "name": function["name"], "description": function["description"], "parameters": parameters,
            }}));
        }
    }
    Ok((functions, places))
}

/// Returns the tool choice of Chat Completions for Gemini's `toolConfig`; `None` if the request has none.
fn choice_of(config: Option<Value>) -> Result<Option<Value>, Fault> {
    let Some(mut calling) = config.and_then(|mut config| part(&mut config, "functionCallingConfig")) else {
        return Ok(None);
    };
    let mode = match calling["mode"].as_str() {
        None | Some("AUTO" | "VALIDATED" | "MODE_UNSPECIFIED") => "auto",
        Some("ANY") => "required",
        Some("NONE") => "none",
        Some(other) => {
            let message =
                format!("the mode '{other}' is not known here: expected 'AUTO', 'ANY', 'NONE' or 'VALIDATED'");
            return Err(Fault::field("toolConfig.functionCallingConfig.mode", message));
        }
    };
    Ok(Some(match part(&mut calling, "allowedFunctionNames") {
        Some(Value::Array(names)) if !names.is_empty() => {
            let tools: Value = names.into_iter().map(|name| json!({"name": name})).collect();
            json!({"type": "allowed_tools", "mode": mode, "tools": tools})
        }
        _ => mode.into(),
    }))
}
