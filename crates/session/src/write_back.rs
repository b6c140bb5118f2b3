//! What a session holds after a browser somewhere else had its profile.
//!
//! The one idea: only what was in that profile can have changed there. The rest of the session, its tabs
//! and databases and whatever no profile holds, is as it was.

use crate::receipt::{ItemKind, Outcome};
use crate::{Entries, Receipt, State};
use std::collections::BTreeSet;

/// The state `before`, of which the items in the receipt were in a profile that holds `after` now.
pub fn written_back(before: State, after: State, handed_in: &Receipt) -> State {
    let handed = handed_in.items.iter().filter(|item| item.outcome == Outcome::Restored);
    let handed = handed.filter(|item| item.kind == ItemKind::LocalStorage);
    let handed: BTreeSet<&str> = handed.map(|item| item.place.as_str()).collect();
    let mut state = State { cookies: after.cookies, ..before };
    for (key, origin) in &mut state.origins {
        if handed.contains(key.as_str()) {
            origin.local_storage = Entries::default();
        }
    }
    for (key, origin) in after.origins {
        if !origin.local_storage.is_empty() {
            state.origins.entry(key).or_default().local_storage = origin.local_storage;
        }
    }
    state.normalize();
    state
}
