//! Tests with clients' mistakes in every interface: each gets its own error with the place.

use serde_json::{Value, json};
use toolgraft_testkit::endpoint::{Endpoint, Reply};

use super::http::serve;
use super::shapes::{Chat, Gemini, Messages, Ollama, Responses, SHAPES, ask};

#[tokio::test]
async fn a_body_that_is_none_is_refused_in_the_shapes_own_form() {
    let endpoint = Endpoint::start([]);
    let served = serve(&endpoint, |config| config.with_max_body(2_000)).await;
    for shape in SHAPES {
        for (body, status, words) in [
            ("{\"messages\": ", 400, "column 13"),
            ("{\"messages\": [}", 400, "column"),
            ("{'messages': []}", 400, "column 2"),
            ("{\"a\": \"\\ud800\"}", 400, "column"),
            ("nonsense", 400, "JSON"),
            ("", 400, "JSON"),
            ("[]", 400, "object"),
            ("null", 400, "object"),
            ("\"{}\"", 400, "object"),
            (&"[".repeat(1_900), 400, "recursion"),
            (&"{\"a\":".repeat(390), 400, "recursion"),
            (&" ".repeat(2_001), 413, "2000 bytes"),
        ] {
            let (found, answer) = ask(&served, shape, body.to_owned()).await;
            assert_eq!(found, status, "{shape:?} {body:.40}: {answer:#}");
            assert!(shape.error(status, &answer).0.contains(words), "{shape:?} {body:.40}: {answer:#}");
            if status == 413 && matches!(shape, Chat | Responses) {
                assert_eq!(answer["error"]["code"], "context_length_exceeded", "agents make their history shorter");
            }
        }
    }
    assert_eq!(endpoint.requests(), 0);
}

#[tokio::test]
async fn tools_and_messages_that_cannot_be_are_refused_with_their_place() {
    let endpoint = Endpoint::start([]);
    let served = serve(&endpoint, |config| config).await;
    for shape in SHAPES {
        let user = || shape.says("user", "Hi");
        let tools = |names: &[&str]| shape.request(json!([user()]), shape.tools(names));
        let history = |messages: Value| shape.request(messages, shape.tools(&["f"]));
        let other = shape.tool("f", Some(json!({"type": "object", "title": "other"})));
        let nameless: Value = serde_json::from_str(&shape.call().to_string().replace("\"f\"", "null")).unwrap();
        let mut chosen = tools(&["f"]);
        shape.chooses(&mut chosen, "g");
        // The place of the mistake in Chat Completions, Messages, Responses, Gemini's and Ollama's
        // interface; empty where it is no mistake.
        let cases = [
            (
                chosen,
                [
                    "tool_choice",
                    "tool_choice",
                    "tool_choice",
                    "toolConfig.functionCallingConfig.allowedFunctionNames",
                    "",
                ],
            ),
            (
                shape.request(json!([user()]), json!([shape.tool("f", None), shape.tool("g", None), other.clone()])),
                [
                    "tools[2].function.name",
                    "tools[2].name",
                    "tools[2].name",
                    "tools[0].functionDeclarations[2].name",
                    "tools[2].function.name",
                ],
            ),
            (
                tools(&["f", " "]),
                [
                    "tools[1].function.name",
                    "tools[1].name",
                    "tools[1].name",
                    "tools[0].functionDeclarations[1].name",
                    "tools[1].function.name",
                ],
            ),
            (
                tools(&[""]),
                [
                    "tools[0].function.name",
                    "tools[0].name",
                    "tools[0].name",
                    "tools[0].functionDeclarations[0].name",
                    "tools[0].function.name",
                ],
            ),
            (
                shape.request(json!([user()]), json!([shape.tool("f", Some(json!(7)))])),
                [
                    "tools[0].function.parameters",
                    "tools[0].input_schema",
                    "tools[0].parameters",
                    "tools[0].functionDeclarations[0].parametersJsonSchema",
                    "tools[0].function.parameters",
                ],
            ),
            // Ollama's clients load a model with such a request.
            (history(json!([])), ["messages", "messages", "input", "contents", ""]),
            (history(json!({})), ["messages", "messages", "input", "contents", "messages"]),
            (
                history(json!([user(), 7])),
                ["messages[1]", "messages[1].role", "input[1]", "contents[1].parts", "messages[1].role"],
            ),
            (
                history(json!([user(), nameless])),
                [
                    "messages[1].tool_calls[0].function.name",
                    "messages[1].content[0].name",
                    "input[1].name",
                    "contents[1].parts[0].functionCall.name",
                    "messages[1].tool_calls[0].function.name",
                ],
            ),
        ];
        for (body, places) in cases {
            let at = SHAPES.iter().position(|other| *other == shape).unwrap();
            if places[at].is_empty() {
                continue;
            }
            let (status, answer) = ask(&served, shape, body.to_string()).await;
            assert_eq!(status, 400, "{shape:?}: {body:.300} {answer:#}");
            assert_eq!(shape.error(status, &answer).1, places[at], "{shape:?}: {answer:#}");
        }
    }
    assert_eq!(endpoint.requests(), 0);
}

