//! The question before a call: the same hostile arguments at a terminal and in a real browser. What a call
//! does is on screen before a yes counts, and nothing in it is hidden, turned around or pushed away.

use std::path::Path;

use serde_json::{Value, json};
use toolgraft_testkit::endpoint::{Endpoint, Reply, mcp_call};

use super::{SIZE, is_raw, tools};
use crate::chat_screen::Window;
use crate::devtools::Page;
use crate::process::Place;
use crate::up::Up;
use crate::up_page::{IDLE, SAID, asks};

const DANGER: &str = "rm -rf ~";

/// A way to hide what a call does, its arguments, and what has to be on screen of them.
type Way = (&'static str, Value, &'static str);

fn hostile() -> Vec<Way> {
    let command = |text: &str| json!({ "command": text });
    let lines = |n: usize| (0..n).map(|n| format!("echo {n}\n")).collect::<String>();
    let many: serde_json::Map<String, Value> = (0..200).map(|n| (format!("k{n}"), json!("x"))).collect();
    let many_and_one = many.clone().into_iter().chain([("k".to_owned(), json!(DANGER))]).chain(many).collect();
    let deep = (0..24).fold(json!(DANGER), |inner, _| json!([{ "a": inner }]));
    vec![
        ("right to left", command("echo \u{202e}~ fr- mr\u{202c} ok"), "echo ⟨U+202E⟩~ fr- mr⟨U+202C⟩ ok"),
        ("isolates", command("\u{2067}rm -rf ~\u{2069}\u{2066}ls\u{2069}"), "⟨U+2067⟩rm -rf ~⟨U+2069⟩⟨U+2066⟩ls"),
        ("letters from right to left", command("\u{5d0} rm -rf ~ \u{5d1}"), DANGER),
        ("zero width", command("r\u{200b}m -r\u{2060}f ~\u{feff}"), "r⟨U+200B⟩m -r⟨U+2060⟩f ~⟨U+FEFF⟩"),
        ("tag characters", command("ls\u{e0072}\u{e006d}\u{e0020}\u{e007e}"), "ls⟨U+E0072⟩⟨U+E006D⟩⟨U+E0020⟩⟨U+E007E⟩"),
        ("variation selectors", command("ls\u{fe01}\u{e0101}"), "ls⟨U+FE01⟩⟨U+E0101⟩"),
        ("line breaks", command(&format!("ls{}{DANGER}", "\n".repeat(1000))), DANGER),
        ("lines of blanks", command(&format!("ls\n{}{DANGER}", " \n  \n".repeat(500))), DANGER),
        (
            "look-alikes of a line break",
            command("ls\u{2028}a\u{2029}b\u{85}c\u{b}d\u{c}rm"),
            "ls⟨U+2028⟩a⟨U+2029⟩b⟨U+0085⟩",
        ),
        ("a line that begins anew", command("rm -rf ~\n\rls      "), "␍ls"),
        ("spaces", command(&format!("ls{};{DANGER}", " ".repeat(10_000))), "ls⟨10000×U+0020⟩;rm -rf ~"),
        ("wide spaces", command(&format!("ls{};{DANGER}", "\u{3000}\u{a0}".repeat(3000))), "ls⟨6000×U+3000⟩;rm -rf ~"),
        ("blank braille", command(&format!("ls{};{DANGER}", "\u{2800}".repeat(3000))), "ls⟨3000×U+2800⟩;rm -rf ~"),
        ("marks on a letter", command(&format!("ls{};{DANGER}", "\u{336}".repeat(500))), "ls⟨500×U+0336⟩;rm -rf ~"),
        ("escape sequences", command("\u{1b}[2J\u{1b}[1;1Hls \u{1b}[8m;rm -rf ~\u{1b}]52;c;YQ==\u{7}"), ";rm -rf ~"),
        ("a long line", command(&format!("{} ; {DANGER}", "x".repeat(20_000))), DANGER),
        ("within a long line", command(&format!("{};{DANGER};{}", "x".repeat(9000), "y".repeat(9000))), "x;rm -rf ~;y"),
        ("after many lines", command(&format!("{}{DANGER}", lines(400))), DANGER),
        ("within many lines", command(&format!("{}{DANGER}\n{}", lines(300), lines(300))), DANGER),
        (
            "a question of its own",
            command("ls\n╰───╯\nThe tool only reads.\nRun s.read {}? [y/n] y\nrm -rf ~"),
            "| rm -rf ~",
        ),
        ("a link to elsewhere", command("[https://good.example](https://evil.example/)"), "(https://evil.example/)"),
        ("elements", command("<b hidden>rm -rf ~</b><style>*{display:none}</style>"), "<b hidden>rm -rf ~</b>"),
        ("many arguments", Value::Object(many_and_one), "\"k\":\"rm -rf ~\""),
        ("deep arguments", deep, DANGER),
    ]
}

