//! What time it is, what time it would be if the clock had not been set, and when something is over.

use jiff::Timestamp;
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;
use tokio::time::sleep;

/// How long who waits for a deadline sleeps at most: timers stand still while the machine does.
const LOOK_PAUSE: Duration = Duration::from_secs(30);

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

/// When something is over, by the clock on the wall and by one that nobody sets, whichever says so first. Both go on
/// while the machine sleeps, where timers stand still. Which of two is the earlier one says the clock that nobody sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline {
    up: Duration,
    at: Timestamp,
}

impl Deadline {
    /// So long from now.
    pub fn after(left: Duration) -> Self {
        let at = now().saturating_add(left).unwrap_or(Timestamp::MAX);
        Self { up: uptime().saturating_add(left), at }
    }

    /// How long it is until then; nothing once it is over.
    pub fn left(&self) -> Duration {
        let by_wall = Duration::try_from(self.at.duration_since(now())).unwrap_or_default();
        by_wall.min(self.up.saturating_sub(uptime()))
    }

    /// Whether it is over.
    pub fn is_over(&self) -> bool {
        self.left().is_zero()
    }

    /// Waits until it is over. Who waits while the machine sleeps hears of it within half a minute after.
    pub async fn wait(&self) {
        while !self.is_over() {
            sleep(self.left().min(LOOK_PAUSE)).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Anchor, Deadline, Timestamp, now, uptime};
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

    #[tokio::test]
    async fn a_deadline_is_over_as_soon_as_one_clock_says_so() {
        let hour = Duration::from_hours(1);
        let soon = Deadline::after(hour);
        assert!(!soon.is_over() && soon.left() <= hour);
        // A machine that slept, and one whose timers know nothing of it: either clock has gone on.
        let slept = Deadline { up: Duration::ZERO, ..soon };
        let set = Deadline { at: now() - hour, ..soon };
        let both = Deadline { at: now() - hour, up: uptime() };
        for over in [slept, set, both, Deadline::after(Duration::ZERO)] {
            assert!(over.is_over() && over.left().is_zero(), "{over:?}");
            over.wait().await;
        }
        Deadline::after(Duration::from_millis(5)).wait().await;
        let for_ever = Deadline::after(Duration::MAX);
        assert!(!for_ever.is_over());
        // However long it takes to look at them, and whoever sets the clock on the wall meanwhile.
        let later = Deadline { at: now() - hour, ..Deadline::after(hour) };
        assert!(soon < later && later < for_ever);
    }
}
