//! Capture: reads what a running browser holds, and costs what changed.
//!
//! The one idea: every page answers for itself within a limit. A page that hangs, or leaves in the
//! middle, costs its own parts only: they come from the mirror, and the capture says so.
//!
//! The preview is a PNG of the tab in front, 320×180. The page must not notice. A screenshot with a
//! clip is scaled by the browser, but it resizes the page for a moment, so we take the page as it is
//! and scale the picture ourselves.
//!
//! A capture knows what is to be read, and what has been read so far. A mark is only taken away by the
//! reader of its place: when a page hangs, a frame leaves, or the capture itself is given up,
//! the marks of what was not read are set again.

mod agreement;
mod icon;
mod page;
mod picture;
mod storage;
mod visit;

use crate::cdp::CdpError;
use crate::cookies::Fetched;
use crate::icon::SiteIcon;
use crate::live::mirror::{Dirty, DirtyDatabases};
use crate::live::seen::DirtyStored;
use crate::live::{Live, Shared};
use crate::profile::databases::OnDisk;
use crate::profile::raw::Systems;
use crate::targets::{Shows, Tabs, TargetId, TargetInfo, shows};
use crate::{cookies, targets};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use baton_session::receipt::ItemKind;
use baton_session::{State, StorageKey, Text, Unread};
use image::imageops::FilterType;
use image::{ImageFormat, ImageReader, Limits};
use page::{PageRead, Pages};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long one page may take.
const PAGE_LIMIT: Duration = Duration::from_secs(5);
/// How many pages are read at once: reading is bound by the processor.
const PAGES_AT_ONCE: usize = 4;

/// How much a capture reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// What events reported as changed.
    Changed,
    /// Everything that a page shows now: what was written before the call is in the result.
    Whole,
}

/// What a capture found.
#[derive(Debug)]
pub struct Captured {
    /// Everything that the browser holds, as far as it could be read.
    pub state: State,
    /// A PNG of the tab in front, 320×180, when pictures were asked for and there is something to see.
    pub preview: Option<Vec<u8>>,
    /// The icon of the site in front, when pictures were asked for and it shows one.
    pub icon: Option<SiteIcon>,
    /// Places that could not be read now, whose parts are those of the mirror; and what is not kept.
    pub unread: Vec<Unread>,
    /// How many databases pages read for it. All others are known to be as they were.
    pub databases_read: usize,
}

impl Live {
    /// Captures what the browser holds now, with `pictures` of the tab in front when they are wanted. Fails
    /// only when the browser itself does not answer.
    pub async fn capture(&self, depth: Depth, pictures: bool) -> Result<Captured, CdpError> {
        let browser = self.browser();
        let Tabs { kept: tabs, internal, .. } = targets::list(&browser, self.context()).await?;
        let living: BTreeSet<&str> = tabs.iter().map(|tab| tab.target_id.as_str()).collect();
        self.shared().mirror().retain_tabs(&living);
        let systems = self.shared().systems().await;
        let is_whole = depth == Depth::Whole;
        let on_disk =
            if is_whole { self.shared().databases_on_disk().await } else { BTreeMap::new() };
        let work = Work::from_mirror(self.shared(), systems, on_disk, is_whole);
        let reads = Pages { live: self, work: &work }.read(&tabs).await;
        let unread_by_workers = storage::read(self, &work).await;
        let cookies = cookies::fetch(&browser, self.context()).await;
        self.read_permissions().await;
        let (mut state, mut unread) = self.merge(reads, &work);
        unread.extend(unread_by_workers);
        unread.extend(left_of_tabs(&tabs, &internal));
        match cookies {
            Ok(Fetched { cookies, lost }) => {
                unread.extend(lost);
                self.shared().mirror().set_cookies(cookies.clone());
                state.cookies = cookies;
            }
            Err(error) if error.is_closed() => return Err(error),
            Err(error) => unread.push(Unread::new("cookies", error)),
        }
        state.normalize();
        let (preview, icon) = if pictures {
            tokio::join!(preview(self, &state), Box::pin(icon::capture(self, &state)))
        } else {
            (None, None)
        };
        let databases_read = work.progress().read;
        Ok(Captured { state, preview, icon, unread, databases_read })
    }

