//! A profile on its way as a tar archive, in memory.

use super::source::Source;
use crate::profile::ProfileError;
use crate::profile::compile::DEFAULT;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

/// How much is written at once, in bytes.
const CHUNK: usize = 256 << 10;

/// An archive that is being written.
pub(super) struct Archive(tar::Builder<BufWriter<File>>);

impl Archive {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self(tar::Builder::new(BufWriter::with_capacity(CHUNK, in_memory()?))))
    }

    /// Adds a store, of those that are made in `folder`.
    pub(super) fn add(&mut self, source: &Source, folder: &Path) -> Result<(), ProfileError> {
        let added = match source {
            Source::Kept(kept) => kept.write_to(self.0.get_mut()),
            Source::Made(made) => made.store.add_to(&mut self.0, &made.place(folder)),
        };
        added.map_err(ProfileError::new("pack", folder))
    }

    /// Adds the rest, a profile, and ends it.
    pub(super) fn end(mut self, rest: &Path) -> Result<File, ProfileError> {
        let added = self.0.append_dir_all(DEFAULT, rest.join(DEFAULT));
        let whole = added.and_then(|()| Ok(self.0.into_inner()?.into_inner()?));
        whole.map_err(ProfileError::new("pack", rest))
    }
}

/// A file that no disk has.
#[cfg(target_os = "linux")]
fn in_memory() -> io::Result<File> {
    let file = rustix::fs::memfd_create("profile", rustix::fs::MemfdFlags::CLOEXEC)?;
    Ok(file.into())
}

/// A file without a name.
#[cfg(not(target_os = "linux"))]
fn in_memory() -> io::Result<File> {
    tempfile::tempfile()
}
