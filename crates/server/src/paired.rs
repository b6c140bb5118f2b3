//! The browsers of people that are paired with this node: what is known of them, in memory.
//!
//! Codes pair them, and tickets open their connections; the tabs of a browser that is gone for a moment wait for
//! it, and each has one connection at a time. All of it is gone with the node.

use crate::error::NodeError;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use baton_api::debug::{EpochMs, TabToken};
use baton_debug::relay::TabSender;
use baton_debug::token::{DebugSecret, PageToken, TokenError, UsedNonces};
use baton_runtime::{Caller, RuntimeError};
use baton_session::{NodeMark, Owner};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::OwnedMutexGuard;
use tokio_util::sync::CancellationToken;

/// The id of the extension: it follows from the key in its manifest.
pub const EXTENSION_ID: &str = "cklmooddchbbhngeidieamidaojpclfa";

/// How long a code counts: a person types it.
const CODE_LIMIT: Duration = Duration::from_mins(5);
/// How long a ticket counts: a program uses it at once.
const TICKET_LIMIT: Duration = Duration::from_secs(30);
/// How many codes there may be of one owner, and tickets of one key.
const MOST: usize = 20;
/// How many letters a code has at most.
const CODE_MAX: usize = 10;
/// The characters of codes: no two look alike. Five bits each.
const LETTERS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/// The codes and tickets of a node. Each counts once, and a node that starts again knows none. Where the node is one of
/// several, what it gives out ends with its mark, so that the others know whom to ask. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Pairing {
    given: Arc<Mutex<GivenOut>>,
    /// Of a node of a cluster.
    mark: Option<NodeMark>,
}

#[derive(Default)]
struct GivenOut {
    codes: HashMap<String, (Owner, Instant)>,
    /// By their hash.
    tickets: HashMap<[u8; 32], (Caller, String, Instant)>,
}

impl Pairing {
    /// None yet, of a node with this mark, or of one by itself.
    fn new(mark: Option<NodeMark>) -> Self {
        Self { given: Arc::default(), mark }
    }

    /// A new code for a browser of this owner, such as `K7QM-2XPD`, and how long it counts. At a node of a cluster
    /// two letters more, such as `-4T`, say which one it is, or one of few.
    pub(crate) fn create_code(&self, owner: &Owner) -> Result<(String, Duration), NodeError> {
        let now = Instant::now();
        let codes = &mut self.given().codes;
        codes.retain(|_, (_, until)| *until > now);
        let of_owner = codes.values().filter(|(other, _)| other == owner);
        let first = of_owner.clone().map(|(_, until)| *until).min();
        if of_owner.count() >= MOST {
            return Err(too_many("pairing codes", first, now).into());
        }
        let secret: String =
            rand::random::<[u8; 8]>().into_iter().map(usize::from).map(letter).collect();
        let mark = self.mark.map(letters).unwrap_or_default();
        codes.insert(format!("{secret}{mark}"), (owner.clone(), now + CODE_LIMIT));
        let mark = if mark.is_empty() { mark } else { format!("-{mark}") };
        Ok((format!("{}-{}{mark}", &secret[..4], &secret[4..]), CODE_LIMIT))
    }

    /// Whose browser a code pairs, the one time that it counts.
    pub(crate) fn redeem(&self, code: &str) -> Option<Owner> {
        let (owner, until) = self.given().codes.remove(&plain(code))?;
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
        let mark = self.mark.map(|mark| mark.to_string()).unwrap_or_default();
        let ticket = format!("{}{mark}", URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>()));
        let entry = (caller.clone(), browser_id.to_owned(), now + TICKET_LIMIT);
        tickets.insert(hash(&ticket), entry);
        Ok(ticket.into())
    }

    /// Who connects with a ticket, and which browser it is, the one time that it counts.
    pub(crate) fn redeem_ticket(&self, ticket: &SecretString) -> Option<(Caller, String)> {
        let found = self.given().tickets.remove(&hash(ticket.expose_secret()));
        let (caller, browser_id, until) = found?;
        (until > Instant::now()).then_some((caller, browser_id))
    }

    fn given(&self) -> MutexGuard<'_, GivenOut> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A code as it was given out, however a person types it.
fn plain(code: &str) -> String {
    let letters = code.chars().filter(char::is_ascii_alphanumeric).take(CODE_MAX + 1);
    letters.map(|letter| letter.to_ascii_uppercase()).collect()
}

fn letter(number: usize) -> char {
    char::from(LETTERS[number % LETTERS.len()])
}

/// What a code ends with that the node with this mark gave out; one in a thousand has the same.
fn letters(mark: NodeMark) -> String {
    let bits = mark.bits() as usize;
    [bits, bits / LETTERS.len()].map(letter).iter().collect()
}

/// Whether the node with this mark may have given out a code.
pub(crate) fn may_be_of(code: &str, mark: NodeMark) -> bool {
    let plain = plain(code);
    plain.len() == CODE_MAX && plain.ends_with(&letters(mark))
}

