//! The page of `toolgraft up` in a real browser: with the keyboard alone, on a phone, in the dark,
//! in Chinese.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;

use serde_json::json;
use toolgraft_testkit::endpoint::{End, Endpoint, Reply, mcp_call, says, thinks};

use crate::devtools::Page;
use crate::elicit::{asks as asks_for, form};
use crate::inspect_page::tab_to;
use crate::process::Place;
use crate::replay_page::EVIL;
use crate::up::{Up, figs, writing_server};

const ANSWER: &str = "It is **cold** in Oslo.\n\n| city | degrees |\n|---|---|\n| Oslo | -3 |\n\n\
    1. Take a `coat`\n2. See [the forecast](https://weather.example/oslo)\n\n```sh\ncurl https://weather.example\n```";

/// An endpoint whose model answers by what it was asked.
fn endpoint() -> Endpoint {
    Endpoint::setup().models(&["m", "tiny"]).answer(|seen, _| {
        let messages = seen.body["messages"].as_array().unwrap();
        match messages.last().unwrap()["content"].to_string() {
            asked if asked.contains("<script>") => Reply::text(EVIL),
            asked if asked.contains("declined") => Reply::text("Then not."),
            asked if asked.contains("\\\"action\\\"") => Reply::text("So be it."),
            asked if asked.contains("Book") => Reply::text(&mcp_call("tickets", "ask", &json!({}))),
            asked if asked.contains("written") => Reply::text("The pears are figs now."),
            asked if asked.contains("Wait") => Reply::events(&[thinks("Hm. "), says("I wait ")]).end(End::Stall),
            asked if asked.contains("Figs") => Reply::text(&figs()),
            asked if asked.contains("latitude") => Reply::lm_studio("I know it now.", ANSWER),
            _ => Reply::text(&mcp_call("demo", "location_query", &json!({"city": "Oslo"}))),
        }
    })
}

/// JavaScript for the conversation on the page.
pub(crate) const SAID: &str = "document.querySelector('#said').innerText";

fn looks_well(page: &mut Page, name: &str) {
    crate::inspect_page::looks_well(page, &format!("up-{name}"));
}

pub(crate) fn asks(page: &mut Page, question: &str) {
    page.find("document.querySelector('#question').focus()");
    page.write_text(question);
    page.press("Enter");
}

pub(crate) const IDLE: &str =
    "document.querySelector('#stop').hidden && document.querySelector('#said').ariaBusy !== 'true'";

