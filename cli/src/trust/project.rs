//! A project's configuration file, and what it would start, in lines for a person.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::phrases::Phrases;
use crate::{Failure, input};
use toolgraft::route::mcp::{Config, ServerConfig, TransportConfig};
use toolgraft::secrets::names_secret;

/// A configuration file that was read once.
#[derive(Debug)]
pub(crate) struct Project {
    path: PathBuf,
    text: String,
    hash: String,
    starts: Vec<Line>,
    inside: bool,
}

/// Of a server something that a person should know.
#[derive(Debug)]
struct Line {
    server: String,
    what: What,
}

#[derive(Debug)]
enum What {
    /// The entry is wrong.
    Nothing,
    Runs {
        command: String,
        /// A program or script of it that lies in the project's folder.
        inside: Option<String>,
    },
    WorksIn(String),
    Sets(String, String),
    ConnectsTo(String),
    Sends(String, String),
    LogsInWith(&'static str, String),
    ConnectsOtherwise,
    GetsVariables(String),
    RunsUnasked(String),
}

impl Line {
    fn text(&self, say: Phrases) -> String {
        let what = match &self.what {
            What::Nothing => say.starts_as_nothing().to_owned(),
            What::Runs { command, inside: None } => command.clone(),
            What::Runs { command, inside: Some(place) } => say.runs_inside(command, place),
            What::WorksIn(folder) => say.works_in(folder),
            What::Sets(name, value) => say.sets_variable(name, value),
            What::ConnectsTo(url) => say.connects_to(url),
            What::Sends(name, value) => say.sends_header(name, value),
            What::LogsInWith(name, value) => say.logs_in_with(name, value),
            What::ConnectsOtherwise => say.connects_otherwise().to_owned(),
            What::GetsVariables(names) => say.gets_variables(names),
            What::RunsUnasked(tools) => say.runs_unasked(tools),
        };
        say.line_of_server(&self.server, what)
    }
}

impl Project {
    /// Reads a file and looks at what it starts.
    pub(crate) fn read(file: &Path) -> Result<Self, Failure> {
        Project::read_with(file, &|text| Ok(text.to_owned()), &|name| std::env::var(name).ok())
    }

    /// As [`read`](Self::read), for a file that is taken over and not started: `reading` says
    /// in our words what it starts. Variables may still be unset.
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
        let hash = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let text = input::decode(bytes, &input::shown(file))?;
        let search = std::env::var("PATH").ok();
        let listed = Listing::of(&reading(&text)?, &path, variable, search.as_deref()).map_err(Failure::usage)?;
        Ok(Project { path, text, hash, starts: listed.lines, inside: listed.inside })
    }

    /// Where it stands, see [`place`].
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// SHA-256 of its bytes, in hexadecimal digits.
    pub(super) fn hash(&self) -> &str {
        &self.hash
    }

    /// What it starts: a line for each server, and lines for what it gets.
    pub(crate) fn starts(&self, say: Phrases) -> Vec<String> {
        self.starts.iter().map(|line| line.text(say)).collect()
    }

    /// Whether there is nothing to ask about: no server that is not disabled.
    pub(crate) fn starts_nothing(&self) -> bool {
        self.starts.is_empty()
    }

    /// Whether a program or script that it starts lies in its folder.
    pub(super) fn has_programs_inside(&self) -> bool {
        self.inside
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }
}

/// The folder without links, and the file's name in it. A file that is a link is not
/// followed: `./server` in it means a program of the folder where the link stands.
pub(crate) fn place(file: &Path) -> std::io::Result<PathBuf> {
    let name = file.file_name().ok_or(std::io::ErrorKind::InvalidInput)?;
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok(folder.canonicalize()?.join(name))
}

/// What a file starts.
struct Listing {
    lines: Vec<Line>,
    inside: bool,
}

impl Listing {
    fn of(
        text: &str,
        path: &Path,
        variable: &dyn Fn(&str) -> Option<String>,
        search: Option<&str>,
    ) -> Result<Self, String> {
        let source = path.display().to_string();
        let real = Config::parse(text, &source, variable).map_err(|e| e.to_string())?;
        let folder = Folder { path: path.parent().unwrap_or(path), search };
        let mut listing = Listing { lines: Vec::new(), inside: false };
        for server in real.servers().iter().filter(|server| !server.disabled) {
            listing.server(text, server, &folder);
        }
        Ok(listing)
    }

