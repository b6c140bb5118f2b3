//! A running browser as the node sees it: what changes in it, and what it holds.
//!
//! The one idea: [`Live`] only watches and reads. The browser belongs to its keeper and lives on when a
//! `Live` is dropped; another one can take over at any time from the last snapshot's state.
//!
//! No event tells of cookies without slowing every request down, so the node has to look; a look costs about
//! a millisecond.

mod crashes;
mod entered;
mod events;
mod hearing;
mod in_flight;
mod messages;
pub(crate) mod mirror;
mod mute;
pub(crate) mod permissions;
mod requests;
pub(crate) mod seen;
mod shared;
mod watch;

pub use entered::Entered;
pub use shared::Activity;
pub(crate) use shared::Shared;

use crate::beginning::TabEntry;
use crate::cdp::{CdpError, CdpSession, Connection};
use crate::keeper::{HostTally, KeeperLink};
use crate::targets::{ContextId, Contexts, MadeContext, TargetId};
use crate::{beginning, cookies, targets};
use baton_session::{Confinement, Cookie, Environment, State, StorageKey, Tab, cookie};
use events::EventPump;
use seen::file_usage;
use serde_json::json;
use shared::Counters;
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch as channel;
use tokio_util::sync::{CancellationToken, DropGuard};
use url::Url;

/// How long the history of a new tab may lag behind its document.
const BEGINNING_LIMIT: Duration = Duration::from_secs(3);

/// How long the documents of a tab may take to say whether they ask for a password.
const ASKS_LIMIT: Duration = Duration::from_secs(2);

/// For how long a page says nothing of other requests once it has told that one was answered.
pub const REQUESTS_QUIET: Duration = watch::QUIET;

/// A running browser of a session. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Live {
    connection: Connection,
    shared: Arc<Shared>,
    activity: channel::Receiver<Activity>,
    moves: channel::Receiver<u64>,
    downloads: channel::Receiver<u64>,
    confinement: Confinement,
    is_fenced: bool,
    is_attached: bool,
    /// Which context is watched; none is the default one.
    context: Option<ContextId>,
    /// Ends the event loop, and with it the connection, when the last clone is dropped.
    _ends_the_loop: Arc<DropGuard>,
}

impl Live {
    /// Watches the browser behind `link`, of which `known` is the last known state. Attaches to
    /// every tab, cross-site frame and lasting worker, now and later; starts one task, which ends with
    /// the connection.
    pub async fn start(link: KeeperLink, known: State) -> Result<Self, CdpError> {
        Self::watch(link, known, None).await
    }

    /// The same of a context that a client made, and of nothing beside it: to read it once. Whatever
    /// belongs to a profile is not known of it.
    pub async fn start_in(
        context: ContextId,
        link: KeeperLink,
        known: State,
    ) -> Result<Self, CdpError> {
        Self::watch(link, known, Some(context)).await
    }

    async fn watch(
        link: KeeperLink,
        known: State,
        context: Option<ContextId>,
    ) -> Result<Self, CdpError> {
        let KeeperLink { connection, events, welcome } = link;
        let contexts = Contexts::fetch(&connection.browser(), context.as_ref()).await?;
        let shared = Arc::new(Shared::new(known));
        if welcome.attached && context.is_none() {
            // A resume starts another browser, which is to be this one for its sites.
            shared.mirror().ask_who();
        }
        let (counters, activity, moves) = Counters::new();
        let downloads = counters.downloads();
        let end = CancellationToken::new();
        let pump = EventPump {
            connection: connection.clone(),
            contexts,
            shared: Arc::clone(&shared),
            activity: counters,
            end: end.clone(),
        };
        tokio::spawn(end.clone().run_until_cancelled_owned(events::run(pump, events)));
        let live = Self {
            connection,
            shared,
            activity,
            moves,
            downloads,
            confinement: welcome.confinement.unwrap_or(Confinement::Off),
            is_fenced: welcome.fenced,
            is_attached: welcome.attached,
            context,
            _ends_the_loop: Arc::new(end.drop_guard()),
        };
        watch::auto_attach(&live.browser(), &watch::OF_A_BROWSER).await?;
        Ok(live)
    }

