//! `toolgraft mcp login` and `logout`, and what other commands make of a login.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use serde_json::json;
use toolgraft_testkit::oauth_mcp::{OAuthMcp, Revokes, Ways, browse};

use crate::process::{Place, Run, TOOLGRAFT};

const CONFIG: [&str; 2] = ["--mcp-config", "mcp.json"];

fn guarded(ways: Ways) -> (Place, OAuthMcp) {
    let (place, servers) = (Place::new(), OAuthMcp::start(ways));
    place.servers(json!({ "guarded": { "url": servers.url() }, "plain": { "command": "true" } }));
    (place, servers)
}

/// Logs in as a person does who opens the printed page; what the program says, and the page
/// that the browser ends at.
fn log_in(place: &Place) -> (Run, String) {
    let mut command = std::process::Command::new(TOOLGRAFT);
    command.args(["mcp", "login", "guarded", "--no-open"]).args(CONFIG).current_dir(place.dir.path());
    command.env("HOME", place.dir.path()).env("NO_PROXY", "127.0.0.1").env_remove("XDG_STATE_HOME");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let (mut url, mut rest, mut err) = (String::new(), String::new(), String::new());
    out.read_line(&mut url).unwrap();
    let page = match url.trim() {
        "" => String::new(),
        url => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(browse(url)).1
        }
    };
    out.read_to_string(&mut rest).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    let code = child.wait().unwrap().code();
    (Run { code, out: format!("{url}{rest}"), err }, page)
}

#[test]
fn a_login_by_the_printed_page_lets_calls_through_until_the_logout() {
    let (place, servers) = guarded(Ways::default());
    let call = ["mcp", "call", "guarded", "hello"];
    let call = || place.run(&[&call[..], &CONFIG].concat());
    call().refuses(1, "a login is required: run `toolgraft mcp login guarded`");

    let (run, page) = log_in(&place);
    let run = run.ok();
    assert!(run.out.starts_with("http://127.0.0.1:") && run.out.ends_with("logged in at \"guarded\"\n"), "{run:?}");
    assert!(run.err.contains("to log in at \"guarded\", open this page:"), "{run:?}");
    assert!(page.contains("You are logged in"), "{page}");
    assert_eq!(call().quiet().out, "hello, you are in\n");

    // Refreshed without a word, and kept so.
    servers.forget_tokens();
    assert_eq!(call().quiet().out, "hello, you are in\n");
    assert_eq!(call().quiet().out, "hello, you are in\n");
    assert_eq!(servers.seen("as", "POST", "/token").len(), 2);

    let logout = ["mcp", "logout", "guarded"];
    let logout = || place.run(&[&logout[..], &CONFIG].concat());
    let out = logout().ok();
    assert_eq!(out.out, "logged out at \"guarded\"\n");
    assert!(out.err.contains("warning: the tokens are removed here, but were not revoked: its"), "{out:?}");
    logout().refuses(2, "there was no login at \"guarded\"");
    call().refuses(1, "run `toolgraft mcp login guarded`");
}

#[test]
fn a_logout_takes_the_tokens_back_where_they_were_given_and_shows_them_to_nobody_else() {
    let (place, servers) = guarded(Ways { revokes: Revokes::Here, ..Ways::default() });
    let logout = || place.run(&["mcp", "logout", "guarded", "--mcp-config", "mcp.json"]);
    log_in(&place).0.ok();
    assert_eq!(logout().quiet().out, "logged out at \"guarded\"\n");
    assert_eq!(servers.secrets(), [""; 0], "both tokens are good for nothing any more");
    logout().refuses(2, "there was no login at \"guarded\"");

    log_in(&place).0.ok();
    servers.change(|ways| ways.revokes = Revokes::AtTheStranger);
    let out = logout().ok();
    assert!(out.err.contains("its authorization server does not revoke tokens"), "{out:?}");
    assert!(servers.seen("stranger", "POST", "/").is_empty());

    log_in(&place).0.ok();
    drop(servers);
    let out = logout().ok();
    assert!(out.out == "logged out at \"guarded\"\n" && out.err.contains("were not revoked: "), "{out:?}");
    logout().refuses(2, "there was no login at \"guarded\"");
}

