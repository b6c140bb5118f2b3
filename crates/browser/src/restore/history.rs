//! The way of a tab through its history, as far as it can be gone again, and how it is walked behind
//! the curtain.
//!
//! The one idea: entries that share a document are made in one blank document of their origin, under
//! their own addresses (`history.pushState`). So no address is ever navigated to twice, whatever two
//! neighbours have in common, and no page of a site is needed.
//!
//! Each document of ours is forgotten by the browser as soon as the tab leaves it, and answers only once: a
//! person who goes back later meets the site's own page.

use super::VisitError;
use super::stage::Stage;
use super::visit::{is_own, own_key};
use crate::cdp::{CdpError, CdpSession};
use crate::script::{Script, ScriptError};
use crate::targets::TargetId;
use crate::{beginning, script};
use baton_redaction::ShownAddress;
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_session::{History, HistoryEntry, StorageKey, Tab};
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// The entries that a tab is given back.
#[derive(Debug, Default)]
pub(super) struct RestoredHistory {
    /// The last one, when the tab's own address is no page of a site.
    pub(super) history: History,
    /// How many entries no document of ours can stand for.
    left_out: usize,
}

impl RestoredHistory {
    /// The way of a tab; none of a tab without a history.
    pub(super) fn of(tab: &Tab) -> Option<Result<Self, &'static str>> {
        let History { entries, current } = &tab.history;
        let here = tab.history.here();
        if entries.is_empty() {
            return None;
        }
        if here.is_none_or(|here| here.url != tab.url) {
            return Some(Err("the tab had moved on when its history was read"));
        }
        let mut way = Self::default();
        let mut is_next = false;
        for (at, entry) in entries.iter().enumerate() {
            let is_stranded = at > *current && own_key(&tab.url).is_none();
            if is_stranded || own_key(&entry.url).is_none() {
                way.left_out += usize::from(at != *current);
                is_next = false;
                continue;
            }
            let before = way.history.entries.last().filter(|_| is_next);
            let is_same = before.is_some_and(|before| own_key(&before.url) == own_key(&entry.url));
            let same_document = entry.same_document && is_same;
            if at <= *current {
                way.history.current = way.history.entries.len();
            }
            way.history.entries.push(HistoryEntry { id: 0, same_document, ..entry.clone() });
            is_next = true;
        }
        Some(Ok(way))
    }

    /// The entries of each document, in their order.
    fn documents(&self) -> impl Iterator<Item = &[HistoryEntry]> {
        self.history.entries.chunk_by(|_, entry| entry.same_document)
    }

    /// The line of a way that was gone to its end.
    pub(super) fn item(&self, tab: &Tab) -> ReceiptItem {
        let lost = |entry: &&HistoryEntry| {
            entry.state.as_ref().is_some_and(|state| state.losses().next().is_some())
        };
        let lost = self.history.entries.iter().filter(lost).count();
        let place = ShownAddress::of(&tab.url);
        let reason = match (self.left_out, lost) {
            (0, 0) => return ReceiptItem::restored(ItemKind::History, place),
            (0, lost) => format!("{lost} states hold a value that no script can read"),
            (left_out, _) => {
                let all = tab.history.entries.len();
                format!("{left_out} of {all} entries are no pages of a site, and were left out")
            }
        };
        ReceiptItem::not_portable(ItemKind::History, place, reason)
    }
}

/// How long the whole way may take.
const WAY_LIMIT: Duration = Duration::from_secs(20);
/// How long a document may take to stand where the browser says that it does.
const MOVE_LIMIT: Duration = Duration::from_secs(3);
const SCRIPT_LIMIT: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(5);

/// A tab that walks.
pub(super) struct Walker<'a> {
    pub(super) stage: &'a Stage,
    pub(super) session: &'a CdpSession,
    pub(super) target: &'a TargetId,
}

/// What `walk.js` returns.
#[derive(Debug, Deserialize)]
struct Walked {
    error: Option<String>,
}

/// What `Page.getNavigationHistory` answers, as far as a walk needs it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WalkedHistory {
    current_index: usize,
    entries: Vec<WalkedEntry>,
}

#[derive(Debug, Deserialize)]
struct WalkedEntry {
    id: i64,
    url: String,
}

impl WalkedHistory {
    fn here(&self) -> Option<&str> {
        self.entries.get(self.current_index).map(|entry| entry.url.as_str())
    }
}

