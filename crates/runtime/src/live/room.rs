//! How many more browsers this node takes: what its settings allow, and the memory of its machine.
//!
//! The one idea: a limit comes before the deed. Who starts a session's browser takes a place first, and what starts
//! at this moment counts like what runs. Memory is looked at as it is then, with what those that start will need
//! taken off; a container's own bound counts as the machine's does. A node that leaves has no room for anything new,
//! whoever asks it, and by whichever way; what finds no other node it takes back itself.

use super::{BrowserSupervisor, LiveError};
use baton_session::{NodeLabel, SessionId};
use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError};

/// What a browser is reckoned at before it has shown what it needs, in bytes: a blank page in Chromium takes a third
/// of it, a page of an ordinary application two thirds.
pub const BROWSER_BYTES: u64 = 256 << 20;

/// How many browsers of sessions a node runs at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RoomLimits {
    /// The most of them; none means that they are not counted.
    pub most: Option<usize>,
    /// How much memory stays free, in bytes; none means that nobody looks.
    pub reserve: Option<u64>,
}

/// How much room there is for browsers, at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// How many run, or are being started.
    pub running: usize,
    /// What the settings allow.
    pub limits: RoomLimits,
    /// How much memory could be had, in bytes, without what those take that are being started; none where that is
    /// not known, or nobody looks.
    pub available: Option<u64>,
}

impl Room {
    /// How many browsers more there is room for.
    pub fn places(&self) -> usize {
        let by_count =
            self.limits.most.map_or(usize::MAX, |most| most.saturating_sub(self.running));
        by_count.min(self.places_by_memory())
    }

    /// For how many browsers more there is memory, whoever runs them.
    pub fn places_by_memory(&self) -> usize {
        let places =
            self.available.zip(self.limits.reserve).map_or(u64::MAX, |(available, reserve)| {
                available.saturating_sub(reserve) / BROWSER_BYTES
            });
        usize::try_from(places).unwrap_or(usize::MAX)
    }
}

/// What there is, for people: the bound that leaves no room, or both.
impl fmt::Display for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { running, limits: RoomLimits { most, reserve }, available } = *self;
        match most {
            Some(most) => write!(f, "{running} of {most} browsers running")?,
            None => write!(f, "{running} browsers running")?,
        }
        if let Some((available, reserve)) = available.zip(reserve) {
            let mib = |bytes: u64| bytes >> 20;
            write!(
                f,
                " and {} MiB of memory free, of which {} stay free",
                mib(available),
                mib(reserve)
            )?;
        }
        Ok(())
    }
}

/// A place for a browser that is being started; free again when this is dropped.
#[must_use = "the place is free again when this is dropped"]
pub(super) struct Place {
    supervisor: BrowserSupervisor,
    id: SessionId,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.supervisor.starting().remove(&self.id);
    }
}

impl BrowserSupervisor {
    /// How much room there is now.
    pub fn room(&self) -> Room {
        let starting = self.starting().clone();
        self.room_beside(&starting)
    }

    fn room_beside(&self, starting: &HashSet<SessionId>) -> Room {
        let (limits, runners) = (self.config().room, self.runners());
        let begun = starting.iter().filter(|id| !runners.contains_key(id)).count();
        let needed = BROWSER_BYTES.saturating_mul(begun as u64);
        let available = limits.reserve.and_then(|_| available(Path::new("/")));
        Room {
            running: runners.len() + begun,
            limits,
            available: available.map(|bytes| bytes.saturating_sub(needed)),
        }
    }

    /// From now on what runs here goes to other nodes, and nothing new starts here; or no longer.
    pub fn set_leaving(&self, is_leaving: bool) {
        self.0.is_leaving.store(is_leaving, Ordering::Relaxed);
    }

    /// Checks that the node takes what is new.
    pub fn expect_staying(&self) -> Result<(), LiveError> {
        if self.0.is_leaving.load(Ordering::Relaxed) { Err(LiveError::Leaving) } else { Ok(()) }
    }

    /// Checks that the node is for what a session asks for.
    pub(crate) fn expect_labels(&self, wanted: &BTreeSet<NodeLabel>) -> Result<(), LiveError> {
        let own = &self.config().labels;
        if own.is_superset(wanted) {
            return Ok(());
        }
        let found = if own.is_empty() { "none".to_owned() } else { NodeLabel::list(own) };
        Err(LiveError::NoLabel { wanted: NodeLabel::list(wanted), found })
    }

    /// Checks that a session's browser could be started. One that runs has its place.
    pub(crate) fn expect_room(&self, id: SessionId) -> Result<(), LiveError> {
        let room = self.room();
        if room.places() > 0 || self.holds(id) {
            return Ok(());
        }
        Err(LiveError::NoRoom(room))
    }

