//! A view: which sites of a session, and which kinds of what a browser keeps, somebody sees of it.
//!
//! The one idea: what belongs together stays together. The unit is the registrable site, for cookies and
//! tokens of one site are worth nothing without each other; and within it the kind. Whose something is
//! says its own host: that of a frame in another site is the frame's.

mod apply;
mod mix;

pub use mix::mix;

use crate::site::Site;
use crate::words::words;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// How many sites a view names at most.
pub const SITES_MAX: usize = 256;

words! {
    /// A kind of what a browser keeps.
    StateKind, else UnknownStateKind ("kind of state"):
    /// Cookies.
    Cookies "cookies",
    /// localStorage.
    LocalStorage "local-storage",
    /// IndexedDB.
    Databases "databases",
    /// Cache Storage.
    Caches "caches",
    /// The origin private file system.
    Files "files",
    /// Service worker registrations.
    ServiceWorkers "service-workers",
    /// Tabs with their history and their sessionStorage.
    Tabs "tabs",
    /// What sites may do; and viewport, user agent, time zone, locale and place, which are no site's.
    Environment "environment",
}

/// Which sites of a session, and which kinds of what a browser keeps, somebody sees of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct View {
    /// The registrable domains, or hosts that have none; left out, all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<Vec<String>>))]
    pub sites: Option<BTreeSet<Site>>,
    /// The kinds; left out, all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<Vec<StateKind>>))]
    pub kinds: Option<BTreeSet<StateKind>>,
}

impl View {
    /// Of everything.
    pub fn whole() -> Self {
        Self::default()
    }

    /// Whether it leaves out nothing.
    pub fn is_whole(&self) -> bool {
        *self == Self::default()
    }

    /// Whether it leaves out everything.
    pub fn is_empty(&self) -> bool {
        let is_none = |found: Option<usize>| found == Some(0);
        is_none(self.sites.as_ref().map(BTreeSet::len))
            || is_none(self.kinds.as_ref().map(BTreeSet::len))
    }

    /// Whether a kind of a site is in it; of what is no site's when none is named.
    pub fn has(&self, site: Option<&Site>, kind: StateKind) -> bool {
        let has_site = |sites: &BTreeSet<Site>| site.is_none_or(|site| sites.contains(site));
        self.sites.as_ref().is_none_or(has_site)
            && self.kinds.as_ref().is_none_or(|kinds| kinds.contains(&kind))
    }

    /// Whether all of another one is in it.
    pub fn contains(&self, other: &Self) -> bool {
        other.is_empty()
            || is_within(other.sites.as_ref(), self.sites.as_ref())
                && is_within(other.kinds.as_ref(), self.kinds.as_ref())
    }

    /// What is in both.
    #[must_use]
    pub fn meet(&self, other: &Self) -> Self {
        Self {
            sites: meet(self.sites.as_ref(), other.sites.as_ref()),
            kinds: meet(self.kinds.as_ref(), other.kinds.as_ref()),
        }
    }
}

fn is_within<T: Ord>(part: Option<&BTreeSet<T>>, whole: Option<&BTreeSet<T>>) -> bool {
    whole.is_none_or(|whole| part.is_some_and(|part| part.is_subset(whole)))
}

fn meet<T: Ord + Clone>(
    one: Option<&BTreeSet<T>>,
    other: Option<&BTreeSet<T>>,
) -> Option<BTreeSet<T>> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one & other),
        (one, other) => one.or(other).cloned(),
    }
}

impl fmt::Display for View {
    /// As a person reads it: `cookies and tabs of shop.test`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn list<T: fmt::Display>(these: &BTreeSet<T>) -> String {
            let words: Vec<String> = these.iter().map(T::to_string).collect();
            match words.as_slice() {
                [] => "nothing".to_owned(),
                [only] => only.clone(),
                [first @ .., last] => format!("{} and {last}", first.join(", ")),
            }
        }
        let kinds = self.kinds.as_ref().map_or_else(|| "everything".to_owned(), list);
        match &self.sites {
            None => f.pad(&kinds),
            Some(sites) if sites.is_empty() => f.pad("nothing"),
            Some(sites) => f.pad(&format!("{kinds} of {}", list(sites))),
        }
    }
}
