//! Tests of an agent's session with many calls: the size of its requests, and that each begins with
//! the one before, so that the endpoint can use its prompt cache.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolgraft::dialect::PromptStyle;
use toolgraft::prompt::Options;
use toolgraft::tools::ToolsMode;
use toolgraft_serve::{Config, Inspector, Served, USAGE_HEADER};
use toolgraft_testkit::endpoint::{Endpoint, Reply, mcp_call, says, stops, usage};

use super::http::serve;
use super::shapes::{Chat, Gemini, Messages, Ollama, Responses, SHAPES, Shape, ask};

/// Number of calls in the session.
const STEPS: usize = 40;

/// Returns the maximum size of a session's messages, without tools and system text, in percent of
/// the client's own.
fn most_percent() -> usize {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/counts/limits.json");
    let limits: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    usize::try_from(limits["kept"]["session_characters_percent"].as_u64().unwrap()).unwrap()
}

/// Maximum part of a request, in percent, that is not new and has to be processed again.
const ANEW: usize = 5;

const TASK: &str = "Make the tests of the parser pass, and say in one sentence what was wrong.";

/// Text that Claude Code adds to a person's message and to results.
const REMINDER: &str = "<system-reminder>\nAs you answer the user's questions, you can use the following context:\n# claudeMd\nUse four spaces.\n</system-reminder>";

/// Returns the command of a step and its output: one line, some lines, or a part of a file, as
/// agents have them.
fn step(at: usize) -> (Value, String) {
    let command = match at % 4 {
        0 => format!("cd /home/user/project && cargo test --test parser case_{at} 2>&1 | tail -n 5"),
        1 => format!("sed -n '{},{}p' src/parser/rule_{at}.rs", at * 10, at * 10 + 12),
        2 => format!("git -C /home/user/project diff --stat HEAD~{at}"),
        _ => format!("grep -rn 'fn rule_{at}' src | head"),
    };
    let line = |n: usize| format!("    let value_{n} = rule_{at}(&text[{n}..]).unwrap_or_default();\n");
    let lines = [5, 13, 1, 3][at % 4];
    (json!({"command": command, "description": format!("Step {at} of the task")}), (0..lines).map(line).collect())
}

/// Returns the number of characters of serialized messages.
fn written(messages: &[Value]) -> usize {
    messages.iter().map(|message| message.to_string().chars().count()).sum()
}

/// Returns the messages that a client sends after an answer with one call.
fn goes_on(shape: Shape, answer: &Value, result: &str) -> Vec<Value> {
    match shape {
        Chat => {
            let message = answer["choices"][0]["message"].clone();
            let id = message["tool_calls"][0]["id"].clone();
            vec![message, json!({"role": "tool", "tool_call_id": id, "content": result})]
        }
        Messages => {
            let content = answer["content"].clone();
            let call = content.as_array().unwrap().iter().find(|block| block["type"] == "tool_use").unwrap();
            let result = json!({"type": "tool_result", "tool_use_id": call["id"], "content": result});
            let reminds = json!({"type": "text", "text": REMINDER});
            vec![
                json!({"role": "assistant", "content": content}),
                json!({"role": "user", "content": [result, reminds]}),
            ]
        }
        Responses => {
            let mut items = answer["output"].as_array().unwrap().clone();
            let id = items.iter().find(|item| item["type"] == "function_call").unwrap()["call_id"].clone();
            items.push(json!({"type": "function_call_output", "call_id": id, "output": result}));
            items
        }
        Gemini => {
            let response = json!({"name": "bash", "response": {"output": result}});
            let said = answer["candidates"][0]["content"].clone();
            vec![said, json!({"role": "user", "parts": [{"functionResponse": response}]})]
        }
        Ollama => {
            vec![answer["message"].clone(), json!({"role": "tool", "tool_name": "bash", "content": result})]
        }
    }
}

struct Played {
    /// Bodies of the requests to the endpoint.
    bodies: Vec<Value>,
    /// Characters of the client's messages, summed over all requests.
    own: usize,
}

