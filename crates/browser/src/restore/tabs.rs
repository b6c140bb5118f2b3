//! Restores tabs: made empty, filled behind the curtain, then loaded once for real.

use super::history::{RestoredHistory, Walker};
use super::stage::Stage;
use super::stagehand::let_go;
use super::visit::FillVisit;
use super::{PAGES_AT_ONCE, refused, storage, visit};
use crate::beginning::TabEntry;
use crate::cdp::{CdpError, CdpSession};
use crate::targets::{Frame, TargetId};
use crate::{beginning, targets};
use baton_redaction::ShownAddress;
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_session::{History, Receipt, Tab};
use futures_util::future::join_all;
use futures_util::stream;
use futures_util::stream::StreamExt;
use serde_json::json;
use std::time::Duration;
use url::Url;

/// How long a site may take to answer when its tab loads.
const LOAD_LIMIT: Duration = Duration::from_secs(15);

/// How long the history may lag behind the document.
const MOVE_LIMIT: Duration = Duration::from_secs(3);
/// The address of an empty tab.
const BLANK: &str = "about:blank";

/// A tab on its way back.
#[derive(Debug)]
pub(super) struct OpenTab<'a> {
    tab: &'a Tab,
    target: TargetId,
    session: CdpSession,
    /// What of its history is back; none as long as there is nothing but blank documents of ours.
    history: History,
}

/// Makes a tab that has been nowhere for each tab of the snapshot, in their order.
pub(super) async fn create<'a>(
    stage: &Stage,
    tabs: &'a [Tab],
) -> Result<Vec<OpenTab<'a>>, CdpError> {
    let mut open = Vec::with_capacity(tabs.len());
    for tab in tabs {
        let target = targets::create_unvisited(&stage.browser()).await?;
        let session = stage.attach(&target).await?;
        open.push(OpenTab { tab, target, session, history: History::default() });
    }
    Ok(open)
}

impl OpenTab<'_> {
    /// The address that it is to show.
    pub(super) fn url(&self) -> &str {
        &self.tab.url
    }

    /// Fills the keys that this tab visits, its own last, and ends at the tab's own address.
    pub(super) async fn fill(&self, stage: &Stage, visits: &[FillVisit<'_>]) -> Receipt {
        let mut receipt = Receipt::default();
        for visit in visits.iter().filter(|visit| !visit.is_empty()) {
            let blank = visit::blank_address(&visit.key);
            let is_own = visit::is_own(&self.tab.url, &visit.key);
            let url = if is_own { self.tab.url.as_str() } else { blank.as_str() };
            match storage::fill(stage, &self.session, visit, url).await {
                Ok(items) => receipt.extend(items),
                Err(error) => receipt.extend(refused(visit, &error.to_string())),
            }
        }
        receipt
    }

    /// Walks through its history, if it has one, and ends where it was.
    async fn walk(&mut self, stage: &Stage) -> Option<ReceiptItem> {
        let way = match RestoredHistory::of(self.tab)? {
            Ok(way) => way,
            Err(reason) => return Some(self.astray(reason)),
        };
        let walker = Walker { stage, session: &self.session, target: &self.target };
        // Where the visit of its own address left it; one that had nothing to fill did not happen.
        let home = stage.shown(&self.session).unwrap_or_default();
        match walker.go(&way, &home).await {
            Ok(history) => {
                self.history = history;
                Some(way.item(self.tab))
            }
            Err(error) => {
                // Wherever it got stuck: from its own address it is loaded like any other tab.
                if let Err(error) = stage.go(&self.session, self.address()).await {
                    tracing::debug!(%error, "a tab did not come home");
                }
                Some(self.astray(&error.to_string()))
            }
        }
    }

    fn astray(&self, reason: &str) -> ReceiptItem {
        ReceiptItem::rejected(ItemKind::History, self.place(), reason)
    }

    fn is_home(&self, at: &str) -> bool {
        is_same(at, self.address())
    }

    /// Where it is to be; a tab whose address is lost, or that never had one, is blank.
    fn address(&self) -> &str {
        if self.tab.url.is_empty() || self.is_lost() { BLANK } else { &self.tab.url }
    }

    /// Whether its address ended with the document that made it.
    fn is_lost(&self) -> bool {
        ["blob:", "filesystem:"].iter().any(|scheme| self.tab.url.starts_with(scheme))
    }

    fn is_web(&self) -> bool {
        self.tab.url.starts_with("http://") || self.tab.url.starts_with("https://")
    }

    pub(super) fn session(&self) -> &CdpSession {
        &self.session
    }

    /// Its name in this browser, and the history that it has there.
    pub(super) fn into_parts(self) -> (TargetId, History) {
        (self.target, self.history)
    }

    /// Loads the real page. A reload replaces our blank document: no entry, no referrer.
    async fn load(&self, stage: &Stage) -> ReceiptItem {
        let (before, ours) = beginning::read_history(&self.session).await.unwrap_or_default();
        let is_home = self.is_home(&before);
        if is_home && self.address() == BLANK {
            return self.item();
        }
        let next = stage.next_document(&self.session);
        let sent = if is_home && self.is_web() {
            self.session.call("Page.reload", json!({})).await
        } else {
            self.session.call("Page.navigate", json!({ "url": self.address() })).await
        };
        let found = next.within(LOAD_LIMIT).await;
        if !is_home && self.history.is_empty() {
            self.forget(&ours).await;
        }
        match (sent, found) {
            (Ok(_), Some(Frame { unreachable_url: None, .. })) => self.item(),
            (Ok(_), Some(_)) => {
                self.pending("the site did not answer; the tab waits at its address")
            }
            (Ok(_), None) if stage.has_loaded(&self.session) => {
                self.pending("the site answered with no page; the tab stays empty at its address")
            }
            (Ok(_), None) => self.pending("the site has not answered yet; the tab goes on loading"),
            (Err(error), _) => ReceiptItem::rejected(ItemKind::Tab, self.place(), error),
        }
    }

    /// Forgets where the tab stood before it was loaded for real, once it has moved.
    async fn forget(&self, before: &[TabEntry]) {
        let is_to_be_blank = self.address() == BLANK;
        let is_ours = |entry: &TabEntry| {
            before.iter().any(|one| one.id == entry.id) || (entry.is_blank() && !is_to_be_blank)
        };
        beginning::forget(&self.session, MOVE_LIMIT, |entry| !is_ours(entry), is_ours).await;
    }

    /// Forgets the blank documents behind the curtain. All that it was shown is ours.
    async fn forget_all(&self, stage: &Stage) {
        let walked = self.history.here().map(|here| here.url.clone());
        if let Some(at) = walked.or_else(|| stage.shown(&self.session)) {
            let is_there = |entry: &TabEntry| is_same(&entry.url, &at);
            beginning::forget(&self.session, MOVE_LIMIT, is_there, |_| true).await;
        } else if let Err(error) = beginning::reset(&self.session).await {
            tracing::debug!(%error, "a tab keeps a blank entry until it is loaded");
        }
    }

    fn item(&self) -> ReceiptItem {
        if self.is_lost() {
            let reason = "the address ended with the page that made it";
            return ReceiptItem::not_portable(ItemKind::Tab, self.place(), reason);
        }
        ReceiptItem::restored(ItemKind::Tab, self.place())
    }

    fn pending(&self, reason: &str) -> ReceiptItem {
        ReceiptItem::pending(ItemKind::Tab, self.place(), reason)
    }

    fn place(&self) -> String {
        ShownAddress::of(&self.tab.url).into()
    }
}

