//! `toolgraft chat` against endpoints that misbehave, or behave in their own
//! way: what the user sees, the exit code, and what is kept.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::time::Duration;

use crate::process::{Place, Run, answering_server, demo_server};
use serde_json::{Value, json};
use toolgraft_testkit::endpoint::{
    End, Endpoint, EndpointSetup, Reply, Seen, call, mcp_call, says, stops, thinks, usage,
};

/// Asks, with the demonstration server at hand.
fn chat(place: &Place, endpoint: &Endpoint, more: &[&str]) -> Run {
    place.servers(json!({ "demo": demo_server() }));
    let url = endpoint.url();
    let args = ["chat", "--base-url", &url, "--model", "m", "--mcp-config", "mcp.json", "--yes"];
    place.run_with(&[&args, more, &["Weather in Oslo?"]].concat(), |command| {
        command.env_remove("OPENAI_API_KEY").env_remove("OPENAI_BASE_URL").write_stdin("")
    })
}

/// The entries of the conversation that was held last.
fn saved(place: &Place) -> Vec<Value> {
    let exported = place.run(&["log", "export", "", "--as", "json"]).json();
    exported["conversation"]["entries"].as_array().unwrap().clone()
}

fn weather() -> String {
    mcp_call("demo", "weather_query", &json!({"city": "Oslo"}))
}

/// The answer to whatever has results in it, else these.
fn then_answers(first: Reply) -> [Reply; 2] {
    [first, Reply::text("As the tool says.")]
}

#[test]
fn however_a_stream_is_cut_the_user_sees_the_same() {
    let text = "Grüße, 你好 🦀!";
    let reply = Reply::events(&[says("Grüße, 你"), says("好 🦀!"), stops("stop")]).done();
    let slow = reply.clone().delay(Duration::from_millis(20));
    for (name, reply) in [("bytes", reply.clone().bytewise()), ("whole", reply.clone().whole()), ("slow", slow)] {
        let run = chat(&Place::new(), &Endpoint::start([reply]), &[]).ok();
        assert_eq!(run.out, format!("{text}\n"), "{name}");
    }
}

#[test]
fn a_call_that_comes_byte_by_byte_runs() {
    let first = Reply::events(&[thinks("The tool knows."), says(&weather()), stops("stop")]).done().bytewise();
    let place = Place::new();
    let run = chat(&place, &Endpoint::start(then_answers(first)), &[]).ok();
    assert_eq!(run.out, "As the tool says.\n");
    assert!(run.err.contains("Oslo, now: "), "{}", run.err);
    let kinds: Vec<Value> = saved(&place).iter().map(|entry| entry["type"].clone()).collect();
    assert_eq!(kinds, ["user", "assistant", "outcome", "assistant"]);
}

#[test]
fn a_native_call_runs_as_any_other() {
    let first = Reply::events(&[call("weather_query", "{\"city\": \"Oslo\"}"), stops("tool_calls")]).done();
    let run = chat(&Place::new(), &Endpoint::start(then_answers(first)), &[]).ok();
    assert_eq!(run.out, "As the tool says.\n");
    assert!(run.err.contains("Oslo, now: "), "{}", run.err);
}

#[test]
fn ollama_and_lm_studio_are_read_in_their_own_ways() {
    for reply in [Reply::ollama("Let me see.", "It rains."), Reply::lm_studio("Let me see.", "It rains.")] {
        let run = chat(&Place::new(), &Endpoint::start([reply]), &["--set", "reasoning_display=full"]).ok();
        assert_eq!(run.out, "It rains.\n");
        assert!(run.err.contains("Let me see."), "{}", run.err);
    }
}

#[test]
fn a_refusal_for_the_moment_is_waited_out() {
    let busy = Reply::refused(429, "slow down").header("retry-after", "0");
    let endpoint = Endpoint::start([busy, Reply::text("It rains.")]);
    assert_eq!(chat(&Place::new(), &endpoint, &[]).ok().out, "It rains.\n");
    assert_eq!(endpoint.requests(), 2);
}

#[test]
fn a_refusal_that_stays_is_shown_in_the_endpoints_words() {
    let busy = || Reply::refused(429, "slow down").header("retry-after", "0");
    let run = chat(&Place::new(), &Endpoint::start([busy(), busy(), busy()]), &[]);
    run.fails_with(1, &["HTTP 429", "slow down"]);
    assert_eq!(run.out, "");
}

