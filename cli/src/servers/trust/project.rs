//! A project's configuration file, and what it would start, in lines for a person.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::base::{Failure, digest::sha256, input};
use crate::screen::{excerpt::bounded, visible::quoted};
use crate::servers::status::{command, gets};
use toolgraft_mcp::{Config, ServerConfig, TransportConfig};

/// A project's configuration file, read once, and the servers that it starts.
#[derive(Debug)]
pub(crate) struct Project {
    /// Canonical directory and file name; see [`place`].
    pub(super) path: PathBuf,
    /// The text of the file.
    pub(crate) text: String,
    /// SHA-256 hash of the file's bytes, in hexadecimal digits.
    pub(super) hash: String,
    starts: Vec<Started>,
}

/// A server that the project's configuration file starts or connects to.
#[derive(Debug)]
struct Started {
    real: ServerConfig,
    /// The server's configuration before variables are replaced by their values or defaults.
    written: ServerConfig,
    /// A program or argument of the server that is a file in the project's directory.
    inside: Option<String>,
}

/// Maximum width in columns of a name from the file (server, variable or header).
const NAME: usize = 40;

impl Started {
    /// Returns the servers of a configuration text that are not disabled.
    fn all(
        text: &str,
        path: &Path,
        variable: &dyn Fn(&str) -> Option<String>,
        search: Option<&str>,
    ) -> Result<Vec<Self>, String> {
        let source = path.display().to_string();
        let real = Config::parse(text, &source, variable).map_err(|e| e.to_string())?;
        let written = Config::parse_as_written(text, &source).map_err(|e| e.to_string())?;
        let folder = ProjectFolder { path: path.parent().unwrap_or(path), search };
        let servers = real.servers().iter().filter(|server| !server.disabled).map(|real| {
            let written = written.servers().iter().find(|written| written.name == real.name).unwrap_or(real);
            let inside = real.transport.as_ref().ok().and_then(|transport| folder.inside(transport));
            Started { real: real.clone(), written: written.clone(), inside }
        });
        Ok(servers.collect())
    }

    /// Returns a line with the server's command or URL, and lines for the variables and settings that it gets.
    fn lines(&self) -> (String, Vec<String>) {
        let line = |what: String| format!("{}: {what}", named(&self.real.name));
        let (Ok(_), Ok(transport)) = (&self.real.transport, &self.written.transport) else {
            return (line("nothing, its entry is invalid".to_owned()), Vec::new());
        };
        let secrecy = self.written.secrecy();
        let (reached, cwd) = match (transport, &secrecy.url) {
            (TransportConfig::Stdio { cwd, .. }, _) => {
                let inside = self.inside.iter().map(|place| format!("   ({} is in this folder)", named(place)));
                (command(&secrecy) + &inside.collect::<String>(), cwd.as_deref())
            }
            (TransportConfig::Http { .. }, Some(url)) => (format!("connects to {}", quoted(&url.shown)), None),
            _ => ("a connection of another kind".to_owned(), None),
        };
        let mut gets: Vec<String> = gets(&secrecy, cwd).collect();
        let variables = Vec::from_iter(variables_of(transport)).join(", ");
        if !variables.is_empty() {
            gets.push(format!("gets your variables {variables}"));
        }
        let unasked: Vec<String> = self.real.auto_approve.iter().map(|tool| named(tool)).collect();
        if !unasked.is_empty() {
            gets.push(format!("runs without a question: {}", unasked.join(", ")));
        }
        (line(reached), gets.into_iter().map(line).collect())
    }
}

/// Returns a name from the file quoted and shortened to the maximum width.
fn named(name: &str) -> String {
    bounded(&quoted(name), NAME)
}

impl Project {
    /// Reads a project's configuration file and collects the servers that it starts.
    pub(crate) fn read(file: &Path) -> Result<Self, Failure> {
        Project::read_with(file, &|text| Ok(text.to_owned()), &|name| std::env::var(name).ok())
    }

    /// Reads a project's configuration file of another program that is imported and not started: `reading` converts its
    /// text to this program's format. Unset variables are accepted.
    pub(crate) fn read_as(file: &Path, reading: &dyn Fn(&str) -> Result<String, Failure>) -> Result<Self, Failure> {
        Project::read_with(file, reading, &|name| Some(std::env::var(name).unwrap_or_default()))
    }

