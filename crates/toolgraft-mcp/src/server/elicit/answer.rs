//! Converts a server's question into the answer that is sent.

use std::sync::Arc;

use reqwest::Url;
use rmcp::model::InputResponses;
use serde_json::{Value, json};

use super::form::Form;
use super::request::{Elicitor, InputAnswer, InputKind, InputRequest};

/// The source of answers to the servers' requests for input: without an [`Elicitor`] every request is declined, and the
/// handshake declares that no user can be asked.
#[derive(Clone, Default)]
pub(crate) struct Answers(pub(crate) Option<Arc<dyn Elicitor>>);

impl Answers {
    /// Returns `true` if a user can be asked for input.
    pub(crate) fn asks_somebody(&self) -> bool {
        self.0.is_some()
    }

    /// Returns the answer to a request for input with these parameters of `elicitation/create`. An `Err` is a fault in
    /// them, or in the program's answer.
    pub(crate) async fn answer(&self, server: &str, params: &Value) -> Result<Value, String> {
        let Some(elicitor) = &self.0 else { return Ok(json!({ "action": "decline" })) };
        let kind = kind(params)?;
        let message = params.get("message").and_then(Value::as_str).unwrap_or_default().to_owned();
        let request = InputRequest { server: server.to_owned(), message, kind: kind.clone() };
        Ok(match (elicitor.elicit(request).await, kind) {
            (InputAnswer::Accept(content), InputKind::Form(form)) => {
                let content = form.check(content);
                let content =
                    content.map_err(|why| format!("the answer of this client does not fit the form: {why}"))?;
                json!({ "action": "accept", "content": content })
            }
            (InputAnswer::Accept(_), InputKind::Url { .. }) => json!({ "action": "accept" }),
            (InputAnswer::Decline, _) => json!({ "action": "decline" }),
            (InputAnswer::Cancel, _) => json!({ "action": "cancel" }),
        })
    }

    /// Returns the answers to the requests for input (`inputRequests`) in a result. An `Err` names one that is not
    /// supported, or its fault.
    pub(crate) async fn responses(&self, server: &str, question: &Value) -> Result<InputResponses, String> {
        let requests = match question.get("inputRequests") {
            None | Some(Value::Null) => return Ok(InputResponses::new()),
            Some(Value::Object(requests)) => requests,
            Some(_) => return Err("its \"inputRequests\" are not an object".to_owned()),
        };
        let method = |request: &Value| request.get("method").and_then(Value::as_str).unwrap_or_default().to_owned();
        if let Some(other) = requests.values().map(method).find(|method| method != "elicitation/create") {
            return Err(format!("it asks for {other:?} in between, which is not supported"));
        }
        let mut responses = InputResponses::new();
        for (key, request) in requests {
            let answer = self.answer(server, request.get("params").unwrap_or(&Value::Null)).await?;
            responses.insert(key.clone(), answer);
        }
        Ok(responses)
    }
}

/// Returns `true` if a result is a request for input (`input_required`) and not the final result.
pub(crate) fn is_question(result: &Value) -> bool {
    result.get("resultType").and_then(Value::as_str) == Some("input_required")
}

