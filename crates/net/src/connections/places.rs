//! Places: who holds a connection, and who loses theirs when there are no more.
//!
//! The one idea: a place is scarce, and is given out before a caller says who it is. So a caller that has
//! shown nothing good, a stranger, keeps it only until another caller needs it: the stranger that has been
//! silent longest goes first. What one key holds, and what the strangers of one address hold, is a share; and
//! a part of the places is for strangers, so that a newcomer always has the moment that it takes to show a
//! key.

use crate::rates::household;
use baton_session::Owner;
use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio_util::sync::CancellationToken;

/// How many places there are, and how they are shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shares {
    /// All of them.
    all: usize,
    /// How many of them one key may hold.
    key: usize,
    /// How many of them strangers from one address may hold.
    address: usize,
    /// How many of them all keys may hold together.
    known: usize,
}

impl Shares {
    fn of(all: usize, behind_proxy: bool) -> Self {
        let all = all.max(2);
        let quarter = (all / 4).max(1);
        // Behind a proxy every connection is the proxy's.
        let address = if behind_proxy { all } else { quarter };
        Self { all, key: quarter, address, known: all - (all / 8).max(1) }
    }
}

/// In whose name a connection is held.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Holder {
    /// The id of a key, or what else was shown that is good here.
    pub name: String,
    /// Whose key it is, when the connection ends with that key.
    pub owner: Option<Owner>,
}

/// The places of one door. Cheap to clone.
#[derive(Clone)]
pub struct Places(Arc<PlaceTable>);

struct PlaceTable {
    shares: Shares,
    /// From when the times at which something moved are counted.
    begun: Instant,
    entries: Mutex<Entries>,
}

#[derive(Default)]
struct Entries {
    next: u64,
    held: HashMap<u64, Entry>,
}

struct Entry {
    address: IpAddr,
    /// None is a stranger.
    holder: Option<Holder>,
    /// Whether a request is under way, or the protocol was changed.
    is_busy: bool,
    seat: Arc<Seat>,
}

/// What the connection itself looks at.
struct Seat {
    /// When something moved last, in nanoseconds.
    moved: AtomicU64,
    /// Whether the body of the last request was not taken to its end.
    has_more: AtomicBool,
    /// Its place was taken, or its key is good no longer.
    ended: CancellationToken,
}

impl Places {
    /// So many places; `behind_proxy` says that addresses tell nothing.
    pub(super) fn new(all: usize, behind_proxy: bool) -> Self {
        let shares = Shares::of(all, behind_proxy);
        Self(Arc::new(PlaceTable { shares, begun: Instant::now(), entries: Mutex::default() }))
    }

    /// A place for a stranger from `address`. When there is none, another stranger loses its own.
    pub(super) fn enter(&self, address: IpAddr) -> Place {
        let (address, shares) = (household(address), self.0.shares);
        let seat = Arc::new(Seat {
            moved: AtomicU64::new(self.now()),
            has_more: AtomicBool::new(false),
            ended: CancellationToken::new(),
        });
        let mut entries = self.entries();
        let is_theirs = |entry: &Entry| entry.holder.is_none() && entry.address == address;
        if entries.count(is_theirs) >= shares.address {
            entries.end_silent(is_theirs);
        }
        if entries.held.len() >= shares.all && !entries.end_silent(|entry| entry.holder.is_none()) {
            // Keys never hold all of the places, so this is for shares that are very small.
            entries.end_silent(|entry| !entry.is_busy);
        }
        let id = entries.next;
        entries.next += 1;
        let entry = Entry { address, holder: None, is_busy: false, seat: Arc::clone(&seat) };
        entries.held.insert(id, entry);
        drop(entries);
        Place { places: self.clone(), id, seat }
    }

    /// Ends the connection that is missed least; whether there was one.
    pub(super) fn make_room(&self) -> bool {
        let mut entries = self.entries();
        entries.end_silent(|entry| entry.holder.is_none())
            || entries.end_silent(|entry| !entry.is_busy)
    }

