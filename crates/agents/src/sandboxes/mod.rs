//! Sandboxes: isolated workspaces in which agents run, with a session handed in. One file a verb.
//!
//! The one idea: a sandbox lives as long as this process at most, so all that is known of it is in memory.
//! What outlives it is the session that it held: the session is lent, and what became of it is written
//! back before the sandbox is gone.
//!
//! Rooms: `registry` knows the sandboxes that there are; `create`, `list`, `exec`, `files` and `end` are
//! the verbs; `plan` is what a sandbox will be; `hand_in` finds a session's state, `borrow` takes the
//! session, and `service` asks another one for it; `profile` puts it into a sandbox,
//! and `take_back` reads what it has become; `prepare` makes profiles
//! before somebody asks for them; `vnc` gives it a display; `watch` ends a sandbox when its time has come.

mod borrow;
mod create;
mod end;
mod error;
mod exec;
mod files;
mod found;
mod hand_in;
mod list;
mod plan;
mod prepare;
mod profile;
mod registry;
mod run;
mod service;
mod settings;
mod take_back;
mod taken;
mod vnc;
mod watch;

pub use create::create;
pub use end::{delete, end_all};
pub use error::SandboxRefusal;
pub use exec::{Events, exec};
pub use files::{FILE_LIMIT, read, write};
pub use list::{list, show};
pub use prepare::start as start_preparing;
pub use registry::Sandboxes;
pub use settings::{DEFAULT_FLAVOR, Flavor, Prepare, SandboxSettings, SessionService};

/// Where the profile of a session is, in its sandbox.
const PROFILE: &str = "/workspace/.browser-profile";
/// The same, from the workspace on.
const PROFILE_NAME: &str = ".browser-profile";
/// The variable by which agent-browser finds it.
const PROFILE_VARIABLE: &str = "AGENT_BROWSER_PROFILE";