/// Whether two addresses are one, however they are written.
fn is_same(one: &str, other: &str) -> bool {
    one == other || Url::parse(one).is_ok_and(|one| Url::parse(other) == Ok(one))
}

/// Walks every tab through its history.
pub(super) async fn walk(stage: &Stage, tabs: &mut [OpenTab<'_>]) -> Receipt {
    let walks: Vec<_> = tabs.iter_mut().map(|tab| tab.walk(stage)).collect();
    let items: Vec<_> = stream::iter(walks).buffered(PAGES_AT_ONCE).collect().await;
    let mut receipt = Receipt::default();
    items.into_iter().flatten().for_each(|item| receipt.push(item));
    receipt
}

/// Leaves no history entry but those of the tab and no trace of the blank documents, and lets the
/// frames of the real pages alone.
pub(super) async fn settle(stage: &Stage, tabs: &[OpenTab<'_>]) {
    let settled = tabs.iter().map(|tab| async {
        let calls = [
            ("Target.setAutoAttach", let_go()),
            ("Network.setBypassServiceWorker", json!({ "bypass": false })),
            ("Network.disable", json!({})),
        ];
        for (method, params) in calls {
            if let Err(error) = tab.session.call(method, params).await {
                tracing::debug!(method, %error, "a tab was not let go of");
            }
        }
        if tab.history.entries.len() <= 1 {
            tab.forget_all(stage).await;
        }
    });
    join_all(settled).await;
}

/// Loads every tab for real, and brings the one in front to the front.
pub(super) async fn load(stage: &Stage, tabs: &[OpenTab<'_>]) -> Receipt {
    if let Some(front) = tabs.iter().find(|tab| tab.tab.active) {
        let params = json!({ "targetId": front.target });
        if let Err(error) = stage.browser().call("Target.activateTarget", params).await {
            tracing::debug!(%error, "the tab in front could not be brought there");
        }
    }
    let items = join_all(tabs.iter().map(|tab| tab.load(stage))).await;
    let mut receipt = Receipt::default();
    for item in items {
        receipt.push(item);
    }
    receipt
}