    /// In whose names connections are held that end with a key.
    pub(super) fn watched(&self) -> HashSet<Holder> {
        let entries = self.entries();
        let holders = entries.held.values().filter_map(|entry| entry.holder.as_ref());
        holders.filter(|holder| holder.owner.is_some()).cloned().collect()
    }

    /// Ends every connection that is held in this name.
    pub(super) fn end(&self, holder: &Holder) {
        self.entries().end_all(|entry| entry.holder.as_ref() == Some(holder));
    }

    fn now(&self) -> u64 {
        u64::try_from(self.0.begun.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.0.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    fn count(&self, is_meant: impl Fn(&Entry) -> bool) -> usize {
        self.held.values().filter(|entry| is_meant(entry)).count()
    }

    /// Ends the one of those meant that has been silent longest; whether there was one.
    fn end_silent(&mut self, is_meant: impl Fn(&Entry) -> bool) -> bool {
        let meant = self.held.iter().filter(|(_, entry)| is_meant(entry));
        let last = |(id, entry): &(&u64, &Entry)| (entry.seat.moved.load(Ordering::Relaxed), **id);
        let Some(id) = meant.min_by_key(last).map(|(id, _)| *id) else { return false };
        if let Some(entry) = self.held.remove(&id) {
            entry.seat.ended.cancel();
        }
        true
    }

    fn end_all(&mut self, is_meant: impl Fn(&Entry) -> bool) {
        self.held.retain(|_, entry| {
            let is_meant = is_meant(entry);
            if is_meant {
                entry.seat.ended.cancel();
            }
            !is_meant
        });
    }
}

/// A place, for as long as the connection lives, whatever protocol it speaks by then.
pub(super) struct Place {
    places: Places,
    id: u64,
    seat: Arc<Seat>,
}

impl Place {
    /// Something came, or was taken.
    pub(super) fn moved(&self) {
        self.seat.moved.store(self.places.now(), Ordering::Relaxed);
    }

    /// Whether the body of the last request was not taken to its end.
    pub(super) fn has_more(&self) -> bool {
        self.seat.has_more.load(Ordering::Relaxed)
    }

    /// Cancelled once the place was taken.
    pub(super) fn ended(&self) -> CancellationToken {
        self.seat.ended.clone()
    }

    /// What the requests of the connection know of it.
    pub(super) fn guest(&self) -> Guest {
        Guest { places: self.places.clone(), id: self.id }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.entries().held.remove(&self.id);
    }
}

/// A connection, as its requests know it. Cheap to clone; it holds no place.
#[derive(Clone)]
pub(super) struct Guest {
    places: Places,
    id: u64,
}

impl Guest {
    /// A request begins: who asks has to be shown anew.
    pub(super) fn start_request(&self) {
        if let Some(entry) = self.places.entries().held.get_mut(&self.id) {
            (entry.holder, entry.is_busy) = (None, true);
            entry.seat.has_more.store(false, Ordering::Relaxed);
        }
    }

    /// The body of the request is not taken to its end.
    pub(super) fn leave_rest(&self) {
        if let Some(entry) = self.places.entries().held.get(&self.id) {
            entry.seat.has_more.store(true, Ordering::Relaxed);
        }
    }

    /// A request was answered, and nothing is under way.
    pub(super) fn rest(&self) {
        if let Some(entry) = self.places.entries().held.get_mut(&self.id) {
            entry.is_busy = false;
        }
    }

    /// Something was shown that is good here. Fails with the limit when too much is held in this name, or in
    /// all names together.
    pub(super) fn show(&self, holder: &Holder) -> Result<(), usize> {
        let shares = self.places.0.shares;
        let mut entries = self.places.entries();
        match entries.held.get(&self.id) {
            // Its place was taken meanwhile, and it is about to notice.
            None => return Ok(()),
            Some(entry) if entry.holder.as_ref() == Some(holder) => return Ok(()),
            Some(_) => {}
        }
        let is_theirs =
            |entry: &Entry| entry.holder.as_ref().is_some_and(|other| other.name == holder.name);
        let is_known = |entry: &Entry| entry.holder.is_some();
        // Connections on which nothing is asked just now are there to save time only.
        if entries.count(is_theirs) >= shares.key
            && !entries.end_silent(|entry| is_theirs(entry) && !entry.is_busy)
        {
            return Err(shares.key);
        }
        if entries.count(is_known) >= shares.known
            && !entries.end_silent(|entry| is_known(entry) && !entry.is_busy)
        {
            return Err(shares.known);
        }
        if let Some(entry) = entries.held.get_mut(&self.id) {
            entry.holder = Some(holder.clone());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Holder, Place, Places};
    use std::net::{IpAddr, Ipv4Addr};

    fn from(last: u8) -> IpAddr {
        Ipv4Addr::new(192, 0, 2, last).into()
    }

    fn ada() -> Holder {
        Holder { name: "ada".to_owned(), owner: Some("ada".parse().unwrap()) }
    }

    fn lost(places: &[Place]) -> Vec<usize> {
        let places = places.iter().enumerate();
        places.filter(|(_, place)| place.ended().is_cancelled()).map(|(at, _)| at).collect()
    }

    #[test]
    fn the_stranger_who_has_been_silent_longest_loses_theirs() {
        let places = Places::new(8, true);
        let held: Vec<Place> = (0..8).map(|last| places.enter(from(last))).collect();
        held[0].guest().start_request();
        held[0].guest().show(&ada()).unwrap();
        held[1].moved();
        let _ninth = places.enter(from(9));
        assert_eq!(lost(&held), [2]);
        drop(held);
        assert_eq!(places.entries().held.len(), 1);
    }

    #[test]
    fn strangers_of_one_address_have_a_share_and_take_it_from_each_other() {
        let places = Places::new(16, false);
        let other = places.enter(from(2));
        let held: Vec<Place> = (0..6).map(|_| places.enter(from(1))).collect();
        assert_eq!(lost(&held), [0, 1], "a quarter of 16 are left");
        assert!(!other.ended().is_cancelled());
    }

    #[test]
    fn a_key_has_a_share_and_what_it_does_not_use_goes_first() {
        let places = Places::new(16, false);
        let held: Vec<Place> = (0..5).map(|last| places.enter(from(last))).collect();
        for place in &held[..4] {
            place.guest().start_request();
            place.guest().show(&ada()).unwrap();
        }
        held[4].guest().start_request();
        assert_eq!(held[4].guest().show(&ada()), Err(4));
        held[2].guest().rest();
        assert_eq!(held[4].guest().show(&ada()), Ok(()));
        assert_eq!(lost(&held), [2]);
    }

    #[test]
    fn keys_together_leave_room_for_newcomers() {
        let places = Places::new(16, false);
        let held: Vec<Place> = (0..16).map(|last| places.enter(from(last))).collect();
        let shown = held.iter().enumerate().map(|(at, place)| {
            place.guest().start_request();
            place.guest().show(&Holder { name: format!("key-{at}"), owner: None })
        });
        let refused: Vec<_> = shown.filter_map(Result::err).collect();
        assert_eq!(refused, [14, 14]);
        let newcomer = places.enter(from(99));
        assert_eq!(lost(&held).len(), 1);
        assert!(!newcomer.ended().is_cancelled());
    }

    #[test]
    fn who_asks_again_has_to_show_it_again_and_a_key_can_be_ended() {
        let places = Places::new(4, false);
        let place = places.enter(from(1));
        place.guest().start_request();
        place.guest().show(&ada()).unwrap();
        assert_eq!(places.watched().len(), 1);
        place.guest().start_request();
        assert!(places.watched().is_empty());
        place.guest().show(&ada()).unwrap();
        places.end(&ada());
        assert!(place.ended().is_cancelled());
    }
}
