//! Mutes a target whose pages write to web storage without end, and takes what they tell instead.
//!
//! The one idea: what we send is held back by the browser from the moment at which a page begins to
//! leave, so the page itself has to know when to tell more. A sampler in each of its documents tells
//! a few times a second what changed; it tells all as soon as the document may leave, and goes on
//! until it has. Then, at the latest with the first document that follows, events are heard again.

use super::hearing::Muting;
use super::messages::{Sampled, SampledArea};
use super::mirror::Mirror;
use super::shared::Shared;
use crate::cdp::{CdpError, CdpSession, Connection};
use crate::script::{self, Script, ScriptError, World};
use crate::targets;
use crate::targets::TargetId;
use baton_session::StorageKey;
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// The name under which a sampler calls.
pub(super) const BINDING: &str = "batonSample";
/// How long the start of a sampler may take.
const LIMIT: Duration = Duration::from_secs(5);
/// How many storage keys a target may have whose samplers are started.
const MOST_KEYS: usize = 32;

/// Starts samplers in a target, one for each storage key, and then hears its events no longer.
pub(super) async fn start(session: CdpSession, shared: Arc<Shared>, tab: TargetId, muting: Muting) {
    match sample_all(&session, &shared, muting).await {
        Ok(true) => return shared.mute(&session, &tab, muting),
        Ok(false) => tracing::debug!(%tab, "a tab stores more than samples can hold"),
        Err(error) => tracing::debug!(%error, %tab, "no samples can be had of a tab"),
    }
    if let Some(id) = session.id() {
        shared.hearings().give_up(id, muting, true);
    }
}

/// Whether what the documents of a target store can be sampled.
async fn sample_all(
    session: &CdpSession,
    shared: &Shared,
    muting: Muting,
) -> Result<bool, ScriptError> {
    let mut keys = BTreeSet::new();
    for frame in targets::frames_of(session).await? {
        let Some(key) = targets::storage_key(session, &frame.id).await? else {
            continue;
        };
        if !keys.insert(key.clone()) {
            continue;
        }
        if keys.len() > MOST_KEYS || !sample(session, shared, muting, &frame.id, &key).await? {
            return Ok(false);
        }
    }
    Ok(!keys.is_empty())
}

async fn sample(
    session: &CdpSession,
    shared: &Shared,
    muting: Muting,
    frame: &str,
    key: &StorageKey,
) -> Result<bool, ScriptError> {
    let world = script::world(session, frame).await?;
    // The frame can have moved on since it was asked whose storage it sees.
    if targets::storage_key(session, frame).await?.as_ref() != Some(key) {
        return Err(ScriptError::Left);
    }
    let id = session.id().ok_or(ScriptError::Left)?;
    let mark = shared.hearings().mark(id, muting, key).ok_or(ScriptError::Left)?;
    bind(session, &world).await?;
    let argument = json!({ "origin": key.origin(), "mark": mark });
    script::run(session, &world, Script::Sample, &argument, LIMIT).await
}

async fn bind(session: &CdpSession, world: &World) -> Result<(), CdpError> {
    let World::Isolated(context) = world else {
        return Ok(());
    };
    let params = json!({ "name": BINDING, "executionContextId": context });
    session.call("Runtime.addBinding", params).await.map(drop)
}

/// Takes what a sampler told, and says whether something changed.
pub(super) fn apply_sample(
    session: &CdpSession,
    shared: &Shared,
    tab: &TargetId,
    payload: &str,
) -> bool {
    let Some(id) = session.id() else { return false };
    let Ok(sampled) = serde_json::from_str::<Sampled>(payload) else {
        shared.mirror().distrust();
        shared.hear(session);
        return true;
    };
    let Some((key, is_new)) = shared.hearings().sampled(id, sampled.mark) else {
        return false;
    };
    match (sampled.ends && is_new, sampled.large) {
        (true, true) => shared.hear_always(session),
        (true, false) => shared.hear(session),
        (false, _) => {}
    }
    let mut mirror = shared.mirror();
    let local = apply_area(&mut mirror, tab, &key, true, sampled.local);
    let session = apply_area(&mut mirror, tab, &key, false, sampled.session);
    local || session
}

/// Puts what a sampler told of an area into the mirror, as events would have done.
fn apply_area(
    mirror: &mut Mirror,
    tab: &TargetId,
    key: &StorageKey,
    is_local: bool,
    told: Option<SampledArea>,
) -> bool {
    let Some(SampledArea { whole, set, removed }) = told else {
        return false;
    };
    // What a tab told at its end must not bring it back.
    if !is_local && mirror.tabs().iter().all(|known| known.id != tab.as_str()) {
        return false;
    }
    let entries = &mut mirror.area(tab, key, is_local).0;
    if whole {
        entries.clear();
    }
    for name in removed {
        entries.remove(&name);
    }
    entries.extend(set);
    if is_local {
        mirror.dirty().local.insert(key.clone());
    } else {
        mirror.dirty().session.insert((tab.to_string(), key.clone()));
    }
    true
}

/// Hears the events of all targets again.
pub(super) fn hear_all(connection: &Connection, shared: &Shared) {
    let targets = shared.hearings().targets();
    for target in targets {
        shared.hear(&connection.session(target));
    }
}

impl Shared {
    /// Hears the events of a target no longer. This call and those below are sent under the lock of
    /// what is known, so the browser gets them in the order in which it changed.
    fn mute(&self, session: &CdpSession, tab: &TargetId, muting: Muting) {
        let Some(id) = session.id() else { return };
        let mut hearings = self.hearings();
        let Some(keys) = hearings.mute(id, muting) else {
            return;
        };
        session.post("DOMStorage.disable", json!({}));
        // What samples tell may be late: a capture is to read these, whatever they tell.
        let mut mirror = self.mirror();
        for key in keys {
            mirror.dirty().mark_areas(tab, key);
        }
    }

    /// Hears the events of a target again, and counts them anew.
    pub(crate) fn hear(&self, session: &CdpSession) {
        let mut hearings = self.hearings();
        if session.id().is_some_and(|id| hearings.hear(id)) {
            session.post("DOMStorage.enable", json!({}));
        }
    }

    /// The same, however many there are.
    fn hear_always(&self, session: &CdpSession) {
        let mut hearings = self.hearings();
        if session.id().is_some_and(|id| hearings.hear_always(id)) {
            session.post("DOMStorage.enable", json!({}));
        }
    }
}
