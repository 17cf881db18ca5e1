//! Tests of native tools, with reported faults of servers that take them: the client gets a correct
//! call in every case.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolgraft::message::TokenCounter;
use toolgraft::tools::ToolsMode;
use toolgraft::turn::NativeFault;
use toolgraft_serve::{Config, Learned};
use toolgraft_testkit::endpoint::{End, Endpoint, Reply, call, delta, says, stops, thinks};

use super::http::{Served, serve};
use super::shapes::{Chat, ask};

const BY_PROMPT: &str = "<use_mcp_tool>\n<tool_name>get_weather</tool_name>\n<arguments>\n{\"city\": \"Oslo\"}\n\
                         </arguments>\n</use_mcp_tool>";

/// Returns a client's request with these messages.
fn asked(messages: Value) -> Value {
    let parameters = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let tool = json!({"type": "function", "function": {"name": "get_weather", "description": "Weather of a city", "parameters": parameters}});
    Chat.request(messages, json!([tool]))
}

/// Returns an endpoint that says that it takes tools and answers a native request with this; a
/// request by prompt gets a correct call.
fn faulty(native: Reply) -> Endpoint {
    Endpoint::setup().tools(true).answer(move |request, _| match request.body.get("tools") {
        Some(_) => native.clone(),
        None => Reply::text(BY_PROMPT),
    })
}

async fn in_mode(endpoint: &Endpoint, mode: ToolsMode) -> Served {
    serve(endpoint, |config| config.with_tools_mode(mode)).await
}

/// Returns the names and arguments of the calls that a client gets.
async fn calls(served: &Served, stream: bool) -> Vec<(String, Value)> {
    let mut body = asked(json!([Chat.says("user", "How is the weather in Oslo?")]));
    if !stream {
        let (status, answer) = ask(served, Chat, body.to_string()).await;
        if status != 200 {
            return vec![("an error".to_owned(), answer)];
        }
        let calls = answer["choices"][0]["message"]["tool_calls"].as_array().cloned().unwrap_or_default();
        let read = |call: &Value| {
            let function = &call["function"];
            let arguments = serde_json::from_str(function["arguments"].as_str().unwrap()).unwrap();
            (function["name"].as_str().unwrap().to_owned(), arguments)
        };
        return calls.iter().map(read).collect();
    }
    body["stream"] = json!(true);
    let text = served.post(Chat.path(), &body).send().await.unwrap().text().await.unwrap();
    let chunks = text.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| *data != "[DONE]");
    let mut calls = Vec::new();
    for chunk in chunks {
        let chunk: Value = serde_json::from_str(chunk).unwrap();
        if let Some(error) = chunk.get("error") {
            return vec![("an error".to_owned(), error.clone())];
        }
        for call in chunk["choices"][0]["delta"]["tool_calls"].as_array().into_iter().flatten() {
            let arguments = serde_json::from_str(call["function"]["arguments"].as_str().unwrap()).unwrap();
            calls.push((call["function"]["name"].as_str().unwrap().to_owned(), arguments));
        }
    }
    calls
}

fn text(text: &str) -> Reply {
    Reply::events(&[says(text), stops("stop")]).done()
}

/// Returns a reply with a native call in pieces.
fn pieces(pieces: &[Value], reason: &str) -> Reply {
    let chunks: Vec<Value> = pieces.iter().map(|call| delta(json!({"tool_calls": [call]}))).collect();
    Reply::events(&[chunks, vec![stops(reason)]].concat()).done()
}

fn piece(index: u64, id: &str, name: &str, arguments: impl Into<Value>) -> Value {
    json!({"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": arguments.into()}})
}

