//! sessionStorage on its way into a browser that another program starts: each area goes to one document, once.
//!
//! The one idea: what was handed over belongs to its page, which may have cleared it since, because somebody signed
//! out. So it is noted in a file first, which outlives the browser, with the tab that it is from: no later page and no
//! later browser gets it again, and whoever reads the profile afterwards knows that what is not there any more is gone,
//! and what never was there is not.

use crate::cdp::quoted;
use baton_session::{Entries, Site, StorageKey, Tab, Text};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use url::Url;

/// The longest notes that are read, in bytes.
pub const NOTES_LIMIT: u64 = 1 << 20;
/// The note that the tabs were opened, each with what is its own.
const TABS: &str = "tabs";
/// What stands before what was taken back: its page never came.
const BACK: char = '-';
/// How often a key that was taken back is handed over again in one browser: a frame that its page loads for ever, and
/// that is refused each time, fills no notes.
const BACKS: usize = 16;

/// What the notes of a browser say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HandedOver {
    /// Which sessionStorage pages were given: of which tab, by its number among those that are there, and whose.
    pub areas: BTreeSet<(usize, StorageKey)>,
    /// Whether all tabs were opened.
    pub tabs: bool,
}

impl HandedOver {
    /// Reads notes. Lines that are none of ours hurt nobody, and say nothing.
    pub fn read(notes: &str) -> Self {
        let mut found = Self::default();
        for line in notes.lines() {
            match line.strip_prefix(BACK) {
                Some(area) => {
                    if let Some(area) = read_area(area) {
                        found.areas.remove(&area);
                    }
                }
                None if line == TABS => found.tabs = true,
                None => found.areas.extend(read_area(line)),
            }
        }
        found
    }

    /// Whether a page was given any that has this key.
    pub fn has(&self, key: &StorageKey) -> bool {
        self.areas.iter().any(|(_, of)| of == key)
    }
}

/// The number of a tab, and a key.
fn read_area(line: &str) -> Option<(usize, StorageKey)> {
    let (tab, key) = line.split_once(' ')?;
    Some((tab.parse().ok()?, StorageKey::new(key)))
}

/// The sessionStorage of one tab and storage key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SessionStorageArea {
    /// Which of the tabs, by its number.
    tab: usize,
    /// Where its tab was.
    url: String,
    key: StorageKey,
    entries: Entries,
}

impl SessionStorageArea {
    /// Whose it is.
    pub(super) fn key(&self) -> &StorageKey {
        &self.key
    }

    /// Which tab had it.
    pub(super) fn tab(&self) -> usize {
        self.tab
    }

    /// Whether it is of the origin of this address.
    pub(super) fn is_of(&self, url: &str) -> bool {
        origin(url).as_deref() == Some(self.key.origin())
    }

    /// Whether it is a frame's of the site at which its tab was, or of another site there.
    fn is_a_frames(&self) -> bool {
        !self.key.is_first_party()
            || (is_same_site(&self.url, self.key.origin()) && !self.is_of(&self.url))
    }

    /// What puts it into a document before that runs a script of its own: into a page, or into a frame. A frame inside
    /// of that has its origin as well where it has no address of the web, and gets nothing.
    pub(super) fn script(&self, is_framed: bool) -> String {
        let pairs = self.entries.0.iter();
        let pairs: Vec<String> =
            pairs.map(|(key, value)| format!("[{},{}]", literal(key), literal(value))).collect();
        let (origin, pairs) = (quoted(self.key.origin()), pairs.join(","));
        format!(
            "if ((self !== self.top) === {is_framed} && self.origin === {origin} && /^http/.test(location.protocol)) {{
                try {{ for (const [key, value] of [{pairs}]) sessionStorage.setItem(key, value); }} catch {{}}
            }}"
        )
    }
}

/// Where a document is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DocumentPlace {
    /// Its address.
    pub(super) url: String,
    /// Those of the documents that it is inside of, the page's first; none of a page.
    pub(super) around: Vec<String>,
}

impl DocumentPlace {
    /// Whether its storage has this key (`blink::StorageKey`): in pages of another site a frame has a partition of
    /// its own, and in a page of its own site another one where a frame of another site is between the two.
    pub(super) fn has(&self, key: &StorageKey) -> bool {
        if origin(&self.url).as_deref() != Some(key.origin()) {
            return false;
        }
        let Some(page) = self.around.first() else { return key.is_first_party() };
        if !is_same_site(&self.url, page) {
            return key.top_level_site().is_some_and(|site| is_same_site(site, page));
        }
        if self.around.iter().all(|one| is_same_site(&self.url, one)) {
            key.is_first_party()
        } else {
            key.is_inside_another()
        }
    }

    /// Whether what is next around it is of its own site.
    pub(super) fn is_in_its_site(&self) -> bool {
        self.around.last().is_some_and(|around| is_same_site(&self.url, around))
    }

    /// Whether it is of one of these origins.
    pub(super) fn is_at(&self, origins: &BTreeSet<&str>) -> bool {
        origin(&self.url).is_some_and(|origin| origins.contains(origin.as_str()))
    }

    /// Whether it is that of a frame.
    pub(super) fn is_framed(&self) -> bool {
        !self.around.is_empty()
    }

