//! The MCP door: the operations as tools for models.
//!
//! The one idea: a tool is a struct of arguments and what it does with them, and the tools of one concept stand in
//! one file. What a model reads is short: a line an item, names in the place of ids, and an error says what to
//! call next. No tool returns a secret, and none reads or writes a file outside of the exchange folder. Rooms:
//! `server` speaks the protocol (the only user of rmcp beside what it is given here); `verb` is what a tool is, and what it says while it works,
//! `keep`, `carry`, `look`, `turns` and `sandbox` hold the tools themselves; `answer` and `resources`
//! are what the protocol has besides; `elsewhere` brings a call to another node of a cluster.

mod answer;
mod carry;
mod elsewhere;
mod keep;
mod look;
mod resources;
mod sandbox;
mod server;
mod turns;
mod verb;

pub use server::{Offer, Toolset, UnknownToolset, offer};

pub(crate) use server::{Connections, Wishes, begun_at, serve};
