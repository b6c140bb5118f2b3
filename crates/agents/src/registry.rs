//! The sandboxes that there are, and who makes them.
//!
//! It is below the operations: they find here what each other made, and leave here what became of it.

use crate::counted::Counted;
use crate::error::{AgentsError, SandboxRefusal};
use crate::settings::{Prepare, SandboxSettings};
use baton_api::sandbox::{SandboxView, TakeBack, WrittenBack};
use baton_egress::Ledger;
use baton_runtime::live::Checkout;
use baton_runtime::sessions::egress_hosts;
use baton_sandbox::{Provider, Sandbox};
use baton_session::write_back::GivenTab;
use baton_session::{Owner, Receipt, SandboxId, SessionId, Site};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::sync::{OnceCell, Semaphore, broadcast, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use zeroize::Zeroizing;

/// How many changes of lists wait for one who listens; who is later looks at everything.
const WAITING: usize = 256;

/// The start of an id has to be so long at least.
const PREFIX: usize = 4;

/// The sandboxes of this node. Cheap to clone.
#[derive(Clone)]
pub struct Sandboxes(Arc<Inner>);

struct Inner {
    /// What makes them, or why nothing does.
    provider: Result<Arc<dyn Provider>, String>,
    settings: SandboxSettings,
    /// Where profiles are made before they go in.
    scratch: PathBuf,
    /// Whether a caller wanted one.
    used: watch::Sender<bool>,
    places: Mutex<BTreeMap<SandboxId, Place>>,
    /// Tells that one is made, came, is ended, or went.
    changed: watch::Sender<()>,
    /// Tells whose list is another one.
    lists: broadcast::Sender<Owner>,
}

enum Place {
    /// It is being made.
    Made,
    /// It is there.
    There(Arc<Kept>),
    /// It is being ended.
    Ending(Arc<Kept>),
}

/// A sandbox that is there.
pub(crate) struct Kept {
    pub(crate) view: SandboxView,
    pub(crate) sandbox: Box<dyn Sandbox>,
    /// What its session adds to the variables of a command.
    pub(crate) env: BTreeMap<String, String>,
    /// Its only way to the network, if that is its own.
    pub(crate) way_out: Option<Served>,
    /// The session that it has.
    pub(crate) checked_out: Option<SandboxSession>,
    /// What shows its display through the node, if it has one.
    pub(crate) display: OnceLock<OwnView>,
    /// Cancelled when it ends, so that no task waits for its time any more.
    pub(crate) ended: CancellationToken,
    /// Since when it is kept although it was to end, because this node could not read it.
    pub(crate) unread_since: OnceLock<Instant>,
    /// That it counts among those of its owner.
    pub(crate) counted: Counted,
}

/// How the node itself looks at a display.
pub(crate) struct OwnView {
    /// What the display wants to hear.
    pub(crate) password: Zeroizing<String>,
    /// Places for viewers, which those that come by the port share.
    pub(crate) viewers: Arc<Semaphore>,
}

/// A way to the network that is served while this is there.
pub(crate) struct Served {
    pub(crate) ledger: Ledger,
    pub(crate) _serving: AbortOnDropHandle<()>,
}

impl Kept {
    /// What there is to say of it now.
    pub(crate) fn view(&self) -> SandboxView {
        let mut view = self.view.clone();
        if let (Some(egress), Some(way_out)) = (&mut view.egress, &self.way_out) {
            egress.hosts = egress_hosts(way_out.ledger.tallies());
        }
        view
    }
}

/// A session that a sandbox has.
pub(crate) struct SandboxSession {
    pub checkout: Checkout,
    /// What of it was in the profile.
    pub(crate) receipt: Receipt,
    /// Which of its tabs a browser there is given.
    pub(crate) given: Vec<GivenTab>,
    /// Which sites are written back.
    pub(crate) take_back: TakeBack,
    /// What was written back, once it was: never a second time, whatever fails after that.
    pub(crate) taken: OnceCell<CheckInOutcome>,
}

/// How many items of which sites were not taken back.
pub(crate) type LeftSites = BTreeMap<Site, usize>;

/// What became of a session that a sandbox had.
#[derive(Debug, Clone)]
pub(crate) struct CheckInOutcome {
    pub(crate) told: WrittenBack,
    /// Which sites were not taken.
    pub(crate) left_sites: LeftSites,
}

/// How much room there is for sandboxes, at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SandboxRoom {
    /// How many there are, those that are being made or ended included.
    pub there: usize,
    /// How many more there may be, by what the settings say; none where this node can make none.
    pub places: usize,
}

/// A place for a sandbox, which is free again when this is dropped.
pub(crate) struct Slot {
    sandboxes: Sandboxes,
    pub(crate) id: SandboxId,
    is_kept: bool,
}

impl Sandboxes {
    /// None yet. The folder `scratch` is there, and for this alone.
    pub fn new(
        provider: Result<Arc<dyn Provider>, String>,
        settings: SandboxSettings,
        scratch: PathBuf,
    ) -> Self {
        let (places, used) = (Mutex::default(), watch::Sender::new(false));
        let (changed, lists) = (watch::Sender::default(), broadcast::Sender::new(WAITING));
        Self(Arc::new(Inner { provider, settings, scratch, used, places, changed, lists }))
    }

