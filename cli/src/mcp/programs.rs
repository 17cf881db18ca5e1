//! The programs whose servers can be imported, one row each: the places of its files, where the
//! servers are in them, how variables are written there, and what its keys are here.
//!
//! Sources, by row: modelcontextprotocol.io/docs/develop/connect-local-servers (Claude Desktop),
//! code.claude.com/docs/en/mcp, cursor.com/docs/mcp, microsoft/vscode-docs
//! `docs/copilot/reference/mcp-configuration.md`, lmstudio.ai/docs/app/mcp ("follows Cursor's
//! notation"), openai/codex `codex-rs/config/src/mcp_types.rs`, google-gemini/gemini-cli
//! `docs/tools/mcp-server.md`, opencode.ai/docs/mcp-servers and opencode.ai/v2/docs/mcp-servers,
//! docs.windsurf.com/windsurf/cascade/mcp, cline/cline `src/services/mcp/schemas.ts` and #8079,
//! docs.github.com "Adding MCP servers for GitHub Copilot CLI" and github/copilot-cli#903,
//! kiro.dev/docs/mcp/configuration, docs.aws.amazon.com/amazonq/latest/qdeveloper-ug/mcp-ide.html
//! and aws/amazon-q-developer-cli `custom_tool.rs`, zed.dev/docs/ai/mcp.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// A program, and how it writes its servers.
#[derive(Debug, PartialEq)]
pub(super) struct Program {
    /// The word for it on the command line; empty for programs without a row.
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    /// The user's own files.
    files: &'static [Place],
    /// Its files in a project's folder.
    project: &'static [&'static str],
    /// JSON pointers to its servers, those that take precedence first. `@` is the working directory.
    pub(super) servers: &'static [&'static str],
    pub(super) variables: Variables,
    /// The keys in whose values variables are expanded; none means all.
    pub(super) expanded: &'static [&'static str],
    /// The keys that it does not share with most others ([`COMMON`]).
    pub(super) keys: &'static [Row],
}

/// The variable that moves a folder, the folder in the home directory, and the file in it.
type Place = (&'static str, &'static str, &'static str);

/// In the place of a folder: where programs with windows keep their settings.
const APPLICATIONS: &str = "@";

/// How a program writes variables in its strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Variables {
    /// Nothing is expanded.
    None,
    /// `${NAME}`, `${NAME:-default}`.
    Shell,
    /// `$NAME` too.
    Dollar,
    /// `${env:NAME}`, `${userHome}`, `${workspaceFolder}`, `${input:id}`.
    Editor,
    /// `{env:NAME}`, `{file:path}`.
    Braces,
    /// The program is not known: as `Shell` and as `Editor`; `$${` is `${`, as in our own files.
    Any,
}

/// What keys there become here.
pub(super) type Row = (Becomes, &'static [&'static str]);

