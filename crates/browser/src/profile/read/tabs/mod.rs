//! The tabs that a browser had open, from the file in which it notes them for its next start
//! (`components/sessions/core/session_service_commands.cc` in Chromium): commands, one after another,
//! of which each changes what is known of a tab or window.
//!
//! Commands and what is in them are as Chromium writes them (`base/pickle.h`). Of a tab's history they
//! tell entries, and others make room for them.

#[cfg(test)]
mod tests;

use crate::plain;
use crate::targets::{Shows, shows};
use baton_redaction::ShownAddress;
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_session::{Receipt, Tab};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The largest file that is read, in bytes.
const LARGEST: u64 = 64 << 20;
/// The most tabs that are read.
const MOST: usize = 10_000;
/// How many files are tried: a browser keeps two.
const FILES: usize = 4;
const MAGIC: &[u8] = b"SNSS";
/// Files of these versions are not encrypted.
const PLAIN: [i32; 2] = [1, 3];
/// From this version on, a file counts when what it began with was written whole.
const MARKED: i32 = 3;

const SET_TAB_WINDOW: u8 = 0;
const SET_TAB_INDEX: u8 = 2;
const PRUNED_END: u8 = 5;
const NAVIGATION: u8 = 6;
const SELECTED_NAVIGATION: u8 = 7;
const SELECTED_TAB: u8 = 8;
const PRUNED_FRONT: u8 = 11;
const TAB_CLOSED: u8 = 16;
const WINDOW_CLOSED: u8 = 17;
const SESSION_STORAGE: u8 = 19;
const ACTIVE_WINDOW: u8 = 20;
const PRUNED: u8 = 24;
/// Everything that was open when the file was begun stands before it.
const MARK: u8 = 255;

/// A tab, and the namespace of its sessionStorage.
#[derive(Debug, PartialEq)]
pub(super) struct FoundTab {
    pub(super) tab: Tab,
    pub(super) namespace: String,
}

/// What was open.
#[derive(Debug, Default, PartialEq)]
pub(super) struct FoundTabs {
    /// The tabs on the web, in the order of their windows.
    pub(super) tabs: Vec<FoundTab>,
    /// The tabs that are not as they were, or not there at all.
    pub(super) left_out: Receipt,
}

/// Where a browser notes what is open, in the folder of a profile; and where it notes it encrypted, as it
/// will do only one day.
pub(in crate::profile) const FOLDER: &str = "Sessions";
const ENCRYPTED: &str = "Sessions_Encrypted";

/// Reads the newest file of a profile that counts. Blocks on the disk.
pub(super) fn read(profile: &Path) -> Result<FoundTabs, TabsError> {
    let files = files(&profile.join(FOLDER))?;
    if files.is_empty() && !self::files(&profile.join(ENCRYPTED))?.is_empty() {
        return Err(TabsError::Encrypted);
    }
    for path in files.into_iter().take(FILES) {
        if let Some(open) = parse(&plain::read(&path, LARGEST)?)? {
            return Ok(open);
        }
    }
    Ok(FoundTabs::default())
}

/// The files, the newest first: each has the instant at which it was begun in its name.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut numbered = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("Session_")?.parse().ok());
        numbered.extend(number.map(|number: u64| (number, entry.path())));
    }
    numbered.sort();
    Ok(numbered.into_iter().rev().map(|(_, path)| path).collect())
}

/// The tabs of a file; none when the browser died before it had written what was open.
fn parse(file: &[u8]) -> Result<Option<FoundTabs>, TabsError> {
    let mut rest = CommandReader(file.strip_prefix(MAGIC).ok_or(TabsError::Unknown)?);
    let version = rest.number().ok_or(TabsError::Unknown)?;
    if !PLAIN.contains(&version) {
        return Err(TabsError::Version(version));
    }
    let mut known = KnownTabs { is_whole: version < MARKED, ..KnownTabs::default() };
    // The last command may be cut off: it was being written.
    while let Some((id, content)) = rest.command() {
        // One of a form that is not known changes nothing.
        let _ = known.apply(id, content);
        if known.tabs.len() > MOST {
            return Err(TabsError::TooMany);
        }
    }
    Ok(known.is_whole.then(|| known.in_order()))
}

