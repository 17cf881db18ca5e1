//! `toolgraft serve --inspect` over HTTP: who may look, what is found, what can be taken along.

use std::io::{BufRead, BufReader, Lines};
use std::process::ChildStderr;

use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Response};
use serde_json::{Value, json};
use toolgraft_testkit::endpoint::{End, Endpoint, Reply, mcp_call, says, stops};

use crate::process::Place;
use crate::replay_page::{EVIL, text_of};
use crate::serve::{Serving, request};

/// A server that keeps its requests, and who looks at them.
pub(crate) struct Looking {
    _endpoint: Endpoint,
    pub(crate) serving: Serving,
    pub(crate) place: Place,
    errors: Lines<BufReader<ChildStderr>>,
    client: Client,
    /// The URL that was printed last.
    pub(crate) url: String,
    cookie: String,
}

/// A call of the client's tool, and one that cannot be read.
fn note(text: &str) -> String {
    mcp_call("", "note", &json!({"text": text})).replace("<server_name></server_name>\n", "")
}

/// A model that needs a correction for Oslo, answers about fjords, and writes what harms pages.
fn endpoint() -> Endpoint {
    Endpoint::answer(|seen, _| match seen.messages() {
        all if all.contains("<script>") => Reply::text(&format!("{EVIL}\n{}", note(EVIL))),
        all if all.contains("fjord") => Reply::events(&[says("The fj"), says("ord is cold."), stops("stop")]).done(),
        _ if seen.body["messages"].as_array().unwrap().len() > 2 => Reply::text(&note("cold")),
        _ => Reply::text(&note("x").replace("\"x\"", "")),
    })
}

impl Looking {
    pub(crate) fn start() -> Self {
        Looking::before(endpoint())
    }

    /// With further arguments of the command.
    pub(crate) fn start_with(arguments: &[&str]) -> Self {
        Looking::with(endpoint(), arguments)
    }

    fn before(endpoint: Endpoint) -> Self {
        Looking::with(endpoint, &[])
    }

    fn with(endpoint: Endpoint, arguments: &[&str]) -> Self {
        let place = Place::new();
        let mut serving = Serving::start(&place, &endpoint, &[&["--inspect"], arguments].concat(), &[]);
        let errors = BufReader::new(serving.child.stderr.take().unwrap()).lines();
        let client = toolgraft::http::client().redirect(Policy::none()).build().unwrap();
        let mut looking =
            Looking { _endpoint: endpoint, serving, place, errors, client, url: String::new(), cookie: String::new() };
        looking.url = looking.printed();
        looking
    }

    /// The URL in the next line that has one.
    fn printed(&mut self) -> String {
        let line = self.errors.by_ref().map_while(Result::ok).find(|line| line.contains("?token=")).unwrap();
        line[line.find("http://").unwrap()..].trim().to_owned()
    }

    /// Comes in with the URL that was printed.
    pub(crate) async fn enter(&mut self) -> Response {
        let response = self.client.get(&self.url).send().await.unwrap();
        let cookie = response.headers()["set-cookie"].to_str().unwrap();
        assert!(cookie.contains("; Path=/inspect; HttpOnly; SameSite=Lax"), "{cookie}");
        self.cookie = cookie.split(';').next().unwrap().to_owned();
        self.url = self.printed();
        response
    }

    fn at(&self, path: &str) -> String {
        format!("{}{path}", self.url.split("/inspect").next().unwrap())
    }

    async fn get(&self, path: &str) -> (u16, String) {
        let response = self.client.get(self.at(path)).header("cookie", &self.cookie).send().await.unwrap();
        let status = response.status().as_u16();
        (status, response.text().await.unwrap())
    }

    pub(crate) async fn page(&self, path: &str) -> String {
        let (status, page) = self.get(path).await;
        assert_eq!(status, 200, "{path}: {page}");
        page
    }

    /// Asks the three questions that the endpoint has answers for.
    pub(crate) async fn ask_all(&self) {
        let mut about_fjords = request("m");
        about_fjords["messages"][0]["content"] = "How cold is a fjord?".into();
        let mut evil = request("m");
        evil["messages"][0]["content"] = format!("{EVIL} sk-in-text-1234").into();
        evil["tools"][0]["function"]["description"] = EVIL.into();
        for body in [request("m"), about_fjords, evil] {
            let (status, whole) = self.serving.chat(&body, Some("sk-in-text-1234")).await;
            assert_eq!(status, 200, "{whole:#}");
        }
    }
}

