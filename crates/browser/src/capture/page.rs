//! Reads one tab: its address, whether it is in front, and the storage of its frames.

use super::frame::Place;
use super::read::PageRead;
use super::visit::{Before, Entry, Visit};
use super::work::Work;
use super::{PAGE_LIMIT, PAGES_AT_ONCE};
use crate::cdp::{CdpError, CdpSession, CdpSessionId};
use crate::frames::{self, Frame};
use crate::live::Live;
use crate::script::{self, ScriptError};
use crate::targets::{self, TargetId, TargetInfo};
use baton_session::Unread;
use futures_util::stream::{self, StreamExt};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// How often a page is read that is in the middle of a navigation.
const ATTEMPTS: usize = 40;
/// How long a page may take until it and its frames are watched.
const WATCH_LIMIT: Duration = Duration::from_secs(1);
/// How long it is left alone in between.
const PAUSE: Duration = Duration::from_millis(50);

/// What is to be read of all pages.
pub(super) struct Pages<'a> {
    pub(super) live: &'a Live,
    pub(super) work: &'a Work<'a>,
}

impl Pages<'_> {
    /// Reads all tabs, a few at once; each storage key's localStorage and databases only once. What
    /// a tab has taken upon itself, and then hung or moved on, is tried in the others.
    pub(super) async fn read(&self, tabs: &[TargetInfo]) -> Vec<PageRead> {
        let mut reads = self.read_at_once(tabs.iter()).await;
        if reads.iter().all(|read| read.unread.is_empty()) {
            self.work.did_all();
        }
        let (leaving, staying): (Vec<_>, Vec<_>) =
            reads.iter().partition(|read| self.work.release(&read.claims));
        if !leaving.is_empty() {
            let others = staying.iter().filter(|read| read.unread.is_empty());
            let others: BTreeSet<_> = others.map(|read| read.target.clone()).collect();
            let others = tabs.iter().filter(|tab| others.contains(&tab.target_id));
            let again = self.read_at_once(others).await;
            // What they told of themselves stands, unless they told all of it again.
            reads.extend(again.into_iter().map(PageRead::without_entry));
        }
        reads
    }

    async fn read_at_once(&self, tabs: impl Iterator<Item = &TargetInfo>) -> Vec<PageRead> {
        let reads: Vec<_> =
            tabs.enumerate().map(async |(at, tab)| (at, self.read_page(tab).await)).collect();
        // One that hangs holds its own place only: those behind it do not wait for it.
        let mut reads: Vec<_> = stream::iter(reads).buffer_unordered(PAGES_AT_ONCE).collect().await;
        reads.sort_by_key(|(at, _)| *at);
        reads.into_iter().map(|(_, read)| read).collect()
    }

    async fn read_page(&self, tab: &TargetInfo) -> PageRead {
        let mut read = PageRead::new(tab);
        let reading = async {
            for attempt in 0..ATTEMPTS {
                read.begin(self.work);
                let filled = self.fill_page(&mut read).await;
                if read.is_done(attempt, filled) {
                    break;
                }
                sleep(PAUSE).await;
            }
        };
        if timeout(PAGE_LIMIT, reading).await.is_err() {
            read.miss(format!("expected the page to answer within {PAGE_LIMIT:?}, found it busy"));
        }
        // An entry that was told while pages came and went need not fit what else is known of it.
        if read.has_failed { read.without_entry() } else { read }
    }

    async fn fill_page(&self, read: &mut PageRead) -> Result<(), ScriptError> {
        let connection = self.live.browser().connection().clone();
        let Some(page) = self.page_session(&read.target).await? else {
            return Ok(());
        };
        read.entry = Some(Entry::fetch(&connection.session(page)).await?);
        let is_watched = timeout(WATCH_LIMIT, self.watched(&read.target)).await.is_ok();
        let sessions = self.live.shared().sessions_of(&read.target);
        for (position, id) in sessions.into_iter().enumerate() {
            let session = connection.session(id.clone());
            // First: what it writes while it is read is told again, write by write.
            self.live.shared().hear(&session);
            let found = frames::list(&session).await;
            if found.as_ref().is_err_and(CdpError::is_of_no_session) {
                // A frame in a frame that left: the browser tells of the outer one's end only.
                self.live.shared().forget_frame(&id);
            }
            for frame in found? {
                if position == 0 && frame.parent_id.is_none() {
                    self.read_top(read, &session, &frame).await?;
                } else {
                    self.read_frame(read, &session, &frame).await?;
                }
            }
        }
        if !is_watched {
            read.miss("expected all of its frames to be known, found one that does not answer");
        }
        Ok(())
    }

    /// Waits until all frames of a tab are known, or it has left.
    async fn watched(&self, tab: &TargetId) {
        let shared = self.live.shared();
        while !shared.is_watched(tab) && !shared.sessions_of(tab).is_empty() {
            sleep(PAUSE).await;
        }
    }

    /// The session of the tab itself; none when it has left. One that was just opened is attached to
    /// in a moment.
    async fn page_session(&self, tab: &TargetId) -> Result<Option<CdpSessionId>, CdpError> {
        loop {
            let session = self.live.shared().sessions_of(tab).into_iter().next();
            if session.is_some() || !targets::exists(&self.live.browser(), tab).await? {
                return Ok(session);
            }
            sleep(PAUSE).await;
        }
    }

    /// Reads the document of the tab itself, and what is the tab's own; fails when it leaves
    /// meanwhile.
    async fn read_top(
        &self,
        read: &mut PageRead,
        session: &CdpSession,
        frame: &Frame,
    ) -> Result<(), ScriptError> {
        let Some(entry) = read.entry.clone() else {
            return Ok(());
        };
        let tab = read.target.clone();
        let world = script::world(session, &frame.id).await?;
        let key = frames::storage_key(session, &frame.id).await?;
        let mirror = || self.work.shared().mirror();
        let Some(key) = key else {
            let before = Before::of(&tab, &mut mirror());
            read.visit = Some(Visit::close(session, frame, &world, entry, before).await?);
            return Ok(());
        };
        let shared = self.work.claim(&key, &mut read.claims);
        let place = Place { tab: &tab, session, key: &key, shared };
        let mut wanted = place.wanted(self.work).await;
        // What events told so far is of a visit before.
        wanted.session |= mirror().tab(&tab).url != entry.url;
        let areas = read.found.read_areas(&place, &world, &wanted, self.work).await;
        let mut before = Before::of(&tab, &mut mirror());
        let areas = areas.map(|session| before.note(&key, session));
        read.visit = Some(Visit::close(session, frame, &world, entry, before).await?);
        let stored = read.found.read_stored(&place, &world, wanted, self.work).await;
        if let Err(error) = areas.and(stored) {
            read.unread.push(Unread::new(frame.address(), error));
        }
        Ok(())
    }

    /// Reads what a frame can see that leaves with the tab's document: when it answers, what it
    /// says is of the same visit.
    async fn read_frame(
        &self,
        read: &mut PageRead,
        session: &CdpSession,
        frame: &Frame,
    ) -> Result<(), CdpError> {
        let Some(key) = frames::storage_key(session, &frame.id).await? else {
            return Ok(());
        };
        let tab = read.target.clone();
        let shared = self.work.claim(&key, &mut read.claims);
        let place = Place { tab: &tab, session, key: &key, shared };
        if let Err(error) = self.read_place(read, &place, frame).await {
            read.unread.push(Unread::new(frame.address(), error));
        }
        Ok(())
    }

    async fn read_place(
        &self,
        read: &mut PageRead,
        place: &Place<'_>,
        frame: &Frame,
    ) -> Result<(), ScriptError> {
        let wanted = place.wanted(self.work).await;
        if wanted.is_nothing() {
            return Ok(());
        }
        let world = script::world(place.session, &frame.id).await?;
        // The frame itself can have moved on since it was asked whose storage it sees.
        if frames::storage_key(place.session, &frame.id).await?.as_ref() != Some(place.key) {
            return Err(ScriptError::Left);
        }
        let session = read.found.read_areas(place, &world, &wanted, self.work).await?;
        if let Some(visit) = &mut read.visit {
            visit.before.note(place.key, session);
        }
        read.found.read_stored(place, &world, wanted, self.work).await
    }
}