    /// The browser runs on this profile of this machine: its settings say what sites may do, and no
    /// page has to be asked for what it shows not to be there.
    #[must_use]
    pub fn on_profile(self, profile: PathBuf) -> Self {
        self.shared.set_profile(profile);
        self
    }

    /// The browser has no window, and so no person whom it could ask what a site may do.
    #[must_use]
    pub fn headless(self) -> Self {
        self.shared.mirror().note_headless();
        self
    }

    /// Whether it is a browser that others started, which goes on when it is not watched any more.
    pub fn is_attached(&self) -> bool {
        self.is_attached
    }

    /// By which rules it is kept from the files of its machine. A keeper that says nothing of it is from
    /// before there were any.
    pub fn confinement(&self) -> Confinement {
        self.confinement
    }

    /// Whether it reaches the network through its keeper alone.
    pub fn is_fenced(&self) -> bool {
        self.is_fenced
    }

    /// The browser itself.
    pub fn browser(&self) -> CdpSession {
        self.connection.browser()
    }

    /// Tells when something happened, so that the node can decide when to capture.
    pub fn activity(&self) -> channel::Receiver<Activity> {
        self.activity.clone()
    }

    /// From now on clicks and typing in its pages count as activity, or no longer.
    pub async fn tell_input(&self, wanted: bool) {
        self.shared.tell_input(wanted);
        if !wanted {
            return;
        }
        let sessions: Vec<_> = self.shared.attached().keys().cloned().collect();
        for session in sessions {
            watch::INPUT.listen(&self.connection.session(session)).await;
        }
    }

    /// Tells when something happened that is no change of storage: a navigation, or input.
    pub fn moves(&self) -> channel::Receiver<u64> {
        self.moves.clone()
    }

    /// Tells when a file was downloaded, and is whole. Nothing is told of one whose tab is gone by then.
    pub fn downloads(&self) -> channel::Receiver<u64> {
        self.downloads.clone()
    }

    /// Whether the browser, its keeper or the connection to it has ended.
    pub fn is_closed(&self) -> bool {
        self.connection.is_closed()
    }

    /// Waits until the browser, its keeper or the connection to it has ended.
    pub async fn closed(&self) {
        self.connection.closed().await;
    }

    /// What its way out was asked for since it started, by host; nothing when it has none.
    pub async fn egress(&self) -> Result<Vec<HostTally>, CdpError> {
        let mut told = self.browser().call("Baton.egress", ()).await?;
        Ok(serde_json::from_value(told["hosts"].take()).unwrap_or_default())
    }

    /// The tabs, in the order in which they appeared, with what was last read of them.
    pub async fn tabs(&self) -> Result<Vec<Tab>, CdpError> {
        let living = targets::list(&self.browser(), self.context()).await?.kept;
        let mirror = self.shared.mirror();
        let mut tabs: Vec<Tab> = living
            .into_iter()
            .map(|info| {
                let known = mirror.tabs().iter().find(|tab| tab.id == info.target_id.as_str());
                let active = known.is_some_and(|tab| tab.active);
                let title = known.map(|tab| tab.title.clone()).unwrap_or_default();
                // The browser tells the address of a new tab a moment late.
                let late = known.filter(|_| info.url.is_empty()).map(|tab| tab.url.clone());
                Tab {
                    id: info.target_id.to_string(),
                    url: late.unwrap_or(info.url),
                    title,
                    active,
                    ..Tab::default()
                }
            })
            .collect();
        let place = |id: &str| mirror.tabs().iter().position(|tab| tab.id == id);
        tabs.sort_by_key(|tab| place(&tab.id).unwrap_or(usize::MAX));
        Ok(tabs)
    }

    /// How many tabs are in contexts other than the one that is watched, which are not kept.
    pub async fn foreign_tabs(&self) -> Result<usize, CdpError> {
        Ok(targets::list(&self.browser(), self.context()).await?.foreign)
    }

