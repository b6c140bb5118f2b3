//! The HTTP door: the whole API on one page.
//!
//! The one idea: a route and its line in `openapi.json` are declared together, in `router`, so neither can be
//! there without the other. What surrounds every request stands in `layers`.

mod audit;
mod between;
mod carry;
mod cdp;
mod cocoons;
mod compression;
mod debug;
mod debug_browsers;
mod doors;
mod events;
mod exchange;
mod federation;
mod gateway;
mod here;
mod history;
mod input;
mod keys;
mod layers;
mod mcp;
mod movement;
mod noted;
mod openai;
mod router;
mod sandboxes;
mod session_files;
mod sessions;
mod signaling;
mod sync;
mod sync_files;
mod system;
mod websocket;

pub use doors::{DoorError, Doors};
pub use router::{document, router};
