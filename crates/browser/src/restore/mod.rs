//! Restore: gives a freshly started browser the state of a snapshot, and writes the receipt.
//!
//! The one idea: no request reaches a site before its tab opens. While storage is filled, every request
//! of the browser is answered by us with a blank document, so that a page of each origin can be had
//! without the network; then the interception ends and each tab loads once, for real. Nothing is
//! injected into real pages, so nothing can run twice.
//!
//! Cookies are set all at once in the order in which they are sent, and read back one by one.

mod environment;
mod history;
pub mod offstage;
mod plan;
mod stage;
mod stagehand;
mod storage;
mod tabs;
mod visit;

pub use environment::{PermissionChoice, choose};
pub use plan::Ground;
pub use visit::Made;

use crate::cdp::CdpError;
use crate::cookies;
use crate::keeper::KeeperLink;
use crate::script::ScriptError;
use crate::targets::TargetId;
use baton_redaction::ShownAddress;
use baton_session::cookie::{Expiry, SourceScheme, order};
use baton_session::receipt::{ItemKind, ReceiptItem, Source};
use baton_session::{Cookie, History, Receipt, Site, State};
use futures_util::stream;
use futures_util::stream::StreamExt;
use plan::{Plan, identity};
use serde_json::json;
use stage::Stage;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use tabs::OpenTab;
use visit::FillVisit;

/// How many pages are filled at once: a renderer process each, bound by the processor.
const PAGES_AT_ONCE: usize = 4;

