//! Activity: how much has happened in a browser, and who is woken by it.
//!
//! The one idea: a page that never rests writes hundreds of times a second, and whoever knows that it
//! wrote need not be woken again. So what is no write is told on a channel of its own.

use tokio::sync::watch::{Receiver, Sender, channel};

/// How much has happened; a counter that grew means "something happened since you looked".
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Activity {
    /// Navigations, and tabs opened or closed.
    pub navigations: u64,
    /// Changes of storage.
    pub writes: u64,
    /// Requests that pages told to have been answered, and frames that began to load.
    pub requests: u64,
    /// Clicks and typing, once somebody asked for them.
    pub inputs: u64,
}

/// Counts what happens. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Counters {
    all: Sender<Activity>,
    moves: Sender<u64>,
}

impl Counters {
    /// Nothing has happened yet. The receivers hear of everything, and of what is no write.
    pub(super) fn new() -> (Self, Receiver<Activity>, Receiver<u64>) {
        let (all, activity) = channel(Activity::default());
        let (moves, told) = channel(0);
        (Self { all, moves }, activity, told)
    }

    /// A navigation, or a tab that came or went.
    pub(super) fn navigation(&self) {
        self.all.send_modify(|activity| activity.navigations += 1);
        self.moves.send_modify(|moves| *moves += 1);
    }

    /// Clicks or typing.
    pub(super) fn input(&self) {
        self.all.send_modify(|activity| activity.inputs += 1);
        self.moves.send_modify(|moves| *moves += 1);
    }

    /// A request was answered, or is about to be.
    pub(super) fn request(&self) {
        self.all.send_modify(|activity| activity.requests += 1);
        self.moves.send_modify(|moves| *moves += 1);
    }

    /// A change of storage.
    pub(super) fn wrote(&self) {
        self.all.send_modify(|activity| activity.writes += 1);
    }
}
