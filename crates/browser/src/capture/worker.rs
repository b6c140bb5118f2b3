//! Reads what a worker can see of its storage key, when no page shows the key now.
//!
//! The one idea: a service worker, or a shared one, outlives the pages of its site and goes on
//! writing. It is a window on its key's storage like any frame, only the last to be asked.

use super::databases::Window;
use super::stored::WantedStored;
use super::work::Work;
use super::{PAGE_LIMIT, PAGES_AT_ONCE};
use crate::cdp::CdpSession;
use crate::live::Live;
use crate::script::{self, ScriptError};
use baton_session::{StorageKey, Unread};
use futures_util::stream::{self, StreamExt};
use std::collections::BTreeMap;
use tokio::time::timeout;

/// Reads what is still wanted after the pages were read, and returns what could not be read.
pub(super) async fn read(live: &Live, work: &Work<'_>) -> Vec<Unread> {
    let mut left = BTreeMap::new();
    for (session, key) in live.shared().workers().iter() {
        let Some(key) = key else { continue };
        if work.wanted_databases(key).is_some() || work.wanted_stored(key).is_some() {
            left.entry(key.clone()).or_insert(live.connection().session(session.clone()));
        }
    }
    let reads: Vec<_> = left.iter().map(|(key, session)| read_one(session, key, work)).collect();
    stream::iter(reads).buffered(PAGES_AT_ONCE).concat().await
}

async fn read_one(session: &CdpSession, key: &StorageKey, work: &Work<'_>) -> Vec<Unread> {
    let reading = async {
        let databases = work.wanted_databases(key);
        let stored = WantedStored::of(session, key, work).await;
        let stored = stored.and_then(WantedStored::without_workers);
        if databases.is_none() && stored.is_none() {
            return Ok(Vec::new());
        }
        work.claim_last(key);
        let global = script::global(session).await?;
        let window = Window { session, world: global.world(), key };
        let mut unread = Vec::new();
        if let Some(wanted) = databases {
            unread.extend(window.read(&wanted, work).await?);
        }
        if let Some(wanted) = stored {
            unread.extend(window.read_stored(wanted, work).await?);
        }
        Ok::<_, ScriptError>(unread)
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
