//! What changed of each site: how many items of which kind, and the names of the first of them.

use super::{Change, Diff, DiffItem};
use crate::receipt::ItemKind;
use crate::site::Site;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// How many names are told of one kind at one site.
pub const NAMES_MAX: usize = 20;
/// How many characters of a name are told: a page may use whole documents as names.
pub const NAME_LENGTH_MAX: usize = 100;

/// What changed of one kind at one site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SiteDiff {
    /// The registrable site; none for what belongs to no site, such as settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub site: Option<Site>,
    /// What kind of items.
    pub kind: ItemKind,
    /// How many are new.
    pub added: usize,
    /// How many are gone.
    pub removed: usize,
    /// How many are not what they were.
    pub changed: usize,
    /// The names of the first of them, at most twenty, each cut to a hundred characters. Never a
    /// value.
    pub names: Vec<String>,
}

impl Diff {
    /// The same by site and kind, sorted by both.
    pub fn by_site(&self) -> Vec<SiteDiff> {
        let mut groups: BTreeMap<(Option<Site>, ItemKind), Vec<&DiffItem>> = BTreeMap::new();
        for item in &self.items {
            groups.entry((item.site(), item.kind)).or_default().push(item);
        }
        groups.into_iter().map(|((site, kind), items)| sum(site, kind, &items)).collect()
    }
}

fn sum(site: Option<Site>, kind: ItemKind, items: &[&DiffItem]) -> SiteDiff {
    let count = |change: Change| items.iter().filter(|item| item.change == change).count();
    let names: BTreeSet<&str> = items.iter().map(|item| item.name()).collect();
    SiteDiff {
        site,
        kind,
        added: count(Change::Added),
        removed: count(Change::Removed),
        changed: count(Change::Changed),
        names: names.into_iter().take(NAMES_MAX).map(cut).collect(),
    }
}

fn cut(name: &str) -> String {
    match name.char_indices().nth(NAME_LENGTH_MAX) {
        None => name.to_owned(),
        Some((end, _)) => format!("{}…", &name[..end]),
    }
}

impl DiffItem {
    /// The registrable site that it belongs to.
    fn site(&self) -> Option<Site> {
        let place = self.place.as_str();
        let origin = match self.kind {
            ItemKind::Environment => return None,
            ItemKind::Cookie => return Some(Site::of_host(place.split('/').next()?)),
            ItemKind::Permission => place.split_once(' ')?.1,
            _ => place.split([' ', '^']).next()?,
        };
        url::Url::parse(origin).ok()?.host_str().map(Site::of_host)
    }

    /// What tells it from others of its kind at its site.
    fn name(&self) -> &str {
        let (place, entry) = (self.place.as_str(), self.entry.as_deref());
        let parts = place.split_once(' ');
        match self.kind {
            ItemKind::Permission => parts.map_or(place, |(name, _)| name),
            ItemKind::Environment | ItemKind::Tab => place,
            _ => entry.or(parts.map(|(_, name)| name)).unwrap_or(place),
        }
    }
}
