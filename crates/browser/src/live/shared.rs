//! What the event loop and the captures share: the mirror, what we are attached to, which frames load,
//! which icons were shown, and how much has happened.
//!
//! A page that never rests writes hundreds of times a second, and a runner that knows that it wrote need not
//! be woken again. So what is no write is sent on a channel of its own.
//!
//! That a site has none is remembered as well, but only for as long as the tab in front stays there; what was
//! missing for a moment is found when the tab comes back.
//!
//! While a frame loads, its site may answer with cookies of which no event tells.

use super::entered::EnteredPasswords;
use super::hearing::Hearings;
use super::in_flight::InFlight;
use super::messages::ScriptParsed;
use super::mirror::Mirror;
use crate::cdp::{CdpSession, CdpSessionId};
use crate::icon::SiteIcon;
use crate::profile::databases::OnDisk;
use crate::profile::raw::Systems;
use crate::targets::TargetId;
use baton_egress::blocking;
use baton_session::{Site, State, StorageKey};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch::{Receiver, Sender, channel};
use tokio::sync::{Notify, mpsc};

/// How many scripts of one worker wait to be looked at.
const SCRIPTS: usize = 4096;

/// What the event loop and the captures share.
#[derive(Debug)]
pub(crate) struct Shared {
    mirror: Mutex<Mirror>,
    attached: Mutex<HashMap<CdpSessionId, Attached>>,
    /// Those of them whose process has ended.
    crashed: Mutex<HashSet<CdpSessionId>>,
    /// How the storage events of each of them are heard.
    hearings: Mutex<Hearings>,
    /// Service workers and shared workers, with the storage key of each that is watched by now.
    workers: Mutex<HashMap<CdpSessionId, Option<StorageKey>>>,
    /// Who waits for the scripts of a service worker.
    scripts: Mutex<HashMap<CdpSessionId, mpsc::Sender<ScriptParsed>>>,
    /// Which frames are loading.
    loads: Mutex<Loads>,
    /// What is asked for and not answered yet, while that is wanted.
    in_flight: Mutex<InFlight>,
    /// One of them was answered.
    answered: Notify,
    /// Where passwords were entered.
    passwords: Mutex<EnteredPasswords>,
    /// What is known of the icons of sites.
    icons: Mutex<Icons>,
    /// Whether pages tell of clicks and typing.
    input: AtomicBool,
    /// The browser's profile, once it is known to be on this machine.
    profile: OnceLock<PathBuf>,
}

/// A page, or a frame in a process of its own, that we are attached to.
#[derive(Debug, Clone)]
pub(crate) struct Attached {
    /// The tab that it is or belongs to.
    pub(crate) tab: TargetId,
    /// The tab whose page opened it, and hears of it.
    pub(crate) opener: Option<TargetId>,
    /// Whether it is the tab itself.
    pub(crate) is_page: bool,
    /// Whether events tell of its changes by now, and its frames in other processes are known.
    pub(crate) is_watched: bool,
}

impl Shared {
    pub(super) fn new(known: State) -> Self {
        Self {
            mirror: Mutex::new(Mirror::new(known)),
            attached: Mutex::default(),
            crashed: Mutex::default(),
            hearings: Mutex::default(),
            workers: Mutex::default(),
            scripts: Mutex::default(),
            loads: Mutex::default(),
            in_flight: Mutex::default(),
            answered: Notify::new(),
            passwords: Mutex::default(),
            icons: Mutex::default(),
            input: AtomicBool::new(false),
            profile: OnceLock::new(),
        }
    }

    pub(crate) fn mirror(&self) -> MutexGuard<'_, Mirror> {
        self.mirror.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn attached(&self) -> MutexGuard<'_, HashMap<CdpSessionId, Attached>> {
        self.attached.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn crashed(&self) -> MutexGuard<'_, HashSet<CdpSessionId>> {
        self.crashed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nobody is there in a session who could answer: the process of its page or frame has ended.
    pub(crate) fn has_crashed(&self, session: &CdpSessionId) -> bool {
        self.crashed().contains(session)
    }