#[test]
fn a_web_page_in_place_of_an_answer_names_the_base_url() {
    let run = chat(&Place::new(), &Endpoint::start([Reply::html("Sign in to the Wi-Fi")]), &[]);
    run.fails_with(1, &["web page", "Sign in to the Wi-Fi", "base URL"]);
    assert_eq!(run.out, "");
}

#[test]
fn an_unknown_model_is_answered_with_the_known_ones() {
    let missing = Reply::refused(404, "model \"m\" not found, try pulling it first");
    let endpoint = Endpoint::setup().models(&["deepseek-r1:14b", "qwen3:8b"]).start([missing]);
    chat(&Place::new(), &endpoint, &[]).fails_with(1, &["try pulling it first", "deepseek-r1:14b, qwen3:8b"]);
}

#[test]
fn what_came_before_a_break_or_an_error_is_shown_and_kept() {
    let half = || Reply::events(&[says("It rains in "), says("Os")]);
    let error = format!("data: {}\n\n", json!({"error": {"message": "out of memory", "code": 500}}));
    for (name, reply, words) in [
        ("break", half().end(End::Break), "was cut off"),
        ("end without a reason", half(), "was cut off"),
        ("error object", half().raw(&error), "out of memory"),
        ("error event", half().raw("event: error\ndata: {\"message\": \"out of memory\"}\n\n"), "out of memory"),
    ] {
        let place = Place::new();
        let run = chat(&place, &Endpoint::start([reply]), &[]);
        run.fails_with(1, &[words]);
        assert_eq!(run.out, "It rains in Os\n", "{name}");
        let kept = saved(&place);
        assert_eq!(
            (&kept[1]["parts"][0]["text"], &kept[1]["cut_off"]),
            (&json!("It rains in Os"), &json!(true)),
            "{name}"
        );
    }
}

#[test]
fn a_call_that_breaks_off_does_not_run() {
    let call = weather();
    let half = Reply::events(&[says(&call[..call.len() / 2])]).end(End::Break);
    let place = Place::new();
    let run = chat(&place, &Endpoint::start([half]), &[]);
    run.fails_with(1, &["was cut off"]);
    assert!(
        !run.err.contains("Oslo, now:") && saved(&place).iter().all(|entry| entry["type"] != "outcome"),
        "{}",
        run.err
    );
}

#[test]
fn a_break_after_a_call_and_its_result_keeps_both() {
    let place = Place::new();
    let broken = Reply::events(&[says("The tool ")]).end(End::Break);
    let endpoint = Endpoint::start([Reply::text(&weather()), broken, Reply::text("It rains.")]);
    chat(&place, &endpoint, &[]).fails_with(1, &["was cut off"]);
    assert_eq!(saved(&place)[2]["outcome"]["status"], "result");
    // The conversation goes on from there.
    let run = chat(&place, &endpoint, &["--continue"]).ok();
    assert_eq!(run.out, "It rains.\n");
    assert!(endpoint.seen()[2].messages().contains("Oslo, now:"), "{}", endpoint.seen()[2].messages());
}

#[test]
fn nobody_there_is_told_with_what_to_start() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("http://127.0.0.1:{port}/v1");
    let run = Place::new().run(&["chat", "--base-url", &url, "--model", "m", "Hi"]);
    run.fails_with(1, &[&url, "nothing listens there"]);
}

#[test]
fn endpoints_on_their_usual_ports_are_found_and_all_are_offered() {
    let free = |port: u16| TcpListener::bind(("127.0.0.1", port)).is_ok();
    if ![1234, 11434, 8080, 9931].into_iter().all(free) {
        let _ = writeln!(std::io::stderr(), "note: skipped: a local endpoint's port is taken");
        return;
    }
    let endpoint = Endpoint::setup().port(11434).models(&["deepseek-r1:14b"]).start([Reply::ollama("Hm.", "Hello!")]);
    let ask = |more: &[&str]| {
        Place::new().run_with(&[&["chat", "Hi"], more].concat(), |command| {
            command.env_remove("OPENAI_BASE_URL").env_remove("OPENAI_API_KEY").write_stdin("")
        })
    };
    assert_eq!(ask(&[]).ok().out, "Hello!\n");
    assert!(endpoint.seen().iter().any(|request| request.target() == "POST /v1/chat/completions"));

    // A second server, on the coming port of llama.cpp: the models of both are there to choose.
    let other = Endpoint::setup().port(9931).models(&["tiny.gguf"]).start([Reply::text("Hello from there!")]);
    ask(&[]).fails_with(2, &["several servers", "deepseek-r1:14b (Ollama)", "tiny.gguf (llama.cpp)", "--model"]);
    assert_eq!(ask(&["--model", "tiny.gguf"]).ok().out, "Hello from there!\n");
    drop((endpoint, other));

    // One that is busy, and a program of another kind: neither is called absent.
    let busy = TcpListener::bind("127.0.0.1:11434").unwrap();
    let page = Endpoint::setup().port(8080).answer(|_, _| Reply::html("My router"));
    let run = ask(&[]);
    run.fails_with(1, &["no model endpoint answered", "Ollama at http://localhost:11434/v1: busy", "another program"]);
    assert!(run.err.contains("LM Studio at http://localhost:1234/v1: nothing there"), "{}", run.err);
    drop((busy, page));
}

