//! The sender's own count of its events: what comes again, and what was lost on the way.

/// How an event arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrival {
    /// In its turn, or without a number.
    Next,
    /// It was here before.
    Again,
    /// So many before it did not arrive.
    AfterHole(u64),
}

/// How far the sender has come.
#[derive(Debug, Clone, Default)]
pub(super) struct Flow {
    epoch: Option<u64>,
    last: u64,
}

impl Flow {
    /// Whether the sender's epoch is another one than before; then it counts anew.
    pub(super) fn begin(&mut self, epoch: u64) -> bool {
        let before = self.epoch.replace(epoch);
        let is_other = before.is_some_and(|before| before != epoch);
        if is_other {
            self.last = 0;
        }
        is_other
    }

    pub(super) fn arrive(&mut self, seq: Option<u64>) -> Arrival {
        let Some(seq) = seq else { return Arrival::Next };
        if seq <= self.last {
            return Arrival::Again;
        }
        let missing = seq - self.last - 1;
        self.last = seq;
        if missing == 0 { Arrival::Next } else { Arrival::AfterHole(missing) }
    }

    pub(super) fn last(&self) -> u64 {
        self.last
    }
}
