//! Which agent acts.

use crate::mcp::answer::Failure;
use crate::mcp::verb::Call;
use baton_federation::AgentName;

/// The agent that the tool names, or the one that the client says it is.
pub(super) fn acts(call: &Call, named: Option<String>) -> Result<AgentName, Failure> {
    let none = "no agent; give agent, or start the client with BATON_AGENT".to_owned();
    maybe(call, named)?.ok_or(Failure::Arguments(none))
}

/// The same, when nobody has to.
pub(super) fn maybe(call: &Call, named: Option<String>) -> Result<Option<AgentName>, Failure> {
    let named = named.or_else(|| call.caller.agent.as_ref().map(ToString::to_string));
    named.map(|name| parse(&name)).transpose()
}

/// A name that was given.
pub(super) fn parse(name: &str) -> Result<AgentName, Failure> {
    name.parse().map_err(|error: baton_federation::Refusal| Failure::Arguments(error.to_string()))
}
