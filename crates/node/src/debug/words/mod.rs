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

pub use console::console;
pub use network::network;
pub use one::{entry, request};

/// How many characters a list takes by default: 200 requests fit, in fewer than 6,000 tokens.
pub const LIST_BUDGET: usize = 12_000;
/// How many characters one request, or one line of a console, takes in full by default.
pub const FULL_BUDGET: usize = 16_000;
