//! What of a state belongs to one site: what is merged as a whole.

use crate::cookie::Cookie;
use crate::permission::Permission;
use crate::site::Site;
use crate::state::OriginState;
use crate::state::State;
use crate::storage::{Entries, StorageKey};
use serde::Serialize;
use std::collections::BTreeMap;

/// What belongs to one site.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(super) struct Slice<'a> {
    cookies: Vec<&'a Cookie>,
    origins: Vec<(&'a StorageKey, &'a OriginState)>,
    permissions: Vec<&'a Permission>,
    /// The sessionStorage of all tabs, in their order.
    session_storage: Vec<(&'a StorageKey, &'a Entries)>,
}

/// What belongs to each site of a state in normal form.
pub(super) fn slices(state: &State) -> BTreeMap<Site, Slice<'_>> {
    let mut slices: BTreeMap<Site, Slice<'_>> = BTreeMap::new();
    for cookie in &state.cookies {
        slices.entry(cookie.site()).or_default().cookies.push(cookie);
    }
    // Whoever only set them anew changed nothing, and what an older version wrote knows no order.
    for slice in slices.values_mut() {
        slice.cookies.sort_by_key(|cookie| cookie.key());
    }
    for (key, origin) in &state.origins {
        slices.entry(key.site()).or_default().origins.push((key, origin));
    }
    for permission in &state.environment.permissions {
        let site = Site::of_origin(&permission.origin);
        slices.entry(site).or_default().permissions.push(permission);
    }
    for (key, entries) in state.tabs.iter().flat_map(|tab| &tab.session_storage) {
        slices.entry(key.site()).or_default().session_storage.push((key, entries));
    }
    slices
}
