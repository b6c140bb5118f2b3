//! Codes that pair browsers, and tickets that open their connections. Both count once, and live in
//! memory: a node that starts again knows none.

use crate::error::NodeError;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use baton_runtime::Caller;
use baton_runtime::RuntimeError;
use baton_session::Owner;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a code counts: a person types it.
const CODE_LIMIT: Duration = Duration::from_mins(5);
/// How long a ticket counts: a program uses it at once.
const TICKET_LIMIT: Duration = Duration::from_secs(30);
/// How many codes there may be of one owner, and tickets of one key.
const MOST: usize = 20;
/// The characters of codes: no two look alike. Five bits each.
const LETTERS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/// The codes and tickets of a node. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Pairing(Arc<Mutex<Given>>);

#[derive(Default)]
struct Given {
    codes: HashMap<String, (Owner, Instant)>,
    /// By their hash.
    tickets: HashMap<[u8; 32], (Caller, String, Instant)>,
}

impl Pairing {
    /// A new code for a browser of this owner, such as `K7QM-2XPD`, and how long it counts.
    pub(crate) fn begin(&self, owner: &Owner) -> Result<(String, Duration), NodeError> {
        let now = Instant::now();
        let codes = &mut self.given().codes;
        codes.retain(|_, (_, until)| *until > now);
        let of_owner = codes.values().filter(|(other, _)| other == owner);
        let first = of_owner.clone().map(|(_, until)| *until).min();
        if of_owner.count() >= MOST {
            return Err(too_many("pairing codes", first, now).into());
        }
        let code: String = rand::random::<[u8; 8]>()
            .into_iter()
            .map(|byte| char::from(LETTERS[usize::from(byte) % LETTERS.len()]))
            .collect();
        codes.insert(code.clone(), (owner.clone(), now + CODE_LIMIT));
        Ok((format!("{}-{}", &code[..4], &code[4..]), CODE_LIMIT))
    }

    /// Whose browser a code pairs, the one time that it counts.
    pub(crate) fn redeem(&self, code: &str) -> Option<Owner> {
        let plain: String =
            code.chars().filter(char::is_ascii_alphanumeric).take(9).collect::<String>();
        let (owner, until) = self.given().codes.remove(&plain.to_ascii_uppercase())?;
        (until > Instant::now()).then_some(owner)
    }

    /// A new ticket for one connection of a browser.
    pub(crate) fn ticket(
        &self,
        caller: &Caller,
        browser_id: &str,
    ) -> Result<SecretString, NodeError> {
        let now = Instant::now();
        let tickets = &mut self.given().tickets;
        tickets.retain(|_, (_, _, until)| *until > now);
        let of_key = tickets.values().filter(|(other, ..)| other.key == caller.key);
        let first = of_key.clone().map(|(.., until)| *until).min();
        if of_key.count() >= MOST {
            return Err(too_many("tickets of one browser", first, now).into());
        }
        let ticket = URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>());
        let entry = (caller.clone(), browser_id.to_owned(), now + TICKET_LIMIT);
        tickets.insert(hash(&ticket), entry);
        Ok(ticket.into())
    }

    /// Who connects with a ticket, and which browser it is, the one time that it counts.
    pub(crate) fn take(&self, ticket: &SecretString) -> Option<(Caller, String)> {
        let found = self.given().tickets.remove(&hash(ticket.expose_secret()));
        let (caller, browser_id, until) = found?;
        (until > Instant::now()).then_some((caller, browser_id))
    }

    fn given(&self) -> MutexGuard<'_, Given> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn too_many(what: &'static str, first: Option<Instant>, now: Instant) -> RuntimeError {
    let wait = first.map(|first| first.saturating_duration_since(now)).unwrap_or_default();
    RuntimeError::TooManyTickets { what, most: MOST, wait }
}

fn hash(ticket: &str) -> [u8; 32] {
    Sha256::digest(ticket.as_bytes()).into()
}
