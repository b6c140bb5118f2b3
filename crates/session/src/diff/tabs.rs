//! Tabs side by side, and what they keep in sessionStorage.

use super::{Change, Diff, DiffItem, Pair, entries, named, paired};
use crate::receipt::ItemKind;
use crate::redact::redact_url;
use crate::storage::Entries;
use crate::tab::Tab;
use std::collections::BTreeMap;

/// The same tab bears the same id while one browser lives; another browser's is known by its address.
pub(super) fn compare(diff: &mut Diff, before: &[Tab], after: &[Tab]) {
    let mut left: Vec<&Tab> = after.iter().collect();
    let mut unpaired = Vec::new();
    let mut pairs = Vec::new();
    for old in before {
        match left.iter().position(|new| !old.id.is_empty() && new.id == old.id) {
            Some(at) => pairs.push(Pair(Some(old), Some(left.remove(at)))),
            None => unpaired.push(old),
        }
    }
    for old in unpaired {
        let at = left.iter().position(|new| new.url == old.url);
        pairs.push(Pair(Some(old), at.map(|at| left.remove(at))));
    }
    pairs.extend(left.into_iter().map(|new| Pair(None, Some(new))));
    for pair in pairs {
        tab(diff, &pair);
    }
}

fn tab(diff: &mut Diff, pair: &Pair<'_, Tab>) {
    let Some(any) = pair.1.or(pair.0) else { return };
    let (old, new) = pair.or(any);
    let fields = [
        ("address", old.url != new.url),
        ("title", old.title != new.title),
        ("active", old.active != new.active),
    ];
    let fields = named(&fields);
    let change = pair.change().filter(|change| *change != Change::Changed || !fields.is_empty());
    if let Some(change) = change {
        let item = DiffItem::new(ItemKind::Tab, redact_url(&any.url), change);
        diff.push(DiffItem { fields, ..item });
    }
    let (empty, nothing) = (BTreeMap::new(), Entries::default());
    let old = pair.0.map_or(&empty, |tab| &tab.session_storage);
    let new = pair.1.map_or(&empty, |tab| &tab.session_storage);
    for (key, pair) in paired(old, new) {
        let (old, new) = pair.or(&nothing);
        entries(diff, ItemKind::SessionStorage, key, old, new);
    }
}
