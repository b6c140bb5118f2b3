//! Reads the storage that one frame can see, or a worker where no page shows its key now.
//!
//! The one idea: what was read goes into the mirror at once, so that whatever a page writes from then
//! on, and tells by an event, is newer. The areas are kept besides, for the capture itself: an event
//! that is still on its way must not set them back.
//!
//! A service worker, or a shared one, outlives the pages of its site and goes on writing. It is a
//! window on its key's storage like any frame, only the last to be asked.

use super::stored::{WantedStored, Window};
use super::work::Work;
use super::{PAGE_LIMIT, PAGES_AT_ONCE};
use crate::cdp::CdpSession;
use crate::live::Live;
use crate::live::mirror::DirtyDatabases;
use crate::script;
use crate::script::{Script, ScriptError, World};
use crate::targets::TargetId;
use baton_session::{Entries, State, StorageKey, Unread};
use futures_util::stream;
use futures_util::stream::StreamExt;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use tokio::time::timeout;

/// A frame whose storage is to be read.
#[derive(Debug)]
pub(super) struct FramePlace<'a> {
    pub(super) tab: &'a TargetId,
    pub(super) session: &'a CdpSession,
    pub(super) key: &'a StorageKey,
    /// Whether what all tabs share of the key is read here.
    pub(super) shared: bool,
}

/// What is to be read in a frame.
#[derive(Debug)]
pub(super) struct WantedOfFrame {
    local: bool,
    pub(super) session: bool,
    databases: Option<DirtyDatabases>,
    stored: Option<WantedStored>,
}

/// What was read in the frames of a tab, but for what is the tab's own.
#[derive(Debug, Default)]
pub(super) struct FrameContents {
    /// An area that does not exist is none.
    local: BTreeMap<StorageKey, Option<Entries>>,
    /// Databases, caches and files that could not be read.
    failures: Vec<Unread>,
}

/// What `collect.js` returns.
#[derive(Debug, Deserialize)]
struct CollectedAreas {
    local: Option<Entries>,
    session: Option<Entries>,
}

impl FramePlace<'_> {
    /// What the work wants of it.
    pub(super) async fn wanted(&self, work: &Work<'_>) -> WantedOfFrame {
        let stored =
            if self.shared { WantedStored::of(self.session, self.key, work).await } else { None };
        WantedOfFrame {
            stored,
            local: self.shared && work.wants_local(self.key),
            session: work.wants_session(self.tab, self.key),
            databases: work.wanted_databases(self.key).filter(|_| self.shared),
        }
    }
}

impl WantedOfFrame {
    pub(super) fn is_nothing(&self) -> bool {
        !self.local && !self.session && self.databases.is_none() && self.stored.is_none()
    }
}

impl FrameContents {
    /// Reads the areas that are wanted, and returns the sessionStorage. A document that was replaced
    /// meanwhile is an error, not a wrong result.
    pub(super) async fn read_areas(
        &mut self,
        place: &FramePlace<'_>,
        world: &World,
        wanted: &WantedOfFrame,
        work: &Work<'_>,
    ) -> Result<Option<Entries>, ScriptError> {
        if !wanted.local && !wanted.session {
            return Ok(None);
        }
        let CollectedAreas { local, session } = collect(place, world, wanted).await?;
        let mut mirror = work.shared().mirror();
        if let Some(local) = &local {
            mirror.area(place.tab, place.key, true).clone_from(local);
        }
        if let Some(session) = &session {
            mirror.area(place.tab, place.key, false).clone_from(session);
        }
        drop(mirror);
        if wanted.local {
            work.did_local(place.key);
            self.local.insert(place.key.clone(), local);
        }
        if wanted.session {
            work.did_session(place.tab, place.key);
        }
        Ok(session)
    }

    /// Reads the databases, caches, files and workers that are wanted: after the areas, for they can
    /// take their time.
    pub(super) async fn read_stored(
        &mut self,
        place: &FramePlace<'_>,
        world: &World,
        wanted: WantedOfFrame,
        work: &Work<'_>,
    ) -> Result<(), ScriptError> {
        let window = Window { session: place.session, world, key: place.key };
        if let Some(wanted) = &wanted.databases {
            self.failures.extend(window.read(wanted, work).await?);
        }
        if let Some(wanted) = wanted.stored {
            self.failures.extend(window.read_stored(wanted, work).await?);
        }
        Ok(())
    }

    /// Forgets the areas, which were read in documents that may have left.
    pub(super) fn forget(&mut self, tab: &TargetId, work: &Work<'_>) {
        work.forget(tab, std::mem::take(&mut self.local).keys());
    }

    /// Puts the areas into the state of a capture, and returns what could not be read.
    pub(super) fn apply(self, state: &mut State) -> Vec<Unread> {
        for (key, local) in self.local {
            if let Some(local) = local {
                state.origins.entry(key).or_default().local_storage = local;
            }
        }
        self.failures
    }
}

async fn collect(
    place: &FramePlace<'_>,
    world: &World,
    wanted: &WantedOfFrame,
) -> Result<CollectedAreas, ScriptError> {
    let argument = json!({
        "origin": place.key.origin(),
        "wantLocal": wanted.local,
        "wantSession": wanted.session,
        "wantDatabases": null,
    });
    script::run(place.session, world, Script::Collect, &argument, PAGE_LIMIT).await
}

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
        // The key of one that has ended cannot be seen.
        Ok(Err(_)) if !work.shared().is_worker(session) => Vec::new(),
        Ok(Err(error)) => vec![Unread::new(key.to_string(), error)],
        Err(_) => {
            let reason = format!("expected the worker to answer within {PAGE_LIMIT:?}");
            vec![Unread::new(key.to_string(), format!("{reason}, found it busy"))]
        }
    }
}
