//! `toolgraft chat` on a terminal: the built program on a pty, a scripted endpoint, a real MCP server.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::process::{Place, TOOLGRAFT, demo_server};
use rexpect::reader::Options;
use rexpect::session::{PtySession, spawn_with_options};
use rustix::termios::{LocalModes, tcgetattr};
use serde_json::{Value, json};
use toolgraft_testkit::endpoint::{End, Endpoint, Reply, mcp_call, says, stops, thinks};

/// After this time something that should have come has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// A conversation on a terminal.
pub(crate) struct Chat {
    terminal: PtySession,
    pid: i32,
    pub(crate) place: Place,
    pub(crate) endpoint: Endpoint,
}

impl Chat {
    /// Starts one with the bundled server, up to its prompt.
    fn start(endpoint: Endpoint) -> Self {
        Chat::start_with(endpoint, demo_server(), &["--model", "small-model"])
    }

    pub(crate) fn start_with(endpoint: Endpoint, server: Value, args: &[&str]) -> Self {
        let mut chat = Chat::open(endpoint, server, args);
        chat.sees("/help lists the commands");
        chat.sees("> ");
        chat
    }

    /// Starts the program and waits for nothing.
    fn open(endpoint: Endpoint, server: Value, args: &[&str]) -> Self {
        Chat::open_with(Place::new(), endpoint, server, args, &[])
    }

    /// The same in a place that holds something already, with these variables.
    fn open_with(place: Place, endpoint: Endpoint, server: Value, args: &[&str], variables: &[(&str, &str)]) -> Self {
        place.servers(json!({ "demo": server }));
        // The shell says the number of the process that it becomes.
        let mut command = Command::new("sh");
        command.args([
            "-c",
            "echo \"pid=$$.\"; eval \"exec \\\"\\$0\\\" \\\"\\$@\\\" $REDIRECTION\"",
            TOOLGRAFT,
            "chat",
        ]);
        command.args(["--base-url", &endpoint.url(), "--mcp-config", "mcp.json"]);
        command.args(["--set", "tools_mode=prompt"]).args(args);
        command.current_dir(place.dir.path()).env("HOME", place.dir.path()).env("TERM", "xterm").env("COLUMNS", "100");
        for name in ["OPENAI_API_KEY", "OPENAI_BASE_URL", "XDG_STATE_HOME", "NO_COLOR", "VISUAL", "EDITOR"] {
            command.env_remove(name);
        }
        command.envs(variables.iter().copied());
        let patience = u64::try_from(PATIENCE.as_millis()).unwrap();
        let options = Options::new().timeout_ms(Some(patience)).strip_ansi_escape_codes(true);
        let mut terminal = spawn_with_options(command, options).unwrap();
        let pid = terminal.exp_regex("pid=[0-9]+[.]").unwrap().1;
        let pid = pid.trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap();
        Chat { terminal, pid, place, endpoint }
    }

    /// Waits for a text; what came before it.
    #[track_caller]
    pub(crate) fn sees(&mut self, text: &str) -> String {
        // The reader makes a character of each byte.
        let bytes: String = text.bytes().map(char::from).collect();
        self.terminal.exp_string(&bytes).unwrap_or_else(|e| panic!("{text:?} did not come: {e}"))
    }

    /// Waits for a URL at the end of its row.
    #[track_caller]
    pub(crate) fn sees_url(&mut self) -> String {
        self.terminal.exp_regex("http://127[^ \r\n]+\r").unwrap().1.trim().to_owned()
    }

    /// Types without Enter.
    pub(crate) fn types(&mut self, text: &str) {
        self.terminal.send(text).unwrap();
        self.terminal.flush().unwrap();
    }

    pub(crate) fn says(&mut self, line: &str) {
        self.types(&format!("{line}\r"));
    }

    pub(crate) fn presses_ctrl(&mut self, key: char) {
        self.terminal.send_control(key).unwrap();
    }

