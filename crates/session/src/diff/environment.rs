//! What changed of the environment: its settings, what sites may do, and whom the browser trusts.

use super::{Change, Diff, DiffItem, Pair, paired};
use crate::certificate::Certificate;
use crate::environment::Environment;
use crate::permission::Permission;
use crate::receipt::ItemKind;
use std::collections::BTreeMap;

pub(super) fn compare(diff: &mut Diff, before: &Environment, after: &Environment) {
    let mut compare = |place: &str, change: Option<Change>| {
        if let Some(change) = change {
            diff.push(DiffItem::new(ItemKind::Environment, place, change));
        }
    };
    compare("viewport", Pair(before.viewport.as_ref(), after.viewport.as_ref()).change());
    compare("user agent", Pair(before.user_agent.as_ref(), after.user_agent.as_ref()).change());
    compare("timezone", Pair(before.timezone.as_ref(), after.timezone.as_ref()).change());
    compare("locale", Pair(before.locale.as_ref(), after.locale.as_ref()).change());
    compare("geolocation", Pair(before.geolocation.as_ref(), after.geolocation.as_ref()).change());
    permissions(diff, &before.permissions, &after.permissions);
    certificates(diff, &before.certificates, &after.certificates);
}

/// By what was decided: when it was is no difference.
fn permissions(diff: &mut Diff, before: &[Permission], after: &[Permission]) {
    let by_place = |permissions| -> BTreeMap<_, _> {
        let of = |one: &Permission| (one.place(), one.setting);
        <[Permission]>::iter(permissions).map(of).collect()
    };
    let (before, after) = (by_place(before), by_place(after));
    for (place, pair) in paired(&before, &after) {
        if let Some(change) = pair.change() {
            diff.push(DiffItem::new(ItemKind::Permission, place, change));
        }
    }
}

fn certificates(diff: &mut Diff, before: &[Certificate], after: &[Certificate]) {
    let by_place = |certificates| -> BTreeMap<_, _> {
        <[Certificate]>::iter(certificates).map(|one| (one.place(), one)).collect()
    };
    let (before, after) = (by_place(before), by_place(after));
    for (place, pair) in paired(&before, &after) {
        if let Some(change) = pair.change() {
            diff.push(DiffItem::new(ItemKind::Environment, place, change));
        }
    }
}
