//! Error messages: what is wrong, where and the remedy, in lines of one form and without names of libraries.

use std::io::Write as _;

use toolgraft_testkit::endpoint::{End, Endpoint, Reply, says};

use crate::process::{Place, Run};

const LIBRARIES: [&str; 9] = [
    "client error", "tcp connect", "os error", "InvalidContentType", "dns error", "anyOf", "nonzero",
    "chunk size line", "u32",
];

fn is_plain(run: &Run) {
    for library in LIBRARIES {
        assert!(!run.err.contains(library), "{library}: {}", run.err);
    }
    let (errors, others): (Vec<&str>, Vec<&str>) =
        run.err.lines().filter(|line| !line.starts_with(' ')).partition(|line| line.starts_with("error: "));
    assert!(!errors.is_empty(), "{}", run.err);
    // What chat says of the round that failed.
    assert!(others.iter().all(|line| line.contains("no MCP servers") || line.contains("1 round")), "{others:?}");
}

fn ask(url: &str, more: &[&str]) -> Run {
    Place::new().run(&[&["chat", "--base-url", url, "--model", "m", "hi"], more].concat())
}

/// A port that answers a TLS greeting as HTTP without TLS does.
fn plain_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut socket in listener.incoming().map_while(Result::ok) {
            let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
        }
    });
    port
}

#[test]
fn an_endpoint_that_cannot_be_reached_is_told_in_plain_words() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let with_tls = format!("https://127.0.0.1:{}/v1", plain_port());
    for (url, words) in [
        (&format!("http://127.0.0.1:{free}/v1"), "nothing listens there: is the server running"),
        (&with_tls, "the server does not use TLS there: write http:// instead of https://"),
    ] {
        let run = ask(url, &[]);
        run.fails_with(1, &["error: the model failed: cannot connect to ", words]);
        is_plain(&run);
        // The cost is printed after the error; and without a model it is the same failure.
        assert!(run.err.find("error: ") < run.err.find("1 round, no calls"), "{run:?}");
        Place::new().run(&["chat", "--base-url", url, "Hi"]).fails_with(1, &["no model was named", words]);
    }
}

#[test]
fn a_stream_that_breaks_and_a_key_that_is_missing_say_what_helps() {
    let endpoint = Endpoint::start([Reply::events(&[says("Half")]).end(End::Break), Reply::refused(401, "no key")]);
    let run = ask(&endpoint.url(), &[]);
    run.fails_with(
        1,
        &["the answer was cut off: the connection failed: it was closed before the end", "server's own log"],
    );
    is_plain(&run);
    let run = ask(&endpoint.url(), &[]);
    run.fails_with(1, &["HTTP 401: no key: set the API key (the command takes it from OPENAI_API_KEY)"]);
    is_plain(&run);
}

#[test]
fn several_mistakes_of_one_file_have_a_line_each_that_begins_alike() {
    let place = Place::new();
    let file = place.dir.path().join(".config/toolgraft/config.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "model = 3\nbase_urll = \"x\"\nmax_tokens = \"a\"\n").unwrap();
    let run = place.run(&["config"]);
    run.fails_with(2, &["config.toml:1: model: ", "no key \"base_urll\": did you mean \"base_url\"?"]);
    run.fails_with(2, &["max_tokens: found string \"a\", expected a whole number above 0: write, for instance, "]);
    assert_eq!(run.err.matches("error: ").count(), 3, "{}", run.err);
    is_plain(&run);

    let place = Place::new();
    let servers =
        r#"{"mcpServers": {"a": {"command": 5, "args": "x"}, "b": {"comand": "y"}, "c": {"command": "npx -y z"}}}"#;
    std::fs::write(place.dir.path().join("mcp.json"), servers).unwrap();
    let run = place.run(&["mcp", "tools", "--mcp-config", "mcp.json"]);
    run.fails_with(2, &["\"command\" must be a string", "did you mean \"command\"?", "\"args\": [\"-y\", \"z\"]"]);
    assert_eq!(run.err.lines().filter(|line| line.starts_with("error: ")).count(), 3, "{}", run.err);
    is_plain(&run);
}

