//! How long a node has been of no use: a node that a command started ends itself some day.

use crate::context::Context;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// When somebody last asked this node for something.
#[derive(Clone)]
pub struct Activity(Arc<Inner>);

struct Inner {
    in_flight: AtomicUsize,
    last: Mutex<Instant>,
}

impl Default for Activity {
    fn default() -> Self {
        let last = Mutex::new(Instant::now());
        Self(Arc::new(Inner { in_flight: AtomicUsize::new(0), last }))
    }
}

/// A request under way.
pub struct Request(Activity);

impl Activity {
    /// Notes that a request begins; it ends when the answer is dropped.
    pub fn begin(&self) -> Request {
        self.0.in_flight.fetch_add(1, Ordering::SeqCst);
        Request(self.clone())
    }

    /// How long no request has been under way.
    pub fn quiet(&self) -> Duration {
        if self.0.in_flight.load(Ordering::SeqCst) > 0 {
            return Duration::ZERO;
        }
        self.0.last.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        let Self(Activity(inner)) = self;
        *inner.last.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        inner.in_flight.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Returns when the node had no active session, no sandbox and no request for as long as `limit`.
pub async fn idle(context: &Context, limit: Duration) {
    let step = (limit / 10).clamp(Duration::from_millis(50), Duration::from_secs(30));
    let mut useful = Instant::now();
    loop {
        tokio::time::sleep(step).await;
        // A database that does not answer is no reason to leave.
        let active = context.store.list_active_sessions(context.node).await;
        let is_used = !active.is_ok_and(|sessions| sessions.is_empty());
        if is_used || !context.sandboxes.is_empty() {
            useful = Instant::now();
        }
        if useful.elapsed().min(context.activity.quiet()) >= limit {
            return;
        }
    }
}
