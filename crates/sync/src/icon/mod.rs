//! Icons of sessions that are elsewhere, for lists of them.
//!
//! The one idea: an icon moves by itself, when somebody looks, and never with a revision. It says which site
//! a session shows, so whoever is given a part of sessions is given the icons of that part only; and
//! what a peer says is an icon is drawn anew before anybody sees it.
//!
//! Rooms: `give` answers a peer, `fetch` asks one, and `known` remembers for a while what it said.

mod fetch;
mod give;
pub(super) mod known;

pub use fetch::icon;
pub use give::icon_for;

/// The most bytes that a peer says are an icon.
const ICON_MAX: usize = 64 << 10;
