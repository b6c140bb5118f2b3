//! Reads the databases of storage keys that a worker can see and no page shows now.
//!
//! The one idea: a service worker, or a shared one, outlives the pages of its site and goes on
//! writing. It is a window on its key's databases like any frame, only the last to be asked.

use super::databases::Window;
use super::work::Work;
use super::{PAGE_LIMIT, PAGES_AT_ONCE, Unread};
use crate::cdp::CdpSession;
use crate::live::Live;
use crate::live::mirror::DirtyDatabases;
use crate::script;
use baton_session::StorageKey;
use futures_util::stream::{self, StreamExt};
use std::collections::BTreeMap;
use tokio::time::timeout;

/// Reads what is still wanted after the pages were read, and returns what could not be read.
pub(super) async fn read(live: &Live, work: &Work<'_>) -> Vec<Unread> {
    let mut left = BTreeMap::new();
    for (session, key) in live.shared().workers().iter() {
        let Some(key) = key else { continue };
        if let Some(wanted) = work.wanted_databases(key) {
            work.claim_last(key);
            left.entry(key.clone()).or_insert((live.connection().session(session.clone()), wanted));
        }
    }
    let reads = left.iter().map(|(key, (session, wanted))| read_one(session, key, wanted, work));
    let reads: Vec<_> = reads.collect();
    stream::iter(reads).buffered(PAGES_AT_ONCE).concat().await
}

async fn read_one(
    session: &CdpSession,
    key: &StorageKey,
    wanted: &DirtyDatabases,
    work: &Work<'_>,
) -> Vec<Unread> {
    let reading = async {
        let world = script::global(session).await?;
        Window { session, world: &world, key }.read(wanted, work).await
    };
    match timeout(PAGE_LIMIT, reading).await {
        Ok(Ok(unread)) => unread,
        // Nobody can see the key of one that has ended.
        Ok(Err(_)) if !work.shared().is_worker(session) => Vec::new(),
        Ok(Err(error)) => vec![Unread::new(key.to_string(), error)],
        Err(_) => {
            let reason = format!("expected the worker to answer within {PAGE_LIMIT:?}");
            vec![Unread::new(key.to_string(), format!("{reason}, found it busy"))]
        }
    }
}
