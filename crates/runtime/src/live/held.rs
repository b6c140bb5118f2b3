//! What a session held, and whether that has shrunk.
//!
//! Cookies that go because the clock was set forward have not expired: that is judged by a clock that cannot
//! be set.

use baton_session::cookie::Expiry;
use baton_session::{Cookie, Holdings, State};
use baton_store::clock::{Anchor, uptime};
use jiff::Timestamp;
use std::time::Duration;

/// What the last good snapshot held, and since when that is known.
#[derive(Debug)]
pub struct LastHeld {
    holdings: Holdings,
    since: Anchor,
    /// Whether the browser has lived and answered since: what goes then, a person or a site removed.
    is_watched: bool,
}

impl LastHeld {
    /// This is what a browser holds that lives.
    pub(super) fn watched(holdings: Holdings) -> Self {
        Self { is_watched: true, ..Self::restored(holdings) }
    }

    /// This is what a browser should hold that has just been started, and has not been read yet.
    pub(super) fn restored(holdings: Holdings) -> Self {
        Self::then(holdings, Anchor::new(Timestamp::now(), uptime()))
    }

    /// This was held at that instant, and it was not watched since.
    pub(super) fn then(holdings: Holdings, since: Anchor) -> Self {
        Self { holdings, since, is_watched: false }
    }

    /// Whether what goes from now on was removed by a person or a site, and is not lost.
    pub(super) fn is_watched(&self) -> bool {
        self.is_watched
    }

    /// These cookies are held as well.
    pub(super) fn add_cookies(&mut self, cookies: &[Cookie]) {
        self.holdings.add_cookies(cookies);
    }

    /// Whether a state that was read at this instant, by both clocks, has shrunk since.
    pub(super) fn has_shrunk_to(&self, state: &State, at: Timestamp, up: Duration) -> bool {
        let now = Expiry(self.since.earliest(at, up).as_microsecond());
        if self.is_watched {
            return self.holdings.has_faded_to(state, now, Expiry(at.as_microsecond()));
        }
        self.holdings.has_shrunk_to(state, now)
    }
}

#[cfg(test)]
mod tests {
    use super::{Anchor, LastHeld};
    use baton_session::cookie::Expiry;
    use baton_session::{Cookie, Holdings, State};
    use jiff::{SignedDuration, Timestamp};
    use std::time::Duration;

    const UP: Duration = Duration::from_hours(5);
    const HOUR: SignedDuration = SignedDuration::from_hours(1);

    fn noon() -> Timestamp {
        "2026-01-01T12:00:00Z".parse().unwrap()
    }

    /// One login that lasts for an hour, and was there at noon.
    fn held() -> LastHeld {
        let expires = Expiry((noon() + HOUR).as_microsecond());
        let login: Cookie = serde_json::from_value(serde_json::json!({
            "name": "sid", "value": "1", "domain": "shop.test", "path": "/", "expires": expires,
        }))
        .unwrap();
        let state = State { cookies: vec![login], ..State::default() };
        LastHeld::then(Holdings::of(&state), Anchor::new(noon(), UP))
    }

    #[test]
    fn who_signs_out_of_a_browser_that_lives_is_signed_out() {
        let watched = LastHeld { is_watched: true, ..held() };
        let (minute, gone) = (SignedDuration::from_mins(1), State::default());
        let shortly = UP + Duration::from_mins(1);
        assert!(!watched.has_shrunk_to(&gone, noon() + minute, shortly));
        assert!(!watched.has_shrunk_to(&gone, noon() + minute - HOUR, shortly), "back an hour");
        assert!(watched.has_shrunk_to(&gone, noon() + 24 * HOUR, shortly), "forward a day");
        let (later, up) = (noon() + 2 * HOUR, UP + Duration::from_hours(2));
        assert!(!watched.has_shrunk_to(&gone, later, up), "its time has passed");
    }

    #[test]
    fn a_login_that_a_jump_of_the_clock_took_away_has_not_expired() {
        let (minute, gone) = (SignedDuration::from_mins(1), State::default());
        let shortly = UP + Duration::from_mins(1);
        let jumped = |by| held().has_shrunk_to(&gone, noon() + minute + by, shortly);
        assert!(jumped(24 * HOUR), "forward a day");
        assert!(jumped(-HOUR), "back an hour");
        assert!(jumped(SignedDuration::ZERO), "not at all");
    }

    #[test]
    fn a_login_whose_time_has_passed_may_go() {
        let (later, up) = (noon() + 2 * HOUR, UP + Duration::from_hours(2));
        assert!(!held().has_shrunk_to(&State::default(), later, up));
        assert!(
            held().has_shrunk_to(&State::default(), noon(), up),
            "the clock says that it lives"
        );
    }
}
