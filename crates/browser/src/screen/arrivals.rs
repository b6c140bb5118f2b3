//! Which pictures were taken where their tab is: the browser writes a JPEG beside everything else that it does, so it
//! may tell of a picture after it has told that the tab went on, and even that it came back.
//!
//! The one idea: browser and node are on one machine, so its clock says what was first. A picture that was not surely
//! taken since its tab is where it is, is late, and another one is asked for: a page that stands still would send none
//! by itself. A browser that was attached may be on another machine, whose clock is another one: what comes after it was
//! asked again and again for seconds is of where the tab is.

use std::collections::{BTreeSet, HashMap};
use std::time::{SystemTime, UNIX_EPOCH};

/// How far the browser's clock may be ahead of the node's, in seconds: they are one, read in other ways.
const AHEAD: f64 = 1.0;
/// How often a picture is asked for until any is taken. It is asked for at the pump's pace, so that is some seconds, in
/// which none is on its way any more that was taken before.
const MOST_ASKED: u32 = 8;

/// When tabs came where they are, and of which there is no picture of that yet.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    /// When it was heard that a tab is somewhere else, and how often a picture of that was asked for. Of a tab that never
    /// was, no picture is late.
    since: HashMap<u32, (SystemTime, u32)>,
    /// The tabs of which a picture has to be asked for once more.
    wanted: BTreeSet<u32>,
}

impl Arrivals {
    /// A tab is somewhere else now.
    pub(super) fn moved(&mut self, tab: u32, now: SystemTime) {
        self.since.insert(tab, (now, 0));
        self.wanted.insert(tab);
    }

    /// Whether a picture was surely taken where its tab is. `taken` is when, in seconds since 1970, if the browser
    /// says so.
    pub(super) fn shows(&mut self, tab: u32, taken: Option<f64>, now: SystemTime) -> bool {
        let Some((since, asked)) = self.since.get_mut(&tab) else { return true };
        // A clock that was set back would make all pictures late until it has caught up.
        *since = now.min(*since);
        let there = seconds(*since)..=seconds(now) + AHEAD;
        let is_there = *asked >= MOST_ASKED || taken.is_some_and(|taken| there.contains(&taken));
        if is_there {
            self.wanted.remove(&tab);
        } else {
            self.wanted.insert(tab);
        }
        is_there
    }

    /// The tabs of which a picture has to be asked for once more, each for what has come so far.
    pub(super) fn take_wanted(&mut self) -> BTreeSet<u32> {
        for tab in &self.wanted {
            if let Some((_, asked)) = self.since.get_mut(tab) {
                *asked = asked.saturating_add(1);
            }
        }
        std::mem::take(&mut self.wanted)
    }

    /// A tab is gone.
    pub(super) fn gone(&mut self, tab: u32) {
        self.since.remove(&tab);
        self.wanted.remove(&tab);
    }
}

/// A moment in seconds since 1970.
fn seconds(at: SystemTime) -> f64 {
    at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// A moment so many seconds after one that is long after 1970.
    fn at(second: f64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs_f64(1_800_000_000.0 + second)
    }

    fn taken(second: f64) -> f64 {
        1_800_000_000.0 + second
    }

    #[test]
    fn a_picture_from_before_a_tab_came_where_it_is_is_late() {
        let mut arrivals = Arrivals::default();
        assert!(arrivals.shows(1, Some(taken(0.0)), at(0.1)), "it was nowhere else");
        // It went elsewhere and came back; pictures of all three places come afterwards.
        arrivals.moved(1, at(1.0));
        arrivals.moved(1, at(2.0));
        for (second, is_there) in [(0.9, false), (1.5, false), (1.999, false), (2.0, true)] {
            assert_eq!(arrivals.shows(1, Some(taken(second)), at(2.1)), is_there, "{second}");
        }
        assert!(arrivals.shows(2, Some(taken(0.5)), at(2.1)), "another tab");
        arrivals.gone(1);
        assert!(arrivals.shows(1, Some(taken(0.5)), at(2.2)));
    }

    #[test]
    fn a_picture_of_no_known_moment_is_late() {
        let mut arrivals = Arrivals::default();
        assert!(arrivals.shows(1, None, at(0.0)), "it was nowhere else");
        arrivals.moved(1, at(1.0));
        for taken in [None, Some(f64::NAN), Some(f64::INFINITY), Some(-1.0)] {
            assert!(!arrivals.shows(1, taken, at(2.0)), "{taken:?}");
        }
        assert!(arrivals.shows(1, Some(taken(1.5)), at(2.0)));
    }

    #[test]
    fn a_clock_that_is_set_makes_nobody_wait_and_no_old_picture_new() {
        let mut arrivals = Arrivals::default();
        arrivals.moved(1, at(1000.0));
        // Set back by a quarter of an hour: what was taken before is of a moment that is still to come.
        assert!(!arrivals.shows(1, Some(taken(999.0)), at(100.0)));
        assert!(!arrivals.shows(1, Some(taken(99.9)), at(100.2)));
        assert!(arrivals.shows(1, Some(taken(100.1)), at(100.2)));
        // And on: a picture from before is older than ever.
        assert!(!arrivals.shows(1, Some(taken(99.9)), at(5000.0)));
        assert!(arrivals.shows(1, Some(taken(5000.0)), at(5000.0)));
    }

    #[test]
    fn a_browser_whose_clock_is_another_one_is_shown_after_some_seconds() {
        for skew in [-60.0, 60.0] {
            let mut arrivals = Arrivals::default();
            arrivals.moved(1, at(0.0));
            let mut asked = 0;
            while !arrivals.shows(1, Some(taken(skew)), at(0.1)) {
                assert_eq!(arrivals.take_wanted(), BTreeSet::from([1]));
                asked += 1;
            }
            assert_eq!(asked, MOST_ASKED);
            arrivals.moved(1, at(9.0));
            assert!(!arrivals.shows(1, Some(taken(skew)), at(9.1)), "somewhere else again");
        }
    }

    #[test]
    fn a_picture_is_asked_for_until_there_is_one() {
        let mut arrivals = Arrivals::default();
        arrivals.moved(1, at(1.0));
        assert_eq!(arrivals.take_wanted(), BTreeSet::from([1]));
        assert!(arrivals.take_wanted().is_empty(), "it is not drawn, so none comes");
        arrivals.shows(1, Some(taken(0.5)), at(1.5));
        assert_eq!(arrivals.take_wanted(), BTreeSet::from([1]));
        arrivals.shows(1, Some(taken(0.6)), at(1.6));
        arrivals.shows(1, Some(taken(1.2)), at(1.7));
        assert!(arrivals.take_wanted().is_empty());
    }
}