    /// Where its page is.
    fn page(&self) -> &str {
        self.around.first().unwrap_or(&self.url)
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

fn web(url: &str) -> Option<Url> {
    Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"))
}

/// The origin of what is shown at an address of the web.
fn origin(url: &str) -> Option<String> {
    web(url).map(|url| url.origin().ascii_serialization())
}

/// Whether two addresses of the web are of one site, with the scheme, as browsers part their storage.
fn is_same_site(one: &str, other: &str) -> bool {
    let scheme = |url: &str| web(url).map(|url| url.scheme().to_owned());
    scheme(one).is_some_and(|one| scheme(other) == Some(one))
        && Site::of_origin(one) == Site::of_origin(other)
}

/// What is there to be handed over.
#[derive(Debug, Default)]
pub(super) struct HandOver {
    /// The tab in front before all others.
    areas: Vec<SessionStorageArea>,
    notes: PathBuf,
    /// Whether each tab is there to get its own; else a key has one area only, whichever page comes first.
    to_its_tab: bool,
    /// Of which tabs this one handed over what they had, by the key.
    given: BTreeMap<StorageKey, BTreeSet<usize>>,
    /// The origins at which a service worker answers.
    workers: BTreeSet<String>,
    /// How often it took a key back.
    backs: BTreeMap<StorageKey, usize>,
}

impl HandOver {
    /// What tabs have, but for what was handed over before, as the file `notes` says. Blocks on the disk.
    pub(super) fn of(tabs: &[Tab], notes: &Path) -> Self {
        let front = tabs.iter().enumerate().filter(|(_, tab)| tab.active);
        let others = tabs.iter().enumerate().filter(|(_, tab)| !tab.active);
        let areas = front.chain(others).flat_map(|(number, tab)| {
            let reachable = tab.session_storage.iter().filter(|(key, _)| key.is_reachable());
            reachable.map(move |(key, entries)| SessionStorageArea {
                tab: number,
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
                all.areas.retain(|area| !before.tabs && !before.has(&area.key));
            }
            Err(error) => all.refuse(&error),
        }
        all
    }

    /// The same, where service workers answer at these origins.
    pub(super) fn with_workers(mut self, origins: &[String]) -> Self {
        self.workers = origins.iter().cloned().collect();
        self
    }

    /// The origins whose pages a service worker may answer, of which something is left.
    pub(super) fn worker_origins(&self) -> BTreeSet<&str> {
        let of_pages = self.areas.iter().filter(|area| area.key.is_first_party());
        let origins = of_pages.map(|area| area.key.origin());
        origins.filter(|origin| self.workers.contains(*origin)).collect()
    }

    /// Whether any of it is for frames.
    pub(super) fn has_frames(&self) -> bool {
        self.areas.iter().any(SessionStorageArea::is_a_frames)
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

    /// What a document gets, which is noted before this returns: what the tab had of which its page was given
    /// something, or else the one that was where its page is, or else the one in front. Blocks on the disk.
    pub(super) fn claim(
        &mut self,
        place: &DocumentPlace,
        tab: Option<usize>,
    ) -> Option<SessionStorageArea> {
        let all = || self.areas.iter().filter(|area| place.has(&area.key));
        let its_own = all().find(|area| tab == Some(area.tab));
        let at_its_page = || all().find(|area| area.url == place.page());
        // A page that is one of the tabs gets nothing of another one: it may have signed out.
        let any =
            || at_its_page().or_else(|| all().next()).filter(|_| !self.to_its_tab || tab.is_none());
        let area = its_own.or_else(any)?.clone();
        let (tab, key) = (area.tab, area.key.clone());
        let is_first = !self.given.contains_key(&key);
        let noted = self.noted(|noted, file| {
            if is_first && noted.has(&key) {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            writeln!(file, "{tab} {key}")
        });
        if let Err(error) = noted {
            // Another browser was faster, or nothing could keep it from being handed over again.
            tracing::debug!(%key, %error, "sessionStorage is not handed over");
            self.areas.retain(|area| area.key != key);
            return None;
        }
        self.given.entry(key.clone()).or_default().insert(tab);
        if self.to_its_tab {
            let at = self.areas.iter().position(|one| *one == area)?;
            self.areas.remove(at);
        } else {
            self.areas.retain(|area| area.key != key);
        }
        Some(area)
    }

    /// Takes back an area whose page never came. After so many of its key this browser hands none of it over any more,
    /// and it is kept for the next one. Blocks on the disk.
    pub(super) fn put_back(&mut self, area: SessionStorageArea) {
        let (tab, key) = (area.tab, area.key.clone());
        if let Err(error) = self.noted(|_, file| writeln!(file, "{BACK}{tab} {key}")) {
            tracing::debug!(%key, %error, "sessionStorage is not taken back");
            return;
        }
        // Where the page of another tab has its own, and may have cleared it since, no other browser gets any.
        if let Some(tabs) = self.given.get_mut(&key) {
            tabs.remove(&tab);
            if tabs.is_empty() {
                self.given.remove(&key);
            }
        }
        let backs = self.backs.entry(key.clone()).or_default();
        *backs += 1;
        if *backs <= BACKS {
            self.areas.insert(0, area);
        } else {
            self.areas.retain(|one| one.key != key);
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
mod tests;
