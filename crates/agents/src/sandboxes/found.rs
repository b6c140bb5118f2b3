//! A session on its way into a sandbox, which logs somebody in.

use super::error::SandboxRefusal;
use crate::error::AgentsError;
use baton_api::sandbox::{HandedIn, Login};
use baton_browser::profile::compile::{CacheKey, StoreArchive};
use baton_runtime::live::Loan;
use baton_session::domains::Domain;
use baton_session::login::{NoLogin, expect_login, logins};
use baton_session::{Receipt, SessionName, State, StorageKey};
use baton_store::clock;
use jiff::Timestamp;

/// A session on its way into a sandbox.
pub(super) struct Found {
    /// What it holds, but for localStorage that is at hand.
    pub(super) state: State,
    /// That localStorage, and where it belongs.
    pub(super) local_storage: Option<(StoreArchive, Vec<StorageKey>)>,
    /// When that was.
    pub(super) taken_at: Timestamp,
    /// Under which name its profile may be kept.
    pub(super) key: Option<CacheKey>,
    /// That it was taken, if nobody else may have it meanwhile.
    pub(super) loan: Option<Loan>,
    /// The name of the session whose browser was ended for it.
    pub(super) ended: Option<SessionName>,
    /// What its maker is told.
    pub(super) told: HandedIn,
}

/// Checks that a session logs somebody in, and says for how long.
pub(super) fn accept(found: Found, domains: &[Domain]) -> Result<Found, AgentsError> {
    let now = clock::now();
    let stored = found.local_storage.as_ref().map_or(&[][..], |(_, keys)| keys);
    let is_login = expect_login(&found.state, stored, domains, now);
    is_login.map_err(|source| refused(source, &found.told.receipt))?;
    Ok(with_logins(found, now))
}

/// Says where a session is logged in, and for how long.
pub(super) fn with_logins(mut found: Found, now: Timestamp) -> Found {
    let stored = found.local_storage.as_ref().map_or(&[][..], |(_, keys)| keys);
    found.told.logins = logins(&found.state, stored, now)
        .into_iter()
        .map(|login| Login {
            domain: login.site.as_str().to_owned(),
            likelihood: login.likelihood,
            address: login.address,
            stored: login.is_stored,
            forecast: login.forecast,
        })
        .collect();
    found
}

/// Why a session is not taken. What was left out of it may be the login.
fn refused(source: NoLogin, left_out: &Receipt) -> AgentsError {
    let mut lost = left_out.losses();
    let (NoLogin::Missing { place }, Some(first)) = (&source, lost.next()) else {
        return source.into();
    };
    let why = first.reason.as_deref().unwrap_or_default();
    let more = lost.count();
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    let left_out = format!("{} {}: {why}{more}", first.kind, first.place);
    SandboxRefusal::NotTaken { place: place.clone(), left_out }.into()
}
