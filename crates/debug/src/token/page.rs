//! The token of a page: what the header of a navigation brings to the browser's extension.

use super::error::TokenError;
use super::nonce::Nonce;
use super::secret::DebugSecret;
use super::signed::{Claim, sign, verify};
use super::used::UsedNonces;
use baton_api::CocoonId;
use baton_api::debug::EpochMs;
use baton_session::Owner;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The longest path that is kept, in bytes; of a longer one the beginning.
const MAX_PATH: usize = 1024;

/// A page of a cocoon was loaded: its tab may be looked into. Counts once, for a minute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageToken {
    /// Whose page.
    pub cocoon: CocoonId,
    /// To whom the cocoon belongs.
    pub owner: Owner,
    /// The path of the page, without the query.
    pub path: String,
    /// Makes it one of a kind.
    pub nonce: Nonce,
}

impl Claim for PageToken {
    const AUDIENCE: &'static str = "baton debug page";
    const LIFETIME: Duration = Duration::from_mins(1);
}

impl PageToken {
    /// A page of `cocoon` at `path`; a path that is too long is cut.
    pub fn new(cocoon: CocoonId, owner: Owner, path: &str, nonce: Nonce) -> Self {
        let path = path[..path.floor_char_boundary(MAX_PATH)].to_owned();
        Self { cocoon, owner, path, nonce }
    }

    /// The token's text, for the header.
    pub fn sign(&self, secret: &DebugSecret, now: EpochMs) -> Result<String, TokenError> {
        sign(secret, self, now)
    }

    /// What a token says, the one time that it counts.
    pub fn take(
        secret: &DebugSecret,
        used: &mut UsedNonces,
        token: &str,
        now: EpochMs,
    ) -> Result<Self, TokenError> {
        Self::take_for(secret, used, token, now, |_| Ok(())).map(|(page, ())| page)
    }

    /// The same where something else may refuse it: then it still counts.
    pub fn take_for<T, E: From<TokenError>>(
        secret: &DebugSecret,
        used: &mut UsedNonces,
        token: &str,
        now: EpochMs,
        take: impl FnOnce(&Self) -> Result<T, E>,
    ) -> Result<(Self, T), E> {
        let (page, expires): (Self, _) = verify(secret, token, now)?;
        used.look(&page.nonce)?;
        let place = take(&page)?;
        used.take(&page.nonce, expires, now)?;
        Ok((page, place))
    }
}
