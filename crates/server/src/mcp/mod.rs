//! The MCP door: the operations as tools for models.
//!
//! The one idea: a tool is a struct of arguments and what it does with them, one file a verb, as the
//! operations are. What a model reads is short: a line an item, names in the place of ids, and an
//! error says what to call next. No tool returns a secret, and none reads or writes a file outside
//! of the exchange folder. Rooms: `server` speaks the protocol (the only user of rmcp beside what
//! it is given here); `verb` is what a tool is, `keep`, `carry`, `look`, `turns` and `sandbox` hold the tools themselves; `answer`,
//! `confirm`, `progress`, `resources` and `subscriptions` are what the protocol has besides.

mod answer;
mod arguments;
mod carry;
mod confirm;
mod connections;
mod exchange;
mod keep;
mod look;
mod progress;
mod resources;
mod sandbox;
mod server;
mod subscriptions;
mod text;
mod toolset;
mod turns;
mod verb;
mod which;

pub use server::{Offer, offer};
pub use toolset::{Toolset, UnknownToolset};

pub(crate) use connections::Connections;
pub(crate) use server::Wishes;
