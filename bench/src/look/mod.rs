//! What looking into tabs costs: the proxy that marks pages, and the relay that brings events.

mod browser;
mod proxy;
mod relay;

pub use proxy::measure as proxy;
pub use relay::measure as relay;
