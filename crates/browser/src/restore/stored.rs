//! Fills caches, files and service worker registrations through a document of their key.
//!
//! A worker is registered with the scripts that ran when it was captured: the stagehand answers for
//! the site, and sees to it that the worker does not run what the site has it do once, when it is
//! new. What that left behind is in the snapshot already.

use super::page::{FILL_LIMIT, Page, restored};
use super::places::{cache_place, worker_place};
use super::stage::Stage;
use crate::script::{self, Script, ScriptError};
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_session::state::OriginState;
use baton_session::{Receipt, Registration, StorageKey};
use serde::Deserialize;
use serde_json::{Value, json};

/// What `fill_stored.js` returns.
#[derive(Debug, Deserialize)]
struct Filled {
    changed: u64,
    lost: u64,
    #[serde(default)]
    pending: bool,
    error: Option<String>,
}

/// Fills all of it, one thing at a time: whatever fails costs itself only.
pub(super) async fn fill(
    stage: &Stage,
    page: &Page,
    key: &StorageKey,
    origin: &OriginState,
) -> Receipt {
    let mut receipt = Receipt::default();
    for registration in &origin.service_workers {
        let filled = register(stage, page, registration).await;
        receipt.push(item(ItemKind::ServiceWorker, worker_place(key, registration), filled));
    }
    for cache in &origin.caches {
        let filled = run(page, json!({ "cache": cache })).await;
        receipt.push(item(ItemKind::Cache, cache_place(key, cache), filled));
    }
    if !origin.files.is_empty() {
        let filled = run(page, json!({ "files": origin.files })).await;
        receipt.push(item(ItemKind::Files, key.to_string(), filled));
    }
    receipt
}

/// Looks first: only a worker that we register gets its scripts from us.
async fn register(
    stage: &Stage,
    page: &Page,
    registration: &Registration,
) -> Result<Filled, ScriptError> {
    let mut wanted = json!(Registration { scripts: Vec::new(), ..registration.clone() });
    wanted["register"] = json!(false);
    let looked = run(page, json!({ "registration": wanted })).await?;
    if !looked.pending || !registration.is_whole() {
        return Ok(looked);
    }
    stage.know_scripts(&registration.scripts);
    wanted["register"] = json!(true);
    run(page, json!({ "registration": wanted })).await
}

async fn run(page: &Page, mut wanted: Value) -> Result<Filled, ScriptError> {
    wanted["origin"] = json!(page.origin);
    script::run(&page.session, &page.world, Script::FillStored, &wanted, FILL_LIMIT).await
}

fn item(kind: ItemKind, place: String, filled: Result<Filled, ScriptError>) -> ReceiptItem {
    match filled {
        Err(error) => ReceiptItem::rejected(kind, place, error),
        Ok(Filled { error: Some(error), .. }) => ReceiptItem::rejected(kind, place, error),
        Ok(Filled { pending: true, .. }) => {
            let reason = "its scripts were never seen: the site registers it when its page runs";
            ReceiptItem::pending(kind, place, reason)
        }
        Ok(Filled { changed, lost: 0, .. }) => restored(kind, place, changed),
        Ok(Filled { lost, .. }) => {
            let reason = format!("{lost} responses cannot be read by any script");
            ReceiptItem::not_portable(kind, place, reason)
        }
    }
}
