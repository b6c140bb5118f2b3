//! Since when: an instant, milliseconds since 1970, or how long ago.

use baton_api::debug::EpochMs;
use jiff::{SignedDuration, Timestamp};

/// Reads `2026-01-31T12:00:00Z`, `1769860800000` or `5m`.
pub(super) fn parse(text: &str) -> Result<EpochMs, String> {
    if let Ok(millis) = text.parse() {
        return Ok(EpochMs::new(millis));
    }
    let ago = text.parse::<SignedDuration>().ok().filter(SignedDuration::is_positive);
    let instant = match ago {
        Some(ago) => Timestamp::now().checked_sub(ago).ok(),
        None => text.parse().ok(),
    };
    let millis =
        instant.and_then(|instant: Timestamp| u64::try_from(instant.as_millisecond()).ok());
    millis.map(EpochMs::new).ok_or_else(|| {
        "expected how long ago (5m), an instant (2026-01-31T12:00:00Z), or milliseconds since 1970"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn an_instant_is_read_in_three_ways() {
        let instant = parse("2026-01-31T12:00:00Z").unwrap();
        assert_eq!(instant, parse("1769860800000").unwrap());
        assert!(parse("5m").unwrap() > instant);
        for bad in ["", "-5m", "yesterday", "1.5"] {
            parse(bad).unwrap_err();
        }
    }
}
