//! Saved conversations contain no key, and the program names whoever else can write to the folder in which they are
//! saved.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;

use crate::process::{Place, answering_server};
use toolgraft_testkit::endpoint::{Endpoint, Reply, mcp_call};

/// The password as it is in a URL, decoded, and in the header that a client makes of it; and others.
const SECRETS: [&str; 6] =
    ["p%40ss-4711", "p@ss-4711", "YWRhOnBAc3MtNDcxMQ", "query-0815", "sk-proj-0123456789", "tok-2342-5678"];

/// The files below a folder that hold one of the secrets.
fn holding(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            found.extend(holding(&path));
        } else if path.file_name().is_some_and(|name| name != "mcp.json") {
            let bytes = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            found.extend(SECRETS.iter().filter(|s| bytes.contains(**s)).map(|s| format!("{s} in {}", path.display())));
        }
    }
    found
}

#[test]
fn no_key_of_an_endpoint_or_a_server_is_in_what_is_kept_saved_or_exported() {
    let [password, decoded, header, query, path, token] = SECRETS;
    let said = format!("I found {password}, {decoded}, {header}==, {query}, {path} and {token}.");
    let endpoint = Endpoint::answer(move |_, number| match number % 2 {
        0 => Reply::text(&mcp_call("notes", "read", &json!({}))),
        _ => Reply::text(&said),
    });
    let plain = endpoint.url();
    let host = plain.strip_prefix("http://").unwrap().strip_suffix("/v1").unwrap().to_owned();
    let url = format!("http://ada:{password}@{host}/{path}/v1?key={query}");
    let place = Place::new();
    let mut server = answering_server(&json!({
        "tools/list": { "tools": [{ "name": "read", "inputSchema": { "type": "object" } }] },
        "tools/call": { "content": [{ "type": "text", "text": format!("a note with {token}") }] },
    }));
    server["env"]["NOTES"] = json!(token);
    place.servers(json!({ "notes": server }));
    let flags = ["--model", "m", "--set", "tools_mode=prompt", "--mcp-config", "mcp.json", "--yes"];
    let chat = |more: &[&str]| place.run_with(&[["chat"].as_slice(), &flags, more].concat(), |c| c.write_stdin(""));
    chat(&["--base-url", &url, "Go"]).ok();
    chat(&["--base-url", &url, "Go"]).ok();
    let listed = place.run(&["log", "list", "--json"]).json();
    let id = listed["sessions"][0]["id"].as_str().unwrap();
    for format in ["json", "markdown", "page"] {
        let exported = place.run(&["log", "export", id, "--as", format]).ok().out;
        place.write(&format!("exported.{format}"), exported);
    }
    assert_eq!(holding(place.dir.path()), [""; 0]);
    let saved = fs::read_to_string(place.path("exported.json")).unwrap();
    let kept = format!("http://[redacted]@{host}/[redacted]/v1?key=[redacted]");
    assert!(saved.contains(&kept) && saved.contains("a note with"), "{saved}");
    // Nothing is sent to an address with a gap in it.
    chat(&["--continue", "And now?"]).fails_with(
        2,
        &["the key in that URL was not saved: give the URL with \
        --base-url"],
    );
    chat(&["--continue", "--base-url", &url, "And now?"]).ok();
}

#[test]
fn a_folder_that_others_can_write_to_is_named() {
    let place = Place::new();
    place.servers(json!({}));
    let warned = |folder: &str, mode: u32| {
        fs::create_dir_all(place.path(folder)).unwrap();
        fs::set_permissions(place.path(folder), fs::Permissions::from_mode(mode)).unwrap();
        place.run(&["mcp", "list", "--mcp-config", "mcp.json"]).err
    };
    for folder in [".local/state/toolgraft", ".local/state/toolgraft/sessions", ".config/toolgraft"] {
        let told = warned(folder, 0o777);
        assert!(told.contains("other users can write to") && told.contains(&format!("{folder} and")), "{told}");
        assert!(!warned(folder, 0o755).contains("other users can write to"), "{folder}");
    }
}
