//! What only a page can make or read, in a profile that no session's browser has: a sandbox is handed it
//! made, and it is read when the sandbox gives it back.
//!
//! The one idea: the curtain stays closed. Every key gets a hidden page at an address of ours, and no request
//! leaves the browser from its start to its end.

use super::plan::Plan;
use super::stage::Stage;
use super::storage::{Page, fill_hidden};
use super::visit::blank_address;
use super::{PAGES_AT_ONCE, RestoreError, VisitError};
use crate::keeper::KeeperLink;
use crate::live::mirror::Mirror;
use crate::profile::packed::{PageFolder, PageFolders};
use crate::script::collected::{
    Caches, CollectedDatabases, CollectedFiles, CollectedStored, StoredFailure,
};
use crate::script::{Script, ScriptError};
use crate::{script, targets};
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_session::state::OriginState;
use baton_session::stored::no_script_reads;
use baton_session::{Pages, Receipt, State, StorageKey};
use futures_util::stream;
use futures_util::stream::StreamExt;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// How long one look at what a key holds may take: at its databases, its caches, its files.
const LOOK_LIMIT: Duration = Duration::from_secs(30);
/// The most that is read of all keys together, in bytes of JSON, besides what looks that are under way find more. What
/// one look may find, its page bounds (`script/limits.js`).
pub const MOST_READ: usize = 256 << 20;

/// How many of these bytes are kept for each key that is not read yet, where there are so many: a token that was renewed
/// is far smaller, and a site that holds much is read whole beside many others.
const RESERVED: usize = 1 << 20;

const NO_ROOM: &str = "there was no room for it beside what was read of others";

/// Fills what only pages make into the profile of the browser behind `link`, which is ended by the caller.
pub async fn fill(link: KeeperLink, pages: Pages) -> Result<Receipt, RestoreError> {
    let stage = Stage::start(link).await?;
    let wanted = State { origins: pages, ..State::default() };
    let Plan { hidden, unreachable: mut receipt, .. } = Plan::new(&wanted, None, &BTreeSet::new());
    let hidden: Vec<_> = hidden.iter().map(|visit| fill_hidden(&stage, visit)).collect();
    let filled: Vec<Receipt> = stream::iter(hidden).buffered(PAGES_AT_ONCE).collect().await;
    for filled in filled {
        receipt.extend(filled);
    }
    receipt.sort();
    Ok(receipt)
}

/// Which kinds of a key are read: not those of which the profile lost something on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kinds {
    databases: bool,
    /// Caches and service workers, which lie together.
    workers: bool,
    files: bool,
}

impl Kinds {
    /// All but what may be in a folder that was left out.
    pub fn without(key: &StorageKey, folders: &PageFolders) -> Self {
        let has_all = |may_hold: fn(&PageFolder, &StorageKey) -> bool| {
            !folders.left_out().any(|(folder, _)| may_hold(folder, key))
        };
        Self {
            databases: !folders.lacks_databases(key),
            workers: has_all(PageFolder::may_hold_workers),
            files: has_all(PageFolder::may_hold_files),
        }
    }
}

/// Reads the databases, caches, files and service workers of these keys in the profile of the browser behind
/// `link`, which is ended by the caller. What they held before is known: the scripts of a worker are taken
/// from there. What of a key cannot be read has a line each, and is in the state as it was before; so has what no
/// script can read, and what is beyond `most` bytes, which is [`MOST_READ`] where nobody tries it out. Of these some are
/// kept for each key, and those that held something before come first: what else came up in a profile takes nothing from
/// them.
pub async fn read(
    link: KeeperLink,
    known: BTreeMap<StorageKey, (OriginState, Kinds)>,
    most: usize,
) -> Result<(Pages, Receipt), RestoreError> {
    let stage = Stage::start(link).await?;
    let room = Allowance::of(most);
    let mut receipt = Receipt::default();
    let mut origins = Pages::new();
    for keys in in_order(known) {
        room.share_among(keys.len());
        let read = |(key, (known, kinds))| read_key(&stage, &room, key, known, kinds);
        let reads = keys.into_iter().map(read);
        let reads: Vec<_> = reads.collect();
        let reads: Vec<_> = stream::iter(reads).buffered(PAGES_AT_ONCE).collect().await;
        for (key, origin, unread) in reads {
            receipt.extend(unread);
            origins.insert(key, origin);
        }
    }
    Ok((origins, receipt))
}

/// A key, what it held, and what of it is read.
type Known = (StorageKey, (OriginState, Kinds));