/// What is known of tabs and windows.
#[derive(Debug, Default)]
struct KnownTabs {
    tabs: HashMap<i32, KnownTab>,
    /// The index of the tab in front of each window.
    fronts: HashMap<i32, i32>,
    closed_windows: HashSet<i32>,
    active_window: Option<i32>,
    is_whole: bool,
}

#[derive(Debug, Default)]
struct KnownTab {
    window: i32,
    index: i32,
    history: History,
    namespace: String,
}

impl KnownTabs {
    fn tab(&mut self, id: i32) -> &mut KnownTab {
        self.tabs.entry(id).or_default()
    }

    fn apply(&mut self, id: u8, mut content: CommandReader<'_>) -> Option<()> {
        if matches!(id, NAVIGATION | SESSION_STORAGE) {
            let _size = content.number()?;
        }
        let subject = if id == MARK { 0 } else { content.number()? };
        match id {
            SET_TAB_WINDOW => self.tab(content.number()?).window = subject,
            SET_TAB_INDEX => self.tab(subject).index = content.number()?,
            SELECTED_NAVIGATION => self.tab(subject).history.show(content.number()?),
            SELECTED_TAB => {
                self.fronts.insert(subject, content.number()?);
            }
            NAVIGATION => {
                let at = content.number()?;
                let entry = (content.text()?, content.wide_text()?);
                self.tab(subject).history.note_entry(at, entry);
            }
            PRUNED_END => self.tab(subject).history.prune_end(content.number()?),
            PRUNED_FRONT => self.tab(subject).history.prune(0, content.number()?),
            PRUNED => {
                let (first, count) = (content.number()?, content.number()?);
                self.tab(subject).history.prune(first, count);
            }
            SESSION_STORAGE => self.tab(subject).namespace = content.text()?,
            TAB_CLOSED => {
                self.tabs.remove(&subject);
            }
            WINDOW_CLOSED => {
                self.closed_windows.insert(subject);
            }
            ACTIVE_WINDOW => self.active_window = Some(subject),
            MARK => self.is_whole = true,
            _ => {}
        }
        Some(())
    }

    fn in_order(self) -> FoundTabs {
        let Self { tabs, fronts, closed_windows, active_window, .. } = self;
        let is_open = |tab: &KnownTab| !closed_windows.contains(&tab.window);
        let mut tabs: Vec<_> = tabs.into_values().filter(is_open).collect();
        tabs.sort_by_key(|tab| (tab.window, tab.index));
        let mut left_out = Receipt::default();
        let mut shown = Vec::new();
        for KnownTab { window, index, history, namespace } in tabs {
            let Some((url, title)) = history.into_shown() else { continue };
            let (url, item) = of(url);
            left_out.extend(item.into_iter().collect());
            if let Some(url) = url {
                let tab = Tab { url, title, ..Tab::default() };
                shown.push((window, index, FoundTab { tab, namespace }));
            }
        }
        // Where the window in front has no page in front, the first window that has one counts.
        let active = shown
            .iter_mut()
            .filter(|(window, index, _)| fronts.get(window) == Some(index))
            .max_by_key(|(window, ..)| (Some(*window) == active_window, Reverse(*window)));
        if let Some((.., open)) = active {
            open.tab.active = true;
        }
        FoundTabs { tabs: shown.into_iter().map(|(.., open)| open).collect(), left_out }
    }
}

/// Why the tabs could not be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum TabsError {
    #[error(transparent)]
    File(#[from] io::Error),
    #[error("expected a file with the tabs of a browser, found something else")]
    Unknown,
    #[error(
        "expected a file with tabs of version 1 or 3, found version {0}: a browser encrypted it"
    )]
    Version(i32),
    #[error("expected a file with the tabs of a browser, found encrypted ones only")]
    Encrypted,
    #[error("expected at most {MOST} tabs, found more")]
    TooMany,
}

