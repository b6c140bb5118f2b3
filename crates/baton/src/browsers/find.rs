//! The profiles of a browser, with the names by which people know them.

use super::Browser;
use crate::clients::Homes;
use baton_browser::profile::read::{ProfileFolder, names};
use std::fmt;
use std::path::PathBuf;

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
