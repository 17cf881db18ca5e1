//! `toolgraft launch`: what a program is told, what it reaches, and that nothing is left.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use toolgraft_testkit::endpoint::{Endpoint, Reply};

use crate::process::{Place, Run, TOOLGRAFT};

/// Names on the command line, programs.
const CLIENTS: [(&str, &str); 9] = [
    ("claude", "claude"),
    ("codex", "codex"),
    ("gemini", "gemini"),
    ("opencode", "opencode"),
    ("qwen", "qwen"),
    ("cline", "cline"),
    ("continue", "cn"),
    ("copilot", "copilot"),
    ("vibe", "vibe"),
];

/// Writes down what it was given, waits until it may end, and ends with 7.
const RECORDS: &str = r#"#!/bin/sh
RECORD=$(dirname "$0")/../record
env > "$RECORD/env"
printf '%s\n' "$@" > "$RECORD/arguments"
find "$TMPDIR"/toolgraft-launch-* -type f -exec cp '{}' "$RECORD/files" ';' 2>/dev/null
trap 'exit 5' INT
[ ! -e "$RECORD/daemon" ] || { setsid sleep 1000 > "$RECORD/log" 2>&1 & echo $! > "$RECORD/left"; }
touch "$RECORD/ready"
while [ ! -e "$RECORD/end" ]; do sleep 0.05; done
exit 7
"#;

/// A place with a program of this name, and folders for what it records and for files.
fn place(program: &str) -> Place {
    let place = Place::new();
    for folder in ["bin", "tmp", "record", "record/files"] {
        fs::create_dir(place.path(folder)).unwrap();
    }
    let file = place.write(&format!("bin/{program}"), RECORDS);
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
    place
}

/// An endpoint that describes itself as llama.cpp does.
fn endpoint() -> Endpoint {
    let props = json!({"build_info": "b1-1", "default_generation_settings": {"n_ctx": 16_384}, "chat_template": ""});
    Endpoint::setup().models(&["small:7b"]).serves("/props", props).answer(|_, _| Reply::text("It is cold."))
}

fn environment(place: &Place) -> [(&'static str, String); 4] {
    [
        ("PATH", format!("{}:/usr/bin:/bin", place.path("bin").display())),
        ("TMPDIR", place.path("tmp").display().to_string()),
        ("ANTHROPIC_API_KEY", "somebody's".to_owned()),
        ("HOME", place.path("").display().to_string()),
    ]
}

/// A session that goes on.
struct Session<'a> {
    place: &'a Place,
    child: Child,
}

impl<'a> Session<'a> {
    fn start(place: &'a Place, endpoint: &Endpoint, arguments: &[&str]) -> Self {
        Session::start_in(place, &[&["--base-url", &endpoint.url()], arguments].concat(), &[])
    }

    /// With these variables, too.
    fn start_in(place: &'a Place, arguments: &[&str], more: &[(&str, &str)]) -> Self {
        let mut command = Command::new(TOOLGRAFT);
        command.arg("launch").args(arguments).envs(environment(place));
        for name in ["OPENAI_BASE_URL", "OPENAI_API_KEY", "TOOLGRAFT_UPSTREAM_KEY"] {
            command.env_remove(name);
        }
        command.envs(more.iter().copied());
        // No terminal sends signals to a group of its own.
        command.current_dir(place.path("")).process_group(0).stdin(Stdio::null());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut session = Session { place, child };
        while !place.path("record/ready").exists() {
            assert!(session.child.try_wait().unwrap().is_none(), "{:?}", session.ended());
            std::thread::sleep(Duration::from_millis(20));
        }
        session
    }

