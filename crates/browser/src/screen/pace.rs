//! How good a picture the line of one viewer takes.
//!
//! The one idea: a viewer says which picture it has drawn, and has one at a time that it has not. How long that
//! takes is what its line takes. While it is long, pictures get smaller in bytes, and larger again once it was
//! short for a while. A picture that came in the meantime is not sent, and counted.

use std::time::{Duration, Instant};

/// The qualities of a JPEG, worst first.
const QUALITIES: [u8; 4] = [25, 40, 60, 75];
/// With which it begins.
const FIRST: usize = 2;
/// What is slow, and what is quick.
const SLOW: Duration = Duration::from_millis(200);
const QUICK: Duration = Duration::from_millis(80);
/// How many slow answers in a row make pictures worse, and how long they have to be quick to make them better.
const SLOW_ONES: u32 = 3;
const QUICK_FOR: Duration = Duration::from_secs(3);
/// After what time without an answer another picture is sent: an answer may have been lost with a tab that
/// slept.
const LOST: Duration = Duration::from_secs(10);

/// The pace of one viewer.
#[derive(Debug)]
pub struct Pace {
    level: usize,
    /// The picture that it has not drawn yet, and when it was sent.
    under_way: Option<(u64, Instant)>,
    /// The last picture that was sent; none before the first one.
    last: Option<u64>,
    slow: u32,
    quick_since: Option<Instant>,
    sent: u64,
    dropped: u64,
}

impl Default for Pace {
    fn default() -> Self {
        let (under_way, last, quick_since) = (None, None, None);
        Self { level: FIRST, under_way, last, slow: 0, quick_since, sent: 0, dropped: 0 }
    }
}

impl Pace {
    /// Whether the next picture may be sent.
    pub fn is_ready(&self, now: Instant) -> bool {
        self.under_way.is_none_or(|(_, sent)| now.duration_since(sent) >= LOST)
    }

    /// A picture was sent; those between it and the one before were not.
    pub fn sent(&mut self, sequence: u64, now: Instant) {
        let missed = self.last.map_or(0, |last| sequence.saturating_sub(last + 1));
        self.dropped += missed;
        self.sent += 1;
        self.last = Some(sequence);
        self.under_way = Some((sequence, now));
    }

    /// The viewer has drawn a picture. What it says of another one than that which is under way is old.
    pub fn drawn(&mut self, sequence: u64, now: Instant) {
        let Some((_, sent)) = self.under_way.take_if(|(number, _)| *number == sequence) else {
            return;
        };
        let took = now.duration_since(sent);
        if took >= SLOW {
            self.quick_since = None;
            self.slow += 1;
            if self.slow >= SLOW_ONES {
                self.slow = 0;
                self.level = self.level.saturating_sub(1);
            }
        } else if took <= QUICK {
            self.slow = 0;
            let since = *self.quick_since.get_or_insert(now);
            if now.duration_since(since) >= QUICK_FOR && self.level + 1 < QUALITIES.len() {
                self.level += 1;
                self.quick_since = None;
            }
        } else {
            (self.slow, self.quick_since) = (0, None);
        }
    }

    /// Pictures are those of another screen from now on.
    pub fn restart(&mut self) {
        (self.under_way, self.last) = (None, None);
    }

    /// The quality of a JPEG that its line takes, 0 to 100.
    pub fn quality(&self) -> u8 {
        QUALITIES[self.level]
    }

    /// How many pictures were sent.
    pub fn sent_count(&self) -> u64 {
        self.sent
    }

    /// How many came while the viewer had one that it had not drawn.
    pub fn dropped_count(&self) -> u64 {
        self.dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_viewer_has_one_picture_at_a_time_and_what_it_missed_is_counted() {
        let (mut pace, now) = (Pace::default(), Instant::now());
        assert!(pace.is_ready(now));
        pace.sent(5, now);
        assert!(!pace.is_ready(now));
        pace.drawn(4, now);
        assert!(!pace.is_ready(now), "an old answer is no answer");
        pace.drawn(5, now);
        assert!(pace.is_ready(now));
        pace.sent(9, now);
        assert_eq!((pace.sent_count(), pace.dropped_count()), (2, 3));
        assert!(pace.is_ready(now + LOST), "a lost answer stops nothing for ever");
        pace.restart();
        pace.sent(1, now);
        assert_eq!(pace.dropped_count(), 3, "another screen counts anew");
    }

    #[test]
    fn pictures_follow_what_the_line_takes() {
        let (mut pace, mut now) = (Pace::default(), Instant::now());
        let mut draw = |pace: &mut Pace, took: Duration, times: u64| {
            for sequence in 0..times {
                pace.sent(sequence, now);
                now += took;
                pace.drawn(sequence, now);
            }
            pace.quality()
        };
        assert_eq!(draw(&mut pace, Duration::from_millis(500), 2), 60);
        assert_eq!(draw(&mut pace, Duration::from_millis(500), 1), 40);
        assert_eq!(draw(&mut pace, Duration::from_millis(500), 30), 25);
        assert_eq!(draw(&mut pace, Duration::from_millis(100), 100), 25, "neither slow nor quick");
        assert_eq!(draw(&mut pace, Duration::from_millis(20), 160), 40);
        assert_eq!(draw(&mut pace, Duration::from_millis(20), 1000), 75);
    }
}
