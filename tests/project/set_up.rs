//! The requirements of `make test`, and the set-up scripts, on machines where more and more is
//! missing.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

/// The only test that needs a browser.
const PAGE: &str = "a_real_browser_shows_the_page_and_asks_for_nothing_else";

/// Held while a script is written and while a process starts: a process that starts while a file is
/// open keeps it open for a moment, and a script that is open for writing cannot be executed.
static ALONE: Mutex<()> = Mutex::new(());

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A machine with only the commands that a test installs, and a copy of the scripts.
struct Machine {
    folder: tempfile::TempDir,
}

impl Machine {
    fn new() -> Self {
        let machine = Machine { folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(machine.path("tests/browser")).unwrap();
        fs::create_dir_all(machine.path("cli/tests/command")).unwrap();
        fs::create_dir(machine.path("bin")).unwrap();
        for file in ["tests/browser/set-up", "tests/needs", "cli/tests/command/replay_page.rs"] {
            fs::copy(root().join(file), machine.path(file)).unwrap();
        }
        for tool in ["sh", "dirname", "sed", "rm", "mkdir", "touch", "chmod", "cp"] {
            let real = ["/bin", "/usr/bin"].map(|folder| Path::new(folder).join(tool));
            symlink(real.iter().find(|path| path.exists()).unwrap(), machine.path("bin").join(tool)).unwrap();
        }
        machine.with("id", "echo 1000")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Installs a script as the command of this name.
    fn with(self, name: &str, script: &str) -> Self {
        let path = self.path("bin").join(name);
        let _alone = ALONE.lock();
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    /// Returns the exit code, and the output.
    fn run(&self, script: &str, args: &[&str], env: &[(&str, &str)]) -> (i32, String) {
        let mut command = Command::new("/bin/sh");
        command.arg(self.path(script)).args(args).env_clear().env("PATH", self.path("bin"));
        command.envs(env.iter().copied()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let begun = ALONE.lock();
        let child = command.spawn().unwrap();
        drop(begun);
        let output = child.wait_with_output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.code().unwrap(), String::from_utf8(said).unwrap())
    }

    fn browser(&self, env: &[(&str, &str)]) -> (i32, String) {
        self.run("tests/browser/set-up", &[], env)
    }

    fn unpacked(&self) -> bool {
        self.path("tests/browser/unpacked").exists()
    }
}

/// Installs an npm that reports its call, and a node that unpacks a browser which prints `page`.
fn with_npm(machine: Machine, page: &str) -> Machine {
    let node = format!(
        "case \"$*\" in
        *--set-up*) mkdir unpacked && touch unpacked/chromium && chmod +x unpacked/chromium ;;
        *--dump-dom*) echo '{page}' ;;
        esac"
    );
    machine.with("npm", "echo npm $1").with("node", &node)
}

#[test]
fn without_a_browser_its_tests_are_skipped_by_name() {
    let machine = Machine::new();
    let (code, said) = machine.browser(&[]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains(&format!("skipped: {PAGE}, as there is no Chromium")), "{said}");
    assert!(said.contains("apt-get install chromium"), "the remedy: {said}");
    let (code, said) = machine.run("tests/browser/set-up", &["--skipped"], &[]);
    assert_eq!((code, said.as_str()), (0, format!("skipped: {PAGE}, as there is no Chromium\n").as_str()));
}

#[test]
fn where_a_browser_is_demanded_none_is_a_failure() {
    let machine = Machine::new();
    for env in [("CI", "true"), ("TOOLGRAFT_BROWSER", "require")] {
        let (code, said) = machine.browser(&[env]);
        assert_eq!(code, 1, "{said}");
        assert!(said.contains("apt-get install chromium") && said.contains("npm"), "{said}");
    }
}

#[test]
fn a_browser_on_the_path_is_used_and_nothing_is_installed() {
    let machine = with_npm(Machine::new().with("google-chrome", "echo Chrome 140"), "page");
    let machine = machine.with("id", "echo 0").with("apt-get", "echo apt-get");
    assert_eq!(machine.browser(&[("CI", "true")]), (0, String::new()));
    assert_eq!(machine.run("tests/browser/set-up", &["--skipped"], &[]), (0, String::new()));
}

#[test]
fn a_command_that_only_says_where_to_get_a_browser_is_none() {
    let (_, said) = Machine::new().with("chromium", "echo 'please install the snap' >&2; exit 1").browser(&[]);
    assert!(said.contains(PAGE), "{said}");
}

#[test]
fn root_on_debian_gets_debians_browser() {
    let install = "case \"$*\" in *install*chromium*) cp \"$0\" \"${0%apt-get}chromium\" ;; esac; echo \"apt-get $1\"";
    let machine = with_npm(Machine::new(), "page").with("id", "echo 0").with("apt-get", install);
    let (code, said) = machine.browser(&[("CI", "true")]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("apt-get update") && !said.contains("npm"), "{said}");
    assert!(machine.path("bin/chromium").exists() && !machine.unpacked());
}

#[test]
fn all_others_get_the_browser_of_npm_inside_the_checkout() {
    for machine in [
        Machine::new().with("apt-get", "echo apt-get"),
        Machine::new().with("id", "echo 0").with("apt-get", "echo 'no network'; exit 100"),
    ] {
        let machine = with_npm(machine, "<title>it works</title>");
        let (code, said) = machine.browser(&[("CI", "true")]);
        assert_eq!(code, 0, "{said}");
        assert!(said.contains("npm install") && machine.unpacked(), "{said}");
        assert_eq!(machine.browser(&[("CI", "true")]), (0, String::new()), "once is enough");
    }
}

#[test]
fn a_browser_of_npm_that_shows_no_page_does_not_stay() {
    let machine = with_npm(Machine::new(), "");
    let (code, said) = machine.browser(&[]);
    assert!(code == 0 && said.contains(PAGE), "{said}");
    assert!(!machine.unpacked());
    assert_eq!(machine.browser(&[("TOOLGRAFT_BROWSER", "require")]).0, 1);
}

#[test]
fn who_wants_no_browser_installed_says_so() {
    let machine = with_npm(Machine::new(), "page");
    let (code, said) = machine.browser(&[("TOOLGRAFT_BROWSER", "skip"), ("CI", "true")]);
    assert!(code == 0 && said.contains(PAGE) && !said.contains("npm install"), "{said}");
    assert!(!machine.unpacked());
}

/// `set-up` finds the tests by their names.
#[test]
fn every_test_that_asks_for_the_browser_is_named_so() {
    let asks = regex::Regex::new(r#"browser::wanted\((?:"([^"]*)")?"#).unwrap();
    let as_set_up_finds = regex::Regex::new("(?m)^fn (a_real_browser[a-z_]*)").unwrap();
    let (mut found, mut named) = (Vec::new(), Vec::new());
    for file in fs::read_dir(root().join("cli/tests/command")).unwrap().map(|entry| entry.unwrap().path()) {
        if file.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        named.extend(as_set_up_finds.captures_iter(&text).map(|name| name[1].to_owned()));
        for ask in asks.captures_iter(&text) {
            let name = ask.get(1).unwrap_or_else(|| panic!("no name: {}", &ask[0])).as_str();
            assert!(name.starts_with("a_real_browser") && text.contains(&format!("\nfn {name}()")), "{name}");
            found.push(name.to_owned());
        }
    }
    found.sort();
    named.sort();
    assert_eq!(found, named, "what asks for the browser, and what `set-up` takes for that");
    assert!(found.iter().any(|name| name == PAGE), "{found:?}");
}

#[test]
fn what_make_test_cannot_set_up_is_named_with_its_remedy() {
    let machine = Machine::new();
    let (code, said) = machine.run("tests/needs", &[], &[]);
    assert_eq!(code, 1, "{said}");
    for part in ["Node 20 or later with npm", "Python 3.10 or later", "python3-venv", "git", "cargo test needs nothing"]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
    let old = "[ \"$1\" = --version ] || exit 1; echo here 1.2";
    let machine = machine.with("node", old).with("npm", "").with("python3", old).with("git", "");
    let (code, said) = machine.run("tests/needs", &[], &[]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("Node 20 or later (https://nodejs.org); here is here 1.2"), "{said}");
    assert!(said.contains("Python 3.10 or later; here is here 1.2") && !said.contains("git"), "{said}");

    let no_venv = "case \"$2\" in *venv*) exit 1 ;; esac";
    let machine = machine.with("node", "").with("python3", no_venv);
    let (code, said) = machine.run("tests/needs", &[], &[]);
    assert!(code == 1 && said.starts_with("make test needs the venv module of Python"), "{said}");
    assert_eq!(machine.with("python3", "").run("tests/needs", &[], &[]), (0, String::new()));
}