#[cfg(unix)]
#[test]
fn an_interrupt_in_mid_stream_reaches_the_endpoint() {
    use std::io::{BufRead, BufReader};
    use std::os::unix::process::ExitStatusExt;

    let mut endpoint = Endpoint::start([Reply::events(&[says("One moment")]).end(End::Stall)]);
    let place = Place::new();
    let mut command = std::process::Command::new(crate::process::TOOLGRAFT);
    command.args(["chat", "--base-url", &endpoint.url(), "--model", "m", "--json", "Hi"]);
    command.current_dir(place.root()).env("HOME", place.root());
    let mut child = command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::piped()).spawn().unwrap();
    // On a pipe the answer is shown once it is known to be one; events come as they happen.
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut events = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    assert!(events.any(|event| event["type"] == "text"));
    let kill = format!("kill -INT {}", child.id());
    assert!(std::process::Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    endpoint.gone_blocking();
    assert_eq!(events.last().unwrap()["reason"]["kind"], "cancelled");
    assert_eq!(child.wait().unwrap().signal(), Some(2), "it ends by INT, so that a shell's loop stops");
}

/// An endpoint that describes itself as llama.cpp's server does, at paths of its own.
fn llama_cpp(tools: bool, context: u64) -> EndpointSetup {
    let models = json!({"data": [{"id": "models/tiny.gguf", "owned_by": "llamacpp",
        "meta": {"n_ctx": context, "n_params": 134_515_008}}]});
    let props = json!({"default_generation_settings": {"n_ctx": context},
        "chat_template_caps": {"supports_tools": tools, "supports_tool_calls": tools}});
    Endpoint::setup().serves("/v1/models", models).serves("/props", props)
}

#[test]
fn a_small_model_gets_the_compact_prompt_and_the_first_line_says_so() {
    let endpoint = llama_cpp(false, 8_192).start([Reply::text("Hello!")]);
    let run = chat(&Place::new(), &endpoint, &[]).ok();
    assert!(run.err.contains("by prompt (use_mcp_tool, compact), constrained where due"), "{}", run.err);
    let seen = endpoint.seen();
    assert!(!seen[0].messages().contains("# Rules"));
    let message = |at: usize| &seen[0].body["messages"][at];
    let roles = [0, 1, 2].map(|at| message(at)["role"].as_str().unwrap());
    assert_eq!(roles, ["system", "user", "assistant"], "the examples are messages");
    // The first wants no tool.
    assert!(!message(2)["content"].as_str().unwrap().contains('<'), "{}", message(2));
    assert!(seen[0].messages().contains("<use_mcp_tool>"), "{}", seen[0].messages());
    assert_eq!(seen[0].body["return_progress"], json!(true));
    // What is said on the command line counts first; another server gets no field of llama.cpp's.
    let endpoint = Endpoint::start([Reply::text("Hello!")]);
    let run = chat(&Place::new(), &endpoint, &["--set", "prompt_style=full"]).ok();
    assert!(run.err.contains("by prompt (use_mcp_tool, full)") && !run.err.contains("constrained"), "{}", run.err);
    assert!(endpoint.seen()[0].messages().contains("# Rules"));
    assert!(endpoint.seen()[0].body.get("return_progress").is_none());
}

