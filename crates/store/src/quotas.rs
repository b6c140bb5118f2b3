//! The most that an owner may have, and what it has, over all nodes of a database.

use baton_session::Owner;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Mutex;
use std::time::Instant;

/// The most that one owner may have. None is without bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Quota {
    /// Sessions, whatever state they are in.
    pub sessions: Option<u64>,
    /// Sessions that run at once, in a browser or in a sandbox.
    pub browsers: Option<u64>,
    /// Sandboxes at once.
    pub sandboxes: Option<u64>,
    /// Bytes that are stored of its sessions, sealed. Beyond them no session is made; what runs is captured all the
    /// same.
    pub stored_bytes: Option<u64>,
}

impl Quota {
    pub(crate) fn most(&self, what: Counted) -> Option<u64> {
        match what {
            Counted::Sessions => self.sessions,
            Counted::Browsers => self.browsers,
            Counted::Sandboxes => self.sandboxes,
            Counted::StoredBytes => self.stored_bytes,
        }
    }
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// See [`Quota::sessions`].
    Sessions,
    /// See [`Quota::browsers`].
    Browsers,
    /// See [`Quota::sandboxes`].
    Sandboxes,
    /// See [`Quota::stored_bytes`].
    StoredBytes,
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sessions => "sessions",
            Self::Browsers => "running sessions",
            Self::Sandboxes => "sandboxes",
            Self::StoredBytes => "stored bytes",
        })
    }
}

/// The quotas of all owners.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Quotas {
    /// Of each owner that has none of its own.
    pub others: Quota,
    /// Of owners by name.
    pub owners: BTreeMap<Owner, Quota>,
}

impl Quotas {
    /// What an owner may have.
    pub fn of(&self, owner: &Owner) -> Quota {
        self.owners.get(owner).copied().unwrap_or(self.others)
    }
}

/// What an owner has, over all nodes of the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// See [`Quota::sessions`].
    pub sessions: u64,
    /// See [`Quota::browsers`].
    pub browsers: u64,
    /// See [`Quota::sandboxes`].
    pub sandboxes: u64,
    /// See [`Quota::stored_bytes`].
    pub stored_bytes: u64,
}

/// How many bytes owners had, and when that was counted.
pub(crate) type CountedBytes = Mutex<HashMap<Owner, (Instant, u64)>>;
