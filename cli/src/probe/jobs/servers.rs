//! The official filesystem, git and time servers, as far as the jobs go: the same tools, results
//! and errors, on files, a repository and a clock in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use chrono::{NaiveDateTime, TimeDelta};
use regex::Regex;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The only directory that the simulated filesystem server may access.
const ROOT: &str = "/home/kim";

type FileTree = BTreeMap<String, String>;

fn text<'a>(arguments: &'a Map<String, Value>, name: &str) -> &'a str {
    arguments.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn texts<'a>(arguments: &'a Map<String, Value>, name: &str) -> Vec<&'a str> {
    let items = arguments.get(name).and_then(Value::as_array);
    items.into_iter().flatten().filter_map(Value::as_str).collect()
}

fn count(arguments: &Map<String, Value>, name: &str) -> Option<usize> {
    let number = arguments.get(name).and_then(Value::as_f64)?;
    // A fraction or a negative number counts as the servers' own languages convert it.
    Some(number.max(0.0) as usize)
}

/// Returns the absolute, normalized form of a path; an error if it is outside the allowed directory.
fn resolved(path: &str) -> Result<String, String> {
    let whole = match path.strip_prefix("~/") {
        Some(rest) => format!("{ROOT}/{rest}"),
        None if path.starts_with('/') => path.to_owned(),
        None => format!("{ROOT}/{path}"),
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let whole = format!("/{}", parts.join("/"));
    let is_inside = whole == ROOT || whole.strip_prefix(ROOT).is_some_and(|rest| rest.starts_with('/'));
    match is_inside {
        true => Ok(whole),
        false => Err(format!("Access denied - path outside allowed directories: {whole} not in {ROOT}")),
    }
}

fn is_folder(files: &FileTree, path: &str) -> bool {
    let below = format!("{path}/");
    path == ROOT || files.keys().any(|file| file.starts_with(&below))
}

/// Returns the names in a directory, each with `true` for a subdirectory.
fn entries(files: &FileTree, path: &str) -> Result<BTreeSet<(String, bool)>, String> {
    match () {
        () if files.contains_key(path) => Err(format!("ENOTDIR: not a directory, scandir '{path}'")),
        () if !is_folder(files, path) => Err(format!("ENOENT: no such file or directory, scandir '{path}'")),
        () => {
            let below = files.keys().filter_map(|file| file.strip_prefix(path)?.strip_prefix('/'));
            let names = below.filter(|rest| !rest.is_empty()).map(|rest| match rest.split_once('/') {
                Some((folder, _)) => (folder.to_owned(), true),
                None => (rest.to_owned(), false),
            });
            Ok(names.collect())
        }
    }
}

fn content<'a>(files: &'a FileTree, path: &str) -> Result<&'a String, String> {
    let missing = || match is_folder(files, path) {
        true => "EISDIR: illegal operation on a directory, read".to_owned(),
        false => format!("ENOENT: no such file or directory, open '{path}'"),
    };
    files.get(path).ok_or_else(missing)
}

/// Writes a file; an error if its parent directory does not exist or the path is a directory.
fn write(files: &mut FileTree, path: &str, content: &str) -> Result<(), String> {
    let (folder, _) = path.rsplit_once('/').unwrap_or_default();
    if is_folder(files, path) {
        return Err(format!("EISDIR: illegal operation on a directory, open '{path}'"));
    }
    if !is_folder(files, folder) {
        return Err(format!("ENOENT: no such file or directory, open '{path}'"));
    }
    files.insert(path.to_owned(), content.to_owned());
    Ok(())
}

fn tree(files: &FileTree, path: &str) -> Result<Value, String> {
    let entries = entries(files, path)?.into_iter().map(|(name, is_folder)| match is_folder {
        true => Ok(json!({"name": name, "type": "directory", "children": tree(files, &format!("{path}/{name}"))?})),
        false => Ok(json!({"name": name, "type": "file"})),
    });
    entries.collect()
}

