//! Lets a browser, which bears no key, into a cocoon.

use super::front::Front;
use crate::access::{EnterTicket, TicketKey};
use crate::error::CocoonError;
use baton_api::CocoonId;
use baton_api::cocoon::CocoonTicket;
use baton_api::debug::EpochMs;
use baton_debug::token::{Claim, Nonce};
use baton_runtime::Caller;
use baton_store::clock;

/// An address that opens a cocoon of the caller in a browser, once, within a minute. The browser is then
/// let in for half a day.
pub fn enter(front: &Front, caller: &Caller, id: &CocoonId) -> Result<CocoonTicket, CocoonError> {
    let found = front.cocoons.fetch(id).filter(|found| found.owner == caller.owner);
    let cocoon = found.ok_or_else(|| CocoonError::NotFound { id: id.clone() })?;
    let place = front.place.as_ref().ok_or(CocoonError::NoProxy)?;
    let ticket = EnterTicket {
        key: Some(TicketKey { id: caller.key.clone(), owner: caller.owner.clone() }),
        cocoon: cocoon.id.clone(),
        owner: cocoon.owner.clone(),
        nonce: Nonce::new(rand::random()),
    };
    let now = clock::now();
    let since = EpochMs::new(u64::try_from(now.as_millisecond()).unwrap_or_default());
    let signed = ticket.sign(&front.secret, since);
    let signed = signed.map_err(|error| CocoonError::Invalid { why: error.to_string() })?;
    let mut url = place.home(&cocoon).ok_or(CocoonError::NoProxy)?;
    url.set_path("/.baton/enter");
    url.set_query(Some(&format!("ticket={signed}")));
    let expires_at = now.checked_add(EnterTicket::LIFETIME).unwrap_or(now);
    tracing::info!(cocoon = %cocoon.id, "gave out a ticket");
    Ok(CocoonTicket { url, expires_at })
}
