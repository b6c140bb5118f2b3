//! When somebody last asked this node for something.

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
