//! The truth beside the nodes: which edits a state has seen.
//!
//! The one idea: each edit of a site adds its number to the login there, so a state tells by itself
//! which edits it stands for, whatever the nodes believe.

use crate::sync::pair::{login, token};
use baton_session::State;

/// Edits, each a bit.
pub(super) type Edits = u128;

/// How many sites there are.
const SITES: u8 = 3;

fn host(site: u8) -> String {
    format!("site{}.test", site % SITES)
}

/// The edits that a state has seen.
pub(super) fn seen(state: &State) -> Edits {
    let tokens = (0..SITES).filter_map(|site| token(state, &host(site)));
    let of = |token: String| {
        token
            .split('.')
            .filter_map(|number| number.parse::<u32>().ok())
            .fold(0, |all, number| all | 1 << number)
    };
    tokens.map(of).fold(0, |all: Edits, edits: Edits| all | edits)
}

/// Adds an edit to a site.
pub(super) fn edit(state: &mut State, site: u8, number: u32) {
    let host = host(site);
    let before = token(state, &host).map_or_else(String::new, |token| format!("{token}."));
    login(state, &host, &format!("{before}{number}"));
    state.normalize();
}
