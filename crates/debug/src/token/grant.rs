//! The grant of a tab: with it a browser takes up a tab again that the relay has forgotten.

use super::error::TokenError;
use super::secret::DebugSecret;
use super::signed::{Claim, sign, verify};
use baton_api::CocoonId;
use baton_api::debug::{EpochMs, TabToken};
use baton_session::Owner;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A browser may tell of a tab. Counts for a day, as often as that browser comes with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TabGrant {
    /// Which tab.
    pub tab: TabToken,
    /// Whose page was loaded there.
    pub cocoon: CocoonId,
    /// To whom the cocoon belongs.
    pub owner: Owner,
    /// The browser that got it.
    pub browser: String,
}

impl Claim for TabGrant {
    const AUDIENCE: &'static str = "baton debug tab";
    const LIFETIME: Duration = Duration::from_hours(24);
}

impl TabGrant {
    /// The grant's text, for the browser to keep.
    pub fn sign(&self, secret: &DebugSecret, now: EpochMs) -> Result<String, TokenError> {
        sign(secret, self, now)
    }

    /// What a grant says, when `browser` is the one that got it.
    pub fn open(
        secret: &DebugSecret,
        token: &str,
        browser: &str,
        now: EpochMs,
    ) -> Result<Self, TokenError> {
        let (grant, _): (Self, _) = verify(secret, token, now)?;
        if grant.browser == browser { Ok(grant) } else { Err(TokenError::OtherBrowser) }
    }
}
