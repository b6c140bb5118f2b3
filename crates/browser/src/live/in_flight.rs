//! What pages have asked for and not been answered, and for how long that is waited for.

use crate::cdp::CdpSessionId;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// How long an answer is waited for, from when it was asked for: what takes longer may never come.
const PATIENCE: Duration = Duration::from_secs(2);
/// How many requests are known to be on their way at once; more are not waited for.
const MOST: usize = 1024;
/// Requests that were sent and not answered yet.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    /// Whether what is sent is noted.
    pub(super) is_heard: bool,
    sent: HashMap<(CdpSessionId, String), Instant>,
}

impl InFlight {
    /// A request was sent.
    pub(super) fn sent(&mut self, session: CdpSessionId, request: String, now: Instant) {
        if self.is_heard {
            self.sent.retain(|_, since| now.duration_since(*since) < PATIENCE);
            if self.sent.len() < MOST {
                self.sent.insert((session, request), now);
            }
        }
    }

    /// It was answered, or will not be.
    pub(super) fn over(&mut self, session: CdpSessionId, request: String) {
        self.sent.remove(&(session, request));
    }

    /// All of a page, frame or worker ended with it.
    pub(super) fn left(&mut self, session: &CdpSessionId) {
        self.sent.retain(|(of, _), _| of != session);
    }

    /// For how long there is something to wait for; none when nothing is on its way.
    pub(super) fn rest(&self, now: Instant) -> Option<Duration> {
        let rests =
            self.sent.values().map(|since| PATIENCE.saturating_sub(now.duration_since(*since)));
        rests.max().filter(|rest| !rest.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sent_is_waited_for_until_it_is_answered_and_no_longer_than_that() {
        let (mut requests, now) =
            (InFlight { is_heard: true, ..InFlight::default() }, Instant::now());
        let session: CdpSessionId = "S".into();
        assert_eq!(requests.rest(now), None);
        requests.sent(session.clone(), "1".to_owned(), now);
        requests.sent(session.clone(), "2".to_owned(), now + PATIENCE / 2);
        assert_eq!(requests.rest(now + PATIENCE / 2), Some(PATIENCE));
        requests.over(session.clone(), "2".to_owned());
        assert_eq!(requests.rest(now + PATIENCE / 2), Some(PATIENCE / 2));
        assert_eq!(requests.rest(now + PATIENCE), None);
        requests.left(&session);
        assert_eq!(requests.rest(now), None);
    }

    #[test]
    fn a_page_that_asks_without_end_takes_no_more_room() {
        let mut requests = InFlight { is_heard: true, ..InFlight::default() };
        let now = Instant::now();
        for request in 0..2 * MOST {
            requests.sent("S".into(), request.to_string(), now);
        }
        assert_eq!(requests.sent.len(), MOST);
    }
}
