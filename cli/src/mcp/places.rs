//! Where other programs keep their MCP servers.

use std::path::{Path, PathBuf};

/// Folders in which programs keep a project's settings.
const FOLDERS: [&str; 5] = [".cursor", ".vscode", ".codex", ".gemini", ".opencode"];

/// A program whose configuration is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Program {
    ClaudeDesktop,
    ClaudeCode,
    Cursor,
    #[value(name = "vscode")]
    VsCode,
}

impl Program {
    /// As people call it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Program::ClaudeDesktop => "Claude Desktop",
            Program::ClaudeCode => "Claude Code",
            Program::Cursor => "Cursor",
            Program::VsCode => "VS Code",
        }
    }

    /// The user's own files of the program, whether they are there or not.
    pub(super) fn files(self, machine: &Machine) -> Vec<PathBuf> {
        let Machine { home, applications, .. } = machine;
        match self {
            Program::ClaudeDesktop => vec![applications.join("Claude/claude_desktop_config.json")],
            Program::ClaudeCode => vec![home.join(".claude.json")],
            Program::Cursor => vec![home.join(".cursor/mcp.json")],
            // Before version 1.102 the servers stood among the settings.
            Program::VsCode => {
                vec![applications.join("Code/User/mcp.json"), applications.join("Code/User/settings.json")]
            }
        }
    }
}

/// Where things lie on this machine.
#[derive(Debug, Clone)]
pub(super) struct Machine {
    /// The user's home directory.
    pub(super) home: PathBuf,
    /// Where programs with windows keep their settings.
    pub(super) applications: PathBuf,
    /// The working directory, without links.
    pub(super) here: PathBuf,
}

impl Machine {
    /// This machine; `None` where there is no home directory.
    pub(super) fn this() -> Option<Self> {
        let home = std::env::home_dir()?;
        let here = std::env::current_dir().ok()?;
        let applications = applications(&home, std::env::consts::OS, &|name| std::env::var_os(name).map(PathBuf::from));
        Some(Machine { here: here.canonicalize().unwrap_or(here), home, applications })
    }

    /// The files of the working directory that belong to a project.
    pub(super) fn project_files(&self) -> Vec<PathBuf> {
        let names = [".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json"];
        names
            .map(PathBuf::from)
            .into_iter()
            .filter(|file| self.here.join(file).exists() && self.is_projects(file))
            .collect()
    }

    /// Whether a file belongs to a project and not to the user: such a file came with
    /// whatever else is in its folder.
    pub(super) fn is_projects(&self, file: &Path) -> bool {
        let absolute = self.here.join(file);
        let folder = absolute.parent().map(|folder| folder.canonicalize().unwrap_or(folder.to_owned()));
        let Some(folder) = folder else { return false };
        // The user's own have the same names in the home directory, but for VS Code's.
        let users = [".cursor", ".codex", ".gemini", ".config/opencode"].map(|folder| self.home.join(folder));
        let is_users = users
            .into_iter()
            .chain([self.applications.join("Code/User")])
            .any(|own| own.canonicalize().is_ok_and(|own| own == folder));
        let named = absolute
            .file_name()
            .is_some_and(|name| name == ".mcp.json" || name == "opencode.json" || name == "opencode.jsonc");
        (named || is_settings(&folder)) && !is_users
    }

    /// The folder of the project that a file belongs to.
    pub(super) fn project_of(&self, file: &Path) -> PathBuf {
        let folder = self.here.join(file).parent().map(Path::to_owned).unwrap_or_default();
        let folder = folder.canonicalize().unwrap_or(folder);
        match folder.parent().filter(|_| is_settings(&folder)) {
            Some(above) => above.to_owned(),
            None => folder,
        }
    }
}

/// Whether programs keep a project's settings in a folder of this name.
fn is_settings(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| FOLDERS.iter().any(|known| name == *known))
}

fn applications(home: &Path, system: &str, variable: &dyn Fn(&str) -> Option<PathBuf>) -> PathBuf {
    let named = |name: &str| variable(name).filter(|path| path.is_absolute());
    match system {
        "macos" => home.join("Library/Application Support"),
        "windows" => named("APPDATA").unwrap_or_else(|| home.join("AppData/Roaming")),
        _ => named("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_s_own_files_are_known_and_the_user_s_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        for own in [".codex", ".gemini", ".config/opencode", "src/.codex", "src/.gemini"] {
            std::fs::create_dir_all(home.join(own)).unwrap();
        }
        let machine = Machine { here: home.join("src"), applications: home.join(".config"), home: home.clone() };
        for (file, is_projects) in [
            (".mcp.json", true),
            (".codex/config.toml", true),
            (".gemini/settings.json", true),
            ("opencode.json", true),
            ("other.json", false),
            ("../.codex/config.toml", false),
            ("../.gemini/settings.json", false),
            ("../.config/opencode/opencode.json", false),
        ] {
            assert_eq!(machine.is_projects(Path::new(file)), is_projects, "{file}");
        }
        assert_eq!(machine.project_of(Path::new(".codex/config.toml")), home.join("src"));
    }

    #[test]
    fn settings_lie_where_each_system_has_them() {
        let home = Path::new("/home/ada");
        let none = |_: &str| None;
        assert_eq!(applications(home, "macos", &none), home.join("Library/Application Support"));
        assert_eq!(applications(home, "windows", &none), home.join("AppData/Roaming"));
        assert_eq!(applications(home, "linux", &none), home.join(".config"));
        let set = |name: &str| Some(PathBuf::from(format!("/set/{name}")));
        assert_eq!(applications(home, "windows", &set), Path::new("/set/APPDATA"));
        assert_eq!(applications(home, "linux", &set), Path::new("/set/XDG_CONFIG_HOME"));
        let relative = |_: &str| Some(PathBuf::from("here"));
        assert_eq!(applications(home, "linux", &relative), home.join(".config"));
    }
}
