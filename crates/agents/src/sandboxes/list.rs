//! Shows sandboxes.

use crate::context::Agents;
use crate::error::AgentsError;
use baton_api::sandbox::{SandboxList, SandboxView};
use baton_runtime::Caller;

/// The caller's sandboxes at this node, the oldest first.
pub fn list(context: &Agents, caller: &Caller) -> SandboxList {
    let kept = context.sandboxes.of(&caller.owner);
    SandboxList { items: kept.iter().map(|kept| kept.view.clone()).collect() }
}

/// One of the caller's sandboxes, by its id or a unique prefix of it.
pub fn show(
    context: &Agents,
    caller: &Caller,
    reference: &str,
) -> Result<SandboxView, AgentsError> {
    Ok(context.sandboxes.find(&caller.owner, reference)?.view.clone())
}