#[test]
fn a_real_browser_holds_a_conversation_by_keys() {
    let Some(browser) = crate::browser::wanted("a_real_browser_holds_a_conversation_by_keys") else { return };
    let up = Up::start(endpoint(), &["--allow", "demo.*"], &[]);
    let mut page = Page::open(&browser);
    page.look(1280, "light");
    page.go(&up.url);
    page.until("document.querySelector('#begin')");
    assert_eq!(page.find("location.search"), "", "the key is gone from the address");
    assert_eq!(page.find("document.activeElement.id"), "question");
    looks_well(&mut page, "empty");

    asks(&mut page, "What is the weather in Oslo?");
    page.until(&format!("{SAID}.includes('cold')"));
    page.until(IDLE);
    assert_eq!(page.find("document.querySelector('#said strong').textContent"), "cold");
    assert_eq!(page.find("document.querySelector('#said a').rel"), "noopener noreferrer");
    assert_eq!(page.find("document.querySelector('#said .call .name').textContent"), "demo.location_query");
    assert_eq!(page.find("document.activeElement.id"), "question", "the next question can be written at once");
    page.find("document.querySelectorAll('#said details').forEach((details) => details.open = true)");
    looks_well(&mut page, "answer");

    // A call is seen with what it changes, and no key runs it by chance.
    asks(&mut page, "Figs for pears.");
    page.until("document.querySelector('.choice')");
    assert_eq!(page.find("document.activeElement.getAttribute('aria-label')"), "Run files.write_file?");
    assert_eq!(
        page.find("[...document.querySelectorAll('.goes, .comes')].map((e) => e.textContent)"),
        json!(["- pears", "+ figs"])
    );
    looks_well(&mut page, "ask");
    page.press("Enter");
    tab_to(&mut page, "button", "Run once");
    page.press("Enter");
    page.until(&format!("{SAID}.includes('figs now')"));
    page.until(IDLE);
    assert_eq!(page.find("document.querySelectorAll('.choice').length"), 0);

    // Esc stops; a window that is loaded again shows what there is.
    asks(&mut page, "Wait for it.");
    page.until(&format!("{SAID}.includes('I wait')"));
    page.load(|page| {
        page.call("Page.reload", json!({}));
    });
    page.until(&format!("{SAID}.includes('I wait')"));
    page.press("Escape");
    page.until(&format!("{SAID}.includes('the turn was cancelled')"));
    page.until(IDLE);

    // Search and switches, by keys.
    page.find("document.querySelector('#search').focus()");
    page.write_text("figs");
    page.until("document.querySelectorAll('#found a').length === 1");
    page.write_text(" nowhere");
    page.until("document.querySelector('#found').textContent === 'No conversation here.'");
    page.find("document.querySelector('#search').value = ''; document.querySelector('#to-tools').focus()");
    page.press("Enter");
    page.until("document.querySelectorAll('#tools input').length > 4");
    assert_eq!(page.find("document.activeElement.type"), "checkbox");
    looks_well(&mut page, "tools");
    page.find("document.activeElement.click()");
    page.until("!document.querySelector('#tools input').checked");
    page.until("document.activeElement.type === 'checkbox'");
    page.press("Escape");
    assert_eq!(
        page.find("[document.querySelector('#tools').hidden, document.activeElement.id]"),
        json!([true, "to-tools"])
    );

    // What came when: its page opens in a window of its own.
    let timeline = page.find("document.querySelector('#timeline').href");
    page.go(timeline.as_str().unwrap());
    page.until("document.querySelector('main')");
    assert_eq!(page.find("document.querySelector('.answer strong').textContent"), "cold", "it is there to be read");
    assert_eq!(page.find("document.querySelector('h1').textContent"), "What is the weather in Oslo?");
    looks_well(&mut page, "timeline");
    page.load(|page| {
        page.find("history.back()");
    });
    page.until(&format!("{SAID}.includes('I wait')"));

    // Another model is chosen, and is the one that is talked to.
    page.until("[...document.querySelector('#model').options].map((o) => o.value).join() === 'm,tiny'");
    page.find("document.querySelector('#model').focus()");
    page.press("ArrowDown");
    page.until("document.querySelector('#model').value === 'tiny' && talksTo === 'tiny'");

    // What a model writes is text.
    page.find("document.querySelector('#new').click()");
    page.until("document.querySelector('#begin')");
    asks(&mut page, EVIL);
    page.until(IDLE);
    page.until("document.querySelector('#said .answer')");
    assert_eq!(page.find("document.querySelectorAll('#said script, #said img, #said iframe').length"), 0);
    assert_eq!(up.endpoint.seen().last().unwrap().body["model"], "tiny");
    assert_eq!(page.complaints(), Vec::<String>::new(), "no rule of the page was broken");
}

/// JavaScript for the questions and answers that are on the page.
const TEXTS: &str = "[...document.querySelectorAll('#said .user > .text, #said .answer p')].map((e) => e.textContent)";

/// Chooses files at the file button of the page.
fn choose(page: &mut Page, files: &[&Path]) {
    let root = page.call("DOM.getDocument", json!({}))["root"]["nodeId"].clone();
    let input = page.call("DOM.querySelector", json!({"nodeId": root, "selector": "#files"}));
    page.call("DOM.setFileInputFiles", json!({"nodeId": input["nodeId"], "files": files}));
}

