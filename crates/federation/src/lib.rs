//! The board: one shared file of agents and tasks, safe whoever writes it.
//!
//! Agents that know only files read and write `sessions/active-session.json` as they always did; those
//! that come through here never lose what was acknowledged, whatever the others do and whoever is
//! killed. Files only, nothing that waits for a network, and usable by itself.
//!
//! The one idea: *an operation, not a file, is what is written*. It is decided on the board as it is
//! ([`Operation`] becomes a change, or a [`Refusal`]), noted in a log that is synced, and applied to
//! the board; a board that lost it gets it again from the log.
//!
//! ```no_run
//! # fn main() -> Result<(), baton_federation::FederationError> {
//! use baton_federation::{Federation, Operation};
//! let board = Federation::at("/home/ada/.federation".as_ref(), jiff::Timestamp::now, || 4);
//! let claimed = board.write(&Operation::ClaimTask { agent: "kimi".parse()?, task: None })?;
//! println!("{:?}", claimed.task);
//! # Ok(()) }
//! ```
//!
//! Rooms. Pure: `board`, `agent`, `task`, `stamp`, `name`, `words` are what is in the file;
//! `operation`, `refusal`, `decide`, `change` say what may be done and do it; `merge` joins two
//! boards that grew from one; `view` says what follows from a board; `mounts` knows file systems
//! whose locks cannot be trusted. On disk: `folder`, `read`, `lock`, `log`, `swap`, `quarantine`,
//! `archive`, `own_state`; `gather` finds out what the board is, `known` what is known without its
//! file, `write` writes it, `recover` finds the last good one, `watch` follows it; `federation` is
//! the handle, and `verbs` what can be done with it. `error` and its `kind` say what went wrong;
//! `hook` stops tests between the `steps` of a write. No clock, no randomness and no environment:
//! they come from outside.

mod agent;
mod archive;
mod board;
mod change;
mod decide;
mod error;
mod federation;
mod folder;
mod gather;
mod hook;
mod kind;
mod known;
mod lock;
mod log;
mod merge;
mod mounts;
mod name;
mod operation;
mod own_state;
mod quarantine;
mod read;
mod recover;
mod refusal;
mod stamp;
mod steps;
mod swap;
mod task;
mod verbs;
mod view;
mod watch;
mod words;
mod write;

#[cfg(test)]
mod tests;

pub use agent::Agent;
pub use archive::Archived;
pub use board::{Board, Router};
pub use error::FederationError;
pub use federation::{Federation, Options};
pub use kind::Kind;
pub use name::AgentName;
pub use operation::{Held, Operation};
pub use recover::Source;
pub use refusal::Refusal;
pub use stamp::Stamp;
pub use task::{Claim, Task};
pub use view::View;
pub use watch::{Seen, Watch};
pub use words::{Priority, TaskStatus};
pub use write::Done;
