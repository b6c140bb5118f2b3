//! Versions of Chromium: as text, in order, and which of them Baton works with.

use std::fmt;
use std::str::FromStr;

/// The oldest major version that Baton works with. The cookie store of a profile that Baton writes has
/// version 24, which Chromium has since 130; an older one takes it for one of the future, and empties it.
pub const OLDEST: u32 = 130;

/// The newest major version that Baton was tried with. A newer one is started all the same.
pub const NEWEST_TRIED: u32 = 156;

/// A version of Chromium: `MAJOR.MINOR.BUILD.PATCH`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct BrowserVersion([u32; 4]);

/// A text that is no version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a version such as 156.0.8078.79")]
pub struct NotVersion;

impl BrowserVersion {
    /// The number that people name: 156.
    pub fn major(self) -> u32 {
        self.0[0]
    }

    /// Whether Baton does not work with it.
    pub fn is_too_old(self) -> bool {
        self.major() < OLDEST
    }

    /// Whether it is newer than what Baton was tried with.
    pub fn is_untried(self) -> bool {
        self.major() > NEWEST_TRIED
    }

    /// The version in what a program says of itself, such as `Chromium 156.0.8078.79 built on Debian` or
    /// `Chrome/156.0.8078.79`.
    pub fn in_text(text: &str) -> Option<Self> {
        text.split([' ', '/']).find_map(|word| word.parse().ok())
    }
}

impl FromStr for BrowserVersion {
    type Err = NotVersion;

    fn from_str(text: &str) -> Result<Self, NotVersion> {
        let mut numbers = [0; 4];
        let mut parts = text.split('.');
        for number in &mut numbers {
            let part = parts.next().ok_or(NotVersion)?;
            let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            *number = is_number.then(|| part.parse().ok()).flatten().ok_or(NotVersion)?;
        }
        if parts.next().is_some() { Err(NotVersion) } else { Ok(Self(numbers)) }
    }
}

impl fmt::Display for BrowserVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, build, patch] = self.0;
        f.pad(&format!("{major}.{minor}.{build}.{patch}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_ordered_as_numbers() {
        let read = |text: &str| text.parse::<BrowserVersion>();
        assert!(read("130.0.6723.9").unwrap() < read("130.0.6723.10").unwrap());
        assert_eq!(read("156.0.8078.79").unwrap().to_string(), "156.0.8078.79");
        for text in
            ["", "156", "156.0.8078", "156.0.8078.79.1", "156.0.8078.+9", "../../x.y", "1.2.3."]
        {
            assert_eq!(read(text), Err(NotVersion), "{text}");
        }
    }

    #[test]
    fn a_version_is_found_in_what_programs_say() {
        for (text, major) in [
            ("Chromium 156.0.8078.108 built on Debian GNU/Linux 12 (bookworm)", Some(156)),
            ("Google Chrome for Testing 129.0.6668.100", Some(129)),
            ("Chrome/200.0.1.2", Some(200)),
            ("Chrome/1", None),
            ("a shell", None),
        ] {
            assert_eq!(BrowserVersion::in_text(text).map(BrowserVersion::major), major, "{text}");
        }
        let of = |text| BrowserVersion::in_text(text).unwrap();
        assert!(of("Chrome/129.9.9.9").is_too_old() && !of("Chrome/130.0.0.0").is_too_old());
        assert!(of("Chrome/157.0.0.0").is_untried() && !of("Chrome/156.9.9.9").is_untried());
    }
}
