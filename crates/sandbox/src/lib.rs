//! Isolated workspaces in which agents run.
//!
//! The one idea: a sandbox has no way in but one socket that it was born with. What runs in it is
//! started through that socket, reads and writes through pipes that came over it, and ends when it
//! closes; so a node that dies takes its sandboxes along, and nothing has to be found again.
//!
//! Rooms: [`Provider`] makes sandboxes of a [`SandboxSpec`]; [`local`] has those that make them of
//! this machine, with bubblewrap, or without any isolation; [`init`] is the first process in such a
//! sandbox; [`Network`] is what a sandbox may reach.

#[cfg(target_os = "linux")]
pub mod init;
#[cfg(target_os = "linux")]
pub mod local;
mod network;
mod provider;

pub use network::{Allowed, Destination, InvalidAllowed, Network};
pub use provider::{
    Answer, Command, Connections, Ended, Enforced, InitCommand, Input, Limits, Mount, Output,
    Process, Provider, Sandbox, SandboxError, SandboxSpec, UNREAD, WORKSPACE,
};
