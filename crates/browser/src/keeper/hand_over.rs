//! sessionStorage on its way into a browser that another program starts: each area goes to one page, once.
//!
//! The one idea: what was handed over belongs to its page, which may have cleared it since, because somebody signed
//! out. So it is noted in a file first, which outlives the browser: no later page and no later browser gets it again,
//! and whoever reads the profile afterwards knows that what is not there any more is gone.

use crate::cdp::quoted;
use baton_session::{Entries, StorageKey, Tab, Text};
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use url::Url;

/// The longest notes that are read, in bytes.
pub const NOTES_LIMIT: u64 = 1 << 20;
/// The note that the tabs were opened, each with what is its own.
const TABS: &str = "tabs";
/// What stands before a key that was taken back: its page never came.
const BACK: char = '-';

/// What the notes of a browser say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HandedOver {
    /// Whose sessionStorage a page was given.
    pub keys: BTreeSet<StorageKey>,
    /// Whether all tabs were opened.
    pub tabs: bool,
}

impl HandedOver {
    /// Reads notes. Lines that are no storage key hurt nobody: they are keys that no session has.
    pub fn read(notes: &str) -> Self {
        let mut found = Self::default();
        for line in notes.lines() {
            match line.strip_prefix(BACK) {
                Some(key) => {
                    found.keys.remove(&StorageKey::new(key));
                }
                None if line == TABS => found.tabs = true,
                None => {
                    found.keys.insert(StorageKey::new(line));
                }
            }
        }
        found
    }
}

/// The sessionStorage of one tab and storage key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SessionStorageArea {
    /// Where its tab was.
    url: String,
    key: StorageKey,
    entries: Entries,
}

impl SessionStorageArea {
    /// Whether a document at this address has it.
    pub(super) fn is_of(&self, url: &str) -> bool {
        key_of(url).as_ref() == Some(&self.key)
    }

    /// What puts it into a document before that runs a script of its own. A frame has none of it: what is kept for
    /// frames is another storage key, or that of their page.
    pub(super) fn script(&self) -> String {
        let pairs = self.entries.0.iter();
        let pairs: Vec<String> =
            pairs.map(|(key, value)| format!("[{},{}]", literal(key), literal(value))).collect();
        let (origin, pairs) = (quoted(self.key.origin()), pairs.join(","));
        format!(
            "if (self === self.top && self.origin === {origin}) {{
                try {{ for (const [key, value] of [{pairs}]) sessionStorage.setItem(key, value); }} catch {{}}
            }}"
        )
    }
}

/// A text as a script has it, also one that is no Unicode.
fn literal(text: &Text) -> String {
    if let Some(text) = text.as_str() {
        return quoted(text);
    }
    let units: Vec<String> = text.to_utf16().iter().map(|unit| format!("\\u{unit:04x}")).collect();
    format!("\"{}\"", units.concat())
}

/// The first-party key of what is shown at an address of the web.
fn key_of(url: &str) -> Option<StorageKey> {
    let url = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    Some(StorageKey::first_party(&url.origin().ascii_serialization()))
}

/// What is there to be handed over.
#[derive(Debug, Default)]
pub(super) struct HandOver {
    /// The tab in front before all others.
    areas: Vec<SessionStorageArea>,
    notes: PathBuf,
    /// Whether each tab is there to get its own; else a key has one area only, whichever page comes first.
    to_its_tab: bool,
    /// What was noted by this one.
    own: BTreeSet<StorageKey>,
}

impl HandOver {
    /// What tabs have, but for what was handed over before, as the file `notes` says. Blocks on the disk.
    pub(super) fn of(tabs: &[Tab], notes: &Path) -> Self {
        let front = tabs.iter().filter(|tab| tab.active);
        let others = tabs.iter().filter(|tab| !tab.active);
        let areas = front.chain(others).flat_map(|tab| {
            let first_parties = tab.session_storage.iter().filter(|(key, _)| key.is_first_party());
            first_parties.map(|(key, entries)| SessionStorageArea {
                url: tab.url.clone(),
                key: key.clone(),
                entries: entries.clone(),
            })
        });
        let areas: Vec<SessionStorageArea> =
            areas.filter(|area| !area.entries.is_empty()).collect();
        let mut all = Self { areas, notes: notes.to_owned(), ..Self::default() };
        match all.noted(|_, _| Ok(())) {
            Ok(before) => {
                all.areas.retain(|area| !before.tabs && !before.keys.contains(&area.key));
            }
            Err(error) => all.refuse(&error),
        }
        all
    }

    /// Whether nothing is left.
    pub(super) fn is_empty(&self) -> bool {
        self.areas.is_empty()
    }

