//! Who asks: keys, tokens of nodes, the callers behind them, and what they may do.
//!
//! A handler names the scope that it needs as the type of an argument, so a handler that compiles
//! is authorised.

mod caller;
mod local;
mod may_talk;

pub use caller::{Admin, Auditor, Browser, Debug, Drive, Known, Read, Sandbox, Sync};
pub(crate) use caller::{attempt, count, refuse, show};
pub use local::{LocalKeyError, ensure_local_key};
pub use may_talk::MayTalk;
