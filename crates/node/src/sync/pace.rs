//! How fast bytes go over the network: as fast as they can, or no faster than was set.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// Counts bytes, and waits when they were too many for the time.
#[derive(Debug)]
pub(super) struct Pace {
    per_second: Option<NonZeroU64>,
    started: Instant,
    bytes: AtomicU64,
}

impl Pace {
    /// No byte has gone yet.
    pub(super) fn new(per_second: Option<NonZeroU64>) -> Self {
        Self { per_second, started: Instant::now(), bytes: AtomicU64::new(0) }
    }

    /// How many have gone.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Counts bytes that have gone, and waits until it is time for the next.
    pub(super) async fn count(&self, bytes: usize) {
        let bytes = bytes as u64;
        let all = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if let Some(per_second) = self.per_second {
            let micros = all.saturating_mul(1_000_000) / per_second;
            sleep_until(self.started + Duration::from_micros(micros)).await;
        }
    }
}