fn too_many(what: &'static str, first: Option<Instant>, now: Instant) -> RuntimeError {
    let wait = first.map(|first| first.saturating_duration_since(now)).unwrap_or_default();
    RuntimeError::TooManyTickets { what, most: MOST, wait }
}

fn hash(ticket: &str) -> [u8; 32] {
    Sha256::digest(ticket.as_bytes()).into()
}

/// How long a tab waits for its browser.
const PATIENCE: Duration = Duration::from_mins(5);

/// The tabs that wait for their browsers: what a browser told stays, and one that comes back goes on. Cheap
/// to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Parked(Arc<Mutex<Waiting>>);

#[derive(Debug, Default)]
struct Waiting {
    /// With the key of its browser, and the turn in which it began to wait.
    tabs: HashMap<TabToken, (TabSender, String, u64)>,
    turns: u64,
}

impl Parked {
    /// Keeps a tab until its browser, the one with this key, comes back.
    pub(crate) fn park(&self, tab: TabSender, key: &str) {
        tab.offline();
        let (token, turn) = {
            let mut waiting = self.waiting();
            waiting.turns += 1;
            let (token, turn) = (tab.token().clone(), waiting.turns);
            waiting.tabs.insert(token.clone(), (tab, key.to_owned(), turn));
            (token, turn)
        };
        let parked = self.clone();
        tokio::spawn(async move {
            tokio::time::sleep(PATIENCE).await;
            let mut waiting = parked.waiting();
            if waiting.tabs.get(&token).is_some_and(|(_, _, since)| *since == turn) {
                let gone = waiting.tabs.remove(&token);
                // A tab that ends asks the relay, which must not wait for this.
                drop(waiting);
                drop(gone);
            }
        });
    }

    /// The tab, if it waits for the browser with this key.
    pub(crate) fn take_parked(&self, token: &TabToken, key: &str) -> Option<TabSender> {
        let mut waiting = self.waiting();
        if waiting.tabs.get(token).is_none_or(|(_, of, _)| of != key) {
            return None;
        }
        waiting.tabs.remove(token).map(|(tab, ..)| tab)
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The places of all browsers, by the key of each. One that comes again takes the place of the one before, which
/// may not have noticed yet that its network is gone. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Seats(Arc<Mutex<HashMap<String, Taken>>>);

struct Taken {
    /// Tells the browser that has the place to leave.
    leave: CancellationToken,
    /// Held by the browser that has the place.
    chair: Arc<tokio::sync::Mutex<()>>,
}

/// A browser's place; free again when this is dropped.
pub(crate) struct Seat {
    leave: CancellationToken,
    key: String,
    seats: Seats,
    _chair: OwnedMutexGuard<()>,
}

impl Seats {
    /// Takes the place of the browser with this key, once the connection that has it has left.
    pub(crate) async fn sit(&self, key: &str) -> Seat {
        let leave = CancellationToken::new();
        let chair = {
            let mut seats = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let before = seats.remove(key);
            let chair = before.map_or_else(Arc::default, |Taken { leave, chair }| {
                leave.cancel();
                chair
            });
            seats.insert(key.to_owned(), Taken { leave: leave.clone(), chair: Arc::clone(&chair) });
            chair
        };
        let chair = chair.lock_owned().await;
        Seat { leave, key: key.to_owned(), seats: self.clone(), _chair: chair }
    }
}

impl Seat {
    /// Ends when another connection takes this place.
    pub(crate) async fn left(&self) {
        self.leave.cancelled().await;
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut seats = self.seats.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Who waits for it has put a token of its own there.
        if !self.leave.is_cancelled() {
            seats.remove(&self.key);
        }
    }
}

/// What a node knows of people's browsers. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Browsers {
    pub(crate) pairing: Pairing,
    pub(crate) parked: Parked,
    seats: Seats,
    pub(crate) secret: DebugSecret,
    used: Arc<Mutex<UsedNonces>>,
}

impl Browsers {
    /// None yet, of a node with this mark, or of one by itself; the secret is that of their tokens.
    pub(crate) fn new(secret: DebugSecret, mark: Option<NodeMark>) -> Self {
        let (parked, seats, used) = Default::default();
        Self { pairing: Pairing::new(mark), parked, seats, secret, used }
    }

    /// Who connects with a ticket, and which browser it is, the one time that it counts.
    pub(crate) fn take_ticket(&self, ticket: &SecretString) -> Option<(Caller, String)> {
        self.pairing.redeem_ticket(ticket)
    }

    /// Waits until an older connection of the same browser has left, and takes its place.
    pub(crate) async fn sit(&self, key: &str) -> Seat {
        self.seats.sit(key).await
    }

    /// What a page's token says, the one time that it counts, and what is made of it; while nothing can
    /// be made of it, it still counts.
    pub(crate) fn take_page<T, E: From<TokenError>>(
        &self,
        token: &str,
        now: EpochMs,
        take: impl FnOnce(&PageToken) -> Result<T, E>,
    ) -> Result<(PageToken, T), E> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        PageToken::take_for(&self.secret, &mut used, token, now, take)
    }
}
