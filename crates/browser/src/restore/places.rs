//! Which addresses and keys are ours to fill, and how a receipt names what is filled.

use baton_session::receipt::ItemKind;
use baton_session::redact::ShownAddress;
use baton_session::state::OriginState;
use baton_session::{Cache, PartHash, Registration, StorageKey, Text};
use url::Url;

/// The first-party storage key of a page at this address.
pub(super) fn own_key(url: &str) -> Option<StorageKey> {
    let url = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    Some(StorageKey::first_party(&url.origin().ascii_serialization()))
}

/// An address of ours at which a document of `key`, or one that embeds it, can stand: another one
/// for each key, because several can be embedded by one site.
pub(super) fn blank_address(key: &StorageKey) -> String {
    let host = key.top_level_site().unwrap_or(key.origin());
    format!("{host}/.baton/{}", PartHash::of(key.as_str().as_bytes()))
}

/// Whether a tab at `url` shows the key as its own.
pub(super) fn is_own(url: &str, key: &StorageKey) -> bool {
    own_key(url).as_ref() == Some(key)
}

/// How a receipt names a database.
pub(super) fn database_place(key: &StorageKey, name: &Text) -> String {
    format!("{key} {}", name.to_lossy())
}

/// The caches, files and registrations of a key, as a receipt names them.
pub(super) fn items(key: &StorageKey, origin: &OriginState) -> Vec<(ItemKind, String)> {
    let mut items = Vec::new();
    for registration in &origin.service_workers {
        items.push((ItemKind::ServiceWorker, worker_place(key, registration)));
    }
    for cache in &origin.caches {
        items.push((ItemKind::Cache, cache_place(key, cache)));
    }
    if !origin.files.is_empty() {
        items.push((ItemKind::Files, key.to_string()));
    }
    items
}

/// How a receipt names a cache.
pub(super) fn cache_place(key: &StorageKey, cache: &Cache) -> String {
    format!("{key} {}", cache.name.to_lossy())
}

/// How a receipt names a registration.
pub(super) fn worker_place(key: &StorageKey, registration: &Registration) -> String {
    format!("{key} {}", ShownAddress::of(&registration.scope))
}
