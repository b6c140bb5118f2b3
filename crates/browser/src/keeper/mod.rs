//! The keeper: the small process that holds one session's browser and outlives the node.
//!
//! The one idea: whatever must survive a crash or an upgrade of the node hangs on this process and
//! on nothing else: the browser's pipe, its anchor page, the prelude. It listens on a Unix socket,
//! multiplexes its clients (`mux` has the rules), and records nothing.

mod browser;
mod client;
mod connect;
mod error;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod mux;
mod protocol;
mod relay;
mod run;
mod server;
mod socket;
mod spawn;
mod spec;

pub use connect::{KeeperLink, close, connect, force, hold, kill, knock};
pub use error::KeeperError;
pub use protocol::{Role, Welcome};
pub use relay::{NoMore, accept_key, relay};
pub use run::{Signals, detach, run};
pub use spawn::{KeeperCommand, Keepers, spawn};
pub use spec::{BootInstant, BrowserSpec, KeeperSpec, PreludeCall, Ready, Report};
