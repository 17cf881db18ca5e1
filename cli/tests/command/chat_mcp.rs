//! `/mcp` in a conversation on a terminal.

use crate::chat_terminal::Chat;
use crate::process::{Place, TOOLGRAFT, answering_server, demo_server};
use serde_json::json;
use toolgraft_testkit::endpoint::{Endpoint, Reply, mcp_call};
use toolgraft_testkit::oauth_mcp::{OAuthMcp, Ways, browse};

/// A model that says whether it was told of `weather_query`; the server's instructions name it too.
fn endpoint() -> Endpoint {
    Endpoint::answer(|request, _| {
        Reply::text(if request.messages().contains("Tells the weather") { "I have it." } else { "I lack it." })
    })
}

#[test]
fn a_tool_that_is_switched_off_is_not_listed_until_it_is_on_again() {
    let mut chat = Chat::start_with(endpoint(), demo_server(), &["--model", "small-model"]);
    chat.says("Hi");
    chat.sees("I have it.");
    chat.says("/mcp tools demo off weather_query");
    chat.sees("off: weather_query");
    chat.says("Hi");
    chat.sees("I lack it.");
    chat.says("/mcp tools demo");
    chat.sees("* time_query");
    chat.sees("  weather_query");
    chat.says("/mcp");
    chat.sees("demo  ready in");
    chat.sees("demo-server");
    chat.sees("3 tools, off: weather_query");
    chat.sees("note: 1 tool is switched off");
    chat.says("/mcp tools demo on 'w*'");
    chat.sees("on: w*");
    chat.says("Hi");
    chat.sees("I have it.");
    chat.says("/mcp tools demo off weather_queri");
    chat.sees("has no tool \"weather_queri\"; nearest: weather_query");
    chat.says("/mcp tools nobody");
    chat.sees("no server \"nobody\"; there are: demo");
    chat.leave();
}

#[test]
fn a_server_is_switched_off_and_on() {
    let mut chat = Chat::start_with(endpoint(), demo_server(), &["--model", "small-model"]);
    chat.says("/mcp off demo");
    chat.sees("demo is off");
    chat.says("/mcp");
    chat.sees("demo  disabled");
    chat.says("/mcp tools demo");
    chat.sees("demo is off: /mcp on demo");
    chat.says("/mcp restart demo");
    chat.sees("is disabled");
    chat.says("Hi");
    chat.sees("I lack it.");
    chat.says("/mcp on demo");
    chat.sees("demo is ready");
    chat.says("Hi");
    chat.sees("I have it.");
    chat.says("/mcp stop demo");
    chat.sees("/mcp takes nothing, or: on SERVER");
    chat.leave();
}

#[test]
fn what_a_server_writes_to_stderr_is_shown_and_steers_no_terminal() {
    let script = "printf '\\033[31mfirst\\033[0m\\nsecond\\n' >&2; exec \"$0\" demo-server";
    let server = json!({ "command": "sh", "args": ["-c", script, TOOLGRAFT] });
    let mut chat = Chat::start_with(endpoint(), server, &["--model", "small-model"]);
    chat.says("/mcp logs demo");
    chat.sees("stderr  ␛[31mfirst␛[0m");
    chat.sees("stderr  second");
    chat.says("/mcp logs demo 1");
    chat.sees("stderr  second");
    chat.sees("1 earlier lines are kept: /mcp logs demo 2");
    chat.leave();
    let mut chat = Chat::start_with(endpoint(), demo_server(), &["--model", "small-model"]);
    chat.says("/mcp logs demo");
    chat.sees("the server has logged nothing");
    chat.leave();
}

#[test]
fn words_after_mcp_are_completed() {
    let mut chat = Chat::start_with(endpoint(), demo_server(), &["--model", "small-model"]);
    chat.types("/mcp to\tde\tof\twea\t\r");
    chat.sees("off: weather_query");
    chat.types("/mcp tools demo on \t\r");
    chat.sees("on: weather_query");
    chat.leave();
}

