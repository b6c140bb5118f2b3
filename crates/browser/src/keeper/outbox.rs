//! The calls on their way to the browser.
//!
//! The one idea: the loop never waits for the browser. What that does not read at once waits here, in
//! order; meanwhile clients are not listened to, but the node is, and so are the browser, signals and
//! the lease. A browser that reads nothing for a minute is as good as dead.

use std::collections::VecDeque;
use std::future;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

/// How long a browser may leave its calls unread.
pub(super) const STALL_LIMIT: Duration = Duration::from_mins(1);
/// How many calls, and how many bytes of them, may wait. From half of it on nobody adds to them but the
/// keeper itself.
const CALLS: usize = 16_384;
const BYTES: usize = 512 * 1024 * 1024;

/// The calls that wait for the browser.
pub(super) struct Outbox {
    browser: mpsc::Sender<Vec<u8>>,
    waiting: VecDeque<Vec<u8>>,
    bytes: usize,
    /// Since when the browser has taken nothing although something waits.
    since: Option<Instant>,
    reads: watch::Sender<bool>,
}

impl Outbox {
    /// An outbox whose calls go to `browser`.
    pub(super) fn new(browser: mpsc::Sender<Vec<u8>>) -> Self {
        let (reads, _) = watch::channel(true);
        Self { browser, waiting: VecDeque::new(), bytes: 0, since: None, reads }
    }

    /// Whether the browser reads what it is told, for those who wait until it does.
    pub(super) fn reads(&self) -> watch::Receiver<bool> {
        self.reads.subscribe()
    }

    /// Whether so much waits that no client may add to it.
    pub(super) fn is_crowded(&self) -> bool {
        self.waiting.len() >= CALLS / 2 || self.bytes >= BYTES / 2
    }

    /// Sends a call, now or when the browser reads again; false when there is no room for it.
    pub(super) fn send(&mut self, frame: Vec<u8>) -> bool {
        let frame = if self.waiting.is_empty() {
            match self.browser.try_send(frame) {
                // A closed channel means that the browser is gone, which its reader tells as well.
                Ok(()) | Err(mpsc::error::TrySendError::Closed(_)) => return true,
                Err(mpsc::error::TrySendError::Full(frame)) => frame,
            }
        } else {
            frame
        };
        if self.waiting.len() >= CALLS || self.bytes + frame.len() > BYTES {
            return false;
        }
        self.bytes += frame.len();
        self.waiting.push_back(frame);
        self.since.get_or_insert_with(Instant::now);
        self.reads.send_if_modified(|reads| std::mem::replace(reads, false));
        true
    }

    /// Passes on what waits as the browser takes it: returns after some of it, and never while nothing
    /// waits. Safe to cancel.
    pub(super) async fn pass_on(&mut self) {
        if self.waiting.is_empty() {
            return future::pending().await;
        }
        if let Ok(permit) = self.browser.reserve().await {
            let frame = self.waiting.pop_front().unwrap_or_default();
            self.bytes -= frame.len();
            permit.send(frame);
        } else {
            // The browser is gone.
            self.waiting.clear();
            self.bytes = 0;
        }
        let is_empty = self.waiting.is_empty();
        self.since = (!is_empty).then(Instant::now);
        self.reads.send_if_modified(|reads| std::mem::replace(reads, is_empty) != is_empty);
    }

    /// When the browser is as good as dead, unless it reads something before.
    pub(super) fn dead_at(&self) -> Option<Instant> {
        self.since.map(|since| since + STALL_LIMIT)
    }
}
