//! Looking in: the operations of those who ask what tabs did, and the browsers of people that tell it.
//!
//! The one idea: what is kept of a tab, and how it is found again, is `baton-debug`'s; here it says who may
//! ask, what of it is noted, and who may tell.

mod browsers;
mod tabs;

pub(crate) use browsers::{BrowserLink, connect, exchange, largest_body, pair, watched};
pub(crate) use tabs::answer;
pub use tabs::{console, har, list_tabs, network};
