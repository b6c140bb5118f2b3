//! When to capture: after a navigation settled (and typing, on request), when something changed and
//! the interval passed, and at once when an answer changed the cookies.
//!
//! Pure: instants come from the caller. Automatic captures, and looks at the cookies, keep their
//! distance, so that a page that never rests costs no more than one that does.

use baton_browser::live::{Activity, REQUESTS_QUIET};
use baton_session::SnapshotReason;
use std::time::{Duration, Instant};

/// How long a navigation rests before it is captured: redirects and late scripts come first.
const SETTLE: Duration = Duration::from_millis(500);
/// How long a page that never rests may put the capture off.
const SETTLE_LIMIT: Duration = Duration::from_secs(2);
/// How far automatic captures, and looks at the cookies, stay apart. A token that works once and was
/// replaced by an answer is lost for no longer than that.
const DISTANCE: Duration = Duration::from_secs(1);

/// What happened since the last capture, as far as we know, and when.
#[derive(Debug)]
pub(super) struct Policy {
    interval: Duration,
    seen: Activity,
    captured_at: Instant,
    looked_at: Instant,
    /// When the cookies were last read.
    cookies_at: Instant,
    /// Requests that were answered, or may be, since the cookies were read.
    requests: Option<Unrest>,
    /// Navigations that are not captured yet.
    navigation: Option<Unrest>,
    /// Clicks and typing that are not captured yet.
    input: Option<Unrest>,
    wrote: bool,
}

/// Something that goes on for a while, and is best captured when it has come to rest.
#[derive(Debug, Clone, Copy)]
struct Unrest {
    first: Instant,
    last: Instant,
}

impl Unrest {
    /// It went on.
    fn at(known: Option<Self>, now: Instant) -> Self {
        Self { first: known.map_or(now, |known| known.first), last: now }
    }

    /// When it is to be captured.
    fn due(self, captured_at: Instant) -> Instant {
        (self.last + SETTLE).min(self.first + SETTLE_LIMIT).max(captured_at + DISTANCE)
    }
}

/// How much had happened when something began.
#[derive(Debug, Clone, Copy)]
pub(super) struct Began {
    pub(super) activity: Activity,
    pub(super) at: Instant,
}

impl Began {
    /// This much has happened by now.
    pub(super) fn now(activity: Activity) -> Self {
        Self { activity, at: Instant::now() }
    }
}

/// What is to be done at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Due {
    /// Capture.
    Capture(SnapshotReason),
    /// Look whether cookies, files or permissions changed: no event tells of those.
    Look,
    /// Look whether cookies changed: requests were answered, or may be.
    LookAtCookies,
}

impl Policy {
    /// Of a browser that is watched from now on. What happened before is not known.
    pub(super) fn new(interval: Duration, now: Instant) -> Self {
        Self {
            interval,
            seen: Activity::default(),
            captured_at: now,
            looked_at: now,
            cookies_at: now,
            requests: None,
            navigation: None,
            input: None,
            wrote: true,
        }
    }

    /// The interval is another one from now on.
    pub(super) fn set_interval(&mut self, interval: Duration) {
        self.interval = interval;
    }

    /// Whether it is known that pages wrote since the last capture: further writes change nothing.
    pub(super) fn knows_of_writes(&self) -> bool {
        self.wrote
    }

    /// Takes note of what happened.
    pub(super) fn note(&mut self, activity: Activity, now: Instant) {
        if activity.navigations > self.seen.navigations {
            self.navigation = Some(Unrest::at(self.navigation, now));
        }
        if activity.inputs > self.seen.inputs {
            self.input = Some(Unrest::at(self.input, now));
        }
        if activity.requests > self.seen.requests {
            self.may_answer(now);
        }
        self.wrote |= activity.writes > self.seen.writes;
        self.seen = activity;
    }

    /// A request may be answered from now on.
    pub(super) fn may_answer(&mut self, now: Instant) {
        self.requests = Some(Unrest::at(self.requests, now));
    }

    /// A capture was taken, by whomever. What had happened when it `began` is in it; what happened
    /// since may not be.
    pub(super) fn captured(&mut self, Began { activity: began, at }: Began, now: Instant) {
        self.captured_at = now;
        self.looked_at = now;
        self.read_cookies(at, now);
        if began.navigations >= self.seen.navigations {
            self.navigation = None;
        }
        if began.inputs >= self.seen.inputs {
            self.input = None;
        }
        self.wrote = self.seen.writes > began.writes;
        self.seen.navigations = self.seen.navigations.max(began.navigations);
        self.seen.inputs = self.seen.inputs.max(began.inputs);
        self.seen.writes = self.seen.writes.max(began.writes);
        self.seen.requests = self.seen.requests.max(began.requests);
    }