/// Returns a regular expression for a glob pattern: `*` stays within a path segment, `**` does not.
fn glob(pattern: &str) -> Option<Regex> {
    let escaped = regex::escape(pattern).replace(r"\*\*/", "(.*/)?").replace(r"\*\*", ".*");
    // What is left of the stars is that of one folder.
    let within = escaped.replace(r"\*", "[^/]*").replace(r"\?", "[^/]");
    Regex::new(&format!("(?s)^{within}$")).ok()
}

fn search(files: &FileTree, path: &str, pattern: &str) -> String {
    let mut found = BTreeSet::new();
    let glob = glob(pattern);
    for file in files.keys().filter_map(|file| file.strip_prefix(path)?.strip_prefix('/')) {
        let ends = file.match_indices('/').map(|(at, _)| at).chain([file.len()]);
        // The entry of an empty folder ends with `/`.
        let parts = ends.map(|end| file[..end].trim_end_matches('/')).filter(|part| !part.is_empty());
        let fits = parts.filter(|part| glob.as_ref().is_some_and(|glob| glob.is_match(part)));
        found.extend(fits.map(|part| format!("{path}/{part}")));
    }
    match found.is_empty() {
        true => "No matches found".to_owned(),
        false => found.into_iter().collect::<Vec<_>>().join("\n"),
    }
}

fn rename(files: &mut FileTree, source: &str, destination: &str) -> Result<(), String> {
    if files.contains_key(destination) || is_folder(files, destination) {
        return Err(format!("Destination already exists: {destination}"));
    }
    if let Some(content) = files.remove(source) {
        let written = write(files, destination, &content);
        if written.is_err() {
            files.insert(source.to_owned(), content);
        }
        return written;
    }
    if !is_folder(files, source) {
        return Err(format!("ENOENT: no such file or directory, rename '{source}' -> '{destination}'"));
    }
    let below = format!("{source}/");
    let moved: Vec<String> = files.keys().filter(|file| file.starts_with(&below)).cloned().collect();
    for file in moved {
        let content = files.remove(&file).unwrap_or_default();
        files.insert(format!("{destination}/{}", &file[below.len()..]), content);
    }
    Ok(())
}

fn edit(files: &mut FileTree, path: &str, arguments: &Map<String, Value>) -> Result<String, String> {
    let mut edited = content(files, path)?.clone();
    let mut diff = format!("```diff\n--- {path}\toriginal\n+++ {path}\tmodified\n");
    for edit in arguments.get("edits").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object) {
        let (old, new) = (text(edit, "oldText"), text(edit, "newText"));
        if !edited.contains(old) {
            return Err(format!("Could not find exact match for edit:\n{old}"));
        }
        edited = edited.replacen(old, new, 1);
        let lines = old.lines().map(|line| format!("-{line}\n")).chain(new.lines().map(|line| format!("+{line}\n")));
        diff.extend(lines);
    }
    if arguments.get("dryRun") != Some(&Value::Bool(true)) {
        files.insert(path.to_owned(), edited);
    }
    Ok(diff + "```\n\n")
}

