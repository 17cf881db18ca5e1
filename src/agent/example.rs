//! An example of a tool, made by the model that is to use it.
//!
//! In: a tool without examples of its own. Out: a question as a person asks it, and the arguments of the
//! call that answers it. The model is held to a schema; what it makes counts only if the tool's own
//! schema takes the arguments and the question has each of their values, since a model copies values of
//! which it does not see where they come from.

use futures::StreamExt;
use serde_json::{Map, Value, json};

use crate::constrain::Constraint;
use crate::dialect::Lang;
use crate::message::{DeltaKind, Message};
use crate::model::{Model, ModelError, ModelEvent, Request};
use crate::tools::{Tool, ToolExample, is_destructive};
use crate::validate::OutputSchema;
use crate::wire::set_member;

/// How often the model is asked, the first time at temperature 0.
const ATTEMPTS: usize = 4;

/// Temperature of further attempts.
const VARIED: f64 = 0.8;

/// Tokens of an answer, and characters of a value and of the question, at most.
const MAX_TOKENS: u32 = 200;
const VALUE_CHARS: usize = 60;
const QUESTION_CHARS: usize = 160;

/// Has the model make an example of the tool, with at most four requests. `None` where it makes none
/// that is right, and for a tool that may destroy something: those are never shown.
///
/// ```
/// use toolgraft::{Tool, agent::make_example};
/// use toolgraft::dialect::Lang;
/// use toolgraft::model::{Recorded, Round};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tool = Tool::new("get_weather").with_schema(serde_json::json!({
///     "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"],
/// }));
/// let made = r#"{"arguments": {"city": "Oslo"}, "question": "Is it cold in Oslo?"}"#;
/// let example = make_example(&Recorded::new([Round::text(made)]), &tool, Lang::En).await?;
/// assert_eq!(example.unwrap().question, "Is it cold in Oslo?");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The model cannot be asked.
pub async fn make_example(model: &impl Model, tool: &Tool, lang: Lang) -> Result<Option<ToolExample>, ModelError> {
    let schema = schema(tool);
    let Some(output) = OutputSchema::new(schema.clone()).ok().filter(|_| !is_destructive(tool)) else {
        return Ok(None);
    };
    for attempt in 0..ATTEMPTS {
        let mut request = Request::new(messages(tool, lang));
        request.temperature = Some(if attempt == 0 { 0.0 } else { VARIED });
        request.max_tokens = Some(MAX_TOKENS);
        request.constraint = Some(Constraint::answer(schema.clone()).into());
        if let Some(example) = read(&answer(model, request).await?, &output) {
            return Ok(Some(example));
        }
    }
    Ok(None)
}

/// The whole text of an answer.
async fn answer(model: &impl Model, request: Request) -> Result<String, ModelError> {
    let (mut events, mut text) = (model.stream(request), String::new());
    while let Some(event) = events.next().await {
        match event? {
            ModelEvent::Delta(delta) if delta.kind == DeltaKind::Content => text.push_str(&delta.text),
            _ => {}
        }
    }
    Ok(text)
}

/// An example, if the text holds one that is right.
fn read(text: &str, output: &OutputSchema) -> Option<ToolExample> {
    let value: Value = serde_json::from_str(text.trim()).ok()?;
    let (value, _) = output.check(&value, text).ok()?;
    let arguments = value.get("arguments")?.as_object()?.clone();
    let question = value.get("question")?.as_str()?.trim().to_owned();
    let said = question.to_lowercase();
    let is_said = |value: &Value| match value {
        Value::String(text) => said.contains(&text.to_lowercase()),
        Value::Number(number) => said.contains(&number.to_string()),
        // A person says them in other words.
        Value::Bool(_) | Value::Null => true,
        Value::Array(_) | Value::Object(_) => false,
    };
    arguments.values().all(is_said).then(|| ToolExample::new(question, arguments))
}

/// What the model's answer is held to: the required parameters alone, with short texts.
fn schema(tool: &Tool) -> Value {
    let own = tool.input_schema.as_ref();
    let required: Vec<&str> = tool.parameters().filter(|parameter| parameter.required).map(|p| p.name).collect();
    let property = |name: &&str| {
        let mut property = own?.get("properties")?.get(*name)?.clone();
        if let Some(object) = property.as_object_mut().filter(|p| p.get("type") == Some(&json!("string"))) {
            object.entry("minLength").or_insert(1.into());
            object.entry("maxLength").or_insert(VALUE_CHARS.into());
        }
        Some(((*name).to_owned(), property))
    };
    let properties: Map<String, Value> = required.iter().filter_map(property).collect();
    let mut arguments =
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    // What its parts refer to.
    for key in ["$defs", "definitions"] {
        if let Some(defined) = own.and_then(|own| own.get(key)) {
            set_member(&mut arguments, key, defined.clone());
        }
    }
    json!({
        "type": "object",
        "properties": {"arguments": arguments, "question": {"type": "string", "minLength": 2, "maxLength": QUESTION_CHARS}},
        "required": ["arguments", "question"],
        "additionalProperties": false,
    })
}