    fn read_with(
        file: &Path,
        reading: &dyn Fn(&str) -> Result<String, Failure>,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, Failure> {
        let path = place(file).map_err(|e| Failure::usage(format!("cannot read {}: {e}", file.display())))?;
        let bytes = input::read_bytes(&path)?;
        let hash = sha256(&bytes);
        let text = input::decode(bytes, &input::shown(file))?;
        let search = std::env::var("PATH").ok();
        let starts = Started::all(&reading(&text)?, &path, variable, search.as_deref()).map_err(Failure::usage)?;
        Ok(Project { path, text, hash, starts })
    }

    /// Returns a line for each server that the file starts, followed by lines for the variables and settings that they
    /// get.
    pub(crate) fn starts(&self) -> Vec<String> {
        let (mut lines, gets): (Vec<_>, Vec<_>) = self.starts.iter().map(|server| server.lines()).unzip();
        lines.extend(gets.into_iter().flatten());
        lines
    }

    /// Returns `true` if the file starts no server, since it has none or all are disabled.
    pub(crate) fn starts_nothing(&self) -> bool {
        self.starts.is_empty()
    }

    /// Returns `true` if a program or script that the file starts is in the project's directory.
    pub(super) fn has_programs_inside(&self) -> bool {
        self.starts.iter().any(|server| server.inside.is_some())
    }
}

/// Returns the canonical path of a file's directory, with the file's name appended. A file that is a link is not
/// followed: `./server` in it means a program in the directory of the link.
pub(crate) fn place(file: &Path) -> std::io::Result<PathBuf> {
    let name = file.file_name().ok_or(std::io::ErrorKind::InvalidInput)?;
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok(folder.canonicalize()?.join(name))
}

/// Returns the names of the variables that a server's entry refers to: `${NAME}`, `${NAME:-default}`, `${env:NAME}`.
fn variables_of(transport: &TransportConfig) -> BTreeSet<String> {
    let texts: Vec<&String> = match transport {
        TransportConfig::Stdio { command, args, cwd, .. } => std::iter::once(command).chain(args).chain(cwd).collect(),
        TransportConfig::Http { url, headers, oauth, ca, .. } => {
            let login = oauth.client_id.iter().chain(&oauth.client_secret).chain(&oauth.scopes);
            std::iter::once(url).chain(headers.values()).chain(login).chain(ca).collect()
        }
        _ => Vec::new(),
    };
    let mut names = names_in(&texts);
    // Its own variables come first, and may have yours in them.
    if let TransportConfig::Stdio { env, .. } = transport {
        names.retain(|name| !env.contains_key(name));
        names.append(&mut names_in(&env.values().collect::<Vec<_>>()));
    }
    names
}

fn names_in(texts: &[&String]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for text in texts {
        // `$${` is no variable.
        for (at, _) in text.match_indices("${").filter(|(at, _)| !text[..*at].ends_with('$')) {
            let inside = text[at + 2..].split('}').next().unwrap_or_default();
            let name = inside.split(":-").next().unwrap_or_default();
            names.insert(name.strip_prefix("env:").unwrap_or(name).to_owned());
        }
    }
    names
}

/// The directory of a project, to check which programs are inside it.
struct ProjectFolder<'a> {
    path: &'a Path,
    /// The value of `PATH`, in which programs without a directory are searched.
    search: Option<&'a str>,
}

