//! Turns: one operation at a time changes a session.

use baton_session::SessionId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

/// Held by the operation that changes a session now.
pub type Turn = tokio::sync::OwnedMutexGuard<()>;

/// The locks of the sessions that an operation holds or waits for. A lock that nobody uses is
/// forgotten at the next take, so there are never more than operations under way.
#[derive(Clone, Default)]
pub struct Turns(Arc<Mutex<HashMap<SessionId, Weak<tokio::sync::Mutex<()>>>>>);

impl Turns {
    /// Waits until no other operation changes the session; none when that takes longer than `limit`.
    /// What has not begun by then is better not begun: its caller may have left.
    pub async fn take(&self, id: SessionId, limit: Duration) -> Option<Turn> {
        tokio::time::timeout(limit, self.lock_of(id).lock_owned()).await.ok()
    }

    fn lock_of(&self, id: SessionId) -> Arc<tokio::sync::Mutex<()>> {
        let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        locks.retain(|_, lock| lock.strong_count() > 0);
        if let Some(lock) = locks.get(&id).and_then(Weak::upgrade) {
            return lock;
        }
        let lock = Arc::default();
        locks.insert(id, Arc::downgrade(&lock));
        lock
    }
}
