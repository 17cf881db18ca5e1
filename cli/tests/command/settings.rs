//! The sources of settings: the file, the environment and what probe found apply to every command, and
//! `toolgraft config show` names the source that counts.

use std::fs;

use serde_json::{Value, json};
use toolgraft_testkit::endpoint::{Endpoint, Reply};

use crate::process::{Place, Run};
use crate::serve::{Serving, request};

fn place(config: &str) -> Place {
    let place = Place::new();
    fs::create_dir_all(place.path(".config/toolgraft")).unwrap();
    place.write(".config/toolgraft/config.toml", config);
    place
}

fn run(place: &Place, args: &[&str]) -> Run {
    let clean = |command: &mut assert_cmd::Command| {
        command.env_remove("OPENAI_API_KEY").env_remove("OPENAI_BASE_URL").write_stdin("");
    };
    place.run_with(args, |command| {
        clean(command);
        command
    })
}

fn system(request: &Value) -> &str {
    let system = &request["messages"][0];
    assert_eq!(system["role"], "system", "{request:#}");
    system["content"].as_str().unwrap()
}

#[test]
fn prompt_prints_what_chat_sends() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("Hi."));
    let place =
        place(&format!("base_url = \"{}\"\nmodel = \"small-model\"\ntools_mode = \"prompt\"\n", endpoint.url()));
    place.servers(json!({ "demo": crate::process::demo_server() }));
    for (more, saved) in [
        ("", ""),
        ("dialect = \"tool_tag\"\nlang = \"zh\"\nprompt_style = \"compact\"\nsystem = \"Be brief.\"\n", ""),
        ("listing = \"schema\"\ntool_budget = 300\n", ""),
        ("", "[[probed]]\nname = \"small-model\"\nprompt_style = \"compact\"\ndialect = \"type_marker\"\n"),
        ("profile = \"deepseek-r1\"\n", ""),
    ] {
        let base = format!("base_url = \"{}\"\nmodel = \"small-model\"\ntools_mode = \"prompt\"\n", endpoint.url());
        place.write(".config/toolgraft/config.toml", format!("{base}{more}# kept\n{saved}"));
        let printed = run(&place, &["prompt", "--mcp-config", "mcp.json"]).ok();
        endpoint.take_seen();
        run(&place, &["chat", "--mcp-config", "mcp.json", "Hi"]).ok();
        let sent = endpoint.take_seen()[0].body.clone();
        // That profile has it in front of the first question.
        let sent = if more.contains("r1") { sent["messages"][0]["content"].as_str().unwrap() } else { system(&sent) };
        // The compact style's examples are messages of their own there.
        let (sent, printed) = (sent.trim_end(), printed.out.trim_end());
        let is_same = sent.starts_with(printed) || printed.starts_with(sent);
        assert!(is_same && sent.len() > 500, "{more}{saved}\n--- sent\n{sent}\n--- printed\n{printed}");
    }
}

#[tokio::test]
async fn serve_takes_the_file_and_the_environment() {
    let reply = |_: &_, _| Reply::text("Cold.");
    let (filed, named) = (Endpoint::answer(reply), Endpoint::answer(reply));
    let place = place(&format!("base_url = \"{}\"\nmodel = \"m\"\ndialect = \"tool_tag\"\n", filed.url()));
    let serving = Serving::launch(&place, &[], &[]);
    assert_eq!(serving.chat(&request("x"), None).await.0, 200);
    let seen = filed.seen()[0].body.clone();
    assert_eq!(seen["model"], "m");
    assert!(system(&seen).contains("<note>"), "{seen:#}");

    let serving = Serving::launch(&place, &["--set", "dialect=type_marker"], &[("OPENAI_BASE_URL", &named.url())]);
    assert_eq!(serving.chat(&request("x"), None).await.0, 200);
    assert!(system(&named.seen()[0].body).contains("TYPE: MCP"));
    assert_eq!(filed.requests(), 1);
}