/// Runs a tool of the simulated filesystem server.
///
/// # Errors
/// The error message of the real server.
pub(super) fn filesystem(files: &mut FileTree, tool: &str, arguments: &Map<String, Value>) -> Result<String, String> {
    let path = || resolved(text(arguments, "path"));
    match tool {
        "read_file" | "read_text_file" => {
            let content = content(files, &path()?)?;
            let lines: Vec<&str> = content.split('\n').collect();
            Ok(match (count(arguments, "head"), count(arguments, "tail")) {
                (Some(head), None) => lines[..head.min(lines.len())].join("\n"),
                (None, Some(tail)) => lines[lines.len().saturating_sub(tail)..].join("\n"),
                (Some(_), Some(_)) => {
                    return Err("Cannot specify both head and tail parameters simultaneously".to_owned());
                }
                (None, None) => content.clone(),
            })
        }
        "read_media_file" => content(files, &path()?).map(|content| format!("[media: {} bytes]", content.len())),
        "read_multiple_files" => {
            let read = texts(arguments, "paths").into_iter().map(|path| {
                let read = resolved(path).and_then(|path| content(files, &path).cloned());
                read.map_or_else(|error| format!("{path}: Error - {error}"), |text| format!("{path}:\n{text}\n"))
            });
            Ok(read.collect::<Vec<_>>().join("\n---\n"))
        }
        "write_file" => {
            let path = path()?;
            write(files, &path, text(arguments, "content"))?;
            Ok(format!("Successfully wrote to {path}"))
        }
        "edit_file" => edit(files, &path()?, arguments),
        "create_directory" => {
            let path = path()?;
            if !is_folder(files, &path) {
                // A folder exists here by what is in it; an empty one has an entry of its own.
                files.insert(format!("{path}/"), String::new());
            }
            Ok(format!("Successfully created directory {path}"))
        }
        "list_directory" | "list_directory_with_sizes" => {
            let path = path()?;
            let lines = entries(files, &path)?.into_iter().map(|(name, is_folder)| match is_folder {
                true => format!("[DIR] {name}"),
                false if tool == "list_directory" => format!("[FILE] {name}"),
                false => format!("[FILE] {name}  {} B", files.get(&format!("{path}/{name}")).map_or(0, String::len)),
            });
            Ok(lines.collect::<Vec<_>>().join("\n"))
        }
        "directory_tree" => Ok(format!("{:#}", tree(files, &path()?)?)),
        "move_file" => {
            let (source, destination) =
                (resolved(text(arguments, "source"))?, resolved(text(arguments, "destination"))?);
            rename(files, &source, &destination)?;
            Ok(format!("Successfully moved {source} to {destination}"))
        }
        "search_files" => Ok(search(files, &path()?, text(arguments, "pattern"))),
        "get_file_info" => {
            let path = path()?;
            let is_folder = is_folder(files, &path);
            let size = if is_folder { 0 } else { content(files, &path)?.len() };
            Ok(format!("size: {size}\nisDirectory: {is_folder}\nisFile: {}\npermissions: 644", !is_folder))
        }
        "list_allowed_directories" => Ok(format!("Allowed directories:\n{ROOT}")),
        _ => Err(format!("Unknown tool: {tool}")),
    }
}

/// A simulated git repository: commits by hash, and diffs of changed files by path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Repository {
    path: String,
    branch: String,
    branches: BTreeMap<String, String>,
    commits: BTreeMap<String, Commit>,
    staged: BTreeMap<String, String>,
    unstaged: BTreeMap<String, String>,
    untracked: BTreeMap<String, String>,
    /// Hash of the next commit; later commits replace its last three characters with their number.
    next: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Commit {
    author: String,
    date: String,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parent: Option<String>,
    diff: String,
}

impl Repository {
    /// Runs a tool of the simulated git server.
    ///
    /// # Errors
    /// The error message of the real server.
    pub(super) fn call(&mut self, tool: &str, arguments: &Map<String, Value>) -> Result<String, String> {
        let path = text(arguments, "repo_path");
        if path.trim_end_matches('/') != self.path {
            let message = format!("Repository path '{path}' is outside the allowed repository '{}'", self.path);
            return Err(format!("Error executing tool {tool}: {message}"));
        }
        self.run(tool, arguments).map_err(|error| format!("Error executing tool {tool}: {error}"))
    }