    /// The program ends with this code after `last`, and no process that it started is left.
    #[track_caller]
    fn ends(mut self, code: i32, last: impl FnOnce(&mut Self)) -> String {
        let children = children(self.pid);
        assert!(!children.is_empty(), "the server is a child");
        last(&mut self);
        let rest = self.terminal.exp_eof().unwrap();
        let status = format!("{:?}", self.terminal.process().wait().unwrap());
        assert!(status.starts_with("Exited(") && status.ends_with(&format!(", {code})")), "{status}: {rest}");
        gone(&children);
        rest
    }

    /// The program ends well, whatever has become of its servers.
    #[track_caller]
    pub(crate) fn ends_by_itself(mut self) {
        let rest = self.terminal.exp_eof().unwrap();
        let status = format!("{:?}", self.terminal.process().wait().unwrap());
        assert!(status.starts_with("Exited(") && status.ends_with(", 0)"), "{status}: {rest}");
    }

    pub(crate) fn kills_its_servers(&self) {
        children(self.pid).into_iter().for_each(|pid| kill("KILL", pid));
    }

    /// Leaves by Ctrl-D.
    #[track_caller]
    pub(crate) fn leave(self) {
        self.ends(0, |chat| {
            chat.comes_to_a_prompt();
            chat.presses_ctrl('d');
        });
    }

