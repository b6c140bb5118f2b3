//! Reads one tab, its address, whether it is in front and the storage of its frames, and puts what it
//! said into the capture.

use super::storage::{FrameContents, FramePlace};
use super::visit::{Before, CurrentEntry, DocumentVisit};
use super::{PAGE_LIMIT, PAGES_AT_ONCE, Work};
use crate::cdp::{CdpError, CdpSession, CdpSessionId};
use crate::live::Live;
use crate::live::mirror::Mirror;
use crate::script::ScriptError;
use crate::targets::{Frame, TargetId, TargetInfo};
use crate::{script, targets};
use baton_session::{State, StorageKey, Unread};
use futures_util::stream;
use futures_util::stream::StreamExt;
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
    /// Reads all tabs, a few at once; each storage key's localStorage and databases only once, but for
    /// localStorage in which tabs are compared. What a tab has taken upon itself, and then hung or moved
    /// on, is tried in the others.
    pub(super) async fn read(&self, tabs: &[TargetInfo]) -> Vec<PageRead> {
        let mut reads = self.read_at_once(tabs.iter()).await;
        if !reads.iter().flat_map(|read| &read.unread).any(Unread::is_passing) {
            self.work.did_all();
        }
        let (leaving, staying): (Vec<_>, Vec<_>) =
            reads.iter().partition(|read| self.work.release(&read.claims));
        if !leaving.is_empty() {
            let others = staying.iter().filter(|read| read.unread.is_empty());
            let others: BTreeSet<_> = others.map(|read| read.target.clone()).collect();
            let others = tabs.iter().filter(|tab| others.contains(&tab.target_id));
            let again = self.read_at_once(others).await;
            // What these tabs told of themselves is kept, unless they told all of it again.
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
                read.reset(self.work);
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
        // An entry that the browser gave while documents came and went need not fit what else is known.
        if read.has_failed { read.without_entry() } else { read }
    }

    async fn fill_page(&self, read: &mut PageRead) -> Result<(), ScriptError> {
        let connection = self.live.browser().connection().clone();
        let Some(page) = self.page_session(&read.target).await? else {
            return Ok(());
        };
        read.entry = Some(CurrentEntry::fetch(&connection.session(page)).await?);
        let is_watched = timeout(WATCH_LIMIT, self.watched(&read.target)).await.is_ok();
        let sessions = self.live.shared().sessions_of(&read.target);
        for (position, id) in sessions.into_iter().enumerate() {
            if self.live.shared().has_crashed(&id) {
                read.miss_crashed(if position == 0 { "the page" } else { "a frame of it" });
                continue;
            }
            let session = connection.session(id.clone());
            // First: of what the page writes while it is read, events tell again, write by write.
            self.live.shared().hear(&session);
            let found = targets::frames_of(&session).await;
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
        let key = targets::storage_key(session, &frame.id).await?;
        let mirror = || self.work.shared().mirror();
        let Some(key) = key else {
            let before = Before::of(&tab, &mut mirror());
            read.visit = Some(DocumentVisit::close(session, frame, &world, entry, before).await?);
            return Ok(());
        };
        let shared = self.work.claim(&key, &mut read.claims);
        let place = FramePlace { tab: &tab, session, key: &key, shared };
        let mut wanted = place.wanted(self.work).await;
        // What events told so far is of a visit before.
        wanted.session |= mirror().tab(&tab).url != entry.url;
        let areas = read.found.read_areas(&place, &world, &wanted, self.work).await;
        let mut before = Before::of(&tab, &mut mirror());
        let areas = areas.map(|session| before.note(&key, session));
        read.visit = Some(DocumentVisit::close(session, frame, &world, entry, before).await?);
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
        let Some(key) = targets::storage_key(session, &frame.id).await? else {
            return Ok(());
        };
        let tab = read.target.clone();
        let shared = self.work.claim(&key, &mut read.claims);
        let place = FramePlace { tab: &tab, session, key: &key, shared };
        if let Err(error) = self.read_place(read, &place, frame).await {
            read.unread.push(Unread::new(frame.address(), error));
        }
        Ok(())
    }

    async fn read_place(
        &self,
        read: &mut PageRead,
        place: &FramePlace<'_>,
        frame: &Frame,
    ) -> Result<(), ScriptError> {
        let mut wanted = place.wanted(self.work).await;
        // Another frame of the tab showed the same copy.
        wanted.local &= !read.found.has_area(place.key);
        if wanted.is_nothing() {
            return Ok(());
        }
        let world = script::world(place.session, &frame.id).await?;
        // The frame itself can have moved on since it was asked whose storage it sees.
        if targets::storage_key(place.session, &frame.id).await?.as_ref() != Some(place.key) {
            return Err(ScriptError::Left);
        }
        let session = read.found.read_areas(place, &world, &wanted, self.work).await?;
        if let Some(visit) = &mut read.visit {
            visit.before.note(place.key, session);
        }
        read.found.read_stored(place, &world, wanted, self.work).await
    }
}

/// How often a page is read whose document leaves each time; then it stays as events told of it.
const MOVES: usize = 4;

/// What one tab said.
#[derive(Debug)]
pub(super) struct PageRead {
    pub(super) target: TargetId,
    /// Its address as the browser told it from outside, which can be late.
    address: String,
    /// Its address and title as the browser told them, also when the page hangs.
    pub(super) entry: Option<CurrentEntry>,
    /// What its document told, once one has stayed for as long as that took.
    pub(super) visit: Option<DocumentVisit>,
    /// Whether the page was once in the middle of a navigation.
    pub(super) has_failed: bool,
    /// How often a document left while it was read.
    moves: usize,
    pub(super) found: FrameContents,
    pub(super) unread: Vec<Unread>,
    /// Keys whose shared storage is this tab's to read.
    pub(super) claims: BTreeSet<StorageKey>,
}

impl PageRead {
    pub(super) fn new(tab: &TargetInfo) -> Self {
        Self {
            target: tab.target_id.clone(),
            address: tab.url.clone(),
            entry: None,
            visit: None,
            has_failed: false,
            moves: 0,
            found: FrameContents::default(),
            unread: Vec::new(),
            claims: BTreeSet::new(),
        }
    }

    /// Begins, or begins again: what documents said that may have left is forgotten, but for the
    /// last visit that was read to its end.
    pub(super) fn reset(&mut self, work: &Work<'_>) {
        self.unread.clear();
        self.found.forget(&self.target, work);
    }

    /// Takes how a look at the page ended, and says whether another one is of no use.
    fn is_done(&mut self, attempt: usize, filled: Result<(), ScriptError>) -> bool {
        let Err(error) = filled else {
            // A frame may have left in the middle: a second look finds out.
            return !self.unread.iter().any(Unread::is_passing) || attempt > 0;
        };
        // A page in the middle of a navigation has no active document for a while.
        self.has_failed = true;
        self.moves += usize::from(matches!(error, ScriptError::Left));
        // Each look finds one frame that left without a word, and there may be several.
        let of_a_frame = matches!(&error, ScriptError::Cdp(error) if error.is_of_no_session());
        self.miss(error);
        self.moves >= MOVES || (attempt > 0 && self.visit.is_some() && !of_a_frame)
    }

    /// Leaves the tab as events told of it, if no visit was read.
    fn without_entry(mut self) -> Self {
        self.entry = None;
        self
    }

    /// Notes that the tab did not answer.
    fn miss(&mut self, reason: impl std::fmt::Display) {
        let place = self.entry.as_ref().map_or(&self.address, |entry| &entry.url);
        self.unread.push(Unread::new(place.clone(), reason));
    }

    /// Notes that something of the tab crashed: nobody is there who could tell more than events did.
    fn miss_crashed(&mut self, what: &str) {
        self.miss(format!("expected {what} to answer, found that it crashed; load it again"));
        if let Some(unread) = self.unread.last_mut() {
            unread.lasting = true;
        }
    }

    /// Whether the tab is the one that a person would see.
    pub(super) fn is_front(&self) -> bool {
        self.visit.as_ref().is_some_and(DocumentVisit::is_front)
    }

    /// Puts into the mirror what was read of the tab itself. Its storage is there already.
    pub(super) fn merge(&self, mirror: &mut Mirror, front: Option<&TargetId>) {
        match (&self.visit, &self.entry) {
            (Some(visit), _) => visit.merge(mirror, &self.target),
            (None, Some(entry)) => entry.merge(None, mirror.tab(&self.target)),
            (None, None) => return,
        }
        let Some(front) = front else { return };
        mirror.tab(&self.target).active = front == &self.target;
        if let Some(visit) = self.visit.as_ref().filter(|_| front == &self.target) {
            visit.note_viewport(mirror);
            visit.note_identity(mirror);
        }
    }

    /// Puts what was read into the state of the capture, and returns what could not be read.
    pub(super) fn apply(self, state: &mut State) -> Vec<Unread> {
        if let Some(visit) = self.visit {
            visit.apply(state, &self.target);
        }
        let mut unread = self.unread;
        unread.extend(self.found.apply(state));
        unread
    }
}
