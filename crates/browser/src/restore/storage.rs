//! The storage of one key, through a document of that key: filled, or read again where the profile
//! counts.
//!
//! A worker is registered with the scripts that ran when it was captured: the stagehand answers for the
//! site, and sees to it that the worker does not run what the site has it do once, when it is new. What
//! that left behind is in the snapshot already.
//!
//! The databases of sites of which the profile is taken are read, so that the next snapshot has them:
//! no tab may show them for a long time.

use super::plan::Ground;
use super::stage::Stage;
use super::visit::{FillVisit, blank_address};
use super::{PAGES_AT_ONCE, VisitError, refused};
use crate::cdp::CdpSession;
use crate::script::{Script, ScriptError, World};
use crate::{script, targets};
use baton_session::receipt::{ItemKind, ReceiptItem, Source};
use baton_session::state::OriginState;
use baton_session::stored::no_script_reads;
use baton_session::{Database, Entries, Receipt, Registration, Site, State, StorageKey, Text};
use futures_util::stream;
use futures_util::stream::StreamExt;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

/// How long the writing of one key's web storage, of one database or the like, may take.
const FILL_LIMIT: Duration = Duration::from_mins(1);

/// A document of the key that is filled.
pub(super) struct Page {
    pub(super) session: CdpSession,
    pub(super) world: World,
    pub(super) origin: String,
}

/// What was equal already came from the profile.
pub(super) fn restored(kind: ItemKind, place: String, changed: u64) -> ReceiptItem {
    let source = if changed == 0 { Source::Disk } else { Source::Snapshot };
    ReceiptItem { source, ..ReceiptItem::restored(kind, place) }
}

/// How often a page is shown whose document does not stay.
const ATTEMPTS: usize = 3;

/// What `fill.js` returns.
#[derive(Debug, Deserialize)]
struct Filled {
    local: Option<FilledArea>,
    session: Option<FilledArea>,
    databases: Vec<FilledDatabase>,
}

#[derive(Debug, Deserialize)]
struct FilledArea {
    changed: u64,
    error: Option<String>,
}

#[derive(Debug, Deserialize)]
struct FilledDatabase {
    name: Text,
    changed: u64,
    lost: usize,
    error: Option<String>,
}

/// Fills a key in a hidden page of its own.
pub(super) async fn fill_hidden(stage: &Stage, visit: &FillVisit<'_>) -> Receipt {
    let outcome = async {
        let browser = stage.browser();
        let target = targets::create_hidden(&browser).await?;
        let session = stage.attach(&target).await?;
        let receipt = fill(stage, &session, visit, &blank_address(&visit.key)).await;
        targets::close(&browser, &target).await?;
        receipt
    };
    outcome.await.unwrap_or_else(|error: VisitError| refused(visit, &error.to_string()))
}

/// Fills a key in the page of `session`, which goes to `url` for it.
pub(super) async fn fill(
    stage: &Stage,
    session: &CdpSession,
    visit: &FillVisit<'_>,
    url: &str,
) -> Result<Receipt, VisitError> {
    let mut attempt = 1;
    let (page, mut receipt) = loop {
        let (session, world) = stage.show(session, url, &visit.key).await?;
        let page = Page { session, world, origin: visit.key.origin().to_owned() };
        match page.fill_areas(visit).await {
            Ok(receipt) => break (page, receipt),
            // The document was one that made way for another.
            Err(error) if attempt < ATTEMPTS && error.is_refusal() => {
                tracing::debug!(%error, "a page is shown again");
            }
            Err(error) => return Err(error.into()),
        }
        attempt += 1;
    };
    for database in &visit.databases {
        receipt.push(page.fill_database(&visit.key, database).await);
    }
    if let Some(origin) = visit.stored {
        receipt.extend(fill_stored(stage, &page, &visit.key, origin).await);
    }
    Ok(receipt)
}

impl Page {
    async fn fill_areas(&self, visit: &FillVisit<'_>) -> Result<Receipt, ScriptError> {
        let filled = self.run(visit.local, visit.session, &[]).await?;
        Ok(filled.into_receipt(visit))
    }

