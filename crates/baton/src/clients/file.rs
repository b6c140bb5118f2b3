//! A file that belongs to another program, read and replaced.
//!
//! It is replaced whole or not at all, keeps its mode and its owner, and stays what it is when it
//! changed since it was read: its owner may be a program that runs.

use baton_api::Exit;
use std::fs::{DirBuilder, File, Metadata};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::{Path, PathBuf};

/// The largest file that is read, in bytes.
const LARGEST: u64 = 64 << 20;

/// Why a file was not read or not written. It is as it was.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    /// The system refused.
    #[error("could not read or write {path}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is something else.
    #[error("expected a file at {path}, found something else", path = .0.display())]
    NotAFile(PathBuf),
    /// It is larger than such files are.
    #[error("expected at most 64 MiB at {path}, found more", path = .0.display())]
    TooLarge(PathBuf),
    /// Another program wrote it at the same time.
    #[error(
        "expected {path} as it was read, found it changed\nit was not written; do this again",
        path = .0.display()
    )]
    MovedOn(PathBuf),
}

impl FileError {
    /// How a program ends because of it.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::MovedOn(_) => Exit::Conflict,
            _ => Exit::Failed,
        }
    }
}

/// A file as it was found.
#[derive(Debug)]
pub(crate) struct ClientFile {
    /// Where it was looked for.
    pub(crate) path: PathBuf,
    /// Where it is, links followed.
    target: PathBuf,
    /// What was in it; nothing when there is none.
    bytes: Option<Vec<u8>>,
}

impl ClientFile {
    /// Reads what is at `path`, if there is something.
    pub(crate) fn read(path: PathBuf) -> Result<Self, FileError> {
        match follow(&path).and_then(|target| Ok((content(&target)?, target))) {
            Ok((bytes, target)) => Ok(Self { path, target, bytes }),
            Err(problem) => Err(problem.at(path)),
        }
    }

    /// What is in it.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.as_deref().unwrap_or_default()
    }

    /// Whether it is there.
    pub(crate) fn is_there(&self) -> bool {
        self.bytes.is_some()
    }

    /// Puts `bytes` in its place, on the disk when this returns.
    pub(crate) fn replace(&self, bytes: &[u8]) -> Result<(), FileError> {
        self.write(bytes).map_err(|problem| problem.at(self.path.clone()))
    }

    fn write(&self, bytes: &[u8]) -> Result<(), Problem> {
        let folder = self.target.parent().unwrap_or(Path::new("/"));
        make(folder)?;
        // A temporary file is made with mode 0600.
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(bytes)?;
        if self.is_there() {
            dress(file.as_file(), &std::fs::metadata(&self.target)?)?;
        }
        file.as_file().sync_all()?;
        if content(&self.target)? != self.bytes {
            return Err(Problem::MovedOn);
        }
        let kept = if self.is_there() {
            file.persist(&self.target)
        } else {
            file.persist_noclobber(&self.target)
        };
        match kept {
            Ok(_) => Ok(File::open(folder)?.sync_all()?),
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => Err(Problem::MovedOn),
            Err(error) => Err(error.error.into()),
        }
    }
}

/// What went wrong, before it is known with what.
enum Problem {
    Io(std::io::Error),
    NotAFile,
    TooLarge,
    MovedOn,
}

impl From<std::io::Error> for Problem {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

impl Problem {
    fn at(self, path: PathBuf) -> FileError {
        match self {
            Self::Io(source) => FileError::Io { path, source },
            Self::NotAFile => FileError::NotAFile(path),
            Self::TooLarge => FileError::TooLarge(path),
            Self::MovedOn => FileError::MovedOn(path),
        }
    }
}

/// Where a path leads. A link must lead to something: what it should be is not ours to make.
fn follow(path: &Path) -> Result<PathBuf, Problem> {
    match path.symlink_metadata() {
        Ok(_) => path.canonicalize().map_err(Problem::Io),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(path.to_owned()),
        Err(error) => Err(error.into()),
    }
}

fn content(path: &Path) -> Result<Option<Vec<u8>>, Problem> {
    match path.metadata() {
        Ok(found) if !found.is_file() => return Err(Problem::NotAFile),
        Ok(found) if found.len() > LARGEST => return Err(Problem::TooLarge),
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    let mut bytes = Vec::new();
    let length = File::open(path)?.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if length as u64 > LARGEST { Err(Problem::TooLarge) } else { Ok(Some(bytes)) }
}

/// Gives a new file the mode and the owner of the one that it replaces.
fn dress(file: &File, old: &Metadata) -> std::io::Result<()> {
    let new = file.metadata()?;
    if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
        fchown(file, Some(old.uid()), Some(old.gid()))?;
    }
    file.set_permissions(old.permissions())
}

/// Makes a folder and those above it, on the disk when this returns.
fn make(folder: &Path) -> std::io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let above = folder.parent().unwrap_or(Path::new("/"));
    make(above)?;
    DirBuilder::new().create(folder)?;
    File::open(above)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::{ClientFile, FileError};
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_file_that_moved_on_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/settings.json");
        let nothing = ClientFile::read(path.clone()).unwrap();
        nothing.replace(b"one").unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert!(matches!(nothing.replace(b"two"), Err(FileError::MovedOn(_))));
        let one = ClientFile::read(path.clone()).unwrap();
        std::fs::write(&path, "theirs").unwrap();
        assert!(matches!(one.replace(b"two"), Err(FileError::MovedOn(_))));
        assert_eq!(std::fs::read(&path).unwrap(), b"theirs");
        let left = path.parent().unwrap().read_dir().unwrap().count();
        assert_eq!(left, 1, "no other file is left behind");
    }

    #[test]
    fn a_link_stays_a_link_and_a_mode_a_mode() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("real"), folder.path().join("link"));
        std::fs::write(&file, "old").unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o640)).unwrap();
        symlink("real", &link).unwrap();
        ClientFile::read(link.clone()).unwrap().replace(b"new").unwrap();
        assert!(link.is_symlink() && std::fs::read(&file).unwrap() == b"new");
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[test]
    fn what_is_no_file_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("nowhere");
        symlink("missing", &link).unwrap();
        assert!(matches!(ClientFile::read(link), Err(FileError::Io { .. })));
        let not_a_file = ClientFile::read(folder.path().to_owned());
        assert!(matches!(not_a_file, Err(FileError::NotAFile(_))));
    }
}
