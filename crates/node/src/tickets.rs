//! Tickets: what opens a session's browser for a tool that sends no headers.
//!
//! The one idea: an address with a ticket lies on command lines and in logs, so it opens once, and
//! soon. One that opens more often is asked for by name, and ends with the key behind it. Tickets
//! live in memory: a node that starts again knows none.

use crate::NodeError;
use crate::auth::Caller;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use baton_session::SessionId;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a ticket that opens once waits for that.
pub const ONCE_LIMIT: Duration = Duration::from_mins(1);
/// How long a ticket opens that opens more than once.
pub const REUSABLE_LIMIT: Duration = Duration::from_hours(24);
/// How many there may be at once.
const MOST: usize = 10_000;

/// The tickets of a node. Cheap to clone.
#[derive(Clone, Default)]
pub struct Tickets(Arc<Mutex<HashMap<[u8; 32], Ticket>>>);

struct Ticket {
    session: SessionId,
    caller: Caller,
    until: Instant,
    uses: Uses,
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
    ) -> Result<(SecretString, Duration), NodeError> {
        let (uses, limit) =
            if reusable { (Uses::Many, REUSABLE_LIMIT) } else { (Uses::Once, ONCE_LIMIT) };
        let now = Instant::now();
        let mut tickets = self.tickets();
        if tickets.len() >= MOST {
            tickets.retain(|_, ticket| ticket.until > now);
        }
        if tickets.len() >= MOST {
            let limit = u32::try_from(MOST).unwrap_or(u32::MAX);
            let (what, wait) = ("tickets", ONCE_LIMIT);
            return Err(NodeError::TooManyRequests { what, limit, wait });
        }
        let random: [u8; 32] = rand::random();
        let secret = SecretString::from(URL_SAFE_NO_PAD.encode(random));
        let ticket = Ticket { session, caller: caller.clone(), until: now + limit, uses };
        tickets.insert(hash(&secret), ticket);
        Ok((secret, limit))
    }

    /// Whose ticket this is, if it still opens something.
    pub fn check(&self, secret: &SecretString) -> Result<(SessionId, Caller), NodeError> {
        let tickets = self.tickets();
        let found = match tickets.get(&hash(secret)) {
            None => "an unknown one",
            Some(ticket) if ticket.until <= Instant::now() => "one whose time has passed",
            Some(ticket) if ticket.uses == Uses::Used => "one that was used already",
            Some(ticket) => return Ok((ticket.session, ticket.caller.clone())),
        };
        Err(NodeError::BadTicket { found })
    }

    /// Uses a ticket that was checked; of two who do so at once, one is refused.
    pub fn punch(&self, secret: &SecretString) -> Result<(), NodeError> {
        self.check(secret)?;
        let mut tickets = self.tickets();
        match tickets.get_mut(&hash(secret)).map(|ticket| &mut ticket.uses) {
            Some(Uses::Many) => Ok(()),
            Some(uses @ Uses::Once) => {
                *uses = Uses::Used;
                Ok(())
            }
            Some(Uses::Used) | None => {
                Err(NodeError::BadTicket { found: "one that was used already" })
            }
        }
    }

    fn tickets(&self) -> MutexGuard<'_, HashMap<[u8; 32], Ticket>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tickets are looked up by hash, so the time that takes says nothing about those that exist.
fn hash(secret: &SecretString) -> [u8; 32] {
    Sha256::digest(secret.expose_secret().as_bytes()).into()
}
