//! What time it is, and what time it would be if the clock had not been set.

use jiff::Timestamp;
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Now, to the millisecond: that is what the database keeps, so a row is the same before and after.
pub fn now() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
}

/// How long the machine has been running, sleep included: a clock that cannot be set.
pub fn uptime() -> Duration {
    let now = clock_gettime(ClockId::Boottime);
    let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(now.tv_nsec).unwrap_or_default())
}

/// An instant by both clocks, from which another one can be reckoned.
#[derive(Debug, Clone, Copy)]
pub struct Anchor {
    at: Timestamp,
    up: Duration,
}

impl Anchor {
    /// The instant at which the one clock said `at` and the other `up`.
    pub fn new(at: Timestamp, up: Duration) -> Self {
        Self { at, up }
    }

    /// The earlier of what the clock on the wall says, and what it would say if it had not been set since.
    /// What has not expired by then may not be counted as expired.
    pub fn earliest(&self, at: Timestamp, up: Duration) -> Timestamp {
        let reckoned = self.at.saturating_add(up.saturating_sub(self.up));
        reckoned.map_or(at, |reckoned| reckoned.min(at))
    }
}

#[cfg(test)]
mod tests {
    use super::{Anchor, Timestamp};
    use std::time::Duration;

    #[test]
    fn the_earlier_of_two_clocks_counts() {
        let second = |second| Timestamp::from_second(second).unwrap();
        let up = Duration::from_secs;
        let anchor = Anchor::new(second(1_000_000), up(500));
        assert_eq!(anchor.earliest(second(1_000_030), up(530)), second(1_000_030), "nobody set it");
        assert_eq!(anchor.earliest(second(1_086_430), up(530)), second(1_000_030), "a day forward");
        assert_eq!(anchor.earliest(second(996_430), up(530)), second(996_430), "an hour back");
        assert_eq!(anchor.earliest(Timestamp::MAX, Duration::MAX), Timestamp::MAX);
    }
}
