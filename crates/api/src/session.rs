//! Views of sessions: one line of a list, and one session in full.

use baton_session::redact::{ShownAddress, shown_title};
pub use baton_session::{SnapshotReason, Unread};

use crate::agent::DriverView;
use crate::sync::{HandedView, SharedView};
use baton_session::{
    CertificateView, Confinement, Forecast, Lifecycle, Owner, Permission, Receipt, SandboxId,
    SessionId, SessionName, SnapshotId,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use url::Url;
use utoipa::{IntoParams, ToSchema};

/// One line of a list of sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionSummary {
    /// For life.
    pub id: SessionId,
    /// Unique among the owner's sessions that are not closed.
    pub name: SessionName,
    /// Free text for people; empty when none was given.
    pub description: String,
    /// Where the session stands.
    pub state: Lifecycle,
    /// Whose it is.
    pub owner: Owner,
    /// Whether its browser shows a window.
    pub headed: bool,
    /// Whether what its tabs do, network and console, is recorded while its browser runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub debug: bool,
    /// By which rules its browser is kept from the files of the machine, while it runs at the node that
    /// was asked. `off`: by none, and then only the owner `local` may drive it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confinement: Option<Confinement>,
    /// The agent that drives it; left out when none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<DriverView>,
    /// When it was opened first.
    pub created_at: Timestamp,
    /// When its row last changed.
    pub updated_at: Timestamp,
}

/// One session in full.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionView {
    /// Identity, owner and where it stands.
    #[serde(flatten)]
    pub session: SessionSummary,
    /// Where tools that send a key drive the browser, while it runs on the node that was asked: the
    /// same address after every resume. `POST` there gives one with a ticket, for tools that send
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cdp_url: Option<Url>,
    /// The browser's tabs while it is active, else those of the latest snapshot.
    pub tabs: Vec<Tab>,
    /// How many tabs of the browser are not kept, because they are in contexts of their own
    /// (incognito windows, contexts that a client made).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub foreign_tabs: usize,
    /// What sites may do and may not, by the snapshot that a resume would take.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permissions: Vec<Permission>,
    /// Whom its browser trusts beside its maker's list, by the snapshot that a resume would take.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub certificates: Vec<CertificateView>,
    /// The latest snapshot; none before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<SnapshotView>,
    /// How soon the cookies expire that a resume would bring back; none before the first snapshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecast: Option<Forecast>,
    /// The sandbox that holds it, if one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxId>,
    /// How it stands among nodes; none when it was never saved and came from nowhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<SharedView>,
    /// What the latest resume did; none before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<Receipt>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// One tab, without what it stores.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Tab {
    /// The address that it shows, without what may be secret in it: userinfo, values of the query, and
    /// fragment. Whole where that was asked for, with the scope `reveal`.
    pub url: ShownAddress,
    /// The page's title; empty when it has none.
    pub title: String,
    /// Whether it is the one in front.
    pub active: bool,
}

impl Tab {
    /// What everybody may see of a tab.
    pub fn of(tab: &baton_session::Tab) -> Self {
        let (url, title) = (ShownAddress::of(&tab.url), shown_title(&tab.title, &tab.url));
        Self { url, title, active: tab.active }
    }

    /// All of it: for whoever asked for values, and has the scope `reveal`.
    pub fn revealed(tab: &baton_session::Tab) -> Self {
        let (url, title) = (ShownAddress::revealed(&tab.url), tab.title.clone());
        Self { url, title, active: tab.active }
    }
}

/// One snapshot, without what it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SnapshotView {
    /// Which one.
    pub id: SnapshotId,
    /// When the browser was read.
    pub taken_at: Timestamp,
    /// Why it was taken.
    pub reason: SnapshotReason,
    /// How many parts it has.
    pub parts: usize,
    /// Size of all its parts in bytes, before compression and deduplication.
    pub bytes: u64,
    /// Whether more than half of what the last good one held was gone, and nobody asked for it: a
    /// resume passes it over.
    #[serde(default)]
    pub shrunk: bool,
    /// Whether its writer did not hold the session any more: it stands beside the line of the others.
    #[serde(default)]
    pub sibling: bool,
    /// Whether it is kept for good.
    #[serde(default)]
    pub saved: bool,
    /// How many of its parts cannot be read. Only a history looks, and only when it is to.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub damaged: usize,
    /// What did not answer when it was taken, and stands in it as last known; and what it does not hold.
    /// Lists leave it out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Unread>,
}

/// What a resume did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ResumeResult {
    /// The session after it; its `receipt` tells item by item what came back.
    #[serde(flatten)]
    pub session: SessionView,
    /// How it came from the node that held it; none when nobody else did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handed: Option<HandedView>,
    /// Milliseconds of each step.
    pub timing: BTreeMap<String, u64>,
}

/// Which sessions a list shows, newest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListSessions {
    /// Only those in this state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<Lifecycle>,
    /// Only those after this one: the `next` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<SessionId>,
    /// How many at most: 1 to 200, 50 when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// A page of sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionList {
    /// Newest first.
    pub items: Vec<SessionSummary>,
    /// Give this as `after` to get the next page; none on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<SessionId>,
}