    /// One at a time: a database that fails, or is too large for one message, costs itself only.
    async fn fill_database(&self, key: &StorageKey, database: &Database) -> ReceiptItem {
        let filled = self.run(None, None, std::slice::from_ref(database)).await;
        let reason = match filled.map(|filled| filled.databases.into_iter().next()) {
            Ok(Some(filled)) => return filled.into_item(key),
            Ok(None) => "the page said nothing".to_owned(),
            Err(error) => error.to_string(),
        };
        ReceiptItem::rejected(ItemKind::IndexedDb, key.place_of(&database.name), reason)
    }

    async fn run(
        &self,
        local: Option<&Entries>,
        session: Option<&Entries>,
        databases: &[Database],
    ) -> Result<Filled, ScriptError> {
        let argument = json!({
            "origin": self.origin,
            "local": local,
            "session": session,
            "databases": databases,
        });
        script::run(&self.session, &self.world, Script::Fill, &argument, FILL_LIMIT).await
    }
}

impl Filled {
    fn into_receipt(self, visit: &FillVisit<'_>) -> Receipt {
        let mut receipt = Receipt::default();
        for kind in visit.areas() {
            let is_local = kind == ItemKind::LocalStorage;
            let area = if is_local { &self.local } else { &self.session };
            receipt.push(match area {
                // Nothing was wanted, and nothing was there.
                Some(FilledArea { error: None, changed: 0 }) if is_local && !visit.has_local() => {
                    continue;
                }
                Some(FilledArea { error: None, changed }) => {
                    restored(kind, visit.key.to_string(), *changed)
                }
                Some(FilledArea { error: Some(error), .. }) => {
                    ReceiptItem::rejected(kind, visit.key.to_string(), error)
                }
                None => ReceiptItem::rejected(kind, visit.key.to_string(), "the page said nothing"),
            });
        }
        receipt
    }
}

impl FilledDatabase {
    fn into_item(self, key: &StorageKey) -> ReceiptItem {
        let place = key.place_of(&self.name);
        match (self.error, self.lost) {
            (Some(error), _) => ReceiptItem::rejected(ItemKind::IndexedDb, place, error),
            (None, 0) => restored(ItemKind::IndexedDb, place, self.changed),
            (None, lost) => {
                ReceiptItem::back_in_part(ItemKind::IndexedDb, place, no_script_reads(lost))
            }
        }
    }
}

/// What `fill_stored.js` returns.
#[derive(Debug, Deserialize)]
struct FilledStored {
    changed: u64,
    lost: u64,
    #[serde(default)]
    pending: bool,
    error: Option<String>,
}

/// Fills all of it, one thing at a time: whatever fails costs itself only.
async fn fill_stored(
    stage: &Stage,
    page: &Page,
    key: &StorageKey,
    origin: &OriginState,
) -> Receipt {
    let mut receipt = Receipt::default();
    for registration in &origin.service_workers {
        let filled = register(stage, page, registration).await;
        receipt.push(stored_item(ItemKind::ServiceWorker, registration.place(key), filled));
    }
    for cache in &origin.caches {
        let filled = run_stored(page, json!({ "cache": cache })).await;
        receipt.push(stored_item(ItemKind::Cache, key.place_of(&cache.name), filled));
    }
    if !origin.files.is_empty() {
        let filled = run_stored(page, json!({ "files": origin.files })).await;
        receipt.push(stored_item(ItemKind::Files, key.to_string(), filled));
    }
    receipt
}

/// Looks first: only a worker that we register gets its scripts from us.
async fn register(
    stage: &Stage,
    page: &Page,
    registration: &Registration,
) -> Result<FilledStored, ScriptError> {
    let mut wanted = json!(Registration { scripts: Vec::new(), ..registration.clone() });
    wanted["register"] = json!(false);
    let looked = run_stored(page, json!({ "registration": wanted })).await?;
    if !looked.pending || !registration.is_whole() {
        return Ok(looked);
    }
    stage.know_scripts(&registration.scripts);
    wanted["register"] = json!(true);
    run_stored(page, json!({ "registration": wanted })).await
}

