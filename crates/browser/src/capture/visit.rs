//! What a tab holds for itself: its address, its history and its sessionStorage, all of one visit.
//!
//! The one idea: a world ends with its document. What was asked for between the making of a world and
//! the answer of a script in it is of that document, however soon the tab moves on. Within one document
//! the address can change (`history.pushState`) between the two: that is no other visit.
//!
//! The page knows which entries share its document, and only of the entry at which it is how far it is
//! scrolled and what its state is. Of all others an earlier capture knows, which read them when the tab was
//! there. A page counts the entries of its own origin around its own, but for those at which only a frame in
//! it moved.

use super::PAGE_LIMIT;
use crate::beginning::is_blank;
use crate::cdp::{CdpError, CdpSession};
use crate::live::mirror::Mirror;
use crate::script::{Script, ScriptError, World};
use crate::targets::{Frame, TargetId};
use crate::{script, targets};
use baton_session::permission::origin_of;
use baton_session::state::Viewport;
use baton_session::tab::Scroll;
use baton_session::value::{Node, Object};
use baton_session::{Entries, History, HistoryEntry, Identity, State, StorageKey, Tab, Value};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;
use url::{Origin, Url};

/// How long the world of a page's own scripts may take to tell a state: the page itself has answered
/// by then, and has to have time left.
const STATE_LIMIT: Duration = Duration::from_secs(1);

/// What one document of a tab said.
#[derive(Debug)]
pub(super) struct DocumentVisit {
    entry: CurrentEntry,
    /// None of a document in which no script of ours runs.
    sight: Option<Sight>,
    pub(super) before: Before,
}

/// What was known of a tab before the reading of its document was closed.
#[derive(Debug)]
pub(super) struct Before {
    /// The address by the last event, so by the document of whose changes events told last.
    url: String,
    /// Its sessionStorage by then, and what was read since.
    session_storage: BTreeMap<StorageKey, Entries>,
    /// Whether a page is to tell who the browser says that it is.
    asks_who: bool,
}

/// The current entry of a tab's history, and those around it.
#[derive(Debug, Clone)]
pub(super) struct CurrentEntry {
    pub(super) url: String,
    title: String,
    listed: NavigationHistory,
}

/// What `inspect.js` returns, as far as a capture needs it.
#[derive(Debug, Deserialize)]
pub(super) struct Sight {
    visible: bool,
    viewport: Viewport,
    url: String,
    history: EntryReport,
    permissions: BTreeMap<String, String>,
    #[serde(rename = "userAgent")]
    user_agent: String,
    /// None when it was not asked for; without client hints where pages are told none.
    #[serde(default)]
    identity: Option<Identity>,
}

impl Before {
    /// What the mirror knows of a tab now.
    pub(super) fn of(tab: &TargetId, mirror: &mut Mirror) -> Self {
        let asks_who = mirror.asks_who();
        let tab = mirror.tab(tab);
        Self { url: tab.url.clone(), session_storage: tab.session_storage.clone(), asks_who }
    }

    /// Puts in what was read of a key; nothing, when nothing was.
    pub(super) fn note(&mut self, key: &StorageKey, read: Option<Entries>) {
        if let Some(entries) = read {
            self.session_storage.insert(key.clone(), entries);
        }
    }
}

