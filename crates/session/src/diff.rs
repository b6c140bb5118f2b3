//! Diff: what changed between two states, item by item and without a single value.

use crate::certificate::Certificate;
use crate::cookie::Cookie;
use crate::identity::Identity;
use crate::permission::Permission;
use crate::receipt::ItemKind;
use crate::state::{Environment, OriginState, State};
use crate::storage::{Entries, Site, StorageKey};
use crate::stored::{Cache, Database, FileEntry, Registration};
use crate::tab::Tab;
use baton_redaction::ShownAddress;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What changed from one state to another.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Diff {
    /// How many items are new.
    pub added: usize,
    /// How many items are gone.
    pub removed: usize,
    /// How many items are not what they were.
    pub changed: usize,
    /// One line per item, sorted by kind and place. What stayed as it was has none.
    pub items: Vec<DiffItem>,
}

/// One item that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct DiffItem {
    /// What it is.
    pub kind: ItemKind,
    /// Where it lives: a cookie's [place](crate::Cookie::place), a storage key, a database, an
    /// address without its secrets, a setting. Never a value.
    #[serde(rename = "where")]
    pub place: String,
    /// The registrable site that it belongs to; none for what belongs to no site, such as settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub site: Option<Site>,
    /// The name of an entry of web storage, or the path of a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
    /// What became of it.
    pub change: Change,
    /// Which fields of a cookie, a tab or a service worker are not what they were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
    /// How many records a database has, or entries a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub records: Option<Records>,
}

/// What became of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum Change {
    /// It was not there before.
    Added,
    /// It is not there any more.
    Removed,
    /// It is not what it was.
    Changed,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
        })
    }
}

/// The records of a database, in all of its stores, or the entries of a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Records {
    /// In the first state.
    pub before: usize,
    /// In the second state.
    pub after: usize,
}

/// What changed from `before` to `after`.
pub fn diff(before: &State, after: &State) -> Diff {
    let mut diff = Diff::default();
    cookies(&mut diff, &before.cookies, &after.cookies);
    let nothing = OriginState::default();
    for (key, pair) in paired(&before.origins, &after.origins) {
        let (old, new) = pair.or(&nothing);
        entries(&mut diff, ItemKind::LocalStorage, key, &old.local_storage, &new.local_storage);
        databases(&mut diff, key, &old.databases, &new.databases);
        compare_stored(&mut diff, key, old, new);
    }
    compare_tabs(&mut diff, &before.tabs, &after.tabs);
    compare_environment(&mut diff, &before.environment, &after.environment);
    diff.items.sort_by(|a, b| (a.kind, &a.place, &a.entry).cmp(&(b.kind, &b.place, &b.entry)));
    diff
}

impl Diff {
    fn push(&mut self, item: DiffItem) {
        match item.change {
            Change::Added => self.added += 1,
            Change::Removed => self.removed += 1,
            Change::Changed => self.changed += 1,
        }
        self.items.push(item);
    }
}