async fn play(shape: Shape, set: fn(Config) -> Config) -> Played {
    let endpoint = Endpoint::answer(|_, number| match number {
        ..STEPS => Reply::text(&format!(
            "I look further.\n{}",
            mcp_call("", "bash", &step(number).0).replace("<server_name></server_name>\n", "")
        )),
        _ => Reply::text("A rule took one byte too many."),
    });
    let served = serve(&endpoint, set).await;
    let schema =
        json!({"type": "object", "properties": {"command": {"type": "string"}, "description": {"type": "string"}}});
    let tools = json!([shape.tool("bash", Some(schema))]);
    let first = match shape {
        Messages => {
            json!({"role": "user", "content": [{"type": "text", "text": REMINDER}, {"type": "text", "text": TASK}]})
        }
        _ => shape.says("user", TASK),
    };
    let (mut messages, mut own) = (vec![first], 0);
    for at in 0..=STEPS {
        own += written(&messages);
        let body = shape.request(json!(messages), tools.clone());
        let (status, answer) = ask(&served, shape, body.to_string()).await;
        assert_eq!(status, 200, "{shape:?}: {answer:#}");
        if at < STEPS {
            messages.extend(goes_on(shape, &answer, &step(at).1));
        }
    }
    Played { bodies: endpoint.take_seen().into_iter().map(|seen| seen.body).collect(), own }
}

/// Returns a session of each API: its name, and the bodies of the endpoint's requests. Identifiers
/// of calls differ each time and are replaced by numbers.
pub(crate) async fn bodies() -> Vec<(String, Vec<Value>)> {
    let mut all = Vec::new();
    for shape in SHAPES {
        let mut ids = Vec::new();
        let bodies = play(shape, |config| config).await.bodies.iter().map(|body| numbered(body, &mut ids)).collect();
        all.push((format!("{shape:?}").to_lowercase(), bodies));
    }
    all
}

/// Returns the body with each identifier that the server made replaced by its number, and so the
/// codes at the ends of frames, which are hashes of their content.
fn numbered(body: &Value, made: &mut Vec<String>) -> Value {
    let text = ["call_", "<tool_result end=\\\"", "</tool_result "].iter().fold(body.to_string(), |text, begins| {
        let mut parts = text.split(begins);
        let mut all = parts.next().unwrap().to_owned();
        for part in parts {
            let (name, rest) = part.split_at(part.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(part.len()));
            let at = made.iter().position(|known| known == name).unwrap_or_else(|| {
                made.push(name.to_owned());
                made.len() - 1
            });
            all += &format!("{begins}{at}{rest}");
        }
        all
    });
    serde_json::from_str(&text).unwrap()
}

/// Returns the endpoint's messages from the task on, after the tools and the examples.
fn from_task(messages: &[Value]) -> &[Value] {
    let at = messages.iter().position(|message| message["content"].as_str().unwrap().contains(TASK)).unwrap();
    &messages[at..]
}

#[tokio::test]
async fn a_long_session_costs_little_more_than_the_clients_own_words() {
    let styles: [fn(Config) -> Config; 2] = [|config| config, |config| config.with_style(PromptStyle::Compact)];
    let most = most_percent();
    for (shape, style) in SHAPES.into_iter().flat_map(|shape| styles.map(|style| (shape, style))) {
        let Played { bodies, own } = play(shape, style).await;
        let sent: Vec<&Vec<Value>> = bodies.iter().map(|body| body["messages"].as_array().unwrap()).collect();
        assert_eq!(sent.len(), STEPS + 1);
        for pair in sent.windows(2) {
            let before = &pair[0][..pair[0].len() - 1];
            assert_eq!(pair[1][..before.len()], *before, "{shape:?}: a request repeats the one before");
        }
        let last = sent[STEPS].last().unwrap()["content"].as_str().unwrap();
        assert!(last.contains(TASK), "the person's own words are told again: {last}");
        let told: usize = sent.iter().map(|messages| written(from_task(messages))).sum();
        assert!(told * 100 <= own * most, "{shape:?}: {told} characters for {own}");
    }
}

/// Returns the requests of a recorded session of opencode, each with one more call and its result.
pub(crate) fn recorded() -> impl Iterator<Item = Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/sessions/opencode.json");
    let last: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let messages = last["messages"].as_array().unwrap().clone();
    (2..messages.len()).step_by(2).map(move |count| {
        let mut request = last.clone();
        (request["messages"], request["stream"]) = (json!(messages[..count]), json!(false));
        request
    })
}

