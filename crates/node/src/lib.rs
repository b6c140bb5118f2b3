//! The service: what a node does, and the doors through which it is asked.
//!
//! The one idea: an *operation* takes a [`Context`] and plain data and returns plain data; a door
//! only translates. So every door of one operation behaves alike. Rooms, from the border inwards:
//! [`config`] and [`data`] say what the node was given; [`serve`](mod@serve) is its life in steps, and `budget` how long its end may take; [`http`] and [`mcp`] are
//! the doors; [`proxy`] stands in front of cocoons; [`auth`] says who asks, [`oidc`] reads the tokens of providers, and [`rates`] counts how often; [`sessions`], [`keys`] and [`audit`]
//! hold the operations, and `audit` what is noted of them; [`live`] holds the running browsers, and [`sandboxes`] those in which agents run, and [`gateway`] asks these as if they were models;
//! [`identity`] is who this node is, [`messages`] signs what nodes say to each other and [`sealing`]
//! seals it; [`looking`] asks what tabs did; `changes` tells that something changed; `blocking` leads off the async threads; [`backup`] carries a whole data folder away and back, and [`bundle`] seals a file of one
//! session; [`webhooks`] tell programs of people what came from other nodes; [`error`] and [`problem`] say how an operation fails.

pub mod agents;
pub mod audit;
pub mod auth;
pub mod backup;
mod blocking;
mod board;
mod budget;
pub mod bundle;
mod changes;
pub mod clock;
pub mod cocoons;
pub mod config;
pub mod context;
pub mod data;
pub mod error;
pub mod gateway;
pub mod http;
pub mod identity;
pub mod idle;
pub mod inspect;
pub mod keys;
mod latest;
pub(crate) mod life;
pub mod live;
pub mod looking;
pub mod mcp;
pub mod messages;
pub mod metrics;
pub mod oidc;
mod page;
mod plain;
mod problem;
pub mod proxy;
pub mod reference;
pub mod runtime;
pub mod sandboxes;
pub mod sealing;
pub mod serve;
pub mod sessions;
mod shell;
pub mod sync;
mod table;
pub mod webhooks;

pub use budget::LAST_WORDS;
pub use config::Config;
pub use context::Context;
pub use data::DataFolder;
pub use error::NodeError;
pub use serve::{ServeError, debug_secret, serve};
