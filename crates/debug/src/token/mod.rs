//! Tokens: by what a browser may tell of a tab.
//!
//! The one idea: a token is a [`Claim`] and a MAC over its exact bytes, `base64url(payload)` + `.` +
//! `base64url(mac)`. Who holds the [`DebugSecret`] can check it without asking anyone. Every kind of
//! claim names its audience, so that none passes as another. The clock and random bytes are arguments.
//!
//! Rooms: `secret` is the key; `signed` signs and checks; `nonce` makes one of a kind; `page` is what a page's header brings, and
//! `used` sees to it that it counts once; `grant` is how a browser takes up a tab again; `error` says
//! why a token does not count.

mod error;
mod grant;
mod nonce;
mod page;
mod secret;
mod signed;
mod used;

pub use error::{MAX_TOKEN_BYTES, TokenError};
pub use grant::TabGrant;
pub use nonce::Nonce;
pub use page::PageToken;
pub use secret::{DebugSecret, SecretError};
pub use signed::{Claim, sign, verify};
pub use used::UsedNonces;