    fn run(&mut self, tool: &str, arguments: &Map<String, Value>) -> Result<String, String> {
        let all = |changes: &BTreeMap<String, String>| changes.values().cloned().collect::<Vec<_>>().join("\n");
        Ok(match tool {
            "git_status" => self.status(),
            "git_diff_unstaged" => format!("Unstaged changes:\n{}", all(&self.unstaged)),
            "git_diff_staged" => format!("Staged changes:\n{}", all(&self.staged)),
            "git_diff" => {
                let target = text(arguments, "target");
                let base = self.ancestors(&self.resolve(target)?);
                let since = self.ancestors(&self.resolve("HEAD")?).into_iter().filter(|hash| !base.contains(hash));
                let commits = since.filter_map(|hash| self.commits.get(&hash)).map(|commit| commit.diff.clone());
                let diffs = commits.chain(self.staged.values().chain(self.unstaged.values()).cloned());
                format!("Diff with {target}:\n{}", diffs.collect::<Vec<_>>().join("\n"))
            }
            "git_commit" => self.commit(text(arguments, "message"))?,
            "git_add" => self.add(&texts(arguments, "files"))?,
            "git_reset" => {
                for (file, diff) in std::mem::take(&mut self.staged) {
                    let is_new = diff.starts_with("--- /dev/null");
                    if is_new { &mut self.untracked } else { &mut self.unstaged }.insert(file, diff);
                }
                "All staged changes reset".to_owned()
            }
            "git_log" => {
                let hashes = self.ancestors(&self.resolve("HEAD")?).into_iter();
                let commits = hashes.take(count(arguments, "max_count").unwrap_or(10)).filter_map(|hash| {
                    let Commit { author, date, message, .. } = self.commits.get(&hash)?;
                    Some(format!("Commit: {hash}\nAuthor: {author}\nDate: {date}\nMessage: {message}\n"))
                });
                format!("Commit history:\n{}", commits.collect::<Vec<_>>().join("\n"))
            }
            "git_create_branch" => {
                let name = text(arguments, "branch_name");
                let base = arguments.get("base_branch").and_then(Value::as_str).unwrap_or(&self.branch).to_owned();
                if self.branches.contains_key(name) {
                    return Err(format!("Cannot create branch '{name}': refs/heads/{name} already exists"));
                }
                let hash = self.resolve(&base)?;
                self.branches.insert(name.to_owned(), hash);
                format!("Created branch '{name}' from '{base}'")
            }
            "git_checkout" => {
                let name = text(arguments, "branch_name");
                if !self.branches.contains_key(name) {
                    return Err(format!("Ref '{name}' did not resolve to an object"));
                }
                self.branch = name.to_owned();
                format!("Switched to branch '{name}'")
            }
            "git_show" => {
                let hash = self.resolve(text(arguments, "revision"))?;
                let shown = self.commits.get(&hash).map(|Commit { author, date, message, diff, .. }| {
                    format!("commit {hash}\nAuthor: {author}\nDate:   {date}\n\n    {message}\n\n{diff}\n")
                });
                shown.unwrap_or_default()
            }
            "git_branch" => {
                let mark = |name: &String| if *name == self.branch { format!("* {name}") } else { format!("  {name}") };
                self.branches.keys().map(mark).collect::<Vec<_>>().join("\n")
            }
            _ => return Err(format!("Unknown tool: {tool}")),
        })
    }

    fn status(&self) -> String {
        let mut status = format!("Repository status:\nOn branch {}", self.branch);
        let sorts = [
            ("Changes to be committed", "changed:    ", &self.staged),
            ("Changes not staged for commit", "modified:   ", &self.unstaged),
            ("Untracked files", "", &self.untracked),
        ];
        for (title, word, changes) in sorts.into_iter().filter(|(_, _, changes)| !changes.is_empty()) {
            let files = changes.keys().map(|file| format!("\n\t{word}{file}"));
            // Writing to a String cannot fail.
            let _ = write!(status, "\n{title}:{}\n", files.collect::<String>());
        }
        status
    }

