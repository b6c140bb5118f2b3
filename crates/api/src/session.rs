//! Sessions: how one begins, how lists and a session in full show it, and what is asked of it: its files, its
//! browser's address for another tool, its snapshots, and the state that one of them holds.

use crate::federation::DriverView;
use crate::sync::{HandedView, SharedView};
use baton_redaction::{ShownAddress, shown_title};
use baton_session::{
    CertificateView, Confinement, Diff, Environment, Forecast, Lifecycle, NodeLabel, Owner,
    Permission, Receipt, SandboxId, SessionId, SessionName, SnapshotId,
};
pub use baton_session::{SnapshotReason, Unread};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
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
    /// Whether its browser is one that others started, to which the node that was asked is attached: such a
    /// one has no way out to the network of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub attached: bool,
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
    /// Its browser's way out to the network, by the snapshot that a resume would take; left out when the
    /// browser goes there by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub egress: Option<EgressView>,
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

/// The way out of a session's browser, and what that asked for since it started.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EgressView {
    /// The hosts that it reaches, and no others; empty: all.
    #[serde(default)]
    pub only: Vec<String>,
    /// The proxy through which it reaches them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy: Option<String>,
    /// Whether hosts of the node's machine and its network are among them only where the settings of the node
    /// list them: so it is for every owner but `local`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub internet_only: bool,
    /// The sites where the session may be signed in and of which none of these hosts is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shut_out: Vec<String>,
    /// What was asked for, by host; empty while no browser runs here. What the browser asked for by itself is
    /// among it.
    #[serde(default)]
    pub hosts: Vec<EgressHost>,
}

/// What a browser asked of one host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EgressHost {
    /// The host and its port; left out of those that are counted together, because there are too many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// How many connections, or requests without TLS, reached it.
    pub connections: u64,
    /// How many were refused.
    pub refused: u64,
    /// How many might go there and did not come through.
    pub failed: u64,
    /// Why the last one was refused or failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Bytes to the host.
    pub sent: u64,
    /// Bytes from the host.
    pub received: u64,
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
    /// How many at most: 1 to 1000, 50 when left out.
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

/// Opens a session in a browser of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenSession {
    /// Unique among the owner's sessions that are not closed.
    pub name: SessionName,
    /// Free text for people, at most 1000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// A tab for each of these `http`, `https` or `about` addresses, the first one in front; at
    /// most 50. None: one blank tab.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<Url>,
    /// Whether the browser shows a window.
    #[serde(default)]
    pub headed: bool,
    /// Whether what its tabs do, network and console, is recorded, from the first byte on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub debug: bool,
    /// Whether their secrets are kept too, in memory, for keys with the scope `reveal`: as long as its
    /// first browser runs. Needs that scope, and `debug`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reveal: bool,
    /// Folders of the node's machine that its browser sees, on this node, for as long as the session
    /// is there. For the owner `local` alone, and a key with the scope `admin`: such a folder may hold
    /// anything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<SharedFolder>,
    /// What its node has to be for, in a cluster: at most 16 labels, now and wherever it goes later.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub labels: BTreeSet<NodeLabel>,
    /// What pages see of the world; a field left out is the browser's own.
    #[serde(default)]
    pub environment: Environment,
}

impl OpenSession {
    /// Opens a session of this name with a tab for each of these addresses; all else is as usual.
    pub fn new(name: SessionName, urls: impl IntoIterator<Item = Url>) -> Self {
        Self {
            name,
            description: None,
            urls: urls.into_iter().collect(),
            headed: false,
            debug: false,
            reveal: false,
            files: Vec::new(),
            labels: BTreeSet::new(),
            environment: Environment::default(),
        }
    }
}

/// Attaches to a browser that someone else started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AttachSession {
    /// Unique among the owner's sessions that are not closed.
    pub name: SessionName,
    /// Free text for people, at most 1000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The browser's DevTools address: `http://127.0.0.1:9222` or `ws://127.0.0.1:9222/devtools/…`.
    /// Only this machine's loopback addresses are accepted.
    pub cdp_url: Url,
}