/// Returns, for each reported fault, the report, the answer to a request with tools, and the number
/// of requests until a correct call.
fn faults() -> Vec<(&'static str, Reply, usize)> {
    let error = |message: &str| json!({"error": {"code": 500, "message": message, "type": "server_error"}});
    let errs = |message: &str| Reply::new(500, &error(message).to_string());
    let streamed = |events: &[Value], message: &str| Reply::events(&[events, &[error(message)]].concat());
    let object = json!({"city": "Oslo"});
    vec![
        // The call is in the text.
        (
            "vllm-project/vllm#17161",
            text("<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}\n</tool_call>"),
            1,
        ),
        (
            "vllm-project/vllm#11786",
            text("{\"type\": \"function\", \"name\": \"get_weather\", \"parameters\": {\"city\": \"Oslo\"}}"),
            1,
        ),
        (
            "vllm-project/vllm#30651",
            text("[TOOL_CALLS][{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}]"),
            1,
        ),
        (
            "vllm-project/vllm#31207",
            text(
                "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{\"city\": \"Oslo\"}<|tool_call_end|><|tool_calls_section_end|>",
            ),
            1,
        ),
        (
            "ggml-org/llama.cpp#24644",
            text(
                "<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n</function>\n</tool_call>",
            ),
            1,
        ),
        (
            "ml-explore/mlx-lm#607",
            text("<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n</tool_call>"),
            1,
        ),
        (
            "vllm-project/vllm#25560",
            text(
                "<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{\"city\": \"Oslo\"}<|call|>",
            ),
            1,
        ),
        // The server's own parser or template fails.
        (
            "ggml-org/llama.cpp#23838",
            errs("Failed to parse input at pos 395: <|tool_call_start|>[get_weather(city='Oslo')]<|tool_call_end|>"),
            2,
        ),
        (
            "ggml-org/llama.cpp#15713",
            streamed(&[says("Let me see.")], "Invalid diff: '<|tool_call|>[1' not found at start of '<|tool_call|>[2'"),
            2,
        ),
        ("openclaw/openclaw#38569", streamed(&[thinks("Hm.")], "Invalid diff: now finding less tool calls!"), 2),
        ("ggml-org/llama.cpp#19905", errs("Error: Unknown (built-in) filter 'items' for type String"), 2),
        (
            "ggml-org/llama.cpp#25510",
            errs("Failed to parse tool call arguments as JSON: [json.exception.parse_error.101]"),
            2,
        ),
        ("ggml-org/llama.cpp, tools/server", errs("tools param requires --jinja flag"), 2),
        (
            "noonghunna/club-3090#1250",
            Reply::refused(400, "Unable to generate parser for this template. Automatic parser generation failed"),
            2,
        ),
        ("ollama/ollama#18563", errs("XML syntax error on line 127: element <parameter> closed by </function>"), 2),
        (
            "ollama/ollama#12380",
            Reply::events(&[json!({"error": "XML syntax error on line 7: expected element name after <"})]),
            2,
        ),
        (
            "ollama/ollama#17638",
            errs(
                "error parsing tool call: raw='{\"city\":\"Oslo\"}]', err=invalid character ']' after top-level value",
            ),
            2,
        ),
        ("ollama/ollama#5793", Reply::refused(400, "registry.ollama.ai/library/gemma3:4b does not support tools"), 2),
        (
            "docs.vllm.ai, tool calling",
            Reply::refused(
                400,
                "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",
            ),
            2,
        ),
        (
            "vllm-project/vllm#51977",
            errs("unexpected tokens remaining in message header: Some(\"to=functions.get_weather\")"),
            2,
        ),
        (
            "lmstudio-ai/lmstudio-bug-tracker#2180",
            Reply::events(&[
                json!({"error": {"message": "Error rendering prompt with jinja template: \"Cannot call something that is not a function: got ObjectValue\""}}),
            ]),
            2,
        ),
        (
            "lmstudio-ai/lmstudio-bug-tracker#2233",
            Reply::refused(400, "Error rendering prompt with jinja template: \"Unknown test: sequence\"."),
            2,
        ),
        (
            "groq/groq-typescript#28",
            Reply::refused(
                400,
                "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
            ),
            2,
        ),
        ("ml-explore/mlx-lm#1441", Reply::events(&[says("Let me see. ")]).end(End::Break), 2),
        ("ml-explore/mlx-lm#899", Reply::events(&[thinks("Hm.")]), 2),
        (
            "mastra-ai/mastra#2839",
            Reply::refused(
                404,
                "No endpoints found that support tool use. To learn more about provider routing, visit: https://x",
            ),
            2,
        ),
        // The server announces calls that are missing, or sends nothing.
        (
            "vllm-project/vllm#53255",
            Reply::events(&[delta(json!({"content": "", "tool_calls": []})), stops("tool_calls")]).done(),
            2,
        ),
        ("BerriAI/litellm#16651", Reply::events(&[stops("function_call_filter: MALFORMED_FUNCTION_CALL")]).done(), 2),
        (
            "vllm-project/vllm#35687",
            Reply::events(&[thinks("I call. <tool_call>\n{\"name\": \"get_weather\"}"), stops("stop")]).done(),
            2,
        ),
        (
            "MoonshotAI/Kimi-K2#89",
            Reply::events(&[thinks("<|tool_calls_section_begin|>"), stops("tool_calls")]).done(),
            2,
        ),
        // The calls are damaged.
        ("vllm-project/vllm#32152", pieces(&[piece(0, "c", "get_weather", "{\"city\": \"Oslo\"")], "tool_calls"), 2),
        ("vllm-project/vllm#21544", pieces(&[piece(0, "c", "get_weather", "{\"city\": \"Os")], "tool_calls"), 2),
        (
            "NousResearch/hermes-agent#8259",
            pieces(
                &[piece(0, "c", "get_weather", "{\"city\":"), piece(0, "c", "get_weather", " \"Oslo\"}")],
                "tool_calls",
            ),
            1,
        ),
        ("BerriAI/litellm#37792", pieces(&[piece(0, "c", "get_weather", object)], "stop"), 1),
        ("Blaizzy/mlx-vlm#1014", pieces(&[piece(0, "", "get_weather", "{\"city\": \"Oslo\"}")], "stop"), 1),
    ]
}

