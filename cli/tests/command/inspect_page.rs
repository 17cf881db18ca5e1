//! The pages of `serve --inspect` in a real browser: wide and on a phone, light and dark, and
//! with the keyboard alone.

use std::path::Path;

use serde_json::json;

use crate::devtools::Page;
use crate::inspect::Looking;

/// The smallest contrast of a text with its background, and that text.
pub(crate) const CONTRAST: &str = r"(() => {
    const numbers = (color) => color.match(/[\d.]+/g).map(Number);
    const light = (color) => {
        const [r, g, b] = numbers(color).map((v) => v / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const after = (element) => {
        for (; element; element = element.parentElement) {
            const color = getComputedStyle(element).backgroundColor;
            if (numbers(color)[3] !== 0) return color;
        }
    };
    let worst = [21, ''];
    for (const element of document.querySelectorAll('body *')) {
        if (![...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()) || !element.checkVisibility()) continue;
        const [a, b] = [light(getComputedStyle(element).color), light(after(element))];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < worst[0]) worst = [ratio, element.outerHTML.slice(0, 120)];
    }
    return worst;
})()";

/// Wide and on a phone, light and dark: nothing scrolls sideways, all can be read. Keeps pictures
/// under this name.
pub(crate) fn looks_well(page: &mut Page, name: &str) {
    for scheme in ["light", "dark"] {
        for width in [1280, 390] {
            page.look(width, scheme);
            let at = format!("{name}-{width}-{scheme}");
            let wide = page.find("document.documentElement.scrollWidth");
            assert!(wide.as_u64() <= Some(width.into()), "{at} scrolls sideways: {wide}");
            let worst = page.find(CONTRAST);
            assert!(worst[0].as_f64() >= Some(4.5), "{at}: {worst}");
            assert_eq!(page.violations(), json!([]), "{at}");
            page.screenshot(&Path::new(crate::process::ROOT).join(format!("target/screenshots/{at}.png")));
        }
    }
    page.look(1280, "light");
}

/// JavaScript for the focused element, and whether its focus is visible.
const FOCUS: &str = "(() => { const e = document.activeElement, s = getComputedStyle(e); \
    return [e.localName, e.textContent.trim().slice(0, 40), s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) > 0] })()";

/// Presses Tab until this has the focus.
pub(crate) fn tab_to(page: &mut Page, name: &str, text: &str) {
    let mut seen = Vec::new();
    for _ in 0..40 {
        page.press("Tab");
        let focus = page.find(FOCUS);
        assert_eq!(focus[2], true, "the focus is not seen: {focus}");
        if focus[0] == name && focus[1].as_str().unwrap().starts_with(text) {
            return;
        }
        seen.push(focus);
    }
    panic!("{name} {text:?} is not reached: {seen:?}");
}

#[test]
fn a_real_browser_shows_the_requests_and_takes_keys() {
    let Some(browser) = crate::browser::wanted("a_real_browser_shows_the_requests_and_takes_keys") else { return };
    let looking = Looking::start();
    tokio::runtime::Runtime::new().unwrap().block_on(looking.ask_all());
    let site = looking.url.split("/inspect").next().unwrap().to_owned();
    let mut page = Page::open(&browser);
    page.go(&looking.url);
    assert_eq!(page.find("location.pathname + location.search"), "/inspect", "the token is gone from the address");

    let shots = Path::new(crate::process::ROOT).join("target/screenshots");
    for scheme in ["light", "dark"] {
        for width in [1280, 390] {
            page.look(width, scheme);
            for (path, name) in [("/inspect", "list"), ("/inspect/1", "request"), ("/inspect/3", "evil")] {
                page.go(&format!("{site}{path}"));
                page.find("document.querySelectorAll('details').forEach((details) => details.open = true)");
                let at = format!("{path} {width} {scheme}");
                let wide = page.find("[document.documentElement.scrollWidth, innerWidth]");
                assert!(wide[0].as_u64() <= Some(width.into()), "{at} scrolls sideways: {wide}");
                let worst = page.find(CONTRAST);
                assert!(worst[0].as_f64() >= Some(4.5), "{at}: {worst}");
                assert_eq!(page.violations(), json!([]), "{at}");
                let back = page.find("getComputedStyle(document.body).backgroundColor");
                assert_eq!(back == "rgb(246, 247, 249)", scheme == "light", "{at}: {back}");
                let foreign = "[document.scripts.length, document.images.length, document.querySelector('svg')]";
                assert_eq!(page.find(foreign), json!([0, 0, null]), "{at}");
                page.screenshot(&shots.join(format!("inspect-{name}-{width}-{scheme}.png")));
            }
        }
    }

    // On the phone, by keys alone: search, open, unfold, back.
    page.go(&format!("{site}/inspect"));
    tab_to(&mut page, "input", "");
    page.write_text("in oslo");
    page.load(|page| page.press("Enter"));
    assert_eq!(
        page.find("[...document.querySelectorAll('tbody a')].map((a) => a.textContent)"),
        json!(["Weather in Oslo?"])
    );
    assert_eq!(page.find("document.querySelector('#q').value"), "in oslo");
    tab_to(&mut page, "button", "Search");
    tab_to(&mut page, "a", "Weather in Oslo?");
    page.load(|page| page.press("Enter"));
    assert_eq!(page.find("document.querySelector('h1').textContent"), "Weather in Oslo?");
    tab_to(&mut page, "a", "Download the recording");
    tab_to(&mut page, "summary", "System prompt");
    page.press("Enter");
    assert_eq!(page.find("document.activeElement.parentElement.open"), true);
    page.go(&format!("{site}/inspect/1"));
    tab_to(&mut page, "a", "All requests");
    page.load(|page| page.press("Enter"));
    assert_eq!(page.find("document.querySelectorAll('tbody tr').length"), 3);
    assert_eq!(page.complaints(), Vec::<String>::new(), "no rule of a page was broken");
}