    /// Notes that the process of a page or frame has ended, or that it has one again.
    pub(super) fn note_crash(&self, session: &CdpSessionId, has_crashed: bool) {
        if has_crashed && self.attached().contains_key(session) {
            self.crashed().insert(session.clone());
        } else {
            self.crashed().remove(session);
        }
    }

    pub(super) fn loads(&self) -> MutexGuard<'_, Loads> {
        self.loads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn in_flight(&self) -> MutexGuard<'_, InFlight> {
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Is told when a request was answered.
    pub(super) fn answered(&self) -> &Notify {
        &self.answered
    }

    pub(super) fn passwords(&self) -> MutexGuard<'_, EnteredPasswords> {
        self.passwords.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn icons(&self) -> MutexGuard<'_, Icons> {
        self.icons.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn hearings(&self) -> MutexGuard<'_, Hearings> {
        self.hearings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn workers(&self) -> MutexGuard<'_, HashMap<CdpSessionId, Option<StorageKey>>> {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set_profile(&self, profile: PathBuf) {
        // It never changes: a browser that was started on another one has another keeper.
        let _ = self.profile.set(profile);
    }

    /// The browser's profile, if it is known to be on this machine.
    pub(super) fn profile(&self) -> Option<PathBuf> {
        self.profile.get().cloned()
    }

    /// Where the profile has files of sites now.
    pub(crate) async fn systems(&self) -> Systems {
        Systems::of_profile(self.profile()).await
    }

    /// What the disk says of the databases of all keys that are known to have some.
    pub(crate) async fn databases_on_disk(&self) -> BTreeMap<StorageKey, OnDisk> {
        let Some(profile) = self.profile() else { return BTreeMap::new() };
        let known = self.mirror().database_logs();
        let look = move || {
            let on_disk = known.into_iter().filter_map(|(key, log)| {
                let found = OnDisk::look(&profile, &key, log)?;
                Some((key, found))
            });
            on_disk.collect()
        };
        blocking(look).await
    }

    /// Whether pages tell of clicks and typing.
    pub(super) fn tells_input(&self) -> bool {
        self.input.load(Ordering::Relaxed)
    }

    pub(super) fn tell_input(&self, wanted: bool) {
        self.input.store(wanted, Ordering::Relaxed);
    }

    /// Whether a session that was attached is so still.
    pub(super) fn is_attached(&self, session: &CdpSession) -> bool {
        session.id().is_some_and(|id| self.attached().contains_key(id))
    }

    /// Whether everything of a tab that we are attached to is watched, as far as it is there.
    pub(crate) fn is_watched(&self, tab: &TargetId) -> bool {
        let attached = self.attached();
        let mut of_tab = attached.iter().filter(|(_, target)| &target.tab == tab).peekable();
        of_tab.peek().is_some()
            && of_tab.all(|(session, target)| target.is_watched || self.has_crashed(session))
    }

    /// Notes that a target is watched from now on. It has answered, so it is there.
    pub(super) fn watched(&self, session: &CdpSession) {
        let Some(id) = session.id() else { return };
        if let Some(target) = self.attached().get_mut(id) {
            target.is_watched = true;
        }
        self.crashed().remove(id);
    }

    /// Whether a worker that was attached is so still.
    pub(crate) fn is_worker(&self, session: &CdpSession) -> bool {
        session.id().is_some_and(|id| self.workers().contains_key(id))
    }

    /// Notes that the databases of a worker's key are watched, unless it has left meanwhile.
    pub(super) fn watched_worker(&self, session: &CdpSession, key: StorageKey) {
        let mut workers = self.workers();
        if let Some(place) = session.id().and_then(|id| workers.get_mut(id)) {
            *place = Some(key);
        }
    }

    /// Hears of the scripts of a worker from now on.
    pub(super) fn hear_scripts(&self, worker: &CdpSession) -> mpsc::Receiver<ScriptParsed> {
        let (sender, receiver) = mpsc::channel(SCRIPTS);
        if let Some(id) = worker.id() {
            self.scripts().insert(id.clone(), sender);
        }
        receiver
    }

    /// Hears no more of them.
    pub(super) fn leave_scripts(&self, worker: &CdpSession) {
        if let Some(id) = worker.id() {
            self.scripts().remove(id);
        }
    }

    /// A worker has a script. Beyond the bound it is not noted, and the worker is left to its site.
    pub(super) fn parsed(&self, worker: &CdpSessionId, script: ScriptParsed) {
        if let Some(waiting) = self.scripts().get(worker) {
            let _ = waiting.try_send(script);
        }
    }

    fn scripts(&self) -> MutexGuard<'_, HashMap<CdpSessionId, mpsc::Sender<ScriptParsed>>> {
        self.scripts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets a frame whose session has ended without a word. Of the end of a tab the browser tells.
    pub(crate) fn forget_frame(&self, session: &CdpSessionId) {
        let mut attached = self.attached();
        if attached.get(session).is_some_and(|target| !target.is_page) {
            attached.remove(session);
            self.crashed().remove(session);
            self.hearings().forget(session);
        }
    }

    /// The tab's own session and those of its cross-site frames, the tab's own first.
    pub(crate) fn sessions_of(&self, tab: &TargetId) -> Vec<CdpSessionId> {
        let attached = self.attached();
        let of_tab = attached.iter().filter(|(_, target)| &target.tab == tab);
        let mut sessions: Vec<_> =
            of_tab.map(|(session, target)| (!target.is_page, session.clone())).collect();
        sessions.sort();
        sessions.into_iter().map(|(_, session)| session).collect()
    }
}

