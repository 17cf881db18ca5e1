//! Builds the body of a request.

use serde_json::{Map, Value, json};

use super::form::Form;
use super::terms::Terms;
use crate::model::Request;
use crate::model::request::insert_tools;

/// Returns the JSON body of a chat request, for `model` if the request names none. `parameters` override everything
/// else, and the value `null` removes a field.
pub(super) fn body(
    model: &str,
    request: &Request,
    parameters: &Map<String, Value>,
    terms: Terms,
    form: Option<Form>,
    alternatives: Option<u32>,
) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), request.model.as_deref().unwrap_or(model).into());
    body.insert("messages".to_owned(), request.messages.iter().map(|m| m.chat(terms.reasoning)).collect());
    body.insert("stream".to_owned(), true.into());
    body.insert("stream_options".to_owned(), json!({"include_usage": true}));
    if let Some(temperature) = request.temperature {
        body.insert("temperature".to_owned(), temperature.into());
    }
    if let Some(max_tokens) = request.max_tokens {
        body.insert("max_tokens".to_owned(), max_tokens.into());
    }
    if !request.stop.is_empty() {
        body.insert("stop".to_owned(), json!(request.stop));
    }
    if let Some(most) = alternatives {
        body.insert("logprobs".to_owned(), true.into());
        body.insert("top_logprobs".to_owned(), most.into());
    }
    insert_tools(&mut body, &request.tools, &request.tool_choice);
    if let (Some(form), Some(constraint)) = (form, &request.constraint) {
        form.insert(&mut body, constraint);
    }
    for (name, value) in parameters {
        match value {
            Value::Null => body.shift_remove(name),
            value => body.insert(name.clone(), value.clone()),
        };
    }
    // Last: a field that the endpoint refuses is left out even if the program has set it.
    terms.keep(&mut body);
    Value::Object(body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Image, Message, NativeCall};
    use crate::tools::ToolChoice;
    use crate::wire::ToolDefinition;

    #[test]
    fn only_what_was_asked_for_is_sent() {
        let mut request = Request::new(vec![Message::system("s"), Message::user("u")]);
        let messages = json!([{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]);
        let plain = json!({"model": "m", "messages": messages, "stream": true,
            "stream_options": {"include_usage": true}});
        assert_eq!(body("m", &request, &Map::new(), Terms::default(), None, None), plain);

        (request.temperature, request.max_tokens) = (Some(0.6), Some(100));
        request.stop = vec!["</use_mcp_tool>".to_owned()];
        let parameters = json!({"stream_options": null, "max_tokens": null, "max_completion_tokens": 50});
        let changed = json!({"model": "m", "messages": messages, "stream": true, "temperature": 0.6,
            "stop": ["</use_mcp_tool>"], "max_completion_tokens": 50});
        assert_eq!(body("m", &request, parameters.as_object().unwrap(), Terms::default(), None, None), changed);
    }

    #[test]
    fn images_are_parts_after_the_text() {
        let image = Image::new(b"GIF89a").unwrap().with_name("dot.gif");
        let said = [Message::user("What is it?").with_image(image.clone()), Message::user("").with_image(image)];
        let sent = body("m", &Request::new(said.to_vec()), &Map::new(), Terms::default(), None, None);
        let part = json!({"type": "image_url", "image_url": {"url": "data:image/gif;base64,R0lGODlh"}});
        assert_eq!(sent["messages"][0]["content"], json!([{"type": "text", "text": "What is it?"}, part]));
        assert_eq!(sent["messages"][1]["content"], json!([part]));
    }

    #[test]
    fn a_request_may_name_its_model() {
        let mut request = Request::new(vec![Message::user("u")]);
        assert_eq!(body("m", &request, &Map::new(), Terms::default(), None, None)["model"], "m");
        request.model = Some("other".to_owned());
        assert_eq!(body("m", &request, &Map::new(), Terms::default(), None, None)["model"], "other");
    }

    #[test]
    fn tools_calls_and_results_are_those_of_the_interface() {
        let arguments = json!({"city": "Oslo"});
        let call = NativeCall::new("c1", "weather__get", arguments.as_object().unwrap());
        let said = Message::assistant("").with_calls(vec![call]);
        let mut request = Request::new(vec![Message::user("u"), said, Message::tool("c1", "sunny")]);
        let tool = |name: &str| ToolDefinition {
            name: name.into(),
            description: String::new(),
            parameters: json!({"type": "object", "properties": {}}),
        };
        request.tools = vec![tool("weather__get"), tool("time__get")];
        let sent = body("m", &request, &Map::new(), Terms::default(), None, None);
        assert_eq!(
            sent["messages"],
            json!([{"role": "user", "content": "u"},
                {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "type": "function",
                    "function": {"name": "weather__get", "arguments": "{\"city\":\"Oslo\"}"}}]},
                {"role": "tool", "tool_call_id": "c1", "content": "sunny"}])
        );
        let function = json!({"name": "weather__get", "parameters": {"type": "object", "properties": {}}});
        assert_eq!(sent["tools"][0], json!({"type": "function", "function": function}));
        assert_eq!((sent["tools"].as_array().unwrap().len(), sent.get("tool_choice")), (2, None));

        request.tool_choice = ToolChoice::None;
        assert_eq!(body("m", &request, &Map::new(), Terms::default(), None, None)["tool_choice"], "none");
        request.tool_choice = ToolChoice::Named("time__get".into());
        let sent = body("m", &request, &Map::new(), Terms::default(), None, None);
        assert_eq!(
            (&sent["tool_choice"], &sent["tools"][0]["function"]["name"]),
            (&json!("required"), &json!("time__get"))
        );
        assert_eq!(sent["tools"].as_array().unwrap().len(), 1);
    }
}
