//! The gateway: agents that are asked as if they were models, by OpenAI's protocol.
//!
//! The one idea: an answer is a sandbox. It is made with the session that the request names, one agent
//! runs in it, and when the agent has answered, took too long, or nobody listens any more, the sandbox
//! ends and its session is written back.
//!
//! Rooms: `models` lists the agents; `ask` runs one, at a `desk` that is its sandbox and its caller;
//! `command` is an agent that is a program, `baseline` the one that is built in; `prompt` is what they are
//! told; `pieces` is how an answer reads on the wire.

mod ask;
mod baseline;
mod command;
mod desk;
mod error;
mod event;
mod models;
mod pieces;
mod prompt;
mod settings;

pub use ask::{Run, ask};
pub use error::GatewayRefusal;
pub use event::{Done, RunEvent};
pub use models::{model, models};
pub use pieces::{Shape, failure, whole};
pub use settings::{AgentSettings, BUILT_IN_AGENT, GatewaySettings, Prompt, UpstreamSettings};