/// Which keys are read first, and which after them: those that held something, and the others.
fn in_order(known: BTreeMap<StorageKey, (OriginState, Kinds)>) -> [Vec<Known>; 2] {
    let (held, new) = known.into_iter().partition(|(_, (origin, _))| origin.has_pages());
    [held, new]
}

/// How many bytes may still be read of all keys together. Used by one task alone.
#[derive(Debug)]
struct Allowance {
    left: AtomicUsize,
    /// How many keys are not read yet.
    waiting: AtomicUsize,
    /// What is kept for each of them.
    kept: AtomicUsize,
}

impl Allowance {
    fn of(most: usize) -> Self {
        let none = || AtomicUsize::new(0);
        Self { left: AtomicUsize::new(most), waiting: none(), kept: none() }
    }

    /// What is left is for so many keys.
    fn share_among(&self, keys: usize) {
        let left = self.left.load(Ordering::Relaxed);
        self.kept.store(RESERVED.min(left / keys.max(1)), Ordering::Relaxed);
        self.waiting.store(keys, Ordering::Relaxed);
    }

    /// One key is read now.
    fn begin(&self) {
        let waiting = self.waiting.load(Ordering::Relaxed);
        self.waiting.store(waiting.saturating_sub(1), Ordering::Relaxed);
    }

    /// How many a key may have that is read now, besides what is kept for those that wait; none when that is not one.
    fn room(&self) -> Option<usize> {
        let kept = self.waiting.load(Ordering::Relaxed) * self.kept.load(Ordering::Relaxed);
        Some(self.left.load(Ordering::Relaxed).saturating_sub(kept)).filter(|room| *room > 0)
    }

    fn spend(&self, bytes: usize) {
        let left = self.left.load(Ordering::Relaxed);
        self.left.store(left.saturating_sub(bytes), Ordering::Relaxed);
    }
}

async fn read_key(
    stage: &Stage,
    room: &Allowance,
    key: StorageKey,
    known: OriginState,
    kinds: Kinds,
) -> (StorageKey, OriginState, Receipt) {
    room.begin();
    let origins = [(key.clone(), known.clone())].into();
    let mirror = Mirror::new(State { origins, ..State::default() });
    let mut read = KeyRead { key: &key, kinds, room, mirror, unread: Receipt::default() };
    let (origin, unread) = match read.whole(stage).await {
        Ok(()) => (read.mirror.origin(&key).clone(), read.unread),
        // What came before the page ended may not fit together.
        Err(error) => {
            let item = ReceiptItem::rejected(ItemKind::IndexedDb, key.as_str(), error);
            (known, Receipt::from_iter([item]))
        }
    };
    (key, origin, unread)
}

/// What is read of one key.
struct KeyRead<'a> {
    key: &'a StorageKey,
    kinds: Kinds,
    room: &'a Allowance,
    /// What it holds, as far as that is known.
    mirror: Mirror,
    unread: Receipt,
}

