#![doc = include_str!("../README.md")]

mod lock;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

pub use lock::{Holder, Lock};

/// The permissions that a file gets when it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// Only the owner can read the file, whatever its permissions were before (mode 0600 on Unix): for conversations,
    /// tokens and recordings.
    Private,
    /// Only the owner can read a new file (mode 0600 on Unix); an existing file keeps its permissions.
    Kept,
}

/// Maximum number of symbolic links that are followed before a cycle is assumed.
const LINKS: usize = 40;

/// Replaces the content of a file atomically, or creates the file. Missing parent folders are created, on Unix with
/// mode 0700. A path that is not a regular file, such as a device, is written to directly.
///
/// # Errors
/// The file cannot be written; a regular file is unchanged then.
pub fn replace(path: &Path, bytes: &[u8], mode: Mode) -> io::Result<()> {
    let path = target(path)?;
    let found = fs::metadata(&path).ok();
    if found.as_ref().is_some_and(|found| !found.is_file()) {
        return OpenOptions::new().write(true).open(&path)?.write_all(bytes);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    private_folder(folder)?;
    // Concurrent programs write to separate temporary files; the last rename wins.
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.partial", std::process::id()));
    let partial = path.with_file_name(name);
    // A leftover of an earlier process with the same id may be anything, even a symbolic link.
    let _ = fs::remove_file(&partial);
    let written = private(OpenOptions::new().write(true).create_new(true)).open(&partial).and_then(|mut out| {
        out.write_all(bytes)?;
        if let (Mode::Kept, Some(found)) = (mode, found) {
            out.set_permissions(found.permissions())?;
        }
        out.sync_all()
    });
    written.and_then(|()| fs::rename(&partial, &path)).inspect_err(|_| drop(fs::remove_file(&partial)))
}

/// Creates a file with this content that only the owner can read. A symbolic link at the path counts as an existing
/// file, even if its target does not exist.
///
/// # Errors
/// The path exists, or the file cannot be written.
pub fn create(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = private(OpenOptions::new().write(true).create_new(true)).open(path)?;
    file.write_all(bytes).inspect_err(|_| drop(fs::remove_file(path)))
}

/// Opens a file for appending, and creates it if necessary. On Unix its mode becomes 0600: only the owner can read it.
///
/// # Errors
/// The file cannot be opened.
pub fn append(path: &Path) -> io::Result<File> {
    let file = private(OpenOptions::new().append(true).create(true)).open(path)?;
    #[cfg(unix)]
    if file.metadata().is_ok_and(|found| found.is_file()) {
        use std::os::unix::fs::PermissionsExt;
        // The permissions of a file of another user cannot be changed, which is no fault.
        let _ = file.set_permissions(fs::Permissions::from_mode(0o600));
    }
    Ok(file)
}

/// Follows the symbolic links of a path and returns their target, which need not exist. More than [`LINKS`] links are
/// an error.
fn target(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let Ok(next) = fs::read_link(&path) else { return Ok(path) };
        path = path.parent().unwrap_or(Path::new("")).join(next);
    }
    Err(io::Error::other("it is a link that leads to itself"))
}

/// Creates a folder and its missing parents, on Unix with mode 0700. Existing ones keep their
/// permissions.
///
/// # Errors
/// A folder cannot be created.
pub fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Returns `true` if other users than the owner may read a file; always `false` if it does not exist or the system is
/// not Unix.
pub fn others_may_read(file: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::metadata(file).is_ok_and(|found| found.permissions().mode() & 0o044 != 0)
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        false
    }
}

/// Returns `true` if other users than the owner may write to a folder, and so replace the files in it; always `false`
/// if the system is not Unix. A group whose id is that of the owner is assumed to have no other member.
pub fn others_may_write(folder: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let writes =
            |found: &fs::Metadata| found.mode() & 0o002 != 0 || found.mode() & 0o020 != 0 && found.gid() != found.uid();
        fs::metadata(folder).is_ok_and(|found| found.is_dir() && writes(&found))
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        false
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_new_file_is_its_owners_and_nothing_lies_beside_it() {
        let here = tempfile::tempdir().unwrap();
        for (n, kind) in [Mode::Private, Mode::Kept].into_iter().enumerate() {
            let file = here.path().join(format!("a{n}/b.json"));
            replace(&file, b"{}", kind).unwrap();
            assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
            assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
            assert!(!others_may_read(&file));
        }
    }

    #[test]
    fn a_folder_that_others_may_write_to_is_known() {
        let here = tempfile::tempdir().unwrap();
        for (bits, expected) in [(0o700, false), (0o755, false), (0o702, true), (0o777, true)] {
            fs::set_permissions(here.path(), fs::Permissions::from_mode(bits)).unwrap();
            assert_eq!(others_may_write(here.path()), expected, "{bits:o}");
        }
        assert!(!others_may_write(&here.path().join("not there")));
    }

    #[test]
    fn a_file_keeps_its_mode_or_is_closed_and_a_link_stays_one() {
        for (kind, expected) in [(Mode::Kept, 0o644), (Mode::Private, 0o600)] {
            let here = tempfile::tempdir().unwrap();
            let (file, link) = (here.path().join("real.json"), here.path().join("link.json"));
            fs::write(&file, "{}").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
            symlink("real.json", &link).unwrap();
            replace(&link, b"new", kind).unwrap();
            assert!(link.is_symlink());
            assert_eq!((fs::read_to_string(&file).unwrap().as_str(), mode(&file)), ("new", expected));
        }
    }

    #[test]
    fn a_link_to_nothing_is_followed_and_one_to_itself_is_an_error() {
        let here = tempfile::tempdir().unwrap();
        let (link, looped) = (here.path().join("link"), here.path().join("loop"));
        symlink("later/file", &link).unwrap();
        replace(&link, b"new", Mode::Kept).unwrap();
        assert!(link.is_symlink() && here.path().join("later/file").is_file());
        symlink("loop", &looped).unwrap();
        assert!(replace(&looped, b"new", Mode::Kept).is_err() && looped.is_symlink());
    }

    #[test]
    fn a_link_where_the_new_text_is_written_first_leads_nowhere() {
        let here = tempfile::tempdir().unwrap();
        let (file, victim) = (here.path().join("c.json"), here.path().join("victim"));
        fs::write(&victim, "mine").unwrap();
        symlink(&victim, here.path().join(format!("c.json.{}.partial", std::process::id()))).unwrap();
        replace(&file, b"new", Mode::Private).unwrap();
        assert_eq!(
            (fs::read_to_string(&victim).unwrap(), fs::read_to_string(&file).unwrap()),
            ("mine".into(), "new".into())
        );
    }

    #[test]
    fn a_device_is_written_to_and_a_file_that_grows_is_its_owners() {
        replace(Path::new("/dev/null"), b"new", Mode::Private).unwrap();
        let here = tempfile::tempdir().unwrap();
        let file = here.path().join("r.jsonl");
        fs::write(&file, "").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        append(&file).unwrap().write_all(b"x").unwrap();
        assert_eq!((mode(&file), fs::read_to_string(&file).unwrap().as_str()), (0o600, "x"));
    }
}
