//! The version and the completions of the command.

use std::process::Command;

use crate::process::{Place, ROOT};

#[test]
fn the_version_is_the_commands_and_not_the_packages() {
    let place = Place::new();
    let first = format!("toolgraft {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(place.run(&["-V"]).quiet().out, first);
    assert_eq!(place.run(&["chat", "-V"]).quiet().out, first.replace("toolgraft", "toolgraft-chat"));
}

#[test]
fn the_long_version_names_commit_system_and_features() {
    let out = Place::new().run(&["--version"]).quiet().out;
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], format!("toolgraft {}", env!("CARGO_PKG_VERSION")));
    assert!(lines[2].starts_with("target: ") && lines[2].contains(std::env::consts::ARCH), "{out}");
    assert_eq!(lines[3], "features: client, mcp, serve");
    let commit = lines[1].strip_prefix("commit: ").unwrap();
    // A copy without git does not know.
    let exists = |name: &str| {
        let found = Command::new("git").args(["cat-file", "-e", name]).current_dir(ROOT).status();
        found.is_ok_and(|status| status.success())
    };
    assert!(commit == "unknown" || exists(commit.split(',').next().unwrap()), "{out}");
}

#[cfg(target_os = "linux")]
#[test]
fn bash_completes_with_them() {
    let place = Place::new();
    place.write("completions", place.run(&["completions", "bash"]).quiet().out);
    let script = "source ./completions; COMP_WORDS=(toolgraft mcp im); COMP_CWORD=2; \
        _clap_complete_toolgraft toolgraft im mcp; echo \"${COMPREPLY[@]}\"";
    let programs = std::path::Path::new(env!("CARGO_BIN_EXE_toolgraft")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let mut bash = Command::new("bash");
    let output = bash.args(["-c", script]).env("PATH", path).current_dir(place.dir.path()).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), "import");
}