/// What a key becomes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Becomes {
    /// The same under the same key.
    Same,
    /// The same under this key.
    Is(&'static str),
    /// The tools that there are; `*` means all.
    Only,
    /// Tools that there are not.
    Without,
    /// Seconds under this key.
    Seconds(&'static str),
    /// Milliseconds there, seconds under these keys.
    Millis(&'static [&'static str]),
    /// Seconds, or milliseconds where that would be more than an hour.
    Timeout,
    /// Milliseconds there, or `startup` and `request` apart.
    Limits,
    /// The opposite of `disabled`.
    Enabled,
    /// A program, or a list of it and its arguments, or an object with `path` and the rest.
    Command,
    /// Names of variables that the server gets.
    Environment,
    /// Headers whose values are those of variables.
    HeaderVariables,
    /// The variable of a bearer token.
    Bearer,
    /// An object of keys for a login ([`LOGIN`]).
    Login,
    /// A key of `oauth`.
    InLogin(&'static str),
    /// Scopes of a login, in one text or a list.
    Scopes,
    /// Lets calls run without a question.
    Approval,
    /// Says nothing of how the server is started or called.
    Harmless,
    /// Restricts the server or is needed by it, and nothing here does the same, unless its
    /// value is this JSON.
    Refused(&'static str),
}

use Becomes::{
    Approval, Bearer, Command, Enabled, Environment, Harmless, HeaderVariables, InLogin, Is, Limits, Login, Millis,
    Only, Refused, Same, Scopes, Seconds, Timeout, Without,
};

/// Keys of most programs, and of our own files.
pub(super) const COMMON: &[Row] = &[
    (Same, &["args", "env", "cwd", "url", "httpUrl", "headers", "disabled", "maxCalls", "parallel", "ca"]),
    (Is("type"), &["type", "transport", "transportType"]),
    (Is("url"), &["serverUrl"]),
    (Command, &["command"]),
    (Login, &["oauth", "auth"]),
    (Timeout, &["timeout"]),
    (Seconds("connectTimeout"), &["connectTimeout"]),
    (Enabled, &["enabled"]),
    (Only, &["enabledTools"]),
    (Without, &["disabledTools"]),
    (Approval, &["autoApprove", "alwaysAllow", "trust"]),
    (Refused(""), &["envFile"]),
    (Harmless, &["name", "description"]),
];

/// Keys of a login.
pub(super) const LOGIN: &[Row] = &[
    (InLogin("clientId"), &["clientId", "client_id", "CLIENT_ID"]),
    (InLogin("clientSecret"), &["clientSecret", "CLIENT_SECRET"]),
    (InLogin("grantType"), &["grantType"]),
    (InLogin("callbackPort"), &["callbackPort"]),
    (Scopes, &["scope", "scopes"]),
    (Harmless, &["enabled"]),
    (
        Refused(""),
        &[
            "redirectUri", "authorizationUrl", "tokenUrl", "registrationUrl", "authServerMetadataUrl",
            "tokenParamName", "audiences", "issuer",
        ],
    ),
];

const MILLIS: Row = (Millis(&["timeout"]), &["timeout"]);
const KIRO: &[Row] = &[MILLIS, (Scopes, &["oauthScopes"])];

/// Keys of Gemini CLI alone among those who have `mcpServers`.
const GEMINI_ALONE: &[&str] = &["httpUrl", "includeTools", "excludeTools", "authProviderType", "targetAudience"];

/// A program without a row.
const OTHER: Program = Program {
    id: "",
    name: "the file",
    files: &[],
    project: &[],
    servers: &["/mcpServers"],
    variables: Variables::Any,
    expanded: &[],
    keys: &[],
};

pub(super) const TABLE: &[Program] = &[
    Program {
        id: "claude-desktop",
        name: "Claude Desktop",
        files: &[("", APPLICATIONS, "Claude/claude_desktop_config.json")],
        variables: Variables::None,
        ..OTHER
    },
    Program {
        id: "claude-code",
        name: "Claude Code",
        files: &[("CLAUDE_CONFIG_DIR", "", ".claude.json")],
        project: &[".mcp.json"],
        // What it keeps for one folder goes before what it keeps for all.
        servers: &["/projects/@/mcpServers", "/mcpServers"],
        variables: Variables::Shell,
        keys: &[MILLIS, (Refused(""), &["headersHelper"]), (Harmless, &["alwaysLoad"])],
        ..OTHER
    },
    Program {
        id: "cursor",
        name: "Cursor",
        files: &[("", ".cursor", "mcp.json")],
        project: &[".cursor/mcp.json"],
        variables: Variables::Editor,
        ..OTHER
    },
    Program {
        id: "vscode",
        name: "VS Code",
        // Before version 1.102 the servers were among the settings.
        files: &[("", APPLICATIONS, "Code/User/mcp.json"), ("", APPLICATIONS, "Code/User/settings.json")],
        project: &[".vscode/mcp.json"],
        servers: &["/mcp/servers", "/servers"],
        variables: Variables::Editor,
        keys: &[
            (Refused("false"), &["sandboxEnabled"]),
            (Refused(""), &["sandbox"]),
            (Harmless, &["gallery", "version", "dev"]),
        ],
        ..OTHER
    },
    Program {
        id: "lm-studio",
        name: "LM Studio",
        // Older versions keep it in the cache (lmstudio-ai/lmstudio-bug-tracker#1371).
        files: &[("", ".lmstudio", "mcp.json"), ("", ".cache/lm-studio", "mcp.json")],
        variables: Variables::Editor,
        ..OTHER
    },
    Program {
        id: "codex",
        name: "Codex",
        files: &[("CODEX_HOME", ".codex", "config.toml")],
        project: &[".codex/config.toml"],
        servers: &["/mcp_servers"],
        variables: Variables::None,
        keys: &[
            // It has no other transport over HTTP.
            (Is("httpUrl"), &["url"]),
            (Is("headers"), &["http_headers"]),
            (Is("parallel"), &["supports_parallel_tool_calls"]),
            (Environment, &["env_vars"]),
            (HeaderVariables, &["env_http_headers"]),
            (Bearer, &["bearer_token_env_var"]),
            (Seconds("timeout"), &["tool_timeout_sec"]),
            (Seconds("connectTimeout"), &["startup_timeout_sec"]),
            (Millis(&["connectTimeout"]), &["startup_timeout_ms"]),
            (Only, &["enabled_tools"]),
            (Without, &["disabled_tools"]),
            (Scopes, &["scopes"]),
            (Approval, &["default_tools_approval_mode", "tools"]),
            (Refused(""), &["bearer_token", "oauth_resource"]),
            (Refused("\"local\""), &["experimental_environment"]),
            (Harmless, &["required"]),
        ],
        ..OTHER
    },
    Program {
        id: "gemini",
        name: "Gemini CLI",
        files: &[("", ".gemini", "settings.json")],
        project: &[".gemini/settings.json", "gemini-extension.json"],
        variables: Variables::Dollar,
        keys: &[
            MILLIS,
            (Only, &["includeTools"]),
            (Without, &["excludeTools"]),
            (Refused("\"dynamic_discovery\""), &["authProviderType"]),
            (Refused(""), &["targetAudience", "targetServiceAccount", "tcp"]),
            (Harmless, &["extension", "extensionName"]),
        ],
        ..OTHER
    },
    Program {
        id: "opencode",
        name: "opencode",
        files: &[
            ("XDG_CONFIG_HOME", ".config", "opencode/opencode.json"),
            ("XDG_CONFIG_HOME", ".config", "opencode/opencode.jsonc"),
        ],
        project: &["opencode.json", "opencode.jsonc", ".opencode/opencode.json"],
        servers: &["/mcp/servers", "/mcp"],
        variables: Variables::Braces,
        keys: &[(Is("env"), &["environment"]), (Limits, &["timeout"])],
        ..OTHER
    },
    Program {
        id: "windsurf",
        name: "Windsurf",
        files: &[("", ".codeium", "windsurf/mcp_config.json"), ("", ".codeium", "mcp_config.json")],
        variables: Variables::Editor,
        ..OTHER
    },
    Program {
        id: "cline",
        name: "Cline",
        files: &[
            ("", APPLICATIONS, "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"),
            ("", ".cline", "data/settings/cline_mcp_settings.json"),
        ],
        variables: Variables::Editor,
        ..OTHER
    },
    Program {
        id: "copilot",
        name: "Copilot CLI",
        files: &[("COPILOT_HOME", ".copilot", "mcp-config.json")],
        project: &[".github/mcp.json"],
        variables: Variables::Dollar,
        expanded: &["env", "headers"],
        keys: &[
            MILLIS,
            (Only, &["tools"]),
            (Without, &["excludeTools"]),
            (InLogin("clientId"), &["oauthClientId"]),
            (InLogin("grantType"), &["oauthGrantType"]),
            (Refused("true"), &["auth"]),
            (Refused(""), &["oidc"]),
            (Harmless, &["disableToolCache", "disableSecretMasking"]),
        ],
        ..OTHER
    },
    Program {
        id: "kiro",
        name: "Kiro",
        files: &[("", ".kiro", "settings/mcp.json")],
        project: &[".kiro/settings/mcp.json"],
        variables: Variables::Shell,
        keys: KIRO,
        ..OTHER
    },
    Program {
        id: "amazon-q",
        name: "Amazon Q",
        files: &[("", ".aws/amazonq", "mcp.json")],
        project: &[".amazonq/mcp.json"],
        variables: Variables::Editor,
        expanded: &["env"],
        keys: KIRO,
        ..OTHER
    },
    Program {
        id: "zed",
        name: "Zed",
        files: &[("XDG_CONFIG_HOME", ".config", "zed/settings.json")],
        project: &[".zed/settings.json"],
        servers: &["/context_servers"],
        variables: Variables::None,
        keys: &[(Harmless, &["source"])],
        ..OTHER
    },
];

/// Folders in which programs keep a project's settings, and their user's in the home directory.
const FOLDERS: &[&str] = &[
    ".cursor", ".vscode", ".codex", ".gemini", ".opencode", ".kiro", ".amazonq", ".github", ".zed", ".claude", ".roo",
    ".kilocode",
];

impl Program {
    /// The program of this word.
    pub(super) fn named(id: &str) -> Option<&'static Program> {
        TABLE.iter().find(|program| program.id == id)
    }

    /// The program whose file this is: by its place, else by its content.
    pub(super) fn of(file: &Path, root: &Value) -> &'static Program {
        let has = |known: PathBuf| {
            // These names say nothing without their folder.
            let shared = ["mcp.json", "settings.json", "config.toml"].iter().any(|name| known.ends_with(name));
            file.ends_with(&known) || (!shared && file.file_name() == known.file_name())
        };
        let folder = |(_, folder, name): &Place| Path::new(folder.trim_start_matches(APPLICATIONS)).join(name);
        let paths =
            |program: &Program| program.files.iter().map(folder).chain(program.project.iter().map(PathBuf::from));
        let placed = TABLE.iter().find(|program| paths(program).any(has));
        placed.or_else(|| Program::named(by_content(root))).unwrap_or(&OTHER)
    }

    /// The user's own files, whether they are there or not.
    pub(super) fn files(&self, machine: &Machine) -> Vec<PathBuf> {
        let path = |(variable, folder, file): &Place| {
            let folder = match *folder {
                APPLICATIONS => machine.applications(),
                folder => machine.variable(variable).unwrap_or_else(|| machine.home.join(folder)),
            };
            folder.join(file)
        };
        self.files.iter().map(path).collect()
    }
}

