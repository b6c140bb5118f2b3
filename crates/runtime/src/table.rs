//! What this node does with sessions at this moment: one table for all who ask.
//!
//! The one idea: an operation that changes a session *holds* it, and no other one does meanwhile. What is
//! done to a browser, a profile or a working copy asks for the [`Hold`], so that no verb can forget it.
//! Beside it is what others have to know of a session right now: that peers are asked for it, and which
//! sandbox has it. Who drives one is in the database; who waits for that to change is woken here.

use baton_session::{AgentName, SandboxId, SessionId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedMutexGuard, watch};

/// Another operation holds the session, and did not let go of it in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("session {id} is being {doing} at this moment\ntry again")]
pub struct Busy {
    /// Which session.
    pub id: SessionId,
    /// What is being done with it.
    pub doing: &'static str,
}

/// The sessions that something is done with, or that a sandbox has. Cheap to clone. A session that is not
/// held, waited for or checked out is forgotten when the next one is held, so that there are never more than
/// that.
#[derive(Clone, Default)]
pub struct SessionTable(Arc<SeatTable>);

#[derive(Default)]
struct SeatTable {
    seats: Mutex<HashMap<SessionId, Arc<Seat>>>,
    /// Changes whenever a session passes from one agent to another, or sets out to another node.
    passed: watch::Sender<()>,
}

#[derive(Default)]
struct Seat {
    turn: Arc<tokio::sync::Mutex<()>>,
    now: Mutex<Now>,
    /// Whether peers are asked for it.
    asked: watch::Sender<bool>,
    /// Whether it is on its way from one node of the database to another.
    moving: watch::Sender<bool>,
}

#[derive(Default)]
struct Now {
    /// What its holder does.
    doing: Option<&'static str>,
    /// Which sandbox has it.
    checked_out_to: Option<SandboxId>,
    /// Who is connected to its browser, by the names that they say; bounded as connections are.
    clients: Vec<Option<AgentName>>,
    /// Which person has taken it over.
    taken_over_by: Option<AgentName>,
}