    /// Takes a place for a session's browser.
    pub(super) fn take_place(&self, id: SessionId) -> Result<Place, LiveError> {
        let mut starting = self.starting();
        let room = self.room_beside(&starting);
        if room.places() == 0 && !self.holds(id) {
            return Err(LiveError::NoRoom(room));
        }
        starting.insert(id);
        Ok(Place { supervisor: self.clone(), id })
    }

    fn starting(&self) -> MutexGuard<'_, HashSet<SessionId>> {
        self.0.starting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How much memory a program could have, in bytes: of the machine (`MemAvailable` in `/proc/meminfo`), and of every
/// control group around this process that has a bound (`memory.max` and `memory.current`, of which what lies in
/// files that nobody uses counts as free; Linux, admin-guide/cgroup-v2). None where the system does not say.
fn available(root: &Path) -> Option<u64> {
    let machine = field(&fs::read_to_string(root.join("proc/meminfo")).ok()?, "MemAvailable:")?;
    let groups = groups(root).into_iter().filter_map(|group| left(&group));
    Some(groups.fold(machine.saturating_mul(1024), u64::min))
}

/// The folders of this process's control group and of those around it.
fn groups(root: &Path) -> Vec<PathBuf> {
    let Ok(own) = fs::read_to_string(root.join("proc/self/cgroup")) else { return Vec::new() };
    let Some(own) = own.lines().find_map(|line| line.strip_prefix("0::/")) else {
        return Vec::new();
    };
    let mounted = root.join("sys/fs/cgroup");
    let folder = mounted.join(own);
    folder
        .ancestors()
        .take_while(|folder| folder.starts_with(&mounted))
        .map(Path::to_owned)
        .collect()
}

/// What a control group leaves, in bytes; none where it has no bound.
fn left(group: &Path) -> Option<u64> {
    let number = |file| fs::read_to_string(group.join(file)).ok()?.trim().parse::<u64>().ok();
    let (most, current) = (number("memory.max")?, number("memory.current")?);
    let unused = fs::read_to_string(group.join("memory.stat")).ok();
    let unused = unused.and_then(|stat| field(&stat, "inactive_file")).unwrap_or_default();
    Some(most.saturating_sub(current.saturating_sub(unused)))
}

/// The number after a name at the start of a line.
fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn machine(files: &[(&str, &str)]) -> TempDir {
        let root = TempDir::new().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn the_tightest_bound_around_a_process_is_what_it_has() {
        let meminfo = ("proc/meminfo", "MemTotal:  8000000 kB\nMemAvailable:    4000 kB\n");
        assert_eq!(available(machine(&[meminfo]).path()), Some(4000 << 10));
        let own = ("proc/self/cgroup", "0::/pods/one\n");
        let files = [
            meminfo,
            own,
            ("sys/fs/cgroup/pods/one/memory.max", "max\n"),
            ("sys/fs/cgroup/pods/one/memory.current", "1000\n"),
            ("sys/fs/cgroup/pods/memory.max", "3000000\n"),
            ("sys/fs/cgroup/pods/memory.current", "2500000\n"),
            ("sys/fs/cgroup/pods/memory.stat", "anon 1\ninactive_file 400000\n"),
        ];
        assert_eq!(available(machine(&files).path()), Some(900_000));
        // One that is full has nothing, whatever the machine has; without a system there is no answer.
        let full = [meminfo, own, files[4], ("sys/fs/cgroup/pods/memory.current", "3000001\n")];
        assert_eq!(available(machine(&full).path()), Some(0));
        assert_eq!(available(machine(&[]).path()), None);
    }

    #[test]
    fn places_are_what_both_bounds_leave() {
        let room = |running, most, available, reserve| Room {
            running,
            limits: RoomLimits { most, reserve },
            available,
        };
        assert_eq!(room(7, None, None, None).places(), usize::MAX);
        assert_eq!(room(7, Some(9), None, None).places(), 2);
        assert_eq!(room(9, Some(7), None, None).places(), 0);
        let (some, reserve) = (Some(5 * BROWSER_BYTES - 1), Some(2 * BROWSER_BYTES));
        assert_eq!(room(0, Some(9), some, reserve).places(), 2);
        assert_eq!(room(0, Some(1), some, reserve).places(), 1);
        insta::assert_snapshot!(room(3, Some(3), some, reserve), @"3 of 3 browsers running and 1279 MiB of memory free, of which 512 stay free");
        insta::assert_snapshot!(room(3, None, None, None), @"3 browsers running");
    }
}