#[cfg(unix)]
#[test]
fn serve_is_not_its_own_endpoint_and_says_where_nobody_is() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = format!("http://{}/v1", free.local_addr().unwrap());
    let place = place(&format!("base_url = \"{nobody}\"\n"));
    drop(free);
    let itself = [("OPENAI_BASE_URL", "http://localhost:0/v1")];
    // The other variables count.
    let refused = place.run_with(&["serve", "--listen", "127.0.0.1:0"], |command| {
        command.envs(itself).env("TOOLGRAFT_PROMPT", "missing.j2")
    });
    refused.fails_with(2, &["missing.j2"]);
    let mut serving = Serving::launch(&place, &[], &itself);
    let said = serving.end();
    assert!(said.contains("OPENAI_BASE_URL (http://localhost:0/v1) is this server itself"), "{said}");
    assert!(said.contains(&nobody) && said.contains("502 until it is reachable"), "{said}");
}

#[cfg(unix)]
#[test]
fn a_file_s_deny_list_counts_in_serve() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("Hi."));
    let place = place("deny = [\"nowhere.*.x\"]\nuntrusted = [\"stranger\"]\n");
    place.servers(json!({ "demo": crate::process::demo_server() }));
    let refused = run(&place, &["serve", "--base-url", &endpoint.url(), "--mcp-config", "mcp.json"]);
    refused.fails_with(2, &["stranger"]);
}

#[test]
fn probe_asks_the_endpoint_and_model_of_the_file() {
    let endpoint = Endpoint::answer(|_, _| Reply::refused(404, "no such model"));
    let place = place(&format!("base_url = \"{}\"\nmodel = \"filed\"\n", endpoint.url()));
    assert_ne!(run(&place, &["probe"]).code, Some(0));
    assert_eq!(endpoint.seen()[0].body["model"], "filed");
}

#[test]
fn replay_and_extract_read_with_the_profile_of_the_file() {
    let place = place("profile = \"deepseek-r1\"\n");
    let text = "I think.</think>Answer.";
    place.write("answer.txt", text);
    let record = json!({ "id": 1, "text": text }).to_string();
    let extracted = place.run_with(&["extract"], |command| command.write_stdin(format!("{record}\n"))).ok();
    assert_eq!(extracted.lines()[0]["reasoning"], "I think.");
    let shown = run(&place, &["replay", "answer.txt"]).ok();
    assert!(shown.out.contains("deepseek-r1"), "{}", shown.out);
}

#[test]
fn config_shows_no_secret_of_a_url() {
    let place = place(
        "base_url = \"http://kim:passw0rd@filed/v1?api-key=k123456\"\n\n\
         [endpoints]\nwork = { url = \"https://kim:geheim77@work/v1\" }\n",
    );
    for flags in [&["config", "show"][..], &["config", "show", "--json"]] {
        let shown = place.run(flags).ok().out;
        let found = ["passw0rd", "k123456", "geheim77"].iter().find(|secret| shown.contains(**secret));
        assert_eq!(found, None, "{shown}");
        assert!(shown.contains("[redacted]") && shown.contains("@filed/v1"), "{shown}");
    }
}

