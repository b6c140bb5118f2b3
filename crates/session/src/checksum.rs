//! The checksum of a state: SHA-256 over its canonical JSON (RFC 8785, JCS).

use crate::json;
use crate::part_hash::PartHash;
use crate::state::State;

/// SHA-256 of the canonical JSON of a state, as 64 hexadecimal digits. It does not depend on the
/// order of cookies, origins or databases, nor on the names that one browser gave to its tabs and
/// their entries.
pub fn checksum(state: &State) -> String {
    let mut state = state.clone();
    state.normalize();
    for tab in &mut state.tabs {
        tab.id.clear();
        tab.history.entries.iter_mut().for_each(|entry| entry.id = 0);
    }
    PartHash::of(&json::canonical(&state)).to_string()
}