    fn commit(&mut self, message: &str) -> Result<String, String> {
        if self.staged.is_empty() {
            return Err("No changes staged for commit. Use git_add to stage changes first; git_status shows what is \
                        currently staged."
                .to_owned());
        }
        let taken = self.commits.len();
        let hash = match self.commits.contains_key(&self.next) {
            true => format!("{}{:03}", &self.next[..self.next.len().saturating_sub(3)], taken % 1000),
            false => self.next.clone(),
        };
        let diff = std::mem::take(&mut self.staged).into_values().collect::<Vec<_>>().join("\n");
        let parent = self.branches.insert(self.branch.clone(), hash.clone());
        let (author, date) = ("Kim Park".to_owned(), "2026-11-18 12:05:00+00:00".to_owned());
        self.commits.insert(hash.clone(), Commit { author, date, message: message.to_owned(), parent, diff });
        Ok(format!("Changes committed successfully with hash {hash}"))
    }

    fn add(&mut self, files: &[&str]) -> Result<String, String> {
        let is_all = files.iter().any(|file| *file == "." || *file == self.path);
        let named: Vec<String> = match is_all {
            true => self.unstaged.keys().chain(self.untracked.keys()).cloned().collect(),
            false => {
                let within = |file: &&str| {
                    file.strip_prefix(&self.path).map_or(*file, |rest| rest.trim_start_matches('/')).to_owned()
                };
                files.iter().map(within).collect()
            }
        };
        let is_known =
            |file: &String| [&self.unstaged, &self.untracked, &self.staged].iter().any(|of| of.contains_key(file));
        if let Some(file) = named.iter().find(|file| !is_known(file)) {
            return Err(format!(
                "Cmd('git') failed due to: exit code(128)\n  cmdline: git add -- {file}\n  stderr: 'fatal: pathspec \
                 '{file}' did not match any files'"
            ));
        }
        for file in named {
            if let Some(diff) = self.unstaged.remove(&file).or_else(|| self.untracked.remove(&file)) {
                self.staged.insert(file, diff);
            }
        }
        Ok("Files staged successfully".to_owned())
    }

    /// Returns the full commit hash of a revision: a branch, `HEAD`, `HEAD~1` or `HEAD^`, or a prefix of at least 4
    /// characters of a hash.
    fn resolve(&self, revision: &str) -> Result<String, String> {
        let unknown = || format!("Ref '{revision}' did not resolve to an object");
        let (name, back) = match (revision.split_once('~'), revision.strip_suffix('^')) {
            (Some((name, back)), _) => (name, back.parse().map_err(|_| unknown())?),
            (None, Some(name)) => (name, 1),
            (None, None) => (revision, 0),
        };
        let branch = if name == "HEAD" { &self.branch } else { name };
        // git takes no shorter beginning of a hash.
        let by_prefix = || self.commits.keys().find(|hash| name.len() >= 4 && hash.starts_with(name));
        let hash = self.branches.get(branch).or_else(by_prefix).ok_or_else(unknown)?;
        self.ancestors(hash).into_iter().nth(back).ok_or_else(unknown)
    }

    /// Returns the hash of a commit, followed by those of its ancestors, the newest first.
    fn ancestors(&self, hash: &str) -> Vec<String> {
        let next = |hash: &String| self.commits.get(hash).and_then(|commit| commit.parent.clone());
        std::iter::successors(Some(hash.to_owned()), next).collect()
    }
}

/// A simulated clock: a date, a time of day in UTC, and the known time zones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Clock {
    date: String,
    time: String,
    /// Offset of each known time zone from UTC in minutes; positive is east.
    zones: BTreeMap<String, i64>,
}

impl Clock {
    /// Runs a tool of the simulated time server.
    ///
    /// # Errors
    /// The error message of the real server.
    pub(super) fn call(&self, tool: &str, arguments: &Map<String, Value>) -> Result<String, String> {
        self.run(tool, arguments).map_err(|error| format!("Error executing tool {tool}: {error}"))
    }