#[tokio::test]
async fn each_printed_url_lets_one_browser_in_once() {
    let mut looking = Looking::start();
    for path in ["/inspect", "/inspect/1", "/inspect?token=", "/inspect?token=0123456789abcdef0123456789abcdef", "/"] {
        assert_eq!(looking.get(path).await.0, 401, "{path}");
    }
    let first = looking.url.clone();
    let response = looking.enter().await;
    assert_eq!(
        (response.status().as_u16(), &response.headers()["location"]),
        (303, &"/inspect".parse::<HeaderValue>().unwrap())
    );
    assert_eq!(looking.client.get(&first).send().await.unwrap().status(), 401, "it opens nothing any more");
    assert_ne!(looking.url, first);
    assert!(text_of(&looking.page("/inspect").await).contains("No request came so far"));
    assert_eq!(looking.get("/inspect/1").await.0, 404);
    assert_eq!(looking.get("/inspect/x").await.0, 400);
    assert_eq!(looking.get("/").await.0, 404);

    let known = |name: &'static str, value: &str| {
        let headers = [("cookie", looking.cookie.as_str()), (name, value)];
        let headers: HeaderMap = headers.iter().map(|(n, v)| (n.parse().unwrap(), v.parse().unwrap())).collect();
        looking.client.get(looking.at("/inspect")).headers(headers).send()
    };
    let port = looking.url.split(':').nth(2).unwrap().split('/').next().unwrap();
    for (name, value, status) in [
        ("host", format!("localhost:{port}"), 200),
        ("host", "localhost".to_owned(), 403),
        ("host", format!("evil.example:{port}"), 403),
        ("origin", format!("http://127.0.0.1:{port}"), 200),
        ("origin", "http://127.0.0.1:1".to_owned(), 403),
        ("origin", "null".to_owned(), 403),
    ] {
        assert_eq!(known(name, &value).await.unwrap().status().as_u16(), status, "{name}: {value}");
    }
    let posted = looking.client.post(looking.at("/inspect")).header("cookie", &looking.cookie).send().await.unwrap();
    assert_eq!(posted.status(), 405);
    let headers = posted.headers();
    assert_eq!(headers["cache-control"], "no-store");
    let rules = headers["content-security-policy"].to_str().unwrap();
    assert!(rules.starts_with("default-src 'none'; ") && rules.contains("frame-ancestors 'none'"), "{rules}");
    assert!(!rules.contains("script"), "{rules}");
    looking.enter().await;
    assert_eq!(looking.get("/inspect").await.0, 200, "and one browser more");
}

#[tokio::test]
async fn a_request_is_listed_shown_and_taken_along_for_replay() {
    let mut looking = Looking::start();
    looking.enter().await;
    looking.ask_all().await;
    let list = text_of(&looking.page("/inspect").await);
    let (evil, rest) = list.split_once("How cold is a fjord?").unwrap();
    assert!(evil.contains("3 requests") && rest.contains("Weather in Oslo?"), "newest first: {list}");
    let corrected: Vec<&str> = rest.split_once("Weather in Oslo?").unwrap().1.split_whitespace().collect();
    assert_eq!(corrected[..8], ["m", "just", "now", "chat_completions", "200", "2", "1", "1"], "{list}");

    let page = looking.page("/inspect/1").await;
    let text = text_of(&page);
    for part in [
        "Weather in Oslo?", "The model is told", "Rejected", "malformed", "{\"text\":}", "Timeline", "chat_completions",
    ] {
        assert!(text.contains(part), "{part:?} is missing in {text}");
    }
    assert!(page.contains("href=\"&#x2f;inspect&#x2f;1&#x2f;recording\""), "{page}");
    let (_, recording) = looking.get("/inspect/1/recording").await;
    looking.place.write("taken.jsonl", &recording);
    let run = looking.place.run(&["replay", "--check", "taken.jsonl"]).ok();
    assert!(run.out.contains("as expected") && run.out.contains("2 rounds"), "{}", run.out);
    let page = looking.place.run(&["replay", "--html", "-", "taken.jsonl"]).ok().out;
    assert!(text_of(&page).contains("The model is told") && !page.contains("/inspect"), "{page}");
    assert_eq!(looking.get("/inspect/9/recording").await.0, 404);
    // Nothing is to be loaded again of a request that is over.
    assert!(looking.page("/inspect?live=1").await.contains("http-equiv=\"refresh\""));
    assert!(!looking.page("/inspect/1?live=1").await.contains("http-equiv=\"refresh\""));
}

