//! Environments at random.

use baton_session::state::{Environment, Geolocation, Viewport};
use baton_testing::Dice;

/// Some of it, or all, is the browser's own.
pub(super) fn environment(dice: &mut Dice) -> Environment {
    let mut one = |all: &[&str]| match all[usize::try_from(dice.roll(all.len() as u64)).unwrap()] {
        "" => None,
        chosen => Some(chosen.to_owned()),
    };
    let user_agent = one(&["", "Baton test", "Mozilla/5.0 (X11; \"odd\") a, b;"]);
    let timezone = one(&["", "Asia/Kathmandu", "America/St_Johns"]);
    let locale = one(&["", "ja-JP", "pl-PL"]);
    let viewport = one(&["", "small", "odd"]);
    let geolocation = one(&["", "here"]);
    Environment {
        viewport: viewport.map(|kind| match kind.as_str() {
            "odd" => Viewport { width: 1023, height: 701 },
            _ => Viewport { width: 500, height: 600 },
        }),
        user_agent,
        identity: None,
        browser: None,
        timezone,
        locale,
        permissions: Vec::new(),
        certificates: Vec::new(),
        egress: None,
        geolocation: geolocation.map(|_| Geolocation {
            latitude: -0.5,
            longitude: 179.999,
            accuracy: 10.5,
        }),
    }
}
