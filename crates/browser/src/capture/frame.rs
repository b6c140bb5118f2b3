//! Reads the storage that one frame can see.
//!
//! The one idea: what was read goes into the mirror at once, so that whatever a page writes from
//! then on, and tells by an event, is newer. The areas are kept besides, for the capture itself: an
//! event that is still on its way must not set them back.

use super::work::Work;
use super::{PAGE_LIMIT, Unread};
use crate::cdp::CdpSession;
use crate::frames::Frame;
use crate::live::mirror::DirtyDatabases;
use crate::script::{self, Script, ScriptError, World};
use crate::targets::TargetId;
use baton_session::{Database, Entries, State, StorageKey, Text};
use serde::Deserialize;
use serde_json::{Value, json};

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
    databases: Vec<Database>,
    names: Option<Vec<Text>>,
    failures: Vec<Failure>,
}

/// A database that could not be read.
#[derive(Debug, Deserialize)]
struct Failure {
    database: Text,
    reason: String,
    /// Whether another try would find the same.
    lasting: bool,
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
        if !local && !session && databases.is_none() {
            return Ok(());
        }
        let world = script::world(place.session, &place.frame.id).await?;
        if local || session {
            let argument = argument(place.key, local, session, &Value::Null);
            self.take_areas(collect(place, world, &argument).await?, place, work);
            if local {
                work.did_local(place.key);
            }
            if session {
                work.did_session(place.tab, place.key);
            }
        }
        if let Some(databases) = databases {
            let wanted = wanted(&databases, place.key, work);
            let argument = argument(place.key, false, false, &wanted);
            let mut collected = collect(place, world, &argument).await?;
            read_generators(place, &mut collected).await;
            self.take_databases(collected, place, work);
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

    fn take_databases(&mut self, collected: Collected, place: &Place<'_>, work: &Work<'_>) {
        let Collected { databases, names, failures, .. } = collected;
        let again = failures.iter().filter(|failure| !failure.lasting);
        work.did_databases(place.key, again.map(|failure| failure.database.clone()));
        if let Some(names) = names {
            work.shared().mirror().set_databases(place.key, databases, &names);
        } else {
            let reason = "expected the page to list its databases, found that it may not";
            self.failures.push(Unread::new(place.key.to_string(), reason));
        }
        let unread = |failure: Failure| {
            let place = format!("{} database {}", place.key, failure.database.to_lossy());
            Unread::new(place, failure.reason)
        };
        self.failures.extend(failures.into_iter().map(unread));
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

fn argument(key: &StorageKey, local: bool, session: bool, databases: &Value) -> Value {
    json!({
        "origin": key.origin(),
        "wantLocal": local,
        "wantSession": session,
        "wantDatabases": databases,
    })
}

/// Which databases to read: all, or those that are named, are new, or do not look as they did.
fn wanted(databases: &DirtyDatabases, key: &StorageKey, work: &Work<'_>) -> Value {
    match databases {
        DirtyDatabases::All => json!({ "all": true, "named": [], "known": [] }),
        DirtyDatabases::Named(names) => {
            let mirror = work.shared().mirror();
            json!({ "all": false, "named": names, "known": mirror.looks(key) })
        }
    }
}

async fn collect(
    place: &Place<'_>,
    world: World,
    argument: &Value,
) -> Result<Collected, ScriptError> {
    script::run(place.session, world, Script::Collect, argument, PAGE_LIMIT).await
}

/// Asks for the position of each key generator, which no script can read without moving it. A
/// database that vanished meanwhile could not be read.
async fn read_generators(place: &Place<'_>, collected: &mut Collected) {
    let databases = std::mem::take(&mut collected.databases);
    for mut database in databases {
        match read_generators_of(place, &mut database).await {
            Ok(()) => collected.databases.push(database),
            Err(error) => collected.failures.push(Failure {
                database: database.name,
                reason: error.to_string(),
                lasting: false,
            }),
        }
    }
}

async fn read_generators_of(place: &Place<'_>, database: &mut Database) -> Result<(), ScriptError> {
    let Some(name) = database.name.as_str() else {
        return Ok(());
    };
    for store in database.stores.iter_mut().filter(|store| store.auto_increment) {
        let Some(store_name) = store.name.as_str() else {
            continue;
        };
        let params = json!({
            "storageKey": place.key,
            "databaseName": name,
            "objectStoreName": store_name,
        });
        let method = "IndexedDB.getMetadata";
        let metadata = place.session.call_within(PAGE_LIMIT, method, params).await?;
        store.next_key = as_key(&metadata["keyGeneratorValue"]);
    }
    Ok(())
}

/// Key generators count from 1 to 2^53, which the protocol carries as a double.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked just before")]
fn as_key(value: &Value) -> Option<u64> {
    const HIGHEST: f64 = 9_007_199_254_740_992.0;
    value.as_f64().filter(|key| (1.0..=HIGHEST).contains(key)).map(|key| key as u64)
}
