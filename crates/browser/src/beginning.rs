//! Where a tab stood before it went anywhere is no place to go back to: how that is forgotten.
//!
//! The one idea: the browser can tell of a page a moment before the history knows it, and on its way to
//! another process the page answers with errors; so we ask the history until it says what it is to be.
//! What a site made of it by then is the site's: it is never shortened by an entry that is not ours.

use crate::cdp::{CdpError, CdpSession};
use crate::targets;
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;
use tokio::time::{sleep, timeout};

const PAUSE: Duration = Duration::from_millis(10);

/// What `Page.getNavigationHistory` answers, as far as it matters here.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TabHistory {
    current_index: usize,
    entries: Vec<TabEntry>,
}

/// An entry of a tab's history.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct TabEntry {
    pub(crate) id: i64,
    pub(crate) url: String,
}

/// What is to be done about a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// The tab is not there yet.
    Wait,
    /// All before the current entry can go.
    Forget,
    /// Nothing is left to do, or to be touched.
    Rest,
}

impl TabEntry {
    /// Whether it is how tabs begin.
    pub(crate) fn is_blank(&self) -> bool {
        is_blank(&self.url)
    }
}

impl TabHistory {
    fn step(
        &self,
        is_there: impl Fn(&TabEntry) -> bool,
        is_ours: impl Fn(&TabEntry) -> bool,
    ) -> Step {
        let Some((here, before)) =
            self.entries.get(..=self.current_index).and_then(<[_]>::split_last)
        else {
            return Step::Wait;
        };
        if !is_there(here) {
            return Step::Wait;
        }
        let is_last = self.current_index + 1 == self.entries.len();
        let is_long = !before.is_empty();
        if is_long && is_last && before.iter().all(is_ours) { Step::Forget } else { Step::Rest }
    }
}

/// Whether an address is where a tab is before it goes anywhere.
pub(crate) fn is_blank(url: &str) -> bool {
    url.is_empty() || url == "about:blank" || targets::is_internal(url)
}

/// The address at which a tab is, by the browser's own word, and the entries that it has.
pub(crate) async fn read_history(
    session: &CdpSession,
) -> Result<(String, Vec<TabEntry>), CdpError> {
    let TabHistory { current_index, entries } = list(session).await?;
    let here = entries.get(current_index).map(|entry| entry.url.clone());
    Ok((here.unwrap_or_default(), entries))
}

/// Waits at most `limit` until a tab `is_there`, and forgets the entries before, if all of them are
/// ours. A browser that forgets nothing in time costs an entry, and nothing else.
pub(crate) async fn forget(
    session: &CdpSession,
    limit: Duration,
    is_there: impl Fn(&TabEntry) -> bool,
    is_ours: impl Fn(&TabEntry) -> bool,
) {
    let forgotten = async {
        loop {
            match list(session).await.map(|listed| listed.step(&is_there, &is_ours)) {
                Ok(Step::Rest) => return Ok::<_, CdpError>(()),
                // It is listed again: while a page is on its way nothing is forgotten.
                Ok(Step::Forget) => reset(session).await.or_else(is_moving)?,
                Ok(Step::Wait) => {}
                Err(error) => is_moving(error)?,
            }
            sleep(PAUSE).await;
        }
    };
    match timeout(limit, forgotten).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::debug!(%error, "a tab keeps a blank entry in its history"),
        Err(_) => tracing::debug!("a tab is still loading, and keeps a blank entry in its history"),
    }
}

/// Leaves the current entry only.
pub(crate) async fn reset(session: &CdpSession) -> Result<(), CdpError> {
    session.call("Page.resetNavigationHistory", json!({})).await.map(drop)
}

async fn list(session: &CdpSession) -> Result<TabHistory, CdpError> {
    let method = "Page.getNavigationHistory";
    let answer = session.call(method, json!({})).await?;
    TabHistory::deserialize(answer).map_err(|source| CdpError::Decode { method, source })
}

/// An error that a page answers on its way to another process is none.
fn is_moving(error: CdpError) -> Result<(), CdpError> {
    if matches!(error, CdpError::Protocol { .. }) { Ok(()) } else { Err(error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is done about a tab that began blank and is at the entry `current`.
    fn step(current_index: usize, urls: &[&str]) -> Step {
        let entry = |(id, url): (i64, &&str)| TabEntry { id, url: (*url).to_owned() };
        let listed = TabHistory { current_index, entries: (0..).zip(urls).map(entry).collect() };
        listed.step(|entry| !entry.is_blank(), TabEntry::is_blank)
    }

    #[test]
    fn only_what_is_ours_is_forgotten_and_only_once_the_tab_is_elsewhere() {
        assert_eq!(step(0, &["about:blank"]), Step::Wait);
        assert_eq!(step(1, &["about:blank", "http://a/"]), Step::Forget);
        assert_eq!(step(0, &["http://a/"]), Step::Rest);
        assert_eq!(step(2, &["about:blank", "chrome://newtab/", "http://a/"]), Step::Forget);
    }

    #[test]
    fn what_a_site_made_of_its_history_stays() {
        assert_eq!(step(2, &["about:blank", "http://a/", "http://a/2"]), Step::Rest);
        assert_eq!(step(1, &["about:blank", "http://a/", "http://a/2"]), Step::Rest);
        assert_eq!(step(1, &["http://a/", "http://a/2"]), Step::Rest);
    }

    #[test]
    fn a_list_that_makes_no_sense_is_asked_for_again() {
        assert_eq!(step(0, &[]), Step::Wait);
        assert_eq!(step(usize::MAX - 1, &["http://a/"]), Step::Wait);
    }
}