#[tokio::test]
async fn public_faults_of_servers_that_take_tools_cost_no_call() {
    let mut wrong = Vec::new();
    for (source, reply, requests) in faults() {
        for stream in [true, false] {
            let endpoint = faulty(reply.clone());
            let served = in_mode(&endpoint, ToolsMode::Auto).await;
            let seen = calls(&served, stream).await;
            if seen != [("get_weather".to_owned(), json!({"city": "Oslo"}))] || endpoint.requests() != requests {
                wrong.push((source, stream, seen, endpoint.requests()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test]
async fn calls_of_one_index_are_several() {
    // ollama/ollama#15457: all of them have the index 0.
    let both =
        [piece(0, "a", "get_weather", "{\"city\": \"Oslo\"}"), piece(0, "b", "get_weather", "{\"city\": \"Rome\"}")];
    let endpoint = faulty(pieces(&both, "tool_calls"));
    let served = in_mode(&endpoint, ToolsMode::Auto).await;
    let cities: Vec<Value> =
        calls(&served, true).await.into_iter().map(|(_, mut arguments)| arguments["city"].take()).collect();
    assert_eq!((cities, endpoint.requests()), (vec![json!("Oslo"), json!("Rome")], 1));
}

#[tokio::test]
async fn what_a_fault_taught_counts_for_the_next_request() {
    // A fault of the endpoint is remembered; a damaged call may be the model's fault.
    for (reply, carried) in [
        (Reply::refused(500, "XML syntax error on line 7: unexpected EOF"), [true, false, false].as_slice()),
        (Reply::refused(400, "gemma3 does not support tools"), &[true, false, false]),
        (Reply::events(&[stops("tool_calls")]).done(), &[true, false, false]),
        (pieces(&[piece(0, "c", "get_weather", "{\"city\": \"Os")], "tool_calls"), &[true, false, true, false]),
        (Reply::events(&[call("get_weather", "{\"city\": \"Oslo\"}"), stops("tool_calls")]).done(), &[true, true]),
    ] {
        let endpoint = faulty(reply.clone());
        let served = in_mode(&endpoint, ToolsMode::Auto).await;
        for _ in 0..2 {
            assert_eq!(calls(&served, false).await.len(), 1);
        }
        let seen: Vec<bool> = endpoint.seen().iter().map(|seen| seen.body.get("tools").is_some()).collect();
        assert_eq!(seen, carried, "{reply:?}");
    }
}

#[tokio::test]
async fn what_was_learned_counts_for_a_later_server_before_the_same_version() {
    let broken = || Reply::refused(500, "Failed to parse input at pos 12: </tool_call>");
    let of_version = |version: &str| {
        let props = json!({"chat_template_caps": {"supports_tools": true}, "build_info": version});
        Endpoint::setup().serves("/props", props).answer(move |request, _| match request.body.get("tools") {
            Some(_) => broken(),
            None => Reply::text(BY_PROMPT),
        })
    };
    let learned = Arc::new(Mutex::new(Vec::<Learned>::new()));
    for (version, carried) in [("b1", [true, false].as_slice()), ("b1", &[false]), ("b2", &[true, false])] {
        let endpoint = of_version(version);
        let (before, keep) = (learned.lock().unwrap().clone(), learned.clone());
        let set = |config: Config| {
            config
                .with_tools_mode(ToolsMode::Auto)
                .with_learned(before)
                .with_learning(move |found| keep.lock().unwrap().push(found))
        };
        let served = serve(&endpoint, set).await;
        assert_eq!(calls(&served, true).await.len(), 1);
        let seen: Vec<bool> = endpoint.seen().iter().map(|seen| seen.body.get("tools").is_some()).collect();
        assert_eq!(seen, carried, "{version}");
    }
    let told = learned.lock().unwrap().clone();
    let failed = |version| Learned::new("m", version, Some(NativeFault::Failed));
    assert_eq!(told, [failed("b1"), failed("b2")]);
}

#[tokio::test]
async fn native_calls_that_work_are_tried_once_before_the_same_version() {
    let props = json!({"chat_template_caps": {"supports_tools": true}, "build_info": "b1"});
    let endpoint = Endpoint::setup().serves("/props", props).answer(move |request, _| {
        let has_result = request.messages().contains("13 degrees");
        if has_result {
            Reply::text("It rains.")
        } else {
            pieces(&[piece(0, "c", "get_weather", "{\"city\": \"Oslo\"}")], "tool_calls")
        }
    });
    let learned = Arc::new(Mutex::new(Vec::<Learned>::new()));
    for requests in [3, 1] {
        let (before, keep) = (learned.lock().unwrap().clone(), learned.clone());
        let set = |config: Config| {
            let config = config.with_tools_mode(ToolsMode::Auto).with_learned(before);
            config.with_learning(move |found| keep.lock().unwrap().push(found))
        };
        let served = serve(&endpoint, set).await;
        assert_eq!(calls(&served, true).await.len(), 1);
        let seen = endpoint.take_seen();
        assert_eq!(seen.len(), requests);
        assert!(seen.iter().all(|seen| seen.body.get("tools").is_some()));
    }
    assert_eq!(*learned.lock().unwrap(), [Learned::new("m", "b1", None)]);
}

#[tokio::test]
async fn a_trial_whose_answer_breaks_off_says_nothing_of_native_calls() {
    let props = json!({"chat_template_caps": {"supports_tools": true}, "build_info": "b1"});
    let endpoint = Endpoint::setup().serves("/props", props).answer(move |request, _| {
        match request.messages().contains("Call the tool get_weather for it") {
            true => Reply::events(&[says("I look")]),
            false => pieces(&[piece(0, "c", "get_weather", "{\"city\": \"Oslo\"}")], "tool_calls"),
        }
    });
    let learned = Arc::new(Mutex::new(Vec::<Learned>::new()));
    let keep = learned.clone();
    let set = |config: Config| {
        let config = config.with_tools_mode(ToolsMode::Auto);
        config.with_learning(move |found| keep.lock().unwrap().push(found))
    };
    let served = serve(&endpoint, set).await;
    assert_eq!(calls(&served, true).await.len(), 1);
    assert_eq!(*learned.lock().unwrap(), []);
    assert!(endpoint.take_seen().iter().all(|seen| seen.body.get("tools").is_some()));
}

#[tokio::test]
async fn an_endpoint_that_fails_either_way_is_asked_natively_again() {
    let endpoint = Endpoint::setup().tools(true).answer(|_, _| Reply::refused(500, "CUDA error: out of memory"));
    let served = in_mode(&endpoint, ToolsMode::Auto).await;
    for _ in 0..2 {
        let body = asked(json!([Chat.says("user", "Hm?")])).to_string();
        let (status, answer) = ask(&served, Chat, body).await;
        assert!(status == 500 && answer.to_string().contains("out of memory"), "{status} {answer}");
    }
    let seen: Vec<bool> = endpoint.seen().iter().map(|seen| seen.body.get("tools").is_some()).collect();
    assert_eq!(seen, [true, false, true, false]);
}

/// The omitted part of a client's long result can be read with the tool that the first request
/// offers.
#[tokio::test]
async fn a_clients_long_result_is_read_on_natively() {
    let book: String = (0..20_000).map(|line| format!("line {line}\n")).collect();
    let endpoint = Endpoint::setup().tools(true).answer(|_, number| match number {
        0 => Reply::events(&[call("read_result", "{\"find\": \"line 12345\"}"), stops("tool_calls")]).done(),
        _ => Reply::text("It is there."),
    });
    let served = in_mode(&endpoint, ToolsMode::Auto).await;
    let result = json!({"role": "tool", "tool_call_id": "c1", "content": book});
    let history = json!([Chat.says("user", "Is it there?"), Chat.call(), result]);
    let (status, answer) = ask(&served, Chat, Chat.request(history, Chat.tools(&["f"])).to_string()).await;
    assert_eq!((status, &answer["choices"][0]["message"]["content"]), (200, &json!("It is there.")), "{answer}");
    let seen = endpoint.take_seen();
    let offered: Vec<_> =
        seen[0].body["tools"].as_array().unwrap().iter().map(|tool| &tool["function"]["name"]).collect();
    assert_eq!(offered, ["f", "read_result"]);
    assert!(seen[0].messages().contains("read_result {") && seen[1].messages().contains("Places: 1"));
}

#[tokio::test]
async fn native_requests_have_the_clients_history_in_its_own_fields() {
    let endpoint = faulty(Reply::text("Sunny."));
    let served = in_mode(&endpoint, ToolsMode::Auto).await;
    let called = |id: &str, name: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": "{\"city\": \"<|im_end|>\"}"}});
    let mut body = asked(json!([
        {"role": "system", "content": "one"},
        {"role": "system", "content": "two"},
        {"role": "user", "content": [
            {"type": "text", "text": "How is the weather?"}, {"type": "file", "file": {"filename": "a.md", "text": "Rain."}},
        ]},
        {"role": "assistant", "content": null, "tool_calls": [called("a", "get.weather/天气"), called("b", "get_weather")]},
        {"role": "tool", "tool_call_id": "b", "content": "rain"},
        {"role": "user", "content": "And?"},
        {"role": "tool", "tool_call_id": "gone", "content": "lost"},
    ]));
    let long = "x".repeat(3_000);
    body["tools"]
        .as_array_mut()
        .unwrap()
        .push(json!({"type": "function", "function": {"name": "get.weather/天气", "description": long}}));
    let (status, answer) = ask(&served, Chat, body.to_string()).await;
    assert_eq!((status, &answer["choices"][0]["message"]["content"]), (200, &json!("Sunny.")), "{answer:#}");
    let seen = endpoint.take_seen().remove(0).body;
    let names: Vec<&str> =
        seen["tools"].as_array().unwrap().iter().map(|t| t["function"]["name"].as_str().unwrap()).collect();
    assert!(names[0].starts_with("getweather") && names[1] == "get_weather", "{names:?}");
    assert_eq!(seen["tools"][0]["function"]["description"], json!(long), "as long as the client sent it");
    let messages = seen["messages"].as_array().unwrap();
    let roles: Vec<&str> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "tool", "user"], "{messages:#?}");
    assert!(messages[0]["content"].as_str().unwrap().starts_with("one\n\ntwo"));
    let asked = messages[1]["content"].as_str().unwrap();
    assert!(asked.starts_with("How is the weather?") && asked.contains("<file name=\"a.md\""), "{asked}");
    let made = messages[2]["tool_calls"].as_array().unwrap();
    assert_eq!((&made[0]["function"]["name"], &made[1]["id"]), (&json!(names[0]), &json!("b")));
    assert!(!made[0].to_string().contains("<|im_end|>"), "{made:#?}");
    assert_eq!(messages[3]["tool_call_id"], "a");
    assert_eq!((&messages[4]["tool_call_id"], &messages[4]["content"]), (&json!("b"), &json!("rain")));
    let said = messages[5]["content"].as_str().unwrap();
    assert!(said.contains("And?") && said.contains("lost"), "{said}");
    assert!(!seen.to_string().contains("use_mcp_tool"), "no syntax is taught");
}

#[tokio::test]
async fn a_native_call_comes_back_under_the_clients_own_name() {
    let name = "files.读取/all of them, with a name that is much longer than sixty-four characters would be";
    let endpoint = Endpoint::setup().tools(true).answer(|request, _| {
        let told = request.body["tools"][0]["function"]["name"].as_str().unwrap().to_owned();
        assert!(told.len() <= 64 && told.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)), "{told}");
        Reply::events(&[call(&told, "{}"), stops("tool_calls")]).done()
    });
    let served = in_mode(&endpoint, ToolsMode::Native).await;
    let tools = json!([{"type": "function", "function": {"name": name}}]);
    let body = Chat.request(json!([Chat.says("user", "Read them.")]), tools);
    let (status, answer) = ask(&served, Chat, body.to_string()).await;
    assert_eq!(status, 200, "{answer:#}");
    assert_eq!(answer["choices"][0]["message"]["tool_calls"][0]["function"]["name"], name);
}

