//! The two stores of a profile that are written as rows, cookies and localStorage, and the archive of
//! their files, or of those that only pages make.

use super::{CompileError, Times, area_lines, cookie_lines, in_store};
use crate::profile::formats::Instant;
use crate::profile::local_storage::{Area, Areas};
use crate::profile::memory::FromStart;
use crate::profile::{ProfileError, cookies, create_folder, local_storage, memory};
use baton_session::cookie::Expiry;
use baton_session::receipt::{ItemKind, Outcome, ReceiptItem};
use baton_session::{Cookie, PartKind, Receipt, State};
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::{io, thread};

/// The folder of a profile in which its stores are.
pub(in crate::profile) const DEFAULT: &str = "Default";

/// The folders of it in which is what only pages make.
pub(in crate::profile) const PAGES: [&str; 4] =
    ["File System", "IndexedDB", "Service Worker", "WebStorage"];

/// A store of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::profile) enum Store {
    Cookies,
    LocalStorage,
}

impl Store {
    pub(in crate::profile) const ALL: [Self; 2] = [Self::Cookies, Self::LocalStorage];

    /// Does something for both stores at once.
    pub(in crate::profile) fn each<T: Send>(
        work: impl Fn(Store) -> Result<T, CompileError> + Sync,
    ) -> Result<[T; 2], CompileError> {
        thread::scope(|scope| {
            let cookies = scope.spawn(|| work(Store::Cookies));
            let local_storage = work(Store::LocalStorage)?;
            Ok([cookies.join().unwrap_or(Err(CompileError::Stopped))?, local_storage])
        })
    }

    /// Of what kind its parts are.
    pub(in crate::profile) fn kind(self) -> PartKind {
        match self {
            Self::Cookies => PartKind::Cookies,
            Self::LocalStorage => PartKind::LocalStorage,
        }
    }

    /// Its files and folders.
    fn paths(self) -> &'static [&'static str] {
        match self {
            Self::Cookies => &[cookies::NAME],
            Self::LocalStorage => &["Local Storage", local_storage::SQLITE],
        }
    }

    /// Adds its files in a profile to an archive. Blocks on the disk.
    pub(in crate::profile) fn add_to<W: io::Write>(
        self,
        files: &mut tar::Builder<W>,
        profile: &Path,
    ) -> io::Result<()> {
        for name in self.paths() {
            let (from, name) = (profile.join(DEFAULT).join(name), Path::new(DEFAULT).join(name));
            if from.is_dir() {
                files.append_dir_all(name, from)?;
            } else {
                files.append_path_with_name(from, name)?;
            }
        }
        Ok(())
    }
}

/// What of a state becomes rows.
pub(in crate::profile) struct StateRows {
    cookies: Vec<Cookie>,
    areas: Areas,
    /// What of each store no browser would take.
    left_out: [Receipt; 2],
    times: Times,
}

impl StateRows {
    pub(in crate::profile) fn of(state: &State, times: Times) -> Self {
        let (cookies, unusable) = cookies::usable(&state.cookies, Expiry(times.now.0));
        let (areas, strange) = usable_areas(state, times.written);
        Self { cookies, areas, left_out: [unusable, strange], times }
    }

    /// A line for each of them, and for what was left out.
    pub(in crate::profile) fn receipt(&self) -> Receipt {
        let [mut receipt, local_storage] = Store::ALL.map(|store| self.receipt_of(store));
        receipt.extend(local_storage);
        receipt
    }

    /// The lines of one store.
    fn receipt_of(&self, store: Store) -> Receipt {
        let [unusable, strange] = &self.left_out;
        let (mut receipt, lines) = match store {
            Store::Cookies => (unusable.clone(), cookie_lines(&self.cookies)),
            Store::LocalStorage => (strange.clone(), area_lines(&self.areas)),
        };
        receipt.extend(lines);
        receipt
    }

    /// When the first cookie of a store ends.
    pub(in crate::profile) fn until(&self, store: Store) -> Option<Expiry> {
        match store {
            Store::Cookies => self.cookies.iter().filter_map(|cookie| cookie.expires).min(),
            Store::LocalStorage => None,
        }
    }

    /// Writes a store into a profile that has none, and on which no browser runs. Nothing is synced.
    /// Blocks on the disk.
    pub(in crate::profile) fn write(
        &self,
        store: Store,
        profile: &Path,
    ) -> Result<(), CompileError> {
        let default = profile.join(DEFAULT);
        create_folder(&default)?;
        match store {
            Store::Cookies => {
                let path = default.join(cookies::NAME);
                cookies::create(&path, &self.cookies, self.times.written).map_err(in_store(&path))
            }
            Store::LocalStorage => {
                Ok(local_storage::write(&default, &self.areas, self.times.written)?)
            }
        }
    }
}