    /// Notes that all tabs are opened; not where they were before. Then each gets what is its own. Blocks on the
    /// disk.
    pub(super) fn open_tabs(&mut self) -> bool {
        let noted = self.noted(|noted, file| {
            if noted.tabs {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            writeln!(file, "{TABS}")
        });
        self.to_its_tab = noted.is_ok();
        self.to_its_tab
    }

    /// What a page at this address gets, which is noted before this returns: that of the tab that was there, or else
    /// of the one in front. Blocks on the disk.
    pub(super) fn claim(&mut self, url: &str) -> Option<SessionStorageArea> {
        let key = key_of(url)?;
        let of_key = |area: &&SessionStorageArea| area.key == key;
        let its_own = self.areas.iter().filter(of_key).find(|area| area.url == url);
        let area = its_own.or_else(|| self.areas.iter().find(of_key))?.clone();
        if !self.own.contains(&key) {
            let noted = self.noted(|noted, file| {
                if noted.keys.contains(&key) {
                    return Err(io::ErrorKind::AlreadyExists.into());
                }
                writeln!(file, "{key}")
            });
            if let Err(error) = noted {
                // Another browser was faster, or nothing could keep it from being handed over again.
                tracing::debug!(%key, %error, "sessionStorage is not handed over");
                self.areas.retain(|area| area.key != key);
                return None;
            }
            self.own.insert(key.clone());
        }
        if self.to_its_tab {
            let at = self.areas.iter().position(|one| *one == area)?;
            self.areas.remove(at);
        } else {
            self.areas.retain(|area| area.key != key);
        }
        Some(area)
    }

    /// Takes back an area whose page never came. Blocks on the disk.
    pub(super) fn put_back(&mut self, area: SessionStorageArea) {
        let key = area.key.clone();
        match self.noted(|_, file| writeln!(file, "{BACK}{key}")) {
            Ok(_) => {
                self.own.remove(&key);
                self.areas.insert(0, area);
            }
            Err(error) => tracing::debug!(%key, %error, "sessionStorage is not taken back"),
        }
    }

    /// Nothing is handed over by who cannot note it.
    fn refuse(&mut self, error: &io::Error) {
        tracing::warn!(%error, notes = %self.notes.display(), "no sessionStorage is handed over");
        self.areas.clear();
    }

    /// Reads the notes and adds to them, while no other process does.
    fn noted(
        &self,
        add: impl FnOnce(&HandedOver, &mut File) -> io::Result<()>,
    ) -> io::Result<HandedOver> {
        let mut file = File::options().read(true).append(true).create(true).open(&self.notes)?;
        file.lock()?;
        let mut text = String::new();
        (&file).take(NOTES_LIMIT).read_to_string(&mut text)?;
        let noted = HandedOver::read(&text);
        add(&noted, &mut file)?;
        Ok(noted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOP: &str = "https://shop.test/";

    fn tab(url: &str, active: bool, token: &str) -> Tab {
        let key = key_of(url).unwrap();
        let entries = [("token", token)].into_iter().collect();
        Tab {
            url: url.to_owned(),
            active,
            session_storage: [(key, entries)].into(),
            ..Tab::default()
        }
    }

    fn tabs() -> [Tab; 3] {
        let list = tab("https://shop.test/list", false, "list");
        let news = tab("https://news.test/", false, "news");
        [list, tab("https://shop.test/cart", true, "cart"), news]
    }

    fn token(area: Option<SessionStorageArea>) -> Option<String> {
        area.map(|area| area.entries.0[&Text::from("token")].to_lossy())
    }

    #[test]
    fn the_first_page_gets_what_the_tab_in_front_had_and_no_other_gets_any() {
        let folder = tempfile::tempdir().unwrap();
        let notes = folder.path().join("handed");
        let mut first = HandOver::of(&tabs(), &notes);
        let mut at_once = HandOver::of(&tabs(), &notes);
        assert_eq!(token(first.claim(SHOP)).as_deref(), Some("cart"));
        assert_eq!(first.claim("https://shop.test/list"), None);
        assert_eq!(first.claim("https://www.shop.test/"), None);
        assert_eq!(at_once.claim(SHOP), None, "another browser was faster");
        let mut later = HandOver::of(&tabs(), &notes);
        assert_eq!((later.areas.len(), later.claim(SHOP)), (1, None));
        // Its page never came.
        let news = later.claim("https://news.test/world").unwrap();
        later.put_back(news);
        assert!(HandOver::of(&tabs(), &notes).claim("https://news.test/").is_some());
        let found = HandedOver::read(&std::fs::read_to_string(&notes).unwrap());
        let keys: Vec<_> = found.keys.iter().map(StorageKey::as_str).collect();
        assert_eq!((keys, found.tabs), (vec!["https://news.test/", SHOP], false));
    }

    #[test]
    fn tabs_that_are_opened_get_each_its_own_and_are_opened_once() {
        let folder = tempfile::tempdir().unwrap();
        let notes = folder.path().join("handed");
        let mut first = HandOver::of(&tabs(), &notes);
        assert!(first.open_tabs());
        assert_eq!(token(first.claim("https://shop.test/list")).as_deref(), Some("list"));
        assert_eq!(token(first.claim("https://shop.test/elsewhere")).as_deref(), Some("cart"));
        assert_eq!(first.claim(SHOP), None);
        let mut later = HandOver::of(&tabs(), &notes);
        assert!(later.is_empty() && !later.open_tabs());
    }

    #[test]
    fn nothing_is_handed_over_that_cannot_be_noted() {
        let folder = tempfile::tempdir().unwrap();
        assert!(HandOver::of(&tabs(), folder.path()).is_empty());
        let notes = folder.path().join("handed");
        let mut all = HandOver::of(&tabs(), &notes);
        std::fs::remove_file(&notes).unwrap();
        std::fs::create_dir(&notes).unwrap();
        assert_eq!(all.claim(SHOP), None);
    }

    #[test]
    fn every_text_of_a_page_goes_into_its_script() {
        let broken = Text::from_utf16(&[0xd800, 0x22]);
        assert_eq!(literal(&broken), r#""\ud800\u0022""#);
        assert_eq!(literal(&"</script>\"\u{2028}".into()), "\"</script>\\\"\u{2028}\"");
    }
}
