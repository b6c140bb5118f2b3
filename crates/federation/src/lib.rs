//! The board: one shared file of agents and tasks, safe whichever program writes it.
//!
//! Agents that know only files read and write `sessions/active-session.json` as they always did; those that
//! come through here never lose what was acknowledged, whatever the others do and whichever is killed. Files
//! only, nothing that waits for a network, and usable by itself.
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
//! Rooms. Pure: `board` and `task` are what is in the file; `operation` and `decide` say what may be
//! done and do it; `merge` joins two boards that grew from one. On disk: `folder`, `read`,
//! `lock`, `log`, `swap`, `archive`; `gather` finds out what the board is, also without its file, and which
//! one was the last good; `write` writes it, `watch` follows it; `federation` is the handle, and `verbs`
//! what can be done with it. `error` says what went wrong or was refused, and stops tests between the steps of a write.
//! No clock, no randomness and no environment: they come from outside.

mod archive;
mod board;
mod decide;
mod error;
mod federation;
mod folder;
mod gather;
mod lock;
mod log;
mod merge;
mod operation;
mod read;
mod swap;
mod task;
mod verbs;
mod watch;
mod write;

#[cfg(test)]
mod tests;

pub use archive::Archived;
pub use board::{Agent, Board, Router, View};
pub use error::{FederationError, Kind, Refusal};
pub use federation::{Federation, Options};
pub use gather::Source;
pub use operation::{AgentName, Held, Operation};
pub use task::{Claim, Priority, Stamp, Task, TaskStatus};
pub use watch::{WaitOutcome, Watch};
pub use write::Done;
