//! Reads one tab: its address, whether it is in front, and the storage of its frames.

use super::frame::{Found, Place};
use super::work::Work;
use super::{PAGE_LIMIT, PAGES_AT_ONCE, Unread};
use crate::cdp::{CdpError, CdpSession, CdpSessionId};
use crate::frames::{self, Frame};
use crate::live::Live;
use crate::live::mirror::Mirror;
use crate::script::{self, Script};
use crate::targets::{self, TargetId, TargetInfo};
use baton_session::environment::Viewport;
use baton_session::{State, StorageKey};
use futures_util::stream::{self, StreamExt};
use serde::Deserialize;
use serde_json::{Value, json};
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

/// What one tab said.
#[derive(Debug)]
pub(super) struct PageRead {
    pub(super) target: TargetId,
    /// Its address as the browser told it from outside, which can be late.
    address: String,
    /// Its address and title, once they were told.
    entry: Option<Entry>,
    sight: Option<Sight>,
    found: Found,
    unread: Vec<Unread>,
    /// Keys whose shared storage is this tab's to read.
    claims: BTreeSet<StorageKey>,
}

/// A history entry.
#[derive(Debug)]
struct Entry {
    url: String,
    title: String,
}

/// What `inspect.js` returns, as far as a capture needs it.
#[derive(Debug, Deserialize)]
struct Sight {
    visible: bool,
    viewport: Viewport,
}

impl Pages<'_> {
    /// Reads all tabs, a few at once; each storage key's localStorage and databases only once. What
    /// a tab that hangs has taken upon itself is tried in the others.
    pub(super) async fn read(&self, tabs: &[TargetInfo]) -> Vec<PageRead> {
        let mut reads = self.read_at_once(tabs.iter()).await;
        let (answering, hanging): (Vec<_>, Vec<_>) =
            reads.iter().partition(|read| read.unread.is_empty());
        if hanging.is_empty() {
            self.work.did_all();
        }
        let mut is_left = false;
        for read in hanging {
            is_left |= self.work.release(&read.claims);
        }
        if is_left {
            let answering: BTreeSet<_> = answering.iter().map(|read| read.target.clone()).collect();
            let others = tabs.iter().filter(|tab| answering.contains(&tab.target_id));
            reads.extend(self.read_at_once(others).await);
        }
        reads
    }

    async fn read_at_once(&self, tabs: impl Iterator<Item = &TargetInfo>) -> Vec<PageRead> {
        let reads: Vec<_> = tabs.map(|tab| self.read_page(tab)).collect();
        stream::iter(reads).buffered(PAGES_AT_ONCE).collect().await
    }

    async fn read_page(&self, tab: &TargetInfo) -> PageRead {
        let mut read = PageRead::new(tab);
        let reading = async {
            for attempt in 0..ATTEMPTS {
                read.unread.clear();
                match self.fill_page(&mut read).await {
                    // A frame may have left in the middle: a second look tells.
                    Ok(()) if read.unread.is_empty() || attempt > 0 => break,
                    Ok(()) => {}
                    // A page in the middle of a navigation has no active document for a while.
                    Err(error) => read.miss(error),
                }
                sleep(PAUSE).await;
            }
        };
        if timeout(PAGE_LIMIT, reading).await.is_err() {
            read.miss(format!("expected the page to answer within {PAGE_LIMIT:?}, found it busy"));
        }
        read
    }

    async fn fill_page(&self, read: &mut PageRead) -> Result<(), CdpError> {
        let connection = self.live.browser().connection().clone();
        let Some(page) = self.page_session(&read.target).await? else {
            return Ok(());
        };
        read.entry = Some(current_entry(&connection.session(page)).await?);
        let is_watched = timeout(WATCH_LIMIT, self.watched(&read.target)).await.is_ok();
        let sessions = self.live.shared().sessions_of(&read.target);
        for (position, id) in sessions.into_iter().enumerate() {
            let session = connection.session(id);
            for frame in frames::list(&session).await? {
                if position == 0 && frame.parent_id.is_none() {
                    read.sight = inspect(&session, &frame.id).await;
                }
                self.read_frame(read, &session, &frame).await?;
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

    async fn read_frame(
        &self,
        read: &mut PageRead,
        session: &CdpSession,
        frame: &Frame,
    ) -> Result<(), CdpError> {
        let Some(key) = frames::storage_key(session, &frame.id).await? else {
            return Ok(());
        };
        let shared = self.work.claim(&key, &mut read.claims);
        let place = Place { tab: &read.target, session, frame, key: &key, shared };
        if let Err(error) = read.found.read(&place, self.work).await {
            read.unread.push(Unread::new(frame.address(), error));
        }
        Ok(())
    }
}

impl PageRead {
    fn new(tab: &TargetInfo) -> Self {
        Self {
            target: tab.target_id.clone(),
            address: tab.url.clone(),
            entry: None,
            sight: None,
            found: Found::default(),
            unread: Vec::new(),
            claims: BTreeSet::new(),
        }
    }

    /// Notes that the tab did not answer.
    fn miss(&mut self, reason: impl std::fmt::Display) {
        let place = self.entry.as_ref().map_or(&self.address, |entry| &entry.url);
        self.unread.push(Unread::new(place.clone(), reason));
    }

    /// Whether the tab is the one that a person would see.
    pub(super) fn is_front(&self) -> bool {
        self.sight.as_ref().is_some_and(|sight| sight.visible)
    }

    /// Puts into the mirror what was read of the tab itself. Its storage is there already.
    pub(super) fn merge(&self, mirror: &mut Mirror, front: Option<&TargetId>) {
        let Some(Entry { url, title }) = &self.entry else {
            return;
        };
        let tab = mirror.tab(&self.target);
        tab.url.clone_from(url);
        tab.title.clone_from(title);
        if let Some(front) = front {
            tab.active = front == &self.target;
        }
        if front == Some(&self.target)
            && let Some(sight) = &self.sight
        {
            mirror.note_viewport(sight.viewport);
        }
    }

    /// Puts what was read into the state of the capture, and returns what could not be read.
    pub(super) fn apply(self, state: &mut State) -> Vec<Unread> {
        let mut unread = self.unread;
        unread.extend(self.found.apply(state, &self.target));
        unread
    }
}

/// Address and title of the current history entry. A target's own info is older than that.
async fn current_entry(session: &CdpSession) -> Result<Entry, CdpError> {
    let history = session.call("Page.getNavigationHistory", json!({})).await?;
    let current = history["currentIndex"].as_u64().and_then(|index| usize::try_from(index).ok());
    let entry = current.map_or(&Value::Null, |index| &history["entries"][index]);
    let text = |field: &str| entry[field].as_str().unwrap_or_default().to_owned();
    Ok(Entry { url: text("url"), title: text("title") })
}

async fn inspect(session: &CdpSession, frame: &str) -> Option<Sight> {
    let world = script::world(session, frame).await.ok()?;
    script::run(session, &world, Script::Inspect, &json!({}), PAGE_LIMIT).await.ok()
}
