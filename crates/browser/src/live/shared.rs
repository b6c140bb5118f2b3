//! What the event loop and the captures share: the mirror, and what we are attached to.

use super::hearing::Hearings;
use super::icons::Icons;
use super::loads::Loads;
use super::messages::ScriptParsed;
use super::mirror::Mirror;
use crate::cdp::{CdpSession, CdpSessionId};
use crate::profile::systems::Systems;
use crate::targets::TargetId;
use baton_session::{State, StorageKey};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::sync::mpsc;

/// How many scripts of one worker wait to be looked at.
const SCRIPTS: usize = 4096;

/// What the event loop and the captures share.
#[derive(Debug)]
pub(crate) struct Shared {
    mirror: Mutex<Mirror>,
    attached: Mutex<HashMap<CdpSessionId, Attached>>,
    /// How the storage events of each of them are heard.
    hearings: Mutex<Hearings>,
    /// Service workers and shared workers, with the storage key of each that is watched by now.
    workers: Mutex<HashMap<CdpSessionId, Option<StorageKey>>>,
    /// Who waits for the scripts of a service worker.
    scripts: Mutex<HashMap<CdpSessionId, mpsc::Sender<ScriptParsed>>>,
    /// Which frames are loading.
    loads: Mutex<Loads>,
    /// What is known of the icons of sites.
    icons: Mutex<Icons>,
    /// Whether clicks and typing are told.
    input: AtomicBool,
    /// The browser's profile, once it is known to be on this machine.
    profile: OnceLock<PathBuf>,
}

/// A page, or a frame in a process of its own, that we are attached to.
#[derive(Debug, Clone)]
pub(crate) struct Attached {
    /// The tab that it is or belongs to.
    pub(crate) tab: TargetId,
    /// Whether it is the tab itself.
    pub(crate) is_page: bool,
    /// Whether its changes are told by now, and its frames in other processes are known.
    pub(crate) is_watched: bool,
}

impl Shared {
    pub(super) fn new(known: State) -> Self {
        Self {
            mirror: Mutex::new(Mirror::new(known)),
            attached: Mutex::default(),
            hearings: Mutex::default(),
            workers: Mutex::default(),
            scripts: Mutex::default(),
            loads: Mutex::default(),
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

    pub(super) fn loads(&self) -> MutexGuard<'_, Loads> {
        self.loads.lock().unwrap_or_else(PoisonError::into_inner)
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
        Systems::look(self.profile()).await
    }

    /// Whether clicks and typing are told.
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

    /// Whether everything of a tab that we are attached to is watched.
    pub(crate) fn is_watched(&self, tab: &TargetId) -> bool {
        let attached = self.attached();
        let mut of_tab = attached.values().filter(|target| &target.tab == tab).peekable();
        of_tab.peek().is_some() && of_tab.all(|target| target.is_watched)
    }

    /// Notes that a target is watched from now on.
    pub(super) fn watched(&self, session: &CdpSession) {
        let mut attached = self.attached();
        if let Some(target) = session.id().and_then(|id| attached.get_mut(id)) {
            target.is_watched = true;
        }
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

    /// A worker has a script. Beyond the bound nobody is told, and the worker is left to its site.
    pub(super) fn parsed(&self, worker: &CdpSessionId, script: ScriptParsed) {
        if let Some(waiting) = self.scripts().get(worker) {
            let _ = waiting.try_send(script);
        }
    }

    fn scripts(&self) -> MutexGuard<'_, HashMap<CdpSessionId, mpsc::Sender<ScriptParsed>>> {
        self.scripts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets a frame whose session has ended without a word. A tab of its own is told of.
    pub(crate) fn forget_frame(&self, session: &CdpSessionId) {
        let mut attached = self.attached();
        if attached.get(session).is_some_and(|target| !target.is_page) {
            attached.remove(session);
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
