//! Tickets: what opens a session's browser for a tool that sends no headers.
//!
//! The one idea: an address with a ticket lies on command lines and in logs, so it opens once, and
//! soon. One that opens more often is asked for by name, and ends with the key behind it. Tickets
//! live in memory: a node that starts again knows none. What they open is a matter of who keeps them; with
//! each may go what its holder needs then.

use crate::error::RuntimeError;
use crate::request::Caller;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use baton_session::SessionId;
use baton_store::clock::Deadline;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a ticket that opens once waits for that.
pub const ONCE_LIMIT: Duration = Duration::from_mins(1);
/// How long a ticket opens that opens more than once.
pub const REUSABLE_LIMIT: Duration = Duration::from_hours(24);
/// How many there may be at once.
const MOST: usize = 10_000;
/// How many of them may be of one key.
const MOST_OF_A_KEY: usize = 100;

/// The tickets of a node for one kind of thing, each for one of them by its id `I`, with something of the type `W`. Cheap
/// to clone.
pub struct Tickets<W = (), I = SessionId>(Arc<Mutex<TicketTable<W, I>>>);

/// Tickets by the hashes of what shows them.
type TicketTable<W, I> = HashMap<[u8; 32], Ticket<W, I>>;

impl<W, I> Clone for Tickets<W, I> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<W, I> Default for Tickets<W, I> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

struct Ticket<W, I> {
    thing: I,
    caller: Caller,
    until: Deadline,
    uses: Uses,
    with: W,
}

#[derive(PartialEq, Eq)]
enum Uses {
    Once,
    Used,
    Many,
}

impl Tickets {
    /// A new ticket for a session, and how long it is good.
    pub fn issue(
        &self,
        session: SessionId,
        caller: &Caller,
        reusable: bool,
    ) -> Result<(SecretString, Duration), RuntimeError> {
        self.issue_with(session, caller, reusable, ())
    }
}

impl<W: Clone, I: Copy> Tickets<W, I> {
    /// A new ticket for a thing with something that its holder needs, and how long it is good.
    pub fn issue_with(
        &self,
        thing: I,
        caller: &Caller,
        reusable: bool,
        with: W,
    ) -> Result<(SecretString, Duration), RuntimeError> {
        let (uses, limit) =
            if reusable { (Uses::Many, REUSABLE_LIMIT) } else { (Uses::Once, ONCE_LIMIT) };
        let mut tickets = self.tickets();
        make_room(&mut tickets, "tickets of one key", MOST_OF_A_KEY, |ticket| {
            ticket.caller.key == caller.key
        })?;
        make_room(&mut tickets, "tickets", MOST, |_| true)?;
        let random: [u8; 32] = rand::random();
        let secret = SecretString::from(URL_SAFE_NO_PAD.encode(random));
        let until = Deadline::after(limit);
        let ticket = Ticket { thing, caller: caller.clone(), until, uses, with };
        tickets.insert(hash(&secret), ticket);
        Ok((secret, limit))
    }

    /// Whose ticket this is, if it still opens something.
    pub fn check(&self, secret: &SecretString) -> Result<(I, Caller), RuntimeError> {
        let tickets = self.tickets();
        let found = match tickets.get(&hash(secret)) {
            None => "an unknown one",
            Some(ticket) if ticket.until.is_over() => "one whose time has passed",
            Some(ticket) if ticket.uses == Uses::Used => "one that was used already",
            Some(ticket) => return Ok((ticket.thing, ticket.caller.clone())),
        };
        Err(RuntimeError::BadTicket { found })
    }

    /// Uses a ticket that was checked; of two who do so at once, one is refused.
    pub fn punch(&self, secret: &SecretString) -> Result<(), RuntimeError> {
        self.check(secret)?;
        let mut tickets = self.tickets();
        match tickets.get_mut(&hash(secret)).map(|ticket| &mut ticket.uses) {
            Some(Uses::Many) => Ok(()),
            Some(uses @ Uses::Once) => {
                *uses = Uses::Used;
                Ok(())
            }
            Some(Uses::Used) | None => {
                Err(RuntimeError::BadTicket { found: "one that was used already" })
            }
        }
    }

