//! The checksum of a state: SHA-256 over its canonical JSON (RFC 8785, JCS).

use crate::{PartHash, State};

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
    // Canonical JSON refuses numbers that are not finite, which only a geolocation made by hand
    // could hold; plain JSON has `null` for them.
    let canonical = serde_json_canonicalizer::to_vec(&state)
        .or_else(|_| serde_json::to_vec(&state))
        .unwrap_or_default();
    PartHash::of(&canonical).to_string()
}
