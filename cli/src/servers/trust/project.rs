//! A project's configuration file, and what it would start, in lines for a person.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};


use crate::base::Failure;
use crate::base::digest::sha256;
use crate::base::input;
use crate::phrases::Phrases;
use crate::screen::excerpt::bounded;
use crate::screen::visible::quoted;
use toolgraft_mcp::{Config, ServerConfig, TransportConfig};

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
    LogsInWith(String, String),
    ConnectsOtherwise,
    GetsVariables(String),
    RunsUnasked(String),
}

/// Most columns of a name that the file gives to a server, a variable or a header.
const NAME: usize = 40;

impl Line {
    fn text(&self, say: Phrases) -> String {
        let what = match &self.what {
            What::Nothing => say.starts_as_nothing().to_owned(),
            What::Runs { command, inside: None } => command.clone(),
            What::Runs { command, inside: Some(place) } => say.runs_inside(command, named(place)),
            What::WorksIn(folder) => say.works_in(quoted(folder)),
            What::Sets(name, value) => say.sets_variable(named(name), quoted(value)),
            What::ConnectsTo(url) => say.connects_to(quoted(url)),
            What::Sends(name, value) => say.sends_header(named(name), quoted(value)),
            What::LogsInWith(name, value) => say.logs_in_with(named(name), quoted(value)),
            What::ConnectsOtherwise => say.connects_otherwise().to_owned(),
            What::GetsVariables(names) => say.gets_variables(names),
            What::RunsUnasked(tools) => say.runs_unasked(tools),
        };
        say.line_of_server(named(&self.server), what)
    }

    /// Whether it says how a server is reached.
    fn is_command(&self) -> bool {
        use What::{ConnectsOtherwise, ConnectsTo, Nothing, Runs};
        matches!(self.what, Nothing | Runs { .. } | ConnectsTo(_) | ConnectsOtherwise)
    }
}

/// A name as the file has it, in one piece and no longer than a name should be.
fn named(name: &str) -> String {
    bounded(&quoted(name), NAME)
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
        let hash = sha256(&bytes);
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

    /// What it starts: first a line for each server, then lines for what they get.
    pub(crate) fn starts(&self, say: Phrases) -> Vec<String> {
        let (commands, rest): (Vec<&Line>, Vec<&Line>) = self.starts.iter().partition(|line| line.is_command());
        commands.into_iter().chain(rest).map(|line| line.text(say)).collect()
    }

    /// Whether there is nothing to ask about: no server that is not disabled.
    pub(crate) fn starts_nothing(&self) -> bool {
        self.starts.is_empty()
    }

    /// Whether a program or script that it starts lies in its folder.
    pub(super) fn has_programs_inside(&self) -> bool {
        self.inside
    }

    /// Its text, as it was read.
    pub(crate) fn text(&self) -> &str {
        &self.text
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
        let written = Config::parse_as_written(text, &source).map_err(|e| e.to_string())?;
        let folder = Folder { path: path.parent().unwrap_or(path), search };
        let mut listing = Listing { lines: Vec::new(), inside: false };
        for server in real.servers().iter().filter(|server| !server.disabled) {
            let written = written.servers().iter().find(|written| written.name == server.name);
            listing.server(server, written.unwrap_or(server), &folder);
        }
        Ok(listing)
    }

    /// Adds a server; `written` has its variables and their defaults as the file has them.
    fn server(&mut self, real: &ServerConfig, written: &ServerConfig, folder: &Folder<'_>) {
        let name = &real.name;
        let (Ok(transport), Ok(shown)) = (&real.transport, &written.transport) else {
            self.add(name, What::Nothing);
            return;
        };
        let secrecy = written.secrecy();
        match (shown, &secrecy.url) {
            (TransportConfig::Stdio { cwd, .. }, _) => {
                let place = folder.inside(transport);
                self.inside |= place.is_some();
                let words = secrecy.words.iter().map(|word| quoted(&word.shown)).collect::<Vec<_>>();
                self.add(name, What::Runs { command: words.join(" "), inside: place });
                cwd.iter().for_each(|cwd| self.add(name, What::WorksIn(cwd.clone())));
            }
            (TransportConfig::Http { .. }, Some(url)) => self.add(name, What::ConnectsTo(url.shown.clone())),
            _ => self.add(name, What::ConnectsOtherwise),
        }
        type Says = fn(String, String) -> What;
        let kinds = [
            (&secrecy.env, What::Sets as Says),
            (&secrecy.headers, What::Sends as Says),
            (&secrecy.oauth, What::LogsInWith as Says),
        ];
        for (pairs, what) in kinds {
            pairs.iter().for_each(|(key, value)| self.add(name, what(key.clone(), value.shown.clone())));
        }
        let variables: Vec<String> = variables_of(shown).into_iter().collect();
        if !variables.is_empty() {
            self.add(name, What::GetsVariables(variables.join(", ")));
        }
        if !real.auto_approve.is_empty() {
            let tools: Vec<String> = real.auto_approve.iter().map(|tool| named(tool)).collect();
            self.add(name, What::RunsUnasked(tools.join(", ")));
        }
    }

    fn add(&mut self, server: &str, what: What) {
        self.lines.push(Line { server: server.to_owned(), what });
    }
}

/// The variables that stand in a server's entry: `${NAME}`, `${NAME:-default}`, `${env:NAME}`.
fn variables_of(transport: &TransportConfig) -> BTreeSet<String> {
    let texts: Vec<&String> = match transport {
        TransportConfig::Stdio { command, args, env, cwd, .. } => {
            std::iter::once(command).chain(args).chain(env.values()).chain(cwd).collect()
        }
        TransportConfig::Http { url, headers, oauth, ca, .. } => {
            let login = oauth.client_id.iter().chain(&oauth.client_secret).chain(&oauth.scopes);
            std::iter::once(url).chain(headers.values()).chain(login).chain(ca).collect()
        }
        _ => Vec::new(),
    };
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
        let project =
            Project { path: folder, text, hash: String::new(), starts: listing.lines, inside: listing.inside };
        (project.starts(Phrases::of(Lang::En)), project.inside)
    }

    #[test]
    fn a_default_is_shown_since_it_is_what_runs() {
        let folder = tempfile::tempdir().unwrap();
        let entry = json!({ "s": { "command": "${NOT_SET:-evil}", "args": ["${env:NOT_SET:-./x}", "$${TOKEN}"] } });
        let (lines, _) = lines(folder.path(), &entry);
        assert_eq!(lines, ["s: ${NOT_SET:-evil} ${env:NOT_SET:-./x} $${TOKEN}", "s: gets your variables NOT_SET"]);
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
                "odd: nothing, its entry is wrong",
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
