//! The body of a request.

use serde_json::{Map, Value, json};

use crate::model::Request;

/// The body, for `model` if the request names none; `parameters` go before everything else, and a `null` takes a field away.
pub(super) fn body(model: &str, request: &Request, parameters: &Map<String, Value>) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), request.model.as_deref().unwrap_or(model).into());
    let messages = request.messages.iter().map(|m| json!({"role": m.role, "content": m.content}));
    body.insert("messages".to_owned(), messages.collect());
    body.insert("stream".to_owned(), true.into());
    body.insert("stream_options".to_owned(), json!({"include_usage": true}));
    if let Some(temperature) = request.temperature {
        body.insert("temperature".to_owned(), temperature.into());
    }
    if let Some(max_tokens) = request.max_tokens {
        body.insert("max_tokens".to_owned(), max_tokens.into());
    }
    for (name, value) in parameters {
        match value {
            Value::Null => body.shift_remove(name),
            value => body.insert(name.clone(), value.clone()),
        };
    }
    Value::Object(body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Message;

    #[test]
    fn only_what_was_asked_for_is_sent() {
        let mut request = Request::new(vec![Message::system("s"), Message::user("u")]);
        let messages = json!([{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]);
        let plain = json!({"model": "m", "messages": messages, "stream": true,
            "stream_options": {"include_usage": true}});
        assert_eq!(body("m", &request, &Map::new()), plain);

        (request.temperature, request.max_tokens) = (Some(0.6), Some(100));
        let parameters = json!({"stream_options": null, "max_tokens": null, "max_completion_tokens": 50});
        let changed = json!({"model": "m", "messages": messages, "stream": true, "temperature": 0.6,
            "max_completion_tokens": 50});
        assert_eq!(body("m", &request, parameters.as_object().unwrap()), changed);
    }

    #[test]
    fn a_request_may_name_its_model() {
        let mut request = Request::new(vec![Message::user("u")]);
        assert_eq!(body("m", &request, &Map::new())["model"], "m");
        request.model = Some("other".to_owned());
        assert_eq!(body("m", &request, &Map::new())["model"], "other");
    }
}
