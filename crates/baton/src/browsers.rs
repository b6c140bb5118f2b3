//! The browsers of the user who runs this: where their profiles are, and how one is read.
//!
//! The one idea: a person's own browser is looked at and left as it is. Its files are read by copy,
//! and its keyring gives one password when a cookie needs it.

use crate::clients::Homes;
use crate::output;
use anyhow::Context as _;
use baton_browser::launch::{LockState, lock, name_of};
use baton_browser::profile::at_rest::Instant;
use baton_browser::profile::keyring::{self, Product};
use baton_browser::profile::languages;
use baton_browser::profile::read::{
    self, NamedProfile, ProfileChoice, ProfileFolder, Read, Reason, names,
};
use baton_session::identity::BrowserName;
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_store::clock;
use clap::ValueEnum;
use serde::Serialize;
use std::fmt;
use std::path::{Path, PathBuf};

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

    /// What sites see of it at a version: those that are built of Chromium say that they are Chrome, but Edge.
    fn name_at(self, version: u32) -> Option<BrowserName> {
        let product = if self == Self::Edge { "Edg" } else { "Chrome" };
        name_of(&format!("{product}/{version}"))
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

/// A profile of a person's own browser.
#[derive(Debug)]
pub(crate) struct Own {
    /// Its folder.
    pub folder: ProfileFolder,
    /// What its browser shows as its name.
    name: Option<String>,
}

/// The profiles of a browser, and the folders in which they were looked for.
pub(crate) fn own(browser: Browser, homes: &Homes) -> (Vec<Own>, Vec<PathBuf>) {
    let usual = homes.settings.join(browser.folder());
    let boxed = browser.boxed().iter().map(|path| homes.home.join(path));
    let looked: Vec<PathBuf> = std::iter::once(usual).chain(boxed).collect();
    let own = looked.iter().flat_map(|user_data| {
        let mut names = names(user_data);
        let folders = ProfileFolder::all(user_data).into_iter();
        folders.map(move |folder| Own { name: names.remove(&folder.name()), folder })
    });
    (own.collect(), looked)
}

impl Own {
    /// Whether a person could mean it by this text: its folder, with or without the whole path, or
    /// its name.
    pub(crate) fn is(&self, text: &str) -> bool {
        self.folder.name() == text
            || self.folder.path().to_str() == Some(text)
            || self.name.as_deref().is_some_and(|name| name.trim() == text.trim())
    }
}

impl fmt::Display for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{} ({})", name.trim(), self.folder.path().display()),
            None => write!(f, "{}", self.folder.path().display()),
        }
    }
}

/// Why no profile is read here.
#[derive(Debug, thiserror::Error)]
#[error(
    "expected Linux, found {}: reading a profile works on Linux only so far",
    std::env::consts::OS
)]
struct NotRead;

/// What a profile of a browser holds. Blocks on the disk, and on the keyring.
pub(crate) fn read(folder: &ProfileFolder, browser: Browser) -> anyhow::Result<Read> {
    if !cfg!(target_os = "linux") {
        return Err(NotRead.into());
    }
    // A folder that may not be looked into would read as one that holds nothing.
    let path = folder.path();
    std::fs::read_dir(path).with_context(|| format!("could not read {}", path.display()))?;
    let mut ask = || {
        let (address, runtime) = ("DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR");
        let (address, runtime) = (std::env::var_os(address), std::env::var_os(runtime));
        let bus = keyring::session_bus(address.as_deref(), runtime.as_deref());
        keyring::password(browser.product(), bus.as_deref())
    };
    let mut read = read::read(folder, &mut ask, Instant(clock::now().as_microsecond()));
    let version = folder.last_version();
    let environment = &mut read.state.environment;
    environment.browser = version.and_then(|version| browser.name_at(version));
    match languages::read_in(path) {
        Ok(identity) => environment.identity = identity,
        Err(error) => {
            let item = ReceiptItem::rejected(ItemKind::Environment, "languages", error);
            read.left_out.push(item);
            read.left_out.sort();
        }
    }
    Ok(read)
}

/// The process of the browser that has the profile open, if one has.
pub(crate) fn in_use(folder: &ProfileFolder) -> Option<u32> {
    match lock::check(folder.path().parent()?) {
        Ok(LockState::InUse { pid }) => Some(pid),
        _ => None,
    }
}

/// The profile that was taken, and those beside it that were not.
#[derive(Debug, Serialize)]
pub(crate) struct TakenProfile {
    /// Its folder.
    profile: PathBuf,
    /// What its browser shows as its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    profile_name: Option<String>,
    /// The others in the same user data dir.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    other_profiles: Vec<OtherProfile>,
}

/// A profile that was not taken.
#[derive(Debug, Serialize)]
struct OtherProfile {
    folder: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

impl TakenProfile {
    pub(crate) fn of(choice: &ProfileChoice) -> Self {
        let other = |one: &NamedProfile| OtherProfile {
            folder: one.folder.path().to_owned(),
            name: one.name.clone(),
        };
        Self {
            profile: choice.taken.folder.path().to_owned(),
            profile_name: choice.taken.name.clone(),
            other_profiles: choice.others.iter().map(other).collect(),
        }
    }
}

/// Which one of several was taken, and how another one is; none where there is only one.
pub(crate) fn choice_note(choice: &ProfileChoice) -> Option<String> {
    let why = match choice.reason {
        Reason::Only => return None,
        Reason::LastUsed => "which its browser used last",
        Reason::First => "for its browser does not say which one it used last",
    };
    let shown = |one: &NamedProfile| {
        let folder = one.folder.name();
        output::plain(&match &one.name {
            Some(name) => format!("{} ({folder})", name.trim()),
            None => folder,
        })
    };
    let others: Vec<String> = choice.others.iter().map(shown).collect();
    let first = choice.others.first().map(|one| one.folder.path().display().to_string());
    Some(format!(
        "of {} profiles {} was taken, {why}; not taken: {}\nto take another one name its folder: {}",
        choice.others.len() + 1,
        shown(&choice.taken),
        others.join(", "),
        output::plain(&first.unwrap_or_default())
    ))
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
