//! Tokens of a provider that speaks `OpenID` Connect, such as Entra ID: those that this node gets to be
//! let in at a peer, and those that nodes show here.
//!
//! The one idea: a token says who may talk, never who wrote something. It opens nothing but what nodes
//! ask each other, and those messages are signed by a key that is pinned.
//!
//! Rooms: `issuer` names a provider and `provider` asks it who it is; `client` gets a token there, and
//! `tokens` keeps it for as long as it is good; `keys` are those with which a provider signs, `claims`
//! what a token says, and `gate` lets in whoever shows a good one, with a `refusal` for all others.

mod claims;
mod client;
mod gate;
mod issuer;
mod keys;
mod provider;
mod refusal;
mod settings;
mod strangers;
mod tokens;

pub(crate) use client::{OidcClient, Token};
pub use gate::{Gate, Visitor};
pub use issuer::{InvalidIssuer, Issuer};
pub use provider::ProviderError;
pub use refusal::TokenRefusal;
pub use settings::OidcSettings;
pub use tokens::Tokens;