/// The most that a site may store under one key, in bytes, as Chromium counts them
/// (`kPerStorageAreaQuota`: 10 MiB).
const QUOTA: usize = 10 << 20;

/// The areas, as if they were changed at `at`, and a line for each that no browser would open.
pub(super) fn usable_areas(state: &State, at: Instant) -> (Areas, Receipt) {
    let (mut areas, mut left_out) = (Areas::new(), Receipt::default());
    for (key, origin) in &state.origins {
        let entries = &origin.local_storage;
        if entries.is_empty() {
            continue;
        }
        let kind = ItemKind::LocalStorage;
        let is_web = key.origin().starts_with("http://") || key.origin().starts_with("https://");
        if !is_web || key.as_str().contains('\0') || !key.is_reachable() {
            let reason =
                "expected the storage key of an http or https origin, or of a partition of one";
            left_out.push(ReceiptItem::not_portable(kind, key.as_str(), reason));
            continue;
        }
        let size: usize = entries.0.iter().map(|(key, value)| 2 * (key.len() + value.len())).sum();
        if size > QUOTA {
            let reason = format!("expected at most {QUOTA} bytes of entries, found {size}");
            left_out.push(ReceiptItem::rejected(kind, key.as_str(), reason));
            continue;
        }
        areas.insert(key.clone(), Area { entries: entries.clone(), changed: Some(at) });
    }
    (areas, left_out)
}

/// How much is read and written at once, in bytes.
const CHUNK: usize = 256 << 10;
/// The end of an archive: two empty blocks (POSIX, `pax`).
const END: u64 = 1024;

/// The files of a store as a tar archive, in memory only, for they may be a login in plain text. Cheap to
/// clone; they are there as long as one is held.
#[derive(Debug, Clone)]
pub struct StoreArchive(Arc<ArchiveFile>);

#[derive(Debug)]
struct ArchiveFile {
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
        rows: &StateRows,
        profile: &Path,
    ) -> Result<Self, ProfileError> {
        let packed = pack(store, profile).and_then(|file| Ok((file.metadata()?.len(), file)));
        let (size, file) = packed.map_err(ProfileError::new("pack", profile))?;
        let (until, receipt) = (rows.until(store), rows.receipt_of(store));
        Ok(Self(Arc::new(ArchiveFile { file, size, until, receipt })))
    }

    /// Of what only pages make, databases, caches, files and service workers, in a profile whose browser has
    /// ended, with a line for each of what is in it, and of what could not be. Blocks on the disk.
    pub fn of_pages(profile: &Path, receipt: Receipt) -> Result<Self, ProfileError> {
        let packed = pack_with(|files| {
            for name in PAGES {
                let from = profile.join(DEFAULT).join(name);
                if from.is_dir() {
                    files.append_dir_all(Path::new(DEFAULT).join(name), from)?;
                }
            }
            Ok(())
        });
        let packed = packed.and_then(|file| Ok((file.metadata()?.len(), file)));
        let (size, file) = packed.map_err(ProfileError::new("pack", profile))?;
        Ok(Self(Arc::new(ArchiveFile { file, size, until: None, receipt })))
    }

    /// How many bytes it has.
    pub fn size(&self) -> u64 {
        self.0.size
    }

    /// Its file. The reader says from where.
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

    /// Whether all is in it that it was made of.
    pub fn is_whole(&self) -> bool {
        self.0.receipt.items.iter().all(|item| item.outcome == Outcome::Restored)
    }

    /// Writes what is in it into a profile that has nothing of it, and on which no browser runs. Nothing is synced.
    /// Blocks on the disk.
    pub fn write_into(&self, profile: &Path) -> Result<(), ProfileError> {
        create_folder(profile)?;
        self.unpack(profile).map_err(ProfileError::new("unpack", profile))
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
    pack_with(|files| store.add_to(files, profile))
}

fn pack_with(
    add: impl FnOnce(&mut tar::Builder<BufWriter<File>>) -> io::Result<()>,
) -> io::Result<File> {
    let mut files = tar::Builder::new(BufWriter::with_capacity(CHUNK, memory::file()?));
    add(&mut files)?;
    memory::seal(files.into_inner()?.into_inner()?)
}
