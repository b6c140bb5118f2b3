//! Sessions that wait until there is nothing else to do.

use baton_session::SessionId;
use std::collections::VecDeque;
use tokio::time::Instant;

/// How many wait at most. One that there is no room for is made when somebody asks for it.
const MOST: usize = 64;

/// Sessions that wait, the one that changed last behind all others.
#[derive(Debug)]
pub(super) struct Waiting {
    sessions: VecDeque<SessionId>,
    /// Since when the first one is the first.
    since: Instant,
}

impl Waiting {
    pub(super) fn new() -> Self {
        Self { sessions: VecDeque::new(), since: Instant::now() }
    }

    /// One more, or one that changed once more.
    pub(super) fn push(&mut self, session: SessionId) {
        if self.sessions.is_empty() {
            self.since = Instant::now();
        }
        self.sessions.retain(|waiting| *waiting != session);
        if self.sessions.len() == MOST {
            self.sessions.pop_front();
        }
        self.sessions.push_back(session);
    }

    pub(super) fn pop(&mut self) -> Option<SessionId> {
        self.since = Instant::now();
        self.sessions.pop_front()
    }

    /// Since when the first one waits; none when nobody does.
    pub(super) fn since(&self) -> Option<Instant> {
        (!self.sessions.is_empty()).then_some(self.since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(number: u8) -> SessionId {
        SessionId::new(jiff::Timestamp::UNIX_EPOCH, [number; 10])
    }

    #[test]
    fn each_waits_once_and_not_too_many_do() {
        let mut waiting = Waiting::new();
        assert!(waiting.since().is_none());
        for number in [1, 2, 1] {
            waiting.push(session(number));
        }
        assert!(waiting.since().is_some());
        assert_eq!([(); 3].map(|()| waiting.pop()), [Some(session(2)), Some(session(1)), None]);
        (0..=64).for_each(|number| waiting.push(session(number)));
        assert_eq!(waiting.pop(), Some(session(1)), "the first one gave way");
        assert_eq!(std::iter::from_fn(|| waiting.pop()).count(), 63);
    }
}