/// What it is asked, with two examples of what is meant.
fn messages(tool: &Tool, lang: Lang) -> Vec<Message> {
    let [system, tool_is, does, takes] = match lang {
        Lang::En => [
            "For a tool, invent arguments, and what a person would say who needs exactly that. The person does not \
             know the tool. Answer as JSON with \"arguments\" and \"question\"; each argument's value stands in the \
             question.",
            "Tool",
            "What it does",
            "Parameters",
        ],
        Lang::Zh => [
            "为一个工具编造参数，以及正好需要它的人会说的话。这个人不知道有这个工具。用 JSON 回答，包含 \"arguments\" 和 \
             \"question\"；每个参数的值都要出现在问题里。",
            "工具",
            "作用",
            "参数",
        ],
    };
    let asked = |name: &str, description: &str, parameters: &Value| {
        Message::user(format!("{tool_is}: {name}\n{does}: {description}\n{takes}: {parameters}"))
    };
    let [table, word] = match lang {
        Lang::En => [
            ("Books a table in a restaurant.", "Can you get us a table for 4 at Chez Anna?", "Chez Anna"),
            ("Looks up what a word means.", "What does serendipity mean?", "serendipity"),
        ],
        Lang::Zh => {
            [("在餐厅订位。", "请在老味道订 4 个人的位子。", "老味道"), ("查词语的意思。", "踟蹰是什么意思？", "踟蹰")]
        }
    };
    let made = |arguments: Value, question: &str| {
        Message::assistant(json!({"arguments": arguments, "question": question}).to_string())
    };
    let text = json!({"type": "string"});
    vec![
        Message::system(system),
        asked("book_table", table.0, &json!({"restaurant": text, "people": {"type": "integer"}})),
        made(json!({"restaurant": table.2, "people": 4}), table.1),
        asked("define_word", word.0, &json!({"word": text})),
        made(json!({"word": word.2}), word.1),
        asked(
            &tool.name,
            tool.description.as_deref().unwrap_or_default(),
            &schema(tool)["properties"]["arguments"]["properties"],
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Recorded, Round};

    fn tool(name: &str) -> Tool {
        let schema = json!({"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"},
            "unit": {"type": "string"}}, "required": ["city", "days"]});
        Tool::new(name).with_description("Tells the weather.").with_schema(schema)
    }

    async fn made(answers: &[&str], name: &str) -> Option<ToolExample> {
        let model = Recorded::new(answers.iter().map(|text| Round::text(*text)));
        make_example(&model, &tool(name), Lang::En).await.unwrap()
    }

    #[tokio::test(flavor = "current_thread")]
    async fn what_is_wrong_is_asked_for_once_more() {
        let right = r#"{"arguments": {"city": "Oslo", "days": 3}, "question": "How will OSLO be for 3 days?"}"#;
        for wrong in [
            "I cannot do that.",
            r#"{"arguments": {"city": "Oslo"}, "question": "How is Oslo?"}"#,
            r#"{"arguments": {"city": "Oslo", "days": 3}, "question": "How will Oslo be?"}"#,
            r#"{"arguments": {"city": "Oslo", "days": "many"}, "question": "Oslo for many days?"}"#,
        ] {
            let example = made(&[wrong, right], "forecast").await.unwrap();
            assert_eq!(example.question, "How will OSLO be for 3 days?", "{wrong}");
            assert_eq!(example.arguments["days"], 3);
            assert_eq!(made(&[wrong; 4], "forecast").await, None, "{wrong}");
        }
        assert_eq!(made(&[right], "delete_forecast").await, None, "what destroys is never shown");
    }

    #[test]
    fn the_model_is_held_to_what_the_tool_needs() {
        let arguments = &schema(&tool("forecast"))["properties"]["arguments"];
        assert_eq!(arguments["required"], json!(["city", "days"]));
        assert!(arguments["properties"].get("unit").is_none());
        assert_eq!(arguments["properties"]["city"]["maxLength"], 60);
        let Message { content: text, .. } = messages(&tool("forecast"), Lang::Zh).pop().unwrap();
        assert!(text.contains("工具: forecast") && !text.contains("unit"), "{text}");
    }
}
