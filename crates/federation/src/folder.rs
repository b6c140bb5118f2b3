//! Where everything lies in the folder, and how files come into it: whole, synced, for their owner only.

use crate::error::{FederationError, Tried};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The largest file that is read or written.
pub(crate) const LARGEST: usize = 16 << 20;

/// The places in the folder of a board.
#[derive(Debug, Clone)]
pub(crate) struct Folder {
    root: PathBuf,
}

impl Folder {
    pub(crate) fn at(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn sessions(&self) -> PathBuf {
        self.root.join("sessions")
    }

    /// The board.
    pub(crate) fn board(&self) -> PathBuf {
        self.root.join("sessions/active-session.json")
    }

    /// The board as it was before the last write.
    pub(crate) fn last(&self) -> PathBuf {
        self.root.join("sessions/.baton-last.json")
    }

    pub(crate) fn history(&self) -> PathBuf {
        self.root.join("history")
    }

    pub(crate) fn agents(&self) -> PathBuf {
        self.root.join("agents")
    }

    pub(crate) fn own_state(&self, agent: &str) -> PathBuf {
        self.agents().join(format!("{agent}-state.json"))
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.root.join("agents/.baton-log.jsonl")
    }

    pub(crate) fn lock(&self) -> PathBuf {
        self.root.join(".baton-lock")
    }

    /// Makes what is missing, for its owner only.
    pub(crate) fn create(&self) -> Result<(), FederationError> {
        for path in [self.root.clone(), self.sessions(), self.history(), self.agents()] {
            if path.exists() && !path.is_dir() {
                let found = io::Error::new(io::ErrorKind::NotADirectory, "found a file there");
                return Err(found).tried("use the folder", &path);
            }
            if !path.is_dir() {
                builder().create(&path).tried("make the folder", &path)?;
            }
        }
        Ok(())
    }
}

fn builder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// How a file of ours is opened: for its owner only.
pub(crate) fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Opens a file in which others write too: only a plain one, and without waiting for anybody.
pub(crate) fn open_plain(path: &Path, mut options: OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    {
        // Flags of the system have few bits, so they fit.
        let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags);
    }
    let file = options.open(path)?;
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    let wrong = "expected a plain file, found a pipe, a folder, a device or something else";
    Err(io::Error::new(io::ErrorKind::InvalidInput, wrong))
}

/// Opens such a file to read it.
pub(crate) fn open_to_read(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    open_plain(path, options)
}

/// Writes a file that was not there, and syncs it. One that cannot be written whole does not stay.
pub(crate) fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let write = || {
        let mut file = options().write(true).create_new(true).open(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().inspect_err(|_| {
        let _ = fs::remove_file(path);
    })
}

/// Puts a file in the place of another one: written beside it, synced, renamed.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let draft = path.with_added_extension("draft");
    let _ = fs::remove_file(&draft);
    write_new(&draft, bytes)?;
    fs::rename(&draft, path).inspect_err(|_| {
        let _ = fs::remove_file(&draft);
    })?;
    sync_folder(path.parent().unwrap_or(path))
}

/// Makes names in a folder survive a power failure.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}

/// A file's bytes, or none when it is not there. No more is read than a board may have.
pub(crate) fn fetch(path: &Path) -> io::Result<Option<Vec<u8>>> {
    use std::io::Read as _;
    let file = match open_to_read(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let size = usize::try_from(file.metadata()?.len()).unwrap_or(LARGEST).min(LARGEST) + 1;
    let mut bytes = Vec::with_capacity(size);
    file.take(LARGEST as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > LARGEST {
        Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("expected at most {LARGEST} bytes"),
        ))
    } else {
        Ok(Some(bytes))
    }
}