#[test]
fn config_says_for_each_value_where_it_comes_from() {
    let place = place(
        "model = \"r1\"\nmax_rounds = 5\nbase_url = \"http://filed/v1\"\nprofile = \"deepseek-r1\"\n\n\
         [[probed]]\nname = \"r1\"\nprompt_style = \"compact\"\nway = \"measured\"\n",
    );
    let shown = |args: &[&str]| {
        place.run_with(args, |command| command.env("OPENAI_BASE_URL", "http://named/v1").write_stdin("")).ok()
    };
    let all = shown(&["config", "show", "--json"]).json();
    let key = |all: &Value, name: &str| {
        let key = all["keys"].as_array().unwrap().iter().find(|key| key["key"] == name).unwrap().clone();
        let from = key["from"].as_str().unwrap_or_default().rsplit('/').next().unwrap().to_owned();
        (key["value"].clone(), from)
    };
    for (name, value, from) in [
        ("base_url", json!("http://named/v1"), "OPENAI_BASE_URL"),
        ("model", json!("r1"), "config.toml"),
        ("max_rounds", json!(5), "config.toml"),
        ("prompt_style", json!("compact"), "config.toml"),
        ("way", json!("measured"), "config.toml"),
        ("temperature", json!(0.6), "the profile deepseek-r1"),
        ("listing", json!("signature"), "built in"),
        ("system", Value::Null, ""),
    ] {
        assert_eq!(key(&all, name), (value, from.to_owned()), "{name}");
    }
    // Another model has another profile, and nothing was found of it.
    let other = shown(&["config", "show", "--model", "qwen3:8b", "--json"]).json();
    assert_eq!(key(&other, "way"), (json!("auto"), "built in".to_owned()));
    let text = shown(&["config", "show"]).out;
    assert!(
        text.contains("\nbase_url = \"http://filed/v1\"\n# base_url = \"http://named/v1\"  (from: OPENAI_BASE_URL)\n"),
        "{text}"
    );
    assert!(text.contains("\nmax_rounds = 5\n\n"), "{text}");
}

#[test]
fn a_key_may_be_written_as_an_option() {
    let place = place("");
    let tools = json!([{"name": "look", "description": "Looks.", "inputSchema": {"type": "object"}}]).to_string();
    std::fs::write(place.path("tools.json"), tools).unwrap();
    let prompt = |more: &[&str]| place.run(&[&["prompt", "--tool-file", "tools.json"], more].concat());
    let compact = prompt(&["--set", "prompt_style=compact", "--set", "listing=schema"]).ok().out;
    assert_ne!(compact, prompt(&[]).ok().out);
    for options in
        [&["--prompt-style", "compact", "--listing=schema"][..], &["--prompt_style=compact", "--set", "listing=schema"]]
    {
        assert_eq!(prompt(options).ok().out, compact, "{options:?}");
    }
    prompt(&["--prompt-style", "long"]).refuses(2, "invalid value 'long' for '--prompt-style'");
    prompt(&["--set", "prompt_style=long"]).refuses(2, "invalid value 'prompt_style=long' for '--set");
    prompt(&["--prompt-style"]).refuses(2, "unexpected argument '--prompt-style'");
    prompt(&["--colour", "red"]).refuses(2, "unexpected argument '--colour'");
}

#[test]
fn what_is_wrong_with_a_key_is_said_with_its_source() {
    let place = place("system = \"@/none.md\"\nallow = [\"demo.nothing\"]\n");
    place.servers(json!({ "demo": crate::process::demo_server() }));
    let endpoint = Endpoint::answer(|_, _| Reply::text("Hi."));
    let url = endpoint.url();
    let chat = |more: &[&str]| {
        run(&place, &[&["chat", "--base-url", &url, "--model", "m", "--mcp-config", "mcp.json"], more].concat())
    };
    chat(&["Hi"]).fails_with(2, &["system of config.toml: cannot read /none.md: "]);
    let said = chat(&["--system", "Be brief.", "--allow", "demo.none", "--deny", "demo.no", "Hi"]).ok().err;
    for warning in
        ["demo.nothing (allow of config.toml): no tool", "--allow demo.none: no tool", "--deny demo.no: no tool"]
    {
        assert!(said.contains(warning), "{warning}: {said}");
    }
    let variable = |name: &str| place.run_with(&["config", "path"], |command| command.env(name, "x")).ok().err;
    assert_eq!(variable("TOOLGRAFT_MODLE"), "warning: TOOLGRAFT_MODLE is ignored: did you mean TOOLGRAFT_MODEL?\n");
    assert_eq!(variable("TOOLGRAFT_MODEL") + &variable("TOOLGRAFT_UPSTREAM_KEY"), "");
}
