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
        if let Some(due) = self.next_after(bytes as u64) {
            sleep_until(due).await;
        }
    }

    /// Counts bytes that have gone; and when it is time for the next, if that was set.
    fn next_after(&self, bytes: u64) -> Option<Instant> {
        let all = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let micros = all.saturating_mul(1_000_000) / self.per_second?;
        Some(self.started + Duration::from_micros(micros))
    }
}

#[cfg(test)]
mod tests {
    use super::Pace;
    use std::num::NonZeroU64;
    use std::time::Duration;

    #[test]
    fn bytes_take_the_time_that_the_limit_gives_them() {
        let pace = Pace::new(NonZeroU64::new(1_000));
        let after = |bytes: u64| pace.next_after(bytes).unwrap() - pace.started;
        assert_eq!(after(2_500), Duration::from_millis(2_500));
        assert_eq!(after(0), Duration::from_millis(2_500), "nothing takes no time");
        assert_eq!(after(500), Duration::from_secs(3), "and what went before is not forgotten");
        assert_eq!(pace.bytes(), 3_000);
    }

    #[test]
    fn without_a_limit_nobody_waits_and_bytes_are_counted_all_the_same() {
        let pace = Pace::new(None);
        assert_eq!(pace.next_after(1 << 40), None);
        assert_eq!(pace.bytes(), 1 << 40);
    }
}