/// The recorded client was not answered by this server, so the model's own text is not known. Only
/// the last message of a request changes, since it holds the additions for that request.
#[tokio::test]
async fn a_recorded_agents_requests_begin_with_the_one_before() {
    for set in [|config: Config| config, |config: Config| config.with_tools_mode(ToolsMode::Native)] {
        let endpoint = Endpoint::answer(|_, _| Reply::text("All ten files hold rules."));
        let served = serve(&endpoint, set).await;
        for request in recorded() {
            let (status, answer) = ask(&served, Chat, request.to_string()).await;
            assert_eq!(status, 200, "{answer:#}");
        }
        // As chat templates render messages: the role, then the text.
        let text = |messages: &Value| {
            let written =
                |message: &Value| format!("<{}>{}{}", message["role"], message["content"], message["tool_calls"]);
            messages.as_array().unwrap().iter().map(written).collect::<String>()
        };
        let sent: Vec<String> = endpoint.take_seen().iter().map(|seen| text(&seen.body["messages"])).collect();
        assert_eq!(sent.len(), 10);
        for pair in sent.windows(2) {
            let same = pair[0].bytes().zip(pair[1].bytes()).take_while(|(one, other)| one == other).count();
            let anew = pair[0].len() - same;
            assert!(anew * 100 <= pair[1].len() * ANEW, "{anew} of {} bytes: {}", pair[1].len(), &pair[0][same..]);
        }
    }
}

/// The log, the metrics and the inspector report it to the operator.
#[tokio::test]
async fn how_much_of_a_prompt_was_said_before_is_told() {
    let details = json!({"choices": [], "usage": {"prompt_tokens": 900, "completion_tokens": 5, "total_tokens": 905,
        "prompt_tokens_details": {"cached_tokens": 800}}});
    let endpoint = Endpoint::answer(move |_, _| Reply::events(&[says("Fine."), stops("stop"), details.clone()]).done());
    let (inspector, lines) = (Inspector::new(), Arc::new(Mutex::new(Vec::new())));
    let (pages, log) = (inspector.clone(), lines.clone());
    let served = serve(&endpoint, |config| {
        config.with_inspector(pages).with_log(move |line: Served| log.lock().unwrap().push(line))
    })
    .await;
    let tools = |names: &[&str]| Chat.tools(names);
    let long = "What is new? ".repeat(300);
    for names in [["a", "b", "c"], ["c", "a", "b"]] {
        let body = Chat.request(json!([Chat.says("user", &long)]), tools(&names));
        let (status, answer) = ask(&served, Chat, body.to_string()).await;
        assert_eq!(status, 200, "{answer:#}");
    }
    let page = served.client.get(format!("{}/metrics", served.url)).send().await.unwrap().text().await.unwrap();
    let count = |name: &str| {
        let line = page.lines().find_map(|line| line.strip_prefix(&format!("toolgraft_{name} ")));
        line.unwrap_or_else(|| panic!("{name} in {page}")).parse::<u64>().unwrap()
    };
    assert_eq!((count("prompt_tokens_total"), count("cached_tokens_total")), (1_800, 1_600));
    let costs: Vec<_> = lines.lock().unwrap().iter().map(|line| line.prompt).collect();
    assert_eq!((costs[0].repeated, costs[0].cached_tokens), (0, Some(800)), "{costs:?}");
    assert!(costs[1].repeated_percent() >= 90, "in whatever order the tools come: {costs:?}");
    assert_eq!(count("prompt_bytes_total"), costs[0].bytes + costs[1].bytes);
    assert_eq!(count("prompt_repeated_bytes_total"), costs[1].repeated);
    assert_eq!(inspector.list().iter().rev().map(|request| request.prompt).collect::<Vec<_>>(), costs);
}

/// A client measures its context by the last round's usage; the sum is reported separately.
#[tokio::test]
async fn usage_is_that_of_the_round_that_is_delivered() {
    let call = |text: &str, prompt: u64| Reply::events(&[says(text), stops("stop"), usage(prompt, 7)]).done();
    let endpoint = Endpoint::answer(move |_, number| match number {
        0 => call(&super::http::damaged(), 100),
        _ => call(&super::http::call(), 150),
    });
    let served = serve(&endpoint, |config| config).await;
    let answer = served.post(Chat.path(), &super::http::request(false)).send().await.unwrap();
    assert_eq!(answer.headers()[USAGE_HEADER], "prompt_tokens=250, completion_tokens=14");
    // When a stream begins, the usage may not be known.
    let stream = served.post(Chat.path(), &super::http::request(true)).send().await.unwrap();
    assert_ne!(
        stream.headers().get(USAGE_HEADER).map_or("", |sum| sum.to_str().unwrap()),
        "prompt_tokens=0, completion_tokens=0"
    );
    let (_, answer) = super::http::read(answer).await;
    assert_eq!(
        answer["usage"],
        json!({"prompt_tokens": 150, "completion_tokens": 7, "total_tokens": 157}),
        "{answer:#}"
    );
}

