//! The browsers of whoever runs this: where their profiles are, and how one is read.
//!
//! The one idea: a person's own browser is looked at and left as it is. Its files are read by copy,
//! and its keyring gives one password when a cookie needs it.

mod find;
mod read;
mod taken;

pub(crate) use find::{Own, own};
pub(crate) use read::{in_use, read};
pub(crate) use taken::{TakenProfile, told};

use baton_browser::profile::keyring::Product;
use clap::ValueEnum;
use std::fmt;
use std::path::Path;

/// A browser whose profiles are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Browser {
    /// Google Chrome
    Chrome,
    /// Chromium, and what is built of it under its name
    Chromium,
    /// Microsoft Edge
    Edge,
    /// Brave
    Brave,
}

impl Browser {
    /// Whose profile it is, as far as its path tells; Chromium's where it tells nothing, for so are
    /// the profiles that tools make.
    pub(crate) fn of_path(path: &Path) -> Self {
        let has = |start: &str| {
            path.iter().any(|part| part.to_string_lossy().to_lowercase().starts_with(start))
        };
        match () {
            () if has("google-chrome") => Self::Chrome,
            () if has("microsoft-edge") => Self::Edge,
            () if has("bravesoftware") => Self::Brave,
            () => Self::Chromium,
        }
    }

    /// Under whose name its password lies in the keyring.
    fn product(self) -> Product {
        match self {
            Self::Chrome => Product::Chrome,
            Self::Chromium => Product::Chromium,
            Self::Edge => Product::Edge,
            Self::Brave => Product::Brave,
        }
    }

    /// Its folder among those in which programs keep their settings.
    fn folder(self) -> &'static str {
        match self {
            Self::Chrome => "google-chrome",
            Self::Chromium => "chromium",
            Self::Edge => "microsoft-edge",
            Self::Brave => "BraveSoftware/Brave-Browser",
        }
    }

    /// Where it is, below the home folder, when it came as a snap or a flatpak.
    fn boxed(self) -> &'static [&'static str] {
        match self {
            Self::Chrome => &[".var/app/com.google.Chrome/config/google-chrome"],
            Self::Chromium => {
                &["snap/chromium/common/chromium", ".var/app/org.chromium.Chromium/config/chromium"]
            }
            Self::Edge => &[".var/app/com.microsoft.Edge/config/microsoft-edge"],
            Self::Brave => &[
                "snap/brave/current/.config/BraveSoftware/Brave-Browser",
                ".var/app/com.brave.Browser/config/BraveSoftware/Brave-Browser",
            ],
        }
    }
}

impl fmt::Display for Browser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Chrome => "Google Chrome",
            Self::Chromium => "Chromium",
            Self::Edge => "Microsoft Edge",
            Self::Brave => "Brave",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Browser;
    use std::path::Path;

    #[test]
    fn a_path_tells_whose_profile_it_is() {
        for (path, browser) in [
            ("/home/ada/.config/google-chrome/Default", Browser::Chrome),
            ("/home/ada/.config/google-chrome-beta", Browser::Chrome),
            ("/home/ada/.config/microsoft-edge", Browser::Edge),
            ("/home/ada/.config/BraveSoftware/Brave-Browser/Profile 1", Browser::Brave),
            ("/home/ada/.config/chromium", Browser::Chromium),
            ("profile", Browser::Chromium),
        ] {
            assert_eq!(Browser::of_path(Path::new(path)), browser, "{path}");
        }
    }
}
