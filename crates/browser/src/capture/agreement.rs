//! Where the tabs of a site do not agree about its localStorage.
//!
//! The one idea: each process has a copy of its own, and Chromium keeps them equal, but for one case. What a page
//! hears of after it has emptied its copy, though another page wrote it before, stays in that copy for as long as
//! the process lives, and is nowhere else: a token comes back after a logout. Such an entry is always one too many.
//! So once an area was emptied, or events were missed, all tabs are read, and what only some of them show is left
//! out. That can be something of which one has not heard yet: so the next capture reads all of them again. A tab that
//! does not answer shows nothing, and takes nothing from what the others show.

use super::Work;
use super::page::PageRead;
use crate::live::mirror::Mirror;
use crate::targets::TargetId;
use baton_session::{Entries, StorageKey, Text};
use std::collections::{BTreeMap, BTreeSet};

/// Leaves out what only some of the tabs show, where all were to be read.
pub(super) fn seek(reads: &mut [PageRead], mirror: &mut Mirror, work: &Work<'_>) {
    let all_answered = reads.iter().all(|read| read.unread.is_empty());
    let mut shown: BTreeMap<StorageKey, BTreeMap<TargetId, &mut Entries>> = BTreeMap::new();
    for read in reads {
        for (key, area) in read.found.areas().filter(|(key, _)| work.compares(key)) {
            // Of a tab that was read again, what it showed last.
            shown.entry(key.clone()).or_default().insert(read.target.clone(), area);
        }
    }
    for (key, areas) in shown {
        let is_alone = areas.len() < 2;
        let seen: Vec<&Entries> = areas.values().map(|area| &**area).collect();
        let disputed = disputed(&seen);
        for area in areas.into_values() {
            area.0.retain(|name, _| !disputed.contains(name));
        }
        if !disputed.is_empty() {
            let known = &mut mirror.origin(&key).local_storage;
            known.0.retain(|name, _| !disputed.contains(name));
            work.did_compare(key, false);
        } else if all_answered && !is_alone {
            work.did_compare(key, true);
        }
    }
}

/// The names of the entries that some of these have and others lack.
fn disputed(areas: &[&Entries]) -> BTreeSet<Text> {
    let is_everywhere = |name: &Text| areas.iter().all(|area| area.0.contains_key(name));
    let names = areas.iter().flat_map(|area| area.0.keys());
    names.filter(|name| !is_everywhere(name)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(names: &[&str]) -> Entries {
        names.iter().map(|name| (Text::from(*name), Text::from("value"))).collect()
    }

    #[test]
    fn what_not_all_show_is_disputed() {
        let [one, other] = [area(&["a", "b"]), area(&["b", "c"])];
        let expected = BTreeSet::from([Text::from("a"), Text::from("c")]);
        assert_eq!(disputed(&[&one, &other]), expected);
        assert!(disputed(&[&one]).is_empty());
        assert!(disputed(&[&other, &area(&["b", "c"])]).is_empty());
    }
}
