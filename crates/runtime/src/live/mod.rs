//! The running browsers of this node, by session, and why one could not do what was asked.
//!
//! The one idea: a browser belongs to its keeper, not to the node. The supervisor connects to keepers,
//! watches and captures; when the node ends, however it ends, the browsers live on, and the next
//! node carries on from the sockets that it finds.

mod arriving;
mod capture;
mod checkout;
mod close;
mod forgetting;
mod held;
mod lease;
mod leaving;
mod load;
mod offstage;
mod open;
mod policy;
mod profile;
mod record;
mod recover;
mod resume;
mod room;
mod runner;
mod scratch;
mod screens;
mod sign_ins;
mod signed_in;
mod way_out;

pub use checkout::{Checkout, Handed};
pub use load::Loaded;
pub use profile::FilesGone;
pub use recover::Recovered;
pub use resume::{RESTORE_LIMIT, Resumed};
pub use room::{BROWSER_BYTES, Room, RoomLimits};
pub(crate) use signed_in::choose;
pub use way_out::EgressRules;

use crate::table::{Busy, Hold, SessionTable};
use arriving::Arrivals;
use baton_browser::cdp::CdpError;
use baton_browser::keeper::{BadEgress, KeeperError, Keepers};
use baton_browser::launch::{
    BrowserChoice, ChromiumSandbox, Confine, Folder, LaunchError, NotThisBrowser, Switch,
};
use baton_browser::profile::ProfileError;
use baton_browser::profile::compile::{CompileError, ProfileCache};
use baton_browser::restore::RestoreError;
use baton_debug::Relay;
use baton_session::{Confinement, NodeId, NodeLabel, SandboxId, SessionId, SnapshotId};
use baton_store::blocking::Stopping;
use baton_store::data::{DataError, DataFolder};
use baton_store::{Store, StoreError};
use lease::Heartbeat;
pub(crate) use lease::Taker;
use record::Recording;
use runner::Runner;
use screens::Screens;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, watch};
use tokio_util::task::TaskTracker;

/// How long work that no caller waits for waits to hold a session.
const HOLD_LIMIT: Duration = Duration::from_secs(5);

/// How much memory compiled profiles may take, in bytes.
const COMPILED_LIMIT: u64 = 128 << 20;

/// All running browsers of this node, by session. Cheap to clone.
#[derive(Clone)]
pub struct BrowserSupervisor(Arc<SupervisorState>);

struct SupervisorState {
    store: Store,
    config: SupervisorConfig,
    runners: Mutex<HashMap<SessionId, Arc<Runner>>>,
    /// What is recorded.
    recordings: Mutex<HashMap<SessionId, Recording>>,
    /// The screens that somebody watches.
    screens: Screens,
    /// What is done with sessions right now, so that two requests never start two browsers.
    table: SessionTable,
    heartbeat: Heartbeat,
    /// Profiles that were compiled, for the next browser with the same login.
    compiled: ProfileCache,
    /// How many browsers there are, for who waits for a change.
    number: watch::Sender<usize>,
    /// The sessions whose browsers are being started.
    starting: Mutex<HashSet<SessionId>>,
    /// Whether what runs here goes to other nodes.
    is_leaving: AtomicBool,
    /// How many browsers of no session may still be started.
    offstage: Semaphore,
    /// The sessions that come here from other nodes.
    arrivals: Arrivals,
    tasks: TaskTracker,
}

/// What the supervisor needs to run browsers.
pub struct SupervisorConfig {
    /// Where profiles, sockets and logs live.
    pub data: DataFolder,
    /// Which node this is.
    pub node: NodeId,
    /// Where this node runs: host and data folder.
    pub place: String,
    /// How long it holds what it holds without a beat; none when it has its database for itself.
    pub lease: Option<Duration>,
    /// The browser to start; none means the best that is there.
    pub browser: Option<BrowserChoice>,
    /// How the machine's files are taken away from browsers.
    pub confine: Confine,
    /// Folders of the machine that browsers of the owner `local` see all the same.
    pub folders: Vec<Folder>,
    /// Which ways out to the network they get.
    pub egress: EgressRules,
    /// Whether Chromium keeps its pages in a sandbox of its own.
    pub sandbox: ChromiumSandbox,
    /// Further switches of Chromium.
    pub switches: Vec<Switch>,
    /// How many browsers of sessions run at once.
    pub room: RoomLimits,
    /// What the node is for: sessions that ask for another label are not opened here.
    pub labels: BTreeSet<NodeLabel>,
    /// Whether what a silent node held is brought back, wherever there is room.
    pub failover: bool,
    /// How keepers are started.
    pub keepers: Arc<dyn Keepers>,
    /// The variables that browsers may inherit.
    pub inherited: BTreeMap<String, String>,
    /// Where what tabs do is sent.
    pub relay: Relay,
    /// How much of a body is sent there, in bytes.
    pub recorded_body_bytes: usize,
    /// When to capture, and what to do at start-up; may change while the node runs.
    pub recovery: watch::Receiver<RecoverySettings>,
}