    /// Tells each time that one is made, came, is ended, or went.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.0.changed.subscribe()
    }

    /// Tells the owner each time that a list of one's sandboxes becomes another one.
    pub fn listen(&self) -> broadcast::Receiver<Owner> {
        self.0.lists.subscribe()
    }

    /// The list of an owner is another one.
    fn tell(&self, owner: &Owner) {
        self.0.changed.send_replace(());
        // There need be no listener.
        let _ = self.0.lists.send(owner.clone());
    }

    /// All that there are, with the session that each has, whatever happens to them right now.
    pub fn left(&self) -> Vec<(SandboxId, Option<SessionId>)> {
        let session = |kept: &Kept| {
            kept.checked_out.as_ref().map(|checked_out| checked_out.checkout.session.id)
        };
        let places = self.places();
        let left = places.iter().map(|(id, place)| match place {
            Place::Made => (*id, None),
            Place::There(kept) | Place::Ending(kept) => (*id, session(kept)),
        });
        left.collect()
    }

    /// How much room there is now.
    pub fn room(&self) -> SandboxRoom {
        let most = if self.0.provider.is_ok() { self.settings().most } else { 0 };
        let there = self.len();
        SandboxRoom { there, places: most.saturating_sub(there) }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.places().len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.places().is_empty()
    }

    pub(crate) fn settings(&self) -> &SandboxSettings {
        &self.0.settings
    }

    pub(crate) fn scratch(&self) -> &PathBuf {
        &self.0.scratch
    }

    /// Who makes them.
    pub(crate) fn provider(&self) -> Result<&dyn Provider, SandboxRefusal> {
        let provider = self.0.provider.as_ref().map(AsRef::as_ref);
        provider.map_err(|why| SandboxRefusal::Unavailable { why: why.clone() })
    }

    /// Notes that a caller wants sandboxes of this node.
    pub(crate) fn note_use(&self) {
        self.0.used.send_if_modified(|used| !std::mem::replace(used, true));
    }

    /// Whether this node makes any, and may prepare what goes into them.
    pub(crate) fn can_prepare(&self) -> bool {
        let settings = self.settings();
        self.0.provider.is_ok() && settings.most > 0 && settings.prepare != Prepare::Never
    }

    /// Whether what goes into them is prepared.
    pub(crate) fn prepares(&self) -> bool {
        let is_wanted = *self.0.used.borrow() || self.settings().prepare == Prepare::Always;
        self.can_prepare() && is_wanted
    }

    /// Returns when a caller wants one of a node that prepares what goes in.
    pub(crate) async fn wanted(&self) {
        let used = self.0.used.subscribe().wait_for(|used| *used).await.is_ok();
        if !used || !self.can_prepare() {
            std::future::pending::<()>().await;
        }
    }

    /// A place for one more.
    pub(crate) fn reserve(&self, id: SandboxId) -> Result<Slot, SandboxRefusal> {
        let most = self.settings().most;
        let mut places = self.places();
        if places.len() >= most {
            return Err(SandboxRefusal::TooMany { most });
        }
        places.insert(id, Place::Made);
        drop(places);
        self.note_use();
        self.0.changed.send_replace(());
        Ok(Slot { sandboxes: self.clone(), id, is_kept: false })
    }

    /// An owner's sandbox, by its id or the start of it.
    pub(crate) fn find(&self, owner: &Owner, reference: &str) -> Result<Arc<Kept>, AgentsError> {
        let reference = reference.to_ascii_lowercase();
        let found = self.of(owner).into_iter().filter(|kept| {
            let id = kept.view.id.to_string();
            id == reference || (reference.len() >= PREFIX && id.starts_with(&reference))
        });
        let mut found: Vec<_> = found.collect();
        match found.len() {
            0 => Err(SandboxRefusal::NotFound { reference }.into()),
            1 => Ok(found.remove(0)),
            found => Err(SandboxRefusal::Ambiguous { reference, found }.into()),
        }
    }

    /// Those of an owner, the oldest first.
    pub(crate) fn of(&self, owner: &Owner) -> Vec<Arc<Kept>> {
        self.all().into_iter().filter(|kept| kept.view.owner == *owner).collect()
    }

    /// All of them, the oldest first.
    pub(crate) fn all(&self) -> Vec<Arc<Kept>> {
        let places = self.places();
        let there = places.values().filter_map(|place| match place {
            Place::There(kept) => Some(Arc::clone(kept)),
            Place::Made | Place::Ending(_) => None,
        });
        there.collect()
    }

    /// Takes a sandbox, to end it. None when another task does.
    pub(crate) fn claim_for_end(&self, id: SandboxId) -> Option<(Arc<Kept>, Slot)> {
        let mut places = self.places();
        let Some(Place::There(kept)) = places.get(&id) else { return None };
        let kept = Arc::clone(kept);
        places.insert(id, Place::Ending(Arc::clone(&kept)));
        drop(places);
        self.tell(&kept.view.owner);
        Some((kept, Slot { sandboxes: self.clone(), id, is_kept: false }))
    }

    fn places(&self) -> MutexGuard<'_, BTreeMap<SandboxId, Place>> {
        self.0.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    /// It is there from now on, or once more.
    pub(crate) fn keep(mut self, kept: Arc<Kept>) {
        let owner = kept.view.owner.clone();
        self.sandboxes.places().insert(self.id, Place::There(kept));
        self.is_kept = true;
        self.sandboxes.tell(&owner);
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if !self.is_kept {
            self.sandboxes.places().remove(&self.id);
            self.sandboxes.0.changed.send_replace(());
        }
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").field("id", &self.view.id).finish_non_exhaustive()
    }
}
