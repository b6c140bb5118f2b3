//! The browser's clocks: requests are timed by one that only goes on, and all else by the time of day.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What has to be added to the clock that only goes on, in seconds.
#[derive(Debug, Default)]
pub(super) struct Clock(Mutex<Option<f64>>);

impl Clock {
    /// A request was sent at both instants, in seconds.
    pub(super) fn set(&self, monotonic: f64, wall: f64) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(wall - monotonic);
    }

    /// Milliseconds since 1970 of an instant of the clock that only goes on, in seconds. Before the
    /// first request nobody knows what that clock says: then it is now.
    pub(super) fn at(&self, monotonic: f64) -> u64 {
        let ahead = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        millis(ahead.map_or_else(|| now().as_secs_f64(), |ahead| monotonic + ahead) * 1e3)
    }
}

/// Whole milliseconds.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is cut to 0 and up, and `as` saturates"
)]
pub(super) fn millis(millis: f64) -> u64 {
    millis.max(0.0).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_of_either_clock_is_the_same_instant() {
        let clock = Clock::default();
        assert!(clock.at(1_000.5) > 1_700_000_000_000, "it is now");
        clock.set(1_000.5, 1_700_000_000.25);
        assert_eq!(clock.at(1_000.5), 1_700_000_000_250);
        assert_eq!(clock.at(1_001.0), 1_700_000_000_750);
        assert_eq!(millis(-1.0), 0);
    }
}