#[tokio::test]
async fn an_endpoint_that_says_nothing_of_tools_is_asked_by_prompt_and_native_stays_native() {
    for (mode, says, native) in [
        (ToolsMode::Auto, None, false),
        (ToolsMode::Auto, Some(false), false),
        (ToolsMode::Prompt, Some(true), false),
        (ToolsMode::Native, Some(false), true),
    ] {
        let setup = Endpoint::setup();
        let setup = if let Some(says) = says { setup.tools(says) } else { setup };
        let endpoint = setup.answer(|_, _| Reply::text(BY_PROMPT));
        let served = in_mode(&endpoint, mode).await;
        assert_eq!(calls(&served, true).await.len(), 1);
        assert_eq!(endpoint.seen()[0].body.get("tools").is_some(), native, "{mode}");
    }
    let endpoint = faulty(Reply::refused(500, "XML syntax error on line 7: unexpected EOF"));
    let served = in_mode(&endpoint, ToolsMode::Native).await;
    let (status, _) = ask(&served, Chat, asked(json!([Chat.says("user", "Hm?")])).to_string()).await;
    assert_eq!((status, endpoint.requests()), (500, 1));
}

/// Returns sixty tools about sheep with long descriptions, and one that rolls a die.
fn many_tools() -> Value {
    let mut names: Vec<String> = (0..60).map(|at| format!("count_sheep_{at}")).collect();
    names.push("roll_die".to_owned());
    let mut tools = Chat.tools(&names.iter().map(String::as_str).collect::<Vec<_>>());
    for tool in tools.as_array_mut().unwrap() {
        let does = if tool["function"]["name"] == "roll_die" { "Rolls a die." } else { "Counts the sheep of a field." };
        tool["function"]["description"] = json!(format!("{does} {}", "It takes a while. ".repeat(30)));
    }
    tools
}