#[test]
fn a_real_browser_changes_what_was_said_by_keys() {
    let Some(browser) = crate::browser::wanted("a_real_browser_changes_what_was_said_by_keys") else { return };
    let endpoint = Endpoint::answer(|seen, n| match seen.question() {
        asked if asked.contains("Wait") => Reply::events(&[says("I wait ")]).end(End::Stall),
        asked if asked.contains("long") => Reply::text(&"A paragraph.\n\n".repeat(60)),
        asked => Reply::text(&format!("`{n}` {}", asked.lines().next().unwrap_or_default())),
    });
    let up = Up::start(endpoint, &["--set", "images=always"], &[]);
    let notes = up.place.path("notes.txt");
    let mut page = Page::open(&browser);
    page.go(&up.url);
    page.until("document.querySelector('#begin')");
    for question in ["First?", "Second?"] {
        asks(&mut page, question);
        page.until(&format!("{TEXTS}.includes('{question}') && {IDLE}"));
    }
    let texts =
        |page: &mut Page| page.find(TEXTS).as_array().unwrap().iter().map(ToString::to_string).collect::<Vec<_>>();
    let count = |page: &mut Page| texts(page).len();
    let before = texts(&mut page);

    // Another window sees all of it, and stops it.
    let mut other = Page::open(&browser);
    let key = page.find("key");
    let chat = page.find("chat").as_str().unwrap().to_owned();
    let cookies = page.call("Network.getCookies", json!({}))["cookies"].clone();
    let cookies: Vec<_> = cookies
        .as_array()
        .unwrap()
        .iter()
        .map(|one| json!({"name": one["name"], "value": one["value"], "url": up.site()}))
        .collect();
    other.call("Network.setCookies", json!({ "cookies": cookies }));
    other.go(&format!("{}/#{chat}", up.site()));
    other.find(&format!("begin({key})"));
    other.until(&format!("{TEXTS}.includes('Second?')"));

    page.find("document.querySelector('#said').focus()");
    tab_to(&mut page, "button", "Edit");
    page.press("Enter");
    assert_eq!(
        page.find("[document.activeElement.id, document.querySelector('#question').value]"),
        json!(["question", "First?"])
    );
    looks_well(&mut page, "edit");
    page.press("Escape");
    assert_eq!(
        page.find("[document.querySelector('#editing').hidden, document.querySelector('#question').value]"),
        json!([true, ""])
    );
    page.find("document.querySelector('#said').focus()");
    tab_to(&mut page, "button", "Retry");
    page.press("Enter");
    page.until(&format!("{IDLE} && {TEXTS}.length === 4 && {TEXTS}[3] !== {}", before[3]));
    page.find("document.querySelector('#said').focus()");
    tab_to(&mut page, "button", "Edit");
    page.press("Enter");
    page.find("document.querySelector('#question').value = ''");
    page.write_text("Third?");
    page.press("Enter");
    for window in [&mut page, &mut other] {
        window.until(&format!("{IDLE} && {TEXTS}.length === 2 && {TEXTS}[0] === 'Third?'"));
    }

    // An answer is copied as the model wrote it.
    page.find("navigator.clipboard.writeText = (text) => { window.taken = text; return Promise.resolve(); }");
    page.find("document.querySelector('#said').focus()");
    tab_to(&mut page, "button", "Copy");
    page.press("Enter");
    page.until("document.querySelector('#wait').textContent === 'The answer is copied.'");
    assert!(page.find("taken").as_str().unwrap().starts_with('`'), "{}", page.find("taken"));

    // Files and pictures.
    let dot = up.place.path("dot.gif");
    let gif =
        b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\x04\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";
    std::fs::write(&dot, gif).unwrap();
    choose(&mut page, &[&notes, &dot, &notes]);
    page.until("document.querySelectorAll('#attached li').length === 2");
    looks_well(&mut page, "files");
    asks(&mut page, "What is in it?");
    page.until(&format!(
        "{IDLE} && document.querySelector('#said .user .files') && document.querySelector('#said .user img')"
    ));
    assert_eq!(
        page.find(
            "[document.querySelector('#said .files pre').textContent, document.querySelector('#attached').hidden]"
        ),
        json!(["apples\npears\nplums\n", true])
    );
    page.until("document.querySelector('#said .user img').naturalWidth === 1");
    looks_well(&mut page, "question-with-files");
    page.find("document.querySelector('#said').focus()");
    tab_to(&mut page, "button", "Undo");
    page.press("Enter");
    page.until("document.querySelector('#question').value === 'What is in it?'");
    assert_eq!(count(&mut page), 2);
    page.find("document.querySelector('#question').value = ''");

    // Dialogs have the focus, and Esc leaves them.
    page.find("document.querySelector('#said').focus()");
    page.find("document.querySelector('#rename').focus()");
    page.press("Enter");
    page.until("document.querySelector('dialog[open] input') === document.activeElement");
    assert_eq!(page.find("document.activeElement.value"), "Third?");
    looks_well(&mut page, "rename");
    page.press("Escape");
    page.until("!document.querySelector('dialog')");
    assert_eq!(page.find("document.activeElement.id"), "rename");
    page.press("Enter");
    page.until("document.querySelector('dialog[open] input')");
    page.find("document.activeElement.value = ''");
    page.write_text("Small talk");
    page.press("Enter");
    for window in [&mut page, &mut other] {
        window.until("document.querySelector('#found a').firstChild.textContent === 'Small talk'");
    }
    page.find("document.querySelector('#system').focus()");
    page.press("Enter");
    page.until("document.querySelector('dialog[open] textarea') === document.activeElement");
    page.write_text("Be brief.");
    looks_well(&mut page, "system");
    tab_to(&mut page, "button", "Save");
    page.press("Enter");
    other.until("system === 'Be brief.'");
    asks(&mut page, "Is it taught?");
    page.until(&format!("{IDLE} && {TEXTS}.length === 4"));
    assert!(up.endpoint.seen().last().unwrap().messages().contains("Be brief."));

    // The end is followed, whatever is added, unless somebody has scrolled up.
    asks(&mut page, "A long one?");
    page.until(&format!("{IDLE} && {TEXTS}.length === 65"));
    page.until("distance() < 2");
    page.find("document.querySelector('#said').scrollTop = 0");
    page.until("!follows");
    asks(&mut other, "Wait for it.");
    for window in [&mut page, &mut other] {
        window.until(&format!("{SAID}.includes('I wait') && !document.querySelector('#stop').hidden && document.querySelector('#last').hidden"));
    }
    assert_eq!(page.find("document.querySelector('#said').scrollTop"), 0);
    page.find("document.querySelector('#stop').focus()");
    page.press("Enter");
    for window in [&mut page, &mut other] {
        window.until(&format!("{SAID}.includes('the turn was cancelled') && {IDLE}"));
    }

    // Nothing is deleted by chance.
    page.find("document.querySelector('#delete').focus()");
    page.press("Enter");
    page.until("document.querySelector('dialog[open]')");
    assert_eq!(page.find("document.activeElement.textContent"), "Cancel");
    looks_well(&mut page, "delete");
    page.press("Enter");
    page.until("!document.querySelector('dialog')");
    assert_eq!(page.find("document.querySelectorAll('#found a').length"), 1);
    page.press("Enter");
    page.until("document.querySelector('dialog[open]')");
    page.find("document.querySelector('dialog .stop').focus()");
    page.press("Enter");
    for window in [&mut page, &mut other] {
        window.until(&format!("document.querySelector('#begin') && chat !== '{chat}'"));
        assert_eq!(window.complaints(), Vec::<String>::new(), "no rule of the page was broken");
    }
    assert_eq!(up.place.run(&["log", "--json"]).ok().json()["sessions"], json!([]));
}