impl Seat {
    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionTable {
    /// Holds a session, to do one thing with it, once no other operation does. What has not begun within
    /// `limit` is better not begun: the caller may have left.
    pub async fn hold(
        &self,
        id: SessionId,
        doing: &'static str,
        limit: Duration,
    ) -> Result<Hold, Busy> {
        let seat = self.seat(id);
        let turn = tokio::time::timeout(limit, Arc::clone(&seat.turn).lock_owned()).await;
        let Ok(turn) = turn else {
            return Err(Busy { id, doing: seat.now().doing.unwrap_or("changed") });
        };
        seat.now().doing = Some(doing);
        Ok(Hold { id, seat, _turn: turn })
    }

    /// Waits until peers are asked for a session: at once, if they are asked right now.
    pub async fn asked(&self, id: SessionId) {
        let seat = self.seat(id);
        // Ours is one of those that keep it, so it does not close.
        let _ = seat.asked.subscribe().wait_for(|asked| *asked).await;
    }

    /// Which sandbox has a session.
    pub(crate) fn checked_out_to(&self, id: SessionId) -> Option<SandboxId> {
        self.seen(id)?.now().checked_out_to
    }

    /// Notes a client of a session's browser for as long as what this returns lives.
    pub fn enter(&self, id: SessionId, agent: Option<AgentName>) -> Client {
        let seat = self.seat(id);
        seat.now().clients.push(agent.clone());
        Client { seat, agent }
    }

    /// Notes that a person takes a session over, for as long as what this returns lives. Fails with the person
    /// who has done so already.
    pub(crate) fn take_over(
        &self,
        id: SessionId,
        person: &AgentName,
    ) -> Result<TakenOver, AgentName> {
        let seat = self.seat(id);
        {
            let mut now = seat.now();
            if let Some(other) = &now.taken_over_by {
                return Err(other.clone());
            }
            now.taken_over_by = Some(person.clone());
        }
        Ok(TakenOver(seat))
    }

    /// Whether an agent of this name is connected to a session's browser.
    pub(crate) fn has_client(&self, id: SessionId, agent: &AgentName) -> bool {
        let Some(seat) = self.seen(id) else { return false };
        let now = seat.now();
        now.clients.iter().flatten().any(|client| client == agent)
    }

    /// Whether a client other than an agent of this name is connected to a session's browser. Who says no
    /// name is another one than anybody.
    pub(crate) fn has_other_client(&self, id: SessionId, agent: Option<&AgentName>) -> bool {
        let Some(seat) = self.seen(id) else { return false };
        let now = seat.now();
        now.clients.iter().any(|client| client.is_none() || client.as_ref() != agent)
    }

    /// Whether a session is on its way from one node to another.
    pub fn is_moving(&self, id: SessionId) -> bool {
        self.seen(id).is_some_and(|seat| *seat.moving.borrow())
    }

    /// Waits until a session has arrived that is on its way, but no longer than `limit`. Returns whether it was
    /// on its way.
    pub async fn arrived(&self, id: SessionId, limit: Duration) -> bool {
        if !self.is_moving(id) {
            return false;
        }
        // It goes on late rather than never.
        let _ = tokio::time::timeout(limit, self.arrival(id)).await;
        true
    }

    /// Waits until a session is on its way no longer.
    pub(crate) async fn arrival(&self, id: SessionId) {
        let Some(seat) = self.seen(id) else { return };
        let mut moving = seat.moving.subscribe();
        // Ours is one of those that keep it, so it does not close.
        let _ = moving.wait_for(|moving| !moving).await;
    }

    /// Notes that a session is on its way between nodes, for as long as what this returns lives, and wakes those
    /// who drive its browser.
    pub fn sets_out(&self, id: SessionId) -> Moving {
        let seat = self.seat(id);
        seat.moving.send_replace(true);
        self.has_passed();
        Moving(seat)
    }

    /// Notes that a session has arrived: who waits for it goes on, before who brought it back is done.
    pub(crate) fn arrives(&self, id: SessionId) {
        if let Some(seat) = self.seen(id) {
            seat.moving.send_replace(false);
        }
    }

    /// The receiver hears, from now on, of every session that passes to another agent, or sets out to another node.
    pub fn passes(&self) -> watch::Receiver<()> {
        self.0.passed.subscribe()
    }

    /// A session has passed to another agent.
    pub(crate) fn has_passed(&self) {
        self.0.passed.send_replace(());
    }

    fn seen(&self, id: SessionId) -> Option<Arc<Seat>> {
        self.seats().get(&id).cloned()
    }

    fn seat(&self, id: SessionId) -> Arc<Seat> {
        let mut seats = self.seats();
        seats.retain(|_, seat| Arc::strong_count(seat) > 1 || seat.now().checked_out_to.is_some());
        Arc::clone(seats.entry(id).or_default())
    }

    fn seats(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<Seat>>> {
        self.0.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A session that is held for one thing to do; free again when this is dropped.
#[must_use = "the session is free again when this is dropped"]
pub struct Hold {
    id: SessionId,
    seat: Arc<Seat>,
    _turn: OwnedMutexGuard<()>,
}

impl Hold {
    /// Which session is held.
    pub fn id(&self) -> SessionId {
        self.id
    }

    /// Peers are asked for it for as long as this lives.
    pub fn ask(&self) -> Asking {
        self.seat.asked.send_replace(true);
        Asking(Arc::clone(&self.seat))
    }

    /// Which sandbox has it.
    pub fn checked_out_to(&self) -> Option<SandboxId> {
        self.seat.now().checked_out_to
    }

    /// From now on the sandbox `to` has it; or none.
    pub(crate) fn set_checked_out_to(&self, to: Option<SandboxId>) {
        self.seat.now().checked_out_to = to;
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.seat.now().doing = None;
    }
}

/// A client of a session's browser.
pub struct Client {
    seat: Arc<Seat>,
    agent: Option<AgentName>,
}

impl Drop for Client {
    fn drop(&mut self) {
        let mut now = self.seat.now();
        if let Some(at) = now.clients.iter().position(|client| *client == self.agent) {
            now.clients.swap_remove(at);
        }
    }
}

/// A session that a person has taken over.
pub(crate) struct TakenOver(Arc<Seat>);

impl Drop for TakenOver {
    fn drop(&mut self) {
        self.0.now().taken_over_by = None;
    }
}

/// A session that is on its way from one node to another.
pub struct Moving(Arc<Seat>);

impl Drop for Moving {
    fn drop(&mut self) {
        self.0.moving.send_replace(false);
    }
}

/// A session that peers are asked for. Two nodes that ask each other at the same time must not both get
/// it, nor both go without: see `sync::peer_lease`.
pub struct Asking(Arc<Seat>);

impl Drop for Asking {
    fn drop(&mut self) {
        self.0.asked.send_replace(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT_ONCE: Duration = Duration::ZERO;
    const LONG: Duration = Duration::from_mins(1);

    fn id(last: u8) -> SessionId {
        let mut bits = [0; 10];
        bits[9] = last;
        SessionId::new(jiff::Timestamp::UNIX_EPOCH, bits)
    }

    #[tokio::test]
    async fn a_session_is_held_by_one_and_whoever_waits_is_told_what_goes_on() {
        let table = SessionTable::default();
        let first = table.hold(id(1), "resumed", AT_ONCE).await.unwrap();
        let busy = table.hold(id(1), "closed", AT_ONCE).await.err();
        assert_eq!(busy, Some(Busy { id: id(1), doing: "resumed" }));
        let _other = table.hold(id(2), "closed", AT_ONCE).await.unwrap();
        drop(first);
        let _second = table.hold(id(1), "closed", AT_ONCE).await.unwrap();
    }

    #[tokio::test]
    async fn those_who_wait_are_served_in_their_order() {
        let table = SessionTable::default();
        let first = table.hold(id(1), "resumed", AT_ONCE).await.unwrap();
        let (order, mut served) = tokio::sync::mpsc::unbounded_channel();
        for one in 0..20 {
            let (table, order) = (table.clone(), order.clone());
            tokio::spawn(async move {
                let _held = table.hold(id(1), "changed", LONG).await.unwrap();
                order.send(one).unwrap();
            });
            // Each has taken its place in the line before the next one comes.
            tokio::task::yield_now().await;
        }
        drop((first, order));
        let mut seen = Vec::new();
        while let Some(one) = served.recv().await {
            seen.push(one);
        }
        assert_eq!(seen, (0..20).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn what_nobody_uses_is_forgotten_but_not_what_a_sandbox_has() {
        let table = SessionTable::default();
        let sandbox = SandboxId::new(jiff::Timestamp::UNIX_EPOCH, [7; 10]);
        for one in 0..100 {
            let hold = table.hold(id(one), "changed", AT_ONCE).await.unwrap();
            if one == 5 {
                hold.set_checked_out_to(Some(sandbox));
            }
        }
        let _held = table.hold(id(200), "changed", AT_ONCE).await.unwrap();
        assert_eq!(table.seats().len(), 2);
        assert_eq!(table.checked_out_to(id(5)), Some(sandbox));
        table.hold(id(5), "given back", AT_ONCE).await.unwrap().set_checked_out_to(None);
        assert_eq!(table.checked_out_to(id(5)), None);
    }

    #[test]
    fn a_client_is_there_for_as_long_as_it_is_connected() {
        let table = SessionTable::default();
        let (one, other) = ("one".parse().unwrap(), "other".parse().unwrap());
        assert!(!table.has_other_client(id(1), None));
        let first = table.enter(id(1), Some(one));
        let one = "one".parse().unwrap();
        assert!(!table.has_other_client(id(1), Some(&one)));
        assert!(table.has_other_client(id(1), Some(&other)) && table.has_other_client(id(1), None));
        let nameless = table.enter(id(1), None);
        assert!(table.has_other_client(id(1), Some(&one)) && table.has_other_client(id(1), None));
        drop((first, nameless));
        assert!(!table.has_other_client(id(1), None));
    }

    #[test]
    fn one_person_at_a_time_takes_a_session_over() {
        let table = SessionTable::default();
        let (ada, bea): (AgentName, AgentName) = ("ada".parse().unwrap(), "bea".parse().unwrap());
        let taken = table.take_over(id(1), &ada).ok().unwrap();
        assert_eq!(table.take_over(id(1), &bea).err(), Some(ada));
        assert!(table.take_over(id(2), &bea).is_ok());
        drop(taken);
        assert!(table.take_over(id(1), &bea).is_ok());
    }

    #[tokio::test]
    async fn a_session_is_asked_for_as_long_as_somebody_asks() {
        let table = SessionTable::default();
        let hold = table.hold(id(1), "resumed", AT_ONCE).await.unwrap();
        let is_asked =
            async |one| tokio::time::timeout(AT_ONCE, table.asked(id(one))).await.is_ok();
        assert!(!is_asked(1).await);
        let asking = hold.ask();
        assert!(is_asked(1).await && !is_asked(2).await);
        drop(asking);
        assert!(!is_asked(1).await);
    }
}
