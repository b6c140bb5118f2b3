//! A bounded store of things that change, for readers that come back.
//!
//! The one idea: every change has the next sequence number, and things are kept in the order of their
//! last change. So what a reader has not seen is everything behind its cursor, what goes first is what
//! has not changed for longest, and of what went so much is remembered that a reader who comes too late
//! learns how much it missed.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;

/// How many of the things that went are remembered one by one.
const REMEMBERED: usize = 10_000;

/// A bounded store.
#[derive(Debug, Clone)]
pub struct Ring<T> {
    kept: BTreeMap<u64, Slot<T>>,
    items: usize,
    bytes: usize,
    used: usize,
    last: u64,
    lost: Lost,
}

#[derive(Debug, Clone)]
struct Slot<T> {
    item: T,
    bytes: usize,
}

/// What a reader missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing {
    /// How many things went that it had not seen, or not as they were in the end.
    pub count: u64,
    /// Whether there may have been more.
    pub at_least: bool,
}

/// What a change did.
#[derive(Debug, PartialEq, Eq)]
pub struct Change<T> {
    /// Its sequence number.
    pub seq: u64,
    /// What went to make room, oldest first; the thing itself when it is larger than the whole store.
    pub dropped: Vec<T>,
}

impl<T> Ring<T> {
    /// An empty store for so many things, and so many bytes of them.
    pub fn new(items: usize, bytes: usize) -> Self {
        let (kept, lost) = (BTreeMap::new(), Lost::default());
        Self { kept, items, bytes, used: 0, last: 0, lost }
    }

    /// Puts in a thing of so many bytes, made with its sequence number.
    pub fn put(&mut self, bytes: usize, make: impl FnOnce(u64) -> T) -> Change<T> {
        let seq = self.skip();
        let item = make(seq);
        if bytes > self.bytes {
            self.lost.note(seq);
            return Change { seq, dropped: vec![item] };
        }
        self.used += bytes;
        self.kept.insert(seq, Slot { item, bytes });
        Change { seq, dropped: self.shrink() }
    }

    /// Changes the thing of that number. What was changed gets the next number, and is weighed anew by
    /// `weigh`, which gets the number; what was not, `change` says, stays where it is. None when
    /// there is no such thing, or when it was not changed.
    pub fn change(
        &mut self,
        seq: u64,
        change: impl FnOnce(&mut T) -> bool,
        weigh: impl FnOnce(&mut T, u64) -> usize,
    ) -> Option<Change<T>> {
        if !change(&mut self.kept.get_mut(&seq)?.item) {
            return None;
        }
        let Slot { mut item, bytes } = self.kept.remove(&seq)?;
        self.used -= bytes;
        let bytes = weigh(&mut item, self.last + 1);
        Some(self.put(bytes, |_| item))
    }

    /// Uses up a sequence number, for something that is not kept here.
    pub fn skip(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    fn shrink(&mut self) -> Vec<T> {
        self.shrink_to(self.bytes)
    }

    /// Drops the oldest until no more than so many bytes are kept; what went, oldest first.
    pub fn shrink_to(&mut self, bytes: usize) -> Vec<T> {
        let mut dropped = Vec::new();
        while self.kept.len() > self.items || self.used > bytes {
            let Some((seq, slot)) = self.kept.pop_first() else { break };
            self.used -= slot.bytes;
            self.lost.note(seq);
            dropped.push(slot.item);
        }
        dropped
    }

    /// The thing of that number.
    pub fn get(&self, seq: u64) -> Option<&T> {
        self.kept.get(&seq).map(|slot| &slot.item)
    }

    /// What is kept, in the order of the last change.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, &T)> {
        self.kept.iter().map(|(seq, slot)| (*seq, &slot.item))
    }

    /// What was put in or changed after the cursor, in that order.
    pub fn after(&self, cursor: u64) -> impl Iterator<Item = (u64, &T)> {
        let behind = (Bound::Excluded(cursor), Bound::Unbounded);
        self.kept.range(behind).map(|(seq, slot)| (*seq, &slot.item))
    }

    /// What a reader with this cursor can no longer see; none when it has missed nothing.
    pub fn missing(&self, cursor: u64) -> Option<Missing> {
        self.lost.after(cursor)
    }

    /// The number of the last change; 0 when there was none.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// How many things are kept.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// How many bytes are kept.
    pub fn used(&self) -> usize {
        self.used
    }
}

/// The sequence numbers of what went.
#[derive(Debug, Clone, Default)]
struct Lost {
    /// The latest of them, in their order.
    seqs: VecDeque<u64>,
    /// How many more there were.
    forgotten: u64,
    /// The smallest and the largest number of those.
    range: Option<(u64, u64)>,
}

impl Lost {
    fn note(&mut self, seq: u64) {
        // Nearly always the end: only what is too large goes before its turn.
        let at = self.seqs.partition_point(|noted| *noted < seq);
        self.seqs.insert(at, seq);
        if self.seqs.len() > REMEMBERED {
            self.forget();
        }
    }

    fn forget(&mut self) {
        let Some(seq) = self.seqs.pop_front() else { return };
        self.forgotten += 1;
        let (smallest, largest) = self.range.unwrap_or((seq, seq));
        self.range = Some((smallest.min(seq), largest.max(seq)));
    }

    fn after(&self, cursor: u64) -> Option<Missing> {
        let seen = self.seqs.partition_point(|seq| *seq <= cursor);
        let known = (self.seqs.len() - seen) as u64;
        let (forgotten, at_least) = match self.range {
            Some((smallest, _)) if cursor < smallest => (self.forgotten, false),
            Some((_, largest)) if cursor < largest => (1, true),
            _ => (0, false),
        };
        let count = known + forgotten;
        (count > 0).then_some(Missing { count, at_least })
    }
}
