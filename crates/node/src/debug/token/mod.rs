//! Tokens: by what a browser may tell of a tab.
//!
//! The one idea: a token is a [`Claim`] and a MAC over its exact bytes, `base64url(payload)` + `.` +
//! `base64url(mac)`. Who holds the [`DebugSecret`] can check it without asking anyone. Every kind of
//! claim names its audience, so that none passes as another. The clock and random bytes are arguments.
//!
//! Rooms: `secret` is the key; `signed` signs and checks; `page` is what a page's header brings, and
//! `used` sees to it that it counts once; `grant` is how a browser takes up a tab again; `error` says
//! why a token does not count.

mod error;
mod grant;
mod page;
mod secret;
mod signed;
mod used;

pub use error::TokenError;
pub use grant::TabGrant;
pub use page::{Nonce, PageToken};
pub use secret::{DebugSecret, SecretError};
pub use signed::{Claim, MAX_TOKEN_BYTES, sign, verify};
pub use used::UsedNonces;