    /// Waits until keys are read one by one. Before that the terminal itself takes
    /// Ctrl-D, for the end of a line, and the prompt never sees it.
    #[track_caller]
    fn comes_to_a_prompt(&self) {
        let (terminal, start) = (self.terminal.process().get_file_handle().unwrap(), Instant::now());
        while tcgetattr(&terminal).unwrap().local_modes.contains(LocalModes::ICANON) {
            assert!(start.elapsed() < PATIENCE, "the prompt did not come");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Processes whose parent this one is.
fn children(pid: i32) -> Vec<i32> {
    let numbers = fs::read_dir("/proc").unwrap().filter_map(|e| e.ok()?.file_name().to_str()?.parse().ok());
    numbers.filter(|child: &i32| parent(*child) == Some(pid)).collect()
}

fn parent(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything.
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[track_caller]
fn gone(pids: &[i32]) {
    let start = Instant::now();
    while pids.iter().any(|pid| Path::new(&format!("/proc/{pid}")).exists()) {
        assert!(start.elapsed() < PATIENCE, "processes are left over: {pids:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn kill(signal: &str, pid: i32) {
    assert!(Command::new("kill").args(["-s", signal, &pid.to_string()]).status().unwrap().success());
}

fn weather(city: &str) -> Reply {
    Reply::text(&mcp_call("demo", "weather_query", &json!({ "city": city })))
}

/// A model that asks for these cities one by one and then says what it was told last.
fn cities(names: &'static [&'static str]) -> Endpoint {
    Endpoint::answer(move |request, number| match names.get(number) {
        Some(city) => weather(city),
        None => Reply::text(if request.question().contains("too far away") { "So be it." } else { "All done." }),
    })
}

#[test]
fn yes_is_for_once_and_always_for_the_conversation() {
    let mut chat = Chat::start(cities(&["Oslo", "Rome", "Lima"]));
    chat.says("Weather?");
    chat.sees("\"city\":\"Oslo\"");
    chat.sees("Run demo.weather_query {\"city\":\"Oslo\"}? [y/a/n]");
    chat.says("y");
    chat.sees("result of demo.weather_query");
    chat.sees("Run demo.weather_query {\"city\":\"Rome\"}?");
    chat.says("a");
    chat.sees("result of demo.weather_query");
    let between = chat.sees("result of demo.weather_query");
    assert!(between.contains("Lima") && !between.contains("Run "), "{between}");
    chat.sees("All done.");
    chat.sees("4 rounds, 3 calls");
    chat.sees("> ");
    chat.leave();
}

#[test]
fn no_with_a_reason_reaches_the_model_and_nonsense_is_asked_again() {
    let endpoint = cities(&["Oslo"]);
    let mut chat = Chat::start(endpoint);
    chat.says("Weather?");
    chat.sees("[y/a/n]");
    chat.says("yes please, if you must");
    chat.sees("answer y (yes, once)");
    chat.sees("[y/a/n]");
    chat.says("n too far away");
    let before = chat.sees("So be it.");
    assert!(before.contains("not run: demo.weather_query") && !before.contains("result of"), "{before}");
    chat.leave();
}

#[test]
fn what_was_typed_ahead_answers_no_question() {
    let call = weather("Oslo").delay(Duration::from_millis(100));
    let mut chat = Chat::start(Endpoint::start([call, Reply::text("So be it.")]));
    chat.says("Weather?");
    chat.sees("waiting for the model");
    chat.says("y");
    chat.sees("[y/a/n]");
    chat.says("n");
    let before = chat.sees("So be it.");
    assert!(!before.contains("result of"), "{before}");
    // It waits at the prompt, where nobody has sent it yet.
    chat.sees("> y");
    chat.presses_ctrl('u');
    chat.leave();
}

#[test]
fn ctrl_c_cancels_the_answer_and_the_endpoint_sees_it() {
    let half = Reply::events(&[says("Half an ")]).end(End::Stall);
    let endpoint = Endpoint::start([half, Reply::text("Hello again.")]);
    let mut chat = Chat::start(endpoint);
    chat.says("Hi");
    chat.sees("Half an ");
    chat.presses_ctrl('c');
    chat.endpoint.gone_blocking();
    chat.sees("the turn was cancelled");
    chat.sees("> ");
    chat.says("And now?");
    chat.sees("Hello again.");
    assert!(chat.endpoint.seen()[1].messages().contains("Half an"), "what came is remembered");
    chat.leave();
}

#[test]
fn the_history_is_searched_whatever_the_case() {
    let mut chat = Chat::start(Endpoint::answer(|_, _| Reply::text("Well.")));
    chat.says("How is the Weather?");
    chat.sees("Well.");
    chat.sees("> ");
    chat.presses_ctrl('r');
    chat.types("weather");
    chat.sees("`weather': How is the Weather?");
    chat.presses_ctrl('c');
    chat.sees("> ");
    chat.leave();
}

#[test]
fn ctrl_c_twice_leaves_from_a_turn_and_from_the_prompt() {
    let stalled = || Endpoint::start([Reply::events(&[says("Half an ")]).end(End::Stall)]);
    let mut chat = Chat::start(stalled());
    chat.says("Hi");
    chat.sees("Half an ");
    chat.presses_ctrl('c');
    chat.sees("the turn was cancelled");
    chat.sees("> ");
    chat.ends(0, |chat| chat.presses_ctrl('c'));

    let mut chat = Chat::start(stalled());
    for line in ["half a line", "half another"] {
        chat.types(line);
        chat.sees(line);
        chat.presses_ctrl('c');
        chat.sees("Ctrl-C again leaves");
        chat.sees("> ");
    }
    chat.ends(0, |chat| chat.presses_ctrl('c'));
}

#[test]
fn ctrl_c_at_a_question_cancels_the_turn() {
    let mut chat = Chat::start(cities(&["Oslo"]));
    chat.says("Weather?");
    chat.sees("[y/a/n]");
    chat.presses_ctrl('c');
    let before = chat.sees("the turn was cancelled");
    assert!(!before.contains("result of"), "{before}");
    chat.sees("> ");
    chat.leave();
}

#[test]
fn a_server_that_dies_in_a_call_is_an_error_that_the_model_reads() {
    let endpoint = Endpoint::answer(|request, number| match number {
        0 => weather("Oslo"),
        _ => Reply::text(if request.question().contains("connection") { "It broke." } else { "?" }),
    });
    let slow = json!({ "command": TOOLGRAFT, "args": ["demo-server", "--delay", "600"] });
    let mut chat = Chat::start_with(endpoint, slow, &["--model", "small-model", "--yes"]);
    chat.says("Weather?");
    chat.sees("running demo.weather_query");
    chat.kills_its_servers();
    chat.sees("error of demo.weather_query");
    chat.sees("It broke.");
    chat.sees("> ");
    chat.presses_ctrl('d');
    chat.terminal.exp_eof().unwrap();
}

#[test]
fn ctrl_c_cancels_a_call_and_twice_leaves_no_child() {
    let slow = json!({ "command": TOOLGRAFT, "args": ["demo-server", "--delay", "600"] });
    let mut chat = Chat::start_with(cities(&["Oslo"]), slow, &["--model", "small-model", "--yes"]);
    chat.says("Weather?");
    chat.sees("running demo.weather_query");
    chat.presses_ctrl('c');
    chat.sees("cancelled: demo.weather_query");
    chat.sees("> ");
    chat.ends(0, |chat| chat.presses_ctrl('c'));
}

#[test]
fn signals_end_a_turn_and_a_prompt_and_leave_no_child() {
    for signal in ["TERM", "HUP"] {
        let stalled = || Endpoint::start([Reply::events(&[says("Half an ")]).end(End::Stall)]);
        let rest = Chat::start(stalled()).ends(1, |chat| kill(signal, chat.pid));
        assert!(rest.contains(&format!("stopped by SIG{signal}")), "{rest}");

        let mut chat = Chat::start(stalled());
        chat.says("Hi");
        chat.sees("Half an ");
        chat.ends(1, |chat| kill(signal, chat.pid));
    }
}

#[test]
fn reasoning_is_folded_to_a_line_and_can_be_shown() {
    let thought = Reply::events(&[thinks("Let me think of it."), says("It is so."), stops("stop")]).done();
    let mut chat = Chat::start(Endpoint::start([thought]));
    chat.says("Why?");
    chat.sees("thought for ");
    chat.sees("/think shows it");
    chat.sees("It is so.");
    chat.sees("> ");
    chat.says("/think");
    chat.sees("Let me think of it.");
    chat.leave();
}

#[test]
fn a_prompt_that_lacks_an_argument_is_refused_where_nobody_can_be_asked() {
    let redirection = [("REDIRECTION", "2>errors")];
    let mut chat = Chat::open_with(Place::new(), Endpoint::start([]), demo_server(), &["--model", "m"], &redirection);
    chat.sees("> ");
    chat.says("/demo:trip");
    chat.sees("the prompt \"trip\" also needs city=…");
    chat.leave();
}

#[test]
fn commands_show_the_tools_the_prompt_and_themselves() {
    let mut chat = Chat::start(Endpoint::start([Reply::text("Hello.")]));
    chat.says("/tools");
    chat.sees("weather_query(city, date?)");
    chat.says("/prompt");
    chat.sees("<use_mcp_tool>");
    chat.sees("tokens (o200k)");
    chat.says("/help");
    chat.sees("/demo:trip city=… [date=…]");
    chat.says("/tolls");
    chat.sees("no command /tolls; nearest: /tools");
    chat.says("/model other-model");
    chat.sees("other-model ·");
    chat.says("Hi");
    chat.sees("Hello.");
    chat.sees("> ");
    chat.says("/save c.pdf");
    chat.sees("c.pdf: no format has this ending: use .md, .json or .html\r\n");
    chat.says("/save my talk.json");
    chat.sees("spaces in quotation marks");
    chat.says("/save c.json");
    chat.sees("saved to c.json");
    let saved: Value = serde_json::from_str(&fs::read_to_string(chat.place.path("c.json")).unwrap()).unwrap();
    assert_eq!(
        (&saved["model"], saved["conversation"]["entries"].as_array().unwrap().len()),
        (&json!("other-model"), 2)
    );
    chat.ends(0, |chat| chat.says("/quit"));
}

#[test]
fn a_prompt_of_a_server_is_filled_in_and_sent() {
    let endpoint = Endpoint::answer(|request, _| Reply::text(&format!("<<{}>>", request.question())));
    let mut chat = Chat::start(endpoint);
    chat.says("/demo:trip date=2026-05-01");
    chat.sees("city (Where to go): ");
    chat.says("Rome");
    chat.sees("<<I travel to Rome on 2026-05-01.");
    chat.sees("> ");
    chat.says("/demo:trip where=Rome");
    chat.sees("where=Rome: expected NAME=VALUE with a name of: city, date");
    chat.leave();
}

#[test]
fn of_several_models_one_is_chosen() {
    let endpoint = Endpoint::setup().models(&["one:7b", "two:14b"]).start([Reply::text("Hello.")]);
    let mut chat = Chat::open(endpoint, demo_server(), &[]);
    chat.sees("2  two:14b");
    chat.sees("Which one? [1-2]");
    chat.says("3");
    chat.sees("a number from 1 to 2");
    chat.sees("Which one? [1-2]");
    chat.says("2");
    chat.sees("two:14b ·");
    chat.sees("> ");
    chat.says("Hi");
    chat.sees("Hello.");
    assert_eq!(chat.endpoint.seen().last().unwrap().body["model"], "two:14b");
    chat.leave();
}

#[test]
fn a_line_may_go_on_and_lines_are_kept_for_the_next_time() {
    let hello = || Endpoint::answer(|_, _| Reply::text("Hello."));
    let mut chat = Chat::start(hello());
    chat.says("first \\");
    chat.says("second");
    chat.sees("Hello.");
    assert_eq!(chat.endpoint.seen()[0].question(), "first \nsecond");
    let history = fs::read_to_string(chat.place.path(".local/state/toolgraft/history")).unwrap();
    assert!(history.contains("second"), "{history}");
    chat.leave();

    let place = Place::new();
    fs::create_dir_all(place.path(".config/toolgraft")).unwrap();
    place.write(".config/toolgraft/config.toml", "history = false\n");
    let mut chat = Chat::open_with(place, hello(), demo_server(), &["--model", "m"], &[]);
    chat.comes_to_a_prompt();
    chat.says("secret");
    chat.sees("Hello.");
    assert!(!chat.place.path(".local/state/toolgraft/history").exists());
    chat.leave();
}

#[test]
fn a_question_is_written_in_an_editor() {
    let place = Place::new();
    // It says what it was given, and adds a line; at the second time it empties the file, then it fails.
    let script = "#!/bin/sh\necho \"given $# $1 [$(cat \"$2\")]\" >> given\n\
                  case $(wc -l < given) in 1) printf 'of \"two\"\\nlines\\n\\n' >> \"$2\";; 2) : > \"$2\";; *) exit 3;; esac\n";
    place.write("editor", script);
    let endpoint = Endpoint::start(["Fine."].map(Reply::text));
    let mut chat =
        Chat::open_with(place, endpoint, demo_server(), &["--model", "m"], &[("EDITOR", "sh ./editor '-x y'")]);
    chat.comes_to_a_prompt();
    chat.says("/edit it's a question");
    chat.sees("lines");
    chat.sees("Fine.");
    chat.says("/edit");
    chat.sees("nothing was written");
    chat.says("/edit");
    chat.sees("the editor sh ./editor '-x y' failed: exit status: 3; no question is sent");
    assert_eq!(chat.endpoint.seen().iter().filter(|seen| seen.body.get("messages").is_some()).count(), 1);
    let asked = chat.endpoint.seen().iter().find(|seen| seen.body.get("messages").is_some()).unwrap().question();
    assert_eq!(asked, "it's a question\nof \"two\"\nlines");
    let given = std::fs::read_to_string(chat.place.path("given")).unwrap();
    assert_eq!(given, "given 2 -x y [it's a question]\ngiven 2 -x y []\ngiven 2 -x y []\n");
    let state = std::fs::read_dir(chat.place.path(".local/state/toolgraft")).unwrap();
    let left: Vec<_> = state
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| name.to_string_lossy().contains("question"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn without_an_editor_the_remedy_is_named() {
    let mut chat = Chat::start(Endpoint::start(["Fine."].map(Reply::text)));
    chat.says("/edit");
    chat.sees("no editor is set: `export EDITOR=nano`");
    chat.leave();
}

#[test]
fn a_conversation_is_renamed_cut_back_and_deleted() {
    let mut chat = Chat::start(Endpoint::start(["One.", "Two.", "Three."].map(Reply::text)));
    for (line, words) in [
        ("/delete now", "/delete takes no arguments"),
        ("/rename", "/rename TITLE: the title of this conversation"),
        ("First question", "One."),
        ("Second question", "Two."),
        ("/undo x", "/undo x: expected a number"),
        ("/undo 3", "only 2 questions can be taken back"),
        ("/undo 2", "taken back: First question"),
        ("Third question", "Three."),
        ("/rename Small  talk", "the title is: Small talk"),
    ] {
        chat.says(line);
        chat.sees(words);
    }
    let sessions = |chat: &Chat| chat.place.run(&["log", "--json"]).ok().json()["sessions"].clone();
    assert_eq!((&sessions(&chat)[0]["title"], &sessions(&chat)[0]["questions"]), (&json!("Small talk"), &json!(1)));
    assert_eq!(chat.place.run(&["log", "search", "small"]).ok().out.lines().count(), 1);
    chat.says("/delete");
    chat.sees("for good? [y/n]");
    chat.says("n");
    chat.sees("nothing is deleted");
    assert_eq!(sessions(&chat)[0]["title"], "Small talk");
    chat.says("/delete");
    chat.sees("for good? [y/n]");
    chat.says("y");
    chat.sees("deleted; a new conversation");
    assert_eq!(sessions(&chat), json!([]));
    let seen = chat.endpoint.seen();
    let last = seen.iter().rfind(|request| request.body.get("messages").is_some()).unwrap();
    assert!(!last.messages().contains("First") && !last.messages().contains("Second"), "{}", last.messages());
    chat.leave();
}

#[test]
fn a_question_is_asked_once_more_and_taken_back() {
    let endpoint = Endpoint::setup().models(&["small-model", "large-model"]);
    let mut chat = Chat::start(endpoint.start(["One.", "Two.", "Three."].map(Reply::text)));
    chat.says("/undo");
    chat.sees("nothing was asked yet");
    chat.says("First question");
    chat.sees("One.");
    chat.says("/retry");
    chat.sees("Two.");
    chat.says("/undo");
    chat.sees("taken back: First question");
    chat.says("/model");
    chat.sees("* small-model");
    chat.sees("large-model");
    chat.says("/model large-modle");
    chat.sees("warning: the endpoint does not list large-modle; nearest: large-model");
    chat.says("/model large-model");
    chat.sees("large-model");
    chat.says("Second question");
    chat.sees("Three.");
    let seen = chat.endpoint.seen();
    let asked: Vec<_> = seen.iter().filter(|request| request.body.get("messages").is_some()).collect();
    assert_eq!(asked[1].question(), "First question");
    assert!(!asked[1].messages().contains("One.") && !asked[2].messages().contains("First question"));
    assert_eq!(asked[2].body["model"], "large-model");
    let rest = chat.ends(0, |chat| {
        chat.comes_to_a_prompt();
        chat.presses_ctrl('d');
    });
    assert!(rest.contains("`toolgraft chat --continue` continues it"), "{rest}");
}