/// When to capture, and what to do at start-up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecoverySettings {
    /// How long a changed session may go without a snapshot.
    pub session_snapshot_interval: Duration,
    /// How old a snapshot may be and still count as recoverable.
    pub max_session_age: Duration,
    /// Whether the node resumes by itself what was lost with it, or with another node of its database.
    pub auto_rehydrate: bool,
    /// How many snapshots of a session are kept.
    pub max_session_snapshots: u32,
    /// Whether clicks and typing are followed by a snapshot.
    pub capture_on_input: bool,
}

impl BrowserSupervisor {
    /// A supervisor without browsers.
    pub fn new(store: Store, config: SupervisorConfig) -> Self {
        Self(Arc::new(SupervisorState {
            store,
            config,
            runners: Mutex::default(),
            recordings: Mutex::default(),
            screens: Screens::default(),
            table: SessionTable::default(),
            heartbeat: Heartbeat::default(),
            compiled: ProfileCache::new(COMPILED_LIMIT),
            number: watch::Sender::default(),
            starting: Mutex::default(),
            is_leaving: AtomicBool::new(false),
            offstage: Semaphore::new(offstage::AT_ONCE),
            arrivals: Arrivals::default(),
            tasks: TaskTracker::new(),
        }))
    }

    /// How many browsers this node holds.
    pub fn active(&self) -> usize {
        self.runners().len()
    }

    /// The receiver hears, from now on, whenever there are more or fewer browsers.
    pub fn changes_in_number(&self) -> watch::Receiver<usize> {
        self.0.number.subscribe()
    }

    /// Whether this node holds the session's browser.
    pub fn holds(&self, id: SessionId) -> bool {
        self.runner(id).is_ok()
    }

    /// By which rules the browser that this node holds for a session is kept from the files of the
    /// machine; none when it holds none.
    pub fn confinement(&self, id: SessionId) -> Option<Confinement> {
        self.runner(id).ok().map(|runner| runner.live.confinement())
    }

    /// Whether the browser that this node holds for a session reaches the network through its keeper alone.
    pub fn is_fenced(&self, id: SessionId) -> bool {
        self.runner(id).is_ok_and(|runner| runner.live.is_fenced())
    }

    /// Whether what this node holds for a session is a browser that others started, which goes on without it.
    pub fn is_attached(&self, id: SessionId) -> bool {
        self.runner(id).is_ok_and(|runner| runner.live.is_attached())
    }

    /// Whether a sandbox has the session.
    pub fn is_checked_out(&self, id: SessionId) -> bool {
        self.table().checked_out_to(id).is_some()
    }

    /// Where profiles, sockets and logs live.
    pub fn data(&self) -> &DataFolder {
        &self.config().data
    }

    /// What is done with sessions right now.
    pub fn table(&self) -> &SessionTable {
        &self.0.table
    }

    /// Profiles that were compiled.
    pub fn compiled(&self) -> &ProfileCache {
        &self.0.compiled
    }

    fn store(&self) -> &Store {
        &self.0.store
    }

    fn config(&self) -> &SupervisorConfig {
        &self.0.config
    }

