//! Reads the positions of key generators, which no script can read without moving them.

use crate::cdp::{CdpError, CdpSession, WideText};
use baton_session::database::{LAST_KEY, next_key};
use baton_session::{Database, StorageKey};
use serde::Serialize;
use serde_json::Value;
use std::time::Duration;

/// How long the browser may take for one of them.
const LIMIT: Duration = Duration::from_secs(5);

/// Notes in each store of a database that was just read the key which comes next. `session` is that
/// of a page or worker which can see the database.
pub(crate) async fn read(
    session: &CdpSession,
    key: &StorageKey,
    database: &mut Database,
) -> Result<(), CdpError> {
    for store in database.stores.iter_mut().filter(|store| store.auto_increment) {
        let params = GetMetadata {
            storage_key: key,
            database_name: WideText(database.name.clone()),
            object_store_name: WideText(store.name.clone()),
        };
        let metadata = session.call_within(LIMIT, "IndexedDB.getMetadata", params).await?;
        let told = as_key(&metadata["keyGeneratorValue"]);
        store.next_key = told.map(|told| meant(told, next_key(&store.records)));
    }
    Ok(())
}

/// The parameters of `IndexedDB.getMetadata`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GetMetadata<'a> {
    storage_key: &'a StorageKey,
    database_name: WideText,
    object_store_name: WideText,
}

/// Key generators count from 1 to 2^53, which the protocol carries as a double.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked just before")]
#[expect(clippy::cast_precision_loss, reason = "a power of two is exact")]
fn as_key(value: &Value) -> Option<u64> {
    value.as_f64().filter(|key| (1.0..=LAST_KEY as f64).contains(key)).map(|key| key as u64)
}

/// What is meant by a key that was told. A generator that has none left stands one behind the last key,
/// and a double says the same of both; it is at the last one where the records tell so, and hardly
/// otherwise.
fn meant(told: u64, by_records: u64) -> u64 {
    if told == LAST_KEY && by_records != LAST_KEY { LAST_KEY + 1 } else { told }
}
