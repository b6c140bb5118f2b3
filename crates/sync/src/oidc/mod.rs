//! Tokens of a provider that speaks `OpenID` Connect, such as Entra ID: those that this node gets to be
//! let in at a peer, and those that nodes show here.
//!
//! The one idea: a token says who may talk, never who wrote something. It opens nothing but what nodes
//! ask each other, and those messages are signed by a key that is pinned.
//!
//! Rooms: `provider` is who gives tokens out; `client` gets one there, and keeps it for as long as it is
//! good; `keys` are those with which a provider signs what a token says, and `token_verifier` lets in the
//! peers that show a good one, with a `refusal` for all others.

mod client;
mod keys;
mod provider;
mod refusal;
mod token_verifier;

pub use client::Tokens;
pub(crate) use client::{OidcClient, Token};
pub use provider::{InvalidIssuer, Issuer, ProviderError};
pub use refusal::TokenRefusal;
pub use token_verifier::{OidcSettings, TokenVerifier, Visitor};
