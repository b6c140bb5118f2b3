//! Reads the storage that one frame can see.
//!
//! The one idea: what was read goes into the mirror at once, so that whatever a page writes from
//! then on, and tells by an event, is newer. The areas are kept besides, for the capture itself: an
//! event that is still on its way must not set them back.

use super::databases::Window;
use super::stored::WantedStored;
use super::work::Work;
use super::{PAGE_LIMIT, Unread};
use crate::cdp::CdpSession;
use crate::frames::Frame;
use crate::script::{self, Script, ScriptError, World};
use crate::targets::TargetId;
use baton_session::{Entries, State, StorageKey};
use serde::Deserialize;
use serde_json::json;

/// A frame whose storage is to be read.
#[derive(Debug)]
pub(super) struct Place<'a> {
    pub(super) tab: &'a TargetId,
    pub(super) session: &'a CdpSession,
    pub(super) frame: &'a Frame,
    pub(super) key: &'a StorageKey,
    /// Whether what all tabs share of the key is read here.
    pub(super) shared: bool,
}

/// What was read in the frames of a tab.
#[derive(Debug, Default)]
pub(super) struct Found {
    areas: Vec<Area>,
    /// Databases that could not be read.
    failures: Vec<Unread>,
}

/// The web storage of one key; an area that was not read, or does not exist, is none.
#[derive(Debug)]
struct Area {
    key: StorageKey,
    local: Option<Entries>,
    session: Option<Entries>,
}

/// What `collect.js` returns.
#[derive(Debug, Deserialize)]
struct Collected {
    local: Option<Entries>,
    session: Option<Entries>,
}

impl Found {
    /// Reads what the work wants of a place. A document that was replaced meanwhile is an error, not
    /// a wrong result. The areas come first: a database can take its time.
    pub(super) async fn read(
        &mut self,
        place: &Place<'_>,
        work: &Work<'_>,
    ) -> Result<(), ScriptError> {
        let local = place.shared && work.wants_local(place.key);
        let session = work.wants_session(place.tab, place.key);
        let databases = work.wanted_databases(place.key).filter(|_| place.shared);
        let stored = if place.shared {
            WantedStored::of(place.session, place.key, work).await
        } else {
            None
        };
        if !local && !session && databases.is_none() && stored.is_none() {
            return Ok(());
        }
        let world = script::world(place.session, &place.frame.id).await?;
        if local || session {
            self.take_areas(collect(place, &world, local, session).await?, place, work);
            if local {
                work.did_local(place.key);
            }
            if session {
                work.did_session(place.tab, place.key);
            }
        }
        let window = Window { session: place.session, world: &world, key: place.key };
        if let Some(wanted) = databases {
            self.failures.extend(window.read(&wanted, work).await?);
        }
        if let Some(wanted) = stored {
            self.failures.extend(window.read_stored(wanted, work).await?);
        }
        Ok(())
    }

    fn take_areas(&mut self, collected: Collected, place: &Place<'_>, work: &Work<'_>) {
        let Collected { local, session, .. } = collected;
        let mut mirror = work.shared().mirror();
        if let Some(local) = &local {
            mirror.area(place.tab, place.key, true).clone_from(local);
        }
        if let Some(session) = &session {
            mirror.area(place.tab, place.key, false).clone_from(session);
        }
        drop(mirror);
        self.areas.push(Area { key: place.key.clone(), local, session });
    }

    /// Puts the areas into the state of a capture, and returns what could not be read.
    pub(super) fn apply(self, state: &mut State, tab: &TargetId) -> Vec<Unread> {
        for Area { key, local, session } in self.areas {
            let tab = state.tabs.iter_mut().find(|known| known.id == tab.as_str());
            if let (Some(session), Some(tab)) = (session, tab) {
                tab.session_storage.insert(key.clone(), session);
            }
            if let Some(local) = local {
                state.origins.entry(key).or_default().local_storage = local;
            }
        }
        self.failures
    }
}

async fn collect(
    place: &Place<'_>,
    world: &World,
    local: bool,
    session: bool,
) -> Result<Collected, ScriptError> {
    let argument = json!({
        "origin": place.key.origin(),
        "wantLocal": local,
        "wantSession": session,
        "wantDatabases": null,
    });
    script::run(place.session, world, Script::Collect, &argument, PAGE_LIMIT).await
}