/// Switches on or off whether what a session's tabs do is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SwitchDebug {
    /// Whether it is recorded from now on. What was recorded is forgotten when it is not.
    pub on: bool,
    /// Whether secrets of its tabs are kept too, in memory, for keys with the scope `reveal`: from now on,
    /// as long as its browser runs. Those that were kept are forgotten when it is not. Needs that scope.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reveal: bool,
}

/// A file of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionFile {
    /// Its name; never a path.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// When it last changed.
    pub changed_at: Timestamp,
    /// Where it is at the node, as the browser knows it: what a tool names to upload it.
    pub path: String,
}

/// The files of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionFiles {
    /// By their names; at most 1000.
    pub items: Vec<SessionFile>,
}

/// A folder of the machine that a browser sees beside the files of its session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SharedFolder {
    /// Where it is; its whole path.
    pub path: String,
    /// Whether the browser may write there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub writable: bool,
}

/// Asks for an address that opens a session's browser by itself, for tools that take an address and
/// no headers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenCdp {
    /// Whether it opens more than once, for a tool that connects again after a resume.
    #[serde(default)]
    pub reusable: bool,
}

/// An address that opens a session's browser: as good as the browser itself.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CdpAccess {
    /// Speaks the Chrome DevTools Protocol. It carries a ticket, which is a secret.
    pub cdp_url: Url,
    /// When the ticket ends; one that opens once ends with that, too.
    pub expires_at: Timestamp,
}

impl std::fmt::Debug for CdpAccess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CdpAccess").field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}

/// Which snapshots a history shows, newest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListHistory {
    /// Only those before this one: the `next` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<SnapshotId>,
    /// How many at most: 1 to 200, 50 when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Reads all parts of the snapshots of the page: each says how many of its parts are damaged, and
    /// `resumes_from` minds that too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub verify: bool,
}

/// A page of a session's snapshots.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct History {
    /// Newest first.
    pub items: Vec<SnapshotView>,
    /// Those of the page whose list of parts is damaged, so that they cannot be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damaged: Vec<SnapshotId>,
    /// The snapshot that a resume would take; none when there is none. Unless `verify` was asked for, parts
    /// are taken to be whole: where some are damaged, a resume may take an older one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumes_from: Option<SnapshotId>,
    /// Give this as `after` to get the next page; none on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<SnapshotId>,
}

/// How a session is to come back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ResumeSession {
    /// Which browser sites see from now on; left out: as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(inline)]
    pub browser: Option<ResumeAs>,
}

/// Which browser sites see of a session that comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResumeAs {
    /// The one that it was signed in with, `environment.browser`.
    Same,
    /// The one that runs, which counts as the one that it was signed in with from now on.
    New,
}

/// Where a session is to go back to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RollBack {
    /// A snapshot of the session: an id, or a unique prefix of one.
    pub to: String,
}

/// Which snapshots are compared: ids, or unique prefixes of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct CompareSnapshots {
    /// The one before.
    pub a: String,
    /// The one after.
    pub b: String,
}

/// Whose picture is shown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PickSnapshot {
    /// A snapshot of the session: an id, or a unique prefix of one; the latest when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
}

/// What differs between two snapshots, without a value of either.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DiffView {
    /// The snapshot before.
    pub a: SnapshotView,
    /// The snapshot after.
    pub b: SnapshotView,
    /// What changed from the one to the other.
    #[serde(flatten)]
    pub diff: Diff,
    /// Parts of either that could not be read, and why: they count as not there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<String>,
}

/// What a snapshot holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StateView {
    /// Which snapshot it is of.
    pub snapshot: SnapshotId,
    /// When the browser was read.
    pub taken_at: Timestamp,
    /// Whether secret values were replaced by markers.
    pub redacted: bool,
    /// Cookies, origins, tabs and environment.
    #[schema(value_type = Object)]
    pub state: serde_json::Value,
    /// Parts that could not be read, and why; the rest of the state is whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<String>,
}
