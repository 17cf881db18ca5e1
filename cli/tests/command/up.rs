//! `toolgraft up` over HTTP: who comes in, what a window is told, what runs, and what is kept.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::redirect::Policy;
use reqwest::{Client, Response};
use serde_json::{Value, json};
use toolgraft_testkit::endpoint::{End, Endpoint, Reply, mcp_call, says};

use crate::chat_screen::{dig, slow_server};
use crate::process::{Place, TOOLGRAFT, answering_server, demo_server};

/// The smallest image there is, in base64.
const DOT: &str = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==";

/// After this time something that should have come has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// A page that runs, and a program that behaves as its browser.
pub(crate) struct Up {
    pub(crate) child: Child,
    /// The address that was printed first.
    pub(crate) url: String,
    pub(crate) place: Place,
    pub(crate) endpoint: Endpoint,
    client: Client,
    cookie: String,
    /// The key of the page, which its requests send.
    key: String,
}

/// A server of this machine with a tool that says that it wrote a file.
pub(crate) fn writing_server() -> Value {
    let text = json!({"type": "string"});
    let schema =
        json!({"type": "object", "properties": {"path": text, "content": text}, "required": ["path", "content"]});
    let tool = json!({"name": "write_file", "inputSchema": schema});
    let done = json!({"content": [{"type": "text", "text": "written"}]});
    answering_server(&json!({"tools/list": {"tools": [tool]}, "tools/call": done}))
}

/// A server with a tool that gives a picture of one dot.
fn seeing_server() -> Value {
    let tool = json!({"name": "shot", "inputSchema": {"type": "object"}});
    let content = json!([{"type": "image", "mimeType": "image/gif", "data": DOT}]);
    answering_server(&json!({"tools/list": {"tools": [tool]}, "tools/call": {"content": content}}))
}

/// A call that writes figs for pears.
pub(crate) fn figs() -> String {
    mcp_call("files", "write_file", &json!({"path": "notes.txt", "content": "apples\nfigs\nplums\n"}))
}

impl Up {
    /// With the demonstration server, and one that writes to a folder with `notes.txt`.
    pub(crate) fn start(endpoint: Endpoint, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let place = Place::new();
        place.servers(json!({ "demo": demo_server(), "files": writing_server() }));
        place.write("notes.txt", "apples\npears\nplums\n");
        Up::start_in(place, endpoint, arguments, variables)
    }

    pub(crate) fn start_in(place: Place, endpoint: Endpoint, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        Up::open_in(place, endpoint, &[&["--no-open"], arguments].concat(), variables)
    }