    /// The contexts that clients made, by their ids.
    pub async fn contexts(&self) -> Result<Vec<MadeContext>, CdpError> {
        targets::made(&self.browser()).await
    }

    /// What pages see by what the session was opened with.
    pub fn environment(&self) -> Environment {
        self.shared.mirror().state().environment.clone()
    }

    pub(crate) fn context(&self) -> Option<&ContextId> {
        self.context.as_ref()
    }

    /// Opens a tab at an address: [`open_unvisited_tab`](Self::open_unvisited_tab), then
    /// [`fill_tab`](Self::fill_tab).
    pub async fn open_tab(&self, url: &Url, limit: Duration) -> Result<Option<String>, CdpError> {
        let target = self.open_unvisited_tab().await?;
        self.fill_tab(&target, url, limit).await
    }

    /// Takes a tab that has been nowhere to an address, waits until its document is there or cannot be had, and
    /// returns the browser's own words in the second case.
    pub async fn fill_tab(
        &self,
        target: &TargetId,
        url: &Url,
        limit: Duration,
    ) -> Result<Option<String>, CdpError> {
        let session = targets::attach(&self.browser(), target).await?;
        let answer = session.call_within(limit, "Page.navigate", json!({ "url": url })).await;
        let has_moved = answer.as_ref().is_ok_and(|answer| answer["errorText"].is_null());
        if has_moved && !beginning::is_blank(url.as_str()) {
            let is_there = |entry: &TabEntry| !entry.is_blank();
            beginning::forget(&session, BEGINNING_LIMIT, is_there, TabEntry::is_blank).await;
        }
        // The tab is watched on a session of its own: a second one would tell everything twice.
        targets::detach(&session).await?;
        let answer = answer?;
        Ok(answer["errorText"].as_str().map(str::to_owned))
    }

    /// Opens a tab that has been nowhere: [`fill_tab`](Self::fill_tab) takes it to its first page.
    pub async fn open_unvisited_tab(&self) -> Result<TargetId, CdpError> {
        targets::create_unvisited(&self.browser()).await
    }

    /// Opens an empty tab.
    pub async fn open_blank_tab(&self) -> Result<TargetId, CdpError> {
        targets::create(&self.browser()).await
    }

    /// Brings the oldest tab to the front.
    pub async fn show_first_tab(&self) -> Result<(), CdpError> {
        let first = self.tabs().await?.into_iter().next();
        if let Some(tab) = first {
            let params = json!({ "targetId": tab.id });
            self.browser().call("Target.activateTarget", params).await?;
        }
        Ok(())
    }

    /// Whether something changed of which no event tells: cookies, files, or what sites may do.
    pub async fn changed_unheard(&self) -> bool {
        self.look_at_cookies().await.is_change()
            || self.files_changed().await
            || self.read_permissions().await
    }

    /// Whether a frame of a tab is loading: its site may answer with cookies at any moment.
    pub fn is_loading(&self) -> bool {
        self.shared.loads().any(Instant::now())
    }

    /// Whether the files of a tab's site take more or less room than at the last capture. No event tells of
    /// files, so the node has to look; the browser answers without asking the page.
    pub async fn files_changed(&self) -> bool {
        let systems = self.shared.systems().await;
        // A tab's own session answers this, the browser's does not.
        let tabs: BTreeMap<String, TargetId> = {
            let mirror = self.shared.mirror();
            let own = |tab: &Tab| Some((own_origin(&tab.url)?, TargetId::new(&tab.id)));
            mirror.tabs().iter().filter_map(own).collect()
        };
        for (origin, tab) in tabs {
            let key = StorageKey::first_party(&origin);
            if !systems.may_hold(&key) && self.shared.mirror().usage(&origin).is_none_or(|n| n == 0)
            {
                continue;
            }
            let Some(session) = self.shared.sessions_of(&tab).into_iter().next() else {
                continue;
            };
            let params = json!({ "origin": origin });
            let session = self.connection.session(session);
            let Ok(answer) = session.call("Storage.getUsageAndQuota", params).await else {
                continue;
            };
            let now = file_usage(&answer).unwrap_or_default();
            if now != self.shared.mirror().usage(&origin).unwrap_or_default() {
                return true;
            }
        }
        false
    }

