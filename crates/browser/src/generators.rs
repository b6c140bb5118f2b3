//! Reads the positions of key generators, which no script can read without moving them.

use crate::cdp::{CdpError, CdpSession, WideText};
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
        store.next_key = as_key(&metadata["keyGeneratorValue"]);
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
fn as_key(value: &Value) -> Option<u64> {
    const HIGHEST: f64 = 9_007_199_254_740_992.0;
    value.as_f64().filter(|key| (1.0..=HIGHEST).contains(key)).map(|key| key as u64)
}
