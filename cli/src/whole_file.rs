//! Files that are written whole or not at all, and that only their owner may read.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Replaces a file as a whole. A new one gets mode 0600; one that is there keeps its
/// mode, and a link stays a link. A new folder gets mode 0700.
pub(crate) fn write(path: &Path, text: &str) -> io::Result<()> {
    let path = target(path);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    private_folder(folder)?;
    // Two programs at once write two files; the later one stays.
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.partial", std::process::id()));
    let partial = path.with_file_name(name);
    let written = private_file(&partial).and_then(|mut out| {
        out.write_all(text.as_bytes())?;
        if let Ok(found) = fs::metadata(&path) {
            out.set_permissions(found.permissions())?;
        }
        out.sync_all()
    });
    written.and_then(|()| fs::rename(&partial, &path)).inspect_err(|_| drop(fs::remove_file(&partial)))
}

/// What a link leads to, though nothing may be there yet.
fn target(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// A folder, with those above it, that only its owner may look into where it is new.
pub(crate) fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

fn private_file(file: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.write(true).create(true).truncate(true).open(file)
}

/// Whether others than the owner may read a file.
pub(crate) fn others_may_read(file: &Path) -> bool {
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
        let file = here.path().join("a/b.json");
        write(&file, "{}").unwrap();
        assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
        assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
        assert!(!others_may_read(&file));
    }

    #[test]
    fn a_file_keeps_its_mode_and_a_link_stays_one() {
        let here = tempfile::tempdir().unwrap();
        let (file, link) = (here.path().join("real.json"), here.path().join("link.json"));
        fs::write(&file, "{}").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        symlink(&file, &link).unwrap();
        write(&link, "new").unwrap();
        assert!(link.is_symlink() && others_may_read(&file));
        assert_eq!((fs::read_to_string(&file).unwrap().as_str(), mode(&file)), ("new", 0o644));
    }
}
