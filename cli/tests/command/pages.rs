//! The pages of `replay` in a real browser: wide and on a phone, light and
//! dark. `inspect_page` looks at those of `serve --inspect`.

use std::path::Path;

use serde_json::json;

use crate::devtools::Page;
use crate::inspect_page::CONTRAST;
use crate::process::{Place, ROOT};

#[test]
fn a_real_browser_shows_every_page_on_a_phone_and_in_the_dark() {
    let Some(browser) = crate::browser::wanted("a_real_browser_shows_every_page_on_a_phone_and_in_the_dark") else {
        return;
    };
    let place = Place::new();
    let mut pages = Vec::new();
    for lang in ["en", "zh"] {
        let demo = format!("demo-{lang}.html");
        let recording = format!("demo-{lang}.jsonl");
        place.run(&["demo", "--lang", lang, "--record", &recording]).ok();
        place.run(&["replay", "--html", &demo, &recording]).ok();
        pages.push(demo);
    }
    let recordings = ["weather.recording.jsonl", "context-overflow.recording.jsonl", "api_conversation_history.json"]
        .map(|name| format!("{ROOT}/fixtures/streams/{name}"));
    let recordings: Vec<&str> = recordings.iter().map(String::as_str).collect();
    place.run(&[&["replay", "--explain", "--html=replay.html"], &recordings[..]].concat());
    pages.push("replay.html".to_owned());
    let shots = Path::new(ROOT).join("target/screenshots");
    let mut page = Page::open(&browser);
    for name in pages {
        let file = place.path(&name);
        assert!(file.exists(), "{name} was not written");
        for scheme in ["light", "dark"] {
            for width in [1280, 390] {
                page.look(width, scheme);
                page.go(&format!("file://{}", file.display()));
                let at = format!("{name} {width} {scheme}");
                for open in [false, true] {
                    if open {
                        page.find("document.querySelectorAll('details').forEach((details) => details.open = true)");
                    }
                    let wide = page.find("[document.documentElement.scrollWidth, innerWidth]");
                    assert!(wide[0].as_u64() <= Some(width.into()), "{at}, {open}: scrolls sideways: {wide}");
                    let cut =
                        "[...document.querySelectorAll('.wide')].filter((e) => e.scrollWidth > e.clientWidth).length";
                    assert_eq!(page.find(cut), 0, "{at}: a table is cut");
                    let worst = page.find(CONTRAST);
                    assert!(worst[0].as_f64() >= Some(4.5), "{at}, {open}: {worst}");
                }
                assert_eq!(page.violations(), json!([]), "{at}");
                let foreign = "[document.scripts.length, document.images.length]";
                assert_eq!(page.find(foreign), json!([0, 0]), "{at}");
                let stem = name.trim_end_matches(".html");
                page.screenshot(&shots.join(format!("{stem}-{width}-{scheme}.png")));
            }
        }
    }
}
