//! Which browsers are known, by which names, and how the settings choose one.

use super::super::options::LaunchError;
use std::convert::Infallible;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// Whose browser it is, or whose cache it lies in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BrowserKind {
    /// Chromium, of a distribution.
    Chromium,
    /// Google Chrome.
    Chrome,
    /// Chrome for Testing, installed by Baton.
    ChromeForTesting,
    /// The Chromium that Playwright installed.
    Playwright,
    /// The Chrome that Puppeteer installed.
    Puppeteer,
    /// Microsoft Edge.
    Edge,
    /// Brave.
    Brave,
}

impl BrowserKind {
    /// All of them, as they are looked for: first what a system has, then what was installed for Baton, then
    /// what other tools have installed for themselves, and last what is not Chromium or Chrome.
    pub const ALL: [Self; 7] = [
        Self::Chromium,
        Self::Chrome,
        Self::ChromeForTesting,
        Self::Playwright,
        Self::Puppeteer,
        Self::Edge,
        Self::Brave,
    ];

    /// What the settings call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Chromium => "chromium",
            Self::Chrome => "chrome",
            Self::ChromeForTesting => "chrome-for-testing",
            Self::Playwright => "playwright",
            Self::Puppeteer => "puppeteer",
            Self::Edge => "edge",
            Self::Brave => "brave",
        }
    }

    /// All names, with commas.
    pub(super) fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }
}

impl fmt::Display for BrowserKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Which browser the settings want.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BrowserChoice {
    /// The best of a kind.
    Kind(BrowserKind),
    /// This program.
    Program(PathBuf),
}

impl FromStr for BrowserChoice {
    type Err = Infallible;

    /// A name that is known, or else a path; `./chrome` is the program of that name in this folder.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        let kind = BrowserKind::ALL.into_iter().find(|kind| kind.name() == text);
        Ok(kind.map_or_else(|| Self::Program(text.into()), Self::Kind))
    }
}

impl From<PathBuf> for BrowserChoice {
    /// The same of a path, which may be no text.
    fn from(path: PathBuf) -> Self {
        match path.to_str().map(str::parse) {
            Some(Ok(choice)) => choice,
            None => Self::Program(path),
        }
    }
}

impl BrowserChoice {
    /// That there is no program at a path; a word alone may be meant as a name.
    pub(super) fn not_runnable(path: PathBuf, found: &str) -> LaunchError {
        let is_word = path.components().count() == 1 && !path.is_absolute();
        let hint = if is_word {
            format!("\nnames are {}; all else is a path", BrowserKind::names())
        } else {
            String::new()
        };
        LaunchError::NotRunnable { path, found: format!("{found}{hint}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_kind_and_all_else_is_a_path() {
        for kind in BrowserKind::ALL {
            assert_eq!(BrowserChoice::from(PathBuf::from(kind.name())), BrowserChoice::Kind(kind));
        }
        for path in ["./chrome", "/usr/bin/chromium", "Chrome", ""] {
            let expected = BrowserChoice::Program(path.into());
            assert_eq!(path.parse(), Ok(expected), "{path}");
        }
    }
}
