//! What a node knows of people's browsers.

use super::pairing::Pairing;
use super::parked::Parked;
use super::seats::{Seat, Seats};
use baton_api::debug::EpochMs;
use baton_debug::token::{DebugSecret, PageToken, TokenError, UsedNonces};
use baton_runtime::Caller;
use secrecy::SecretString;
use std::sync::{Arc, Mutex, PoisonError};

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
    /// None yet; the secret is that of their tokens.
    pub(crate) fn new(secret: DebugSecret) -> Self {
        let (pairing, parked, seats, used) = Default::default();
        Self { pairing, parked, seats, secret, used }
    }

    /// Who connects with a ticket, and which browser it is, the one time that it counts.
    pub(crate) fn take_ticket(&self, ticket: &SecretString) -> Option<(Caller, String)> {
        self.pairing.take(ticket)
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