#[test]
fn a_real_browser_shows_the_page_on_a_phone() {
    let Some(browser) = crate::browser::wanted("a_real_browser_shows_the_page_on_a_phone") else {
        return;
    };
    let place = Place::new();
    place.write("notes.txt", "apples\npears\nplums\n");
    let fields = json!({"name": {"type": "string", "title": "Your name"}, "age": {"type": "integer", "minimum": 0}});
    let tickets = asks_for(&form("Who flies?", &fields, &["name"]));
    place.servers(json!({ "files": writing_server(), "tickets": tickets }));
    let up = Up::start_in(place, endpoint(), &["--allow", "tickets.ask"], &[]);
    let mut page = Page::open(&browser);
    page.look(390, "light");
    page.go(&up.url);
    page.until("document.querySelector('#begin')");
    asks(&mut page, "Figs for pears.");
    page.until("document.querySelector('.choice')");
    assert_eq!(page.find("document.querySelector('.choice .go').textContent"), "Run once");
    looks_well(&mut page, "question");
    page.look(390, "light");
    page.find("document.querySelector('#reason-call_1, .choice input').focus()");
    page.write_text("不要无花果");
    page.press("Enter");
    page.until(&format!("{SAID}.includes('不要无花果') && {SAID}.includes('Then not.')"));
    page.until(IDLE);

    // A server's form: what is wrong is said at it, and Enter sends it.
    asks(&mut page, "Book it.");
    page.until("document.querySelector('form.input')");
    looks_well(&mut page, "form");
    page.look(390, "light");
    page.find("document.querySelectorAll('form.input input')[1].focus()");
    page.write_text("old");
    page.press("Enter");
    page.until("document.querySelector('form.input [role=alert]').textContent.startsWith('Your name:')");
    page.find("document.querySelector('form.input input').focus()");
    page.write_text("Ada");
    page.find("document.querySelectorAll('form.input input')[1].value = '36'");
    page.press("Enter");
    page.until(&format!("{SAID}.includes('So be it.') && !document.querySelector('form.input')"));
    page.until(IDLE);

    // The list of conversations comes over the page, and goes with Esc.
    page.find("document.querySelector('#to-chats').focus()");
    page.press("Enter");
    page.until("document.querySelector('#chats').checkVisibility() && document.activeElement.id === 'search'");
    let at = Path::new(crate::process::ROOT).join("target/screenshots/up-chats-390-light.png");
    page.screenshot(&at);
    page.press("Escape");
    assert_eq!(
        page.find("[document.querySelector('#chats').checkVisibility(), document.activeElement.id]"),
        json!([false, "to-chats"])
    );
    assert_eq!(page.complaints(), Vec::<String>::new(), "no rule of the page was broken");
}

