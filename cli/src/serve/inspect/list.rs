//! The list of requests as a page, and what is above the page of one.

use std::time::UNIX_EPOCH;

use serde_json::{Value, json};

use super::search::Query;
use crate::pages;
use crate::screen::boxes::clean;
use crate::sessions::age;
use crate::terminal::{counted, grouped, lasted};
use toolgraft_serve::{Inspected, PromptCost, Taught};

const TEMPLATE: &str = include_str!("../../../pages/inspect.html");

/// Seconds after which the browser reloads a live page.
const REFRESH: u32 = 2;

/// Renders the page that lists the requests `found` by the query, among the number of stored ones.
pub(super) fn page(query: &Query, kept: usize, found: &[Inspected]) -> std::io::Result<String> {
    let count = match query.typed.is_empty() {
        true => counted(kept, "request"),
        false => format!("{} of {}", found.len(), counted(kept, "request")),
    };
    let asked = form_urlencoded::Serializer::new(String::new()).append_pair("q", &query.typed).finish();
    let live = live_link(&format!("/inspect?{asked}"), query.is_live);
    pages::file::render(
        TEMPLATE,
        json!({
            "title": "Requests",
            "query": query.typed,
            "is_live": query.is_live,
            "refresh": query.is_live.then_some(REFRESH),
            "count": count,
            "live": live,
            "taught": all_taught(found),
            "rows": found.iter().map(row).collect::<Vec<_>>(),
        }),
    )
}

/// Returns the address and text of the link that turns the automatic reload of a page on or off.
fn live_link(here: &str, is_live: bool) -> (String, &'static str) {
    let sign = if here.contains('?') { '&' } else { '?' };
    match is_live {
        true => (here.to_owned(), "Stop loading it again"),
        false => (format!("{here}{sign}live=1"), "Reload by itself"),
    }
}

fn row(about: &Inspected) -> Value {
    let secs = about.began.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    json!({
        "href": format!("/inspect/{}", about.id),
        "title": if about.title.is_empty() { format!("request {}", about.id) } else { about.title.clone() },
        "model": if about.model.is_empty() { "-" } else { &about.model },
        "interface": about.interface,
        "age": age(about.began),
        "when": httpdate::fmt_http_date(UNIX_EPOCH + std::time::Duration::from_secs(secs)),
        "status": status(about),
        "is_bad": is_bad(about),
        "rounds": about.rounds,
        "calls": about.calls,
        "rejections": about.rejections,
        "took": took(about),
    })
}

/// Builds the header of a request's page: links, and facts that no recording contains.
pub(super) fn about(about: &Inspected, is_live: bool) -> Value {
    let goes_on = about.took.is_none();
    let here = format!("/inspect/{}", about.id);
    let recording = (format!("{here}/recording"), "Download the recording");
    let mut links = vec![("/inspect".to_owned(), "All requests"), recording];
    links.extend(goes_on.then(|| live_link(&here, is_live)));
    let cut = about.is_cut.then_some("The recording is larger than the limit for all requests: its end is missing.");
    json!({
        "links": links,
        "facts": [
            ["Status", status(about)],
            ["Interface", about.interface],
            ["Came", httpdate::fmt_http_date(about.began)],
            ["Took", took(about)],
            ["Prompts", prompts(about.prompt)],
            ["Learned about the endpoint", taught(&about.taught)],
        ],
        "fault": about.fault.as_deref().or(cut),
        "refresh": (goes_on && is_live).then_some(REFRESH),
    })
}

/// Lists what is known of the endpoint with each model (version, refused fields, failing native calls), as of the
/// model's last completed request.
fn all_taught(found: &[Inspected]) -> Vec<Value> {
    let mut models: Vec<&str> = Vec::new();
    let over = found.iter().filter(|about| about.took.is_some() && !about.model.is_empty());
    let latest = over.filter(|about| {
        let is_new = !models.contains(&about.model.as_str());
        models.push(&about.model);
        is_new
    });
    latest.map(|about| json!({"model": about.model, "value": taught(&about.taught)})).collect()
}

fn taught(taught: &Taught) -> String {
    let version = taught.version.as_deref().map(|version| format!("version {}", clean(version)));
    let without = (!taught.without.is_empty()).then(|| format!("requests go without {}", taught.without.join(", ")));
    let native = taught.native.map(|fault| format!("tools by prompt, since native calls fail ({fault})"));
    let parts: Vec<String> = [version, without, native].into_iter().flatten().collect();
    if parts.is_empty() { "no refusals".to_owned() } else { parts.join(" · ") }
}

/// Returns the number of prompt tokens, the percentage that earlier requests contained, and the number that the
/// endpoint had cached; `…` before the first prompt.
fn prompts(prompt: PromptCost) -> String {
    if prompt.bytes == 0 {
        return "…".to_owned();
    }
    let mut parts = vec![
        format!("{} tokens", grouped(prompt.tokens)),
        format!("{} % as in an earlier request", prompt.repeated_percent()),
    ];
    parts.extend(prompt.cached_tokens.map(|tokens| format!("{} cached", grouped(tokens))));
    parts.join(" · ")
}

fn status(about: &Inspected) -> String {
    // An answer that streams has sent its status before it fails.
    match (about.status, &about.fault, about.took) {
        (Some(200), Some(_), _) => "200, then failed".to_owned(),
        (Some(status), ..) => status.to_string(),
        (None, _, None) => "…".to_owned(),
        (None, _, Some(_)) => "the client disconnected".to_owned(),
    }
}

fn is_bad(about: &Inspected) -> bool {
    about.fault.is_some() || about.status.is_some_and(|status| status >= 400)
}

fn took(about: &Inspected) -> String {
    about.took.map_or_else(|| "goes on".to_owned(), lasted)
}