/// Descriptions that the listing cuts are reported, and its length can be configured; tools can be
/// left out.
#[tokio::test]
async fn how_much_of_the_tools_is_listed_is_told_and_set() {
    let long = format!("Begin. {} End of it.", "More of this. ".repeat(60));
    for (set, cut, shows) in [
        (None, (1, 2), [false, true, true]),
        (Some(usize::MAX), (0, 2), [true, true, true]),
        (Some(8), (1, 1), [false, false, true]),
    ] {
        let endpoint = Endpoint::answer(|_, _| Reply::text("Fine."));
        let lines = Arc::new(Mutex::new(Vec::new()));
        let log = lines.clone();
        let served = serve(&endpoint, |config| {
            let config = config.with_log(move |line: Served| log.lock().unwrap().push(line));
            let config = config.with_prompt(Options::default().with_description_chars(set));
            if set == Some(8) { config.with_left_out("Cron*") } else { config }
        })
        .await;
        let mut tools = Chat.tools(&["CronList", "read"]);
        tools[1]["function"]["description"] = json!(long);
        let body = Chat.request(json!([Chat.says("user", "Hi")]), tools);
        assert_eq!(ask(&served, Chat, body.to_string()).await.0, 200);
        assert_eq!(lines.lock().unwrap()[0].cut_descriptions, cut);
        let prompt = endpoint.take_seen().pop().unwrap().messages();
        assert_eq!(["End of it.", "CronList", "Begin."].map(|text| prompt.contains(text)), shows, "{prompt}");
    }
}

/// Tools that would take more than a quarter of the actual context are listed in a shorter form. A context that is set
/// goes before the endpoint's.
#[tokio::test]
async fn the_listing_follows_the_context() {
    for (context, set, is_short) in
        [(4_096, None, true), (65_536, None, false), (65_536, Some(4_096), true), (4_096, Some(65_536), false)]
    {
        let props = json!({"default_generation_settings": {"n_ctx": context}, "chat_template": "", "total_slots": 1});
        let endpoint = Endpoint::setup().serves("/props", props).answer(|_, _| Reply::text("Fine."));
        let served = serve(&endpoint, |config| set.into_iter().fold(config, Config::with_context)).await;
        let names: Vec<String> = (0..40).map(|at| format!("tool_{at}")).collect();
        let mut tools = Chat.tools(&names.iter().map(String::as_str).collect::<Vec<_>>());
        for tool in tools.as_array_mut().unwrap() {
            tool["function"]["description"] = json!(format!("Does it. {}", "And more than that. ".repeat(20)));
        }
        let body = Chat.request(json!([Chat.says("user", "Hi")]), tools);
        assert_eq!(ask(&served, Chat, body.to_string()).await.0, 200);
        let prompt = endpoint.take_seen().pop().unwrap().messages();
        assert!(names.iter().all(|name| prompt.contains(name)), "no tool is lost");
        assert_eq!(prompt.matches("And more than that.").count() < 400, is_short, "{context}");
        assert_eq!(prompt.len() < 4 * 4_096, is_short, "{context}: {}", prompt.len());
    }
}

/// A message that a limit cut off is asked for once more at most, and only if less may fit.
#[tokio::test]
async fn what_no_further_round_can_mend_is_not_asked_for_again() {
    let whole = super::http::call();
    let cut = whole[..whole.find('}').unwrap()].to_owned();
    for (limit, tokens, requests) in [(None, 50, 2), (Some(100), 100, 1), (Some(100), 60, 1), (Some(4_000), 50, 2)] {
        let cut = cut.clone();
        let endpoint =
            Endpoint::answer(move |_, _| Reply::events(&[says(&cut), stops("length"), usage(10, tokens)]).done());
        let served = serve(&endpoint, |config| config).await;
        let mut body = super::http::request(false);
        if let Some(limit) = limit {
            body["max_tokens"] = json!(limit);
        }
        let (status, answer) = served.chat(&body).await;
        assert_eq!((status.as_u16(), &answer["choices"][0]["finish_reason"]), (200, &json!("length")), "{answer:#}");
        assert_eq!(endpoint.requests(), requests, "{limit:?} {tokens}");
    }
}

