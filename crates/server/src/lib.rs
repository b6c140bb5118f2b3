//! The service's doors: who asks, what they may do, and the wiring of all that answers.
//!
//! The one idea: an operation takes what it needs and plain data, and returns plain data; a door only
//! translates. So every door of one operation behaves alike. [`http`] and [`mcp`] are the doors, [`ingress`]
//! is what they share, and [`auth`] says who asks. [`config`] reads the settings, [`context`] is what the
//! doors hand to operations, [`error`] how one fails, and [`serve`](mod@serve) the node's life in steps, with
//! its [`metrics`]; `cluster` knows which nodes are one with this one, and `everywhere` asks all of them. [`looking`] asks what tabs did, [`asking`]
//! has what persons are asked, and [`inspect`] looks at a node that does not run.

mod answering;
pub mod asking;
pub mod auth;
mod cluster;
pub mod config;
pub mod context;
mod displaying;
mod ending;
pub mod error;
mod everywhere;
mod following;
mod guests;
pub mod http;
pub mod ingress;
pub mod inspect;
pub mod looking;
pub mod mcp;
pub mod metrics;
mod moving;
mod newcomers;
mod page;
mod paired;
mod peer_place;
pub mod serve;
mod watching;

pub use config::Config;
pub use context::Context;
pub use ending::LAST_WORDS;
pub use error::NodeError;
pub use paired::EXTENSION_ID;
pub use serve::{ServeError, debug_secret, serve};
