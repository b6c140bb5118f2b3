//! A session on its way into a sandbox, which logs somebody in.

use super::SandboxRefusal;
use crate::live::Loan;
use crate::{NodeError, clock};
use baton_api::sandbox::{HandedIn, Login};
use baton_browser::profile::compile::{CacheKey, StoreArchive};
use baton_session::domains::Domain;
use baton_session::login::{expect_login, logins};
use baton_session::{State, StorageKey};
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
    /// What its maker is told.
    pub(super) told: HandedIn,
}

/// Checks that a session logs somebody in, and says for how long.
pub(super) fn accept(found: Found, domains: &[Domain]) -> Result<Found, NodeError> {
    let now = clock::now();
    let stored = found.local_storage.as_ref().map_or(&[][..], |(_, keys)| keys);
    expect_login(&found.state, stored, domains, now).map_err(SandboxRefusal::from)?;
    Ok(with_logins(found, now))
}

/// Says where a session is logged in, and for how long.
pub(super) fn with_logins(mut found: Found, now: Timestamp) -> Found {
    let sites = logins(&found.state, now).into_iter();
    found.told.logins = sites
        .map(|(site, forecast)| Login { domain: site.as_str().to_owned(), forecast })
        .collect();
    found
}