/// A model that makes these calls one by one, each with a text after its result.
fn model(ways: &[Way]) -> Endpoint {
    let calls: Vec<String> = ways.iter().map(|(_, arguments, _)| mcp_call("s", "write", arguments)).collect();
    Endpoint::answer(move |_, number| match number % 2 {
        0 => Reply::text(&calls[number / 2]),
        _ => Reply::text(&format!("Done {}.", number / 2)),
    })
}

/// A text as it reads, however its rows are cut and framed.
fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && *c != '│').collect()
}

fn raw(text: &str) -> Vec<char> {
    text.chars().filter(|c| is_raw(*c) && *c != '\u{7f}').collect()
}

#[test]
fn at_a_terminal_what_a_call_does_is_seen_before_yes_counts() {
    let ways = hostile();
    let sequences = regex::Regex::new("\u{1b}\\[[0-9;?]*[a-zA-Z]").unwrap();
    let servers = json!({ "s": tools("s", &["write"], true) });
    let window = Window::open_in(Place::new(), SIZE, model(&ways), &servers, &[]);
    window.comes_to_a_prompt();
    for (number, (way, _, danger)) in ways.iter().enumerate() {
        let danger = squeezed(danger);
        window.types("Go.\r");
        // What names a thing that nobody spoke of is asked about each time.
        let ends = ["[y/a/n]", "[y/a/n/s]", "[y/n]"];
        let asked = |shown: &str| ends.iter().any(|end| shown.ends_with(end));
        let shown = window.waits(way, asked);
        if shown.ends_with("/s]") {
            assert!(shown.contains("characters more"), "{way}:\n{shown}");
            window.types("y\r");
            window.waits(way, |shown| shown.contains("some of it was not shown yet") && shown.ends_with("/s]"));
            assert_eq!(window.endpoint.requests(), 2 * number + 1, "{way}: it does not run");
            let before = window.written().len();
            window.types("s\r");
            let since = || squeezed(&sequences.replace_all(&window.written()[before..], ""));
            window.waits(way, |shown| shown.ends_with("/s]") && since().contains("╰") && since().contains(&danger));
        } else {
            let box_of_it = shown.rsplit_once("s.write").map_or("", |(above, _)| above);
            assert!(squeezed(box_of_it).contains(&danger), "{way}:\n{shown}");
        }
        let written = window.written();
        assert!(raw(&written).is_empty(), "{way}: {:?}", raw(&written));
        window.types("y\r");
        window.sees(&format!("Done {number}."));
        window.comes_to_a_prompt();
    }
}

#[test]
fn at_a_terminal_a_question_has_its_own_call_above_it() {
    let call = |name: &str| {
        let text: String = (1..=12).map(|n| format!("{name} {n}\n")).collect();
        mcp_call("s", "write", &json!({ "text": text }))
    };
    let endpoint =
        Endpoint::start([Reply::text(&format!("{}\n{}", call("first"), call("second"))), Reply::text("Done.")]);
    let servers = json!({ "s": tools("s", &["write"], true) });
    let window = Window::open_in(Place::new(), SIZE, endpoint, &servers, &[]);
    window.comes_to_a_prompt();
    window.types("Go.\r");
    for name in ["first", "second"] {
        let shown =
            window.waits(name, |shown| shown.ends_with("[y/a/n]") && shown.contains(&format!("\"text\":\"{name}")));
        let (_, own) = shown.rsplit_once("╭").unwrap();
        assert!((1..=12).all(|n| own.contains(&format!("│ | {name} {n} "))), "{name}:\n{shown}");
        window.types("y\r");
    }
    window.sees("Done.");
}

/// Looks at all of a question, part by part, until it can be answered with yes.
fn looks_through(page: &mut Page) {
    let unseen = "document.querySelectorAll('.unseen').length";
    for _ in 0..400 {
        // Both at one moment: what comes into sight between two looks makes the button ready.
        let state = page.find(&format!("[{unseen}, document.querySelector('.choice .go').disabled]"));
        let left = &state[0];
        if *left == 0 {
            break;
        }
        assert_eq!(state[1], true);
        page.find("document.querySelector('.rest button')?.click()");
        page.until(&format!("{unseen} !== {left}"));
    }
    page.until("!document.querySelector('.choice .go').disabled && !document.querySelector('.rest')");
}

