//! `toolgraft mcp status`: the MCP servers of a `toolgraft serve` that runs.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use toolgraft_testkit::endpoint::{Endpoint, Reply};

use crate::process::{Place, TOOLGRAFT, demo_server};
use crate::serve::Serving;

fn endpoint() -> Endpoint {
    Endpoint::answer(|request, _| {
        Reply::text(if request.messages().contains("weather_query") { "I have it." } else { "I lack it." })
    })
}

fn serving(place: &Place, endpoint: &Endpoint) -> Serving {
    let script = "printf '\\033[31mred\\033[0m\\n' >&2; exec \"$0\" demo-server";
    let noisy = json!({ "command": "sh", "args": ["-c", script, TOOLGRAFT] });
    place.servers(json!({ "demo": demo_server(), "noisy": noisy }));
    Serving::start(place, endpoint, &["--mcp-config", "mcp.json", "--mcp-always", "--model", "m"], &[])
}

fn status(place: &Place, args: &[&str]) -> Value {
    place.run(&[&["mcp", "status", "--json"], args].concat()).ok().json()
}

/// The file by which a running server is found.
fn announced(place: &Place) -> Option<(std::path::PathBuf, Value)> {
    let file = fs::read_dir(place.path(".local/state/toolgraft/serving")).ok()?.next()?.unwrap().path();
    let text = fs::read_to_string(&file).unwrap();
    Some((file, serde_json::from_str(&text).unwrap()))
}

#[tokio::test]
async fn a_running_server_tells_how_its_servers_are_and_switches_them() {
    let (place, endpoint) = (Place::new(), endpoint());
    place.run(&["mcp", "status"]).fails_with(1, &["no `toolgraft serve` of yours with MCP servers runs"]);
    let mut serving = serving(&place, &endpoint);
    let told = status(&place, &[]);
    let instance = &told["instances"][0];
    assert_eq!((&instance["url"], &instance["process"]), (&json!(serving.url), &json!(serving.child.id())));
    let demo = &instance["servers"][0];
    assert_eq!((&demo["name"], &demo["state"]), (&json!("demo"), &json!("ready")));
    assert_eq!(demo["tools"][0], json!({ "name": "location_query", "on": true }));
    assert!(demo["reached"].as_str().unwrap().ends_with("demo-server"), "{demo}");
    let text = place.run(&["mcp", "status", &serving.url]).ok().out;
    for words in ["noisy  ready in", "3 tools", "the last of its log:", "stderr  ␛[31mred␛[0m", &serving.url] {
        assert!(text.contains(words), "{words}: {text}");
    }

    let ask = json!({ "model": "m", "messages": [{ "role": "user", "content": "Hi" }] });
    let said = |(_, whole): (u16, Value)| whole["choices"][0]["message"]["content"].clone();
    assert_eq!(said(serving.chat(&ask, None).await), "I have it.");
    let tools = |flags: &[&str]| status(&place, flags)["instances"][0]["servers"][0]["tools"].clone();
    let all = tools(&[]);
    assert_ne!(tools(&["--off", "demo.weather_*"]), all);
    assert_eq!(tools(&["--on", "demo.weather_query"]), all);
    place.run(&["mcp", "status", "--off", "demo.nothing"]).fails_with(1, &["nothing"]);
    place.run(&["mcp", "status", "--off", "noisy"]).ok();
    assert_eq!(status(&place, &["--off", "demo"])["instances"][0]["servers"][0]["state"], "disabled");
    assert_eq!(said(serving.chat(&ask, None).await), "I lack it.");
    assert_eq!(status(&place, &["--on", "demo"])["instances"][0]["servers"][0]["state"], "ready");
    assert_eq!(said(serving.chat(&ask, None).await), "I have it.");
    place.run(&["mcp", "status", "--restart", "demo"]).ok();
    place.run(&["mcp", "status", "--restart", "noisy"]).fails_with(1, &["\"noisy\" is disabled"]);
    place.run(&["mcp", "status", "--on", "absent"]).fails_with(2, &["no server \"absent\"; there are: demo, noisy"]);
    place.run(&["mcp", "status", "1"]).fails_with(1, &["on this machine at 1:"]);

    let (file, _) = announced(&place).unwrap();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    serving.end();
    serving.child.wait().unwrap();
    assert!(announced(&place).is_none(), "who has ended is not found");
}

#[tokio::test]
async fn nobody_without_the_key_is_told_anything() {
    let (place, endpoint) = (Place::new(), endpoint());
    let serving = serving(&place, &endpoint);
    let (_, running) = announced(&place).unwrap();
    let at = format!("{}/mcp", running["control"].as_str().unwrap());
    let key = format!("Bearer {}", running["key"].as_str().unwrap());
    let client = toolgraft::http::client().build().unwrap();
    let asked = async |host: Option<&str>, key: Option<&str>| {
        let mut get = client.get(&at);
        for (name, value) in [("host", host), ("authorization", key)] {
            get = value.map_or(get.try_clone().unwrap(), |value| get.header(name, value));
        }
        get.send().await.unwrap().status().as_u16()
    };
    assert_eq!(asked(None, Some(&key)).await, 200);
    for (host, key, status) in [
        (None, None, 401),
        (None, Some("Bearer "), 401),
        (None, Some("Bearer 0123456789abcdef0123456789abcdef"), 401),
        (Some("evil.example"), Some(key.as_str()), 403),
    ] {
        assert_eq!(asked(host, key).await, status, "{host:?} {key:?}");
    }
    let post = client.post(format!("{at}?server=demo&switch=off")).send().await.unwrap();
    assert_eq!(post.status(), 405);
    let page = client.get(at.replace("/mcp", "/inspect")).header("authorization", &key).send().await.unwrap();
    assert_eq!(page.status(), 404, "no request is kept without --inspect");
    let switched = client.post(format!("{at}?server=demo&switch=away")).header("authorization", &key).send().await;
    assert_eq!(switched.unwrap().status(), 400);
    drop(serving);

    // It was killed: its file stays behind, and whoever asks takes it away.
    assert!(announced(&place).is_some());
    place.run(&["mcp", "status"]).fails_with(1, &["no `toolgraft serve` of yours"]);
    assert!(announced(&place).is_none());
}