/// What a restore did.
#[derive(Debug)]
pub struct Restored {
    /// Item by item.
    pub receipt: Receipt,
    /// How long each step took, in their order.
    pub timing: Vec<(&'static str, Duration)>,
    /// What the browser holds now: the state of the snapshot, but for sites of which the profile was
    /// taken. Its tabs are the new ones.
    pub state: State,
    permissions: environment::SeenPermissions,
}

impl Restored {
    /// Adds a line for each permission that the profile was to have before the browser started; with
    /// why it was not given what came from the snapshot.
    pub fn tell_permissions(&mut self, choices: &[PermissionChoice], refused: Option<&str>) {
        self.receipt.extend(environment::receipt(choices, refused, &self.permissions));
    }
}

/// Why a restore ended early. Whatever concerns one item only is in the receipt instead.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// The browser did not answer.
    #[error(transparent)]
    Cdp(#[from] CdpError),
}

/// Gives the browser behind `link` the state of a snapshot. The browser must have no tabs yet; what
/// its profile holds for the snapshot's storage keys, and those that its tabs show, is made equal to
/// the snapshot; databases, caches and service workers that the snapshot does not name, files of keys
/// for which it has none, and all other storage, stay. On a `ground`, a site of which the profile
/// holds more than the snapshot is left as it is; where it was compiled of the snapshot, what it holds
/// need not be filled, and what of the profile could not be read has its line. `now` (microseconds since 1970) decides which
/// cookies have expired.
pub async fn restore(
    link: KeeperLink,
    mut wanted: State,
    now: Expiry,
    ground: Option<&Ground>,
) -> Result<Restored, RestoreError> {
    let mut steps = Steps::new();
    let mut receipt = ground.map(|ground| ground.at_rest.unread().clone()).unwrap_or_default();
    let version = link.welcome.browser_version.clone();
    let stage = Stage::start(link).await?;
    let is_compiled = ground.is_some_and(|ground| ground.is_compiled);
    let later = match ground {
        Some(ground) if !is_compiled => {
            prefer_later(&stage, ground, &mut wanted, now, &mut receipt).await?
        }
        _ => BTreeSet::new(),
    };
    receipt.extend(restore_cookies(&stage, &wanted.cookies, now, &later, is_compiled).await?);
    steps.end("cookies");
    let mut plan = Plan::new(&wanted, ground, &later);
    receipt.extend(std::mem::take(&mut plan.unreachable));
    receipt.extend(std::mem::take(&mut plan.at_rest));
    let mut tabs = tabs::create(&stage, &wanted.tabs).await?;
    fill(&stage, &plan, &tabs, &mut receipt).await;
    receipt.extend(tabs::walk(&stage, &mut tabs).await);
    let (settings, permissions) = environment::verify(&tabs, &wanted.environment, &version).await;
    receipt.extend(settings);
    steps.end("storage");
    tabs::settle(&stage, &tabs).await;
    stage.open_the_curtain().await?;
    receipt.extend(tabs::load(&stage, &tabs).await);
    steps.end("tabs");
    if is_compiled {
        // What was there already came from nowhere else.
        receipt.items.iter_mut().for_each(|item| item.source = Source::Snapshot);
    }
    receipt.sort();
    let made: Vec<(TargetId, History)> = tabs.into_iter().map(OpenTab::into_parts).collect();
    for (tab, (target, history)) in wanted.tabs.iter_mut().zip(made) {
        tab.id = target.to_string();
        tab.history = history;
    }
    Ok(Restored { receipt, timing: steps.0, state: wanted, permissions })
}

/// Takes into the state what the profile holds later, site by site, and names those sites.
async fn prefer_later(
    stage: &Stage,
    ground: &Ground,
    wanted: &mut State,
    now: Expiry,
    receipt: &mut Receipt,
) -> Result<BTreeSet<Site>, RestoreError> {
    let found = cookies::fetch(&stage.browser(), None).await?.cookies;
    let later = ground.later_sites(wanted, &found, now);
    ground.prefer(&later, wanted, found);
    storage::databases(stage, ground, &later, wanted, receipt).await;
    for site in &later {
        receipt.push(ReceiptItem {
            source: Source::Disk,
            reason: Some("the profile was written after the snapshot".to_owned()),
            ..ReceiptItem::restored(ItemKind::Site, site.as_str())
        });
    }
    Ok(later)
}

/// Fills the storage of every key: those that a tab visits in that tab, the others in hidden pages.
async fn fill(stage: &Stage, plan: &Plan<'_>, tabs: &[OpenTab<'_>], receipt: &mut Receipt) {
    let in_tabs: Vec<_> =
        tabs.iter().zip(&plan.tabs).map(|(tab, visits)| tab.fill(stage, visits)).collect();
    let filled: Vec<Receipt> = stream::iter(in_tabs).buffered(PAGES_AT_ONCE).collect().await;
    for items in filled {
        receipt.extend(items);
    }
    let hidden: Vec<_> =
        plan.hidden.iter().map(|visit| storage::fill_hidden(stage, visit)).collect();
    let filled: Vec<Receipt> = stream::iter(hidden).buffered(PAGES_AT_ONCE).collect().await;
    for items in filled {
        receipt.extend(items);
    }
}

/// The items of a visit that did not happen.
fn refused(visit: &FillVisit<'_>, reason: &str) -> Receipt {
    let mut receipt = Receipt::default();
    let key = visit.key.to_string();
    let mut reject = |kind, place| receipt.push(ReceiptItem::rejected(kind, place, reason));
    if visit.has_local() {
        reject(ItemKind::LocalStorage, key.clone());
    }
    if visit.session.is_some() {
        reject(ItemKind::SessionStorage, key.clone());
    }
    for database in &visit.databases {
        reject(ItemKind::IndexedDb, visit.key.place_of(&database.name));
    }
    for (kind, place) in
        visit.stored.map(|origin| visit::items(&visit.key, origin)).into_iter().flatten()
    {
        reject(kind, place);
    }
    receipt
}