/// OpenAI's interface accepts a system role anywhere; the others have a field of their own for it.
#[tokio::test]
async fn roles_that_an_interface_does_not_know_are_named() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("Fine."));
    let served = serve(&endpoint, |config| config).await;
    for (shape, role, place) in [
        (Chat, "system", None),
        (Chat, "developer", None),
        (Chat, "critic", Some("messages[1].role")),
        (Messages, "critic", Some("messages[1].role")),
        (Messages, "tool", Some("messages[1].role")),
        (Responses, "system", None),
        (Responses, "developer", None),
        (Responses, "critic", Some("input[1].role")),
        (Gemini, "critic", Some("contents[1].role")),
        (Ollama, "system", None),
        (Ollama, "critic", Some("messages[1].role")),
    ] {
        let mut other = shape.says("user", "Be brief.");
        other["role"] = json!(role);
        let body = shape.request(json!([shape.says("user", "Hi"), other]), shape.tools(&["f"]));
        let (status, answer) = ask(&served, shape, body.to_string()).await;
        match place {
            None => assert_eq!(status, 200, "{shape:?} {role}: {answer:#}"),
            Some(place) => {
                assert_eq!((status, shape.error(status, &answer).1.as_str()), (400, place), "{shape:?} {answer:#}");
            }
        }
    }
}

/// A request of one client that exceeds the context does not change those of others.
#[tokio::test]
async fn a_history_beyond_the_context_is_refused_and_shorter_ones_with_the_same_tools_are_not() {
    let endpoint = Endpoint::answer(|request, _| {
        match request.messages().len() {
        20_000.. => Reply::new(
            400,
            "{\"error\": {\"code\": 400, \"message\": \"the request exceeds the available context size, try increasing it\", \
             \"type\": \"exceed_context_size_error\", \"n_prompt_tokens\": 30000, \"n_ctx\": 8192}}",
        )
        .header("content-type", "application/json"),
        _ => Reply::text("Fine."),
    }
    });
    let served = serve(&endpoint, |config| config).await;
    for shape in SHAPES {
        let long = json!([
            shape.says("user", &"lamp ".repeat(6_000)),
            shape.says("assistant", "Ah."),
            shape.says("user", "Hi")
        ]);
        for _ in 0..3 {
            let body = shape.request(long.clone(), shape.tools(&["f"]));
            let (status, answer) = ask(&served, shape, body.to_string()).await;
            assert_eq!(status, 400, "{shape:?} {answer:#}");
            let (message, place) = shape.error(status, &answer);
            assert!(message.contains("exceeds the available context size"), "{shape:?} {answer:#}");
            assert_eq!(
                place,
                ["messages", "messages", "input", "contents", "messages"]
                    [SHAPES.iter().position(|s| *s == shape).unwrap()]
            );
            if matches!(shape, Chat | Responses) {
                assert_eq!(answer["error"]["code"], "context_length_exceeded", "{answer:#}");
            }
        }
        let body = shape.request(json!([shape.says("user", "Hi")]), shape.tools(&["f"]));
        let (status, answer) = ask(&served, shape, body.to_string()).await;
        assert_eq!(status, 200, "{shape:?} {answer:#}");
    }
}