#[test]
fn a_type_that_no_schema_has_is_named_with_those_that_there_are() {
    let place = Place::new();
    std::fs::write(place.dir.path().join("s.json"), r#"{"properties": {"a": {"type": "strin"}}}"#).unwrap();
    let run = place.run(&["chat", "--schema", "s.json", "--base-url", "http://127.0.0.1:9/v1", "--model", "m", "hi"]);
    run.fails_with(2, &["s.json", "/properties/a/type: \"strin\" is not a type: expected one of string, number, "]);
    is_plain(&run);
}

#[test]
fn a_server_that_ends_at_once_without_a_word_says_what_to_do() {
    let place = Place::new();
    std::fs::write(place.dir.path().join("mcp.json"), r#"{"mcpServers": {"a": {"command": "false"}}}"#).unwrap();
    let run = place.run(&["mcp", "tools", "--mcp-config", "mcp.json"]);
    run.fails_with(1, &["(exit status: 1); it wrote nothing to stderr: run it by hand to see why"]);
    is_plain(&run);
}

#[test]
fn files_that_are_wrong_are_told_in_plain_words() {
    let place = Place::new();
    place.write("cut.json", "{\"tools\": [\n");
    place.write("words.json", "my notes");
    place.write("data.bin", b"\x7fELF\0\0\xd0");
    for (args, words) in [
        (&["prompt", "--tool-file", "cut.json"][..], "cut.json:2:1: the text ends inside a list: fix the JSON there"),
        (&["prompt", "--tool-file", "none.json"], "cannot read none.json: No such file or directory\n"),
        (&["prompt", "--tool-file", "data.bin"], "data.bin is a binary file: name a text file"),
        (&["chat", "-f", "data.bin", "hi"], "-f data.bin: the file is a binary file, and only texts and images"),
        (
            &["mcp", "add", "files"],
            "\"files\" has neither a URL nor a program: give its URL, or the program to start \
            after --",
        ),
        (&["config", "set", "allow", "[1]"], "write, for instance, allow = [\"files.read_*\"]"),
        (
            &["config", "set", "lang", "de"],
            "lang: found `de`, expected `en` or `zh`: write, for instance, lang = \"en\"",
        ),
    ] {
        let run = place.run(args);
        run.refuses(2, words);
        is_plain(&run);
    }
    let endpoint = Endpoint::start([]);
    for (flag, words) in [
        ("--schema", "words.json:1:1: expected a JSON value: fix the JSON there"),
        ("--resume", "words.json: not a saved conversation (1:1: expected a JSON value): name a .json file of /save"),
    ] {
        let run = place.run(&["chat", "--base-url", &endpoint.url(), "--model", "m", flag, "words.json", "hi"]);
        run.refuses(2, words);
        is_plain(&run);
    }
    let run = place.run(&["chat", "--base-url", "localhost:11434", "--model", "m", "hi"]);
    run.refuses(2, "(it has no http:// or https:// in front): write http://HOST:PORT/v1");
    let run = place.run(&["serve", "--base-url", &endpoint.url(), "--listen", "here"]);
    run.refuses(2, "expected HOST:PORT, such as 127.0.0.1:8787");
}

#[test]
fn a_mistake_of_the_command_line_gets_one_tip_that_is_right() {
    let place = Place::new();
    for (line, tip) in [
        ("mcp add --transport http t https://h/mcp", "a URL needs no option"),
        ("mcp add t https://h/mcp --transport http", "a URL needs no option"),
        ("mcp add -e A=b t -- npx", "here that is --env NAME=VALUE"),
        ("mcp add t -s user -- npx", "--mcp-config FILE names another file"),
        ("mcp add t npx -y p", "toolgraft mcp add t -- npx -y p"),
        ("mcp call demo echo --text x", "needs no dashes: 'text=x'"),
        ("mcp call demo echo --text=x", "needs no dashes: 'text=x'"),
        ("chat -p hi", "toolgraft chat QUESTION"),
        ("chat --url http://h/v1", "here that is --base-url URL"),
        ("chat --api-base http://h/v1", "here that is --base-url URL"),
        ("chat --max-token 5", "a similar option exists: --max-tokens"),
        ("chat --temprature 0.4", "a similar option exists: --temperature"),
        ("chat --verbose", "chat --trace FILE"),
        ("mcp ls", "a similar subcommand exists: 'list'"),
        ("mcp rm t", "here that is: toolgraft mcp remove t"),
        ("config get model", "here that is: toolgraft config show"),
        ("config edit", "here that is: toolgraft config path"),
        ("log delete 3f9a", "here that is: toolgraft log remove 3f9a"),
        ("chta", "a similar subcommand exists: 'chat'"),
        ("run m", "here that is: toolgraft chat --model m"),
    ] {
        let run = place.run(&line.split(' ').collect::<Vec<_>>());
        run.refuses(2, tip);
        assert_eq!(run.err.matches("tip: ").count(), 1, "{line}: {}", run.err);
    }
    for line in ["help nope", "serve --xyzzy"] {
        let run = place.run(&line.split(' ').collect::<Vec<_>>());
        assert!(run.code == Some(2) && !run.err.contains("tip: "), "{line}: {}", run.err);
    }
    place.run(&["log", "--limit", "0"]).refuses(2, "expected a whole number above 0");
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_not_read() {
    let place = Place::new();
    let made = std::process::Command::new("mkfifo").arg(place.path("pipe")).status().unwrap();
    assert!(made.success());
    for file in ["/dev/zero", "pipe"] {
        let run = place.run(&["chat", "--base-url", "http://127.0.0.1:9/v1", "--model", "m", "-f", file, "Hi"]);
        run.refuses(2, &format!("{file} is a device or a named pipe, which may never end: name a file"));
    }
    place.write("a.md", "one");
    place.write("b.md", "two");
    let endpoint = Endpoint::start([Reply::text("Read.")]);
    let run = place.run(&["chat", "--base-url", &endpoint.url(), "--model", "m", "-f", "a.md", "b.md"]).ok();
    assert!(run.err.contains("b.md is a word of the question, and not sent as a file"), "{}", run.err);
    // Where nothing can be kept, that is a warning in plain words.
    let endpoint = Endpoint::start([Reply::text("Hi.")]);
    let args = ["chat", "--base-url", &endpoint.url(), "--model", "m", "Hi"];
    let run = place.run_with(&args, |command| command.env("HOME", place.path("a.md"))).ok();
    assert!(run.err.contains("warning: ") && !run.err.contains("os error"), "{}", run.err);
    let script = format!("'{}' prompt --tool-file <(echo '[]')", crate::process::TOOLGRAFT);
    let through = std::process::Command::new("bash").args(["-c", &script]).output().unwrap();
    assert!(through.status.success(), "{through:?}");
}