/// Reads the kind of a request for input, a form or a page, from its parameters. An `Err` is a fault in them.
fn kind(params: &Value) -> Result<InputKind, String> {
    if params.get("mode").is_none_or(|mode| mode == "form") {
        let schema = params.get("requestedSchema").ok_or("a form without \"requestedSchema\"")?;
        return Form::read(schema).map(InputKind::Form);
    }
    if params.get("mode").is_some_and(|mode| mode != "url") {
        return Err(format!("{} is not a mode that this client knows: form, url", params["mode"]));
    }
    let url = params.get("url").and_then(Value::as_str).ok_or("a page without \"url\"")?;
    let parsed = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let page = parsed.as_ref().and_then(|url| Some((url, url.host_str()?)));
    let (url, host) = page.ok_or("its \"url\" is not one of http or https with a host")?;
    Ok(InputKind::Url { host: host.to_owned(), url: url.to_string() })
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use serde_json::Map;

    use super::*;

    /// Returns a source of answers that accepts forms with their defaults, and declines pages and forms that require
    /// anything else.
    fn defaults_only() -> Answers {
        let elicitor = |request: InputRequest| {
            let InputKind::Form(form) = request.kind else { return std::future::ready(InputAnswer::Decline) };
            let filled = form.fields.into_iter().filter(|field| field.required || field.default.is_some());
            let filled: Option<_> = filled.map(|field| Some((field.name, field.default?))).collect();
            std::future::ready(filled.map_or(InputAnswer::Decline, InputAnswer::Accept))
        };
        Answers(Some(Arc::new(elicitor)))
    }

    /// Returns a source that always gives this answer, and the list of the requests that it got.
    fn somebody(answer: InputAnswer) -> (Answers, Arc<Mutex<Vec<InputRequest>>>) {
        let asked = Arc::<Mutex<Vec<_>>>::default();
        let seen = asked.clone();
        let elicitor = move |request: InputRequest| {
            seen.lock().unwrap().push(request);
            std::future::ready(answer.clone())
        };
        (Answers(Some(Arc::new(elicitor))), asked)
    }

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[tokio::test]
    async fn what_a_result_asks_for_is_answered_with_defaults() {
        let form = |properties: Value| {
            let schema = json!({ "type": "object", "required": ["a"], "properties": properties });
            json!({ "method": "elicitation/create", "params": { "message": "?", "requestedSchema": schema } })
        };
        let question = json!({ "resultType": "input_required", "inputRequests": {
            "one": form(json!({ "a": { "type": "number", "default": 1.5 } })),
            "two": form(json!({ "a": { "type": "string" } })),
            "url": { "method": "elicitation/create", "params": { "mode": "url", "url": "https://x", "requestedSchema":
                { "properties": {} } } },
        } });
        let responses = Value::from_iter(defaults_only().responses("s", &question).await.unwrap());
        let expected = json!({ "one": { "action": "accept", "content": { "a": 1.5 } },
            "two": { "action": "decline" }, "url": { "action": "decline" } });
        assert_eq!(responses, expected);
        let other = json!({ "inputRequests": { "x": { "method": "sampling/createMessage" } } });
        let refused = defaults_only().responses("s", &other).await;
        assert!(refused.unwrap_err().contains("sampling/createMessage"));
        let state = json!({ "requestState": "s" });
        assert_eq!(defaults_only().responses("s", &state).await, Ok(InputResponses::new()));
    }

    #[tokio::test]
    async fn a_form_is_filled_with_its_defaults_or_declined() {
        let asked = |schema: &Value| json!({ "mode": "form", "message": "?", "requestedSchema": schema });
        let schema = json!({ "type": "object", "required": ["name"], "properties": {
            "name": { "type": "string", "default": "Ada" }, "age": { "type": "integer" },
            "sure": { "type": "boolean", "default": true }
        } });
        let accepted = json!({ "action": "accept", "content": { "name": "Ada", "sure": true } });
        let declined = json!({ "action": "decline" });
        assert_eq!(defaults_only().answer("s", &asked(&schema)).await, Ok(accepted));
        assert_eq!(Answers::default().answer("s", &asked(&schema)).await, Ok(declined.clone()));
        let demanding =
            json!({ "type": "object", "required": ["name"], "properties": { "name": { "type": "string" } } });
        assert_eq!(defaults_only().answer("s", &asked(&demanding)).await, Ok(declined));
    }

    #[tokio::test]
    async fn somebody_is_asked_and_the_answer_goes_out_as_it_is() {
        let params = json!({ "message": "Who?", "requestedSchema": { "properties": { "n": { "type": "integer" } } } });
        for (answer, expected) in [
            (InputAnswer::Accept(object(json!({ "n": 3 }))), json!({ "action": "accept", "content": { "n": 3 } })),
            (InputAnswer::Decline, json!({ "action": "decline" })),
            (InputAnswer::Cancel, json!({ "action": "cancel" })),
        ] {
            let (answers, asked) = somebody(answer);
            assert_eq!(answers.answer("s", &params).await, Ok(expected));
            let asked = asked.lock().unwrap();
            let [request] = asked.as_slice() else { panic!("{asked:?}") };
            assert_eq!((request.server.as_str(), request.message.as_str()), ("s", "Who?"));
            assert!(matches!(&request.kind, InputKind::Form(form) if form.fields[0].name == "n"), "{request:?}");
        }
        let (answers, _) = somebody(InputAnswer::Accept(object(json!({ "n": "three" }))));
        let refused = answers.answer("s", &params).await.unwrap_err();
        assert!(refused.contains("does not fit the form: /n: expected integer"), "{refused}");
    }

    #[tokio::test]
    async fn a_page_is_shown_with_its_true_host() {
        let (answers, asked) = somebody(InputAnswer::Accept(Map::new()));
        let page = |url: &str| json!({ "mode": "url", "message": "Log in", "url": url, "elicitationId": "1" });
        let url = "https://bank.example@xn--e1awd7f.example/a";
        assert_eq!(answers.answer("s", &page(url)).await, Ok(json!({ "action": "accept" })));
        assert_eq!(answers.answer("s", &page("http://bаnk.example:8080/")).await, Ok(json!({ "action": "accept" })));
        let hosts: Vec<_> = asked.lock().unwrap().drain(..).map(|request| request.kind).collect();
        assert_eq!(hosts[0], InputKind::Url { url: url.to_owned(), host: "xn--e1awd7f.example".to_owned() });
        assert!(matches!(&hosts[1], InputKind::Url { host, .. } if host.starts_with("xn--")), "{hosts:?}");
        // As a browser parses it: the host cannot be followed by a forged text.
        let forged = "https://evil.example/a\nIt is at bank.example.\t\u{202e} b";
        assert_eq!(answers.answer("s", &page(forged)).await, Ok(json!({ "action": "accept" })));
        let InputKind::Url { url: shown, .. } = asked.lock().unwrap().remove(0).kind else { panic!() };
        assert_eq!(shown, "https://evil.example/aIt%20is%20at%20bank.example.%E2%80%AE%20b");
        for url in ["javascript:alert(1)", "file:///etc/passwd", "example.org", "https://"] {
            assert!(answers.answer("s", &page(url)).await.unwrap_err().contains("http or https"), "{url}");
        }
        for params in [json!({}), json!({ "mode": "url" }), json!({ "mode": "voice" }), Value::Null] {
            assert!(answers.answer("s", &params).await.is_err(), "{params}");
        }
        assert!(asked.lock().unwrap().is_empty(), "nobody is asked what makes no sense");
    }
}