#[test]
fn what_is_asked_about_server_and_models_goes_out_once() {
    let endpoint = llama_cpp(false, 8_192).answer(|_, _| Reply::text("It rains."));
    let place = Place::new();
    place.write("schema.json", "true");
    let url = endpoint.url();
    let base = ["chat", "--base-url", &url, "Weather?"];
    for more in [&[][..], &["--schema", "schema.json"], &["--model", "tiny"]] {
        let before = endpoint.probed().len();
        place.run_with(&[&base, more].concat(), |command| command.write_stdin(""));
        let mut asked = endpoint.probed().split_off(before);
        asked.sort();
        let paths =
            ["GET /api/ps", "GET /api/v0/models", "GET /api/version", "GET /props", "GET /v1/models", "POST /api/show"];
        assert_eq!(asked, paths, "{more:?}");
    }
}

#[test]
fn whether_answers_are_constrained_is_a_flag_or_kept_in_the_models_profile() {
    let endpoint = llama_cpp(false, 8_192).answer(|_, _| Reply::text("It rains."));
    let place = Place::new();
    fs::create_dir_all(place.path(".config/toolgraft")).unwrap();
    let profile = |constrain: &str| format!("[[probed]]\nname = \"m\"\nconstrain = \"{constrain}\"\n");
    let is_said = |more: &[&str]| chat(&place, &endpoint, more).ok().err.contains("constrained where due");
    for (kept, flag, said) in [
        ("off", None, false),
        ("off", Some("constrain=auto"), true),
        ("require", None, true),
        ("require", Some("constrain=off"), false),
    ] {
        place.write(".config/toolgraft/config.toml", profile(kept));
        let flag = flag.map(|when| ["--set", when]);
        assert_eq!(is_said(flag.as_ref().map_or(&[], |flag| flag)), said, "{kept} {flag:?}");
    }
    // What is required and cannot be had ends the turn; without the profile the same is free.
    let refuses = Endpoint::answer(|seen, _| match seen.body.get("response_format") {
        Some(_) => Reply::refused(400, "response_format is not known"),
        None => Reply::text("true"),
    });
    place.write("schema.json", "{\"type\": \"boolean\"}");
    let url = refuses.url();
    let ask = || {
        place.run_with(&["chat", "--base-url", &url, "--model", "m", "--schema", "schema.json", "Is it so?"], |c| {
            c.write_stdin("")
        })
    };
    place.write(".config/toolgraft/config.toml", profile("require"));
    ask().fails_with(1, &["response_format is not known"]);
    place.write(".config/toolgraft/config.toml", profile("auto"));
    assert_eq!(ask().ok().out, "true\n");
    // The prompt is the same for each; the key is taken there too.
    place.write("tools.json", "[]");
    place.run(&["prompt", "--tool-file", "tools.json", "--model", "m"]).ok();
}

#[test]
fn native_tools_are_said_and_warned_of_where_the_template_has_none() {
    let endpoint = llama_cpp(false, 8_192).start([Reply::text("Hello!")]);
    let run = chat(&Place::new(), &endpoint, &["--set", "tools_mode=native"]).ok();
    assert!(run.err.contains("chat template has no place for tools") && run.err.contains(", native"), "{}", run.err);
    let endpoint = llama_cpp(true, 8_192).start([Reply::text("Hello!")]);
    let run = chat(&Place::new(), &endpoint, &[]).ok();
    assert!(!run.err.contains("no place for tools") && run.err.contains(", native"), "{}", run.err);
}

/// A server whose own parser fails is asked natively once, not once a chat.
#[test]
fn what_a_chat_learned_of_native_calls_counts_for_the_next_and_for_doctor() {
    let props = json!({"chat_template_caps": {"supports_tools": true}, "build_info": "b1"});
    let endpoint = Endpoint::setup().models(&["m"]).serves("/props", props).answer(|request, _| {
        match (request.body.get("tools"), request.question().contains("Oslo, now")) {
            (Some(_), _) => Reply::refused(500, "Failed to parse input at pos 12: </tool_call>"),
            (None, true) => Reply::text("As the tool says."),
            (None, false) => Reply::text(&weather()),
        }
    });
    let place = Place::new();
    for carried in [true, false] {
        let run = chat(&place, &endpoint, &[]).ok();
        let said = run.err.lines().next().unwrap().ends_with(", native if a first call works");
        assert_eq!(said, carried, "{}", run.err);
        let mut asked = endpoint.take_seen();
        asked.retain(|request| request.body.get("messages").is_some());
        assert_eq!(asked[0].body.get("tools").is_some(), carried);
        assert!(asked[1..].iter().all(|request| request.body.get("tools").is_none()));
    }
    let report = place.run(&["probe", "--diagnose", &endpoint.url(), "--json"]).json();
    assert_eq!(report["learned"], json!([{"model": "m", "version": "b1", "fault": "failed"}]), "{report:#}");
}

