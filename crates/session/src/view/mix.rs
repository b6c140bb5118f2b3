//! One state of two: some sites and kinds from the one, all else from the other.
//!
//! The one idea: whoever says what of a session is theirs to say changes nothing else of it. What they
//! do not see stays where it is: other tabs at their places, and in their own tabs the sessionStorage of
//! other sites and a history that led there.

use super::StateKind;
use super::apply::{leads_out, pick, tab_site};
use crate::environment::Environment;
use crate::site::Site;
use crate::state::OriginState;
use crate::state::State;
use crate::storage::StorageKey;
use crate::tab::Tab;
use std::collections::BTreeSet;

/// Puts over a state what another one says about some sites and kinds; no site stands for what is no
/// site's.
pub fn mix(
    over: &State,
    under: &State,
    is_over: impl Fn(Option<&Site>, StateKind) -> bool,
) -> State {
    let of_site = |site: &Site, kind| is_over(Some(site), kind);
    let mut mixed = State {
        cookies: each(&over.cookies, &under.cookies, |one| {
            of_site(&one.site(), StateKind::Cookies)
        }),
        tabs: tabs(over, under, |site| of_site(site, StateKind::Tabs)),
        environment: environment(over, under, &is_over),
        ..State::default()
    };
    let nothing = OriginState::default();
    let keys: BTreeSet<&StorageKey> = over.origins.keys().chain(under.origins.keys()).collect();
    for key in keys {
        let site = key.site();
        let [one, other] = [over, under].map(|state| state.origins.get(key).unwrap_or(&nothing));
        mixed.origins.insert(key.clone(), pick(one, other, |kind| of_site(&site, kind)));
    }
    mixed.normalize();
    mixed
}

/// Those of `over` that are over, and those of `under` that are not.
fn each<T: Clone>(over: &[T], under: &[T], is_over: impl Fn(&T) -> bool) -> Vec<T> {
    let taken = over.iter().filter(|one| is_over(one));
    let left = under.iter().filter(|one| !is_over(one));
    taken.chain(left).cloned().collect()
}

fn environment(
    over: &State,
    under: &State,
    is_over: impl Fn(Option<&Site>, StateKind) -> bool,
) -> Environment {
    let [over, under] = [over, under].map(|state| &state.environment);
    let from = if is_over(None, StateKind::Environment) { over } else { under };
    let permissions = each(&over.permissions, &under.permissions, |one| {
        is_over(Some(&Site::of_origin(&one.origin)), StateKind::Environment)
    });
    Environment { permissions, ..from.clone() }
}

/// The tabs: those of `under` at their places, and at the places of those that are over the ones of
/// `over`, in their order.
fn tabs(over: &State, under: &State, is_over: impl Fn(&Site) -> bool) -> Vec<Tab> {
    let is_theirs = |tab: &&Tab| is_over(&tab_site(tab));
    let theirs: Vec<&Tab> = over.tabs.iter().filter(is_theirs).collect();
    let theirs_below: Vec<&Tab> = under.tabs.iter().filter(is_theirs).collect();
    let mut theirs = with_partners(&theirs, &theirs_below).into_iter();
    let mut left = theirs_below.len();
    let mut tabs = Vec::new();
    for tab in &under.tabs {
        if !is_theirs(&tab) {
            tabs.push(tab.clone());
            continue;
        }
        left -= 1;
        // Those that have no place of their own follow the last one that has.
        let many = if left == 0 { usize::MAX } else { 1 };
        let placed = theirs.by_ref().take(many);
        tabs.extend(placed.map(|(tab, partner)| joined(tab, partner, &is_over)));
    }
    tabs.extend(theirs.map(|(tab, partner)| joined(tab, partner, &is_over)));
    // Whoever does not see the tab in front cannot say that another one is.
    if under.active_tab().is_some_and(|tab| tab.active && !is_theirs(&tab)) {
        let in_front = tabs.iter().position(|tab| tab.active && !is_theirs(&tab));
        tabs.iter_mut().enumerate().for_each(|(at, tab)| tab.active = Some(at) == in_front);
    }
    tabs
}

/// Each with the tab at `places` that it is: in their order when there are as many, else the next one at
/// the same address.
fn with_partners<'a>(theirs: &[&'a Tab], places: &[&'a Tab]) -> Vec<(&'a Tab, Option<&'a Tab>)> {
    if theirs.len() == places.len() {
        return theirs.iter().copied().zip(places.iter().copied().map(Some)).collect();
    }
    let mut is_used = vec![false; places.len()];
    let mut partner = |tab: &Tab| {
        let mut free = places.iter().zip(&mut is_used).filter(|(_, is_used)| !**is_used);
        let (place, is_used) = free.find(|(place, _)| place.url == tab.url)?;
        *is_used = true;
        Some(*place)
    };
    theirs.iter().map(|tab| (*tab, partner(tab))).collect()
}

/// A tab with what whoever speaks of it does not see of it.
fn joined(tab: &Tab, partner: Option<&Tab>, is_over: impl Fn(&Site) -> bool) -> Tab {
    let mut joined = tab.clone();
    joined.session_storage.retain(|key, _| is_over(&key.site()));
    let Some(partner) = partner else { return joined };
    let others = partner.session_storage.iter().filter(|(key, _)| !is_over(&key.site()));
    joined.session_storage.extend(others.map(|(key, entries)| (key.clone(), entries.clone())));
    let is_unmoved = tab.history.is_empty() && tab.url == partner.url;
    if is_unmoved && leads_out(&partner.history, &is_over) {
        joined.history = partner.history.clone();
    }
    joined
}
