//! The service: what a node does, and the doors through which it is asked.
//!
//! The one idea: an operation takes what it needs and plain data, and returns plain data; a door only translates.
//! So every door of one operation behaves alike. Rooms, from the ground upwards: [`data`] is the folder, and
//! [`runtime`] what operations on sessions rest on; [`live`] holds the running browsers, and `life` is the one way
//! in to them; [`sessions`], [`keys`] and [`audit`] have operations, and the log of them. [`identity`] is who this
//! node is, [`messages`] signs what nodes say to each other, [`sealing`] seals it, [`oidc`] reads the tokens of
//! providers, and [`sync`] moves sessions between nodes; [`webhooks`] tell programs of what came. [`agents`] have
//! [`sandboxes`](agents::sandboxes), in which they run, and the [`gateway`](agents::gateway), which asks them as if they were models. [`proxy`] stands
//! in front of [`cocoons`], and [`looking`] asks what tabs did. [`auth`] says who asks, [`http`] and [`mcp`] are
//! the doors, [`config`] reads what the node is told, [`error`] is how an operation fails, and
//! [`serve`](mod@serve) the node's life in steps. [`backup`] carries a whole data folder away and back, and
//! [`bundle`] seals a file of one session.

pub mod auth;
mod budget;
mod changes;
pub mod config;
pub mod context;
pub mod door;
pub mod error;
pub mod http;
pub mod idle;
pub mod inspect;
pub mod looking;
pub mod mcp;
pub mod metrics;
mod paired;
mod problem;
pub mod serve;

pub use budget::LAST_WORDS;
pub use config::Config;
pub use context::Context;
pub use error::NodeError;
pub use paired::EXTENSION_ID;
pub use serve::{ServeError, debug_secret, serve};