    /// Redeems a ticket that opens once: whose it is, and what goes with it.
    pub fn redeem(&self, secret: &SecretString) -> Result<(I, Caller, W), RuntimeError> {
        self.punch(secret)?;
        let tickets = self.tickets();
        let ticket = tickets.get(&hash(secret));
        let ticket = ticket.ok_or(RuntimeError::BadTicket { found: "an unknown one" })?;
        Ok((ticket.thing, ticket.caller.clone(), ticket.with.clone()))
    }

    /// Gives a ticket back that was punched and has opened nothing.
    pub fn put_back(&self, secret: &SecretString) {
        if let Some(ticket) = self.tickets().get_mut(&hash(secret))
            && ticket.uses == Uses::Used
        {
            ticket.uses = Uses::Once;
        }
    }

    fn tickets(&self) -> MutexGuard<'_, TicketTable<W, I>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Forgets tickets that open nothing any more, if there are too many; fails when none of them go, with
/// the time until the first one does.
fn make_room<W, I>(
    tickets: &mut TicketTable<W, I>,
    what: &'static str,
    most: usize,
    counts: impl Fn(&Ticket<W, I>) -> bool,
) -> Result<(), RuntimeError> {
    if tickets.values().filter(|ticket| counts(ticket)).count() < most {
        return Ok(());
    }
    tickets.retain(|_, ticket| !ticket.until.is_over() && ticket.uses != Uses::Used);
    let counted = tickets.values().filter(|ticket| counts(ticket));
    let left: Vec<_> = counted.map(|ticket| ticket.until.left()).collect();
    if left.len() < most {
        return Ok(());
    }
    let wait = left.into_iter().min().unwrap_or_default();
    Err(RuntimeError::TooManyTickets { what, most, wait })
}

/// Tickets are looked up by hash, so the time that takes says nothing about those that exist.
fn hash(secret: &SecretString) -> [u8; 32] {
    Sha256::digest(secret.expose_secret().as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Actor;
    use jiff::Timestamp;
    use std::collections::BTreeSet;

    fn caller(key: &str) -> Caller {
        let owner = "ada".parse().unwrap();
        Caller {
            owner,
            key: key.to_owned(),
            actor: Actor::node(),
            scopes: BTreeSet::new(),
            agent: None,
        }
    }

    fn session() -> SessionId {
        SessionId::new(Timestamp::now(), rand::random())
    }

    #[test]
    fn one_key_leaves_room_for_the_others_and_hears_when_to_ask_again() {
        let (tickets, session) = (Tickets::<()>::default(), session());
        tickets.issue(session, &caller("one"), false).unwrap();
        for _ in 1..MOST_OF_A_KEY {
            tickets.issue(session, &caller("one"), true).unwrap();
        }
        let error = tickets.issue(session, &caller("one"), true).unwrap_err();
        assert_eq!(
            error.to_string(),
            "expected at most 100 tickets of one key at once, found more"
        );
        let RuntimeError::TooManyTickets { wait, .. } = error else { panic!("{error}") };
        assert!(wait <= ONCE_LIMIT, "the first of them ends after a minute, not {wait:?}");
        tickets.issue(session, &caller("other"), true).unwrap();
    }

    #[test]
    fn tickets_that_were_used_make_room() {
        let (tickets, session) = (Tickets::<()>::default(), session());
        for _ in 0..3 * MOST_OF_A_KEY {
            let (secret, _) = tickets.issue(session, &caller("one"), false).unwrap();
            tickets.punch(&secret).unwrap();
        }
        assert!(tickets.tickets().len() <= MOST_OF_A_KEY);
    }

    #[test]
    fn a_ticket_that_opened_nothing_opens_again_and_only_once() {
        let (tickets, caller) = (Tickets::<()>::default(), caller("one"));
        let (secret, _) = tickets.issue(session(), &caller, false).unwrap();
        tickets.punch(&secret).unwrap();
        tickets.punch(&secret).unwrap_err();
        tickets.put_back(&secret);
        tickets.punch(&secret).unwrap();
        tickets.check(&secret).unwrap_err();
    }
}
