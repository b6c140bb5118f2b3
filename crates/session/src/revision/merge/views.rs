//! Makes one state of two revisions of which one at least speaks of views.
//!
//! The one idea: in every place somebody is ahead, or nobody. Where one of the two has seen the other, or
//! alone speaks, it says what counts, and nothing is to be decided. What is left is merged as ever.

use super::{Merged, merge};
use crate::revision::knowledge::Knowledge;
use crate::revision::vector::Order;
use crate::site::Site;
use crate::state::State;
use crate::view::StateKind;
use crate::view::mix;

/// A revision with what it says.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// Where it speaks, and how far it had come there.
    pub knowledge: &'a Knowledge,
    /// What it says.
    pub state: &'a State,
}

/// Who is ahead in a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ahead {
    Frame,
    Other,
    Nobody,
}

/// Makes one state of two that come from `base` in every place in which neither has seen the other; none
/// when there is no such place.
pub fn merge_views(base: Option<&State>, winner: Side<'_>, loser: Side<'_>) -> Merged {
    // The one that speaks of more says where tabs stand.
    let is_frame = winner.knowledge.speaks_of(loser.knowledge);
    let (frame, other) = if is_frame { (winner, loser) } else { (loser, winner) };
    let ahead = |site: Option<&Site>, kind| ahead(frame.knowledge, other.knowledge, site, kind);
    let settled = mix(other.state, frame.state, |site, kind| ahead(site, kind) == Ahead::Other);
    let is_open = |site: Option<&Site>, kind: StateKind| ahead(site, kind) == Ahead::Nobody;
    let opened = mix(other.state, &settled, is_open);
    let nothing = State::default();
    let base = seen_by(other.knowledge, base.unwrap_or(&nothing));
    let base = mix(&base, &settled, is_open);
    let (winner, loser) = if is_frame { (&settled, &opened) } else { (&opened, &settled) };
    merge(&base, winner, loser)
}

fn ahead(frame: &Knowledge, other: &Knowledge, site: Option<&Site>, kind: StateKind) -> Ahead {
    match (frame.at((site, kind)), other.at((site, kind))) {
        (_, None) => Ahead::Frame,
        (None, Some(_)) => Ahead::Other,
        (Some(frame), Some(other)) => match frame.compare(&other) {
            Order::After | Order::Equal => Ahead::Frame,
            Order::Before => Ahead::Other,
            Order::Concurrent => Ahead::Nobody,
        },
    }
}

/// What of a state somebody sees.
pub fn seen_by(knowledge: &Knowledge, state: &State) -> State {
    let seen = State::default();
    knowledge
        .views()
        .fold(seen, |seen, view| mix(&view.of(state), &seen, |site, kind| view.has(site, kind)))
}
