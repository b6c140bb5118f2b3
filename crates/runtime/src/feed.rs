//! One watch on the board's folder for all who follow it.
//!
//! A thread waits for the folder while there is a listener. A slow listener misses what was in between and
//! never the newest, so nothing is queued.

use baton_federation::{Federation, FederationError, WaitOutcome, Watch};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;
use tokio::sync::watch;

/// How often the thread looks whether there still is a listener, and how long it rests after a failure.
const LOOK: Duration = Duration::from_secs(1);

/// Wakes those who follow the board. Cheap to clone.
#[derive(Clone, Default)]
pub struct Feed(Arc<FeedState>);

#[derive(Default)]
struct FeedState {
    changed: watch::Sender<()>,
    /// Whether a thread watches.
    is_watched: Mutex<bool>,
}

impl Feed {
    /// The receiver hears of every change of the board from now on.
    pub(crate) fn listen(
        &self,
        board: &Federation,
    ) -> Result<watch::Receiver<()>, FederationError> {
        let mut is_watched = self.is_watched();
        let receiver = self.0.changed.subscribe();
        if !*is_watched {
            let watch = board.watch()?;
            let (feed, board) = (self.clone(), board.clone());
            thread::spawn(move || feed.pass_on(&board, watch));
            *is_watched = true;
        }
        Ok(receiver)
    }

    /// Passes changes on until the last listener has left.
    fn pass_on(&self, board: &Federation, watch: Watch) {
        let mut watch = Some(watch);
        while !self.is_left() {
            match watch.as_mut().map(|watch| watch.wait(LOOK)) {
                Some(Ok(WaitOutcome::Same)) => {}
                Some(Ok(WaitOutcome::Changed(_))) => self.tell(),
                // Who listens reads for himself, and so hears why.
                Some(Err(_)) => {
                    self.tell();
                    watch = None;
                }
                None => {
                    thread::sleep(LOOK);
                    watch = board.watch().ok();
                    if watch.is_some() {
                        self.tell();
                    }
                }
            }
        }
    }

    fn tell(&self) {
        self.0.changed.send_replace(());
    }

    /// Whether there is no listener; then the next one starts another thread.
    fn is_left(&self) -> bool {
        let mut is_watched = self.is_watched();
        *is_watched = self.0.changed.receiver_count() > 0;
        !*is_watched
    }

    fn is_watched(&self) -> MutexGuard<'_, bool> {
        self.0.is_watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
