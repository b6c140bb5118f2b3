//! Which localStorage of a state a browser would take.

use crate::profile::instant::Instant;
use crate::profile::local_storage::{Area, Areas};
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_session::{Receipt, State};

/// The most that a site may store under one key, in bytes, as Chromium counts them
/// (`kPerStorageAreaQuota`: 10 MiB).
const QUOTA: usize = 10 << 20;

/// The areas, as if they were changed at `at`, and a line for each that no browser would open.
pub(super) fn usable_areas(state: &State, at: Instant) -> (Areas, Receipt) {
    let (mut areas, mut left_out) = (Areas::new(), Receipt::default());
    for (key, origin) in &state.origins {
        let entries = &origin.local_storage;
        if entries.is_empty() {
            continue;
        }
        let kind = ItemKind::LocalStorage;
        let is_web = key.origin().starts_with("http://") || key.origin().starts_with("https://");
        if !is_web || key.as_str().contains('\0') || !key.is_reachable() {
            let reason =
                "expected the storage key of an http or https origin, or of a partition of one";
            left_out.push(ReceiptItem::not_portable(kind, key.as_str(), reason));
            continue;
        }
        let size: usize = entries.0.iter().map(|(key, value)| 2 * (key.len() + value.len())).sum();
        if size > QUOTA {
            let reason = format!("expected at most {QUOTA} bytes of entries, found {size}");
            left_out.push(ReceiptItem::rejected(kind, key.as_str(), reason));
            continue;
        }
        areas.insert(key.clone(), Area { entries: entries.clone(), changed: Some(at) });
    }
    (areas, left_out)
}
