//! The screen of a browser: what its tabs show right now, as pictures, and input of a person to them.
//!
//! The one idea: a screen is a client of the keeper for itself, and all that it switches on ends with it. It
//! asks every tab for pictures, and the browser sends those of the tab in front only: the others are not drawn.
//! Nothing is queued: the newest picture takes the place of the one before, also for a viewer that reads slowly,
//! and the browser is told at once that it may send the next one, for a picture that it left out while it
//! waited would never come. Rooms: `pump` hears what the browser says, `events` reads it, `address` says whose page a
//! tab shows, `arrivals` which pictures were taken there, `input` writes what a person does, `asking` holds what pages
//! wish for until a person has answered, `choosers` finds out who asks for files, `control` sends a tab somewhere, [`pace`] says how good a picture the
//! line of a viewer takes.

mod address;
mod arrivals;
mod asking;
mod choosers;
mod control;
mod events;
mod input;
pub mod pace;
mod pump;
mod texts;

pub use address::TabAddress;
pub use asking::PermissionQuestion;
pub use control::TabControl;
pub use input::{
    Hand, Key, KeyEvent, KeyOutcome, Mouse, MouseButton, MouseEvent, Point, Touch, TouchEvent,
};

use crate::cdp::{CdpError, CdpSession, CdpSessionId, Connection};
use crate::keeper::KeeperLink;
use crate::targets::{Contexts, TargetId};
use asking::Asking;
use pump::ScreenPump;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

/// How many may look at one screen at once.
pub const VIEWERS: usize = 16;
/// How many tabs a screen shows; of more, it shows none of the newest.
const TABS: usize = 256;
/// The smallest and the largest picture that is asked for, in pixels of one side.
const SIDE: (u32, u32) = (160, 2560);
/// The steps in which sides are asked for, in pixels: each other size begins the pictures anew.
const STEP: u32 = 160;

/// A picture of a tab.
#[derive(Debug, Clone, PartialEq)]
pub struct ScreenFrame {
    /// Counts up with each picture of a screen, from 1 on.
    pub sequence: u64,
    /// The number of the tab that it shows.
    pub tab: u32,
    /// How wide the tab's viewport is, in CSS pixels: a place in it is told by them.
    pub width: u16,
    /// How high it is.
    pub height: u16,
    /// How many pixels of the picture one CSS pixel has.
    pub scale: f32,
    /// A JPEG.
    pub jpeg: Vec<u8>,
    /// What its tab was at then: see [`ScreenTab::addresses`].
    pub addresses: [TabAddress; 2],
    /// Whether it was surely taken there: the browser may tell of a picture after its tab has gone on.
    pub is_of_them: bool,
}

/// A tab of a screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreenTab {
    /// Names it for as long as the screen lives.
    pub number: u32,
    /// Names it for the browser.
    pub target: TargetId,
    /// Its address.
    pub url: TabAddress,
    /// The address of the document that its page was last said to have committed; none before that is heard.
    pub committed: Option<TabAddress>,
    /// Its title without control characters, cut to a length for people.
    pub title: String,
    /// Whether the browser draws it: it is in front.
    pub is_visible: bool,
    /// Whether its page crashed.
    pub has_crashed: bool,
    /// What it asks the person, who has to answer before it goes on.
    pub dialog: Option<PageDialog>,
    /// Whether it asks for files, and for how many.
    pub chooser: Option<Chooser>,
    /// What one of its documents wishes for and a person has to allow.
    pub permission: Option<PermissionQuestion>,
}

impl ScreenTab {
    /// What it is at, as the browser says it and as its page does. One may be known before the other, so what
    /// matters is what both say.
    pub fn addresses(&self) -> [&TabAddress; 2] {
        [&self.url, self.committed.as_ref().unwrap_or(&self.url)]
    }
}

/// A question of a page: `alert`, `confirm`, `prompt` or `beforeunload`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageDialog {
    /// Names it for as long as the screen lives.
    pub number: u64,
    /// Which of them, in CDP's words (`Page.DialogType`).
    pub kind: String,
    /// What it says.
    pub message: String,
    /// What a `prompt` suggests.
    pub suggests: String,
}

