//! How long each step of something took, in milliseconds.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Measures steps, one after the other.
pub(super) struct Stopwatch {
    start: Instant,
    last: Instant,
    steps: BTreeMap<String, u64>,
}

impl Stopwatch {
    pub(super) fn start(at: Instant) -> Self {
        Self { start: at, last: at, steps: BTreeMap::new() }
    }

    /// Ends a step that began when the last one ended.
    pub(super) fn step(&mut self, name: &str) {
        let time = self.last.elapsed();
        self.add(name, time);
    }

    /// Adds a step that was measured elsewhere.
    pub(super) fn add(&mut self, name: &str, time: Duration) {
        self.last = Instant::now();
        self.steps.insert(name.to_owned(), millis(time));
    }

    pub(super) fn end(mut self) -> BTreeMap<String, u64> {
        self.steps.insert("total".to_owned(), millis(self.start.elapsed()));
        self.steps
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
