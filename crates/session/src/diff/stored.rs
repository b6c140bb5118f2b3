//! What changed in caches, files and service workers.

use super::{Diff, DiffItem, Records, named, paired};
use crate::cache::Cache;
use crate::file::FileEntry;
use crate::receipt::ItemKind;
use crate::redact::redact_url;
use crate::registration::Registration;
use crate::state::OriginState;
use crate::storage::StorageKey;
use std::collections::BTreeMap;

/// Compares what one storage key holds of them.
pub(super) fn compare(
    diff: &mut Diff,
    key: &StorageKey,
    before: &OriginState,
    after: &OriginState,
) {
    caches(diff, key, &before.caches, &after.caches);
    files(diff, key, ItemKind::Files, [&before.files, &after.files]);
    files(diff, key, ItemKind::IndexedDb, [&before.raw, &after.raw]);
    registrations(diff, key, &before.service_workers, &after.service_workers);
}

fn by_name<'a, K: Ord, T>(things: &'a [T], name: impl Fn(&'a T) -> K) -> BTreeMap<K, &'a T> {
    things.iter().map(|thing| (name(thing), thing)).collect()
}

fn caches(diff: &mut Diff, key: &StorageKey, before: &[Cache], after: &[Cache]) {
    let [before, after] = [before, after].map(|caches| by_name(caches, |cache| &cache.name));
    for (name, pair) in paired(&before, &after) {
        let Some(change) = pair.change() else { continue };
        let count = |cache: Option<&&Cache>| cache.map_or(0, |cache| cache.entries.len());
        let records = Some(Records { before: count(pair.0), after: count(pair.1) });
        let place = format!("{key} {}", name.to_lossy());
        diff.push(DiffItem { records, ..DiffItem::new(ItemKind::Cache, place, change) });
    }
}

fn files(diff: &mut Diff, key: &StorageKey, kind: ItemKind, sides: [&[FileEntry]; 2]) {
    let [before, after] = sides.map(|files| by_name(files, |file| &file.path));
    for (path, pair) in paired(&before, &after) {
        let Some(change) = pair.change() else { continue };
        let item = DiffItem::new(kind, key.as_str(), change);
        diff.push(DiffItem { entry: Some(path.join("/")), ..item });
    }
}

fn registrations(
    diff: &mut Diff,
    key: &StorageKey,
    before: &[Registration],
    after: &[Registration],
) {
    let [before, after] = [before, after].map(|all| by_name(all, |one| &one.scope));
    for (scope, pair) in paired(&before, &after) {
        let (Some(change), Some(any)) = (pair.change(), pair.1.or(pair.0)) else { continue };
        let (old, new) = pair.or(any);
        let fields = [
            ("script", old.script_url != new.script_url || old.scripts != new.scripts),
            ("type", old.worker_type != new.worker_type),
            ("updateViaCache", old.update_via_cache != new.update_via_cache),
            ("navigationPreload", old.navigation_preload != new.navigation_preload),
        ];
        let place = format!("{key} {}", redact_url(scope));
        let item = DiffItem::new(ItemKind::ServiceWorker, place, change);
        diff.push(DiffItem { fields: named(&fields), ..item });
    }
}
