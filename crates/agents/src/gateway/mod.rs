//! The gateway: agents that are asked as if they were models, by OpenAI's protocol.
//!
//! The one idea: an answer is a sandbox. It is made with the session that the request names, one agent runs
//! in it, and when the agent has answered, took too long, or the caller listens no more, the sandbox ends and
//! its session is written back.
//!
//! Rooms: `ask` lists the agents and runs one, at a `desk` that is its sandbox and its caller; `command` is
//! an agent that is a program, `baseline` the one that is built in; `prompt` is what they are asked; `pieces`
//! is how an answer reads on the wire.

mod ask;
mod baseline;
mod command;
mod desk;
mod pieces;
mod prompt;

pub use crate::error::GatewayRefusal;
pub use crate::settings::{
    AgentSettings, BUILT_IN_AGENT, GatewaySettings, Prompt, UpstreamSettings,
};
pub use ask::{Run, ask, model, models};
pub use desk::{Done, RunEvent};
pub use pieces::{Shape, failure, whole};
