//! The lookup of a command on Windows.
//!
//! Without it only `NAME.exe` would be found: npm, uv and others install commands as `npx.cmd`,
//! next to a shell script `npx` that Windows cannot start. The standard library starts a batch file
//! through `cmd.exe`, and escapes or refuses its arguments, if it is given the file's name with the
//! extension.
//!
//! The file system is a parameter, so that this is tested on all systems.

use std::collections::BTreeMap;
use std::ffi::OsString;

use super::program::Program;

/// Extensions of the files that Windows can start as a process, in the order of its own `PATHEXT`. Other entries of
/// `PATHEXT`, such as `.JS`, belong to programs that open such files.
const STARTABLE: [&str; 4] = [".COM", ".EXE", ".BAT", ".CMD"];

/// Returns the path of the file that a server's command starts, or the command itself if no file is found.
///
/// The entry's own `PATH` and `PATHEXT` take precedence over those of `environment`; the case of
/// their names does not matter. A relative path starts at the entry's `cwd`.
pub(super) fn program_file(
    program: Program<'_>,
    environment: &[(OsString, OsString)],
    exists: impl Fn(&str) -> bool,
) -> String {
    let Program { command, env, cwd, .. } = program;
    let variable = |name| variable(name, env, environment).unwrap_or_default();
    let command = match cwd {
        Some(cwd) if is_relative_path(command) => format!("{}\\{command}", cwd.trim_end_matches(SEPARATORS)),
        _ => command.to_owned(),
    };
    lookup(&command, &variable("PATH"), &variable("PATHEXT"), exists).unwrap_or(command)
}

fn variable(name: &str, env: &BTreeMap<String, String>, environment: &[(OsString, OsString)]) -> Option<String> {
    let own = env.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.clone());
    own.or_else(|| {
        let (_, value) = environment.iter().find(|(key, _)| key.eq_ignore_ascii_case(name))?;
        Some(value.to_string_lossy().into_owned())
    })
}

const SEPARATORS: [char; 2] = ['/', '\\'];

fn is_relative_path(command: &str) -> bool {
    command.contains(SEPARATORS) && !command.starts_with(SEPARATORS) && !command.contains(':')
}

/// Returns the path of the file that a command starts; `None` if there is none.
///
/// - A name is looked up in the folders of `path` (separated by `;`, quoted or not) and not in the
///   current folder, where anybody may have placed such a file.
/// - It is tried with each extension of `pathext`, in that order; unchanged only if it already has
///   such an extension. The default of `pathext` is `.COM;.EXE;.BAT;.CMD`.
/// - A path (with `/`, `\` or a drive) is tried as it is, with the same extensions.
fn lookup(command: &str, path: &str, pathext: &str, exists: impl Fn(&str) -> bool) -> Option<String> {
    if command.is_empty() {
        return None;
    }
    let endings = endings(pathext);
    let found = |stem: &str| {
        let whole = has_ending(stem).then(|| stem.to_owned());
        whole.into_iter().chain(endings.iter().map(|ending| format!("{stem}{ending}"))).find(|file| exists(file))
    };
    if command.contains(SEPARATORS) || command.contains(':') {
        return found(command);
    }
    let folders = path.split(';').map(|folder| folder.trim().trim_matches('"')).filter(|folder| !folder.is_empty());
    folders.map(|folder| format!("{}\\{command}", folder.trim_end_matches(SEPARATORS))).find_map(|stem| found(&stem))
}

/// Returns the extensions in `pathext` that can be started, in lower case; all startable ones if it has none.
fn endings(pathext: &str) -> Vec<String> {
    let named: Vec<String> =
        pathext.split(';').map(|ending| ending.trim().to_ascii_uppercase()).filter(|e| is_startable(e)).collect();
    let chosen = if named.is_empty() { STARTABLE.map(str::to_owned).to_vec() } else { named };
    // In lower case, as installers write them; the file system ignores case.
    chosen.into_iter().map(|ending| ending.to_ascii_lowercase()).collect()
}

fn is_startable(ending: &str) -> bool {
    STARTABLE.iter().any(|startable| startable.eq_ignore_ascii_case(ending))
}

