//! The page of a node, as a person uses it: stories that Playwright tells in a real Chromium.

mod as_whom;
mod look;
mod many;
mod opened;
mod sessions;
mod signed_out;
mod telling;