impl DocumentVisit {
    /// Closes the reading of a document: fails when another one has come since `world` was made.
    pub(super) async fn close(
        session: &CdpSession,
        frame: &Frame,
        world: &World,
        mut entry: CurrentEntry,
        before: Before,
    ) -> Result<Self, ScriptError> {
        let asks_who = before.asks_who;
        let mut sight = read_sight(session, frame, world, asks_who).await?;
        // The entry was asked for before the world was made. Where it is not the document's, or
        // where the two always differ (an error page), it is asked for again.
        if sight.as_ref().is_none_or(|sight| sight.url != entry.url) {
            entry = CurrentEntry::fetch(session).await?;
            sight = read_sight(session, frame, world, asks_who).await?;
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
        // An error page takes the place of the entry's own, and tells nothing of it.
        let sight = self.sight.as_ref().filter(|sight| sight.url == self.entry.url);
        self.entry.merge(sight.map(|sight| &sight.history), tab);
    }

    /// Notes the window's size, as the tab in front sees it.
    pub(super) fn note_viewport(&self, mirror: &mut Mirror) {
        if let Some(sight) = &self.sight {
            mirror.note_viewport(sight.viewport);
        }
    }

    /// Notes who the browser says that it is, where a page was told all of it.
    pub(super) fn note_identity(&self, mirror: &mut Mirror) {
        let Some(sight) = &self.sight else { return };
        if let Some(identity) = sight.identity.as_ref().filter(|one| one.metadata.is_some()) {
            mirror.note_identity(sight.user_agent.clone(), identity.clone());
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

impl CurrentEntry {
    /// The current one. A target's own info is older than that.
    pub(super) async fn fetch(session: &CdpSession) -> Result<Self, CdpError> {
        let method = "Page.getNavigationHistory";
        let answer = session.call(method, json!({})).await?;
        let listed = NavigationHistory::deserialize(answer)
            .map_err(|source| CdpError::Decode { method, source })?;
        let (url, title) = listed.here();
        Ok(Self { url: url.to_owned(), title: title.to_owned(), listed })
    }

    /// Gives a tab this address, title and history, and what the page told of it.
    pub(super) fn merge(&self, told: Option<&EntryReport>, tab: &mut Tab) {
        tab.url.clone_from(&self.url);
        tab.title.clone_from(&self.title);
        self.listed.merge(told, tab);
    }
}

/// What the document of a world sees; an error when it is no longer the one of its frame.
async fn read_sight(
    session: &CdpSession,
    frame: &Frame,
    world: &World,
    asks_who: bool,
) -> Result<Option<Sight>, ScriptError> {
    let asked = json!({ "identity": asks_who });
    let told = script::run(session, world, Script::Inspect, &asked, PAGE_LIMIT).await;
    if let Ok(mut sight) = told {
        read_state(session, &mut sight).await?;
        return Ok(Some(sight));
    }
    let now = targets::frames_of(session).await?.into_iter().next();
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
            sight.history.add_report(told);
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

/// What `Page.getNavigationHistory` answers.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NavigationHistory {
    current_index: usize,
    entries: Vec<ListedEntry>,
}

#[derive(Debug, Clone, Deserialize)]
struct ListedEntry {
    id: i64,
    url: String,
    title: String,
}

/// What a page tells of the entry at which it is.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct EntryReport {
    #[serde(default)]
    state: Option<Value>,
    /// Whether the state is that of an earlier entry, or none, and is to be asked for elsewhere.
    #[serde(default)]
    pub(super) stale: bool,
    /// The page's own name for the entry.
    #[serde(default)]
    entry: String,
    scroll: Scroll,
    /// How many entries the page counts before it, and after it.
    known: Around,
    /// How many of them, next to it, show its document.
    shared: Around,
}

/// What `history_state.js` returns.
#[derive(Debug, Deserialize)]
pub(super) struct PageReport {
    entry: String,
    state: Option<Value>,
}

impl EntryReport {
    /// Whether the state that the page's own scripts see is of this entry.
    pub(super) fn is_of(&self, told: &PageReport) -> bool {
        self.entry == told.entry
    }

    /// Takes the state that the page's own scripts see.
    pub(super) fn add_report(&mut self, told: PageReport) {
        self.state = told.state;
    }

    /// Notes that there may be a state, which could not be read.
    fn lose_state(&mut self) {
        let lost = Object::Lost { kind: "history.state".to_owned() };
        self.state = Some(Value { root: Node::Ref(0), heap: vec![lost] });
    }
}

/// Something counted on both sides of an entry.
#[derive(Debug, Clone, Copy, Deserialize)]
struct Around {
    before: usize,
    after: usize,
}

impl ListedEntry {
    fn origin(&self) -> Option<Origin> {
        Url::parse(&self.url).ok().map(|url| url.origin())
    }
}

impl NavigationHistory {
    /// Address and title of the current entry.
    pub(super) fn here(&self) -> (&str, &str) {
        let here = self.entries.get(self.current_index);
        here.map_or(("", ""), |entry| (&entry.url, &entry.title))
    }

    /// Gives a tab this history, with what it knew of the same entries before.
    pub(super) fn merge(&self, told: Option<&EntryReport>, tab: &mut Tab) {
        let mut history = self.history();
        history.recall(&tab.history);
        if let Some(told) = told {
            self.tell(told, &mut history);
        }
        // The empty page with which a tab begins is no place to go back to.
        let beginning = self.entries[..self.current_index.min(self.entries.len())].iter();
        let beginning = beginning.take_while(|entry| is_blank(&entry.url)).count();
        history.entries.drain(..beginning);
        history.current -= beginning;
        history.simplify();
        tab.history = history;
    }

    fn history(&self) -> History {
        let entry = |entry: &ListedEntry| HistoryEntry {
            id: entry.id,
            url: entry.url.clone(),
            title: entry.title.clone(),
            ..HistoryEntry::default()
        };
        let entries = self.entries.iter().map(entry).collect();
        History { entries, current: self.current_index }
    }

    /// Puts in what the page told.
    fn tell(&self, told: &EntryReport, history: &mut History) {
        let at = self.current_index;
        if at >= history.entries.len() {
            return;
        }
        let frames = self.steps_of_frames(told.known, history);
        let is_of_a_frame = |entry: &usize| frames.contains(entry);
        let entries = &mut history.entries;
        entries[at].state.clone_from(&told.state);
        entries[at].scroll = told.scroll;
        // From the entry to both ends of the document, and one step further: that is another one.
        let mut mark = |side: &mut dyn Iterator<Item = usize>, mut left: usize| {
            for entry in side {
                entries[entry].same_document = is_of_a_frame(&entry) || left > 0;
                if !entries[entry].same_document {
                    break;
                }
                left -= usize::from(!is_of_a_frame(&entry));
            }
        };
        mark(&mut (1..=at).rev(), told.shared.before);
        mark(&mut (at + 1..self.entries.len()), told.shared.after);
    }

    /// The entries at which only a frame moved: they bear the address of the entry before, and there
    /// are more entries of the page's origin than the page counts.
    fn steps_of_frames(&self, known: Around, history: &History) -> Vec<usize> {
        let at = self.current_index;
        let origin = self.entries[at].origin();
        let is_own = |entry: &&ListedEntry| origin.is_some() && entry.origin() == origin;
        let before = self.entries[..at].iter().rev().take_while(is_own).count();
        let after = self.entries[at + 1..].iter().take_while(is_own).count();
        let is_step = |entry: &usize| self.entries[*entry].url == self.entries[*entry - 1].url;
        let pick = |entries: &mut dyn Iterator<Item = usize>, count| {
            let mut steps: Vec<_> = entries.filter(is_step).collect();
            // One that an earlier report marked is the surest.
            steps.sort_by_key(|entry| !history.entries[*entry].same_document);
            steps.truncate(count);
            steps
        };
        let mut steps =
            pick(&mut (at - before + 1..=at).rev(), before.saturating_sub(known.before));
        steps.extend(pick(&mut (at + 1..=at + after), after.saturating_sub(known.after)));
        steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A tab at the entry `current` of those listed.
    fn listed(current: usize, urls: &[&str]) -> NavigationHistory {
        let entry = |(at, url): (usize, &&str)| json!({ "id": at + 1, "url": url, "title": "" });
        let entries: Vec<_> = urls.iter().enumerate().map(entry).collect();
        serde_json::from_value(json!({ "currentIndex": current, "entries": entries })).unwrap()
    }

    fn entry_report(known: (usize, usize), shared: (usize, usize)) -> EntryReport {
        let around = |(before, after)| Around { before, after };
        let (known, shared) = (around(known), around(shared));
        let scroll = Scroll { x: 0, y: 7 };
        EntryReport { state: None, stale: false, entry: String::new(), scroll, known, shared }
    }

    /// The entries that share the document of the one before, by a sign.
    fn signs(tab: &Tab) -> String {
        let sign = |entry: &HistoryEntry| if entry.same_document { '=' } else { '|' };
        tab.history.entries.iter().map(sign).collect()
    }

    #[test]
    fn the_page_tells_which_entries_share_its_document() {
        let mut tab = Tab::default();
        // In the middle, a frame moved at `#1`.
        let all =
            ["http://a/", "http://b/", "http://b/#1", "http://b/#1", "http://b/#2", "http://b/c"];
        listed(2, &all).merge(Some(&entry_report((1, 2), (1, 1))), &mut tab);
        assert_eq!(signs(&tab), "||===|");
        assert_eq!(tab.history.here().map(|here| here.scroll.y), Some(7));
        // What the page once told is known when the tab is elsewhere.
        listed(0, &all).merge(Some(&entry_report((0, 0), (0, 0))), &mut tab);
        assert_eq!(signs(&tab), "||===|");
        assert_eq!(tab.history.entries[2].scroll.y, 7);
        assert_eq!(tab.history.current, 0);
    }

    #[test]
    fn two_documents_at_one_address_are_two() {
        let mut tab = Tab::default();
        let all = ["http://a/", "http://a/", "http://a/"];
        listed(1, &all).merge(Some(&entry_report((1, 1), (0, 0))), &mut tab);
        assert_eq!(signs(&tab), "|||");
        listed(2, &all).merge(Some(&entry_report((1, 0), (0, 0))), &mut tab);
        assert_eq!(signs(&tab), "||=");
    }

    #[test]
    fn how_a_tab_began_is_no_place_to_go_back_to() {
        let mut tab = Tab::default();
        listed(1, &["about:blank", "/a"]).merge(None, &mut tab);
        assert!(tab.history.is_empty());
        listed(3, &["about:blank", "chrome://newtab/", "/a", "/b"]).merge(None, &mut tab);
        assert_eq!((tab.history.entries.len(), tab.history.current), (2, 1));
        listed(0, &["about:blank", "/a"]).merge(None, &mut tab);
        assert_eq!((tab.history.entries.len(), tab.history.current), (2, 0));
    }

    #[test]
    fn a_list_that_makes_no_sense_does_no_harm() {
        let mut tab = Tab::default();
        listed(9, &["about:blank", "/a"]).merge(Some(&entry_report((9, 9), (9, 9))), &mut tab);
        listed(0, &[]).merge(Some(&entry_report((0, 0), (0, usize::MAX))), &mut tab);
        assert!(tab.history.is_empty());
    }
}
