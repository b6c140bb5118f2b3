//! The HTTP door: the whole API on one page.
//!
//! The one idea: a route and its line in `openapi.json` are declared together, in `router`, so neither can be
//! there without the other. What surrounds every request is in `layers`.

mod cdp;
mod compression;
mod debug;
mod events;
mod exchange;
mod federation;
mod gateway;
mod keys;
mod layers;
mod listeners;
mod mcp;
mod request;
mod router;
mod sandboxes;
mod session_files;
mod sessions;
mod signaling;
mod signed_peer;
mod sync;
mod system;
mod upstreams;

pub use listeners::{DoorError, Listeners};
pub use router::{document, router};