#[cfg(unix)]
#[test]
fn tokens_lie_in_files_of_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let (place, servers) = guarded(Ways::default());
    log_in(&place).0.ok();
    let folder = place.dir.path().join(".local/state/toolgraft/logins");
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!((files.len(), mode(&files[0]), mode(&folder)), (1, 0o600, 0o700));
    let kept = std::fs::read_to_string(&files[0]).unwrap();
    assert!(servers.secrets().iter().all(|secret| kept.contains(secret)), "{kept}");
}

#[test]
fn rights_that_are_missing_name_the_remedy_and_come_with_the_next_login() {
    let (place, servers) = guarded(Ways::default());
    log_in(&place).0.ok();
    let admin = || place.run(&["mcp", "call", "guarded", "admin", "--mcp-config", "mcp.json"]);
    let refused = admin();
    assert_eq!(refused.code, Some(1));
    let said = format!("{}{}", refused.out, refused.err);
    assert!(said.contains("(admin): run `toolgraft mcp login guarded`"), "{refused:?}");
    log_in(&place).0.ok();
    assert!(servers.seen("as", "GET", "/authorize")[1].query.contains("scope=basic+admin"));
    assert_eq!(admin().quiet().out, "hello, you are in\n");
}

#[test]
fn a_login_that_is_refused_says_why_on_both_sides() {
    let (place, _servers) = guarded(Ways { error: Some("access_denied"), ..Ways::default() });
    let (run, page) = log_in(&place);
    run.fails_with(1, &["server \"guarded\": the authorization server refuses: access_denied"]);
    assert!(page.contains("You are not logged in"), "{page}");
    place
        .run(&["mcp", "login", "plain", "--mcp-config", "mcp.json"])
        .refuses(2, "server \"plain\": a server over stdio has no login");
    place.run(&["mcp", "login", "nobody", "--mcp-config", "mcp.json"]).refuses(2, "no server \"nobody\"");
}

#[test]
fn a_projects_own_file_that_nobody_trusts_starts_no_login() {
    let (place, servers) = guarded(Ways::default());
    let oauth = json!({ "clientId": "their-client", "clientSecret": "s3cret-of-theirs" });
    let config = json!({ "mcpServers": { "guarded": { "url": servers.url(), "oauth": oauth } } });
    place.write(".mcp.json", config.to_string());
    for command in ["login", "logout"] {
        let run = place.run(&["mcp", command, "guarded"]);
        run.refuses(2, "there is no terminal to ask on");
        assert!(run.err.contains("guarded: logs in with clientId their-client"), "{run:?}");
        assert!(!run.err.contains("s3cret"), "{run:?}");
    }
    for method in ["GET", "POST"] {
        assert!(servers.seen("mcp", method, "/").is_empty(), "{method}");
    }
}

#[test]
fn tokens_and_client_secrets_are_in_no_list() {
    let (place, servers) = guarded(Ways::default());
    log_in(&place).0.ok();
    let oauth = json!({ "clientId": "my-client", "clientSecret": "s3cret-of-mine" });
    place.servers(json!({ "guarded": { "url": servers.url(), "oauth": oauth } }));
    for command in
        [&["mcp", "list"][..], &["mcp", "list", "--json"], &["mcp", "check", "--json"], &["mcp", "tools", "--json"]]
    {
        let run = place.run(&[command, &CONFIG].concat());
        let said = format!("{}{}", run.out, run.err);
        assert!(!said.contains("s3cret") && run.code == Some(0), "{command:?}: {said}");
        assert!(!servers.secrets().iter().any(|secret| said.contains(secret)), "{command:?}: {said}");
    }
}

