//! The sandboxes that there are, and who makes them.

use super::SandboxRefusal;
use crate::NodeError;
use crate::config::{Prepare, SandboxSettings};
use crate::live::Loan;
use baton_api::sandbox::{SandboxView, TakeBack};
use baton_sandbox::{Provider, Sandbox};
use baton_session::{Owner, Receipt, SandboxId};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// The start of an id has to be so long at least.
const PREFIX: usize = 4;

/// The sandboxes of this node. Cheap to clone.
#[derive(Clone)]
pub struct Sandboxes(Arc<Inner>);

struct Inner {
    /// Who makes them, or why nobody does.
    provider: Result<Box<dyn Provider>, String>,
    settings: SandboxSettings,
    /// Where profiles are made before they go in.
    scratch: PathBuf,
    /// Whether somebody wanted one.
    used: watch::Sender<bool>,
    places: Mutex<BTreeMap<SandboxId, Place>>,
}

enum Place {
    /// It is being made, or ended.
    Taken,
    /// It is there.
    There(Arc<Kept>),
}

/// A sandbox that is there.
pub(super) struct Kept {
    pub(super) view: SandboxView,
    pub(super) sandbox: Box<dyn Sandbox>,
    /// The session that it has.
    pub(super) lent: Option<Lent>,
    /// Told when it ends, so that nobody waits for its time any more.
    pub(super) ended: CancellationToken,
}

/// A session that a sandbox has.
pub(super) struct Lent {
    pub(super) loan: Loan,
    /// What of it was in the profile.
    pub(super) receipt: Receipt,
    /// Which sites are written back.
    pub(super) take_back: TakeBack,
}

/// A place for a sandbox, which is free again when this is dropped.
pub(super) struct Slot {
    sandboxes: Sandboxes,
    pub(super) id: SandboxId,
    is_kept: bool,
}

impl Sandboxes {
    /// None yet. The folder `scratch` is there, and nobody else's.
    pub fn new(
        provider: Result<Box<dyn Provider>, String>,
        settings: SandboxSettings,
        scratch: PathBuf,
    ) -> Self {
        let (places, used) = (Mutex::default(), watch::Sender::new(false));
        Self(Arc::new(Inner { provider, settings, scratch, used, places }))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.places().is_empty()
    }

    pub(crate) fn settings(&self) -> &SandboxSettings {
        &self.0.settings
    }

    pub(super) fn scratch(&self) -> &PathBuf {
        &self.0.scratch
    }

    /// Who makes them.
    pub(super) fn provider(&self) -> Result<&dyn Provider, SandboxRefusal> {
        let provider = self.0.provider.as_ref().map(AsRef::as_ref);
        provider.map_err(|why| SandboxRefusal::Unavailable { why: why.clone() })
    }

    /// Notes that somebody wants sandboxes of this node.
    pub(super) fn note_use(&self) {
        self.0.used.send_if_modified(|used| !std::mem::replace(used, true));
    }

    /// Whether this node makes any, and may prepare what goes into them.
    pub(super) fn can_prepare(&self) -> bool {
        let settings = self.settings();
        self.0.provider.is_ok() && settings.most > 0 && settings.prepare != Prepare::Never
    }

    /// Whether what goes into them is prepared.
    pub(super) fn prepares(&self) -> bool {
        let is_wanted = *self.0.used.borrow() || self.settings().prepare == Prepare::Always;
        self.can_prepare() && is_wanted
    }

    /// Returns when somebody wants one of a node that prepares what goes in.
    pub(super) async fn wanted(&self) {
        let used = self.0.used.subscribe().wait_for(|used| *used).await.is_ok();
        if !used || !self.can_prepare() {
            std::future::pending::<()>().await;
        }
    }

    /// A place for one more.
    pub(super) fn reserve(&self, id: SandboxId) -> Result<Slot, SandboxRefusal> {
        let most = self.settings().most;
        let mut places = self.places();
        if places.len() >= most {
            return Err(SandboxRefusal::TooMany { most });
        }
        places.insert(id, Place::Taken);
        self.note_use();
        Ok(Slot { sandboxes: self.clone(), id, is_kept: false })
    }

    /// An owner's sandbox, by its id or the start of it.
    pub(super) fn find(&self, owner: &Owner, reference: &str) -> Result<Arc<Kept>, NodeError> {
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
    pub(super) fn of(&self, owner: &Owner) -> Vec<Arc<Kept>> {
        self.all().into_iter().filter(|kept| kept.view.owner == *owner).collect()
    }

    /// All of them, the oldest first.
    pub(super) fn all(&self) -> Vec<Arc<Kept>> {
        let places = self.places();
        let there = places.values().filter_map(|place| match place {
            Place::There(kept) => Some(Arc::clone(kept)),
            Place::Taken => None,
        });
        there.collect()
    }

    /// Takes a sandbox, to end it. None when somebody else does.
    pub(super) fn take(&self, id: SandboxId) -> Option<(Arc<Kept>, Slot)> {
        let mut places = self.places();
        let Some(Place::There(kept)) = places.get(&id) else { return None };
        let kept = Arc::clone(kept);
        places.insert(id, Place::Taken);
        Some((kept, Slot { sandboxes: self.clone(), id, is_kept: false }))
    }

    fn places(&self) -> MutexGuard<'_, BTreeMap<SandboxId, Place>> {
        self.0.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    /// It is there from now on, or once more.
    pub(super) fn keep(mut self, kept: Arc<Kept>) {
        self.sandboxes.places().insert(self.id, Place::There(kept));
        self.is_kept = true;
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if !self.is_kept {
            self.sandboxes.places().remove(&self.id);
        }
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").field("id", &self.view.id).finish_non_exhaustive()
    }
}