    /// Puts together what is known now, and what of it could not be read.
    fn merge(&self, mut reads: Vec<PageRead>, work: &Work<'_>) -> (State, Vec<Unread>) {
        let mut mirror = self.shared().mirror();
        agreement::seek(&mut reads, &mut mirror, work);
        let front = reads.iter().find(|read| read.is_front()).map(|read| read.target.clone());
        for read in &reads {
            read.merge(&mut mirror, front.as_ref());
        }
        let mut state = mirror.snapshot();
        drop(mirror);
        let unread = reads.into_iter().flat_map(|read| read.apply(&mut state)).collect();
        (state, unread)
    }
}

/// What is said of a tab whose page another one opened.
const OPENER: &str =
    "its tie to the tab that opened it is not kept: window.opener is null after a resume";

/// The tabs that do not come back, or not as they are.
fn left_of_tabs(tabs: &[TargetInfo], internal: &[TargetInfo]) -> Vec<Unread> {
    let lost = |tab: &TargetInfo, reason| Unread::lost(ItemKind::Tab, &tab.url, reason);
    let own = internal.iter().filter(|tab| shows(&tab.url) == Shows::OfTheBrowser);
    let own = own.map(|tab| lost(tab, Shows::BROWSER));
    let sources = tabs.iter().filter(|tab| matches!(shows(&tab.url), Shows::Source(_)));
    let sources = sources.map(|tab| lost(tab, Shows::SOURCE));
    let is_open = |id: &TargetId| tabs.iter().any(|tab| tab.target_id == *id);
    let opened = tabs.iter().filter(|tab| tab.opener().is_some_and(is_open));
    own.chain(sources).chain(opened.map(|tab| lost(tab, OPENER))).collect()
}

/// A page that does not paint within this time has no preview.
const PREVIEW_LIMIT: Duration = Duration::from_secs(2);
const WIDTH: u32 = 320;
const HEIGHT: u32 = 180;
/// The largest side of a window, in pixels.
const LARGEST: u32 = 16_384;

/// A picture of the tab in front, or none when there is nothing to see or it cannot be had in time.
async fn preview(live: &Live, state: &State) -> Option<Vec<u8>> {
    let tab = state.active_tab()?;
    let session = live.shared().sessions_of(&TargetId::new(&tab.id)).into_iter().next()?;
    if live.shared().has_crashed(&session) {
        return None;
    }
    let session = live.browser().connection().session(session);
    let params = json!({ "format": "png", "optimizeForSpeed": true });
    match session.call_within(PREVIEW_LIMIT, "Page.captureScreenshot", params).await {
        Ok(answer) => {
            let png = STANDARD.decode(answer["data"].as_str()?).ok()?;
            picture::draw(move || scale(&png)).await
        }
        Err(error) => {
            tracing::debug!(%error, "no preview");
            None
        }
    }
}

/// The upper part of a picture, as wide as it is, at 320×180.
fn scale(png: &[u8]) -> Option<Vec<u8>> {
    let mut reader = ImageReader::with_format(Cursor::new(png), ImageFormat::Png);
    let mut limits = Limits::default();
    limits.max_image_width = Some(LARGEST);
    limits.max_image_height = Some(LARGEST);
    reader.limits(limits);
    let picture = reader.decode().ok()?;
    let height = (picture.width() * HEIGHT / WIDTH).clamp(1, picture.height());
    let upper = picture.crop_imm(0, 0, picture.width(), height);
    let small = upper.resize_exact(WIDTH, HEIGHT, FilterType::Triangle);
    let mut bytes = Vec::new();
    small.into_rgb8().write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png).ok()?;
    Some(bytes)
}

/// What one capture has to read.
#[derive(Debug)]
struct Work<'a> {
    shared: &'a Shared,
    dirty: Dirty,
    systems: Systems,
    /// What the disk says of databases, by key, so that not all of them are read.
    on_disk: BTreeMap<StorageKey, OnDisk>,
    /// Whether what looks as it did is read all the same.
    all: bool,
    /// Whether it is not known what happened before: events were missed.
    distrusts: bool,
    progress: Mutex<Progress>,
}