/// How much has happened; a counter that grew means "something happened since you looked".
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Activity {
    /// Navigations, and tabs opened or closed.
    pub navigations: u64,
    /// Changes of storage.
    pub writes: u64,
    /// Requests of which pages told that they were answered, and frames that began to load.
    pub requests: u64,
    /// Clicks and typing, once a client asked for them.
    pub inputs: u64,
}

/// Counts what happens. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Counters {
    all: Sender<Activity>,
    moves: Sender<u64>,
    downloads: Sender<u64>,
}

impl Counters {
    /// Nothing has happened yet. The receivers hear of everything, and of what is no write.
    pub(super) fn new() -> (Self, Receiver<Activity>, Receiver<u64>) {
        let (all, activity) = channel(Activity::default());
        let (moves, told) = channel(0);
        (Self { all, moves, downloads: Sender::default() }, activity, told)
    }

    /// Hears of files that the browser downloads from now on.
    pub(super) fn downloads(&self) -> Receiver<u64> {
        self.downloads.subscribe()
    }

    /// A file was downloaded, and is whole.
    pub(super) fn downloaded(&self) {
        self.downloads.send_modify(|downloads| *downloads += 1);
    }

    /// A navigation, or a tab that came or went.
    pub(super) fn navigation(&self) {
        self.all.send_modify(|activity| activity.navigations += 1);
        self.moves.send_modify(|moves| *moves += 1);
    }

    /// Clicks or typing.
    pub(super) fn input(&self) {
        self.all.send_modify(|activity| activity.inputs += 1);
        self.moves.send_modify(|moves| *moves += 1);
    }

    /// A request was answered, or is about to be.
    pub(super) fn request(&self) {
        self.all.send_modify(|activity| activity.requests += 1);
        self.moves.send_modify(|moves| *moves += 1);
    }

    /// A change of storage.
    pub(super) fn wrote(&self) {
        self.all.send_modify(|activity| activity.writes += 1);
    }
}

/// How long a frame counts as loading: one that hangs for longer is looked at like any other.
const LIMIT: Duration = Duration::from_mins(1);
/// How many frames are known to load at once; more make no difference.
const MOST: usize = 256;

/// The frames that are loading, by the session that tells of them.
#[derive(Debug, Default)]
pub(crate) struct Loads(HashMap<(CdpSessionId, String), Instant>);

impl Loads {
    /// A frame began to load.
    pub(super) fn began(&mut self, session: CdpSessionId, frame: String, now: Instant) {
        self.0.retain(|_, since| now.duration_since(*since) < LIMIT);
        if self.0.len() < MOST {
            self.0.insert((session, frame), now);
        }
    }

    /// A frame has loaded, has given up, or has left.
    pub(super) fn ended(&mut self, session: CdpSessionId, frame: String) {
        self.0.remove(&(session, frame));
    }