/// A page asks for files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chooser {
    /// Names it for as long as the screen lives.
    pub number: u64,
    /// The origin of the document that asks.
    pub origin: String,
    /// The origin of the page around it, where that is another one.
    pub within: Option<String>,
    /// Whether it takes more than one.
    pub takes_many: bool,
    /// The element that asks.
    pub(crate) element: i64,
    /// The frame that it is in, in CDP's words.
    pub(crate) frame: String,
    /// The session by which that frame is reached: of its own where it has a process of its own.
    pub(crate) session: CdpSessionId,
}

/// What a screen shows beside pictures.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScreenState {
    /// Its tabs, oldest first.
    pub tabs: Vec<ScreenTab>,
    /// The number of the tab in front, which was drawn last.
    pub front: Option<u32>,
    /// How many messages of the browser were no picture.
    pub bad_frames: u64,
    /// Whether the browser is gone: nothing follows.
    pub has_ended: bool,
}

impl ScreenState {
    /// A tab by its number.
    pub fn tab(&self, number: u32) -> Option<&ScreenTab> {
        self.tabs.iter().find(|tab| tab.number == number)
    }
}

/// How large and how good a picture a viewer wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wish {
    /// The largest width, in pixels.
    pub width: u32,
    /// The largest height, in pixels.
    pub height: u32,
    /// The quality of the JPEG, 0 to 100.
    pub quality: u8,
}

impl Wish {
    /// The better of both, side by side, within bounds and in whole steps.
    fn or(self, other: Self) -> Self {
        let side = |one: u32, other: u32| one.max(other).clamp(SIDE.0, SIDE.1) / STEP * STEP;
        Self {
            width: side(self.width, other.width),
            height: side(self.height, other.height),
            quality: self.quality.max(other.quality).min(100),
        }
    }
}

/// What all viewers want together; none while none of them looks.
type Wished = watch::Sender<Option<Wish>>;

/// A browser's screen, for as long as this lives.
#[derive(Debug)]
pub struct Screen {
    connection: Connection,
    state: watch::Receiver<ScreenState>,
    frames: watch::Receiver<Option<Arc<ScreenFrame>>>,
    sessions: Sessions,
    wishes: Mutex<BTreeMap<u64, Option<Wish>>>,
    wished: Wished,
    next_viewer: AtomicU64,
    asking: Asking,
    _ends_the_pump: DropGuard,
}

/// The sessions of the tabs, by their numbers.
#[derive(Debug, Clone, Default)]
struct Sessions(Arc<Mutex<BTreeMap<u32, CdpSession>>>);

impl Sessions {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u32, CdpSession>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Screen {
    /// The screen of the browser behind `link`, which came in as
    /// [`Role::Client`](crate::keeper::Role::Client). Pictures come once a viewer wants some.
    pub async fn start(link: KeeperLink) -> Result<Self, CdpError> {
        Self::start_within(link, asking::LIMIT).await
    }

    /// The same, where a person who drives has so long to answer what a page may.
    pub async fn start_within(link: KeeperLink, limit: Duration) -> Result<Self, CdpError> {
        let KeeperLink { connection, events, .. } = link;
        let (browser, end) = (connection.browser(), CancellationToken::new());
        let contexts = Contexts::fetch(&browser, None).await?;
        let (tell_state, state) = watch::channel(ScreenState::default());
        let (tell_frame, frames) = watch::channel(None);
        let (tell_wish, wishes) = watch::channel(None);
        let sessions = Sessions::default();
        let asking = Asking::new(tell_state.clone(), sessions.clone(), limit);
        let pump = ScreenPump::new(
            connection.clone(),
            contexts,
            sessions.clone(),
            tell_state,
            tell_frame,
            wishes,
            asking.clone(),
        );
        tokio::spawn(end.clone().run_until_cancelled_owned(pump.run(events)));
        browser.call("Target.setDiscoverTargets", json!({ "discover": true })).await?;
        let pages = json!([{ "type": "page" }, { "exclude": true }]);
        let attach = json!({
            "autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true, "filter": pages,
        });
        browser.call("Target.setAutoAttach", attach).await?;
        Ok(Self {
            connection,
            state,
            frames,
            sessions,
            wishes: Mutex::default(),
            wished: tell_wish,
            next_viewer: AtomicU64::new(0),
            asking,
            _ends_the_pump: end.drop_guard(),
        })
    }