    fn run(&self, tool: &str, arguments: &Map<String, Value>) -> Result<String, String> {
        let zone = |name: &str| {
            let found = self.zones.get(text(arguments, name)).copied();
            found.ok_or_else(|| format!("Invalid timezone: 'No time zone found with key {}'", text(arguments, name)))
        };
        if tool == "get_current_time" {
            let offset = zone("timezone")?;
            let now = self.at(&self.time).ok_or("the clock has no time")? + TimeDelta::minutes(offset);
            return Ok(format!("{:#}", moment(text(arguments, "timezone"), now, offset)));
        }
        let (from, to) = (zone("source_timezone")?, zone("target_timezone")?);
        let time = self.at(text(arguments, "time")).ok_or("Invalid time format. Expected HH:MM [24-hour format]")?;
        let moments = json!({
            "source": moment(text(arguments, "source_timezone"), time, from),
            "target": moment(text(arguments, "target_timezone"), time + TimeDelta::minutes(to - from), to),
            "time_difference": format!("{:+.1}h", (to - from) as f64 / 60.0),
        });
        Ok(format!("{moments:#}"))
    }

    /// Returns the moment at this time of day (`HH:MM`) on the clock's date; `None` if the text is no time.
    fn at(&self, time: &str) -> Option<NaiveDateTime> {
        NaiveDateTime::parse_from_str(&format!("{} {time}", self.date), "%Y-%m-%d %H:%M").ok()
    }
}