/// Native calls of a model that is said to take tools are tried once for each version of its server.
#[test]
fn native_calls_are_tried_before_they_are_relied_on() {
    let trial = "How is the weather in Oslo? Call the tool get_weather for it.";
    let right = || Reply::events(&[call("get_weather", "{\"city\": \"Oslo\"}"), stops("tool_calls")]).done();
    let silent = || Reply::text("I would look out of the window.");
    for (calls, answers, works) in [
        (right(), Reply::text("It is 13 degrees."), true),
        (silent(), silent(), false),
        (right(), silent(), false),
        (right(), right(), false),
    ] {
        let props = json!({"chat_template_caps": {"supports_tools": true}, "build_info": "b1"});
        let endpoint = Endpoint::setup().models(&["m"]).serves("/props", props).answer(move |request, _| {
            let is_trial = request.messages().contains(trial);
            let has_result = request.messages().contains("13 degrees") || request.question().contains("Oslo, now");
            match (request.body.get("tools"), is_trial, has_result) {
                (Some(_), true, false) => calls.clone(),
                (Some(_), true, true) => answers.clone(),
                (Some(_), false, false) => {
                    Reply::events(&[call("demo__weather_query", "{\"city\": \"Oslo\"}"), stops("tool_calls")]).done()
                }
                (None, _, false) => Reply::text(&weather()),
                _ => Reply::text("As the tool says."),
            }
        });
        let place = Place::new();
        for is_first in [true, false] {
            let run = chat(&place, &endpoint, &[]).ok();
            assert_eq!(run.out, "As the tool says.\n");
            let head = run.err.lines().next().unwrap();
            let said = [", native if a first call works", ", native"].map(|words| head.ends_with(words));
            assert_eq!(said, [is_first, works && !is_first], "{head}");
            let asked: Vec<Seen> =
                endpoint.take_seen().into_iter().filter(|seen| seen.body.get("messages").is_some()).collect();
            let (trials, own): (Vec<&Seen>, Vec<&Seen>) =
                asked.iter().partition(|seen| seen.messages().contains(trial));
            assert_eq!(!trials.is_empty(), is_first);
            assert!(own.iter().all(|seen| seen.body.get("tools").is_some() == works), "{works}");
        }
        let report = place.run(&["probe", "--diagnose", &endpoint.url(), "--json"]);
        let learned = serde_json::from_str::<Value>(&report.out).unwrap()["learned"].clone();
        assert_eq!((learned[0]["version"].clone(), learned[0]["fault"].is_null()), (json!("b1"), works), "{learned}");
    }
}

#[test]
fn a_prompt_that_cannot_fit_is_not_sent_and_the_advice_is_llama_cpps() {
    let endpoint = llama_cpp(false, 512).start([Reply::text("Hello!")]);
    let run = chat(&Place::new(), &endpoint, &["--set", "prompt_style=full"]);
    run.fails_with(1, &["context of 512 tokens is too small", "llama-server with a longer context (-c)"]);
    assert!(!run.err.contains("context="), "{}", run.err);
    assert_eq!(endpoint.requests(), 0);
}

#[test]
fn a_full_context_is_not_called_an_output_limit() {
    let cut = |prompt, answer| Reply::events(&[says("It is"), stops("length"), usage(prompt, answer)]).done();
    for (reply, words) in [
        (cut(700, 1_348), "context of 2048 tokens is full"),
        (cut(700, 160), "raise the limit with --set max_tokens=N"),
    ] {
        let endpoint = llama_cpp(false, 2_048).start([reply]);
        chat(&Place::new(), &endpoint, &[]).fails_with(1, &[words]);
    }
}

