//! Restore: gives a freshly started browser the state of a snapshot, and writes the receipt.
//!
//! The one idea: no request reaches a site before its tab opens. While storage is filled, every
//! request of the browser is answered by us with a blank document, so that a page of each origin can
//! be had without the network; then the interception ends and each tab loads once, for real. Nothing
//! is injected into real pages, so nothing can run twice.

mod cookies;
mod environment;
mod plan;
mod stage;
mod stagehand;
mod storage;
mod stored;
mod tabs;

use crate::cdp::CdpError;
use crate::keeper::KeeperLink;
use crate::script::ScriptError;
use crate::targets::TargetId;
use baton_session::cookie::Expiry;
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_session::{Receipt, State};
use futures_util::stream::{self, StreamExt};
use plan::{Plan, Visit};
use stage::Stage;
use std::time::{Duration, Instant};
use tabs::OpenTab;

/// How many pages are filled at once: a renderer process each, bound by the processor.
const PAGES_AT_ONCE: usize = 4;

/// What a restore did.
#[derive(Debug)]
pub struct Restored {
    /// Item by item.
    pub receipt: Receipt,
    /// How long each step took, in their order.
    pub timing: Vec<(&'static str, Duration)>,
    /// The new tabs, in the order of the state's.
    pub tabs: Vec<TargetId>,
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
/// for which it has none, and all other storage, stay. `now` (microseconds since 1970) decides which
/// cookies have expired.
pub async fn restore(
    link: KeeperLink,
    wanted: &State,
    now: Expiry,
) -> Result<Restored, RestoreError> {
    let mut steps = Steps::new();
    let mut receipt = Receipt::default();
    let stage = Stage::start(link).await?;
    receipt.extend(cookies::restore(&stage, &wanted.cookies, now).await?);
    steps.end("cookies");
    let mut plan = Plan::new(wanted);
    receipt.extend(std::mem::take(&mut plan.unreachable));
    let tabs = tabs::create(&stage, &wanted.tabs).await?;
    fill(&stage, &plan, &tabs, &mut receipt).await;
    receipt.extend(environment::verify(&tabs, &wanted.environment).await);
    steps.end("storage");
    tabs::settle(&tabs).await;
    stage.open_the_curtain().await?;
    receipt.extend(tabs::load(&stage, &tabs).await);
    steps.end("tabs");
    receipt.items.sort_by(|a, b| (a.kind, &a.place).cmp(&(b.kind, &b.place)));
    let tabs = tabs.into_iter().map(OpenTab::into_target).collect();
    Ok(Restored { receipt, timing: steps.0, tabs })
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
fn refused(visit: &Visit<'_>, reason: &str) -> Receipt {
    let mut receipt = Receipt::default();
    let key = visit.key.to_string();
    let mut reject = |kind, place| receipt.push(ReceiptItem::rejected(kind, place, reason));
    if visit.has_local() {
        reject(ItemKind::LocalStorage, key.clone());
    }
    if visit.session.is_some() {
        reject(ItemKind::SessionStorage, key.clone());
    }
    for database in visit.databases {
        reject(ItemKind::IndexedDb, storage::database_place(&visit.key, &database.name));
    }
    for (kind, place) in
        visit.stored.map(|origin| stored::items(&visit.key, origin)).into_iter().flatten()
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
    NoDocument { wanted: String, limit: Duration },
    #[error("expected to reach {url}, found {reason}")]
    Refused { url: String, reason: String },
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