    /// As [`start_in`](Self::start_in), and a browser is opened.
    fn open_in(place: Place, endpoint: Endpoint, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = Command::new(TOOLGRAFT);
        command.args(["up", "--model", "m", "--mcp-config", "mcp.json", "--base-url", &endpoint.url()]);
        command.args(arguments).current_dir(place.path("")).env("HOME", place.path(""));
        for name in ["OPENAI_BASE_URL", "XDG_STATE_HOME"] {
            command.env_remove(name);
        }
        command.envs(variables.iter().copied());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut url).unwrap();
        let client = toolgraft::http::client().redirect(Policy::none()).build().unwrap();
        Up { child, url: url.trim().to_owned(), place, endpoint, client, cookie: String::new(), key: String::new() }
    }

    /// With a command in place of the person's browser, which leaves what it was called with in the
    /// file `opened`, and the mode of the file that it was to open in `mode`.
    #[cfg(target_os = "linux")]
    pub(crate) fn opening_a_browser(endpoint: Endpoint) -> Self {
        use std::os::unix::fs::PermissionsExt;

        let place = Place::new();
        place.servers(json!({ "demo": demo_server() }));
        let opener = place.write(
            "xdg-open",
            "#!/bin/sh\nstat -c %a \"$1\" >mode\nprintf '%s\\n' \"$@\" >opening\nmv opening opened\n",
        );
        std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:{}", place.path("").display(), std::env::var("PATH").unwrap());
        Up::open_in(place, endpoint, &[], &[("PATH", &path), ("DISPLAY", ":0")])
    }

    /// Returns the arguments that the browser was called with.
    pub(crate) fn opened(&self) -> String {
        let until = std::time::Instant::now() + PATIENCE;
        loop {
            match std::fs::read_to_string(self.place.path("opened")) {
                Ok(opened) => return opened,
                Err(error) => assert!(std::time::Instant::now() < until, "no browser was opened: {error}"),
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn site(&self) -> &str {
        self.url.split("/?").next().unwrap()
    }

    async fn get(&self, path: &str) -> Response {
        let request = self.client.get(format!("{}{path}", self.site())).header("cookie", &self.cookie);
        request.header("toolgraft-page", &self.key).send().await.unwrap()
    }

    async fn enter(&mut self) {
        let response = self.client.get(&self.url).send().await.unwrap();
        assert_eq!(response.status(), 200);
        let cookie = response.headers()["set-cookie"].to_str().unwrap();
        assert!(cookie.contains("; Path=/; HttpOnly; SameSite=Strict"), "{cookie}");
        self.cookie = cookie.split(';').next().unwrap().to_owned();
        let page = response.text().await.unwrap();
        self.key = page.split("data-key=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
        assert!(self.key.len() == 32 && !self.cookie.contains(&self.key), "{}", self.key);
    }

    async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        let request = self.client.post(format!("{}{path}", self.site())).header("cookie", &self.cookie);
        let request = request.header("origin", self.site()).header("toolgraft-page", &self.key);
        let response = request.body(body.to_string()).send().await.unwrap();
        (response.status().as_u16(), serde_json::from_str(&response.text().await.unwrap()).unwrap_or_default())
    }

    /// A window at a conversation, and its state.
    async fn look(&self, chat: &str) -> (Window, Value) {
        let response = self.get(&format!("/events?chat={chat}")).await;
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        let mut window = Window { response, bytes: Vec::new() };
        let state = window.step("state").await;
        (window, state)
    }

    /// Ends it as Ctrl-C does; what it said on standard error.
    #[cfg(unix)]
    fn end(&mut self) -> String {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        let status = self.child.wait().unwrap();
        assert_eq!(status.signal(), Some(2), "so that a shell's loop stops: {status:?} {said}");
        said
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The events that a window receives.
struct Window {
    response: Response,
    bytes: Vec<u8>,
}

impl Window {
    async fn next(&mut self) -> Value {
        loop {
            if let Some(at) = self.bytes.windows(2).position(|two| two == b"\n\n") {
                let event: Vec<u8> = self.bytes.drain(..at + 2).collect();
                if let Some(data) = event.strip_prefix(b"data: ") {
                    return serde_json::from_slice(data).unwrap();
                }
                continue;
            }
            self.bytes.extend(
                tokio::time::timeout(PATIENCE, self.response.chunk())
                    .await
                    .unwrap()
                    .unwrap()
                    .expect("the window is cut off"),
            );
        }
    }

    /// The next step of a kind.
    async fn step(&mut self, kind: &str) -> Value {
        self.step_of(&[kind]).await
    }

    /// The next step of one of these kinds.
    async fn step_of(&mut self, kinds: &[&str]) -> Value {
        let mut seen = Vec::new();
        let until = tokio::time::Instant::now() + PATIENCE;
        loop {
            let step = tokio::time::timeout_at(until, self.next()).await;
            let step = step.unwrap_or_else(|_| panic!("no {kinds:?} after {seen:#?}"));
            if kinds.iter().any(|kind| step["step"] == *kind) {
                return step;
            }
            seen.push(step);
        }
    }
}

/// Whether a step shows this as the text of a result.
fn shows(step: &Value, text: &str) -> bool {
    step["html"].as_str().is_some_and(|html| html.contains(&format!(">\n{text}</pre>")))
}

/// Whether a step shows an outcome that is no result.
fn is_bad(step: &Value) -> bool {
    step["html"].as_str().is_some_and(|html| html.contains("class=\"block result bad\""))
}

#[tokio::test]
async fn an_address_lets_one_browser_in_and_no_other_page_reaches_what_is_after() {
    let mut up = Up::start(Endpoint::start([]), &[], &[]);
    assert!(up.url.starts_with("http://127.0.0.1:") && up.url.contains("/?token="), "{}", up.url);
    assert_eq!(up.get("/chats").await.status(), 401);
    let shell = up.get("/").await;
    assert!(!shell.headers().contains_key("set-cookie"));
    assert!(shell.text().await.unwrap().contains("data-key=\"\""), "the page of nobody has no key");
    up.enter().await;
    let used = up.client.get(&up.url).send().await.unwrap();
    assert!(used.text().await.unwrap().contains("data-key=\"\""), "the address was used");
    let page = up.get("/").await;
    assert_eq!(page.status(), 200);
    let policy = page.headers()["content-security-policy"].to_str().unwrap().to_owned();
    assert!(policy.contains("default-src 'none'; script-src 'sha256-") && !policy.contains("http"), "{policy}");
    let html = page.text().await.unwrap();
    assert!(!html.contains(&up.key), "the key is given once");
    for elsewhere in [" src=", "<link rel=\"stylesheet", "@import", "url(", "//cdn"] {
        assert!(!html.contains(elsewhere), "{elsewhere}");
    }

    let stop = |site: &str| up.client.post(format!("{site}/stop")).header("cookie", &up.cookie).body("{}");
    let site = up.site().to_owned();
    assert_eq!(stop(&site).send().await.unwrap().status(), 405, "no browser posts without an origin");
    assert_eq!(stop(&site).header("origin", "http://evil.example").send().await.unwrap().status(), 403);
    let two = stop(&site).header("origin", &site).header("origin", "http://evil.example");
    assert_eq!(two.header("toolgraft-page", &up.key).send().await.unwrap().status(), 403);
    assert_eq!(stop(&site).header("host", "evil.example").send().await.unwrap().status(), 403);
    let port = site.rsplit(':').next().unwrap();
    for (host, status, said) in
        [(format!("LOCALHOST:{port}"), 200, "<title>toolgraft"), ("127.0.0.1:1".into(), 403, &site)]
    {
        let answer = up.client.get(format!("{site}/")).header("host", host).send().await.unwrap();
        assert_eq!(answer.status(), status);
        assert!(answer.text().await.unwrap().contains(said), "{said}");
    }
    assert_eq!(stop(&site).header("origin", &site).header("toolgraft-page", "").send().await.unwrap().status(), 403);
    let stranger = up.client.post(format!("{site}/ask")).header("origin", &site).body("{}").send().await.unwrap();
    assert_eq!(stranger.status(), 401);
    assert_eq!(up.post("/stop", json!({})).await.0, 200);
}

/// Sends what a server at another port has of a browser that visits it: the cookie, and any header that it likes to
/// send with it.
#[tokio::test]
async fn the_cookie_alone_changes_nothing_and_looks_at_nothing() {
    let mut up = Up::start(Endpoint::start([Reply::text(&figs()), Reply::text("Done.")]), &[], &[]);
    up.enter().await;
    let (mut window, state) = up.look("").await;
    let chat = state["chat"].clone();
    up.post("/ask", json!({"chat": chat, "text": "Figs for pears."})).await;
    let asked = window.step("ask").await;
    let once = json!({"chat": chat, "call": asked["call"], "definition": asked["definition"], "answer": "once"});
    let key = std::mem::replace(&mut up.key, "0".repeat(32));
    let input = json!({"input": "x", "values": {}});
    for (path, body) in [
        ("/answer", once.clone()),
        ("/ask", json!({"chat": chat, "text": "Now?"})),
        ("/model", json!({"chat": chat, "model": "n"})),
        ("/input", input),
        ("/stop", json!({"chat": chat})),
        ("/switch", json!({"server": "files", "on": false})),
        ("/retry", json!({"chat": chat})),
        ("/undo", json!({"chat": chat})),
        ("/rename", json!({"chat": chat, "title": "x"})),
        ("/delete", json!({"chat": chat})),
        ("/set", json!({"chat": chat, "key": "system", "value": "x"})),
    ] {
        let (status, why) = up.post(path, body).await;
        assert!(status == 403 && why["error"].as_str().unwrap().contains("address"), "{path}: {status} {why}");
    }
    for path in ["/events?chat=", "/chats?q=", "/tools", "/models"] {
        assert_eq!(up.get(path).await.status(), 403, "{path}");
    }
    let cookie = std::mem::take(&mut up.cookie);
    up.key = key;
    assert_eq!(up.post("/answer", once.clone()).await.0, 401, "nor does the key alone");
    up.cookie = cookie;
    assert_eq!(up.post("/answer", once).await.0, 200, "the question is still open");
    assert!(shows(&window.step("outcome").await, "written"));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_address_reaches_the_browser_in_a_file_of_the_users_own() {
    let mut up = Up::opening_a_browser(Endpoint::start([]));
    let opened = up.opened();
    assert_eq!(opened.lines().count(), 1, "{opened}");
    assert!(!opened.contains("token") && !opened.contains("http"), "{opened}");
    assert_eq!(std::fs::read_to_string(up.place.path("mode")).unwrap(), "600\n");
    let page = std::fs::read_to_string(opened.trim()).unwrap();
    assert!(page.contains(&format!("content=\"0; url={}\"", up.url)), "{page}");
    up.enter().await;
    up.end();
    assert!(!std::path::Path::new(opened.trim()).exists(), "it is removed at the end");
}

#[tokio::test]
async fn an_answer_is_one_to_the_tool_as_it_was_shown() {
    let call = mcp_call("demo", "weather_query", &json!({"city": "Oslo"}));
    let mut up = Up::start(Endpoint::start([Reply::text(&call), Reply::text("Then not.")]), &[], &[]);
    up.enter().await;
    let (mut window, state) = up.look("").await;
    let chat = state["chat"].clone();
    up.post("/ask", json!({"chat": chat, "text": "Oslo?"})).await;
    let asked = window.step("ask").await;
    let answer = |asked: &Value, answer: &str| json!({"chat": chat, "call": asked["call"], "definition": asked["definition"], "answer": answer});
    // The tool becomes another one, here none, while the question is open.
    up.post("/switch", json!({"server": "demo", "tool": "weather_query", "on": false})).await;
    assert_eq!(up.post("/answer", answer(&asked, "once")).await.0, 200);
    let again = window.step_of(&["ask", "outcome"]).await;
    assert_eq!((&again["step"], &again["call"]), (&json!("ask"), &asked["call"]), "it is asked again");
    assert!(
        again["body"][0].as_str().unwrap().starts_with("demo.weather_query has changed since it was allowed"),
        "{again}"
    );
    assert_eq!(up.post("/answer", answer(&asked, "once")).await.0, 404, "nobody was shown this with the question");
    assert_eq!(up.post("/answer", answer(&again, "no")).await.0, 200);
    assert!(is_bad(&window.step("outcome").await));
}

/// One that downloads first takes its time.
#[tokio::test]
async fn a_question_waits_for_servers_that_start_unless_it_is_stopped() {
    let place = Place::new();
    place.servers(json!({ "demo": demo_server(), "mine": slow_server(&dig(), "gold") }));
    place.write("go", "");
    let replies = [Reply::text(&mcp_call("mine", "dig", &json!({}))), Reply::text("It is gold.")];
    let mut up = Up::start_in(place, Endpoint::start(replies), &["--allow", "mine.dig"], &[]);
    up.enter().await;
    let (mut window, state) = up.look("").await;
    let chat = state["chat"].clone();
    let ask = json!({"chat": chat, "text": "What is it?"});
    let starting = "starting 1 server: mine · mine: Downloading it";
    assert_eq!(up.post("/ask", ask.clone()).await.0, 200);
    while window.step("wait").await["text"] != starting {}
    up.post("/stop", json!({"chat": chat})).await;
    let end = window.step("end").await;
    assert!(end["again"] == true && end["stopped"].is_string(), "{end}");

    assert_eq!(up.post("/ask", ask).await.0, 200);
    while window.step("wait").await["text"] != starting {}
    assert!(up.endpoint.seen().iter().all(|seen| !seen.target().starts_with("POST")), "nothing was asked yet");
    up.place.write("start", "");
    assert!(shows(&window.step("outcome").await, "gold"));
    assert_eq!(window.step("end").await["stopped"], Value::Null);
}

#[tokio::test]
async fn a_question_is_answered_as_it_is_written_and_kept_for_other_commands() {
    let answer = "**Cold.** `-3` degrees";
    let mut up = Up::start(Endpoint::start([Reply::text(answer), Reply::text("Still cold.")]), &[], &[]);
    up.enter().await;
    let (mut window, state) = up.look("").await;
    let chat = state["chat"].as_str().unwrap().to_owned();
    assert_eq!((&state["busy"], &state["steps"]), (&json!(false), &json!([])));
    assert!(state["model"] == "m" && state["about"].as_str().unwrap().starts_with("http://127.0.0.1:"), "{state}");
    assert_eq!(up.post("/ask", json!({"chat": chat, "text": "Oslo?"})).await.0, 200);
    assert_eq!(window.step("user").await["text"], "Oslo?");
    assert_eq!(window.step("text").await["text"], "**Cold.** ", "it comes as it is written");
    let shown = window.step("answer").await["html"].clone();
    let text = r#"<p dir="auto"><strong dir="auto">Cold.</strong> <code dir="auto">-3</code> degrees</p>"#;
    assert!(shown.as_str().unwrap().contains(text), "{shown}");
    let end = window.step("end").await;
    assert_eq!((&end["stopped"], &end["again"]), (&Value::Null, &json!(false)));

    let (_, again) = up.look(&chat).await;
    assert_eq!((&again["steps"][0]["step"], &again["steps"][0]["text"]), (&json!("user"), &json!("Oslo?")));
    assert_eq!(again["steps"].as_array().unwrap().last().unwrap()["html"], shown);
    let listed = up.place.run(&["log", "--json"]).ok().json();
    assert_eq!((&listed["sessions"][0]["id"], &listed["sessions"][0]["title"]), (&json!(chat), &json!("Oslo?")));
    assert_eq!(up.post("/ask", json!({"chat": chat, "text": "And now?"})).await.0, 200);
    window.step("end").await;
    assert_eq!(up.place.run(&["log", "--json"]).ok().json()["sessions"][0]["questions"], 2);
    assert_eq!(up.post("/ask", json!({"chat": "00000000", "text": "x"})).await.0, 404);
}

/// An endpoint whose model says what it was asked, and how many messages it got.
fn echoes() -> Endpoint {
    Endpoint::answer(|seen, n| match seen.question() {
        fails if fails.contains("fail") => Reply::refused(400, "no such model"),
        asked => {
            let messages = seen.body["messages"].as_array().unwrap().len();
            Reply::text(&format!("{n}: {asked} {messages}"))
        }
    })
}

/// The words of the questions and answers of a state.
fn said(state: &Value) -> Vec<String> {
    let steps = state["steps"].as_array().unwrap().iter();
    steps.filter_map(|step| step["text"].as_str()).map(str::to_owned).collect()
}

#[tokio::test]
async fn questions_are_asked_again_edited_and_taken_back_in_all_windows() {
    let mut up = Up::start(echoes(), &[], &[]);
    up.enter().await;
    let (mut window, state) = up.look("").await;
    let chat = state["chat"].as_str().unwrap().to_owned();
    let of = |more: Value| {
        let mut body = json!({ "chat": chat });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let (status, why) = up.post("/undo", of(json!({}))).await;
    assert_eq!((status, &why["error"]), (400, &json!("nothing was asked yet")));
    assert_eq!(up.post("/retry", of(json!({}))).await.0, 400);
    for question in ["One", "Two"] {
        up.post("/ask", of(json!({ "text": question }))).await;
        window.step("end").await;
    }
    let (mut second, state) = up.look(&chat).await;
    let [one, two] = [said(&state)[1].clone(), said(&state)[3].clone()];
    assert!(one.contains(": One 2") && two.contains(": Two 4"), "{state:#}");

    assert_eq!(up.post("/retry", of(json!({}))).await.0, 200);
    for window in [&mut window, &mut second] {
        let state = window.step("state").await;
        assert_eq!((said(&state), &state["busy"]), (vec!["One".into(), one.clone(), "Two".into()], &json!(true)));
        assert!(window.step("answer").await["text"].as_str().unwrap().contains(": Two 4"));
        window.step("end").await;
    }

    // The first question in other words: what followed it goes.
    assert_eq!(up.post("/ask", of(json!({"text": "Three", "question": 0}))).await.0, 200);
    assert_eq!(said(&second.step("state").await), ["Three"]);
    assert!(second.step("answer").await["text"].as_str().unwrap().contains(": Three 2"));
    second.step("end").await;
    let shown = up.place.run(&["log", "show", &chat]).ok().out;
    assert!(shown.contains("\n\nThree\n") && !shown.contains("One") && !shown.contains("Two"), "{shown}");

    // Where nothing is answered the conversation is what it was, and the question is given back.
    up.post("/ask", of(json!({"text": "fail", "question": 0}))).await;
    assert_eq!(said(&second.step("state").await), ["fail"]);
    let state = second.step("state").await;
    assert_eq!((said(&state)[0].as_str(), said(&state).len(), &state["busy"]), ("Three", 2, &json!(false)));
    assert_eq!(second.step("end").await["again"], true);
    assert_eq!(said(&up.look(&chat).await.1)[0], "Three");

    up.post("/ask", of(json!({"text": "Four\u{200b}"}))).await;
    second.step("end").await;
    let (status, taken) = up.post("/undo", of(json!({}))).await;
    assert_eq!((status, &taken["text"]), (200, &json!("Four\u{200b}")));
    assert_eq!(said(&second.step("state").await)[0], "Three");
    assert_eq!(up.post("/undo", of(json!({"question": 5}))).await.0, 400);
    assert_eq!(up.post("/undo", of(json!({"question": 0}))).await.1["text"], "Three");
    assert_eq!(second.step("state").await["steps"], json!([]));
    assert_eq!(up.place.run(&["log", "--json"]).ok().json()["sessions"], json!([]));
}

#[tokio::test]
async fn files_and_pictures_go_with_a_question_and_stay_with_it() {
    let mut up = Up::start(echoes(), &["--set", "images=always"], &[]);
    up.enter().await;
    let (mut window, state) = up.look("").await;
    let chat = state["chat"].as_str().unwrap().to_owned();
    let notes = json!({"name": "notes.md", "data": STANDARD.encode("Oslo is wet.\n")});
    let dot = json!({"name": "dot.gif", "data": DOT});
    let ask = |text: &str, files: &[&Value]| json!({"chat": chat, "text": text, "files": files});
    for (file, problem) in [
        (json!({"name": "plan.pdf", "data": STANDARD.encode("%PDF-1.7")}), "file plan.pdf: the file is a PDF"),
        (json!({"name": "none.txt", "data": ""}), "none.txt is empty"),
        (json!({"name": "bad.txt", "data": "?"}), "is not base64"),
    ] {
        let (status, why) = up.post("/ask", ask("Look.", &[&notes, &file])).await;
        assert!(status == 400 && why["error"].as_str().unwrap().contains(problem), "{why}");
    }
    // More than a server takes that nobody told otherwise.
    let large = [STANDARD.decode(DOT).unwrap(), vec![0; 3 << 20]].concat();
    let large = json!({"name": "large.gif", "data": STANDARD.encode(large)});
    assert_eq!(up.post("/ask", ask("Large.", &[&large])).await.0, 200);
    window.step("end").await;
    up.post("/undo", json!({ "chat": chat })).await;

    up.post("/ask", ask("Look.", &[&notes, &dot])).await;
    let asked = window.step("user").await;
    let file = "<details class=\"files\"><summary dir=\"auto\">notes.md · 13 characters</summary><pre dir=\"auto\">\nOslo is wet.\n</pre></details>";
    let has_file = |step: &Value| step["html"].as_str().unwrap().contains(file);
    assert!(has_file(&asked), "{asked}");
    assert_eq!((&asked["text"], &asked["pictures"]), (&json!("Look."), &json!(1)));
    window.step("end").await;
    let sent = |up: &Up| up.endpoint.seen().last().unwrap().messages();
    assert!(sent(&up).contains("Oslo is wet.") && sent(&up).contains(DOT), "{}", sent(&up));
    let at = format!("/picture?chat={chat}&n=0&call={}", asked["call"].as_str().unwrap());
    assert!(up.get(&at).await.bytes().await.unwrap().starts_with(b"GIF89a"));
    assert_eq!(up.look(&chat).await.1["steps"][0], asked, "a window that comes later shows the same");

    up.post("/ask", json!({"chat": chat, "text": "Look again.", "question": 0})).await;
    let state = window.step("state").await;
    assert!(has_file(&state["steps"][0]) && state["steps"][0]["text"] == "Look again.", "{state}");
    window.step("end").await;
    assert!(sent(&up).contains("Oslo is wet.") && sent(&up).contains(DOT) && !sent(&up).contains("Look."));
}

#[tokio::test]
async fn resources_that_a_question_names_go_with_it() {
    let mut up = Up::start(echoes(), &[], &[]);
    up.enter().await;
    let (mut window, state) = up.look("").await;
    let chat = state["chat"].as_str().unwrap().to_owned();
    let sent = |up: &Up| up.endpoint.seen().last().unwrap().messages();
    up.post("/ask", json!({"chat": chat, "text": "Which is north? @demo:demo://cities"})).await;
    let state = window.step("state").await;
    let shown = state["steps"][0]["html"].as_str().unwrap();
    assert!(shown.contains("<summary dir=\"auto\">@demo:demo:&#x2f;&#x2f;cities · "), "{shown}");
    window.step("end").await;
    assert!(sent(&up).contains("Which is north? @demo:demo://cities\\n\\n<file name=\\\"@demo:demo://cities\\\" end="));
    assert!(sent(&up).contains("Oslo, Norway: latitude 59.91"), "{}", sent(&up));

    let again = json!({"chat": chat, "text": "Which is south? @demo:demo://cities", "question": 0});
    up.post("/ask", again).await;
    window.step("end").await;
    assert_eq!(sent(&up).matches("Oslo, Norway: latitude 59.91").count(), 1, "it goes once: {}", sent(&up));

    up.post("/ask", json!({"chat": chat, "text": "And @demo:demo://nowhere?"})).await;
    let end = window.step("end").await;
    assert!(end["again"] == true && end["stopped"].as_str().unwrap().starts_with("@demo:demo://nowhere: "), "{end}");
    assert_eq!(up.endpoint.requests(), 2, "a resource that is not there keeps the question back");
    assert_eq!(up.look(&chat).await.1["steps"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn a_conversation_is_renamed_and_deleted() {
    let mut up = Up::start(echoes(), &[], &[]);
    up.enter().await;
    let (mut window, state) = up.look("").await;
    let chat = state["chat"].as_str().unwrap().to_owned();
    let (mut other, _) = up.look("").await;
    up.post("/ask", json!({"chat": chat, "text": "Oslo?"})).await;
    window.step("end").await;
    assert_eq!(up.post("/rename", json!({"chat": chat, "title": " The\nfjords "})).await.0, 200);
    assert_eq!(window.step("model").await["title"], "The fjords");
    other.step("list").await;
    let sessions = |up: &Up| up.place.run(&["log", "--json"]).ok().json()["sessions"].clone();
    assert_eq!(sessions(&up)[0]["title"], "The fjords");
    assert!(up.get("/chats?q=fjords").await.text().await.unwrap().contains("The fjords"));
    assert!(up.get(&format!("/share?chat={chat}")).await.text().await.unwrap().contains("<h1>The fjords</h1>"));
    // It is the title for whoever goes on with it, until it is taken back.
    up.post("/ask", json!({"chat": chat, "text": "Bergen?"})).await;
    window.step("end").await;
    assert_eq!((&sessions(&up)[0]["title"], &sessions(&up)[0]["questions"]), (&json!("The fjords"), &json!(2)));
    up.post("/rename", json!({"chat": chat, "title": ""})).await;
    assert_eq!(sessions(&up)[0]["title"], "Oslo?");

    assert_eq!(up.post("/delete", json!({"chat": chat})).await.0, 200);
    window.step("gone").await;
    other.step("list").await;
    assert_eq!(sessions(&up), json!([]));
    for path in ["/ask", "/delete", "/rename", "/retry", "/undo", "/set"] {
        assert_eq!(up.post(path, json!({"chat": chat, "text": "And now?"})).await.0, 404, "{path}");
    }
    let (_, new) = up.look(&chat).await;
    assert_eq!(new["steps"], json!([]));
    assert_ne!(new["chat"], chat, "nothing is written anew under its name");
}

#[tokio::test]
async fn a_conversation_changes_only_while_no_turn_goes_on() {
    let stalls = Reply::events(&[says("It is ")]).end(End::Stall);
    let mut up = Up::start(Endpoint::start([stalls]), &[], &[]);
    up.enter().await;
    let (mut window, state) = up.look("").await;
    let chat = state["chat"].clone();
    up.post("/ask", json!({"chat": chat, "text": "Oslo?"})).await;
    window.step("text").await;
    let body = json!({"chat": chat, "text": "x", "title": "x", "key": "system", "value": "x", "model": "n"});
    for path in ["/ask", "/retry", "/undo", "/rename", "/delete", "/set", "/model"] {
        let (status, why) = up.post(path, body.clone()).await;
        assert!(status == 409 && why["error"].as_str().unwrap().contains("stop it first"), "{path}: {why}");
    }
    up.post("/stop", json!({"chat": chat})).await;
    assert_eq!(window.step("end").await["again"], false);
}

#[tokio::test]
async fn a_system_text_holds_at_once_and_for_new_conversations_of_the_folder() {
    let mut up = Up::start(echoes(), &[], &[]);
    up.enter().await;
    let (mut window, state) = up.look("").await;
    let chat = state["chat"].clone();
    assert_eq!(state["system"], Value::Null);
    let set = |key: &str, value: &str| json!({"chat": chat, "key": key, "value": value});
    assert_eq!(up.post("/set", set("system", "Be brief.")).await.0, 200);
    assert_eq!(window.step("model").await["system"], "Be brief.");
    let asked = async |up: &Up, window: &mut Window, chat: &Value| {
        up.post("/ask", json!({"chat": chat, "text": "Hi"})).await;
        window.step("end").await;
        up.endpoint.seen().last().unwrap().messages().contains("Be brief.")
    };
    assert!(asked(&up, &mut window, &chat).await);
    let (mut next, state) = up.look("").await;
    assert_eq!(state["system"], "Be brief.");
    assert!(asked(&up, &mut next, &state["chat"]).await);
    let shown = up.place.run(&["config"]).ok().out;
    assert!(shown.contains("# system = \"Be brief.\"  (from: this folder's own"), "{shown}");
    // What was said to begin with holds no more.
    assert_eq!(up.post("/set", set("system", "")).await.0, 200);
    assert!(!asked(&up, &mut window, &chat).await);
    for (key, problem) in [("model", "/model NAME"), ("untrusted", "--untrusted"), ("temperature", "temperature: ")] {
        let (status, why) = up.post("/set", set(key, "hot")).await;
        assert!(status == 400 && why["error"].as_str().unwrap().contains(problem), "{why}");
    }
}

#[tokio::test]
async fn a_large_paste_beside_typed_words_is_a_file_and_a_call_in_it_is_asked_about() {
    let replies = [figs(), "Done.".to_owned()].map(|text| Reply::text(&text));
    let mut up = Up::start(Endpoint::start(replies), &["--allow", "files.write_file"], &[]);
    up.enter().await;
    let (mut window, state) = up.look("").await;
    let pasted = format!("{}{}", "Note.\n".repeat(12), figs());
    let said = json!({"chat": state["chat"], "text": format!("Read: {pasted}"), "pasted": [pasted]});
    assert_eq!(up.post("/ask", said).await.0, 200);
    assert_eq!(window.step("ask").await["title"], "Run files.write_file?");
    let asked = up.endpoint.seen()[0].question();
    assert!(asked.starts_with("Read:\n\n<file name=\"pasted text\" end=\""), "{asked}");
}

#[tokio::test]
async fn a_call_waits_for_its_answer_and_shows_what_changes_in_the_file() {
    let replies = [figs(), "Done.".to_owned(), figs(), "Again.".to_owned(), figs(), "Not.".to_owned()];
    let mut up = Up::start(Endpoint::start(replies.iter().map(|text| Reply::text(text))), &[], &[]);
    up.enter().await;
    let (mut window, state) = up.look("").await;
    let chat = state["chat"].clone();
    let ask = |text: &str| json!({"chat": chat, "text": text});
    up.post("/ask", ask("Figs for pears.")).await;
    let asked = window.step("ask").await;
    assert_eq!(asked["title"], "Run files.write_file?");
    assert_eq!(asked["once"], false);
    let diff = "{\"path\":\"notes.txt\"}\n\ncontent:\n· apples\n- pears\n+ figs\n· plums";
    assert_eq!(asked["body"], json!([diff, "", ""]));
    // A second window has the open question, too.
    let (_, other) = up.look(chat.as_str().unwrap()).await;
    assert_eq!(other["busy"], true);
    assert!(other["steps"].as_array().unwrap().contains(&asked), "{other:#}");
    assert_eq!(up.post("/ask", ask("Now?")).await.0, 409);

    let answer = |asked: &Value, answer: &str| {
        let (call, definition) = (&asked["call"], &asked["definition"]);
        json!({"chat": chat, "call": call, "definition": definition, "answer": answer, "reason": "no figs"})
    };
    assert_eq!(up.post("/answer", answer(&asked, "maybe")).await.0, 400);
    assert_eq!(up.post("/answer", answer(&asked, "no")).await.0, 200);
    assert_eq!(up.post("/answer", answer(&asked, "once")).await.0, 404, "it was answered");
    let outcome = window.step("outcome").await;
    assert!(outcome["call"] == asked["call"] && is_bad(&outcome), "{outcome}");
    assert!(outcome["html"].as_str().unwrap().contains("no figs"), "{outcome}");
    window.step("end").await;

    up.post("/ask", ask("Please.")).await;
    let asked = window.step("ask").await;
    up.post("/answer", answer(&asked, "always")).await;
    assert!(shows(&window.step("outcome").await, "written"));
    window.step("end").await;
    up.post("/ask", ask("Once more.")).await;
    loop {
        let step = window.next().await;
        assert_ne!(step["step"], "ask", "it was allowed for all of the conversation");
        if step["step"] == "outcome" {
            break;
        }
    }
}

#[tokio::test]
async fn a_call_that_has_already_run_is_asked_about_as_that_and_once() {
    let replies = [figs(), figs(), "Done.".to_owned()].map(|text| Reply::text(&text));
    let mut up = Up::start(Endpoint::start(replies), &["--allow", "files.write_file"], &[]);
    up.enter().await;
    let (mut window, state) = up.look("").await;
    up.post("/ask", json!({"chat": state["chat"], "text": "Figs for pears."})).await;
    assert!(shows(&window.step_of(&["ask", "outcome"]).await, "written"), "the first is allowed");
    let asked = window.step("ask").await;
    assert_eq!(asked["why"], "The same call has already run, and nothing new came in between.");
    assert_eq!(asked["once"], true);
}

#[tokio::test]
async fn conversations_are_found_gone_on_with_and_shared_as_one_file() {
    let endpoint = Endpoint::answer(|seen, _| match seen.question() {
        asked if asked.contains("Oslo") => Reply::text("The <fjord> is cold."),
        _ => Reply::text(&format!("{} messages", seen.body["messages"].as_array().unwrap().len())),
    });
    let mut up = Up::start(endpoint, &[], &[]);
    up.enter().await;
    let mut begun = Vec::new();
    for question in ["Weather in Oslo?", "Weather in Bergen?"] {
        let (mut window, state) = up.look("").await;
        up.post("/ask", json!({"chat": state["chat"], "text": question})).await;
        window.step("end").await;
        begun.push(state["chat"].as_str().unwrap().to_owned());
    }
    let titles = |list: &str| {
        let list: Value = serde_json::from_str(list).unwrap();
        list["chats"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["title"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let list = up.get("/chats?q=").await.text().await.unwrap();
    assert_eq!(titles(&list), ["Weather in Bergen?", "Weather in Oslo?"]);
    let list = up.get("/chats?q=FJORD").await.text().await.unwrap();
    assert_eq!(titles(&list), ["Weather in Oslo?"]);
    assert!(list.contains("The <fjord> is cold."), "the line of the answer that has it: {list}");

    // One that another command has kept is gone on with, as what was said in it.
    up.place.run(&["chat", "--base-url", &up.endpoint.url(), "--model", "m", "Oslo again?"]).ok();
    let kept = up.place.run(&["log", "--json"]).ok().json()["sessions"][0]["id"].as_str().unwrap().to_owned();
    let (mut window, state) = up.look(&kept).await;
    assert_eq!((&state["chat"], &state["steps"][0]["text"]), (&json!(kept), &json!("Oslo again?")));
    up.post("/ask", json!({"chat": kept, "text": "How long is it?"})).await;
    assert_eq!(window.step("answer").await["text"], "4 messages", "a prompt, two questions, an answer");
    window.step("end").await;

    let shared = up.get(&format!("/share?chat={}", begun[0])).await;
    let name = shared.headers()["content-disposition"].to_str().unwrap().to_owned();
    assert_eq!(name, format!("attachment; filename=\"conversation-{}.html\"", begun[0]));
    let page = shared.text().await.unwrap();
    assert!(page.contains("The &lt;fjord&gt; is cold.") && !page.contains("<script"), "{page}");
    // Times are known of what was begun here, sizes of the rest.
    for (chat, unit) in [(&begun[0], "ms</span>"), (&kept, "B</span>")] {
        let page = up.get(&format!("/timeline?chat={chat}")).await.text().await.unwrap();
        assert!(page.contains(&format!("href=\"&#x2f;#{chat}\"")), "{page}");
        assert!(page.contains("class=\"track\"") && page.contains(unit), "{unit}: {page}");
    }
    assert_eq!(up.get("/timeline?chat=00000000").await.status(), 404);
}

#[tokio::test]
async fn a_picture_of_a_tool_is_shown_while_the_turn_goes_on_and_later() {
    let place = Place::new();
    place.servers(json!({ "eyes": seeing_server() }));
    let replies = [mcp_call("eyes", "shot", &json!({})), "A dot.".to_owned()];
    let endpoint = Endpoint::start(replies.iter().map(|text| Reply::text(text)));
    let mut up = Up::start_in(place, endpoint, &["--yes"], &[]);
    up.enter().await;
    let (mut window, state) = up.look("").await;
    let chat = state["chat"].as_str().unwrap();
    up.post("/ask", json!({"chat": chat, "text": "Look."})).await;
    let outcome = window.step("outcome").await;
    assert_eq!(outcome["pictures"], 1);
    let at = |n: u8| format!("/picture?chat={chat}&call={}&n={n}", outcome["call"].as_str().unwrap());
    let picture = up.get(&at(0)).await;
    assert_eq!(picture.headers()["content-type"], "image/gif");
    assert!(picture.bytes().await.unwrap().starts_with(b"GIF89a"));
    assert_eq!(up.get(&at(1)).await.status(), 404);
    window.step("end").await;
    assert!(up.look(chat).await.1["steps"].as_array().unwrap().contains(&outcome));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_model_is_chosen_by_the_names_of_the_settings_and_of_the_endpoint() {
    let endpoint = Endpoint::setup().models(&["m", "tiny"]).answer(|_, _| Reply::text("Well."));
    let other = Endpoint::setup().models(&["far"]).answer(|_, _| Reply::text("From afar."));
    let place = Place::new();
    let names = format!("[endpoints.there]\nurl = \"{}\"\n\n[models]\nr1 = \"there:far\"\n", other.url());
    std::fs::create_dir_all(place.path(".config/toolgraft")).unwrap();
    place.write(".config/toolgraft/config.toml", &names);
    place.servers(json!({}));
    let mut up = Up::start_in(place, endpoint, &[], &[]);
    up.enter().await;
    let (mut window, state) = up.look("").await;
    assert_eq!(state["model"], "m");
    let models = up.get("/models").await.json::<Value>().await.unwrap();
    assert_eq!(models["models"], json!(["r1", "m", "tiny"]));
    let choose = |model: &str| json!({"chat": state["chat"], "model": model});
    let ask = json!({"chat": state["chat"], "text": "Hi"});
    for (model, is, at) in [("tiny", "tiny", 0), ("r1", "far", 1), ("m", "m", 0), ("there:far", "far", 1)] {
        assert_eq!(up.post("/model", choose(model)).await.0, 200);
        assert_eq!(window.step("model").await["model"], is);
        assert_eq!(up.post("/ask", ask.clone()).await.0, 200);
        window.step("end").await;
        let seen = [&up.endpoint, &other][at].seen();
        assert_eq!(seen.last().unwrap().body["model"], is);
    }
    let (_, new) = up.look("").await;
    assert_eq!(new["model"], "far", "a new conversation begins with what was chosen last");
    let (status, why) = up.post("/model", choose("nowhere:")).await;
    assert_eq!(status, 200, "a name that nobody knows is a model of this endpoint: {why}");
    let (status, why) = up.post("/model", choose("there:")).await;
    assert!(status == 400 && why["error"].as_str().unwrap().contains("name a model of it"), "{why}");
}

#[tokio::test]
async fn a_server_that_asks_for_input_is_answered_in_the_window() {
    use crate::elicit::{asks, form};

    let fields = json!({"name": {"type": "string", "title": "Your name"}, "age": {"type": "integer", "minimum": 0}});
    let place = Place::new();
    place.servers(json!({ "tickets": asks(&form(&format!("Who flies?{}", "x".repeat(8000)), &fields, &["name"])) }));
    let endpoint = Endpoint::answer(|seen, _| match seen.question() {
        asked if asked.contains("action") => Reply::text("So be it."),
        _ => Reply::text(&mcp_call("tickets", "ask", &json!({}))),
    });
    let mut up = Up::start_in(place, endpoint, &["--yes"], &[]);
    up.enter().await;
    let (mut window, state) = up.look("").await;
    let ask = json!({"chat": state["chat"], "text": "Book it."});
    let told = |up: &Up| {
        let told = std::fs::read_to_string(up.place.path("told")).unwrap();
        serde_json::from_str::<Value>(&told).unwrap()["result"].clone()
    };
    up.post("/ask", ask.clone()).await;
    let asked = window.step("input").await;
    assert_eq!(asked["title"], "tickets asks for input");
    // What a field wants stands at the field.
    let text = asked["text"].as_str().unwrap();
    assert!(text.starts_with("Who flies?xxx") && text.ends_with("x\n… 10 characters more"), "{text}");
    assert_eq!(
        asked["fields"][0],
        json!({"name": "name", "label": "Your name: text; required", "help": "", "choices": []})
    );
    let answer = |values: Value| json!({"input": asked["input"], "values": values});
    let (status, wrong) = up.post("/input", answer(json!({"name": "Ada", "age": "old"}))).await;
    assert_eq!(status, 200, "a slip of the person is no fault of the page");
    assert!(wrong["wrong"].as_str().unwrap().starts_with("age: "), "{wrong}");
    assert_eq!(up.post("/input", answer(json!({"name": "Ada", "age": "36"}))).await.0, 200);
    assert_eq!(window.step("input-over").await["input"], asked["input"]);
    assert_eq!(up.post("/input", answer(json!({"name": "Eve"}))).await.0, 404);
    window.step("end").await;
    assert_eq!(told(&up), json!({"action": "accept", "content": {"name": "Ada", "age": 36}}));

    up.post("/ask", ask.clone()).await;
    let asked = window.step("input").await;
    up.post("/input", json!({"input": asked["input"]})).await;
    window.step("end").await;
    assert_eq!(told(&up)["action"], "decline");

    // A turn that is stopped takes its question along.
    up.post("/ask", ask).await;
    window.step("input").await;
    up.post("/stop", json!({"chat": state["chat"]})).await;
    let mut last = [window.step_of(&["input-over", "end"]).await, window.step_of(&["input-over", "end"]).await];
    last.sort_by_key(|step| step["step"].to_string());
    assert_eq!((&last[0]["step"], &last[1]["step"]), (&json!("end"), &json!("input-over")));
}

#[tokio::test]
async fn what_is_not_to_be_kept_is_shown_as_long_as_the_page_runs() {
    let mut up = Up::start(Endpoint::start([Reply::text("Cold.")]), &["--no-session"], &[]);
    up.enter().await;
    let (mut window, state) = up.look("").await;
    up.post("/ask", json!({"chat": state["chat"], "text": "Oslo?"})).await;
    window.step("end").await;
    let chat = state["chat"].as_str().unwrap();
    assert_eq!(up.look(chat).await.1["steps"][0]["text"], "Oslo?");
    assert!(up.get(&format!("/share?chat={chat}")).await.text().await.unwrap().contains("Cold."));
    assert_eq!(up.get("/chats?q=").await.text().await.unwrap(), "{\"chats\":[]}");
    assert_eq!(up.place.run(&["log", "--json"]).ok().json()["sessions"], json!([]));
}

#[tokio::test]
async fn a_conversation_that_another_chat_is_at_is_gone_on_with_as_a_copy() {
    let place_of = |up: &Up| up.place.dir.path().to_owned();
    let endpoint = Endpoint::answer(|_, _| Reply::text("Cold."));
    let mut up = Up::start(endpoint, &[], &[]);
    up.enter().await;
    let (mut window, state) = up.look("").await;
    up.post("/ask", json!({"chat": state["chat"], "text": "Oslo?"})).await;
    window.step("end").await;
    let mut command = crate::process::command_in(&place_of(&up), &["chat", "--continue", "And Bergen?"]);
    let run = crate::process::Run::of(command.env("OPENAI_BASE_URL", up.endpoint.url())).ok();
    assert!(run.err.contains("is open in another chat"), "{}", run.err);
}

#[tokio::test]
async fn servers_and_tools_are_switched_and_the_next_request_knows() {
    let endpoint = Endpoint::answer(|seen, _| {
        let has = |tool: &str| seen.messages().contains(tool);
        Reply::text(&format!("{} {}", has("write_file"), has("time_query")))
    });
    let mut up = Up::start(endpoint, &[], &[]);
    up.enter().await;
    let (mut window, state) = up.look("").await;
    let mut offered = async |up: &Up| {
        up.post("/ask", json!({"chat": state["chat"], "text": "What have you got?"})).await;
        let answer = window.step("answer").await["text"].as_str().unwrap().to_owned();
        window.step("end").await;
        answer
    };
    assert_eq!(offered(&up).await, "true true");
    let (status, now) = up.post("/switch", json!({"server": "files", "on": false})).await;
    assert_eq!(
        (status, &now["servers"][1]["name"], &now["servers"][1]["state"]),
        (200, &json!("files"), &json!("disabled"))
    );
    let off = json!({"server": "demo", "tool": "time_query", "on": false});
    let (_, now) = up.post("/switch", off).await;
    let tools = now["servers"][0]["tools"].as_array().unwrap();
    assert!(tools.contains(&json!({"name": "time_query", "on": false})), "{now}");
    let reports: Value = serde_json::from_str(&up.get("/tools").await.text().await.unwrap()).unwrap();
    assert_eq!(reports["servers"], now["servers"]);
    assert_eq!(offered(&up).await, "false false");
    up.post("/switch", json!({"server": "files", "on": true})).await;
    assert!(offered(&up).await.starts_with("true"));
    let (status, refused) = up.post("/switch", json!({"server": "none", "on": true})).await;
    assert_eq!(status, 409);
    assert!(refused["error"].as_str().unwrap().contains("none"), "{refused}");
}

#[tokio::test]
async fn a_name_in_the_list_of_tools_hides_nothing() {
    let tools = ["li\u{202e}st", "plain"].map(|name| json!({"name": name, "inputSchema": {"type": "object"}}));
    let place = Place::new();
    place.servers(json!({ "s": answering_server(&json!({"tools/list": {"tools": tools}})) }));
    let mut up = Up::start_in(place, Endpoint::start([]), &[], &[]);
    up.enter().await;
    let listed = up.get("/tools").await.json::<Value>().await.unwrap();
    let hidden = json!({"name": "li\u{202e}st", "on": true, "shown": "li⟨U+202E⟩st"});
    assert_eq!(listed["servers"][0]["tools"], json!([hidden, {"name": "plain", "on": true}]));
}

#[tokio::test]
async fn a_question_that_got_no_answer_is_given_back() {
    let endpoint = Endpoint::start([Reply::refused(400, "no such model"), Reply::text("Cold.")]);
    let mut up = Up::start(endpoint, &[], &[]);
    up.enter().await;
    let (mut window, state) = up.look("").await;
    up.post("/ask", json!({"chat": state["chat"], "text": "Oslo?"})).await;
    let end = window.step("end").await;
    assert_eq!(end["again"], true);
    assert!(end["stopped"].as_str().unwrap().contains("no such model"), "{end}");
    assert_eq!(up.look(state["chat"].as_str().unwrap()).await.1["steps"], json!([]));
    up.post("/ask", json!({"chat": state["chat"], "text": "Oslo?"})).await;
    assert_eq!(window.step("end").await["again"], false);
}

#[cfg(unix)]
#[tokio::test]
async fn a_turn_is_stopped_and_what_was_said_until_then_stays() {
    let stalls = |text: &str| Reply::events(&[says(text)]).end(End::Stall);
    let mut up = Up::start(Endpoint::start([stalls("It is "), Reply::text("Rain."), stalls("Well ")]), &[], &[]);
    up.enter().await;
    let (mut window, state) = up.look("").await;
    let ask = |text: &str| json!({"chat": state["chat"], "text": text});
    up.post("/ask", ask("Oslo?")).await;
    window.step("text").await;
    up.post("/stop", json!({"chat": state["chat"]})).await;
    let end = window.step("end").await;
    assert_eq!((&end["stopped"], &end["again"]), (&json!("the turn was cancelled"), &json!(false)));
    up.post("/ask", ask("Bergen?")).await;
    window.step("end").await;
    up.post("/ask", ask("Narvik?")).await;
    window.step("text").await;
    // Ctrl-C ends all of it, in order.
    let said = up.end();
    assert!(said.contains("Ctrl-C ends the program"), "{said}");
    let id = state["chat"].as_str().unwrap();
    let shown = up.place.run(&["log", "show", id]).ok().out;
    assert!(shown.contains("\n\nOslo?\n") && shown.contains("\n\nNarvik?\n"), "{shown}");
}