/// Returns the JSON description of a local time in a time zone whose offset from UTC is given in minutes.
fn moment(zone: &str, local: NaiveDateTime, offset: i64) -> Value {
    let (sign, minutes) = (if offset < 0 { '-' } else { '+' }, offset.abs());
    let datetime = format!("{}{sign}{:02}:{:02}", local.format("%Y-%m-%dT%H:%M:00"), minutes / 60, minutes % 60);
    json!({"timezone": zone, "datetime": datetime, "day_of_week": local.format("%A").to_string(), "is_dst": false})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> FileTree {
        let files = [("x.txt", "one\ntwo\nthree\n"), ("a/y.md", "hello\n"), ("a/b/", ""), ("w.txt", "W")];
        files.into_iter().map(|(path, content)| (format!("{ROOT}/{path}"), content.to_owned())).collect()
    }

    fn on_files(files: &mut FileTree, tool: &str, arguments: &Value) -> Result<String, String> {
        filesystem(files, tool, arguments.as_object().unwrap())
    }

    /// The expected results are those of the real server, version 2026.8.31, with another root directory.
    #[test]
    fn files_are_read_and_found_as_the_real_server_does() {
        let files = &mut files();
        let in_root = |text: &str| text.replace('$', ROOT);
        for (tool, arguments, result) in [
            ("read_text_file", json!({"path": "/home/kim/x.txt"}), Ok("one\ntwo\nthree\n")),
            ("read_text_file", json!({"path": "x.txt", "head": 2}), Ok("one\ntwo")),
            ("read_text_file", json!({"path": "x.txt", "tail": 1}), Ok("")),
            ("read_text_file", json!({"path": "n"}), Err("ENOENT: no such file or directory, open '$/n'")),
            (
                "read_file",
                json!({"path": "../z"}),
                Err("Access denied - path outside allowed directories: /home/z not in $"),
            ),
            (
                "read_multiple_files",
                json!({"paths": ["/home/kim/x.txt", "/home/kim/a/y.md", "/home/kim/n"]}),
                Ok(
                    "$/x.txt:\none\ntwo\nthree\n\n\n---\n$/a/y.md:\nhello\n\n\n---\n$/n: Error - ENOENT: no such file or directory, open '$/n'",
                ),
            ),
            ("list_directory", json!({"path": "/home/kim"}), Ok("[DIR] a\n[FILE] w.txt\n[FILE] x.txt")),
            ("list_directory", json!({"path": "/home/kim/a/b/"}), Ok("")),
            ("list_directory", json!({"path": "x.txt"}), Err("ENOTDIR: not a directory, scandir '$/x.txt'")),
            ("list_directory", json!({"path": "n"}), Err("ENOENT: no such file or directory, scandir '$/n'")),
            ("search_files", json!({"path": "/home/kim", "pattern": "*.md"}), Ok("No matches found")),
            ("search_files", json!({"path": "/home/kim", "pattern": "**/*.md"}), Ok("$/a/y.md")),
            ("search_files", json!({"path": "/home/kim", "pattern": "y"}), Ok("No matches found")),
            ("search_files", json!({"path": "/home/kim", "pattern": "**/y*"}), Ok("$/a/y.md")),
            (
                "search_files",
                json!({"path": "/home/kim", "pattern": "**"}),
                Ok("$/a\n$/a/b\n$/a/y.md\n$/w.txt\n$/x.txt"),
            ),
            ("list_allowed_directories", json!({}), Ok("Allowed directories:\n$")),
        ] {
            let result = result.map(in_root).map_err(in_root);
            assert_eq!(on_files(files, tool, &arguments), result, "{tool} {arguments}");
        }
        let tree: Value =
            serde_json::from_str(&on_files(files, "directory_tree", &json!({"path": "a"})).unwrap()).unwrap();
        let folder = json!({"name": "b", "type": "directory", "children": []});
        assert_eq!(tree, json!([folder, {"name": "y.md", "type": "file"}]));
    }

    #[test]
    fn files_are_written_edited_and_moved_as_the_real_server_does() {
        let files = &mut files();
        let moved = |source: &str, destination: &str| json!({"source": source, "destination": destination});
        let edit = |old: &str| json!({"path": "x.txt", "edits": [{"oldText": old, "newText": "TWO"}]});
        for (tool, arguments, is_taken) in [
            ("write_file", json!({"path": "a/new.txt", "content": "N"}), true),
            ("write_file", json!({"path": "zz/new.txt", "content": "N"}), false),
            ("edit_file", edit("two"), true),
            ("edit_file", edit("nope"), false),
            ("create_directory", json!({"path": "k/l"}), true),
            ("move_file", moved("w.txt", "a/y.md"), false),
            ("move_file", moved("w.txt", "k/l/w.txt"), true),
            ("move_file", moved("w.txt", "k/l/v.txt"), false),
            ("move_file", moved("a", "c"), true),
        ] {
            let result = on_files(files, tool, &arguments);
            assert_eq!(result.is_ok(), is_taken, "{tool} {arguments}: {result:?}");
        }
        let names: Vec<&str> = files.keys().filter_map(|path| path.strip_prefix("/home/kim/")).collect();
        assert_eq!(names, ["c/b/", "c/new.txt", "c/y.md", "k/l/", "k/l/w.txt", "x.txt"]);
        assert_eq!(files["/home/kim/x.txt"], "one\nTWO\nthree\n");
    }

    fn repository() -> Repository {
        serde_json::from_value(json!({
            "path": "/r", "branch": "main", "branches": {"main": "bbbb2222", "old": "aaaa1111"},
            "commits": {
                "aaaa1111": {"author": "Kim", "date": "D1", "message": "first", "diff": "+a"},
                "bbbb2222": {"author": "Kim", "date": "D2", "message": "second", "parent": "aaaa1111", "diff": "+b"},
            },
            "staged": {}, "unstaged": {"a.txt": "+c"}, "untracked": {"new.md": "--- /dev/null"}, "next": "cccc3333",
        }))
        .unwrap()
    }

    #[test]
    fn a_repository_is_read_and_changed_as_the_real_server_does() {
        let git = &mut repository();
        let run = |git: &mut Repository, tool: &str, mut arguments: Value| {
            arguments.as_object_mut().unwrap().insert("repo_path".to_owned(), "/r".into());
            git.call(tool, arguments.as_object().unwrap())
        };
        let log = run(git, "git_log", json!({"max_count": 1})).unwrap();
        assert_eq!(log, "Commit history:\nCommit: bbbb2222\nAuthor: Kim\nDate: D2\nMessage: second\n");
        for revision in ["HEAD~1", "HEAD^", "old", "aaaa"] {
            let shown = run(git, "git_show", json!({"revision": revision})).unwrap();
            assert_eq!(shown, "commit aaaa1111\nAuthor: Kim\nDate:   D1\n\n    first\n\n+a\n");
        }
        for (tool, arguments, error) in [
            ("git_show", json!({"revision": "abc"}), "Ref 'abc' did not resolve to an object"),
            ("git_commit", json!({"message": "m"}), "No changes staged for commit."),
            ("git_add", json!({"files": ["none.md"]}), "'fatal: pathspec 'none.md' did not match any files'"),
            ("git_create_branch", json!({"branch_name": "old"}), "refs/heads/old already exists"),
            ("git_checkout", json!({"branch_name": "no"}), "Ref 'no' did not resolve to an object"),
        ] {
            let refused = run(git, tool, arguments).unwrap_err();
            assert!(
                refused.starts_with(&format!("Error executing tool {tool}: ")) && refused.contains(error),
                "{refused}"
            );
        }
        assert_eq!(*git, repository(), "what was refused has changed nothing");
        assert!(git.call("git_log", json!({"repo_path": "/x"}).as_object().unwrap()).is_err());
        run(git, "git_create_branch", json!({"branch_name": "x"})).unwrap();
        run(git, "git_checkout", json!({"branch_name": "x"})).unwrap();
        run(git, "git_add", json!({"files": ["."]})).unwrap();
        run(git, "git_reset", json!({})).unwrap();
        assert_eq!((git.unstaged.len(), git.untracked.len(), git.staged.len()), (1, 1, 0));
        run(git, "git_add", json!({"files": ["/r/new.md"]})).unwrap();
        let committed = run(git, "git_commit", json!({"message": "Add new"})).unwrap();
        assert_eq!(committed, "Changes committed successfully with hash cccc3333");
        assert_eq!((git.branches["x"].as_str(), git.branches["main"].as_str()), ("cccc3333", "bbbb2222"));
        assert_eq!(run(git, "git_diff", json!({"target": "main"})).unwrap(), "Diff with main:\n--- /dev/null\n+c");
        assert_eq!(run(git, "git_branch", json!({"branch_type": "local"})).unwrap(), "  main\n  old\n* x");
    }

    #[test]
    fn times_are_converted_over_midnight() {
        let clock: Clock = serde_json::from_value(json!({
            "date": "2026-11-18", "time": "20:05", "zones": {"UTC": 0, "Asia/Tokyo": 540, "America/New_York": -300},
        }))
        .unwrap();
        let call = |tool: &str, arguments: Value| clock.call(tool, arguments.as_object().unwrap());
        let now = call("get_current_time", json!({"timezone": "Asia/Tokyo"})).unwrap();
        let expected = "{\n  \"timezone\": \"Asia/Tokyo\",\n  \"datetime\": \"2026-11-19T05:05:00+09:00\",\n  \
                        \"day_of_week\": \"Thursday\",\n  \"is_dst\": false\n}";
        assert_eq!(now, expected);
        let between = |time: &str| {
            let zones = json!({"source_timezone": "Asia/Tokyo", "time": time, "target_timezone": "America/New_York"});
            call("convert_time", zones)
        };
        let converted: Value = serde_json::from_str(&between("09:30").unwrap()).unwrap();
        assert_eq!(converted["target"]["datetime"], "2026-11-17T19:30:00-05:00");
        assert_eq!(
            (&converted["target"]["day_of_week"], &converted["time_difference"]),
            (&json!("Tuesday"), &json!("-14.0h"))
        );
        assert!(between("4pm").unwrap_err().ends_with("Invalid time format. Expected HH:MM [24-hour format]"));
        let unknown = call("get_current_time", json!({"timezone": "Tokyo"})).unwrap_err();
        assert!(unknown.ends_with("Invalid timezone: 'No time zone found with key Tokyo'"), "{unknown}");
    }
}
