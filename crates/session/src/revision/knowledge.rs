//! Knowledge: of which parts of a session a revision speaks, and how far it had come in each.
//!
//! The one idea: a node that sees a part of a session can say what is newer in that part, and nothing about
//! the rest. So a revision has one vector for each view that it speaks of; of the whole session, as the rule
//! is, one alone. It covers another exactly when it does in every place that the other speaks of. What covers
//! nothing drops nothing: that is why a part never takes the place of a whole.

use super::vector::{Order, Vector};
use crate::storage::Site;
use crate::view::{StateKind, View};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// How many views a revision speaks of at most.
pub const VIEWS_MAX: usize = 16;

/// How far a revision had come in a view.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Within {
    /// Of which sites and kinds it speaks.
    pub view: View,
    /// How far each actor had come in them.
    pub vector: Vector,
}

/// Of which parts of a session a revision speaks, and how far it had come in each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Knowledge(Vec<Within>);

/// A place in a session: a kind of a site, or of what is no site's.
pub type SessionPlace<'a> = (Option<&'a Site>, StateKind);

impl Knowledge {
    /// Of the whole session.
    pub fn whole(vector: Vector) -> Self {
        Self(vec![Within { view: View::whole(), vector }])
    }

    /// Of these views together: sorted, and without what others say too.
    pub fn new(all: impl IntoIterator<Item = Within>) -> Self {
        let mut by_view: BTreeMap<View, Vector> = BTreeMap::new();
        for Within { view, vector } in all.into_iter().filter(|one| !one.view.is_empty()) {
            let known = by_view.entry(view).or_default();
            *known = std::mem::take(known).join(&vector);
        }
        let all: Vec<Within> =
            by_view.into_iter().map(|(view, vector)| Within { view, vector }).collect();
        let says_too = |other: &Within, one: &Within| {
            other.view != one.view
                && other.view.contains(&one.view)
                && other.vector.covers(&one.vector)
        };
        let needed = |one: &&Within| !all.iter().any(|other| says_too(other, one));
        Self(all.iter().filter(needed).cloned().collect())
    }

    /// The views with their vectors; of one that speaks of the whole session and of nothing in more
    /// detail, none.
    pub fn into_within(self) -> Vec<Within> {
        if self.is_plain() { Vec::new() } else { self.0 }
    }

    /// Whether one vector says all of it.
    pub fn is_plain(&self) -> bool {
        matches!(self.0.as_slice(), [only] if only.view.is_whole())
    }

    /// The views.
    pub fn views(&self) -> impl Iterator<Item = &View> {
        self.0.iter().map(|within| &within.view)
    }

    /// All vectors together.
    pub fn joined(&self) -> Vector {
        self.0.iter().fold(Vector::default(), |all, within| all.join(&within.vector))
    }

    /// What both know.
    #[must_use]
    pub fn join(self, other: &Self) -> Self {
        Self::new(self.0.into_iter().chain(other.0.iter().cloned()))
    }

    /// What of it is in a view.
    #[must_use]
    pub fn through(&self, view: &View) -> Self {
        let seen = self
            .0
            .iter()
            .map(|within| Within { view: within.view.meet(view), vector: within.vector.clone() });
        Self::new(seen)
    }

    /// The same with each vector changed.
    #[must_use]
    pub(super) fn map(self, change: impl Fn(Vector) -> Vector) -> Self {
        let changed = |Within { view, vector }| Within { view, vector: change(vector) };
        Self::new(self.0.into_iter().map(changed))
    }

    /// Each vector.
    pub(super) fn vectors(&self) -> impl Iterator<Item = &Vector> {
        self.0.iter().map(|within| &within.vector)
    }

    /// How far each actor had come everywhere in a view; none where it does not speak of all of it.
    pub fn throughout(&self, view: &View) -> Option<Vector> {
        let around = self.0.iter().filter(|within| within.view.contains(view));
        let found = around.map(|within| within.vector.clone()).reduce(|all, one| all.join(&one));
        if found.is_some() {
            return found;
        }
        let each = split(view)?;
        let each: Option<Vec<Vector>> = each.iter().map(|view| self.throughout(view)).collect();
        each?.into_iter().reduce(|all, one| all.meet(&one))
    }

    /// How far each actor had come in a place; none where it does not speak of that.
    pub fn at(&self, (site, kind): SessionPlace<'_>) -> Option<Vector> {
        let has = self.0.iter().filter(|within| within.view.has(site, kind));
        has.map(|within| within.vector.clone()).reduce(|all, one| all.join(&one))
    }

    /// Whether it speaks of all that another one does.
    pub fn speaks_of(&self, other: &Self) -> bool {
        other.views().all(|view| self.throughout(view).is_some())
    }

    /// Whether both speak of the same.
    pub fn is_of_the_same(&self, other: &Self) -> bool {
        self.speaks_of(other) && other.speaks_of(self)
    }

    /// Whether it has, wherever the other one speaks, at least all that that has.
    pub fn covers(&self, other: &Self) -> bool {
        let covered = |one: &Within| {
            self.throughout(&one.view).is_some_and(|known| known.covers(&one.vector))
        };
        other.0.iter().all(covered)
    }

    /// How it compares to another.
    pub fn compare(&self, other: &Self) -> Order {
        match (self.covers(other), other.covers(self)) {
            (true, true) => Order::Equal,
            (true, false) => Order::After,
            (false, true) => Order::Before,
            (false, false) => Order::Concurrent,
        }
    }

    /// Every place in which some of these may stand to each other in another way: the sites that one of
    /// them names, one that none names, and what is no site's.
    pub fn places(all: &[&Self]) -> Vec<(Option<Site>, StateKind)> {
        let views = all.iter().flat_map(|one| one.views());
        let mut sites: BTreeSet<Site> =
            views.flat_map(|view| view.sites.iter().flatten()).cloned().collect();
        sites.insert(Site::of_host(""));
        let sites = sites.into_iter().map(Some).chain([None]);
        sites.flat_map(|site| StateKind::ALL.map(|kind| (site.clone(), kind))).collect()
    }
}

/// A view of several sites or kinds as views of one each; none when it is of one.
fn split(view: &View) -> Option<Vec<View>> {
    let sites = view.sites.as_ref().filter(|sites| sites.len() > 1);
    if let Some(sites) = sites {
        let one = |site: &Site| View { sites: Some([site.clone()].into()), ..view.clone() };
        return Some(sites.iter().map(one).collect());
    }
    let kinds = match &view.kinds {
        None => StateKind::ALL.to_vec(),
        Some(kinds) => kinds.iter().copied().collect(),
    };
    let one = |kind: &StateKind| View { kinds: Some([*kind].into()), ..view.clone() };
    (kinds.len() > 1).then(|| kinds.iter().map(one).collect())
}
