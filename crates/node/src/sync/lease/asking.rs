//! The sessions that this node asks its peers for right now.
//!
//! Two nodes that ask each other at the same time must not both get the session, nor both go without:
//! the one with the smaller id goes first.

use baton_session::SessionId;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The sessions that are asked for. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Asking(Arc<Mutex<HashSet<SessionId>>>);

/// One of them, for as long as this lives.
pub(super) struct Asked {
    asking: Asking,
    session: SessionId,
}

impl Asking {
    /// Begins to ask for a session; none when it is asked for already.
    pub(super) fn begin(&self, session: SessionId) -> Option<Asked> {
        let is_new = self.sessions().insert(session);
        is_new.then(|| Asked { asking: self.clone(), session })
    }

    /// Whether a session is asked for.
    pub(super) fn contains(&self, session: SessionId) -> bool {
        self.sessions().contains(&session)
    }

    fn sessions(&self) -> MutexGuard<'_, HashSet<SessionId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.asking.sessions().remove(&self.session);
    }
}
