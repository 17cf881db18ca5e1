//! The programs whose servers can be imported. A further one is one table of `programs.toml`: the places
//! of its files, where the servers are in them, how variables are written there, and what its keys are here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;

/// The content of `programs.toml`: the programs whose servers can be imported.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Programs {
    /// Keys that most programs and this one share.
    pub(super) common: Keys,
    /// Keys of an OAuth login.
    pub(super) login: Keys,
    /// The rules for files of unknown programs.
    other: Program,
    #[serde(rename = "program")]
    pub(super) all: Vec<Program>,
}

/// The content of `programs.toml`; a test checks that it can be parsed.
pub(super) static PROGRAMS: LazyLock<Programs> = LazyLock::new(|| parsed().unwrap_or_default());

fn parsed() -> Result<Programs, toml_edit::de::Error> {
    toml_edit::de::from_str(include_str!("programs.toml"))
}

/// A program whose servers can be imported, and its configuration format.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Program {
    /// Name on the command line; empty for unknown programs.
    pub(super) id: String,
    pub(super) name: String,
    /// The user's own configuration files of the program.
    #[serde(default)]
    files: Vec<ProgramPlace>,
    /// Paths of the program's configuration files in a project's directory.
    #[serde(default)]
    project: Vec<String>,
    /// JSON pointers to the program's servers, in descending precedence. `@` is the path of the working directory.
    pub(super) servers: Vec<String>,
    pub(super) variables: Variables,
    /// Keys in whose values the program expands variables; empty for all.
    #[serde(default)]
    pub(super) expanded: Vec<String>,
    /// Keys that differ from those of most other programs ([`Programs::common`]).
    #[serde(default)]
    pub(super) keys: Keys,
}

/// Environment variable that overrides a directory, the directory in the home directory, and the file in it.
type ProgramPlace = (String, String, String);

/// Placeholder for the directory in which desktop programs keep their settings.
const APPLICATIONS: &str = "@";

/// Syntax of the variables that a program expands in strings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Variables {
    /// No variables.
    None,
    /// Shell syntax: `${NAME}`, `${NAME:-default}`.
    Shell,
    /// Shell syntax, and `$NAME`.
    Dollar,
    /// Syntax of editors: `${env:NAME}`, `${userHome}`, `${workspaceFolder}`, `${input:id}`.
    Editor,
    /// Syntax with braces: `{env:NAME}`, `{file:path}`.
    Braces,
    /// Unknown program: the syntaxes `Shell` and `Editor`; `$${` stands for `${`, as in this program's own files.
    #[default]
    Any,
}

/// The keys of another program's entry, and how each is converted.
pub(super) type Keys = BTreeMap<String, Becomes>;

/// The conversion of a key of another program's server entry.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Becomes {
    /// Copied under the same key.
    Same,
    /// Copied under this key.
    Is(String),
    /// List of the enabled tools; `*` means all.
    Only,
    /// List of the disabled tools.
    Without,
    /// Seconds, copied under this key.
    Seconds(String),
    /// Milliseconds, converted to seconds under each of these keys.
    Millis(Vec<String>),
    /// Seconds, or milliseconds if the value is above 3600.
    Timeout,
    /// Milliseconds, or an object with separate ones, such as `startup` and `request`.
    Limits,
    /// Boolean that enables the server, converted to its opposite `disabled`.
    Enabled,
    /// The program as text, as a list with its arguments, or as an object with `path` and the rest.
    Command,
    /// Names of environment variables that are passed to the server.
    Environment,
    /// Headers, each with the name of the environment variable that contains its value.
    HeaderVariables,
    /// Name of the environment variable that contains a bearer token.
    Bearer,
    /// Object with the keys of a login ([`Programs::login`]).
    Login,
    /// Copied under this key of `oauth`.
    InLogin(String),
    /// OAuth scopes, as one text or a list.
    Scopes,
    /// Permission for calls without a question, which is not imported.
    Approval,
    /// Ignored, since it does not affect how the server is started or called.
    Harmless,
    /// Not supported: it restricts the server or the server needs it.
    Refused,
    /// Not supported, unless this is its value.
    RefusedUnless(Value),
}

/// Keys of an entry in `mcpServers` that only Gemini CLI uses.
const GEMINI_ALONE: &[&str] = &["httpUrl", "includeTools", "excludeTools", "authProviderType", "targetAudience"];

/// Names of directories in which programs keep settings, both in projects and in the home directory.
const FOLDERS: &[&str] = &[
    ".cursor", ".vscode", ".codex", ".gemini", ".opencode", ".kiro", ".amazonq", ".github", ".zed", ".claude", ".roo",
    ".kilocode",
];