#[test]
fn a_server_that_loads_its_model_is_waited_for_with_a_line() {
    let loading = || Reply::new(503, r#"{"error":{"message":"Loading model","type":"unavailable_error","code":503}}"#);
    let endpoint = Endpoint::start([loading(), loading(), loading(), loading(), Reply::text("It rains.")]);
    let run = chat(&Place::new(), &endpoint, &[]).ok();
    assert_eq!(run.out, "It rains.\n");
    assert_eq!(run.err.matches("still loading its model").count(), 1, "{}", run.err);
    assert_eq!(endpoint.requests(), 5);
    // The list of models is waited for as well.
    let mut loads = 2;
    let endpoint = Endpoint::setup().lists().answer(move |request, _| match request.target() {
        "GET /v1/models" if loads > 0 => {
            loads -= 1;
            loading()
        }
        "GET /v1/models" => Reply::new(200, r#"{"data": [{"id": "tiny"}]}"#),
        _ => Reply::text("It rains."),
    });
    let url = endpoint.url();
    let run = Place::new().run(&["chat", "--base-url", &url, "Weather?"]).ok();
    assert_eq!(
        (run.out.as_str(), run.err.matches("still loading its model").count()),
        ("It rains.\n", 1),
        "{}",
        run.err
    );
}

#[test]
fn a_missing_v1_is_tried_and_said() {
    let answer = |request: &Seen, _| match request.target() {
        _ if request.header("authorization").is_none() => Reply::refused(401, "who are you?"),
        "GET /v1/models" => Reply::new(200, r#"{"data": [{"id": "tiny"}]}"#),
        "POST /v1/chat/completions" => Reply::text("It rains."),
        _ => Reply::new(404, "404 page not found"),
    };
    let endpoint = Endpoint::setup().lists().answer(answer);
    let base = endpoint.url().trim_end_matches("/v1").to_owned();
    let secret = base.replace("http://", "http://kim:hunter22@");
    for named in [&["--base-url", &base, "--api-key", "k"][..], &["--base-url", &secret]] {
        for model in [&[][..], &["--model", "tiny"]] {
            let run = Place::new().run(&[&["chat", "Weather?"], named, model].concat()).ok();
            assert_eq!(run.out, "It rains.\n", "{}", run.err);
            assert!(run.err.contains(&format!("{base}/v1 has one: using that")), "{}", run.err);
            assert!(!run.err.contains("hunter22"), "{}", run.err);
        }
    }
}

#[test]
fn variables_that_name_the_endpoint_of_other_programs_are_answered_with_ours() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("It rains."));
    let (url, address) = (endpoint.url(), endpoint.url().replace("http://", ""));
    for (name, value) in [("OPENAI_API_BASE", &url), ("OLLAMA_HOST", &address)] {
        for args in [&["chat", "--model", "m", "Weather?"][..], &["models"]] {
            let run = Place::new().run_with(args, |c| c.env(name, value));
            let told = format!("{name} is ignored: name the endpoint with --base-url {url}, or in OPENAI_BASE_URL");
            assert!(run.err.contains(&told), "{args:?}: {}", run.err);
        }
    }
    assert_eq!(endpoint.requests(), 0);
}

#[test]
fn a_wrong_scheme_and_a_port_without_http_are_told_in_plain_words() {
    for (scheme, greeting, answer, words) in [
        // A server of HTTP, which takes the hello of TLS for a bad request.
        (
            "https",
            "",
            "HTTP/1.1 400 Bad Request\r\n\r\n",
            "the server does not use TLS there: write http:// instead of https://",
        ),
        // Servers that greet, as those of SSH and mail do, before they are asked or after it.
        ("http", "SSH-2.0-OpenSSH_9.9\r\n", "", "completions: the answer is not plain HTTP"),
        ("http", "", "SSH-2.0-OpenSSH_9.9\r\n", "completions: the answer is not plain HTTP"),
        // One that died of the request, or waits for TLS.
        (
            "http",
            "",
            "",
            "completions: the connection was closed without an answer: the server's own log may say why. Else: is \
             this its",
        ),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("{scheme}://{}/v1", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for socket in listener.incoming() {
                let mut socket = socket.unwrap();
                let _ = socket.write_all(greeting.as_bytes());
                let _ = std::io::Read::read(&mut socket, &mut [0; 4096]);
                let _ = socket.write_all(answer.as_bytes());
                // Closed with a part of the request unread, the connection is reset instead of ended.
                let _ = socket.shutdown(std::net::Shutdown::Write);
                let _ = std::io::copy(&mut socket, &mut std::io::sink());
            }
        });
        let run = Place::new().run(&["chat", "--base-url", &url, "--model", "m", "Hi"]);
        run.fails_with(1, &[words]);
    }
}

