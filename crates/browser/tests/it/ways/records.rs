//! What was heard in the network of the story: who came to which host, and which names were asked for.

use super::way::{FORBIDDEN, Way};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What was heard. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct Records(Arc<Mutex<Heard>>);

#[derive(Debug, Default)]
struct Heard {
    arrivals: BTreeMap<&'static str, BTreeSet<String>>,
    names: BTreeSet<String>,
    paths: BTreeSet<String>,
}

impl Records {
    /// Somebody came a way; `how` is the port, and what came first.
    pub(super) fn came(&self, way: &Way, how: String) {
        self.heard().arrivals.entry(way.name).or_default().insert(how);
    }

    /// Somebody asked where a name leads.
    pub(super) fn asked(&self, name: &str) {
        self.heard().names.insert(name.to_owned());
    }

    /// Somebody asked the listed host for a path.
    pub(super) fn served(&self, path: &str) {
        self.heard().paths.insert(path.to_owned());
    }

    /// By which ways somebody came, and how.
    pub(super) fn arrivals(&self) -> BTreeMap<&'static str, BTreeSet<String>> {
        self.heard().arrivals.clone()
    }

    /// The names that were asked for: those of the pages, and the others.
    pub(super) fn names(&self) -> (Vec<String>, Vec<String>) {
        let names = self.heard().names.clone();
        names.into_iter().partition(|name| name.trim_end_matches('.').ends_with(FORBIDDEN))
    }

    pub(super) fn has_served(&self, path: &str) -> bool {
        self.heard().paths.contains(path)
    }

    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