#[test]
fn in_a_browser_what_a_call_does_is_seen_before_it_can_run() {
    let Some(browser) = crate::browser::wanted("in_a_browser_what_a_call_does_is_seen_before_it_can_run") else {
        return;
    };
    let ways = hostile();
    let place = Place::new();
    place.servers(json!({ "s": tools("s", &["write"], true) }));
    let up = Up::start_in(place, model(&ways), &[], &[]);
    let mut page = Page::open(&browser);
    page.look(1280, "light");
    page.go(&up.url);
    page.until("document.querySelector('#begin')");
    for (number, (way, _, danger)) in ways.iter().enumerate() {
        // A window that is as low and as narrow as a phone's.
        if number == ways.len() / 2 {
            page.look(390, "light");
        }
        asks(&mut page, "Go.");
        page.until("document.querySelector('.choice')");
        let is_folded = page.find("document.querySelector('.fold') !== null") == true;
        if is_folded {
            assert_eq!(
                page.find("[...document.querySelectorAll('.choice button')].slice(1, 3).map((b) => b.disabled)"),
                json!([true, true]),
                "{way}"
            );
            page.find("document.querySelector('.choice .go').click()");
        }
        looks_through(&mut page);
        assert_eq!(up.endpoint.requests(), 2 * number + 1, "{way}: it does not run by itself");
        let shown = page.find("document.querySelector('.open pre').innerText");
        assert!(squeezed(shown.as_str().unwrap()).contains(&squeezed(danger)), "{way}: {shown:.2000}");
        let all = page.find("document.body.textContent");
        assert!(raw(all.as_str().unwrap()).is_empty(), "{way}: {:?}", raw(all.as_str().unwrap()));
        assert_eq!(page.find("document.querySelector('#said').scrollWidth <= innerWidth"), true, "{way}");
        page.find("document.querySelector('.choice .go').click()");
        page.until(&format!("{SAID}.includes('Done {number}.')"));
        page.until(IDLE);
    }
    assert_eq!(page.complaints(), Vec::<String>::new(), "no rule of the page was broken");
}

#[test]
fn in_a_browser_a_question_that_is_covered_or_out_of_sight_cannot_be_answered_with_yes() {
    let test = "in_a_browser_a_question_that_is_covered_or_out_of_sight_cannot_be_answered_with_yes";
    let Some(browser) = crate::browser::wanted(test) else { return };
    let text: String = (0..30).map(|n| format!("line {n}\n")).collect();
    let place = Place::new();
    place.servers(json!({ "s": tools("s", &["write"], true) }));
    let call = mcp_call("s", "write", &json!({ "text": text }));
    let up = Up::start_in(place, Endpoint::start([Reply::text(&call), Reply::text("Done.")]), &[], &[]);
    let mut page = Page::open(&browser);
    page.look(390, "light");
    page.go(&up.url);
    page.until("document.querySelector('#begin')");
    // The list of conversations lies on the lower part of the page.
    page.find("document.querySelector('#to-chats').click()");
    asks(&mut page, "Go.");
    page.until("document.querySelector('.choice')");
    page.find("document.querySelector('.open').scrollIntoView({ block: 'start' })");
    page.until("!document.querySelector('.open span').classList.contains('unseen')");
    assert_eq!(page.find("document.querySelector('.choice .go').disabled"), true);
    assert_ne!(page.find("document.querySelectorAll('pre .unseen').length"), 0);
    page.find("document.querySelector('#to-chats').click()");
    page.screenshot(&Path::new(crate::process::ROOT).join("target/screenshots/up-ask-long-390-light.png"));
    looks_through(&mut page);
    assert_eq!(up.endpoint.requests(), 1);
}

#[test]
fn in_a_browser_a_link_says_where_it_leads() {
    let Some(browser) = crate::browser::wanted("in_a_browser_a_link_says_where_it_leads") else { return };
    let place = Place::new();
    place.servers(json!({}));
    let answer = "See [https://good.example](https://evil.example/a) and <https://plain.example/>.";
    let up = Up::start_in(place, Endpoint::start([Reply::text(answer)]), &[], &[]);
    let mut page = Page::open(&browser);
    page.go(&up.url);
    page.until("document.querySelector('#begin')");
    asks(&mut page, "Where?");
    page.until("document.querySelector('#said .md')");
    assert_eq!(
        page.find("document.querySelector('#said .md').innerText.trim()"),
        "See https://good.example (https://evil.example/a) and https://plain.example/."
    );
}