    /// The settings as they are now.
    fn recovery(&self) -> watch::Ref<'_, RecoverySettings> {
        self.config().recovery.borrow()
    }

    fn runners(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<Runner>>> {
        self.0.runners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn runner(&self, id: SessionId) -> Result<Arc<Runner>, LiveError> {
        self.runners().get(&id).cloned().ok_or_else(|| match self.table().checked_out_to(id) {
            Some(sandbox) => LiveError::CheckedOut { id, sandbox },
            None => LiveError::NotActive(id),
        })
    }

    fn recordings(&self) -> MutexGuard<'_, HashMap<SessionId, Recording>> {
        self.0.recordings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Checks that no sandbox has the session.
fn expect_checked_in(hold: &Hold) -> Result<(), LiveError> {
    let id = hold.id();
    hold.checked_out_to().map_or(Ok(()), |sandbox| Err(LiveError::CheckedOut { id, sandbox }))
}

/// Why a browser could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// Its way out to the network cannot be made.
    #[error(transparent)]
    Egress(#[from] BadEgress),
    /// No browser runs here for the session.
    #[error("expected session {0} to have a running browser, found none\nresume it first")]
    NotActive(SessionId),
    /// A browser runs here for the session already.
    #[error("session {0} has a running browser already")]
    AlreadyActive(SessionId),
    /// Something else is being done with the session.
    #[error(transparent)]
    Busy(#[from] Busy),
    /// A sandbox has the session.
    #[error(
        "expected session {id} to be held by nobody, found that sandbox {sandbox} holds it\n\
         baton sandbox delete {sandbox} ends it and writes the session back"
    )]
    CheckedOut {
        /// Which session.
        id: SessionId,
        /// Which sandbox.
        sandbox: SandboxId,
    },
    /// This node runs as many browsers as it takes.
    #[error(
        "expected room for one browser more on this node, found {0}\n\
         close sessions that nobody needs, or change browser.most or browser.memory_reserve"
    )]
    NoRoom(Room),
    /// What this node runs goes to others.
    #[error(
        "expected a node that takes something new, found that this one is being drained\n\
         ask another node, or resume the session at another one first; \
         baton node drain --undo lets it take sessions again"
    )]
    Leaving,
    /// The other nodes would take what starts here.
    #[error(
        "expected the database to hear that this node is there, found that no word of it came through for a while\n\
         ask again in some seconds"
    )]
    NotHeard,
    /// As many sessions come here from other nodes as may.
    #[error(
        "expected at most {most} sessions to be on their way to this node, found as many\ntry again in a minute"
    )]
    TooManyArrive {
        /// How many may.
        most: usize,
    },
    /// This node is not for what the session asks for.
    #[error(
        "expected a node with the labels {wanted}, found {found}\n\
         cluster.labels says what a node is for, and baton node list shows which node has which"
    )]
    NoLabel {
        /// What is asked for.
        wanted: String,
        /// What this node has.
        found: String,
    },
    /// Nothing to come back from.
    #[error("expected session {0} to have a snapshot, found none")]
    NoSnapshot(SessionId),
    /// Another process holds the session's profile.
    #[error("the profile {} is in use by process {pid}\nend that browser, then try again", profile.display())]
    ProfileInUse {
        /// The profile folder.
        profile: PathBuf,
        /// The process that holds it.
        pid: u32,
    },
    /// There are snapshots, and none of them can be read.
    #[error(
        "expected session {id} to have a snapshot that can be read, found all damaged: {why}\n\
         restore the database from a backup; the session's profile is still there"
    )]
    SnapshotsDamaged {
        /// Which session.
        id: SessionId,
        /// What is wrong with the newest one.
        why: String,
    },
    /// Nothing can be read of the snapshot that was asked for.
    #[error(
        "expected a snapshot of which something can be read, found snapshot {snapshot} damaged: {why}\n\
         choose another one: baton sessions history --verify says of each what is damaged"
    )]
    SnapshotDamaged {
        /// Which snapshot.
        snapshot: SnapshotId,
        /// What is wrong with it.
        why: String,
    },
    /// Another node bears this one's id.
    #[error(
        "expected node {node} to run once, found it running at {place}\n\
         a copy of a data folder needs an id of its own: remove its file node.id, then try again"
    )]
    Twin {
        /// The id of both.
        node: NodeId,
        /// Where the other one runs.
        place: String,
    },
    /// Another node holds the session by now.
    #[error(
        "another node holds session {session} by now\n\
         what this one captured is kept as snapshot {sibling}, beside those of the other"
    )]
    LeaseLost {
        /// Which session.
        session: SessionId,
        /// What was captured too late.
        sibling: SnapshotId,
    },
    /// Not all that its browser holds could be captured, so it does not move.
    #[error(
        "expected all of a session to be read before it moves, found that {place} was not: {reason}\n\
         close the page that hangs, or answer what it asks, then drain the node again; \
         where the browser itself cannot read it, baton sessions close and baton sessions resume \
         bring the session to another node with what was last known"
    )]
    NotRead {
        /// What was not read, without secrets.
        place: String,
        /// Why.
        reason: String,
    },
    /// Something took longer than it may.
    #[error("expected {what} within {limit:?}, found it still under way")]
    TooSlow {
        /// What was awaited.
        what: &'static str,
        /// How long.
        limit: Duration,
    },
    /// The browser cannot be started.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The browser cannot be what it should say that it is.
    #[error(
        "expected a user agent that this browser can be, found that {0}\n\
         leave it out, or keep browser, version and system and add a name of your own at the end"
    )]
    NotThisBrowser(#[from] NotThisBrowser),
    /// The keeper, or the browser behind it, does not answer.
    #[error(transparent)]
    Keeper(#[from] KeeperError),
    /// The browser does not answer.
    #[error(transparent)]
    Browser(#[from] CdpError),
    /// The state could not be given to the browser.
    #[error(transparent)]
    Restore(#[from] RestoreError),
    /// The profile could not be kept beside, or put back.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// A profile could not be compiled.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// A file of the session could not be written or removed.
    #[error("could not use {}: {source}", path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file of the data folder could not be written, or a folder that a browser sees would give it away.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The node is stopping.
    #[error("the node is stopping")]
    Stopping,
    /// The database refused.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl LiveError {
    fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}

impl From<Stopping> for LiveError {
    fn from(_: Stopping) -> Self {
        Self::Stopping
    }
}
