//! What of a state is no row of a profile: written where it can be, listed where not.

use crate::profile::raw;
use baton_session::receipt::{ItemKind, ReceiptItem, Verified};
use baton_session::redact::ShownAddress;
use baton_session::state::OriginState;
use baton_session::{Receipt, State, StorageKey, Tab};
use std::path::Path;

const NEEDS_A_PAGE: &str = "only a page can make it: baton import and baton sessions resume do";
const NEEDS_A_TAB: &str =
    "a profile has no tabs: baton import and baton sessions resume bring them";

/// Writes the browser's own folders of databases, if the state has some, and lists everything else
/// that is neither a cookie nor localStorage.
pub(super) fn write(state: &State, profile: &Path) -> Receipt {
    let mut receipt = Receipt::default();
    for (key, origin) in &state.origins {
        databases(profile, key, origin, &mut receipt);
        let mut leave = |kind, place: String| {
            receipt.push(ReceiptItem::not_portable(kind, place, NEEDS_A_PAGE));
        };
        for cache in &origin.caches {
            leave(ItemKind::Cache, format!("{key} {}", cache.name.to_lossy()));
        }
        if !origin.files.is_empty() {
            leave(ItemKind::Files, key.to_string());
        }
        for registration in &origin.service_workers {
            leave(
                ItemKind::ServiceWorker,
                format!("{key} {}", ShownAddress::of(&registration.scope)),
            );
        }
    }
    state.tabs.iter().for_each(|tab| leave_tab(tab, &mut receipt));
    leave_environment(state, &mut receipt);
    receipt
}

fn databases(profile: &Path, key: &StorageKey, origin: &OriginState, receipt: &mut Receipt) {
    let written = if origin.raw.is_empty() {
        Err(NEEDS_A_PAGE.to_owned())
    } else {
        raw::write(profile, key, &origin.raw).map_err(|error| error.to_string())
    };
    for database in &origin.databases {
        let place = format!("{key} {}", database.name.to_lossy());
        receipt.push(match &written {
            Ok(_) => ReceiptItem {
                verified: Verified::None,
                ..ReceiptItem::restored(ItemKind::IndexedDb, place)
            },
            Err(reason) => ReceiptItem::not_portable(ItemKind::IndexedDb, place, reason),
        });
    }
}

fn leave_tab(tab: &Tab, receipt: &mut Receipt) {
    if tab.url == "about:blank" && tab.session_storage.is_empty() {
        return;
    }
    let place = ShownAddress::of(&tab.url);
    receipt.push(ReceiptItem::not_portable(ItemKind::Tab, place, NEEDS_A_TAB));
    for key in tab.session_storage.keys() {
        let kind = ItemKind::SessionStorage;
        receipt.push(ReceiptItem::not_portable(kind, key.as_str(), NEEDS_A_TAB));
    }
}

/// Settings that whoever starts the browser gives it, and permissions, which are settings of a profile.
fn leave_environment(state: &State, receipt: &mut Receipt) {
    let environment = &state.environment;
    let settings = [
        ("viewport", environment.viewport.is_some()),
        ("user agent", environment.user_agent.is_some()),
        ("time zone", environment.timezone.is_some()),
        ("locale", environment.locale.is_some()),
        ("geolocation", environment.geolocation.is_some()),
    ];
    for (name, _) in settings.into_iter().filter(|(_, is_set)| *is_set) {
        let reason = "a profile has no such setting: give it to the browser that you start";
        receipt.push(ReceiptItem::not_portable(ItemKind::Environment, name, reason));
    }
    for permission in &environment.permissions {
        receipt.push(match permission.validate() {
            Ok(()) => ReceiptItem {
                verified: Verified::None,
                ..ReceiptItem::restored(ItemKind::Permission, permission.place())
            },
            Err(reason) => ReceiptItem::rejected(ItemKind::Permission, permission.place(), reason),
        });
    }
}