    fn server(&mut self, text: &str, server: &ServerConfig, folder: &Folder<'_>) {
        // As it is written: a variable by its name, not by its value.
        let used = RefCell::new(BTreeSet::new());
        let by_name = |name: &str| {
            used.borrow_mut().insert(name.to_owned());
            Some(format!("${{{name}}}"))
        };
        // Another server's variables are none of this one's.
        let written = Config::parse(text, "", &by_name).ok();
        let written = written.and_then(|config| config.servers().iter().find(|s| s.name == server.name).cloned());
        let name = &server.name;
        let transport = written.and_then(|server| server.transport.ok());
        let (Ok(real), Some(shown)) = (&server.transport, transport.or_else(|| server.transport.clone().ok())) else {
            self.add(name, What::Nothing);
            return;
        };
        match &shown {
            TransportConfig::Stdio { command, args, env, cwd, .. } => {
                let place = folder.inside(real);
                self.inside |= place.is_some();
                let words = std::iter::once(command).chain(args).map(|word| quoted(word)).collect::<Vec<_>>();
                self.add(name, What::Runs { command: words.join(" "), inside: place });
                cwd.iter().for_each(|cwd| self.add(name, What::WorksIn(quoted(cwd).into_owned())));
                for (key, value) in env {
                    self.add(name, What::Sets(key.clone(), hidden(key, value).into_owned()));
                }
            }
            TransportConfig::Http { url, headers, oauth, .. } => {
                self.add(name, What::ConnectsTo(url.clone()));
                for (key, value) in headers {
                    self.add(name, What::Sends(key.clone(), hidden(key, value).into_owned()));
                }
                let secret = oauth.client_secret.iter().map(|secret| ("clientSecret", secret));
                let client = oauth.client_id.iter().map(|id| ("clientId", id)).chain(secret);
                for (key, value) in client {
                    self.add(name, What::LogsInWith(key, hidden(key, value).into_owned()));
                }
            }
            _ => self.add(name, What::ConnectsOtherwise),
        }
        let variables: Vec<String> = variables_of(&shown, &used.into_inner());
        if !variables.is_empty() {
            self.add(name, What::GetsVariables(variables.join(", ")));
        }
        if !server.auto_approve.is_empty() {
            self.add(name, What::RunsUnasked(server.auto_approve.join(", ")));
        }
    }

    fn add(&mut self, server: &str, what: What) {
        self.lines.push(Line { server: server.to_owned(), what });
    }
}

/// The variables of these that stand in a server's entry.
fn variables_of(transport: &TransportConfig, used: &BTreeSet<String>) -> Vec<String> {
    let texts: Vec<&String> = match transport {
        TransportConfig::Stdio { command, args, env, cwd, .. } => {
            std::iter::once(command).chain(args).chain(env.values()).chain(cwd).collect()
        }
        TransportConfig::Http { url, headers, oauth, .. } => {
            let login = oauth.client_id.iter().chain(&oauth.client_secret).chain(&oauth.scopes);
            std::iter::once(url).chain(headers.values()).chain(login).collect()
        }
        _ => Vec::new(),
    };
    let stands = |name: &&String| texts.iter().any(|text| text.contains(&format!("${{{name}}}")));
    used.iter().filter(stands).cloned().collect()
}

/// A value, unless it is a secret that stands in the file itself.
fn hidden<'a>(name: &str, value: &'a str) -> std::borrow::Cow<'a, str> {
    if names_secret(name) && !value.contains("${") { "(hidden)".into() } else { quoted(value) }
}

/// A word as a shell would want it.
fn quoted(word: &str) -> std::borrow::Cow<'_, str> {
    // Braces and `$` of a variable read better as they are.
    let plain = |c: char| c.is_alphanumeric() || "-_./:@=+,~${}*".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.into(),
        false => format!("{word:?}").into(),
    }
}

/// The project's folder.
struct Folder<'a> {
    path: &'a Path,
    /// `PATH`, where programs without a path are looked for.
    search: Option<&'a str>,
}

impl Folder<'_> {
    /// The program or the first argument that is a file in the folder.
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
        file.canonicalize().is_ok_and(|file| file.is_file() && file.starts_with(self.path))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;
    use toolgraft::dialect::Lang;

    use super::*;

    fn lines(folder: &Path, servers: &serde_json::Value) -> (Vec<String>, bool) {
        let folder = folder.canonicalize().unwrap();
        let text = json!({ "mcpServers": servers }).to_string();
        let variable = |name: &str| (name == "TOKEN").then(|| "tok-123456".to_owned());
        let listing = Listing::of(&text, &folder.join(".mcp.json"), &variable, Some("/usr/bin:/bin")).unwrap();
        (listing.lines.iter().map(|line| line.text(Phrases::of(Lang::En))).collect(), listing.inside)
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
                "files: sets API_KEY=(hidden)",
                "files: sets KEY=${TOKEN}",
                "files: sets NODE_OPTIONS=\"--require ./x.js\"",
                "files: gets your variables TOKEN",
                "files: runs without a question: read_*",
                "web: connects to https://example.org/${TOKEN}",
                "web: sends Authorization: \"Bearer ${TOKEN}\"",
                "web: gets your variables TOKEN",
                "odd: nothing, its entry is wrong",
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
