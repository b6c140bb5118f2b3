//! The tabs that a browser had open, from the file in which it notes them for its next start
//! (`components/sessions/core/session_service_commands.cc` in Chromium): commands, one after another,
//! of which each changes what is known of a tab or window.

use baton_session::Tab;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The largest file that is read, in bytes.
const LARGEST: u64 = 64 << 20;
const MAGIC: &[u8] = b"SNSS";
/// Files of these versions are not encrypted.
const PLAIN: [i32; 2] = [1, 3];

const SET_TAB_WINDOW: u8 = 0;
const SET_TAB_INDEX: u8 = 2;
const NAVIGATION: u8 = 6;
const SELECTED_NAVIGATION: u8 = 7;
const SELECTED_TAB: u8 = 8;
const TAB_CLOSED: u8 = 16;
const WINDOW_CLOSED: u8 = 17;
const SESSION_STORAGE: u8 = 19;

/// A tab, and the namespace of its sessionStorage.
#[derive(Debug, PartialEq)]
pub(super) struct OpenTab {
    pub(super) tab: Tab,
    pub(super) namespace: String,
}

/// What is known of a tab.
#[derive(Debug, Default)]
struct Known {
    window: i32,
    index: i32,
    /// Address and title of each entry of its history.
    entries: BTreeMap<i32, (String, String)>,
    selected: i32,
    namespace: String,
}

/// Reads the newest file in `folder`; the tabs on the web, in the order of their windows. Blocks on
/// the disk.
pub(super) fn read(folder: &Path) -> Result<Vec<OpenTab>, Unreadable> {
    let Some(path) = newest(folder) else { return Ok(Vec::new()) };
    if fs::metadata(&path)?.len() > LARGEST {
        return Err(Unreadable::TooLarge);
    }
    parse(&fs::read(path)?)
}

/// The file with the highest number, which is the instant at which it was begun.
fn newest(folder: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    let numbered = entries.filter_map(|entry| {
        let number: u64 = entry.file_name().to_str()?.strip_prefix("Session_")?.parse().ok()?;
        Some((number, entry.path()))
    });
    numbered.max().map(|(_, path)| path)
}

fn parse(file: &[u8]) -> Result<Vec<OpenTab>, Unreadable> {
    let mut rest = Bytes(file.strip_prefix(MAGIC).ok_or(Unreadable::Unknown)?);
    let version = rest.number().ok_or(Unreadable::Unknown)?;
    if !PLAIN.contains(&version) {
        return Err(Unreadable::Version(version));
    }
    let (mut tabs, mut fronts) = (HashMap::new(), HashMap::new());
    // The last command may be cut off: it was being written.
    while let Some((id, content)) = rest.command() {
        // One of a form that is not known changes nothing.
        let _ = apply(id, Bytes(content), &mut tabs, &mut fronts);
    }
    Ok(in_order(tabs, &fronts))
}

fn apply(
    id: u8,
    mut content: Bytes<'_>,
    tabs: &mut HashMap<i32, Known>,
    fronts: &mut HashMap<i32, i32>,
) -> Option<()> {
    match id {
        SET_TAB_WINDOW => {
            let (window, tab) = (content.number()?, content.number()?);
            tabs.entry(tab).or_default().window = window;
        }
        SET_TAB_INDEX => {
            tabs.entry(content.number()?).or_default().index = content.number()?;
        }
        SELECTED_NAVIGATION => {
            tabs.entry(content.number()?).or_default().selected = content.number()?;
        }
        SELECTED_TAB => {
            fronts.insert(content.number()?, content.number()?);
        }
        NAVIGATION => {
            let _size = content.number()?;
            let (tab, index) = (content.number()?, content.number()?);
            let entry = (content.text()?, content.wide_text()?);
            tabs.entry(tab).or_default().entries.insert(index, entry);
        }
        SESSION_STORAGE => {
            let _size = content.number()?;
            tabs.entry(content.number()?).or_default().namespace = content.text()?;
        }
        TAB_CLOSED => {
            tabs.remove(&content.number()?);
        }
        WINDOW_CLOSED => {
            let window = content.number()?;
            tabs.retain(|_, known| known.window != window);
        }
        _ => {}
    }
    Some(())
}

fn in_order(tabs: HashMap<i32, Known>, fronts: &HashMap<i32, i32>) -> Vec<OpenTab> {
    let mut tabs: Vec<_> = tabs.into_values().collect();
    tabs.sort_by_key(|known| (known.window, known.index));
    let mut has_front = false;
    tabs.into_iter()
        .filter_map(|Known { window, index, mut entries, selected, namespace }| {
            let (url, title) = entries.remove(&selected)?;
            if !(url.starts_with("http://") || url.starts_with("https://")) {
                return None;
            }
            let active = !has_front && fronts.get(&window) == Some(&index);
            has_front |= active;
            Some(OpenTab { tab: Tab { url, title, active, ..Tab::default() }, namespace })
        })
        .collect()
}

/// What is left of a file or of a command.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
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
    fn command(&mut self) -> Option<(u8, &'a [u8])> {
        let length = self.take(2)?;
        let length = usize::from(u16::from_le_bytes([length[0], length[1]]));
        let (id, content) = self.take(length)?.split_first()?;
        Some((*id, content))
    }

    /// Bytes behind their length, filled up to a multiple of four (`base/pickle.h`).
    fn padded(&mut self, unit: usize) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?.checked_mul(unit)?;
        let taken = self.take(length)?;
        self.take((4 - length % 4) % 4)?;
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

/// Why the tabs could not be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unreadable {
    #[error(transparent)]
    File(#[from] io::Error),
    #[error("expected a file with the tabs of a browser, found something else")]
    Unknown,
    #[error(
        "expected a file with tabs of version 1 or 3, found version {0}: a browser encrypted it"
    )]
    Version(i32),
    #[error("expected at most 64 MiB of tabs, found more")]
    TooLarge,
}
