//! The list of requests as a page, and what stands above the page of one.

use std::time::UNIX_EPOCH;

use serde_json::{Value, json};

use super::search::Query;
use crate::pages;
use crate::phrases::Phrases;
use crate::screen::boxes::clean;
use crate::sessions::age;
use crate::terminal::{grouped, lasted};
use toolgraft_serve::{Inspected, PromptCost, Taught};

const TEMPLATE: &str = include_str!("../../../pages/inspect.html");

/// Seconds after which a live page is loaded again.
const REFRESH: u32 = 2;

/// The page of these requests, of so many that are kept.
pub(super) fn page(query: &Query, kept: usize, found: &[Inspected], say: Phrases) -> std::io::Result<String> {
    let count = match query.typed.is_empty() {
        true => say.requests(kept),
        false => say.some_of(found.len(), say.requests(kept)),
    };
    let asked = form_urlencoded::Serializer::new(String::new()).append_pair("q", &query.typed).finish();
    let live = match query.is_live {
        true => json!({"href": format!("/inspect?{asked}"), "words": say.stop_loading()}),
        false => json!({"href": format!("/inspect?{asked}&live=1"), "words": say.load_again()}),
    };
    pages::file::render(
        TEMPLATE,
        say,
        say.inspect_page(),
        json!({
            "title": say.requests_title(),
            "query": query.typed,
            "is_live": query.is_live,
            "refresh": query.is_live.then_some(REFRESH),
            "count": count,
            "live": live,
            "taught": all_taught(found, say),
            "rows": found.iter().map(|about| row(about, say)).collect::<Vec<_>>(),
        }),
    )
}

fn row(about: &Inspected, say: Phrases) -> Value {
    let secs = about.began.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    json!({
        "href": format!("/inspect/{}", about.id),
        "title": if about.title.is_empty() { say.request_number(about.id) } else { about.title.clone() },
        "model": if about.model.is_empty() { "-" } else { &about.model },
        "interface": about.interface,
        "age": age(about.began, say),
        "when": httpdate::fmt_http_date(UNIX_EPOCH + std::time::Duration::from_secs(secs)),
        "status": status(about, say),
        "is_bad": is_bad(about),
        "rounds": about.rounds,
        "calls": about.calls,
        "rejections": about.rejections,
        "took": took(about, say),
    })
}

/// What stands above the page of a request: ways on, and what no recording says.
pub(super) fn about(about: &Inspected, is_live: bool, say: Phrases) -> Value {
    let goes_on = about.took.is_none();
    let here = format!("/inspect/{}", about.id);
    let mut links = vec![
        json!({"href": "/inspect", "words": say.all_requests()}),
        json!({"href": format!("{here}/recording"), "words": say.download_recording()}),
    ];
    match (goes_on, is_live) {
        (true, true) => links.push(json!({"href": here, "words": say.stop_loading()})),
        (true, false) => links.push(json!({"href": format!("{here}?live=1"), "words": say.load_again()})),
        (false, _) => {}
    }
    let cut = about.is_cut.then_some(say.recording_too_large());
    json!({
        "links": links,
        "facts": [
            {"label": say.column_status(), "value": status(about, say)},
            {"label": say.column_interface(), "value": about.interface},
            {"label": say.column_came(), "value": httpdate::fmt_http_date(about.began)},
            {"label": say.column_took(), "value": took(about, say)},
            {"label": say.prompts(), "value": prompts(about.prompt, say)},
            {"label": say.taught(), "value": taught(&about.taught, say)},
        ],
        "fault": about.fault.as_deref().or(cut),
        "refresh": (goes_on && is_live).then_some(REFRESH),
    })
}

/// What the endpoint has taught of each model that was asked, as its last request says.
fn all_taught(found: &[Inspected], say: Phrases) -> Vec<Value> {
    let mut models: Vec<&str> = Vec::new();
    let over = found.iter().filter(|about| about.took.is_some() && !about.model.is_empty());
    let latest = over.filter(|about| {
        let is_new = !models.contains(&about.model.as_str());
        models.push(&about.model);
        is_new
    });
    latest.map(|about| json!({"model": about.model, "value": taught(&about.taught, say)})).collect()
}

fn taught(taught: &Taught, say: Phrases) -> String {
    let version = taught.version.as_deref().map(|version| say.server_version(clean(version)));
    let without = (!taught.without.is_empty()).then(|| say.doctor_without(taught.without.join(", ")));
    let native = taught.native.map(|fault| say.by_prompt_since(fault));
    let parts: Vec<String> = [version, without, native].into_iter().flatten().collect();
    if parts.is_empty() { say.nothing_taught().to_owned() } else { parts.join(" · ") }
}

/// Tokens of the prompts, how much of them was said before, and what the endpoint had cached.
fn prompts(prompt: PromptCost, say: Phrases) -> String {
    if prompt.bytes == 0 {
        return "…".to_owned();
    }
    let mut parts = vec![say.so_many_tokens(grouped(prompt.tokens)), say.said_before(prompt.repeated_percent())];
    parts.extend(prompt.cached_tokens.map(|tokens| say.tokens_cached(grouped(tokens))));
    parts.join(" · ")
}

fn status(about: &Inspected, say: Phrases) -> String {
    match (about.status, &about.fault, about.took) {
        (Some(200), Some(_), _) => say.failed_behind().to_owned(),
        (Some(status), ..) => status.to_string(),
        (None, _, None) => "…".to_owned(),
        (None, _, Some(_)) => say.client_went().to_owned(),
    }
}

fn is_bad(about: &Inspected) -> bool {
    about.fault.is_some() || about.status.is_some_and(|status| status >= 400)
}

fn took(about: &Inspected, say: Phrases) -> String {
    about.took.map_or_else(|| say.goes_on().to_owned(), lasted)
}
