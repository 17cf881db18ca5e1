//! The page at the root of `toolgraft serve` in a real browser: what runs, each program's settings,
//! and a question with one tool; by keys, wide and on a phone, light and dark.

use serde_json::json;
use toolgraft_testkit::endpoint::{Endpoint, Reply, mcp_call};

use crate::devtools::Page;
use crate::inspect_page::{looks_well, tab_to};
use crate::process::Place;
use crate::replay_page::EVIL;
use crate::serve::Serving;

/// JavaScript for the page's account of a request.
const HAPPENED: &str = "document.querySelector('#happened').innerText";

/// A model that asks for the time of Oslo, then of nowhere, and writes what harms pages.
fn endpoint() -> Endpoint {
    Endpoint::setup().models(&["m"]).answer(|seen, _| {
        let zone = |name: &str| {
            let call = mcp_call("", "get_time", &json!({"zone": name}));
            Reply::text(&call.replace("<server_name></server_name>\n", ""))
        };
        let messages = seen.body["messages"].as_array().unwrap();
        let has_result = messages.iter().any(|message| message["role"] == "assistant");
        match messages.last().unwrap()["content"].to_string() {
            asked if asked.contains("Error: ") => Reply::text(EVIL),
            _ if has_result => Reply::text("It is late."),
            asked if asked.contains("nowhere") => zone("Nowhere/None"),
            asked if asked.contains("in Oslo") => zone("Europe/Oslo"),
            _ => Reply::refused(400, "too loud here"),
        }
    })
}

#[test]
fn a_real_browser_shows_what_runs_and_asks_one_question() {
    let Some(browser) = crate::browser::wanted("a_real_browser_shows_what_runs_and_asks_one_question") else { return };
    let place = Place::new();
    let endpoint = endpoint();
    let serving = Serving::start(&place, &endpoint, &["--model", "m"], &[]);
    let site = serving.url.trim_end_matches("/v1").to_owned();
    let mut page = Page::open(&browser);
    page.look(1280, "light");
    page.go(&format!("{site}/"));
    page.until("document.querySelector('#state').textContent.startsWith('The endpoint answers.')");
    assert_eq!(page.find("document.querySelector('#base').textContent"), serving.url.as_str());
    looks_well(&mut page, "serve-empty");

    // Each program's settings lead here, with the model that is chosen.
    page.find("document.querySelectorAll('details').forEach((details) => details.open = true)");
    let settings = page.find("[...document.querySelectorAll('#programs pre')].map((e) => e.textContent)");
    let model = page.find("document.querySelector('#model').value");
    let settings = settings.as_array().unwrap();
    assert!(settings.len() >= 8 && settings.iter().all(|text| text.as_str().unwrap().contains(&site)), "{settings:#?}");
    assert!(settings[0].as_str().unwrap().contains(&format!("ANTHROPIC_MODEL={}", model.as_str().unwrap())));
    looks_well(&mut page, "serve-settings");
    // Where nothing may be copied, the text is selected.
    page.find("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
    tab_to(&mut page, "button", "Copy");
    page.press("Enter");
    page.until("document.activeElement.textContent === 'Selected: press Ctrl+C'");
    let selected = page.find("getSelection().toString()");
    assert!(
        settings.iter().any(|text| text.as_str().unwrap().trim() == selected.as_str().unwrap().trim()),
        "{selected}"
    );

    // One question with one tool, which the page runs.
    page.find("document.querySelector('#question').focus()");
    tab_to(&mut page, "button", "Ask");
    page.press("Enter");
    page.until(&format!("{HAPPENED}.includes('It is late.')"));
    let steps = page.find("[...document.querySelectorAll('#happened li')].map((e) => e.firstChild.textContent)");
    assert_eq!(
        steps,
        json!([
            "The model calls get_time (requests to the endpoint: 1)",
            "This page runs it",
            "The model answers (requests to the endpoint: 1)"
        ])
    );
    assert_eq!(page.find("document.querySelector('#happened pre').textContent"), r#"{"zone":"Europe/Oslo"}"#);
    looks_well(&mut page, "serve-answer");

    // What fails is told to the model, whose words are text.
    page.find("document.querySelector('#question').value = 'What time is it nowhere?'");
    page.find("document.querySelector('#ask button').click()");
    page.until(&format!("{HAPPENED}.includes('<script>')"));
    assert!(page.find(HAPPENED).as_str().unwrap().contains("Error: "));
    assert_eq!(page.find("document.querySelectorAll('#happened script, #happened img').length"), 0);

    page.find("document.querySelector('#question').value = 'Is it loud?'");
    page.find("document.querySelector('#ask button').click()");
    page.until("document.querySelector('#happened .failed')");
    assert!(page.find(HAPPENED).as_str().unwrap().contains("too loud here"));
    looks_well(&mut page, "serve-failed");
    let complaints = page.complaints();
    // The browser itself tells of each answer that is an error.
    assert!(complaints.iter().all(|said| said.contains("status of 4")), "{complaints:?}");
}
