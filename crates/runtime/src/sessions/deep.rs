//! What a deep export adds: the browser's own folders of databases that hold what no script can read.

use crate::error::RuntimeError;
use crate::here::Runtime;
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_session::state::OriginState;
use baton_session::{Receipt, Session, State, StorageKey};

/// Adds to the state the folders of the origins concerned, from the session's profile, on which no
/// browser may run: a folder that is written to would travel half changed. Each origin that has none
/// is told.
pub(super) async fn add(
    context: &Runtime,
    session: &Session,
    state: &mut State,
) -> Result<Receipt, RuntimeError> {
    let concerned = state.origins.iter().filter(|(_, origin)| holds_the_unreadable(origin));
    let keys: Vec<StorageKey> = concerned.map(|(key, _)| key.clone()).collect();
    let mut receipt = Receipt::default();
    if keys.is_empty() {
        return Ok(receipt);
    }
    let (_, hold) = context.hold_again(session).await?;
    for (key, raw) in context.hub.read_raw(&hold, keys).await? {
        if raw.is_empty() {
            let reason = "no folder of its own is in this profile";
            receipt.push(ReceiptItem::not_portable(ItemKind::IndexedDb, key.as_str(), reason));
        } else if let Some(origin) = state.origins.get_mut(&key) {
            origin.raw = raw;
        }
    }
    Ok(receipt)
}

fn holds_the_unreadable(origin: &OriginState) -> bool {
    let stores = origin.databases.iter().flat_map(|database| &database.stores);
    let mut records = stores.flat_map(|store| &store.records);
    records.any(|record| record.value.losses().next().is_some())
}
