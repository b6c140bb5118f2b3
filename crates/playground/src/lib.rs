//! Real nodes in temporary folders, for the demo, the tests and the benchmarks.
//!
//! The one idea: nothing here is a stand-in. A [`TestNode`] runs the real program with a data folder of
//! its own, a [`Page`] drives the real browser through its keeper, [`Site`] is a real server on
//! loopback, [`kinds`] a site with every kind of state, [`victims`] ends real processes with SIGKILL,
//! [`Nats`] a real bus, a [`Cable`] cuts a node off from a server that others reach,
//! [`tenures`] watches who really holds a session, [`McpClient`] speaks to real MCP
//! servers, and [`tools`] are other people's, as their users have them.

mod cable;
pub mod kinds;
mod mcp;
mod nats;
mod page;
pub mod tenures;
mod test_node;
pub mod tools;
pub mod victims;

pub use cable::{Cable, CableEnd, Cut};
pub use kinds::Kinds;
pub use mcp::{McpClient, McpError};
pub use nats::Nats;
pub use page::{Page, Site};
pub use test_node::TestNode;