#[derive(Debug, Default)]
struct Progress {
    /// Keys whose localStorage and databases a tab has taken upon itself, for all tabs share them.
    claims: BTreeSet<StorageKey>,
    /// Claims that were given up.
    released: BTreeSet<StorageKey>,
    local: BTreeSet<StorageKey>,
    /// Keys about whose localStorage the tabs were found to agree, or not to.
    agreed: BTreeSet<StorageKey>,
    disputed: BTreeSet<StorageKey>,
    session: BTreeSet<(String, StorageKey)>,
    /// With the databases that are to be tried again.
    databases: BTreeMap<StorageKey, BTreeSet<Text>>,
    /// Keys whose databases could not be listed.
    unlisted: BTreeSet<StorageKey>,
    /// How many databases were read.
    read: usize,
    /// With what of caches, files and service workers is to be tried again.
    stored: BTreeMap<StorageKey, DirtyStored>,
    /// Whether every place answered.
    whole: bool,
}

impl<'a> Work<'a> {
    /// Takes the marks from the mirror; with `all`, everything is to be read.
    fn from_mirror(
        shared: &'a Shared,
        systems: Systems,
        on_disk: BTreeMap<StorageKey, OnDisk>,
        all: bool,
    ) -> Self {
        let mut dirty = shared.mirror().take_dirty();
        let distrusts = dirty.all;
        dirty.all |= all;
        let progress = Mutex::default();
        Self { shared, all: dirty.all, distrusts, dirty, systems, on_disk, progress }
    }

    /// Whether a key can have files.
    fn may_have_files(&self, key: &StorageKey) -> bool {
        self.systems.may_hold(key) || self.shared.mirror().has_files(key)
    }

    fn shared(&self) -> &Shared {
        self.shared
    }

    /// Whether the tab that asks is to read what all tabs share of a key: the first one is, and
    /// then keeps on being it.
    fn claim(&self, key: &StorageKey, mine: &mut BTreeSet<StorageKey>) -> bool {
        if self.progress().claims.insert(key.clone()) {
            mine.insert(key.clone());
        }
        mine.contains(key)
    }

    /// Claims a key for the last frame that is asked, whatever others could not read of it.
    fn claim_last(&self, key: &StorageKey) {
        self.progress().claims.insert(key.clone());
    }

    /// Gives up claims, so that another tab can read what this one could not; returns whether there
    /// is anything left to read.
    fn release(&self, claims: &BTreeSet<StorageKey>) -> bool {
        let left: Vec<_> = claims
            .iter()
            .filter(|key| {
                let stored = self.wanted_stored(key).is_some_and(|stored| !stored.is_empty());
                self.wants_local(key) || self.wanted_databases(key).is_some() || stored
            })
            .collect();
        let mut progress = self.progress();
        progress.claims.retain(|key| !left.contains(&key));
        progress.released.extend(left.iter().copied().cloned());
        !left.is_empty()
    }