/// Why one visit failed; it costs the items of that visit only.
#[derive(Debug, thiserror::Error)]
enum VisitError {
    #[error(transparent)]
    Cdp(#[from] CdpError),
    #[error(transparent)]
    Script(#[from] ScriptError),
    #[error("expected a document of {wanted} within {limit:?}, found none")]
    NoDocument { wanted: ShownAddress, limit: Duration },
    #[error("a database was not read: {0}")]
    Unread(String),
    #[error("{0}")]
    Astray(String),
    #[error("expected to reach {url}, found {reason}")]
    Refused { url: ShownAddress, reason: String },
}

/// The steps with their times.
struct Steps(Vec<(&'static str, Duration)>, Instant);

impl Steps {
    fn new() -> Self {
        Self(Vec::new(), Instant::now())
    }

    fn end(&mut self, name: &'static str) {
        self.0.push((name, self.1.elapsed()));
        self.1 = Instant::now();
    }
}

/// Replaces the browser's cookies by those of the snapshot. They are cleared first: else a cookie
/// that was deleted since the profile's last write to disk would rise again. Those of the sites in
/// `of_disk` were read from the profile. In a profile that was compiled of the snapshot nothing can
/// rise again, and nothing is set where the browser took everything over.
async fn restore_cookies(
    stage: &Stage,
    wanted: &[Cookie],
    now: Expiry,
    of_disk: &BTreeSet<Site>,
    is_compiled: bool,
) -> Result<Receipt, CdpError> {
    let browser = stage.browser();
    let mut receipt = Receipt::default();
    let mut valid = Vec::with_capacity(wanted.len());
    for cookie in wanted {
        match cookie.validate(now) {
            Ok(()) => valid.push(cookie.clone()),
            Err(reason) => receipt.push(rejected_cookie(cookie, reason)),
        }
    }
    order(&mut valid);
    let mut found = Vec::new();
    if is_compiled {
        found = cookies::fetch(&browser, None).await?.cookies;
    }
    // One that is set later is sent later, so where one is missing all are set again.
    let is_there = is_compiled && is_as_wanted(&valid, &mut found);
    let mut refused = Vec::new();
    if !is_there {
        browser.call("Storage.clearCookies", json!({})).await?;
        refused = cookies::set(&browser, &valid).await?;
        found = cookies::fetch(&browser, None).await?.cookies;
    }
    let refused: BTreeMap<_, _> =
        refused.iter().map(|(cookie, reason)| (cookie.key(), reason.as_str())).collect();
    let found: BTreeMap<_, _> = found.iter().map(|cookie| (identity(cookie), cookie)).collect();
    for cookie in &valid {
        let kept = found.get(&identity(cookie)).is_some_and(|found| found.value == cookie.value);
        receipt.push(match refused.get(&cookie.key()) {
            Some(reason) => rejected_cookie(cookie, reason),
            None if kept && of_disk.contains(&cookie.site()) => ReceiptItem {
                source: Source::Disk,
                ..ReceiptItem::restored(ItemKind::Cookie, cookie_place(cookie))
            },
            None if kept => ReceiptItem::restored(ItemKind::Cookie, cookie_place(cookie)),
            None => rejected_cookie(cookie, "expected the browser to keep it, found it gone"),
        });
    }
    Ok(receipt)
}

/// Whether the browser has those cookies and no others, and would send them in their order.
fn is_as_wanted(wanted: &[Cookie], found: &mut [Cookie]) -> bool {
    order(found);
    if wanted.len() != found.len() {
        return false;
    }
    let mut rest = found.iter();
    wanted.iter().all(|wanted| rest.any(|found| is_one(wanted, found)))
}

/// Whether a cookie is the one that is wanted, but for an unknown scheme and port.
fn is_one(wanted: &Cookie, found: &Cookie) -> bool {
    let mut found = found.clone();
    if wanted.source_scheme == SourceScheme::Unset {
        found.source_scheme = SourceScheme::Unset;
    }
    if wanted.source_port.is_none() {
        found.source_port = None;
    }
    found == *wanted
}

fn rejected_cookie(cookie: &Cookie, reason: impl std::fmt::Display) -> ReceiptItem {
    ReceiptItem::rejected(ItemKind::Cookie, cookie_place(cookie), reason)
}

fn cookie_place(cookie: &Cookie) -> String {
    let Cookie { name, domain, path, .. } = cookie;
    match &cookie.partition_key {
        Some(partition) => format!("{domain}{path} {name} (in {})", partition.top_level_site),
        None => format!("{domain}{path} {name}"),
    }
}