    /// Where passwords were entered of late.
    pub fn entered(&self) -> Vec<Entered> {
        self.shared.passwords().all(Instant::now())
    }

    /// The sign-in that followed was seen.
    pub fn forget_entered(&self, entered: &Entered) {
        self.shared.passwords().forget(entered);
    }

    /// Whether a tab asks for a password. One that is gone does not, and one that does not answer may.
    pub async fn asks_for_password(&self, entered: &Entered) -> bool {
        let tab = TargetId::new(&entered.tab);
        let asks = async {
            for session in self.shared.sessions_of(&tab) {
                if watch::asks_for_password(&self.connection.session(session)).await? {
                    return Ok::<_, CdpError>(true);
                }
            }
            Ok(false)
        };
        !matches!(tokio::time::timeout(ASKS_LIMIT, asks).await, Ok(Ok(false)))
    }

    /// The connection to the keeper.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }
}

/// The origin of a page at this address, when it can have files.
fn own_origin(url: &str) -> Option<String> {
    let url = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    Some(url.origin().ascii_serialization())
}

/// What a look at the cookies found, beside those of the last capture.
#[derive(Debug, PartialEq, Eq)]
pub enum Jar {
    /// They are the same; or the browser did not answer, and nothing is known.
    Same,
    /// Some are new, or have another value or end, and none is gone: these are there now, in the order
    /// in which they are sent.
    Grown(Vec<Cookie>),
    /// Some are gone, whatever else.
    Shrunk,
}

impl Jar {
    fn between(known: &[Cookie], found: Vec<Cookie>) -> Self {
        if known == found {
            return Self::Same;
        }
        let there: HashSet<_> = found.iter().map(Cookie::key).collect();
        let is_gone = known.iter().any(|one| !there.contains(&one.key()));
        if is_gone { Self::Shrunk } else { Self::Grown(found) }
    }

    /// Whether anything is not as it was.
    pub fn is_change(&self) -> bool {
        *self != Self::Same
    }
}

impl Live {
    /// Looks at the cookies, and takes no note of them.
    pub async fn look_at_cookies(&self) -> Jar {
        let Ok(mut found) = cookies::fetch(&self.browser(), self.context()).await else {
            return Jar::Same;
        };
        cookie::order(&mut found.cookies);
        Jar::between(self.shared.mirror().cookies(), found.cookies)
    }

    /// These cookies are captured.
    pub fn note_cookies(&self, cookies: Vec<Cookie>) {
        self.shared.mirror().set_cookies(cookies);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn jar(cookies: &[(&str, &str)]) -> Vec<Cookie> {
        let cookie = |(name, value): &(&str, &str)| json!({ "name": name, "value": value, "domain": "shop.test", "path": "/" });
        cookies.iter().map(|one| serde_json::from_value(cookie(one)).unwrap()).collect()
    }

    #[test]
    fn a_jar_grows_by_what_is_new_or_another_and_shrinks_by_what_is_gone() {
        let known = jar(&[("sid", "1"), ("theme", "dark")]);
        let look = |found: &[(&str, &str)]| Jar::between(&known, jar(found));
        assert_eq!(look(&[("sid", "1"), ("theme", "dark")]), Jar::Same);
        for grown in [
            &[("sid", "2"), ("theme", "dark")][..],
            &[("theme", "dark"), ("sid", "1")],
            &[("sid", "1"), ("theme", "dark"), ("new", "1")],
        ] {
            assert_eq!(look(grown), Jar::Grown(jar(grown)));
        }
        for shrunk in [&[("sid", "2")][..], &[("sid", "1"), ("new", "1")], &[]] {
            assert_eq!(look(shrunk), Jar::Shrunk);
        }
    }
}