    /// All frames of a session have left.
    pub(super) fn left(&mut self, session: &CdpSessionId) {
        self.0.retain(|(of, _), _| of != session);
    }

    /// Whether any is loading.
    pub(super) fn any(&self, now: Instant) -> bool {
        self.0.values().any(|since| now.duration_since(*since) < LIMIT)
    }
}

/// Of how many sites the icon is remembered.
const SITES_MAX: usize = 64;

/// What is known of the icons of sites.
#[derive(Debug, Default)]
pub(crate) struct Icons {
    /// Those of sites that have one, from the oldest to the newest.
    found: VecDeque<SiteIcon>,
    /// The site in front, when it was asked and has none.
    none: Option<Site>,
}

impl Icons {
    /// The tab in front shows this site: what is known of its icon, or nothing when it is to be asked.
    pub(crate) fn visit(&mut self, site: &Site) -> Option<SiteIcon> {
        self.none.take_if(|none| none != site);
        let none = self.none.clone().map(|site| SiteIcon { site, png: None });
        none.or_else(|| self.found.iter().find(|known| known.site == *site).cloned())
    }

    /// Remembers what was found of a site that was not known.
    pub(crate) fn learn(&mut self, icon: SiteIcon) {
        if icon.png.is_none() {
            self.none = Some(icon.site);
            return;
        }
        self.found.retain(|known| known.site != icon.site);
        if self.found.len() == SITES_MAX {
            self.found.pop_front();
        }
        self.found.push_back(icon);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(id: &str) -> CdpSessionId {
        serde_json::from_value(id.into()).unwrap()
    }

    #[test]
    fn a_frame_loads_until_it_has_loaded_left_or_hung_for_too_long() {
        let (mut loads, now) = (Loads::default(), Instant::now());
        assert!(!loads.any(now));
        loads.began(session("1"), "a".to_owned(), now);
        loads.began(session("2"), "b".to_owned(), now);
        assert!(loads.any(now));
        loads.ended(session("1"), "a".to_owned());
        assert!(loads.any(now));
        loads.left(&session("2"));
        assert!(!loads.any(now));
        loads.began(session("1"), "a".to_owned(), now);
        assert!(!loads.any(now + LIMIT));
    }

    #[test]
    fn a_page_of_many_frames_takes_no_more_room() {
        let (mut loads, now) = (Loads::default(), Instant::now());
        for frame in 0..2 * MOST {
            loads.began(session("1"), frame.to_string(), now);
        }
        assert_eq!(loads.0.len(), MOST);
        loads.began(session("1"), "later".to_owned(), now + LIMIT);
        assert_eq!(loads.0.len(), 1);
    }

    fn icon(host: &str, png: Option<&[u8]>) -> SiteIcon {
        SiteIcon { site: Site::of_host(host), png: png.map(<[u8]>::to_vec) }
    }

    #[test]
    fn a_site_without_an_icon_is_asked_again_once_another_was_in_front() {
        let (shop, bank) = (Site::of_host("shop.test"), Site::of_host("bank.test"));
        let mut icons = Icons::default();
        assert_eq!(icons.visit(&shop), None);
        icons.learn(icon("shop.test", None));
        assert_eq!(icons.visit(&shop), Some(icon("shop.test", None)));
        assert_eq!(icons.visit(&bank), None);
        assert_eq!(icons.visit(&shop), None);
        icons.learn(icon("shop.test", Some(b"png")));
        assert_eq!(icons.visit(&bank), None);
        assert_eq!(icons.visit(&shop), Some(icon("shop.test", Some(b"png"))));
    }

    #[test]
    fn the_oldest_is_forgotten_beyond_the_bound() {
        let mut icons = Icons::default();
        let host = |at: usize| format!("s{at}.test");
        for at in 0..=SITES_MAX {
            icons.learn(icon(&host(at), Some(b"png")));
        }
        assert_eq!(icons.found.len(), SITES_MAX);
        assert_eq!(icons.visit(&Site::of_host(&host(0))), None);
        assert!(icons.visit(&Site::of_host(&host(SITES_MAX))).is_some());
    }
}
