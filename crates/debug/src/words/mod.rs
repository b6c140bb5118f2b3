//! Text for models: a line each, the newest first, within a budget.
//!
//! The one idea: all of it in little rather than little of it in full. A list says what it left out and
//! how to get it; one request in full has headers and bodies. In a list nothing that a page wrote can begin
//! a line of its own.

mod console;
mod list;
mod network;
mod one;
mod short;

use baton_api::debug::NetworkRequest;

pub use console::console;
pub use network::{network, state};
pub use one::{entry, request};

pub use short::{line, time};

/// How many characters a list takes by default: 200 requests fit, in fewer than 6,000 tokens.
pub const LIST_BUDGET: usize = 12_000;
/// How many characters one request, or one line of a console, takes in full by default.
pub const FULL_BUDGET: usize = 16_000;

/// The size of what a request brought, in a few characters.
pub fn size(request: &NetworkRequest) -> Option<String> {
    network::size(request).map(short::size)
}
