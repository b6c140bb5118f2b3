//! Which frames are loading: while one is, its site may answer with cookies of which no event tells.

use crate::cdp::CdpSessionId;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// How long a frame counts as loading: one that hangs for longer is looked at like any other.
const LIMIT: Duration = Duration::from_mins(1);
/// How many frames are known to load at once; more make no difference.
const MOST: usize = 256;

/// The frames that are loading, by the session that tells of them.
#[derive(Debug, Default)]
pub(crate) struct Loads(HashMap<(CdpSessionId, String), Instant>);

impl Loads {
    /// A frame began to load.
    pub(super) fn began(&mut self, session: CdpSessionId, frame: String, now: Instant) {
        self.0.retain(|_, since| now.duration_since(*since) < LIMIT);
        if self.0.len() < MOST {
            self.0.insert((session, frame), now);
        }
    }

    /// A frame has loaded, has given up, or has left.
    pub(super) fn ended(&mut self, session: CdpSessionId, frame: String) {
        self.0.remove(&(session, frame));
    }

    /// All frames of a session have left.
    pub(super) fn left(&mut self, session: &CdpSessionId) {
        self.0.retain(|(of, _), _| of != session);
    }

    /// Whether any is loading.
    pub(super) fn any(&self, now: Instant) -> bool {
        self.0.values().any(|since| now.duration_since(*since) < LIMIT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(id: &str) -> CdpSessionId {
        serde_json::from_value(id.into()).unwrap()
    }

    #[test]
    fn a_frame_loads_until_it_has_loaded_left_or_hung_for_too_long() {
        let (mut loads, now) = (Loads::default(), Instant::now());
        assert!(!loads.any(now));
        loads.began(session("1"), "a".to_owned(), now);
        loads.began(session("2"), "b".to_owned(), now);
        assert!(loads.any(now));
        loads.ended(session("1"), "a".to_owned());
        assert!(loads.any(now));
        loads.left(&session("2"));
        assert!(!loads.any(now));
        loads.began(session("1"), "a".to_owned(), now);
        assert!(!loads.any(now + LIMIT));
    }

    #[test]
    fn a_page_of_many_frames_takes_no_more_room() {
        let (mut loads, now) = (Loads::default(), Instant::now());
        for frame in 0..2 * MOST {
            loads.began(session("1"), frame.to_string(), now);
        }
        assert_eq!(loads.0.len(), MOST);
        loads.began(session("1"), "later".to_owned(), now + LIMIT);
        assert_eq!(loads.0.len(), 1);
    }
}