fn has_ending(file: &str) -> bool {
    file.rfind('.').is_some_and(|dot| is_startable(&file[dot..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODE: &str = r"C:\Program Files\nodejs";

    /// Looks a command up in a system with these files, ignoring case like Windows.
    fn find(command: &str, pathext: &str, files: &[&str]) -> Option<String> {
        let path = format!(r#"C:\Windows\System32;"{NODE}\";;C:\uv"#);
        lookup(command, &path, pathext, |file| files.iter().any(|f| f.eq_ignore_ascii_case(file)))
    }

    #[test]
    fn a_bare_command_is_found_as_a_batch_file_beside_a_shell_script() {
        let files = [r"C:\Program Files\nodejs\npx", r"C:\Program Files\nodejs\npx.cmd", r"C:\uv\uvx.exe"];
        assert_eq!(find("npx", ".COM;.EXE;.BAT;.CMD", &files).unwrap(), files[1]);
        assert_eq!(find("npx.cmd", ".EXE;.CMD", &files).unwrap(), files[1]);
        assert_eq!(find("uvx", "", &files).unwrap(), files[2]);
        assert_eq!(find("pnpx", "", &files), None);
    }

    #[test]
    fn a_servers_own_path_and_folder_come_first() {
        let environment = [("Path", r"C:\sys"), ("PathExt", ".EXE")].map(|(n, v)| (n.into(), v.into()));
        let own = BTreeMap::from([("path".to_owned(), r"D:\own".to_owned())]);
        let find = |command, env: &BTreeMap<String, String>, cwd, file: &str| {
            program_file(Program { command, args: &[], env, cwd }, &environment, |f| f == file)
        };
        assert_eq!(find("x", &BTreeMap::new(), None, r"C:\sys\x.exe"), r"C:\sys\x.exe");
        assert_eq!(find("x", &own, None, r"D:\own\x.exe"), r"D:\own\x.exe");
        assert_eq!(find("x", &own, None, r"C:\sys\x.exe"), "x", "as it was, for the error");
        assert_eq!(find("bin/x", &own, Some(r"E:\w\"), r"E:\w\bin/x.exe"), r"E:\w\bin/x.exe");
        assert_eq!(find(r"C:\t\x", &own, Some(r"E:\w"), r"C:\t\x.exe"), r"C:\t\x.exe");
    }

    #[test]
    fn a_shell_script_alone_is_not_started() {
        assert_eq!(find("npx", "", &[r"C:\uv\npx", r"C:\uv\npx.ps1"]), None);
    }

    #[test]
    fn the_folder_comes_before_the_ending_and_the_endings_in_their_order() {
        let both = [r"C:\uv\x.exe", r"C:\uv\x.cmd"];
        assert_eq!(find("x", ".EXE;.CMD", &both).unwrap(), both[0]);
        assert_eq!(find("x", ".CMD;.EXE", &both).unwrap(), both[1]);
        let earlier = [r"C:\uv\x.exe", r"C:\Windows\System32\x.cmd"];
        assert_eq!(find("x", ".EXE;.CMD", &earlier).unwrap(), earlier[1]);
    }

    #[test]
    fn endings_that_cannot_be_started_are_passed_over() {
        let files = [r"C:\uv\x.js", r"C:\uv\x.cmd"];
        assert_eq!(find("x", ".JS;.CMD", &files).unwrap(), files[1]);
        assert_eq!(find("x", ".JS;.VBS", &files).unwrap(), files[1], "the usual ones where none can be");
        assert_eq!(find("x.js", "", &files), None);
    }

    #[test]
    fn a_version_after_a_dot_is_no_ending() {
        assert_eq!(find("python3.11", "", &[r"C:\uv\python3.11.exe"]).unwrap(), r"C:\uv\python3.11.exe");
    }

    #[test]
    fn a_path_is_looked_at_where_it_leads_and_nowhere_else() {
        let files = [r"C:\tools\serve.cmd", r"C:\uv\serve.cmd", "serve.cmd"];
        assert_eq!(find(r"C:\tools\serve", "", &files).unwrap(), files[0]);
        assert_eq!(find("c:/tools/serve", "", &["c:/tools/serve.exe"]).unwrap(), "c:/tools/serve.exe");
        assert_eq!(find(r".\other", "", &files), None);
        assert_eq!(lookup("serve", "", "", |_| true), None, "not in the current folder");
        assert_eq!(lookup("", NODE, "", |_| true), None);
    }
}