#[test]
fn a_person_logs_in_from_the_conversation() {
    let guarded = OAuthMcp::start(Ways::default());
    let server = json!({ "url": guarded.url() });
    let mut chat = Chat::start_with(endpoint(), server, &["--model", "small-model"]);
    chat.says("/mcp");
    chat.sees("demo  needs authorization");
    chat.says("/mcp login demo");
    chat.sees("to log in at \"demo\", open this page:");
    let url = chat.sees_url();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    assert!(runtime.block_on(browse(&url)).1.contains("You are logged in"));
    chat.sees("logged in at \"demo\"");
    chat.sees("demo is ready");
    chat.says("/mcp tools demo");
    chat.sees("* hello");
    chat.says("/quit");
    chat.ends_by_itself();
}

#[test]
fn a_resource_that_a_question_names_goes_with_it() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("It is Oslo."));
    let mut chat = Chat::start_with(endpoint, demo_server(), &["--model", "small-model"]);
    chat.types("which is north? @dem\tdemo://citie\t\r");
    chat.sees("@demo:demo://cities");
    chat.sees("It is Oslo.");
    let asked = chat.endpoint.seen()[0].messages();
    assert!(
        asked.contains("which is north? @demo:demo://cities\\n\\n<file name=\\\"@demo:demo://cities\\\" end="),
        "{asked}"
    );
    assert!(asked.contains("Oslo, Norway: latitude 59.91"), "{asked}");
    chat.says("and @demo:demo://nowhere?");
    chat.sees("@demo:demo://nowhere: ");
    chat.says("mail me@demo:x or @other:y");
    chat.sees("It is Oslo.");
    assert_eq!(chat.endpoint.requests(), 2, "a resource that is not there keeps the question back");
    chat.leave();
}

#[test]
fn what_came_on_a_pipe_names_no_resources() {
    let endpoint = Endpoint::answer(|_, _| Reply::text("Seen."));
    let place = Place::new();
    place.servers(json!({ "demo": demo_server() }));
    let url = endpoint.url();
    let ask = |args: &[&str]| {
        let args =
            [&["chat", "--no-session", "--base-url", &url, "--model", "m", "--mcp-config", "mcp.json"], args].concat();
        place.run_with(&args, |command| command.env_remove("OPENAI_API_KEY").write_stdin("see @demo:demo://cities"))
    };
    ask(&["Look at @demo:demo://city/Oslo"]).ok();
    let asked = endpoint.seen()[0].messages();
    assert!(
        asked.contains("<file name=\\\"@demo:demo://city/Oslo\\\"") && !asked.contains("latitude 35.68"),
        "{asked}"
    );
    ask(&["Look at @demos:demo://city/Oslo"])
        .fails_with(2, &["@demos:demo://city/Oslo: no server demos; nearest: demo"]);
    ask(&["Mail me@x:y://z, @a:b and @c:/d"]).ok();
    ask(&["--untrusted", "demo", "Look at @demo:demo://city/Oslo"])
        .fails_with(2, &["its server is untrusted (--untrusted)"]);
}

#[cfg(unix)]
#[test]
fn what_a_result_has_for_the_person_alone_is_shown_and_kept_from_the_model() {
    let block = |text: &str, who: &str| json!({ "type": "text", "text": text, "annotations": { "audience": [who] } });
    let content = json!([block("Your seat is 12A.", "user"), block("Booked.", "assistant")]);
    let tool = json!({ "name": "book", "inputSchema": { "type": "object" } });
    let server = answering_server(&json!({ "tools/list": { "tools": [tool] }, "tools/call": { "content": content } }));
    let endpoint = Endpoint::answer(|_, n| match n {
        0 => Reply::text(&mcp_call("demo", "book", &json!({}))),
        _ => Reply::text("Done."),
    });
    let place = Place::new();
    place.servers(json!({ "demo": server }));
    let args = ["chat", "--no-session", "--base-url", &endpoint.url(), "--model", "m", "--mcp-config", "mcp.json"];
    let args = [&args[..], &["--set", "tools_mode=prompt", "--yes", "Book it"]].concat();
    let run = place.run_with(&args, |command| command.env_remove("OPENAI_API_KEY").write_stdin("")).ok();
    let shown = format!("{}{}", run.out, run.err);
    assert!(shown.contains("for you, not for the model:") && shown.contains("Your seat is 12A."), "{run:?}");
    let told = endpoint.seen()[1].messages();
    assert!(told.contains("Booked.") && !told.contains("12A"), "{told}");
}
