//! What one tab said, and how it goes into the capture.

use super::frame::Found;
use super::visit::{Entry, Visit};
use super::work::Work;
use crate::live::mirror::Mirror;
use crate::script::ScriptError;
use crate::targets::{TargetId, TargetInfo};
use baton_session::{State, StorageKey, Unread};
use std::collections::BTreeSet;

/// How often a page is read whose document leaves each time; then it stays as events told of it.
const MOVES: usize = 4;

/// What one tab said.
#[derive(Debug)]
pub(super) struct PageRead {
    pub(super) target: TargetId,
    /// Its address as the browser told it from outside, which can be late.
    address: String,
    /// Its address and title as the browser told them, also when the page hangs.
    pub(super) entry: Option<Entry>,
    /// What its document told, once one has stayed for as long as that took.
    pub(super) visit: Option<Visit>,
    /// Whether the page was once in the middle of a navigation.
    pub(super) has_failed: bool,
    /// How often a document left while it was read.
    moves: usize,
    pub(super) found: Found,
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
            found: Found::default(),
            unread: Vec::new(),
            claims: BTreeSet::new(),
        }
    }

    /// Begins, or begins again: what documents said that may have left is forgotten, but for the
    /// last visit that was read to its end.
    pub(super) fn begin(&mut self, work: &Work<'_>) {
        self.unread.clear();
        self.found.forget(&self.target, work);
    }

    /// Takes how a look at the page ended, and says whether another one is of no use.
    pub(super) fn is_done(&mut self, attempt: usize, filled: Result<(), ScriptError>) -> bool {
        let Err(error) = filled else {
            // A frame may have left in the middle: a second look tells.
            return self.unread.is_empty() || attempt > 0;
        };
        // A page in the middle of a navigation has no active document for a while.
        self.has_failed = true;
        self.moves += usize::from(matches!(error, ScriptError::Left));
        // Each look tells of one frame that left without a word, and there may be several.
        let of_a_frame = matches!(&error, ScriptError::Cdp(error) if error.is_of_no_session());
        self.miss(error);
        self.moves >= MOVES || (attempt > 0 && self.visit.is_some() && !of_a_frame)
    }

    /// Leaves the tab as events told of it, if no visit was read.
    pub(super) fn without_entry(mut self) -> Self {
        self.entry = None;
        self
    }

    /// Notes that the tab did not answer.
    pub(super) fn miss(&mut self, reason: impl std::fmt::Display) {
        let place = self.entry.as_ref().map_or(&self.address, |entry| &entry.url);
        self.unread.push(Unread::new(place.clone(), reason));
    }

    /// Whether the tab is the one that a person would see.
    pub(super) fn is_front(&self) -> bool {
        self.visit.as_ref().is_some_and(Visit::is_front)
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