impl DiffItem {
    fn new(kind: ItemKind, place: impl Into<String>, change: Change) -> Self {
        let place = place.into();
        let site = site_of(kind, &place);
        Self { kind, place, site, entry: None, change, fields: Vec::new(), records: None }
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

/// The registrable site of what lives at a place.
fn site_of(kind: ItemKind, place: &str) -> Option<Site> {
    let origin = match kind {
        ItemKind::Environment => return None,
        ItemKind::Cookie => return Some(Site::of_host(place.split('/').next()?)),
        ItemKind::Permission => place.split_once(' ')?.1,
        _ => place.split([' ', '^']).next()?,
    };
    url::Url::parse(origin).ok()?.host_str().map(Site::of_host)
}

/// The same thing before and after.
#[derive(Clone, Copy)]
struct Pair<'a, T>(Option<&'a T>, Option<&'a T>);

impl<'a, T: PartialEq> Pair<'a, T> {
    /// What became of it; none when it is what it was.
    fn change(&self) -> Option<Change> {
        match (self.0, self.1) {
            (None, Some(_)) => Some(Change::Added),
            (Some(_), None) => Some(Change::Removed),
            (before, after) => (before != after).then_some(Change::Changed),
        }
    }

    /// Both, with `other` where there is none.
    fn or(&self, other: &'a T) -> (&'a T, &'a T) {
        (self.0.unwrap_or(other), self.1.unwrap_or(other))
    }
}

/// What bears the same key, side by side.
fn paired<'a, K: Ord, T>(
    before: &'a BTreeMap<K, T>,
    after: &'a BTreeMap<K, T>,
) -> BTreeMap<&'a K, Pair<'a, T>> {
    let mut pairs: BTreeMap<&K, Pair<T>> =
        before.iter().map(|(key, old)| (key, Pair(Some(old), None))).collect();
    for (key, new) in after {
        pairs.entry(key).or_insert(Pair(None, None)).1 = Some(new);
    }
    pairs
}

fn cookies(diff: &mut Diff, before: &[Cookie], after: &[Cookie]) {
    let by_key = |cookies| -> BTreeMap<_, _> {
        <[Cookie]>::iter(cookies).map(|cookie| (cookie.key(), cookie.clone())).collect()
    };
    let (before, after) = (by_key(before), by_key(after));
    for pair in paired(&before, &after).into_values() {
        let (Some(change), Some(any)) = (pair.change(), pair.1.or(pair.0)) else { continue };
        let (old, new) = pair.or(any);
        let fields = [
            ("value", old.value != new.value),
            ("expires", old.expires != new.expires),
            ("httpOnly", old.http_only != new.http_only),
            ("secure", old.secure != new.secure),
            ("sameSite", old.same_site != new.same_site),
            ("priority", old.priority != new.priority),
        ];
        let item = DiffItem::new(ItemKind::Cookie, any.place(), change);
        diff.push(DiffItem { fields: named(&fields), ..item });
    }
}

/// The names of the fields that are not what they were.
fn named(fields: &[(&str, bool)]) -> Vec<String> {
    fields.iter().filter(|(_, is_other)| *is_other).map(|(name, _)| (*name).to_owned()).collect()
}

fn entries(diff: &mut Diff, kind: ItemKind, key: &StorageKey, before: &Entries, after: &Entries) {
    for (name, pair) in paired(&before.0, &after.0) {
        let Some(change) = pair.change() else { continue };
        let item = DiffItem::new(kind, key.as_str(), change);
        diff.push(DiffItem { entry: Some(name.to_lossy()), ..item });
    }
}

fn databases(diff: &mut Diff, key: &StorageKey, before: &[Database], after: &[Database]) {
    let by_name = |databases| -> BTreeMap<_, _> {
        <[Database]>::iter(databases).map(|database| (&database.name, database)).collect()
    };
    let (before, after) = (by_name(before), by_name(after));
    for (name, pair) in paired(&before, &after) {
        let Some(change) = pair.change() else { continue };
        let count = |database: Option<&&Database>| database.map_or(0, |database| records(database));
        let records = Some(Records { before: count(pair.0), after: count(pair.1) });
        let place = format!("{key} {}", name.to_lossy());
        diff.push(DiffItem { records, ..DiffItem::new(ItemKind::IndexedDb, place, change) });
    }
}

fn records(database: &Database) -> usize {
    database.stores.iter().map(|store| store.records.len()).sum()
}

fn compare_environment(diff: &mut Diff, before: &Environment, after: &Environment) {
    let mut compare = |place: &str, change: Option<Change>| {
        if let Some(change) = change {
            diff.push(DiffItem::new(ItemKind::Environment, place, change));
        }
    };
    compare("viewport", Pair(before.viewport.as_ref(), after.viewport.as_ref()).change());
    compare("user agent", Pair(before.user_agent.as_ref(), after.user_agent.as_ref()).change());
    identity(&mut compare, before.identity.as_ref(), after.identity.as_ref());
    compare("browser", Pair(before.browser.as_ref(), after.browser.as_ref()).change());
    compare("timezone", Pair(before.timezone.as_ref(), after.timezone.as_ref()).change());
    compare("locale", Pair(before.locale.as_ref(), after.locale.as_ref()).change());
    compare("geolocation", Pair(before.geolocation.as_ref(), after.geolocation.as_ref()).change());
    compare("egress", Pair(before.egress.as_ref(), after.egress.as_ref()).change());
    permissions(diff, &before.permissions, &after.permissions);
    certificates(diff, &before.certificates, &after.certificates);
}

/// What pages see of it, by the names that a receipt has.
fn identity(
    mut compare: impl FnMut(&str, Option<Change>),
    before: Option<&Identity>,
    after: Option<&Identity>,
) {
    fn change<T: PartialEq>(
        before: Option<&Identity>,
        after: Option<&Identity>,
        said: impl Fn(&Identity) -> Option<&T>,
    ) -> Option<Change> {
        Pair(before.and_then(&said), after.and_then(&said)).change()
    }
    compare("client hints", change(before, after, |one| one.metadata.as_ref()));
    compare("platform", change(before, after, |one| one.platform.as_ref()));
    compare(
        "languages",
        change(before, after, |one| (!one.languages.is_empty()).then_some(&one.languages)),
    );
    compare("scale", change(before, after, |one| one.device_scale_factor.as_ref()));
    compare("touch", change(before, after, |one| one.max_touch_points.as_ref()));
    compare("colour scheme", change(before, after, |one| one.color_scheme.as_ref()));
    compare("reduced motion", change(before, after, |one| one.reduced_motion.as_ref()));
    compare("processors", change(before, after, |one| one.hardware_concurrency.as_ref()));
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

/// How many names are listed of one kind at one site.
pub const NAMES_MAX: usize = 20;
/// How many characters of a name are shown: a page may use whole documents as names.
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
            groups.entry((item.site.clone(), item.kind)).or_default().push(item);
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

/// Compares what one storage key holds of them.
fn compare_stored(diff: &mut Diff, key: &StorageKey, before: &OriginState, after: &OriginState) {
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
        let place = format!("{key} {}", ShownAddress::of(scope));
        let item = DiffItem::new(ItemKind::ServiceWorker, place, change);
        diff.push(DiffItem { fields: named(&fields), ..item });
    }
}

/// The same tab bears the same id while one browser lives; another browser's is known by its address.
fn compare_tabs(diff: &mut Diff, before: &[Tab], after: &[Tab]) {
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
        let item = DiffItem::new(ItemKind::Tab, ShownAddress::of(&any.url), change);
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