impl ProjectFolder<'_> {
    /// Returns the server's program if it is a file in the project's directory, or else the first argument that names
    /// such a file.
    fn inside(&self, transport: &TransportConfig) -> Option<String> {
        let TransportConfig::Stdio { command, args, cwd, .. } = transport else { return None };
        let here = cwd.as_deref().map_or(self.path.to_owned(), |cwd| self.path.join(cwd));
        let program = match command.contains(['/', '\\']) {
            true => here.join(command),
            false => {
                let folders = self.search.map(std::env::split_paths).into_iter().flatten();
                // A relative folder in PATH begins where the server does.
                folders.map(|folder| here.join(folder).join(command)).find(|file| file.is_file())?
            }
        };
        if self.holds(&program) {
            return Some(command.clone());
        }
        // `--config=x.json` names a file, too.
        let file = |arg: &&String| {
            let path = arg.split_once('=').map_or(arg.as_str(), |(_, path)| path);
            !path.is_empty() && self.holds(&here.join(path))
        };
        args.iter().find(file).cloned()
    }

    fn holds(&self, file: &Path) -> bool {
        // Links are followed, so that none hides that a program is inside.
        file.canonicalize().is_ok_and(|file| file.is_file() && file.starts_with(self.path))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    fn lines(folder: &Path, servers: &serde_json::Value) -> (Vec<String>, bool) {
        let folder = folder.canonicalize().unwrap();
        let text = json!({ "mcpServers": servers }).to_string();
        let variable = |name: &str| (name == "TOKEN").then(|| "tok-123456".to_owned());
        let starts = Started::all(&text, &folder.join(".mcp.json"), &variable, Some("/usr/bin:/bin")).unwrap();
        let project = Project { path: folder, text, hash: String::new(), starts };
        (project.starts(), project.has_programs_inside())
    }

    #[test]
    fn a_default_is_shown_since_it_is_what_runs() {
        let folder = tempfile::tempdir().unwrap();
        let entry = json!({ "s": { "command": "${NOT_SET:-evil}", "args": ["${env:NOT_SET:-./x}", "$${TOKEN}"] } });
        let (lines, _) = lines(folder.path(), &entry);
        assert_eq!(lines, ["s: ${NOT_SET:-evil} ${env:NOT_SET:-./x} $${TOKEN}", "s: gets your variables NOT_SET"]);
    }

    #[test]
    fn a_variable_that_an_entry_sets_itself_is_none_of_yours() {
        let folder = tempfile::tempdir().unwrap();
        let entry = json!({ "s": { "command": "x", "args": ["${H}"], "env": { "H": "${TOKEN}" } } });
        let expected = ["s: x ${H}", "s: sets H=${TOKEN}", "s: gets your variables TOKEN"];
        assert_eq!(lines(folder.path(), &entry).0, expected);
    }

    #[test]
    fn a_secret_is_hidden_where_it_is_an_argument_too() {
        let folder = tempfile::tempdir().unwrap();
        let entry = json!({ "s": { "command": "x", "args": ["--token", "sk-proj-abcdefghij"] },
            "w": { "url": "https://ada:pw@example.org/?api_key=abc" } });
        assert_eq!(lines(folder.path(), &entry).0, ["s: x --token (hidden)", "w: connects to https://example.org/?…"]);
    }

    #[test]
    fn a_name_cannot_look_like_another_line() {
        let folder = tempfile::tempdir().unwrap();
        let entry = json!({
            "files: npx -y good\n\n": { "command": "evil", "env": { "A\nfiles: npx": "b\nc", "\u{200b}": "" } },
            ("long".repeat(100)): { "command": "x".repeat(20_000) },
        });
        let (lines, _) = lines(folder.path(), &entry);
        assert_eq!(lines[0], r#""files: npx -y good\n\n": evil"#);
        assert_eq!(lines[2], r#""files: npx -y good\n\n": sets "A\nfiles: npx"="b\nc""#);
        assert!(lines[1].starts_with("longlong") && lines[1].find(':') < Some(60), "{}", &lines[1][..80]);
        assert!(!lines.concat().contains(['\n', '\u{200b}']));
    }

    #[test]
    fn what_a_file_starts_is_shown_as_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let (lines, inside) = lines(
            folder.path(),
            &json!({
                "files": { "command": "npx", "args": ["-y", "server files"], "env": { "API_KEY": "sk-123", "KEY": "${TOKEN}",
                    "NODE_OPTIONS": "--require ./x.js" }, "autoApprove": ["read_*"] },
                "web": { "url": "https://example.org/${TOKEN}", "headers": { "Authorization": "Bearer ${TOKEN}" } },
                "off": { "command": "rm", "disabled": true },
                "odd": { "args": [] },
            }),
        );
        assert_eq!(
            lines,
            [
                "files: npx -y \"server files\"",
                "web: connects to https://example.org/${TOKEN}",
                "odd: nothing, its entry is invalid",
                "files: sets API_KEY=(hidden)",
                "files: sets KEY=${TOKEN}",
                "files: sets NODE_OPTIONS=\"--require ./x.js\"",
                "files: gets your variables TOKEN",
                "files: runs without a question: read_*",
                "web: sends Authorization: \"Bearer ${TOKEN}\"",
                "web: gets your variables TOKEN",
            ]
        );
        assert!(!inside);
    }

    #[test]
    fn programs_of_the_folder_are_named() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("server.sh"), "").unwrap();
        let line = |entry: serde_json::Value| lines(folder.path(), &json!({ "s": entry })).0.swap_remove(0);
        assert_eq!(line(json!({ "command": "./server.sh" })), "s: ./server.sh   (./server.sh is in this folder)");
        assert_eq!(
            line(json!({ "command": "sh", "args": ["-x", "server.sh"] })),
            "s: sh -x server.sh   (server.sh is in this folder)"
        );
        assert_eq!(line(json!({ "command": "sh", "args": ["other.sh"] })), "s: sh other.sh");
        assert_eq!(line(json!({ "command": "../server.sh" })), "s: ../server.sh");
    }
}
