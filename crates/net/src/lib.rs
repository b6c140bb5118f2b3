//! Listeners and ways out: how many may come and how often, and who is asked elsewhere.
//!
//! The one idea: a limit comes before the deed, and it is where all pass. Rooms: [`connections`] bounds who
//! comes in, [`rates`] counts how often, and [`tls`] says what protects a listener that other machines reach;
//! [`certificate`] is what a node makes for its peers; [`outbound`] says which addresses are asked, and asks
//! them; [`internal`] asks the other nodes of one's own network; `trust` is whom they believe.

pub mod certificate;
pub mod connections;
pub mod internal;
pub mod outbound;
pub mod rates;
pub mod tls;
mod trust;

pub use outbound::WayError;