#[test]
fn an_answer_without_content_and_a_redirect_are_told_in_plain_words() {
    let moved = Reply::new(302, "").header("location", "https://other.example/v1/chat/completions");
    for (reply, words) in [
        (Reply::new(200, ""), "completions: the endpoint sent no answer: the server's own log may say why"),
        (Reply::new(200, " null\n"), "completions: the endpoint sent no answer: the server's own log may say why"),
        (moved, "HTTP 302: Found: it redirects to https://other.example/v1: write the final URL"),
    ] {
        chat(&Place::new(), &Endpoint::start([reply]), &[]).fails_with(1, &[words]);
    }
    // A port of TLS may reset the connection of a client that greets in plain HTTP.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = socket.unwrap();
            let _ = std::io::Read::read(&mut socket, &mut [0; 1]);
        }
    });
    let run = Place::new().run(&["chat", "--base-url", &url, "--model", "m", "Hi"]);
    run.fails_with(1, &["is this its port, or must the URL begin with https://?"]);
}

#[test]
fn an_answer_that_repeats_itself_is_stopped_and_the_limit_is_named() {
    let line = "- Oslo is a city in Europe.\n";
    let reply = || Reply::text(&format!("The weather:\n{}", line.repeat(200)));
    let run = chat(&Place::new(), &Endpoint::start([reply()]), &[]);
    run.fails_with(1, &["repeated itself", "--set max_repeats=N"]);
    let run = chat(&Place::new(), &Endpoint::start([reply()]), &["--set", "max_repeats=0"]).ok();
    assert_eq!(run.out.matches(line.trim()).count(), 200);
}

/// Five hundred tools take three times the whole context: those are listed that the question means,
/// the model finds the rest, and a quarter of the context is kept, in the prompt and in the request.
#[test]
fn hundreds_of_tools_fit_a_context_that_they_are_longer_than() {
    let words = "Digs in the ground, as deep as it is told to.";
    let tool =
        |n: u32| json!({ "name": format!("dig_hole_{n}"), "description": words, "inputSchema": { "type": "object" } });
    let die = json!({ "name": "roll_die", "description": "Rolls a die.", "inputSchema": { "type": "object" } });
    let tools: Value = (0..500).map(tool).chain([die]).collect();
    for natively in [false, true] {
        let place = Place::new();
        let rolled = json!({ "content": [{ "type": "text", "text": "four" }] });
        let server = answering_server(&json!({ "tools/list": { "tools": tools }, "tools/call": rolled }));
        place.servers(json!({ "mine": server }));
        let natively_calls =
            |name: &str, arguments: &str| Reply::events(&[call(name, arguments), stops("tool_calls")]).done();
        let replies = match natively {
            true => [
                natively_calls("find_tool", "{\"query\":\"roll a die\"}"),
                natively_calls("mine__roll_die", "{}"),
                Reply::text("A four."),
            ],
            false => [
                Reply::text(
                    "<use_mcp_tool>\n<tool_name>find_tool</tool_name>\n<arguments>\n{\"query\": \"roll a die\"}\n</arguments>\n</use_mcp_tool>",
                ),
                Reply::text(&mcp_call("mine", "roll_die", &json!({}))),
                Reply::text("A four."),
            ],
        };
        let endpoint = llama_cpp(natively, 8_192).start(replies);
        let (file, url) = (place.path("mcp.json"), endpoint.url());
        let run = place
            .run(&[
                "chat",
                "--base-url",
                &url,
                "--model",
                "models/tiny.gguf",
                "--mcp-config",
                &file.to_string_lossy(),
                "--yes",
                "--set",
                "way=free",
                "Dig hole 7.",
            ])
            .ok();
        assert_eq!(run.out, "A four.\n", "{}", run.err);
        let seen = endpoint.seen();
        let tools: Vec<String> = seen.iter().map(|seen| seen.body["tools"].to_string()).collect();
        let list = if natively { tools[0].clone() } else { seen[0].body["messages"][0]["content"].to_string() };
        assert_eq!(seen[0].body.get("tools").is_some(), natively);
        assert!(list.contains("dig_hole_7") && list.contains("find_tool") && !list.contains("dig_hole_499"), "{list}");
        assert!(!list.contains("roll_die"), "{list}");
        // A token of such a text has more than three characters.
        assert!(list.len() < 3 * 8_192 / 4, "{}", list.len());
        assert_eq!(tools[1].contains("mine__roll_die"), natively, "{}", tools[1]);
        assert!(
            seen[1].messages().contains("roll_die") && seen[2].messages().contains("four"),
            "{}",
            seen[2].messages()
        );
    }
}