    /// The cookies were read, which began at `at`. A page that reported an answer shortly before says nothing
    /// of those that came with it.
    fn read_cookies(&mut self, at: Instant, now: Instant) {
        self.cookies_at = now;
        self.requests = self
            .requests
            .filter(|requests| at < requests.last + REQUESTS_QUIET)
            .map(|requests| Unrest { first: requests.last, ..requests });
    }

    /// A capture failed: all that it was to take is still to be taken.
    pub(super) fn failed(&mut self, now: Instant) {
        self.captured_at = now;
        self.looked_at = now;
        self.cookies_at = now;
        self.requests = None;
        self.navigation = None;
        self.input = None;
        self.wrote = true;
    }

    /// Everything of which no event tells was looked at from `at` on, and had not changed.
    pub(super) fn looked(&mut self, at: Instant, now: Instant) {
        self.looked_at = now;
        self.read_cookies(at, now);
    }

    /// The cookies were looked at from `at` on, and had not changed.
    pub(super) fn looked_at_cookies(&mut self, at: Instant, now: Instant) {
        self.read_cookies(at, now);
    }

    /// What is due next, and when.
    pub(super) fn next(&self) -> (Instant, Due) {
        let settled = |unrest: Option<Unrest>, reason| {
            unrest.map(|unrest| (unrest.due(self.captured_at), Due::Capture(reason)))
        };
        let input = settled(self.input, SnapshotReason::Input);
        let navigation = settled(self.navigation, SnapshotReason::Navigation);
        let interval = self.interval.max(DISTANCE);
        let changed = self
            .wrote
            .then(|| (self.captured_at + interval, Due::Capture(SnapshotReason::Interval)));
        let cookies = self.requests.map(|requests| {
            let due = (requests.first + REQUESTS_QUIET).max(self.cookies_at + DISTANCE);
            (due, Due::LookAtCookies)
        });
        let look = (self.captured_at.max(self.looked_at) + interval, Due::Look);
        [cookies, input, navigation, changed]
            .into_iter()
            .flatten()
            .fold(look, |next, candidate| if candidate.0 <= next.0 { candidate } else { next })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const INTERVAL: Duration = Duration::from_secs(30);

    fn navigated(times: u64) -> Activity {
        Activity { navigations: times, ..Activity::default() }
    }

    fn wrote(times: u64) -> Activity {
        Activity { writes: times, ..Activity::default() }
    }

    fn answered(times: u64) -> Activity {
        Activity { requests: times, ..Activity::default() }
    }

    /// This much had happened at that instant.
    fn began(activity: Activity, at: Instant) -> Began {
        Began { activity, at }
    }

    fn typed(times: u64) -> Activity {
        Activity { inputs: times, ..Activity::default() }
    }

    /// A policy of a browser that was captured at `start`.
    fn captured(interval: Duration, start: Instant) -> Policy {
        let mut policy = Policy::new(interval, start);
        policy.captured(began(Activity::default(), start), start);
        policy
    }

    #[test]
    fn what_happened_before_anybody_watched_is_captured_after_the_interval() {
        let start = Instant::now();
        let policy = Policy::new(INTERVAL, start);
        assert_eq!(policy.next(), (start + INTERVAL, Due::Capture(SnapshotReason::Interval)));
    }

    #[test]
    fn an_idle_session_is_only_looked_at() {
        let start = Instant::now();
        let mut policy = captured(INTERVAL, start);
        assert_eq!(policy.next(), (start + INTERVAL, Due::Look));
        policy.looked(start + INTERVAL, start + INTERVAL);
        assert_eq!(policy.next(), (start + 2 * INTERVAL, Due::Look));
    }

    #[test]
    fn a_navigation_is_captured_once_it_settled() {
        let start = Instant::now();
        let mut policy = captured(INTERVAL, start);
        let at = start + 10 * SECOND;
        policy.note(navigated(1), at);
        let due = Due::Capture(SnapshotReason::Navigation);
        assert_eq!(policy.next(), (at + SETTLE, due));
        policy.captured(began(navigated(1), at + SETTLE), at + SETTLE);
        assert_eq!(policy.next().1, Due::Look);
    }

    #[test]
    fn typing_is_captured_once_it_rests() {
        let start = Instant::now();
        let mut policy = captured(INTERVAL, start);
        let at = start + 10 * SECOND;
        policy.note(typed(1), at);
        policy.note(typed(2), at + SECOND);
        let due = Due::Capture(SnapshotReason::Input);
        assert_eq!(policy.next(), (at + SECOND + SETTLE, due));
        // A click that leads elsewhere is one capture, of the navigation.
        policy.note(Activity { navigations: 1, ..typed(2) }, at + SECOND);
        assert_eq!(policy.next().1, Due::Capture(SnapshotReason::Navigation));
        let now = at + 2 * SECOND;
        policy.captured(began(Activity { navigations: 1, ..typed(2) }, now), now);
        assert_eq!(policy.next().1, Due::Look);
    }

    #[test]
    fn a_new_interval_counts_at_once() {
        let start = Instant::now();
        let mut policy = captured(INTERVAL, start);
        policy.note(wrote(1), start + SECOND);
        policy.set_interval(5 * SECOND);
        assert_eq!(policy.next().0, start + 5 * SECOND);
    }

    #[test]
    fn what_happens_during_a_capture_is_left_for_the_next_one() {
        let start = Instant::now();
        let mut policy = captured(INTERVAL, start);
        policy.note(wrote(1), start + SECOND);
        // The capture began here; the page writes once more while it is stored.
        policy.note(wrote(2), start + 2 * SECOND);
        policy.captured(began(wrote(1), start + SECOND), start + 3 * SECOND);
        let due = Due::Capture(SnapshotReason::Interval);
        assert_eq!(policy.next(), (start + 3 * SECOND + INTERVAL, due));
        policy.captured(began(wrote(2), start + 4 * SECOND), start + 4 * SECOND);
        assert_eq!(policy.next().1, Due::Look);
    }

    #[test]
    fn a_capture_that_failed_is_tried_again_even_if_nothing_else_happens() {
        let start = Instant::now();
        let mut policy = captured(INTERVAL, start);
        policy.note(wrote(1), start);
        policy.failed(start + INTERVAL);
        let due = Due::Capture(SnapshotReason::Interval);
        assert_eq!(policy.next(), (start + 2 * INTERVAL, due));
    }

    #[test]
    fn a_page_that_never_rests_is_captured_all_the_same() {
        let start = Instant::now();
        let mut policy = captured(INTERVAL, start);
        let first = start + 10 * SECOND;
        for step in 0..40 {
            policy.note(navigated(u64::from(step) + 1), first + step * Duration::from_millis(100));
        }
        assert_eq!(policy.next().0, first + SETTLE_LIMIT);
    }

    #[test]
    fn automatic_captures_keep_their_distance() {
        let start = Instant::now();
        let mut policy = captured(Duration::from_millis(1), start);
        policy.note(navigated(1), start);
        assert_eq!(policy.next().0, start + DISTANCE);
        policy.note(wrote(1), start);
        assert!(policy.next().0 >= start + DISTANCE);
    }

    #[test]
    fn a_change_waits_for_the_interval() {
        let start = Instant::now();
        let mut policy = captured(INTERVAL, start);
        policy.note(wrote(1), start + SECOND);
        assert_eq!(policy.next(), (start + INTERVAL, Due::Capture(SnapshotReason::Interval)));
    }

    #[test]
    fn cookies_are_looked_at_once_a_second_while_requests_are_answered() {
        let start = Instant::now();
        let mut policy = captured(INTERVAL, start);
        policy.note(answered(1), start);
        let first = start + DISTANCE;
        assert_eq!(policy.next(), (first, Due::LookAtCookies));
        policy.looked_at_cookies(first, first);
        assert_eq!(policy.next(), (start + INTERVAL, Due::Look));
        // Long after the last look: the page tells of one answer, and may have had others since.
        let later = start + 10 * SECOND;
        policy.note(answered(2), later);
        assert_eq!(policy.next(), (later + REQUESTS_QUIET, Due::LookAtCookies));
    }

    #[test]
    fn an_answer_of_which_a_page_does_not_tell_is_not_missed() {
        let start = Instant::now();
        let mut policy = captured(INTERVAL, start);
        let told = start + 10 * SECOND;
        policy.note(answered(1), told);
        // A client captures while the page says nothing of further answers.
        let at = told + REQUESTS_QUIET / 2;
        policy.captured(began(answered(1), at), at);
        assert_eq!(policy.next(), (at + DISTANCE, Due::LookAtCookies));
        policy.looked_at_cookies(at + DISTANCE, at + DISTANCE);
        assert_eq!(policy.next().1, Due::Look);
    }
}