/// Returns an endpoint that takes tools, for a model with a context of 4,096 tokens.
fn small(answer: impl FnMut(&toolgraft_testkit::endpoint::Seen, usize) -> Reply + Send + 'static) -> Endpoint {
    let props = json!({"default_generation_settings": {"n_ctx": 4_096}, "chat_template": "", "total_slots": 1,
        "chat_template_caps": {"supports_tools": true, "supports_tool_calls": true}});
    Endpoint::setup().serves("/props", props).answer(answer)
}

fn names_of(request: &Value) -> Vec<&str> {
    let tools = request["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect()
}

/// If there are more tools than fit into a quarter of the context, the request carries those that
/// the history means; the model finds another one, which later requests carry.
#[tokio::test]
async fn tools_of_a_request_keep_to_a_quarter_of_the_context() {
    let endpoint = small(|_, number| match number {
        0 => Reply::events(&[call("find_tool", "{\"query\": \"roll a die\"}"), stops("tool_calls")]).done(),
        1 => Reply::events(&[call("roll_die", "{}"), stops("tool_calls")]).done(),
        _ => Reply::text("A four."),
    });
    let served = in_mode(&endpoint, ToolsMode::Auto).await;
    let mut messages = vec![Chat.says("user", "How many sheep are in field 7?")];
    let (status, answer) = ask(&served, Chat, Chat.request(json!(messages), many_tools()).to_string()).await;
    let message = answer["choices"][0]["message"].clone();
    assert_eq!((status, &message["tool_calls"][0]["function"]["name"]), (200, &json!("roll_die")), "{answer:#}");
    assert_eq!(message["tool_calls"].as_array().unwrap().len(), 1, "the client sees nothing of the search");
    let id = message["tool_calls"][0]["id"].clone();
    messages.extend([message, json!({"role": "tool", "tool_call_id": id, "content": "four"})]);
    let (_, answer) = ask(&served, Chat, Chat.request(json!(messages), many_tools()).to_string()).await;
    assert_eq!(answer["choices"][0]["message"]["content"], "A four.", "{answer:#}");

    let seen = endpoint.take_seen();
    let first = names_of(&seen[0].body);
    assert!(first.contains(&"count_sheep_7") && !first.contains(&"roll_die"), "{first:?}");
    assert_eq!(first.last(), Some(&"find_tool"));
    assert!(TokenCounter::estimate().count(&seen[0].body["tools"].to_string()) <= 1_024, "{first:?}");
    let found = seen[1].messages();
    assert!(found.contains("roll_die: Rolls a die."), "{found}");
    let second = names_of(&seen[1].body);
    assert!(second.contains(&"roll_die") && first.iter().all(|name| second.contains(name)), "{second:?}");
    assert_eq!(seen[1].body["tools"], seen[2].body["tools"], "the next request begins as this one did");
}

#[tokio::test]
async fn a_tool_that_the_choice_names_goes_with_the_request() {
    let endpoint = small(|_, _| Reply::events(&[call("roll_die", "{}"), stops("tool_calls")]).done());
    let served = in_mode(&endpoint, ToolsMode::Auto).await;
    let mut body = Chat.request(json!([Chat.says("user", "How many sheep are there?")]), many_tools());
    Chat.chooses(&mut body, "roll_die");
    assert_eq!(ask(&served, Chat, body.to_string()).await.0, 200);
    let seen = endpoint.take_seen();
    assert_eq!((names_of(&seen[0].body), &seen[0].body["tool_choice"]), (vec!["roll_die"], &json!("required")));
}

/// A few tools that fit in no shorter form, and none of which must be found by a search, are
/// offered by prompt.
#[tokio::test]
async fn a_list_that_does_not_fit_goes_by_the_prompt() {
    for (mode, natively) in [(ToolsMode::Auto, false), (ToolsMode::Native, true)] {
        let endpoint = small(|_, _| Reply::text("Fine."));
        let served = in_mode(&endpoint, mode).await;
        let mut tools = Chat.tools(&["f", "g"]);
        for tool in tools.as_array_mut().unwrap() {
            let values: Vec<String> = (0..400).map(|at| format!("value {at}")).collect();
            tool["function"]["parameters"] =
                json!({"type": "object", "properties": {"x": {"type": "string", "enum": values}}});
        }
        let body = Chat.request(json!([Chat.says("user", "Hi")]), tools);
        assert_eq!(ask(&served, Chat, body.to_string()).await.0, 200);
        assert_eq!(endpoint.take_seen()[0].body.get("tools").is_some(), natively, "{mode}");
    }
}

/// DeepSeek V4 and Kimi in thinking mode refuse calls without their reasoning; other endpoints
/// refuse the field.
#[tokio::test]
async fn the_reasoning_before_calls_goes_back_to_an_endpoint_that_asks_for_it() {
    let lacks = |request: &toolgraft_testkit::endpoint::Seen| {
        let messages = request.body["messages"].as_array().unwrap();
        messages.iter().any(|said| said.get("tool_calls").is_some() && said.get("reasoning_content").is_none())
    };
    let endpoint = Endpoint::setup().tools(true).answer(move |request, _| match lacks(request) {
        true => Reply::refused(400, "The `reasoning_content` in the thinking mode must be passed back to the API."),
        false => text("It is 4."),
    });
    let served = in_mode(&endpoint, ToolsMode::Native).await;
    let call =
        json!({"id": "a", "type": "function", "function": {"name": "get_weather", "arguments": "{\"city\":\"Oslo\"}"}});
    let messages = json!([
        Chat.says("user", "How is the weather in Oslo?"),
        {"role": "assistant", "content": "", "reasoning_content": "I need <|im_end|> it.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "4 degrees"},
    ]);
    for requests in [2, 1] {
        let (status, answer) = ask(&served, Chat, asked(messages.clone()).to_string()).await;
        assert_eq!((status, &answer["choices"][0]["message"]["content"]), (200, &json!("It is 4.")), "{answer:#}");
        let seen = endpoint.take_seen();
        assert_eq!(seen.len(), requests);
        let sent = seen.last().unwrap().body["messages"].as_array().unwrap();
        let call = sent.iter().find(|said| said.get("tool_calls").is_some()).unwrap();
        let thought = call["reasoning_content"].as_str().unwrap();
        assert_eq!(
            thought.replacen('\u{2060}', "", 1),
            "I need <|im_end|> it.",
            "its token is broken, once: {thought:?}"
        );
        assert!(thought.contains('\u{2060}'), "{thought:?}");
    }
}

/// Mistral's templates accept only identifiers of nine letters and digits, and Kimi reads from its
/// own which tool was called.
#[tokio::test]
async fn the_endpoint_gets_its_own_ids_of_calls_back() {
    let call = |id: &str| {
        let call =
            json!({"index": 0, "id": id, "function": {"name": "get_weather", "arguments": "{\"city\":\"Oslo\"}"}});
        pieces(&[call], "tool_calls")
    };
    let endpoint = Endpoint::setup().tools(true).answer(move |_, number| match number {
        0 => call("aB3dE5gH9"),
        1 => call("aB3dE5gH9"),
        _ => text("It is 4."),
    });
    let served = in_mode(&endpoint, ToolsMode::Native).await;
    let mut messages = vec![Chat.says("user", "How is the weather in Oslo?")];
    for _ in 0..2 {
        let (_, answer) = ask(&served, Chat, asked(messages.clone().into()).to_string()).await;
        let said = answer["choices"][0]["message"].clone();
        let id = said["tool_calls"][0]["id"].clone();
        assert_ne!(id, "aB3dE5gH9", "the client's says of itself whose it is");
        messages.extend([said, json!({"role": "tool", "tool_call_id": id, "content": "4 degrees"})]);
    }
    ask(&served, Chat, asked(messages.clone().into()).to_string()).await;
    let sent = endpoint.take_seen().pop().unwrap();
    let sent = sent.body["messages"].as_array().unwrap();
    let ids: Vec<_> = sent.iter().filter_map(|said| said["tool_calls"][0]["id"].as_str()).collect();
    let answered: Vec<_> = sent.iter().filter_map(|said| said["tool_call_id"].as_str()).collect();
    assert_eq!(ids, answered);
    // The same identifier a second time would make the result ambiguous.
    assert_eq!((ids[0], ids[1]), ("aB3dE5gH9", messages[3]["tool_calls"][0]["id"].as_str().unwrap()));
}
