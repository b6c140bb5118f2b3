//! Sandboxes: isolated workspaces in which agents run, with a session handed in.
//!
//! The one idea: a sandbox lives as long as this process at most, so all that is known of it is in memory.
//! What outlives it is the session that it held: the session is checked out, and what became of it is written back
//! before the sandbox is gone.
//!
//! Rooms: `create`, `exec` and `end` are the verbs; `hand_in` finds a session and takes it, `take_back`
//! reads what became of it; `plan` says what a sandbox will be, `looks` what of its environment a browser there is told, `tabs` what it is given of its tabs; `prepare` makes profiles before a caller asks for them; `vnc` gives a sandbox a
//! display, `view` shows it through the node, and `way_out` the way to the network that its session has. The sandboxes that there are, are in the
//! `registry` below.

mod create;
mod end;
mod exec;
mod hand_in;
mod looks;
mod plan;
mod prepare;
mod tabs;
mod take_back;
mod view;
mod vnc;
mod way_out;

pub use crate::error::SandboxRefusal;
pub use crate::registry::{SandboxRoom, Sandboxes};
pub use crate::settings::{DEFAULT_FLAVOR, Flavor, Prepare, SandboxSettings, SessionService};
pub use create::create;
pub use end::{delete, end_all};
pub use exec::{Events, FILE_LIMIT, exec, read, write};
pub use prepare::start as start_preparing;
pub use view::{DisplayView, ViewEnd, find_display, open_display};

use crate::Agents;
use crate::error::AgentsError;
use baton_api::sandbox::{SandboxList, SandboxView};
use baton_runtime::Caller;

/// Where the profile of a session is, in its sandbox.
const PROFILE: &str = "/workspace/.browser-profile";
/// The same, from the workspace on.
const PROFILE_NAME: &str = ".browser-profile";
/// Where a browser is that sites see as the session's, in its sandbox.
const WRAPPER: &str = "/workspace/.browser";
/// The same, from the workspace on.
const WRAPPER_NAME: &str = ".browser";
/// What it notes of what it handed over, in that folder.
const NOTES_NAME: &str = "handed";
/// The variable by which agent-browser finds the profile.
const PROFILE_VARIABLE: &str = "AGENT_BROWSER_PROFILE";

/// The caller's sandboxes at this node, the oldest first.
pub fn list(context: &Agents, caller: &Caller) -> SandboxList {
    let kept = context.sandboxes.of(&caller.owner);
    SandboxList { items: kept.iter().map(|kept| kept.view()).collect(), missing: Vec::new() }
}

/// One of the caller's sandboxes, by its id or a unique prefix of it.
pub fn show(
    context: &Agents,
    caller: &Caller,
    reference: &str,
) -> Result<SandboxView, AgentsError> {
    Ok(context.sandboxes.find(&caller.owner, reference)?.view())
}