/// A login at a terminal, with a program for pages that writes down what it is given.
#[cfg(target_os = "linux")]
#[test]
fn at_a_terminal_with_a_display_the_page_is_opened_without_a_shell() {
    use std::os::unix::fs::PermissionsExt;
    let (place, _servers) = guarded(Ways::default());
    let opener = place
        .write("xdg-open", "#!/bin/sh\nprintf '%s\\n' \"$#\" \"$1\" > opened.partial && mv opened.partial opened\n");
    std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o755)).unwrap();
    let command = |display: &str, flags: &[&str]| {
        let mut command = std::process::Command::new(TOOLGRAFT);
        command.args(["mcp", "login", "guarded"]).args(CONFIG).args(flags).current_dir(place.dir.path());
        let path = format!("{}:{}", place.dir.path().display(), std::env::var("PATH").unwrap());
        command.env("HOME", place.dir.path()).env("NO_PROXY", "127.0.0.1").env("PATH", path).env_remove("DISPLAY");
        command.env_remove("WAYLAND_DISPLAY").env_remove("XDG_STATE_HOME").env(display, ":0");
        let options = rexpect::reader::Options::new().timeout_ms(Some(60_000));
        rexpect::session::spawn_with_options(command, options).unwrap()
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();

    let mut terminal = command("DISPLAY", &[]);
    terminal.exp_string("a browser was opened; if it shows nothing").unwrap();
    let opened = place.path("opened");
    while !opened.exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let given = std::fs::read_to_string(&opened).unwrap();
    let (count, url) = given.trim().split_once('\n').unwrap();
    assert!(count == "1" && url.contains("&state="), "{given}");
    runtime.block_on(browse(url));
    let before = terminal.exp_string("logged in at \"guarded\"").unwrap();
    assert!(before.contains("or paste the address") && !before.contains("nobody waits"), "{before}");
    terminal.exp_eof().unwrap();

    // A browser on another machine is sent to an address that is pasted here.
    let mut terminal = command("DISPLAY", &["--no-open"]);
    let page = terminal.exp_regex("http://127[^ \r\n]+\r").unwrap().1.trim().to_owned();
    terminal.exp_string("was sent to: ").unwrap();
    let client = toolgraft::http::client().redirect(reqwest::redirect::Policy::none()).no_proxy().build().unwrap();
    let sent = runtime.block_on(client.get(&page).send()).unwrap();
    terminal.send(&format!("{page}\r")).unwrap();
    terminal.flush().unwrap();
    terminal.exp_string("this is not the address of the login. ").unwrap();
    terminal.exp_string("Remedy: copy all").unwrap();
    terminal.exp_string("was sent to: ").unwrap();
    terminal.send(&format!("{}\r", sent.headers()["location"].to_str().unwrap())).unwrap();
    terminal.flush().unwrap();
    terminal.exp_string("logged in at \"guarded\"").unwrap();
    terminal.exp_eof().unwrap();

    // Without a display, or if nobody wants it, only the page is named.
    std::fs::remove_file(&opened).unwrap();
    for (display, flags) in [("NO_DISPLAY", &[][..]), ("DISPLAY", &["--no-open"])] {
        let mut terminal = command(display, flags);
        terminal.exp_string("to log in at \"guarded\", open this page:").unwrap();
        terminal.exp_string("http://127.0.0.1:").unwrap();
        assert!(!opened.exists());
    }
}

#[test]
fn a_program_logs_in_by_its_own_credentials_and_nobody_is_asked() {
    let (place, servers) = guarded(Ways { challenges: None, ..Ways::default() });
    let entry = |secret: &str| {
        let oauth = json!({ "grantType": "client_credentials", "clientId": "ci", "clientSecret": secret });
        place.servers(json!({ "guarded": { "url": servers.url(), "oauth": oauth } }));
    };
    entry("s3cret-of-ci");
    let call = |tool: &str| place.run(&["mcp", "call", "guarded", tool, "--mcp-config", "mcp.json"]);
    assert_eq!(call("hello").quiet().out, "hello, you are in\n");
    let asked = servers.seen("as", "POST", "/token");
    let body = &asked[0].body;
    for part in ["grant_type=client_credentials", "client_id=ci", "client_secret=s3cret-of-ci", "resource=http"] {
        assert!(asked.len() == 1 && body.contains(part), "{part}: {asked:?}");
    }
    // Nothing is kept: the entry can ask for another at any time.
    assert!(!place.path(".local/state/toolgraft/logins").exists());
    place
        .run(&[&["mcp", "login", "guarded"], &CONFIG[..]].concat())
        .refuses(2, "the program logs in automatically (\"grantType\": \"client_credentials\"), so no login is needed");
    entry("another-secret");
    let refused = call("hello");
    refused.refuses(1, "gives no token for \"clientId\" and \"clientSecret\"");
    assert!(!format!("{refused:?}").contains("another-secret"), "{refused:?}");
}
