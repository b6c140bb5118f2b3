//! Following the board: who waits hears at once that it changed.
//!
//! The system tells of changes in the folder (inotify on Linux, elsewhere a look from time to time); several
//! at once count as one, and what leaves the board as it was is none.

use crate::board::Board;
use crate::error::{FederationError, Tried};
use crate::federation::Federation;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// A rest of this length ends a flock of changes.
const REST: Duration = Duration::from_millis(20);
/// No flock is waited for longer.
const LONGEST_FLOCK: Duration = Duration::from_millis(200);

/// A board that is followed. It ends with this.
#[derive(Debug)]
pub struct Watch {
    federation: Federation,
    changes: Receiver<()>,
    shown: Option<Board>,
    _source: source::ChangeSource,
}

/// What a wait came to.
#[derive(Debug, Clone, PartialEq)]
pub enum WaitOutcome {
    /// The board as it is now; none when no session is active any more.
    Changed(Option<Box<Board>>),
    /// Nothing changed within the limit.
    Same,
}

impl Federation {
    /// Follows the board: says when it changes.
    pub fn watch(&self) -> Result<Watch, FederationError> {
        Watch::start(self.clone())
    }
}

impl Watch {
    /// Follows from now on.
    pub(crate) fn start(federation: Federation) -> Result<Self, FederationError> {
        federation.folder.create()?;
        let (sender, changes) = sync_channel(1);
        let sessions = federation.folder.sessions();
        let source = source::ChangeSource::start(&sessions, sender)?;
        let shown = federation.read()?;
        Ok(Self { federation, changes, shown, _source: source })
    }

    /// The board as it was shown last.
    pub fn board(&self) -> Option<&Board> {
        self.shown.as_ref()
    }

    /// Waits until the board is another one, at most for `limit`. A board that cannot be read is an
    /// error, after which one can wait on.
    pub fn wait(&mut self, limit: Duration) -> Result<WaitOutcome, FederationError> {
        let end = Instant::now() + limit;
        loop {
            match self.changes.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(()) => self.rest(),
                Err(RecvTimeoutError::Timeout) => return Ok(WaitOutcome::Same),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(gone()).tried("watch", self.federation.folder());
                }
            }
            let board = self.federation.read()?;
            if board != self.shown {
                self.shown.clone_from(&board);
                return Ok(WaitOutcome::Changed(board.map(Box::new)));
            }
        }
    }

    /// Waits until a flock of changes has passed.
    fn rest(&self) {
        let end = Instant::now() + LONGEST_FLOCK;
        while Instant::now() < end && self.changes.recv_timeout(REST).is_ok() {}
    }
}

fn gone() -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::NotFound, "the folder went away")
}

#[cfg(target_os = "linux")]
mod source {
    //! inotify, read by a thread that ends when the watch is taken away.

    use super::{FederationError, Path, Tried};
    use rustix::fd::OwnedFd;
    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
    use std::mem::MaybeUninit;
    use std::sync::Arc;
    use std::sync::mpsc::SyncSender;

    #[derive(Debug)]
    pub(super) struct ChangeSource {
        inotify: Arc<OwnedFd>,
        watch: i32,
    }

    impl ChangeSource {
        pub(super) fn start(
            folder: &Path,
            sender: SyncSender<()>,
        ) -> Result<Self, FederationError> {
            let events = WatchFlags::MOVED_TO
                | WatchFlags::MOVED_FROM
                | WatchFlags::CLOSE_WRITE
                | WatchFlags::DELETE
                | WatchFlags::CREATE;
            let io = |error: rustix::io::Errno| std::io::Error::from(error);
            let inotify = inotify::init(CreateFlags::CLOEXEC).map_err(io).tried("watch", folder)?;
            let inotify = Arc::new(inotify);
            let watch =
                inotify::add_watch(&inotify, folder, events).map_err(io).tried("watch", folder)?;
            let reader = Arc::clone(&inotify);
            let listen = move || listen(&reader, &sender);
            std::thread::Builder::new().spawn(listen).tried("watch", folder)?;
            Ok(Self { inotify, watch })
        }
    }

    impl Drop for ChangeSource {
        fn drop(&mut self) {
            // The system answers with an event, which ends the thread.
            let _ = inotify::remove_watch(&self.inotify, self.watch);
        }
    }

    /// Passes on that the board's file changed, until the watch is taken away.
    fn listen(inotify: &OwnedFd, sender: &SyncSender<()>) {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = inotify::Reader::new(inotify, &mut buffer);
        while let Ok(event) = reader.next() {
            if event.events().contains(ReadFlags::IGNORED) {
                return;
            }
            let is_board = event.file_name().is_some_and(|name| name == c"active-session.json");
            if is_board || event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
                // One that waits already says the same.
                let _ = sender.try_send(());
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod source {
    //! A look from time to time, by a thread that ends with the last listener.

    use super::{Duration, FederationError, Path, Tried};
    use std::sync::mpsc::{SyncSender, TrySendError};

    const LOOK: Duration = Duration::from_millis(250);

    #[derive(Debug)]
    pub(super) struct ChangeSource;

    impl ChangeSource {
        pub(super) fn start(
            folder: &Path,
            sender: SyncSender<()>,
        ) -> Result<Self, FederationError> {
            let path = folder.join("active-session.json");
            let look = move || {
                let mut before = None;
                loop {
                    let now = std::fs::metadata(&path).and_then(|there| there.modified()).ok();
                    if now != before
                        && matches!(sender.try_send(()), Err(TrySendError::Disconnected(())))
                    {
                        return;
                    }
                    before = now;
                    std::thread::sleep(LOOK);
                }
            };
            std::thread::Builder::new().spawn(look).tried("watch", folder)?;
            Ok(Self)
        }
    }
}