#[tokio::test]
async fn what_was_learned_of_the_endpoint_is_shown() {
    let endpoint = Endpoint::answer(|seen, _| match seen.body["messages"][0]["role"] == "system" {
        true => Reply::refused(400, "Error rendering template: System role not supported"),
        false => Reply::text("The fjord is cold."),
    });
    let mut looking = Looking::before(endpoint);
    looking.enter().await;
    let text = text_of(&looking.page("/inspect").await);
    assert!(!text.contains("Learned about the endpoint"), "{text}");
    looking.ask_all().await;
    let learned = "requests go without system_role";
    let text = text_of(&looking.page("/inspect").await);
    let shown = text.split_once("Learned about the endpoint").unwrap().1.trim_start();
    assert!(shown.starts_with("m") && shown.matches(learned).count() == 1, "once for each model: {text}");
    let text = text_of(&looking.page("/inspect/1").await);
    assert!(text.contains("Learned about the endpoint") && text.contains(learned), "{text}");
}

#[tokio::test]
async fn a_request_that_goes_on_is_shown_so_far_and_may_be_loaded_again() {
    let stalls = Reply::events(&[says("Once upon a time")]).end(End::Stall);
    let mut looking = Looking::before(Endpoint::answer(move |_, _| stalls.clone()));
    looking.enter().await;
    let mut asked = request("m");
    asked["stream"] = true.into();
    let sent = looking.client.post(format!("{}/chat/completions", looking.serving.url));
    let sent = sent.header("content-type", "application/json").body(asked.to_string());
    let mut answer = sent.send().await.unwrap();
    assert!(answer.chunk().await.unwrap().is_some());
    assert!(text_of(&looking.page("/inspect").await).contains("goes on"));
    let page = looking.page("/inspect/1").await;
    assert!(text_of(&page).contains("Once upon a time") && !text_of(&page).contains("Cut off"), "{page}");
    assert!(page.contains("live=1") && !page.contains("http-equiv=\"refresh\""), "only who asks for it gets it");
    assert!(looking.page("/inspect/1?live=1").await.contains("<meta http-equiv=\"refresh\" content=\"2\">"));
    drop(answer);
    while text_of(&looking.page("/inspect").await).contains("goes on") {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert!(!looking.page("/inspect/1?live=1").await.contains("http-equiv=\"refresh\""));
}

#[tokio::test]
async fn requests_are_found_by_text_call_and_rejection() {
    let mut looking = Looking::start();
    looking.enter().await;
    looking.ask_all().await;
    let links = regex::Regex::new("href=\"&#x2f;inspect&#x2f;(\\d+)\"").unwrap();
    for (query, found) in [
        ("", vec![3, 2, 1]),
        ("fjord+IS+cold", vec![2]),
        ("fjord+cold", vec![]),
        ("oslo", vec![1]),
        ("note+%7B%22", vec![3, 1]),
        ("malformed", vec![1]),
        ("%22%3E%3Cscript%3E", vec![]),
    ] {
        let page = looking.page(&format!("/inspect?q={query}")).await;
        let ids: Vec<u32> = links.captures_iter(&page).map(|id| id[1].parse().unwrap()).collect();
        assert_eq!(ids, found, "{query}");
        assert!(!page.contains("<script"), "{page}");
        assert!(found.is_empty() || query.is_empty() || page.contains(&format!("{} of 3 requests", found.len())));
    }
}

#[tokio::test]
async fn nothing_that_was_said_becomes_markup_and_no_key_is_shown() {
    let mut looking = Looking::start();
    looking.enter().await;
    looking.ask_all().await;
    let known = [
        "!doctype", "html", "head", "meta", "title", "style", "body", "main", "article", "header", "h1", "h2", "h3",
        "p", "ul", "li", "span", "b", "i", "a", "div", "section", "details", "summary", "dl", "dt", "dd", "pre",
        "code", "footer", "nav", "form", "label", "input", "button", "table", "thead", "tbody", "tr", "th", "td",
    ];
    let tags = regex::Regex::new("<([a-zA-Z!/][^\\s>]*)").unwrap();
    for path in ["/inspect", "/inspect/3", "/inspect?q=%3Cscript%3E%22onload%3D"] {
        let page = looking.page(path).await;
        for tag in tags.captures_iter(&page) {
            assert!(known.contains(&tag[1].trim_start_matches('/')), "{path}: <{}", &tag[1]);
        }
        assert!(!page.contains(['\u{202e}', '\u{200b}', '\x1b']), "{path}");
        assert!(!page.contains("sk-in-text-1234"), "{path}");
    }
    assert!(text_of(&looking.page("/inspect/3").await).contains("onerror=alert(1)"), "it stands there as text");
    let recording = looking.page("/inspect/3/recording").await;
    assert!(recording.contains("[redacted]") && !recording.contains("sk-in-text-1234"), "{recording}");
    let lines: Vec<Value> = recording.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["type"], "session");
}
