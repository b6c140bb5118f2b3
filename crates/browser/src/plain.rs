//! Plain files where a browser may have put anything: whoever reads or writes there follows no link.
//!
//! The one idea: a browser that is confined may not write where a link leads, but we may. So before anything of a
//! profile is touched its links go, those for folders too, and no browser runs on it meanwhile to make new ones.
//! The few files that are read and written beside a browser are looked at one by one.

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::{fs, io};

/// Reads a file of at most `limit` bytes. What is no plain file, say a pipe without a writer, is an error, and so
/// is a link: a browser makes none, and where one leads it may not be allowed to look.
pub(crate) fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    // What was opened is looked at, so that no other is put in its place, and opening does not wait.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Err(Errno::LOOP) => return Err(no_file()),
        opened => File::from(opened?),
    };
    expect_file(&file.metadata()?)?;
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        let found = format!("expected at most {limit} bytes, found more");
        return Err(io::Error::new(ErrorKind::FileTooLarge, found));
    }
    Ok(bytes)
}

/// Whether it is a plain file: only of such a one the size is known, and it has an end.
pub(crate) fn expect_file(found: &fs::Metadata) -> io::Result<()> {
    if found.is_file() { Ok(()) } else { Err(no_file()) }
}

fn no_file() -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, "expected a file, found something else")
}

/// How deep in a profile links are looked for: nothing deeper has a place that is ours to know.
const DEPTH: usize = 8;
/// What a browser calls the links by which it holds its profile (`chrome/common/chrome_constants.cc`); they lead to
/// no file.
const HOLDS: &str = "Singleton";

/// Takes away the links that a browser left in a profile on which none runs; what there is not has none.
pub(crate) fn remove_links(profile: &Path) -> io::Result<()> {
    let mut folders = vec![(profile.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == ErrorKind::NotFound && depth == 0 => return Ok(()),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let (kind, path) = (entry.file_type()?, entry.path());
            let holds = depth == 0 && entry.file_name().to_string_lossy().starts_with(HOLDS);
            if kind.is_symlink() && !holds {
                tracing::warn!(path = %path.display(), "a link in a profile was removed");
                fs::remove_file(path)?;
            } else if kind.is_dir() && depth < DEPTH {
                folders.push((path, depth + 1));
            }
        }
    }
    Ok(())
}

/// Whether there is a folder at `path`, below `root` and over no link; a link is an error.
pub(crate) fn is_folder_below(root: &Path, path: &Path) -> io::Result<bool> {
    let mut here = root.to_owned();
    for name in path.strip_prefix(root).map_err(io::Error::other)? {
        here.push(name);
        match fs::symlink_metadata(&here) {
            Ok(found) if found.is_dir() => {}
            Ok(found) if found.is_symlink() => {
                return Err(io::Error::new(
                    ErrorKind::NotADirectory,
                    "expected a folder, found a link",
                ));
            }
            Ok(_) => return Ok(false),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

/// Opens a plain file to be written, as it is; made when there is none. A link and a pipe give way.
pub(crate) fn open_or_create(path: &Path) -> io::Result<File> {
    clear_unless_plain(path)?;
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true).mode(0o600).custom_flags(flags());
    let file = options.open(path)?;
    expect_file(&file.metadata()?)?;
    Ok(file)
}

/// Puts a file with these bytes in the place of what is there, whole or not at all: beside it, as `.new`, and
/// renamed. `sync` is told of the new one first.
pub(crate) fn replace(
    path: &Path,
    bytes: &[u8],
    sync: impl FnOnce(&File) -> io::Result<()>,
) -> io::Result<()> {
    let draft = path.with_extension("new");
    match fs::remove_file(&draft) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        removed => removed?,
    }
    let mut options = OpenOptions::new();
    options.create_new(true).write(true).mode(0o600).custom_flags(flags());
    let mut file = options.open(&draft)?;
    file.write_all(bytes)?;
    sync(&file)?;
    fs::rename(&draft, path)
}

fn clear_unless_plain(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => fs::remove_file(path),
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[expect(clippy::cast_possible_wrap, reason = "the flags of the kernel are small")]
fn flags() -> i32 {
    (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_give_way_and_what_they_lead_to_stays() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("other"), "of another").unwrap();
        for name in ["opened", "replaced", "replaced.new"] {
            symlink(at("other"), at(name)).unwrap();
        }
        open_or_create(&at("opened")).unwrap().write_all(b"mine").unwrap();
        replace(&at("replaced"), b"mine", |_| Ok(())).unwrap();
        for name in ["opened", "replaced"] {
            assert!(fs::symlink_metadata(at(name)).unwrap().is_file(), "{name}");
            assert_eq!(fs::read_to_string(at(name)).unwrap(), "mine", "{name}");
        }
        assert_eq!(fs::read_to_string(at("other")).unwrap(), "of another");
        // One that is there is opened as it is.
        open_or_create(&at("opened")).unwrap();
        assert_eq!(fs::read_to_string(at("opened")).unwrap(), "mine");
    }

    #[test]
    fn only_plain_files_of_a_known_size_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "four").unwrap();
        assert_eq!(read(&path, 4).unwrap(), b"four");
        let refused = |path: &Path| read(path, 3).unwrap_err().to_string();
        assert_eq!(refused(&path), "expected at most 3 bytes, found more");
        for other in [folder.path(), Path::new("/dev/zero")] {
            assert_eq!(refused(other), "expected a file, found something else");
        }
    }
}
