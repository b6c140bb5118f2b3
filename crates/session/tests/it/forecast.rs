//! How soon cookies expire is counted, and what has no end is not.

use baton_session::cookie::Expiry;
use baton_session::login::{Forecast, forecast};
use baton_session::{Cookie, State};
use jiff::{SignedDuration, Timestamp};

fn state(now: Timestamp, ends: &[Option<SignedDuration>]) -> State {
    let cookie = |end: &Option<SignedDuration>| -> Cookie {
        let expires = end.map(|end| Expiry((now + end).as_microsecond()));
        serde_json::from_value(serde_json::json!({
            "name": "a", "value": "1", "domain": "app.test", "path": "/", "expires": expires,
        }))
        .unwrap()
    };
    State { cookies: ends.iter().map(cookie).collect(), ..State::default() }
}

#[test]
fn every_cookie_is_in_the_window_in_which_it_ends() {
    let now = Timestamp::from_second(1_800_000_000).unwrap();
    let (minute, hour) = (SignedDuration::from_mins(1), SignedDuration::from_hours(1));
    let ends = [
        None,
        Some(-minute),
        Some(SignedDuration::ZERO),
        Some(minute),
        Some(hour),
        Some(hour + minute),
        Some(24 * hour),
        Some(7 * 24 * hour),
        Some(400 * 24 * hour),
    ];
    let expected = Forecast {
        cookies: 7,
        expired: 2,
        within_hour: 2,
        within_day: 4,
        within_week: 5,
        next: Some(now + minute),
    };
    assert_eq!(forecast(&state(now, &ends), now), expected);
}

#[test]
fn without_an_end_there_is_no_next() {
    let now = Timestamp::UNIX_EPOCH;
    assert_eq!(forecast(&State::default(), now), Forecast::default());
    let expected = Forecast { cookies: 1, ..Forecast::default() };
    assert_eq!(forecast(&state(now, &[None]), now), expected);
}