    /// Gives the areas back that were read in a document that left, so that they are read again: a
    /// tab's sessionStorage, and the localStorage of these keys.
    fn forget<'k>(&self, tab: &TargetId, local: impl Iterator<Item = &'k StorageKey>) {
        let mut progress = self.progress();
        progress.session.retain(|(of, _)| of != tab.as_str());
        for key in local {
            progress.local.remove(key);
        }
    }

    fn wants_local(&self, key: &StorageKey) -> bool {
        self.dirty.wants_local(key) && !self.progress().local.contains(key)
    }

    /// Whether the localStorage of a key is to be read in all tabs that show it.
    fn compares(&self, key: &StorageKey) -> bool {
        self.dirty.wants_local(key) && (self.distrusts || self.dirty.emptied.contains(key))
    }

    fn wants_session(&self, tab: &TargetId, key: &StorageKey) -> bool {
        let read = || self.progress().session.contains(&(tab.to_string(), key.clone()));
        self.dirty.wants_session(tab.as_str(), key) && !read()
    }

    fn wanted_databases(&self, key: &StorageKey) -> Option<DirtyDatabases> {
        let wanted = self.dirty.wanted_databases(key);
        match wanted.filter(|_| !self.progress().databases.contains_key(key))? {
            DirtyDatabases::All => Some(self.written_databases(key)),
            named @ DirtyDatabases::Named(_) => Some(named),
        }
    }

    /// Where all databases of a key are to be read: those that can differ from what is known of them.
    fn written_databases(&self, key: &StorageKey) -> DirtyDatabases {
        let nothing = BTreeSet::new();
        let told = match self.dirty.databases.get(key) {
            Some(DirtyDatabases::Named(names)) => names,
            Some(DirtyDatabases::All) | None => &nothing,
        };
        let written = self.on_disk.get(key).and_then(|on_disk| on_disk.wanted(told));
        written.map_or(DirtyDatabases::All, |written| DirtyDatabases::Named(written.clone()))
    }

    /// What of the caches, files and service workers of a key is marked; none when they were read.
    fn wanted_stored(&self, key: &StorageKey) -> Option<DirtyStored> {
        let is_read = self.progress().stored.contains_key(key);
        (!is_read).then(|| self.dirty.wanted_stored(key))
    }

    /// Whether everything is read, whatever it looks like.
    fn is_whole(&self) -> bool {
        self.all
    }

    fn did_local(&self, key: &StorageKey) {
        self.progress().local.insert(key.clone());
    }

    /// What tabs show of the localStorage of a key was compared.
    fn did_compare(&self, key: StorageKey, agree: bool) {
        let mut progress = self.progress();
        let found = if agree { &mut progress.agreed } else { &mut progress.disputed };
        found.insert(key);
    }

    fn did_session(&self, tab: &TargetId, key: &StorageKey) {
        self.progress().session.insert((tab.to_string(), key.clone()));
    }

    /// The databases of a key were read, but for those that are to be tried again.
    fn did_databases(&self, key: &StorageKey, again: impl Iterator<Item = Text>) {
        self.progress().databases.insert(key.clone(), again.collect());
    }

    /// The databases of a key were not even listed: whatever is marked of them stays so.
    fn did_not_list_databases(&self, key: &StorageKey) {
        self.progress().unlisted.insert(key.clone());
    }

    /// Of all databases of a key it is known how they were when the disk was looked at, or later.
    fn know_databases(&self, key: &StorageKey) {
        if let Some(on_disk) = self.on_disk.get(key) {
            self.shared.mirror().note_database_log(key, on_disk.log.clone());
        }
    }

    /// Notes how many databases a page was asked for.
    fn count_databases(&self, read: usize) {
        self.progress().read += read;
    }

    /// Caches, files and service workers of a key were read, but for what is to be tried again.
    fn did_stored(&self, key: &StorageKey, again: DirtyStored) {
        self.progress().stored.insert(key.clone(), again);
    }

    /// Every place that could be asked has answered.
    fn did_all(&self) {
        self.progress().whole = true;
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Work<'_> {
    fn drop(&mut self) {
        let mut left = std::mem::take(&mut self.dirty);
        let progress = std::mem::take(&mut *self.progress());
        if left.all && progress.whole {
            left.all = false;
            // A tab that took a key upon itself, and then left it, has kept others from reading it.
            for key in progress.claims.into_iter().chain(progress.released) {
                left.local.insert(key.clone());
                left.databases.insert(key.clone(), DirtyDatabases::All);
                left.stored(key).all = true;
            }
        }
        left.local.retain(|key| !progress.local.contains(key));
        left.emptied.retain(|key| !progress.agreed.contains(key));
        // Perhaps one had not heard yet of what another one wrote.
        left.local.extend(progress.disputed.iter().cloned());
        left.emptied.extend(progress.disputed);
        left.session.retain(|place| !progress.session.contains(place));
        left.databases.retain(|key, _| {
            !progress.databases.contains_key(key) || progress.unlisted.contains(key)
        });
        left.stored.retain(|key, _| !progress.stored.contains_key(key));
        for (key, again) in progress.stored {
            left.stored(key).merge(again);
        }
        for (key, again) in progress.databases {
            for name in again {
                left.mark_database(key.clone(), name);
            }
        }
        self.shared.mirror().dirty().merge(left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::RgbImage;

    fn picture(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        RgbImage::new(width, height)
            .write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png)
            .unwrap();
        bytes
    }

    #[test]
    fn a_preview_has_one_size_whatever_the_window() {
        for (width, height) in [(1280, 720), (1280, 2000), (300, 40), (1, 1)] {
            let small = image::load_from_memory(&scale(&picture(width, height)).unwrap()).unwrap();
            assert_eq!((small.width(), small.height()), (WIDTH, HEIGHT));
        }
    }

    #[test]
    fn what_is_no_picture_gives_no_preview() {
        assert_eq!(scale(b"not a picture"), None);
    }
}
