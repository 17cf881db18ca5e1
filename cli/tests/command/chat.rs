//! `toolgraft chat` on pipes: the built program against a scripted endpoint and a real MCP server.

use std::fs;

use crate::process::{Place, Run, demo_server};
use serde_json::{Value, json};
use toolgraft_testkit::endpoint::{End, Endpoint, Reply, call, mcp_call, says, stops, thinks, usage};
use toolgraft_testkit::real;

/// A home without configuration, and a configuration with the bundled server.
struct Home(Place);

impl Home {
    fn new() -> Self {
        let place = Place::new();
        place.servers(json!({ "demo": demo_server() }));
        Home(place)
    }

    fn run(&self, args: &[&str], stdin: &str) -> Run {
        self.run_with(args, |command| command.write_stdin(stdin))
    }

    fn run_with(
        &self,
        args: &[&str],
        change: impl FnOnce(&mut assert_cmd::Command) -> &mut assert_cmd::Command,
    ) -> Run {
        self.0.run_with(&[&["chat"], args].concat(), |command| {
            change(command.env_remove("OPENAI_API_KEY").env_remove("OPENAI_BASE_URL"))
        })
    }

    /// Asks the endpoint, without tools.
    fn ask(&self, endpoint: &Endpoint, args: &[&str]) -> Run {
        let url = endpoint.url();
        self.run(&[&["--base-url", &url, "--model", "small-model"], args].concat(), "")
    }

    /// Asks the endpoint, with the bundled server.
    fn ask_with_tools(&self, endpoint: &Endpoint, args: &[&str]) -> Run {
        self.ask(endpoint, &[&["--mcp-config", "mcp.json", "--set", "tools_mode=prompt"], args].concat())
    }
}

fn weather(city: &str) -> String {
    mcp_call("demo", "weather_query", &json!({ "city": city }))
}

/// A model that asks for the weather and answers with what came back.
fn weather_model() -> Endpoint {
    Endpoint::answer(|request, number| match number {
        0 => Reply::events(&[thinks("Hm, the "), thinks("weather."), says("I look it up.\n"), says(&weather("Oslo"))])
            .raw(&format!("data: {}\n\n", stops("stop")))
            .raw(&format!("data: {}\n\n", usage(700, 50)))
            .done(),
        _ => {
            let told = request.question();
            let degrees = told.split(" °C").next().unwrap().rsplit(char::is_whitespace).next().unwrap();
            Reply::text(&format!("It is {degrees} degrees."))
        }
    })
}

#[test]
fn one_question_gets_its_answer_and_stdout_has_nothing_else() {
    let endpoint = Endpoint::start([Reply::text("Hello there!")]);
    let done = Home::new().ask(&endpoint, &["Hi"]);
    assert_eq!((done.code, done.out.as_str()), (Some(0), "Hello there!\n"), "{}", done.err);
    assert!(done.err.contains("small-model") && done.err.contains("1 round, no calls"), "{}", done.err);
    assert_eq!(endpoint.seen()[0].question(), "Hi");
}

