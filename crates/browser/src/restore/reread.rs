//! Reads the databases of sites of which the profile is taken, so that the next snapshot has them:
//! no tab may show them for a long time.

use super::ground::Ground;
use super::stage::Stage;
use super::{PAGES_AT_ONCE, VisitError, places};
use crate::generators;
use crate::script::{self, Script};
use crate::targets;
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_session::{Database, Receipt, Site, State, StorageKey};
use futures_util::stream::{self, StreamExt};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

/// How long the databases of one key may take.
const LIMIT: Duration = Duration::from_secs(15);

/// What `collect.js` returns of databases.
#[derive(Debug, Deserialize)]
struct Collected {
    databases: Vec<Database>,
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
    let (session, world) = stage.show(&page, &places::blank_address(key), key).await?;
    let argument = json!({
        "origin": key.origin(),
        "wantLocal": false,
        "wantSession": false,
        "wantDatabases": { "all": true, "named": [], "known": [] },
    });
    let mut collected: Collected =
        script::run(&session, &world, Script::Collect, &argument, LIMIT).await?;
    for database in &mut collected.databases {
        generators::read(&session, key, database).await?;
    }
    targets::close(&browser, &target).await?;
    match collected.failures.first() {
        None => Ok(collected.databases),
        Some(failure) => Err(VisitError::Unread(failure["reason"].to_string())),
    }
}