    /// Returns the arguments or variables that the program was given, by the name of their record.
    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.place.path("record").join(name)).unwrap()
    }

    fn variable(&self, name: &str) -> Option<String> {
        let all = self.read("env");
        all.lines().find_map(|line| line.strip_prefix(&format!("{name}="))).map(str::to_owned)
    }

    fn send(&self, signal: &str) {
        let sent = Command::new("kill").args(["-s", signal, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Status and stderr; and nothing is left.
    fn ended(&mut self) -> (Option<i32>, String) {
        let _ = fs::write(self.place.path("record/end"), "");
        let mut said = String::new();
        std::io::Read::read_to_string(self.child.stderr.as_mut().unwrap(), &mut said).unwrap();
        let code = self.child.wait().unwrap().code();
        let left: Vec<_> = fs::read_dir(self.place.path("tmp")).unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
        (code, said)
    }
}

fn print(endpoint: &Endpoint, arguments: &[&str]) -> Run {
    print_with(endpoint, arguments, &[])
}

fn print_with(endpoint: &Endpoint, arguments: &[&str], variables: &[(&str, &str)]) -> Run {
    let url = endpoint.url();
    let arguments = [&["launch", "--print", "--base-url", &url], arguments].concat();
    Place::new()
        .run_with(&arguments, |command| command.env("PATH", "/usr/bin:/bin").envs(variables.iter().copied()))
        .ok()
}

#[test]
fn print_shows_variables_files_and_command_and_starts_nothing() {
    let endpoint = endpoint();
    let shown = print(&endpoint, &["claude", "--", "-p", "say hi"]);
    assert_eq!(
        shown.out,
        "unset ANTHROPIC_API_KEY CLAUDE_CODE_USE_BEDROCK CLAUDE_CODE_USE_VERTEX CLAUDE_CODE_USE_FOUNDRY\n\
         export ANTHROPIC_BASE_URL=http://127.0.0.1:PORT\n\
         export ANTHROPIC_AUTH_TOKEN=KEY\n\
         export ANTHROPIC_MODEL=small:7b\n\
         export ANTHROPIC_DEFAULT_OPUS_MODEL=small:7b\n\
         export ANTHROPIC_DEFAULT_SONNET_MODEL=small:7b\n\
         export ANTHROPIC_DEFAULT_HAIKU_MODEL=small:7b\n\
         export CLAUDE_CODE_MAX_CONTEXT_TOKENS=29384\n\
         export CLAUDE_CODE_MAX_OUTPUT_TOKENS=4096\n\
         export CLAUDE_CODE_ATTRIBUTION_HEADER=0\n\
         export CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1\n\
         export API_TIMEOUT_MS=3600000\n\
         export CLAUDE_STREAM_IDLE_TIMEOUT_MS=1800000\n\
         claude '--disallowedTools=WebSearch' -p 'say hi'\n"
    );
    for (client, program) in CLIENTS {
        let shown = print(&endpoint, &[client, "--set", "context=40000"]);
        let (out, err) = (&shown.out, &shown.err);
        assert!(out.contains("http://127.0.0.1:PORT") && out.contains("KEY") && out.contains("small:7b"), "{out}");
        assert!(out.lines().last().unwrap().starts_with(program), "{out}");
        assert_eq!(
            out.contains("FOLDER/"),
            !matches!(client, "claude" | "codex" | "opencode" | "copilot" | "vibe"),
            "{out}"
        );
        let line = format!(
            "{client}: small:7b of {}, served at http://127.0.0.1:PORT; context 40000 tokens, the list of tools at most 10000",
            endpoint.url()
        );
        assert!(err.contains(&line), "{err}");
    }
    let variables = [("TOOLGRAFT_CONTEXT", "40000"), ("TOOLGRAFT_TOOL_BUDGET", "1234")];
    let shown = print_with(&endpoint, &["claude"], &variables);
    assert!(shown.err.contains("context 40000 tokens, the list of tools at most 1234"), "{}", shown.err);
    assert!(endpoint.seen().iter().all(|seen| seen.target() == "GET /v1/models"), "the model was asked nothing");
}

#[tokio::test]
async fn a_program_reaches_the_model_by_what_it_is_told_and_its_status_is_ours() {
    for (client, program) in CLIENTS {
        let (place, endpoint) = (place(program), endpoint());
        let mut session = Session::start(&place, &endpoint, &[client, "--", "-p", "say hi"]);
        assert!(session.read("arguments").ends_with("-p\nsay hi\n"), "{}", session.read("arguments"));
        assert_eq!(session.variable("ANTHROPIC_API_KEY"), None, "{client}");
        assert_eq!(session.variable("NO_PROXY").as_deref(), Some("127.0.0.1"));
        let told = told(&session);
        let root = told.split("http://127.0.0.1:").nth(1).unwrap();
        let port: String = root.chars().take_while(char::is_ascii_digit).collect();
        let is_folder = |word: &str| told.contains(&format!("toolgraft-launch-{word}"));
        let words = told.split(|c: char| !c.is_ascii_hexdigit());
        let key = words.filter(|word| word.len() == 32).find(|word| !is_folder(word));
        let ask = async |key: &str| {
            let tools = json!([{"type": "function", "function": {"name": "note"}}]);
            let body = json!({"model": "any", "messages": [{"role": "user", "content": "Hi"}], "tools": tools});
            let request =
                toolgraft::http::client().build().unwrap().post(format!("http://127.0.0.1:{port}/v1/chat/completions"));
            let request =
                request.header("content-type", "application/json").header("authorization", format!("Bearer {key}"));
            let answer = request.body(body.to_string()).send().await.unwrap();
            (answer.status().as_u16(), answer.text().await.unwrap())
        };
        assert_eq!(ask("none").await.0, 401, "nobody else comes in");
        let (status, answer) = ask(key.unwrap()).await;
        assert!(status == 200 && answer.contains("It is cold."), "{client}: {answer}");
        let seen = endpoint.seen().pop().unwrap();
        assert_eq!((&seen.body["model"], seen.header("authorization")), (&json!("small:7b"), None));
        let (code, said) = session.ended();
        assert_eq!(code, Some(7), "{said}");
        assert!(said.contains("context 16384 tokens, the list of tools at most 4096"), "{said}");
    }
}

#[test]
fn a_program_gets_variables_of_a_list_and_never_the_endpoints_key() {
    const KEY: &str = "sk-of-the-endpoint";
    let endpoint = endpoint();
    // Variables that some program is given by name or pattern; the key may be in any of them.
    let passed = [
        ("LC_TIME", "C"),
        ("XDG_DATA_DIRS", "/share"),
        ("SSH_AUTH_SOCK", "/run/agent"),
        ("EDITOR", "vi"),
        ("GIT_AUTHOR_NAME", "Ann"),
        ("https_proxy", "http://proxy.example:1"),
        ("VIRTUAL_ENV", "/venv"),
    ];
    for (client, program) in CLIENTS {
        let own = format!("{}_OWN", if client == "continue" { "CONTINUE".to_owned() } else { client.to_uppercase() });
        let mut variables = passed.to_vec();
        let unlisted = [("AWS_SECRET_ACCESS_KEY", "a"), ("TOOLGRAFT_CLIENT_KEY", "b"), ("OPENAI_BASE_URL", "c")];
        let keys = [("OPENAI_API_KEY", KEY), ("GIT_TOKEN", KEY), ("OPENCODE_CONFIG", "see sk-of-the-endpoint")];
        variables.extend([(own.as_str(), "1"), ("MINE", "2")].iter().chain(&unlisted).chain(&keys));
        let place = place(program);
        let url = endpoint.url();
        let arguments = [client, "--base-url", &url, "--env", "MINE", "--env", "SET=3 4"];
        let mut session = Session::start_in(&place, &arguments, &variables);
        for (name, value) in passed.into_iter().chain([(own.as_str(), "1"), ("MINE", "2"), ("SET", "3 4")]) {
            assert_eq!(session.variable(name).as_deref(), Some(value), "{client}: {name}");
        }
        for (name, _) in unlisted.iter().filter(|(name, _)| (client, *name) != ("qwen", "OPENAI_BASE_URL")) {
            assert_eq!(session.variable(name), None, "{client}: {name}");
        }
        assert!(!session.read("env").contains(KEY), "{client}: {}", session.read("env"));
        session.ended();
        assert_eq!(endpoint.seen().pop().unwrap().header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    }
}

#[test]
fn the_key_of_a_named_endpoint_stays_here_even_where_its_variable_is_asked_for() {
    let (place, endpoint) = (place("codex"), endpoint());
    let config = format!("[endpoints.gpu]\nurl = {:?}\nkey_variable = \"CODEX_ROUTER\"\n", endpoint.url());
    fs::create_dir_all(place.path(".config/toolgraft")).unwrap();
    place.write(".config/toolgraft/config.toml", &config);
    let variables = [("CODEX_ROUTER", "sk-routed-1"), ("CODEX_OWN", "1")];
    let mut session = Session::start_in(&place, &["codex", "--base-url", "gpu"], &variables);
    assert_eq!((session.variable("CODEX_OWN").as_deref(), session.variable("CODEX_ROUTER")), (Some("1"), None));
    session.ended();
    for (asked, problem) in [
        ("CODEX_ROUTER", "--env CODEX_ROUTER: the variable has the endpoint's key, which programs do not get"),
        ("MINE=sk-routed-1", "--env MINE: the variable has the endpoint's key"),
        ("NOWHERE", "--env NOWHERE: the variable is not set in this environment: write NOWHERE=VALUE"),
        ("=x", "--env \"=x\": expected NAME or NAME=VALUE"),
    ] {
        let arguments = ["launch", "codex", "--base-url", "gpu", "--env", asked];
        let run = place.run_with(&arguments, |command| {
            let command = command.envs(environment(&place)).env_remove("XDG_CONFIG_HOME");
            variables.iter().fold(command, |command, (name, value)| command.env(name, value))
        });
        run.refuses(2, problem);
    }
}

/// All that a program was told, in one text.
fn told(session: &Session<'_>) -> String {
    let mut told = session.read("arguments") + &session.read("env");
    for file in fs::read_dir(session.place.path("record/files")).unwrap() {
        told += &fs::read_to_string(file.unwrap().path()).unwrap();
    }
    told
}

#[test]
fn files_are_what_their_readers_take() {
    let endpoint = endpoint();
    for (client, program, file, at, expected) in [
        ("gemini", "gemini", "settings.json", "/model/compressionThreshold", json!(0.01171875)),
        ("qwen", "qwen", "settings.json", "/model/generationConfig/contextWindowSize", json!(16_384)),
        ("cline", "cline", "providers.json", "/providers/openai-compatible/settings/model", json!("small:7b")),
    ] {
        let place = place(program);
        let mut session = Session::start(&place, &endpoint, &[client]);
        let value: Value = serde_json::from_str(&session.read(&format!("files/{file}"))).unwrap();
        assert_eq!(value.pointer(at), Some(&expected), "{value:#}");
        session.ended();
    }
    let place = place("opencode");
    let mut session = Session::start(&place, &endpoint, &["opencode"]);
    let value: Value = serde_json::from_str(&session.variable("OPENCODE_CONFIG_CONTENT").unwrap()).unwrap();
    let limit = &value["provider"]["toolgraft"]["models"]["small:7b"]["limit"];
    assert_eq!(limit, &json!({"context": 16_384, "output": 4_096}), "{value:#}");
    session.ended();
}

/// Nothing here can search for them, and a model would make results up.
#[test]
fn tools_that_run_at_a_vendors_service_are_taken_away() {
    let endpoint = endpoint();
    for (client, program, words) in [
        ("claude", "claude", "--disallowedTools=WebSearch\n"),
        ("codex", "codex", "-c\nweb_search=\"disabled\"\n"),
        ("gemini", "gemini", "\"exclude\": [\"google_web_search\"]"),
    ] {
        let place = place(program);
        let mut session = Session::start(&place, &endpoint, &[client]);
        assert!(told(&session).contains(words), "{}", told(&session));
        session.ended();
    }
}

#[test]
fn signals_end_the_program_first_and_nothing_is_left() {
    let endpoint = endpoint();
    // The program takes INT itself; TERM ends it.
    for (signal, code) in [("INT", 5), ("TERM", 143), ("HUP", 143)] {
        let place = place("gemini");
        let mut session = Session::start(&place, &endpoint, &["gemini"]);
        assert!(fs::read_dir(place.path("tmp")).unwrap().count() == 1);
        session.send(signal);
        while session.child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(20));
        }
        let (ended, said) = session.ended();
        assert_eq!(ended, Some(code), "{signal}: {said}");
    }
}

/// A daemon of a session of its own keeps the settings that it was started with.
#[cfg(target_os = "linux")]
#[test]
fn what_a_program_leaves_running_is_ended_and_named() {
    let endpoint = endpoint();
    let place = place("cline");
    place.write("record/daemon", "");
    let mut session = Session::start(&place, &endpoint, &["cline"]);
    assert_eq!(session.variable("CLINE_SESSION_BACKEND_MODE").as_deref(), Some("local"));
    let left = session.read("left");
    // A dead one that nobody has waited for has no words.
    let runs = || !fs::read(format!("/proc/{}/cmdline", left.trim())).unwrap_or_default().is_empty();
    // Its words are there once it has become the program that it runs.
    crate::process::eventually("the daemon runs", runs);
    let (code, said) = session.ended();
    assert_eq!(code, Some(7), "the status is the program's: {said}");
    assert!(said.contains("stopped the processes that cline left running"), "{said}");
    assert!(!runs(), "{left}");
    // A program that leaves nothing is told nothing of.
    let _ = fs::remove_file(place.path("record/daemon"));
    for file in ["ready", "end"] {
        fs::remove_file(place.path("record").join(file)).unwrap();
    }
    let mut session = Session::start(&place, &endpoint, &["cline"]);
    assert!(!session.ended().1.contains("left running"));
}

#[test]
fn what_is_missing_is_named_with_the_remedy() {
    let endpoint = endpoint();
    let here = endpoint.url();
    let run = |program: &str, arguments: &[&str]| {
        let place = place(program);
        let run = place.run_with(arguments, |command| command.envs(environment(&place)));
        assert!(!place.path("record/ready").exists());
        run
    };
    run("other", &["launch", "codex", "--base-url", &here])
        .refuses(2, "codex is not installed (PATH has no program of that name): npm install -g @openai/codex");
    run("codex", &["launch", "vim"])
        .refuses(2, "expected one of claude, codex, gemini, opencode, qwen, cline, continue, copilot, vibe");
    for model in [&[][..], &["--model", "m"]] {
        let nobody = [&["launch", "codex", "--base-url", "http://127.0.0.1:1/v1"], model].concat();
        run("codex", &nobody).refuses(1, "127.0.0.1:1");
    }
    // A file that cannot be run is no program.
    let place = place("codex");
    fs::set_permissions(place.path("bin/codex"), fs::Permissions::from_mode(0o644)).unwrap();
    let run = place.run_with(&["launch", "codex", "--base-url", &here], |command| command.envs(environment(&place)));
    run.refuses(2, "is not installed");
}

#[test]
fn a_short_context_is_told_with_the_way_to_a_longer_one() {
    let endpoint = endpoint();
    let shown = print(&endpoint, &["claude", "--set", "context=8192"]);
    assert!(
        shown.err.contains("the first request of claude takes about 7522 tokens, and the context has 8192"),
        "{}",
        shown.err
    );
    assert!(!print(&endpoint, &["continue", "--set", "context=8192"]).err.contains("warning"));
    let silent = Endpoint::setup().models(&["m"]).answer(|_, _| Reply::text("Hi."));
    let shown = print(&silent, &["claude"]);
    assert!(shown.err.contains("does not say how long the context is (--set context=TOKENS)"), "{}", shown.err);
    assert!(!shown.out.contains("TOKENS"), "{}", shown.out);
}
