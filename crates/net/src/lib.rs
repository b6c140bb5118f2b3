//! Listeners and ways out: how many may come and how often, and who is asked elsewhere.
//!
//! The one idea: a limit comes before the deed, and it stands where everybody passes. Rooms: [`connections`]
//! bounds who comes in, [`rates`] counts how often, [`tls`] reads what a listener shows, [`exposure`] says what
//! protects one that other machines reach, and [`forwarded`] whom a proxy in front names; [`outbound`] says which
//! addresses are asked, and [`client`] asks them.

pub mod client;
pub mod connections;
mod error;
pub mod exposure;
pub mod forwarded;
pub mod outbound;
pub mod rates;
pub mod tls;

pub use error::WayError;
