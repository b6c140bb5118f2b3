//! The files of a store as a tar archive, in memory.

use super::store::{Rows, Store};
use crate::profile::ProfileError;
use crate::profile::memory::{self, FromStart};
use baton_session::Receipt;
use baton_session::cookie::Expiry;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::sync::Arc;

/// How much is read and written at once, in bytes.
const CHUNK: usize = 256 << 10;
/// The end of an archive: two empty blocks (POSIX, `pax`).
const END: u64 = 1024;

/// The files of a store as a tar archive, in memory only, for they may be a login in plain text. Cheap to
/// clone; they are there for whoever has one.
#[derive(Debug, Clone)]
pub struct StoreArchive(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    file: File,
    size: u64,
    /// When the first of its cookies ends: from then on it is another store.
    until: Option<Expiry>,
    receipt: Receipt,
}

impl StoreArchive {
    /// Of a store in a profile, into which these rows were written. Blocks on the disk.
    pub(in crate::profile) fn of(
        store: Store,
        rows: &Rows,
        profile: &Path,
    ) -> Result<Self, ProfileError> {
        let packed = pack(store, profile).and_then(|file| Ok((file.metadata()?.len(), file)));
        let (size, file) = packed.map_err(ProfileError::new("pack", profile))?;
        let (until, receipt) = (rows.until(store), rows.receipt_of(store));
        Ok(Self(Arc::new(Inner { file, size, until, receipt })))
    }

    /// How many bytes it has.
    pub fn size(&self) -> u64 {
        self.0.size
    }

    /// Its file. Whoever reads it says from where.
    pub(in crate::profile) fn file(&self) -> &File {
        &self.0.file
    }

    /// Whether both are the same.
    #[cfg(test)]
    pub(in crate::profile) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// A line for each of what is in it, and of what could not be.
    pub(in crate::profile) fn receipt(&self) -> &Receipt {
        &self.0.receipt
    }

    /// When it is another one.
    pub(super) fn until(&self) -> Option<Expiry> {
        self.0.until
    }

    /// Writes its entries, without its end.
    pub(in crate::profile) fn write_to(&self, to: &mut impl Write) -> io::Result<()> {
        let whole = FromStart::of(self.file()).take(self.size().saturating_sub(END));
        io::copy(&mut BufReader::with_capacity(CHUNK, whole), to).map(drop)
    }

    /// Unpacks it into a profile. Blocks on the disk.
    pub(super) fn unpack(&self, profile: &Path) -> io::Result<()> {
        let files = BufReader::with_capacity(CHUNK, FromStart::of(self.file()));
        tar::Archive::new(files).unpack(profile)
    }
}

fn pack(store: Store, profile: &Path) -> io::Result<File> {
    let mut files = tar::Builder::new(BufWriter::with_capacity(CHUNK, memory::file()?));
    store.add_to(&mut files, profile)?;
    memory::seal(files.into_inner()?.into_inner()?)
}
