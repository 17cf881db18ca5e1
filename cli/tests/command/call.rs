//! `call` with `NAME=VALUE` words and `--output`, and `get`.

use std::fs;

use serde_json::json;

#[cfg(unix)]
use crate::process::answering_server;
use crate::process::{Place, demo_server};

fn with_demo() -> Place {
    let place = Place::new();
    place.servers(json!({ "demo": demo_server() }));
    place
}

/// With a server whose tool answers with a picture and whose resource is a blob.
#[cfg(unix)]
fn with_media() -> Place {
    let place = Place::new();
    let tool = json!({ "name": "shot", "description": "A picture", "inputSchema": { "type": "object" } });
    let png = json!({ "type": "image", "mimeType": "image/png", "data": "iVBORw0K" });
    place.servers(json!({ "s": answering_server(&json!({
        "tools/list": { "tools": [tool] },
        "tools/call": { "content": [{ "type": "text", "text": "two pictures" }, png, png] },
        "resources/list": { "resources": [{ "uri": "x:plan", "name": "plan" }] },
        "resources/read": { "contents": [{ "uri": "x:plan", "mimeType": "application/pdf", "blob": "JVBERi0=" }] },
    })) }));
    place
}

#[test]
fn words_become_what_the_schema_wants() {
    let place = with_demo();
    let call = |words: &[&str]| {
        place.run(&[&["mcp", "call", "--mcp-config", "mcp.json", "demo", "weather_query"], words].concat())
    };
    let run = call(&["city=杭州", "date=2026-05-01"]).quiet();
    assert!(run.out.starts_with("杭州, 2026-05-01: "), "{run:?}");
    call(&["ctiy=Oslo"]).refuses(2, "weather_query: no parameter ctiy; nearest: city; there are: city, date");
    call(&["city=Oslo", "city=Rome"]).refuses(2, "city is given twice");
    call(&["city=Oslo", "soon"]).refuses(2, "expected NAME=VALUE");
    call(&["Oslo"]).refuses(
        2,
        "\"Oslo\" is neither NAME=VALUE nor a JSON object: if it is a value, name its parameter (NAME=Oslo)",
    );
}

#[cfg(unix)]
#[test]
fn pictures_and_blobs_become_files() {
    let place = with_media();
    let picture = b"\x89PNG\r\n".as_slice();
    let run = place.run(&["mcp", "call", "--mcp-config", "mcp.json", "s", "shot", "--output", "a.png"]).ok();
    assert!(run.out.starts_with("two pictures\n[image image/png, 6 bytes]"), "{run:?}");
    run.fails_with(0, &["image/png, 6 bytes, is in a.png", "a-2.png"]);
    assert_eq!(fs::read(place.path("a.png")).unwrap(), picture);
    assert_eq!(fs::read(place.path("a-2.png")).unwrap(), picture);
    place
        .run(&["mcp", "call", "--mcp-config", "mcp.json", "s", "shot", "--output", "a.png"])
        .refuses(2, "not overwritten");

    let run = place.run(&["mcp", "call", "--mcp-config", "mcp.json", "s", "shot", "-o", "b.png", "--json"]).ok();
    assert_eq!(run.json()["files"], json!(["b.png", "b-2.png"]));
    assert!(!run.out.contains("iVBOR"), "{run:?}");
    let run = place.run(&["mcp", "call", "--mcp-config", "mcp.json", "s", "shot", "--json"]).quiet();
    assert!(!run.out.contains("iVBOR"), "nobody asked for it: {run:?}");

    place.run(&["mcp", "read", "--mcp-config", "mcp.json", "s", "x:plan", "--output", "plan.pdf"]).ok();
    assert_eq!(fs::read(place.path("plan.pdf")).unwrap(), b"%PDF-");
}

#[test]
fn a_text_goes_to_the_file_too() {
    let place = with_demo();
    let run = place.run(&["mcp", "call", "--mcp-config", "mcp.json", "demo", "location_query", "-o", "place.txt"]).ok();
    assert_eq!(run.out, "");
    assert!(fs::read_to_string(place.path("place.txt")).unwrap().starts_with("Hangzhou"));
    place
        .run(&["mcp", "call", "--mcp-config", "mcp.json", "demo", "location_query", "-o", "."])
        .refuses(2, "is a directory");
}

#[test]
fn a_prompt_is_filled_in_and_printed() {
    let place = with_demo();
    let get = |words: &[&str]| place.run(&[&["mcp", "get", "--mcp-config", "mcp.json", "demo"], words].concat());
    let run = get(&["trip", "city=Oslo"]).quiet();
    assert!(run.out.contains("Oslo"), "{run:?}");
    let run = get(&["trip", "city=Oslo", "--json"]).quiet();
    assert_eq!((&run.json()["prompt"], &run.json()["messages"][0]["role"]), (&json!("trip"), &json!("user")));
    get(&["trip"]).refuses(2, "also needs city=…");
    get(&["trpi"]).refuses(2, "there are: trip");
    get(&["trip", "town=Oslo"]).refuses(2, "NAME=VALUE with a name of: city, date");
}
