//! Fills the storage of one key through a document of that key.

use super::page::{FILL_LIMIT, Page, restored};
use super::places::{blank_address, database_place};
use super::stage::Stage;
use super::visit::Visit;
use super::{VisitError, refused, stored};
use crate::cdp::CdpSession;
use crate::script::{self, Script, ScriptError};
use crate::targets;
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_session::{Database, Entries, Receipt, StorageKey, Text};
use serde::Deserialize;
use serde_json::json;

/// How often a page is shown whose document does not stay.
const ATTEMPTS: usize = 3;

/// What `fill.js` returns.
#[derive(Debug, Deserialize)]
struct Filled {
    local: Option<Area>,
    session: Option<Area>,
    databases: Vec<FilledDatabase>,
}

#[derive(Debug, Deserialize)]
struct Area {
    changed: u64,
    error: Option<String>,
}

#[derive(Debug, Deserialize)]
struct FilledDatabase {
    name: Text,
    changed: u64,
    lost: u64,
    error: Option<String>,
}

/// Fills a key in a hidden page of its own.
pub(super) async fn fill_hidden(stage: &Stage, visit: &Visit<'_>) -> Receipt {
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
    visit: &Visit<'_>,
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
    for database in visit.databases {
        receipt.push(page.fill_database(&visit.key, database).await);
    }
    if let Some(origin) = visit.stored {
        receipt.extend(stored::fill(stage, &page, &visit.key, origin).await);
    }
    Ok(receipt)
}

impl Page {
    async fn fill_areas(&self, visit: &Visit<'_>) -> Result<Receipt, ScriptError> {
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
        ReceiptItem::rejected(ItemKind::IndexedDb, database_place(key, &database.name), reason)
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
    fn into_receipt(self, visit: &Visit<'_>) -> Receipt {
        let mut receipt = Receipt::default();
        for kind in visit.areas() {
            let is_local = kind == ItemKind::LocalStorage;
            let area = if is_local { &self.local } else { &self.session };
            receipt.push(match area {
                // Nothing was wanted, and nothing was there.
                Some(Area { error: None, changed: 0 }) if is_local && !visit.has_local() => {
                    continue;
                }
                Some(Area { error: None, changed }) => {
                    restored(kind, visit.key.to_string(), *changed)
                }
                Some(Area { error: Some(error), .. }) => {
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
        let place = database_place(key, &self.name);
        match (self.error, self.lost) {
            (Some(error), _) => ReceiptItem::rejected(ItemKind::IndexedDb, place, error),
            (None, 0) => restored(ItemKind::IndexedDb, place, self.changed),
            (None, lost) => ReceiptItem::not_portable(
                ItemKind::IndexedDb,
                place,
                match lost {
                    1 => "1 record holds a value that no script can read".to_owned(),
                    _ => format!("{lost} records hold a value that no script can read"),
                },
            ),
        }
    }
}