async fn run_stored(page: &Page, mut wanted: Value) -> Result<FilledStored, ScriptError> {
    wanted["origin"] = json!(page.origin);
    script::run(&page.session, &page.world, Script::FillStored, &wanted, FILL_LIMIT).await
}

fn stored_item(
    kind: ItemKind,
    place: String,
    filled: Result<FilledStored, ScriptError>,
) -> ReceiptItem {
    match filled {
        Err(error) => ReceiptItem::rejected(kind, place, error),
        Ok(FilledStored { error: Some(error), .. }) => ReceiptItem::rejected(kind, place, error),
        Ok(FilledStored { pending: true, .. }) => {
            let reason = "its scripts were never seen: the site registers it when its page runs";
            ReceiptItem::pending(kind, place, reason)
        }
        Ok(FilledStored { changed, lost: 0, .. }) => restored(kind, place, changed),
        Ok(FilledStored { lost, .. }) => {
            let reason = format!("{lost} responses cannot be read by any script");
            ReceiptItem::back_in_part(kind, place, reason)
        }
    }
}

/// How long the databases of one key may take.
const LIMIT: Duration = Duration::from_secs(15);

/// What `collect.js` returns of databases.
#[derive(Debug, Deserialize)]
struct Collected {
    databases: Vec<Database>,
    /// Why they could not be listed.
    unlisted: Option<String>,
    failures: Vec<Value>,
}

/// Takes into the state the databases of `sites` as the profile has them. Those of a key that cannot
/// be read stay on the disk as they are.
pub(super) async fn databases(
    stage: &Stage,
    ground: &Ground,
    sites: &BTreeSet<Site>,
    wanted: &mut State,
    receipt: &mut Receipt,
) {
    let known = wanted.origins.iter().filter(|(_, origin)| !origin.databases.is_empty());
    let keys: BTreeSet<StorageKey> = known
        .map(|(key, _)| key.clone())
        .chain(ground.at_rest.files.keys())
        .filter(|key| sites.contains(&key.site()) && !ground.is_untouched(key))
        .collect();
    let reads: Vec<_> = keys.into_iter().map(|key| read(stage, key)).collect();
    let reads: Vec<_> = stream::iter(reads).buffered(PAGES_AT_ONCE).collect().await;
    for (key, read) in reads {
        let databases = match read {
            Ok(databases) => databases,
            Err(error) => {
                let reason = format!("it stays in the profile, and could not be read: {error}");
                receipt.push(ReceiptItem::pending(ItemKind::IndexedDb, key.as_str(), reason));
                Vec::new()
            }
        };
        wanted.origins.entry(key).or_default().databases = databases;
    }
}

async fn read(stage: &Stage, key: StorageKey) -> (StorageKey, Result<Vec<Database>, VisitError>) {
    let found = read_in_page(stage, &key).await;
    (key, found)
}

async fn read_in_page(stage: &Stage, key: &StorageKey) -> Result<Vec<Database>, VisitError> {
    let browser = stage.browser();
    let target = targets::create_hidden(&browser).await?;
    let page = stage.attach(&target).await?;
    let (session, world) = stage.show(&page, &blank_address(key), key).await?;
    let argument = json!({
        "origin": key.origin(),
        "wantLocal": false,
        "wantSession": false,
        "wantDatabases": { "all": true, "named": [], "known": [] },
    });
    let mut collected: Collected =
        script::run(&session, &world, Script::Collect, &argument, LIMIT).await?;
    for database in &mut collected.databases {
        script::read_generators(&session, key, database).await?;
    }
    targets::close(&browser, &target).await?;
    match (collected.unlisted, collected.failures.first()) {
        (Some(reason), _) => Err(VisitError::Unread(reason)),
        (None, Some(failure)) => Err(VisitError::Unread(failure["reason"].to_string())),
        (None, None) => Ok(collected.databases),
    }
}