impl Walker<'_> {
    /// Goes the whole way of a tab that shows a blank document at `home`, or none yet, and returns the
    /// history as the browser has it then.
    pub(super) async fn go(
        &self,
        way: &RestoredHistory,
        home: &str,
    ) -> Result<History, VisitError> {
        let late = |_| VisitError::Astray(format!("expected an end within {WAY_LIMIT:?}"));
        timeout(WAY_LIMIT, self.go_on(way, home)).await.map_err(late)?
    }

    async fn go_on(&self, way: &RestoredHistory, home: &str) -> Result<History, VisitError> {
        let is_long = way.history.entries.len() > 1;
        for (nth, entries) in way.documents().enumerate() {
            let Some(key) = entries.first().and_then(|entry| own_key(&entry.url)) else {
                continue;
            };
            let at = self.blank(nth, &key, home).await?;
            // Whatever the tab showed so far is no entry of its way.
            if nth == 0 && is_long {
                self.forget_others(&at).await?;
            }
            self.walk(&at, entries).await?;
        }
        if is_long { self.arrive(&way.history).await } else { Ok(way.history.clone()) }
    }

    /// Forgets every entry but that of the document at `at`. The browser can tell of a document a moment
    /// before the history knows it, and on its way to another process a page answers with errors.
    async fn forget_others(&self, at: &str) -> Result<(), VisitError> {
        let begun = async {
            loop {
                let is_there = self.listed().await.is_ok_and(|listed| listed.here() == Some(at));
                if is_there && beginning::reset(self.session).await.is_ok() {
                    return;
                }
                sleep(PAUSE).await;
            }
        };
        let late = |_| VisitError::Astray(format!("expected to set out within {MOVE_LIMIT:?}"));
        timeout(MOVE_LIMIT, begun).await.map_err(late)
    }

    /// What the browser has; asked again while a page that moves answers with errors.
    async fn listed(&self) -> Result<WalkedHistory, CdpError> {
        let method = "Page.getNavigationHistory";
        let deadline = Instant::now() + MOVE_LIMIT;
        loop {
            match self.session.call(method, json!({})).await {
                Ok(answer) => {
                    let listed = WalkedHistory::deserialize(answer);
                    return listed.map_err(|source| CdpError::Decode { method, source });
                }
                Err(CdpError::Protocol { .. }) if Instant::now() < deadline => sleep(PAUSE).await,
                Err(error) => return Err(error),
            }
        }
    }

    /// A blank document of `key`: the one that the tab shows already, or another one. Says where.
    async fn blank(&self, nth: usize, key: &StorageKey, home: &str) -> Result<String, VisitError> {
        if nth == 0 && is_own(home, key) {
            return Ok(home.to_owned());
        }
        let address = format!("{}/.baton/history/{nth}", key.origin());
        self.stage.go(self.session, &address).await?;
        Ok(address)
    }

    /// Makes entries in the document at `at`. One that has just come can still be on its way.
    async fn walk(&self, at: &str, entries: &[HistoryEntry]) -> Result<(), VisitError> {
        let argument = json!({ "at": at, "entries": entries });
        let deadline = Instant::now() + MOVE_LIMIT;
        loop {
            match self.run(&argument).await {
                Ok(Walked { error: None }) => return Ok(()),
                Ok(Walked { error: Some(error) }) => return Err(VisitError::Astray(error)),
                Err(error) if error.is_refusal() && Instant::now() < deadline => {
                    sleep(PAUSE).await;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    async fn run(&self, argument: &Value) -> Result<Walked, ScriptError> {
        // The top frame of a tab bears the tab's id.
        let world = script::world(self.session, self.target.as_str()).await?;
        script::run(self.session, &world, Script::Walk, argument, SCRIPT_LIMIT).await
    }

    /// Goes from the last entry to the one where the tab was, and checks what the browser has.
    async fn arrive(&self, wanted: &History) -> Result<History, VisitError> {
        let history = self.read(wanted).await?;
        let here = history.here().filter(|_| wanted.current + 1 < wanted.entries.len());
        let Some(here) = here else { return Ok(history) };
        let params = json!({ "entryId": here.id });
        self.session.call("Page.navigateToHistoryEntry", params).await?;
        let arrived = async {
            loop {
                if self.listed().await?.current_index == wanted.current {
                    return Ok::<_, CdpError>(());
                }
                sleep(PAUSE).await;
            }
        };
        let late = |_| VisitError::Astray(format!("expected to go back within {MOVE_LIMIT:?}"));
        timeout(MOVE_LIMIT, arrived).await.map_err(late)??;
        // Another document came, which has neither room to scroll nor a place in it.
        let here = HistoryEntry { same_document: false, ..here.clone() };
        self.walk(&here.url.clone(), &[here]).await?;
        Ok(history)
    }

    /// The wanted history with the browser's numbers; an error when it has another one.
    async fn read(&self, wanted: &History) -> Result<History, VisitError> {
        let found = self.listed().await?.entries;
        if found.len() != wanted.entries.len() {
            let (wanted, found) = (wanted.entries.len(), found.len());
            return Err(VisitError::Astray(format!("expected {wanted} entries, found {found}")));
        }
        let mut history = wanted.clone();
        for (entry, found) in history.entries.iter_mut().zip(found) {
            entry.id = found.id;
            if found.url != entry.url {
                let reason = "expected the browser to keep each address, found another one";
                return Err(VisitError::Astray(reason.to_owned()));
            }
        }
        Ok(history)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_session::receipt::Outcome;

    /// A tab at the entry `current`; an entry with an equals sign shares the document before it.
    fn tab(current: usize, urls: &[&str]) -> Tab {
        let entry = |url: &&str| HistoryEntry {
            url: url.trim_start_matches('=').to_owned(),
            same_document: url.starts_with('='),
            ..HistoryEntry::default()
        };
        let entries: Vec<_> = urls.iter().map(entry).collect();
        Tab {
            url: entries[current].url.clone(),
            history: History { entries, current },
            ..Tab::default()
        }
    }

    fn way(tab: &Tab) -> (Vec<Vec<String>>, usize, ReceiptItem) {
        let way = RestoredHistory::of(tab).unwrap().unwrap();
        let urls = |entries: &[HistoryEntry]| entries.iter().map(|e| e.url.clone()).collect();
        (way.documents().map(urls).collect(), way.history.current, way.item(tab))
    }

    #[test]
    fn entries_of_one_document_are_made_together() {
        let tab = tab(1, &["http://a/", "=http://a/#1", "http://b/", "=http://b/2"]);
        let (documents, current, item) = way(&tab);
        assert_eq!(documents, [["http://a/", "http://a/#1"], ["http://b/", "http://b/2"]]);
        assert_eq!((current, item.outcome), (1, Outcome::Restored));
    }

    #[test]
    fn what_is_no_page_of_a_site_is_left_out_and_told() {
        let tab = tab(3, &["http://a/", "data:,x", "=http://a/#1", "http://a/2", "blob:x"]);
        let (documents, current, item) = way(&tab);
        assert_eq!(documents, [["http://a/"], ["http://a/#1"], ["http://a/2"]]);
        assert_eq!((current, item.outcome), (2, Outcome::NotPortable));
        let reason = "2 of 5 entries are no pages of a site, and were left out";
        assert_eq!(item.reason.as_deref(), Some(reason));
    }

    #[test]
    fn a_tab_that_is_no_page_of_a_site_goes_on_from_the_last_that_was() {
        let (documents, current, item) =
            way(&tab(2, &["http://a/", "http://b/", "data:,x", "http://c/"]));
        assert_eq!(documents, [["http://a/"], ["http://b/"]]);
        assert_eq!((current, item.outcome), (1, Outcome::NotPortable));
        let (_, _, item) = way(&tab(1, &["http://a/", "data:,x"]));
        assert_eq!(item.outcome, Outcome::Restored);
    }

    #[test]
    fn no_two_origins_share_a_document_whatever_a_snapshot_says() {
        let (documents, ..) = way(&tab(0, &["http://a/", "=http://b/"]));
        assert_eq!(documents.len(), 2);
    }

    #[test]
    fn a_history_of_another_visit_is_not_taken() {
        let mut tab = tab(0, &["http://a/"]);
        tab.url = "http://b/".to_owned();
        assert!(RestoredHistory::of(&tab).unwrap().is_err());
        tab.history.entries.clear();
        assert!(RestoredHistory::of(&tab).is_none());
    }
}
