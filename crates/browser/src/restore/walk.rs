//! Walks a tab through its history, behind the curtain.
//!
//! Each document of ours is forgotten by the browser as soon as the tab leaves it, and answers only
//! once: whoever goes back later meets the site's own page.

use super::VisitError;
use super::history::Way;
use super::places::{is_own, own_key};
use super::stage::Stage;
use crate::beginning;
use crate::cdp::{CdpError, CdpSession};
use crate::script::{self, Script, ScriptError};
use crate::targets::TargetId;
use baton_session::{History, HistoryEntry, StorageKey};
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

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
struct Listed {
    current_index: usize,
    entries: Vec<ListedEntry>,
}

#[derive(Debug, Deserialize)]
struct ListedEntry {
    id: i64,
    url: String,
}

impl Listed {
    fn here(&self) -> Option<&str> {
        self.entries.get(self.current_index).map(|entry| entry.url.as_str())
    }
}

impl Walker<'_> {
    /// Goes the whole way of a tab that shows a blank document at `home`, or none yet, and returns the
    /// history as the browser has it then.
    pub(super) async fn go(&self, way: &Way, home: &str) -> Result<History, VisitError> {
        let late = |_| VisitError::Astray(format!("expected an end within {WAY_LIMIT:?}"));
        timeout(WAY_LIMIT, self.go_on(way, home)).await.map_err(late)?
    }

    async fn go_on(&self, way: &Way, home: &str) -> Result<History, VisitError> {
        let is_long = way.history.entries.len() > 1;
        for (nth, entries) in way.documents().enumerate() {
            let Some(key) = entries.first().and_then(|entry| own_key(&entry.url)) else {
                continue;
            };
            let at = self.blank(nth, &key, home).await?;
            // Whatever the tab showed so far is no entry of its way.
            if nth == 0 && is_long {
                self.begin(&at).await?;
            }
            self.walk(&at, entries).await?;
        }
        if is_long { self.arrive(&way.history).await } else { Ok(way.history.clone()) }
    }

    /// Forgets every entry but that of the document at `at`. A document can be told of a moment
    /// before the history knows it, and on its way to another process a page answers with errors.
    async fn begin(&self, at: &str) -> Result<(), VisitError> {
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
    async fn listed(&self) -> Result<Listed, CdpError> {
        let method = "Page.getNavigationHistory";
        let deadline = Instant::now() + MOVE_LIMIT;
        loop {
            match self.session.call(method, json!({})).await {
                Ok(answer) => {
                    let listed = Listed::deserialize(answer);
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