/// The word of the program that writes a file of this content.
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

/// Where things are on this machine.
#[derive(Debug, Clone)]
pub(super) struct Machine {
    /// The user's home directory.
    pub(super) home: PathBuf,
    /// The working directory, without links.
    pub(super) here: PathBuf,
    pub(super) system: &'static str,
    /// Looks up a variable of the environment.
    pub(super) variables: fn(&str) -> Option<PathBuf>,
}

impl Machine {
    /// This machine; `None` where there is no home directory.
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

    /// The folder that a variable names.
    fn variable(&self, name: &str) -> Option<PathBuf> {
        (self.variables)(name).filter(|path| path.is_absolute())
    }

    /// Where programs with windows keep their settings.
    fn applications(&self) -> PathBuf {
        let (variable, folder) = match self.system {
            "macos" => ("", "Library/Application Support"),
            "windows" => ("APPDATA", "AppData/Roaming"),
            _ => ("XDG_CONFIG_HOME", ".config"),
        };
        self.variable(variable).unwrap_or_else(|| self.home.join(folder))
    }

    /// The files of the working directory that belong to a project.
    pub(super) fn project_files(&self) -> Vec<PathBuf> {
        let files = TABLE.iter().flat_map(|program| program.project).map(PathBuf::from);
        files.filter(|file| self.here.join(file).exists() && self.is_projects(file)).collect()
    }

    /// Returns `true` if a file belongs to a project and not to the user: such a file came with
    /// whatever else is in its folder.
    pub(super) fn is_projects(&self, file: &Path) -> bool {
        let folder = self.folder_of(file);
        match settings(&folder) {
            // The user's own have the same names in the home directory, but for VS Code's.
            Some(settings) => {
                settings.ends_with(".vscode") || settings.parent().is_none_or(|above| !is_same(above, &self.home))
            }
            None => {
                let has = |known: &&&str| file.ends_with(known) && !known.contains('/');
                let opencode = self.home.join(".config/opencode");
                TABLE.iter().flat_map(|program| program.project).any(|known| has(&known))
                    && !is_same(&folder, &opencode)
            }
        }
    }

    /// The folder of the project that a file belongs to.
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

/// The folder of settings that a folder is, or is directly in.
fn settings(folder: &Path) -> Option<&Path> {
    folder.ancestors().take(2).find(|folder| FOLDERS.iter().any(|name| folder.ends_with(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

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
