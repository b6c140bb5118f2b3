//! What a state from elsewhere may bring along: only what a browser can be given.
//!
//! The one idea: the writer of the file is not trusted with this machine. A tab that would read its files is
//! left out, and so is what a browser would refuse; each with a line, and never at the cost of the rest.

use crate::certificate::{self, MAX_CERTIFICATES};
use crate::cookie::Expiry;
use crate::permission::{self, MAX_PERMISSIONS};
use crate::receipt::{ItemKind, Receipt, ReceiptItem};
use crate::state::{OriginState, State};
use crate::storage::StorageKey;
use crate::tab::Tab;
use baton_redaction::ShownAddress;
use std::collections::BTreeSet;
use url::Url;

/// The most tabs that a state from elsewhere may bring.
pub const MAX_TABS: usize = 200;

/// Takes out of `state` what no browser here can be given at `now`, and lists it.
pub fn admit(state: &mut State, now: Expiry) -> Receipt {
    let mut left_out = Receipt::default();
    admit_cookies(state, now, &mut left_out);
    state.origins.retain(|key, origin| admit_origin(key, origin, &mut left_out));
    admit_tabs(state, &mut left_out);
    admit_permissions(state, now, &mut left_out);
    admit_certificates(state, &mut left_out);
    state.normalize();
    left_out
}

/// Valid cookies, and of those that are the same cookie the last one.
fn admit_cookies(state: &mut State, now: Expiry, left_out: &mut Receipt) {
    let mut cookies = std::mem::take(&mut state.cookies);
    let mut seen = BTreeSet::new();
    let mut wanted: Vec<bool> = cookies
        .iter()
        .rev()
        .map(|cookie| {
            let refused = match cookie.validate(now) {
                Err(reason) => reason.to_string(),
                Ok(()) if seen.insert(cookie.key()) => return true,
                Ok(()) => "a later cookie in the file is the same cookie".to_owned(),
            };
            left_out.push(ReceiptItem::rejected(ItemKind::Cookie, cookie.place(), refused));
            false
        })
        .collect();
    drop(seen);
    cookies.retain(|_| wanted.pop().unwrap_or(false));
    state.cookies = cookies;
}

/// Whether a web page could have this storage key; of databases of one name the last one stays.
fn admit_origin(key: &StorageKey, origin: &mut OriginState, left_out: &mut Receipt) -> bool {
    let place = |name: &str| format!("{key} {name}");
    if !is_web_key(key) {
        let reason = "expected the storage key of an http or https origin";
        if !origin.local_storage.is_empty() {
            left_out.push(ReceiptItem::rejected(ItemKind::LocalStorage, key.as_str(), reason));
        }
        for database in &origin.databases {
            let place = place(&database.name.to_lossy());
            left_out.push(ReceiptItem::rejected(ItemKind::IndexedDb, place, reason));
        }
        return false;
    }
    let mut seen = BTreeSet::new();
    origin.databases.reverse();
    origin.databases.retain(|database| {
        let reason = if !seen.insert(database.name.clone()) {
            "a later database in the file has the same name"
        } else if database.version == 0 {
            "expected a version from 1"
        } else {
            return true;
        };
        let place = place(&database.name.to_lossy());
        left_out.push(ReceiptItem::rejected(ItemKind::IndexedDb, place, reason));
        false
    });
    true
}

/// Tabs on the web, at least a blank one, and one of them in front. Their ids meant something to another browser only.
fn admit_tabs(state: &mut State, left_out: &mut Receipt) {
    let mut count = 0;
    state.tabs.retain(|tab| {
        let reason = if !is_web(&tab.url) {
            "expected an http, https or about address"
        } else if count == MAX_TABS {
            "expected at most 200 tabs"
        } else {
            count += 1;
            return true;
        };
        let place = ShownAddress::of(&tab.url);
        left_out.push(ReceiptItem::rejected(ItemKind::Tab, place, reason));
        false
    });
    if state.tabs.is_empty() {
        // A browser without a tab shows nothing.
        state.tabs.push(Tab { url: "about:blank".to_owned(), ..Tab::default() });
    }
    let front = state.tabs.iter().position(|tab| tab.active).unwrap_or_default();
    for (position, tab) in state.tabs.iter_mut().enumerate() {
        tab.id.clear();
        tab.active = position == front;
        tab.session_storage.retain(|key, _| {
            let good = is_web_key(key);
            if !good {
                let reason = "expected the storage key of an http or https origin";
                let item = ReceiptItem::rejected(ItemKind::SessionStorage, key.as_str(), reason);
                left_out.push(item);
            }
            good
        });
    }
}

/// Permissions that a browser can be given, and not more of them than a state holds. A later one of
/// the same name and origin counts; one that was decided in the future would outdo all that a person
/// decides from now on, so its instant is left out.
fn admit_permissions(state: &mut State, now: Expiry, left_out: &mut Receipt) {
    let permissions = &mut state.environment.permissions;
    permission::normalize(permissions);
    let mut count = 0;
    permissions.retain_mut(|permission| {
        permission.changed.take_if(|changed| *changed > now.0);
        let reason = match permission.validate() {
            Err(reason) => reason.to_string(),
            Ok(()) if count == MAX_PERMISSIONS => "expected at most 1000 permissions".to_owned(),
            Ok(()) => {
                count += 1;
                return true;
            }
        };
        let place = shown(&permission.place());
        left_out.push(ReceiptItem::rejected(ItemKind::Permission, place, reason));
        false
    });
}

/// Not more certificates than a session has.
fn admit_certificates(state: &mut State, left_out: &mut Receipt) {
    let certificates = &mut state.environment.certificates;
    certificate::normalize(certificates);
    let most = certificates.len().min(MAX_CERTIFICATES);
    for certificate in certificates.drain(most..) {
        let reason = "expected at most 20 certificates";
        left_out.push(ReceiptItem::rejected(ItemKind::Environment, certificate.place(), reason));
    }
}

/// At most so much of a text from elsewhere as a line of a receipt has room for.
fn shown(text: &str) -> String {
    text.chars().take(200).collect()
}

fn is_web(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https" | "about"))
}

fn is_web_key(key: &StorageKey) -> bool {
    let Ok(url) = Url::parse(key.origin()) else { return false };
    matches!(url.scheme(), "http" | "https") && url.origin().ascii_serialization() == key.origin()
}