#[test]
fn a_real_browser_comes_in_by_a_file_and_stays_in() {
    let Some(browser) = crate::browser::wanted("a_real_browser_comes_in_by_a_file_and_stays_in") else { return };
    let up = Up::opening_a_browser(endpoint());
    let mut page = Page::open(&browser);
    page.go(&format!("file://{}", up.opened().trim()));
    // The file leads on.
    page.load(|_| {});
    page.until("document.querySelector('#begin')");
    let nothing = "[location.search, document.cookie, Object.keys(localStorage).length + Object.keys(sessionStorage).length, document.body.dataset.key ?? '']";
    assert_eq!(page.find(nothing), json!(["", "", 0, ""]), "nothing of its secrets lies about");
    page.load(|page| {
        page.call("Page.reload", json!({}));
    });
    page.until("document.querySelector('#begin')");
    asks(&mut page, "Wait for it.");
    page.until(&format!("{SAID}.includes('I wait')"));
    page.press("Escape");
    page.until(IDLE);
    assert_eq!(page.complaints(), Vec::<String>::new(), "no rule of the page was broken");
}

/// The head of the next request to a listener, which is answered with an empty page.
fn visited(listener: &TcpListener) -> String {
    let (mut visitor, _) = listener.accept().unwrap();
    let (mut head, mut bytes) = (Vec::new(), [0; 1024]);
    while !head.windows(4).any(|four| four == b"\r\n\r\n") {
        let read = visitor.read(&mut bytes).unwrap();
        head.extend(&bytes[..read]);
    }
    visitor.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").unwrap();
    String::from_utf8(head).unwrap()
}

#[test]
fn a_real_browser_gives_another_port_nothing_that_changes_a_thing() {
    let Some(browser) = crate::browser::wanted("a_real_browser_gives_another_port_nothing_that_changes_a_thing") else {
        return;
    };
    let up = Up::start(endpoint(), &[], &[]);
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", other.local_addr().unwrap());
    let visit = std::thread::spawn(move || visited(&other));
    let mut page = Page::open(&browser);
    page.go(&up.url);
    page.until("document.querySelector('#begin')");
    let chat = page.find("chat");
    page.go(&url);
    let head = visit.join().unwrap();
    let cookie = head.lines().find_map(|line| line.strip_prefix("Cookie: ")).expect("cookies go to every port");
    assert!(cookie.contains("toolgraft_up_") && !head.contains("toolgraft-page"), "{head}");
    let ask = json!({"chat": chat, "text": "What is the weather in Oslo?"});
    let client = toolgraft::http::client().build().unwrap();
    let request = client.post(format!("{}/ask", up.site())).header("cookie", cookie).header("origin", up.site());
    let answer = request.body(ask.to_string()).send();
    let status = tokio::runtime::Runtime::new().unwrap().block_on(answer).unwrap().status();
    assert_eq!(status, 403);
    assert!(up.endpoint.seen().iter().all(|seen| seen.body.get("messages").is_none()), "nothing was asked");
}