impl Program {
    /// Returns the program with this name on the command line.
    pub(super) fn named(id: &str) -> Option<&'static Program> {
        PROGRAMS.all.iter().find(|program| program.id == id)
    }

    /// Returns the program that a configuration file belongs to, judged by its path, or else by its content.
    pub(super) fn of(file: &Path, root: &Value) -> &'static Program {
        let has = |known: PathBuf| {
            // These names say nothing without their folder.
            let shared = ["mcp.json", "settings.json", "config.toml"].iter().any(|name| known.ends_with(name));
            file.ends_with(&known) || (!shared && file.file_name() == known.file_name())
        };
        let folder = |(_, folder, name): &ProgramPlace| Path::new(folder.trim_start_matches(APPLICATIONS)).join(name);
        let paths = |program: &'static Program| {
            program.files.iter().map(folder).chain(program.project.iter().map(PathBuf::from))
        };
        let placed = PROGRAMS.all.iter().find(|program| paths(program).any(has));
        placed.or_else(|| Program::named(by_content(root))).unwrap_or(&PROGRAMS.other)
    }

    /// Returns the paths of the user's own configuration files of the program, existing or not.
    pub(super) fn files(&self, machine: &Machine) -> Vec<PathBuf> {
        let path = |(variable, folder, file): &ProgramPlace| {
            let folder = match folder.as_str() {
                APPLICATIONS => machine.applications(),
                folder => machine.variable(variable).unwrap_or_else(|| machine.home.join(folder)),
            };
            folder.join(file)
        };
        self.files.iter().map(path).collect()
    }
}

/// Returns the id of the program whose configuration files have content like this; empty if none is recognized.
fn by_content(root: &Value) -> &'static str {
    let any = |pointer: &str, is: &dyn Fn(&Value) -> bool| {
        root.pointer(pointer).and_then(Value::as_object).is_some_and(|servers| servers.values().any(is))
    };
    let is_opencodes = |entry: &Value| {
        let kind = entry.get("type").and_then(Value::as_str);
        matches!(kind, Some("local" | "remote")) || entry.get("environment").is_some()
    };
    let is_geminis = |entry: &Value| GEMINI_ALONE.iter().any(|key| entry.get(key).is_some());
    let has = |key: &str| root.get(key).is_some();
    // Many programs have `mcpServers`, so those with further marks of their own come first.
    match () {
        () if has("mcpServers") && has("projects") => "claude-code",
        () if any("/mcpServers", &is_geminis) => "gemini",
        () if has("mcpServers") => "",
        () if has("mcp_servers") => "codex",
        () if has("servers") => "vscode",
        () if has("context_servers") => "zed",
        () if any("/mcp/servers", &is_opencodes) || any("/mcp", &is_opencodes) => "opencode",
        () if has("mcp") => "vscode",
        () => "",
    }
}

/// The user's directories, the operating system and the environment.
#[derive(Debug, Clone)]
pub(super) struct Machine {
    /// The user's home directory.
    pub(super) home: PathBuf,
    /// The working directory, with symbolic links resolved.
    pub(super) here: PathBuf,
    pub(super) system: &'static str,
    /// Function that returns the value of an environment variable.
    pub(super) variables: fn(&str) -> Option<PathBuf>,
}

impl Machine {
    /// Returns the data of this computer; `None` if there is no home directory.
    pub(super) fn this() -> Option<Self> {
        let (home, here) = (std::env::home_dir()?, std::env::current_dir().ok()?);
        let here = here.canonicalize().unwrap_or(here);
        Some(Machine {
            home,
            here,
            system: std::env::consts::OS,
            variables: |name| Some(std::env::var_os(name)?.into()),
        })
    }

    /// Returns the path in an environment variable; `None` if it is not set or not absolute.
    fn variable(&self, name: &str) -> Option<PathBuf> {
        (self.variables)(name).filter(|path| path.is_absolute())
    }

    /// Returns the directory in which desktop programs keep their settings.
    fn applications(&self) -> PathBuf {
        let (variable, folder) = match self.system {
            "macos" => ("", "Library/Application Support"),
            "windows" => ("APPDATA", "AppData/Roaming"),
            _ => ("XDG_CONFIG_HOME", ".config"),
        };
        self.variable(variable).unwrap_or_else(|| self.home.join(folder))
    }

    /// Returns the configuration files of other programs in the working directory that belong to a project.
    pub(super) fn project_files(&self) -> Vec<PathBuf> {
        let files = PROGRAMS.all.iter().flat_map(|program| &program.project).map(PathBuf::from);
        files.filter(|file| self.here.join(file).exists() && self.is_projects(file)).collect()
    }

