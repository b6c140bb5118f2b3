//! What a tab holds for itself: its address, its history and its sessionStorage, all of one visit.
//!
//! The one idea: a world ends with its document. What was asked for between the making of a world
//! and the answer of a script in it is of that document, however soon the tab moves on. Within one
//! document the address can change (`history.pushState`) between the two: that is no other visit.

use super::PAGE_LIMIT;
use super::history::{Listed, Told};
use crate::cdp::{CdpError, CdpSession};
use crate::frames::{self, Frame};
use crate::live::mirror::Mirror;
use crate::script::{self, Script, ScriptError, World};
use crate::targets::TargetId;
use baton_session::environment::Viewport;
use baton_session::permission::origin_of;
use baton_session::{Entries, State, StorageKey, Tab};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

/// How long the world of a page's own scripts may take to tell a state: the page itself has answered
/// by then, and has to have time left.
const STATE_LIMIT: Duration = Duration::from_secs(1);

/// What one document of a tab said.
#[derive(Debug)]
pub(super) struct Visit {
    entry: Entry,
    /// None of a document in which no script of ours runs.
    sight: Option<Sight>,
    pub(super) before: Before,
}

/// What was known of a tab before the reading of its document was closed.
#[derive(Debug)]
pub(super) struct Before {
    /// The address by the last event, so by the document whose changes were told last.
    url: String,
    /// Its sessionStorage by then, and what was read since.
    session_storage: BTreeMap<StorageKey, Entries>,
}

/// The current entry of a tab's history, and those around it.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) url: String,
    title: String,
    listed: Listed,
}

/// What `inspect.js` returns, as far as a capture needs it.
#[derive(Debug, Deserialize)]
pub(super) struct Sight {
    visible: bool,
    viewport: Viewport,
    url: String,
    history: Told,
    permissions: BTreeMap<String, String>,
}

impl Before {
    /// What the mirror knows of a tab now.
    pub(super) fn of(tab: &TargetId, mirror: &mut Mirror) -> Self {
        let tab = mirror.tab(tab);
        Self { url: tab.url.clone(), session_storage: tab.session_storage.clone() }
    }

    /// Puts in what was read of a key; nothing, when nothing was.
    pub(super) fn note(&mut self, key: &StorageKey, read: Option<Entries>) {
        if let Some(entries) = read {
            self.session_storage.insert(key.clone(), entries);
        }
    }
}

impl Visit {
    /// Closes the reading of a document: fails when another one has come since `world` was made.
    pub(super) async fn close(
        session: &CdpSession,
        frame: &Frame,
        world: &World,
        mut entry: Entry,
        before: Before,
    ) -> Result<Self, ScriptError> {
        let mut sight = look(session, frame, world).await?;
        // The entry was asked for before the world was made. Where it is not the document's, or
        // where the two always differ (an error page), it is asked for again.
        if sight.as_ref().is_none_or(|sight| sight.url != entry.url) {
            entry = Entry::fetch(session).await?;
            sight = look(session, frame, world).await?;
        }
        Ok(Self { entry, sight, before })
    }

    /// Whether the tab is the one that a person would see.
    pub(super) fn is_front(&self) -> bool {
        self.sight.as_ref().is_some_and(|sight| sight.visible)
    }

    /// Puts into the mirror what was read of the tab itself, unless events have told since that it
    /// moved on. Its storage is there already.
    pub(super) fn merge(&self, mirror: &mut Mirror, tab: &TargetId) {
        let known = mirror.tab(tab);
        if self.before.url == known.url {
            self.merge_entry(known);
        }
        if let Some(sight) = &self.sight {
            let granted = sight.permissions.iter().filter(|(_, state)| *state == "granted");
            let granted = granted.map(|(name, _)| name.clone());
            mirror.note_granted(tab, origin_of(&sight.url), granted.collect());
        }
    }

    /// Gives a tab its address, title and history.
    fn merge_entry(&self, tab: &mut Tab) {
        // An error page stands in for the entry's own, and tells nothing of it.
        let sight = self.sight.as_ref().filter(|sight| sight.url == self.entry.url);
        self.entry.merge(sight.map(|sight| &sight.history), tab);
    }

    /// Notes the window's size, as the tab in front sees it.
    pub(super) fn note_viewport(&self, mirror: &mut Mirror) {
        if let Some(sight) = &self.sight {
            mirror.note_viewport(sight.viewport);
        }
    }

    /// Puts what was read into the state of a capture: all of it, or the visits would be mixed.
    pub(super) fn apply(self, state: &mut State, tab: &TargetId) {
        if let Some(tab) = state.tabs.iter_mut().find(|known| known.id == tab.as_str()) {
            self.merge_entry(tab);
            tab.session_storage = self.before.session_storage;
        }
    }
}

impl Entry {
    /// The current one. A target's own info is older than that.
    pub(super) async fn fetch(session: &CdpSession) -> Result<Self, CdpError> {
        let method = "Page.getNavigationHistory";
        let answer = session.call(method, json!({})).await?;
        let listed =
            Listed::deserialize(answer).map_err(|source| CdpError::Decode { method, source })?;
        let (url, title) = listed.here();
        Ok(Self { url: url.to_owned(), title: title.to_owned(), listed })
    }

    /// Gives a tab this address, title and history, and what the page told of it.
    pub(super) fn merge(&self, told: Option<&Told>, tab: &mut Tab) {
        tab.url.clone_from(&self.url);
        tab.title.clone_from(&self.title);
        self.listed.merge(told, tab);
    }
}

/// What the document of a world sees; an error when it is no longer the one of its frame.
async fn look(
    session: &CdpSession,
    frame: &Frame,
    world: &World,
) -> Result<Option<Sight>, ScriptError> {
    let told = script::run(session, world, Script::Inspect, &json!({}), PAGE_LIMIT).await;
    if let Ok(mut sight) = told {
        read_state(session, &mut sight).await?;
        return Ok(Some(sight));
    }
    let now = frames::list(session).await?.into_iter().next();
    let is_there = now.is_some_and(|now| now.loader_id == frame.loader_id);
    if is_there { Ok(None) } else { Err(ScriptError::Left) }
}

/// Asks for `history.state` in the world of the page's own scripts, where ours cannot know it. The
/// browser keeps what it told a world of the first entry that was asked for there, as soon as another
/// world has asked for the next one; and a new world for each entry would cost a page 170 kB.
async fn read_state(session: &CdpSession, sight: &mut Sight) -> Result<(), ScriptError> {
    if !sight.history.stale {
        return Ok(());
    }
    let own = script::global(session).await?;
    let told = script::run(session, own.world(), Script::TellState, &json!({}), STATE_LIMIT).await;
    match told {
        Ok(told) if sight.history.is_of(&told) => {
            sight.history.take(told);
            Ok(())
        }
        Ok(_) => Err(ScriptError::Left),
        // There the page's scripts can stand in the way of ours, and keep it from ever ending.
        Err(
            ScriptError::Threw(_)
            | ScriptError::Shape(_)
            | ScriptError::Cdp(CdpError::TimedOut { .. }),
        ) => {
            sight.history.lose_state();
            Ok(())
        }
        Err(error) => Err(error),
    }
}
