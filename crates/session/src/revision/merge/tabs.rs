//! The tabs of one side, with the sessionStorage of both.
//!
//! The one idea: which tabs there are is one decision, so the list of one side is taken as a whole.
//! The sessionStorage in them belongs to its site, and may have to come from the other side: then it
//! goes into the tab that shows the same address there. What finds no tab is never the winner's, and
//! the loser is kept for its sake.

use super::{MergedFrom, Sites, side};
use crate::history::History;
use crate::site::Site;
use crate::state::State;
use crate::tab::Tab;

/// The tabs of two states that come from `base`, and from which side; contested when something of the
/// loser is lost.
pub(super) fn merge(
    base: &State,
    winner: &State,
    loser: &State,
    sites: &Sites,
) -> (Vec<Tab>, Option<MergedFrom>) {
    let [old, won, beaten] = [base, winner, loser].map(outline);
    let is_loser = |site: &Site| sites.get(site) == Some(&MergedFrom::Loser);
    let is_winner = |site: &Site| sites.get(site).is_some_and(|side| *side != MergedFrom::Loser);
    let side = side(&old, &won, &beaten);
    if side == Some(MergedFrom::Loser) {
        let (tabs, unplaced) = fill(loser, winner, is_winner);
        if unplaced == 0 {
            return (tabs, side);
        }
    }
    let (tabs, unplaced) = fill(winner, loser, is_loser);
    let is_list_lost = matches!(side, Some(MergedFrom::Loser | MergedFrom::Contested));
    let is_lost = is_list_lost || unplaced > 0;
    (tabs, if is_lost { Some(MergedFrom::Contested) } else { side })
}

/// What makes the list of tabs: all but their sessionStorage, and the numbers that one browser gave.
fn outline(state: &State) -> Vec<(&str, &str, bool, History)> {
    let history = |tab: &Tab| {
        let mut history = tab.history.clone();
        history.entries.iter_mut().for_each(|entry| entry.id = 0);
        history
    };
    let tabs = state.tabs.iter();
    tabs.map(|tab| (tab.url.as_str(), tab.title.as_str(), tab.active, history(tab))).collect()
}

/// The tabs of one side with the sessionStorage that comes from the other, and how much of that found
/// no tab.
fn fill(own: &State, other: &State, is_from_other: impl Fn(&Site) -> bool) -> (Vec<Tab>, usize) {
    let mut tabs = own.tabs.clone();
    for tab in &mut tabs {
        tab.session_storage.retain(|key, _| !is_from_other(&key.site()));
    }
    let mut is_used = vec![false; tabs.len()];
    let mut unplaced = 0;
    for from in &other.tabs {
        let mut places = tabs.iter_mut().zip(&mut is_used);
        let place = places.find(|(tab, is_used)| !**is_used && tab.url == from.url);
        let storage = from.session_storage.iter().filter(|(key, _)| is_from_other(&key.site()));
        let storage = storage.map(|(key, entries)| (key.clone(), entries.clone()));
        match place {
            Some((tab, is_used)) => {
                *is_used = true;
                tab.session_storage.extend(storage);
            }
            None => unplaced += storage.count(),
        }
    }
    (tabs, unplaced)
}