    /// Returns `true` if a configuration file belongs to a project rather than to the user, so that it may come from
    /// somebody else.
    pub(super) fn is_projects(&self, file: &Path) -> bool {
        let folder = self.folder_of(file);
        match settings(&folder) {
            // The user's own have the same names in the home directory, but for VS Code's.
            Some(settings) => {
                settings.ends_with(".vscode") || settings.parent().is_none_or(|above| !is_same(above, &self.home))
            }
            None => {
                let has = |known: &String| file.ends_with(known) && !known.contains('/');
                // In its folder in the home directory `opencode.json` is the user's own, under the name
                // of a project's.
                let opencode = self.home.join(".config/opencode");
                PROGRAMS.all.iter().flat_map(|program| &program.project).any(has) && !is_same(&folder, &opencode)
            }
        }
    }

    /// Returns the directory of the project that a configuration file belongs to.
    pub(super) fn project_of(&self, file: &Path) -> PathBuf {
        let folder = self.folder_of(file);
        settings(&folder).and_then(Path::parent).map(Path::to_owned).unwrap_or(folder)
    }

    fn folder_of(&self, file: &Path) -> PathBuf {
        let folder = self.here.join(file).parent().map(Path::to_owned).unwrap_or_default();
        folder.canonicalize().unwrap_or(folder)
    }
}

fn is_same(one: &Path, other: &Path) -> bool {
    one == other || other.canonicalize().is_ok_and(|other| one == other)
}

/// Returns this directory or its parent, if it is a directory of settings; `None` if neither is.
fn settings(folder: &Path) -> Option<&Path> {
    folder.ancestors().take(2).find(|folder| FOLDERS.iter().any(|name| folder.ends_with(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_programs_can_be_read() {
        assert!(!parsed().unwrap().all.is_empty());
    }

    #[test]
    fn a_project_s_own_files_are_known_and_the_user_s_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        for own in [".codex", ".gemini", ".kiro/settings", ".config/opencode", "src/.codex", "src/.kiro/settings"] {
            std::fs::create_dir_all(home.join(own)).unwrap();
        }
        let machine = Machine { here: home.join("src"), home: home.clone(), system: "linux", variables: |_| None };
        for (file, is_projects) in [
            (".mcp.json", true),
            (".codex/config.toml", true),
            (".gemini/settings.json", true),
            (".vscode/settings.json", true),
            (".github/mcp.json", true),
            ("opencode.json", true),
            (".kiro/settings/mcp.json", true),
            ("other.json", false),
            ("../.codex/config.toml", false),
            ("../.gemini/settings.json", false),
            ("../.kiro/settings/mcp.json", false),
            ("../.config/opencode/opencode.json", false),
            ("../.vscode/mcp.json", true),
        ] {
            assert_eq!(machine.is_projects(Path::new(file)), is_projects, "{file}");
        }
        for file in [".codex/config.toml", ".kiro/settings/mcp.json", ".mcp.json"] {
            assert_eq!(machine.project_of(Path::new(file)), home.join("src"));
        }
    }

    #[test]
    fn files_are_where_each_system_has_them() {
        let machine = |system, variables: fn(&str) -> Option<PathBuf>| Machine {
            home: "/home/ada".into(),
            here: "/src".into(),
            system,
            variables,
        };
        let first = |id: &str, machine: &Machine| Program::named(id).unwrap().files(machine).swap_remove(0);
        for (system, folder) in
            [("macos", "Library/Application Support"), ("windows", "AppData/Roaming"), ("linux", ".config")]
        {
            let file = first("claude-desktop", &machine(system, |_| None));
            assert_eq!(file, Path::new("/home/ada").join(folder).join("Claude/claude_desktop_config.json"));
        }
        let set = |name: &str| Some(PathBuf::from(format!("/set/{name}")));
        for (id, system, file) in [
            ("vscode", "windows", "/set/APPDATA/Code/User/mcp.json"),
            ("vscode", "linux", "/set/XDG_CONFIG_HOME/Code/User/mcp.json"),
            ("codex", "macos", "/set/CODEX_HOME/config.toml"),
            ("opencode", "macos", "/set/XDG_CONFIG_HOME/opencode/opencode.json"),
        ] {
            assert_eq!(first(id, &machine(system, set)), Path::new(file));
        }
        let relative = machine("linux", |_| Some(PathBuf::from("here")));
        assert_eq!(first("codex", &relative), Path::new("/home/ada/.codex/config.toml"));
        for (id, file) in [
            ("claude-code", ".claude.json"),
            ("cursor", ".cursor/mcp.json"),
            ("lm-studio", ".lmstudio/mcp.json"),
            ("gemini", ".gemini/settings.json"),
            ("windsurf", ".codeium/windsurf/mcp_config.json"),
            ("copilot", ".copilot/mcp-config.json"),
            ("kiro", ".kiro/settings/mcp.json"),
            ("amazon-q", ".aws/amazonq/mcp.json"),
        ] {
            let path = Path::new("/home/ada").join(file);
            assert_eq!(first(id, &machine("linux", |_| None)), path);
            assert_eq!(Program::of(&path, &Value::Null).id, id);
        }
    }
}