#[test]
fn an_allowed_call_runs_and_its_result_reaches_the_answer() {
    let endpoint = weather_model();
    let done = Home::new().ask_with_tools(&endpoint, &["Weather?", "--allow", "demo.weather_*"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(done.out.starts_with("It is ") && done.out.ends_with(" degrees.\n"), "{}", done.out);
    assert!(done.out["It is ".len()..].starts_with(|c: char| c.is_ascii_digit() || c == '-'), "{}", done.out);
    for shown in [
        "I look it up.",
        "call demo.weather_query",
        "\"city\":\"Oslo\"",
        "result of demo.weather_query",
        "thought for ",
        "2 rounds, 1 call",
        "tokens: prompt ≈",
    ] {
        assert!(done.err.contains(shown), "{shown}: {}", done.err);
    }
    assert!(!done.err.contains('\u{1b}'), "a pipe gets no colours and no spinner");
}

#[test]
fn without_a_terminal_an_unknown_call_is_denied_with_the_remedy() {
    let endpoint = Endpoint::answer(|request, number| match number {
        0 => Reply::text(&weather("Oslo")),
        _ => Reply::text(if request.question().contains("no user is present") { "I may not." } else { "?" }),
    });
    let done = Home::new().ask_with_tools(&endpoint, &["Weather?"]);
    assert_eq!((done.code, done.out.as_str()), (Some(1), "I may not.\n"), "{}", done.err);
    assert!(done.err.contains("demo.weather_query was not run, and no call followed it"), "{}", done.err);
    assert!(done.err.contains("--allow 'demo.weather_query'") && done.err.contains("--yes"), "{}", done.err);
    assert!(done.err.contains("not run: demo.weather_query"), "{}", done.err);
    for option in ["--json", "--quiet"] {
        let endpoint = Endpoint::start([&*weather("Oslo"), "I may not."].map(Reply::text));
        let done = Home::new().ask_with_tools(&endpoint, &[option, "Weather?"]);
        assert_eq!(done.code, Some(1), "{option}: {}", done.err);
        assert!(done.err.contains("demo.weather_query was not run, and no call followed it"), "{option}: {}", done.err);
    }
}

#[test]
fn the_configuration_may_allow_tools_and_leave_them_out() {
    let mut demo = demo_server();
    demo["autoApprove"] = json!(["weather_*"]);
    demo["disabledTools"] = json!(["time_query"]);
    let home = Home::new();
    home.0.servers(json!({ "demo": demo }));
    let endpoint = weather_model();
    let done = home.ask_with_tools(&endpoint, &["Weather?"]);
    assert!(done.out.starts_with("It is ") && done.err.contains("result of demo.weather_query"), "{}", done.err);
    let prompt = endpoint.seen()[0].messages();
    assert!(prompt.contains("location_query(") && !prompt.contains("time_query("), "{prompt}");

    let args = ["Weather?", "--deny", "weather_*"];
    let done = home.ask_with_tools(
        &Endpoint::answer(|_, n| Reply::text(&if n == 0 { weather("Oslo") } else { "No.".into() })),
        &args,
    );
    assert!(done.out == "No.\n" && !done.err.contains("result of"), "{}", done.err);

    let endpoint = weather_model();
    let done = home.ask_with_tools(&endpoint, &["Weather?", "--tools", "demo.weather_*", "--tools", "nothing_*"]);
    assert!(
        done.out.starts_with("It is ") && done.err.contains("--tools nothing_*: no tool has such a name"),
        "{}",
        done.err
    );
    let prompt = endpoint.seen()[0].messages();
    assert!(prompt.contains("weather_query(") && !prompt.contains("location_query("), "{prompt}");
}

#[test]
fn deny_wins_over_yes() {
    let endpoint = Endpoint::answer(|_, number| Reply::text(&if number == 0 { weather("Oslo") } else { "No.".into() }));
    let done = Home::new().ask_with_tools(&endpoint, &["Weather?", "--yes", "--deny", "weather_query"]);
    assert_eq!((done.code, done.out.as_str()), (Some(0), "No.\n"), "{}", done.err);
    assert!(!done.err.contains("result of"), "{}", done.err);

    let denied = |deny: &str| Home::new().ask_with_tools(&weather_model(), &["Weather?", "--yes", "--deny", deny]);
    let done = denied("weather_query(city=nowhere)");
    assert!(done.out.starts_with("It is ") && !done.err.contains("no tool has such a name"), "{}", done.err);
    let done = denied("weather_query(city=nowhere");
    assert_eq!((done.code, done.out.as_str()), (Some(2), ""), "{}", done.err);
    let fault = "the pattern weather_query(city=nowhere cannot be read: `)` is missing at character 27";
    assert!(done.err.contains(fault), "{}", done.err);
}

#[test]
fn a_draft_of_the_reasoning_is_run_by_yes_and_by_nothing_else() {
    let draft = Reply::events(&[thinks(&weather("Oslo")), stops("stop")]).done();
    for (flag, runs) in [("--allow=*", false), ("--yes", true)] {
        let answers = [draft.clone(), Reply::text("Done.")];
        let endpoint = Endpoint::start(answers);
        let args = ["Weather?", "--profile", "deepseek-r1", "--set", "dialect=use_mcp_tool", flag];
        let done = Home::new().ask_with_tools(&endpoint, &args);
        assert_eq!(done.out, "Done.\n", "{}", done.err);
        assert_eq!(done.err.contains("result of demo.weather_query"), runs, "{flag}: {}", done.err);
    }
}

/// The arguments of a question with the profile of R1.
const R1: [&str; 5] = ["Weather?", "--profile", "deepseek-r1", "--set", "dialect=use_mcp_tool"];

/// A call whose JSON lacks a value.
fn damaged() -> String {
    weather("Oslo").replace("\"Oslo\"", "")
}

#[test]
fn r1_without_tags_runs_a_call_that_begins_its_message() {
    let endpoint = Endpoint::start([Reply::text(&weather("Oslo")), Reply::text("It is fine.")]);
    let done = Home::new().ask_with_tools(&endpoint, &[&R1[..], &["--allow", "demo.weather_query"]].concat());
    assert_eq!((done.code, done.out.as_str()), (Some(0), "It is fine.\n"), "{}", done.err);
    assert!(done.err.contains("result of demo.weather_query") && !done.err.contains("draft"), "{}", done.err);
}

#[test]
fn r1_without_tags_is_corrected_and_never_answers_with_a_wrong_call() {
    let unknown = mcp_call("demo", "wether_query", &json!({"city": "Oslo"}));
    for (wrong, told) in [(damaged(), "malformed"), (unknown, "unknown_tool")] {
        for wrong in [wrong.clone(), format!("Let me look.\n{wrong}")] {
            let answers = [Reply::text(&wrong), Reply::text(&weather("Oslo")), Reply::text("It is fine.")];
            let endpoint = Endpoint::start(answers);
            let args = [&R1[..], &["--allow", "demo.weather_query"]].concat();
            let done = Home::new().ask_with_tools(&endpoint, &args);
            assert_eq!((done.code, done.out.as_str()), (Some(0), "It is fine.\n"), "{wrong}: {}", done.err);
            assert!(done.err.contains(&format!("({told})")), "{}", done.err);
            assert!(endpoint.seen()[1].question().contains("weather_query"), "{}", endpoint.seen()[1].question());

            let endpoint = Endpoint::answer(move |_, _| Reply::text(&wrong));
            let done = Home::new().ask_with_tools(&endpoint, &args);
            assert_eq!(done.code, Some(1), "{}", done.err);
            assert!(done.err.contains("still wrong after 2 corrections"), "{}", done.err);
        }
    }
}

#[test]
fn r1_without_tags_says_of_a_call_after_text_why_it_did_not_run_and_what_helps() {
    let asks = format!("Let me look.\n{}", weather("Oslo"));
    let ask = |flags: &[&str]| {
        let first = asks.clone();
        let endpoint = Endpoint::answer(move |request, number| match number {
            0 => Reply::text(&first),
            1 if request.question().contains("begins with the call") => Reply::text(&weather("Oslo")),
            _ => Reply::text("Done."),
        });
        let done = Home::new().ask_with_tools(&endpoint, &[&R1[..], flags].concat());
        assert_eq!((done.code, done.out.as_str()), (Some(0), "Done.\n"), "{}", done.err);
        (done.err, endpoint.requests())
    };
    let (told, requests) = ask(&["--allow", "demo.weather_query"]);
    for part in
        ["was not run", "no reasoning tag came", "--set reasoning=auto", "--allow 'demo.weather_query'", "--yes"]
    {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(!told.contains("only drafted"), "{told}");
    assert!(requests == 3 && told.contains("result of demo.weather_query"), "what the model was told helps: {told}");
    for remedy in [&["--set", "reasoning=auto", "--allow", "demo.weather_query"][..], &["--yes"]] {
        let (told, requests) = ask(remedy);
        assert!(told.contains("result of demo.weather_query") && !told.contains("was not run"), "{told}");
        assert_eq!(requests, 2, "{remedy:?}");
    }
}

#[test]
fn r1_without_tags_answers_with_its_text() {
    let endpoint = Endpoint::start([Reply::text("It is four.")]);
    let done = Home::new().ask_with_tools(&endpoint, &R1);
    assert_eq!((done.code, done.out.as_str()), (Some(0), "It is four.\n"), "{}", done.err);
}

/// Nothing listens at the proxy's port.
#[test]
fn no_proxy_is_taken_from_the_environment() {
    let endpoint = Endpoint::start([Reply::text("It is four.")]);
    let args = ["--base-url", &endpoint.url(), "--model", "m", "What is two and two?"];
    let done = Home::new().run_with(&args, |command| {
        command.env_remove("NO_PROXY").env("HTTP_PROXY", "http://127.0.0.1:1").env("ALL_PROXY", "http://127.0.0.1:1")
    });
    assert_eq!((done.code, done.out.as_str()), (Some(0), "It is four.\n"), "{}", done.err);
}

#[test]
fn what_a_pipe_advises_for_a_call_helps() {
    let wanted = mcp_call("demo", "weather_query", &json!({"city": "Oslo", "requires_approval": true}));
    let draft = Reply::events(&[thinks(&weather("Oslo")), stops("stop")]).done();
    for (call, model) in [(Reply::text(&wanted), "default"), (draft, "deepseek-r1")] {
        let ask = |flag: &str| {
            let endpoint = Endpoint::start([call.clone(), Reply::text("Done.")]);
            let args = ["Weather?", "--profile", model, "--set", "dialect=use_mcp_tool", flag];
            Home::new().ask_with_tools(&endpoint, &args).err
        };
        let told = ask("--allow=*");
        assert!(told.contains("was not run") && told.contains("--yes") && !told.contains("--allow"), "{told}");
        assert!(!ask("--yes").contains("was not run"));
    }
}

#[test]
fn a_pipe_alone_is_the_question_and_beside_one_it_is_a_file() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("Read."));
    let (home, url) = (Home::new(), endpoint.url());
    let endpoint_args = ["--base-url", url.as_str(), "--model", "m"];
    home.run(&endpoint_args, "From a pipe\n").ok();
    assert_eq!(endpoint.take_seen().pop().unwrap().question(), "From a pipe");
    home.run(&[&endpoint_args[..], &["Sum up:"]].concat(), "line one\nline two\n").ok();
    let both = endpoint.take_seen().pop().unwrap().question();
    let frame = both.strip_prefix("Sum up:\n\n<file name=\"standard input\" end=\"");
    assert!(frame.is_some_and(|frame| frame.contains("\">\nline one\nline two\n\n</file ")), "{both}");
    let nothing = home.run(&endpoint_args, " \n");
    assert_eq!(nothing.code, Some(2));
    assert!(nothing.err.contains("standard input is empty"), "{}", nothing.err);
}

#[test]
fn a_failed_turn_keeps_what_came_and_is_code_1() {
    let broken = Reply::events(&[says("Half an ans")]).end(End::Break);
    let endpoint = Endpoint::start([broken, Reply::refused(401, "no such key")]);
    let home = Home::new();
    let done = home.ask(&endpoint, &["Hi"]);
    assert_eq!((done.code, done.out.as_str()), (Some(1), "Half an ans\n"));
    assert!(done.err.contains("error:") && done.err.contains("was cut off"), "{}", done.err);
    let done = home.ask(&endpoint, &["Hi"]);
    assert_eq!((done.code, done.out.as_str()), (Some(1), ""));
    assert!(done.err.contains("no such key") && done.err.contains("set the API key"), "{}", done.err);
}

#[test]
fn the_only_model_is_taken_and_of_several_one_must_be_named() {
    let home = Home::new();
    let endpoint = Endpoint::setup().models(&["only-model"]).start([Reply::text("Hi")]);
    let done = home.run(&["--base-url", &endpoint.url(), "Hi"], "");
    assert_eq!(done.out, "Hi\n", "{}", done.err);
    assert!(done.err.contains("only-model"), "{}", done.err);
    let endpoint = Endpoint::setup().models(&["one:7b", "two"]).start([]);
    let done = home.run(&["--base-url", &endpoint.url(), "Hi"], "");
    assert_eq!(done.code, Some(2));
    for part in ["--model", "there are: one:7b, two"] {
        assert!(done.err.contains(part), "{part}: {}", done.err);
    }
    let endpoint = Endpoint::setup().models(&[]).start([]);
    let done = home.run(&["--base-url", &endpoint.url(), "Hi"], "");
    assert!(done.code == Some(2) && done.err.contains("has no model"), "{}", done.err);
}

#[test]
fn the_endpoint_and_key_come_from_flags_or_the_environment_and_the_key_is_never_shown() {
    let endpoint = Endpoint::answer(|request, _| match request.header("authorization") {
        Some("Bearer sk-secret-1234") => Reply::refused(403, "sk-secret-1234 may not"),
        other => Reply::refused(500, &format!("{other:?}")),
    });
    let home = Home::new();
    let by_flag = ["--base-url", &endpoint.url(), "--model", "m", "--api-key", "sk-secret-1234", "Hi"];
    let by_variable = home.run_with(&["--model", "m", "Hi"], |command| {
        command.env("OPENAI_BASE_URL", endpoint.url()).env("OPENAI_API_KEY", "sk-secret-1234").write_stdin("")
    });
    for err in [home.run(&by_flag, "").err, by_variable.err] {
        assert!(err.contains("HTTP 403") && !err.contains("sk-secret"), "{err}");
    }
    let help = home.run_with(&["--help"], |command| command.env("OPENAI_API_KEY", "sk-secret-1234")).ok();
    assert!(!help.out.contains("sk-secret"));
}

#[test]
fn events_are_json_lines_for_scripts() {
    let endpoint = weather_model();
    let done = Home::new().ask_with_tools(&endpoint, &["Weather?", "--yes", "--json"]);
    assert_eq!((done.code, done.err.as_str()), (Some(0), ""));
    let events: Vec<Value> = done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = events.iter().map(|e| e["type"].as_str().unwrap()).collect();
    assert_eq!((kinds[0], *kinds.last().unwrap()), ("round_started", "finished"));
    assert!(kinds.contains(&"call_running") && kinds.contains(&"outcome"), "{kinds:?}");
    assert_eq!(events.last().unwrap()["calls"], 1);
}

#[test]
fn quiet_leaves_the_answer_and_reasoning_can_be_shown_whole() {
    let done = Home::new().ask_with_tools(&weather_model(), &["Weather?", "--yes", "--quiet"]);
    assert!(done.err.is_empty() && done.out.starts_with("It is "), "{}{}", done.out, done.err);
    let done = Home::new().ask_with_tools(&weather_model(), &["Weather?", "--yes", "--set", "reasoning_display=full"]);
    assert!(done.err.contains("[reasoning]\nHm, the weather.\n"), "{}", done.err);
    let done =
        Home::new().ask_with_tools(&weather_model(), &["Weather?", "--yes", "--set", "reasoning_display=hidden"]);
    assert!(!done.err.contains("thought") && !done.err.contains("Hm,"), "{}", done.err);
}

#[test]
fn a_conversation_is_saved_and_goes_on() {
    let home = Home::new();
    let endpoint = Endpoint::start([Reply::text("Hello Ann."), Reply::text("You are Ann.")]);
    let export = |file: &str| home.0.run(&["log", "export", "", "-o", file]);
    home.ask(&endpoint, &["I am Ann"]).ok();
    export("c.json").ok();
    let done = home.ask(&endpoint, &["Who am I?", "--resume", "c.json"]);
    assert_eq!((done.code, done.out.as_str()), (Some(0), "You are Ann.\n"), "{}", done.err);
    let messages = endpoint.seen()[1].messages();
    assert!(messages.contains("I am Ann") && messages.contains("Hello Ann."), "{messages}");
    export("whole.json").ok();
    let saved: Value = serde_json::from_str(&fs::read_to_string(home.0.path("whole.json")).unwrap()).unwrap();
    assert_eq!(saved["conversation"]["entries"].as_array().unwrap().len(), 4);

    fs::write(home.0.path("notes.txt"), "mine").unwrap();
    let done = home.ask(&endpoint, &["Hi", "--resume", "notes.txt"]);
    done.fails_with(2, &["notes.txt: not a saved conversation"]);
    export("notes.txt").fails_with(2, &["notes.txt exists"]);
    export("no/c.json").fails_with(2, &["no/c.json", "folder"]);
    assert_eq!(fs::read_to_string(home.0.path("notes.txt")).unwrap(), "mine");
}

#[test]
fn what_the_profile_decides_can_be_said() {
    let endpoint = Endpoint::start([Reply::text("Hi"), Reply::text("Hi")]);
    let home = Home::new();
    fs::write(home.0.path("persona.txt"), "You are a pirate.").unwrap();
    let args = [
        "Hi", "--set", "temperature=0.25", "--set", "max_tokens=77", "--lang", "zh", "--set", "dialect=type_marker",
        "--system", "@persona.txt",
    ];
    home.ask_with_tools(&endpoint, &args);
    let seen = endpoint.seen();
    assert_eq!((&seen[0].body["temperature"], &seen[0].body["max_tokens"]), (&json!(0.25), &json!(77)));
    let system = seen[0].body["messages"][0]["content"].as_str().unwrap();
    assert!(
        system.starts_with("You are a pirate.") && system.contains("TYPE: MCP") && system.contains("工具"),
        "{system}"
    );
    home.ask(&endpoint, &["Hi", "--profile", "deepseek-r1"]);
    assert_eq!(endpoint.seen()[1].body["temperature"], 0.6);
}

#[test]
fn a_limit_on_rounds_ends_the_turn_with_the_remedy() {
    let endpoint = Endpoint::answer(|_, _| Reply::text(&weather("Oslo")));
    let done = Home::new().ask_with_tools(&endpoint, &["Weather?", "--yes", "--set", "max_rounds=2"]);
    assert_eq!(done.code, Some(1));
    assert!(done.err.contains("2 rounds") && done.err.contains("--set max_rounds=N"), "{}", done.err);
    assert_eq!(endpoint.requests(), 2);
}

#[test]
fn wrong_flags_are_named_with_what_is_right() {
    let home = Home::new();
    for (args, remedy) in [
        (&["--set", "temperature=9", "Hi"][..], "from 0 to 2"),
        (&["--set", "max_rounds=0", "Hi"], "max_rounds: "),
        (&["--profile", "r2", "Hi"], "deepseek-r1"),
        (&["--base-url", "localhost:1234", "Hi"], "http://"),
        (&["--mcp-config", "missing.json", "Hi"], "missing.json"),
        (&["--set", "reasoning_display=some", "Hi"], "folded"),
    ] {
        let done = home.run(args, "");
        assert_eq!(done.code, Some(2), "{args:?}: {}", done.err);
        assert!(done.err.contains(remedy), "{args:?}: {}", done.err);
    }
    let endpoint = Endpoint::start([Reply::text("Hi")]);
    let done = home.ask_with_tools(&endpoint, &["Hi", "--allow", "demo.wether_*"]);
    assert!(done.err.contains("--allow demo.wether_*: no tool"), "{}", done.err);
}

#[test]
fn a_server_that_fails_is_named_and_the_model_answers_without_it() {
    let home = Home::new();
    fs::write(home.0.path("bad.json"), json!({"mcpServers": {"gone": {"command": "no-such-program"}}}).to_string())
        .unwrap();
    let endpoint = Endpoint::start([Reply::text("Hi")]);
    let done = home.ask(&endpoint, &["Hi", "--mcp-config", "bad.json"]);
    assert_eq!((done.code, done.out.as_str()), (Some(0), "Hi\n"));
    assert!(done.err.contains("server \"gone\" failed"), "{}", done.err);
}

#[test]
fn a_server_whose_entry_is_wrong_is_named_and_the_others_serve() {
    let home = Home::new();
    let servers = json!({ "typo": { "comand": "x" }, "demo": demo_server() });
    fs::write(home.0.path("mixed.json"), json!({ "mcpServers": servers }).to_string()).unwrap();
    let endpoint = Endpoint::start([Reply::text(&weather("Oslo")), Reply::text("Take one.")]);
    let done = home.ask(&endpoint, &["Umbrella?", "--mcp-config", "mixed.json", "--allow", "demo.*"]);
    assert_eq!((done.code, done.out.as_str()), (Some(0), "Take one.\n"));
    for words in ["server \"typo\": it has neither", "did you mean \"command\"?", "result of demo.weather_query"] {
        assert!(done.err.contains(words), "{words}: {}", done.err);
    }
}

#[test]
fn what_was_said_is_recorded_and_what_went_over_the_wire_traced_without_the_key() {
    let home = Home::new();
    let args = ["Weather?", "--yes", "--record", "r.jsonl", "--trace", "t.jsonl", "--api-key", "sk-secret-1234"];
    home.ask_with_tools(&weather_model(), &args).ok();
    let replayed = home.0.run(&["replay", "r.jsonl"]).ok();
    for part in ["small-model", "2 rounds", "call 1: demo.weather_query: result"] {
        assert!(replayed.out.contains(part), "{part}: {}", replayed.out);
    }
    let trace = fs::read_to_string(home.0.path("t.jsonl")).unwrap();
    assert!(trace.contains("/v1/chat/completions") && !trace.contains("sk-secret"), "{trace}");
    home.ask(&weather_model(), &["Hi", "--record", "no/such/folder/r.jsonl"])
        .fails_with(2, &["no/such/folder/r.jsonl"]);
}

/// All that is written leaves out the key and the servers' secrets, whoever says them.
#[test]
fn a_recorded_and_traced_session_replays_and_holds_no_secret() {
    let secrets = ["sk-secret-1234", "hunter2-hunter2"];
    let home = Home::new();
    let mut server = demo_server();
    server["env"] = json!({ "WEATHER_KEY": secrets[1], "MODE": "production" });
    home.0.servers(json!({ "demo": server }));
    let model = Endpoint::answer(|_, number| match number {
        0 => Reply::text(&weather("Oslo")),
        1 => Reply::text(&weather("hunter2-hunter2")),
        _ => Reply::events(&[says("Told sk-sec"), says("ret-1234 and hunter2-"), says("hunter2 in production.")])
            .raw(&format!("data: {}\n\n", stops("stop")))
            .done(),
    });
    let args = ["Weather? By sk-secret-1234", "--yes", "--record", "r.jsonl", "--trace", "t.jsonl"];
    home.ask_with_tools(&model, &[&args[..], &["--api-key", secrets[0]]].concat()).ok();

    let replayed = home.0.run(&["replay", "r.jsonl"]).ok();
    for part in [
        "3 rounds | small-model",
        "user: Weather? By [redacted]",
        "call 1: demo.weather_query: result",
        "| {\"city\":\"[redacted]\"}",
        "Told [redacted] and [redacted] in production.",
        "3 rounds, 2 calls, none rejected",
    ] {
        assert!(replayed.out.contains(part), "{part}: {}", replayed.out);
    }
    // What the model said is shown as it came, and not again as it was sent back.
    assert!(
        !replayed.out.contains("assistant, before") && !replayed.out.contains("<use_mcp_tool>"),
        "{}",
        replayed.out
    );
    home.0.run(&["replay", "--html", "r.html", "r.jsonl"]).ok();
    let read = |name: &str| fs::read_to_string(home.0.path(name)).unwrap();
    let (recording, trace, page) = (read("r.jsonl"), read("t.jsonl"), read("r.html"));
    for text in [&recording, &trace, &page, &replayed.out] {
        assert!(secrets.iter().all(|secret| !text.contains(secret)), "{text}");
    }
    assert!(page.contains("Oslo") && page.contains("in production."), "{page}");
    let exchanges: Vec<Value> = trace.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let is_chat = |line: &&Value| line["url"].as_str().is_some_and(|url| url.ends_with("/chat/completions"));
    assert_eq!(exchanges.iter().filter(|line| line["type"] == "request").filter(is_chat).count(), 3);
    assert_eq!(exchanges.last().unwrap()["type"], "end");
}

#[test]
fn a_file_that_holds_something_is_neither_recorded_nor_traced_over() {
    let home = Home::new();
    home.0.write("kept.jsonl", "mine");
    home.0.write("empty.jsonl", "");
    let endpoint = Endpoint::answer(|_, _| Reply::text("Hi"));
    for flag in ["--record", "--trace"] {
        let done = home.ask(&endpoint, &["Hi", flag, "kept.jsonl"]);
        done.fails_with(2, &[flag, "kept.jsonl exists already", "another name, or delete it"]);
    }
    home.ask(&endpoint, &["Hi", "--record", "r.jsonl", "--trace", "r.jsonl"])
        .fails_with(2, &["--record and --trace name the same file"]);
    assert_eq!(fs::read_to_string(home.0.path("kept.jsonl")).unwrap(), "mine");
    assert!(!home.0.path("r.jsonl").exists() && endpoint.seen().is_empty());
    home.ask(&endpoint, &["Hi", "--record", "empty.jsonl"]).ok();
    assert!(home.0.run(&["replay", "empty.jsonl"]).ok().out.contains("1 round"));
}

/// `/dev/full` takes nothing.
#[test]
#[cfg(target_os = "linux")]
fn what_cannot_be_written_is_said_at_once_and_at_the_end_and_the_turn_goes_on() {
    let home = Home::new();
    for (flag, what) in
        [("--record", "the recording /dev/full is incomplete: "), ("--trace", "the trace /dev/full is incomplete: ")]
    {
        let done = home.ask_with_tools(&weather_model(), &["Weather?", "--yes", flag, "/dev/full"]);
        done.fails_with(1, &[&format!("warning: {what}"), &format!("error: {what}")]);
        assert!(done.out.starts_with("It is ") && done.err.contains("2 rounds, 1 call"), "{done:?}");
        assert_eq!(done.err.matches(what).count(), 2, "{}", done.err);
        let (said, result) = (done.err.find(what), done.err.find("result of demo.weather_query"));
        assert!(said < result, "the warning comes when it happens: {}", done.err);

        let done = home.ask(&weather_model(), &["Hi", "--json", flag, "/dev/full"]);
        done.fails_with(1, &[&format!("warning: {what}"), &format!("error: {what}")]);
        assert_eq!(done.of_type("finished").len(), 1, "{}", done.out);
    }
}

#[test]
fn the_prompt_keeps_to_its_budget_and_the_history_to_the_context() {
    let home = Home::new();
    let endpoint = Endpoint::answer(|_, _| Reply::text("Hi"));
    let done = home.ask_with_tools(&endpoint, &["Hi", "--set", "tool_budget=1"]);
    assert!(done.err.contains("and may take 1: raise it with --set tool_budget=N"), "{}", done.err);
    assert!(endpoint.seen()[0].messages().contains("describe_tool"), "{}", endpoint.seen()[0].messages());

    let long = "word ".repeat(2_000);
    home.ask(&endpoint, &[&long]).ok();
    let done = home.ask(&endpoint, &["And now?", "--continue", "--set", "context=500"]).ok();
    assert!(done.err.contains("the context of 500 tokens is full"), "{}", done.err);
    assert!(!endpoint.seen()[2].messages().contains("word word"));
}

#[test]
fn another_model_may_answer_from_the_second_request_on() {
    let endpoint = weather_model();
    Home::new().ask_with_tools(&endpoint, &["Weather?", "--yes", "--set", "round_model=smaller-model"]).ok();
    let models: Vec<Value> = endpoint.seen().into_iter().map(|seen| seen.body["model"].clone()).collect();
    assert_eq!(models, ["small-model", "smaller-model"]);
}

#[test]
fn a_template_of_the_users_own_is_used_and_its_mistakes_are_named_at_once() {
    let home = Home::new();
    let endpoint = Endpoint::answer(|_, _| Reply::text("Hi"));
    home.0.write("mine.j2", "You are mine.\n{{ listing }}");
    home.ask_with_tools(&endpoint, &["Hi", "--set", "prompt=mine.j2"]).ok();
    assert!(endpoint.seen()[0].messages().contains("You are mine."), "{}", endpoint.seen()[0].messages());
    home.0.write("wrong.j2", "You are mine.\n{{ listin }}");
    home.ask_with_tools(&endpoint, &["Hi", "--set", "prompt=wrong.j2"]).fails_with(2, &["wrong.j2", "2", "listin"]);
    assert_eq!(endpoint.requests(), 1, "no question is sent with a wrong template");
}

#[test]
fn reasoning_goes_back_to_the_model_where_that_is_asked_for() {
    for (how_much, told) in [("last", true), ("none", false)] {
        let endpoint = weather_model();
        Home::new()
            .ask_with_tools(&endpoint, &["Weather?", "--yes", "--set", &format!("carry_reasoning={how_much}")])
            .ok();
        assert_eq!(endpoint.seen()[1].messages().contains("Hm, the weather."), told, "{how_much}");
    }
}

#[test]
fn tools_go_with_the_request_where_that_is_asked_for() {
    let native = Reply::events(&[call("demo__weather_query", "{\"city\":\"Oslo\"}"), stops("tool_calls")]).done();
    let endpoint = Endpoint::start([native, Reply::text("Fog.")]);
    let home = Home::new();
    let done =
        home.ask(&endpoint, &["Weather?", "--mcp-config", "mcp.json", "--set", "tools_mode=native", "--yes"]).ok();
    assert_eq!(done.out, "Fog.\n");
    assert!(done.err.contains("result of demo.weather_query"), "{}", done.err);
    let seen = endpoint.seen();
    let tools = seen[0].body["tools"].as_array().unwrap();
    assert!(tools.iter().any(|tool| tool["function"]["name"] == "demo__weather_query"), "{}", seen[0].body);
    assert!(seen[1].messages().contains("\"role\":\"tool\""), "{}", seen[1].messages());
}

#[test]
fn an_answer_is_made_to_match_a_schema() {
    let home = Home::new();
    let schema = json!({"type": "object", "properties": {"days": {"type": "integer"}}, "required": ["days"]});
    home.0.write("days.json", schema.to_string());
    let answers = ["Some days.", "Here it is:\n```json\n{\"days\": 3}\n```\nBye."];
    let endpoint = Endpoint::start(answers.map(Reply::text));
    let done = home.ask(&endpoint, &["How long?", "--schema", "days.json"]).ok();
    assert_eq!(done.out, "{\"days\":3}\n", "{}", done.err);
    home.0.write("broken.json", "{\"type\": ");
    home.ask(&endpoint, &["Hi", "--schema", "broken.json"]).fails_with(2, &["broken.json:1:"]);
    home.0.write("list.json", "[]");
    home.ask(&endpoint, &["Hi", "--schema", "list.json"]).fails_with(2, &["list.json: ", "Schema"]);
}

#[test]
fn servers_of_other_people_serve_a_live_model() {
    if !real::wanted("servers_of_other_people_serve_a_live_model") {
        return;
    }
    let place = Place::new();
    let notes = tempfile::tempdir().unwrap();
    let root = notes.path().canonicalize().unwrap();
    fs::write(root.join("note.txt"), "buy 3 lamps").unwrap();
    place.servers(json!({
        "files": real::node("filesystem", &[root.to_str().unwrap()]),
        "time": real::python("mcp-server-time", &["--local-timezone", "UTC"]),
    }));
    let read = mcp_call("files", "read_text_file", &json!({ "path": root.join("note.txt") }));
    let clock = mcp_call("time", "get_current_time", &json!({ "timezone": "Asia/Tokyo" }));
    let endpoint = Endpoint::start([
        Reply::events(&[thinks("Two of them."), says(&read), says("\n"), says(&clock), stops("stop")])
            .done()
            .bytewise(),
        Reply::text("Three lamps."),
    ]);
    let done = Home(place).ask_with_tools(&endpoint, &["--yes", "What to buy?"]);
    assert_eq!((done.code, done.out.as_str()), (Some(0), "Three lamps.\n"), "{}", done.err);
    assert!(done.err.contains("2 rounds, 2 calls"), "{}", done.err);
    let told = endpoint.seen()[1].messages();
    assert!(told.contains("buy 3 lamps") && told.contains("Asia/Tokyo"), "{told}");
}
