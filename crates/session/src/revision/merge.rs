//! Makes one state of two that come from a third.
//!
//! The one idea: the unit is the registrable site, as a whole. Refresh tokens rotate, so a cookie of
//! one side beside a token of the other logs both sides out. A site that only one side changed comes
//! from that side; one that both changed, in different ways, from the winner. What is deleted on one
//! side and untouched on the other is deleted.
//!
//! Whose something is says its own host, also inside of another site: cookies and storage of a frame
//! belong to the frame's site, in every partition, because its server logs in there, and a token in
//! one partition may be rotated through another.
//!
//! Rooms: `slice` is what belongs to one site, `tabs` are those of one side with the sessionStorage
//! of both, `decision` is what was decided,
//! and `views` come before all that where a revision speaks of a part of a session.

mod decision;
mod slice;
mod tabs;
mod views;

pub use decision::{Decisions, LeftOut};
pub use views::{Side, merge_views, seen_by};

use crate::environment::Environment;
use crate::site::Site;
use crate::state::State;
use decision::{Decision, Saying, Topic};
use slice::{Slice, slices};
use std::collections::{BTreeMap, BTreeSet};

/// A state that was made of two.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    /// The state.
    pub state: State,
    /// Whether the loser had something that the state has not, so that the loser has to be kept.
    pub lost: bool,
    /// What was decided, about sites, the list of tabs and the environment.
    pub decisions: Decisions,
    /// The sites in which the two differed, and from which side each of them comes.
    pub sites: Vec<(Site, MergedFrom)>,
}

/// From which side a site comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MergedFrom {
    /// From the winner, the only one who changed it.
    Winner,
    /// From the loser, the only one who changed it.
    Loser,
    /// From the winner; the loser had changed it too.
    Contested,
}

/// The sites in which two states differ.
type Sites = BTreeMap<Site, MergedFrom>;

/// Makes one state of two that come from `base`.
pub fn merge(base: &State, winner: &State, loser: &State) -> Merged {
    let [base, winner, loser] = [base, winner, loser].map(normalized);
    let sites = sites(&base, &winner, &loser);
    let (environment, environment_decision) = environment(&base, &winner, &loser);
    let (tabs, tabs_from) = tabs::merge(&base, &winner, &loser, &sites);
    let tabs_decision = tabs_from.map(|from| {
        let [taken, beaten] = [&tabs, &loser.tabs].map(Saying::of);
        Decision { from, taken, beaten }
    });
    let others = [(Topic::tabs(), tabs_decision), (Topic::environment(), environment_decision)];
    let others = others.into_iter().filter_map(|(topic, decision)| Some((topic, decision?)));
    let decisions = Decisions::new(about_sites(&sites, &winner, &loser).into_iter().chain(others));
    let mut state = State { tabs, environment, ..State::default() };
    take(&mut state, winner, |site| sites.get(site) != Some(&MergedFrom::Loser));
    take(&mut state, loser, |site| sites.get(site) == Some(&MergedFrom::Loser));
    state.normalize();
    let lost = !decisions.left_out().is_empty();
    Merged { state, lost, decisions, sites: sites.into_iter().collect() }
}

fn normalized(state: &State) -> State {
    let mut state = state.clone();
    state.normalize();
    state
}

/// From which side each site comes in which the two differ.
fn sites(base: &State, winner: &State, loser: &State) -> Sites {
    let [base, winner, loser] = [base, winner, loser].map(slices);
    let named: BTreeSet<&Site> = winner.keys().chain(loser.keys()).collect();
    let nothing = Slice::default();
    let side_of = |site: &Site| {
        let [base, winner, loser] =
            [&base, &winner, &loser].map(|of| of.get(site).unwrap_or(&nothing));
        side(base, winner, loser)
    };
    named.into_iter().filter_map(|site| Some((site.clone(), side_of(site)?))).collect()
}

/// What was decided about sites.
fn about_sites(sites: &Sites, winner: &State, loser: &State) -> Vec<(Topic, Decision)> {
    let [winner, loser] = [winner, loser].map(slices);
    let nothing = Slice::default();
    let decision = |(site, from): (&Site, &MergedFrom)| {
        let [won, beaten] =
            [&winner, &loser].map(|of| Saying::of(of.get(site).unwrap_or(&nothing)));
        let taken = if *from == MergedFrom::Loser { beaten } else { won };
        (Topic::site(site), Decision { from: *from, taken, beaten })
    };
    sites.iter().map(decision).collect()
}

/// From which side something comes; none when both have the same.
fn side<T: PartialEq>(base: &T, winner: &T, loser: &T) -> Option<MergedFrom> {
    match (winner == loser, winner == base, loser == base) {
        (true, _, _) => None,
        (false, true, _) => Some(MergedFrom::Loser),
        (false, false, true) => Some(MergedFrom::Winner),
        (false, false, false) => Some(MergedFrom::Contested),
    }
}

/// The environment as a whole, without what sites may do; and what was decided about it.
fn environment(base: &State, winner: &State, loser: &State) -> (Environment, Option<Decision>) {
    let alone =
        |state: &State| Environment { permissions: Vec::new(), ..state.environment.clone() };
    let [base, winner, loser] = [base, winner, loser].map(alone);
    let Some(from) = side(&base, &winner, &loser) else { return (winner, None) };
    let beaten = Saying::of(&loser);
    let taken = if from == MergedFrom::Loser { loser } else { winner };
    let decision = Decision { from, taken: Saying::of(&taken), beaten };
    (taken, Some(decision))
}

/// Takes from `other` what belongs to some sites, tabs aside.
fn take(state: &mut State, other: State, is_from: impl Fn(&Site) -> bool) {
    let cookies = other.cookies.into_iter();
    state.cookies.extend(cookies.filter(|cookie| is_from(&cookie.site())));
    state.origins.extend(other.origins.into_iter().filter(|(key, _)| is_from(&key.site())));
    let permissions = other.environment.permissions.into_iter();
    let permissions = permissions.filter(|one| is_from(&Site::of_origin(&one.origin)));
    state.environment.permissions.extend(permissions);
}
