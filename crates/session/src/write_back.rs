//! What a session holds after a browser somewhere else had its profile.
//!
//! The one idea: only what was in that profile can have changed there. The rest of the session, its tabs and
//! databases and whatever no profile holds, is as it was. And of the profile, only the sites that were handed
//! in: whatever ran there could write what it liked, and a cookie of a bank that it planted would log the
//! session's owner in as another person.

use crate::receipt::{ItemKind, Outcome, Receipt, ReceiptItem};
use crate::state::State;
use crate::storage::{Entries, Site};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The most items that are named which were not taken back.
const MOST_NAMED: usize = 200;

/// Which sites are taken back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum TakeBack {
    /// Those that were handed in: that the session had a cookie or localStorage of.
    #[default]
    Lent,
    /// All that the profile holds.
    All,
}

/// What a session holds now, and what of a profile was not taken for it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WrittenBack {
    /// What it holds.
    pub state: State,
    /// What the profile held of sites that were not handed in, item by item up to a bound.
    pub left_out: Receipt,
    /// How many items that were, by site.
    pub left_sites: BTreeMap<Site, usize>,
}

/// The state `before`, of which the items in the receipt were in a profile that holds `after` now.
pub fn written_back(
    before: State,
    mut after: State,
    handed_in: &Receipt,
    which: TakeBack,
) -> WrittenBack {
    let mut rest = Left::default();
    if which == TakeBack::Lent {
        let lent = sites(&before);
        after.cookies.retain(|cookie| {
            lent.contains(&cookie.site())
                || rest.note(ItemKind::Cookie, cookie.place(), cookie.site())
        });
        after.origins.retain(|key, origin| {
            let site = Site::of_origin(key.origin());
            origin.local_storage.is_empty()
                || lent.contains(&site)
                || rest.note(ItemKind::LocalStorage, key.to_string(), site)
        });
    }
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
    WrittenBack { state, left_out: rest.receipt(), left_sites: rest.sites }
}

/// The sites of which a profile made of this has anything.
fn sites(state: &State) -> BTreeSet<Site> {
    let stored = state.origins.iter().filter(|(_, origin)| !origin.local_storage.is_empty());
    let stored = stored.map(|(key, _)| Site::of_origin(key.origin()));
    state.cookies.iter().map(crate::cookie::Cookie::site).chain(stored).collect()
}

/// What is not taken.
#[derive(Default)]
struct Left {
    named: Receipt,
    sites: BTreeMap<Site, usize>,
}

impl Left {
    /// Notes an item. Says that it does not stay.
    fn note(&mut self, kind: ItemKind, place: String, site: Site) -> bool {
        if self.named.items.len() < MOST_NAMED {
            let why = "its site was not handed in; takeBack all takes it";
            self.named.push(ReceiptItem::rejected(kind, place, why));
        }
        *self.sites.entry(site).or_default() += 1;
        false
    }

    /// The items that are named, and how many there are besides.
    fn receipt(&mut self) -> Receipt {
        let mut receipt = std::mem::take(&mut self.named);
        let all: usize = self.sites.values().sum();
        if let Some(more @ 1..) = all.checked_sub(receipt.items.len()) {
            let (place, why) = (format!("{more} more"), "their sites were not handed in");
            receipt.push(ReceiptItem::rejected(ItemKind::Cookie, place, why));
        }
        receipt
    }
}
