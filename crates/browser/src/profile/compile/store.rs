//! The two stores of a profile that are written as rows: cookies and localStorage.

use super::areas::usable_areas;
use super::{CompileError, Times, area_lines, cookie_lines, in_store};
use crate::profile::cookies;
use crate::profile::keep::create_folder;
use crate::profile::local_storage::{self, Areas};
use baton_session::cookie::Expiry;
use baton_session::{Cookie, PartKind, Receipt, State};
use std::io;
use std::path::Path;
use std::thread;

/// The folder of a profile in which its stores are.
pub(in crate::profile) const DEFAULT: &str = "Default";

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
pub(in crate::profile) struct Rows {
    cookies: Vec<Cookie>,
    areas: Areas,
    /// What of each store no browser would take.
    left_out: [Receipt; 2],
    times: Times,
}

impl Rows {
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
    pub(in crate::profile) fn receipt_of(&self, store: Store) -> Receipt {
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