    /// One more viewer; none when there are [`VIEWERS`].
    pub fn join(self: &Arc<Self>) -> Option<Viewing> {
        let mut wishes = self.wishes();
        if wishes.len() >= VIEWERS {
            return None;
        }
        let viewer = self.next_viewer.fetch_add(1, Ordering::Relaxed);
        wishes.insert(viewer, None);
        drop(wishes);
        let (state, frames) = (self.state.clone(), self.frames.clone());
        Some(Viewing { screen: Arc::clone(self), viewer, state, frames })
    }

    /// Whether one more may look.
    pub fn has_room(&self) -> bool {
        self.wishes().len() < VIEWERS
    }

    /// What it shows beside pictures, now and from now on.
    pub fn state(&self) -> watch::Receiver<ScreenState> {
        self.state.clone()
    }

    /// Whether its browser, or the connection to it, is gone.
    pub fn has_ended(&self) -> bool {
        self.connection.is_closed() || self.state.borrow().has_ended
    }

    fn wishes(&self) -> MutexGuard<'_, BTreeMap<u64, Option<Wish>>> {
        self.wishes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add_up(&self, wishes: &BTreeMap<u64, Option<Wish>>) {
        let all = wishes.values().flatten().copied().reduce(Wish::or);
        let all = all.map(|wish| wish.or(wish));
        self.wished.send_if_modified(|wished| std::mem::replace(wished, all) != all);
    }
}

/// One viewer of a screen; its wish ends when this is dropped.
#[derive(Debug)]
pub struct Viewing {
    screen: Arc<Screen>,
    viewer: u64,
    state: watch::Receiver<ScreenState>,
    frames: watch::Receiver<Option<Arc<ScreenFrame>>>,
}

impl Drop for Viewing {
    fn drop(&mut self) {
        let mut wishes = self.screen.wishes();
        wishes.remove(&self.viewer);
        self.screen.add_up(&wishes);
        drop(wishes);
        self.drive(false);
    }
}

impl Viewing {
    /// What the screen shows beside pictures, now and from now on.
    pub fn state(&self) -> watch::Receiver<ScreenState> {
        self.state.clone()
    }

    /// The newest picture, now and from now on.
    pub fn frames(&self) -> watch::Receiver<Option<Arc<ScreenFrame>>> {
        self.frames.clone()
    }

    /// Which pictures this viewer wants from now on; none while it does not look.
    pub fn wish(&self, wish: Option<Wish>) {
        let mut wishes = self.screen.wishes();
        wishes.insert(self.viewer, wish);
        self.screen.add_up(&wishes);
    }

    /// Whether the browser, or the connection to it, is gone.
    pub fn has_ended(&self) -> bool {
        self.screen.has_ended()
    }

    /// A hand for a person who drives: it lets go of all that it holds when it is dropped.
    pub fn hand(&self) -> Hand {
        Hand::new(self.screen.sessions.clone())
    }

    /// A tab, to be sent somewhere or answered.
    pub fn tab(&self, number: u32) -> Option<TabControl> {
        let session = self.screen.sessions.lock().get(&number).cloned()?;
        let found = self.state.borrow().tab(number).cloned()?;
        let (state, asking) = (self.state.clone(), self.screen.asking.clone());
        Some(TabControl { session, tab: found, state, asking })
    }

    /// Opens a tab at this address.
    pub async fn open_tab(&self, url: &str) -> Result<(), CdpError> {
        let browser = self.screen.connection.browser();
        browser.call("Target.createTarget", json!({ "url": url })).await.map(drop)
    }

    /// Whether this viewer drives: while one does, pages that ask for files, or for what has to be allowed, are
    /// answered here.
    pub fn drive(&self, on: bool) {
        self.screen.asking.drive(self.viewer, on);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn viewers_get_together_what_the_best_line_of_them_takes() {
        let small = Wish { width: 390, height: 844, quality: 30 };
        let large = Wish { width: 9000, height: 10, quality: 75 };
        assert_eq!(small.or(large), Wish { width: 2560, height: 800, quality: 75 });
        assert_eq!(large.or(large), Wish { width: 2560, height: 160, quality: 75 });
        let near = Wish { height: 801, ..small };
        assert_eq!(near.or(near), small.or(small), "a little more begins nothing anew");
    }
}
