//! The browsers of people that are paired with this node: what is known of them, in memory.
//!
//! Rooms: `pairing` keeps codes and tickets; `parked` holds the tabs of a browser that is gone for a moment, and
//! `seats` sees to it that each has one connection.

mod known;
mod pairing;
mod parked;
mod seats;

pub(crate) use known::Browsers;

/// The id of the extension: it follows from the key in its manifest.
pub const EXTENSION_ID: &str = "cklmooddchbbhngeidieamidaojpclfa";
