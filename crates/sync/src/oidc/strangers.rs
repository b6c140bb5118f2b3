//! Refusals of tokens of which nobody knows who sent them: a few are noted, and the others counted.
//!
//! The one idea: whoever can reach a node can send it nonsense, and must not be able to fill its log.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How many are noted in a minute.
const NOTED: u32 = 10;
/// For how long they are counted together.
const WINDOW: Duration = Duration::from_mins(1);

/// What was refused lately.
#[derive(Debug, Default)]
pub(super) struct Strangers(Mutex<Counted>);

#[derive(Debug, Default)]
struct Counted {
    since: Option<Instant>,
    noted: u32,
    /// How many were not, since the last one that was.
    unnoted: u64,
}

impl Strangers {
    /// Whether one more is to be noted, and how many before it were not.
    pub(super) fn note(&self) -> Option<u64> {
        self.note_at(Instant::now())
    }

    fn note_at(&self, now: Instant) -> Option<u64> {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counted.since.is_none_or(|since| now.duration_since(since) >= WINDOW) {
            (counted.since, counted.noted) = (Some(now), 0);
        }
        if counted.noted == NOTED {
            counted.unnoted += 1;
            return None;
        }
        counted.noted += 1;
        Some(std::mem::take(&mut counted.unnoted))
    }
}

#[cfg(test)]
mod tests {
    use super::{NOTED, Strangers, WINDOW};
    use std::time::Instant;

    #[test]
    fn a_few_are_noted_and_the_others_counted() {
        let (strangers, now) = (Strangers::default(), Instant::now());
        for _ in 0..NOTED {
            assert_eq!(strangers.note_at(now), Some(0));
        }
        for _ in 0..5 {
            assert_eq!(strangers.note_at(now), None);
        }
        assert_eq!(strangers.note_at(now + WINDOW), Some(5));
        assert_eq!(strangers.note_at(now + WINDOW), Some(0));
    }
}
