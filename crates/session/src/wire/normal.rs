//! The form in which a session file holds storage keys and tabs: what is written is what its checksum
//! covers.

use crate::state::OriginState;
use crate::state::State;
use crate::storage::StorageKey;
use crate::tab::Tab;
use serde::Serialize;
use std::borrow::Cow;

/// What a storage key holds, as a file has it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Keyed<'a> {
    storage_key: &'a StorageKey,
    #[serde(flatten)]
    origin: Cow<'a, OriginState>,
}

/// Those storage keys that hold something.
pub(super) fn keyed(state: &State) -> impl Iterator<Item = Keyed<'_>> {
    let full = state.origins.iter().filter(|(_, origin)| !origin.is_empty());
    full.map(|(storage_key, origin)| Keyed { storage_key, origin: origin.normal() })
}

/// A tab as a file holds it. The numbers that a browser gave to the entries of a history mean nothing
/// to another one, so they do not travel; nor does storage that holds nothing.
pub(super) fn normal_tab(tab: &Tab) -> Tab {
    let mut tab = tab.clone();
    tab.session_storage.retain(|_, entries| !entries.is_empty());
    tab.history.entries.iter_mut().for_each(|entry| entry.id = 0);
    tab
}