/// The most entries that are kept of a tab; a browser keeps 50.
const ENTRIES: usize = 256;

/// Address and title of each entry, by its place, and which one is shown.
#[derive(Debug, Default)]
struct History {
    entries: BTreeMap<i32, (String, String)>,
    shown: i32,
}

impl History {
    fn note_entry(&mut self, at: i32, entry: (String, String)) {
        if self.entries.len() < ENTRIES || self.entries.contains_key(&at) {
            self.entries.insert(at, entry);
        }
    }

    fn show(&mut self, at: i32) {
        self.shown = at;
    }

    /// So many entries from `first` on are gone, and those behind them moved up.
    fn prune(&mut self, first: i32, count: i32) {
        if first < 0 || count <= 0 {
            return;
        }
        let end = first.saturating_add(count);
        if self.shown >= end {
            self.shown -= count;
        } else if self.shown >= first {
            self.shown = first - 1;
        }
        let behind = self.entries.split_off(&end);
        self.entries.retain(|at, _| *at < first);
        self.entries.extend(behind.into_iter().map(|(at, entry)| (at - count, entry)));
    }

    /// All from `first` on are gone.
    fn prune_end(&mut self, first: i32) {
        self.prune(first, i32::MAX);
    }

    /// Address and title of the entry that is shown, or of the one nearest to it: not every entry is
    /// noted.
    fn into_shown(mut self) -> Option<(String, String)> {
        let next = self.entries.range(self.shown..).next().map(|(at, _)| *at);
        let at = next.or_else(|| self.entries.last_key_value().map(|(at, _)| *at))?;
        self.entries.remove(&at)
    }
}

/// What is left of a file or of a command.
#[derive(Clone, Copy)]
struct CommandReader<'a>(&'a [u8]);

impl<'a> CommandReader<'a> {
    fn read_bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<i32> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(i32::from_le_bytes(*number))
    }

    /// A command: its length, what it is, and its content.
    fn command(&mut self) -> Option<(u8, CommandReader<'a>)> {
        let length = self.read_bytes(2)?;
        let length = usize::from(u16::from_le_bytes([length[0], length[1]]));
        let (id, content) = self.read_bytes(length)?.split_first()?;
        Some((*id, CommandReader(content)))
    }

    /// Bytes behind their length, filled up to a multiple of four.
    fn padded(&mut self, unit: usize) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?.checked_mul(unit)?;
        let taken = self.read_bytes(length)?;
        self.read_bytes((4 - length % 4) % 4)?;
        Some(taken)
    }

    fn text(&mut self) -> Option<String> {
        String::from_utf8(self.padded(1)?.to_vec()).ok()
    }

    fn wide_text(&mut self) -> Option<String> {
        let (pairs, _) = self.padded(2)?.as_chunks::<2>();
        let units: Vec<u16> = pairs.iter().map(|pair| u16::from_le_bytes(*pair)).collect();
        Some(String::from_utf16_lossy(&units))
    }
}

/// The address that a tab becomes, none where it becomes no tab; and a line where it is not what it was.
fn of(url: String) -> (Option<String>, Option<ReceiptItem>) {
    let line = |reason| ReceiptItem::not_portable(ItemKind::Tab, ShownAddress::of(&url), reason);
    match shows(&url) {
        Shows::Page if is_web(&url) => (Some(url), None),
        Shows::Page => {
            let reason = "it is not on the web: only http and https addresses are taken";
            (None, Some(line(reason)))
        }
        Shows::Source(page) if is_web(page) => (Some(page.to_owned()), Some(line(Shows::SOURCE))),
        Shows::Source(_) | Shows::OfTheBrowser => (None, Some(line(Shows::BROWSER))),
        Shows::Nothing => (None, None),
    }
}

fn is_web(url: &str) -> bool {
    url.starts_with("http://") || url.starts_with("https://")
}