/// An endpoint that silently reads only the end of a prompt has lost the tools.
#[tokio::test]
async fn a_prompt_that_the_endpoint_cut_is_told() {
    for (read, cut) in [(4_096, true), (30_000, false)] {
        let endpoint =
            Endpoint::answer(move |_, _| Reply::events(&[says("Fine."), stops("stop"), usage(read, 2)]).done());
        let lines = Arc::new(Mutex::new(Vec::new()));
        let log = lines.clone();
        let served =
            serve(&endpoint, |config| config.with_log(move |line: Served| log.lock().unwrap().push(line))).await;
        let body = Chat.request(json!([Chat.says("user", &"word ".repeat(30_000))]), Chat.tools(&["f"]));
        assert_eq!(ask(&served, Chat, body.to_string()).await.0, 200);
        let told = lines.lock().unwrap()[0].prompt.cut;
        assert_eq!(told.map(|(_, read)| read), Some(read).filter(|_| cut), "{told:?}");
    }
}

/// If there is no room for all tools, those that the history means are listed; the model finds and
/// calls another one, and the client sees nothing of the search.
#[tokio::test]
async fn tools_that_nobody_asked_for_are_found_and_not_listed() {
    let rounds = [mcp_call("", "find_tool", &json!({"query": "roll a die"})), mcp_call("", "roll_die", &json!({}))];
    let rounds = rounds.map(|call| call.replace("<server_name></server_name>\n", ""));
    let endpoint = Endpoint::setup().start(rounds.iter().map(|call| Reply::text(call)));
    let served = serve(&endpoint, |config| config.with_prompt(Options::default().with_tool_budget(600))).await;
    let mut names: Vec<String> = (0..60).map(|at| format!("count_sheep_{at}")).collect();
    names.push("roll_die".to_owned());
    let mut tools = Chat.tools(&names.iter().map(String::as_str).collect::<Vec<_>>());
    for tool in tools.as_array_mut().unwrap() {
        let name = tool["function"]["name"].as_str().unwrap().to_owned();
        let does = if name == "roll_die" { "Rolls a die." } else { "Counts the sheep of a field, one after another." };
        tool["function"]["description"] = json!(does);
    }
    let said = [
        Chat.says("user", "How many sheep are there?"),
        Chat.says("assistant", "Many."),
        Chat.says("user", "Thanks. Go on."),
    ];
    let (status, whole) = ask(&served, Chat, Chat.request(json!(said), tools).to_string()).await;
    assert_eq!(status, 200, "{whole}");
    let call = &whole["choices"][0]["message"]["tool_calls"];
    assert_eq!(
        (call[0]["function"]["name"].as_str(), call.as_array().unwrap().len()),
        (Some("roll_die"), 1),
        "{whole}"
    );
    let seen = endpoint.take_seen();
    let listed = |at: usize, text: &str| seen[at].messages().contains(text);
    assert!(listed(0, "count_sheep_0(") && !listed(0, "roll_die"), "{}", seen[0].messages());
    assert!(listed(1, "roll_die("), "{}", seen[1].messages());
}

/// The model reads the omitted part of a client's long result, and the client sees nothing of that.
#[tokio::test]
async fn what_is_left_out_of_a_result_is_read_on_within_the_request() {
    let book: String = (0..20_000).map(|line| format!("line {line}\n")).collect();
    for shape in SHAPES {
        let asked = mcp_call("", "read_result", &json!({"find": "line 12345"}));
        let asked = asked.replace("<server_name></server_name>\n", "");
        let endpoint = Endpoint::setup().start([Reply::text(&asked), Reply::text("It is there.")]);
        let served = serve(&endpoint, |config| config).await;
        let result = shape.result().to_string();
        let result = match shape {
            Gemini => result.replace("{\"a\":1}", &json!({ "output": book }).to_string()),
            _ => result.replace("\"1\"", &json!(book).to_string()),
        };
        let history =
            json!([shape.says("user", "Is it there?"), shape.call(), serde_json::from_str::<Value>(&result).unwrap()]);
        let (status, whole) = ask(&served, shape, shape.request(history, shape.tools(&["f"])).to_string()).await;
        let whole = whole.to_string();
        assert!(
            status == 200 && whole.contains("It is there.") && !whole.contains("read_result"),
            "{shape:?}: {whole}"
        );
        let seen = endpoint.take_seen();
        assert!(seen[0].messages().contains("read_result") && !seen[0].messages().contains("line 12345"), "{shape:?}");
        assert!(seen[1].messages().contains("Places: 1") && seen[1].messages().contains(": line 12345"), "{shape:?}");
    }
}