impl KeyRead<'_> {
    async fn whole(&mut self, stage: &Stage) -> Result<(), VisitError> {
        let browser = stage.browser();
        let target = targets::create_hidden(&browser).await?;
        let session = stage.attach(&target).await?;
        let (session, world) = stage.show(&session, &blank_address(self.key), self.key).await?;
        let page = Page { session, world, origin: self.key.origin().to_owned() };
        let Kinds { databases, workers, files } = self.kinds;
        if databases {
            self.databases(&page).await?;
        }
        if workers {
            self.caches(&page).await?;
            self.workers(&page).await?;
        }
        if files {
            self.files(&page).await?;
        }
        targets::close(&browser, &target).await?;
        Ok(())
    }

    /// How many bytes may be read of a kind; none where there is no room any more, which is said.
    fn room_for(&mut self, kind: ItemKind) -> Option<usize> {
        let left = self.room.room();
        if left.is_none() {
            self.leave(kind, self.key.to_string(), NO_ROOM);
        }
        left
    }

    async fn databases(&mut self, page: &Page) -> Result<(), VisitError> {
        let Some(room) = self.room_for(ItemKind::IndexedDb) else { return Ok(()) };
        let argument = json!({
            "origin": page.origin,
            "wantLocal": false,
            "wantSession": false,
            "wantDatabases": { "all": true, "named": [], "known": [], "room": room },
        });
        let (session, world, script) = (&page.session, &page.world, Script::Collect);
        let (mut found, bytes): (CollectedDatabases, usize) =
            script::run_counted(session, world, script, &argument, LOOK_LIMIT).await?;
        self.room.spend(bytes);
        for database in &mut found.databases {
            script::read_generators(&page.session, self.key, database).await?;
        }
        let unreadable = found.databases.iter().filter(|database| database.lost() > 0);
        let unreadable: Vec<_> = unreadable
            .map(|database| (self.key.place_of(&database.name), database.lost()))
            .collect();
        if let Some(names) = found.names {
            self.mirror.set_databases(self.key, found.databases, &names);
        } else {
            let found = found.unlisted.as_deref().unwrap_or("that it may not");
            let why = format!("expected the page to list its databases, found {found}");
            self.leave(ItemKind::IndexedDb, self.key.to_string(), &why);
        }
        for failure in found.failures {
            let place = self.key.place_of(&failure.database);
            self.leave(ItemKind::IndexedDb, place, &failure.reason);
        }
        for (place, lost) in unreadable {
            let why = no_script_reads(lost);
            self.unread.push(ReceiptItem::not_portable(ItemKind::IndexedDb, place, why));
        }
        Ok(())
    }

    async fn caches(&mut self, page: &Page) -> Result<(), ScriptError> {
        let Some(room) = self.room_for(ItemKind::Cache) else { return Ok(()) };
        let wanted = json!({ "all": true, "named": [], "known": [], "room": room });
        let found = page.collect_stored(json!({ "wantCaches": wanted }), self.room).await?;
        // A page that may not list them, as where there is no TLS, has none.
        if let Some(Caches { names: Some(names), caches }) = found.caches {
            self.mirror.set_caches(self.key, caches, &names);
        }
        self.leave_all(ItemKind::Cache, found.failures);
        Ok(())
    }

    async fn files(&mut self, page: &Page) -> Result<(), ScriptError> {
        let Some(room) = self.room_for(ItemKind::Files) else { return Ok(()) };
        let wanted = json!({ "known": null, "room": room });
        let found = page.collect_stored(json!({ "wantFiles": wanted }), self.room).await?;
        if let Some(CollectedFiles { look, files: Some(files) }) = found.files {
            let unread: Vec<_> =
                found.failures.iter().map(|failure| failure.name.to_lossy()).collect();
            self.mirror.set_files(self.key, files, &unread, look);
        }
        self.leave_all(ItemKind::Files, found.failures);
        Ok(())
    }

    /// What a worker runs, no page can see: its scripts are those that are known of it.
    async fn workers(&mut self, page: &Page) -> Result<(), ScriptError> {
        if self.room_for(ItemKind::ServiceWorker).is_none() {
            return Ok(());
        }
        let found = page.collect_stored(json!({ "wantWorkers": true }), self.room).await?;
        if let Some(workers) = found.workers {
            self.mirror.set_registrations(self.key, workers);
        }
        self.leave_all(ItemKind::ServiceWorker, found.failures);
        let origin = self.mirror.origin(self.key);
        for one in origin.service_workers.iter().filter(|one| !one.is_whole()) {
            let why = "its scripts were never seen: the site registers it when its page runs";
            let place = one.place(self.key);
            self.unread.push(ReceiptItem::pending(ItemKind::ServiceWorker, place, why));
        }
        Ok(())
    }

    fn leave_all(&mut self, kind: ItemKind, failures: Vec<StoredFailure>) {
        for StoredFailure { name, reason, .. } in failures {
            let place = format!("{} {}", self.key, name.to_lossy());
            self.leave(kind, place.trim_end().to_owned(), &reason);
        }
    }

    /// What could not be read is as it was before.
    fn leave(&mut self, kind: ItemKind, place: String, why: &str) {
        self.unread.push(ReceiptItem::rejected(kind, place, why));
    }
}

impl Page {
    async fn collect_stored(
        &self,
        mut wanted: Value,
        room: &Allowance,
    ) -> Result<CollectedStored, ScriptError> {
        wanted["origin"] = json!(self.origin);
        let (session, world, script) = (&self.session, &self.world, Script::CollectStored);
        let (found, bytes) =
            script::run_counted(session, world, script, &wanted, LOOK_LIMIT).await?;
        room.spend(bytes);
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::Allowance;

    #[test]
    fn a_key_that_wants_all_leaves_something_to_those_that_wait() {
        const MIB: usize = 1 << 20;
        let room = Allowance::of(100 * MIB);
        room.share_among(4);
        room.begin();
        assert_eq!(room.room(), Some(97 * MIB));
        // One look may find more than that by what its page says.
        room.spend(97 * MIB);
        assert_eq!(room.room(), None);
        room.begin();
        assert_eq!(room.room(), Some(MIB));
        room.spend(5);
        // What that one does not need is for those that come after it.
        room.begin();
        assert_eq!(room.room(), Some(2 * MIB - 5));
        // Where little is left, all have as much of it.
        let room = Allowance::of(100);
        room.share_among(4);
        room.begin();
        assert_eq!(room.room(), Some(25));
    }
}
